/* dup.c - duplicates of a window: exact numbers of messages, what a channel keeps apart, then
 * random programs.  Their oracle: each channel puts to places of its own and reads them back after
 * its flush; an error is reported by the flush of its channel, and by that alone. */
#include <stdlib.h>

#include "rma/shared/shmlock_types.h"
#include "notify.h"

static void quiet(struct sim_knobs *k)
{
    far_away(k);
    k->replies = k->refuse_percent = k->again_percent = k->inbox = 0;
    k->ordered = 1;
}

static MPI_Win idup(MPI_Win of)
{
    MPI_Win dup = MPI_WIN_NULL;
    MPI_Request r = MPI_REQUEST_NULL;
    OK(MPIX_Win_idup(of, MPI_INFO_NULL, &dup, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    SIM_CHECK(dup != MPI_WIN_NULL && dup != of);
    return dup;
}

static void put_on(MPI_Win win, const long *v, int to, MPI_Aint at)
{
    OK(MPI_Put(v, 1, MPI_LONG, to, at, 1, MPI_LONG, win));
}

/* Made and freed: nothing. Its flush sends and waits for what is its own alone. */
static void counts_of(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v[3] = {5, 6, 7};
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        put1(&j, &v[0], 1, 0);
        OK(MPI_Win_flush(1, j.win));
        struct counts c = mark(0), b = mark(1);
        MPI_Win dup = idup(j.win), third = idup(dup);
        SIM_CHECK(since_all(&c) == 0);
        put1(&j, &v[0], 1, 1);
        put_on(dup, &v[1], 1, 2);
        OK(MPI_Win_flush(1, dup));
        SENT(&c, 1, PUT); /* with DONE; the window's put is held back */
        SENT(&b, 1, ACK);
        SIM_CHECK(rma_target_find(inside(j.win), 1)->queued == 1);
        SIM_CHECK(rma_win_pvar_at(inside(j.win), PVAR_RMA_OUTSTANDING, 1) == 1);
        SIM_CHECK(rma_win_pvar_at(inside(dup), PVAR_RMA_OUTSTANDING, 1) == 0);
        OK(MPI_Win_flush(1, third));
        OK(MPI_Win_flush_all(third));
        OK(MPI_Win_free(&third));
        OK(MPI_Win_free(&dup));
        SENT(&c, 1, PUT);
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 2, PUT);
        SENT(&b, 2, ACK);
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
    } else {
        hear(0);
        SIM_CHECK(j.mem[0] == 5 && j.mem[1] == 5 && j.mem[2] == 6);
    }
    job_close(&j);
}

/* The lock is the window's: the first operation asks for it, of whichever channel. */
static void locks_of(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 5;
    if (j.rank == 0) {
        MPI_Win dup = idup(j.win);
        ERR(MPI_ERR_RMA_SYNC, MPI_Put(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, dup));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_flush(1, dup));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, dup));
        OK(MPI_Win_lock_all(0, j.win));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(dup));
        struct counts c = mark(0), b = mark(1);
        put_on(dup, &v, 1, 0);
        SENT(&c, 1, LOCK);
        SENT(&b, 1, GRANTED);
        put1(&j, &v, 1, 1);
        OK(MPI_Win_unlock_all(j.win)); /* both are there, and the lock is free */
        SIM_CHECK(since(&c, RMA_PKT_PUT) == 2 && since(&c, RMA_PKT_LOCK) == 1);
        ERR(MPI_ERR_RMA_SYNC, MPI_Put(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, dup));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_free(&(MPI_Win){j.win}));
        OK(MPI_Win_free(&dup));
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        OK(MPI_Win_unlock(1, j.win));
        tell(1);
    } else {
        hear(0);
        SIM_CHECK(j.mem[0] == 5 && j.mem[1] == 5);
    }
    job_close(&j);
}

