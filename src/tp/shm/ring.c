/* ring.c - the ring of an inbox (ring.h, rules R1 to R6). Start with ring_send(). */
#include "tp/shm/ring.h"

#include "base/atomic.h"
#include "tp/tp_types.h"

enum { LINE = 64 };
/* R6: the first cells get their pages one by one, since many rings carry few messages; the others
 * so many at a time.  In the time for all of them (0.1 ms) the receiver would fall asleep. */
enum { TOUCH_FROM = 4, TOUCH_STEP = 8 };

/* A cell has one cache line more than `bytes`: the headers' (its own and those of the rooms above),
 * so that `bytes` of a user's message leave in one piece.  Nor are cells a power of two apart:
 * all headers would compete for the same few cache sets. */
static size_t stride_of(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE + LINE;
}

static size_t header_bytes(uint32_t senders)
{
    return sizeof(struct ring) + senders * sizeof(struct ring_sender);
}

size_t ring_bytes(uint32_t senders, uint32_t count, size_t bytes)
{
    size_t all = header_bytes(senders) + count * stride_of(bytes);
    return (all + 127) / 128 * 128; /* the next ring is aligned as struct ring requires */
}

struct ring_view ring_view_of(void *at, uint32_t senders, uint32_t count, size_t bytes)
{
    return (struct ring_view){.ring = at,
                              .cells = (char *)at + header_bytes(senders),
                              .count = count,
                              .room = (uint32_t)(stride_of(bytes) - sizeof(struct ring_cell)),
                              .stride = stride_of(bytes),
                              .senders = senders};
}

struct ring_out ring_out_of(struct ring_view v, uint32_t self)
{
    uint32_t first = v.count < TOUCH_FROM ? v.count : TOUCH_FROM;
    return (struct ring_out){.v = v, .self = self, .touched = first,
                             .head_seen = (uint64_t)first - v.count};
}

/* R6: the header pages for position t and some more.  Their cells may be another sender's, so the
 * write changes nothing. */
static __attribute__((cold, noinline)) void touch_ahead(struct ring_out *o, uint64_t t)
{
    uint32_t count = o->v.count, to = t + TOUCH_STEP < count ? (uint32_t)t + TOUCH_STEP : count;
    o->touched = to;
    if (2 * o->sent < t) /* one of many senders: each would touch all of it */
        return;
    for (; t < to; t++) {
        struct ring_cell *c = (struct ring_cell *)ring_cell_at(&o->v, t);
        /* Volatile: compilers may make a load of what changes nothing, and that maps no page to
         * write to. Relaxed: it pairs with nothing, and orders nothing. */
        volatile atomic_uint *seq = &c->seq;
        atomic_fetch_or_explicit(seq, 0, memory_order_relaxed);
    }
}

/* R3: whether this sender has its share of unread cells while `others` wait. */
static int over_share(struct ring_out *o, unsigned others)
{
    uint32_t share = o->v.count / (others + 1);
    if (share > RING_HISTORY)
        share = RING_HISTORY;
    if (share == 0)
        share = 1;
    if (o->sent < share)
        return 0;
    o->head_seen = atomic_load_explicit(&o->v.ring->head, memory_order_acquire);
    uint32_t then = o->history[(o->sent - share) & (RING_HISTORY - 1)];
    return (int32_t)(then - (uint32_t)o->head_seen) >= 0;
}

/* Whether position t may be reserved. */
static inline int room_at(struct ring_out *o, uint64_t t)
{
    struct ring *r = o->v.ring;
    if ((int64_t)(t - o->head_seen) >= (int64_t)o->v.count) {
        if (o->touched < o->v.count)
            touch_ahead(o, t);
        /* Acquire pairs with the release in ring_advance(). */
        o->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);
        if (o->touched < o->v.count) /* seems full again at that position */
            o->head_seen = (uint64_t)o->touched - o->v.count;
        if ((int64_t)(t - o->head_seen) >= (int64_t)o->v.count)
            return 0;
    }
    unsigned others = atomic_load_explicit(&r->waiting, memory_order_relaxed) -
                      (unsigned)o->waiting;
    return others == 0 || !over_share(o, others);
}

