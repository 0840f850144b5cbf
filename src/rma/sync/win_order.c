/* win_order.c - MPIX_Win_order: what this process called before is applied at the target before
 * what it calls later.  It completes nothing and waits for no answer.  Start with rma_order().
 *
 * What keeps its order without it: mapped memory, but for the processor's own reordering; one queue
 * of messages, where the network keeps messages in order.  What may pass without it: a native
 * operation passes all that is under way.  A message passes native operations, and on a network
 * without order other messages.
 *
 *   t->mark    the next operation gets op->after
 *   op->after  it follows all before it (issue.c, may_leave). No get is moved behind it
 *              (sync_flags.c)
 *   t->after   such a one has left by message: while anything is unanswered, nothing goes natively
 *              (route.c)
 *   w->orders  there were such calls, or notifications that cover earlier operations
 *
 * An element that is made while answers of evicted ones may be missing (rma_unsure) begins with the
 * mark.
 * The target does operations of messages one after the other, with a fence between them. */
#include "rma/sync/sync_types.h"

#include "base/atomic.h"

static void order_target(struct rma_target *t)
{
    const struct rma_win_native *n = &t->w->native;
    rma_lane_end(t);
    if (!t->queued && !t->natives && !t->native_out && rma_nothing_under_way(t) &&
        !rma_unsure(t->w))
        return;
    t->mark = 1;
    t->lone = 0; /* R14: no put leaves at its call */
    if (!t->ordered || n->min || n->acc)
        t->coalesced = NULL; /* R10: a later operation does not leave with an earlier one */
    else if (t->coalesced)
        t->coalesced->after = 1; /* what it takes from now on */
}

static int order_check(const struct rma_win *w, int rank)
{
    if (rank == MPIX_ALL)
        return rma_in(w, SET_UNSET) && !w->passive.nulls ? rma_not_admitted(w, rank) : MPI_SUCCESS;
    if (rank < 0 || rank >= w->size)
        return err_make(MPI_ERR_RANK, "%s: rank %d is not in the window (0 to %d)", rma_call(),
                        rank, w->size - 1);
    return rma_admit(w, rank, rma_near_of(w, rank), rma_target_find(w, rank)) == ADMIT_NO
               ? rma_not_admitted(w, rank)
               : MPI_SUCCESS;
}

int rma_order(struct rma_win *w, int rank)
{
    int err = rank == MPI_PROC_NULL ? MPI_SUCCESS : order_check(w, rank);
    if (err || rank == MPI_PROC_NULL)
        return err;
    struct rma_near *n = rank == MPIX_ALL ? NULL : rma_near_of(w, rank);
    if (!w->orders)
        rma_recents_hide(w);
    w->orders = 1;
    /* An operation that is done at once may pass a bundle. */
    if (n ? n->bundles : rank == MPIX_ALL && rma_root(w)->delegate.bundles)
        rma_bundle_drain(rma_root(w), n);
    if (rank == MPIX_ALL) {
        for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
            order_target(t);
    } else {
        struct rma_target *t = rma_target_find(w, rank);
        if (t)
            order_target(t);
    }
    /* Stores and loads of mapped memory before it precede those after it.  Pairs with the fence in
     * the same call, or in a flush, of the process that reads what was written. */
    fence_full();
    /* One in many near calls comes here, instead of a flush that would have made progress. */
    if (atomic_load_explicit(&w->near.passive, memory_order_relaxed))
        progress_test();
    return MPI_SUCCESS;
}
