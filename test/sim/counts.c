/* counts.c - exact numbers of messages, protocol by protocol: what the paper promises, and no
 * packet more. */
#include "scripted.h"

/* Credits decide how much travels in one packet. */
static void enough_credit(struct sim_knobs *k)
{
    far_away(k);
    k->replies = 0;
}

/* A refused packet takes more along when it comes again. */
static void none_refused(struct sim_knobs *k)
{
    enough_credit(k);
    k->again_percent = k->refuse_percent = k->inbox = 0;
}

static void poor_enough_credit(struct sim_knobs *k)
{
    far_and_poor(k);
    k->replies = 0;
}

/* A fence with one put per peer: one packet each, DONE piggybacked, and one acknowledgement. */
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
    /* as many of others have been acknowledged by us before the barrier */
    SENT2(&c, j.size - 1, PUT, j.size - 1, ACK);
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
        SIM_CHECK(rma_in(inside(j.win), SET_BARRIER_OUT)); /* rank 1 is not there yet */
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

        /* a get among puts becomes the tail: no acknowledgement but its data */
        c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        OK(MPI_Get(&r, 1, MPI_LONG, 1, 4, 1, MPI_LONG, j.win));
        put1(&j, &v[1], 1, 8);
        OK(MPI_Win_unlock(1, j.win));
        SIM_CHECK(r == 24);
        SENT(&c, 1, BATCH);
        SENT(&b, 1, DATA);

        /* flush: DONE is piggybacked; a second flush has nothing to ask */
        c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        put1(&j, &v[0], 1, 9);
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 1, PUT);
        SENT(&b, 1, ACK);
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 1, PUT);
        OK(MPI_Win_unlock(1, j.win)); /* UNLOCK found no operation to piggyback on */
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

static void no_piggyback(struct sim_knobs *k)
{
    enough_credit(k);
    scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD", "0");
}

static void look_around(void)
{
    for (int i = 0; i < 500; i++)
        turn();
}

/* MPIR_CVAR_CH3_RMA_DELAY_ISSUING_FOR_PIGGYBACKING=0, as the table of rma-far.md has it: neither a
 * lock nor the operations up to the threshold send anything; where more wait, all but the last
 * leave, with the LOCK. */
