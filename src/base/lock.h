/* lock.h - the one kind of lock of the library, and a condition to sleep on.
 *
 *            lock_acquire ---- recursive: the owner may take it again
 *            lock_release
 *            lock_yield   ---- owner lets a waiter in, then takes it back
 *
 * A waiter spins a little, then sleeps in the kernel; in the simulator it yields its fiber.  Not
 * for memory shared between processes (rma/shared/shmlock.c has those). lock_yield() guarantees
 * that a waiter that is there gets in first: a thread that polls in a loop cannot starve the
 * others. */
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
};

struct lock_cond {
    atomic_uint seq; /* bumped by every signal */
};

void lock_init(struct lock *l);
void lock_acquire(struct lock *l);
void lock_release(struct lock *l);
/* Without a wait. 0: another thread has it. */
int lock_try(struct lock *l);
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
