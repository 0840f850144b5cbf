/* scripted.c - one script per numbered decision of doc/design/rma.md and per shortage in each
 * state. Each checks its results and, by the window's counters, that the shortage it is about
 * really came about. */
#include "scripted.h"

#include <errno.h>
#include <stdlib.h>

#include "memory.h"

/* --- 1: what may wait: pools of one element in every state ------------------------------------ */

enum { FLOOD = 12 };

/* More operations than elements, dealt over all other ranks. */
static void flood(const struct job *j, long *v)
{
    for (int i = 0; i < FLOOD; i++) {
        int t = (j->rank + 1 + i % (j->size - 1)) % j->size;
        v[i] = 1000 * j->rank + i;
        put1(j, &v[i], t, j->rank * FLOOD + i);
    }
}

static void flood_check(const struct job *j, int from)
{
    for (int i = 0; i < FLOOD; i++) {
        int t = (from + 1 + i % (j->size - 1)) % j->size;
        SIM_CHECK(j->mem[from * FLOOD + i] == (t == j->rank ? 1000 * from + i : 0));
    }
}

static void dry(const struct job *j)
{
    SIM_CHECK(pvar(j->win, PVAR_RMA_OPS_DRY) > 0 || pvar(j->win, PVAR_RMA_TARGETS_DRY) > 0);
    SIM_CHECK(pvar(j->win, PVAR_RMA_TARGETS_DRY) > 0);
    SIM_CHECK(pvar(j->win, PVAR_RMA_CLEANUPS) > 0);
    SIM_CHECK(pvar(j->win, PVAR_RMA_OPS_HIGH) == 1 && pvar(j->win, PVAR_RMA_TARGETS_HIGH) == 1);
}

/* FENCE_ISSUED: the flood begins while rank 0 has not come to the fence; it is not let go on before
 * all that can happen without it has happened. */
static void dry_fence_issued(void *arg)
{
    (void)arg;
    struct job j = job_open(5 * FLOOD);
    long v[FLOOD];
    if (j.rank == 0)
        sim_compute(400);
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, j.win));
    if (j.rank != 0) {
        SIM_CHECK(rma_in(inside(j.win), SET_FENCE));
        flood(&j, v);
        dry(&j);
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    for (int o = 1; o < j.size; o++)
        flood_check(&j, o);
    job_close(&j);
}

/* A near put must not touch memory whose owner has not come to the opening fence. */
static void fence_near(void *arg)
{
    static int put[SIM_RANKS];
    (void)arg;
    put[0] = 0;
    struct job j = job_open(4);
    long v = 5;
    if (j.rank == 1) {
        while (!put[0])
            sim_compute(2);
        SIM_CHECK(j.mem[0] == 0);
        j.mem[0] = 4;
    }
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, j.win));
    if (j.rank == 0) {
        put1(&j, &v, 1, 0);
        SIM_CHECK(rma_in(inside(j.win), SET_BARRIER_OUT));
        put[0] = 1;
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    SIM_CHECK(j.rank != 1 || j.mem[0] == 5);
    job_close(&j);
}

static void one_node(struct sim_knobs *k)
{
    k->nodes = 1;
}

static void dry_fence_granted(void *arg)
{
    (void)arg;
    struct job j = job_open(5 * FLOOD);
    long v[FLOOD];
    OK(MPI_Win_fence(0, j.win));
    flood(&j, v);
    dry(&j);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    for (int o = 0; o < j.size; o++)
        flood_check(&j, o);
    job_close(&j);
}

/* PSCW: every rank posts to all and starts on all; `late`: the posts come late. */
static void dry_pscw(int late)
{
    struct job j = job_open(5 * FLOOD);
    long v[FLOOD];
    MPI_Group world, others;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_excl(world, 1, &j.rank, &others));
    if (late && j.rank == 0) {
        sim_compute(300);
        OK(MPI_Win_post(others, 0, j.win));
        OK(MPI_Win_wait(j.win));
    } else if (late) {
        MPI_Group zero;
        int none = 0;
        OK(MPI_Group_incl(world, 1, &none, &zero));
        OK(MPI_Win_start(zero, 0, j.win));
        for (int i = 0; i < FLOOD; i++) {
            v[i] = 1000 * j.rank + i;
            put1(&j, &v[i], 0, j.rank * FLOOD + i);
        }
        SIM_CHECK(pvar(j.win, PVAR_RMA_OPS_DRY) > 0);
        OK(MPI_Win_complete(j.win));
        OK(MPI_Group_free(&zero));
    } else {
        OK(MPI_Win_post(others, 0, j.win));
        OK(MPI_Win_start(others, 0, j.win));
        flood(&j, v);
        dry(&j);
        OK(MPI_Win_complete(j.win));
        OK(MPI_Win_wait(j.win));
    }
    for (int o = late; o < j.size; o++)
        if (!late)
            flood_check(&j, o);
        else if (j.rank == 0)
            for (int i = 0; i < FLOOD; i++)
                SIM_CHECK(j.mem[o * FLOOD + i] == 1000 * o + i);
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&others));
    job_close(&j);
}

static void dry_pscw_issued(void *arg)
{
    (void)arg;
    dry_pscw(1);
}

static void dry_pscw_granted(void *arg)
{
    (void)arg;
    dry_pscw(0);
}

/* LOCK_ALL_CALLED -> ISSUED -> GRANTED in the middle of every rank's flood. */
static void dry_lock_all(void *arg)
{
    (void)arg;
    struct job j = job_open(5 * FLOOD);
    long v[FLOOD];
    OK(MPI_Win_lock_all(0, j.win));
    SIM_CHECK(rma_in(inside(j.win), SET_LAZY_ALL));
    flood(&j, v);
    SIM_CHECK(pvar(j.win, PVAR_RMA_SWITCHES) == 1 && rma_in(inside(j.win), SET_ALL_LOCKED));
    dry(&j);
    OK(MPI_Win_unlock_all(j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int o = 0; o < j.size; o++)
        flood_check(&j, o);
    job_close(&j);
}

static void dry_lock_all_nocheck(void *arg)
{
    (void)arg;
    struct job j = job_open(5 * FLOOD);
    long v[FLOOD];
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
    flood(&j, v);
    SIM_CHECK(pvar(j.win, PVAR_RMA_SWITCHES) == 0);
    dry(&j);
    OK(MPI_Win_flush((j.rank + 1) % j.size, j.win)); /* its element is gone: asked by itself */
    OK(MPI_Win_unlock_all(j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int o = 0; o < j.size; o++)
        flood_check(&j, o);
    job_close(&j);
}

/* PER_TARGET with more locks than elements, shared ones: exclusive ones by every rank on every rank
 * could never be granted. */
static void dry_per_target(void *arg)
{
    (void)arg;
    struct job j = job_open(5 * FLOOD);
    long v[FLOOD];
    for (int t = 0; t < j.size; t++)
        if (t != j.rank)
            OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, j.win));
    flood(&j, v);
    dry(&j);
    SIM_CHECK(inside(j.win)->passive.evicted.count > 0 &&
              inside(j.win)->passive.locks == (unsigned)j.size - 1);
    for (int t = j.size - 1; t >= 0; t--)
        if (t != j.rank) {
            OK(MPI_Win_unlock(t, j.win));
            /* 15: the last one only */
            SIM_CHECK(rma_in(inside(j.win), SET_UNSET) == (inside(j.win)->passive.locks == 0));
        }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int o = 0; o < j.size; o++)
        flood_check(&j, o);
    job_close(&j);
}

/* A window over memory that others do not map; every rank may look at every rank's here. */
static struct job private_open(long *mem, long longs, long **all)
{
    struct job j = {.mem = mem};
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.size);
    OK(MPI_Win_create(mem, longs * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
                      MPI_COMM_WORLD, &j.win));
    OK(MPI_Win_set_errhandler(j.win, MPI_ERRORS_RETURN));
    MPI_Allgather(&mem, sizeof mem, MPI_BYTE, all, sizeof mem, MPI_BYTE, MPI_COMM_WORLD);
    return j;
}

/* Two elements to a node peer's created window go by message, and their element for another's: a
 * flush of the peer waits for the answer all the same, and one element more does not pass them. */
