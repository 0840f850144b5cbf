/* Slow on purpose: the last rank "computes" (sleeps) longer than the others, so that they wait for
 * it at the barrier. */
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 20; i++) {
        nanosleep(&(struct timespec){0, rank == ranks - 1 ? 60000000 : 4000000}, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
