/* atomics.c - random programs of accumulates with an exact oracle, natively where that is right,
 * beside near, own and message ones.
 *
 * Memory of each target:  | words that all change | cells of origin 0 | cells of origin 1 | ...
 * The words take sums, bits and tickets, whose totals are known at the end.  Only origin o changes
 * the cells of origin o: where the window keeps accumulates in order, o knows what each of its
 * calls must fetch, whatever it called before without a flush between; where it does not, o touches
 * a cell once between two flushes.  The last of them is for puts.
 * The window's elements go by the processor's atomics or by stripes, as info and memory will have
 * it. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "scenarios.h"

/* of which MPI_Alloc_mem makes a segment */
enum { RANKS_MAX = 8, CELLS = 7, ROUNDS = 10, CALLS = 60, LINE = 64, ALLOC_FROM = 1 << 16 };
/* one line each; CROOKED: misaligned */
enum { SUM, FETCHED, SUM32, BITS, MOST, REAL, CROOKED, TICKET, WORDS };

struct fetched {
    int64_t got[CELLS], want[CELLS];
    int n;         /* ... of them; or got[0] is of the word FETCHED ... */
    int from;      /* ... of this rank; -1: no */
    int64_t added; /* to it by the same call */
};

/* What all that fetch from a word and add to it must agree on, whatever their order: with x before
 * an addition of v, the sum of x * v over all is half of (total * total - sum of v * v). */
struct fetches {
    int64_t total, products, squares;
};

struct play {
    uint64_t common, own;
    int rank, size, ordered, promised; /* promised: no MPI_MAX */
    MPI_Win win;
    char *mem, *heap;
    MPI_Datatype every2;
    int64_t model[RANKS_MAX][CELLS]; /* my cells at each */
    int64_t added[WORDS], top;
    struct fetches fetches[RANKS_MAX];
    uint8_t busy[RANKS_MAX][CELLS];
    int64_t out[CALLS][CELLS], compare[CALLS]; /* of the calls since the last synchronization */
    struct fetched back[CALLS];
    int calls;
};

static unsigned draw(uint64_t *s, unsigned n)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return (unsigned)((*s * 0x2545f4914f6cdd1dull >> 11) % n);
}

static MPI_Aint word(int w)
{
    return w * LINE + (w == CROOKED ? 4 : 0);
}

static MPI_Aint cell(const struct play *p, int i)
{
    return WORDS * LINE + (p->rank * CELLS + i) * (MPI_Aint)sizeof(int64_t);
}

/* --- calls ------------------------------------------------------------------------------------ */

static int64_t apply(MPI_Op op, int64_t old, int64_t v)
{
    return op == MPI_SUM       ? old + v
           : op == MPI_REPLACE ? v
           : op == MPI_BXOR    ? old ^ v
           : op == MPI_MAX     ? (old > v ? old : v)
                               : old;
}

/* On my cells [i, i + n) of t, or every second one. */
static void on_cells(struct play *p, int t)
{
    static const MPI_Op ops[] = {MPI_SUM, MPI_REPLACE, MPI_BXOR, MPI_NO_OP, MPI_MAX, MPI_SUM};
    MPI_Op op = ops[draw(&p->own, p->promised ? 4 : 6)];
    int n = draw(&p->own, 3) ? 1 : 1 + (int)draw(&p->own, 3),
        step = n > 1 ? 1 + (int)draw(&p->own, 2) : 1;
    int i = (int)draw(&p->own, (unsigned)(CELLS - 1 - (n - 1) * step)),
        how = (int)draw(&p->own, n > 1 ? 2 : 4);
    int64_t *out = p->out[p->calls];
    struct fetched *f = &p->back[p->calls];
    if (how == 0 && op == MPI_NO_OP)
        how = 1;
    for (int k = 0; k < n; k++)
        if (p->busy[t][i + k * step])
            return;
    MPI_Datatype type = step == 2 ? p->every2 : MPI_INT64_T;
    for (int k = 0; k < n; k++) {
        int64_t *m = &p->model[t][i + k * step], old = *m;
        p->busy[t][i + k * step] = !p->ordered;
        out[k] = (int64_t)draw(&p->own, 1000) - 300;
        f->want[k] = old;
        f->got[k] = -77;
        if (how == 3) {
            p->compare[p->calls] = draw(&p->own, 3) ? old : old + 1;
            *m = p->compare[p->calls] == old ? out[k] : old;
        } else {
            *m = apply(op, old, out[k]);
        }
    }
    f->n = how == 0 ? 0 : n;
    f->from = -1;
    if (how == 0)
        OK(MPI_Accumulate(out, n, MPI_INT64_T, t, cell(p, i), n, type, op, p->win));
    else if (how == 1)
        OK(MPI_Get_accumulate(out, n, MPI_INT64_T, f->got, n, MPI_INT64_T, t, cell(p, i), n, type,
                              op, p->win));
    else if (how == 2)
        OK(MPI_Fetch_and_op(out, f->got, MPI_INT64_T, t, cell(p, i), op, p->win));
    else
        OK(MPI_Compare_and_swap(out, &p->compare[p->calls], f->got, MPI_INT64_T, t, cell(p, i),
                                p->win));
    p->calls++;
}