/* What was refused there is for the flush of its channel. */
static void errors_of(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 5;
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        MPI_Win dup[2] = {idup(j.win), idup(j.win)};
        put_on(dup[0], &v, 1, 1000);
        put1(&j, &v, 1, 0);
        put_on(dup[1], &v, 1, 1);
        OK(MPI_Win_flush_local(1, dup[0])); /* it has left, and nothing has asked */
        OK(MPI_Win_flush(1, j.win));
        OK(MPI_Win_flush(1, dup[1]));
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, dup[0]));
        OK(MPI_Win_flush(1, dup[0]));
        put1(&j, &v, 1, 1000);
        OK(MPI_Win_flush_local(1, j.win));
        OK(MPI_Win_flush_all(dup[0]));
        put_on(dup[1], &v, 1, 1000);
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_free(&dup[1])); /* it stays, without operations */
        OK(MPI_Win_free(&dup[1]));
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush_all(j.win));
        put_on(dup[0], &v, 1, 1000);
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_unlock_all(j.win));
        OK(MPI_Win_free(&dup[0]));
    }
    job_close(&j);
}

/* Near, its records are its own: the inline path counts there. They show what the window's show. */
static void near_of(void *arg)
{
    (void)arg;
    struct job j = notify_open(8);
    long v = 5;
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        MPI_Win dup = idup(j.win);
        struct rma_win *w = inside(j.win);
        struct rma_near *n = rma_near_of(w, 1), *copy = &inside(dup)->near.near[1];
        SIM_CHECK(copy != n && rma_near_of(inside(dup), 1) == n);
        SIM_CHECK(n->lazy && !copy->units);
        put_on(dup, &v, 1, 0); /* asks for the window's lock */
        SIM_CHECK(!n->lazy && n->units == 8 && copy->units == 8);
        put_on(dup, &v, 1, 1);
        put1(&j, &v, 1, 2);
        SIM_CHECK(copy->counted[0] == 1 && n->counted[0] == 1); /* inline */
        SIM_CHECK(pvar(dup, PVAR_RMA_PUT) == 2 && pvar(j.win, PVAR_RMA_PUT) == 3);
        OK(MPI_Win_flush_all(dup));
        OK(MPI_Win_flush_local_all(dup));
        SIM_CHECK(inside(dup)->near.flush_alls == 2 && w->near.flush_alls == 0); /* inline */
        OK(MPIX_Put_notify(&v, 1, MPI_LONG, 1, 3, 1, MPI_LONG, 0, dup));
        SIM_CHECK(n->note && copy->note == n->note);
        MPI_Win late = idup(dup);
        SIM_CHECK(inside(late)->near.near[1].units == 8);
        SIM_CHECK(inside(late)->near.near[1].note == n->note);
        put_on(late, &v, 1, 4);
        OK(MPI_Win_free(&dup));
        SIM_CHECK(pvar(late, PVAR_RMA_PUT) == 1 && pvar(j.win, PVAR_RMA_PUT) == 5);
        OK(MPI_Win_unlock_all(j.win));
        OK(MPI_Win_lock_all(0, j.win));
        SIM_CHECK(n->lazy && inside(late)->near.near[1].units == 0);
        OK(MPI_Win_unlock_all(j.win));
        OK(MPI_Win_free(&late));
        SIM_CHECK(pvar(j.win, PVAR_RMA_PUT) == 5);
        tell(1);
    } else {
        hear(0);
        for (int i = 0; i < 5; i++)
            SIM_CHECK(j.mem[i] == 5);
    }
    job_close(&j);
}

static void one_node(struct sim_knobs *k)
{
    k->nodes = 1;
}

