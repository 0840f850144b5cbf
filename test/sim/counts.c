/* Exact numbers of messages, protocol by protocol: what the paper promises, and no packet more. */
#include "scripted.h"

/* A fence with one put per peer: one packet each, DONE riding on it, and one acknowledgement. */
static void fence_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v[8];
    struct counts c = mark(j.rank);
    OK(MPI_Win_fence(0, j.win));
    /* Others may be further and have had answers from us already. */
    SIM_CHECK(since_all(&c) == since(&c, RMA_PKT_ACK));
    for (int t = 0; t < j.size; t++)
        if (t != j.rank) {
            v[t] = 100 * j.rank + t;
            put1(&j, &v[t], t, j.rank);
        }
    SIM_CHECK(since(&c, RMA_PKT_PUT) == 0); /* held back for the flag */
    OK(MPI_Win_fence(0, j.win));
    SENT2(&c, j.size - 1, PUT, j.size - 1, ACK); /* as many of others have been acknowledged by us before the barrier */
    for (int o = 0; o < j.size; o++)
        SIM_CHECK(o == j.rank || j.mem[o] == 100 * o + j.rank);
    SIM_CHECK(pvar(j.win, PVAR_RMA_PIGGY) == j.size - 1);
    c = mark(j.rank);
    long all = sim_sent(j.rank, -1);
    OK(MPI_Win_fence(0, j.win)); /* nothing was done: only the barrier, log2(P) messages */
    SIM_CHECK(since_all(&c) == 0);
    long log2 = 0;
    while (1 << log2 < j.size)
        log2++;
    SIM_CHECK(sim_sent(j.rank, -1) - all == log2);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    job_close(&j);
}

/* The opening fence does not wait: rank 1 comes to it only when rank 0 is through. */
static void fence_opens(void *arg)
{
    (void)arg;
    struct job j = job_open(4);
    long v = 5;
    if (j.rank == 1)
        hear(0);
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, j.win));
    if (j.rank == 0) {
        struct counts c = mark(0);
        put1(&j, &v, 1, 0);
        SIM_CHECK(rma_ask(inside(j.win), ASK_BARRIER_OUT)); /* rank 1 is not there yet */
        SIM_CHECK(since_all(&c) == 0);
        tell(1);
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    SIM_CHECK(j.rank != 1 || j.mem[0] == 5);
    job_close(&j);
}

/* LOCK, one operation, UNLOCK: one message there, one back. */
static void lock_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(16);
    if (j.rank == 0) {
        long v[16], r = -1;
        struct counts c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        SIM_CHECK(since_all(&c) == 0);
        v[0] = 11;
        put1(&j, &v[0], 1, 0);
        SIM_CHECK(since_all(&c) == 0);
        OK(MPI_Win_unlock(1, j.win));
        SENT(&c, 1, PUT);
        SENT(&b, 1, ACK);

        c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        OK(MPI_Get(&r, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win));
        OK(MPI_Win_unlock(1, j.win));
        SIM_CHECK(r == 11);
        SENT(&c, 1, GET);
        SENT(&b, 1, DATA); /* data are the acknowledgement */

        c = mark(0);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win)); /* nothing done: nothing sent */
        OK(MPI_Win_unlock(1, j.win));
        SIM_CHECK(since_all(&c) == 0);

        c = mark(0), b = mark(1); /* five small ones share the packet */
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        for (int i = 0; i < 5; i++) {
            v[i] = 20 + i;
            put1(&j, &v[i], 1, i);
        }
        OK(MPI_Win_unlock(1, j.win));
        SENT(&c, 1, BATCH);
        SENT(&b, 1, ACK);
        SIM_CHECK(pvar(j.win, PVAR_RMA_BATCH) == 4);

        c = mark(0), b = mark(1); /* a get among puts becomes the tail: no acknowledgement but its data */
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        OK(MPI_Get(&r, 1, MPI_LONG, 1, 4, 1, MPI_LONG, j.win));
        put1(&j, &v[1], 1, 8);
        OK(MPI_Win_unlock(1, j.win));
        SIM_CHECK(r == 24);
        SENT(&c, 1, BATCH);
        SENT(&b, 1, DATA);

        c = mark(0), b = mark(1); /* flush: DONE rides; a second flush has nothing to ask */
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put1(&j, &v[0], 1, 9);
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 1, PUT);
        SENT(&b, 1, ACK);
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 1, PUT);
        OK(MPI_Win_unlock(1, j.win)); /* UNLOCK found no operation to ride on */
        SENT2(&c, 1, PUT, 1, DONE);
        SENT(&b, 2, ACK);
    }
    job_close(&j);
}

/* Without piggybacking the flags travel alone. */
static void lock_counts_plain(void *arg)
{
    (void)arg;
    struct job j = job_open(16);
    if (j.rank == 0) {
        long v = 11;
        struct counts c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_unlock(1, j.win));
        SENT3(&c, 1, LOCK, 1, PUT, 1, DONE);
        SENT2(&b, 1, GRANTED, 1, ACK);
    }
    job_close(&j);
}

