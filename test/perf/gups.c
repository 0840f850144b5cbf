/* gups.c - random updates of a table that is spread over all processes, for test/perf/shmem.
 *
 *   gups [LOG2 [UPDATES]]   words of the table at each process, and updates of each process
 *
 * Prints millions of updates in a second by all processes together. An update is an atomic
 * exclusive or of a random number, without a result. The second pass makes the same updates, and so
 * undoes them: each word that is not then as at the begin is an error. Compiled as OpenSHMEM
 * program, or with -DUSE_MPI as MPI program with one-sided calls. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef USE_MPI
#include <mpi.h>
static MPI_Win win;
static int me, all;

static uint64_t *begin(size_t words)
{
    uint64_t *at;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Win_allocate((MPI_Aint)(words * sizeof *at), sizeof *at, MPI_INFO_NULL, MPI_COMM_WORLD, &at,
                     &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    return at;
}

static inline void update(uint64_t *at, const uint64_t *base, const uint64_t *by, int to)
{
    MPI_Accumulate(by, 1, MPI_UINT64_T, to, at - base, 1, MPI_UINT64_T, MPI_BXOR, win);
}

static void complete(void)
{
    MPI_Win_flush_all(win);
}

/* The own words, too, are as all have left them. */
static void meet(void)
{
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
}

static long sum(long one)
{
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return one;
}

static void end(void)
{
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
}
#else
#include <shmem.h>
static int me, all;
static long *count; /* a symmetric word that all add to */

static uint64_t *begin(size_t words)
{
    shmem_init();
    me = shmem_my_pe();
    all = shmem_n_pes();
    count = shmem_calloc(1, sizeof *count);
    return shmem_malloc(words * sizeof(uint64_t));
}

static inline void update(uint64_t *at, const uint64_t *base, const uint64_t *by, int to)
{
    (void)base;
    shmem_uint64_atomic_xor(at, *by, to);
}

static void complete(void)
{
    shmem_quiet();
}

static void meet(void)
{
    shmem_barrier_all();
}

static long sum(long one)
{
    shmem_long_atomic_add(count, one, 0);
    shmem_barrier_all();
    return shmem_long_g(count, 0);
}

static void end(void)
{
    shmem_finalize();
}
#endif

enum { BUNDLE = 512 }; /* at most 1,024 updates may be on their way */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static void pass(uint64_t *table, int log, long updates)
{
    uint64_t state = 88172645463325252u + 1000003u * (uint64_t)me;
    uint64_t by[BUNDLE]; /* an operand is not changed before its update is complete */
    for (int i = 0; i < 20; i++)
        next(&state);
    for (long i = 0; i < updates; i++) {
        uint64_t r = by[i % BUNDLE] = next(&state);
        uint64_t word = r & ((UINT64_C(1) << log) - 1);
        update(table + word, table, &by[i % BUNDLE], (int)((r >> 32) % (unsigned)all));
        if (i % BUNDLE == BUNDLE - 1)
            complete();
    }
    complete();
}

int main(int argc, char **argv)
{
    int log = argc > 1 ? atoi(argv[1]) : 16;
    long updates = argc > 2 ? atol(argv[2]) : 4L << log;
    size_t words = (size_t)1 << log;
    uint64_t *table = begin(words);
    if (!table || log < 1 || log > 31 || updates < 1)
        return 2;
    for (size_t i = 0; i < words; i++)
        table[i] = i;
    meet();
    double t = now();
    pass(table, log, updates);
    meet();
    t = now() - t;
    long changed = 0, wrong = 0;
    for (size_t i = 0; i < words; i++)
        changed += table[i] != i;
    meet();
    pass(table, log, updates);
    meet();
    for (size_t i = 0; i < words; i++)
        wrong += table[i] != i;
    wrong = sum(wrong + (changed == 0));
    if (me == 0)
        printf("Rate (M updates/s): %.3f, %ld errors\n", 1e-6 * (double)updates * all / t, wrong);
    end();
    return wrong != 0;
}
