/* pscw.c - random epochs of post, start, complete and wait between all ranks, which know more and
 * more of each other's windows (R11).
 *
 * Every window has another length, and another displacement unit than its neighbour's.  One
 * operation of 24 lies out of range by as little as it can: its epoch must end with an error, and
 * no other may; the others' data must be there, and what is out of range nowhere. */
#include <stdlib.h>
#include <string.h>

#include "scripted.h"

/* operations for each target; longs that one may fill */
enum { OPS = 5, LONGS = 1200, EPOCHS = 6, FEW = 60 };
enum kind {
    PUT, PUT_TOO, ACC, ACC_TOO, PUTS, ACCS, VECTOR, CONTIG, UNEQUAL, PAIRS, PAIRS_ACC, PAIRS_CONTIG,
    GET, GACC, NOTHING, EMPTY, KINDS
};

struct what {
    int kind, bad;
    long n, v; /* elements, first value */
};

static const struct {
    double v;
    int i;
} pairs[2] = {{1, 1}, {2, 2}};

static uint64_t run_seed;

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* The i-th operation of origin o on target t in an epoch: both sides know it. */
static struct what what_of(int epoch, int o, int t, int i)
{
    uint64_t x = mix(run_seed * 1000003u + (uint64_t)(((epoch * 16 + o) * 16 + t) * 16 + i));
    struct what p = {.kind = (int)(x % KINDS)};
    x = mix(x);
    p.bad = x % 24 == 0 && p.kind != NOTHING && p.kind != EMPTY;
    x = mix(x);
    p.n = x % 3 == 0 ? 1 : 1 + (long)(x / 3 % (x % 3 == 1 ? FEW : LONGS));
    p.v = (long)(mix(x) % 1000000);
    return p;
}

static long few(const struct what *p)
{
    return p->n % FEW + 1;
}

/* Which of the many small ones is out of range. */
static long worst(const struct what *p)
{
    return p->n % FEW / 2;
}

static long longs_of(int t, int size)
{
    return (long)size * OPS * LONGS + 7 * t;
}

static int unit_of(int t)
{
    return t % 2 ? 8 : 4;
}

struct types {
    MPI_Datatype vector, contig, pairs;
};

static void types_make(struct types *t)
{
    OK(MPI_Type_vector(4, 1, 2, MPI_LONG, &t->vector));
    OK(MPI_Type_contiguous(3, MPI_LONG, &t->contig));
    OK(MPI_Type_contiguous(2, MPI_DOUBLE_INT, &t->pairs));
    OK(MPI_Type_commit(&t->vector));
    OK(MPI_Type_commit(&t->contig));
    OK(MPI_Type_commit(&t->pairs));
}

static void types_free(struct types *t)
{
    OK(MPI_Type_free(&t->vector));
    OK(MPI_Type_free(&t->contig));
    OK(MPI_Type_free(&t->pairs));
}