static void delay_0(void *arg)
{
    enum { HELD = 8 };
    (void)arg;
    struct job j = job_open(16);
    long v[16];
    for (int all = 0; all < 2 && j.rank == 0; all++) {
        struct counts c = mark(0), b = mark(1);
        OK(all ? MPI_Win_lock_all(0, j.win) : MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        look_around();
        SIM_CHECK(since_all(&c) == 0);
        for (int i = 0; i < HELD; i++) {
            v[i] = 10 * all + i;
            put1(&j, &v[i], 1, i);
        }
        look_around();
        SIM_CHECK(since_all(&c) == 0);
        OK(all ? MPI_Win_unlock_all(j.win) : MPI_Win_unlock(1, j.win));
        SENT(&c, 1, BATCH);
        SENT(&b, 1, ACK);
    }
    job_close(&j);
}

/* And where nothing is held back: the first operation sends LOCK, not the call that locks; each
 * leaves when it is called and the lock is granted; no flag is piggybacked. */
static void delay_0_plain(void *arg)
{
    (void)arg;
    struct job j = job_open(16);
    long v[3] = {1, 2, 3};
    for (int all = 0; all < 2 && j.rank == 0; all++) {
        struct counts c = mark(0), b = mark(1);
        OK(all ? MPI_Win_lock_all(0, j.win) : MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        look_around();
        SIM_CHECK(since_all(&c) == 0);
        put1(&j, &v[0], 1, 0);
        SENT(&c, 1, LOCK); /* in the call */
        while (since(&c, RMA_PKT_PUT) == 0)
            turn();
        SENT2(&c, 1, LOCK, 1, PUT);
        for (int i = 1; i < 3; i++) {
            put1(&j, &v[i], 1, i);
            SENT2(&c, 1, LOCK, 1 + i, PUT); /* in the call */
        }
        OK(all ? MPI_Win_unlock_all(j.win) : MPI_Win_unlock(1, j.win));
        SENT3(&c, 1, LOCK, 3, PUT, 1, DONE);
        SENT2(&b, 1, GRANTED, 1, ACK);
    }
    job_close(&j);
}

static void delay_off(struct sim_knobs *k)
{
    enough_credit(k);
    k->refuse_percent = k->again_percent = k->inbox = 0; /* what a call sends has left */
    scenario_cvar("MPIR_CVAR_CH3_RMA_DELAY_ISSUING_FOR_PIGGYBACKING", "0");
    scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_POLLS", "0"); /* aging.c has the age */
}

static void delay_off_plain(struct sim_knobs *k)
{
    delay_off(k);
    scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD", "0");
}

/* POST to K, START on K: K posts; COMPLETE is piggybacked on the one operation, alone where there
 * was none. */
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

/* Epochs of a pair again and again. The first answer carries the size of the window there; from
 * then on what is known to lie in it needs none. What does not, or may be refused for another
 * reason, is answered and reported (R11). */
static void pscw_again(int coalesced)
{
    enum { LONGS = 64, FEW = 3, MANY = 40, ROUNDS = 9 };
    struct job j = job_open(LONGS);
    MPI_Group world, peer;
    MPI_Datatype pairs;
    int other = !j.rank;
    OK(MPI_Win_set_errhandler(j.win, MPI_ERRORS_RETURN));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &other, &peer));
    OK(MPI_Type_vector(2, 1, 2, MPI_LONG, &pairs));
    OK(MPI_Type_commit(&pairs));
    for (int round = 0; round < ROUNDS; round++) {
        struct counts c = mark(0), b = mark(1);
        long v[MANY], r = -1, acks = 0;
        if (j.rank == 1) {
            OK(MPI_Win_post(peer, 0, j.win));
            OK(MPI_Win_wait(j.win));
        } else {
            OK(MPI_Win_start(peer, 0, j.win));
            for (int i = 0; i < MANY; i++)
                v[i] = 1000 * round + i;
            switch (round) {
            case 0: /* nothing is known */
                put1(&j, v, 1, LONGS - 1);
                acks = 1;
                break;
            case 1:
                put1(&j, v, 1, LONGS - 1);
                break;
            case 2:
                OK(MPI_Accumulate(v, 1, MPI_LONG, 1, LONGS - 1, 1, MPI_LONG, MPI_SUM, j.win));
                break;
            case 3:
                for (int i = 0; i < FEW; i++)
                    put1(&j, &v[i], 1, i);
                break;
            case 4:
                for (int i = 0; i < MANY; i++)
                    put1(&j, &v[i], 1, i);
                break;
            case 5: /* another layout may find no memory there */
                OK(MPI_Put(v, 2, MPI_LONG, 1, 0, 1, pairs, j.win));
                acks = 1;
                break;
            case 6: /* one too far, and one good behind it */
                put1(&j, v, 1, LONGS);
                put1(&j, v, 1, 0);
                acks = 1;
                break;
            case 7: /* one of many */
                for (int i = 0; i < MANY; i++)
                    put1(&j, &v[i], 1, i == MANY / 2 ? LONGS : i);
                acks = 1;
                break;
            case 8: /* a get answers for itself alone */
                put1(&j, v, 1, 7);
                OK(MPI_Get(&r, 1, MPI_LONG, 1, 7, 1, MPI_LONG, j.win));
                break;
            }
            ERR(round == 6 || round == 7 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS,
                MPI_Win_complete(j.win));
        }
        SIM_CHECK(j.rank || r == (round == 8 ? 8000 : -1));
        MPI_Barrier(MPI_COMM_WORLD);
        if (j.rank == 0) {
            SIM_CHECK(since(&b, RMA_PKT_ACK) == acks);
            SIM_CHECK(since(&b, RMA_PKT_DATA) == (round == 8));
            SIM_CHECK(coalesced || since(&c, RMA_PKT_DONE) == 0); /* COMPLETE is piggybacked */
        } else {
            static const int at[ROUNDS] = {LONGS - 1, LONGS - 1, LONGS - 1, FEW - 1, MANY - 1,
                                           2,         0,         MANY - 1,  7};
            static const long is[ROUNDS] = {
                0, 1000, 3000, 3000 + FEW - 1, 4000 + MANY - 1, 5001, 6000, 7000 + MANY - 1, 8000};
            SIM_CHECK(j.mem[at[round]] == is[round]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_Type_free(&pairs));
    OK(MPI_Group_free(&peer));
    OK(MPI_Group_free(&world));
    job_close(&j);
}

static void pscw_counts_again(void *arg)
{
    (void)arg;
    pscw_again(0);
}

static void pscw_counts_coalesced(void *arg)
{
    (void)arg;
    pscw_again(1);
}

/* The same of dynamic windows: the answer carries the attached region, which is known until its
 * rank has detached one. Rank 1 has two regions; what is put at `at` goes to the first below LONGS,
 * to the second from there on; apart: each element by itself. */
static void pscw_counts_dynamic(void *arg)
{
    (void)arg;
    enum { LONGS = 40 };
    static const struct round {
        int at, count, apart, nocheck, acks, err;
        enum { STAYS, DETACH, ATTACH } before; /* what rank 1 does with its second region */
    } rounds[] = {
        {0, 1, 0, 0, 1, 0, STAYS}, /* nothing is known */
        {LONGS - 1, 1, 0, 0, 0, 0, STAYS},
        {0, LONGS, 0, 0, 0, 0, STAYS},
        {0, LONGS, 1, 0, 0, 0, STAYS},
        {LONGS, 1, 0, 0, 1, 0, STAYS},             /* the other one, which is known from now on */
        {2 * LONGS - 1, 1, 0, 0, 0, 0, STAYS},
        /* in both; the one where it begins is returned */
        {LONGS - 1, 2, 0, 0, 1, 0, STAYS},
        {1, 1, 0, 1, 1, 0, STAYS}, /* NOCHECK: no post shows that it is still there */
        {1, 1, 0, 0, 0, 0, STAYS},
        {2 * LONGS - 1, 2, 0, 0, 1, MPI_ERR_RMA_RANGE, STAYS},
        {1, 1, 0, 0, 0, 0, STAYS}, /* an error carries nothing, and what was known holds */
        {LONGS - 20, 40, 1, 0, 1, 0, STAYS},       /* the last one's is returned */
        {LONGS, LONGS, 1, 0, 0, 0, STAYS},
        {LONGS, 1, 0, 0, 1, MPI_ERR_RMA_RANGE, DETACH}, /* no longer there */
        {1, 1, 0, 0, 1, 0, STAYS},
        {2, 1, 0, 0, 0, 0, ATTACH},                /* one more takes nothing away */
        {LONGS + 1, 1, 0, 0, 1, 0, STAYS},
    };
    long mem[2 * LONGS], v[LONGS];
    MPI_Aint base = (MPI_Aint)(intptr_t)mem;
    MPI_Group world, peer;
    struct job j = job_open(1);
    MPI_Win win;
    int other = !j.rank;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int i = 0; i < 2; i++)
        OK(MPI_Win_attach(win, mem + (ptrdiff_t)i * LONGS, LONGS * sizeof *mem));
    OK(MPI_Bcast(&base, 1, MPI_AINT, 1, MPI_COMM_WORLD));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &other, &peer));
    for (int k = 0; k < (int)(sizeof rounds / sizeof *rounds); k++) {
        const struct round *r = &rounds[k];
        int assert = r->nocheck ? MPI_MODE_NOCHECK : 0;
        memset(mem, 0, sizeof mem);
        if (j.rank == 1 && r->before == DETACH)
            OK(MPI_Win_detach(win, mem + LONGS));
        if (j.rank == 1 && r->before == ATTACH)
            OK(MPI_Win_attach(win, mem + LONGS, LONGS * sizeof *mem));
        MPI_Barrier(MPI_COMM_WORLD);
        struct counts b = mark(1);
        if (j.rank == 1)
            OK(MPI_Win_post(peer, assert, win));
        MPI_Barrier(MPI_COMM_WORLD); /* NOCHECK: it has posted */
        if (j.rank == 1) {
            OK(MPI_Win_wait(win));
        } else {
            for (int i = 0; i < LONGS; i++)
                v[i] = 1000 * (k + 1) + i;
            OK(MPI_Win_start(peer, assert, win));
            for (int i = 0, n = r->apart ? 1 : r->count; i < r->count; i += n)
                OK(MPI_Put(v + i, n, MPI_LONG, 1,
                           base + (MPI_Aint)(r->at + i) * (MPI_Aint)sizeof *v, n, MPI_LONG, win));
            ERR(r->err, MPI_Win_complete(win));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (j.rank == 0)
            SIM_CHECK(since(&b, RMA_PKT_ACK) == r->acks);
        for (int i = 0; i < 2 * LONGS; i++)
            SIM_CHECK(mem[i] == (j.rank == 1 && !r->err && i >= r->at && i < r->at + r->count
                                     ? 1000 * (k + 1) + i - r->at
                                     : 0));
    }
    OK(MPI_Group_free(&peer));
    OK(MPI_Group_free(&world));
    OK(MPI_Win_free(&win));
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

        c = mark(0); /* NOCHECK: neither LOCK nor UNLOCK, DONE is piggybacked */
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        put1(&j, &v, 3, 0);
        OK(MPI_Win_unlock_all(j.win));
        SENT(&c, 1, PUT);
        SENT(&e, 1, ACK);
    }
    job_close(&j);
}

