/* engine_types.h - what the files of rma/engine/ share (private). */
#ifndef RMA_ENGINE_TYPES_H
#define RMA_ENGINE_TYPES_H

#include "rma/engine/engine.h"

/* --- coalesce.c ---- */
/* It takes no more operations. */
static inline void rma_coalesce_seal(const struct rma_op *op)
{
    if (op->t->coalesced == op)
        op->t->coalesced = NULL;
}
int rma_coalesce_full(const struct rma_op *op);
enum { COALESCE_BYTES = 16384 }; /* of a buffer */
struct coalesce_buffer {
    struct coalesce_buffer *next; /* free ones */
    _Alignas(RMA_PAD) char bytes[COALESCE_BYTES];
};
static inline void rma_coalesce_free(struct rma_op *op)
{
    struct rma *r = rma_self();
    struct coalesce_buffer *b = (struct coalesce_buffer *)(op->coalesced -
                                                           offsetof(struct coalesce_buffer, bytes));
    rma_coalesce_seal(op);
    b->next = r->coalesce_idle;
    r->coalesce_idle = b;
    op->coalesced = NULL;
}

/* --- due.c ---- */
/* t's tail stays for piggybacked flags, and begins to age. */
void rma_hold_back(struct rma_target *t);

/* --- packet_build.c, issue.c ---- */
static inline struct rma_noted rma_note_of(const struct rma_op *op)
{
    return (struct rma_noted){.index = (uint32_t)op->a.notify - 1};
}
/* Some of it went natively, so its notification leaves alone, when all of it is there. */
static inline int rma_note_follows(const struct rma_op *op)
{
    return op->a.notify && op->bytes && op->flags & OP_BEGUN;
}
/* Is op to be done after all that this origin did before to the same target: MPIX_Win_order (R16),
 * or a notification with mpix_notify_order=target? */
static inline int rma_follows(const struct rma_op *op)
{
    return op->after || (op->a.notify && op->t->w->notes.covers);
}

/* --- token.c ---- */
uint32_t rma_token_next(const struct rma_win *w); /* the one that is given out next */

/* --- route.c ---- */
enum rma_route { RMA_ROUTE_AM, RMA_ROUTE_NATIVE };
/* The target layout as `count` elements of a predefined type (op->bytes may be fewer), or NULL. */
static inline struct dt_type *rma_simple_elem(const struct rma_op *op, size_t *count)
{
    struct dt_type *t = op->a.ttype;
    if (t->flags & DT_PREDEFINED) {
        *count = (size_t)op->a.tcount;
        return t;
    }
    if (!(t->flags & DT_CONTIG) || t->true_lb != 0)
        return NULL;
    struct dt_type *e = t->basic;
    if (!e && !op->elem)
        e = dt_find(MPI_BYTE);
    if (!e || e->elem.bytes != e->elem.stride)
        return NULL;
    *count = (size_t)op->a.tcount * ((size_t)t->size / e->elem.bytes);
    return e;
}
enum rma_route rma_route_of(const struct rma_target *t, const struct rma_op *op);
/* Would a native operation pass something that is under way to t? */
int rma_is_behind(const struct rma_target *t);
/* Is it certain here that the target will accept it? (R11) */
int rma_route_certain(struct rma_target *t, const struct rma_op *op);
/* Would op be faster natively if the key were known? min: bytes of one put or get. */
int rma_route_pays(const struct rma_op *op, size_t min);
/* The same for a put or get to a target with a key record. */
int rma_route_moves(const struct rma_target *t, const struct rma_op *op);
/* Does a put of the network carry the notification of op? While the key is not known: would it? */
int rma_route_carries(const struct rma_target *t, const struct rma_op *op);
/* Does it pay for op, which notifies, though a message must follow? */
int rma_route_notes(const struct rma_target *t, const struct rma_op *op);
/* Is it long enough for a pull by its target? */
int rma_route_pulls(const struct rma_target *t, const struct rma_op *op);
/* The same for an accumulate, by the network's atomics. */
int rma_route_atomic(const struct rma_key *k, const struct rma_op *op);

/* --- native.c ---- */
/* Request the key if op could use it. */
void rma_native_ask(struct rma_target *t, const struct rma_op *op);
static inline void rma_native_want(struct rma_target *t, const struct rma_op *op)
{
    const struct rma_win_native *n = &t->w->native;
    if (!(t->flags & TARGET_NEAR) && !op->coalesced &&
        (op->elem ? n->acc : n->min && op->bytes >= n->min))
        rma_native_ask(t, op);
}
/* Send a packet with data of op as its last piece, zero-copy if possible (R13): as am_request(). */
int rma_zcopy_request(struct rma_target *t, struct rma_op *op, int type, const struct iovec *iov,
                      int n, unsigned replies);
int rma_native_send(struct rma_target *t, struct rma_op *op); /* one piece: 0, AM_AGAIN, -errno */
/* R14. Bytes of a short put that has left by the network; 0: take the usual path. */
size_t rma_native_soon(struct rma_target *t, const struct rma_args *a);

/* --- pull_origin.c ---- */
size_t rma_pull_least(void);
/* Offer the first operation of the queue for a pull by t: 0, AM_AGAIN, -ENOTSUP: send it by
 * message, -errno. */
int rma_pull_send(struct rma_target *t, struct rma_op *op);
int rma_pull_fits(const struct rma_target *t, const struct rma_op *op); /* the target could */
/* the network has finished with the operation's memory */
void rma_pull_over(struct rma_target *t);

#endif