/* Calls it; how many errors the calls themselves returned (near targets). */
static int act(MPI_Win win, const struct types *y, const struct what *p, int t, long at, long end,
               const long *b, long *back)
{
    long u = 8 / unit_of(t); /* units of a long */
    static const uint8_t longs[KINDS] = {[VECTOR] = 7, [CONTIG] = 6,    [UNEQUAL] = 11,
                                         [PAIRS] = 4,  [PAIRS_ACC] = 4, [PAIRS_CONTIG] = 4};
    /* One long, or pair, beyond the end. */
    long past = end - (longs[p->kind] ? longs[p->kind] : p->n) +
                (p->kind >= PAIRS && p->kind <= PAIRS_CONTIG ? 2 : 1);
    long d = (p->bad ? past : at) * u, n = 0;
    int c = (int)p->n;
    switch (p->kind) {
    case PUT:
    case PUT_TOO: return MPI_Put(b, c, MPI_LONG, t, d, c, MPI_LONG, win) != 0;
    case ACC:
    case ACC_TOO: return MPI_Accumulate(b, c, MPI_LONG, t, d, c, MPI_LONG, MPI_SUM, win) != 0;
    case PUTS:
        for (long x = 0; x < few(p); x++)
            n += MPI_Put(&b[x], 1, MPI_LONG, t, (p->bad && x == worst(p) ? end : at + x) * u, 1,
                         MPI_LONG, win) != 0;
        return (int)n;
    case ACCS:
        for (long x = 0; x < few(p); x++)
            n += MPI_Accumulate(&b[x], 1, MPI_LONG, t, (p->bad && x == worst(p) ? end : at + x) * u,
                                1, MPI_LONG, MPI_SUM, win) != 0;
        return (int)n;
    case VECTOR: return MPI_Put(b, 4, MPI_LONG, t, d, 1, y->vector, win) != 0;
    case CONTIG: return MPI_Put(b, 6, MPI_LONG, t, d, 2, y->contig, win) != 0;
    case UNEQUAL: return MPI_Put(b, 3, MPI_LONG, t, d, 11, MPI_LONG, win) != 0;
        /* the target's named layout counts */
    case PAIRS: return MPI_Put(pairs, 2, MPI_DOUBLE_INT, t, d, 2, MPI_DOUBLE_INT, win) != 0;
    case PAIRS_ACC:
        return MPI_Accumulate(pairs, 2, MPI_DOUBLE_INT, t, d, 2, MPI_DOUBLE_INT, MPI_REPLACE,
                              win) != 0;
    case PAIRS_CONTIG:
        return MPI_Accumulate(pairs, 2, MPI_DOUBLE_INT, t, d, 1, y->pairs, MPI_REPLACE, win) != 0;
    case GET: return MPI_Get(back, c, MPI_LONG, t, d, c, MPI_LONG, win) != 0;
    case GACC:
        return MPI_Get_accumulate(b, c, MPI_LONG, back, c, MPI_LONG, t, d, c, MPI_LONG, MPI_SUM,
                                  win) != 0;
    case EMPTY: return MPI_Put(b, 0, MPI_LONG, t, 2 * end * u, 0, MPI_LONG, win) != 0;
    }
    return 0;
}

/* What it makes of the longs there. */
static void expect(const struct what *p, long *want)
{
    int many = p->kind == PUTS || p->kind == ACCS;
    long n = many ? few(p) : p->n;
    if (p->bad && !many)
        return;
    switch (p->kind) {
    case PUT:
    case PUT_TOO:
    case PUTS:
    case ACC:
    case ACC_TOO:
    case ACCS:
    case GACC:
        for (long x = 0; x < n; x++) {
            if (p->bad && x == worst(p))
                continue;
            want[x] = (p->kind == PUT || p->kind == PUT_TOO || p->kind == PUTS ? 0 : want[x]) +
                      p->v + x;
        }
        return;
    case VECTOR:
        for (long x = 0; x < 4; x++)
            want[2 * x] = p->v + x;
        return;
    case CONTIG:
    case UNEQUAL:
        for (long x = 0; x < (p->kind == CONTIG ? 6 : 3); x++)
            want[x] = p->v + x;
        return;
    case PAIRS:
    case PAIRS_ACC:
    case PAIRS_CONTIG:
        for (long x = 0; x < 2; x++) {
            memcpy(&want[2 * x], &pairs[x].v, sizeof pairs[x].v);
            memcpy(&want[2 * x + 1], &pairs[x].i, sizeof pairs[x].i); /* the gap stays */
        }
        return;
    }
}

