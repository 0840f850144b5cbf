/* rma.c - random one-sided programs with an exact oracle.
 *
 * Memory of each target:  | cells of origin 0 | cells of origin 1 | ... | shared cells | Only
 * origin o writes the cells of origin o, so o knows what must stand there (its model) and can check
 * every get.  Shared cells take sums (accumulate, fetch_and_op, get under an exclusive lock and
 * put), whose totals are known at the end.  The order of synchronizations is drawn from the seed:
 * fence and PSCW rounds by all, passive rounds by each rank for itself. */
#include "scripted.h"

#include <stdlib.h>

#include "rma/shared/acc.h"

enum { CELLS = 640, SHARED = 4, ROUNDS = 6, BIG = 600, RANKS_MAX = 8 };

struct play {
    uint64_t common;   /* the same on all ranks */
    uint64_t own;
    int rank, size;
    MPI_Win win;
    long *mem;
    int dynamic, alike; /* alike: bursts of operations that are coalesced */
    MPI_Aint base[RANKS_MAX];
    long model[RANKS_MAX][CELLS];
    long added[SHARED]; /* by this rank, over all targets: [kind] */
    long ticket;
    long scratch[64][BIG]; /* origin and result buffers of the open epoch */
    int used;
    MPI_Datatype every2;
};

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s * 0x2545f4914f6cdd1dull >> 11;
}

static unsigned draw(uint64_t *s, unsigned n)
{
    return (unsigned)(next(s) % n);
}

static MPI_Aint at(const struct play *p, int target, long cell)
{
    return p->dynamic ? p->base[target] + cell * (MPI_Aint)sizeof(long) : cell;
}

static long mine(const struct play *p, long cell)
{
    return (long)p->rank * CELLS + cell;
}

static long shared(const struct play *p, int i)
{
    return (long)p->size * CELLS + i;
}

/* --- operations of one epoch on one target; those that touch the same cells wait for a flush -- */

static void put_some(struct play *p, int t, unsigned char *busy)
{
    int big = draw(&p->own, 6) == 0, n = big ? BIG : 1 + (int)draw(&p->own, 12),
        from = (int)draw(&p->own, (unsigned)(CELLS - n + 1));
    for (int i = from; i < from + n; i++)
        if (busy[i])
            return;
    long *buf = p->scratch[p->used++];
    memset(busy + from, 1, (size_t)n);
    for (int i = 0; i < n; i++)
        buf[i] = ++p->ticket * 100 + p->rank;
    if (!big && n % 2 == 0 && draw(&p->own, 2)) { /* every second cell, a derived target type */
        for (int i = 0; i < n / 2; i++)
            p->model[t][from + 2 * i] = buf[i];
        OK(MPI_Put(buf, n / 2, MPI_LONG, t, at(p, t, mine(p, from)), n / 2, p->every2, p->win));
        return;
    }
    memcpy(&p->model[t][from], buf, (size_t)n * sizeof *buf);
    if (draw(&p->own, 3) == 0)
        OK(MPI_Accumulate(buf, n, MPI_LONG, t, at(p, t, mine(p, from)), n, MPI_LONG, MPI_REPLACE,
                          p->win));
    else
        OK(MPI_Put(buf, n, MPI_LONG, t, at(p, t, mine(p, from)), n, MPI_LONG, p->win));
}

struct got {
    const long *buf;
    long want[BIG];
    int n;
};

static int get_some(struct play *p, int t, unsigned char *busy, struct got *g)
{
    int n = draw(&p->own, 6) == 0 ? BIG : 1 + (int)draw(&p->own, 12),
        from = (int)draw(&p->own, (unsigned)(CELLS - n + 1));
    for (int i = from; i < from + n; i++)
        if (busy[i])
            return 0;
    long *buf = p->scratch[p->used++];
    memset(busy + from, 1, (size_t)n);
    memset(buf, 0x55, (size_t)n * sizeof *buf);
    g->buf = buf;
    g->n = n;
    memcpy(g->want, &p->model[t][from], (size_t)n * sizeof *buf);
    if (draw(&p->own, 3) == 0)
        OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, buf, n, MPI_LONG, t, at(p, t, mine(p, from)), n,
                              MPI_LONG, MPI_NO_OP, p->win));
    else
        OK(MPI_Get(buf, n, MPI_LONG, t, at(p, t, mine(p, from)), n, MPI_LONG, p->win));
    return 1;
}

