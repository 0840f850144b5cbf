/* shmlock_repair.c - repairs a near lock after a failure, whatever step the process died in.
 *
 * Queue, count of readers and bits of the word all follow from the seats (D1 to D5 of
 * shmlock_types.h). The repairing process may die, too. So each step can be repeated, and
 * waiters get the error before the record that they must is removed. Start with
 * shmlock_repair(). */
#include "rma/shared/shmlock_types.h"

#include "base/sched.h"
#include "mem/mem.h"

static int waits(const struct shmlock *l, unsigned p)
{
    unsigned s = atomic_load_explicit(&l->seat[p].state, memory_order_relaxed);
    return s == SEAT_WAIT_SHARED || s == SEAT_WAIT_EXCLUSIVE;
}

static void tell(struct shmlock *l, const struct shmnode *n, unsigned p, enum seat state)
{
    /* Release pairs with the acquire in shmlock_poll(). */
    atomic_store_explicit(&l->seat[p].state, (unsigned char)state, memory_order_release);
    if (p != n->me)
        mem_wake(n->host_index[p]);
}

/* A holder failed. No waiter gets the lock by that; each gets the error (rma.md 5.14). */
static void break_queue(struct shmlock *l, const struct shmnode *n)
{
    atomic_fetch_add_explicit(&l->broken, 1, memory_order_relaxed);
    for (; l->head != l->tail; l->head++)
        tell(l, n, l->seat[l->head % l->peers].ring, SEAT_BROKEN);
}

void shmlock_close(struct shmlock *l, const struct shmnode *n)
{
    shmlock_guard_take(l, n);
    atomic_fetch_or_explicit(&l->word, C, memory_order_relaxed);
    shmlock_guard_give(l);
}

void shmlock_break(struct shmlock *l, const struct shmnode *n)
{
    shmlock_guard_take(l, n);
    break_queue(l, n);
    shmlock_pump(l, n);
    shmlock_guard_give(l);
}

/* The granter may have died between the word and the seat (D1). A reader's grant is taken back
 * instead (D2). */
static void finish_grant(struct shmlock *l, const struct shmnode *n)
{
    int p = shmlock_writer(atomic_load_explicit(&l->word, memory_order_relaxed));
    if (p >= 0 && waits(l, (unsigned)p))
        tell(l, n, (unsigned)p, SEAT_GRANTED_EXCLUSIVE);
}

static void queue_again(struct shmlock *l)
{
    l->head = l->tail = 0;
    for (unsigned p = 0; p < l->peers; p++)
        if (waits(l, p))
            shmlock_queue(l, p); /* in the order of keys, as before */
}

/* Remove what failed processes hold, except from the count of readers. */
static void drop_failed(struct shmlock *l, const struct shmnode *n)
{
    for (unsigned p = 0, told = 0; p < n->peers; p++) {
        unsigned s = atomic_load_explicit(&l->seat[p].state, memory_order_relaxed);
        unsigned w = atomic_load_explicit(&l->word, memory_order_relaxed);
        int writes = shmlock_writer(w) == (int)p;
        if ((s == SEAT_NONE && !writes) || !peer_dead(n, p))
            continue;
        if (waits(l, p))
            shmlock_unqueue(l, p);
        if (writes || s == SEAT_GRANTED_SHARED) {
            if (peer_dead(n, l->owner)) /* a failed target's lock stays closed */
                atomic_fetch_or_explicit(&l->word, C, memory_order_relaxed);
            if (!told++)
                break_queue(l, n);
        }
        atomic_store_explicit(&l->seat[p].state, SEAT_NONE, memory_order_relaxed);
        if (writes)
            atomic_fetch_sub_explicit(&l->word, W + p + 1, memory_order_relaxed);
    }
}

/* Number of near readers, or -1 while a living one is MOVING. */
static int readers_seated(struct shmlock *l, const struct shmnode *n, unsigned turn)
{
    int readers = 0, moving = 0;
    for (unsigned p = 0; p < n->peers; p++) {
        /* Acquire pairs with the releases in try_shared() and shmlock_leave(): if a change of a
         * seat is seen, so is the earlier change of the word. */
        unsigned s = atomic_load_explicit(&l->seat[p].state, memory_order_acquire);
        readers += s == SEAT_GRANTED_SHARED;
        if (s != SEAT_MOVING)
            continue;
        int ask = shm_failed_look(turn);
        if (peer_dead(n, p) || (ask && mem_holder_died((unsigned)n->host_index[p] + 1)))
            atomic_store_explicit(&l->seat[p].state, SEAT_NONE, memory_order_relaxed);
        else
            moving = 1;
    }
    return moving ? -1 : readers;
}

/* With Q set readers only leave, so an equal word has not changed in between. */
static void count_again(struct shmlock *l, const struct shmnode *n)
{
    for (unsigned turn = 0;; turn++) {
        /* Acquire pairs with the releases in try_shared() and shmlock_leave(): if a process has
         * changed this word, its seat is seen to be MOVING, or later. */
        unsigned w = atomic_load_explicit(&l->word, memory_order_acquire);
        int readers = readers_seated(l, n, turn);
        unsigned count = l->far_readers + (unsigned)readers;
        unsigned next = w & W ? w : (w & ~(unsigned)COUNT) | count;
        /* acq_rel: a process that enters also acquires what earlier holders released. */
        if (readers >= 0 && atomic_compare_exchange_strong_explicit(
                                &l->word, &w, next, memory_order_acq_rel, memory_order_relaxed))
            return;
        thread_pause(turn);
    }
}

void shmlock_repair(struct shmlock *l, const struct shmnode *n)
{
    /* From here on no process enters without the guard. Acquire pairs with the release in
     * try_shared(): if a process has entered, its seat is seen to be MOVING, or later. */
    atomic_fetch_or_explicit(&l->word, Q, memory_order_acq_rel);
    finish_grant(l, n);
    queue_again(l);
    drop_failed(l, n);
    count_again(l, n);
    shmlock_pump(l, n); /* the failed one may have died before this */
}

void shmlock_fail(struct shmlock *l, const struct shmnode *n)
{
    shmlock_guard_take(l, n);
    shmlock_repair(l, n);
    shmlock_guard_give(l);
}

/* --- doubt ---------------------------------------------------------------------------------- */

void shmlock_doubt(struct shmlock *l, const struct shmnode *n, int on)
{
    shmlock_guard_take(l, n);
    /* Waiters check it again when they are woken below. */
    atomic_store_explicit(&l->doubt, on != 0, memory_order_relaxed);
    if (on)
        for (uint64_t i = l->head; i != l->tail; i++)
            if (l->seat[i % l->peers].ring != n->me)
                mem_wake(n->host_index[l->seat[i % l->peers].ring]);
    shmlock_guard_give(l);
}

int shmlock_doubtful(const struct shmlock *l)
{
    return atomic_load_explicit(&l->doubt, memory_order_relaxed) &&
           !(atomic_load_explicit(&l->word, memory_order_relaxed) & W);
}

unsigned shmlock_broken(const struct shmlock *l)
{
    return atomic_load_explicit(&l->broken, memory_order_relaxed);
}