static void on_words(struct play *p, int t)
{
    int64_t *out = p->out[p->calls], v = 1 + (int64_t)draw(&p->own, 100);
    int32_t v32 = (int32_t)v;
    double d = (double)v;
    struct fetched *f = &p->back[p->calls++];
    int w = draw(&p->own, 3) ? (int)draw(&p->own, TICKET) : FETCHED;
    if (p->promised && w == MOST)
        w = SUM;
    f->n = 0;
    f->from = w == FETCHED ? t : -1;
    f->added = v;
    *out = v;
    p->added[w] += w == BITS ? 0 : v;
    switch (w) {
    case FETCHED:
        OK(MPI_Fetch_and_op(out, f->got, MPI_INT64_T, t, word(w), MPI_SUM, p->win));
        break;
    case SUM32:
        memcpy(out, &v32, sizeof v32);
        if (v % 2)
            OK(MPI_Fetch_and_op(out, f->got, MPI_INT32_T, t, word(w), MPI_SUM, p->win));
        else
            OK(MPI_Accumulate(out, 1, MPI_INT32_T, t, word(w), 1, MPI_INT32_T, MPI_SUM, p->win));
        break;
    case BITS:
        p->added[BITS] ^= v;
        OK(MPI_Accumulate(out, 1, MPI_INT64_T, t, word(w), 1, MPI_INT64_T, MPI_BXOR, p->win));
        break;
    case MOST:
        *out = p->top += v;
        OK(MPI_Accumulate(out, 1, MPI_INT64_T, t, word(w), 1, MPI_INT64_T, MPI_MAX, p->win));
        break;
    case REAL:
        memcpy(out, &d, sizeof d);
        OK(MPI_Accumulate(out, 1, MPI_DOUBLE, t, word(w), 1, MPI_DOUBLE, MPI_SUM, p->win));
        break;
    default: /* SUM, CROOKED */
        OK(MPI_Accumulate(out, 1, MPI_INT64_T, t, word(w), 1, MPI_INT64_T, MPI_SUM, p->win));
    }
}

static void put(struct play *p, int t)
{
    int64_t *out = p->out[p->calls];
    if (p->busy[t][CELLS - 1])
        return;
    p->busy[t][CELLS - 1] = 1;
    p->model[t][CELLS - 1] = *out = (int64_t)draw(&p->own, 1000000);
    p->back[p->calls].from = -1;
    p->back[p->calls++].n = 0;
    OK(MPI_Put(out, 1, MPI_INT64_T, t, cell(p, CELLS - 1), 1, MPI_INT64_T, p->win));
}

static void some_calls(struct play *p, int t)
{
    static void (*const what[])(struct play *, int) = {on_cells, on_words, put, on_cells, on_words};
    for (int n = 1 + (int)draw(&p->own, 4); n-- && p->calls < CALLS;)
        what[draw(&p->own, 5)](p, t);
}

/* All is complete: what came back, and cells are free again. */
static void check(struct play *p)
{
    for (int c = 0; c < p->calls; c++) {
        const struct fetched *f = &p->back[c];
        for (int i = 0; i < f->n; i++)
            SIM_CHECK(f->got[i] == f->want[i]);
        if (f->from >= 0) {
            p->fetches[f->from].total += f->added;
            p->fetches[f->from].products += f->added * f->got[0];
            p->fetches[f->from].squares += f->added * f->added;
        }
    }
    p->calls = 0;
    memset(p->busy, 0, sizeof p->busy);
}