/* From a death on flush_all looks at all that may be left, of the window and of its duplicates. */
static void near_death(void *arg)
{
    (void)arg;
    struct job j = job_of_mortals(8);
    long v = 5;
    if (stand_by(&j, 2))
        return;
    OK(MPI_Win_lock_all(0, j.win));
    MPI_Win dup = idup(j.win);
    put_on(dup, &v, 1, 0);
    OK(MPI_Win_flush_all(j.win));
    OK(MPI_Win_flush_all(dup));
    SIM_CHECK(inside(j.win)->near.flush_alls == 1 && inside(dup)->near.flush_alls == 1);
    tell(2);
    hear_of_death(2);
    (void)MPI_Win_flush_all(j.win);
    (void)MPI_Win_flush_all(dup);
    SIM_CHECK(inside(j.win)->near.flush_alls == 1 && inside(dup)->near.flush_alls == 1);
    (void)MPI_Win_unlock_all(j.win);
    (void)MPI_Win_free(&dup);
    tell(1);
}

static void mortal_node(struct sim_knobs *k)
{
    one_node(k);
    k->mortal = 1;
}

/* Tokens count 24 bits: they come round, and never reach the channel. */
static void wraps(void *arg)
{
    (void)arg;
    struct job j = job_open(8);
    long v = 5;
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        MPI_Win dup = idup(j.win);
        inside(j.win)->token = inside(dup)->token = RMA_TOKEN_MASK - 3;
        for (int i = 0; i < 8; i++) {
            v = i;
            put1(&j, &v, 1, 0);
            OK(MPI_Win_flush_local(1, j.win));
            put_on(dup, &v, 1, 1);
            OK(MPI_Win_flush_local(1, dup));
            OK(MPI_Win_flush(1, dup));
            OK(MPI_Win_flush_all(j.win));
        }
        SIM_CHECK(inside(j.win)->token < 16 && inside(dup)->token < 16);
        OK(MPI_Win_free(&dup));
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
    } else {
        hear(0);
        SIM_CHECK(j.mem[0] == 7 && j.mem[1] == 7);
    }
    job_close(&j);
}

enum { LINE = 120, AT = 8 };

static void native_puts(struct sim_knobs *k)
{
    quiet(k);
    k->native = SIM_NATIVE_PUT;
    k->native_ordered = 0;
    k->native_min = LINE * sizeof(long);
}

static void put_line(MPI_Win win, const long *line)
{
    OK(MPI_Put(line, LINE, MPI_LONG, 1, AT, LINE, MPI_LONG, win));
}

/* The key is the window's: a duplicate asks for none, and waits for its own puts alone. */
static void native_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(AT + LINE);
    long line[LINE];
    const struct rma_target *t;
    for (int i = 0; i < LINE; i++)
        line[i] = i;
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        MPI_Win first = idup(j.win);
        do {
            put_line(first, line);
            OK(MPI_Win_flush(1, first));
            t = rma_target_find(inside(first), 1);
        } while (!t->key || t->key->state != KEY_READY);
        struct counts c = mark(0), b = mark(1);
        MPI_Win dup = idup(j.win);
        put_line(dup, line);
        SIM_CHECK(rma_target_find(inside(dup), 1)->key == t->key);
        OK(MPI_Win_flush(1, dup));
        SIM_CHECK(since_all(&c) == 0 && since_all(&b) == 0);
        OK(MPI_Win_free(&first)); /* the key stays */
        put_line(dup, line);
        OK(MPI_Win_free(&dup));
        put_line(j.win, line);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(since_all(&c) == 0 && since_all(&b) == 0);
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
    } else {
        hear(0);
        for (int i = 0; i < LINE; i++)
            SIM_CHECK(j.mem[AT + i] == i);
    }
    job_close(&j);
}

