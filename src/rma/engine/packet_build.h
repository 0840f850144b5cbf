/* packet_build.h - a packet under construction: filled from the queue (packet_build.c), given its
 * flags (sync_flags.c), sent (issue.c). */
#ifndef RMA_PACKET_BUILD_H
#define RMA_PACKET_BUILD_H

#include "rma/engine/engine_types.h"

enum { PIECES = 6, PACKET_MIN = 200 };

/* A packet under construction. */
struct packet {
    struct rma_hdr h;
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
    return (struct rma_hdr){.type = (uint8_t)type, .win = (uint32_t)t->w->id, .src = t->w->src};
}

static inline int is_small(const struct rma_op *op)
{
    return rma_is_small(op->t, op->bytes);
}

/* --- packet_build.c ---- */
/* Builds a packet of at most `cap` bytes from the operation, or from its next part. */
void rma_packet_op(struct packet *p, struct rma_op *op, size_t cap);
/* Packs whole small operations from the front of the queue (at most n) into one packet; p->ops < 2:
 * none. */
void rma_packet_batch(struct packet *p, struct rma_target *t, unsigned n, size_t cap);
/* Bytes of payload if the whole operation goes without extension; SIZE_MAX: impossible. */
size_t rma_whole_bytes(const struct rma_op *op, size_t room);
/* Does its next packet get an answer of its own? */
int rma_op_asks(const struct rma_op *op);
/* Header of the last operation of the packet: it carries the flags of synchronization. */
struct rma_hdr *rma_tail_header(struct packet *p);

/* --- sync_flags.c ---- */
/* Something has left that a flush must ask about. */
int rma_unanswered(const struct rma_target *t);
/* Flags that leave now for t->sync, if something unanswered has left or is in the packet. */
unsigned rma_sync_flags(const struct rma_target *t, int dirty);
void rma_put_sync(struct rma_hdr *h, unsigned flags, uint32_t token, unsigned *replies);
/* The flags have left: waiters of the token now wait for an answer, or are done. */
void rma_sync_left(struct rma_target *t, unsigned flags);
/* May flags piggyback on a packet that ends the queue? */
int rma_may_piggyback(const struct rma_target *t);
/* R12: should the packet ask early? It has asked. Does the flush with a due DONE take that
 * answer? */
int rma_asks_early(const struct rma_target *t, const struct packet *p);
void rma_early_left(struct rma_target *t, uint32_t token);
int rma_takes_early(struct rma_target *t);
void rma_put_lock(const struct rma_target *t, struct packet *p); /* LOCK and age */

#endif
