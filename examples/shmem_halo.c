/* shmem_halo: neighbours on a ring exchange the outer cells of their parts (OpenSHMEM).  A put
 * carries a signal: the word of the neighbour that says how many steps have come from this side. */
#include <shmem.h>
#include <stdio.h>

enum { CELLS = 16, STEPS = 50 };
static long cells[2][CELLS + 2]; /* halo, cells, halo; symmetric: each PE has them */
static uint64_t from_left, from_right;
static long sum;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    int left = (me + pes - 1) % pes, right = (me + 1) % pes;
    for (int i = 1; i <= CELLS; i++)
        cells[0][i] = me * CELLS + i;
    for (int step = 0; step < STEPS; step++) {
        long *now = cells[step % 2], *next = cells[1 - step % 2];

        /* My first cell goes to the left neighbour, which has me on its right. */
        shmem_long_put_signal(&now[CELLS + 1], &now[1], 1, &from_right, 1, SHMEM_SIGNAL_ADD, left);
        shmem_long_put_signal(&now[0], &now[CELLS], 1, &from_left, 1, SHMEM_SIGNAL_ADD, right);
        for (int i = 2; i < CELLS; i++) /* these need no halo */
            next[i] = (now[i - 1] + now[i] + now[i + 1]) % 1000;
        shmem_signal_wait_until(&from_left, SHMEM_CMP_GT, step); /* now[0] is here */
        next[1] = (now[0] + now[1] + now[2]) % 1000;
        shmem_signal_wait_until(&from_right, SHMEM_CMP_GT, step); /* now[CELLS + 1] is here */
        next[CELLS] = (now[CELLS - 1] + now[CELLS] + now[CELLS + 1]) % 1000;
    }
    long part = 0;
    for (int i = 1; i <= CELLS; i++)
        part += cells[STEPS % 2][i] * (me * CELLS + i);
    shmem_long_atomic_add(&sum, part, 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%d cells after %d steps: the sum is %ld\n", pes * CELLS, STEPS, sum);
    shmem_finalize();
    return 0;
}