/* A death ends the operations of all channels there, and of none elsewhere. */
static void death(void *arg)
{
    (void)arg;
    struct job j = job_of_mortals(8);
    long v = 5, got = 0;
    if (stand_by(&j, 2))
        return;
    OK(MPI_Win_lock_all(0, j.win));
    MPI_Win dup = idup(j.win), other = idup(j.win);
    for (int t = 1; t <= 2; t++) {
        put1(&j, &v, t, 0);
        put_on(dup, &v, t, 1);
        put_on(other, &v, t, 2);
    }
    OK(MPI_Win_flush_all(other));
    tell(2);
    hear_of_death(2);
    ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush(2, dup));
    OK(MPI_Win_flush(1, dup));
    ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush(2, j.win));
    OK(MPI_Get(&got, 1, MPI_LONG, 1, 1, 1, MPI_LONG, dup));
    OK(MPI_Win_flush(1, dup));
    SIM_CHECK(got == v);
    ERR(MPIX_ERR_PROC_FAILED, MPI_Win_free(&dup)); /* its element there is gone then */
    OK(MPI_Win_free(&dup));
    for (int i = 0; i < RMA_CHANNELS - 2; i++) { /* until its channel comes again */
        dup = idup(j.win);
        if (i < RMA_CHANNELS - 3)
            OK(MPI_Win_free(&dup));
    }
    SIM_CHECK(inside(dup)->channel == 1 && inside(dup)->token > 1);
    put_on(dup, &v, 1, 3);
    OK(MPI_Win_flush(1, dup));
    ERR(MPIX_ERR_PROC_FAILED, MPI_Win_unlock_all(j.win));
    OK(MPI_Win_free(&dup));
    OK(MPI_Win_free(&other));
    tell(1);
}

/* A lock that waits at this process while it holds its own: a death does not take it off the lock
 * word, which a duplicate shares. */
static void death_beside_lock(void *arg)
{
    (void)arg;
    struct job j = job_of_mortals(8);
    long v = 5;
    if (j.rank == 2) {
        hear(0);
        sim_die();
    }
    if (j.rank == 1) {
        hear(0);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j.win));
        put1(&j, &v, 0, 0);
        OK(MPI_Win_unlock(0, j.win));
        tell(0);
    } else {
        OK(MPI_Win_lock_all(0, j.win));
        MPI_Win dup = idup(j.win);
        tell(1);
        while (inside(j.win)->target.lockq.count == 0)
            turn();
        tell(2);
        hear_of_death(2);
        SIM_CHECK(rma_near_own(inside(dup))->lockword->far_type == (uint32_t)SHMLOCK_EXCLUSIVE);
        (void)MPI_Win_unlock_all(j.win);
        hear(1);
        SIM_CHECK(j.mem[0] == v);
        OK(MPI_Win_free(&dup));
    }
    (void)MPI_Win_free(&j.win);
}

/* --- random programs -------------------------------------------------------------------------- */

enum { DUPS = 4, CELLS = 10, COUNTER = 0, FIRST = 1, RANKS_MOST = 8 };
struct chan {
    MPI_Win win;
    long want[RANKS_MOST][CELLS], out[RANKS_MOST][CELLS];
    int bad[RANKS_MOST]; /* operations that the target refuses were called since its flush */
};

static int created; /* the memory is the program's: on a node it is not mapped */
static int poor; /* errors of evicted elements are for any flush of the channel: none are made */

static int draw(int n)
{
    return (int)(sim_random() % (unsigned)n);
}

static MPI_Aint cell(const struct job *j, int channel, int i)
{
    return FIRST + ((MPI_Aint)j->rank * DUPS + channel) * CELLS + i;
}

static MPI_Aint cells(int ranks)
{
    return FIRST + (MPI_Aint)ranks * DUPS * CELLS;
}

static void settle(const struct job *j, struct chan *c, int channel, int to, int all)
{
    long got[CELLS];
    int bad = 0, err;
    for (int r = 0; r < j->size; r++)
        bad |= (all || r == to) && c->bad[r];
    err = all ? MPI_Win_flush_all(c->win) : MPI_Win_flush(to, c->win);
    SIM_CHECK((err != MPI_SUCCESS) == (bad != 0));
    for (int r = 0; r < j->size; r++)
        c->bad[r] = all || r == to ? 0 : c->bad[r];
    OK(MPI_Get(got, CELLS, MPI_LONG, to, cell(j, channel, 0), CELLS, MPI_LONG, c->win));
    OK(MPI_Win_flush(to, c->win));
    for (int i = 0; i < CELLS; i++)
        SIM_CHECK(got[i] == c->want[to][i]);
}