/* Window protocol: P-1 locks whatever is touched (one of them piggybacked), P-1 answers, P-1
 * unlocks. */
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
        SIM_CHECK(rma_in(inside(j.win), SET_ALL_LOCKED));
        put1(&j, &v, 3, 0);
        OK(MPI_Win_unlock_all(j.win));
        SIM_CHECK(since(&c, RMA_PKT_LOCK) == P - 2); /* rank 1's was piggybacked on its put */
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

/* A fence whose last operation answers: its data are the acknowledgement.  Accumulates that fetch
 * keep their place. */
static void fence_get_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 1, r = -1, old = -1;
    OK(MPI_Win_fence(0, j.win));
    struct counts c = mark(0), b = mark(1);
    if (j.rank == 0) {
        OK(MPI_Get(&r, 1, MPI_LONG, 1, 3, 1, MPI_LONG, j.win));
        put1(&j, &v, 1, 0);
    }
    OK(MPI_Win_fence(0, j.win));
    if (j.rank == 0) {
        SIM_CHECK(r == 0);
        SENT(&c, 1, BATCH);
        SENT(&b, 1, DATA);
        c = mark(0), b = mark(1);
        OK(MPI_Fetch_and_op(&v, &old, MPI_LONG, 1, 0, MPI_SUM, j.win));
        put1(&j, &v, 1, 2);
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    if (j.rank == 0) {
        SIM_CHECK(old == 1);
        SENT(&c, 1, BATCH);
        SENT(&b, 1, ANSWERS); /* the old value, and the acknowledgement */
    }
    job_close(&j);
}

/* What a packet asked for comes back in one. */
static void answers_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    if (j.rank == 0) {
        long one = 1, old[8], last = -1;
        struct counts c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        for (int i = 0; i < 7; i++)
            OK(MPI_Fetch_and_op(&one, &old[i], MPI_LONG, 1, i % 2, MPI_SUM, j.win));
        OK(MPI_Get(&last, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win));
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 1, BATCH); /* and the lock, and DONE */
        SENT(&b, 1, ANSWERS);
        for (int i = 0; i < 7; i++)
            SIM_CHECK(old[i] == i / 2);
        SIM_CHECK(last == 4);
        OK(MPI_Win_unlock(1, j.win));
    }
    job_close(&j);
}

/* Atomics with requests: one is a packet and its answer; those that one wait is for share
 * packets. */
static void rfop_counts(void *arg)
{
    enum { N = 64, FULL = 8 }; /* operations; how many a packet of the simulator takes */
    (void)arg;
    struct job j = job_open(8);
    if (j.rank == 0) {
        long one = 1, old[N], five = 5, six = 6, was = -1;
        MPI_Request r[N];
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
        OK(MPI_Fetch_and_op(&one, &was, MPI_LONG, 1, 0, MPI_SUM, j.win));
        OK(MPI_Win_flush(1, j.win));
        struct counts c = mark(0), b = mark(1);
        OK(MPIX_Rfetch_and_op(&one, &was, MPI_LONG, 1, 0, MPI_SUM, j.win, &r[0]));
        OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        SIM_CHECK(was == 1);
        SENT(&c, 1, GACC);
        SENT(&b, 1, DATA);
        c = mark(0), b = mark(1);
        OK(MPIX_Rcompare_and_swap(&five, &six, &was, MPI_LONG, 1, 0, j.win, &r[0]));
        OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        SIM_CHECK(was == 2);
        SENT(&c, 1, CAS);
        SENT(&b, 1, DATA);
        c = mark(0), b = mark(1);
        for (int i = 0; i < N; i++)
            OK(MPIX_Rfetch_and_op(&one, &old[i], MPI_LONG, 1, 1, MPI_SUM, j.win, &r[i]));
        SIM_CHECK(rma_win_pvar_at(inside(j.win), PVAR_RMA_OUTSTANDING, 1) == N);
        SIM_CHECK(rma_win_pvar_at(inside(j.win), PVAR_RMA_OUTSTANDING, 0) == 0);
        OK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE));
        SIM_CHECK(rma_win_pvar_at(inside(j.win), PVAR_RMA_OUTSTANDING, 1) == 0);
        for (int i = 0; i < N; i++)
            SIM_CHECK(old[i] == i);
        SENT(&c, N / FULL, BATCH);
        SENT(&b, N / FULL, ANSWERS);
        OK(MPI_Win_unlock(1, j.win));
    }
    job_close(&j);
}

/* Where a message costs much, small operations wait for others to fill it: eight packets, then a
 * coalesced packet, and coalesced packets alone.  None is held beyond the synchronization. */
static void gather_counts(void *arg)
{
    enum {
        HELD = 8,
        FIRST = HELD + (1000 - HELD * 48) / 16,
        NEXT = 1000 / 16,
        MORE = 3,
        N = FIRST + 2 * NEXT + MORE
    };
    (void)arg;
    struct job j = job_open(N);
    if (j.rank == 0) {
        static long v[N];
        struct counts c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, MPI_MODE_NOCHECK, j.win));
        for (int i = 0; i < N; i++) {
            v[i] = 100 + i;
            put1(&j, &v[i], 1, i);
            /* one coalesced packet stays, to piggyback DONE on */
            SIM_CHECK(since_all(&c) == (i < FIRST ? 0 : 1 + (i - FIRST) / NEXT));
        }
        OK(MPI_Win_flush(1, j.win));
        SENT2(&c, 1, BATCH, 3, COALESCED);
        SENT(&b, 1, ACK);
        OK(MPI_Win_unlock(1, j.win));
        SIM_CHECK(pvar(j.win, PVAR_RMA_AM) == N && pvar(j.win, PVAR_RMA_BATCH) == N - 4 &&
                  pvar(j.win, PVAR_RMA_OPS_HIGH) <= HELD + 2);
        tell(1);
    } else {
        hear(0);
        for (int i = 0; i < N; i++)
            SIM_CHECK(j.mem[i] == 100 + i);
    }
    job_close(&j);
}

static void gathering(struct sim_knobs *k)
{
    none_refused(k);
    k->gather = 1000; /* 62 places with 8 bytes each, and a little */
}

static void alone_until_soon(const struct job *j, const struct rma_target *t)
{
    static const long v = 9;
    while (t->lone < RMA_LONE_SOON) {
        put1(j, &v, 1, 20);
        OK(MPI_Win_flush(1, j->win));
    }
}

/* Puts that would leave soon, but for their sides: less than the target buffer has, other types,
 * blocks, out of the window. All is done, or reported. */