static void flush_near(void *arg)
{
    (void)arg;
    long mem[8] = {0}, v[2] = {5, 6}, got = 0, *all[4];
    struct job j = private_open(mem, 8, all);
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        for (int t = 1; t < 3; t++)
            OK(MPI_Accumulate(v, 2, MPI_LONG, t, 0, 2, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Win_flush_all(j.win));
        tell(1);
        long evicted = pvar(j.win, PVAR_RMA_EVICTIONS);
        OK(MPI_Accumulate(v, 2, MPI_LONG, 1, 2, 2, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Put(v, 1, MPI_LONG, 2, 2, 1, MPI_LONG, j.win)); /* takes its element */
        SIM_CHECK(pvar(j.win, PVAR_RMA_EVICTIONS) > evicted);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(all[1][2] == v[0] && all[1][3] == v[1]);
        evicted = pvar(j.win, PVAR_RMA_EVICTIONS);
        OK(MPI_Accumulate(v, 2, MPI_LONG, 1, 2, 2, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Put(v, 1, MPI_LONG, 2, 2, 1, MPI_LONG, j.win));
        SIM_CHECK(pvar(j.win, PVAR_RMA_EVICTIONS) > evicted);
        OK(MPI_Fetch_and_op(v, &got, MPI_LONG, 1, 2, MPI_SUM, j.win));
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(got == 2 * v[0] && all[1][2] == 3 * v[0] && all[1][3] == 2 * v[1]);
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
        tell(2);
        tell(3);
    } else {
        if (j.rank == 1) /* waits in MPI: else the accumulates would be done by a single copy */
            hear(0);
        hear(0);
    }
    OK(MPI_Win_free(&j.win));
}

static void poor_with_a_neighbour(struct sim_knobs *k)
{
    far_and_poor(k);
    k->nodes = 2; /* 0 and 1; 2 and 3 */
    k->quiet_rank = -1;
    k->native = 0;
    k->max_delay = 300;
}

/* --- one element of a node peer's private memory (delegate.c) --------------------------------- */

/* Each kind on cell `at` of t, 1 more each time; they return the class `cls`. */
static void each_kind(const struct job *j, int t, long at, int cls)
{
    static const long one = 1;
    long got[4] = {-1, -1, -1, -1}, want[2] = {0, 1};
    ERR(cls, MPI_Accumulate(&one, 1, MPI_LONG, t, at, 1, MPI_LONG, MPI_SUM, j->win));
    ERR(cls, MPI_Get_accumulate(&one, 1, MPI_LONG, &got[0], 1, MPI_LONG, t, at, 1, MPI_LONG,
                                MPI_SUM, j->win));
    ERR(cls, MPI_Fetch_and_op(&one, &got[1], MPI_LONG, t, at, MPI_SUM, j->win));
    ERR(cls, MPI_Compare_and_swap(&want[1], &want[0], &got[2], MPI_LONG, t, at + 1, j->win));
    ERR(cls, MPI_Compare_and_swap(&want[0], &want[1], &got[3], MPI_LONG, t, at + 1, j->win));
    if (!cls)
        OK(MPI_Win_flush(t, j->win));
    SIM_CHECK(cls ? got[0] == -1 && got[1] == -1 && got[2] == -1 && got[3] == -1
                  : got[1] == got[0] + 1 && got[2] == 0 && got[3] == 1);
}

/* It is asked for where the owner listens, done by a single copy where it computes, and needs no
 * element either way. */
static void one_element(void *arg)
{
    (void)arg;
    enum { TIMES = 20 };
    long mem[4] = {0}, *all[4];
    struct job j = private_open(mem, 4, all);
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        for (int i = 0; i < TIMES; i++) {
            each_kind(&j, 1, 0, MPI_SUCCESS);
            SIM_CHECK(all[1][0] == 3 * (i + 1) && all[1][1] == 0 &&
                      inside(j.win)->table.ntargets == 0);
        }
        long asked = pvar(j.win, PVAR_RMA_AM), done = pvar(j.win, PVAR_RMA_CMA);
        SIM_CHECK(asked + done == 5 * TIMES);
        SIM_CHECK(asked > TIMES); /* messages are not late here */
        tell(1);
        hear(1);
        for (int i = 0; i < TIMES; i++)
            each_kind(&j, 1, 0, MPI_SUCCESS);
        SIM_CHECK(pvar(j.win, PVAR_RMA_CMA) > done);
        tell(1);
        OK(MPI_Win_unlock_all(j.win));
    } else if (j.rank == 1) {
        hear(0);
        tell(0);
        sim_compute(1000);
        hear(0);
        SIM_CHECK(mem[0] == 6 * TIMES && mem[1] == 0);
    }
    OK(MPI_Win_free(&j.win));
}

/* Only in an epoch that admits it on that rank. */
static void one_admitted(void *arg)
{
    (void)arg;
    static int called;
    long mem[4] = {0}, v = 7, *all[4];
    called = 0;
    struct job j = private_open(mem, 4, all);
    MPI_Group world, other;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    each_kind(&j, (j.rank + 1) % j.size, 0, MPI_ERR_RMA_SYNC); /* none is open */
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        each_kind(&j, 2, 0, MPI_ERR_RMA_SYNC); /* not this one */
        each_kind(&j, 1, 0, MPI_SUCCESS);
        OK(MPI_Win_unlock(1, j.win));
        each_kind(&j, 1, 0, MPI_ERR_RMA_SYNC);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int partner = !j.rank;
    OK(MPI_Group_incl(world, 1, &partner, &other));
    if (j.rank == 1) {
        OK(MPI_Win_post(other, 0, j.win));
        OK(MPI_Win_wait(j.win));
    } else if (j.rank == 0) {
        long got;
        OK(MPI_Win_start(other, 0, j.win));
        each_kind(&j, 2, 0, MPI_ERR_RMA_SYNC); /* not in the group */
        OK(MPI_Fetch_and_op(&v, &got, MPI_LONG, 1, 0, MPI_SUM, j.win));
        OK(MPI_Win_complete(j.win));
        SIM_CHECK(got == 3);
        each_kind(&j, 1, 0, MPI_ERR_RMA_SYNC);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(mem[0] == (j.rank == 1 ? 3 + v : 0) && mem[1] == 0);
    /* not before its owner has come to the opening fence, though it may look */
    if (j.rank == 1) {
        while (!called)
            turn();
        SIM_CHECK(mem[0] == 3 + v);
        mem[0] = 1;
    }
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, j.win));
    if (j.rank == 0) {
        OK(MPI_Accumulate(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, j.win));
        SIM_CHECK(rma_in(inside(j.win), SET_BARRIER_OUT));
        called = 1;
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    SIM_CHECK(j.rank != 1 || mem[0] == 1 + v);
    OK(MPI_Group_free(&other));
    OK(MPI_Group_free(&world));
    OK(MPI_Win_free(&j.win));
}

/* It does not pass what went by message before it. */
static void one_in_order(void *arg)
{
    (void)arg;
    enum { TIMES = 10 };
    long mem[4] = {0}, *all[4];
    struct job j = private_open(mem, 4, all);
    if (j.rank == 0) {
        long two[2] = {1, 1}, got[2];
        OK(MPI_Win_lock_all(0, j.win));
        for (int i = 0; i < TIMES; i++) {
            OK(MPI_Accumulate(two, 2, MPI_LONG, 1, 0, 2, MPI_LONG, MPI_SUM, j.win));
            SIM_CHECK(inside(j.win)->table.ntargets == 1);
            OK(MPI_Fetch_and_op(two, &got[0], MPI_LONG, 1, 0, MPI_NO_OP, j.win));
            OK(MPI_Get_accumulate(two, 1, MPI_LONG, &got[1], 1, MPI_LONG, 1, 1, 1, MPI_LONG,
                                  MPI_SUM, j.win));
            OK(MPI_Win_flush(1, j.win));
            SIM_CHECK(got[0] == i + 1 && got[1] == 2 * i + 1 && all[1][0] == i + 1 &&
                      all[1][1] == 2 * i + 2);
        }
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
    } else if (j.rank == 1) {
        hear(0);
    }
    OK(MPI_Win_free(&j.win));
}

/* A block is copied by its owner piece by piece where it listens, by a single copy where it
 * computes, and by both where it stops in between; it needs no element. */
enum { BLOCK = 3 * 1024 + 5, PIECES = 4 };

static void copy_block(const struct job *j, long *buf, const long *there, long first)
{
    for (int late = 1; late >= 0; late--) { /* pieces of the first must not come after the second */
        for (long i = 0; i < BLOCK; i++)
            buf[i] = first + i - late;
        OK(MPI_Put(buf, BLOCK, MPI_LONG, 1, 1, BLOCK, MPI_LONG, j->win));
    }
    OK(MPI_Win_flush(1, j->win));
    for (int i = 0; i < 10; i++)
        turn();
    for (long i = 0; i < BLOCK; i++) {
        SIM_CHECK(there[1 + i] == first + i);
        buf[i] = 0;
    }
    SIM_CHECK(there[0] == -1 && there[1 + BLOCK] == -1);
    OK(MPI_Get(buf, BLOCK, MPI_LONG, 1, 1, BLOCK, MPI_LONG, j->win));
    OK(MPI_Win_flush(1, j->win));
    for (long i = 0; i < BLOCK; i++)
        SIM_CHECK(buf[i] == first + i);
    SIM_CHECK(inside(j->win)->table.ntargets == 0);
}

static void copies(void *arg)
{
    (void)arg;
    enum { TIMES = 10 };
    long *mem = calloc(BLOCK + 2, sizeof *mem), *buf = calloc(BLOCK, sizeof *buf), *all[4];
    SIM_CHECK(mem && buf);
    mem[0] = mem[1 + BLOCK] = -1;
    struct job j = private_open(mem, BLOCK + 2, all);
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        for (int i = 0; i < TIMES; i++)
            copy_block(&j, buf, all[1], 10000L * i);
        long asked = pvar(j.win, PVAR_RMA_AM), done = pvar(j.win, PVAR_RMA_CMA);
        SIM_CHECK(asked + done == 3 * TIMES);
        SIM_CHECK(asked > TIMES || j.size == 3); /* messages are not late among two */
        SIM_CHECK(pvar(j.win, PVAR_RMA_MSGS) >= PIECES * asked);
        SIM_CHECK(done || pvar(j.win, PVAR_RMA_MSGS) == PIECES * asked);
        tell(1);
        hear(1);
        for (int i = 0; i < TIMES; i++)
            copy_block(&j, buf, all[1], 10000L * i + 7);
        SIM_CHECK(pvar(j.win, PVAR_RMA_CMA) > done);
        tell(1);
        OK(MPI_Win_unlock_all(j.win));
    } else if (j.rank == 1) {
        hear(0);
        tell(0);
        sim_compute(1000);
        hear(0);
    }
    OK(MPI_Win_free(&j.win));
    free(mem);
    free(buf);
}

