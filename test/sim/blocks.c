/* blocks.c - random one-sided programs in the simulator, with an exact oracle.
 *
 * A window holds, at every target, one block of CELLS longs per origin, which only that origin
 * changes. It also holds COUNTERS longs that all change by sums. So each origin knows at any time
 * what its own block must hold (mirror), whatever the others do. The sum of all additions to a
 * counter is known at the end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios.h"

enum { CELLS = 24, COUNTERS = 3, EPOCHS = 14, OPS = 10, MAX_OPS = 4096, LONG_RUN = 900 };

enum touch { CLEAN, PUT, ADDED }; /* what this epoch has done to a cell since its last completion */

struct prog {
    MPI_Win win;
    int rank, size, cells;
    long *base;
    long *mirror;         /* [target * cells + i] */
    char *touch;          /* the same index */
    long added[COUNTERS]; /* by this rank, all targets together */
    long *buf;            /* origin and result memory, used up within one epoch */
    int used;
    struct { int at, n, target, first; } get[OPS * 8]; /* results to be checked at completion */
    int gets;
};

enum { BUF = 20000 };

static unsigned draw(unsigned n)
{
    return (unsigned)(sim_random() % n);
}

static long *room(struct prog *p, int n)
{
    SIM_CHECK(p->used + n <= BUF);
    long *at = p->buf + p->used;
    p->used += n;
    return at;
}

/* Everything to `target` (all: -1) is complete: results must be there, cells may be touched
 * anew. */
static void completed(struct prog *p, int target)
{
    int kept = 0;
    for (int i = 0; i < p->gets; i++) {
        int t = p->get[i].target;
        if (target >= 0 && t != target) {
            p->get[kept++] = p->get[i];
            continue;
        }
        for (int k = 0; k < p->get[i].n; k++) {
            long want = p->buf[p->get[i].at + p->get[i].n + k], got = p->buf[p->get[i].at + k];
            if (got != want)
                sim_fail("rank %d: result of cell %d of %d is %ld, not %ld", p->rank,
                         p->get[i].first + k, t, got, want);
        }
    }
    p->gets = kept;
    for (int t = 0; t < p->size; t++)
        if (target < 0 || t == target)
            memset(p->touch + t * p->cells, CLEAN, (size_t)p->cells);
    if (target < 0)
        p->used = 0;
}

/* n results expected at buf[at..], the expected values stand behind them. */
static void expect(struct prog *p, const long *res, int n, int target, int first)
{
    SIM_CHECK(p->gets < OPS * 8);
    p->get[p->gets].at = (int)(res - p->buf);
    p->get[p->gets].n = n;
    p->get[p->gets].target = target;
    p->get[p->gets].first = first;
    p->gets++;
}

static int all_are(const struct prog *p, int t, int first, int n, int a, int b)
{
    for (int i = first; i < first + n; i++)
        if (p->touch[t * p->cells + i] != a && p->touch[t * p->cells + i] != b)
            return 0;
    return 1;
}