static void uneven_puts(const struct job *j, const struct rma_target *t, const long *there)
{
    static const long v[] = {1, 2, 3, 4};
    MPI_Datatype two, odd;
    OK(MPI_Type_contiguous(2, MPI_LONG, &two));
    OK(MPI_Type_vector(2, 1, 2, MPI_LONG, &odd));
    OK(MPI_Type_commit(&two));
    OK(MPI_Type_commit(&odd));
    const struct {
        int n;
        MPI_Datatype type;
        int tn;
        MPI_Datatype ttype;
        long want[4];
    } puts[] = {{1, MPI_LONG, 4, MPI_LONG, {1}},
                {1, two, 2, MPI_LONG, {1, 2}},
                {2, MPI_LONG, 1, two, {1, 2}},
                {1, two, 1, two, {1, 2}},
                {1, odd, 1, odd, {1, 0, 3}},
                {1, odd, 2, MPI_LONG, {1, 3}},
                {4, MPI_LONG, 4, MPI_LONG, {1, 2, 3, 4}}};
    for (size_t i = 0; i < sizeof puts / sizeof *puts; i++) {
        static const long none[4];
        OK(MPI_Put(none, 4, MPI_LONG, 1, 24, 4, MPI_LONG, j->win));
        OK(MPI_Win_flush(1, j->win));
        alone_until_soon(j, t);
        OK(MPI_Put(v, puts[i].n, puts[i].type, 1, 24, puts[i].tn, puts[i].ttype, j->win));
        OK(MPI_Win_flush(1, j->win));
        SIM_CHECK(!memcmp(there + 24, puts[i].want, sizeof puts[i].want) && there[28] == 0);
    }
    alone_until_soon(j, t);
    OK(MPI_Put(v, 2, MPI_LONG, 1, 39, 2, MPI_LONG, j->win));
    ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, j->win));
    SIM_CHECK(there[39] == 0);
    OK(MPI_Type_free(&two));
    OK(MPI_Type_free(&odd));
}

/* R14: a put that is flushed alone is the network's, and where each was so the next leaves when it
 * is called.  Two before a flush: the second goes natively, too, and then the puts of a flush
 * travel in one packet again. */
static void lone_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(40);
    long *far[2];
    MPI_Allgather(&j.mem, sizeof j.mem, MPI_BYTE, far, sizeof j.mem, MPI_BYTE, MPI_COMM_WORLD);
    if (j.rank == 0) {
        static const long v[40] = {[0 ... 39] = 9};
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, MPI_MODE_NOCHECK, j.win));
        while (!inside(j.win)->table.ntargets || !rma_target_find(inside(j.win), 1)->key ||
               rma_target_find(inside(j.win), 1)->key->state != KEY_READY) {
            put1(&j, v, 1, 0);
            OK(MPI_Win_flush(1, j.win));
        }
        struct counts c = mark(0);
        const struct rma_target *t = rma_target_find(inside(j.win), 1);
        long before = pvar(j.win, PVAR_RMA_NATIVE);
        for (int i = 1; i < 12; i++) {
            int soon = t->lone == RMA_LONE_SOON;
            SIM_CHECK(soon == (i > RMA_LONE_SOON));
            ERR(MPI_ERR_DISP, MPI_Put(v, 1, MPI_LONG, 1, -1, 1, MPI_LONG, j.win));
            ERR(MPI_ERR_COUNT, MPI_Put(v, -1, MPI_LONG, 1, 0, -1, MPI_LONG, j.win));
            ERR(MPI_ERR_RANK, MPI_Put(v, 1, MPI_LONG, 2, 0, 1, MPI_LONG, j.win));
            OK(MPI_Put(v, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, j.win));
            OK(MPI_Put(v, 0, MPI_LONG, 1, 0, 0, MPI_LONG, j.win));
            put1(&j, v, 1, i);
            SIM_CHECK(pvar(j.win, PVAR_RMA_NATIVE) - before == i - !soon && t->nops == !soon);
            OK(MPI_Win_flush(1, j.win));
            SIM_CHECK(far[1][i] == 9 && t->native_out == 0);
        }
        SIM_CHECK(since_all(&c) == 0);
        put1(&j, v, 1, 12);
        put1(&j, v, 1, 13);
        SIM_CHECK(pvar(j.win, PVAR_RMA_NATIVE) - before == 12 && t->nops == 1);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(t->lone == 0 && far[1][12] == 9 && far[1][13] == 9);
        for (int burst = 2; burst <= 4; burst++) {
            c = mark(0);
            for (int i = 0; i < burst; i++)
                put1(&j, v, 1, 14 + i);
            OK(MPI_Win_flush(1, j.win));
            SENT(&c, 1, BATCH);
            for (int i = 0; i < burst; i++)
                SIM_CHECK(far[1][14 + i] == 9);
        }
        uneven_puts(&j, t, far[1]);
        alone_until_soon(&j, t);
        put1(&j, v, 1, 18);
        OK(MPI_Accumulate(v, 1, MPI_LONG, 1, 19, 1, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(t->lone == 0 && far[1][18] == 9 && far[1][19] == 9);
        alone_until_soon(&j, t);
        c = mark(0);
        /* one that left, two that share a packet, DONE is not piggybacked on them: the one is out
         * (R8) */
        for (int i = 0; i < 3; i++)
            put1(&j, v, 1, 21 + i);
        SIM_CHECK(t->native_out == 1 && t->nops == 2);
        OK(MPI_Win_flush(1, j.win));
        SENT2(&c, 1, BATCH, 1, DONE);
        SIM_CHECK(t->lone == 0 && far[1][20] == 9 && far[1][21] == 9 && far[1][22] == 9 &&
                  far[1][23] == 9);
        OK(MPI_Win_unlock(1, j.win));
    }
    job_close(&j);
}

static void lone_puts(struct sim_knobs *k)
{
    enough_credit(k);
    k->native = SIM_NATIVE_PUT;
    k->native_ordered = 0;
    k->native_reg = k->seed % 2;
    k->native_lone = 1;
    k->native_min = 0;
    k->again_percent = k->refuse_percent = k->inbox = 0;
}

/* What makes the next short put wait in the queue though its length pays: an order, or a get or a
 * put that waits itself. A longer put keeps no later one back. */
