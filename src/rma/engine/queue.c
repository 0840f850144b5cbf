/* queue.c - the queue of a target: an operation enters it, more of it becomes due, an operation
 * leaves it for good. Start with rma_op_enqueue(). */
#include "rma/engine/engine_types.h"

#include <string.h>

static void hold_types(const struct rma_args *a)
{
    if (a->otype)
        dt_ref(a->otype);
    if (a->rtype)
        dt_ref(a->rtype);
    dt_ref(a->ttype);
}

void rma_op_enqueue(struct rma_win *w, struct rma_target *t, struct rma_op *op,
                    const struct rma_args *a, size_t bytes)
{
    rma_lane_end(t);
    op->t = t;
    op->kind = (uint8_t)a->kind;
    op->a = *a;
    op->bytes = bytes;
    op->seq = ++w->seq;
    if (a->kind != RMA_PUT && a->kind != RMA_GET)
        op->elem = a->ttype->basic;
    if (bytes && a->kind != RMA_PUT && a->kind != RMA_ACC)
        op->flags |= OP_ANSWERS;
    if (a->op)
        op->aop = (uint8_t)a->op->index;
    if (op->aop == DT_NO_OP)
        op->flags |= OP_NO_DATA;
    op->after = t->mark;
    t->mark = 0;
    hold_types(&op->a);
    if (t->next == &t->ops)
        t->next = &op->link;
    t->coalesced = NULL; /* no longer the last */
    list_push(&t->ops, &op->link);
    t->nops++;
    t->queued++;
    w->table.nops++;
}

/* More small operations wait than are held back for piggybacked flags. If a message is expensive,
 * they go when they fill one, measured by the last of them. */
static int is_over_limit(const struct rma_win *w, const struct rma_target *t, size_t bytes)
{
    const struct rma_quota *own = &w->table.op_quota, *all = &rma_self()->op_quota;
    const struct rma_op *before = t->queued > 1 ? LIST_OBJ(t->ops.prev->prev, struct rma_op, link)
                                                : NULL;
    if (before && before->coalesced &&
        (rma_coalesce_full(before) || !rma_is_small(t, before->bytes)))
        return 1;
    if (t->queued <= (unsigned)cvar.rma_hold)
        return 0;
    /* With many targets, held-back operations would use up the elements. */
    return t->queued * (sizeof(struct rma_hdr) + rma_pad(bytes)) >= t->gather ||
           2 * (own->free + all->free) < own->size + all->size;
}

/* --- what is held back ------------------------------------------------------------------------ */

/* Those that the user called and that have not left. */
static uint64_t waiting(const struct rma_target *t)
{
    uint64_t n = 0;
    for (const struct list *l = t->next; l != &t->ops; l = l->next) {
        const struct rma_op *op = LIST_OBJ(l, struct rma_op, link);
        n += op->coalesced ? op->coalesced_ops : 1;
    }
    return n;
}

void rma_queue_age(struct rma_win *w)
{
    uint64_t now = progress_polls() + 1, oldest = 0;
    if (now - w->held < (uint64_t)cvar.rma_age)
        return;
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t)) {
        if (!t->queued || t->sync || t->flags & TARGET_DRAIN) /* a call has asked for them */
            t->held = 0;
        if (t->held && now - t->held >= (uint64_t)cvar.rma_age) {
            t->held = 0;
            t->flags |= TARGET_DRAIN; /* a lock that is under way lets them go at its grant */
            rma_count(w, PVAR_RMA_AGED, waiting(t));
            if (rma_target_due(t))
                rma_ready(t);
        }
        if (t->held && (!oldest || t->held < oldest))
            oldest = t->held;
    }
    w->held = oldest;
}

void rma_queue_kick(struct rma_win *w, struct rma_target *t, size_t bytes, int direct)
{
    /* The owner may wait for exactly this notification, and the origin may compute. */
    if (!cvar.rma_hold || w->starved || LIST_OBJ(t->ops.prev, struct rma_op, link)->a.notify)
        t->flags |= TARGET_DRAIN;
    else if (!cvar.rma_delay && (is_over_limit(w, t, bytes) || !rma_is_small(t, bytes)))
        t->flags |= TARGET_OVER_LIMIT;
    if (!(t->flags & (TARGET_DRAIN | TARGET_OVER_LIMIT | TARGET_REFUSED)) && !t->sync &&
        !w->starved && !direct) {
        rma_hold_back(t);
        return;
    }
    if (!rma_target_due(t))
        return;
    enum { TRY_AGAIN = 16 }; /* operations */
    /* If the transport has refused some, not every operation tries again, but each poll does. */
    int refused = t->queued >= MANY && !list_empty(&t->ready);
    rma_ready(t);
    if (!refused || t->queued % TRY_AGAIN == 0)
        rma_advance_target(t);
}
