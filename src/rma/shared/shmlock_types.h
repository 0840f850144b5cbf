/* shmlock_types.h - the words of a near lock, for shmlock.c and shmlock_repair.c (private).
 *
 * The word is changed by compare-and-swap or fetch-and-op, by any process, guard or not:
 *
 *     bit 31  W  a writer holds it
 *     bit 30  Q  the near queue is not empty (set and cleared under the guard)
 *     bit 29  F  far requests wait (set and cleared under the guard, by the target)
 *     bit 28  C  closed: the target failed; no process enters (set under the guard)
 *     0..27      with W: the writer, peer + 1 when it is near, 0 when it is far;
 *                else the number of readers, near and far
 *
 * A process may enter without the guard only while Q, F and C are clear. Once one of them is set,
 * only shmlock_pump() grants the lock. Leaving takes the guard only if the old value had Q or F
 * set. A process that sets Q or F calls shmlock_pump() afterwards. So either the leaver sees the
 * bit, or shmlock_pump() sees the leave.
 *
 * Requests are served in the order of keys, near and far together (rma.md 5.3). The clock of the
 * window's node counts writers that had to queue. The key of a writer is twice its count. The key
 * of a reader is one more than twice its age, so it stands behind the writers that are as old or
 * older.
 *
 * A process may die between any two instructions. shmlock_repair() repairs what it leaves, under
 * the guard. It relies on these invariants, which hold between any two instructions:
 *   D1  The word names a near writer. One instruction lets it in, and one lets it out.
 *   D2  A near reader's seat is MOVING while the word may or may not count it. It is
 *       GRANTED_SHARED only while the word counts it. The granter of a queued reader may die
 *       between word and seat: then the seat still waits, and the word counts one too many.
 *   D3  far_readers and the word change together under the guard, and only the target changes them.
 *   D4  A seat's key is valid while its state is one of WAIT. Other peers change only the state, by
 *       one store, under the guard.
 *   D5  A process is reported as failed only after all its stores are visible. */
#ifndef RMA_SHMLOCK_TYPES_H
#define RMA_SHMLOCK_TYPES_H

#include "rma/shared/shm_types.h"

/* GRANTED_EXCLUSIVE lasts until the waiter has seen it; from then on the word alone counts. */
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

/* Chosen by test/perf/layouts (figures: doc/results.md), which also compiles other values. */
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
    uint32_t far_readers; /* readers that the word counts; changed by the owner */
    uint64_t head, tail;  /* queue: places head..tail-1 of the ring, modulo peers */
    uint32_t far_type;    /* enum shmlock_type of the first far request, 0: none */
    uint32_t far_key;     /* its key */
    _Atomic(uint64_t) clock; /* for all locks of the window on this node: only that of owner 0 is
                              * used */
    atomic_uint broken;   /* times a holder was found dead; under the guard */
    atomic_uint doubt;    /* an unnamed reader may have died; written by the owner */
    atomic_uint grants;   /* requests granted under the guard, so while another waited; modulo
                           * 2^32 */
    struct shmseat {
        _Alignas(SHMLOCK_SEAT_ALIGN) atomic_uchar state; /* enum seat of this peer */
        uint8_t deaths; /* failures that this peer knew of at its last look, at most 255; written
                         * by this peer */
        uint16_t ring;  /* peer queued at this place of the ring */
        uint32_t key;   /* of the request that this peer has queued */
    } seat[];
};

/* The near writer that a word names: its peer, else -1. */
static inline int shmlock_writer(unsigned word)
{
    return word & W ? (int)(word & COUNT) - 1 : -1;
}

/* The guard. If its holder failed, the next taker repairs the lock first. */
void shmlock_guard_take(struct shmlock *l, const struct shmnode *n);
void shmlock_guard_give(struct shmlock *l);

/* All under the guard. Insert p behind all requests whose keys are not above its own; remove it. */
void shmlock_queue(struct shmlock *l, unsigned p);
void shmlock_unqueue(struct shmlock *l, unsigned p);
/* Grant the lock to the next in order. */
void shmlock_pump(struct shmlock *l, const struct shmnode *n);
/* A process failed, perhaps in the middle of a change. May stop anywhere and be repeated. */
void shmlock_repair(struct shmlock *l, const struct shmnode *n);

#endif
