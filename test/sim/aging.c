/* aging.c - operations that are held back leave after so many passes of the progress engine (R15),
 * and not before.
 *
 * Rank 0 puts to the others, which wait for it in a barrier, and only looks for messages.  A pass
 * is counted by progress_polls(). */
#include "progress/progress.h"
#include "scripted.h"

enum { AGE = 20, LONGS = 80, SOON = 10000 /* turns in which the network lets a packet go */ };

static void aging(struct sim_knobs *k)
{
    far_away(k);
    k->replies = 0;
    scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_POLLS", "20");
}

/* Where rank 1 has its memory: all ranks are in one process. */
static const long *memory_of_1(const struct job *j)
{
    MPI_Aint at = (MPI_Aint)(intptr_t)j->mem;
    OK(MPI_Bcast(&at, 1, MPI_AINT, 1, MPI_COMM_WORLD));
    return (const long *)(intptr_t)at;
}

static void must_come(const long *at, long value)
{
    for (int i = 0; i < SOON && *at != value; i++)
        turn();
    SIM_CHECK(*at == value);
}

/* Nothing leaves before `from` is AGE passes ago. */
static void stays(const struct counts *c, uint64_t from)
{
    while (progress_polls() - from < AGE) {
        SIM_CHECK(since_all(c) == 0);
        turn();
    }
}

enum epoch { EXCLUSIVE, SHARED, NOCHECK, ALL, ALL_NOCHECK, EPOCHS };

static void begin(const struct job *j, enum epoch e)
{
    int assert = e == NOCHECK || e == ALL_NOCHECK ? MPI_MODE_NOCHECK : 0;
    if (e >= ALL)
        OK(MPI_Win_lock_all(assert, j->win));
    else
        OK(MPI_Win_lock(e == EXCLUSIVE ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 1, assert, j->win));
}

static void end(const struct job *j, enum epoch e)
{
    if (e >= ALL)
        OK(MPI_Win_unlock_all(j->win));
    else
        OK(MPI_Win_unlock(1, j->win));
}

/* Three share a packet, which carries the lock where there is one. */
static void aged_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(LONGS);
    const long *there = memory_of_1(&j);
    for (int e = 0; e < EPOCHS && j.rank == 0; e++) {
        int nocheck = e == NOCHECK || e == ALL_NOCHECK;
        long v[3] = {10 * e + 1, 10 * e + 2, 10 * e + 3}, aged = pvar(j.win, PVAR_RMA_AGED);
        struct counts c = mark(0), b = mark(1);
        begin(&j, e);
        uint64_t from = progress_polls();
        for (int i = 0; i < 3; i++) {
            put1(&j, &v[i], 1, i);
            turn();
        }
        stays(&c, from);
        must_come(&there[2], v[2]);
        SENT(&c, 1, BATCH);
        SIM_CHECK(there[0] == v[0] && there[1] == v[1]);
        SIM_CHECK(pvar(j.win, PVAR_RMA_AGED) == aged + 3);
        end(&j, e);
        SENT2(&c, 1, BATCH, 1, DONE);
        if (nocheck)
            SENT(&b, 1, ACK);
        else
            SENT2(&b, 1, GRANTED, 1, ACK);
        SIM_CHECK(pvar(j.win, PVAR_RMA_AGED) == aged + 3);
    }
    job_close(&j);
}

/* Each epoch again and again: what leaves by age in one does not count in the next, and the next
 * operation begins anew. */
static void aged_again(void *arg)
{
    (void)arg;
    struct job j = job_open(LONGS);
    const long *there = memory_of_1(&j);
    if (j.rank == 0) {
        long v[4] = {1, 2, 3, 4};
        struct counts c = mark(0);
        begin(&j, SHARED);
        for (int i = 0; i < 3; i++) {
            struct counts d = mark(0);
            uint64_t from = progress_polls();
            put1(&j, &v[i], 1, i);
            stays(&d, from);
            must_come(&there[i], v[i]);
            SENT(&d, 1, PUT);
        }
        put1(&j, &v[3], 1, 3);
        end(&j, SHARED); /* UNLOCK piggybacks on what is young */
        SENT(&c, 4, PUT);
        SIM_CHECK(there[3] == 4 && pvar(j.win, PVAR_RMA_AGED) == 3);
    }
    job_close(&j);
}

/* Each target has its age. */
static void aged_apart(void *arg)
{
    (void)arg;
    struct job j = job_open(LONGS);
    if (j.rank == 0) {
        long v = 5;
        struct counts c = mark(0);
        begin(&j, ALL);
        uint64_t first = progress_polls();
        put1(&j, &v, 1, 0);
        while (progress_polls() - first < AGE / 2)
            turn();
        uint64_t second = progress_polls();
        put1(&j, &v, 2, 0);
        stays(&c, first);
        while (progress_polls() - second < AGE) {
            SIM_CHECK(since_all(&c) <= 1);
            turn();
        }
        for (int i = 0; i < SOON && since_all(&c) < 2; i++)
            turn();
        SENT(&c, 2, PUT);
        end(&j, ALL);
        SENT2(&c, 2, PUT, 2, DONE);
    }
    job_close(&j);
}