static void one_op(struct prog *p, int t)
{
    int n = 1 + (int)draw(draw(4) ? 4 : (unsigned)p->cells - 1),
        first = (int)draw((unsigned)(p->cells - n + 1));
    MPI_Aint disp = (MPI_Aint)p->rank * p->cells + first;
    long *m = p->mirror + t * p->cells + first;
    char *touch = p->touch + t * p->cells + first;
    switch (draw(7)) {
    case 0: /* put: cells not touched yet */
        if (!all_are(p, t, first, n, CLEAN, CLEAN))
            return;
        {
            long *v = room(p, n);
            for (int i = 0; i < n; i++)
                m[i] = v[i] = (long)(sim_random() % 1000);
            SIM_CHECK(MPI_Put(v, n, MPI_LONG, t, disp, n, MPI_LONG, p->win) == MPI_SUCCESS);
            memset(touch, PUT, (size_t)n);
        }
        break;
    case 1: /* get: only what nothing has changed in this epoch */
        if (!all_are(p, t, first, n, CLEAN, CLEAN))
            return;
        {
            long *v = room(p, 2 * n);
            memset(v, 0x55, (size_t)n * sizeof *v);
            memcpy(v + n, m, (size_t)n * sizeof *v);
            expect(p, v, n, t, first);
            SIM_CHECK(MPI_Get(v, n, MPI_LONG, t, disp, n, MPI_LONG, p->win) == MPI_SUCCESS);
            memset(touch, PUT, (size_t)n); /* a later put would race with it */
        }
        break;
    case 2: /* accumulate */
        if (!all_are(p, t, first, n, CLEAN, ADDED))
            return;
        {
            long *v = room(p, n);
            for (int i = 0; i < n; i++)
                m[i] += v[i] = (long)(sim_random() % 10);
            SIM_CHECK(MPI_Accumulate(v, n, MPI_LONG, t, disp, n, MPI_LONG, MPI_SUM, p->win) ==
                      MPI_SUCCESS);
            memset(touch, ADDED, (size_t)n);
        }
        break;
    case 3: /* get_accumulate: ordered with the accumulates before it, so the result is exact */
        if (!all_are(p, t, first, n, CLEAN, ADDED))
            return;
        {
            int op = (int)draw(3);
            long *v = room(p, n), *r = room(p, 2 * n);
            memset(r, 0x55, (size_t)n * sizeof *r);
            for (int i = 0; i < n; i++) {
                v[i] = (long)(sim_random() % 10);
                r[n + i] = m[i];
                m[i] = op == 0 ? m[i] + v[i] : op == 1 ? v[i] : m[i];
            }
            expect(p, r, n, t, first);
            SIM_CHECK(MPI_Get_accumulate(v, n, MPI_LONG, r, n, MPI_LONG, t, disp, n, MPI_LONG,
                                         op == 0   ? MPI_SUM
                                         : op == 1 ? MPI_REPLACE
                                                   : MPI_NO_OP,
                                         p->win) == MPI_SUCCESS);
            memset(touch, ADDED, (size_t)n);
        }
        break;
    case 4: /* fetch_and_op */
        if (!all_are(p, t, first, 1, CLEAN, ADDED))
            return;
        {
            long *v = room(p, 1), *r = room(p, 2);
            v[0] = 7;
            r[0] = -1;
            r[1] = m[0];
            m[0] += 7;
            expect(p, r, 1, t, first);
            SIM_CHECK(MPI_Fetch_and_op(v, r, MPI_LONG, t, disp, MPI_SUM, p->win) == MPI_SUCCESS);
            touch[0] = ADDED;
        }
        break;
    case 5: /* compare_and_swap, hits and misses */
        if (!all_are(p, t, first, 1, CLEAN, ADDED))
            return;
        {
            long *v = room(p, 2), *r = room(p, 2);
            v[0] = (long)(sim_random() % 100);
            v[1] = draw(2) ? m[0] : m[0] + 1;
            r[0] = -1;
            r[1] = m[0];
            if (v[1] == m[0])
                m[0] = v[0];
            expect(p, r, 1, t, first);
            SIM_CHECK(MPI_Compare_and_swap(&v[0], &v[1], r, MPI_LONG, t, disp, p->win) ==
                      MPI_SUCCESS);
            touch[0] = ADDED;
        }
        break;
    default: { /* a counter that every rank adds to */
        long *v = room(p, 1);
        int c = (int)draw(COUNTERS);
        v[0] = 1 + (long)draw(5);
        p->added[c] += v[0];
        SIM_CHECK(MPI_Accumulate(v, 1, MPI_LONG, t, (MPI_Aint)p->size * p->cells + c, 1, MPI_LONG,
                                 MPI_SUM, p->win) == MPI_SUCCESS);
    }
    }
}

static void burst(struct prog *p, int only)
{
    int n = (int)draw(OPS);
    for (int i = 0; i < n; i++)
        one_op(p, only >= 0 ? only : (int)draw((unsigned)p->size));
}

static void fence_epoch(struct prog *p, uint64_t shared)
{
    MPI_Win_fence(shared & 1 ? MPI_MODE_NOPRECEDE : 0, p->win);
    burst(p, -1);
    if (shared & 2) {
        MPI_Win_fence(0, p->win);
        completed(p, -1);
        burst(p, -1);
    }
    MPI_Win_fence(shared & 4 ? MPI_MODE_NOSUCCEED : 0, p->win);
    completed(p, -1);
}

/* Ranks by an offset: every rank posts to the d before it and starts on the d after it. */
static void pscw_epoch(struct prog *p, uint64_t shared)
{
    int d = 1 + (int)(shared % (unsigned)p->size), to[SIM_RANKS], from[SIM_RANKS],
        n = d > p->size ? p->size : d;
    MPI_Group world, post, start;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < n; i++) {
        to[i] = (p->rank + i) % p->size;
        from[i] = (p->rank - i + p->size) % p->size;
    }
    MPI_Group_incl(world, n, from, &post);
    MPI_Group_incl(world, n, to, &start);
    MPI_Win_post(post, 0, p->win);
    MPI_Win_start(start, 0, p->win);
    int ops = (int)draw(OPS);
    for (int i = 0; i < ops; i++)
        one_op(p, to[draw((unsigned)n)]);
    MPI_Win_complete(p->win);
    completed(p, -1);
    if (draw(2)) {
        MPI_Win_wait(p->win);
    } else {
        int flag = 0;
        while (!flag)
            MPI_Win_test(p->win, &flag);
    }
    MPI_Group_free(&world);
    MPI_Group_free(&post);
    MPI_Group_free(&start);
}

