/* lock.h - the one kind of lock of the library, and a condition to sleep on.
 *
 *            lock_acquire ---- recursive: the owner may take it again
 *            lock_release
 *            lock_yield   ---- owner lets a waiter in, then takes it back
 *
 * A waiter spins a little, then sleeps in the kernel; in the simulator it yields its fiber.  Not
 * for memory shared between processes (rma/shared/shmlock.c has those). lock_yield() guarantees
 * that a waiter that is there gets in first: a thread that polls in a loop cannot starve the
 * others.
 *
 * A lock may prefer one thread (lock_prefer). That one takes it by a plain store and a plain load.
 * Every other one has the kernel execute a fence in all running threads (membarrier(2)), which
 * costs it some microseconds:
 *
 *      preferred thread                others, one at a time (word)
 *      inside = 1                      claim = 1
 *      (a fence, if others claim)      membarrier
 *      claim == 0 ? it has the lock    inside == 0 ? it has the lock
 *
 * At least one of the two sees the other. The preferred thread waits for the claim to end. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

struct lock {
    atomic_uint word;     /* 0 free, 1 held, 2 held and a thread sleeps */
    atomic_uint waiters;  /* threads inside lock_acquire that do not hold it yet */
    atomic_uint acquired; /* counts acquisitions; lock_yield watches it */
    _Atomic(void *) owner; /* thread_self() of the holder */
    unsigned depth;       /* recursion; owner only */
    _Atomic(void *) preferred; /* thread_self() of the preferred thread; NULL: there is none */
    atomic_uint inside;   /* the preferred thread holds it, or is about to */
    atomic_uint claim;    /* another thread holds it, or is about to: enum in lock.c */
};

enum { LOCK_UNCLAIMED };

struct lock_cond {
    atomic_uint seq; /* bumped by every signal */
};

void lock_init(struct lock *l);
void lock_acquire(struct lock *l);
void lock_release(struct lock *l);
/* The calling thread, which holds l, takes it more cheaply from now on, all others less cheaply.
 * Once. 0, or -ENOTSUP: the system has no such fence, and l stays as it is. */
int lock_prefer(struct lock *l);
/* For lock.c and lock_enter_briefly(). 0: another thread holds l. */
static inline int lock_enter_preferred(struct lock *l)
{
    atomic_store_explicit(&l->inside, 1, memory_order_relaxed);
    /* The compiler keeps the order. The processor does where it matters: BARRIER_GO in
     * claim_once(). */
    atomic_signal_fence(memory_order_seq_cst);
    /* Acquire pairs with the release in claim_end(). */
    if (__builtin_expect(atomic_load_explicit(&l->claim, memory_order_acquire) == LOCK_UNCLAIMED,
                         1))
        return 1;
    atomic_store_explicit(&l->inside, 0, memory_order_release);
    return 0;
}

static inline void lock_leave_preferred(struct lock *l)
{
    /* Release pairs with the acquire in claim_once(). */
    atomic_store_explicit(&l->inside, 0, memory_order_release);
}

/* The preferred thread, which must not hold l, takes it for some instructions of its own that know
 * nothing of l (lock_mine() is 0). 0: there is no such thread, or l is not free.
 * lock_leave_preferred() ends it. */
static inline int lock_enter_briefly(struct lock *l)
{
    return atomic_load_explicit(&l->preferred, memory_order_relaxed) &&
           !atomic_load_explicit(&l->inside, memory_order_relaxed) && lock_enter_preferred(l);
}

/* Without a wait. 0: another thread has it, or waits for it. */
int lock_try(struct lock *l);
/* A hint: whether some thread holds l, or is about to. */
static inline int lock_seen_held(const struct lock *l)
{
    return atomic_load_explicit(&l->inside, memory_order_relaxed) ||
           atomic_load_explicit(&l->word, memory_order_relaxed);
}
/* Whether the calling thread holds l. */
int lock_mine(const struct lock *l);
/* Give a waiting thread its turn; returns holding l at the same depth. */
void lock_yield(struct lock *l);
/* Release l at any depth, and take it back to that depth. */
unsigned lock_drop(struct lock *l);
void lock_retake(struct lock *l, unsigned depth);

/* Sleep until a signal comes after `seq` was read (under l), or timeout_ns passed.  l is released
 * meanwhile. */
void lock_cond_wait(struct lock_cond *c, unsigned seq, struct lock *l, uint64_t timeout_ns);
void lock_cond_signal(struct lock_cond *c); /* wakes all */

#endif
