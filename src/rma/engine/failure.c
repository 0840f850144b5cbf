/* failure.c - a target failed or cannot be reached: its operations end, and so do waits for its
 * answers. Start with rma_target_peer_failed(). */
#include "rma/engine/engine_types.h"

#include <errno.h>

/* Threads that wait for an answer of this rank: it will not come. A wait for several answers does
 * not record which are missing, so it ends too: if the rank owed one (`owes`), or if it `may` have
 * (asked without element). */
void rma_resps_fail(struct rma_win *w, int rank, int owes, int may, int err)
{
    for (struct list *l = w->resps.next; l != &w->resps; l = l->next) {
        struct rma_resp *r = LIST_OBJ(l, struct rma_resp, link);
        if (!r->pending || (r->rank != rank && (r->rank != -1 || !(owes || (may && r->alone)))))
            continue;
        r->pending = 0;
        if (!r->err)
            r->err = err;
    }
    progress_signal();
}

/* From now on the window counts no answers to evicted elements (evict.c): which are missing is
 * unknown. */
void rma_stop_counting(struct rma_win *w, int err)
{
    w->dead = 1;
    rma_not_all_here(w);
    if (w->acks)
        rma_win_add_err(w, err);
    rma_acks_add(w, -(int)w->acks);
}

void rma_target_fail(struct rma_target *t, int err)
{
    if (err != -ENOTCONN && !boot_failed(t->world)) {
        t->w->cut = t->cut = err;
        t->w->cut_rank = t->rank;
        if (!t->err)
            t->err = rma_failed_error(t->w, t->rank);
    }
    rma_target_peer_failed(t);
}

void rma_target_peer_failed(struct rma_target *t)
{
    struct rma_win *w = t->w;
    int err = rma_failed_error(w, t->rank);
    if (!t->cut)
        rma_stop_counting(w, err); /* a transport may report the end first */
    t->flags |= TARGET_FAILED;
    t->flags &= (uint8_t)~(TARGET_REFUSED | TARGET_DIRTY);
    int lost = 0;
    for (struct list *l = t->ops.next; l != &t->ops; l = l->next) {
        struct rma_op *op = LIST_OBJ(l, struct rma_op, link);
        if (!(op->flags & OP_DONE)) {
            op->err = err;
            lost = 1;
        }
        op->flags |= OP_DONE;
        op->flags &= (uint8_t)~OP_PIGGYBACKED;
    }
    if (lost)
        rma_tell_all(w, t->rank, err);
    t->next = &t->ops;
    t->queued = 0;
    t->held = 0;
    t->acks = 0;
    t->retry_at = 0;
    rma_native_fail(t);
    rma_cleanup_target(t);
    list_del(&t->called);
    if (t->state == TARGET_LOCK_CALLED)
        rma_target_goto(t, TARGET_LOCK_ISSUED);
    if (t->state == TARGET_LOCK_ISSUED)
        rma_target_goto(t, TARGET_LOCK_GRANTED);
    if (t->sync) {
        t->sync = 0;
        rma_token_done(w, t->rank, t->token, err);
    }
    /* Report it to each possible waiter: a wait that goes on would have no end. An early request
     * that no flush took has no waiter. */
    int owes = t->tokens_out > (unsigned)(t->early && !t->early_for) || t->doubt;
    t->tokens_out = t->early = t->early_for = 0;
    rma_resps_fail(w, t->rank, owes, !t->cut, err);
    if (!t->nops)
        list_del(&t->ready);
}
