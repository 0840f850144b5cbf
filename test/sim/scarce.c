/* scarce.c - one rank has no memory for one request of a collective call: all ranks come out of it,
 * a window or a file is made on all or on none, and the next collective call finds all. The ranks
 * have met before: a process that cannot take part in an agreement for want of a first connection
 * ends the job (coll/schedule.c). */
#include "memory.h"
#include "scenarios.h"

#include <stdio.h>
#include <unistd.h>

static char name[64];
static char words[64];
static MPI_Group whole[16]; /* of each rank */
static MPI_Info one_copy[16];

static int open_file(void *made)
{
    MPI_File *f = made;
    *f = MPI_FILE_NULL;
    return MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, f);
}

static void close_file(void *made)
{
    OK(MPI_File_close(made));
}

static int create(void *made)
{
    return MPI_Win_create(words, sizeof words, 1, MPI_INFO_NULL, MPI_COMM_WORLD, made);
}

static int allocate(void *made)
{
    void *base;
    return MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, made);
}

/* ... with copies: a second window. */
static int copies(void *made)
{
    void *base;
    return MPI_Win_allocate(64, 1, one_copy[sim_rank()], MPI_COMM_WORLD, &base, made);
}

static int shared(void *made)
{
    void *base;
    return MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, made);
}

static int dynamic(void *made)
{
    return MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, made);
}

static void free_window(void *made)
{
    OK(MPI_Win_free(made));
}

static int duplicate(void *made)
{
    return MPI_Comm_dup(MPI_COMM_WORLD, made);
}

/* No regular order of ranks: the map is a table. */
static int split(void *made)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return MPI_Comm_split(MPI_COMM_WORLD, 0, rank ^ 1 << rank % 2, made);
}

static int group(void *made)
{
    return MPI_Comm_create_group(MPI_COMM_WORLD, whole[sim_rank()], 7, made);
}

static void free_comm(void *made)
{
    OK(MPI_Comm_free(made));
}

static int allreduce(void *made)
{
    int one = 1;
    return MPI_Allreduce(&one, made, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static int allgather(void *made)
{
    static int all[16][8];
    return MPI_Allgather(made, 1, MPI_INT, all[sim_rank()], 1, MPI_INT, MPI_COMM_WORLD);
}

struct call {
    int (*make)(void *made);
    void (*end)(void *made); /* NULL: there is nothing to free */
    int all;                 /* made on all or on none */
    int requests;            /* which of them is refused: among so many; 0: 40 */
};

static void refuse(const struct call *c)
{
    int rank, ranks;
    unsigned most = c->requests ? (unsigned)c->requests : 40;
    union {
        MPI_Win w;
        MPI_Comm c;
        MPI_File f;
        int n;
    } made;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    snprintf(name, sizeof name, "/tmp/sim-scarce-%d", (int)getpid());
    OK(MPI_Comm_group(MPI_COMM_WORLD, &whole[rank]));
    OK(MPI_Info_create(&one_copy[rank]));
    OK(MPI_Info_set(one_copy[rank], "mpix_win_replicas", "1"));
    OK(c->make(&made)); /* all meet */
    if (c->end)
        c->end(&made);
    for (int i = 0; i < 6; i++) {
        int at = 1 + (int)((sim_seed() * 6 + (unsigned)i) % most),
            poor = (int)(sim_seed() / 7 % (unsigned)ranks), any;
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == poor)
            memory_refuse_nth(poor, at);
        int err = c->make(&made);
        if (rank == poor)
            memory_refuse(-1);
        any = err != MPI_SUCCESS;
        OK(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        sim_event("request %d of rank %d: %d errors", at, poor, any);
        SIM_CHECK(!c->all || any == 0 || any == ranks);
        if (!err && c->end)
            c->end(&made);
    }
    MPI_Group_free(&whole[rank]);
    MPI_Info_free(&one_copy[rank]);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        unlink(name);
}

#define SCENE(what, end, all, requests)                                                            \
    static void scene_##what(void *arg)                                                            \
    {                                                                                              \
        (void)arg;                                                                                 \
        refuse(&(const struct call){what, end, all, requests});                                    \
    }
SCENE(open_file, close_file, 1, 0)
SCENE(create, free_window, 1, 0)
SCENE(allocate, free_window, 1, 0)
SCENE(copies, free_window, 1, 120)
SCENE(shared, free_window, 1, 0)
SCENE(dynamic, free_window, 1, 0)
SCENE(duplicate, free_comm, 0, 0)
SCENE(split, free_comm, 0, 0)
SCENE(group, free_comm, 0, 0)
SCENE(allreduce, NULL, 0, 0)
SCENE(allgather, NULL, 0, 0)

/* Where all ranks are near. */
static void near(struct sim_knobs *k)
{
    k->nodes = 1;
}

const struct scenario scenarios_scarce[] = {
    {"scarce-open", 3, 1, scene_open_file, NULL, NULL},
    {"scarce-create", 3, 1, scene_create, NULL, NULL},
    {"scarce-allocate", 4, 1, scene_allocate, NULL, NULL},
    {"scarce-copies", 4, 1, scene_copies, NULL, NULL},
    {"scarce-shared", 3, 1, scene_shared, NULL, near},
    {"scarce-dynamic", 3, 1, scene_dynamic, NULL, NULL},
    {"scarce-dup", 3, 1, scene_duplicate, NULL, NULL},
    {"scarce-split", 5, 1, scene_split, NULL, NULL},
    {"scarce-group", 4, 1, scene_group, NULL, NULL},
    {"scarce-allreduce", 5, 1, scene_allreduce, NULL, NULL},
    {"scarce-allgather", 5, 1, scene_allgather, NULL, NULL},
    {NULL, 0, 0, NULL, NULL, NULL},
};
