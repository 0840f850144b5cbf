/* shmlock.c - near locks: enter, wait, leave, and the target's side of far locks.
 * shmlock_types.h has the word and its invariants. Start with shmlock_enter_aged() and
 * shmlock_leave(). */
#include "rma/shared/shmlock_types.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/sched.h"
#include "mem/mem.h"

size_t shmlock_bytes(unsigned peers)
{
    size_t n = sizeof(struct shmlock) + peers * sizeof(struct shmseat);
    return (n + 63) / 64 * 64;
}

void shmlock_init(struct shmlock *l, unsigned peers, unsigned owner)
{
    l->peers = peers;
    l->owner = owner;
}

/* --- age ----------------------------------------------------------------------------- */

static _Atomic(uint64_t) *clock_of(struct shmlock *l)
{
    return &((struct shmlock *)(void *)((char *)l - l->owner * shmlock_bytes(l->peers)))->clock;
}

uint64_t shmlock_clock(const struct shmlock *l)
{
    /* pairs with writer_key() */
    return atomic_load_explicit(clock_of((struct shmlock *)(uintptr_t)l), memory_order_acquire);
}

void shmlock_clock_raise(struct shmlock *l, uint64_t age)
{
    _Atomic(uint64_t) *c = clock_of(l);
    uint64_t now = atomic_load_explicit(c, memory_order_acquire); /* pairs with writer_key() */
    while (now < age && !atomic_compare_exchange_weak_explicit(c, &now, age, memory_order_acq_rel,
                                                               memory_order_acquire))
        ;
}

/* Needs Q or F set before. Then a process with an age of at least this one's has seen the bit,
 * so it holds nothing by the fast way that this one waits for. Release pairs with
 * shmlock_clock(). */
static uint32_t writer_key(struct shmlock *l)
{
    return (uint32_t)(2 * (atomic_fetch_add_explicit(clock_of(l), 1, memory_order_acq_rel) + 1));
}

/* An age far below all others in the queue is raised, so that keys of 32 bits can be compared. */
uint32_t shmlock_reader_key(struct shmlock *l, uint64_t age)
{
    uint64_t now = shmlock_clock(l);
    if (age > now)
        age = now;
    if (now - age > SHMLOCK_OLDEST)
        age = now - SHMLOCK_OLDEST;
    return (uint32_t)(2 * age + 1);
}

static uint32_t key_of(struct shmlock *l, int type, uint64_t age)
{
    return type == SHMLOCK_EXCLUSIVE ? writer_key(l) : shmlock_reader_key(l, age);
}

/* --- guard: a few instructions, never held across a wait ------------------------- */

void shmlock_guard_take(struct shmlock *l, const struct shmnode *n)
{
    unsigned me = (unsigned)n->host_index[n->me] + 1;
    for (unsigned turn = 0;; turn++) {
        unsigned seen = 0;
        /* Acquire pairs with the release in shmlock_guard_give(). */
        if (atomic_compare_exchange_weak_explicit(&l->guard, &seen, me, memory_order_acquire,
                                                  memory_order_relaxed)) {
            sched_point();
            return;
        }
        if (seen && shm_failed_look(turn) && mem_holder_died(seen) &&
            atomic_compare_exchange_strong_explicit(&l->guard, &seen, me, memory_order_acquire,
                                                    memory_order_relaxed)) {
            shmlock_repair(l, n);
            return;
        }
        if (seen)
            thread_pause(turn);
    }
}

void shmlock_guard_give(struct shmlock *l)
{
    atomic_store_explicit(&l->guard, 0, memory_order_release); /* pairs with shmlock_guard_take() */
}

/* --- letting in -------------------------------------------------------------------- */

/* Try to add a holder, regardless of the queue. holder: peer + 1, or 0 for a far one. Acquire
 * pairs with the release of those that left. */
