/* due.c - what of a target stays, and what is over. Start with due.h, then rma_op_finish().
 *
 * The lowest file of this room: what sends (issue.c, native.c, pull_origin.c) and what drives it
 * (advance.c, queue.c) both ask here. Nothing here sends. */
#include "rma/engine/engine_types.h"

#include <string.h>

/* --- what may leave --------------------------------------------------------------------------- */

int rma_nothing_under_way(const struct rma_target *t)
{
    if (t->flags & TARGET_DIRTY || t->tokens_out || t->acks)
        return 0;
    for (const struct list *l = t->ops.next; l != t->next; l = l->next)
        if (!(LIST_OBJ(l, struct rma_op, link)->flags & OP_DONE))
            return 0;
    return 1;
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
        t->flags &= (uint8_t)~(TARGET_DRAIN | TARGET_OVER_LIMIT);
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

void rma_tell_all(const struct rma_win *w, int rank, int err)
{
    for (struct list *l = w->resps.next; l != &w->resps; l = l->next) {
        struct rma_resp *r = LIST_OBJ(l, struct rma_resp, link);
        if (!r->err && (r->rank == rank || r->rank == -1))
            r->err = err;
    }
}

static __attribute__((cold)) void ended_with_error(const struct rma_op *op)
{
    const struct rma_target *t = op->t;
    if (!op->req)
        rma_op_failed(op);
    /* The network has seen the failure first: rma_target_peer_failed() finds this operation no
     * more. */
    if (rma_is_failure(op->err) && !(t->flags & TARGET_FAILED))
        rma_tell_all(t->w, t->rank, op->err);
}

void rma_op_finish(struct rma_op *op)
{
    struct rma_target *t = op->t;
    struct rma_win *w = t->w;
    WR_ASSERT(t->next != &op->link); /* R1: it has left */
    list_del(&op->link);
    t->nops--;
    w->table.nops--;
    if (op->err)
        ended_with_error(op);
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
