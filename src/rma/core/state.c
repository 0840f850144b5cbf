/* state.c - the state machines of a window: access epoch, target element, exposure epoch.  Only
 * this file writes states. Start with rma_win_goto().
 *
 *                      fence                      fence barrier done
 *           .------> FENCE_ISSUED --------------------------------> FENCE_GRANTED
 *           |          |   ^                                          |    |
 *           |          |   '-----------------fence--------------------'    |
 *           |          | start, lock, lock_all, NOSUCCEED: as from UNSET   |
 *         UNSET <------+---------------------------------------------------'
 *           |   start                  all posts seen                complete
 *           |------> PSCW_ISSUED --------------------> PSCW_GRANTED ----------> UNSET
 *           |   lock_all            out of target elements        all locks held
 *           |------> LOCK_ALL_CALLED -----------> LOCK_ALL_ISSUED -------> LOCK_ALL_GRANTED
 *           |              '-----unlock_all---> UNSET <---unlock_all-----------'    ^
 *           |   lock_all, NOCHECK                                                   |
 *           |-----------------------------------------------------------------------'
 *           |   lock                    last unlock
 *           '------> PER_TARGET ---------------------> UNSET
 *
 *    target element (its lock):
 *        born CALLED ---LOCK leaves---> ISSUED ---GRANTED comes---> GRANTED
 *                                         ^                           |
 *                                         '--(NOCHECK, to be evicted)-'
 *        born GRANTED: fence, PSCW, window protocol, NOCHECK, evicted before, near lock words
 *
 *    exposure:   NONE ---post---> POSTED ---wait, test---> NONE
 *
 * What is true in each state:
 *  E1 UNSET             no element, no answer outstanding; operations are refused
 *  E2 FENCE_ISSUED      at least one fence barrier is outstanding; operations queue, near ones too
 *  E3 FENCE_GRANTED     every member has arrived at the opening fence; operations on all
 *  E4 PSCW_ISSUED       some post of the start group has not been seen; operations on the group
 *                       queue
 *  E5 PSCW_GRANTED      all have; operations on the group
 *  E6 LOCK_ALL_CALLED   near locks are held (unless a member failed) but those of n->lazy,
 *                       w->passive.lazies in number, which the first operation asks for; a far
 *                       target is locked by its element (CALLED until then)
 *  E7 LOCK_ALL_ISSUED   one thread is in rma_lockall_switch(), and in no other state; others wait
 *  E8 LOCK_ALL_GRANTED  every target but the lazy near ones is locked (or NOCHECK); elements come
 *                       and go
 *  E9 PER_TARGET        w->passive.locks > 0 locks are open; each far one has an element or stands
 *                       in w->passive.evicted
 *  E10 an element in CALLED has sent nothing; in ISSUED only operations sent with the LOCK
 *
 * A duplicate (window/dup.c) is in UNSET, or in LOCK_ALL_GRANTED while its window is under
 * LOCK_ALL. It holds no locks: E8 holds for the targets of its elements.
 *
 * WIN_UNLOCK's "window state is LOCK_CALLED" of the paper means the target's (rma.md 5.15). */
#include "rma/core/core.h"

#include <stdio.h>
#include <stdlib.h>

#include "watch/watch.h"

#define BIT(s) (1u << (s))
/* From any state without pending epoch, the next synchronization opens its own. */
#define OPENERS                                                                                    \
    (BIT(WIN_FENCE_ISSUED) | BIT(WIN_PSCW_ISSUED) | BIT(WIN_LOCK_ALL_CALLED) |                     \
     BIT(WIN_LOCK_ALL_GRANTED) | BIT(WIN_PER_TARGET))

