/* lock_age.c - the order of locks (rma.md 5.3). Scripts with exact numbers of messages, and random
 * programs of several rounds. Each runs far, near and mixed. */
#include "scripted.h"

enum { ROUNDS = 6, TURNS = 8 };

/* Of each rank; ranks are fibers of one process. */
static struct rma_win *wins[SIM_RANKS];
static int over; /* the readers may end */

static struct job age_open(int longs)
{
    over = 0;
    struct job j = job_open(longs);
    wins[j.rank] = inside(j.win);
    MPI_Barrier(MPI_COMM_WORLD);
    return j;
}

/* Does the request of `rank` for the lock of `target` wait in its queue? */
static int waits(int rank, int target)
{
    const struct rma_near *n = rma_near_of(wins[rank], target);
    if (n)
        return n->asked;
    const struct list *entries = &wins[target]->target.lockq.entries;
    for (const struct list *l = entries->next; l != entries; l = l->next)
        if (LIST_OBJ(l, struct lock_entry, link)->src == rank)
            return 1;
    return 0;
}

static void await(int rank, int target)
{
    while (!waits(rank, target))
        turn();
}

static int is_near(const struct job *j, int target)
{
    return rma_near_of(inside(j->win), target) != NULL;
}

/* Longest wait of a writer, of all ranks: near ones count at the origin, far ones at the target. */
static long longest(const struct job *j)
{
    long mine = pvar(j->win, PVAR_RMA_LOCK_WAIT), all;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void put_flush(const struct job *j, int target, int at)
{
    long v = 1;
    put1(j, &v, target, at);
    OK(MPI_Win_flush(target, j->win));
}

static void hear_when(int rank, int target, int listener)
{
    await(rank, target);
    tell(listener);
}

/* --- scripts --------------------------------------------------------------------------------- */

/* Readers 0 and 3 have locked all.  2 queues for 1.  0 ends, so its next LOCK_ALL is younger than
 * 2: it stands behind it, though 3 is still in. */
static void younger_waits(void *arg)
{
    (void)arg;
    struct job j = age_open(4);
    struct counts c = mark(j.rank);
    long seen = -1;
    int near = is_near(&j, 1);
    switch (j.rank) {
    case 0:
        OK(MPI_Win_lock_all(0, j.win));
        put_flush(&j, 1, 0);
        hear(3); /* it is in */
        tell(2);
        await(2, 1);
        OK(MPI_Win_unlock_all(j.win));
        OK(MPI_Win_lock_all(0, j.win));
        OK(MPI_Get(&seen, 1, MPI_LONG, 1, 2, 1, MPI_LONG, j.win));
        OK(MPI_Win_unlock_all(j.win));
        SIM_CHECK(seen == 1); /* of the writer */
        SENT3(&c, near ? 0 : 1, PUT, near ? 0 : 1, DONE, near ? 0 : 1, GET);
        break;
    case 1:
        hear_when(0, 1, 3);
        break;
    case 2:
        hear(0);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put_flush(&j, 1, 2);
        OK(MPI_Win_unlock(1, j.win));
        SENT2(&c, near ? 0 : 1, PUT, near ? 0 : 1, DONE);
        break;
    default:
        OK(MPI_Win_lock_all(0, j.win));
        put_flush(&j, 1, 3);
        tell(0);
        hear(1);
        SIM_CHECK(waits(2, 1) && waits(0, 1));
        OK(MPI_Win_unlock_all(j.win));
        SENT2(&c, near ? 0 : 1, PUT, near ? 0 : 1, DONE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(longest(&j) == 0);
    SIM_CHECK(j.rank == 1 || j.rank == 2 ||
              inside(j.win)->passive.seen == 1); /* unlocked while 2 waited */
    job_close(&j);
}

/* 2 holds 0, 3 holds 1, both shared.  4 queues for 0, 5 for 1.  2 wants 1 and 3 wants 0: each
 * passes the writer. */
static void orders_cross(void *arg)
{
    (void)arg;
    struct job j = age_open(6);
    struct counts c = mark(j.rank);
    int r = j.rank, first = r % 2, far = !is_near(&j, 0) + !is_near(&j, 1);
    if (r == 2 || r == 3) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, first, 0, j.win));
        put_flush(&j, first, r);
        tell(r + 2);
        await(4, 0);
        await(5, 1);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1 - first, 0, j.win));
        put_flush(&j, 1 - first, r);
        tell(5 - r); /* both are in */
        hear(5 - r);
        OK(MPI_Win_unlock(first, j.win));
        OK(MPI_Win_unlock(1 - first, j.win));
        SENT2(&c, far, PUT, far, DONE);
    } else if (r > 3) {
        far = !is_near(&j, first);
        hear(r - 2);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first, 0, j.win));
        put_flush(&j, first, r);
        OK(MPI_Win_unlock(first, j.win));
        SENT2(&c, far, PUT, far, DONE);
    } else {
        while (j.mem[4 + r] == 0) /* whose queue it is */
            turn();
        SIM_CHECK(j.mem[2] == 1 && j.mem[3] == 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(longest(&j) == 1);
    job_close(&j);
}

/* 2 holds 0 exclusively, 3 holds 1.  4 queues for 0, then 3: it goes before 4, which is younger. */
static void stands_before(void *arg)
{
    (void)arg;
    struct job j = age_open(5);
    long seen = -1;
    switch (j.rank) {
    case 2:
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
        put_flush(&j, 0, 2);
        tell(3);
        await(4, 0);
        await(3, 0);
        OK(MPI_Win_unlock(0, j.win));
        break;
    case 3:
        hear(2);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        put_flush(&j, 1, 3);
        tell(4);
        await(4, 0);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, j.win));
        OK(MPI_Get(&seen, 1, MPI_LONG, 0, 4, 1, MPI_LONG, j.win));
        OK(MPI_Win_unlock(0, j.win));
        OK(MPI_Win_unlock(1, j.win));
        SIM_CHECK(seen == 0); /* 4 has not been in */
        break;
    case 4:
        hear(3);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
        put_flush(&j, 0, 4);
        OK(MPI_Win_unlock(0, j.win));
        break;
    default:
        break;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(longest(&j) == 1);
    job_close(&j);
}

