/* loop.c - an MPI program that hangs in its own code: rank 1 computes for ever, rank 2 sleeps, the
 * others wait for them. Rank 1 has slept in MPI_Barrier before. */
#include <mpi.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static volatile double sum;
/* called by its address: a call by name passes a stub of the linker, which has no line */
static double (*volatile step)(double) = sin;

static __attribute__((noinline)) void endless(void)
{
    /* one line, so that every moment of the loop has its number */
    for (double x = 1;; sum += step(x += 1)) continue; /* LINE loop */
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 1)
        usleep(300000);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d ready\n", rank);
    fflush(stdout);
    if (rank == 1)
        endless();
    if (rank == 2)
        sleep(1000); /* LINE sleep */
    MPI_Barrier(MPI_COMM_WORLD); /* LINE wait */
    MPI_Finalize();
    return 0;
}