/* maint/gen-states reads these three tables. */
static const uint16_t win_next[WIN_STATES] = {
    [WIN_UNSET] = OPENERS,
    [WIN_FENCE_ISSUED] = OPENERS | BIT(WIN_FENCE_GRANTED) | BIT(WIN_UNSET),
    [WIN_FENCE_GRANTED] = OPENERS | BIT(WIN_UNSET),
    [WIN_PSCW_ISSUED] = BIT(WIN_PSCW_GRANTED) | BIT(WIN_UNSET),
    [WIN_PSCW_GRANTED] = BIT(WIN_UNSET),
    [WIN_LOCK_ALL_CALLED] = BIT(WIN_LOCK_ALL_ISSUED) | BIT(WIN_UNSET),
    [WIN_LOCK_ALL_ISSUED] = BIT(WIN_LOCK_ALL_GRANTED),
    [WIN_LOCK_ALL_GRANTED] = BIT(WIN_UNSET),
    [WIN_PER_TARGET] = BIT(WIN_UNSET),
};
static const uint16_t target_next[TARGET_STATES] = {
    [TARGET_LOCK_CALLED] = BIT(TARGET_LOCK_ISSUED),
    [TARGET_LOCK_ISSUED] = BIT(TARGET_LOCK_GRANTED),
    [TARGET_LOCK_GRANTED] = BIT(TARGET_LOCK_ISSUED),
};
static const uint16_t expo_next[EXPO_STATES] = {
    [EXPO_NONE] = BIT(EXPO_POSTED),
    [EXPO_POSTED] = BIT(EXPO_NONE),
};

static const char *const win_name[WIN_STATES] = {
    "UNSET",           "FENCE_ISSUED",    "FENCE_GRANTED",    "PSCW_ISSUED", "PSCW_GRANTED",
    "LOCK_ALL_CALLED", "LOCK_ALL_ISSUED", "LOCK_ALL_GRANTED", "PER_TARGET"};
static const char *const target_name[TARGET_STATES] = {"LOCK_CALLED", "LOCK_ISSUED",
                                                       "LOCK_GRANTED"};

const char *rma_state_name(const struct rma_win *w)
{
    return win_name[w->state];
}

/* What the calling thread's wait asks of a counter, and which processes notified that so far. */
static void counter_text(const struct rma_win *w, char *buf, size_t len)
{
    const struct rma_win_notes *x = &w->notes;
    const struct rma_note_call *c = NULL;
    for (struct list *l = x->calls.next; l != &x->calls && !c; l = l->next)
        if (pthread_equal(LIST_OBJ(l, struct rma_note_call, link)->thread, pthread_self()))
            c = LIST_OBJ(l, struct rma_note_call, link);
    *buf = 0;
    if (!c)
        return;
    int64_t value = rma_note_read(x, c->i);
    uint64_t word = (uint64_t)value + x->base[c->i];
    const struct rma_note_sources *s = map_get(&x->sources, (uint64_t)c->i + 1);
    int n = snprintf(buf, len, ", counter %u: %lld of %lld", c->i, (long long)value,
                     (long long)c->asked);
    for (int i = 0; s && i < RMA_NOTE_SOURCES && s->of[i].n && n > 0 && (size_t)n < len; i++)
        n += snprintf(buf + n, len - (size_t)n, "%s %d (%u)", i ? "," : "; by message from rank",
                      rma_world(w, s->of[i].rank), s->of[i].n);
    if (word > (s ? s->all : 0) && n > 0 && (size_t)n < len)
        snprintf(buf + n, len - (size_t)n, "; %llu by near processes, which leave no name",
                 (unsigned long long)(word - (s ? s->all : 0)));
}

void rma_win_about(const void *of, char *buf, size_t len)
{
    static const char *const epoch[WIN_STATES] = {
        [WIN_UNSET] = "no epoch",
        [WIN_FENCE_ISSUED] = "fence epoch asked for",
        [WIN_FENCE_GRANTED] = "fence epoch",
        [WIN_PSCW_ISSUED] = "access epoch asked for",
        [WIN_PSCW_GRANTED] = "access epoch",
        [WIN_LOCK_ALL_CALLED] = "lock_all epoch",
        [WIN_LOCK_ALL_ISSUED] = "lock_all epoch asked for",
        [WIN_LOCK_ALL_GRANTED] = "lock_all epoch granted",
        [WIN_PER_TARGET] = "lock epochs"};
    const struct rma_win *w = of;
    char counter[168];
    counter_text(w, counter, sizeof counter);
    snprintf(buf, len, "%.70s, %s%s%s", rma_win_text(w), epoch[w->state],
             w->expo != EXPO_NONE ? ", exposed" : "", counter);
}

