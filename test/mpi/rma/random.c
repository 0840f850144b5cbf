/* Runs random one-sided programs (random_rma.h) and compares them with their oracle.
 *
 *   random [--seed S] [--programs N] [--max-seconds T] [--without NAME,...] [--verbose 1]
 *
 * Seeds S, S+1, ...; by default 100 programs from seed 1.  A failing program names its seed; the same
 * seed, number of ranks and --without give the same program.  Names: cas, fetch-types, misaligned, shared,
 * dynamic, create, types, pscw, fence, locks, lock-all, requests, nocheck, big, acc, concurrent, negative,
 * minmax. */
#include "../mt.h"
#include "random_rma.h"

static const char *const names[] = { "cas", "fetch-types", "misaligned", "shared", "dynamic", "create", "types", "pscw",
                                     "fence", "locks", "lock-all", "requests", "nocheck", "big", "acc", "concurrent", "negative",
                                     "minmax" };

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

int main(int argc, char **argv)
{
    uint64_t seed = 1, k, programs = 100;
    double limit = 1e9, start;
    unsigned without = 0;
    int i, bad, all, failed = 0, stop = 0, verbose = 0;
    char report[2500];
    struct rr_counts counts = { 0, 0, 0 };
    long mine[3], sum[3];

    mt_init(&argc, &argv);
    for (i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--programs") == 0)
            programs = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--max-seconds") == 0)
            limit = atof(argv[i + 1]);
        else if (strcmp(argv[i], "--without") == 0)
            without = features(argv[i + 1]);
        else if (strcmp(argv[i], "--verbose") == 0)
            verbose = atoi(argv[i + 1]);
        else
            MUST(0, "unknown option %s", argv[i]);
    }
    start = MPI_Wtime();
    for (k = 0; k < programs && !stop && failed < 5; k++) {
        if (verbose && mt_rank == 0) {
            printf("seed %llu\n", (unsigned long long)(seed + k));
            fflush(stdout);
        }
        report[0] = 0;
        bad = random_rma(seed + k, without, MPI_COMM_WORLD, report, sizeof report, &counts);
        if (bad) {
            printf("seed %llu on %d ranks, rank %d: %d wrong; %s\n", (unsigned long long)(seed + k), mt_size, mt_rank, bad, report);
            fflush(stdout);
            mt_errors++;
        }
        stop = MPI_Wtime() - start > limit;
        MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        failed += all != 0;
    }
    mine[0] = counts.operations, mine[1] = counts.fetched, mine[2] = counts.phases;
    MPI_Reduce(mine, sum, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (mt_rank == 0 && (verbose || failed || limit < 1e9))
        printf("%llu programs from seed %llu on %d ranks: %ld operations, %ld results compared, %ld phases, %d programs failed\n",
               (unsigned long long)k, (unsigned long long)seed, mt_size, sum[0], sum[1], sum[2] / mt_size, failed);
    return mt_finish();
}
