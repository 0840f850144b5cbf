/* shrink.c - windows of each flavor lose members, one after another, and are shrunk: the memory of
 * the living stays where it is, with what was put there, and all kinds of epochs work on it. The
 * older window is freed before or after the new one, or has an owner of a lock that died. Run with
 * mpiexec -disable-auto-cleanup on four or more ranks. */
#include "../mt.h"
#include <signal.h>
#include <unistd.h>

enum { FLAVORS = 5, WORDS = 16 };

static int64_t words; /* of a window; word 0 holds the process's name, the last one is for sums */
static int size, rank;

static void ranks_of(MPI_Win win)
{
    MPI_Group g;
    CHECK_EQ(MPI_Win_get_group(win, &g), MPI_SUCCESS);
    MPI_Group_size(g, &size);
    MPI_Group_rank(g, &rank);
    MPI_Group_free(&g);
}

/* Names of the members: their ranks in MPI_COMM_WORLD. */
static void names_of(MPI_Win win, int *name)
{
    MPI_Group g, world;
    int i;
    MPI_Win_get_group(win, &g);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (i = 0; i < size; i++)
        MPI_Group_translate_ranks(g, 1, &i, world, &name[i]);
    MPI_Group_free(&world);
    MPI_Group_free(&g);
}

static int64_t *own; /* this process's part */
static MPI_Aint where[64]; /* of a dynamic window: of each member's */
static int is_dynamic;

static MPI_Aint at(int target, int64_t word)
{
    return is_dynamic ? where[target] + word * 8 : word;
}

static MPI_Win make(int kind, MPI_Comm comm)
{
    MPI_Win win = MPI_WIN_NULL;
    MPI_Info info;
    int i;
    own = NULL;
    is_dynamic = kind == 4;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_notify_num", "3");
    switch (kind) {
    case 0: CHECK_EQ(MPI_Win_allocate(8 * words, 8, info, comm, &own, &win), MPI_SUCCESS); break;
    case 1:
        CHECK((own = malloc(8 * (size_t)words)) != NULL);
        CHECK_EQ(MPI_Win_create(own, 8 * words, 8, info, comm, &win), MPI_SUCCESS);
        break;
    case 2:
        CHECK_EQ(MPI_Alloc_mem(8 * words, MPI_INFO_NULL, &own), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_create(own, 8 * words, 8, info, comm, &win), MPI_SUCCESS);
        break;
    case 3: {
        MPI_Comm node;
        int n, all;
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        MPI_Comm_size(node, &n);
        MPI_Comm_size(comm, &all);
        CHECK_EQ(n == all ? MPI_Win_allocate_shared(8 * words, 8, info, comm, &own, &win)
                          : MPI_Win_allocate(8 * words, 8, info, comm, &own, &win),
                 MPI_SUCCESS);
        MPI_Comm_free(&node);
        break;
    }
    default:
        CHECK_EQ(MPI_Win_create_dynamic(info, comm, &win), MPI_SUCCESS);
        CHECK((own = malloc(8 * (size_t)words)) != NULL);
        CHECK_EQ(MPI_Win_attach(win, own, 8 * words), MPI_SUCCESS);
    }
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (i = 0; i < words; i++)
        own[i] = 1000 * mt_rank + i;
    own[words - 1] = 0;
    return win;
}

static void memory_free(int kind)
{
    if (kind == 1 || kind == 4)
        free(own);
    else if (kind == 2)
        MPI_Free_mem(own);
}