/* 1 holds its own lock exclusively and wants that of 0, which has locked all and touches 2 only. */
static void touches_one(void *arg)
{
    (void)arg;
    struct job j = age_open(3);
    struct counts c = mark(j.rank);
    if (j.rank == 1) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        tell(0);
        hear(0);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
        put_flush(&j, 0, 1);
        OK(MPI_Win_unlock(0, j.win));
        OK(MPI_Win_unlock(1, j.win));
        SENT2(&c, !is_near(&j, 0), PUT, !is_near(&j, 0), DONE);
    } else if (j.rank == 0) {
        hear(1);
        OK(MPI_Win_lock_all(0, j.win));
        put_flush(&j, 2, 0);
        tell(1);
        await(1, 0);
        SIM_CHECK(j.mem[1] == 0); /* its own lock is held from the call on */
        OK(MPI_Win_unlock_all(j.win));
        long far = !is_near(&j, 2); /* it answers rank 1, too */
        SIM_CHECK(since(&c, RMA_PKT_PUT) == far && since(&c, RMA_PKT_DONE) == far);
        SIM_CHECK(since(&c, RMA_PKT_LOCK) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(longest(&j) == 0);
    job_close(&j);
}

/* --- random programs ------------------------------------------------------------------------- */

static void order_draw(int *order, int n)
{
    for (int i = 0; i < n; i++) {
        int k = (int)(sim_random() % (uint64_t)(i + 1));
        order[i] = order[k];
        order[k] = i;
    }
}

static long read_at(const struct job *j, int target)
{
    long v = -1;
    OK(MPI_Get(&v, 1, MPI_LONG, target, 0, 1, MPI_LONG, j->win));
    OK(MPI_Win_flush(target, j->win));
    return v;
}

static void write_alone(const struct job *j, int target)
{
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, j->win));
    long v = read_at(j, target) + 1;
    put1(j, &v, target, 0);
    OK(MPI_Win_flush(target, j->win));
    SIM_CHECK(read_at(j, target) == v);
    OK(MPI_Win_unlock(target, j->win));
}