static void lock_epoch(struct prog *p)
{
    int t = (int)draw((unsigned)p->size), u = (t + 1) % p->size,
        two = p->size > 1 && u > t && draw(3) == 0;
    MPI_Win_lock(draw(2) && !two ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t, 0, p->win);
    if (two) /* in ascending order everywhere: no deadlock by the program's own doing */
        MPI_Win_lock(MPI_LOCK_SHARED, u, 0, p->win);
    burst(p, t);
    if (two)
        burst(p, u);
    if (draw(3) == 0) {
        MPI_Win_flush(t, p->win);
        completed(p, t);
        burst(p, t);
    }
    if (draw(6) == 0)
        MPI_Win_flush_local(t, p->win);
    MPI_Win_unlock(t, p->win);
    completed(p, t);
    if (two) {
        MPI_Win_unlock(u, p->win);
        completed(p, u);
    }
    p->used = 0;
}

static void lock_all_epoch(struct prog *p, int nocheck)
{
    MPI_Win_lock_all(nocheck ? MPI_MODE_NOCHECK : 0, p->win);
    for (int k = (int)draw(4); k >= 0; k--) {
        burst(p, draw(2) ? -1 : (int)draw((unsigned)p->size));
        int t = (int)draw((unsigned)p->size);
        switch (draw(4)) {
        case 0:
            MPI_Win_flush(t, p->win);
            completed(p, t);
            break;
        case 1:
            MPI_Win_flush_all(p->win);
            completed(p, -1);
            break;
        case 2:
            MPI_Win_flush_local_all(p->win);
            break;
        }
    }
    MPI_Win_unlock_all(p->win);
    completed(p, -1);
}

static void check_end(struct prog *p)
{
    MPI_Barrier(MPI_COMM_WORLD);
    long want[COUNTERS], have[COUNTERS];
    MPI_Win_lock(MPI_LOCK_SHARED, p->rank, 0, p->win);
    for (int c = 0; c < COUNTERS; c++)
        have[c] = p->base[p->size * p->cells + c];
    MPI_Win_unlock(p->rank, p->win);
    MPI_Allreduce(p->added, want, COUNTERS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, have, COUNTERS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int c = 0; c < COUNTERS; c++)
        if (have[c] != want[c])
            sim_fail("counter %d holds %ld, not %ld", c, have[c], want[c]);
    /* Every block against its origin's mirror. */
    long *all = malloc(sizeof *all * (size_t)(p->size * p->cells));
    for (int t = 0; t < p->size; t++) {
        MPI_Gather(p->mirror + t * p->cells, p->cells, MPI_LONG, all, p->cells, MPI_LONG, t,
                   MPI_COMM_WORLD);
        for (int i = 0; t == p->rank && i < p->size * p->cells; i++)
            if (p->base[i] != all[i])
                sim_fail("rank %d: cell %d of origin %d holds %ld, not %ld", t, i % p->cells,
                         i / p->cells, p->base[i], all[i]);
    }
    free(all);
}

/* The kind of each epoch is the same on all ranks (collective ones must match): from the seed, not
 * the shared stream. */
static uint64_t common(uint64_t seed, int epoch)
{
    uint64_t z = seed * 0x9e3779b97f4a7c15ull + (uint64_t)epoch * 0xbf58476d1ce4e5b9ull;
    z ^= z >> 29;
    return z * 0x94d049bb133111ebull >> 20;
}