static void short_waits(const struct job *j, const struct rma_target *t, long *const *far)
{
    static const long one[5] = {1, 1, 1, 1, 1}, two = 2;
    long got = 0;
    put1(j, one, 1, 20);
    OK(MPIX_Win_order(1, j->win));
    put1(j, &two, 1, 20);
    SIM_CHECK(t->native_out == 1 && t->nops == 1);
    put1(j, &two, 1, 21);
    SIM_CHECK(t->native_out == 1 && t->nops == 2);
    OK(MPI_Win_flush(1, j->win));
    SIM_CHECK(far[1][20] == 2 && far[1][21] == 2 && t->native_out == 0);
    OK(MPI_Get(&got, 1, MPI_LONG, 1, 20, 1, MPI_LONG, j->win));
    put1(j, one, 1, 22);
    SIM_CHECK(t->native_out == 0 && t->nops == 2);
    OK(MPI_Win_flush(1, j->win));
    SIM_CHECK(got == 2 && far[1][22] == 1);
    put1(j, one, 1, 23);
    OK(MPI_Put(one, 5, MPI_LONG, 1, 24, 5, MPI_LONG, j->win));
    SIM_CHECK(t->native_out >= 1 && t->nops == 1);
    OK(MPI_Win_flush(1, j->win));
    SIM_CHECK(far[1][23] == 1 && far[1][28] == 1 && t->native_out == 0);
    OK(MPI_Put(one, 5, MPI_LONG, 1, 30, 5, MPI_LONG, j->win));
    put1(j, one, 1, 36);
    OK(MPIX_Win_order(1, j->win));
    OK(MPI_Win_flush_local(1, j->win)); /* the two leave; the order still holds */
    SIM_CHECK(t->nops == 0 && t->native_out >= 1);
    put1(j, &two, 1, 36);
    SIM_CHECK(t->nops == 1);
    OK(MPI_Win_flush(1, j->win));
    SIM_CHECK(far[1][36] == 2);
    put1(j, one, 1, 29);
    SIM_CHECK(t->native_out == 1 && t->nops == 0);
    OK(MPI_Win_flush(1, j->win));
    SIM_CHECK(far[1][29] == 1 && t->lone == RMA_SHORT_SOON);
}

/* R14: short puts whose length pays leave at their calls, each behind those that are out. No
 * message goes for them, and the flush or the end of the epoch waits for all. */
static void short_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(40);
    long *far[2];
    MPI_Allgather(&j.mem, sizeof j.mem, MPI_BYTE, far, sizeof j.mem, MPI_BYTE, MPI_COMM_WORLD);
    if (j.rank == 0) {
        static const long v = 9;
        const struct rma_target *t;
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        do {
            put1(&j, &v, 1, 0);
            OK(MPI_Win_flush(1, j.win));
            t = rma_target_find(inside(j.win), 1);
        } while (!t || t->lone != RMA_SHORT_SOON);
        struct counts c = mark(0);
        long before = pvar(j.win, PVAR_RMA_NATIVE);
        for (unsigned i = 1; i <= 6; i++) {
            put1(&j, &v, 1, (int)i);
            SIM_CHECK(t->nops == 0 && t->native_out == i);
            SIM_CHECK(pvar(j.win, PVAR_RMA_NATIVE) - before == i);
        }
        ERR(MPI_ERR_DISP, MPI_Put(&v, 1, MPI_LONG, 1, -1, 1, MPI_LONG, j.win));
        OK(MPI_Win_flush(1, j.win));
        for (int i = 1; i <= 6; i++)
            SIM_CHECK(far[1][i] == 9);
        SIM_CHECK(t->native_out == 0);
        short_waits(&j, t, far);
        SIM_CHECK(since_all(&c) == 0);
        put1(&j, &v, 1, 39);
        put1(&j, &v, 1, 40); /* out of range: by message */
        SIM_CHECK(t->native_out == 1 && t->nops == 1);
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, j.win));
        SIM_CHECK(far[1][39] == 9);
        put1(&j, &v, 1, 30);
        OK(MPI_Win_flush(1, j.win));
        put1(&j, &v, 1, 31);
        put1(&j, &v, 1, 32);
        SIM_CHECK(t->native_out == 2);
        OK(MPI_Win_unlock_all(j.win));
        SIM_CHECK(far[1][31] == 9 && far[1][32] == 9);
    }
    job_close(&j);
}

static void short_puts(struct sim_knobs *k)
{
    lone_puts(k);
    k->native = SIM_NATIVE_PUT | SIM_NATIVE_GET;
    k->native_lone = 0;
    k->native_min = 8;
}

/* Without piggybacking: the operation, DONE, its acknowledgement. */
static void fence_counts_plain(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 1;
    OK(MPI_Win_fence(0, j.win));
    struct counts c = mark(0), b = mark(1);
    if (j.rank == 0)
        put1(&j, &v, 1, 0);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    if (j.rank == 0) {
        SENT2(&c, 1, PUT, 1, DONE);
        SENT(&b, 1, ACK);
    }
    job_close(&j);
}

/* The same for post, start, complete, wait: COMPLETE by itself; what was put is acknowledged with
 * it. */
static void pscw_counts_plain(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    MPI_Group world, peer;
    int other = !j.rank;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &other, &peer));
    struct counts c = mark(j.rank);
    if (j.rank == 0) {
        long v[2] = {3, 4}, r = -1;
        OK(MPI_Win_start(peer, 0, j.win));
        put1(&j, &v[0], 1, 0);
        OK(MPI_Win_complete(j.win));
        SENT2(&c, 1, PUT, 1, DONE);
        c = mark(0);
        /* a get is answered by itself: nothing more to acknowledge */
        OK(MPI_Win_start(peer, 0, j.win));
        OK(MPI_Get(&r, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win));
        OK(MPI_Win_complete(j.win));
        SENT2(&c, 1, GET, 1, DONE);
        SIM_CHECK(r == 3);
    } else {
        OK(MPI_Win_post(peer, 0, j.win));
        OK(MPI_Win_wait(j.win));
        OK(MPI_Win_post(peer, 0, j.win));
        OK(MPI_Win_wait(j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 1)
        SENT3(&c, 2, POST, 1, ACK, 1, DATA);
    OK(MPI_Group_free(&peer));
    OK(MPI_Group_free(&world));
    job_close(&j);
}

/* POST and START with NOCHECK: no post travels. */
static void pscw_counts_nocheck(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    MPI_Group world, peer;
    int other = !j.rank;
    long v = 3;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &other, &peer));
    struct counts c = mark(j.rank);
    if (j.rank == 1)
        OK(MPI_Win_post(peer, MPI_MODE_NOCHECK, j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 0) {
        OK(MPI_Win_start(peer, MPI_MODE_NOCHECK, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_complete(j.win));
        SENT(&c, 1, PUT);
    } else {
        OK(MPI_Win_wait(j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 1)
        SENT(&c, 1, ACK);
    OK(MPI_Group_free(&peer));
    OK(MPI_Group_free(&world));
    job_close(&j);
}

/* NOCHECK: granted at the call, nothing to release: one packet with DONE, one answer. */
static void lock_counts_nocheck(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    if (j.rank == 0) {
        long v = 1, r = -1;
        struct counts c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, MPI_MODE_NOCHECK, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_unlock(1, j.win));
        SENT(&c, 1, PUT);
        SENT(&b, 1, ACK);
        c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, j.win));
        OK(MPI_Get(&r, 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win));
        OK(MPI_Win_unlock(1, j.win));
        SENT(&c, 1, GET);
        SENT(&b, 1, DATA);
    }
    job_close(&j);
}

/* An operation that does not fit a packet: LOCK by itself, the parts, UNLOCK on the last of
 * them. */
