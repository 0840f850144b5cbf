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
/* awaited: the preferred thread sleeps until the end of the claim */
enum { UNCLAIMED = LOCK_UNCLAIMED, CLAIMED, CLAIM_AWAITED };
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
    atomic_init(&l->inside, 0);
    atomic_init(&l->claim, UNCLAIMED);
    atomic_init(&l->preferred, NULL);
    l->depth = 0;
}

/* --- the preferred thread, and a claim against it -------------------------------------------- */

/* PRIVATE_EXPEDITED of linux/membarrier.h: a full fence in each running thread of this process. */
enum { BARRIER_GO = 1 << 3, BARRIER_REGISTER = 1 << 4 };
static int barrier_call(int command)
{
#if defined(SYS_membarrier) && !defined(BASE_TSAN)
    return sched ? -1 : (int)syscall(SYS_membarrier, command, 0, 0);
#else
    (void)command;
    return -1;
#endif
}

/* 0: done. A program that was stopped and restored elsewhere may have to register again. */
static int barrier(void)
{
    return barrier_call(BARRIER_GO) && (barrier_call(BARRIER_REGISTER) || barrier_call(BARRIER_GO));
}

/* Relaxed: a thread that reads it without the lock asks whether it is itself. One that has taken
 * the word sees what was stored before word_free() in lock_prefer(). */
static void *preferred(const struct lock *l)
{
    return atomic_load_explicit(&l->preferred, memory_order_relaxed);
}

static int prefers(const struct lock *l, const void *self)
{
    const void *p = preferred(l);
    return __builtin_expect(p != NULL, 0) && p == self;
}

static void await_claim(struct lock *l)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&l->claim, memory_order_relaxed) == UNCLAIMED)
            return;
        cpu_relax();
    }
    unsigned seen = CLAIMED;
    if (atomic_compare_exchange_strong_explicit(&l->claim, &seen, CLAIM_AWAITED,
                                                memory_order_relaxed, memory_order_relaxed) ||
        seen == CLAIM_AWAITED)
        futex_wait(&l->claim, CLAIM_AWAITED, 0);
}

static void wait_preferred(struct lock *l)
{
    atomic_fetch_add_explicit(&l->waiters, 1, memory_order_relaxed);
    do
        await_claim(l);
    while (!lock_enter_preferred(l));
    atomic_fetch_sub_explicit(&l->waiters, 1, memory_order_relaxed);
}

static void claim_end(struct lock *l)
{
    /* Release pairs with the acquire in lock_enter_preferred(). */
    if (atomic_exchange_explicit(&l->claim, UNCLAIMED, memory_order_release) == CLAIM_AWAITED)
        futex_wake(&l->claim, 1);
}

/* By the holder of the word. 0: the preferred thread is inside. */
static int claim_once(struct lock *l)
{
    if (atomic_load_explicit(&l->inside, memory_order_relaxed))
        return 0;
    atomic_store_explicit(&l->claim, CLAIMED, memory_order_relaxed);
    if (barrier() != 0)
        log_fatal("membarrier: the system refuses what it has done before");
    /* Acquire pairs with the release stores of `inside` in lock_leave_preferred(). */
    if (!atomic_load_explicit(&l->inside, memory_order_acquire))
        return 1;
    claim_end(l);
    return 0;
}

static void claim(struct lock *l)
{
    if (claim_once(l))
        return;
    atomic_fetch_add_explicit(&l->waiters, 1, memory_order_relaxed);
    while (!claim_once(l))
        sched_yield();
    atomic_fetch_sub_explicit(&l->waiters, 1, memory_order_relaxed);
}

/* --- the lock ---------------------------------------------------------------------------- */

static int is_owner(const struct lock *l, const void *self)
{
    /* Relaxed: only this thread ever stores its own identity here. */
    return atomic_load_explicit(&l->owner, memory_order_relaxed) == self;
}

int lock_mine(const struct lock *l)
{
    return is_owner(l, thread_self());
}

/* Acquire pairs with the release exchange in word_free(). */
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

static void lock_own(struct lock *l, void *self, unsigned depth)
{
    atomic_store_explicit(&l->owner, self, memory_order_relaxed);
    atomic_store_explicit(&l->acquired,
                          atomic_load_explicit(&l->acquired, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    l->depth = depth;
}

static void lock_take(struct lock *l, void *self, unsigned depth)
{
    if (prefers(l, self)) {
        if (!lock_enter_preferred(l))
            wait_preferred(l);
    } else {
        if (!try_take(l))
            wait_for(l);
        if (preferred(l))
            claim(l);
    }
    lock_own(l, self, depth);
}

static void word_free(struct lock *l)
{
    if (atomic_exchange_explicit(&l->word, FREE, memory_order_release) == SLEEPERS)
        futex_wake(&l->word, 1);
}

int lock_prefer(struct lock *l)
{
    if (barrier_call(BARRIER_REGISTER) != 0 || barrier() != 0)
        return -ENOTSUP;
    WR_ASSERT_DEBUG(lock_mine(l) && !preferred(l));
    /* It holds l by the word. Now it holds l as the preferred thread does. */
    atomic_store_explicit(&l->inside, 1, memory_order_relaxed);
    atomic_store_explicit(&l->preferred, thread_self(), memory_order_relaxed);
    word_free(l);
    return 0;
}

static void lock_free(struct lock *l)
{
    void *self = atomic_load_explicit(&l->owner, memory_order_relaxed);
    l->depth = 0;
    atomic_store_explicit(&l->owner, NULL, memory_order_relaxed);
    if (prefers(l, self)) {
        lock_leave_preferred(l);
        return;
    }
    if (preferred(l))
        claim_end(l);
    word_free(l);
}

void lock_acquire(struct lock *l)
{
    void *self = thread_self();
    if (is_owner(l, self))
        l->depth++;
    else
        lock_take(l, self, 1);
}

int lock_try(struct lock *l)
{
    void *self = thread_self();
    if (is_owner(l, self)) {
        l->depth++;
        return 1;
    }
    if (prefers(l, self)) {
        if (!lock_enter_preferred(l))
            return 0;
    } else {
        /* Relaxed: a hint. A thread that tries again and again leaves the lock to those that
         * wait. */
        if (atomic_load_explicit(&l->waiters, memory_order_relaxed) || !try_take(l))
            return 0;
        if (preferred(l) && !claim_once(l)) {
            word_free(l);
            return 0;
        }
    }
    lock_own(l, self, 1);
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
    lock_take(l, thread_self(), depth);
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
    lock_take(l, thread_self(), depth);
}

void lock_cond_wait(struct lock_cond *c, unsigned seq, struct lock *l, uint64_t timeout_ns)
{
    unsigned depth = lock_drop(l);
    if (sched)
        sched->yield("another thread of this process", -1, 1);
    else
        futex_wait(&c->seq, seq, timeout_ns);
    lock_take(l, thread_self(), depth);
}

void lock_cond_signal(struct lock_cond *c)
{
    /* Release pairs with the kernel's read of seq in futex_wait, and with readers under the
     * lock. */
    atomic_fetch_add_explicit(&c->seq, 1, memory_order_release);
    if (!sched)
        futex_wake(&c->seq, 1 << 30);
}