/* A message is there when its receiver looks. */
static void at_once(struct sim_knobs *k)
{
    one_node(k);
    k->max_delay = k->again_percent = k->refuse_percent = k->inbox = k->replies = 0;
    k->quiet_rank = -1;
}

/* --- 2: order of locks ------------------------------------------------------------------------ */

/* Two origins lock 2 then 3 and touch them in different orders. */
static void lock_order(void *arg)
{
    (void)arg;
    struct job j = job_open(4);
    if (j.rank < 2)
        for (int round = 0; round < 4; round++) {
            long v = 1;
            int first = j.rank == 0 ? 3 : 2;
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, j.win));
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, j.win));
            SIM_CHECK(rma_target_find(inside(j.win), 2)->state == TARGET_LOCK_GRANTED);
            SIM_CHECK(rma_target_find(inside(j.win), 3)->state == TARGET_LOCK_CALLED);
            OK(MPI_Accumulate(&v, 1, MPI_LONG, first, 0, 1, MPI_LONG, MPI_SUM, j.win));
            OK(MPI_Win_flush(first, j.win));
            OK(MPI_Accumulate(&v, 1, MPI_LONG, 5 - first, 0, 1, MPI_LONG, MPI_SUM, j.win));
            OK(MPI_Win_flush(5 - first, j.win));
            OK(MPI_Win_unlock(3, j.win));
            OK(MPI_Win_unlock(2, j.win));
        }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.mem[0] == (j.rank < 2 ? 0 : 8));
    job_close(&j);
}

/* The same over two windows. */
static void lock_order_windows(void *arg)
{
    (void)arg;
    struct job j = job_open(4), k = job_open(4);
    if (j.rank < 2)
        for (int round = 0; round < 3; round++) {
            long v = 1;
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, j.win));
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, k.win));
            struct job *a = j.rank ? &j : &k, *b = j.rank ? &k : &j;
            OK(MPI_Accumulate(&v, 1, MPI_LONG, 2, 0, 1, MPI_LONG, MPI_SUM, a->win));
            OK(MPI_Win_unlock(2, a->win));
            OK(MPI_Accumulate(&v, 1, MPI_LONG, 2, 0, 1, MPI_LONG, MPI_SUM, b->win));
            OK(MPI_Win_unlock(2, b->win));
        }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank < 2 || (j.mem[0] == 6 && k.mem[0] == 6));
    job_close(&k);
    job_close(&j);
}

/* --- 3: LOCK_ALL joins ------------------------------------------------------------------------ */

/* 0 holds 1 by lock_all, 2 queues for it alone, 3's late request must pass 2's: 0 unlocks only when
 * 3 is through. */
static void lock_all_joins(void *arg)
{
    (void)arg;
    struct job j = job_open(4);
    long v = 1;
    switch (j.rank) {
    case 0:
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_flush(1, j.win));
        tell(2);
        hear(3);
        OK(MPI_Win_unlock_all(j.win));
        break;
    case 1:
        while (inside(j.win)->target.lockq.count == 0)
            turn();
        tell(3);
        SIM_CHECK(j.mem[2] == 0);
        break;
    case 2:
        hear(0);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put1(&j, &v, 1, 2);
        OK(MPI_Win_unlock(1, j.win));
        break;
    default:
        hear(1);
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 3);
        OK(MPI_Win_flush(1, j.win));
        tell(0);
        OK(MPI_Win_unlock_all(j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank != 1 || (j.mem[0] == 1 && j.mem[2] == 1 && j.mem[3] == 1));
    SIM_CHECK(j.rank != 1 || pvar(j.win, PVAR_RMA_LOCK_WAIT) == 1); /* 3 was let in meanwhile */
    job_close(&j);
}

/* --- 4: the queue at the target --------------------------------------------------------------- */

/* Rank 0 keeps its own lock until every rank has asked; the queue holds one and no data.  Then they
 * must come in the order of their first requests: of their stamps. */
static void queue_full(void *arg)
{
    (void)arg;
    struct job j = job_open(32);
    long ticket = -1, one = 1, stamp = 0;
    unsigned others = (unsigned)j.size - 1;
    if (j.rank == 0)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 0) {
        struct rma_lockq *q = &inside(j.win)->target.lockq;
        while (q->count + (q->stamps - q->admitted) < others)
            turn();
        SIM_CHECK(q->count == 1 && pvar(j.win, PVAR_RMA_LOCKS_USED) == 1);
        SIM_CHECK(j.mem[0] == 0);
        OK(MPI_Win_unlock(0, j.win));
    } else {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
        OK(MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, j.win));
        put1(&j, &one, 0, j.rank);
        OK(MPI_Win_flush(0, j.win));
        stamp = (long)rma_target_find(inside(j.win), 0)->stamp; /* 0: was in the queue */
        OK(MPI_Win_unlock(0, j.win));
        SIM_CHECK(stamp == ticket);
        SIM_CHECK(pvar(j.win, PVAR_RMA_LOCKS_RESENT) > 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 0) {
        SIM_CHECK(j.mem[0] == (long)others);
        for (unsigned i = 1; i <= others; i++)
            SIM_CHECK(j.mem[i] == 1);
        SIM_CHECK(pvar(j.win, PVAR_RMA_LOCKS_HIGH) == 1 && pvar(j.win, PVAR_RMA_LOCKS_USED) == 0);
        SIM_CHECK(pvar(j.win, PVAR_RMA_LOCKS_REFUSED) >= (long)others - 1);
        SIM_CHECK(pvar(j.win, PVAR_RMA_LOCKS_DROPPED) > 0);
    }
    job_close(&j);
}

