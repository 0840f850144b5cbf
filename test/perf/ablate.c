/* ablate.c - loops for test/perf/ablate: one setting changed at a time, and ranks that contend.
 *
 *   ablate ROW [BYTES]        prints "value X", in the unit that ROW has
 *
 * Portable MPI-3.  Two ranks; rank 0 is the origin, rank 1 waits in a barrier:
 *   lockput   us per lock, put of BYTES, unlock
 *   lock2put  us per lock, put of 8 bytes, put of BYTES, unlock: the lock is on another operation
 *             than the end
 *   putflush  us per put of BYTES and flush
 *   putrate   million puts of BYTES a second, one after another in memory, in one epoch
 *   accrate   the same, MPI_Accumulate
 *   scatter   million puts of BYTES a second to places at random
 *   epochs    us per lock_all, put of BYTES, unlock_all
 *   window    us per MPI_Win_allocate of BYTES and MPI_Win_free
 * All ranks contend:
 *   counter   million MPI_Fetch_and_op with flush a second, all ranks together, on one counter
 *   lock      million exclusive locks, put, unlock a second, all together, on one lock
 *   gups      million puts of 8 bytes a second, all together, to ranks and places at random, with
 *             a flush_all after each 64
 *
 * A batch lasts some 10 ms; of 15 batches the better quartile. For contention there are 5 of 60
 * ms, several turns of the system's scheduler. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCHES = 15, CONTENDED = 5, WINDOW = 1 << 20, CELLS = WINDOW / 8, FLUSH_EACH = 64, LOOK = 16
};

static int rank, ranks;
static long bytes = 8;
static MPI_Win win;
static char *mem, *buf;
static uint64_t seed;

static uint64_t random_next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* --- two ranks -------------------------------------------------------------------------------- */

static void put(MPI_Aint at, int n)
{
    MPI_Put(buf, n, MPI_BYTE, 1, at, n, MPI_BYTE, win);
}

static void lock_put(long n, int two)
{
    while (n--) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        if (two)
            put(WINDOW / 2, 8);
        put(0, (int)bytes);
        MPI_Win_unlock(1, win);
    }
}

static void lockput(long n)
{
    lock_put(n, 0);
}

static void lock2put(long n)
{
    lock_put(n, 1);
}

static void epochs(long n)
{
    while (n--) {
        MPI_Win_lock_all(0, win);
        put(0, (int)bytes);
        MPI_Win_unlock_all(win);
    }
}

static void putflush(long n)
{
    MPI_Win_lock_all(0, win);
    while (n--) {
        put(0, (int)bytes);
        MPI_Win_flush(1, win);
    }
    MPI_Win_unlock_all(win);
}

static void putrate(long n)
{
    MPI_Aint most = WINDOW / bytes, at = 0;
    MPI_Win_lock_all(0, win);
    while (n--) {
        put(at * bytes, (int)bytes);
        at = at + 1 < most ? at + 1 : 0;
    }
    MPI_Win_unlock_all(win);
}

static void scatter(long n)
{
    MPI_Aint most = WINDOW / bytes;
    MPI_Win_lock_all(0, win);
    while (n--)
        put((MPI_Aint)(random_next() % (uint64_t)most) * bytes, (int)bytes);
    MPI_Win_unlock_all(win);
}

static void accrate(long n)
{
    int count = (int)(bytes / 8);
    MPI_Aint most = WINDOW / bytes, at = 0;
    MPI_Win_lock_all(0, win);
    while (n--) {
        MPI_Accumulate(buf, count, MPI_INT64_T, 1, at * bytes, count, MPI_INT64_T, MPI_SUM, win);
        at = at + 1 < most ? at + 1 : 0;
    }
    MPI_Win_unlock_all(win);
}

static void window(long n)
{
    while (n--) {
        MPI_Win w;
        char *m;
        MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &m, &w);
        m[0] = m[bytes - 1] = 1;
        MPI_Win_free(&w);
    }
}

static double batch(void (*body)(long), long n, int both)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double t = MPI_Wtime();
    if (rank == 0 || both)
        body(n);
    t = MPI_Wtime() - t;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&t, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return t;
}

