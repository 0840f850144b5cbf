/* shmem_tasks: a queue of work in one number, and a record under a lock (OpenSHMEM).  Each PE takes
 * the next block by fetch and add, so fast PEs take more.  The work is to count primes. */
#include <shmem.h>
#include <stdio.h>

enum { BLOCKS = 200, BLOCK = 500 };
static long next, primes, blocks; /* those of PE 0 count */
static long lock = 0;
static struct {
    long count, block;
} best = {-1, -1}; /* the block with most primes: two words, which change together */

static long primes_between(long from, long to)
{
    long count = 0;
    for (long n = from < 2 ? 2 : from; n < to; n++) {
        long d = 2;
        while (d * d <= n && n % d)
            d++;
        count += d * d > n;
    }
    return count;
}

static void tell(long count, long block)
{
    long seen[2], mine[2] = {count, block};
    shmem_set_lock(&lock);
    shmem_getmem(seen, &best, sizeof best, 0);
    if (count > seen[0] || (count == seen[0] && block < seen[1]))
        shmem_putmem(&best, mine, sizeof best, 0);
    shmem_clear_lock(&lock); /* the put is done when another PE has the lock */
}

int main(void)
{
    long block, all = 0, taken = 0;
    shmem_init();
    while ((block = shmem_long_atomic_fetch_inc(&next, 0)) < BLOCKS) {
        long count = primes_between(block * BLOCK, (block + 1) * BLOCK);
        tell(count, block);
        all += count;
        taken++;
    }
    shmem_long_atomic_add(&primes, all, 0);
    shmem_long_atomic_add(&blocks, taken, 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        printf("%ld primes below %d in %ld blocks, most in block %ld: %ld\n", primes,
               BLOCKS * BLOCK, blocks, best.block, best.count);
    shmem_finalize();
    return 0;
}