static void lock_counts_long(void *arg)
{
    (void)arg;
    enum { LONGS = 600 }; /* 4800 bytes in packets of 1024 */
    struct job j = job_open(LONGS);
    if (j.rank == 0) {
        static long v[LONGS];
        for (int i = 0; i < LONGS; i++)
            v[i] = i + 1;
        struct counts c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        OK(MPI_Put(v, LONGS, MPI_LONG, 1, 0, LONGS, MPI_LONG, j.win));
        OK(MPI_Win_unlock(1, j.win));
        const long part = (1024 - (long)sizeof(struct rma_hdr) - (long)sizeof(struct rma_ext)) / 8;
        SENT2(&c, 1, LOCK, (LONGS + part - 1) / part, PUT);
        SENT2(&b, 1, GRANTED, 1, ACK);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank != 1 || (j.mem[0] == 1 && j.mem[LONGS - 1] == LONGS));
    job_close(&j);
}

static void small_packets(struct sim_knobs *k)
{
    enough_credit(k);
    scenario_cvar("MPIR_CVAR_RMA_PACKET_SIZE", "1024");
}

/* The flush family: one DONE per target with something unanswered, whatever the number of
 * operations; local ones none. */
static void flush_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    int K = j.size - 1;
    if (j.rank == 0) {
        long v = 3, r[SIM_RANKS];
        struct counts c, b;
        OK(MPI_Win_lock_all(0, j.win));
        for (int t = 1; t <= K; t++) { /* the locks */
            OK(MPI_Get(&r[t], 1, MPI_LONG, t, 0, 1, MPI_LONG, j.win));
            OK(MPI_Win_flush(t, j.win));
        }
        c = mark(0), b = mark(1);
        put1(&j, &v, 1, 0);
        OK(MPI_Win_flush_local(1, j.win)); /* has left: that is all */
        SENT(&c, 1, PUT);
        put1(&j, &v, 1, 1);
        OK(MPI_Win_flush(1, j.win)); /* covers both */
        SENT(&c, 2, PUT);
        SENT(&b, 1, ACK);
        OK(MPI_Get(&r[0], 1, MPI_LONG, 1, 0, 1, MPI_LONG, j.win));
        OK(MPI_Win_flush_local(1, j.win)); /* its data */
        SIM_CHECK(r[0] == 3);
        SENT2(&b, 1, ACK, 1, DATA);
        OK(MPI_Win_flush(1, j.win)); /* it was answered: nothing to ask */
        SENT2(&c, 2, PUT, 1, GET);

        c = mark(0);
        for (int t = 1; t < K; t++) /* one of them is not touched */
            for (int i = 0; i < 3; i++)
                put1(&j, &v, t, i);
        OK(MPI_Win_flush_all(j.win));
        SENT(&c, K - 1, BATCH);
        OK(MPI_Win_flush_all(j.win));
        OK(MPI_Win_flush_local_all(j.win));
        SENT(&c, K - 1, BATCH);
        c = mark(0);
        OK(MPI_Win_unlock_all(j.win)); /* found no operation to piggyback on */
        SENT(&c, K, DONE);
    }
    job_close(&j);
}

/* [design] FLUSH: without an element nothing is sent in PER_TARGET, since eviction has flushed; in
 * the window protocol DONE is. */
static void flush_counts_evicted(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    if (j.rank == 0) {
        long v = 3;
        for (int t = 1; t <= 2; t++)
            OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, j.win));
        put1(&j, &v, 1, 0);
        put1(&j, &v, 2, 0);
        SIM_CHECK(!rma_target_find(inside(j.win), 1));
        struct counts c = mark(0);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(since(&c, RMA_PKT_DONE) == 0); /* the put to 2 may leave only now */
        for (int t = 1; t <= 2; t++)
            OK(MPI_Win_unlock(t, j.win));

        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        put1(&j, &v, 1, 0);
        put1(&j, &v, 2, 0);
        SIM_CHECK(!rma_target_find(inside(j.win), 1));
        c = mark(0);
        /* else the answer to the evicted one's DONE has come: nothing to ask */
        int asked = inside(j.win)->acks > 0;
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(since(&c, RMA_PKT_DONE) == asked); /* the put to 2 may leave only now */
        OK(MPI_Win_unlock_all(j.win));
    }
    job_close(&j);
}

/* rma.md 5.2: a further lock costs the earlier lazy ones their message: one for a LOCK, P-1 for a
 * LOCK_ALL. */
static void lock_order_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(8), k = job_open(8);
    if (j.rank == 0) {
        long v = 1;
        struct counts c = mark(0), b = mark(1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, k.win));
        SENT(&c, 1, LOCK);
        SENT(&b, 1, GRANTED);
        put1(&j, &v, 1, 0);
        put1(&k, &v, 2, 0);
        OK(MPI_Win_unlock(2, k.win));
        OK(MPI_Win_unlock(1, j.win));
        SENT2(&c, 1, LOCK, 2, PUT);

        c = mark(0);
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, k.win));
        SIM_CHECK(rma_in(inside(j.win), SET_ALL_LOCKED));
        SENT2(&c, j.size - 2, LOCK, 1, PUT); /* one was piggybacked */
        put1(&k, &v, 2, 1);
        OK(MPI_Win_unlock(2, k.win));
        OK(MPI_Win_unlock_all(j.win));
        SENT3(&c, j.size - 2, LOCK, 2, PUT, j.size - 1, DONE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank != 1 || (j.mem[0] == 1 && j.mem[1] == 1));
    SIM_CHECK(k.rank != 2 || (k.mem[0] == 1 && k.mem[1] == 1));
    job_close(&k);
    job_close(&j);
}

/* The switch keeps a constant number of LOCK messages under way, however many ranks there are.
 * Each rank holds its own lock until no more come. */
static void switch_outstanding(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    enum { OUTSTANDING = 2 };
    if (j.rank)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, j.rank, 0, j.win));
    struct counts c = mark(0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 0) {
        long v = 3;
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 0);
        put1(&j, &v, 2, 0); /* the switch */
        SIM_CHECK(rma_in(inside(j.win), SET_ALL_LOCKED));
        OK(MPI_Win_unlock_all(j.win));
    } else if (j.rank == 1) {
        while (since(&c, RMA_PKT_LOCK) < OUTSTANDING)
            turn();
        for (int i = 0; i < 200; i++) {
            turn();
            SIM_CHECK(since(&c, RMA_PKT_LOCK) <= OUTSTANDING);
        }
        OK(MPI_Win_unlock(1, j.win));
        for (int t = 2; t < j.size; t++) {
            /* one after the other: a place is free, one more comes */
            tell(t);
            hear(t);
        }
    } else {
        hear(1);
        OK(MPI_Win_unlock(j.rank, j.win));
        tell(1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.mem[0] == (j.rank == 1 || j.rank == 2 ? 3 : 0));
    SIM_CHECK(j.rank || pvar(j.win, PVAR_RMA_SWITCHES) == 1);
    job_close(&j);
}