static int admit(struct shmlock *l, int type, unsigned holder)
{
    unsigned w = atomic_load_explicit(&l->word, memory_order_relaxed);
    for (;;) {
        if ((w & (W | C)) || (type == SHMLOCK_EXCLUSIVE && (w & COUNT)))
            return 0;
        unsigned next = type == SHMLOCK_EXCLUSIVE ? w | W | holder : w + 1;
        if (atomic_compare_exchange_weak_explicit(&l->word, &w, next, memory_order_acq_rel,
                                                  memory_order_relaxed))
            return 1;
    }
}

static int queue_empty(const struct shmlock *l)
{
    return l->head == l->tail;
}

static uint32_t head_key(const struct shmlock *l)
{
    return l->seat[l->seat[l->head % l->peers].ring].key;
}

static void counted(struct shmlock *l)
{
    atomic_fetch_add_explicit(&l->grants, 1, memory_order_relaxed);
}

/* Grant the head of the near queue if the lock admits it.  Release pairs with the acquire in
 * shmlock_poll(). */
static int grant_head(struct shmlock *l, const struct shmnode *n, int *type_out)
{
    unsigned p = l->seat[l->head % l->peers].ring;
    int shared = atomic_load_explicit(&l->seat[p].state, memory_order_relaxed) == SEAT_WAIT_SHARED;
    if (!admit(l, shared ? SHMLOCK_SHARED : SHMLOCK_EXCLUSIVE, p + 1))
        return 0;
    counted(l);
    sched_point(); /* readers may leave, and far ones join, before the seat shows the grant */
    l->head++;
    atomic_store_explicit(&l->seat[p].state, shared ? SEAT_GRANTED_SHARED : SEAT_GRANTED_EXCLUSIVE,
                          memory_order_release);
    if (p != n->me)
        mem_wake(n->host_index[p]);
    *type_out = shared ? SHMLOCK_SHARED : SHMLOCK_EXCLUSIVE;
    return 1;
}

/* Later ones move up. */
void shmlock_unqueue(struct shmlock *l, unsigned gone)
{
    uint64_t to = l->head;
    for (uint64_t i = l->head; i != l->tail; i++) {
        uint32_t p = l->seat[i % l->peers].ring;
        if (p != gone)
            l->seat[to++ % l->peers].ring = (uint16_t)p;
    }
    l->tail = to;
}

void shmlock_queue(struct shmlock *l, unsigned p)
{
    uint64_t at = l->tail++;
    sched_point(); /* a process that dies here leaves a meaningless place */
    for (; at != l->head; at--) {
        uint16_t before = l->seat[(at - 1) % l->peers].ring;
        if (!shmlock_before(l->seat[p].key, l->seat[before].key))
            break;
        l->seat[at % l->peers].ring = before;
    }
    l->seat[at % l->peers].ring = (uint16_t)p;
}

/* Does a living process wait in the near queue? Removes failed ones from its head. */
static int near_wait(struct shmlock *l, const struct shmnode *n)
{
    while (!queue_empty(l)) {
        unsigned p = l->seat[l->head % l->peers].ring;
        if (!boot_failed_count() || !peer_dead(n, p))
            return 1;
        l->head++;
        atomic_store_explicit(&l->seat[p].state, SEAT_NONE, memory_order_relaxed);
    }
    return 0;
}

/* Under the guard: grant the lock to the next in order. For a far request, only wake the target:
 * its handler takes the lock. */
void shmlock_pump(struct shmlock *l, const struct shmnode *n)
{
    int type = 0;
    while (type != SHMLOCK_EXCLUSIVE) { /* one writer, or the readers at the head together */
        int near = near_wait(l, n);
        if (l->far_type && (!near || shmlock_before(l->far_key, head_key(l)))) {
            unsigned w = atomic_load_explicit(&l->word, memory_order_acquire);
            int open = !(w & (W | C)) && (l->far_type == SHMLOCK_SHARED || !(w & COUNT));
            if (open && l->owner != n->me)
                mem_wake(n->host_index[l->owner]);
            break; /* reserved for the far side: F keeps newcomers in the queue */
        }
        if (!near || !grant_head(l, n, &type))
            break;
    }
    if (queue_empty(l))
        atomic_fetch_and_explicit(&l->word, ~(unsigned)Q, memory_order_relaxed);
}