static void one(const struct job *j, struct chan *c, int channel, int s, long *adds)
{
    int to = draw(j->size), i = draw(CELLS);
    long add = 1, old;
    switch (draw(10)) {
    case 0:
        settle(j, c, channel, to, 0);
        break;
    case 1:
        settle(j, c, channel, to, 1);
        break;
    case 2:
        OK(MPI_Accumulate(&add, 1, MPI_LONG, to, COUNTER, 1, MPI_LONG, MPI_SUM, c->win));
        OK(MPI_Win_flush_local(to, c->win));
        adds[to]++;
        break;
    case 3:
        OK(MPI_Fetch_and_op(&add, &old, MPI_LONG, to, COUNTER, MPI_SUM, c->win));
        OK(MPI_Win_flush_local(to, c->win));
        adds[to]++;
        break;
    case 4: /* only far targets refuse it later */
        if (!poor && !rma_near_of(inside(c->win), to)) {
            OK(MPI_Put(&add, 1, MPI_LONG, to, cells(j->size) + 7, 1, MPI_LONG, c->win));
            OK(MPI_Win_flush_local(to, c->win));
            c->bad[to] = 1;
        }
        break;
    default:
        OK(MPI_Win_flush_local(to, c->win));
        OK(MPIX_Win_order(to, c->win));
        c->out[to][i] = c->want[to][i] = s;
        OK(MPI_Put(&c->out[to][i], 1, MPI_LONG, to, cell(j, channel, i), 1, MPI_LONG, c->win));
    }
}


