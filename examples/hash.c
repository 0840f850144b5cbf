/* hash: a hash table that is spread over all ranks.  Each key has a home slot on some rank; an
 * insertion claims the first free slot from there on by compare-and-swap.  Each rank inserts its
 * own keys and keys that all ranks insert, then looks up every key. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 512, OWN = 100, COMMON = 50 }; /* slots, keys of each rank, keys of all */

static uint64_t hash(uint64_t key)
{
    key *= 0x9E3779B97F4A7C15u; /* 2^64 / the golden ratio: neighbouring keys go far apart */
    return key ^ key >> 29;
}

/* Looks for a key; claims the first free slot for it if `insert`.  Returns 1 if it was there. */
static int find(MPI_Win win, int ranks, int number, int insert)
{
    uint64_t key = (uint64_t)number, free_slot = 0, was;

    for (uint64_t h = hash(key);; h++) {
        int rank = (int)(h / SLOTS % (uint64_t)ranks);
        MPI_Aint slot = (MPI_Aint)(h % SLOTS);
        if (insert)
            MPI_Compare_and_swap(&key, &free_slot, &was, MPI_UINT64_T, rank, slot, win);
        else /* an atomic read */
            MPI_Fetch_and_op(NULL, &was, MPI_UINT64_T, rank, slot, MPI_NO_OP, win);
        MPI_Win_flush(rank, win);
        if (was == key || was == free_slot)
            return was == key;
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, twice = 0, found = 0, sum[2];
    uint64_t *slots;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_allocate(SLOTS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &slots, &win);
    memset(slots, 0, SLOTS * 8); /* key 0 means: free */
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);           /* my zeros are in the window ... */
    MPI_Barrier(MPI_COMM_WORLD); /* ... and so are those of all others */
    for (int k = 1; k <= OWN + COMMON; k++) /* common keys are 1 to COMMON */
        twice += find(win, ranks, k <= COMMON ? k : k + rank * OWN, 1);
    MPI_Barrier(MPI_COMM_WORLD); /* everything is inserted */
    for (int k = 1; k <= COMMON + ranks * OWN + 7; k++) /* seven more keys than there are */
        found += find(win, ranks, k, 0);
    MPI_Win_unlock_all(win);
    MPI_Reduce((int[]){ twice, found }, sum, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d keys, met %d times, found %d times\n", COMMON + ranks * OWN, sum[0], sum[1]);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
