/* put_signal: blocks go round a ring of PEs; a signal says that a block is there (OpenSHMEM). */
#include <shmem.h>
#include <stdio.h>

enum { N = 1000 };
static long block[N], sum; /* symmetric: each PE has them */
static uint64_t arrived;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes(), right = (me + 1) % pes;
    if (me == 0) {
        for (int i = 0; i < N; i++)
            block[i] = i;
        if (pes > 1)
            shmem_long_put_signal(block, block, N, &arrived, 1, SHMEM_SIGNAL_SET, right);
    } else {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
        for (int i = 0; i < N; i++)
            block[i] += me;
        if (right != 0)
            shmem_long_put_signal(block, block, N, &arrived, 1, SHMEM_SIGNAL_SET, right);
    }
    for (int i = 0; i < N; i++)
        shmem_long_atomic_add(&sum, block[i], 0);
    shmem_barrier_all();
    if (me == 0)
        printf("%d PEs: the sum is %ld\n", pes, sum);
    shmem_finalize();
    return 0;
}
