/* direct.h - the contract of rma/near/: operations on near targets, done by this process.  near.h
 * is the inline part, which api/ and the record of a window include.
 *
 *   ownership  the near table and the node segment belong to the window (window/peers.c); nothing
 *              is kept of an operation
 *   blocking   no wait for a synchronization; a stripe of an accumulate or the answer of an owner
 *              is waited for, some microseconds
 *   lock       under proc->lock, which is given up to other threads while an owner is asked; near.h
 *              goes without
 *   errors     MPI error codes; NOT_HERE: nothing was done, take the message path */
#ifndef RMA_DIRECT_H
#define RMA_DIRECT_H

#include "rma/core/core.h"
#include "rma/near/near.h"

/* Do an operation of so many bytes (rma_op.bytes) on a near target at once: MPI error code, or
 * NOT_HERE.  called: from the MPI call itself, which may look after others for a while. */
int rma_direct(struct rma_win *w, struct rma_near *n, const struct rma_args *a, size_t bytes,
               int called);
/* Where the owner says which of the asker's questions it found taken back last. */
static inline atomic_uint *rma_read_word(const struct rma_win *w, const struct rma_near *owner,
                                         const struct rma_near *asker)
{
    return &w->node
                .pairs[(size_t)(owner - w->near.near) * w->nears + (size_t)(asker - w->near.near)]
                .read;
}

#endif
