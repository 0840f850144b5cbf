/* Programs with one error in their collective calls, for guard.test: what level 2 keeps from the
 * program's memory, the order and the places of level 3, and calls on groups and files. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"

static int sum[64], buf[4096];

static void tell(int err)
{
    int cls = 0;
    MPI_Error_class(err, &cls);
    printf("%s\n", !err ? "no error" : cls == MPI_ERR_NOT_SAME ? "not same" : "another class");
}

/* Nothing goes from rank 1, which names another root, to the others, nor from them to it. */
static void no_data(void)
{
    int dirty = 0;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    for (int i = 0; i < 20; i++) /* the calls of shared memory */
        MPI_Barrier(W);
    memset(buf, 'a' + rank, sizeof buf);
    int err = MPI_Bcast(buf, 4, MPI_INT, rank == 1 ? 1 : 0, W);
    err = err ? err : MPI_Alltoall(buf, 1, MPI_INT, sum, 1, MPI_INT, W);
    for (size_t i = 0; i < sizeof buf; i++)
        dirty += ((char *)buf)[i] != 'a' + rank && rank == 1;
    for (int i = 0; i < size; i++)
        dirty += (i == 1) != (rank == 1) && sum[i];
    tell(err);
    printf("%s\n", dirty ? "dirty" : "clean");
}

static void group(void)
{
    MPI_Group all;
    MPI_Comm c;
    MPI_Comm_group(W, &all);
    MPI_Comm_create_group(W, all, 3, &c);
    MPI_Group_free(&all);
    if (rank == 1)
        MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, c);
    else
        MPI_Barrier(c);
    MPI_Comm_free(&c);
}

static MPI_File open_file(void)
{
    MPI_File f;
    MPI_File_open(W, "guard.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &f);
    return f;
}

static void file(void)
{
    MPI_File f = open_file();
    MPI_File_set_errhandler(f, MPI_ERRORS_ARE_FATAL);
    MPI_File_write_at_all(f, 4 * rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_File_sync(f);
    else
        MPI_File_set_size(f, 100);
    MPI_File_close(&f);
}

static void file_open(void)
{
    if (rank == 1) {
        MPI_Barrier(W);
        return;
    }
    MPI_File f = open_file();
    MPI_File_close(&f);
}

/* All wait inside the creation of a window; the first has made its communicator. */
static void creation(void)
{
    MPI_Win w;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    int err = rank == 1 ? MPI_Barrier(W)
                        : MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, W, &w);
    tell(err);
}

static void creation_of_file(void)
{
    MPI_File f;
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    int err = rank == 1 ? MPI_Barrier(W)
                        : MPI_File_open(W, "guard.data", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    tell(err);
}

/* The root waits for no process, so this works. */
static void order(void)
{
    MPI_Comm c;
    MPI_Comm_dup(W, &c);
    if (rank) {
        MPI_Bcast(buf, 1, MPI_INT, 0, W);
        MPI_Bcast(buf, 1, MPI_INT, 0, c);
    } else {
        MPI_Bcast(buf, 1, MPI_INT, 0, c);
        MPI_Bcast(buf, 1, MPI_INT, 0, W);
    }
    MPI_Comm_free(&c);
}

static void barrier(MPI_Comm c)
{
    if (rank == 1)
        MPI_Barrier(c);
    else
        MPI_Barrier(c);
    rank == 2 ? MPI_Barrier(c) : MPI_Barrier(c); /* two addresses, one line */
}

static void places(void)
{
    MPI_Comm c;
    for (int i = 0; i < 3; i++)
        barrier(W);
    MPI_Comm_dup(W, &c);
    barrier(c);
    barrier(c);
    MPI_Comm_free(&c);
    MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, W);
}

/* As many elements in all. */
static void counts(void)
{
    int of[64] = {0}, in[64] = {0};
    of[rank == 1] = 3;
    of[rank != 1] = 1;
    MPI_Reduce_scatter(in, sum, of, MPI_INT, MPI_SUM, W);
}

/* An error without a difference is returned at once. */
static void truncates(void)
{
    int counts[64], at[64];
    MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        at[i] = i;
    }
    double start = MPI_Wtime();
    int err = MPI_Allgatherv(buf, rank == 1 ? 9 : 1, MPI_INT, sum, counts, at, MPI_INT, W);
    double took = MPI_Wtime() - start;
    if (err)
        tell(err);
    if (took > 5)
        printf("late\n");
}