/* The advice at the end of an error text. */
const char *rma_end_first(const struct rma_win *w)
{
    static const char *const call[WIN_STATES] = {
        [WIN_UNSET] = "call MPI_Win_wait first",
        [WIN_FENCE_ISSUED] = "call MPI_Win_fence first",
        [WIN_FENCE_GRANTED] = "call MPI_Win_fence first",
        [WIN_PSCW_ISSUED] = "call MPI_Win_complete first",
        [WIN_PSCW_GRANTED] = "call MPI_Win_complete first",
        [WIN_LOCK_ALL_CALLED] = "call MPI_Win_unlock_all first",
        [WIN_LOCK_ALL_ISSUED] = "call MPI_Win_unlock_all first",
        [WIN_LOCK_ALL_GRANTED] = "call MPI_Win_unlock_all first",
        [WIN_PER_TARGET] = "call MPI_Win_unlock first"};
    return call[w->state];
}

int rma_not_admitted(const struct rma_win *w, int rank)
{
    if (w->parent)
        return rma_dup_error(w);
    if (rma_in(w, SET_PSCW))
        return err_make(MPI_ERR_RMA_SYNC,
                        "%s: rank %d of %s is not in the group that was given to MPI_Win_start",
                        rma_call(), rank, rma_win_text(w));
    return err_make(MPI_ERR_RMA_SYNC, "%s: no epoch is open for rank %d of %s: call %s first",
                    rma_call(), rank, rma_win_text(w),
                    rma_in(w, SET_PER_TARGET) ? "MPI_Win_lock for this rank"
                                               : "MPI_Win_fence, MPI_Win_lock or MPI_Win_start");
}

const char *rma_target_state_name(const struct rma_target *t)
{
    return target_name[t->state];
}

/* --- transitions -------------------------------------------------------------------- */

void rma_near_opened(struct rma_win *w, struct rma_near *n)
{
    int open = n->lock != RMA_UNLOCKED ||
               (w->state == WIN_PSCW_GRANTED && n->started && !w->kicking);
    /* Release, here and in rma_win_goto(), pairs with the acquire in near.h: threads without the
     * lock may issue operations from now on. */
    atomic_store_explicit(&n->open, (unsigned char)open, memory_order_release);
}

void rma_near_follow(struct rma_near *copy, const struct rma_near *n)
{
    /* Release pairs with rma_near_units(), and with the acquire of notify.c in api/rma/. */
    __atomic_store_n(&copy->units, n->units, __ATOMIC_RELEASE);
    atomic_store_explicit(&copy->note, atomic_load_explicit(&n->note, memory_order_relaxed),
                          memory_order_release);
    if (n->lazy)
        rma_recent_hide(copy);
}

void rma_copies_follow(struct rma_win *w, const struct rma_near *n)
{
    struct rma_win *dup;
    for (unsigned i = 0; (dup = rma_dup_next(w, &i)) != NULL;)
        if (dup->near.near) /* else it is being made */
            rma_near_follow(&dup->near.near[n - w->near.near], n);
}

void rma_near_units_set(struct rma_near *n, int on)
{
    /* Release pairs with rma_near_units(). */
    __atomic_store_n(&n->units, on && n->base && n->disp_unit ? n->size / n->disp_unit : 0,
                     __ATOMIC_RELEASE);
}

/* Bundles, and their errors, are of all. Elements are not, so rma_near_append() asks for them.
 * Those of far targets may stay as long as the epoch, and order nothing near. */
static __attribute__((noinline, cold)) void dups_admit(struct rma_win *w)
{
    struct rma_win *dup;
    atomic_store_explicit(&w->near.unsettled, w->table.near_targets || rma_unsure(w),
                          memory_order_relaxed);
    for (unsigned i = 0; (dup = rma_dup_next(w, &i)) != NULL;)
        rma_near_admit(dup);
}

static __attribute__((noinline, cold)) void lanes_admit(struct rma_win *w)
{
    rma_lanes_admit(w);
}