static void add_some(struct play *p, int t)
{
    long *buf = p->scratch[p->used++];
    buf[0] = 1 + (long)draw(&p->own, 100);
    if (draw(&p->own, 2)) {
        p->added[0] += buf[0];
        OK(MPI_Accumulate(buf, 1, MPI_LONG, t, at(p, t, shared(p, 0)), 1, MPI_LONG, MPI_SUM,
                          p->win));
    } else {
        p->added[1] += buf[0];
        OK(MPI_Fetch_and_op(buf, buf + 1, MPI_LONG, t, at(p, t, shared(p, 1)), MPI_SUM, p->win));
    }
}

/* Many of one kind, each on other cells, or on the same ones where their order is kept. */
static void many_alike(struct play *p, int t, unsigned char *busy)
{
    int n = 1 + (int)draw(&p->own, 3),
        count = 2 + (int)draw(&p->own, draw(&p->own, 3) ? 20 : BIG / n - 2);
    int kind = (int)draw(&p->own, 3), from = (int)draw(&p->own, (unsigned)(CELLS - n * count + 1));
    long *buf = p->scratch[p->used++];
    if (kind == 2) {
        for (int i = 0; i < count; i++) {
            p->added[0] += buf[i] = 1 + (long)draw(&p->own, 100);
            OK(MPI_Accumulate(&buf[i], 1, MPI_LONG, t, at(p, t, shared(p, 0)), 1, MPI_LONG, MPI_SUM,
                              p->win));
        }
        return;
    }
    for (int i = from; i < from + n * count; i++)
        if (busy[i])
            return;
    memset(busy + from, 1, (size_t)(n * count));
    for (int i = 0; i < n * count; i++)
        buf[i] = ++p->ticket * 100 + p->rank;
    for (int i = 0; i < count; i++) {
        /* accumulates may meet, and the last one counts */
        int k = kind && draw(&p->own, 2) ? 0 : i;
        memcpy(&p->model[t][from + k * n], &buf[i * n], (size_t)n * sizeof *buf);
        if (kind)
            OK(MPI_Accumulate(&buf[i * n], n, MPI_LONG, t, at(p, t, mine(p, from + k * n)), n,
                              MPI_LONG, MPI_REPLACE, p->win));
        else
            OK(MPI_Put(&buf[i * n], n, MPI_LONG, t, at(p, t, mine(p, from + k * n)), n, MPI_LONG,
                       p->win));
    }
}

static void check_got(const struct got *g, int n)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < g[k].n; i++)
            SIM_CHECK(g[k].buf[i] == g[k].want[i]);
}

