/* leaves.c - a program that leaves things behind: leaves WHAT. Each line that makes one has the
 * mark MAKES WHAT, which leaves.test looks for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *what;
static int rank, size;

static int wants(const char *name)
{
    return !strcmp(what, name) || !strcmp(what, "all");
}

static void add(void *in, void *io, int *n, MPI_Datatype *t)
{
    (void)in;
    (void)io;
    (void)n;
    (void)t;
}

static void objects(void)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Group group;
    MPI_Op op;
    MPI_Win win;
    MPI_File file;
    void *base;
    if (wants("comm"))
        MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* MAKES comm */
    for (int i = 0; i < 3 && wants("type"); i++)
        MPI_Type_contiguous(2, MPI_INT, &type); /* MAKES type */
    if (wants("group") && rank == 1)
        MPI_Comm_group(MPI_COMM_WORLD, &group); /* MAKES group */
    if (wants("op"))
        MPI_Op_create(add, 1, &op); /* MAKES op */
    if (wants("win"))
        MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win); /* MAKES win */
    if (wants("file"))
        MPI_File_open(MPI_COMM_SELF, "left", MPI_MODE_CREATE | MPI_MODE_RDWR, /* MAKES file */
                      MPI_INFO_NULL, &file);
}

/* What a right program does: nothing is left. */
static void tidy(void)
{
    MPI_Comm comm, split;
    MPI_Datatype inner, outer;
    MPI_Group group, none;
    MPI_Request request;
    MPI_Win win;
    int x = 0, me;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_split(comm, rank % 2, 0, &split);
    MPI_Comm_rank(split, &me);
    MPI_Comm_group(split, &group);
    MPI_Group_excl(group, 0, NULL, &none);
    MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
    MPI_Type_contiguous(2, inner, &outer);
    MPI_Type_commit(&outer);
    MPI_Type_free(&inner);
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, comm, &win);
    MPI_Isend(&x, 1, MPI_INT, me, 0, split, &request);
    MPI_Request_free(&request);
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, split, MPI_STATUS_IGNORE);
    MPI_Win_free(&win);
    MPI_Type_free(&outer);
    MPI_Group_free(&none);
    MPI_Group_free(&group);
    MPI_Comm_free(&split);
    MPI_Comm_free(&comm);
}

static void messages(void)
{
    static int x, y;
    MPI_Request request;
    if (wants("request") && rank == 0)
        MPI_Irecv(&x, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
    if (!strcmp(what, "sent") && rank == 0) { /* "all" has a receive that would take it */
        MPI_Isend(&x, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
        MPI_Recv(&y, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    if (wants("persistent") && rank == 0)
        MPI_Send_init(&x, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &request);
    for (int i = 0; i < 2 && wants("message") && rank == size - 1; i++)
        MPI_Send(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
}

/* A call that the others do not make: their numbers of collective calls differ from then on. */
static void differ(void)
{
    if (rank == 0)
        MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* An operation and a datatype are freed while persistent requests still have them. */
static void keep(void)
{
    static int in, out;
    MPI_Op op;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Type_vector(2, 1, 2, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Send_init(&in, 1, type, rank, 8, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce_init(&in, &out, 1, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Op_free(&op);
}

static int query(void *arg, MPI_Status *status)
{
    (void)arg;
    (void)status;
    return MPI_SUCCESS;
}

static int release(void *arg)
{
    (void)arg;
    return MPI_SUCCESS;
}

static int cancel(void *arg, int complete)
{
    (void)arg;
    (void)complete;
    return MPI_SUCCESS;
}

/* Their requests are freed: a receive that nothing matches, and a generalized request, whose handle
 * stays known until it is completed. */
static void freed(void)
{
    static int x;
    MPI_Request request;
    MPI_Irecv(&x, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    what = argc > 1 ? argv[1] : "all";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tidy();
    objects();
    messages();
    if (!strcmp(what, "differs"))
        differ();
    if (!strcmp(what, "kept"))
        keep();
    if (!strcmp(what, "freed"))
        freed();
    MPI_Finalize();
    return 0;
}