static void small_queue(struct sim_knobs *k)
{
    far_away(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_DATA_BYTES", "0");
}

/* The queue has room but no bytes for data: only data are sent again. */
static void data_dropped(void *arg)
{
    (void)arg;
    struct job j = job_open(32);
    long v[6];
    if (j.rank == 0)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 0) {
        while (inside(j.win)->target.lockq.count < 2)
            turn();
        OK(MPI_Win_unlock(0, j.win));
        MPI_Barrier(MPI_COMM_WORLD);
        SIM_CHECK(pvar(j.win, PVAR_RMA_LOCKS_DROPPED) == 1 &&
                  pvar(j.win, PVAR_RMA_LOCKS_REFUSED) == 0);
        for (int i = 0; i < 12; i++)
            SIM_CHECK(j.mem[i] == 100 * (1 + i / 6) + i % 6);
    } else {
        struct counts c = mark(j.rank);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
        for (int i = 0; i < 6; i++) {
            v[i] = 100 * j.rank + i;
            put1(&j, &v[i], 0, 6 * (j.rank - 1) + i);
        }
        OK(MPI_Win_unlock(0, j.win));
        SENT(&c, 1 + (int)pvar(j.win, PVAR_RMA_LOCKS_RESENT), BATCH);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    job_close(&j);
}

static void some_data(struct sim_knobs *k) /* 6 puts: 6 x (40 + 8) bytes */
{
    far_away(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_DATA_BYTES", "400");
}

/* The switch of LOCK_ALL is refused as well, and comes again. */
static void switch_refused(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v[8];
    for (int t = 0; t < j.size; t++)
        v[t] = 10 * j.rank + t;
    if (j.rank == 0)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 0) {
        struct rma_lockq *q = &inside(j.win)->target.lockq;
        while (q->count + (q->stamps - q->admitted) < 3)
            turn();
        OK(MPI_Win_unlock(0, j.win));
    } else {
        OK(MPI_Win_lock_all(0, j.win));
        for (int t = 0; t < j.size; t++)
            put1(&j, &v[t], t, j.rank);
        OK(MPI_Win_unlock_all(j.win));
        SIM_CHECK(pvar(j.win, PVAR_RMA_SWITCHES) == 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int o = 1; o < j.size; o++)
        SIM_CHECK(j.mem[o] == 10 * o + j.rank);
    SIM_CHECK(j.rank || pvar(j.win, PVAR_RMA_LOCKS_REFUSED) > 0);
    job_close(&j);
}

/* Rank 1 has the lock, rank 2 was refused and stays away for now, the queue is empty. Rank 3,
 * which comes anew, must not enter before rank 2. */
static void stamp_first(void *arg)
{
    static int come_back[SIM_RANKS];
    (void)arg;
    struct job j = job_open(8);
    long v = 1;
    MPI_Request q;
    int flag = 0;
    come_back[j.rank] = 0;
    if (j.rank == 0)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    struct rma_lockq *lq = &inside(j.win)->target.lockq;
    if (j.rank == 0) {
        tell(1);
        while (lq->count == 0)
            turn();
        tell(2);
        while (lq->stamps == 0 || !come_back[2])
            turn();
        OK(MPI_Win_unlock(0, j.win));
        hear(1);
        SIM_CHECK(lq->count == 0 && lq->stamps == 1 && lq->admitted == 0);
        tell(3);
        while (lq->count == 0 && lq->stamps < 2)
            turn();
        SIM_CHECK(lq->stamps == 2 && lq->count == 0);
        come_back[0] = 1;
        tell(1);
    } else {
        hear(0);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
        OK(MPI_Rput(&v, 1, MPI_LONG, 0, j.rank, 1, MPI_LONG, j.win, &q));
        if (j.rank == 2) {
            while (!(rma_target_find(inside(j.win), 0)->flags & TARGET_REFUSED)) {
                OK(MPI_Test(&q, &flag, MPI_STATUS_IGNORE));
                sim_compute(1);
            }
            come_back[2] = 1; /* no message: nothing that would make it ask again */
            while (!come_back[0])
                sim_compute(2);
        }
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
        if (j.rank == 1) {
            OK(MPI_Win_flush(0, j.win));
            tell(0);
            hear(0);
        }
        OK(MPI_Win_unlock(0, j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i < j.size; i++)
        SIM_CHECK(j.rank || j.mem[i] == 1);
    job_close(&j);
}

static void poor_small_queue(struct sim_knobs *k)
{
    far_and_poor(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE", "1");
    scenario_cvar("MPIR_CVAR_RMA_LOCK_ALL_OUTSTANDING", "2");
}

/* --- 5: NOCHECK and eviction; an UNLOCK without a LOCK ---------------------------------------- */

static void nocheck_evicted(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 9;
    if (j.rank == 0) {
        for (int t = 1; t < j.size; t++) {
            OK(MPI_Win_lock(MPI_LOCK_SHARED, t, MPI_MODE_NOCHECK, j.win));
            put1(&j, &v, t, 0);
        }
        SIM_CHECK(pvar(j.win, PVAR_RMA_EVICTIONS) >= j.size - 2);
        for (int t = 1; t + 1 < j.size; t++)
            tell(t);
        for (int t = 1; t + 1 < j.size; t++)
            hear(t);
        for (int t = 1; t < j.size; t++)
            OK(MPI_Win_unlock(t, j.win));
    } else if (j.rank + 1 < j.size) { /* its element is gone: the lock must be known here */
        hear(0);
        SIM_CHECK(inside(j.win)->target.lockq.holders.count == 1);
        tell(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank == 0 || j.mem[0] == 9);
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, j.rank, 0, j.win)); /* free again: at once */
    OK(MPI_Win_unlock(j.rank, j.win));
    job_close(&j);
}

/* What is evicted is known: calls on a rank that is not locked are errors, and 2's lock there,
 * which the target only counts, stays; a second lock is one, too. */
static void evicted_known(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 1;
    int last = j.size - 1;
    if (j.rank == 1 || j.rank == 2) { /* one has the only place on the list */
        OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, j.win));
        put1(&j, &v, last, j.rank);
        OK(MPI_Win_flush(last, j.win));
        tell(0);
        hear(0);
        OK(MPI_Win_unlock(last, j.win));
        tell(0);
    } else if (j.rank == 0) {
        hear(1);
        hear(2);
        for (int t = 1; t <= 2; t++) {
            OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, j.win));
            put1(&j, &v, t, 0);
        }
        SIM_CHECK(inside(j.win)->passive.evicted.count == 1);
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_unlock(last, j.win));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_flush(last, j.win));
        ERR(MPI_ERR_RMA_SYNC, MPI_Put(&v, 1, MPI_LONG, last, 0, 1, MPI_LONG, j.win));
        for (int t = 1; t <= 2; t++)
            ERR(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, t, 0, j.win));
        for (int t = 1; t <= 2; t++)
            OK(MPI_Win_unlock(t, j.win));
        SIM_CHECK(rma_in(inside(j.win), SET_UNSET));
        for (int t = 1; t <= 2; t++) {
            tell(t);
            hear(t);
        }
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, j.win)); /* all was given back */
        put1(&j, &v, last, 0);
        OK(MPI_Win_unlock(last, j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    job_close(&j);
}

/* Without memory to remember it an element stays, and so does all that is known of it: the call
 * that wanted its place fails. */
static void evicted_no_memory(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 1;
    if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_flush(1, j.win));
        memory_refuse(j.rank);
        for (int i = 0; i < 2; i++)
            ERR(MPI_ERR_NO_MEM, MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, j.win));
        SIM_CHECK(rma_target_find(inside(j.win), 1) && !inside(j.win)->passive.evicted.count &&
                  inside(j.win)->passive.locks == 1);
        put1(&j, &v, 1, 1);
        OK(MPI_Win_flush(1, j.win));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_unlock(2, j.win));
        memory_refuse(-1);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, j.win));
        put1(&j, &v, 2, 0);
        OK(MPI_Win_flush(2, j.win));
        SIM_CHECK(!rma_target_find(inside(j.win), 1) && inside(j.win)->passive.evicted.count == 1);
        memory_refuse(j.rank); /* to give a lock back nothing is needed */
        OK(MPI_Win_unlock(1, j.win));
        memory_refuse(-1);
        SIM_CHECK(rma_target_find(inside(j.win), 2) && !inside(j.win)->passive.evicted.count);
        OK(MPI_Win_unlock(2, j.win));
        SIM_CHECK(rma_in(inside(j.win), SET_UNSET));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank != 1 || (j.mem[0] == 1 && j.mem[1] == 1));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, j.rank, 0, j.win)); /* all was given back */
    OK(MPI_Win_unlock(j.rank, j.win));
    job_close(&j);
}

/* A LOCK_ALL's switch cannot reach 3, and has no memory to remember that: it is not over before it
 * has. */
static void cut_no_memory(void *arg)
{
    static int waits;
    (void)arg;
    struct job j = job_open(8);
    long v = 1;
    if (j.rank == 0) {
        waits = 0;
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_flush(1, j.win));
        sim_unreachable(3, -EMFILE);
        memory_refuse(j.rank);
        waits = 1;
        put1(&j, &v, 2, 0);
        SIM_CHECK(!waits && rma_in(inside(j.win), SET_ALL_LOCKED) &&
                  rma_evicted_err(&inside(j.win)->passive.evicted, 3) == -EMFILE);
        ERR(MPI_ERR_OTHER, MPI_Put(&v, 1, MPI_LONG, 3, 0, 1, MPI_LONG, j.win));
        sim_unreachable(3, 0); /* too late for this epoch */
        ERR(MPI_ERR_OTHER, MPI_Put(&v, 1, MPI_LONG, 3, 0, 1, MPI_LONG, j.win));
        MPI_Win_flush(2, j.win); /* nothing is left to send but UNLOCKs */
        struct counts c = mark(0);
        ERR(MPI_ERR_OTHER, MPI_Win_unlock_all(j.win));
        SIM_CHECK(since_all(&c) == 2); /* none to 3, which gave no lock */
    } else if (j.rank == 1) {
        while (!waits)
            turn();
        for (int i = 0; i < 300; i++)
            turn();
        waits = 0;
        memory_refuse(-1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank == 0 || j.mem[0] == (j.rank != 3));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, j.win));
    OK(MPI_Win_unlock(3, j.win));
    job_close(&j);
}

static int answered(void *arg)
{
    return !((struct rma_resp *)arg)->pending;
}

