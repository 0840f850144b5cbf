/* continue_queue: the work queue of queue.c, without a wait for the next block: while a rank works
 * on one, the numbers of others are on their way.  The library calls has_come() for each. */
#include <mpi.h>
#include <stdio.h>

enum { BLOCKS = 200, BLOCK = 500, AHEAD = 3 };
#ifdef MPIX_NOTIFY_MAX
static MPI_Request all; /* complete when no number is awaited any more */
static MPI_Win win;
static int mine[2]; /* primes, blocks */
static int has_come(int error, void *number);

static void ask(long *number)
{
    static const long one = 1;
    MPI_Request request;
    MPIX_Rfetch_and_op(&one, number, MPI_LONG, 0, 0, MPI_SUM, win, &request);
    MPIX_Continue(&request, has_come, number, MPIX_CONT_DEFER_COMPLETE, MPI_STATUS_IGNORE, all);
}

static int has_come(int error, void *number)
{
    long block = *(long *)number, d;
    if (block >= BLOCKS) /* there are no more */
        return error;
    ask(number); /* the next one comes while this rank works */
    mine[1]++;
    for (long n = block ? block * BLOCK : 2; n < (block + 1) * BLOCK; n++) {
        for (d = 2; d * d <= n && n % d; d++)
            ;
        mine[0] += d * d > n;
    }
    return error;
}

int main(int argc, char **argv)
{
    long *counter, number[AHEAD];
    int rank, sum[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(rank ? 0 : sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &win);
    MPI_Win_lock_all(0, win);
    if (rank == 0)
        *counter = 0;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD); /* the counter is 0 before any rank adds to it */
    MPIX_Continue_init(0, 0, MPI_INFO_NULL, &all);
    MPI_Start(&all);
    for (int i = 0; i < AHEAD; i++)
        ask(&number[i]);
    MPI_Wait(&all, MPI_STATUS_IGNORE); /* has_come() runs in here */
    MPI_Request_free(&all);
    MPI_Win_unlock_all(win);
    MPI_Reduce(mine, sum, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d primes below %d in %d blocks\n", sum[0], BLOCKS * BLOCK, sum[1]);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
#else
int main(void) { return puts("continue_queue: this MPI has no continuations of windows") < 0; }
#endif