void rma_near_admit(struct rma_win *w)
{
    int on = rma_in(w, SET_ON_ALL) && !w->kicking;
    unsigned all = on ? w->near.count : 0;
    /* Operations on a mapped near target are done at once in a passive epoch, so nothing of them
     * is pending, whatever other targets have, unless a notification went by message. An error of a
     * bundle, or of an evicted element, is for the next flush, which is more than a fence then. */
    int at_once = w->all_mapped && !w->notes.sent;
    const struct rma_win_delegate *d = &rma_root(w)->delegate;
    int bundled = d->bundles || d->misses, left = d->errs || w->errs.count;
    int passive = rma_in(w, SET_PASSIVE) &&
                  (at_once || (!w->table.ntargets && !rma_unsure(w) && !bundled && !left));
    /* Release pairs with the acquire in near.h. When no element is left, the data of all answers
     * are visible, too. */
    atomic_store_explicit(&w->near.all, all, memory_order_release);
    if (!w->near.by_target) {
        atomic_store_explicit(&w->near.quiet, passive ? all : 0, memory_order_release);
    } else {
        atomic_store_explicit(&w->near.quiet_each, (unsigned char)(passive && on),
                              memory_order_release);
        atomic_store_explicit(&w->near.spread_all, (unsigned char)on, memory_order_release);
    }
    atomic_store_explicit(&w->near.passive, (unsigned char)passive, memory_order_release);
    if (__builtin_expect(atomic_load_explicit(&w->near.lanes, memory_order_relaxed) != NULL, 0))
        lanes_admit(w);
    if (__builtin_expect(w->parent || w->channels, 0))
        dups_admit(w);
}

struct rma_win *rma_dup_next(const struct rma_win *w, unsigned *i)
{
    while (w->channels && w->channels->used && ++*i < RMA_CHANNELS)
        if (w->channels->of[*i])
            return w->channels->of[*i];
    return NULL;
}

void rma_win_add_err(struct rma_win *w, int err)
{
    int other = w->err && rma_is_failure(w->err) != rma_is_failure(err);
    if (!err)
        return;
    if (!w->err)
        w->err = err;
    else if (other && rma_is_failure(err))
        w->failure = w->failure ? w->failure : err;
    else if (other) {
        w->failure = w->err;
        w->err = err;
    }
    lanes_admit(w);
}

void rma_target_err_stays(struct rma_win *w, int rank, int err, int lost)
{
    const uint64_t key = (uint64_t)rank + 1;
    rma_win_add_err(w, err);
    if (!err || rma_is_failure(err)) /* a failed process is known by itself */
        return;
    uintptr_t had = (uintptr_t)map_get(&w->errs, key);
    uintptr_t now = (had ? had : (uintptr_t)(unsigned)err << 1) | (lost != 0);
    w->lost |= lost != 0;
    (void)map_put(&w->errs, key, (void *)now);
    rma_near_admit(w);
}

/* The first one, with a result that did not come if `lost`; 0: none, else its key. */
static uint64_t first_err(const struct rma_win *w, int lost)
{
    size_t cursor = 0;
    for (const struct map_entry *e; (e = map_next(&w->errs, &cursor)) != NULL;)
        if (!lost || (uintptr_t)e->value & 1)
            return e->key;
    return 0;
}

/* err has been returned: the next call returns another one. */
static void err_gone(struct rma_win *w, int err)
{
    uint64_t key = w->err == err ? first_err(w, 0) : 0;
    w->err = w->err == err ? 0 : w->err;
    if (key)
        w->err = (int)(unsigned)((uintptr_t)map_get(&w->errs, key) >> 1);
    for (unsigned i = 0; i < w->nears && !w->err; i++)
        w->err = w->near.near ? w->near.near[i].err : 0;
    w->failure = w->failure == err ? 0 : w->failure;
    if (!w->err) {
        w->err = w->failure;
        w->failure = 0;
    }
}

