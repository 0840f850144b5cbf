/* due.h - what of a target may be sent now, and when an operation is over: questions that each step
 * of the way asks, so they are inline. The rest is due.c. */
#ifndef RMA_DUE_H
#define RMA_DUE_H

#include "rma/near/direct.h"

/* The window has work: activate the hook. */
static inline void rma_win_active(struct rma_win *w)
{
    struct rma *r = rma_self();
    if (list_empty(&w->active)) {
        list_push(&r->active, &w->active);
        progress_hook_add(&r->hook);
    }
}

/* Something may be sent for t. */
static inline void rma_ready(struct rma_target *t)
{
    if (list_empty(&t->ready))
        list_push(&t->w->table.ready, &t->ready);
    rma_win_active(t->w);
}

/* May an operation of so many bytes be held back and share a packet? Longer ones may, too, if a
 * second message costs more than the copy. */
static inline int rma_is_small(const struct rma_target *t, size_t bytes)
{
    return bytes <= (size_t)cvar.rma_small || bytes <= t->small;
}

/* The one that leaves next. */
static inline const struct rma_op *rma_first_of(const struct rma_target *t)
{
    return LIST_OBJ(t->next, struct rma_op, link);
}

/* Number of queued operations that may go now: all, or all but a small tail. */
static inline unsigned rma_due_ops(const struct rma_target *t)
{
    const struct rma_op *last = LIST_OBJ(t->ops.prev, struct rma_op, link);
    if (t->sync || t->w->starved || (t->flags & TARGET_DRAIN))
        return t->queued;
    if (!(t->flags & TARGET_OVER_LIMIT))
        return 0;
    return rma_is_small(t, last->bytes) ? t->queued - 1 : t->queued;
}

/* Does the state permit to send anything of t? */
static inline int rma_target_due(const struct rma_target *t)
{
    enum verdict v = rma_may_issue(t);
    if (v == ADMIT_QUEUE || (t->flags & TARGET_FAILED))
        return 0;
    if (t->flags & TARGET_REFUSED)
        return 1;
    if (t->queued && rma_first_of(t)->flags & OP_PULLED)
        return 0; /* its answer makes t ready */
    if (t->queued)
        return (rma_first_of(t)->flags & OP_DIRECT) || rma_due_ops(t) > 0;
    if (t->sync)
        return t->ordered || list_empty(&t->ops);
    return v == ADMIT_LOCK_FIRST && (t->flags & TARGET_DRAIN);
}

/* Would a direct operation pass others? Memory that is not mapped is also reached by messages; some
 * of an evicted element may be under way. */
static inline int rma_overtakes(const struct rma_win *w, const struct rma_near *n)
{
    return rma_unsure(w) && n->kind != RMA_NEAR_MAPPED && n->rank != w->rank;
}

/* OP_DONE if all parts have left and all answers are there. All data of a queued operation may be
 * there while its notification still has to leave. */
static inline void rma_op_settle(struct rma_op *op)
{
    int over = op->t->next != &op->link && op->sent == op->bytes && !op->acks &&
               !(op->flags & OP_PIGGYBACKED) &&
               (!(op->flags & OP_ANSWERS) || op->answered == op->bytes);
    if (!op->natives && !op->zcopies && (over || op->t->flags & TARGET_FAILED))
        op->flags |= OP_DONE;
}

#endif