static void read_some(const struct job *j, int all, int some)
{
    int order[SIM_RANKS];
    order_draw(order, j->size);
    if (all)
        OK(MPI_Win_lock_all(0, j->win));
    for (int i = 0; i < some; i++) {
        if (!all)
            OK(MPI_Win_lock(MPI_LOCK_SHARED, order[i], 0, j->win));
        long v = read_at(j, order[i]);
        SIM_CHECK(read_at(j, order[i]) == v); /* no writer beside a reader */
    }
    for (int i = 0; i < some && !all; i++)
        OK(MPI_Win_unlock(order[i], j->win));
    if (all)
        OK(MPI_Win_unlock_all(j->win));
}

/* Each rank, in each round: one exclusive lock, shared ones in any order, or LOCK_ALL.  No lock is
 * taken twice in an epoch. */
static void any_order(void *arg)
{
    (void)arg;
    struct job j = age_open(1);
    long mine = 0, all, sum;
    for (int i = 0; i < ROUNDS; i++) {
        int what = (int)(sim_random() % 3);
        if (!what)
            write_alone(&j, (int)(sim_random() % (uint64_t)j.size));
        else
            read_some(&j, what == 2, 1 + (int)(sim_random() % (uint64_t)j.size));
        mine += !what;
    }
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(j.mem, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    SIM_CHECK(sum == all && longest(&j) < j.size);
    job_close(&j);
}

/* The last rank alone writes at 0, all others lock all, until it has had its turns. */
static void one_writer(void *arg)
{
    (void)arg;
    struct job j = age_open(1);
    if (j.rank == j.size - 1) {
        for (int i = 0; i < TURNS; i++)
            write_alone(&j, 0);
        over = 1;
    } else {
        while (!over)
            read_some(&j, 1, j.size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK((j.rank || j.mem[0] == TURNS) && longest(&j) < j.size);
    job_close(&j);
}

static void near_all(struct sim_knobs *k)
{
    k->nodes = 1;
    k->preempt_percent = (int)(k->seed % 3) * 20;
}

static void halves(struct sim_knobs *k)
{
    k->nodes = 2;
    k->preempt_percent = (int)(k->seed % 3) * 20;
}

/* One place in the queue: most requests are refused and come again. */
static void one_place(struct sim_knobs *k)
{
    halves(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE", "1");
}

const struct scenario scenarios_lock_age[] = {
    {"age-younger-waits-far", 4, 1, younger_waits, NULL, far_away},
    {"age-younger-waits-near", 4, 1, younger_waits, NULL, near_all},
    {"age-younger-waits-mixed", 4, 1, younger_waits, NULL, halves},
    {"age-orders-cross-far", 6, 1, orders_cross, NULL, far_away},
    {"age-orders-cross-near", 6, 1, orders_cross, NULL, near_all},
    {"age-orders-cross-mixed", 6, 1, orders_cross, NULL, halves},
    {"age-stands-before-far", 5, 1, stands_before, NULL, far_away},
    {"age-stands-before-near", 5, 1, stands_before, NULL, near_all},
    {"age-stands-before-mixed", 5, 1, stands_before, NULL, halves},
    {"age-touches-one-far", 3, 1, touches_one, NULL, far_away},
    {"age-touches-one-near", 3, 1, touches_one, NULL, near_all},
    {"age-touches-one-mixed", 3, 1, touches_one, NULL, halves},
    {"age-any-order-far", 4, 1, any_order, NULL, far_away},
    {"age-any-order-near", 5, 1, any_order, NULL, near_all},
    {"age-any-order-mixed", 5, 1, any_order, NULL, halves},
    {"age-one-writer-far", 4, 1, one_writer, NULL, far_away},
    {"age-one-writer-near", 5, 1, one_writer, NULL, near_all},
    {"age-one-writer-mixed", 5, 1, one_writer, NULL, halves},
    {"age-one-writer-one-place", 5, 1, one_writer, NULL, one_place},
    {NULL, 0, 0, NULL, NULL, NULL},
};
