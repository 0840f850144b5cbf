/* shmem_histogram: bins that are spread over all PEs, counted by atomics (OpenSHMEM).  Each PE has
 * two contexts, of which one is always free for new additions while the other one is completed. */
#include <shmem.h>
#include <stdio.h>

enum { BINS = 256, KEYS = 4000, BATCH = 100 };
static long bins[BINS]; /* symmetric; of these a PE keeps BINS / pes, or one more */

static unsigned bin_of(unsigned key)
{
    return key * 2654435761u % 1000 * BINS / 1000; /* some bins get more than others */
}

/* What one PE counts alone. */
static int is_right(int pes)
{
    static long want[BINS];
    for (unsigned key = 0; key < (unsigned)pes * KEYS; key++)
        want[bin_of(key)]++;
    for (int b = 0; b < BINS; b++)
        if (shmem_long_g(&bins[b / pes], b % pes) != want[b])
            return 0;
    return 1;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    shmem_ctx_t ctx[2];
    for (int i = 0; i < 2; i++)
        if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx[i]))
            ctx[i] = SHMEM_CTX_DEFAULT; /* there is always this one */
    for (int i = 0; i < KEYS; i++) {
        shmem_ctx_t now = ctx[i / BATCH % 2];
        unsigned b = bin_of((unsigned)(me * KEYS + i));
        if (i % BATCH == 0)
            shmem_ctx_quiet(now); /* its additions of two batches ago */
        shmem_ctx_long_atomic_inc(now, &bins[b / pes], b % pes);
    }
    for (int i = 0; i < 2; i++)
        shmem_ctx_quiet(ctx[i]); /* a barrier completes the default context alone */
    shmem_barrier_all();
    if (me == 0)
        printf("%d keys in %d bins: %s\n", pes * KEYS, BINS,
               is_right(pes) ? "as one PE counts them" : "wrong");
    shmem_finalize();
    return 0;
}
