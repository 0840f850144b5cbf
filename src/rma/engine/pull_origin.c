/* pull_origin.c - the origin's side of a pull by the target (target/pull_target.c). Start with
 * rma_pull_send(). */
#include "rma/engine/engine_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 512 /* bytes of both keys, at most */ };

/* --- the network ------------------------------------------------------------------------ */

static size_t least(const struct tp_caps *c)
{
    if (!cvar.rma_native || !cvar.rma_pulls || !(c->flags & TP_GET))
        return SIZE_MAX;
    return cvar.rma_pull_min < 0 ? c->pull_min : (size_t)cvar.rma_pull_min;
}

/* Bytes from which the target may pull an operation; SIZE_MAX: never. */
size_t rma_pull_least(void)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    size_t min = SIZE_MAX;
    for (int i = 0; am_tp_open(i, &ops, &caps); i++)
        min = least(&caps) < min ? least(&caps) : min;
    return min ? min : 1;
}

struct tp *rma_pull_network(int world, int data, int results, size_t bytes,
                            const struct tp_ops **ops, struct tp_caps *caps)
{
    struct tp *tp = am_tp_to(world, ops, caps);
    if (!tp || !(*ops)->import || (results && !(caps->flags & TP_PUT)))
        return NULL;
    /* Results are a second transfer, which a message's answer would have included: they are faster
     * from twice the length on. */
    return (data && results && cvar.rma_pull_min < 0 ? bytes / 2 : bytes) < least(caps) ? NULL : tp;
}

/* --- origin ----------------------------------------------------------------------------- */

/* what the network has of the operation that the target pulls, or will pull when there is room for
 * the packet */
struct rma_offer {
    struct tp *tp;
    const struct tp_ops *ops;
    struct tp_mem *data, *result;
    uint32_t op;     /* its id */
    uint8_t atomics; /* value of its target's t->atomics before */
    struct rma_pull_data d;
    char keys[KEYS]; /* d.key + d.result bytes */
};

static int has_data(const struct rma_op *op)
{
    return op->kind != RMA_GET;
}

static int has_result(const struct rma_op *op)
{
    return op->kind == RMA_GET || op->kind == RMA_GACC;
}

int rma_pull_fits(const struct rma_target *t, const struct rma_op *op)
{
    const struct rma_args *a = &op->a;
    /* BY_AM: the network has pieces of it and refused another; the rest goes by message */
    int begun = op->coalesced || op->natives || op->sent || op->flags & (OP_BY_AM | OP_BEGUN);
    int whole = (uint64_t)a->tcount * (uint64_t)a->ttype->size == op->bytes;
    if (op->kind > RMA_GACC || begun || !t->ordered || !whole) /* the target needs room for all */
        return 0;
    if (op->elem && (op->flags & OP_NO_DATA || op->elem->elem.bytes != op->elem->elem.stride))
        return 0;
    return dt_is_block(a->ttype, (size_t)a->tcount) && a->ttype->true_lb == 0 &&
           (!has_data(op) || dt_is_block(a->otype, (size_t)a->ocount)) &&
           (!has_result(op) || dt_is_block(a->rtype, (size_t)a->rcount));
}

/* Type that the target gets for the data: bytes for puts and gets of derived datatypes. */
static const struct dt_type *moved(const struct rma_op *op)
{
    const struct dt_type *t = op->elem ? op->elem : op->a.ttype;
    return t->flags & DT_PREDEFINED && t->basic == t && t->elem.bytes == t->elem.stride
               ? t
               : dt_find(MPI_BYTE);
}

void rma_pull_over(struct rma_target *t)
{
    struct rma_offer *o = t->offer;
    t->offer = NULL;
    if (!o)
        return;
    if (o->data)
        o->ops->dereg(o->tp, o->data);
    if (o->result)
        o->ops->dereg(o->tp, o->result);
    free(o);
}

/* Register the memory and store the keys; 0: not possible. */
static int keys_of(struct rma_offer *o, const struct rma_op *op)
{
    const struct rma_args *a = &op->a;
    size_t n = KEYS;
    if (has_data(op)) {
        if (o->ops->reg(o->tp, dt_start(a->otype, a->origin), op->bytes, 0, TP_MAY_READ,
                        &o->data) ||
            o->ops->pack(o->tp, o->data, o->keys, &n))
            return 0;
        o->d.key = (uint32_t)n;
    }
    if (!has_result(op))
        return 1;
    n = KEYS - o->d.key;
    if (o->ops->reg(o->tp, dt_start(a->rtype, a->result), op->bytes, 0, TP_MAY_WRITE, &o->result) ||
        o->ops->pack(o->tp, o->result, o->keys + o->d.key, &n))
        return 0;
    o->d.result = (uint32_t)n;
    return 1;
}