/* Stop waiting: the target failed, or a holder that cannot be named may have failed. */
static void withdraw(struct shmlock *l, const struct shmnode *n)
{
    shmlock_guard_take(l, n);
    unsigned s = atomic_load_explicit(&l->seat[n->me].state, memory_order_relaxed);
    if (s == SEAT_WAIT_SHARED || s == SEAT_WAIT_EXCLUSIVE) {
        shmlock_unqueue(l, n->me);
        atomic_store_explicit(&l->seat[n->me].state, SEAT_BROKEN, memory_order_relaxed);
    }
    shmlock_pump(l, n);
    shmlock_guard_give(l);
}

/* Has a holder or a waiter failed? */
static int seats_dead(const struct shmlock *l, const struct shmnode *n)
{
    if (!boot_failed_count())
        return 0;
    int by = shmlock_writer(atomic_load_explicit(&l->word, memory_order_relaxed));
    if (by >= 0 && peer_dead(n, (unsigned)by))
        return 1;
    for (unsigned p = 0; p < n->peers; p++)
        if (atomic_load_explicit(&l->seat[p].state, memory_order_relaxed) != SEAT_NONE &&
            peer_dead(n, p))
            return 1;
    return 0;
}

/* Has this waiter learnt of a new failure since its last look? A process that left the lock and
 * died before it granted the next one leaves no other trace. */
static int death_new(struct shmlock *l, const struct shmnode *n)
{
    int deaths = boot_failed_count();
    uint8_t now = deaths < UINT8_MAX ? (uint8_t)deaths : UINT8_MAX, was = l->seat[n->me].deaths;
    l->seat[n->me].deaths = now;
    return now != was || now == UINT8_MAX;
}

/* --- near side ------------------------------------------------------------------------ */

/* Without the guard, only while the queue is empty. The first access is the exchange itself: a
 * load before it would fetch the line twice, to read and to write. Acquire pairs with the
 * release of those that left. */
static inline int try_exclusive(struct shmlock *l, const struct shmnode *n)
{
    unsigned w = 0;
    return atomic_compare_exchange_strong_explicit(&l->word, &w, W | (n->me + 1),
                                                   memory_order_acquire, memory_order_relaxed);
}

static inline int try_shared(struct shmlock *l, const struct shmnode *n)
{
    atomic_uchar *seat = &l->seat[n->me].state;
    unsigned w = 0;
    atomic_store_explicit(seat, SEAT_MOVING, memory_order_relaxed);
    do { /* beside other readers; release pairs with shmlock_repair() and count_again() */
        if (atomic_compare_exchange_strong_explicit(&l->word, &w, w + 1, memory_order_acq_rel,
                                                    memory_order_relaxed)) {
            sched_point();
            /* Release pairs with readers_seated(). */
            atomic_store_explicit(seat, SEAT_GRANTED_SHARED, memory_order_release);
            return 1;
        }
    } while (!(w & (W | Q | F | C)));
    atomic_store_explicit(seat, SEAT_NONE, memory_order_relaxed);
    return 0;
}

int shmlock_try(struct shmlock *l, const struct shmnode *n, enum shmlock_type type)
{
    return type == SHMLOCK_EXCLUSIVE ? try_exclusive(l, n) : try_shared(l, n);
}

/* Look at a held word for some microseconds, ever more rarely, before queueing. A place in the
 * queue costs a grant, which moves four lines; the word alone is one. Once a process queues, all
 * queue. */
static int spin(struct shmlock *l, const struct shmnode *n, enum shmlock_type type)
{
    enum { LOOKS = 12, LONGEST = 32 };
    unsigned busy = type == SHMLOCK_EXCLUSIVE ? W | COUNT : W;
    if (sched) /* no fiber moves while one spins */
        return 0;
    for (unsigned look = 0, turns = 1; look < LOOKS;
         look++, turns = turns < LONGEST ? 2 * turns : LONGEST) {
        for (unsigned i = 0; i < turns; i++)
            cpu_relax();
        unsigned w = atomic_load_explicit(&l->word, memory_order_relaxed);
        if (w & (Q | F | C))
            return 0;
        if (!(w & busy) && shmlock_try(l, n, type))
            return 1;
    }
    return 0;
}

