/* packet_build.h - a packet under construction: filled from the queue (packet_build.c), given its
 * flags (sync_flags.c), sent (issue.c). */
#ifndef RMA_PACKET_BUILD_H
#define RMA_PACKET_BUILD_H

#include "rma/engine/engine_types.h"

enum { PIECES = 7, PACKET_MIN = 200 };

/* A packet under construction. */
struct packet {
    struct rma_hdr h;
    struct rma_noted note;
    struct rma_ext e;
    struct iovec iov[PIECES];
    int n;
    size_t part;      /* packed bytes of the (last) operation that it covers */
    unsigned replies, most_replies; /* replies it asks for; the most that the transport can have
                                     * under way, if known */
    unsigned ops;     /* operations in it */
    int dirty;        /* something in it has no answer of its own */
    int unsure;       /* R11 */
    struct rma_op *zcopy; /* R13: operation whose data the last piece is, in the program's memory;
                          * NULL: copied */
};

static inline struct rma_op *op_at(const struct list *l)
{
    return LIST_OBJ(l, struct rma_op, link);
}

static inline struct rma_hdr header(const struct rma_target *t, enum rma_packet type)
{
    struct rma_hdr h = {.type = (uint8_t)type};
    rma_name(t->w, &h);
    return h;
}

static inline int is_small(const struct rma_op *op)
{
    return rma_is_small(op->t, op->bytes);
}

/* What leaves with a packet besides its operations. */
struct tail {
    int ends;       /* it is the end of the queue                          */
    int piggybacks; /* t->sync leaves with it, as far as needed: ...       */
    unsigned sync;  /* ... these flags                                     */
    uint32_t early; /* token of a DONE that asks early (R12); 0: none      */
};

/* --- packet_build.c ---- */
/* Builds the next packet from the queue, of at most n operations; p->ops 0: the LOCK must go
 * alone. */
void rma_packet_next(struct packet *p, struct rma_target *t, int lock, unsigned n);
/* Does its next packet get an answer of its own? Yes for a very long one, so that it ends soon if
 * refused (replies.c, no_more). Yes for all if packets may pass each other. */
static inline int rma_op_asks(const struct rma_op *op)
{
    enum { VERY_LONG = 16 << 20 };
    return !(op->flags & OP_ANSWERS) && (!op->t->ordered || (op->bytes >= VERY_LONG && !op->sent));
}
/* Header of the last operation of the packet: it carries the flags of synchronization. */
struct rma_hdr *rma_batch_tail(struct packet *p);
static inline struct rma_hdr *rma_tail_header(struct packet *p)
{
    return p->h.type == RMA_PKT_BATCH ? rma_batch_tail(p) : &p->h;
}

/* --- sync_flags.c ---- */
/* Something has left that this flush must ask about. Another thread's DONE may cover less, and its
 * answer goes to that thread. */
static inline int rma_unanswered(const struct rma_target *t)
{
    return t->flags & TARGET_DIRTY || t->tokens_out;
}
/* Flags that leave now for t->sync, if something unanswered has left or is in the packet. */
unsigned rma_sync_flags(const struct rma_target *t, int dirty);
void rma_put_sync(struct rma_hdr *h, unsigned flags, uint32_t token, unsigned *replies);
/* The flags have left: waiters of the token now wait for an answer, or are done. */
void rma_sync_left(struct rma_target *t, unsigned flags);
/* Gives the packet what leaves with it. */
struct tail rma_tail_flags(struct rma_target *t, struct packet *p, int lock);
void rma_tail_left(struct rma_target *t, const struct tail *x); /* the packet has left */
/* R12: does the flush with a due DONE take the answer to one that asked early? */
int rma_takes_early(struct rma_target *t);
void rma_put_lock(const struct rma_target *t, struct packet *p); /* LOCK and age */

#endif
