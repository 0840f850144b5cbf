/* shmbar.c - the fence among node peers (shmlock.h). */
#include "rma/shared/shm_types.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/sched.h"
#include "mem/mem.h"

void shmbar_arrive(struct shmbar *b, const struct shmnode *n, unsigned number)
{
    atomic_uint *count = &b->count[number % 4];
    /* MEM_SYNC before PROC_SYNC: stores to the window come before the arrival; pairs with the fence
     * in rma_fence_poll() */
    fence_full();
    sched_point();
    /* acq_rel: the last one has seen every process's stores, and publishes them with `done`. */
    if (atomic_fetch_add_explicit(count, 1, memory_order_acq_rel) + 1 != n->peers)
        return;
    /* Number + 4 uses this counter next; no process arrives there before it saw number + 2 done. */
    sched_point();
    atomic_store_explicit(count, 0, memory_order_relaxed);
    sched_point();
    atomic_store_explicit(&b->done, number, memory_order_release); /* pairs with shmbar_poll() */
    for (unsigned p = 0; p < n->peers; p++)
        if (p != n->me)
            mem_wake(n->host_index[p]);
}

int shmbar_poll(struct shmbar *b, const struct shmnode *n, unsigned number)
{
    /* Acquire pairs with the release store of the last arrival; the difference tolerates
     * wrap-around. */
    if ((int)(atomic_load_explicit(&b->done, memory_order_acquire) - number) >= 0)
        return 1;
    if (boot_failed_count())
        for (unsigned p = 0; p < n->peers; p++)
            if (peer_dead(n, p))
                return -EOWNERDEAD;
    return 0;
}