/* Seconds of one call. */
static double each(void (*body)(long), int both)
{
    double t[BATCHES], took;
    long n = 1;
    while ((took = batch(body, n, both)) < 0.01 && n < 1 << 26)
        n = took < 0.0005 ? 10 * n : (long)((double)n * 0.011 / took) + 1;
    for (int i = 0; i < BATCHES; i++)
        t[i] = batch(body, n, both) / (double)n;
    qsort(t, BATCHES, sizeof *t, by_value);
    return t[BATCHES / 4];
}

/* --- all ranks contend ------------------------------------------------------------------------ */

static void counter(long i)
{
    int64_t one = 1, was;
    (void)i;
    MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
}

static void lock(long i)
{
    (void)i;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(buf, 8, MPI_BYTE, 0, 0, 8, MPI_BYTE, win);
    MPI_Win_unlock(0, win);
}

static void gups(long i)
{
    uint64_t r = random_next();
    MPI_Put(buf, 8, MPI_BYTE, (int)((r >> 40) % (uint64_t)ranks), (MPI_Aint)(r % CELLS) * 8, 8,
            MPI_BYTE, win);
    if (i % FLUSH_EACH == FLUSH_EACH - 1)
        MPI_Win_flush_all(win);
}

/* Million calls a second of all ranks together.  Each rank divides its calls by the time that they
 * took: a rank that had no core when the batch began, or at its end, is not charged for that. */
static double together(void (*body)(long), int in_epoch)
{
    double rate[CONTENDED];
    for (int b = 0; b < CONTENDED; b++) {
        long n = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (in_epoch)
            MPI_Win_lock_all(0, win);
        double begin = MPI_Wtime(), t = begin;
        while (t < begin + 0.06) {
            for (int k = 0; k < LOOK; k++)
                body(n++);
            t = MPI_Wtime();
        }
        if (in_epoch)
            MPI_Win_unlock_all(win);
        double mine = (double)n / (t - begin);
        MPI_Allreduce(&mine, &rate[b], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    qsort(rate, CONTENDED, sizeof *rate, by_value);
    return 1e-6 * rate[CONTENDED - 1 - CONTENDED / 4];
}

/* ---------------------------------------------------------------------------------------------- */

static const struct row {
    const char *name;
    void (*body)(long);
    int rate, both, contends; /* contends: 1; 2 in an epoch on all */
} rows[] = {
    {"lockput", lockput, 0, 0, 0},   {"lock2put", lock2put, 0, 0, 0},
    {"epochs", epochs, 0, 0, 0},     {"putflush", putflush, 0, 0, 0},
    {"putrate", putrate, 1, 0, 0},   {"scatter", scatter, 1, 0, 0},
    {"accrate", accrate, 1, 0, 0},   {"window", window, 0, 1, 0},
    {"counter", counter, 1, 1, 2},   {"lock", lock, 1, 1, 1},
    {"gups", gups, 1, 1, 2},
};
enum { ROWS = sizeof rows / sizeof *rows };

int main(int argc, char **argv)
{
    const struct row *r = rows;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while (r < rows + ROWS && (argc < 2 || strcmp(argv[1], r->name) != 0))
        r++;
    if (argc > 2)
        bytes = atol(argv[2]);
    if (r == rows + ROWS || ranks < 2 || bytes < 8 || bytes > WINDOW) {
        fprintf(stderr, "ablate: no such row, one rank alone, or not 8 to %d bytes\n", WINDOW);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    seed = 88172645463325252u + 2654435761u * (uint64_t)(unsigned)rank;
    buf = calloc(1, WINDOW);
    MPI_Win_allocate(WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    memset(mem, 0, WINDOW);
    MPI_Barrier(MPI_COMM_WORLD);
    double v = r->contends ? together(r->body, r->contends == 2) : each(r->body, r->both);
    if (rank == 0)
        printf("value %.6g\n", r->contends ? v : r->rate ? 1e-6 / v : 1e6 * v);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    free(buf);
    MPI_Finalize();
    return 0;
}
