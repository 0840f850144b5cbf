/* shared: the ranks of a node share an array and read each other's part by plain loads.
 * On each node they add up the squares of 1 to PART times the number of ranks there. */
#include <mpi.h>
#include <stdio.h>

enum { PART = 1000 };

int main(int argc, char **argv)
{
    int rank, node_rank, node_ranks, unit, right;
    long *part, *whole, sum = 0, expected, n;
    MPI_Aint bytes;
    MPI_Comm node;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_ranks);
    MPI_Win_allocate_shared(PART * sizeof(long), sizeof(long), MPI_INFO_NULL, node, &part, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &whole); /* the parts follow each other in memory */
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win); /* an epoch for loads and stores; it takes no lock */
    for (long i = 0; i < PART; i++)
        part[i] = (node_rank * PART + i + 1) * (node_rank * PART + i + 1);
    MPI_Win_sync(win);  /* my stores are before the barrier ... */
    MPI_Barrier(node);
    MPI_Win_sync(win);  /* ... and my loads of others' stores behind it */
    for (long i = 0; i < PART * node_ranks; i++)
        sum += whole[i];
    MPI_Win_unlock_all(win);
    n = (long)PART * node_ranks;
    expected = n * (n + 1) * (2 * n + 1) / 6;
    right = sum == expected;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d on this node: the sum is %ld, %s on every rank\n", node_ranks, sum,
               right ? "right" : "wrong");
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return !right;
}