static void no_riding(struct sim_knobs *k)
{
    far_away(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_PIGGYBACK_THRESHOLD", "0");
}

/* POST to K, START on K: K posts; COMPLETE rides on the one operation, alone where there was none. */
static void pscw_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    MPI_Group world, others;
    int me = 0, K = j.size - 1;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_excl(world, 1, &me, &others));
    struct counts c = mark(j.rank);
    if (j.rank == 0) {
        long v = 3;
        OK(MPI_Win_start(others, 0, j.win));
        for (int t = 1; t <= K; t += 2)
            put1(&j, &v, t, 0);
        OK(MPI_Win_complete(j.win));
        SENT2(&c, (K + 1) / 2, PUT, K / 2, DONE);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Group zero;
        OK(MPI_Group_incl(world, 1, &me, &zero));
        OK(MPI_Win_post(zero, 0, j.win));
        OK(MPI_Win_wait(j.win));
        SIM_CHECK(j.mem[0] == (j.rank % 2 ? 3 : 0));
        MPI_Barrier(MPI_COMM_WORLD); /* the answer may find no room at once */
        SENT2(&c, 1, POST, j.rank % 2, ACK);
        OK(MPI_Group_free(&zero));
    }
    OK(MPI_Group_free(&others));
    OK(MPI_Group_free(&world));
    job_close(&j);
}

/* LOCK_ALL by targets: K targets touched, K messages and K answers, silence towards the others. */
static void lock_all_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    if (j.rank == 0) {
        long v = 3;
        struct counts c = mark(0), b = mark(1), d = mark(2), e = mark(3);
        OK(MPI_Win_lock_all(0, j.win));
        SIM_CHECK(since_all(&c) == 0);
        put1(&j, &v, 1, 0);
        put1(&j, &v, 2, 0);
        OK(MPI_Win_unlock_all(j.win));
        SENT(&c, 2, PUT);
        SENT(&b, 1, ACK);
        SENT(&d, 1, ACK);
        SIM_CHECK(since_all(&e) == 0);
        SIM_CHECK(pvar(j.win, PVAR_RMA_SWITCHES) == 0);

        c = mark(0); /* NOCHECK: neither LOCK nor UNLOCK, DONE rides */
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        put1(&j, &v, 3, 0);
        OK(MPI_Win_unlock_all(j.win));
        SENT(&c, 1, PUT);
        SENT(&e, 1, ACK);
    }
    job_close(&j);
}

/* Window protocol: P-1 locks whatever is touched (one of them rode), P-1 answers, P-1 unlocks. */
static void lock_all_window(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    if (j.rank == 0) {
        long v = 3;
        int P = j.size;
        struct counts c = mark(0), others[SIM_RANKS];
        for (int t = 1; t < P; t++)
            others[t] = mark(t);
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 0);
        put1(&j, &v, 2, 0); /* no second element: switch, in the middle of the epoch */
        SIM_CHECK(pvar(j.win, PVAR_RMA_SWITCHES) == 1);
        SIM_CHECK(rma_ask(inside(j.win), ASK_ALL_LOCKED));
        put1(&j, &v, 3, 0);
        OK(MPI_Win_unlock_all(j.win));
        SIM_CHECK(since(&c, RMA_PKT_LOCK) == P - 2); /* rank 1's rode on its put */
        SIM_CHECK(since(&c, RMA_PKT_PUT) == 3);
        long answers = 0;
        for (int t = 1; t < P; t++) {
            answers += since(&others[t], RMA_PKT_ACK);
            SIM_CHECK(since(&others[t], RMA_PKT_GRANTED) == 1);
        }
        /* Every UNLOCK and every DONE of an evicted element is answered: P-1 and two. */
        SIM_CHECK(answers == P - 1 + 2);
        SIM_CHECK(pvar(j.win, PVAR_RMA_EVICTIONS) == 2);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.mem[0] == (j.rank >= 1 && j.rank <= 3 ? 3 : 0));
    job_close(&j);
}

const struct scenario scenarios_counts[] = {
    {"count-fence", 5, 1, fence_counts, NULL, far_away},
    {"count-fence-opens", 2, 1, fence_opens, NULL, far_away},
    {"count-lock", 2, 1, lock_counts, NULL, far_away},
    {"count-lock-plain", 2, 1, lock_counts_plain, NULL, no_riding},
    {"count-pscw", 6, 1, pscw_counts, NULL, far_away},
    {"count-lock-all", 5, 1, lock_all_counts, NULL, far_away},
    {"count-lock-all-window", 6, 1, lock_all_window, NULL, far_and_poor},
    {NULL, 0, 0, NULL, NULL, NULL},
};
