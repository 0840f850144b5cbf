#include "rma/shared/shm_types.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/sched.h"
#include "mem/mem.h"

/* The word is changed by compare-and-swap or fetch-and-op, by anybody, guard or not:
 *
 *     bit 31  W  a writer holds it
 *     bit 30  Q  the near queue is not empty (set and cleared under the guard)
 *     bit 29  F  far requests wait (set and cleared under the guard, by the target)
 *     0..28      readers, near and far
 *
 * Entering without the guard is allowed only while Q and F are clear, so once one is set, pump() alone
 * lets anybody in.  Leaving never takes the guard unless Q or F is seen set in the old value; whoever sets Q or F
 * pumps afterwards.  So either the leaver sees the bit, or the pumper sees the leave.
 *
 * What waits is served in the order of keys, near and far together (rma.md 5.3).  The clock of the window's node counts writers
 * that had to queue.  Key of a writer: twice its count.  Of a reader: one more than twice its age, so that it stands
 * behind the writers that are as old or older. */

enum { W = 1u << 31, Q = 1u << 30, F = 1u << 29, READERS = F - 1 };

enum seat { SEAT_NONE, SEAT_BROKEN, SEAT_WAIT_SHARED, SEAT_WAIT_EXCLUSIVE, SEAT_GRANTED_SHARED, SEAT_GRANTED_EXCLUSIVE };

/* Chosen by test/perf/layouts (figures: doc/results.md), which compiles this file with other values. */
#ifndef SHMLOCK_GUARD_ALIGN
#define SHMLOCK_GUARD_ALIGN 64
#endif
#ifndef SHMLOCK_SEAT_ALIGN
#define SHMLOCK_SEAT_ALIGN 4
#endif

struct shmlock {
    _Alignas(64) atomic_uint word;
    _Alignas(SHMLOCK_GUARD_ALIGN) atomic_uint guard; /* 0, or host index of the holder + 1; protects what follows */
    uint32_t peers, owner;
    uint64_t head, tail;  /* ring of queued peers: places head..tail-1, modulo peers; they never wrap around */
    uint32_t far_type;    /* enum shmlock_type of the first far request, 0: none */
    uint32_t far_key;     /* its key */
    _Atomic(uint64_t) clock; /* of all locks of the window on this node; the one of owner 0 is used */
    atomic_uint broken;   /* times the lock was taken from a process that had died; under the guard */
    atomic_uint doubt;    /* a reader may have died of whom nobody knows; written by the owner */
    atomic_uint grants;   /* requests let in under the guard, modulo 2^32: all of them while somebody waits */
    struct shmseat {
        _Alignas(SHMLOCK_SEAT_ALIGN) atomic_uchar state; /* enum seat of this peer; written under the guard, or by the peer when it holds or leaves */
        uint16_t ring;     /* peer queued at this place of the ring */
        uint32_t key;      /* of the request of this peer that is queued */
    } seat[];
};

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
    return atomic_load_explicit(clock_of((struct shmlock *)(uintptr_t)l), memory_order_acquire); /* pairs with writer_key() */
}

void shmlock_clock_raise(struct shmlock *l, uint64_t age)
{
    _Atomic(uint64_t) *c = clock_of(l);
    uint64_t now = atomic_load_explicit(c, memory_order_acquire); /* pairs with writer_key() */
    while (now < age && !atomic_compare_exchange_weak_explicit(c, &now, age, memory_order_acq_rel, memory_order_acquire))
        ;
}

/* Q or F is set before: who has an age that is not below this one's has seen the bit, and holds nothing by the fast way
 * that this one waits for.  Release pairs with shmlock_clock(). */
static uint32_t writer_key(struct shmlock *l)
{
    return (uint32_t)(2 * (atomic_fetch_add_explicit(clock_of(l), 1, memory_order_acq_rel) + 1));
}

/* What is much older than all that waits counts as a little less old, so that 32 bits tell. */
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