/* --- epochs ----------------------------------------------------------------------------------- */

static int any_target(struct play *p)
{
    return (int)draw(&p->own, (unsigned)p->size);
}

static void ticket(struct play *p, int t)
{
    int64_t seen = 0, next, got;
    for (;;) {
        next = seen + 1;
        OK(MPI_Compare_and_swap(&next, &seen, &got, MPI_INT64_T, t, word(TICKET), p->win));
        OK(MPI_Win_flush(t, p->win));
        if (got == seen)
            break;
        seen = got;
    }
    p->added[TICKET]++;
}

/* A call that leaves by itself and may still be under way, and others on the same cell behind a
 * put. */
static void chase(struct play *p, int t)
{
    int64_t *out = p->out[p->calls++], v = (int64_t)draw(&p->own, 1000), got = -1;
    int i = (int)draw(&p->own, CELLS - 1);
    p->back[p->calls - 1].n = 0;
    p->back[p->calls - 1].from = -1;
    out[0] = v;
    out[1] = v + 1;
    OK(MPI_Accumulate(&out[0], 1, MPI_INT64_T, t, cell(p, i), 1, MPI_INT64_T, MPI_REPLACE, p->win));
    if (p->ordered)
        OK(MPI_Win_flush_local(t, p->win));
    else
        OK(MPI_Win_flush(t, p->win));
    put(p, t);
    OK(MPI_Accumulate(&out[1], 1, MPI_INT64_T, t, cell(p, i), 1, MPI_INT64_T, MPI_REPLACE, p->win));
    if (!p->ordered)
        OK(MPI_Win_flush(t, p->win));
    OK(MPI_Fetch_and_op(NULL, &got, MPI_INT64_T, t, cell(p, i), MPI_NO_OP, p->win));
    OK(MPI_Win_flush(t, p->win));
    p->model[t][i] = v + 1;
    SIM_CHECK(got == v + 1);
}

static void with_request(struct play *p, int t)
{
    MPI_Request req;
    int i = (int)draw(&p->own, CELLS - 1);
    int64_t v = (int64_t)draw(&p->own, 50), got = -1, want = p->model[t][i];
    p->model[t][i] += v;
    if (v % 2) {
        OK(MPI_Rget_accumulate(&v, 1, MPI_INT64_T, &got, 1, MPI_INT64_T, t, cell(p, i), 1,
                               MPI_INT64_T, MPI_SUM, p->win, &req));
    } else {
        OK(MPI_Raccumulate(&v, 1, MPI_INT64_T, t, cell(p, i), 1, MPI_INT64_T, MPI_SUM, p->win,
                           &req));
        got = want;
    }
    OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    SIM_CHECK(got == want);
    OK(MPI_Win_flush(t, p->win));
}

static void passive(struct play *p, int n, const int *of)
{
    for (int turns = 1 + (int)draw(&p->own, 6); turns--;) {
        int t = of ? of[draw(&p->own, (unsigned)n)] : any_target(p);
        switch (draw(&p->own, 7)) {
        case 0:
            OK(MPI_Win_flush_all(p->win));
            check(p);
            ticket(p, t);
            break;
        case 1:
            OK(MPI_Win_flush_all(p->win));
            check(p);
            with_request(p, t);
            break;
        case 2:
            OK(MPI_Win_flush_all(p->win));
            check(p);
            chase(p, t);
            break;
        case 3: /* one call and its flush: the usual counter */
            OK(MPI_Win_flush_all(p->win));
            check(p);
            on_cells(p, t);
            OK(MPI_Win_flush(t, p->win));
            check(p);
            break;
        default:
            some_calls(p, t);
            if (draw(&p->own, 3) == 0)
                OK(MPI_Win_flush_local(t, p->win));
        }
    }
}