int rma_target_err_take(struct rma_win *w, int rank, int lost)
{
    uint64_t key = rank < 0 ? first_err(w, lost) : (uint64_t)rank + 1;
    uintptr_t v = (uintptr_t)map_get(&w->errs, key);
    if (!v || (lost && !(v & 1)))
        return MPI_SUCCESS;
    int err = (int)(unsigned)(v >> 1);
    map_del(&w->errs, key);
    err_gone(w, err);
    rma_near_admit(w);
    return err;
}

int rma_win_err_taken(struct rma_win *w)
{
    int err = rma_take_err(&w->err);
    w->failure = 0;
    map_destroy(&w->errs);
    for (unsigned i = 0; w->delegate.errs && i < w->nears; i++)
        if (w->near.near[i].err) {
            w->near.near[i].err = 0;
            w->delegate.errs--;
            (void)rma_missed_take(w, &w->near.near[i]); /* this call returns it */
        }
    rma_near_admit(w);
    return err;
}

int rma_near_take_err(struct rma_win *of, struct rma_near *n)
{
    struct rma_win *w = rma_root(of);
    int missed = rma_missed_take(of, n), err = rma_take_err(&n->err);
    if (!err)
        return missed;
    w->delegate.errs--;
    err_gone(w, err);
    rma_near_admit(w);
    return err;
}

void rma_acks_add(struct rma_win *w, int n)
{
    w->acks += (unsigned)n;
    rma_near_admit(w);
}

/* Duplicates admit operations on all while the window is under LOCK_ALL. They hold no locks: the
 * first operation on a rank waits for the window's (op_begin.c). */
static __attribute__((noinline, cold)) void dups_follow(struct rma_win *w)
{
    enum win_state s = rma_in(w, SET_LOCK_ALL) ? WIN_LOCK_ALL_GRANTED : WIN_UNSET;
    struct rma_win *dup;
    for (unsigned i = 0; (dup = rma_dup_next(w, &i)) != NULL;)
        if (dup->state != s) {
            for (unsigned k = 0; k < w->nears && dup->near.near; k++)
                rma_near_follow(&dup->near.near[k], &w->near.near[k]);
            rma_win_goto(dup, s);
        }
}

void rma_win_goto(struct rma_win *w, enum win_state s)
{
    WR_ASSERT(w->state == s || (win_next[w->state] & BIT(s)));
    unsigned both = BIT(w->state) | BIT(s);
    if (!w->all_near) /* LOCK_ALL of which far members have no message yet: rma_called_grant() */
        rma_self()->lazy_alls += (rma_yes(SET_ALL_PENDING) >> s & 1) -
                                 (rma_yes(SET_ALL_PENDING) >> w->state & 1);
    w->state = s;
    rma_near_admit(w);
    if (both & BIT(WIN_PSCW_GRANTED))
        for (unsigned i = 0; i < w->nears; i++)
            rma_near_opened(w, &w->near.near[i]);
    if (s == WIN_UNSET) {
        WR_ASSERT(!w->delegate.bundles);
        if (w->dead) /* after a failure, the answers were not waited for */
            w->acks = 0;
        rma_evicted_clear(&w->passive.evicted);
        w->starved = 0;
        w->notes.sent = 0;
        w->passive.nocheck_all = 0;
        rma_synced(w);
    }
    if (__builtin_expect(w->channels != NULL, 0))
        dups_follow(w);
}

/* Most locks and unlocks open and close the epoch, and have a near target. So this is
 * rma_win_goto() and rma_near_opened() in one, without what both states share: operations are not
 * admitted on all targets, and UNSET has no elements (E1). */
void rma_lock_first(struct rma_win *w, struct rma_near *n, enum rma_near_lock held)
{
    WR_ASSERT((win_next[w->state] & BIT(WIN_PER_TARGET)) && w->state == WIN_UNSET &&
              !w->passive.locks && !w->table.ntargets);
    w->state = WIN_PER_TARGET;
    w->passive.locks = 1;
    w->passive.age = w->passive.seen;
    n->lock = (uint8_t)held;
    if (w->all_mapped || !rma_unsure(w))
        atomic_store_explicit(&w->near.passive, 1, memory_order_release);
    atomic_store_explicit(&n->open, 1, memory_order_release);
}