/* The root of a broadcast waits for no process, so these work. */
static void cross_recv(void)
{
    if (rank == 0) {
        MPI_Bcast(buf, 1, MPI_INT, 0, W);
        MPI_Send(buf, 1, MPI_INT, 1, 7, W);
    } else {
        if (rank == 1)
            MPI_Recv(buf, 1, MPI_INT, 0, 7, W, MPI_STATUS_IGNORE);
        MPI_Bcast(buf, 1, MPI_INT, 0, W);
    }
}

static void cross_wait(void)
{
    MPI_Request r[2];
    if (rank == 0) {
        MPI_Bcast(buf, 1, MPI_INT, 0, W);
        for (int i = 0; i < 2; i++)
            MPI_Send(buf, 1, MPI_INT, 1, i, W);
    } else {
        for (int i = 0; i < 2 && rank == 1; i++)
            MPI_Irecv(sum + i, 1, MPI_INT, 0, i, W, &r[i]);
        if (rank == 1)
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Bcast(buf, 1, MPI_INT, 0, W);
    }
}

/* Each message that rank 1 waits for was sent before the call that it has not made; one is taken
 * from any process. */
static void cross_legal(void)
{
    MPI_Request r;
    MPI_Comm dup;
    MPI_Comm_dup(W, &dup);
    for (int i = 0; i < 30; i++) {
        if (rank == 0) {
            MPI_Send(buf, 1, MPI_INT, 1, 1, W);
            MPI_Bcast(buf, 1, MPI_INT, 0, W);
            for (int tag = 2; tag < 5; tag++)
                MPI_Send(buf, 1, MPI_INT, 1, tag, tag == 4 ? dup : W);
        } else if (rank == 1) {
            MPI_Irecv(sum, 1, MPI_INT, 0, 2, W, &r);
            if (i == 29) /* all is there, and the later notes, too */
                usleep(100000);
            if (i == 0)
                MPI_Recv(buf, 1, MPI_INT, MPI_ANY_SOURCE, 3, W, MPI_STATUS_IGNORE);
            MPI_Recv(buf, 1, MPI_INT, 0, 1, W, MPI_STATUS_IGNORE);
            MPI_Bcast(buf, 1, MPI_INT, 0, W);
            MPI_Recv(buf, 1, MPI_INT, 0, 4, dup, MPI_STATUS_IGNORE);
            if (i)
                MPI_Recv(buf, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else {
            MPI_Bcast(buf, 1, MPI_INT, 0, W);
        }
        if (i % 4 == 0)
            MPI_Barrier(dup);
    }
    MPI_Comm_free(&dup);
}

/* Each process gives its own edges of a ring, or the first one those of all; the amounts match in
 * pairs. */
static void legal_graphs(void)
{
    MPI_Comm ring, star;
    int from = (rank + size - 1) % size, to = (rank + 1) % size, first = rank == 0;
    int hub = 0, others[64], in[64], out[64], counts[64], at[64];
    for (int i = 0; i < size; i++) {
        others[i] = i;
        counts[i] = first ? i + 1 : rank + 1;
        at[i] = i * (i + 1) / 2; /* five processes at most */
        in[i] = out[i] = rank;
    }
    MPI_Dist_graph_create_adjacent(W, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, ring);
    MPI_Dist_graph_create(W, first, &hub, &size, others, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
    MPI_Neighbor_alltoallv(in, counts, at, MPI_INT, out, counts, at, MPI_INT, star);
    MPI_Comm_free(&star);
    MPI_Comm_free(&ring);
}

static void legal(void)
{
    legal_graphs();
    MPI_Comm half, dup;
    MPI_Request r[2];
    MPI_File f;
    MPI_Comm_split(W, rank % 2, 0, &half);
    MPI_Comm_dup(half, &dup);
    for (int i = 0; i < 30; i++) {
        MPI_Barrier(i % 2 ? half : dup);
        if (rank % 2) { /* in either order */
            MPI_Ibarrier(W, &r[0]);
            MPI_Iallreduce(buf, sum, 1, MPI_INT, MPI_SUM, dup, &r[1]);
        } else {
            MPI_Iallreduce(buf, sum, 1, MPI_INT, MPI_SUM, dup, &r[1]);
            MPI_Ibarrier(W, &r[0]);
        }
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 5; i++) { /* made in the background, at different times */
        MPI_Comm made;
        MPI_Comm_idup(W, &made, &r[0]);
        if (rank == i)
            usleep(1000);
        MPI_Barrier(W);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, made);
        MPI_Comm_free(&made);
    }
    MPI_Barrier_init(W, MPI_INFO_NULL, &r[0]);
    MPI_Allreduce_init(buf, sum + 1, 1, MPI_INT, MPI_SUM, W, MPI_INFO_NULL, &r[1]);
    for (int i = 0; i < 10; i++) {
        MPI_Startall(2, r);
        MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, W);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    if (rank == 1) /* at any time */
        MPI_Comm_free(&dup);
    MPI_Barrier(half);
    if (rank != 1)
        MPI_Comm_free(&dup);
    MPI_Comm_free(&half);
    f = open_file();
    MPI_File_iwrite_at_all(f, 4 * rank, &rank, 1, MPI_INT, &r[0]);
    MPI_File_sync(f);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_write_at_all_begin(f, 4 * rank, &rank, 1, MPI_INT);
    MPI_File_write_at_all_end(f, &rank, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_File_write_at(f, 0, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
}

/* --- jobs that jobs start --------------------------------------------------------------------- */

static MPI_Comm children(const char *what)
{
    char *args[] = {(char *)what, NULL};
    MPI_Comm c;
    MPI_Comm_spawn("./guard", args, 3, MPI_INFO_NULL, 0, W, &c, MPI_ERRCODES_IGNORE);
    return c;
}

static void spawn(void)
{
    if (rank == 1)
        MPI_Barrier(W);
    else
        children("child");
}

static void spawned(void)
{
    MPI_Comm c = children("odd_child");
    MPI_Barrier(c);
}

static void odd_child(void)
{
    if (rank == 1)
        MPI_Barrier(W);
    else
        MPI_Allreduce(buf, sum, 1, MPI_INT, MPI_SUM, W);
}

static void spawned_dead(void)
{
    MPI_Comm c = children("dead_child");
    MPI_Barrier(c);
}

static void dead_child(void)
{
    MPI_Recv(buf, 1, MPI_INT, (rank + 1) % size, 0, W, MPI_STATUS_IGNORE);
}

/* Processes of one job wait for long for those of the other, in messages and calls, which differ
 * from job to job. The own calls of each job are looked at as ever. */
static void both(MPI_Comm other, int parents)
{
    MPI_Comm all, own;
    MPI_Intercomm_merge(other, parents, &all);
    if (parents && rank == 0)
        MPI_Recv(buf, 1, MPI_INT, MPI_ANY_SOURCE, 1, other, MPI_STATUS_IGNORE);
    else if (parents && rank == 1)
        MPI_Recv(buf, 1, MPI_INT, 1, 1, all, MPI_STATUS_IGNORE);
    else if (!parents && rank == 1) {
        sleep(1);
        MPI_Send(buf, 1, MPI_INT, 0, 1, other);
        MPI_Send(buf, 1, MPI_INT, 4, 1, all);
    }
    MPI_Barrier(all);
    MPI_Comm_split(all, parents, 0, &own);
    MPI_Allreduce(buf, sum, 1 + parents, MPI_INT, MPI_SUM, own);
    MPI_Barrier(other);
    MPI_Comm_free(&own);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
}

static void jobs(void)
{
    both(children("child"), 1);
}

static void child(void)
{
    MPI_Comm parents;
    MPI_Comm_get_parent(&parents);
    both(parents, 0);
}

static const struct check_case cases[] = {
    {"no_data", no_data}, {"group", group}, {"file", file}, {"file_open", file_open},
    {"creation", creation}, {"creation_of_file", creation_of_file}, {"order", order},
    {"places", places}, {"counts", counts}, {"truncates", truncates}, {"legal", legal},
    {"spawn", spawn}, {"spawned", spawned}, {"odd_child", odd_child},
    {"spawned_dead", spawned_dead}, {"dead_child", dead_child}, {"jobs", jobs}, {"child", child},
    {"cross_recv", cross_recv}, {"cross_wait", cross_wait}, {"cross_legal", cross_legal}};

int main(int argc, char **argv)
{
    return run_case(argc, argv, cases, sizeof cases / sizeof *cases);
}