/* seat: the state just read. Is the lock granted? */
static int granted(struct shmlock *l, const struct shmnode *n, unsigned seat)
{
    if (seat == SEAT_GRANTED_EXCLUSIVE)
        atomic_store_explicit(&l->seat[n->me].state, SEAT_NONE, memory_order_relaxed);
    return seat >= SEAT_GRANTED_SHARED;
}

int shmlock_enter(struct shmlock *l, const struct shmnode *n, enum shmlock_type type)
{
    return shmlock_enter_aged(l, n, type, SHMLOCK_NOW);
}

int shmlock_enter_aged(struct shmlock *l, const struct shmnode *n, enum shmlock_type type,
                       uint64_t age)
{
    if (shmlock_try(l, n, type) || spin(l, n, type))
        return 1;
    if (seats_dead(l, n)) /* before it waits: a failed holder's lock becomes free */
        shmlock_fail(l, n);
    shmlock_guard_take(l, n);
    (void)death_new(l, n); /* repaired below for all failures known so far */
    /* acq_rel: from here on leavers see Q, and shmlock_pump() sees earlier leaves. Q comes
     * before the key: see writer_key(). */
    atomic_fetch_or_explicit(&l->word, Q, memory_order_acq_rel);
    l->seat[n->me].key = key_of(l, type, age);
    shmlock_queue(l, n->me);
    atomic_store_explicit(&l->seat[n->me].state,
                          type == SHMLOCK_EXCLUSIVE ? SEAT_WAIT_EXCLUSIVE : SEAT_WAIT_SHARED,
                          memory_order_relaxed);
    sched_point(); /* the holder may leave before shmlock_pump() looks */
    shmlock_pump(l, n);
    shmlock_guard_give(l);
    /* as in shmlock_poll() */
    return granted(l, n, atomic_load_explicit(&l->seat[n->me].state, memory_order_acquire));
}

int shmlock_holder(const struct shmlock *l, const struct shmnode *n)
{
    int by = shmlock_writer(atomic_load_explicit(&l->word, memory_order_relaxed));
    if (by >= 0)
        return by != (int)n->me ? by : -1;
    for (unsigned p = 0; p < n->peers; p++)
        if (p != n->me &&
            atomic_load_explicit(&l->seat[p].state, memory_order_relaxed) == SEAT_GRANTED_SHARED)
            return (int)p;
    return -1;
}

int shmlock_poll(struct shmlock *l, const struct shmnode *n)
{
    for (int looked = 0;; looked = 1) {
        /* Acquire pairs with the releases in grant_head(), finish_grant() and break_queue(). */
        unsigned s = atomic_load_explicit(&l->seat[n->me].state, memory_order_acquire);
        if (granted(l, n, s))
            return 1;
        if (s == SEAT_BROKEN) {
            atomic_store_explicit(&l->seat[n->me].state, SEAT_NONE, memory_order_relaxed);
            return -EOWNERDEAD;
        }
        if (!boot_failed_count())
            return 0;
        if (peer_dead(n, l->owner) || (s == SEAT_WAIT_EXCLUSIVE && shmlock_doubtful(l)))
            withdraw(l, n);
        else if (!looked && (death_new(l, n) || seats_dead(l, n)))
            shmlock_fail(l, n);
        else
            return 0;
    }
}

int shmlock_give_up(struct shmlock *l, const struct shmnode *n)
{
    withdraw(l, n);
    /* as in shmlock_poll() */
    unsigned s = atomic_load_explicit(&l->seat[n->me].state, memory_order_acquire);
    if (granted(l, n, s))
        return 1;
    atomic_store_explicit(&l->seat[n->me].state, SEAT_NONE, memory_order_relaxed);
    return 0;
}

