/* first.c - first light in the simulator: two ranks with two threads each, a put and a fence. */
#include <mpi.h>

#include "scenarios.h"

/* Threads of a rank meet through these; one rank's fields are touched by its own fibers only. */
static struct {
    MPI_Win win;
    int open, put;
    long v; /* origin of the second thread's put: must last until the fence */
} meet[SIM_RANKS];

static void put_and_fence(void *arg)
{
    int rank, size, other;
    long *base;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    other = (rank + 1) % size;
    meet[rank].open = meet[rank].put = 0;
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &meet[rank].win);
    base[0] = base[1] = -1;
    MPI_Win_fence(0, meet[rank].win);
    meet[rank].open = 1;
    long v = 100 + rank;
    SIM_CHECK(MPI_Put(&v, 1, MPI_LONG, other, 0, 1, MPI_LONG, meet[rank].win) == MPI_SUCCESS);
    while (!meet[rank].put)
        sim_compute(1);
    MPI_Win_fence(0, meet[rank].win);
    int left = (rank + size - 1) % size;
    SIM_CHECK(base[0] == 100 + left);
    SIM_CHECK(base[1] == 200 + left);
    MPI_Win_free(&meet[rank].win);
}

static void second_thread(int thread, void *arg)
{
    int rank = sim_rank(), size;
    while (!meet[rank].open)
        sim_compute(1);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    meet[rank].v = 200 + rank;
    SIM_CHECK(MPI_Put(&meet[rank].v, 1, MPI_LONG, (rank + 1) % size, 1, 1, MPI_LONG,
                      meet[rank].win) == MPI_SUCCESS);
    meet[rank].put = 1;
}

const struct scenario scenarios_first[] = {
    {"first-put-fence", 2, 2, put_and_fence, second_thread, NULL},
    {"first-put-fence-5", 5, 2, put_and_fence, second_thread, NULL},
    {NULL, 0, 0, NULL, NULL, NULL},
};