static void round_of(struct play *p)
{
    unsigned kind = draw(&p->common, 4);
    if (kind == 0) {
        OK(MPI_Win_fence(0, p->win));
        for (int e = 1 + (int)draw(&p->common, 3); e--;) {
            for (int n = (int)draw(&p->own, 5); n--;)
            some_calls(p, any_target(p));
            OK(MPI_Win_fence(e ? 0 : MPI_MODE_NOSUCCEED, p->win));
            check(p);
        }
    } else if (kind == 1) {
        int t[2] = {any_target(p), any_target(p)};
        if (t[0] > t[1]) {
            int x = t[0];
            t[0] = t[1];
            t[1] = x;
        }
        int both = t[0] != t[1];
        OK(MPI_Win_lock(MPI_LOCK_SHARED, t[0], 0, p->win));
        if (both)
            OK(MPI_Win_lock(MPI_LOCK_SHARED, t[1], 0, p->win));
        /* flush_all wants no lock_all: it is for the locks there are */
        passive(p, 1 + both, t);
        OK(MPI_Win_unlock(t[0], p->win));
        if (both)
            OK(MPI_Win_unlock(t[1], p->win));
        check(p);
    } else {
        OK(MPI_Win_lock_all(0, p->win));
        passive(p, 0, NULL);
        OK(MPI_Win_unlock_all(p->win));
        check(p);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Single elements: a promise of their length, or of operations and types. */
static void elements(struct play *p, MPI_Info info)
{
    static const char *const ops[] = {"sum", "replace", "no_op", "bxor", "cswap"};
    char key[40];
    unsigned how = draw(&p->common, 3);
    p->promised = how != 0;
    if (how == 0)
        MPI_Info_set(info, "mpi_accumulate_granularity", "8");
    if (how == 1) {
        MPI_Info_set(info, "mpix_accumulate_ops", "sum,replace,no_op,bxor,cas");
        MPI_Info_set(info, "mpix_accumulate_types", "int64,int32,double");
    }
    if (how == 2) { /* as MPICH has it */
        MPI_Info_set(info, "which_accumulate_ops", "cswap,sum,bxor,no_op,replace");
        for (int i = 0; i < 5; i++) {
            snprintf(key, sizeof key, "accumulate_op_types:%s", ops[i]);
            MPI_Info_set(info, key, i ? "int64:1,int32:1" : "double:1,longlong:1");
        }
    }
}

static void window_make(struct play *p)
{
    MPI_Aint bytes = WORDS * LINE + p->size * CELLS * (MPI_Aint)sizeof(int64_t);
    unsigned memory = draw(&p->common, 3);
    MPI_Info info;
    MPI_Info_create(&info);
    if (draw(&p->common, 5))
        elements(p, info);
    if (!(p->ordered = (int)draw(&p->common, 2)))
        MPI_Info_set(info, "accumulate_ordering", "none");
    if (memory == 0) {
        MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &p->mem, &p->win);
    } else {
        /* Mapped by near peers, and crooked at some of the ranks; or reached by each as it can. */
        if (memory == 1)
            MPI_Alloc_mem(bytes + ALLOC_FROM, MPI_INFO_NULL, &p->heap);
        else
            p->heap = malloc((size_t)bytes + 8);
        p->mem = p->heap + (memory == 1 && p->rank % 2 ? 4 : 0);
        MPI_Win_create(p->mem, bytes, 1, info, MPI_COMM_WORLD, &p->win);
    }
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(p->win, MPI_ERRORS_RETURN);
    memset(p->mem, 0, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < ROUNDS; r++)
        round_of(p);
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t want[RANKS_MAX][CELLS], have[WORDS], sums[WORDS];
    double real;
    int32_t half;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, p->rank, 0, p->win);
    MPI_Alltoall(p->model, CELLS, MPI_INT64_T, want, CELLS, MPI_INT64_T, MPI_COMM_WORLD);
    SIM_CHECK(memcmp(p->mem + WORDS * LINE, want, (size_t)p->size * sizeof *want) == 0);
    for (int w = 0; w < WORDS; w++)
        memcpy(&have[w], p->mem + word(w), sizeof have[w]);
    memcpy(&real, p->mem + word(REAL), sizeof real);
    memcpy(&half, p->mem + word(SUM32), sizeof half);
    MPI_Win_unlock(p->rank, p->win);
    have[REAL] = (int64_t)real;
    have[SUM32] = half;
    int64_t bits[2] = {have[BITS], p->added[BITS]}, flips[2], most[2] = {have[MOST], p->top},
            top[2];
    MPI_Allreduce(have, sums, WORDS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(p->added, have, WORDS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(bits, flips, 2, MPI_INT64_T, MPI_BXOR, MPI_COMM_WORLD);
    MPI_Allreduce(most, top, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (int w = 0; w < WORDS; w++)
        SIM_CHECK(w == BITS || w == MOST || sums[w] == have[w]);
    SIM_CHECK(flips[0] == flips[1] && top[0] == top[1]);
    MPI_Allreduce(MPI_IN_PLACE, p->fetches, 3 * p->size, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int r = 0; r < p->size; r++)
        SIM_CHECK(2 * p->fetches[r].products ==
                  p->fetches[r].total * p->fetches[r].total - p->fetches[r].squares);
    MPI_Win_free(&p->win);
    if (memory == 1)
        MPI_Free_mem(p->heap);
    else
        free(p->heap);
}

static void random_atomics(void *arg)
{
    (void)arg;
    struct play *p = calloc(1, sizeof *p);
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    p->common = sim_random() | 1;
    MPI_Bcast(&p->common, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    p->own = (p->common ^ (uint64_t)(p->rank + 1) * 0x9e3779b97f4a7c15ull) | 1;
    MPI_Type_create_resized(MPI_INT64_T, 0, 2 * sizeof(int64_t), &p->every2);
    MPI_Type_commit(&p->every2);
    window_make(p);
    MPI_Type_free(&p->every2);
    free(p);
}

/* Every rank adds to one word. It takes the stripe at its owner, since the elements are misaligned
 * there or not all near peers map the memory: natively it would be read between others' reading and
 * writing. */
static void striped(void *arg)
{
    enum { TURNS = 40 };
    int rank;
    int64_t sums[3] = {0}, got, last;
    char *heap = NULL, *mem;
    MPI_Win win;
    MPI_Info info;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_accumulate_granularity", "8");
    MPI_Info_set(info, "accumulate_ordering", "none");
    if (sim_seed() % 2)
        MPI_Alloc_mem(24, MPI_INFO_NULL, &heap);
    else
        heap = malloc(24);
    mem = heap + (sim_seed() % 2 ? 4 : 0);
    memset(mem, 0, 16);
    MPI_Win_create(mem, 16, 1, info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    MPI_Win_lock_all(0, win);
    for (int64_t i = 0; i < TURNS; i++) {
        int64_t v = 1 + (i + rank) % 5;
        OK(MPI_Fetch_and_op(&v, &got, MPI_INT64_T, 0, 0, MPI_SUM, win));
        OK(MPI_Win_flush(0, win));
        sums[0] += v;
        sums[1] += v * got;
        sums[2] += v * v;
    }
    MPI_Win_unlock_all(win);
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    memcpy(&last, mem, sizeof last);
    SIM_CHECK(2 * sums[1] == sums[0] * sums[0] - sums[2] && (rank || last == sums[0]));
    MPI_Win_free(&win);
    if (sim_seed() % 2)
        MPI_Free_mem(heap);
    else
        free(heap);
}

/* An accumulate by message, its element evicted, then one that could go natively to the same
 * target: in order all the same. */
static void evicted(void *arg)
{
    enum { TURNS = 20 };
    int rank, size;
    int64_t *mem, one = 1, got[TURNS], big[TURNS];
    MPI_Win win;
    MPI_Info info;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_accumulate_granularity", "8");
    MPI_Win_allocate(2 * sizeof(int64_t), sizeof(int64_t), info, MPI_COMM_WORLD, &mem, &win);
    MPI_Info_free(&info);
    memset(mem, 0, 2 * sizeof(int64_t));
    MPI_Win_fence(0, win);
    for (int i = 0; i < TURNS && rank == 0; i++) {
        big[i] = 1000 * (i + 1);
        if (i > 2) /* the others only ask for the key */
            OK(MPI_Accumulate(&big[i], 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_MAX, win));
        OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 2, 0, 1, MPI_INT64_T, MPI_SUM, win));
        OK(MPI_Fetch_and_op(&one, &got[i], MPI_INT64_T, 1, 0, MPI_SUM, win));
    }
    MPI_Win_fence(0, win);
    for (int i = 0; i < TURNS && rank == 0; i++)
        SIM_CHECK(got[i] == (i > 2 ? big[i] : i));
    MPI_Win_free(&win);
}

/* Rank 1 dies while native accumulates to it are under way. Rank 0 has heard of it before it
 * flushes, unlocks or needs the element for another: each waits for what the network still has, and
 * nothing is written afterwards. */
static void dies(void *arg)
{
    int rank, flag;
    int64_t *mem, one[8], got[8];
    MPI_Win win;
    MPI_Info info;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_accumulate_granularity", "8");
    if (sim_seed() % 2)
        MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Win_allocate(8 * sizeof(int64_t), sizeof(int64_t), info, MPI_COMM_WORLD, &mem, &win);
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    memset(mem, 0, 8 * sizeof(int64_t));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            sim_die();
        return;
    }
    for (int i = 0; i < 8; i++)
        one[i] = 1;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
    for (int i = 0; i < 3; i++) { /* the first asks for the key */
        OK(MPI_Fetch_and_op(&one[0], &got[0], MPI_INT64_T, 1, 0, MPI_SUM, win));
        OK(MPI_Win_flush(1, win));
        SIM_CHECK(got[0] == i);
    }
    for (int i = 0; i < 8; i++) {
        if (i % 3)
            (void)MPI_Fetch_and_op(&one[i], &got[i], MPI_INT64_T, 1, i, MPI_SUM, win);
        else
            (void)MPI_Accumulate(&one[i], 1, MPI_INT64_T, 1, i, 1, MPI_INT64_T, MPI_SUM, win);
        if (sim_seed() % 5 == 0)
            (void)MPI_Win_flush_local(1, win);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
    while (!boot_failed(1)) {
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        sim_compute(1);
    }
    if (sim_seed() % 3 == 0) {
        (void)MPI_Win_flush(1, win);
    } else if (sim_seed() % 3 == 1) { /* there may be one element: it is taken from the dead */
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win));
        OK(MPI_Accumulate(&one[0], 1, MPI_INT64_T, 2, 0, 1, MPI_INT64_T, MPI_SUM, win));
        OK(MPI_Win_unlock(2, win));
    }
    (void)MPI_Win_unlock(1, win); /* no error where all came in time */
    memset(one, 0x77, sizeof one); /* the user's again */
    memset(got, 0x77, sizeof got);
    sim_compute(400);
    for (int i = 0; i < 8; i++)
        SIM_CHECK(got[i] == 0x7777777777777777);
    MPI_Send(NULL, 0, MPI_BYTE, 2, 7, MPI_COMM_WORLD);
}

static int is(MPI_Info info, const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int flag;
    OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag));
    return flag && !strcmp(value, want);
}

