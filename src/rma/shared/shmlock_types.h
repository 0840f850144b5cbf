/* shmlock_types.h - the words of a near lock, for shmlock.c and shmlock_repair.c (private).
 *
 * The word is changed by compare-and-swap or fetch-and-op, by any process, guard or not:
 *
 *     bit 31  W  a writer holds it
 *     bit 30  Q  the near queue is not empty (set and cleared under the guard)
 *     bit 29  F  far requests wait (set and cleared under the guard, by the target)
 *     bit 28  C  closed: the target failed, and a holder; nobody enters (set under the guard)
 *     0..27      with W: the writer, peer + 1 when it is near, 0 when it is far;
 *                else the number of readers, near and far
 *
 * Entering without the guard is allowed only while Q, F and C are clear, so once one is set, pump()
 * alone lets anybody in.  Leaving never takes the guard unless Q or F is seen set in the old value;
 * whoever sets Q or F pumps afterwards.  So either the leaver sees the bit, or the pumper sees the
 * leave.
 *
 * What waits is served in the order of keys, near and far together (rma.md 5.3).  The clock of the
 * window's node counts writers that had to queue.  Key of a writer: twice its count.  Of a reader:
 * one more than twice its age, so that it stands behind the writers that are as old or older.
 *
 * A process may die between any two instructions.  shmlock_repair() puts right what it leaves,
 * under the guard.  It rests on these truths, which hold between any two instructions:
 *   D1  The word names a near writer; one instruction lets it in, and one lets it out.
 *   D2  A near reader's seat is MOVING while the word may or may not count it, GRANTED_SHARED while
 *       the word counts it and else another.  The giver of a queued reader may die between word
 *       and seat: then the seat still waits, and the word counts one too many.
 *   D3  far_readers and the word change together under the guard, and only the target changes them.
 *   D4  A seat's key is valid while its state says WAIT.  Other peers change the state alone, by
 *       one store, under the guard.
 *   D5  Whoever has died is known to have died only when all that it stored is visible. */
#ifndef RMA_SHMLOCK_TYPES_H
#define RMA_SHMLOCK_TYPES_H

#include "rma/shared/shm_types.h"

/* GRANTED_EXCLUSIVE: until the waiter has seen it; from then on the word alone says so. */
enum seat {
    SEAT_NONE,
    SEAT_BROKEN,
    SEAT_WAIT_SHARED,
    SEAT_WAIT_EXCLUSIVE,
    SEAT_MOVING,
    SEAT_GRANTED_SHARED,
    SEAT_GRANTED_EXCLUSIVE
};

enum { W = 1u << 31, Q = 1u << 30, F = 1u << 29, C = 1u << 28, COUNT = C - 1 };

/* Chosen by test/perf/layouts (figures: doc/results.md), which has other values. */
#ifndef SHMLOCK_GUARD_ALIGN
#define SHMLOCK_GUARD_ALIGN 64
#endif
#ifndef SHMLOCK_SEAT_ALIGN
#define SHMLOCK_SEAT_ALIGN 4
#endif

struct shmlock {
    _Alignas(64) atomic_uint word;
    /* 0, or host index of the holder + 1; protects what follows */
    _Alignas(SHMLOCK_GUARD_ALIGN) atomic_uint guard;
    uint32_t peers, owner;
    uint32_t far_readers; /* those that the word counts; changed by the owner */
    uint64_t head, tail;  /* queue: places head..tail-1 of the ring, modulo peers */
    uint32_t far_type;    /* enum shmlock_type of the first far request, 0: none */
    uint32_t far_key;     /* its key */
    _Atomic(uint64_t) clock; /* of all locks of the window on this node: that of owner 0 is used */
    atomic_uint broken;   /* times a holder was found dead; under the guard */
    atomic_uint doubt;    /* an unnamed reader may have died; written by the owner */
    atomic_uint grants;   /* requests let in under the guard, modulo 2^32: all while one waits */
    struct shmseat {
        _Alignas(SHMLOCK_SEAT_ALIGN) atomic_uchar state; /* enum seat of this peer */
        uint8_t deaths; /* that this peer knew of when it looked last, at most 255; its own */
        uint16_t ring;  /* peer queued at this place of the ring */
        uint32_t key;   /* of the request of this peer that is queued */
    } seat[];
};

/* The near writer that a word names: its peer, else -1. */
static inline int shmlock_writer(unsigned word)
{
    return word & W ? (int)(word & COUNT) - 1 : -1;
}

/* The guard.  Taken from a holder that died, it comes back with the lock repaired. */
void shmlock_guard_take(struct shmlock *l, const struct shmnode *n);
void shmlock_guard_give(struct shmlock *l);

/* All under the guard.  Into the queue, behind all whose keys are not above p's; out of it. */
void shmlock_queue(struct shmlock *l, unsigned p);
void shmlock_unqueue(struct shmlock *l, unsigned p);
/* Let in whoever's turn it is. */
void shmlock_pump(struct shmlock *l, const struct shmnode *n);
/* A process died, perhaps in the middle of a change.  May end anywhere and be done again. */
void shmlock_repair(struct shmlock *l, const struct shmnode *n);

#endif