enum { GOTS = 8 };
/* A burst on one target. Returns the gets to check once they are complete. */
static int burst(struct play *p, int t, unsigned char *busy, struct got *g, int room)
{
    int n = 0, ops = 1 + (int)draw(&p->own, 6);
    for (int i = 0; i < ops && p->used < 60; i++) {
        unsigned kind = draw(&p->own, 5);
        if (p->alike && draw(&p->own, 2))
            many_alike(p, t, busy);
        else if (kind < 2)
            put_some(p, t, busy);
        else if (kind < 4 && n < room)
            n += get_some(p, t, busy, &g[n]);
        else
            add_some(p, t);
    }
    return n;
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void fence_round(struct play *p)
{
    static struct got gots[SIM_RANKS][RANKS_MAX * GOTS];
    unsigned char busy[RANKS_MAX][CELLS];
    struct got *g = gots[p->rank];
    int n = 0, epochs = 1 + (int)draw(&p->common, 3);
    MPI_Win_fence(draw(&p->common, 2) ? MPI_MODE_NOPRECEDE : 0, p->win);
    for (int e = 0; e < epochs; e++) {
        memset(busy, 0, sizeof busy);
        p->used = n = 0;
        int bursts = (int)draw(&p->own, 5);
        for (int b = 0; b < bursts; b++) {
            int t = (int)draw(&p->own, (unsigned)p->size);
            n += burst(p, t, busy[t], g + n, GOTS);
        }
        SIM_CHECK(MPI_Win_fence(e + 1 == epochs ? MPI_MODE_NOSUCCEED : 0, p->win) == MPI_SUCCESS);
        check_got(g, n);
    }
}

static void pscw_round(struct play *p)
{
    static struct got gots[SIM_RANKS][RANKS_MAX * GOTS];
    unsigned char busy[RANKS_MAX][CELLS];
    struct got *g = gots[p->rank];
    int to[RANKS_MAX], from[RANKS_MAX], nto = 0, nfrom = 0, n = 0;
    uint64_t pairs = next(&p->common);
    for (int i = 0; i < p->size; i++) {
        if (pairs >> ((p->rank * p->size + i) % 60) & 1)
            to[nto++] = i;
        if (pairs >> ((i * p->size + p->rank) % 60) & 1)
            from[nfrom++] = i;
    }
    MPI_Group all, gto, gfrom;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, nto, to, &gto);
    MPI_Group_incl(all, nfrom, from, &gfrom);
    memset(busy, 0, sizeof busy);
    p->used = 0;
    MPI_Win_post(gfrom, 0, p->win);
    MPI_Win_start(gto, 0, p->win);
    for (int b = 0; nto && b < 3; b++) {
        int t = to[draw(&p->own, (unsigned)nto)];
        n += burst(p, t, busy[t], g + n, GOTS);
    }
    OK(MPI_Win_complete(p->win));
    check_got(g, n);
    if (draw(&p->own, 2)) {
        int flag = 0;
        while (!flag)
            OK(MPI_Win_test(p->win, &flag));
    } else {
        OK(MPI_Win_wait(p->win));
    }
    MPI_Group_free(&all);
    MPI_Group_free(&gto);
    MPI_Group_free(&gfrom);
}

/* Some operations in a passive epoch, with the flushes that make them comparable. */
static void passive_burst(struct play *p, int t)
{
    static struct got gots[SIM_RANKS][GOTS];
    unsigned char busy[CELLS];
    struct got *g = gots[p->rank];
    memset(busy, 0, sizeof busy);
    p->used = 0;
    int n = burst(p, t, busy, g, GOTS);
    switch (draw(&p->own, n ? 3 : 4)) {
    case 0:
        OK(MPI_Win_flush(t, p->win));
        break;
    case 1:
        OK(MPI_Win_flush_all(p->win));
        break;
    case 2:
        OK(MPI_Win_flush_local(t, p->win));
        check_got(g, n);
        n = 0;
        OK(MPI_Win_flush(t, p->win));
        break;
    default:
        MPI_Win_flush_all(p->win);
        break;
    }
    check_got(g, n);
}

static void request_burst(struct play *p, int t)
{
    MPI_Request req[2];
    int cell = (int)draw(&p->own, CELLS);
    long *buf = p->scratch[0];
    buf[0] = ++p->ticket * 100 + p->rank;
    OK(MPI_Rput(buf, 1, MPI_LONG, t, at(p, t, mine(p, cell)), 1, MPI_LONG, p->win, &req[0]));
    OK(MPI_Wait(&req[0], MPI_STATUS_IGNORE));
    p->model[t][cell] = buf[0];
    OK(MPI_Win_flush(t, p->win));
    OK(MPI_Rget(buf + 1, 1, MPI_LONG, t, at(p, t, mine(p, cell)), 1, MPI_LONG, p->win, &req[1]));
    OK(MPI_Wait(&req[1], MPI_STATUS_IGNORE));
    SIM_CHECK(buf[1] == buf[0]);
}

