/* handle_primes: each rank lists the primes of its part of the numbers, in memory for just so many.
 * A handle of this memory goes to rank 0, which gets all lists: no other window has to be made. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { LIMIT = 100000 };
#ifdef MPIX_NOTIFY_MAX
/* The primes in [from, to), written to `list` unless it is NULL. */
static int primes(int from, int to, int *list)
{
    int count = 0, d;
    for (int n = from < 2 ? 2 : from; n < to; n++) {
        for (d = 2; d * d <= n && n % d; d++)
            ;
        if (d * d > n && ++count && list)
            list[count - 1] = n;
    }
    return count;
}

int main(int argc, char **argv)
{
    int rank, ranks, *list;
    MPI_Aint mine[2]; /* how many, the handle */
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int from = (int)((long)LIMIT * rank / ranks), to = (int)((long)LIMIT * (rank + 1) / ranks);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    mine[0] = primes(from, to, NULL);
    MPI_Alloc_mem(mine[0] * (MPI_Aint)sizeof(int), MPI_INFO_NULL, &list);
    primes(from, to, list);
    MPIX_Memhandle_create(win, list, mine[0] * (MPI_Aint)sizeof(int), &mine[1]); /* a local call */
    MPI_Win_sync(win); /* what is in the list can be read by others */

    MPI_Aint theirs[ranks][2];
    MPI_Gather(mine, 2, MPI_AINT, theirs, 2, MPI_AINT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        int *table = malloc(LIMIT * sizeof *table), n = 0, last;
        long sum = 0;
        for (int r = 0; r < ranks; n += (int)theirs[r++][0])
            MPI_Get(table + n, (int)theirs[r][0], MPI_INT, r, theirs[r][1], (int)theirs[r][0],
                    MPI_INT, win);
        MPI_Aint *its = theirs[ranks - 1]; /* bytes may be added to a handle */
        MPI_Get(&last, 1, MPI_INT, ranks - 1, its[1] + (its[0] - 1) * (MPI_Aint)sizeof(int), 1,
                MPI_INT, win);
        MPI_Win_flush_all(win);
        for (int i = 0; i < n; i++)
            sum += table[i];
        printf("%d primes below %d, the last is %d, their sum is %ld\n", n, LIMIT, last, sum);
        free(table);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* rank 0 has the lists */
    MPIX_Memhandle_free(win, mine[1]);
    MPI_Free_mem(list);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
#else
int main(void) { return puts("handle_primes: this MPI has no memory handles") < 0; }
#endif