static void two_outstanding(struct sim_knobs *k)
{
    poor_enough_credit(k);
    scenario_cvar("MPIR_CVAR_RMA_LOCK_ALL_OUTSTANDING", "2");
}

/* All by piggybacking off: LOCK, operation and UNLOCK each for itself, towards touched targets
 * only. */
static void lock_all_plain(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    if (j.rank == 0) {
        long v = 3;
        struct counts c = mark(0), b = mark(1), d = mark(2);
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v, 1, 0);
        OK(MPI_Win_unlock_all(j.win));
        SENT3(&c, 1, LOCK, 1, PUT, 1, DONE);
        SENT2(&b, 1, GRANTED, 1, ACK);
        SIM_CHECK(since_all(&d) == 0);
    }
    job_close(&j);
}

/* Near: no message whatever is done. */
static void near_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    MPI_Group all;
    long v = 1, r;
    int t = (j.rank + 1) % j.size;
    struct counts c = mark(j.rank);
    OK(MPI_Win_get_group(j.win, &all));
    OK(MPI_Win_fence(0, j.win));
    put1(&j, &v, t, 0);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    OK(MPI_Win_post(all, 0, j.win));
    OK(MPI_Win_start(all, 0, j.win));
    put1(&j, &v, t, 1);
    OK(MPI_Win_complete(j.win));
    OK(MPI_Win_wait(j.win));
    for (int type = 0; type < 2; type++) {
        OK(MPI_Win_lock(type ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, t, 0, j.win));
        OK(MPI_Fetch_and_op(&v, &r, MPI_LONG, t, 2, MPI_SUM, j.win));
        OK(MPI_Win_flush(t, j.win));
        OK(MPI_Win_unlock(t, j.win));
    }
    OK(MPI_Win_lock_all(0, j.win));
    OK(MPI_Accumulate(&v, 1, MPI_LONG, t, 3, 1, MPI_LONG, MPI_SUM, j.win));
    OK(MPI_Win_flush_all(j.win));
    OK(MPI_Win_unlock_all(j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(since_all(&c) == 0 && pvar(j.win, PVAR_RMA_MSGS) == 0);
    SIM_CHECK(j.mem[0] == 1 && j.mem[1] == 1 && j.mem[2] == 2 && j.mem[3] == 1);
    OK(MPI_Group_free(&all));
    job_close(&j);
}

static int sync_refused(int err, const MPI_Request *r)
{
    int class;
    MPI_Error_class(err, &class);
    return class == MPI_ERR_RMA_SYNC && *r == MPI_REQUEST_NULL;
}

/* What is done in its call has a built-in request, in passive epochs alone. */
static void rfop_near(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long one = 1, three = 3, was = -1;
    int t = (j.rank + 1) % j.size, flag;
    MPI_Request r[4];
    MPI_Status st;
    OK(MPI_Win_set_errhandler(j.win, MPI_ERRORS_RETURN));
    OK(MPI_Win_fence(0, j.win));
    SIM_CHECK(sync_refused(MPIX_Rfetch_and_op(&one, &was, MPI_LONG, t, 0, MPI_SUM, j.win, r), r));
    SIM_CHECK(sync_refused(
        MPIX_Rcompare_and_swap(&one, &one, &was, MPI_LONG, t, 0, j.win, r), r));
    SIM_CHECK(sync_refused(MPI_Rput(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, j.win, r), r));
    SIM_CHECK(sync_refused(MPI_Rget(&was, 1, MPI_LONG, t, 0, 1, MPI_LONG, j.win, r), r));
    SIM_CHECK(sync_refused(
        MPI_Raccumulate(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, j.win, r), r));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    SIM_CHECK(was == -1 && j.mem[0] == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, j.win));
    OK(MPIX_Rfetch_and_op(&three, &was, MPI_LONG, t, 1, MPI_SUM, j.win, &r[0]));
    SIM_CHECK(was == 0);
    OK(MPIX_Rcompare_and_swap(&one, &three, &was, MPI_LONG, t, 1, j.win, &r[1]));
    SIM_CHECK(was == 3);
    OK(MPI_Rget(&was, 1, MPI_LONG, t, 1, 1, MPI_LONG, j.win, &r[2]));
    OK(MPI_Raccumulate(&one, 1, MPI_LONG, t, 1, 1, MPI_LONG, MPI_SUM, j.win, &r[3]));
    SIM_CHECK(was == 1 && r[0] == r[1] && r[1] == r[2] && r[2] == r[3]);
    OK(MPI_Request_get_status(r[0], &flag, &st));
    SIM_CHECK(flag && st.MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Wait(&r[1], &st));
    SIM_CHECK(st.MPI_TAG == MPI_ANY_TAG && r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
    OK(MPI_Testall(4, r, &flag, MPI_STATUSES_IGNORE));
    SIM_CHECK(flag && r[2] == MPI_REQUEST_NULL && r[3] == MPI_REQUEST_NULL);
    OK(MPI_Rput(&three, 1, MPI_LONG, t, 2, 1, MPI_LONG, j.win, &r[0]));
    OK(MPI_Waitany(4, r, &flag, &st));
    SIM_CHECK(flag == 0 && r[0] == MPI_REQUEST_NULL);
    OK(MPI_Win_unlock(t, j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.mem[1] == 2 && j.mem[2] == 3);
    job_close(&j);
}

static int serves_of(MPI_Win win, const char **text)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int *bits, flag;
    OK(MPI_Win_get_info(win, &info));
    OK(MPI_Info_get(info, "mpix_progress", MPI_MAX_INFO_VAL, value, &flag));
    SIM_CHECK(flag);
    OK(MPI_Info_free(&info));
    *text = value;
    OK(MPI_Win_get_attr(win, MPIX_WIN_PROGRESS, &bits, &flag));
    SIM_CHECK(flag);
    return *bits;
}

/* No packet says which operations need their target. */
static void serves_near(void *arg)
{
    (void)arg;
    const char *text;
    struct job j = job_open(8);
    struct counts c = mark(j.rank);
    SIM_CHECK(serves_of(j.win, &text) == 0);
    SIM_CHECK(!strcmp(text, "put:alone,get:alone,accumulate:alone,fetch:alone,lock:alone,"
                            "notification:alone,strided:alone"));
    for (int t = 0; t < j.size; t++)
        SIM_CHECK(rma_win_pvar_at(inside(j.win), PVAR_RMA_PROGRESS, t) == 0);
    SIM_CHECK(since_all(&c) == 0);
    job_close(&j);
}

static void serves_far(void *arg)
{
    (void)arg;
    const char *text;
    struct job j = job_open(8);
    struct counts c = mark(j.rank);
    int bits = serves_of(j.win, &text);
    for (int shift = MPIX_PROGRESS_PUT; shift <= MPIX_PROGRESS_STRIDED; shift += 2)
        SIM_CHECK((bits >> shift & 3) == MPIX_PROGRESS_TARGET);
    SIM_CHECK(!strcmp(text, "put:target,get:target,accumulate:target,fetch:target,lock:target,"
                            "notification:target,strided:target"));
    for (int t = 0; t < j.size; t++)
        SIM_CHECK(rma_win_pvar_at(inside(j.win), PVAR_RMA_PROGRESS, t) ==
                  (t == j.rank ? 0 : (uint64_t)bits));
    SIM_CHECK(since_all(&c) == 0);
    job_close(&j);
}

/* Long ones leave when they are called.  Once a flush had to ask by itself they ask, too; but not
 * where another follows. */
static void early_counts(void *arg)
{
    (void)arg;
    enum { LONG = 200 };
    long v[LONG] = {3};
    struct job j = job_open(2 * LONG);
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        struct counts c = mark(0), b = mark(1);
        for (int i = 0; i < 4; i++) {
            OK(MPI_Put(v, LONG, MPI_LONG, 1, 0, LONG, MPI_LONG, j.win));
            while (since(&c, RMA_PKT_PUT) <= i) /* at once, unless the network has no room */
                turn();
            OK(i % 2 ? MPI_Win_flush_all(j.win) : MPI_Win_flush(1, j.win));
        }
        SENT2(&c, 4, PUT, 1, DONE);
        SENT(&b, 4, ACK);
        OK(MPI_Win_flush(1, j.win)); /* nothing has left since */
        SENT2(&c, 4, PUT, 1, DONE);

        c = mark(0), b = mark(1); /* the answer may be there before any rank asks */
        OK(MPI_Put(v, LONG, MPI_LONG, 1, 0, LONG, MPI_LONG, j.win));
        while (since(&b, RMA_PKT_ACK) == 0 || inside(j.win)->table.recent->tokens_out)
            turn();
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 1, PUT);

        c = mark(0), b = mark(1); /* out of range, and reported then */
        OK(MPI_Put(v, LONG, MPI_LONG, 1, LONG + 1, LONG, MPI_LONG, j.win));
        while (since(&b, RMA_PKT_ACK) == 0 || inside(j.win)->table.recent->tokens_out)
            turn();
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, j.win));
        OK(MPI_Win_flush(1, j.win));
        OK(MPI_Put(v, LONG, MPI_LONG, 1, LONG + 1, LONG, MPI_LONG, j.win));
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush_all(j.win));
        SENT(&c, 2, PUT);

        c = mark(0), b = mark(1); /* a stream asks at its end: not by each */
        for (int i = 0; i < 8; i++)
            OK(MPI_Put(v, LONG, MPI_LONG, 1, 0, LONG, MPI_LONG, j.win));
        /* No answer came between them, and all have left. */
        int stream = !inside(j.win)->asks_early && !inside(j.win)->table.recent->queued;
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(since(&c, RMA_PKT_PUT) == 8 && since(&c, RMA_PKT_DONE) <= 1 &&
                  since_all(&b) <= 8);
        if (stream)
            SIM_CHECK(since(&c, RMA_PKT_DONE) == 1 && since_all(&b) < 8);

        c = mark(0); /* the end of the epoch, where no call flushed */
        int asks = inside(j.win)->asks_early;
        OK(MPI_Put(v, LONG, MPI_LONG, 1, LONG, LONG, MPI_LONG, j.win));
        OK(MPI_Win_unlock_all(j.win));
        SIM_CHECK(asks || !stream); /* the stream's end asked by itself */
        if (asks)
            SENT(&c, 1, PUT);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j.rank == 0 || (j.mem[0] == 3 && j.mem[LONG] == 3));
    job_close(&j);
}