static void lock_round(struct play *p)
{
    int epochs = 1 + (int)draw(&p->own, 4);
    for (int e = 0; e < epochs; e++) {
        int a = (int)draw(&p->own, (unsigned)p->size), b = (int)draw(&p->own, (unsigned)p->size);
        int exclusive = draw(&p->own, 2) == 0;
        if (exclusive) { /* read, add, write */
            long v = -1, w;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, a, 0, p->win);
            MPI_Get(&v, 1, MPI_LONG, a, at(p, a, shared(p, 2)), 1, MPI_LONG, p->win);
            MPI_Win_flush(a, p->win);
            w = v + 1;
            p->added[2]++;
            MPI_Put(&w, 1, MPI_LONG, a, at(p, a, shared(p, 2)), 1, MPI_LONG, p->win);
            OK(MPI_Win_unlock(a, p->win));
            continue;
        }
        if (a > b) { /* two locks are taken in ascending order by every rank */
            int c = a;
            a = b;
            b = c;
        }
        MPI_Win_lock(MPI_LOCK_SHARED, a, 0, p->win);
        if (a != b)
            MPI_Win_lock(MPI_LOCK_SHARED, b, 0, p->win);
        if (draw(&p->own, 4))
            passive_burst(p, a);
        if (draw(&p->own, 3) == 0)
            request_burst(p, b);
        if (draw(&p->own, 4) == 0) { /* left for the unlock to complete */
            unsigned char busy[CELLS];
            memset(busy, 0, sizeof busy);
            p->used = 0;
            put_some(p, a, busy);
            add_some(p, b);
        }
        OK(MPI_Win_unlock(a, p->win));
        if (a != b)
            OK(MPI_Win_unlock(b, p->win));
    }
}

static void lock_all_round(struct play *p)
{
    int bursts = (int)draw(&p->own, 5);
    OK(MPI_Win_lock_all(0, p->win));
    for (int b = 0; b < bursts; b++) {
        int t = (int)draw(&p->own, (unsigned)p->size);
        if (draw(&p->own, 4))
            passive_burst(p, t);
        else
            request_burst(p, t);
    }
    p->used = 0;
    unsigned char busy[CELLS];
    memset(busy, 0, sizeof busy);
    int t = (int)draw(&p->own, (unsigned)p->size);
    put_some(p, t, busy);
    add_some(p, (int)draw(&p->own, (unsigned)p->size));
    OK(MPI_Win_unlock_all(p->win));
}

/* --- the whole -------------------------------------------------------------------------------- */

enum { DYNAMIC_ALIGN = ACC_STRIPES_MAX * ACC_STRIPE_BYTES };

static void window_make(struct play *p)
{
    size_t bytes = ((size_t)p->size * CELLS + SHARED) * sizeof(long);
    MPI_Aint here = 0;
    switch (draw(&p->common, 3)) {
    case 0:
        MPI_Win_allocate((MPI_Aint)bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &p->mem,
                         &p->win);
        break;
    case 1:
        p->mem = malloc(bytes);
        MPI_Win_create(p->mem, (MPI_Aint)bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                       &p->win);
        break;
    default:
        p->dynamic = 1;
        /* Stripes follow from the addresses; so aligned, from the same offsets in each run. */
        p->mem = aligned_alloc(DYNAMIC_ALIGN,
                               (bytes + DYNAMIC_ALIGN - 1) / DYNAMIC_ALIGN * DYNAMIC_ALIGN);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &p->win);
        MPI_Get_address(p->mem, &here);
        if (sim_seed() % 2)
            MPIX_Memhandle_create(p->win, p->mem, (MPI_Aint)bytes, &here);
        else
            MPI_Win_attach(p->win, p->mem, (MPI_Aint)bytes);
    }
    memset(p->mem, 0, bytes);
    MPI_Allgather(&here, 1, MPI_AINT, p->base, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_set_errhandler(p->win, MPI_ERRORS_RETURN);
}