/* A forged UNLOCK by 0, which holds nothing, does not take 2's lock away. */
static void unlock_forged(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 1;
    if (j.rank == 2) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_flush(1, j.win));
        tell(0);
        hear(0);
        OK(MPI_Win_unlock(1, j.win));
    } else if (j.rank == 0) {
        struct rma_win *w = inside(j.win);
        struct rma_resp r;
        hear(2);
        rma_resp_open(w, &r, 1);
        r.alone = 1; /* past any element */
        struct rma_hdr h = {.type = RMA_PKT_DONE, .flags = RMA_F_UNLOCK, .token = r.token};
        r.pending = 1;
        OK(rma_plain_wait(w, 1, &h, 1));
        progress_wait(answered, &r, "the forged unlock", 1);
        ERR(MPI_ERR_RMA_SYNC, r.err);
        rma_resp_close(&r);
        tell(1);
        hear(1);
        tell(2);
    } else if (j.rank == 1) {
        hear(0);
        SIM_CHECK(inside(j.win)->target.lockq.holders.count == 1);
        tell(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    job_close(&j);
}

/* --- 6: tokens -------------------------------------------------------------------------------- */

/* An acknowledgement with another token, forged here, ends no flush. */
static void late_ack(void *arg)
{
    (void)arg;
    struct job j = job_open(4);
    if (j.rank == 0) {
        struct rma_win *w = inside(j.win);
        struct rma_resp r;
        rma_resp_open(w, &r, 1);
        r.alone = r.pending = 1; /* there is no element */
        uint32_t round = (uint32_t)(w->id >> 32);
        struct rma_hdr h = {.type = RMA_PKT_ACK, .flags = RMA_F_SIGNALED, .win = (uint32_t)w->id,
                            .src = round | 1, .token = r.token + 5};
        rma_on_ack(1, &h, sizeof h);
        SIM_CHECK(r.pending == 1);
        h.token = r.token;
        h.src = round | 2; /* the right token of another rank */
        rma_on_ack(2, &h, sizeof h);
        SIM_CHECK(r.pending == 1);
        h.token = 0;
        h.src = round | 1;
        rma_on_ack(1, &h, sizeof h);
        SIM_CHECK(r.pending == 1 && w->acks == 0);
        h.token = r.token;
        rma_on_ack(1, &h, sizeof h);
        SIM_CHECK(r.pending == 0);
        rma_resp_close(&r);
    }
    job_close(&j);
}

/* --- 7: requests ------------------------------------------------------------------------------ */

static void requests(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 4, r = -1;
    MPI_Request q;
    ERR(MPI_ERR_RMA_SYNC, MPI_Rput(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win, &q));
    if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        OK(MPI_Rput(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win, &q));
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
        OK(MPI_Rget(&r, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win, &q));
        for (int flag = 0; !flag;)
            OK(MPI_Test(&q, &flag, MPI_STATUS_IGNORE));
        SIM_CHECK(r == 4);
        OK(MPI_Win_unlock(1, j.win));
        OK(MPI_Win_fence(0, j.win));
        ERR(MPI_ERR_RMA_SYNC, MPI_Rput(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win, &q));
    } else {
        OK(MPI_Win_fence(0, j.win));
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    job_close(&j);
}

/* --- 9, 10: attached memory, ranges ----------------------------------------------------------- */

static void attached(void *arg)
{
    (void)arg;
    int rank;
    long mem[3] = {0}, v = 6;
    MPI_Win win;
    MPI_Aint at[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Get_address(&mem[1], &at[rank]));
    OK(MPI_Win_attach(win, &mem[1], sizeof mem[1]));
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
        OK(MPI_Put(&v, 1, MPI_LONG, 1, at[1], 1, MPI_LONG, win));
        OK(MPI_Win_flush(1, win));
        tell(1);
        hear(1); /* detached now */
        struct rma_near *n = rma_near_of(inside(win), 1);
        int near = n && n->kind != RMA_NEAR_AM; /* reported at the call, or where it completes */
        ERR(near ? MPI_ERR_RMA_RANGE : MPI_SUCCESS,
            MPI_Put(&v, 1, MPI_LONG, 1, at[1], 1, MPI_LONG, win));
        ERR(near ? MPI_SUCCESS : MPI_ERR_RMA_RANGE, MPI_Win_flush(1, win));
        tell(1);
        hear(1); /* attached again */
        v = 8;
        OK(MPI_Put(&v, 1, MPI_LONG, 1, at[1], 1, MPI_LONG, win));
        OK(MPI_Win_unlock(1, win));
    } else {
        hear(0);
        SIM_CHECK(mem[1] == 6);
        mem[1] = 7;
        OK(MPI_Win_detach(win, &mem[1]));
        tell(0);
        hear(0);
        SIM_CHECK(mem[1] == 7);
        OK(MPI_Win_attach(win, &mem[1], sizeof mem[1]));
        tell(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(mem[0] == 0 && mem[2] == 0 && mem[1] == (rank ? 8 : 0));
    MPI_Aint size, other;
    int unit;
    ERR(MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query(win, 0, &size, &unit, &other)); /* 13 */
    OK(MPI_Win_free(&win));
}

static void ranges(void *arg)
{
    (void)arg;
    struct job j = job_open(4);
    long v[8] = {1, 2, 3, 4, 5, 6, 7, 8}, r[8];
    if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        OK(MPI_Put(v, 3, MPI_LONG, 1, 2, 3, MPI_LONG, j.win)); /* one beyond the end */
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, j.win));
        OK(MPI_Win_flush(1, j.win)); /* reported once */
        OK(MPI_Accumulate(v, 1, MPI_LONG, 1, (MPI_Aint)1 << 60, 1, MPI_LONG, MPI_SUM, j.win));
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, j.win));
        OK(MPI_Get(r, 8, MPI_LONG, 1, 0, 8, MPI_LONG, j.win));
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_unlock(1, j.win));
        MPI_Aint size;
        int unit;
        void *p = v;
        OK(MPI_Win_shared_query(j.win, 1, &size, &unit, &p)); /* 13: cannot be reached */
        SIM_CHECK(size == 0 && p == NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        SIM_CHECK(j.mem[i] == 0);
    job_close(&j);
}

/* --- 11, 12: errors; the end of a window ------------------------------------------------------ */

static void errors(void *arg)
{
    (void)arg;
    struct job j = job_open(4);
    long v = 1;
    ERR(MPI_ERR_RMA_SYNC, MPI_Put(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_unlock(1, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_flush(1, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_complete(j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_wait(j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    int t = (j.rank + 1) % j.size;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, t, 0, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Put(&v, 1, MPI_LONG, j.rank, 0, 1, MPI_LONG, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_free(&j.win)); /* 12: and it stays */
    put1(&j, &v, t, 0);
    OK(MPI_Win_unlock(t, j.win));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_unlock(t, j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.mem[0] == 1);
    OK(MPI_Win_lock_all(0, j.win)); /* 15: its operations do not make it PER_TARGET */
    put1(&j, &v, t, 1);
    SIM_CHECK(!rma_in(inside(j.win), SET_PER_TARGET));
    ERR(MPI_ERR_RMA_SYNC, MPI_Win_unlock(t, j.win));
    OK(MPI_Win_unlock_all(j.win));
    job_close(&j);
}

/* Fences that are not awaited keep at most two barriers; free finishes them. */
static void fences_pending(void *arg)
{
    (void)arg;
    struct job j = job_open(4);
    for (int i = 0; i < 9; i++) {
        OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, j.win));
        SIM_CHECK(inside(j.win)->fence.barriers <= 2);
    }
    job_close(&j);
}

/* --- nested groups, long absence -------------------------------------------------------------- */

/* Rank 0 starts on all, those in between expose to those before them and access those behind them
 * at once. */
static void pscw_nested(void *arg)
{
    (void)arg;
    struct job j = job_open(16);
    MPI_Group world, before, behind;
    int lo[SIM_RANKS], hi[SIM_RANKS], nlo = 0, nhi = 0;
    long v[SIM_RANKS];
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < j.size; i++) {
        if (i < j.rank)
            lo[nlo++] = i;
        if (i > j.rank)
            hi[nhi++] = i;
    }
    OK(MPI_Group_incl(world, nlo, lo, &before));
    OK(MPI_Group_incl(world, nhi, hi, &behind));
    for (int round = 1; round <= 3; round++) {
        if (nlo)
            OK(MPI_Win_post(before, 0, j.win));
        if (nhi) {
            OK(MPI_Win_start(behind, 0, j.win));
            for (int i = 0; i < nhi; i++) {
                v[i] = 100 * round + j.rank;
                put1(&j, &v[i], hi[i], j.rank);
            }
            OK(MPI_Win_complete(j.win));
        }
        if (nlo) {
            OK(MPI_Win_wait(j.win));
            for (int i = 0; i < nlo; i++)
                SIM_CHECK(j.mem[i] == 100 * round + i);
        }
    }
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&before));
    OK(MPI_Group_free(&behind));
    job_close(&j);
}

/* Rank 1 posts twice for two starts: the second post does not open the first start of another
 * rank. */
static void pscw_twice(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    MPI_Group world, g;
    int zero = 0, one = 1;
    long v;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int round = 1; round <= 4; round++) {
        if (j.rank == 1) {
            OK(MPI_Group_incl(world, 1, &zero, &g));
            OK(MPI_Win_post(g, 0, j.win));
            OK(MPI_Win_wait(j.win));
            SIM_CHECK(j.mem[0] == round);
            OK(MPI_Group_free(&g));
        } else if (j.rank == 0) {
            OK(MPI_Group_incl(world, 1, &one, &g));
            OK(MPI_Win_start(g, 0, j.win));
            v = round;
            put1(&j, &v, 1, 0);
            OK(MPI_Win_complete(j.win));
            OK(MPI_Group_free(&g));
        }
    }
    OK(MPI_Group_free(&world));
    job_close(&j);
}

/* Rank 1 computes. Near ranks reach it meanwhile (4), and no far one gives up. */
static void long_absence(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long one = 1;
    if (j.rank == 1) {
        sim_compute(5000);
    } else {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Win_unlock(1, j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank != 1 || j.mem[0] == j.size - 1);
    job_close(&j);
}

/* All on one node: rank 1 stays out of MPI until rank 0 has its lock, its data and is gone. */
static void near_absence(void *arg)
{
    static int through[SIM_RANKS]; /* not by a message: rank 1 is not in MPI */
    (void)arg;
    through[0] = 0;
    struct job j = job_open(8);
    long v = 5, r = -1;
    if (j.rank == 1) {
        while (!through[0])
            sim_compute(3);
        SIM_CHECK(j.mem[0] == 5);
    } else if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_flush(1, j.win));
        OK(MPI_Get(&r, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win));
        OK(MPI_Win_unlock(1, j.win));
        SIM_CHECK(r == 5);
        through[0] = 1;
    }
    job_close(&j);
}

