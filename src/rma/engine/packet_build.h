/* packet_build.h - a packet being put together: from the queue (packet_build.c), with its flags (sync_flags.c), to be sent (issue.c). */
#ifndef RMA_PACKET_BUILD_H
#define RMA_PACKET_BUILD_H

#include "rma/engine/engine_types.h"

enum { PIECES = 6, PACKET_MIN = 200 };

/* A packet being put together. */
struct packet {
    struct rma_hdr h;
    struct rma_ext e;
    struct iovec iov[PIECES];
    int n;
    size_t part;      /* packed bytes of the (last) operation that it covers */
    unsigned replies, most_replies; /* of the second: what the transport can have under way, if that is known */
    unsigned ops;     /* operations in it */
    int dirty;        /* something in it has no answer of its own */
    int unsure;       /* R11 */
    struct rma_op *keep; /* R13: whose data its last piece is, where the program has them; NULL: it is copied */
};

static inline struct rma_op *op_at(const struct list *l)
{
    return LIST_OBJ(l, struct rma_op, link);
}

static inline struct rma_hdr header(const struct rma_target *t, enum rma_packet type)
{
    return (struct rma_hdr){.type = (uint8_t)type, .win = (uint32_t)t->w->id, .src = t->w->src};
}

static inline int is_small(const struct rma_op *op)
{
    return rma_is_small(op->t, op->bytes);
}

/* --- packet_build.c ---- */
/* The operation, or its next part, as a packet of at most `cap` bytes. */
void rma_packet_op(struct packet *p, struct rma_op *op, size_t cap);
/* As many whole small operations from the front of the queue (at most n) as share one packet; p->ops < 2: none. */
void rma_packet_batch(struct packet *p, struct rma_target *t, unsigned n, size_t cap);
/* Bytes of payload if the whole operation goes without extension; SIZE_MAX: it cannot. */
size_t rma_whole_bytes(const struct rma_op *op, size_t room);
/* Is the next packet of it answered by itself? */
int rma_op_asks(const struct rma_op *op);
/* Header of the last operation of the packet, which carries the flags of synchronization. */
struct rma_hdr *rma_tail_header(struct packet *p);

/* --- sync_flags.c ---- */
/* Something has left whose end a flush must ask for. */
int rma_unanswered(const struct rma_target *t);
/* Which flags leave now for t->sync, given that something unanswered has left or is in the packet. */
unsigned rma_sync_flags(const struct rma_target *t, int dirty);
void rma_put_sync(struct rma_hdr *h, unsigned flags, uint32_t token, unsigned *replies);
/* The flags have left: whoever waits on the token waits for an answer, or has what it wants. */
void rma_sync_left(struct rma_target *t, unsigned flags);
/* May flags ride on a packet that ends the queue? */
int rma_may_ride(const struct rma_target *t);
/* R12: does the packet ask at once?  It has; the flush whose DONE is to leave waits for that answer. */
int rma_asks_early(const struct rma_target *t, const struct packet *p);
void rma_early_left(struct rma_target *t, uint32_t token);
int rma_takes_early(struct rma_target *t);
void rma_put_lock(const struct rma_target *t, struct packet *p); /* LOCK and age */

#endif