/* Every rank's cells have what their writers put; the sums are what all added. */
static void final_check(struct play *p)
{
    long *want = malloc((size_t)p->size * CELLS * sizeof *want), sums[3], have[3], total[3];
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, p->rank, 0, p->win);
    MPI_Alltoall(p->model, CELLS, MPI_LONG, want, CELLS, MPI_LONG, MPI_COMM_WORLD);
    for (int i = 0; i < p->size * CELLS; i++)
        SIM_CHECK(p->mem[i] == want[i]);
    for (int i = 0; i < 3; i++)
        have[i] = p->mem[shared(p, i)];
    MPI_Win_unlock(p->rank, p->win);
    MPI_Allreduce(have, total, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(p->added, sums, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        SIM_CHECK(sums[i] == total[i]);
    free(want);
}

static void play_all(int alike)
{
    struct play *p = calloc(1, sizeof *p);
    p->alike = alike;
    if (alike && sim_seed() % 3 == 0) /* buffers run out, too */
        rma_self()->coalesce_buffers_max = 1 + (unsigned)(sim_seed() / 3 % 4);
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    p->common = sim_random() | 1;
    MPI_Bcast(&p->common, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    p->own = (p->common ^ (uint64_t)(p->rank + 1) * 0x9e3779b97f4a7c15ull) | 1;
    MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &p->every2);
    MPI_Type_commit(&p->every2);
    window_make(p);
    for (int r = 0; r < ROUNDS; r++) {
        MPI_Barrier(MPI_COMM_WORLD);
        switch (draw(&p->common, 5)) {
        case 0:
        case 1:
            fence_round(p);
            break;
        case 2:
            pscw_round(p);
            break;
        case 3:
            lock_round(p);
            break;
        default:
            lock_all_round(p);
        }
    }
    final_check(p);
    int flavor, found, *value;
    MPI_Win_get_attr(p->win, MPI_WIN_CREATE_FLAVOR, &value, &found);
    flavor = *value;
    MPI_Win_free(&p->win);
    MPI_Type_free(&p->every2);
    if (flavor != MPI_WIN_FLAVOR_ALLOCATE)
        free(p->mem);
    free(p);
}

static void random_program(void *arg)
{
    (void)arg;
    play_all(0);
}

static void coalesced_program(void *arg)
{
    (void)arg;
    play_all(1);
}

/* A block that is equal in all its cells whenever no process holds the exclusive lock. It is
 * written and read natively, with an accumulate by message behind it that the UNLOCK could be
 * piggybacked on. A lock released too early shows as a torn block. */
static void torn(void *arg)
{
    enum { BLOCK = 200, TURNS = 12 };
    int rank, size;
    long *mem, buf[BLOCK], one = 1;
    MPI_Win win;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate((BLOCK + 1) * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mem,
                     &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(mem, 0, (BLOCK + 1) * sizeof(long));
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TURNS && rank; i++) {
        int write = sim_random() % 2 == 0, tail = sim_random() % 2 == 0;
        for (int j = 0; j < BLOCK; j++)
            buf[j] = write ? rank * 1000 + i : -1;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        if (write)
            MPI_Put(buf, BLOCK, MPI_LONG, 0, 0, BLOCK, MPI_LONG, win);
        else
            MPI_Get(buf, BLOCK, MPI_LONG, 0, 0, BLOCK, MPI_LONG, win);
        if (tail)
            MPI_Accumulate(&one, 1, MPI_LONG, 0, BLOCK, 1, MPI_LONG, MPI_SUM, win);
        OK(MPI_Win_unlock(0, win));
        for (int j = 1; j < BLOCK; j++)
            SIM_CHECK(buf[j] == buf[0] && buf[j] >= 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* --- a rank dies while others use it natively ------------------------------------------------- */

enum { BLOCK = 150 };

static int put_block(const struct job *j, const long *buf, int rank)
{
    return MPI_Put(buf, BLOCK, MPI_LONG, rank, 0, BLOCK, MPI_LONG, j->win);
}

static int get_block(const struct job *j, long *buf, int rank)
{
    return MPI_Get(buf, BLOCK, MPI_LONG, rank, 0, BLOCK, MPI_LONG, j->win);
}

/* The user's again: nothing writes there any more. */
static void left_alone(long *buf, int n, int steps)
{
    memset(buf, 0x77, (size_t)n * sizeof *buf);
    sim_compute(steps);
    for (int i = 0; i < n; i++)
        SIM_CHECK(buf[i] == 0x7777777777777777);
}

/* The last one dies at some time.  The others come to an end, with an error or without, and what
 * they did among themselves is right, without one. */
static void dies(void *arg)
{
    enum { TURNS = 6 };
    (void)arg;
    long buf[3][BLOCK];
    struct job j = job_of_mortals(BLOCK);
    int last = j.size - 1, peer = (j.rank + 1) % last;
    if (j.rank == last) {
        sim_compute((int)(sim_random() % 400));
        sim_die();
    }
    for (int i = 0; i < TURNS; i++) {
        for (int k = 0; k < BLOCK; k++) {
            buf[0][k] = j.rank * 1000 + i;
            buf[1][k] = buf[2][k] = -1;
        }
        int all = sim_random() % 2 == 0;
        if (all) {
            MPI_Win_lock_all(0, j.win);
        } else {
            MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, j.win);
            MPI_Win_lock(MPI_LOCK_SHARED, last, 0, j.win);
        }
        OK(put_block(&j, buf[0], peer));
        (void)put_block(&j, buf[0], last);
        (void)get_block(&j, buf[1], last);
        if (sim_random() % 2)
            (void)MPI_Win_flush(last, j.win);
        OK(MPI_Win_flush(peer, j.win)); /* a death elsewhere is no error of the living */
        OK(get_block(&j, buf[2], peer));
        OK(MPI_Win_flush(peer, j.win));
        for (int k = 0; k < BLOCK; k++)
            SIM_CHECK(buf[2][k] == j.rank * 1000 + i || last > 2);
        if (all) {
            (void)MPI_Win_unlock_all(j.win);
        } else {
            (void)MPI_Win_unlock(peer, j.win);
            (void)MPI_Win_unlock(last, j.win);
        }
        left_alone(buf[0], 3 * BLOCK, 3);
    }
}

/* Rank 1 dies while a native get from it is under way. Rank 0 has heard of it before it unlocks,
 * flushes or needs the element for another: each waits for what the network still has. */
static void dies_under_way(void *arg)
{
    (void)arg;
    long buf[2][BLOCK];
    struct job j = job_of_mortals(BLOCK);
    if (stand_by(&j, 1))
        return;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j.win));
    for (int i = 0; i < 3; i++) { /* the first asks for the key */
        OK(get_block(&j, buf[0], 1));
        OK(MPI_Win_flush(1, j.win));
    }
    OK(get_block(&j, buf[0], 1));
    OK(get_block(&j, buf[1], 1));
    tell(1);
    hear_of_death(1);
    if (sim_seed() % 3 == 0) {
        (void)MPI_Win_flush(1, j.win);
    } else if (sim_seed() % 3 == 1) { /* there may be one element: it is taken from the dead */
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, j.win));
        put1(&j, j.mem, 2, 0);
        OK(MPI_Win_unlock(2, j.win));
    }
    (void)MPI_Win_unlock(1, j.win); /* no error where all came in time */
    left_alone(buf[0], 2 * BLOCK, 400);
    tell(2);
}