/* --- 13: shared_query ------------------------------------------------------------------------- */

/* Ranks 0 and 1 share a node, 2 and 3 another; rank 0 of the window brings nothing. */
static void shared_query(void *arg)
{
    (void)arg;
    int rank, unit;
    long *mine, *there = NULL;
    MPI_Aint size = 99;
    MPI_Win win, dynamic;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_allocate(rank ? 8 * (MPI_Aint)sizeof(long) : 0, sizeof(long), MPI_INFO_NULL,
                        MPI_COMM_WORLD, &mine, &win));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN));
    int other = rank ^ 1, far = rank ^ 2, lowest = rank < 2 ? 1 : 2;
    there = (long *)(void *)&size;
    OK(MPI_Win_shared_query(win, far, &size, &unit, &there)); /* out of reach: size 0 and NULL */
    SIM_CHECK(size == 0 && there == NULL);
    /* the lowest within reach that has something */
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &there));
    SIM_CHECK(size == 8 * (MPI_Aint)sizeof(long) && unit == sizeof(long) && there != NULL &&
              (rank != lowest || there == mine));
    OK(MPI_Win_shared_query(win, other, &size, &unit, &there));
    SIM_CHECK(size == (other ? 8 * (MPI_Aint)sizeof(long) : 0) && (there != NULL) == (other != 0));
    OK(MPI_Win_lock_all(0, win));
    if (there)
        there[0] = 10 + rank;
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(rank == 0 || mine[0] == 10 + other);
    ERR(MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query(dynamic, other, &size, &unit, &there));
    OK(MPI_Win_free(&dynamic));
    OK(MPI_Win_free(&win));
}

static void two_nodes(struct sim_knobs *k)
{
    k->nodes = 2;
}

/* Loads behind START and an opening fence see what near peers stored before they exposed their
 * memory. If the program has not asked for a peer's memory before, MPI_Win_shared_query inside
 * the epoch waits. No call waits for far posts: rank 2 of two nodes posts when rank 0 is in its
 * epoch. */
static void loads_in_starts(MPI_Win win, long *mine, int rank, int together)
{
    MPI_Group world, g;
    MPI_Aint size;
    int unit;
    long *there = NULL;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, rank ? 1 : 2, rank ? (const int[]){0} : (const int[]){1, 2}, &g));
    for (long i = 1; i <= 4 && rank < 3; i++) {
        if (rank == 0) {
            OK(MPI_Win_start(g, 0, win));
            if (i == 1)
                OK(MPI_Win_shared_query(win, 1, &size, &unit, &there));
            SIM_CHECK(*there == i);
            if (!together)
                tell(2);
            OK(MPI_Win_complete(win));
            continue;
        }
        if (rank == 2 && !together)
            hear(0);
        sim_compute((int)(sim_random() % 300));
        mine[0] = i;
        OK(MPI_Win_post(g, 0, win));
        OK(MPI_Win_wait(win));
    }
    OK(MPI_Group_free(&g));
    OK(MPI_Group_free(&world));
}

static void loads_in_fences(MPI_Win win, long *mine, int rank)
{
    MPI_Aint size;
    int unit;
    long *there = NULL;
    for (long i = 1; i <= 4; i++) {
        if (rank)
            sim_compute((int)(sim_random() % 300));
        mine[0] = i;
        OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
        if (i == 1)
            OK(MPI_Win_shared_query(win, rank ^ 1, &size, &unit, &there));
        SIM_CHECK(*there == i);
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    }
}

static void loads(int shared, int fences)
{
    int rank, size;
    long *mine;
    MPI_Win win;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (shared)
        OK(MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                                   &win));
    else
        OK(MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                            &win));
    if (fences)
        loads_in_fences(win, mine, rank);
    else
        loads_in_starts(win, mine, rank, shared);
    OK(MPI_Win_free(&win));
}

static void loads_shared(void *arg)
{
    (void)arg;
    loads(1, sim_seed() % 2);
}

static void loads_queried(void *arg)
{
    (void)arg;
    loads(0, sim_seed() % 2);
}

/* START and POST with NOCHECK, where all know that the post has been called: the epoch is granted
 * at once, and near operations act at once. No post of such a round is left to satisfy the START of
 * a later, ordinary one. */
static void start_nocheck(void *arg)
{
    enum { ROUNDS = 6 };
    (void)arg;
    struct job j = job_open(8);
    struct rma_win *w = inside(j.win);
    MPI_Group world, g;
    int rest[8], n = 0;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int r = 0; r < j.size; r++)
        if (r % 2 != j.rank % 2)
            rest[n++] = r;
    OK(MPI_Group_incl(world, n, rest, &g));
    for (long i = 1; i <= ROUNDS; i++) {
        int nocheck = i % 3 ? MPI_MODE_NOCHECK : 0;
        if (j.rank % 2) {
            if (!nocheck) /* late, so that only a post left over could let any rank in */
                sim_compute((int)(sim_random() % 200));
            for (int r = 0; r < j.size; r++)
                SIM_CHECK(j.mem[r] == (r % 2 ? 0 : i - 1));
            OK(MPI_Win_post(g, nocheck, j.win));
            for (int k = 0; k < n && nocheck; k++)
                tell(rest[k]);
            OK(MPI_Win_wait(j.win));
        } else {
            for (int k = 0; k < n && nocheck; k++)
                hear(rest[k]);
            OK(MPI_Win_start(g, nocheck, j.win));
            SIM_CHECK(!nocheck || w->state == WIN_PSCW_GRANTED);
            for (int k = 0; k < n; k++) {
                put1(&j, &i, rest[k], j.rank);
                SIM_CHECK(!nocheck || !w->all_near || w->table.nops == 0);
            }
            OK(MPI_Win_complete(j.win));
        }
    }
    for (int r = 0; r < j.size && j.rank % 2; r += 2)
        SIM_CHECK(j.mem[r] == ROUNDS);
    OK(MPI_Group_free(&g));
    OK(MPI_Group_free(&world));
    job_close(&j);
}

/* --- 15: slips of the paper ------------------------------------------------------------------- */

/* PER_TARGET is left when no lock is open any more, not at the first unlock; MPI_Win_unlock asks
 * for the target's state; operations of LOCK_ALL lock their targets one by one and the window is
 * not PER_TARGET for that. */
static void paper_slips(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 1;
    if (j.rank == 0) {
        const struct rma_win *w = inside(j.win);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        put1(&j, &v, 1, 0);
        /* gets the first one granted; is only called itself */
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, j.win));
        SIM_CHECK(rma_target_find(w, 1)->state == TARGET_LOCK_GRANTED &&
                  rma_target_find(w, 2)->state == TARGET_LOCK_CALLED);
        OK(MPI_Win_unlock(1, j.win));
        SIM_CHECK(rma_in(w, SET_PER_TARGET));
        put1(&j, &v, 2, 0);
        OK(MPI_Win_unlock(2, j.win));
        SIM_CHECK(rma_in(w, SET_UNSET));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_unlock(2, j.win));
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 2, 1);
        SIM_CHECK(!rma_in(w, SET_PER_TARGET) && rma_in(w, SET_LAZY_ALL));
        OK(MPI_Win_flush(2, j.win));
        SIM_CHECK(rma_target_find(w, 2)->state == TARGET_LOCK_GRANTED &&
                  !rma_in(w, SET_PER_TARGET));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_unlock(2, j.win));
        OK(MPI_Win_unlock_all(j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.mem[0] == (j.rank == 1 || j.rank == 2) && j.mem[1] == (j.rank == 2));
    job_close(&j);
}

/* --- 14: death -------------------------------------------------------------------------------- */

/* Rank 1 dies. Each rank that waits for it gets an error, and the others go on. `how`: what is
 * waited for. */
