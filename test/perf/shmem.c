/* shmem.c - times of short OpenSHMEM calls between two PEs, for test/perf/shmem.
 *
 *   shmem [MS]        prints "value NANOSECONDS ROW" lines; MS: milliseconds for each row
 *
 * PE 0 measures and PE 1 waits in a barrier, but in rows "there and back". It compiles with
 * OpenSHMEM 1.4, too; rows of later versions are then missing. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CELLS = 64, BATCH = 100, TURNS = 7 };

static long *cell;
static unsigned long *word;
static long in_data[CELLS];
static long value, taken;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* --- one row: n times ------------------------------------------------------------------------- */

static void p_quiet(long n)
{
    for (long i = 0; i < n; i++) {
        shmem_long_p(cell, i, 1);
        shmem_quiet();
    }
}

static void p_data_quiet(long n)
{
    for (long i = 0; i < n; i++) {
        shmem_long_p(in_data, i, 1);
        shmem_quiet();
    }
}

static void p_many(long n)
{
    for (long i = 0; i < n; i++) {
        shmem_long_p(&cell[i % CELLS], i, 1);
        if (i % BATCH == BATCH - 1)
            shmem_quiet();
    }
    shmem_quiet();
}

static void g(long n)
{
    for (long i = 0; i < n; i++)
        taken += shmem_long_g(cell, 1);
}

static void put_quiet(long n)
{
    for (long i = 0; i < n; i++) {
        value = i;
        shmem_long_put(cell, &value, 1, 1);
        shmem_quiet();
    }
}

static void get(long n)
{
    for (long i = 0; i < n; i++) {
        shmem_long_get(&value, cell, 1, 1);
        taken += value;
    }
}

static void fetch_add(long n)
{
    for (long i = 0; i < n; i++)
        taken += shmem_long_atomic_fetch_add(cell, 1, 1);
}

static void add_quiet(long n)
{
    for (long i = 0; i < n; i++) {
        shmem_long_atomic_add(cell, 1, 1);
        shmem_quiet();
    }
}

static void swap(long n)
{
    for (long i = 0; i < n; i++)
        taken += shmem_long_atomic_swap(cell, i, 1);
}

static void compare_swap(long n)
{
    shmem_long_p(cell, 0, 1);
    shmem_quiet();
    for (long i = 0; i < n; i++)
        taken += shmem_long_atomic_compare_swap(cell, i, i + 1, 1);
}

static void there_and_back(long n)
{
    int me = shmem_my_pe();
    for (long i = 1; i <= n; i++) {
        if (me == 0)
            shmem_long_p(&cell[1], i, 1);
        shmem_long_wait_until(&cell[1], SHMEM_CMP_EQ, i);
        if (me == 1)
            shmem_long_p(&cell[1], i, 0);
    }
}

static void barrier(long n)
{
    for (long i = 0; i < n; i++)
        shmem_barrier_all();
}

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
static void put_signal(long n)
{
    for (long i = 0; i < n; i++) {
        value = i;
        shmem_long_put_signal(cell, &value, 1, word, (unsigned long)i, SHMEM_SIGNAL_SET, 1);
    }
    shmem_quiet();
}

static void signal_there_and_back(long n)
{
    int me = shmem_my_pe();
    for (long i = 1; i <= n; i++) {
        value = i;
        if (me == 0)
            shmem_long_put_signal(cell, &value, 1, word, (unsigned long)i, SHMEM_SIGNAL_SET, 1);
        shmem_signal_wait_until(word, SHMEM_CMP_EQ, (unsigned long)i);
        if (me == 1)
            shmem_long_put_signal(cell, &value, 1, word, (unsigned long)i, SHMEM_SIGNAL_SET, 0);
    }
}
#endif

/* both: PE 1 runs the function, too */
static const struct row {
    const char *name;
    void (*run)(long n);
    int both;
} rows[] = {
    {"long_p + quiet", p_quiet, 0},
    {"long_p, a quiet for 100", p_many, 0},
    {"long_p of static data + quiet", p_data_quiet, 0},
    {"long_put of 1 + quiet", put_quiet, 0},
    {"long_g", g, 0},
    {"long_get of 1", get, 0},
    {"atomic_fetch_add", fetch_add, 0},
    {"atomic_add + quiet", add_quiet, 0},
    {"atomic_swap", swap, 0},
    {"atomic_compare_swap", compare_swap, 0},
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
    {"put_signal of 8 bytes", put_signal, 0},
    {"put_signal and wait, there and back", signal_there_and_back, 1},
#endif
    {"long_p and wait_until, there and back", there_and_back, 1},
    {"barrier_all", barrier, 1},
};

static void clear(void)
{
    memset(cell, 0, CELLS * sizeof *cell);
    *word = 0;
    shmem_barrier_all();
}

/* Of this many calls, which all PEs know, the shortest time of TURNS. */
static double measure(const struct row *r, long n)
{
    double best = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        clear();
        double t = now();
        if (r->both || shmem_my_pe() == 0)
            r->run(n);
        t = (now() - t) / (double)n;
        if (turn == 0 || t < best)
            best = t;
        shmem_barrier_all();
    }
    return best;
}

int main(int argc, char **argv)
{
    shmem_init();
    double ms = argc > 1 ? atof(argv[1]) : 10;
    cell = shmem_calloc(CELLS, sizeof *cell);
    word = shmem_calloc(1, sizeof *word);
    long *count = shmem_calloc(1, sizeof *count);
    if (shmem_n_pes() != 2 || ms <= 0 || !cell || !word || !count) {
        fprintf(stderr, "shmem: two PEs, and a time in milliseconds\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double each = measure(&rows[i], 200);
        if (shmem_my_pe() == 0) {
            double n = ms * 1e6 / TURNS / (each > 0 ? each : 1);
            *count = n < 200 ? 200 : n > 1e7 ? 10000000 : (long)n;
            shmem_long_p(count, *count, 1);
            shmem_quiet();
        }
        shmem_barrier_all();
        each = measure(&rows[i], *count);
        if (shmem_my_pe() == 0) {
            printf("value %.3f %s\n", each, rows[i].name);
            fflush(stdout);
        }
    }
    shmem_finalize();
    return taken == 1 ? 3 : 0;
}
