/* Programs with labels: each pair of accesses to the window of rank 0, the first by rank 1, the
 * second by rank 2 (a load or a store: by rank 0), with each synchronization between them, on each
 * pair of lanes. The label, whether they race, follows from the three; the performance variables
 * race_found and race_value tell what the checker says.
 *
 *   labels [EVERY [FIRST]]    each EVERYth program, beginning with number FIRST
 *
 * Loads and stores need mode full: -DFULL. Exit status 1: a wrong verdict. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "verdicts.h"

enum kind { GET, PUT, SUM, MAX, UNSIGNED, READ, FETCH, SWAP, LOAD, STORE, KINDS };
enum lane { SAME, PART, BESIDE, EVEN_ODD, EVEN_ALL, EVEN_GAP, LANES };
enum sync {
    FENCE_SAME, FENCE_BETWEEN, MESSAGE_FLUSH, MESSAGE_LOCAL, BARRIER_FLUSH, BARRIER_OPEN,
    LOCK_EXCLUSIVE, LOCK_SHARED, POST_TOGETHER, POST_APART, BCAST_FROM, BCAST_TO, REDUCE_TO,
    REDUCE_FROM, IBARRIER, REQUEST, UNLOCK_MESSAGE, SCAN, SPLIT, NOTHING, SYNCS
};
static const char *const kinds[] = {"get", "put", "sum", "max", "unsigned sum", "read by NO_OP",
                                    "fetch and sum", "swap", "load", "store"};
static const char *const lanes[] = {"same", "part", "beside", "even, odd", "even, all",
                                    "even, gap"};
static const char *const syncs[] = {
    "one fence epoch", "a fence", "flush, message", "flush_local, message", "flush, barrier",
    "barrier", "exclusive locks", "shared locks", "one exposure epoch", "two exposure epochs",
    "flush, bcast", "flush, bcast the other way", "flush, reduce", "flush, reduce the other way",
    "flush, ibarrier", "wait, message", "unlock, message", "flush, scan", "flush, split",
    "lock_all"};

enum { FIRST = 1, INTS = 16 };
struct program {
    enum kind a, b;
    enum lane lane;
    enum sync sync;
    int second; /* rank */
};
static int rank, *base, buffer[3 * INTS];
static volatile int sink;
static MPI_Win win;
static MPI_Datatype even;
static MPI_Request request;

/* --- the label -------------------------------------------------------------------------------- */

static int is_accumulate(enum kind k)
{
    return k >= SUM && k <= SWAP;
}

static int writes(enum kind k)
{
    return k != GET && k != READ && k != LOAD;
}

/* MPI-3.1 11.7, 11.7.1, 11.2.1 */
static int interfere(enum kind a, enum kind b)
{
    if (!writes(a) && !writes(b))
        return 0;
    if (!is_accumulate(a) || !is_accumulate(b))
        return 1;
    if ((a == UNSIGNED) != (b == UNSIGNED))
        return 1;
    if (a == READ || b == READ)
        return 0;
    return (a == MAX) != (b == MAX) || (a == SWAP) != (b == SWAP);
}

/* Which ints side 0 or 1 touches, from `at` on. */
static unsigned ints(enum lane l, int side, enum kind k, int *at, int *strided)
{
    static const int from[] = {[SAME] = 0, [PART] = 1, [BESIDE] = 2, [EVEN_ODD] = 1, [EVEN_ALL] = 2,
                               [EVEN_GAP] = 1};
    *at = side ? from[l] : 0;
    *strided = k != SWAP && k < LOAD && (l == EVEN_ODD || (l >= EVEN_ALL && !side));
    if (*strided)
        return 0x15u << *at;
    return k == SWAP || k >= LOAD || (l == EVEN_GAP && side) ? 1u << *at : 3u << *at;
}

static int is_ordered(const struct program *p)
{
    switch (p->sync) {
    case FENCE_BETWEEN: case MESSAGE_FLUSH: case BARRIER_FLUSH: case LOCK_EXCLUSIVE:
    case POST_APART: case BCAST_FROM: case REDUCE_TO: case IBARRIER: case UNLOCK_MESSAGE:
    case SPLIT:
        return 1;
    case SCAN: /* lower ranks to higher ones */
        return p->second > FIRST;
    case REQUEST: /* local completion; a get has read then */
        return p->a == GET;
    case MESSAGE_LOCAL:
        return p->a == GET || p->a == READ;
    default:
        return 0;
    }
}