/* What stays behind when more than is held back has left. */
static void aged_tail(void *arg)
{
    (void)arg;
    struct job j = job_open(LONGS);
    const long *there = memory_of_1(&j);
    if (j.rank == 0) {
        long v[LONGS];
        struct counts c = mark(0);
        for (int i = 0; i < LONGS; i++)
            v[i] = i + 1;
        begin(&j, EXCLUSIVE);
        OK(MPI_Put(v, LONGS, MPI_LONG, 1, 0, LONGS, MPI_LONG, j.win));
        OK(MPI_Put(v, LONGS, MPI_LONG, 1, 0, LONGS, MPI_LONG,
                   j.win)); /* waits for the grant, and leaves then */
        put1(&j, &v[7], 1, 0);
        uint64_t first = progress_polls();
        while (rma_target_find(inside(j.win), 1)->state != TARGET_LOCK_GRANTED)
            turn();
        /* A grant that takes so many passes finds both aged. */
        int late = progress_polls() - first >= AGE;
        must_come(&there[0], v[7]);
        SENT(&c, 3, PUT);
        uint64_t aged = pvar(j.win, PVAR_RMA_AGED);
        SIM_CHECK(aged == 1 || (late && aged == 2));
        end(&j, EXCLUSIVE);
        SENT2(&c, 3, PUT, 1, DONE);
    }
    job_close(&j);
}

/* Coalesced ones age with the first of them. */
static void aged_coalesced(void *arg)
{
    (void)arg;
    struct job j = job_open(LONGS);
    const long *there = memory_of_1(&j);
    if (j.rank == 0) {
        long v[40];
        struct counts c = mark(0);
        begin(&j, ALL);
        uint64_t from = progress_polls();
        for (int i = 0; i < 40; i++) {
            v[i] = i + 1;
            put1(&j, &v[i], 1, i);
        }
        stays(&c, from);
        must_come(&there[39], v[39]);
        SENT(&c, 1, BATCH);
        for (int i = 0; i < 40; i++)
            SIM_CHECK(there[i] == v[i]);
        SIM_CHECK(pvar(j.win, PVAR_RMA_AGED) == 40);
        end(&j, ALL);
        SENT2(&c, 1, BATCH, 1, DONE);
    }
    job_close(&j);
}

static void aging_coalesced(struct sim_knobs *k)
{
    aging(k);
    k->gather = 1000;
    k->again_percent = k->refuse_percent = k->inbox = 0;
}

/* All wait for the synchronization: the user asked for that, or no call may look before it. */
static void never_aged(void *arg)
{
    (void)arg;
    struct job j = job_open(LONGS);
    if (j.rank == 0) {
        long v = 5;
        struct counts c = mark(0);
        begin(&j, ALL);
        put1(&j, &v, 1, 0);
        for (int i = 0; i < 5 * AGE; i++)
            turn();
        SIM_CHECK(since_all(&c) == 0);
        end(&j, ALL);
        SENT(&c, 1, PUT);
        SIM_CHECK(pvar(j.win, PVAR_RMA_AGED) == 0);
    }
    job_close(&j);
}

static void delayed(struct sim_knobs *k)
{
    aging(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_DELAY_ISSUING_FOR_PIGGYBACKING", "1");
}

static void ageless(struct sim_knobs *k)
{
    aging(k);
    scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_POLLS", "0");
}

static void active_epochs(void *arg)
{
    (void)arg;
    struct job j = job_open(LONGS);
    struct counts c = mark(j.rank);
    long v = 5;
    OK(MPI_Win_fence(0, j.win));
    put1(&j, &v, !j.rank, 0);
    for (int i = 0; i < 5 * AGE; i++)
        turn();
    SIM_CHECK(since(&c, RMA_PKT_PUT) == 0);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    SENT2(&c, 1, PUT, 1, ACK);
    SIM_CHECK(j.mem[0] == 5 && pvar(j.win, PVAR_RMA_AGED) == 0);
    job_close(&j);
}

const struct scenario scenarios_aging[] = {
    {"count-aged", 2, 1, aged_counts, NULL, aging},
    {"count-aged-again", 2, 1, aged_again, NULL, aging},
    {"count-aged-apart", 3, 1, aged_apart, NULL, aging},
    {"count-aged-tail", 2, 1, aged_tail, NULL, aging},
    {"count-aged-coalesced", 2, 1, aged_coalesced, NULL, aging_coalesced},
    {"count-aged-delayed", 2, 1, never_aged, NULL, delayed},
    {"count-aged-off", 2, 1, never_aged, NULL, ageless},
    {"count-aged-active", 2, 1, active_epochs, NULL, aging},
    {NULL, 0, 0, NULL, NULL, NULL},
};
