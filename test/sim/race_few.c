/* race_few.c - programs that do the same many times under the race checker.
 *
 *   race-few-*   what is kept of them, and what waits to be sent, does not grow with the number
 *   race-kept-*  what waits to be sent stays there, unless what comes hides it
 *   race-notify-* a counter that was seen orders one operation, and what is known of it goes
 *   race-handle-* one place by a memory handle and by its address */
#include <mpi.h>

#include "memory.h"
#include "race/race_types.h"
#include "scripted.h"

enum { TIMES = 60 };

static uint64_t records(void)
{
    return proc->race->shadow.n.records;
}

/* Rank 1 is the only one that takes the lock: it learns from no other. */
static void locks(MPI_Win win, int rank)
{
    int in = 0, out = 0;
    for (int i = 0; rank == 1 && i < TIMES; i++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        OK(MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
        OK(MPI_Get(&in, 1, MPI_INT, 0, 4, 1, MPI_INT, win));
        OK(MPI_Win_unlock(0, win));
    }
    if (rank == 1)
        OK(MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    else
        OK(MPI_Recv(&in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SIM_CHECK(records() == 2); /* words of the window, and buffers */
}

/* All gets of an epoch write one buffer: one race, in one place. */
static void gets(MPI_Win win, int rank)
{
    int in = 0;
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; rank == 1 && i < TIMES; i++)
        OK(MPI_Get(&in, 1, MPI_INT, 0, 4, 1, MPI_INT, win));
    SIM_CHECK(rank == 0 || records() == 2);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    SIM_CHECK(proc->race->races == (uint64_t)rank);
}

static int waiting(void)
{
    const struct race_peer *p = race_peer_of(0);
    int n = 0;
    for (const struct list *l = p->queue.next; l != &p->queue; l = l->next)
        n++;
    return n;
}

/* Rank 1 looks at a word of rank 0, which computes and takes no messages. */
static void looks(MPI_Win win, int rank)
{
    int in = 0, most = 0;
    OK(MPI_Win_lock_all(0, win));
    if (rank == 0)
        sim_compute(100 * TIMES);
    for (int i = 0; rank == 1 && i < 20 * TIMES; i++) {
        OK(MPI_Get(&in, 1, MPI_INT, 0, 4, 1, MPI_INT, win));
        OK(MPI_Win_flush(0, win));
        most = waiting() > most ? waiting() : most;
    }
    SIM_CHECK(rank == 0 || proc->race->acks >= (uint64_t)waiting());
    SIM_CHECK(most <= 2); /* before and after it learned from former holders of the lock */
    OK(MPI_Win_unlock_all(win));
}

static void few(void *arg)
{
    int rank, *mem;
    MPI_Win win;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    locks(win, rank);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    gets(win, rank);
    looks(win, rank);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    SIM_CHECK(proc->race->races == (uint64_t)rank);
    OK(MPI_Win_free(&win));
}

/* One place each, wherever they are called. */
#define ONE_PLACE static __attribute__((noinline)) void
ONE_PLACE only_get(MPI_Win win, int at)
{
    int in;
    OK(MPI_Get(&in, 1, MPI_INT, 0, at, 1, MPI_INT, win));
    OK(MPI_Win_flush_local(0, win));
}

ONE_PLACE put(MPI_Win win, int at)
{
    int word = 0;
    OK(MPI_Put(&word, 1, MPI_INT, 0, at, 1, MPI_INT, win));
    OK(MPI_Win_flush_local(0, win));
}

static void get(MPI_Win win, int at)
{
    only_get(win, at);
    OK(MPI_Win_flush(0, win));
}

/* Rank 1 gets two words. Rank 2 puts to both, and then tells rank 1, which gets the second one
 * again: that is no race, but the gets before are. Rank 0 computes, so all wait to be sent. */
static void kept(void *arg)
{
    static int heard;
    int rank, word = 0, *mem;
    MPI_Win win;
    (void)arg;
    heard = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_allocate(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    OK(MPI_Win_lock_all(0, win));
    if (rank == 0)
        sim_compute(100 * TIMES);
    if (rank == 2) /* so that what rank 1 knows later is as long as what it knows now */
        OK(MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    if (rank == 1)
        OK(MPI_Recv(&word, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    heard |= rank == 1;
    while (rank == 2 && !heard) /* a receive learns from all messages that are there */
        sim_compute(1);
    for (int i = 0; rank == 1 && i < 5 * TIMES; i++)
        get(win, 8 + i % 2 * 4);
    for (int i = 0; rank == 1 && i < 3; i++) {
        if (i == 2)
            OK(MPI_Recv(&word, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        get(win, i ? 4 : 0);
    }
    if (rank == 2) {
        OK(MPI_Put(&word, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
        OK(MPI_Put(&word, 1, MPI_INT, 0, 4, 1, MPI_INT, win));
        OK(MPI_Win_flush(0, win));
        OK(MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    SIM_CHECK(proc->race->races == (rank ? 0u : 2u) && proc->race->possible == 0);
    OK(MPI_Win_free(&win));
}

/* Rank 1 alone: a get beside a put before it, by two windows; a put beside a get that its request
 * completes. What comes then hides the later one of the two, but not from the earlier one. */
static void own(void *arg)
{
    int rank, in, *mem;
    MPI_Win win[2];
    MPI_Request r;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_allocate(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win[0]));
    OK(MPI_Win_create(mem, 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win[1]));
    for (int w = 0; w < 2; w++)
        OK(MPI_Win_lock_all(0, win[w]));
    if (rank == 0)
        sim_compute(100 * TIMES);
    for (int i = 0; rank == 1 && i < 5 * TIMES; i++)
        get(win[0], 8 + i % 2 * 4);
    for (int i = 0; rank == 1 && i < 2; i++) {
        if (i == 0)
            put(win[0], 0);
        only_get(win[1], 0);
        if (i == 0)
            OK(MPI_Win_flush(0, win[0]));
        OK(MPI_Win_flush(0, win[1]));
    }
    for (int i = 0; rank == 1 && i < 2; i++) {
        if (i == 0)
            OK(MPI_Rget(&in, 1, MPI_INT, 0, 4, 1, MPI_INT, win[0], &r));
        put(win[0], 4);
        if (i == 0)
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        OK(MPI_Win_flush(0, win[0]));
    }
    for (int w = 0; w < 2; w++)
        OK(MPI_Win_unlock_all(win[w]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    SIM_CHECK(proc->race->races == (rank ? 0u : 2u) && proc->race->possible == 0);
    OK(MPI_Win_free(&win[1]));
    OK(MPI_Win_free(&win[0]));
}

/* Rank 1 fills one place again and again; rank 0 says when it has looked. Then rank 0 looks at what
 * was put before the notified put, which is no part of that. */
static void notified(void *arg)
{
    int rank, in = 0, *mem, plain;
    MPI_Win win;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_allocate(16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    OK(MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 1));
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    for (int i = 0; i < TIMES; i++) {
        if (rank == 1)
            OK(MPIX_Put_notify(&i, 1, MPI_INT, 0, 0, 1, MPI_INT, 0, win));
        OK(MPIX_Win_notify_take(win, 0, 1));
        if (rank == 1)
            continue;
        OK(MPI_Get(&in, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
        OK(MPI_Win_flush(0, win));
        SIM_CHECK(in == i);
        OK(MPIX_Put_notify(NULL, 0, MPI_INT, 1, 0, 0, MPI_INT, 0, win));
        SIM_CHECK(!am_ordered(1) || proc->race->open.count <= 3);
    }
    SIM_CHECK(proc->race->races == 0 && proc->race->possible == 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    plain = rank;
    if (rank == 1) {
        OK(MPI_Put(&plain, 1, MPI_INT, 0, 4, 1, MPI_INT, win));
        OK(MPIX_Put_notify(&plain, 1, MPI_INT, 0, 8, 1, MPI_INT, 0, win));
    } else {
        OK(MPIX_Win_notify_wait(win, 0, 1));
        OK(MPI_Get(&in, 1, MPI_INT, 0, 8, 1, MPI_INT, win));
        OK(MPI_Win_flush(0, win));
        OK(MPI_Get(&in, 1, MPI_INT, 0, 4, 1, MPI_INT, win));
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    SIM_CHECK(proc->race->races == (rank ? 0u : 1u) && proc->race->possible == 0);
    OK(MPI_Win_free(&win));
}

static int batches(MPI_Win win)
{
    struct race_win *x = race_win_find(inside(win));
    const struct race_target *t = race_target_of(x, 0, 1);
    int n = 0;
    for (const struct list *l = t->pending.next; l != &t->pending; l = l->next)
        n++;
    return n;
}

/* Rank 1 fills many places and notifies two counters in turn. It never flushes, and learns nothing
 * of rank 0, which looks at a place when it has taken its notification. Odd seeds: notifications
 * cover what rank 1 did before, so rank 0 looks at the place between, too. */
static void endless(void *arg)
{
    enum { MANY = 600, AHEAD = 8 };
    static int taken;
    int rank, in, flag, *mem, covers = (int)(sim_seed() % 2), v[MANY];
    long sent = 0;
    MPI_Win win;
    MPI_Info info;
    (void)arg;
    taken = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_notify_order", covers ? "target" : "operation");
    OK(MPI_Win_allocate(2 * MANY * 4, 4, info, MPI_COMM_WORLD, &mem, &win));
    MPI_Info_free(&info);
    OK(MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 2));
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        v[i] = i;
    for (int i = 0; i < MANY; i++) {
        while (rank == 1 && i - taken > AHEAD)
            OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        if (rank == 1) {
            if (covers)
                OK(MPI_Put(&v[i], 1, MPI_INT, 0, 2 * i + 1, 1, MPI_INT, win));
            OK(MPIX_Put_notify(&v[i], 1, MPI_INT, 0, 2 * i, 1, MPI_INT, i % 2, win));
            SIM_CHECK(batches(win) <= 2 * RACE_NOTED_MAX + 2);
            sent = i == MANY / 2 ? sim_sent(1, -1) : sent;
            continue;
        }
        OK(MPIX_Win_notify_take(win, i % 2, 1));
        OK(MPI_Get(&in, 1, MPI_INT, 0, 2 * i + (i % 3 && covers), 1, MPI_INT, win));
        OK(MPI_Win_flush(0, win));
        SIM_CHECK(in == i);
        taken++;
    }
    /* of each: data, records, clock; covered: data, records, name */
    SIM_CHECK(rank == 0 || sim_sent(1, -1) - sent <= MANY / 2 * (covers ? 7 : 4));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    SIM_CHECK(proc->race->races == 0 && proc->race->possible == 0 && proc->race->open.count == 0);
    OK(MPI_Win_free(&win));
}

/* Rank 1 puts and notifies so often that the target alone has its operations. A flush of a
 * duplicate completes none of them, one of the window completes them: each time rank 2 puts to the
 * first one's place then. */
static void beside(void *arg)
{
    enum { MANY = RACE_NOTED_MAX + 4 };
    static int heard;
    int rank, v[MANY] = {0}, *mem;
    MPI_Win win, dup;
    MPI_Request r;
    (void)arg;
    heard = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_allocate(2 * MANY * 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    OK(MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 1));
    OK(MPIX_Win_idup(win, MPI_INFO_NULL, &dup, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int flushes = 0; flushes < 2; flushes++) {
        while (rank == 1 && heard < flushes) /* a receive learns from all messages that are there */
            sim_compute(1);
        for (int i = 0; rank == 1 && i < MANY; i++)
            OK(MPIX_Put_notify(&v[i], 1, MPI_INT, 0, flushes * MANY + i, 1, MPI_INT, 0, win));
        if (rank == 1) {
            OK(MPI_Win_flush(0, flushes ? win : dup));
            OK(MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
        }
        if (rank == 2) {
            OK(MPI_Recv(&v[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Put(&rank, 1, MPI_INT, 0, flushes * MANY, 1, MPI_INT, win));
            heard++;
        }
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    SIM_CHECK(proc->race->races == (rank ? 0u : 1u) && proc->race->possible == 0);
    OK(MPI_Win_free(&dup));
    OK(MPI_Win_free(&win));
}

/* What the core refuses leaves nothing at the owner of the counter. */
static void refused(void *arg)
{
    int rank, *mem;
    long before = 0;
    MPI_Win win;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    OK(MPIX_Win_notify_set_num(win, MPI_INFO_NULL, 1));
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int n = 0; n < 2; n++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; rank == 1 && i < 200; i++)
            ERR(MPI_ERR_RMA_SYNC, MPIX_Put_notify(&n, 1, MPI_INT, 0, 0, 1, MPI_INT, 0, win));
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
        if (rank == 1)
            OK(MPIX_Put_notify(&n, 1, MPI_INT, 0, 0, 1, MPI_INT, 0, win));
        else
            OK(MPIX_Win_notify_take(win, 0, 1));
        OK(MPI_Win_unlock_all(win));
        MPI_Barrier(MPI_COMM_WORLD);
        SIM_CHECK(n == 0 || memory_bytes(sim_rank()) - before < 4096);
        before = memory_bytes(sim_rank());
    }
    SIM_CHECK(proc->race->races == 0);
    OK(MPI_Win_free(&win));
}

/* Rank 1 puts to memory of rank 0 by its handle, rank 2 by its address: to one place, then to two
 * places beside each other. */
static void handled(void *arg)
{
    int rank, word = 0, mem[4] = {0};
    MPI_Aint at[2] = {0, 0};
    MPI_Win win;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    if (rank == 0) {
        OK(MPIX_Memhandle_create(win, mem, sizeof mem, &at[0]));
        OK(MPI_Get_address(mem, &at[1]));
    }
    OK(MPI_Bcast(at, 2, MPI_AINT, 0, MPI_COMM_WORLD));
    for (int apart = 0; apart < 2; apart++) {
        OK(MPI_Win_lock_all(0, win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank)
            OK(MPI_Put(&word, 1, MPI_INT, 0, at[rank - 1] + 4 * (rank - 1) * apart + 4, 1, MPI_INT,
                       win));
        OK(MPI_Win_unlock_all(win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        SIM_CHECK(proc->race->races == (rank ? 0u : 1u) && proc->race->possible == 0);
    }
    OK(MPI_Win_free(&win));
}

static void watched(struct sim_knobs *k)
{
    scenario_cvar("MPIR_CVAR_RACE", "rma");
    scenario_cvar("MPIR_CVAR_RACE_FILE", "/dev/null");
    k->preempt_percent = k->seed % 3 ? 0 : 20;
}

static void near(struct sim_knobs *k)
{
    watched(k);
    k->nodes = 1;
}

static void far(struct sim_knobs *k)
{
    watched(k);
    k->nodes = k->ranks;
    k->ordered = 1;
}

static void measured(struct sim_knobs *k)
{
    near(k);
    k->mortal = 1; /* memory is counted */
}

static void unordered(struct sim_knobs *k)
{
    watched(k);
    k->nodes = k->ranks;
    k->ordered = 0;
}

const struct scenario scenarios_race_few[] = {
    {"race-few-near", 2, 1, few, NULL, near},
    {"race-few-far", 2, 1, few, NULL, far},
    {"race-kept-near", 3, 1, kept, NULL, near},
    {"race-kept-far", 3, 1, kept, NULL, far},
    {"race-kept-own-near", 2, 1, own, NULL, near},
    {"race-kept-own-far", 2, 1, own, NULL, far},
    {"race-notify-near", 2, 1, notified, NULL, near},
    {"race-notify-far", 2, 1, notified, NULL, far},
    {"race-notify-unordered", 2, 1, notified, NULL, unordered},
    {"race-notify-endless-near", 2, 1, endless, NULL, near},
    {"race-notify-endless-far", 2, 1, endless, NULL, far},
    {"race-notify-beside-near", 3, 1, beside, NULL, near},
    {"race-notify-beside-far", 3, 1, beside, NULL, far},
    {"race-notify-refused", 2, 1, refused, NULL, measured},
    {"race-handle-near", 3, 1, handled, NULL, near},
    {"race-handle-far", 3, 1, handled, NULL, far},
    {NULL, 0, 0, NULL, NULL, NULL},
};
