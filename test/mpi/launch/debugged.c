/* debugged.c - an MPI program for debugger.test: it calls a function with its rank. With an
 * argument rank 1 aborts the job. */
#include <mpi.h>
#include <stdio.h>

static __attribute__((noinline)) int answer(int rank)
{
    volatile int tens = 10 * rank; /* LINE answer */
    return tens;
}

int main(int argc, char **argv)
{
    int rank, tens;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tens = answer(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d has %d\n", rank, tens);
    fflush(stdout);
    if (argc > 1 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 5);
    MPI_Finalize();
    return 0;
}
