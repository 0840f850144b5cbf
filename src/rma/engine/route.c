/* route.c - how an operation leaves: by active message, or by the network's own put, get and
 * atomics. Start with rma_route_of().
 *
 * One place decides (issue.c), when the operation leaves the queue. So queue, states and pools do
 * not depend on routes.
 *
 *   accumulates        by message if the processor makes them atomic, as near and own ones;
 *                      natively if they have few, aligned elements, of a type and operation that
 *                      the network's atomics support (rma_atomics). If the window keeps order, a
 *                      native one goes alone: after what went by message is done, with nothing
 *                      queued behind it
 *   put, get           natively if the key is known, the target's window has the bytes, and each
 *                      piece has the length that the transport wants, or a flush follows a lone
 *                      one. Shorter ones share packets and carry LOCK, DONE and UNLOCK.
 *   that notify        a put of one block carries it, if the network reports such data at the
 *                      target (note_number.c). Else long ones are pulled; or natively, and a
 *                      message follows when the data are there. Others by message, which carries
 *                      both
 *   out of range       by message: the target's answer is the error, the same as ever */
#include "rma/engine/engine_types.h"

#include <string.h>

int rma_route_pays(const struct rma_op *op, size_t min)
{
    if (op->elem || op->bytes < min || (op->flags & OP_BY_AM))
        return 0;
    size_t far = dt_blocks(op->a.ttype, (size_t)op->a.tcount);
    size_t here = op->kind == RMA_PUT ? dt_blocks(op->a.otype, (size_t)op->a.ocount)
                                      : dt_blocks(op->a.rtype, (size_t)op->a.rcount);
    size_t pieces = far > here ? far : here;
    return pieces <= 1 || op->bytes / pieces >= min;
}

/* It is all there is for the target, and is to be confirmed now: its message would need an answer,
 * too. */
static int lone(const struct rma_target *t, const struct rma_op *op)
{
    int able = op->kind == RMA_PUT ? t->key->lone_put : t->key->lone_get;
    int awaited = t->flags & TARGET_DIRTY || t->tokens_out || t->acks;
    return able && t->sync == RMA_F_DONE && t->queued == 1 && !awaited &&
           rma_route_pays(op, op->bytes);
}

int rma_route_moves(const struct rma_target *t, const struct rma_op *op)
{
    return rma_route_pays(op, op->kind == RMA_PUT ? t->key->put_min : t->key->get_min) ||
           lone(t, op);
}

int rma_route_carries(const struct rma_target *t, const struct rma_op *op)
{
    const struct rma_key *k = t->key;
    if (op->kind != RMA_PUT || !op->a.notify || t->w->notes.covers || !k->note)
        return 0;
    if (op->bytes > k->most || op->flags & OP_BEGUN || !rma_route_pays(op, k->put_min))
        return 0;
    if (k->state != KEY_READY) /* it tells which counters there are */
        return 1;
    return (unsigned)op->a.notify <= k->notes &&
           dt_blocks(op->a.ttype, (size_t)op->a.tcount) == 1 &&
           dt_blocks(op->a.otype, (size_t)op->a.ocount) == 1;
}

/* Where the transport keeps a message behind a put, that message costs no wait. Else it waits for
 * the network, and a target that pulls the data knows sooner that they are there. */
int rma_route_notes(const struct rma_target *t, const struct rma_op *op)
{
    if (op->elem)
        return 0;
    if (rma_route_carries(t, op))
        return 1;
    if (op->kind == RMA_PUT && t->key->then_am)
        return rma_route_pays(op, t->key->put_min);
    return op->bytes >= (size_t)cvar.rma_notify_native &&
           (op->kind != RMA_PUT || op->bytes < t->w->native.pull_min || !rma_pull_fits(t, op));
}

int rma_route_pulls(const struct rma_target *t, const struct rma_op *op)
{
    return op->bytes >= t->w->native.pull_min &&
           !(op->a.notify && op->bytes < (size_t)cvar.rma_notify_native);
}

/* Up to so many elements. With more, one message is faster than one call of the network per
 * element. */
enum { ATOMIC_MOST = 8 };

int rma_route_atomic(const struct rma_key *k, const struct rma_op *op)
{
    size_t e = op->elem->elem.bytes;
    if (!k->atomics || op->flags & OP_BY_AM || !acc_type_atomic(op->elem) || (e != 4 && e != 8) ||
        op->bytes > ATOMIC_MOST * e)
        return 0;
    enum rma_atomic how = op->kind == RMA_CAS   ? RMA_ATOMIC_CAS
                          : op->kind == RMA_ACC ? RMA_ATOMIC_PLAIN
                                                : RMA_ATOMIC_FETCH;
    if (op->elem->elem.kind == DT_FLOAT && op->aop != DT_REPLACE && op->aop != DT_NO_OP)
        return 0;
    return k->atomics->ok[e == 8][how] >> op->aop & 1;
}

/* Are all elements naturally aligned in the target's memory? */
static int aligned(const struct rma_key *k, const struct rma_op *op)
{
    size_t e = op->elem->elem.bytes, len;
    for (size_t at = 0; at < op->bytes; at += e) {
        struct iovec v;
        if (!dt_iov(op->a.ttype, (size_t)op->a.tcount, NULL, at, e, &v, 1, &len))
            return 0;
        if ((k->align + (uint64_t)op->a.disp * k->unit + (uint64_t)(uintptr_t)v.iov_base) % e)
            return 0;
    }
    return 1;
}

/* No transport orders atomics, neither among themselves nor with messages. */
static int in_order(const struct rma_target *t, const struct rma_op *op)
{
    return !t->w->ordered_acc || op->flags & OP_BEGUN ||
           (!op->sent && t->queued == 1 && !rma_unsure(t->w) && rma_nothing_under_way(t));
}

int rma_is_behind(const struct rma_target *t)
{
    return rma_unsure(t->w) || !rma_nothing_under_way(t);
}

static int in_range(const struct rma_key *k, const struct rma_op *op)
{
    int64_t lo, hi;
    uint64_t off;
    return !dt_bounds(op->a.ttype, (size_t)op->a.tcount, &lo, &hi) &&
           !rma_offset((uint64_t)op->a.disp - k->base, k->unit, lo, hi, k->size, &off);
}

/* R11. A derived type may find no memory there; a pair with a gap is checked element by element. */
int rma_route_certain(struct rma_target *t, const struct rma_op *op)
{
    const struct rma_key *k = rma_native_known(t);
    size_t count;
    if (!k || !k->unit || !k->leaves)
        return 0;
    if (!op->coalesced)
        return rma_simple_elem(op, &count) && in_range(k, op);
    for (const char *at = op->coalesced; at != op->coalesced + op->bytes; at += op->step_bytes) {
        uint64_t disp, off;
        memcpy(&disp, at, sizeof disp);
        if (rma_offset(disp - k->base, k->unit, 0, (int64_t)op->each_bytes, k->size, &off))
            return 0;
    }
    return 1;
}

enum rma_route rma_route_of(const struct rma_target *t, const struct rma_op *op)
{
    const struct rma_key *k = rma_key_for(t, &op->a);
    if (!k || k->state != KEY_READY || op->coalesced || (op->a.notify && !rma_route_notes(t, op)))
        return RMA_ROUTE_AM;
    int native = op->elem ? rma_route_atomic(k, op) && in_order(t, op) && aligned(k, op)
                          : rma_route_moves(t, op);
    native = native && in_range(k, op) && !((t->after || op->after) && rma_is_behind(t)); /* R16 */
    return native ? RMA_ROUTE_NATIVE : RMA_ROUTE_AM;
}