static void random_program(void *arg)
{
    (void)arg;
    int ranks;
    long adds[RANKS_MOST] = {0}, all[RANKS_MOST];
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct job j = job_open((int)cells(ranks));
    long *mem = created ? calloc((size_t)cells(ranks), sizeof *mem) : NULL;
    if (created) {
        OK(MPI_Win_free(&j.win));
        OK(MPI_Win_create(mem, cells(ranks) * (MPI_Aint)sizeof *mem, sizeof *mem, MPI_INFO_NULL,
                          MPI_COMM_WORLD, &j.win));
        OK(MPI_Win_set_errhandler(j.win, MPI_ERRORS_RETURN));
        j.mem = mem;
    }
    struct chan *c = calloc(DUPS, sizeof *c);
    SIM_CHECK(c && ranks <= RANKS_MOST);
    for (int round = 0; round < 2; round++) {
        for (int k = 0; k < DUPS; k++)
            if (c[k].win == 0 || c[k].win == MPI_WIN_NULL)
                c[k].win = k ? idup(c[draw(k)].win) : j.win;
        OK(MPI_Win_lock_all(draw(4) ? 0 : MPI_MODE_NOCHECK, j.win));
        for (int s = 1; s <= 60; s++) {
            int k = draw(DUPS);
            one(&j, &c[k], k, s + 100 * round, adds);
            if (k && draw(20) == 0) {
                settle(&j, &c[k], k, draw(ranks), 1);
                OK(MPI_Win_free(&c[k].win));
                c[k].win = idup(j.win);
            }
        }
        int bad = 0;
        for (int k = 0; k < DUPS; k++)
            for (int r = 0; r < ranks; r++)
                bad |= c[k].bad[r];
        int err = MPI_Win_unlock_all(j.win);
        SIM_CHECK((err != MPI_SUCCESS) == (bad != 0));
        for (int k = 0; k < DUPS; k++)
            memset(c[k].bad, 0, sizeof c[k].bad);
    }
    OK(MPI_Win_lock_all(0, j.win));
    for (int k = 0; k < DUPS; k++)
        for (int r = 0; r < ranks; r++)
            settle(&j, &c[k], k, r, 0);
    for (int k = DUPS - 1; k > 0; k--)
        OK(MPI_Win_free(&c[k].win));
    OK(MPI_Win_unlock_all(j.win));
    free(c);
    OK(MPI_Allreduce(adds, all, ranks, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    SIM_CHECK(j.mem[COUNTER] == all[j.rank]);
    job_close(&j);
    free(mem);
}

static void mortal(struct sim_knobs *k)
{
    far_away(k);
    k->mortal = 1;
}

static void any_network(struct sim_knobs *k)
{
    poor = 0;
    created = k->seed / 36 % 2 == 0;
    k->nodes = k->seed % 3 == 0 ? 1 : k->seed % 3 == 1 ? k->ranks : 2;
    k->ordered = k->seed / 3 % 4 != 0;
    if (k->seed / 12 % 3 == 0) {
        k->gather = 600;
        scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD", "2");
    }
}

static void poor_network(struct sim_knobs *k)
{
    any_network(k);
    int nodes = k->nodes;
    far_and_poor(k);
    k->nodes = nodes;
    poor = 1;
}

static void native_network(struct sim_knobs *k)
{
    uint64_t at = k->seed * 0x9e3779b97f4a7c15ull;
    any_network(k);
    k->native = SIM_NATIVE_ALL;
    k->native_min = at >> 40 & 1 ? 1 : 300;
    k->native_ordered = at >> 41 & 1;
    k->native_reg = at >> 42 & 1;
    k->native_lone = at >> 43 & 1;
    k->native_atomic_pays = at >> 44 & 1;
    k->native_coherent = at >> 45 & 1;
}

static void poor_native_network(struct sim_knobs *k)
{
    native_network(k);
    int nodes = k->nodes;
    far_and_poor(k);
    k->nodes = nodes;
    poor = 1;
}

/* A near peer that has more regions than its record shows is asked by message. The attribute of a
 * duplicate says so, too. */
static void serves_of(void *arg)
{
    enum { MANY = RMA_REGIONS + 1, PAGE = 4096 };
    static char mem[SIM_RANKS][2 * MANY][PAGE];
    int rank, flag, *is, of_win;
    MPI_Win win, dup;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int i = 0; rank == 1 && i < MANY; i++)
        OK(MPI_Win_attach(win, mem[rank][2 * i], PAGE));
    MPI_Barrier(MPI_COMM_WORLD);
    dup = idup(win);
    OK(MPI_Win_get_attr(win, MPIX_WIN_PROGRESS, &is, &flag));
    of_win = *is;
    OK(MPI_Win_get_attr(dup, MPIX_WIN_PROGRESS, &is, &flag));
    SIM_CHECK(flag && *is == of_win);
    if (rank == 0)
        SIM_CHECK((of_win >> MPIX_PROGRESS_PUT & 3) == MPIX_PROGRESS_TARGET);
    OK(MPI_Win_free(&dup));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < MANY; i++)
        OK(MPI_Win_detach(win, mem[rank][2 * i]));
    OK(MPI_Win_free(&win));
}

const struct scenario scenarios_dup[] = {
    {"count-dup", 2, 1, counts_of, NULL, quiet},
    {"count-dup-native", 2, 1, native_counts, NULL, native_puts},
    {"dup-locks", 2, 1, locks_of, NULL, quiet},
    {"dup-near", 2, 1, near_of, NULL, one_node},
    {"dup-near-death", 3, 1, near_death, NULL, mortal_node},
    {"dup-serves", 2, 1, serves_of, NULL, one_node},
    {"dup-errors", 2, 1, errors_of, NULL, quiet},
    {"dup-token-wrap", 2, 1, wraps, NULL, quiet},
    {"dup-death", 3, 1, death, NULL, mortal},
    {"dup-death-lock", 3, 1, death_beside_lock, NULL, mortal},
    {"dup-random", 3, 1, random_program, NULL, any_network},
    {"dup-random-poor", 3, 1, random_program, NULL, poor_network},
    {"dup-random-native", 3, 1, random_program, NULL, native_network},
    {"dup-random-native-poor", 3, 1, random_program, NULL, poor_native_network},
    {NULL, 0, 0, NULL, NULL, NULL},
};
