/* ring: each rank puts its number into the memory of the rank to its right. */
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, ranks, *left;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &left, &win);
    MPI_Win_fence(0, win); /* from here on every rank may put */
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win); /* here every put has arrived */
    printf("rank %d: my left neighbour is %d\n", rank, *left);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