/* 1: t->offer is op's; 0: op goes by message. */
static int offered(struct rma_target *t, const struct rma_op *op)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    struct tp *tp;
    if (t->offer) { /* made when there was no room for the packet */
        WR_ASSERT(t->offer->op == op->id);
        return 1;
    }
    if (!rma_pull_fits(t, op) ||
        !(tp = rma_pull_network(t->world, has_data(op), has_result(op), op->bytes, &ops, &caps)))
        return 0;
    struct rma_offer *o = t->offer = calloc(1, sizeof *o);
    if (!o)
        return 0;
    o->tp = tp;
    o->ops = ops;
    o->op = op->id;
    o->d.count = op->bytes / moved(op)->elem.bytes;
    memcpy(o->d.transport, ops->name, strnlen(ops->name, sizeof o->d.transport));
    if (keys_of(o, op) &&
        sizeof(struct rma_hdr) + sizeof(struct rma_noted) + sizeof o->d + o->d.key + o->d.result <=
            t->packet)
        return 1;
    rma_pull_over(t);
    return 0;
}

/* 0: sent; AM_AGAIN; -ENOTSUP: by message; -errno */
int rma_pull_send(struct rma_target *t, struct rma_op *op)
{
    if (!offered(t, op))
        return -ENOTSUP;
    WR_ASSERT(!op->natives);
    struct rma_offer *o = t->offer;
    size_t bytes = o->d.key + o->d.result;
    struct rma_noted note = rma_note_of(op);
    size_t noted = op->a.notify ? sizeof note : 0;
    struct rma_hdr h = {.type = RMA_PKT_PULL, .aop = op->elem ? op->aop : 0,
                        .flags = op->a.notify ? RMA_F_NOTIFY : 0,
                        .win = (uint32_t)t->w->id, .src = t->w->src, .op = op->id,
                        .dt = (uint32_t)moved(op)->obj.handle, .disp = (uint64_t)op->a.disp,
                        .len = (uint32_t)(noted + sizeof o->d + bytes)};
    struct iovec v[] = {{&h, sizeof h}, {&note, noted}, {&o->d, sizeof o->d}, {o->keys, bytes}};
    int err = am_request(t->world, AM_RMA + RMA_PKT_PULL, v, 4, 1);
    if (err) {
        if (err != AM_AGAIN)
            rma_pull_over(t);
        return err;
    }
    rma_count(t->w, PVAR_RMA_MSGS, 1);
    op->flags |= OP_PULLED;
    op->natives = 1;
    t->natives++;
    o->atomics = t->atomics;
    t->atomics = 1; /* R9 */
    return 0;
}

/* `done` bytes of op are done at the target: all, or the rest goes by message. */
static void fetched(struct rma_target *t, struct rma_op *op, struct rma_hdr *h, const char *what)
{
    size_t done = h->done;
    if (!h->aop && (done > op->bytes || done % moved(op)->elem.bytes))
        h->aop = MPI_ERR_OTHER;
    if (h->aop) {
        op->err = rma_op_refused(op, h, what);
        done = op->bytes;
    }
    op->sent = done;
    if (op->flags & OP_ANSWERS)
        op->answered = done;
    if (done < op->bytes) {
        op->flags |= OP_BY_AM;
        return;
    }
    WR_ASSERT(t->next == &op->link);
    t->next = t->next->next;
    t->queued--;
    rma_queue_shorter(t);
    rma_count(t->w, PVAR_RMA_NATIVE, 1);
}

int rma_on_pulled(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    struct rma_op *op = w ? rma_op_by_id(h.op) : NULL;
    int its = op && rma_root(op->t->w) == w && op->t->world == src;
    if (!its || !(op->flags & OP_PULLED) || !op->natives)
        return 0;
    struct rma_target *t = op->t;
    if (t->offer)
        t->atomics = t->offer->atomics; /* this one is done */
    rma_pull_over(t);
    op->flags &= (uint8_t)~OP_PULLED;
    op->natives--;
    t->natives--;
    if (!(t->flags & TARGET_FAILED))
        fetched(t, op, &h, (const char *)msg + sizeof h);
    rma_op_settle(op);
    rma_cleanup_target(t);
    if (rma_target_due(t) || t->flags & TARGET_FAILED)
        rma_ready(t);
    progress_signal();
    return 0;
}
