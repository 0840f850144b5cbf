/* route.c - how an operation leaves: by active message, or by the network's own put and get.
 *
 * Decided in one place (issue.c), when the operation leaves the queue, so that queue, states and pools know no routes.
 *
 *   accumulates        message: the processor makes them atomic, near, own and far ones by the same words (native.c)
 *   put, get           native when the key is known, the target's window has the bytes, and each piece is as long as the
 *                      transport says pays.  Shorter ones share packets and carry LOCK, DONE and UNLOCK.
 *   out of range       message: the target's answer is the error, the same as ever */
#include "rma/rma_types.h"

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

static int in_range(const struct rma_key *k, const struct rma_op *op)
{
    int64_t lo, hi;
    uint64_t off;
    return !dt_bounds(op->a.ttype, (size_t)op->a.tcount, &lo, &hi) &&
           !rma_offset((uint64_t)op->a.disp, k->unit, lo, hi, k->size, &off);
}

enum rma_route rma_route(const struct rma_target *t, const struct rma_op *op)
{
    const struct rma_key *k = t->key;
    if (!k || k->state != KEY_READY || !rma_route_pays(op, op->kind == RMA_PUT ? k->put_min : k->get_min) ||
        !in_range(k, op))
        return RMA_ROUTE_AM;
    return RMA_ROUTE_NATIVE;
}