int shmlock_held(const struct shmlock *l, const struct shmnode *n)
{
    if (shmlock_writer(atomic_load_explicit(&l->word, memory_order_relaxed)) == (int)n->me)
        return SHMLOCK_EXCLUSIVE;
    return atomic_load_explicit(&l->seat[n->me].state, memory_order_relaxed) == SEAT_GRANTED_SHARED
               ? SHMLOCK_SHARED
               : 0;
}

/* The word is released: grant it to the next in order. 1: one waited, and its key has been
 * drawn. */
static int let_in(struct shmlock *l, const struct shmnode *n, unsigned old)
{
    if (!(old & (Q | F)))
        return 0;
    sched_point(); /* free, and not granted yet */
    shmlock_guard_take(l, n);
    shmlock_pump(l, n);
    shmlock_guard_give(l);
    return 1;
}

int shmlock_leave(struct shmlock *l, const struct shmnode *n, enum shmlock_type type)
{
    unsigned old;
    /* Release pairs with the acquire of the next holder. */
    if (type == SHMLOCK_EXCLUSIVE) {
        old = atomic_fetch_sub_explicit(&l->word, W + n->me + 1, memory_order_acq_rel);
    } else {
        atomic_uchar *seat = &l->seat[n->me].state;
        atomic_store_explicit(seat, SEAT_MOVING, memory_order_relaxed);
        old = atomic_fetch_sub_explicit(&l->word, 1, memory_order_acq_rel); /* and count_again() */
        sched_point();
        /* Release pairs with readers_seated(). */
        atomic_store_explicit(seat, SEAT_NONE, memory_order_release);
    }
    return let_in(l, n, old);
}

/* --- far side: the target only ----------------------------------------------------------- */

int shmlock_far_try(struct shmlock *l, const struct shmnode *n, enum shmlock_type type, int first,
                    uint64_t join)
{
    int in = 0;
    shmlock_guard_take(l, n);
    if (join) {
        uint32_t key = shmlock_reader_key(l, join - 1);
        first = first && (queue_empty(l) || shmlock_before(key, head_key(l)));
    } else {
        first = first &&
                (queue_empty(l) || (l->far_type && shmlock_before(l->far_key, head_key(l))));
    }
    if (first && (in = admit(l, type, 0)) != 0) {
        l->far_readers += type == SHMLOCK_SHARED;
        counted(l);
    }
    shmlock_guard_give(l);
    return in;
}

int shmlock_far_leave(struct shmlock *l, const struct shmnode *n, enum shmlock_type type)
{
    shmlock_guard_take(l, n); /* word and count together */
    l->far_readers -= type == SHMLOCK_SHARED;
    unsigned old = atomic_fetch_sub_explicit(&l->word, type == SHMLOCK_EXCLUSIVE ? W : 1,
                                             memory_order_acq_rel);
    sched_point(); /* near processes may enter before the handler returns */
    if (old & (Q | F))
        shmlock_pump(l, n);
    shmlock_guard_give(l);
    return (old & (Q | F)) != 0;
}

uint32_t shmlock_far_key(struct shmlock *l, const struct shmnode *n, enum shmlock_type type,
                         uint64_t age)
{
    shmlock_guard_take(l, n);
    sched_point(); /* a near process may enter or leave before F is there */
    atomic_fetch_or_explicit(&l->word, F, memory_order_acq_rel); /* before the key: writer_key() */
    uint32_t key = key_of(l, type, age);
    shmlock_guard_give(l);
    return key;
}

void shmlock_far_waiting(struct shmlock *l, const struct shmnode *n, int type, uint32_t key)
{
    shmlock_guard_take(l, n);
    l->far_type = (uint32_t)type;
    l->far_key = key;
    sched_point(); /* a near process may enter or leave before F is there */
    if (type)
        atomic_fetch_or_explicit(&l->word, F, memory_order_acq_rel);
    else
        atomic_fetch_and_explicit(&l->word, ~(unsigned)F, memory_order_relaxed);
    shmlock_pump(l, n);
    shmlock_guard_give(l);
}

uint32_t shmlock_grants(const struct shmlock *l)
{
    return atomic_load_explicit(&l->grants, memory_order_relaxed);
}
