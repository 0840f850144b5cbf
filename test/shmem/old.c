/* old.c - the names that are deprecated, in C99: no selection by type, and untyped forms for long.
 * errors.test compiles it with each standard of C and C++. */
#include <mpp/shmem.h>

#include "sh.h"

static long word, words[4], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 4], psync[_SHMEM_BCAST_SYNC_SIZE];
static float real;

int main(void)
{
    start_pes(0);
    sh_begun();
    CHECK(_my_pe() == me && _num_pes() == npes);
    int right = (me + 1) % npes, left = (me + npes - 1) % npes;
    long *heap = (long *)shmalloc(2 * sizeof *heap);
    heap = (long *)shrealloc(heap, 4 * sizeof *heap);
    heap[0] = heap[1] = 0;
    shmem_barrier_all();
    shmem_long_p(&word, me + 1, right);
    shmem_wait(&word, 0);
    CHECK_EQ(word, left + 1);
    shmem_long_put(words, &word, 1, right);
    shmem_wait_until(words, _SHMEM_CMP_NE, 0);
    CHECK_EQ(words[0], (left + npes - 1) % npes + 1);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_fadd(heap, 5, right), 0);
    CHECK_EQ(shmem_long_finc(heap, right), 5);
    shmem_long_inc(heap, right);
    shmem_long_add(heap, 3, right);
    CHECK_EQ(shmem_long_fetch(heap, right), 10);
    CHECK_EQ(shmem_long_cswap(heap, 10, 11, right), 10);
    CHECK_EQ(shmem_long_swap(heap, 12, right), 11);
    shmem_float_set(&real, 2.5F, right);
    CHECK(shmem_float_fetch(&real, right) == 2.5F);
    shmem_barrier_all();
    shmem_long_wait(heap, 0);
    shmem_sync(0, 0, npes, psync);
    shmem_broadcast64(words, &word, 1, 0, 0, 0, npes, psync);
    shmem_barrier(0, 0, npes, psync);
    CHECK_EQ(words[0], !me ? (npes + npes - 2) % npes + 1 : npes);
    shmem_long_sum_to_all(words + 1, heap, 1, 0, 0, npes, work, psync);
    CHECK_EQ(words[1], 12L * npes);
    shmem_clear_cache_inv();
    shmem_udcflush_line(&word);
    shmem_barrier_all();
    shfree(heap);
    return sh_finish();
}
