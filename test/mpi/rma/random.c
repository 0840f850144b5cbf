/* random.c - runs random one-sided programs (random_rma.h) and compares them with their oracle.
 *
 *   random [--seed S] [--programs N] [--max-seconds T] [--threads K] [--without NAME,...]
 *   [--verbose 1]
 *
 * Seeds S, S+1, ...; by default 100 programs from seed 1.  A failing program names its seed; the
 * same seed, number of ranks and --without give the same program, of one version of random_rma.c
 * and dtgen.h:
 * what they come to draw changes what a seed means.  With --threads K threads of each process run
 * programs at once, each thread every K-th seed, with a communicator and windows of its own.
 * Names: cas, fetch-types, misaligned, shared, dynamic, create, types, pscw, fence, locks,
 * lock-all, requests, nocheck, big, acc, concurrent, negative, minmax, unequal, large-count,
 * gaps. */
#include "../mt.h"
#include "random_rma.h"
#include <pthread.h>

static const char *const names[] = {
    "cas",  "fetch-types", "misaligned", "shared",   "dynamic",  "create",      "types",
    "pscw", "fence",       "locks",      "lock-all", "requests", "nocheck",     "big",
    "acc",  "concurrent",  "negative",   "minmax",   "unequal",  "large-count", "gaps"};

static unsigned features(const char *list)
{
    unsigned f = 0, i;
    const char *p = list;
    size_t n;

    while (*p) {
        n = strcspn(p, ",");
        for (i = 0; i < sizeof names / sizeof *names; i++)
            if (strlen(names[i]) == n && strncmp(names[i], p, n) == 0)
                break;
        if (!MUST(i < sizeof names / sizeof *names, "no feature '%.*s'", (int)n, p))
            return f;
        f |= 1u << i;
        p += n + (p[n] == ',');
    }
    return f;
}

enum { MAX_THREADS = 16, MAX_FAILED = 5 };

static struct {
    uint64_t seed, programs;
    double limit, start;
    unsigned without;
    int threads, verbose;
} o = { .seed = 1, .programs = 100, .limit = 1e9 };

/* Every o.threads-th program, from `first` on. */
struct part {
    MPI_Comm comm;
    int first, wrong, failed;
    uint64_t done;
    struct rr_counts counts;
};

static void *run_part(void *arg)
{
    struct part *p = arg;
    uint64_t k, seed, stride = o.threads ? (uint64_t)o.threads : 1;
    int bad, all, stop = 0;
    char report[2500];

    for (k = (uint64_t)p->first; k < o.programs && !stop && p->failed < MAX_FAILED; k += stride) {
        seed = o.seed + k;
        if (o.verbose && mt_rank == 0) {
            printf("seed %llu\n", (unsigned long long)seed);
            fflush(stdout);
        }
        report[0] = 0;
        bad = random_rma(seed, o.without, p->comm, report, sizeof report, &p->counts);
        if (bad) {
            printf("seed %llu on %d ranks, rank %d, thread %d of %d: %d wrong; %s\n",
                   (unsigned long long)seed, mt_size, mt_rank, p->first, (int)stride, bad, report);
            fflush(stdout);
            p->wrong++;
        }
        p->done++;
        stop = MPI_Wtime() - o.start > o.limit;
        MPI_Bcast(&stop, 1, MPI_INT, 0, p->comm);
        MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_MAX, p->comm);
        p->failed += all != 0;
    }
    return NULL;
}

static void arguments(int argc, char **argv)
{
    int i;

    for (i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            o.seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--programs") == 0)
            o.programs = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--max-seconds") == 0)
            o.limit = atof(argv[i + 1]);
        else if (strcmp(argv[i], "--threads") == 0)
            o.threads = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--without") == 0)
            o.without = features(argv[i + 1]);
        else if (strcmp(argv[i], "--verbose") == 0)
            o.verbose = atoi(argv[i + 1]);
        else
            MUST(0, "unknown option %s", argv[i]);
    }
    MUST(o.threads >= 0 && o.threads <= MAX_THREADS, "--threads %d: 0 to %d", o.threads,
         MAX_THREADS);
}

int main(int argc, char **argv)
{
    struct part part[MAX_THREADS] = { { .comm = MPI_COMM_WORLD } };
    pthread_t thread[MAX_THREADS];
    int i, n, multiple, failed = 0;
    uint64_t done = 0;
    long mine[3] = { 0, 0, 0 }, sum[3];

    arguments(argc, argv);
    multiple = o.threads ? mt_init_threads(&argc, &argv) : (mt_init(&argc, &argv), 1);
    if (!MUST(multiple, "MPI_THREAD_MULTIPLE is not to be had") || mt_errors)
        return mt_finish();
    o.start = MPI_Wtime();
    n = o.threads ? o.threads : 1;
    for (i = 0; i < o.threads; i++) {
        part[i].first = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &part[i].comm);
    }
    for (i = 0; i < o.threads; i++)
        if (pthread_create(&thread[i], NULL, run_part, &part[i]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
    if (!o.threads)
        run_part(&part[0]);
    for (i = 0; i < o.threads; i++) {
        pthread_join(thread[i], NULL);
        MPI_Comm_free(&part[i].comm);
    }
    for (i = 0; i < n; i++) {
        mt_errors += part[i].wrong;
        failed += part[i].failed;
        done += part[i].done;
        mine[0] += part[i].counts.operations, mine[1] += part[i].counts.fetched,
            mine[2] += part[i].counts.phases;
    }
    MPI_Reduce(mine, sum, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (mt_rank == 0 && (o.verbose || failed || o.limit < 1e9))
        printf("%llu programs from seed %llu on %d ranks: %ld operations, %ld results compared, "
               "%ld phases, %d programs failed\n",
               (unsigned long long)done, (unsigned long long)o.seed, mt_size, sum[0], sum[1],
               sum[2] / mt_size, failed);
    return mt_finish();
}