/* Rank 2 dies while rank 0 completes operations at both others, and the UNLOCK for rank 1 may still
 * wait behind native operations: it leaves nevertheless, and rank 1 can be locked again. */
static void dies_in_unlock(void *arg)
{
    enum { MANY = 4 };
    (void)arg;
    long buf[BLOCK], back[BLOCK];
    struct job j = job_of_mortals(BLOCK);
    if (j.rank) {
        hear(0);
        if (j.rank == 2) {
            sim_compute((int)(sim_random() % 100));
            sim_die();
        }
        return;
    }
    for (int i = 0; i < BLOCK; i++)
        buf[i] = i + 1;
    OK(MPI_Win_lock_all(0, j.win));
    for (int i = 0; i < 2; i++) /* the first asks for the keys */
        for (int t = 1; t <= 2; t++) {
            OK(put_block(&j, buf, t));
            OK(MPI_Win_flush(t, j.win));
        }
    tell(2);
    for (int i = 0; i < MANY; i++) /* an error where it is known dead by now */
        for (int t = 1; t <= 2; t++)
            SIM_CHECK(put_block(&j, buf, t) == MPI_SUCCESS || t == 2);
    if (sim_seed() % 2)
        (void)MPI_Win_flush_all(j.win);
    (void)MPI_Win_unlock_all(j.win); /* no error where all came in time */
    memset(back, -1, sizeof back);
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
    OK(get_block(&j, back, 1));
    OK(MPI_Win_unlock(1, j.win));
    SIM_CHECK(memcmp(buf, back, sizeof buf) == 0);
    tell(1);
}

/* --- knobs ------------------------------------------------------------------------------------ */

static void pick(struct sim_knobs *k, const char *name, const char *a, const char *b, const char *c,
                 unsigned shift)
{
    const char *v[] = {a, b, c};
    scenario_cvar(name, v[(k->seed * 0x9e3779b97f4a7c15ull >> (8 + shift)) % 3]);
}

static void vary(struct sim_knobs *k)
{
    pick(k, "MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD", "0", "8", "2", 0);
    pick(k, "MPIR_CVAR_CH3_RMA_DELAY_ISSUING_FOR_PIGGYBACKING", "0", "1", "0", 5);
    pick(k, "MPIR_CVAR_RMA_PIGGYBACK_POLLS", "128", "1", "5", 45);
    pick(k, "MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", "256", "1", "3", 10);
    pick(k, "MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", "256", "1", "2", 15);
    pick(k, "MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE", "1", "256", "2", 20);
}

