/* pull.c - long accumulates whose data the target fetches (src/rma/target/pull_target.c): order
 * from each origin, old values, elements that all change, shortage of records, memory and room at
 * the network, gets that fail in the middle, and deaths of either side. */
#include <stdlib.h>

#include "scripted.h"

enum {
    SLICE = 40, SHARED = 24, RANKS = 4, CELLS = RANKS * SLICE + SHARED, TURNS = 6, ROUNDS = 8, LONG
    = 150
};

static int below(int n)
{
    return (int)(sim_random() % (uint64_t)n);
}

/* --- random programs with an exact oracle ----------------------------------------------------- */

struct pull_turn { /* one operation and its memory, until the next flush */
    long data[SLICE], got[SLICE], old[SLICE];
    int n;        /* of got */
};

static MPI_Op some_op(void)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_REPLACE, MPI_MAX, MPI_BXOR};
    return ops[below(4)];
}

static long changed(MPI_Op op, long a, long b)
{
    return op == MPI_SUM ? a + b : op == MPI_MAX ? (a > b ? a : b) : op == MPI_BXOR ? a ^ b : b;
}

/* One operation on this rank's own slice at `to`, of which `model` has what it holds when all
 * before are done. */
static void one(struct job *j, int to, struct pull_turn *x, long *model)
{
    int n = below(3) ? 1 + below(SLICE) : 1, at = below(SLICE - n + 1), fetches = below(3) == 0;
    MPI_Aint disp = j->rank * SLICE + at;
    MPI_Op op = some_op();
    x->n = fetches ? n : 0;
    for (int i = 0; i < n; i++) {
        x->data[i] = (long)(sim_random() % 1000) - 300;
        x->got[i] = -7777;
        x->old[i] = model[at + i];
        model[at + i] = changed(op, model[at + i], x->data[i]);
    }
    if (!fetches)
        OK(MPI_Accumulate(x->data, n, MPI_LONG, to, disp, n, MPI_LONG, op, j->win));
    else if (n == 1)
        OK(MPI_Fetch_and_op(x->data, x->got, MPI_LONG, to, disp, op, j->win));
    else
        OK(MPI_Get_accumulate(x->data, n, MPI_LONG, x->got, n, MPI_LONG, to, disp, n, MPI_LONG, op,
                              j->win));
}

static void look(struct pull_turn *x, int turns)
{
    for (int k = 0; k < turns; k++) {
        for (int i = 0; i < x[k].n; i++)
            SIM_CHECK(x[k].got[i] == x[k].old[i]);
        memset(&x[k], 0x55, sizeof x[k]); /* nothing may need it any more */
    }
}

static void in_order(void *arg)
{
    (void)arg;
    long model[RANKS][SLICE] = {{0}}, ones[SHARED], mine = 0, all;
    struct pull_turn *x = malloc(TURNS * sizeof *x);
    struct job j = job_open(CELLS);
    for (int i = 0; i < SHARED; i++)
        ones[i] = 1;
    for (int r = 0; r < ROUNDS; r++) {
        int locks = below(3), to = below(j.size), turns = 1 + below(TURNS);
        if (locks == 0)
            OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, j.win));
        else
            OK(MPI_Win_lock_all(0, j.win));
        for (int k = 0; k < turns; k++) {
            if (locks)
                to = below(j.size);
            one(&j, to, &x[k], model[to]);
            if (below(4) == 0 && (locks || to == 0)) {
                OK(MPI_Accumulate(ones, SHARED, MPI_LONG, 0, RANKS * SLICE, SHARED, MPI_LONG,
                                  MPI_SUM, j.win));
                mine++;
            }
            if (below(5) == 0)
                OK(MPI_Win_flush_local(to, j.win));
        }
        if (locks == 0) {
            OK(MPI_Win_unlock(to, j.win));
        } else {
            if (below(2)) {
                OK(MPI_Win_flush_all(j.win));
                look(x, turns);
                turns = 0;
            }
            OK(MPI_Win_unlock_all(j.win));
        }
        look(x, turns);
    }
    OK(MPI_Win_fence(0, j.win));
    for (int k = 0; k < TURNS; k++) {
        int to = below(j.size);
        one(&j, to, &x[k], model[to]);
    }
    OK(MPI_Win_fence(0, j.win));
    look(x, TURNS);
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < SHARED && j.rank == 0; i++)
        SIM_CHECK(j.mem[RANKS * SLICE + i] == all);
    for (int to = 0; to < j.size; to++) {
        long have[SLICE];
        OK(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, j.win));
        /* by message: native gets fail here, too */
        OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, have, SLICE, MPI_LONG, to, j.rank * SLICE, SLICE,
                              MPI_LONG, MPI_NO_OP, j.win));
        OK(MPI_Win_unlock(to, j.win));
        SIM_CHECK(memcmp(have, model[to], sizeof have) == 0);
    }
    free(x);
    job_close(&j);
}

