/* mt.h - what the MPI test programs share.
 *
 * A program calls mt_init(), checks with CHECK() and CHECK_EQ(), and returns mt_finish().  Rank 0
 * prints " No Errors" only if no rank counted an error; else each failure stands on a line with
 * rank, file and line, and the exit status is 1.  Programs run on any number of ranks.
 * MT_SIGNALS=N in the environment: a signal every N microseconds, from before MPI_Init on, as a
 * profiler or the program's own timer brings. */
#ifndef MT_H
#define MT_H

#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#if defined(__GNUC__)
#define MT_UNUSED __attribute__((unused))
#else
#define MT_UNUSED
#endif

static int mt_rank, mt_size, mt_errors;

#define CHECK(cond) mt_check((cond) != 0, __FILE__, __LINE__, "%s", #cond)
#define CHECK_EQ(got, want) \
    mt_check_eq((long long)(got), (long long)(want), __FILE__, __LINE__, #got, #want)
/* like CHECK, with a message of one's own: MUST(cond, "count %d", n) */
#define MUST(cond, ...) mt_check((cond) != 0, __FILE__, __LINE__, __VA_ARGS__)

static MT_UNUSED int mt_check(int good, const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    char text[400];

    if (good)
        return 1;
    mt_errors++;
    if (mt_errors > 10)
        return 0;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    printf("rank %d of %d: %s:%d: failed: %s\n", mt_rank, mt_size, file, line, text);
    fflush(stdout);
    return 0;
}

static MT_UNUSED int mt_check_eq(long long got, long long want, const char *file, int line,
                                 const char *got_text, const char *want_text)
{
    return mt_check(got == want, file, line, "%s is %lld, expected %s = %lld", got_text, got,
                    want_text, want);
}

static volatile sig_atomic_t mt_signals;

static MT_UNUSED void mt_signal(int sig)
{
    (void)sig;
    mt_signals++;
}

/* The handler restarts no call: nothing in the library may take one that was cut short for news,
 * for an error, or for the end of a wait. */
static MT_UNUSED void mt_storm(void)
{
    const char *every = getenv("MT_SIGNALS");
    struct itimerval t;
    struct sigaction sa;

    if (!every)
        return;
    memset(&sa, 0, sizeof sa);
    sa.sa_handler = mt_signal;
    sigaction(SIGALRM, &sa, NULL);
    memset(&t, 0, sizeof t);
    t.it_interval.tv_usec = t.it_value.tv_usec = atoi(every);
    setitimer(ITIMER_REAL, &t, NULL);
}

static MT_UNUSED void mt_init(int *argc, char ***argv)
{
    mt_storm();
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &mt_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt_size);
}

/* Returns 0 if MPI_THREAD_MULTIPLE is not to be had. */
static MT_UNUSED int mt_init_threads(int *argc, char ***argv)
{
    int provided;

    mt_storm();
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &mt_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mt_size);
    return provided == MPI_THREAD_MULTIPLE;
}

/* Gathers the counts with plain sends, so that programs of other chapters need no collective. */
static MT_UNUSED int mt_finish(void)
{
    int total, one, r;

    CHECK(!getenv("MT_SIGNALS") || mt_signals > 0);
    total = mt_errors;
    if (mt_rank) {
        MPI_Send(&mt_errors, 1, MPI_INT, 0, 4711, MPI_COMM_WORLD);
        MPI_Recv(&total, 1, MPI_INT, 0, 4712, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (r = 1; r < mt_size; r++) {
            MPI_Recv(&one, 1, MPI_INT, r, 4711, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            total += one;
        }
        for (r = 1; r < mt_size; r++)
            MPI_Send(&total, 1, MPI_INT, r, 4712, MPI_COMM_WORLD);
        if (total == 0)
            printf(" No Errors\n");
        else
            printf(" Found %d errors\n", total);
        fflush(stdout);
    }
    MPI_Finalize();
    return total != 0;
}

/* The same where others have died, over the communicator of the living, which is freed. */
static MT_UNUSED int mt_finish_over(MPI_Comm comm)
{
    int all, rank;

    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Allreduce(&mt_errors, &all, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_rank(comm, &rank);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    if (rank == 0)
        printf(all ? " Found %d errors\n" : " No Errors\n", all);
    fflush(stdout);
    MPI_Finalize();
    return all != 0;
}

static MT_UNUSED int mt_class(int err)
{
    int c = err;

    MPI_Error_class(err, &c);
    return c;
}

static MT_UNUSED void *mt_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);

    if (!p) {
        fprintf(stderr, "out of memory: %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return p;
}

/* A byte that depends on all of seed and i: neighbours, shifts and swaps show. */
static MT_UNUSED unsigned char mt_byte(unsigned seed, size_t i)
{
    uint64_t x = (uint64_t)i * 0x9e3779b97f4a7c15u + seed * 0xbf58476d1ce4e5b9u;

    x ^= x >> 29;
    x *= 0x94d049bb133111ebu;
    return (unsigned char)(x >> 56);
}

static MT_UNUSED void mt_fill(void *buf, size_t n, unsigned seed)
{
    unsigned char *p = buf;
    size_t i;

    for (i = 0; i < n; i++)
        p[i] = mt_byte(seed, i);
}

/* Index of the first wrong byte, or -1. */
static MT_UNUSED long mt_wrong(const void *buf, size_t n, unsigned seed)
{
    const unsigned char *p = buf;
    size_t i;

    for (i = 0; i < n; i++)
        if (p[i] != mt_byte(seed, i))
            return (long)i;
    return -1;
}

#endif