static void program(void *arg)
{
    (void)arg;
    int rank, size, ranks[SIM_RANKS], n = 0;
    MPI_Win win;
    MPI_Group world, peers;
    struct types types;
    long *mem;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    size_t bytes = (size_t)longs_of(rank, size) * sizeof(long);
    OK(MPI_Win_allocate((MPI_Aint)bytes, unit_of(rank), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    memset(mem, 0, bytes);
    long *want = calloc(1, bytes), (*buf)[OPS][LONGS] = malloc((size_t)size * sizeof *buf),
         (*back)[OPS][LONGS] = malloc((size_t)size * sizeof *back);
    SIM_CHECK(want && buf && back);
    types_make(&types);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int r = 0; r < size; r++)
        if (r != rank)
            ranks[n++] = r;
    OK(MPI_Group_incl(world, n, ranks, &peers));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int e = 0; e < EPOCHS; e++) {
        int bad = 0, told = 0;
        OK(MPI_Win_post(peers, 0, win));
        OK(MPI_Win_start(peers, 0, win));
        for (int i = 0; i < OPS; i++)
            for (int k = 0; k < n; k++) {
                int t = ranks[k];
                struct what p = what_of(e, rank, t, i);
                for (long x = 0; x < LONGS; x++)
                    buf[t][i][x] = p.v + x;
                bad += p.bad;
                told += act(win, &types, &p, t, ((long)rank * OPS + i) * LONGS, longs_of(t, size),
                            buf[t][i], back[t][i]);
            }
        told += MPI_Win_complete(win) != 0;
        if (bad ? !told : told)
            sim_fail("rank %d, epoch %d: %d operations out of range, %d errors", rank, e, bad,
                     told);
        /* complete here: the buffers are the program's again */
        memset(buf, 0xee, (size_t)size * sizeof *buf);
        OK(MPI_Win_wait(win));
        for (int k = 0; k < n; k++)
            for (int i = 0; i < OPS; i++) {
                struct what p = what_of(e, ranks[k], rank, i);
                expect(&p, want + ((long)ranks[k] * OPS + i) * LONGS);
            }
        for (long x = 0; x < longs_of(rank, size); x++)
            if (mem[x] != want[x]) {
                int o = (int)(x / LONGS / OPS), i = (int)(x / LONGS % OPS);
                struct what p = what_of(e, o, rank, i);
                sim_fail("rank %d, epoch %d: operation %d of rank %d (kind %d, bad %d, n %ld), "
                         "long %ld: %ld, not %ld",
                         rank, e, i, o, p.kind, p.bad, p.n, x % LONGS, mem[x], want[x]);
            }
        if (mix(run_seed + (uint64_t)e) % 2)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    free(want);
    free(buf);
    free(back);
    types_free(&types);
    OK(MPI_Group_free(&peers));
    OK(MPI_Group_free(&world));
    OK(MPI_Win_free(&win));
}

static void far_random(struct sim_knobs *k)
{
    run_seed = k->seed;
    k->nodes = k->seed % 4 ? k->ranks : 2;
    k->gather = k->seed % 3 ? 0 : k->seed % 2 ? 600 : 4096;
    k->ordered = 1;
    k->native_ordered = k->seed / 2 % 2;
    k->native_min = k->seed % 5 ? 64 : 1;
}

static void far_native(struct sim_knobs *k)
{
    far_random(k);
    k->native = SIM_NATIVE_ALL;
    if (k->seed % 3 == 0)
        scenario_cvar("MPIR_CVAR_RMA_KEYS_SIZE", "1");
}

static void poor_random(struct sim_knobs *k)
{
    far_random(k);
    far_and_poor(k);
    if (k->seed % 2)
        scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", "2");
    if (k->seed % 3 == 0)
        scenario_cvar("MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", "5");
    if (k->seed % 5 == 0)
        scenario_cvar("MPIR_CVAR_RMA_KEYS_SIZE", "1");
}

/* Packets pass each other: the parts of one operation, too. */
static void unordered_random(struct sim_knobs *k)
{
    if (k->seed % 2)
        poor_random(k);
    else
        far_random(k);
    k->ordered = 0;
    k->gather = 0;
}

const struct scenario scenarios_pscw[] = {
    {"pscw-random", 4, 1, program, NULL, far_random},
    {"pscw-random-native", 4, 1, program, NULL, far_native},
    {"pscw-random-poor", 4, 1, program, NULL, poor_random},
    {"pscw-random-unordered", 3, 1, program, NULL, unordered_random},
    {NULL, 0, 0, NULL, NULL, NULL},
};
