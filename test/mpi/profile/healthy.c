/* As it should be: equal work (sleep), few synchronizations, allocated memory. No advice. */
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    double *mine, sum = 0, value = 1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(64 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                     &win);
    MPI_Win_set_name(win, "halo");
    MPI_Win_fence(0, win);
    for (int i = 0; i < 5; i++) {
        nanosleep(&(struct timespec){0, 200000000}, NULL);
        MPI_Put(&value, 1, MPI_DOUBLE, (rank + 1) % ranks, i, 1, MPI_DOUBLE, win);
        MPI_Win_fence(0, win);
    }
    MPI_Allreduce(mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