static int class_of(int err)
{
    int class;
    MPI_Error_class(err, &class);
    return class;
}

/* What is promised makes fetches leave by the network alone; what breaks it is an error here, and
 * changes nothing there. */
static void promise_kept(void *arg)
{
    enum { KEY_BY = 20, TURNS = KEY_BY + 5 };
    int rank, near = boot_local_size() > 1;
    int64_t *mem, v[8] = {1, 1, 1, 1, 1, 1, 1, 1}, got = -1, zero = 0;
    int32_t half = 1;
    long sent = 0;
    MPI_Win win;
    MPI_Info info;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_accumulate_ops", "cas,SUM,no_op");
    MPI_Info_set(info, "mpix_accumulate_types", "longlong,double");
    MPI_Win_allocate(64, 8, info, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Info_set(info, "mpix_accumulate_ops", "any"); /* it was made by the promise */
    OK(MPI_Win_set_info(win, info));
    MPI_Info_free(&info);
    memset(mem, 0, 64);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_get_info(win, &info));
    SIM_CHECK(is(info, "mpix_accumulate_ops", "sum,no_op,cas"));
    SIM_CHECK(is(info, "mpix_accumulate_types", "int64,double"));
    SIM_CHECK(is(info, "mpix_accumulate_by", near ? "processor" : "network"));
    MPI_Info_free(&info);
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
        SIM_CHECK(class_of(MPI_Accumulate(v, 8, MPI_INT64_T, 1, 0, 8, MPI_INT64_T, MPI_BXOR,
                                          win)) == MPI_ERR_OP);
        SIM_CHECK(class_of(MPI_Accumulate(&half, 1, MPI_INT32_T, 1, 0, 2, MPI_INT32_T, MPI_SUM,
                                          win)) == MPI_ERR_TYPE);
        for (int i = 0; i < TURNS; i++) {
            if (i == KEY_BY) /* the key has come */
                sent = sim_sent(0, -1);
            OK(MPI_Fetch_and_op(v, &got, MPI_INT64_T, 1, 0, MPI_SUM, win));
            OK(MPI_Win_flush(1, win));
            SIM_CHECK(got == i);
        }
        OK(MPI_Compare_and_swap(&zero, &(int64_t){TURNS}, &got, MPI_INT64_T, 1, 0, win));
        OK(MPI_Win_flush(1, win));
        SIM_CHECK(got == TURNS && sim_sent(0, -1) == sent);
        OK(MPI_Win_unlock(1, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 8; i++)
        SIM_CHECK(mem[i] == 0);
    MPI_Win_free(&win);
}

/* --- knobs ------------------------------------------------------------------------------------ */

static uint64_t bits_of(const struct sim_knobs *k, int shift)
{
    return k->seed * 0x9e3779b97f4a7c15ull >> shift;
}

/* The card offers atomics that agree with the processor's in most runs; where they do not, they
 * must not be used. */
static void native(struct sim_knobs *k)
{
    static const char *const hold[] = {"0", "8", "2"}, *const pool[] = {"256", "1", "3"},
                             *const targets[] = {"256", "1", "2"};
    scenario_cvar("MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD", hold[bits_of(k, 9) % 3]);
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", pool[bits_of(k, 14) % 3]);
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", targets[bits_of(k, 19) % 3]);
    k->nodes = k->seed % 3 == 0 ? k->ranks : 2;
    k->native = SIM_NATIVE_ALL;
    k->native_coherent = k->seed % 5 != 0;
    k->native_atomic_pays = 1;
    k->native_min = k->seed % 4 ? 0 : 1;
    k->native_ordered = k->seed / 2 % 2;
    k->native_reg = k->seed / 4 % 3 == 0;
    k->ordered = k->seed % 7 != 0;
    if (k->seed % 4)
        k->preempt_percent = 30;
}

static void starved(struct sim_knobs *k)
{
    native(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_SLOTS_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_GLOBAL_POOL_SIZE", "0");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE", "0");
    scenario_cvar("MPIR_CVAR_RMA_KEYS_SIZE", k->seed % 2 ? "1" : "256");
}

static void by_two(struct sim_knobs *k)
{
    native(k);
    k->nodes = k->seed % 2 ? k->ranks : 2;
    k->native_coherent = 1;
    k->preempt_percent = 40;
}

static void one_target(struct sim_knobs *k)
{
    starved(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", "1");
    scenario_cvar("MPIR_CVAR_RMA_KEYS_SIZE", "256");
    k->nodes = k->ranks;
    k->native_coherent = 1;
}

static void mortal(struct sim_knobs *k)
{
    native(k);
    k->nodes = k->ranks;
    k->native_coherent = 1;
    k->quiet_rank = -1;
    k->mortal = 1;
    if (k->seed % 2) /* the network is slow to give back what the dead will not take */
        k->max_delay = 300;
}

static void two_nodes(struct sim_knobs *k)
{
    native(k);
    k->nodes = 2;
    k->native_coherent = 1;
}

static void one_node(struct sim_knobs *k)
{
    k->nodes = 1;
}

const struct scenario scenarios_atomics[] = {
    {"rma-native-atomics-promise", 2, 1, promise_kept, NULL, two_nodes},
    {"promise-near", 2, 1, promise_kept, NULL, one_node},
    {"rma-native-atomics-3", 3, 1, random_atomics, NULL, native},
    {"rma-native-atomics-5", 5, 1, random_atomics, NULL, native},
    {"rma-native-atomics-starved-4", 4, 1, random_atomics, NULL, starved},
    {"rma-native-atomics-striped", 4, 1, striped, NULL, by_two},
    {"rma-native-atomics-evicted", 3, 1, evicted, NULL, one_target},
    {"rma-native-atomics-dies", 3, 1, dies, NULL, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};
