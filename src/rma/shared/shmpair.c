/* shmpair.c - posts and completes between node peers (shmlock.h). */
#include "rma/shared/shm_types.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/sched.h"
#include "mem/mem.h"

static int pair_take(atomic_uint *given, atomic_uint *taken, const struct shmnode *n, unsigned peer)
{
    /* written by this process only */
    unsigned t = atomic_load_explicit(taken, memory_order_relaxed);
    /* Acquire pairs with the release store of the giver. */
    if (atomic_load_explicit(given, memory_order_acquire) != t) {
        atomic_store_explicit(taken, t + 1, memory_order_relaxed);
        return 1;
    }
    return boot_failed_count() && peer_dead(n, peer) ? -EOWNERDEAD : 0;
}

static void pair_give(atomic_uint *given, const struct shmnode *n, unsigned peer)
{
    fence_full(); /* MEM_SYNC before PROC_SYNC; pairs with the full fence after the taker's wait */
    sched_point();
    atomic_store_explicit(given, atomic_load_explicit(given, memory_order_relaxed) + 1,
                          memory_order_release);
    if (peer != n->me)
        mem_wake(n->host_index[peer]);
}

void shmpair_post(struct shmpair *pairs, const struct shmnode *n, unsigned starter)
{
    pair_give(&pairs[n->me * n->peers + starter].posts, n, starter);
}

int shmpair_start(struct shmpair *pairs, const struct shmnode *n, unsigned poster)
{
    struct shmpair *p = &pairs[poster * n->peers + n->me];
    return pair_take(&p->posts, &p->starts, n, poster);
}

void shmpair_complete(struct shmpair *pairs, const struct shmnode *n, unsigned poster)
{
    pair_give(&pairs[poster * n->peers + n->me].completes, n, poster);
}

int shmpair_wait(struct shmpair *pairs, const struct shmnode *n, unsigned starter)
{
    struct shmpair *p = &pairs[n->me * n->peers + starter];
    return pair_take(&p->completes, &p->waits, n, starter);
}