static int is_program(const struct program *p)
{
    if (p->a >= LOAD || (p->sync == MESSAGE_LOCAL && (p->a == FETCH || p->a == SWAP)))
        return 0; /* what flush_local promises of these is not for labels */
    return p->sync != REQUEST || p->a == GET || p->a == PUT || p->a == SUM;
}

static int races(const struct program *p)
{
    int at, strided;
    unsigned a = ints(p->lane, 0, p->a, &at, &strided), b = ints(p->lane, 1, p->b, &at, &strided);
    return interfere(p->a, p->b) && (a & b) && !is_ordered(p);
}

/* --- the accesses ----------------------------------------------------------------------------- */

static void run(enum kind k, enum lane lane, int side, int by_request)
{
    int at, strided, n, *in = buffer, *out = buffer + INTS;
    unsigned mask = ints(lane, side, k, &at, &strided);
    MPI_Datatype type = strided ? even : k == UNSIGNED ? MPI_UNSIGNED : MPI_INT;
    MPI_Datatype plain = k == UNSIGNED ? MPI_UNSIGNED : MPI_INT;
    int count = strided ? 1 : mask == 1u << at ? 1 : 2;
    n = strided ? 3 : count;
    if (k == UNSIGNED && strided) { /* the same lanes of another type */
        MPI_Type_vector(3, 1, 2, MPI_UNSIGNED, &type);
        MPI_Type_commit(&type);
    }
    switch (k) {
    case GET:
        if (by_request)
            MPI_Rget(in, n, plain, 0, at, count, type, win, &request);
        else
            MPI_Get(in, n, plain, 0, at, count, type, win);
        break;
    case PUT:
        if (by_request)
            MPI_Rput(in, n, plain, 0, at, count, type, win, &request);
        else
            MPI_Put(in, n, plain, 0, at, count, type, win);
        break;
    case SUM: case MAX: case UNSIGNED:
        if (by_request)
            MPI_Raccumulate(in, n, plain, 0, at, count, type, MPI_SUM, win, &request);
        else
            MPI_Accumulate(in, n, plain, 0, at, count, type, k == MAX ? MPI_MAX : MPI_SUM, win);
        break;
    case READ: case FETCH:
        MPI_Get_accumulate(in, n, plain, out, n, plain, 0, at, count, type,
                           k == READ ? MPI_NO_OP : MPI_SUM, win);
        break;
    case SWAP:
        MPI_Compare_and_swap(in, out, out + INTS, MPI_INT, 0, at, win);
        break;
    case LOAD:
        sink = base[at];
        break;
    default:
        base[at] = 1;
        break;
    }
    if (k == UNSIGNED && strided)
        MPI_Type_free(&type);
}

static void first(const struct program *p)
{
    if (rank == FIRST)
        run(p->a, p->lane, 0, p->sync == REQUEST);
}

static void second(const struct program *p)
{
    if (rank == p->second)
        run(p->b, p->lane, 1, 0);
}

/* --- the synchronization ---------------------------------------------------------------------- */