static void guard_take(struct shmlock *l, const struct shmnode *n)
{
    unsigned me = (unsigned)n->host_index[n->me] + 1;
    for (unsigned turn = 0;; turn++) {
        unsigned seen = 0;
        /* Acquire pairs with the release in guard_give(). */
        if (atomic_compare_exchange_weak_explicit(&l->guard, &seen, me, memory_order_acquire, memory_order_relaxed)) {
            sched_point();
            return;
        }
        if (seen && turn % SHM_DEAD_LOOK == SHM_DEAD_LOOK - 1 && mem_holder_died(seen) &&
            atomic_compare_exchange_strong_explicit(&l->guard, &seen, me, memory_order_acquire, memory_order_relaxed))
            return;
        if (seen)
            thread_pause(turn);
    }
}

static void guard_give(struct shmlock *l)
{
    atomic_store_explicit(&l->guard, 0, memory_order_release); /* pairs with guard_take() */
}

/* --- letting in -------------------------------------------------------------------- */

/* Try to add a holder, whatever waits.  Acquire pairs with the release of those who left. */
static int admit(struct shmlock *l, int type)
{
    unsigned w = atomic_load_explicit(&l->word, memory_order_relaxed);
    for (;;) {
        if ((w & W) || (type == SHMLOCK_EXCLUSIVE && (w & READERS)))
            return 0;
        unsigned next = type == SHMLOCK_EXCLUSIVE ? w | W : w + 1;
        if (atomic_compare_exchange_weak_explicit(&l->word, &w, next, memory_order_acq_rel, memory_order_relaxed))
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

/* Grant the head of the near queue if the lock admits it.  Release pairs with the acquire in shmlock_poll(). */
static int grant_head(struct shmlock *l, const struct shmnode *n, int *type_out)
{
    unsigned p = l->seat[l->head % l->peers].ring;
    int shared = atomic_load_explicit(&l->seat[p].state, memory_order_relaxed) == SEAT_WAIT_SHARED;
    if (!admit(l, shared ? SHMLOCK_SHARED : SHMLOCK_EXCLUSIVE))
        return 0;
    counted(l);
    sched_point(); /* readers may leave, and far ones join, before the seat says so */
    l->head++;
    atomic_store_explicit(&l->seat[p].state, shared ? SEAT_GRANTED_SHARED : SEAT_GRANTED_EXCLUSIVE,
                          memory_order_release);
    if (p != n->me)
        mem_wake(n->host_index[p]);
    *type_out = shared ? SHMLOCK_SHARED : SHMLOCK_EXCLUSIVE;
    return 1;
}

/* Take p out of the ring; later ones close up. */
static void unring(struct shmlock *l, unsigned gone)
{
    uint64_t to = l->head;
    for (uint64_t i = l->head; i != l->tail; i++) {
        uint32_t p = l->seat[i % l->peers].ring;
        if (p != gone)
            l->seat[to++ % l->peers].ring = (uint16_t)p;
    }
    l->tail = to;
}

/* Put p into the ring, behind all whose keys are not above its own. */
static void enring(struct shmlock *l, unsigned p, uint32_t key)
{
    uint64_t at = l->tail++;
    l->seat[p].key = key;
    for (; at != l->head; at--) {
        uint16_t before = l->seat[(at - 1) % l->peers].ring;
        if (!shmlock_before(key, l->seat[before].key))
            break;
        l->seat[at % l->peers].ring = before;
    }
    l->seat[at % l->peers].ring = (uint16_t)p;
}

/* Somebody who lives waits in the near queue. */
static int near_wait(struct shmlock *l, const struct shmnode *n)
{
    while (!queue_empty(l)) {
        unsigned p = l->seat[l->head % l->peers].ring;
        if (!boot_dead_count() || !peer_dead(n, p))
            return 1;
        l->head++;
        atomic_store_explicit(&l->seat[p].state, SEAT_NONE, memory_order_relaxed);
    }
    return 0;
}

/* Under the guard: let in whoever's turn it is.  Far requests are only told: the target's handler takes the lock. */
static void pump(struct shmlock *l, const struct shmnode *n)
{
    int type = 0;
    while (type != SHMLOCK_EXCLUSIVE) { /* one writer, or the readers at the head together */
        int near = near_wait(l, n);
        if (l->far_type && (!near || shmlock_before(l->far_key, head_key(l)))) {
            unsigned w = atomic_load_explicit(&l->word, memory_order_acquire);
            int open = !(w & W) && (l->far_type == SHMLOCK_SHARED || !(w & READERS));
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

/* --- death ---------------------------------------------------------------------------- */

/* Under the guard: a holder died.  Nobody who waits gets the lock by that; each is told (rma.md 5.14). */
static void break_queue(struct shmlock *l, const struct shmnode *n)
{
    atomic_fetch_add_explicit(&l->broken, 1, memory_order_relaxed);
    for (; l->head != l->tail; l->head++) {
        unsigned p = l->seat[l->head % l->peers].ring;
        /* Release pairs with the acquire in shmlock_poll(). */
        atomic_store_explicit(&l->seat[p].state, SEAT_BROKEN, memory_order_release);
        if (p != n->me)
            mem_wake(n->host_index[p]);
    }
}

void shmlock_break(struct shmlock *l, const struct shmnode *n)
{
    guard_take(l, n);
    break_queue(l, n);
    pump(l, n);
    guard_give(l);
}

void shmlock_bury(struct shmlock *l, const struct shmnode *n)
{
    int held = 0;
    guard_take(l, n);
    for (unsigned p = 0; p < n->peers; p++) {
        unsigned s = atomic_load_explicit(&l->seat[p].state, memory_order_relaxed);
        if (s == SEAT_NONE || !peer_dead(n, p))
            continue;
        atomic_store_explicit(&l->seat[p].state, SEAT_NONE, memory_order_relaxed);
        if (s < SEAT_GRANTED_SHARED)
            unring(l, p);
        else if (peer_dead(n, l->owner)) /* the lock of a dead target is nobody's any more */
            atomic_fetch_or_explicit(&l->word, W, memory_order_acq_rel);
        else if (s == SEAT_GRANTED_EXCLUSIVE)
            atomic_fetch_and_explicit(&l->word, ~(unsigned)W, memory_order_acq_rel);
        else
            atomic_fetch_sub_explicit(&l->word, 1, memory_order_acq_rel);
        held |= s >= SEAT_GRANTED_SHARED;
    }
    if (held)
        break_queue(l, n);
    pump(l, n);
    guard_give(l);
}

void shmlock_doubt(struct shmlock *l, const struct shmnode *n, int on)
{
    guard_take(l, n);
    atomic_store_explicit(&l->doubt, on != 0, memory_order_relaxed); /* those who wait look again, woken below */
    if (on)
        for (uint64_t i = l->head; i != l->tail; i++)
            if (l->seat[i % l->peers].ring != n->me)
                mem_wake(n->host_index[l->seat[i % l->peers].ring]);
    guard_give(l);
}

int shmlock_doubtful(const struct shmlock *l)
{
    return atomic_load_explicit(&l->doubt, memory_order_relaxed) && !(atomic_load_explicit(&l->word, memory_order_relaxed) & W);
}

unsigned shmlock_broken(const struct shmlock *l)
{
    return atomic_load_explicit(&l->broken, memory_order_relaxed);
}

/* What this process waits for will not be: the target died, or a reader that cannot be named. */
static void withdraw(struct shmlock *l, const struct shmnode *n)
{
    guard_take(l, n);
    unsigned s = atomic_load_explicit(&l->seat[n->me].state, memory_order_relaxed);
    if (s == SEAT_WAIT_SHARED || s == SEAT_WAIT_EXCLUSIVE) {
        unring(l, n->me);
        atomic_store_explicit(&l->seat[n->me].state, SEAT_BROKEN, memory_order_relaxed);
    }
    pump(l, n);
    guard_give(l);
}

/* Has one that holds or waits died? */
static int seats_dead(const struct shmlock *l, const struct shmnode *n)
{
    if (boot_dead_count())
        for (unsigned p = 0; p < n->peers; p++)
            if (atomic_load_explicit(&l->seat[p].state, memory_order_relaxed) != SEAT_NONE && peer_dead(n, p))
                return 1;
    return 0;
}

/* --- near side ------------------------------------------------------------------------ */

/* Without the guard: only while nobody waits.  The first look is the exchange itself: a look before it would fetch the
 * line twice, once to read and once to write.  Acquire pairs with the release in leave_word(). */
static inline int enter_fast(struct shmlock *l, int type)
{
    unsigned w = 0;
    if (atomic_compare_exchange_strong_explicit(&l->word, &w, type == SHMLOCK_EXCLUSIVE ? (unsigned)W : 1,
                                                memory_order_acquire, memory_order_relaxed))
        return 1;
    if (type == SHMLOCK_EXCLUSIVE)
        return 0;
    while (!(w & (W | Q | F))) /* beside other readers */
        if (atomic_compare_exchange_weak_explicit(&l->word, &w, w + 1, memory_order_acquire, memory_order_relaxed))
            return 1;
    return 0;
}

static void hold(struct shmlock *l, const struct shmnode *n, int type)
{
    atomic_store_explicit(&l->seat[n->me].state,
                          type == SHMLOCK_EXCLUSIVE ? SEAT_GRANTED_EXCLUSIVE : SEAT_GRANTED_SHARED,
                          memory_order_relaxed); /* read by others only to find holders that died */
}

int shmlock_try(struct shmlock *l, const struct shmnode *n, enum shmlock_type type)
{
    if (!enter_fast(l, type))
        return 0;
    sched_point();
    hold(l, n, type);
    return 1;
}

/* Short of queueing: a place in the queue costs a grant by the leaver, four lines that travel, where the word alone is
 * one.  So for some microseconds, ever more rarely, look whether it is free; whoever queued first keeps all others off. */
static int spin(struct shmlock *l, const struct shmnode *n, enum shmlock_type type)
{
    enum { LOOKS = 12, LONGEST = 32 };
    unsigned busy = type == SHMLOCK_EXCLUSIVE ? W | READERS : W;
    if (sched) /* nobody moves while one spins */
        return 0;
    for (unsigned look = 0, turns = 1; look < LOOKS; look++, turns = turns < LONGEST ? 2 * turns : LONGEST) {
        for (unsigned i = 0; i < turns; i++)
            cpu_relax();
        unsigned w = atomic_load_explicit(&l->word, memory_order_relaxed);
        if (w & (Q | F))
            return 0;
        if (!(w & busy) && shmlock_try(l, n, type))
            return 1;
    }
    return 0;
}

int shmlock_enter(struct shmlock *l, const struct shmnode *n, enum shmlock_type type)
{
    return shmlock_enter_aged(l, n, type, SHMLOCK_NOW);
}

int shmlock_enter_aged(struct shmlock *l, const struct shmnode *n, enum shmlock_type type, uint64_t age)
{
    if (shmlock_try(l, n, type) || spin(l, n, type))
        return 1;
    if (seats_dead(l, n)) /* before it waits: what is free is no longer the dead one's */
        shmlock_bury(l, n);
    guard_take(l, n);
    atomic_store_explicit(&l->seat[n->me].state, type == SHMLOCK_EXCLUSIVE ? SEAT_WAIT_EXCLUSIVE : SEAT_WAIT_SHARED,
                          memory_order_relaxed);
    /* acq_rel: from here on leavers see Q, and their earlier leave is seen by pump().  Before the key: writer_key(). */
    atomic_fetch_or_explicit(&l->word, Q, memory_order_acq_rel);
    enring(l, n->me, key_of(l, type, age));
    sched_point(); /* the holder may leave before pump() looks */
    pump(l, n);
    guard_give(l);
    return shmlock_held(l, n) != 0;
}

int shmlock_holder(const struct shmlock *l, const struct shmnode *n)
{
    for (unsigned p = 0; p < n->peers; p++)
        if (p != n->me &&
            atomic_load_explicit(&l->seat[p].state, memory_order_relaxed) >= SEAT_GRANTED_SHARED)
            return (int)p;
    return -1;
}

int shmlock_poll(struct shmlock *l, const struct shmnode *n)
{
    for (;;) {
        /* Acquire pairs with the releases in grant_head() and break_queue(). */
        unsigned s = atomic_load_explicit(&l->seat[n->me].state, memory_order_acquire);
        if (s >= SEAT_GRANTED_SHARED)
            return 1;
        if (s == SEAT_BROKEN) {
            atomic_store_explicit(&l->seat[n->me].state, SEAT_NONE, memory_order_relaxed);
            return -EOWNERDEAD;
        }
        if (boot_dead_count() && (peer_dead(n, l->owner) || (s == SEAT_WAIT_EXCLUSIVE && shmlock_doubtful(l))))
            withdraw(l, n);
        else if (seats_dead(l, n))
            shmlock_bury(l, n);
        else
            return 0;
    }
}

int shmlock_held(const struct shmlock *l, const struct shmnode *n)
{
    switch (atomic_load_explicit(&l->seat[n->me].state, memory_order_acquire)) {
    case SEAT_GRANTED_SHARED: return SHMLOCK_SHARED;
    case SEAT_GRANTED_EXCLUSIVE: return SHMLOCK_EXCLUSIVE;
    default: return 0;
    }
}

/* Give the word back; the next in line is let in.  Release pairs with whoever enters next.  1: somebody waited; his key is drawn, as
 * it was under the guard. */
static int leave_word(struct shmlock *l, const struct shmnode *n, int type)
{
    unsigned old = type == SHMLOCK_EXCLUSIVE
                       ? atomic_fetch_and_explicit(&l->word, ~(unsigned)W, memory_order_acq_rel)
                       : atomic_fetch_sub_explicit(&l->word, 1, memory_order_acq_rel);
    sched_point(); /* free, and nobody let in yet */
    if (old & (Q | F)) {
        guard_take(l, n);
        pump(l, n);
        guard_give(l);
    }
    return (old & (Q | F)) != 0;
}

int shmlock_leave(struct shmlock *l, const struct shmnode *n)
{
    int type = shmlock_held(l, n);
    if (!type)
        return 0;
    atomic_store_explicit(&l->seat[n->me].state, SEAT_NONE, memory_order_relaxed);
    return leave_word(l, n, type);
}

/* --- far side: the target only ----------------------------------------------------------- */

int shmlock_far_try(struct shmlock *l, const struct shmnode *n, enum shmlock_type type, int first, uint64_t join)
{
    int in = 0;
    guard_take(l, n);
    if (join) {
        uint32_t key = shmlock_reader_key(l, join - 1);
        first = first && (queue_empty(l) || shmlock_before(key, head_key(l)));
    } else {
        first = first && (queue_empty(l) || (l->far_type && shmlock_before(l->far_key, head_key(l))));
    }
    if (first && (in = admit(l, type)) != 0)
        counted(l);
    guard_give(l);
    return in;
}

int shmlock_far_leave(struct shmlock *l, const struct shmnode *n, enum shmlock_type type)
{
    int waited = leave_word(l, n, type);
    sched_point(); /* near processes may enter before the handler is through */
    return waited;
}

uint32_t shmlock_far_key(struct shmlock *l, const struct shmnode *n, enum shmlock_type type, uint64_t age)
{
    guard_take(l, n);
    sched_point(); /* a near process may enter or leave before F is there */
    atomic_fetch_or_explicit(&l->word, F, memory_order_acq_rel); /* before the key: writer_key() */
    uint32_t key = key_of(l, type, age);
    guard_give(l);
    return key;
}

void shmlock_far_waiting(struct shmlock *l, const struct shmnode *n, int type, uint32_t key)
{
    guard_take(l, n);
    l->far_type = (uint32_t)type;
    l->far_key = key;
    sched_point(); /* a near process may enter or leave before F is there */
    if (type)
        atomic_fetch_or_explicit(&l->word, F, memory_order_acq_rel);
    else
        atomic_fetch_and_explicit(&l->word, ~(unsigned)F, memory_order_relaxed);
    pump(l, n);
    guard_give(l);
}

uint32_t shmlock_grants(const struct shmlock *l)
{
    return atomic_load_explicit(&l->grants, memory_order_relaxed);
}
