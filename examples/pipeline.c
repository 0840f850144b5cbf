/* pipeline: blocks of numbers pass through all ranks, and each rank adds its number to them.  Post
 * and start synchronize neighbours only, so the ranks work on different blocks at the same time.
 * Two buffers: while one block is worked on, the left neighbour fills the other. */
#include <mpi.h>
#include <stdio.h>

enum { BLOCKS = 40, LENGTH = 1000 };

static MPI_Group group_of(int rank) /* the group of one rank of the world */
{
    MPI_Group world, one;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &one);
    MPI_Group_free(&world);
    return one;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    long *buffer[2], sum = 0;
    MPI_Win win[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int k = 0; k < 2; k++) /* a window for each buffer: only one of them may be exposed */
        MPI_Win_allocate(LENGTH * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &buffer[k], &win[k]);
    MPI_Group from = group_of((rank + ranks - 1) % ranks), to = group_of((rank + 1) % ranks);
    if (rank > 0)
        MPI_Win_post(from, 0, win[0]); /* the left rank may fill buffer 0 */
    for (int b = 0; b < BLOCKS; b++) {
        long *block = buffer[b % 2];
        if (rank > 0) {
            MPI_Win_wait(win[b % 2]); /* block b is here */
            if (b + 1 < BLOCKS)
                MPI_Win_post(from, 0, win[(b + 1) % 2]); /* and b + 1 may come meanwhile */
        }
        for (int i = 0; i < LENGTH; i++)
            block[i] = (rank ? block[i] : b * LENGTH + i) + rank;
        if (rank < ranks - 1) {
            MPI_Win_start(to, 0, win[b % 2]);
            MPI_Put(block, LENGTH, MPI_LONG, rank + 1, 0, LENGTH, MPI_LONG, win[b % 2]);
            MPI_Win_complete(win[b % 2]); /* the block may be overwritten */
        }
        for (int i = 0; i < LENGTH; i++)
            sum += block[i];
    }
    if (rank == ranks - 1) /* its sum is that of the results */
        printf("%d blocks through %d ranks: the sum is %ld\n", BLOCKS, ranks, sum);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Win_free(&win[0]);
    MPI_Win_free(&win[1]);
    return MPI_Finalize();
}