/* Where the window keeps no order either, one is fetched after another, and all are done. */
static void loose(void *arg)
{
    (void)arg;
    long v[LONG], mine = 0, all, *mem;
    MPI_Info info;
    MPI_Win win;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", "none");
    OK(MPI_Win_allocate(sizeof v, sizeof(long), info, MPI_COMM_WORLD, &mem, &win));
    MPI_Info_free(&info);
    memset(mem, 0, sizeof v);
    for (int i = 0; i < LONG; i++)
        v[i] = 1;
    OK(MPI_Win_fence(0, win));
    for (int r = below(ROUNDS); r > 0; r--, mine++)
        OK(MPI_Accumulate(v, LONG, MPI_LONG, 0, 0, LONG, MPI_LONG, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < LONG && rank == 0; i++)
        SIM_CHECK(mem[i] == all);
    OK(MPI_Win_free(&win));
}

/* --- what is sent ----------------------------------------------------------------------------- */

/* One PULL, one PULLED, and nothing else: its answer ends the flush; an error comes with it. */
static void counted(void *arg)
{
    (void)arg;
    long v[LONG], old[LONG];
    struct job j = job_open(LONG);
    for (int i = 0; i < LONG; i++)
        v[i] = i;
    if (j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        OK(MPI_Accumulate(v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Win_flush(1, j.win));
        struct counts mine = mark(0), theirs = mark(1);
        long native = pvar(j.win, PVAR_RMA_NATIVE);
        OK(MPI_Accumulate(v, LONG, MPI_LONG, 1, 0, LONG, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Win_flush(1, j.win));
        SENT(&mine, 1, PULL);
        SENT(&theirs, 1, PULLED);
        OK(MPI_Get_accumulate(v, LONG, MPI_LONG, old, LONG, MPI_LONG, 1, 0, LONG, MPI_LONG, MPI_SUM,
                              j.win));
        OK(MPI_Win_flush(1, j.win));
        SENT(&mine, 2, PULL);
        SENT(&theirs, 2, PULLED);
        SIM_CHECK(memcmp(old, v, sizeof v) == 0 && pvar(j.win, PVAR_RMA_NATIVE) == native + 2);
        OK(MPI_Accumulate(v, LONG, MPI_LONG, 1, 1, LONG, MPI_LONG, MPI_SUM, j.win));
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, j.win));
        SENT(&mine, 3, PULL);
        SENT(&theirs, 3, PULLED);
        OK(MPI_Win_unlock(1, j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < LONG && j.rank == 1; i++)
        SIM_CHECK(j.mem[i] == 2 * i);
    job_close(&j);
}

/* --- deaths ----------------------------------------------------------------------------------- */

/* Rank 1 dies while it fetches; rank 0 has heard of it or not. Its calls end, and then nothing
 * writes into its memory. */
static void target_dies(void *arg)
{
    (void)arg;
    long v[LONG] = {0}, old[2][LONG];
    struct job j = job_of_mortals(LONG);
    if (j.rank == 1) {
        hear(0);
        for (int i = below(60); i > 0; i--)
            turn();
        sim_die();
    }
    if (j.rank) {
        hear(0);
        return;
    }
    OK(MPI_Win_lock_all(0, j.win));
    tell(1);
    for (int i = 0; i < 2; i++) {
        (void)MPI_Get_accumulate(v, LONG, MPI_LONG, old[i], LONG, MPI_LONG, 1, 0, LONG, MPI_LONG,
                                 MPI_SUM, j.win);
        (void)MPI_Accumulate(v, LONG, MPI_LONG, 1, 0, LONG, MPI_LONG, MPI_SUM, j.win);
        OK(MPI_Accumulate(v, LONG, MPI_LONG, 2, 0, LONG, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Win_flush(2, j.win));
    }
    if (sim_seed() % 2)
        hear_of_death(1);
    if (sim_seed() % 3)
        (void)MPI_Win_flush_local(1, j.win);
    (void)MPI_Win_unlock_all(j.win); /* no error where all came in time */
    memset(old, 0x77, sizeof old);
    sim_compute(400);
    for (int i = 0; i < LONG; i++)
        SIM_CHECK(old[0][i] == 0x7777777777777777 && old[1][i] == 0x7777777777777777);
    tell(2);
}

/* Rank 2 dies while rank 0 fetches from it: rank 1 is served all the same, with one record, and the
 * window goes. */
static void origin_dies(void *arg)
{
    (void)arg;
    long v[LONG], old[LONG];
    struct job j = job_of_mortals(2 * LONG);
    for (int i = 0; i < LONG; i++)
        v[i] = 1;
    if (j.rank == 2) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, j.win));
        (void)MPI_Accumulate(v, LONG, MPI_LONG, 0, LONG, LONG, MPI_LONG, MPI_SUM, j.win);
        (void)MPI_Get_accumulate(v, LONG, MPI_LONG, old, LONG, MPI_LONG, 0, LONG, LONG, MPI_LONG,
                                 MPI_SUM, j.win);
        MPI_Request q;
        (void)MPI_Raccumulate(v, LONG, MPI_LONG, 0, LONG, LONG, MPI_LONG, MPI_SUM, j.win, &q);
        for (int i = below(80), over = 0; i > 0 && !over; i--)
            OK(MPI_Test(&q, &over, MPI_STATUS_IGNORE));
        sim_die();
    }
    if (j.rank == 1) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, j.win));
        for (int i = 0; i < 4; i++) {
            OK(MPI_Get_accumulate(v, LONG, MPI_LONG, old, LONG, MPI_LONG, 0, 0, LONG, MPI_LONG,
                                  MPI_SUM, j.win));
            OK(MPI_Win_flush(0, j.win));
            for (int k = 0; k < LONG; k++)
                SIM_CHECK(old[k] == i);
        }
        OK(MPI_Win_unlock(0, j.win));
        tell(0);
        hear(0);
    } else {
        hear(1);
        hear_of_death(2);
        for (int i = 0; i < LONG; i++)
            SIM_CHECK(j.mem[i] == 4 && j.mem[LONG + i] <= 3);
        tell(1);
    }
    (void)MPI_Win_free(&j.win);
}

