/* notify_ring: blocks of numbers pass through all ranks, and each rank adds its number to them.
 * Each rank has places for a few blocks.  One counter says how many blocks have come from the left,
 * another how many places are free on the right: neither neighbour waits while there are some. */
#include <mpi.h>
#include <stdio.h>

enum { BLOCKS = 40, LENGTH = 1000, PLACES = 4 };
enum { DATA, FREE, COUNTERS }; /* blocks from the left; places on the right */

#ifdef MPIX_NOTIFY_MAX
int main(int argc, char **argv)
{
    int rank, ranks;
    long *places, sum = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(PLACES * LENGTH * sizeof(long), LENGTH * sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &places, &win); /* a displacement is a place */
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, COUNTERS);
    MPIX_Win_notify_set_value(win, FREE, PLACES); /* all are free before the first block */
    MPI_Win_lock_all(0, win);
    for (int b = 0; b < BLOCKS; b++) {
        int place = b % PLACES;
        long *block = places + place * LENGTH;

        if (rank > 0)
            MPIX_Win_notify_take(win, DATA, 1); /* block b is here */
        for (int i = 0; i < LENGTH; i++)
            block[i] = (rank ? block[i] : b * LENGTH + i) + rank;
        if (rank < ranks - 1) {
            MPIX_Win_notify_take(win, FREE, 1); /* the right neighbour has room */
            MPIX_Put_notify(block, LENGTH, MPI_LONG, rank + 1, place, LENGTH, MPI_LONG, DATA, win);
        }
        for (int i = 0; i < LENGTH; i++)
            sum += block[i];
        MPI_Win_flush_local_all(win); /* the block may be overwritten, and the left learns that */
        if (rank > 0)
            MPIX_Put_notify(NULL, 0, MPI_LONG, rank - 1, 0, 0, MPI_LONG, FREE, win);
    }
    MPI_Win_unlock_all(win);
    if (rank == ranks - 1) /* its sum is that of the results */
        printf("%d blocks through %d ranks: the sum is %ld\n", BLOCKS, ranks, sum);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
#else
int main(void) { return puts("notify_ring: this MPI has no notified operations") < 0; }
#endif