/* All kinds of epochs; *mem is what this process's part must hold. */
static void work(MPI_Win win, MPI_Comm comm)
{
    int name[64], i;
    int64_t v, got[64], mine;
    MPI_Aint here;
    MPI_Count counted = 0;
    ranks_of(win);
    names_of(win, name);
    MPI_Get_address(own, &here);
    MPI_Allgather(&here, 1, MPI_AINT, where, 1, MPI_AINT, comm);
    mine = rank + 1;
    CHECK_EQ(MPI_Win_fence(0, win), MPI_SUCCESS);
    for (i = 0; i < size; i++) /* what was there before */
        CHECK_EQ(MPI_Get(&got[i], 1, MPI_INT64_T, i, at(i, 2), 1, MPI_INT64_T, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_fence(MPI_MODE_NOSUCCEED, win), MPI_SUCCESS);
    for (i = 0; i < size; i++)
        CHECK_EQ(got[i], 1000 * name[i] + 2);
    CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    for (i = 0; i < size; i++) {
        CHECK_EQ(MPI_Get(&got[0], 2, MPI_INT64_T, i, at(i, 1), 2, MPI_INT64_T, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush(i, win), MPI_SUCCESS);
        CHECK_EQ(got[0], 1000 * name[i] + 1);
        CHECK_EQ(got[1], 1000 * name[i] + 2);
        CHECK_EQ(MPI_Accumulate(&mine, 1, MPI_INT64_T, i, at(i, words - 1), 1, MPI_INT64_T,
                                MPI_SUM, win),
                 MPI_SUCCESS);
    }
    CHECK_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
    for (i = 0; i < size; i++) {
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i, 0, win), MPI_SUCCESS);
        CHECK_EQ(MPI_Get(&v, 1, MPI_INT64_T, i, at(i, words - 1), 1, MPI_INT64_T, win),
                 MPI_SUCCESS);
        CHECK_EQ(MPI_Win_flush(i, win), MPI_SUCCESS);
        v += mine;
        CHECK_EQ(MPI_Put(&v, 1, MPI_INT64_T, i, at(i, words - 1), 1, MPI_INT64_T, win),
                 MPI_SUCCESS);
        CHECK_EQ(MPI_Win_unlock(i, win), MPI_SUCCESS);
    }
    CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_SUCCESS);
    CHECK_EQ(own[words - 1], (int64_t)size * (size + 1));
    own[words - 1] = 0;
    CHECK_EQ(MPI_Win_unlock(rank, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    v = 1000 * name[(rank + 1) % size] + 3;
    i = (rank + 1) % size;
    CHECK_EQ(MPIX_Put_notify(&v, 1, MPI_INT64_T, i, at(i, 3), 1, MPI_INT64_T, 2, win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Win_flush_all(win), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_notify_take(win, 2, 1), MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_notify_get_value(win, 2, &counted), MPI_SUCCESS);
    CHECK_EQ((int)counted, 0);
    CHECK_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
    CHECK_EQ(MPI_Barrier(comm), MPI_SUCCESS);
}

/* What was mapped of others stays where it is. The last member has died, or none. */
static void same_mappings(MPI_Win win, MPI_Win old)
{
    MPI_Aint n, m;
    void *a, *b;
    int i, unit;
    for (i = 0; i < size - 1; i++) {
        CHECK_EQ(MPI_Win_shared_query(old, i, &n, &unit, &a), MPI_SUCCESS);
        CHECK_EQ(MPI_Win_shared_query(win, i, &m, &unit, &b), MPI_SUCCESS);
        CHECK(a == b);
        CHECK_EQ(n, m);
    }
}

/* Each has the same memory as before. */
static void same_memory(MPI_Win win, MPI_Win old)
{
    void *a = NULL, *b = NULL;
    MPI_Aint *n = NULL, *m = NULL;
    int *f = NULL, *g = NULL, flag, i;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &a, &flag);
    MPI_Win_get_attr(old, MPI_WIN_BASE, &b, &flag);
    CHECK(a == b);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &n, &flag);
    MPI_Win_get_attr(old, MPI_WIN_SIZE, &m, &flag);
    CHECK_EQ(*n, *m);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &f, &flag);
    MPI_Win_get_attr(old, MPI_WIN_CREATE_FLAVOR, &g, &flag);
    CHECK_EQ(*f, *g);
    for (i = 0; i < words - 1; i++)
        CHECK_EQ(own[i], 1000 * mt_rank + i);
}

