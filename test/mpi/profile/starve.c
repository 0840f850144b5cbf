/* Slow on purpose: an epoch that reaches all ranks, with one target element (the test sets the
 * pools). */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, ranks, *mine, got[64];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_set_name(win, "field");
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 1500; i++)
        MPI_Get(&got[i % 64], 1, MPI_INT, (rank + i) % ranks, i % 64, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
