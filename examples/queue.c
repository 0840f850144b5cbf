/* queue: a work queue in one number.  Each rank takes the next block of work by adding 1 to a
 * counter on rank 0, so fast ranks take more blocks and no rank hands out work.
 * The work is to count primes: later blocks cost more than earlier ones. */
#include <mpi.h>
#include <stdio.h>

enum { BLOCKS = 200, BLOCK = 500 };

static int primes_between(long from, long to)
{
    int count = 0;

    for (long n = from < 2 ? 2 : from; n < to; n++) {
        long d = 2;
        while (d * d <= n && n % d)
            d++;
        count += d * d > n;
    }
    return count;
}

int main(int argc, char **argv)
{
    long one = 1, block, *counter;
    int rank, mine[2] = { 0, 0 }, all[2]; /* primes, blocks */
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(rank ? 0 : sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &win);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        *counter = 0;
        MPI_Win_sync(win);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* the counter is 0 before any rank adds to it */
    for (;;) {
        MPI_Fetch_and_op(&one, &block, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win); /* `block` is valid only now */
        if (block >= BLOCKS)
            break;
        mine[0] += primes_between(block * BLOCK, (block + 1) * BLOCK);
        mine[1]++;
    }
    MPI_Win_unlock_all(win);
    MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d primes below %d in %d blocks\n", all[0], BLOCKS * BLOCK, all[1]);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