static void together(struct sim_knobs *k)
{
    k->nodes = 1;
}

const struct scenario scenarios_counts[] = {
    {"count-fence", 5, 1, fence_counts, NULL, enough_credit},
    {"count-fence-opens", 2, 1, fence_opens, NULL, enough_credit},
    {"count-lock", 2, 1, lock_counts, NULL, enough_credit},
    {"count-lock-plain", 2, 1, lock_counts_plain, NULL, no_piggyback},
    {"count-pscw", 6, 1, pscw_counts, NULL, enough_credit},
    {"count-fence-get", 3, 1, fence_get_counts, NULL, enough_credit},
    {"count-fence-plain", 2, 1, fence_counts_plain, NULL, no_piggyback},
    {"count-pscw-again", 2, 1, pscw_counts_again, NULL, enough_credit},
    {"count-pscw-coalesced", 2, 1, pscw_counts_coalesced, NULL, gathering},
    {"count-pscw-dynamic", 2, 1, pscw_counts_dynamic, NULL, enough_credit},
    {"count-pscw-dynamic-coalesced", 2, 1, pscw_counts_dynamic, NULL, gathering},
    {"count-pscw-plain", 2, 1, pscw_counts_plain, NULL, no_piggyback},
    {"count-pscw-nocheck", 2, 1, pscw_counts_nocheck, NULL, enough_credit},
    {"count-lock-nocheck", 2, 1, lock_counts_nocheck, NULL, enough_credit},
    {"count-lock-long", 2, 1, lock_counts_long, NULL, small_packets},
    {"count-lock-order", 5, 1, lock_order_counts, NULL, enough_credit},
    {"count-flush", 5, 1, flush_counts, NULL, enough_credit},
    {"count-early", 2, 1, early_counts, NULL, enough_credit},
    {"count-flush-evicted", 3, 1, flush_counts_evicted, NULL, poor_enough_credit},
    {"count-switch-outstanding", 7, 1, switch_outstanding, NULL, two_outstanding},
    {"count-delay-0", 2, 1, delay_0, NULL, delay_off},
    {"count-delay-0-plain", 2, 1, delay_0_plain, NULL, delay_off_plain},
    {"count-lock-all-plain", 3, 1, lock_all_plain, NULL, no_piggyback},
    {"count-answers", 2, 1, answers_counts, NULL, enough_credit},
    {"count-rfop", 2, 1, rfop_counts, NULL, none_refused},
    {"count-gather", 2, 1, gather_counts, NULL, gathering},
    {"count-lone", 2, 1, lone_counts, NULL, lone_puts},
    {"count-short", 2, 1, short_counts, NULL, short_puts},
    {"count-near", 3, 1, near_counts, NULL, together},
    {"rfop-near", 2, 1, rfop_near, NULL, together},
    {"serves-near", 2, 1, serves_near, NULL, together},
    {"serves-far", 2, 1, serves_far, NULL, enough_credit},
    {"count-lock-all", 5, 1, lock_all_counts, NULL, enough_credit},
    {"count-lock-all-window", 6, 1, lock_all_window, NULL, poor_enough_credit},
    {NULL, 0, 0, NULL, NULL, NULL},
};