/* The last one dies, and holds a lock, or has asked for one. comm becomes that of the living. */
static MPI_Win lose(MPI_Win win, MPI_Comm *comm, int kind)
{
    MPI_Comm living;
    MPI_Win made = MPI_WIN_NULL;
    MPI_Group dead;
    int victim, err, unacked, n, i, few = size;
    victim = size - 1;
    if (rank != victim) { /* it has left the last barrier */
        CHECK_EQ(MPI_Send(NULL, 0, MPI_BYTE, victim, 4, *comm), MPI_SUCCESS);
    } else {
        for (i = 0; i < victim; i++)
            MPI_Recv(NULL, 0, MPI_BYTE, i, 4, *comm, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, kind % size, 0, win);
        MPI_Put(&words, 1, MPI_INT64_T, kind % size, at(kind % size, words - 1), 1, MPI_INT64_T,
                win);
        MPI_Win_flush(kind % size, win);
        kill(getpid(), SIGKILL);
    }
    CHECK_EQ(MPIX_Comm_shrink(*comm, &living), MPI_SUCCESS);
    for (MPI_Comm_size(living, &n); n == few; MPI_Comm_size(living, &n)) { /* not dead yet */
        MPI_Comm_free(&living);
        CHECK_EQ(MPIX_Comm_shrink(*comm, &living), MPI_SUCCESS);
    }
    do
        err = MPIX_Comm_agree(living, &(int){1});
    while (err && MPI_Comm_ack_failed(living, size, &unacked) == MPI_SUCCESS);
    CHECK_EQ(MPIX_Win_get_failed(win, &dead), MPI_SUCCESS);
    MPI_Group_size(dead, &i);
    CHECK_EQ(i, 1);
    MPI_Group_free(&dead);
    err = MPIX_Win_shrink(win, &made);
    CHECK_EQ(mt_class(err), MPI_SUCCESS);
    own[words - 1] = 0;
    CHECK_EQ(MPI_Barrier(living), MPI_SUCCESS);
    same_memory(made, win);
    if (kind % 2 && !is_dynamic)
        same_mappings(made, win);
    if (*comm != MPI_COMM_WORLD)
        MPI_Comm_free(comm);
    *comm = living;
    return made;
}

int main(int argc, char **argv)
{
    int kind;
    MPI_Comm comm;

    mt_init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (kind = 0; kind < 2 * FLAVORS; kind++) {
        MPI_Win win, next, last;
        words = kind < FLAVORS ? WORDS : 300000;
        win = make(kind % FLAVORS, comm);
        MPI_Barrier(comm);
        work(win, comm);
        if (size > 2) {
            next = lose(win, &comm, kind);
        } else { /* none dies */
            CHECK_EQ(MPIX_Win_shrink(win, &next), MPI_SUCCESS);
        }
        if (kind & 1) { /* the memory stays */
            CHECK_EQ(mt_class(MPI_Win_free(&win)), MPI_SUCCESS);
            work(next, comm);
        }
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_SHARED, rank % size, 0, next), MPI_SUCCESS);
        CHECK_EQ(mt_class(MPIX_Win_shrink(next, &last)), MPI_ERR_RMA_SYNC);
        CHECK_EQ(MPI_Win_unlock(rank % size, next), MPI_SUCCESS);
        work(next, comm);
        CHECK_EQ(MPIX_Win_shrink(next, &last), MPI_SUCCESS); /* none has died since */
        work(next, comm);
        work(last, comm);
        CHECK_EQ(mt_class(MPI_Win_free(&next)), MPI_SUCCESS);
        work(last, comm);
        CHECK_EQ(mt_class(MPI_Win_free(&last)), MPI_SUCCESS);
        if (!(kind & 1))
            CHECK_EQ(mt_class(MPI_Win_free(&win)), MPI_SUCCESS);
        memory_free(kind % FLAVORS);
    }
    return mt_finish_over(comm);
}
