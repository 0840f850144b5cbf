/* delegate_copy.c - a put or get of one block of a near process's private memory, executed by its
 * owner if the owner is free.
 *
 *    asker                                        owner
 *    put: copies a piece into its box
 *    DELEGATE with the piece's place        =>    copies between the box and its memory, answers
 *    get: copies the piece out of its box  <---   in the asker's record (acc_answer_copy)
 *
 * The box is shared memory of the asker, one for all windows of a process: SLOTS pieces of
 * SLOT_BYTES, so that both sides copy at the same time. A system call of CMA costs more than two
 * messages, and one side does all its work.
 *
 * Invariants: as in delegate.c, and one stripe, that of the operation's first byte, decides for all
 * its pieces whether they were answered or taken back. Pieces are read in the order sent, so what
 * is answered is the front of the operation; CMA does the rest. Start with rma_delegate_copy(). */
#include "rma/near/near_types.h"

#include <string.h>

enum {
    SLOT_BYTES = RMA_BOX_BYTES / RMA_BOX_SLOTS,
    COPY_MOST = 256 << 10 /* bytes; from here on one CMA copy is as fast as two side by side */
};

struct copy {
    struct rma_win *w;
    struct rma_near *n;
    int put, world;
    uint64_t disp, off;  /* in the target's units; in bytes, checked */
    int64_t lo;          /* bytes from there to the first one */
    char *user;          /* the first byte here */
    size_t bytes, sent, done;
    unsigned first, out; /* slot of the oldest piece that is out; how many are */
    uint32_t number[RMA_BOX_SLOTS];
};



int rma_may_copy(const struct rma_win *w, const struct rma_near *n, const struct rma_args *a,
                 size_t bytes)
{
    if (n->kind != RMA_NEAR_CMA || !rma_self()->box || w->nears < 2)
        return 0;
    return bytes && bytes <= COPY_MOST && rma_block_moves(a);
}

static size_t piece(const struct copy *c, size_t at)
{
    return c->bytes - at < SLOT_BYTES ? c->bytes - at : SLOT_BYTES;
}

/* Sends one more piece. 0; else the transport has no room. */
static int piece_send(struct copy *c)
{
    unsigned slot = (c->first + c->out) % RMA_BOX_SLOTS;
    size_t len = piece(c, c->sent);
    if (c->put)
        memcpy(rma_self()->box + slot * SLOT_BYTES, c->user + c->sent, len);
    struct rma_delegated m = {.type = RMA_PKT_DELEGATE,
                              .aop = c->put ? RMA_COPY_IN : RMA_COPY_OUT,
                              .slot = (uint16_t)slot,
                              .win = (uint32_t)c->w->id,
                              .src = c->w->src,
                              .number = rma_delegate_number(c->w),
                              .disp = c->disp,
                              .at = c->lo + (int64_t)c->sent,
                              .len = len};
    struct iovec v = {&m, sizeof m};
    if (am_request(c->world, AM_RMA + RMA_PKT_DELEGATE, &v, 1, 0))
        return -1;
    rma_count(c->w, PVAR_RMA_MSGS, 1);
    c->number[slot] = m.number;
    c->sent += len;
    c->out++;
    return 0;
}

/* The oldest piece is answered. */
static void piece_done(struct copy *c)
{
    size_t len = piece(c, c->done);
    if (!c->put)
        memcpy(c->user + c->done, rma_self()->box + c->first * SLOT_BYTES, len);
    c->done += len;
    c->first = (c->first + 1) % RMA_BOX_SLOTS;
    c->out--;
}

/* 0: the oldest piece is answered. -1: all that were not have been taken back. */
static int piece_await(struct copy *c, struct acc_delegation *mine, int *late)
{
    uint32_t last = c->number[(c->first + c->out - 1) % RMA_BOX_SLOTS];
    const struct rma_awaited answer = {mine, c->number[c->first], last};
    enum rma_answer how = rma_delegate_await(c->world, 0, rma_delegate_answered, &answer);
    *late |= how != RMA_IN_TIME;
    if (how != RMA_TIMEOUT)
        return 0;
    if (!acc_take_back(c->n->acc, c->off, mine, last))
        return 0; /* all were answered meanwhile */
    rma_delegate_unread(c->n, last);
    while (c->out && acc_answered(mine, c->number[c->first], last))
        piece_done(c);
    return -1;
}

size_t rma_delegate_copy(struct rma_win *w, struct rma_near *n, const struct rma_args *a,
                         uint64_t off, size_t bytes)
{
    struct rma *r = rma_self();
    struct acc_delegation *mine = &rma_peer_of(w, w->node.n.me)->asked;
    int64_t lo = 0, hi;
    if (r->box_busy || !rma_delegate_may(w, n, 0) ||
        dt_bounds(a->ttype, (size_t)a->tcount, &lo, &hi))
        return 0;
    int put = a->kind == RMA_PUT, late = 0;
    struct copy c = {.w = w, .n = n, .put = put, .world = rma_world(w, n->rank), .lo = lo,
                     .disp = (uint64_t)a->disp, .off = off, .bytes = bytes,
                     .user = put ? (char *)(uintptr_t)dt_start(a->otype, a->origin)
                                 : (char *)dt_start(a->rtype, a->result)};
    w->delegate.asking = r->box_busy = 1; /* other threads copy by CMA meanwhile */
    for (;;) {
        while (c.sent < bytes && c.out < RMA_BOX_SLOTS && piece_send(&c) == 0)
            ;
        if (!c.out || piece_await(&c, mine, &late))
            break;
        piece_done(&c);
    }
    w->delegate.asking = r->box_busy = 0;
    rma_delegate_learn(n, late || c.done < bytes);
    return c.done;
}