static void message(const struct program *p)
{
    int v = 0;
    if (rank == FIRST)
        MPI_Send(&v, 1, MPI_INT, p->second, 0, MPI_COMM_WORLD);
    else if (rank == p->second)
        MPI_Recv(&v, 1, MPI_INT, FIRST, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Between the two, in MPI_Win_lock_all. */
static void between(const struct program *p)
{
    int v = 0, sum;
    MPI_Comm two;
    MPI_Request r;
    switch (p->sync) {
    case MESSAGE_FLUSH: case MESSAGE_LOCAL: case REQUEST:
        message(p);
        break;
    case BARRIER_FLUSH: case BARRIER_OPEN:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case BCAST_FROM: case BCAST_TO:
        MPI_Bcast(&v, 1, MPI_INT, p->sync == BCAST_FROM ? FIRST : p->second, MPI_COMM_WORLD);
        break;
    case REDUCE_TO: case REDUCE_FROM:
        MPI_Reduce(&v, &sum, 1, MPI_INT, MPI_SUM, p->sync == REDUCE_TO ? p->second : FIRST,
                   MPI_COMM_WORLD);
        break;
    case IBARRIER:
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        break;
    case SCAN:
        MPI_Scan(&v, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case SPLIT:
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &two);
        MPI_Comm_free(&two);
        break;
    default:
        break;
    }
}

static void in_lock_all(const struct program *p)
{
    int open = p->sync == BARRIER_OPEN || p->sync == REQUEST || p->sync == NOTHING;
    MPI_Win_lock_all(0, win);
    first(p);
    if (rank == FIRST && p->sync == REQUEST)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else if (rank == FIRST && p->sync == MESSAGE_LOCAL)
        MPI_Win_flush_local(0, win);
    else if (rank == FIRST && !open)
        MPI_Win_flush(0, win);
    between(p);
    second(p);
    MPI_Win_unlock_all(win);
}

static void in_locks(const struct program *p)
{
    int type = p->sync == LOCK_EXCLUSIVE ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    for (int side = 0; side < 2; side++) {
        if (rank == (side ? p->second : FIRST)) {
            if (side && p->sync == UNLOCK_MESSAGE)
                message(p);
            MPI_Win_lock(type, 0, 0, win);
            if (side)
                second(p);
            else
                first(p);
            MPI_Win_unlock(0, win);
            if (!side && p->sync == UNLOCK_MESSAGE)
                message(p);
        }
    }
}

static void in_fences(const struct program *p)
{
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    first(p);
    if (p->sync == FENCE_BETWEEN)
        MPI_Win_fence(0, win);
    second(p);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

/* Rank 0 lets them in, both at once or one behind the other. */
static void in_posts(const struct program *p)
{
    static const int zero = 0, both[2] = {1, 2};
    MPI_Group all, g;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int r = 1; r <= 2; r++) {
        int together = p->sync == POST_TOGETHER;
        if (rank == 0) {
            MPI_Group_incl(all, together ? 2 : 1, together ? both : &r, &g);
            if (!together && r == 2 && p->second == 0)
                second(p); /* behind the epoch of the first */
            MPI_Win_post(g, 0, win);
            if (together)
                second(p);
            MPI_Win_wait(win);
            MPI_Group_free(&g);
        } else if (together || rank == r) {
            MPI_Group_incl(all, 1, &zero, &g);
            MPI_Win_start(g, 0, win);
            first(p);
            second(p);
            MPI_Win_complete(win);
            MPI_Group_free(&g);
        }
        if (together)
            break;
    }
    MPI_Group_free(&all);
}

static void play(const struct program *p)
{
    if (p->sync <= FENCE_BETWEEN)
        in_fences(p);
    else if (p->sync == POST_TOGETHER || p->sync == POST_APART)
        in_posts(p);
    else if (p->sync == LOCK_EXCLUSIVE || p->sync == LOCK_SHARED || p->sync == UNLOCK_MESSAGE)
        in_locks(p);
    else
        in_lock_all(p);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- verdicts --------------------------------------------------------------------------------- */

/* 1: wrong */
static int judge(const struct program *p, unsigned long long sure, unsigned long long all)
{
    int want = races(p), told = verdicts(SURE) != sure;
    if (want == told && verdicts(WITH_POSSIBLE) - all == verdicts(SURE) - sure)
        return 0;
    printf("wrong: %s by rank 1, %s by rank %d, %s, lanes %s: %s\n", kinds[p->a], kinds[p->b],
           p->second, syncs[p->sync], lanes[p->lane],
           told ? "no race, but reported" : want ? "a race, but not reported" : "possible");
    return 1;
}

int main(int argc, char **argv)
{
    int every = argc > 1 ? atoi(argv[1]) : 1, from = argc > 2 ? atoi(argv[2]) : 0;
    int n = 0, ran = 0, wrong = 0, racing = 0, last = KINDS;
    unsigned long long sure = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(3, 1, 2, MPI_INT, &even);
    MPI_Type_commit(&even);
    MPI_Win_allocate(INTS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    open_variables();
#ifndef FULL
    last = LOAD;
#endif
    for (int i = 0; i < last * last * LANES * SYNCS; i++) {
        struct program p = {.sync = i % SYNCS, .lane = i / SYNCS % LANES,
                            .b = i / SYNCS / LANES % last, .a = i / SYNCS / LANES / last};
        p.second = p.b >= LOAD ? 0 : 2;
        if (!is_program(&p) || n++ % every != from)
            continue;
        play(&p);
        ran++;
        racing += races(&p);
        if (!rank)
            wrong += judge(&p, sure, all);
        sure = verdicts(SURE);
        all = verdicts(WITH_POSSIBLE);
        MPI_Barrier(MPI_COMM_WORLD); /* the others do not go ahead of the verdict */
    }
    if (!rank)
        printf("%d programs, %d race, %d wrong\n", ran, racing, wrong);
    MPI_Win_free(&win);
    MPI_Type_free(&even);
    MPI_Finalize();
    return wrong != 0;
}