int ring_has_room(struct ring_out *o)
{
    return room_at(o, atomic_load_explicit(&o->v.ring->tail, memory_order_relaxed));
}

void ring_want(struct ring_out *o, int want)
{
    struct ring *r = o->v.ring;
    if (o->waiting == want)
        return;
    o->waiting = want;
    atomic_uint *mine = &r->sender[o->self].want;
    /* Counted before `want` is set, and until it is clear again: what a killed sender leaves is
     * never less than the number of those that wait. */
    if (!want)
        atomic_store_explicit(mine, 0, memory_order_relaxed);
    /* Release: for that order. It does not replace the fence in mem_wake_arm(), between this and
     * the last look before sleep, which pairs with the receiver's between its store of head and its
     * load of waiting (shm.c settle()): either it sees both words, or we see the room. A locked add
     * alone would not order our later load of head on every processor. */
    atomic_fetch_add_explicit(&r->waiting, want ? 1u : -1u, memory_order_release);
    if (want)
        atomic_store_explicit(mine, 1, memory_order_release);
}

/* A position, or -1 when there is no room. */
static int64_t reserve(struct ring_out *o)
{
    struct ring *r = o->v.ring;
    struct ring_sender *me = &r->sender[o->self];
    uint64_t t = atomic_load_explicit(&r->tail, memory_order_relaxed);
    do {
        if (!room_at(o, t)) {
            /* It may still name a position that another sender won. */
            atomic_store_explicit(&me->intent, 0, memory_order_release);
            return -1;
        }
        /* Release: a reader that sees the changed intent sees what was published before
         * (ring_is_hole). */
        atomic_store_explicit(&me->intent, t + 1, memory_order_release);
        /* Release: a reader of the new tail (ring_is_hole) sees the intent. */
    } while (!atomic_compare_exchange_weak_explicit(&r->tail, &t, t + 1, memory_order_release,
                                                    memory_order_relaxed));
    return (int64_t)t;
}

int ring_send(struct ring_out *o, const struct iovec *iov, int n, size_t bytes)
{
    int64_t pos = reserve(o);
    if (pos < 0) {
        ring_want(o, 1);
        return 1;
    }
    struct ring_cell *c = (struct ring_cell *)ring_cell_at(&o->v, (uint64_t)pos);
    tp_iov_gather(c->payload, iov, n);
    c->len = (uint32_t)bytes;
    c->src = o->self;
    /* Release pairs with the acquire in ring_peek(). */
    atomic_store_explicit(&c->seq, (uint32_t)pos + 1, memory_order_release);
    /* Fetch the next cell, for reading: its receiver polls that line, so to own it early costs more
     * (doc/results.md). */
    __builtin_prefetch(ring_cell_at(&o->v, (uint64_t)pos + 1), 0, 3);
    o->history[o->sent++ & (RING_HISTORY - 1)] = (uint32_t)pos;
    if (o->waiting)
        ring_want(o, 0);
    return 0;
}

int ring_is_hole(const struct ring_view *v, uint64_t pos, int (*dead)(void *arg, uint32_t index),
                 void *arg)
{
    /* Acquire pairs with the release in reserve(). */
    uint64_t tail = atomic_load_explicit(&v->ring->tail, memory_order_acquire);
    if ((int64_t)(tail - pos) <= 0)
        return 0;
    int by_dead = 0;
    for (uint32_t i = 0; i < v->senders; i++) {
        if (atomic_load_explicit(&v->ring->sender[i].intent, memory_order_acquire) != pos + 1)
            continue;
        if (!dead(arg, i))
            return 0; /* it may be writing, or about to see that another sender won */
        by_dead = 1;
    }
    /* Read last: a live winner whose intent has changed since has published. */
    return by_dead && !ring_peek(v, pos);
}

int ring_skip_holes(const struct ring_view *v, uint64_t *head,
                    int (*dead)(void *arg, uint32_t index), void *arg)
{
    int n = 0;
    for (; ring_is_hole(v, *head, dead, arg); n++)
        ring_advance(v, ++*head);
    return n;
}
