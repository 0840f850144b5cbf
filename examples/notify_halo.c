/* notify_halo: neighbours exchange the outer cells of their parts, without a fence: a rank waits
 * for its two neighbours only.  Each put is counted at its target, and the target waits for that.
 * Each neighbour has a counter of its own: one neighbour may be a step ahead of the other. */
#include <mpi.h>
#include <stdio.h>

enum { CELLS = 16, STEPS = 50, STRIDE = CELLS + 2 }; /* a buffer: halo, cells, halo */
enum { LEFT, RIGHT, COUNTERS };                      /* a counter for each neighbour */

#ifdef MPIX_NOTIFY_MAX
int main(int argc, char **argv)
{
    int rank, ranks;
    long *memory, sum = 0, all;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Win_allocate(2 * STRIDE * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    MPIX_Win_notify_set_num(win, MPI_INFO_NULL, COUNTERS);
    for (int i = 1; i <= CELLS; i++)
        memory[i] = rank * CELLS + i;
    MPI_Win_lock_all(0, win);
    for (int step = 0; step < STEPS; step++) {
        long *now = memory + STRIDE * (step % 2), *next = memory + STRIDE - STRIDE * (step % 2);
        MPI_Aint at = now - memory;

        /* My first cell goes to the left neighbour, which has me on its right. */
        MPIX_Put_notify(&now[1], 1, MPI_LONG, left, at + CELLS + 1, 1, MPI_LONG, RIGHT, win);
        MPIX_Put_notify(&now[CELLS], 1, MPI_LONG, right, at, 1, MPI_LONG, LEFT, win);
        for (int i = 2; i < CELLS; i++) /* these need no halo */
            next[i] = (now[i - 1] + now[i] + now[i + 1]) % 1000;
        MPIX_Win_notify_take(win, LEFT, 1); /* now[0] is here */
        next[1] = (now[0] + now[1] + now[2]) % 1000;
        MPIX_Win_notify_take(win, RIGHT, 1); /* now[CELLS + 1] is here */
        next[CELLS] = (now[CELLS - 1] + now[CELLS] + now[CELLS + 1]) % 1000;
        MPI_Win_flush_local_all(win); /* the next step may overwrite `now` */
    }
    MPI_Win_unlock_all(win);
    for (int i = 1; i <= CELLS; i++)
        sum += memory[STRIDE * (STEPS % 2) + i] * (rank * CELLS + i);
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d cells after %d steps: the sum is %ld\n", ranks * CELLS, STEPS, all);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
#else
int main(void) { return puts("notify_halo: this MPI has no notified operations") < 0; }
#endif
