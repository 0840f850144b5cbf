/* direct.h - the contract of rma/near/: operations on near targets, done by this process. near.h is
 * the inline part, which api/ and the record of a window include.
 *
 *   ownership  the near table and the node segment belong to the window (window/peers.c); no
 *              operation outlives its call but those that rma_bundle_drain() waits for
 *   blocking   never waits for a synchronization; waits some microseconds for a stripe of an
 *              accumulate, or for the answer of an owner; with threads, one turn of a bundle's
 *              wait is as long as others keep the core
 *   lock       under proc->lock, which other threads may take while an owner is asked; near.h
 *              needs no lock
 *   errors     MPI error codes; NOT_HERE: nothing was done, take the message path */
#ifndef RMA_DIRECT_H
#define RMA_DIRECT_H

#include "rma/core/core.h"
#include "rma/near/near.h"

/* An operation is done ... */
enum rma_called {
    RMA_QUEUED,     /* at once; it was queued, so nothing may wait */
    RMA_CALLED,     /* before its call returns, which may poll for a while */
    RMA_LATER_TOO   /* as RMA_CALLED, or by the next rma_bundle_drain() of its target */
};
/* Do an operation of `bytes` bytes (rma_op.bytes) on a near target. MPI error code, or NOT_HERE. */
int rma_direct(struct rma_win *w, struct rma_near *n, const struct rma_args *a, size_t bytes,
               enum rma_called called);
/* The same, then its notification (a->notify). NOT_HERE with *bytes 0: it is done, and the
 * notification must go by message. */
int rma_direct_noted(struct rma_win *w, struct rma_near *n, const struct rma_args *a, size_t *bytes,
                     enum rma_called called);
/* Add one to counter i of n, and wake its owner: 0, or NOT_HERE: there is none yet, or it cannot be
 * mapped. What this thread did before comes before the count. */
int rma_note_near(struct rma_win *w, struct rma_near *n, unsigned i);
void rma_note_unmap(struct rma_near *n);
void rma_recent_own_end(struct rma_win *w, uint64_t base); /* an own handle that ends */
void rma_held_free(struct rma_win *w); /* what is known of others' memory handles */
/* Could it be done later? Then it passes no earlier one. */
int rma_may_bundle(const struct rma_near *n, const struct rma_args *a, size_t bytes);
/* Wait, as for the answer of an owner, for the operations of n, or (NULL) of all near targets, that
 * are done later (n->bundles, w->delegate.bundles). Errors go to w->err. */
void rma_bundle_drain(struct rma_win *w, struct rma_near *n);
/* Is there something to drain, or to tell a thread? */
static inline int rma_bundles_due(const struct rma_win *w)
{
    return w->delegate.bundles || w->delegate.misses;
}
/* rma_bundle_drain() where the epoch of n (NULL: all) ends. Returns what threads have missed and
 * were not told of. */
int rma_bundles_end(struct rma_win *w, struct rma_near *n);
/* Operations on n that are in bundles. */
unsigned rma_bundle_ops(struct rma_near *n);
/* Word where the owner publishes the last of the asker's operations that it found taken back. */
static inline atomic_uint *rma_read_word(const struct rma_win *w, const struct rma_near *owner,
                                         const struct rma_near *asker)
{
    return &w->node
                .pairs[(size_t)(owner - w->near.near) * w->nears + (size_t)(asker - w->near.near)]
                .read;
}

#endif