static void dies(int how)
{
    struct job j = job_of_mortals(8);
    long v = 1;
    MPI_Group world, g;
    int one = 1, err;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &one, &g));
    if (j.rank == 1 && (how == 2 || how == 7)) /* it holds rank 2's lock */
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, j.win));
    if (j.rank == 1 && (how == 2 || how == 7)) {
        OK(MPI_Accumulate(&v, 1, MPI_LONG, 2, 0, 1, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Win_flush(2, j.win));
        tell(how == 2 ? 0 : 2);
    }
    if (j.rank == 0 && how == 4) { /* all are locked, by the window protocol */
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 0);
        put1(&j, &v, 2, 0);
        SIM_CHECK(rma_in(inside(j.win), SET_ALL_LOCKED));
    }
    if (j.rank == 1) { /* when all have left the barrier behind them */
        for (int r = 0; r < j.size; r++)
            if (r != 1)
                hear(r);
        sim_compute((int)(sim_random() % 200));
        sim_die();
    }
    tell(1);
    if (j.rank == 0 && how == 0) { /* the lock of the dead */
        do {
            err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win);
            if (!err) {
                MPI_Put(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win);
                err = MPI_Win_unlock(1, j.win);
            }
        } while (!err);
    } else if (j.rank == 0 && how == 1) { /* its post never comes */
        OK(MPI_Win_start(g, 0, j.win));
        SIM_CHECK(MPI_Win_complete(j.win) != MPI_SUCCESS);
    } else if (j.rank == 0 && how == 2) { /* what it held is free again */
        hear(1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, j.win));
        OK(MPI_Accumulate(&v, 1, MPI_LONG, 2, 0, 1, MPI_LONG, MPI_SUM, j.win));
        err = MPI_Win_unlock(2, j.win); /* an error if it waited already when the other died */
        SIM_CHECK(!err || sim_gone(1));
        tell(2);
    } else if (j.rank == 0 && how == 4) { /* UNLOCKs and answers cross its death */
        sim_compute((int)(sim_random() % 300));
        err = MPI_Win_unlock_all(j.win);
        SIM_CHECK(rma_in(inside(j.win), SET_UNSET) && inside(j.win)->table.ntargets == 0 &&
                  (!err || sim_gone(1)));
    } else if (j.rank == 0 && how == 5) { /* flushes of the dead and of the living */
        OK(MPI_Win_lock_all(0, j.win));
        do {
            err = MPI_SUCCESS;
            for (int t = 1; t < j.size && !err; t++)
                err = MPI_Put(&v, 1, MPI_LONG, t, 0, 1, MPI_LONG, j.win);
            err = err ? err : MPI_Win_flush_all(j.win);
        } while (!err);
        for (int t = 2; t < j.size; t++) {
            put1(&j, &v, t, 1);
            OK(MPI_Win_flush(t, j.win));
        }
        MPI_Win_unlock_all(j.win);
        SIM_CHECK(rma_in(inside(j.win), SET_UNSET) && inside(j.win)->table.ntargets == 0 &&
                  inside(j.win)->table.nops == 0);
    } else if (how == 6) { /* a fence that it does not come to */
        do {
            err = MPI_Win_fence(0, j.win);
            for (int t = 0; t < j.size && !err; t++)
                err = MPI_Put(&v, 1, MPI_LONG, t, j.rank, 1, MPI_LONG, j.win);
        } while (!err && !boot_failed_count());
        SIM_CHECK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win) != MPI_SUCCESS);
        OK(MPI_Win_free(&j.win)); /* it can be left behind */
    } else if (j.rank == 2 && how == 7) {
        /* its own lock, and nothing else to do that would notice a death */
        hear(1);
        err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, j.win);
        if (err) { /* it waited already when the other died */
            SIM_CHECK(boot_failed(1));
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, j.win));
        }
        SIM_CHECK(j.mem[0] == 1);
        OK(MPI_Win_unlock(2, j.win));
    } else if (j.rank == 0 && how == 3) { /* its complete never comes */
        err = MPI_Win_post(g, 0, j.win);
        SIM_CHECK(MPI_Win_wait(j.win) != MPI_SUCCESS || err);
    } else if (how == 2) {
        hear(0);
        SIM_CHECK(j.mem[0] == 2);
    }
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&g));
}

static void dies_locked(void *arg)
{
    (void)arg;
    dies(0);
}

static void dies_all_locked(void *arg)
{
    (void)arg;
    dies(4);
}

static void dies_flushed(void *arg)
{
    (void)arg;
    dies(5);
}

static void dies_unfenced(void *arg)
{
    (void)arg;
    dies(6);
}

static void dies_unposted(void *arg)
{
    (void)arg;
    dies(1);
}

static void dies_holding(void *arg)
{
    (void)arg;
    dies(2);
}

static void dies_exposed(void *arg)
{
    (void)arg;
    dies(3);
}

static void dies_holding_own(void *arg)
{
    (void)arg;
    dies(7);
}

/* Rank 1 dies while it holds rank 2's lock and ranks 0 and 3 wait for it, near or far: each gets
 * the error once, by the call that waits, and then the lock like any other. */
/* of a near one that waits: near.asked shows when it does */
static struct rma_near *asks_at[SIM_RANKS];

static int all_wait(struct rma_win *w)
{
    long far = 0;
    for (int r = 0; r < 4; r += 3) {
        if (!rma_near_of(w, r))
            far++;
        else if (!asks_at[r] || !asks_at[r]->asked)
            return 0;
    }
    return (long)w->target.lockq.count == far;
}

static void dies_held(void *arg)
{
    (void)arg;
    struct job j = job_open(4);
    long v = 1;
    int err, cls;
    if (j.rank == 0 || j.rank == 3)
        asks_at[j.rank] = NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 1) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, j.win));
        put1(&j, &v, 2, 0);
        OK(MPI_Win_flush(2, j.win));
        tell(0);
        tell(3);
        hear(2);
        sim_die();
    } else if (j.rank == 2) {
        while (!all_wait(inside(j.win)))
            turn();
        tell(1);
        hear(0);
        hear(3);
        SIM_CHECK(j.mem[0] == 1 && j.mem[1] == 2);
        return;
    }
    hear(1);
    int type = j.rank == 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    asks_at[j.rank] = rma_near_of(inside(j.win), 2);
    err = MPI_Win_lock(type, 2, 0, j.win);
    /* a far one waits in the next call */
    SIM_CHECK(asks_at[j.rank] ? err != MPI_SUCCESS : err == MPI_SUCCESS);
    if (!err) {
        put1(&j, &v, 2, 2);
        err = MPI_Win_unlock(2, j.win);
    }
    SIM_CHECK(err && MPI_Error_class(err, &cls) == MPI_SUCCESS && cls == MPIX_ERR_PROC_FAILED);
    SIM_CHECK(rma_in(inside(j.win), SET_UNSET));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Win_lock(i ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 2, 0, j.win));
        if (!i)
            OK(MPI_Accumulate(&v, 1, MPI_LONG, 2, 1, 1, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Win_unlock(2, j.win));
    }
    tell(2);
}

/* Rank 3 dies as a reader of rank 0's lock, beyond the bound of those that rank 0 can name. So
 * it is unknown whether a reader is left. Each writer, near or far, gets the error each time;
 * readers go on, and no rank waits. */
static void dies_unnamed(void *arg)
{
    (void)arg;
    struct job j = job_open(4);
    long v = 1;
    if (j.rank == 0) {
        for (int r = 1; r < 3; r++)
            hear(r);
        return;
    }
    if (j.rank != 1) {
        if (j.rank == 3)
            hear(2);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, j.win));
        put1(&j, &v, 0, j.rank);
        OK(MPI_Win_flush(0, j.win));
        tell(j.rank == 2 ? 3 : 1);
        if (j.rank == 3) {
            hear(1);
            sim_compute((int)(sim_random() % 200));
            sim_die();
        }
        hear(1);
        OK(MPI_Win_unlock(0, j.win));
        tell(1);
        hear(1);
        tell(0);
        return;
    }
    hear(3);
    tell(3);
    for (int i = 0; i < 4; i++) {
        int err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win), cls;
        if (!err) {
            put1(&j, &v, 0, 1);
            err = MPI_Win_unlock(0, j.win);
        }
        SIM_CHECK(err && MPI_Error_class(err, &cls) == MPI_SUCCESS && cls == MPIX_ERR_PROC_FAILED);
        SIM_CHECK(rma_in(inside(j.win), SET_UNSET));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, j.win));
        put1(&j, &v, 0, 1);
        OK(MPI_Win_unlock(0, j.win));
        if (i == 1) { /* the named one goes */
            tell(2);
            hear(2);
        }
    }
    tell(2);
    tell(0);
}

/* Rank 1 dies with its own lock held: each rank that has to wait for it gets the error, near or
 * far. */
static void dies_with_its_lock(void *arg)
{
    (void)arg;
    struct job j = job_open(4);
    long v = 1;
    if (j.rank == 1) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        for (int r = 0; r < 3; r += 2) {
            tell(r);
            hear(r); /* it has left job_open() behind it */
        }
        sim_compute((int)(sim_random() % 200));
        sim_die();
    }
    hear(1);
    tell(1);
    for (int i = 0; i < 3; i++) {
        int err = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win);
        if (!err) {
            MPI_Put(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win);
            err = MPI_Win_unlock(1, j.win);
        }
        SIM_CHECK(err && rma_in(inside(j.win), SET_UNSET));
    }
    OK(MPI_Win_lock_all(0, j.win)); /* it need not be touched */
    put1(&j, &v, 2 - j.rank, 0);
    OK(MPI_Win_flush(2 - j.rank, j.win));
    OK(MPI_Win_unlock_all(j.win));
}

/* --- exclusion between near and far ----------------------------------------------------------- */

/* Near writers keep a row of cells equal under exclusive locks, far readers fetch them one by one
 * under shared ones: the last GET carries the UNLOCK and must have read before it. */
