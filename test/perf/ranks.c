/* ranks.c - more ranks than cores, for test/perf/ablate: what a program of N ranks pays to begin
 * and to agree.
 *
 *   ranks           MPI_Init, MPI_Barrier, MPI_Finalize: the script that starts it takes the time
 *   ranks loops     prints "barrier US" and "allreduce US": of one MPI_Barrier, and of one
 *                   MPI_Allreduce of 8 bytes
 *
 * Portable MPI.  A batch lasts 40 ms or one call, if that is longer; of 5 batches the better
 * quartile. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 5, MOST = 1 << 16 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void)
{
    double mine = 1, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Seconds that n calls take rank 0; all ranks learn them. */
static double batch(void (*body)(void), int n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double t = MPI_Wtime();
    for (int i = 0; i < n; i++)
        body();
    t = MPI_Wtime() - t;
    MPI_Bcast(&t, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return t;
}

static double each(void (*body)(void))
{
    double t[BATCHES], took;
    int n = 1;
    while ((took = batch(body, n)) < 0.02 && n < MOST)
        n *= 2;
    for (int i = 0; i < BATCHES; i++)
        t[i] = batch(body, n) / n;
    qsort(t, BATCHES, sizeof *t, by_value);
    return t[BATCHES / 4];
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1) {
        double b = each(barrier), a = each(allreduce);
        if (rank == 0)
            printf("barrier %.6g\nallreduce %.6g\n", 1e6 * b, 1e6 * a);
    }
    MPI_Finalize();
    return 0;
}