void rma_unlock_last(struct rma_win *w, struct rma_near *n)
{
    WR_ASSERT((win_next[w->state] & BIT(WIN_UNSET)) && w->state == WIN_PER_TARGET &&
              w->passive.locks == 1 && !w->table.ntargets && !w->passive.evicted.count &&
              !w->delegate.bundles);
    atomic_store_explicit(&n->open, 0, memory_order_release);
    atomic_store_explicit(&w->near.passive, 0, memory_order_release);
    n->lock = RMA_UNLOCKED;
    w->passive.locks = 0;
    w->state = WIN_UNSET;
    w->starved = 0;
    w->notes.sent = 0;
    if (w->dead)
        w->acks = 0;
    rma_synced(w);
}

static void show_target(const struct rma_target *t, const char *state)
{
    if (watch_wants(WATCH_STATES) && !t->w->parent) /* the lock is the window's */
        watch_target_state(t->w, t->world, state);
}

void rma_target_goto(struct rma_target *t, enum target_state s)
{
    WR_ASSERT(target_next[t->state] & BIT(s));
    t->state = s;
    show_target(t, target_name[s]);
}

void rma_target_born(struct rma_target *t, enum target_state s)
{
    t->state = s;
    show_target(t, target_name[s]);
}

void rma_target_gone(const struct rma_target *t)
{
    show_target(t, NULL);
}

void rma_expo_goto(struct rma_win *w, enum expo_state s)
{
    WR_ASSERT(expo_next[w->expo] & BIT(s));
    w->expo = s;
}

/* --- questions ------------------------------------------------------------------------ */

int rma_by_rank(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int rma_in_start(const struct rma_win *w, int rank)
{
    return w->access.start &&
           bsearch(&rank, w->access.start, w->access.nstart, sizeof rank, rma_by_rank) != NULL;
}

enum verdict rma_admit(const struct rma_win *w, int rank, const struct rma_near *n,
                       const struct rma_target *t)
{
    switch (w->state) {
    case WIN_FENCE_ISSUED:
        return ADMIT_QUEUE;
    case WIN_FENCE_GRANTED:
    case WIN_LOCK_ALL_GRANTED:
        return ADMIT_ISSUE;
    case WIN_PSCW_ISSUED:
        return rma_in_start(w, rank) ? ADMIT_QUEUE : ADMIT_NO;
    case WIN_PSCW_GRANTED:
        return rma_in_start(w, rank) ? ADMIT_ISSUE : ADMIT_NO;
    case WIN_LOCK_ALL_CALLED:
        return n ? ADMIT_ISSUE : t ? rma_lock_verdict(t) : ADMIT_LOCK_FIRST;
    case WIN_LOCK_ALL_ISSUED:
        return n ? ADMIT_ISSUE : t ? rma_lock_verdict(t) : ADMIT_WAIT;
    case WIN_PER_TARGET:
        if (n)
            return n->lock != RMA_UNLOCKED ? ADMIT_ISSUE : ADMIT_NO;
        if (t)
            return rma_lock_verdict(t);
        return rma_evicted(&w->passive.evicted, rank) ? ADMIT_ISSUE : ADMIT_NO;
    default:
        return ADMIT_NO;
    }
}

uint64_t rma_ops_total(const struct rma_win *w)
{
    enum { KINDS = PVAR_RMA_CAS - PVAR_RMA_PUT + 1 };
    uint64_t n = 0;
    for (int k = 0; k < KINDS; k++)
        n += atomic_load_explicit(&w->near.pvars.v[PVAR_RMA_PUT + k], memory_order_relaxed);
    for (unsigned i = 0; i < w->nears; i++)
        for (int k = 0; k < KINDS; k++)
            n += atomic_load_explicit(&w->near.near[i].counted[k], memory_order_relaxed);
    return n;
}

/* If an operation was called since the fence that opened this epoch, only a fence may close it. */
int rma_fence_pending(const struct rma_win *w)
{
    return w->table.nops > 0 || rma_ops_total(w) != w->fence.ops;
}

int rma_fence_has_ops(const struct rma_win *w)
{
    return rma_in(w, SET_FENCE) && rma_fence_pending(w);
}
