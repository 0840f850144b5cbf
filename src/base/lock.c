/* lock.c - the recursive lock of a process, on a futex. In the simulator a waiting fiber yields
 * instead (sched.h). Start with lock_acquire(). */
#include "base/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/log.h"
#include "base/sched.h"

enum { FREE, HELD, SLEEPERS };
enum { SPINS = 200, YIELD_TURNS = 1000 };

static void futex_wait(atomic_uint *word, unsigned seen, uint64_t timeout_ns)
{
    struct timespec ts = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, timeout_ns ? &ts : NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word, int n)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

void lock_init(struct lock *l)
{
    atomic_init(&l->word, FREE);
    atomic_init(&l->waiters, 0);
    atomic_init(&l->acquired, 0);
    atomic_init(&l->owner, NULL);
    l->depth = 0;
}

int lock_mine(const struct lock *l)
{
    /* Relaxed: only this thread ever stores its own identity here. */
    return atomic_load_explicit(&l->owner, memory_order_relaxed) == thread_self();
}

/* Acquire pairs with the release exchange in lock_free(). */
static int try_take(struct lock *l)
{
    unsigned expect = FREE;
    return atomic_compare_exchange_strong_explicit(&l->word, &expect, HELD, memory_order_acquire,
                                                   memory_order_relaxed);
}

static void wait_for(struct lock *l)
{
    atomic_fetch_add_explicit(&l->waiters, 1, memory_order_relaxed);
    for (int i = 0; !sched && i < SPINS; i++) {
        if (try_take(l))
            goto got;
        cpu_relax();
    }
    if (sched) {
        while (!try_take(l))
            sched->yield("a lock of this process", -1, 1);
    } else {
        /* Mark that a thread sleeps.  The thread that takes the lock this way keeps the mark, which
         * costs one idle wake. */
        while (atomic_exchange_explicit(&l->word, SLEEPERS, memory_order_acquire) != FREE)
            futex_wait(&l->word, SLEEPERS, 0);
    }
got:
    atomic_fetch_sub_explicit(&l->waiters, 1, memory_order_relaxed);
}

static void lock_own(struct lock *l, unsigned depth)
{
    atomic_store_explicit(&l->owner, thread_self(), memory_order_relaxed);
    atomic_store_explicit(&l->acquired,
                          atomic_load_explicit(&l->acquired, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    l->depth = depth;
}

static void lock_take(struct lock *l, unsigned depth)
{
    if (!try_take(l))
        wait_for(l);
    lock_own(l, depth);
}

static void lock_free(struct lock *l)
{
    l->depth = 0;
    atomic_store_explicit(&l->owner, NULL, memory_order_relaxed);
    if (atomic_exchange_explicit(&l->word, FREE, memory_order_release) == SLEEPERS)
        futex_wake(&l->word, 1);
}

void lock_acquire(struct lock *l)
{
    if (lock_mine(l))
        l->depth++;
    else
        lock_take(l, 1);
}

int lock_try(struct lock *l)
{
    if (lock_mine(l))
        l->depth++;
    else if (try_take(l))
        lock_own(l, 1);
    else
        return 0;
    return 1;
}

void lock_release(struct lock *l)
{
    WR_ASSERT_DEBUG(lock_mine(l) && l->depth > 0);
    if (l->depth > 1)
        l->depth--;
    else
        lock_free(l);
}

unsigned lock_drop(struct lock *l)
{
    unsigned depth = l->depth;
    lock_free(l);
    return depth;
}

void lock_retake(struct lock *l, unsigned depth)
{
    lock_take(l, depth);
}

void lock_yield(struct lock *l)
{
    if (atomic_load_explicit(&l->waiters, memory_order_relaxed) == 0)
        return;
    unsigned seen = atomic_load_explicit(&l->acquired, memory_order_relaxed);
    unsigned depth = lock_drop(l);
    /* A woken waiter needs time to arrive: do not take the lock before one has. */
    for (int i = 0; i < YIELD_TURNS; i++) {
        if (atomic_load_explicit(&l->acquired, memory_order_relaxed) != seen ||
            atomic_load_explicit(&l->waiters, memory_order_relaxed) == 0)
            break;
        if (sched)
            sched->yield("a lock of this process", -1, 1);
        else
            sched_yield();
    }
    lock_take(l, depth);
}

void lock_cond_wait(struct lock_cond *c, unsigned seq, struct lock *l, uint64_t timeout_ns)
{
    unsigned depth = lock_drop(l);
    if (sched)
        sched->yield("another thread of this process", -1, 1);
    else
        futex_wait(&c->seq, seq, timeout_ns);
    lock_take(l, depth);
}

void lock_cond_signal(struct lock_cond *c)
{
    /* Release pairs with the kernel's read of seq in futex_wait, and with readers under the
     * lock. */
    atomic_fetch_add_explicit(&c->seq, 1, memory_order_release);
    if (!sched)
        futex_wake(&c->seq, 1 << 30);
}
