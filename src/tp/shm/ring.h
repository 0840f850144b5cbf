/* ring.h - a bounded ring of fixed cells in shared memory: many senders, one receiver.
 *
 *      sender                                            receiver
 *      tail: compare-and-swap reserves a cell            polls the cell at its head only
 *      writes header and payload into the cell           hands the payload out in place
 *      cell.seq = position + 1   (release) ----------->  (acquire)
 *      head (acquire), read when the ring looks full <-  head = position + 1   (release)
 *
 * One locked instruction and no other shared write a message: the receiver never writes into cells,
 * and senders read its head about once a lap.
 *
 * Rules
 *   R1 position p lives in cell p mod cells and is published by seq = low half of p + 1; what
 *      an earlier lap left there is p + 1 - cells, so no cell is ever cleared.
 *   R2 tail - head <= cells: no cell is written before its last reader moved head past it.
 *   R3 fairness: while other senders wait for room, a sender has at most
 *      cells / (waiting + 1), at least 1, unread cells here.
 *   R4 a sender stores in `intent` which position it tries for before it tries.  So the hole that a
 *      killed sender leaves can be distinguished from a cell that is still being written.
 *   R5 the receiver trusts no byte of a cell: length and source are checked by its caller.
 *   R6 pages of a new ring are neither cleared nor mapped.  A receiver that polls one while its
 *      sender writes there makes one of the two sleep in the kernel.  So a sender that sends here
 *      alone touches the headers of some cells ahead, in the first lap.
 * Nothing here depends on processes: the unit test runs it between threads. */
#ifndef TP_SHM_RING_H
#define TP_SHM_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Number of what two processes must agree on: the structures of this file, where cells lie and what
 * they take (ring.c, ring_view_of). It is a part of the inboxes' magic numbers, so processes of two
 * versions that meet on a host refuse each other. */
enum { RING_LAYOUT = 2 };
enum { RING_HISTORY = 64 }; /* positions a sender remembers for R3 (count, a power of two) */

struct ring_cell {
    atomic_uint seq; /* R1 */
    uint32_t len;    /* payload bytes */
    uint32_t src;    /* host index of the sender */
    uint32_t unused;
    char payload[];
};

struct ring_sender { /* written by one sender, read by the receiver when it is idle */
    _Alignas(64) _Atomic uint64_t intent; /* R4: position + 1, or 0 */
    atomic_uint want;                     /* refused for lack of room, wants to be woken */
};

struct ring {
    /* A line pair each: tail moves between senders.  All read waiting, and write it seldom.  The
     * receiver writes head, which is read seldom. */
    _Alignas(128) _Atomic uint64_t tail; /* next position to reserve */
    _Alignas(128) atomic_uint waiting;   /* senders with `want` set */
    _Alignas(128) _Atomic uint64_t head; /* next position to read */
    _Alignas(128) struct ring_sender sender[]; /* by host index; the cells follow */
};

/* The same ring as one process sees it. */
struct ring_view {
    struct ring *ring;
    char *cells;
    uint32_t count;  /* cells, a power of two */
    uint32_t room;   /* payload bytes of a cell */
    size_t stride;   /* bytes from cell to cell */
    uint32_t senders;
};

struct ring_out { /* the sending end in one process */
    struct ring_view v;
    uint32_t self; /* its host index */
    int waiting;   /* its `want` is set */
    uint64_t head_seen; /* head is not before it; below 0 while the ring is new (R6) */
    uint64_t sent;      /* messages */
    uint32_t touched;   /* R6: positions before this one need no look at their pages */
    uint32_t history[RING_HISTORY]; /* low half of the positions of the last ones */
};

/* Bytes of a ring with `count` cells for `senders`.  A cell takes `bytes` and a line of headers. */
size_t ring_bytes(uint32_t senders, uint32_t count, size_t bytes);
/* View of the ring at `at` (zeroed by its owner: that is an empty ring). */
struct ring_view ring_view_of(void *at, uint32_t senders, uint32_t count, size_t bytes);

/* The sending end of a ring. */
struct ring_out ring_out_of(struct ring_view v, uint32_t self);
/* 0, or 1 if there is no room now: then `want` is set. bytes is the sum over iov and at most
 * v.room. */
int ring_send(struct ring_out *o, const struct iovec *iov, int n, size_t bytes);
/* Set or clear this sender's `want`. */
void ring_want(struct ring_out *o, int want);
/* Whether ring_send would find room: no promise. */
int ring_has_room(struct ring_out *o);

static inline const struct ring_cell *ring_cell_at(const struct ring_view *v, uint64_t pos)
{
    return (const struct ring_cell *)(v->cells + (pos & (v->count - 1)) * v->stride);
}

/* The cell at the receiver's position `pos`, or NULL while it is not published. */
static inline const struct ring_cell *ring_peek(const struct ring_view *v, uint64_t pos)
{
    const struct ring_cell *c = ring_cell_at(v, pos);
    /* Acquire pairs with the release in ring_send(): header and payload are there. */
    return atomic_load_explicit(&c->seq, memory_order_acquire) == (uint32_t)(pos + 1) ? c : NULL;
}

/* The receiver has read everything before pos. */
static inline void ring_advance(const struct ring_view *v, uint64_t pos)
{
    /* Release pairs with the acquire of senders: they may overwrite what we have read. */
    atomic_store_explicit(&v->ring->head, pos, memory_order_release);
}

/* R4: 1 if position pos was reserved, is not published, and only failed senders (dead(arg, index))
 * may have reserved it. */
int ring_is_hole(const struct ring_view *v, uint64_t pos, int (*dead)(void *arg, uint32_t index),
                 void *arg);
/* Step over such positions from *head on; returns how many there were. */
int ring_skip_holes(const struct ring_view *v, uint64_t *head,
                    int (*dead)(void *arg, uint32_t index), void *arg);

#endif