static void far_reader(void *arg)
{
    enum { CELLS = 3, ROUNDS = 12 };
    (void)arg;
    struct job j = job_open(CELLS);
    long v[CELLS];
    for (int i = 1; i <= ROUNDS; i++) {
        int reads = j.rank == 2 || (j.rank == 3 && i % 2);
        OK(MPI_Win_lock(reads ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
        for (int c = 0; c < CELLS; c++) {
            v[c] = 100 * j.rank + i;
            if (reads)
                OK(MPI_Get(&v[c], 1, MPI_LONG, 0, c, 1, MPI_LONG, j.win));
            else
                put1(&j, &v[c], 0, c);
        }
        OK(MPI_Win_unlock(0, j.win));
        for (int c = 1; c < CELLS; c++)
            SIM_CHECK(v[c] == v[0]);
    }
    job_close(&j);
}

/* Many at one lock word, most of them near. Under exclusive locks a counter is read and written
 * back; under shared ones it and its copy are equal. No rank is let in twice, forgotten, or
 * beside a writer. */
static void near_crowd(void *arg)
{
    enum { ROUNDS = 8 };
    (void)arg;
    struct job j = job_open(2);
    long v[2], mine = 0, all;
    for (int i = 0; i < ROUNDS; i++) {
        int writes = (i + j.rank) % 3 != 0;
        OK(MPI_Win_lock(writes ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, j.win));
        for (int c = 0; c < 2; c++) {
            OK(MPI_Get(&v[c], 1, MPI_LONG, 0, c, 1, MPI_LONG, j.win));
            OK(MPI_Win_flush(0, j.win));
        }
        SIM_CHECK(v[0] == v[1]);
        for (int c = 0; writes && c < 2; c++) {
            v[c]++;
            put1(&j, &v[c], 0, c);
            OK(MPI_Win_flush(0, j.win));
        }
        mine += writes;
        OK(MPI_Win_unlock(0, j.win));
    }
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    SIM_CHECK(j.rank || (j.mem[0] == all && j.mem[1] == all));
    job_close(&j);
}

/* All on one node, or four of six. */
static void crowded(struct sim_knobs *k)
{
    k->nodes = k->seed % 2 ? 1 : 2;
    k->preempt_percent = 40;
}

/* Ranks 0 and 1 on one node, 2 and 3 on another; any rank may run at any sched_point(). */
static void two_nodes_preempted(struct sim_knobs *k)
{
    k->nodes = 2;
    k->preempt_percent = 50;
}

static void mortal(struct sim_knobs *k)
{
    far_away(k);
    k->mortal = 1;
}

static void mortal_poor(struct sim_knobs *k)
{
    far_and_poor(k);
    scenario_cvar("MPIR_CVAR_RMA_LOCK_ALL_OUTSTANDING", "1");
    k->mortal = 1;
}

static void mortal_near(struct sim_knobs *k)
{
    k->nodes = 1;
    k->mortal = 1;
}

static void mortal_both(struct sim_knobs *k)
{
    k->nodes = 2;
    k->mortal = 1;
}

static void mortal_unnamed(struct sim_knobs *k)
{
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE", "1");
    k->nodes = k->seed % 2 ? 2 : 4;
    k->mortal = 1;
}

const struct scenario scenarios_scripted[] = {
    {"s01-dry-fence-issued", 4, 1, dry_fence_issued, NULL, far_and_poor},
    {"s01-fence-near", 2, 1, fence_near, NULL, one_node},
    {"s01-dry-fence-granted", 4, 1, dry_fence_granted, NULL, far_and_poor},
    {"s01-dry-pscw-issued", 4, 1, dry_pscw_issued, NULL, far_and_poor},
    {"s01-dry-pscw-granted", 4, 1, dry_pscw_granted, NULL, far_and_poor},
    {"s01-dry-lock-all", 4, 1, dry_lock_all, NULL, far_and_poor},
    {"s01-dry-lock-all-nocheck", 4, 1, dry_lock_all_nocheck, NULL, far_and_poor},
    {"s01-dry-per-target", 4, 1, dry_per_target, NULL, far_and_poor},
    {"s01-flush-near", 4, 1, flush_near, NULL, poor_with_a_neighbour},
    {"s-copies", 2, 1, copies, NULL, at_once},
    {"s-copies-late", 3, 1, copies, NULL, one_node},
    {"s-one-element", 2, 1, one_element, NULL, at_once},
    {"s-one-admitted", 3, 1, one_admitted, NULL, one_node},
    {"s-one-in-order", 2, 1, one_in_order, NULL, one_node},
    {"s02-lock-order", 4, 1, lock_order, NULL, far_away},
    {"s02-lock-order-windows", 3, 1, lock_order_windows, NULL, far_away},
    {"s03-lock-all-joins", 4, 1, lock_all_joins, NULL, far_away},
    {"s04-queue-full", 5, 1, queue_full, NULL, small_queue},
    {"s04-stamp-first", 4, 1, stamp_first, NULL, small_queue},
    {"s04-data-dropped", 3, 1, data_dropped, NULL, some_data},
    {"s04-switch-refused", 4, 1, switch_refused, NULL, poor_small_queue},
    {"s05-nocheck-evicted", 4, 1, nocheck_evicted, NULL, far_and_poor},
    {"s05-evicted-known", 4, 1, evicted_known, NULL, poor_small_queue},
    {"s05-evicted-no-memory", 3, 1, evicted_no_memory, NULL, far_and_poor},
    {"s05-cut-no-memory", 4, 1, cut_no_memory, NULL, far_and_poor},
    {"s05-unlock-forged", 3, 1, unlock_forged, NULL, far_away},
    {"s06-late-ack", 3, 1, late_ack, NULL, far_away},
    {"s07-requests", 2, 1, requests, NULL, far_away},
    {"s07-requests-dry", 2, 1, requests, NULL, far_and_poor},
    {"s09-attached", 2, 1, attached, NULL, far_away},
    {"s09-attached-near", 2, 1, attached, NULL, one_node},
    {"s10-ranges", 2, 1, ranges, NULL, far_away},
    {"s11-errors", 3, 1, errors, NULL, far_away},
    {"s11-errors-near", 3, 1, errors, NULL, one_node},
    {"s12-fences-pending", 3, 1, fences_pending, NULL, NULL},
    {"s13-shared-query", 4, 1, shared_query, NULL, two_nodes},
    {"s-loads-shared", 4, 1, loads_shared, NULL, one_node},
    {"s-loads-queried", 4, 1, loads_queried, NULL, two_nodes},
    {"s15-paper-slips", 3, 1, paper_slips, NULL, far_away},
    {"s-far-reader", 4, 1, far_reader, NULL, two_nodes_preempted},
    {"s-near-crowd", 6, 1, near_crowd, NULL, crowded},
    {"s14-dies-locked", 3, 1, dies_locked, NULL, mortal},
    {"s14-dies-unposted", 3, 1, dies_unposted, NULL, mortal},
    {"s14-dies-holding", 3, 1, dies_holding, NULL, mortal},
    {"s14-dies-holding-own", 3, 1, dies_holding_own, NULL, mortal},
    {"s14-dies-held", 4, 1, dies_held, NULL, mortal},
    {"s14-dies-held-near", 4, 1, dies_held, NULL, mortal_near},
    {"s14-dies-held-both", 4, 1, dies_held, NULL, mortal_both},
    {"s14-dies-with-its-lock", 3, 1, dies_with_its_lock, NULL, mortal},
    {"s14-dies-with-its-lock-near", 3, 1, dies_with_its_lock, NULL, mortal_near},
    {"s14-dies-unnamed", 4, 1, dies_unnamed, NULL, mortal_unnamed},
    {"s14-dies-all-locked", 5, 1, dies_all_locked, NULL, mortal_poor},
    {"s14-dies-flushed", 4, 1, dies_flushed, NULL, mortal},
    {"s14-dies-flushed-dry", 4, 1, dies_flushed, NULL, mortal_poor},
    {"s14-dies-unfenced", 4, 1, dies_unfenced, NULL, mortal},
    {"s14-dies-unfenced-near", 4, 1, dies_unfenced, NULL, mortal_near},
    {"s14-dies-unfenced-both", 4, 1, dies_unfenced, NULL, mortal_both},
    {"s14-dies-unposted-near", 3, 1, dies_unposted, NULL, mortal_near},
    {"s14-dies-exposed-near", 3, 1, dies_exposed, NULL, mortal_near},
    {"s14-dies-exposed", 3, 1, dies_exposed, NULL, mortal},
    {"s-start-nocheck", 5, 1, start_nocheck, NULL, NULL},
    {"s-start-nocheck-near", 4, 1, start_nocheck, NULL, one_node},
    {"s-start-nocheck-dry", 5, 1, start_nocheck, NULL, far_and_poor},
    {"s-pscw-nested", 5, 1, pscw_nested, NULL, NULL},
    {"s-pscw-nested-dry", 5, 1, pscw_nested, NULL, far_and_poor},
    {"s-pscw-twice", 2, 1, pscw_twice, NULL, NULL},
    {"s-long-absence", 4, 1, long_absence, NULL, NULL},
    {"s-near-absence", 2, 1, near_absence, NULL, one_node},
    {NULL, 0, 0, NULL, NULL, NULL},
};