static void random_program(int cells)
{
    struct prog *p = calloc(1, sizeof *p);
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    p->cells = cells;
    uint64_t seed = sim_seed();
    size_t longs = (size_t)(p->size * p->cells + COUNTERS);
    p->mirror = calloc((size_t)(p->size * p->cells), sizeof *p->mirror);
    p->touch = calloc((size_t)(p->size * p->cells), 1);
    p->buf = malloc(BUF * sizeof *p->buf);
    long *mine = NULL;
    if (seed % 3 == 0) {
        mine = malloc(longs * sizeof *mine);
        p->base = mine;
        memset(mine, 0, longs * sizeof *mine);
        MPI_Win_create(mine, (MPI_Aint)(longs * sizeof *mine), sizeof *mine, MPI_INFO_NULL,
                       MPI_COMM_WORLD, &p->win);
    } else {
        MPI_Win_allocate((MPI_Aint)(longs * sizeof(long)), sizeof(long), MPI_INFO_NULL,
                         MPI_COMM_WORLD, &p->base, &p->win);
        memset(p->base, 0, longs * sizeof(long));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int e = 0; e < EPOCHS; e++) {
        uint64_t c = common(seed, e);
        switch (c % 6) {
        case 0:
        case 1:
            fence_epoch(p, c >> 8);
            /* The last fence may leave an epoch open: close it before another kind begins. */
            break;
        case 2:
            pscw_epoch(p, c >> 8);
            break;
        case 3:
            for (int i = 0; i < 3; i++)
                lock_epoch(p);
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        default:
            lock_all_epoch(p, (c >> 9) % 4 == 0);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (draw(5) == 0)
            sim_compute((int)draw(100));
    }
    check_end(p);
    MPI_Win_free(&p->win);
    free(mine);
    free(p->mirror);
    free(p->touch);
    free(p->buf);
    free(p);
}

static void random_small(void *arg)
{
    random_program(CELLS);
}

static void random_long(void *arg)
{
    random_program(LONG_RUN);
}

/* Shortages of every kind, by the seed. */
static void starve(struct sim_knobs *k)
{
    static const char *const few[] = {"1", "1", "2", "3", "8"};
    uint64_t s = k->seed * 0x2545f4914f6cdd1dull >> 13;
    scenario_cvar("MPIR_CVAR_CH3_RMA_SLOTS_SIZE", few[s % 5]);
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", few[(s >> 3) % 5]);
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", few[(s >> 6) % 5]);
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_GLOBAL_POOL_SIZE", (s >> 9) % 3 ? "0" : "2");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE", (s >> 11) % 3 ? "0" : "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE", (s >> 13) % 2 ? "1" : "2");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_DATA_BYTES", (s >> 14) % 3 ? "0" : "256");
    if ((s >> 16) % 4 == 0)
        scenario_cvar("MPIR_CVAR_CH3_RMA_DELAY_ISSUING_FOR_PIGGYBACKING", "1");
}

/* No rank is near: every operation travels. */
static void starve_far(struct sim_knobs *k)
{
    starve(k);
    k->nodes = k->ranks;
}

static void far_only(struct sim_knobs *k)
{
    k->nodes = k->ranks;
}

/* Every put and get that can be is native: derived types in pieces, beside accumulates by message;
 * starved on every second seed, with an order of the card or of messages or not. */
static void native(struct sim_knobs *k)
{
    if (k->seed / 4 % 2)
        starve_far(k);
    k->nodes = k->seed % 5 ? k->ranks : 2;
    k->native = SIM_NATIVE_ALL;
    k->native_min = k->seed % 3 ? 1 : 64;
    k->native_ordered = k->seed / 2 % 2;
    k->native_reg = k->seed / 8 % 3 == 0;
    k->gather = k->seed / 16 % 2 ? 0 : 1500;
    k->ordered = k->native_ordered || k->seed % 2;
}

/* A transport that claims no order: messages of one sender overtake each other, starved on every
 * second seed. */
static void unordered(struct sim_knobs *k)
{
    if (k->seed % 2)
        starve(k);
    k->nodes = k->ranks;
    k->ordered = 0;
}

const struct scenario scenarios_blocks[] = {
    {"blocks-random-2", 2, 1, random_small, NULL, NULL},
    {"blocks-random-4", 4, 1, random_small, NULL, NULL},
    {"blocks-far-3", 3, 1, random_small, NULL, far_only},
    {"blocks-long-3", 3, 1, random_long, NULL, NULL},
    {"blocks-starved-3", 3, 1, random_small, NULL, starve_far},
    {"blocks-starved-5", 5, 1, random_small, NULL, starve},
    {"blocks-starved-long-3", 3, 1, random_long, NULL, starve_far},
    {"blocks-unordered-3", 3, 1, random_small, NULL, unordered},
    {"blocks-unordered-long-3", 3, 1, random_long, NULL, unordered},
    {"blocks-native-3", 3, 1, random_small, NULL, native},
    {"blocks-native-long-3", 3, 1, random_long, NULL, native},
    {NULL, 0, 0, NULL, NULL, NULL},
};