/* What the drawn knobs offer natively is used in two thirds of the runs, down to single elements in
 * half of those. */
static void native(struct sim_knobs *k)
{
    static const int from[] = {0, 1, 1000};
    k->native_min = from[(k->seed * 0x9e3779b97f4a7c15ull >> 40) % 3];
    k->gather = k->seed % 3 ? 0 : k->seed % 2 ? 600 : 4096;
    k->native_lone = k->native_min != 1 && k->seed / 2 % 2;
}

static void vary_native(struct sim_knobs *k)
{
    vary(k);
    native(k);
}

static void starve(struct sim_knobs *k)
{
    vary(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_SLOTS_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_GLOBAL_POOL_SIZE", "0");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE", "0");
    pick(k, "MPIR_CVAR_CH3_RMA_TARGET_LOCK_DATA_BYTES", "0", "0", "655360", 25);
    k->nodes = k->ranks;
    native(k);
}

static void apart(struct sim_knobs *k)
{
    vary_native(k);
    k->nodes = k->ranks;
}

/* Operations wait until they fill a message; packets that hold few of them, or one coalesced packet
 * at a time, in a third of the runs each. */
static void gathered(struct sim_knobs *k)
{
    static const int room[] = {600, 1500, 16384};
    apart(k);
    k->ordered = 1;
    k->gather = room[k->seed / 2 % 3];
    pick(k, "MPIR_CVAR_RMA_PACKET_SIZE", "65536", "65536", "700", 35);
    pick(k, "MPIR_CVAR_RMA_PIGGYBACK_THRESHOLD", "1", "8", "2", 0);
    pick(k, "MPIR_CVAR_CH3_RMA_TARGET_LOCK_DATA_BYTES", "0", "655360", "2000", 25);
}

/* A few elements for all there is to do. */
static void starve_coalesced(struct sim_knobs *k)
{
    starve(k);
    gathered(k);
    pick(k, "MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", "12", "4", "3", 10);
}

/* Every put and get that can be is native; the card keeps no order on every second seed. */
static void all_native(struct sim_knobs *k)
{
    vary(k);
    k->nodes = k->seed % 3 ? k->ranks : 2;
    k->native = SIM_NATIVE_ALL;
    k->native_min = 1;
    k->native_ordered = k->seed % 2;
    k->native_reg = k->seed / 2 % 3 == 0;
    pick(k, "MPIR_CVAR_RMA_KEYS_SIZE", "1", "256", "2", 30);
}

static void mortal_native(struct sim_knobs *k)
{
    all_native(k);
    k->nodes = k->ranks;
    k->quiet_rank = -1;
    k->mortal = 1;
    if (k->seed % 2) /* the network is slow to give back what the dead will not take */
        k->max_delay = 300;
}

const struct scenario scenarios_rma[] = {
    {"rma-random-2", 2, 1, random_program, NULL, vary_native},
    {"rma-random-4", 4, 1, random_program, NULL, vary_native},
    {"rma-apart-3", 3, 1, random_program, NULL, apart},
    {"rma-starved-2", 2, 1, random_program, NULL, starve},
    {"rma-starved-5", 5, 1, random_program, NULL, starve},
    {"rma-coalesced-2", 2, 1, coalesced_program, NULL, gathered},
    {"rma-coalesced-4", 4, 1, coalesced_program, NULL, gathered},
    {"rma-coalesced-starved-3", 3, 1, coalesced_program, NULL, starve_coalesced},
    {"rma-native-2", 2, 1, random_program, NULL, all_native},
    {"rma-native-4", 4, 1, random_program, NULL, all_native},
    {"rma-native-torn", 4, 1, torn, NULL, all_native},
    {"rma-native-dies", 3, 1, dies, NULL, mortal_native},
    {"rma-native-dies-under-way", 3, 1, dies_under_way, NULL, mortal_native},
    {"rma-native-dies-in-unlock", 3, 1, dies_in_unlock, NULL, mortal_native},
    {NULL, 0, 0, NULL, NULL, NULL},
};