/* --- knobs ------------------------------------------------------------------------------------ */

/* A notified put of which the target cannot fetch the data, since they have a gap there, is the
 * network's put. It is counted when all of it is there. */
static void with_gap(void *arg)
{
    enum { LINE = 64 };
    long v[LINE];
    MPI_Datatype gap;
    (void)arg;
    struct job j = job_open(2 * LINE);
    OK(MPIX_Win_notify_set_num(j.win, MPI_INFO_NULL, 1));
    MPI_Type_vector(2, LINE / 2, LINE, MPI_LONG, &gap);
    MPI_Type_commit(&gap);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, j.win));
    for (int i = 0; i < 3; i++) {
        struct counts c = mark(0);
        for (int k = 0; k < LINE; k++)
            v[k] = LINE * i + k;
        if (j.rank == 0) {
            OK(MPIX_Put_notify(v, LINE, MPI_LONG, 1, 0, 1, gap, 0, j.win));
            OK(MPI_Win_flush(1, j.win));
            while (rma_target_find(inside(j.win), 1)->key->state != KEY_READY)
                turn();
            SIM_CHECK(i == 0 || !since(&c, RMA_PKT_PUT)); /* the first one asks for the key */
        } else {
            OK(MPIX_Win_notify_take(j.win, 0, 1));
            for (int k = 0; k < LINE; k++)
                SIM_CHECK(j.mem[k + k / (LINE / 2) * (LINE / 2)] == v[k]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_Win_unlock_all(j.win));
    MPI_Type_free(&gap);
    job_close(&j);
}

static const char *drawn(const struct sim_knobs *k, int shift, const char *a, const char *b,
                         const char *c)
{
    const char *v[] = {a, b, c};
    return v[(k->seed * 0x9e3779b97f4a7c15ull >> shift) % 3];
}

static void fetching(struct sim_knobs *k)
{
    k->nodes = k->ranks;
    k->ordered = 1;
    k->native = SIM_NATIVE_ALL;
    k->native_min = k->seed % 4 ? 1 : 100;
    k->native_ordered = k->seed / 2 % 2;
    k->native_reg = k->seed / 4 % 3 == 0;
    k->native_fails = k->seed % 3 ? 0 : 20;
    scenario_cvar("MPIR_CVAR_RMA_PULL_BYTES", drawn(k, 9, "8", "100", "131072"));
    scenario_cvar("MPIR_CVAR_RMA_PULLS", drawn(k, 14, "1", "2", "4"));
    scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD", drawn(k, 19, "0", "8", "2"));
}

static void starved(struct sim_knobs *k)
{
    fetching(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_SLOTS_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_GLOBAL_POOL_SIZE", "0");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE", "0");
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", drawn(k, 24, "1", "2", "3"));
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", drawn(k, 29, "1", "2", "1"));
    scenario_cvar("MPIR_CVAR_RMA_PULLS", k->seed % 2 ? "1" : "0");
    k->replies = 2 + (int)(k->seed % 3);
}

static void sure(struct sim_knobs *k)
{
    fetching(k);
    k->native_fails = 0;
    k->native_min = 9;
}

static void long_notified(struct sim_knobs *k)
{
    far_away(k);
    k->replies = k->refuse_percent = k->again_percent = k->inbox = 0;
    k->ordered = 1;
    k->native = SIM_NATIVE_ALL;
    k->native_min = 64;
    k->native_ordered = 0;
    scenario_cvar("MPIR_CVAR_RMA_PULLS", "4");
    scenario_cvar("MPIR_CVAR_NOTIFY_NATIVE_MIN", "64");
}

static void mortal(struct sim_knobs *k)
{
    fetching(k);
    scenario_cvar("MPIR_CVAR_RMA_PULLS", k->seed % 2 ? "1" : "4");
    k->quiet_rank = -1;
    k->mortal = 1;
    if (k->seed % 2) /* the network is slow to give back what the dead will not take */
        k->max_delay = 300;
}

const struct scenario scenarios_fetch[] = {
    {"rma-pull-2", 2, 1, in_order, NULL, fetching},
    {"rma-pull-4", 4, 1, in_order, NULL, fetching},
    {"rma-pull-starved-3", 3, 1, in_order, NULL, starved},
    {"rma-pull-loose", 3, 1, loose, NULL, fetching},
    {"rma-pull-counted", 2, 1, counted, NULL, sure},
    {"rma-pull-gap", 2, 1, with_gap, NULL, long_notified},
    {"rma-pull-target-dies", 3, 1, target_dies, NULL, mortal},
    {"rma-pull-origin-dies", 3, 1, origin_dies, NULL, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};
