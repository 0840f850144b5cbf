/* due.c - what of a target may be sent now, and when an operation of it is over. Start with
 * rma_target_due() and rma_op_settle().
 *
 * The lowest file of this room: what sends (issue.c, native.c, pull_origin.c) and what drives it
 * (advance.c, queue.c) both ask here. Nothing here sends. */
#include "rma/engine/engine_types.h"

#include <string.h>

static const struct rma_op *first_of(const struct rma_target *t)
{
    return LIST_OBJ(t->next, struct rma_op, link);
}

/* --- what waits to be looked at --------------------------------------------------------------- */

void rma_win_active(struct rma_win *w)
{
    struct rma *r = rma_self();
    if (list_empty(&w->active)) {
        list_push(&r->active, &w->active);
        progress_hook_add(&r->hook);
    }
}

void rma_ready(struct rma_target *t)
{
    if (list_empty(&t->ready))
        list_push(&t->w->table.ready, &t->ready);
    rma_win_active(t->w);
}

/* --- what may leave --------------------------------------------------------------------------- */

unsigned rma_due_ops(const struct rma_target *t)
{
    const struct rma_op *last = LIST_OBJ(t->ops.prev, struct rma_op, link);
    if (t->sync || t->w->starved || (t->flags & TARGET_DRAIN))
        return t->queued;
    if (!(t->flags & TARGET_OVER_LIMIT))
        return 0;
    return rma_is_small(t, last->bytes) ? t->queued - 1 : t->queued;
}

int rma_target_due(const struct rma_target *t)
{
    enum verdict v = rma_may_issue(t);
    if (v == ADMIT_QUEUE || (t->flags & TARGET_FAILED))
        return 0;
    if (t->flags & TARGET_REFUSED)
        return 1;
    if (t->queued && first_of(t)->flags & OP_PULLED)
        return 0; /* its answer makes t ready */
    if (t->queued)
        return (first_of(t)->flags & OP_DIRECT) || rma_due_ops(t) > 0;
    if (t->sync)
        return t->ordered || list_empty(&t->ops);
    return v == ADMIT_LOCK_FIRST && (t->flags & TARGET_DRAIN);
}

int rma_nothing_under_way(const struct rma_target *t)
{
    if (t->flags & TARGET_DIRTY || t->tokens_out || t->acks)
        return 0;
    for (const struct list *l = t->ops.next; l != t->next; l = l->next)
        if (!(LIST_OBJ(l, struct rma_op, link)->flags & OP_DONE))
            return 0;
    return 1;
}

int rma_overtakes(const struct rma_win *w, const struct rma_near *n)
{
    return rma_unsure(w) && n->kind != RMA_NEAR_MAPPED && n->rank != w->rank;
}

/* --- what is held back ------------------------------------------------------------------------ */

/* It ages (R15) where others may look for it before the epoch ends: in passive epochs. */
void rma_hold_back(struct rma_target *t)
{
    struct rma_win *w = t->w;
    if (t->held || !cvar.rma_age || cvar.rma_delay || !rma_in(w, SET_PASSIVE))
        return;
    t->held = progress_polls() + 1;
    if (!w->held)
        w->held = t->held;
    rma_win_active(w);
}

/* Something has left it: what had to be drained, or filled more than a packet, is gone or small
 * now. */
void rma_queue_shorter(struct rma_target *t)
{
    if (!t->queued) {
        t->flags &= (uint8_t) ~(TARGET_DRAIN | TARGET_OVER_LIMIT);
        t->held = 0;
        return;
    }
    if (t->flags & TARGET_OVER_LIMIT && t->queued == 1 &&
        rma_is_small(t, LIST_OBJ(t->ops.prev, struct rma_op, link)->bytes)) {
        t->flags &= (uint8_t)~TARGET_OVER_LIMIT;
        t->held = 0; /* the tail is young */
    }
    if (!(t->flags & TARGET_REFUSED) && !rma_target_due(t))
        rma_hold_back(t); /* the tail, or what was to be done directly and cannot */
}

/* --- the end of an operation ------------------------------------------------------------------ */

/* All data of a queued operation may be there while its notification still has to leave. */
void rma_op_settle(struct rma_op *op)
{
    int over = op->t->next != &op->link && op->sent == op->bytes && !op->acks &&
               !(op->flags & OP_PIGGYBACKED) &&
               (!(op->flags & OP_ANSWERS) || op->answered == op->bytes);
    if (!op->natives && !op->zcopies && (over || op->t->flags & TARGET_FAILED))
        op->flags |= OP_DONE;
}

static void request_fail(struct rma_request *q, const struct rma_win *w, int rank)
{
    q->rank = rank;
    q->errhandler = errhandler_ref(w->errhandler);
    q->win_handle = w->near.obj.handle;
    q->win_name = w->name[0] ? strdup(w->name) : NULL;
}

static inline void type_drop(struct dt_type *t)
{
    if (t && !(t->flags & DT_PREDEFINED))
        dt_drop(t);
}

void rma_op_finish(struct rma_op *op)
{
    struct rma_target *t = op->t;
    struct rma_win *w = t->w;
    WR_ASSERT(t->next != &op->link); /* R1: it has left */
    list_del(&op->link);
    t->nops--;
    w->table.nops--;
    if (op->err && !op->req && !t->err)
        t->err = op->err;
    if (op->req) {
        if (op->req->end)
            op->req->end(op);
        op->req->op = NULL;
        if (op->err)
            request_fail(op->req, w, t->rank);
        request_complete(&op->req->r, op->err);
    }
    type_drop(op->a.otype);
    type_drop(op->a.rtype);
    type_drop(op->a.ttype);
    if (op->coalesced)
        rma_coalesce_free(op);
    rma_op_free(w, op);
}

/* --- CLEANUP_OPS_{TARGET,WIN}: the elements of complete operations are given back ----------
 *
 * Only the issued part of a list is walked.  Target elements stay for the rest of the epoch (lazy
 * deallocation); sync/evict.c and the end of the epoch free them. */

int rma_cleanup_target(struct rma_target *t)
{
    int n = 0;
    for (struct list *l = t->ops.next, *after; l != t->next; l = after) {
        struct rma_op *op = LIST_OBJ(l, struct rma_op, link);
        after = l->next;
        if (op->flags & OP_DONE) {
            rma_op_finish(op);
            n++;
        }
    }
    return n;
}

int rma_cleanup_win(struct rma_win *w)
{
    int n = 0;
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
        n += rma_cleanup_target(t);
    return n;
}
