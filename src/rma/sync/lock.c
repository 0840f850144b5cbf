/* lock.c - LOCK and UNLOCK ([design] Algorithm for LOCK-UNLOCK; rma.md 5.2, 5.5).
 *
 * A far lock sends nothing by itself: the element is CALLED, and the LOCK leaves with the first
 * operation. The next MPI_Win_lock of this process, on any window, first gets the earlier ones
 * granted, in the order of the calls. A near lock is taken at the call from the word in the node
 * segment. Start with rma_lock() and rma_unlock().
 *
 * Age (rma.md 5.3). w->passive.age is the age of all locks of the window that are held now. It
 * is the known value of the clock (w->passive.seen) when the first of them was asked for. Each
 * request carries it. */
#include "rma/sync/sync_types.h"

#include <errno.h>

#include "base/atomic.h"
#include "base/bare.h"
#include "base/event.h"

/* --- far ------------------------------------------------------------------------------------ */

static int is_granted(void *arg)
{
    const struct rma_target *t = arg;
    return t->state == TARGET_LOCK_GRANTED;
}

int rma_grant_wait(struct rma_target *t)
{
    t->pins++;
    t->flags |= TARGET_DRAIN;
    rma_ready(t);
    rma_advance_target(t);
    rma_await(t->w, WHY_LOCK, is_granted, t, "a window lock", t->world);
    t->pins--;
    return t->flags & TARGET_FAILED ? rma_failed_error(t->w, t->rank) : MPI_SUCCESS;
}

/* The first lock that this thread called and that is not granted yet. */
static struct rma_target *first_called(void)
{
    struct rma *r = rma_self();
    void *me = thread_self();
    for (struct list *l = r->called.next; l != &r->called; l = l->next) {
        struct rma_target *t = LIST_OBJ(l, struct rma_target, called);
        if (t->caller == me)
            return t;
    }
    return NULL;
}

/* A window that this thread has locked whole, with members that have not been asked yet. */
static struct rma_win *lazy_all(void)
{
    struct rma *r = rma_self();
    void *me = thread_self();
    for (struct list *l = r->windows.next; l != &r->windows; l = l->next) {
        struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        int far = !w->all_near && (rma_in(w, SET_LAZY_ALL) || rma_in(w, SET_SWITCHING));
        if (w->passive.caller == me && !rma_is_revoked(w) && (far || rma_lockall_lazy(w)))
            return w;
    }
    return NULL;
}

/* Only locks of this thread: waiting for another thread's could close a circle that the user's
 * order of locks does not have. In a process with one thread these are all locks (rma.md 5.2).
 * Each lock call begins here, so at most one is lazy at a time, and LOCK and LOCK_ALL come in
 * the order of the calls. */
int rma_called_grant(void)
{
    int err = MPI_SUCCESS, e;
    struct rma_target *t;
    struct rma_win *w;
    if (list_empty(&rma_self()->called) && !rma_self()->lazy_alls)
        return MPI_SUCCESS;
    while ((t = first_called()) != NULL) {
        struct rma_win *its = t->w;
        e = rma_grant_wait(t);
        err = err || rma_is_revoked(its) ? err : e; /* that of a revoked one is of no order */
    }
    while ((w = lazy_all()) != NULL) {
        e = rma_lockall_near(w);
        if (e && rma_is_revoked(w))
            continue; /* lazy_all() finds it no more */
        if (e)
            return err ? err : e; /* asked again next time */
        if (!w->all_near && rma_in(w, SET_LAZY_ALL))
            e = rma_lockall_switch(w);
        else /* another thread is doing it */
            rma_switch_wait(w);
        err = err ? err : e;
    }
    return err;
}

/* --- near ------------------------------------------------------------------------------------- */

/* No process has an age above the clock of its node. */
static void saw(struct rma_win *w, uint64_t clock)
{
    if (clock > w->passive.seen)
        w->passive.seen = clock;
}

void rma_clock_advance(struct rma_win *w, uint32_t clock)
{
    uint32_t more = clock - (uint32_t)w->passive.seen;
    if ((int32_t)more <= 0)
        return;
    shmlock_clock_raise(rma_near_own(w)->lockword, w->passive.seen + more);
    saw(w, w->passive.seen + more);
}

struct near_wait {
    struct rma_win *w;
    struct rma_near *n;
    int result; /* 0: it waits; 1: held; -EOWNERDEAD; -ESTALE: the window was revoked */
};

static int near_got(void *arg)
{
    struct near_wait *x = arg;
    if (!x->result)
        x->result = shmlock_poll(x->n->lockword, &x->w->node.n);
    if (!x->result && rma_is_revoked(x->w))
        x->result = shmlock_give_up(x->n->lockword, &x->w->node.n) ? 1 : -ESTALE;
    return x->result != 0;
}

struct rma_win *rma_lock_awaits(int (*cond)(void *), void *arg)
{
    return cond == near_got    ? ((struct near_wait *)arg)->w
           : cond == is_granted ? ((struct rma_target *)arg)->w
                                : NULL;
}

static inline void near_locked(struct rma_win *w, struct rma_near *n, enum shmlock_type type)
{
    n->lock = type == SHMLOCK_EXCLUSIVE ? RMA_LOCKED_EXCLUSIVE : RMA_LOCKED_SHARED;
    /* MEM_SYNC after PROC_SYNC: pairs with the fence before the last holder's release. */
    fence_beside_rmw(); /* the word's, or that of the queue that was joined */
    rma_near_opened(w, n);
}

static __attribute__((cold, noinline)) int broken_error(struct rma_win *w, const struct rma_near *n)
{
    if (boot_failed(rma_world(w, n->rank)))
        return rma_failed_error(w, n->rank);
    return err_make(MPIX_ERR_PROC_FAILED, "%s: a process that held the lock of rank %d of %s died",
                    rma_call(), n->rank, rma_win_text(w));
}

void rma_near_close(struct rma_win *w, int rank)
{
    struct rma_near *n = rma_near_of(w, rank);
    if (n)
        shmlock_close(n->lockword, &w->node.n);
}

BARE int rma_lock_near(struct rma_win *w, struct rma_near *n, enum shmlock_type type, uint64_t age)
{
    if (!shmlock_enter_aged(n->lockword, &w->node.n, type, age)) {
        struct near_wait x = {w, n, 0};
        uint32_t grants = shmlock_grants(n->lockword);
        int holder = shmlock_holder(n->lockword, &w->node.n);
        n->asked = 1;
        rma_await(w, WHY_LOCK, near_got, &x, "a window lock",
                      holder < 0 || (unsigned)holder >= w->nears
                          ? -1
                          : rma_world(w, w->near.near[holder].rank));
        n->asked = 0;
        if (x.result > 0)
            event_raise(EVENT_LOCK_GRANTED, w->near.obj.handle, rma_world(w, n->rank), 0);
        if (x.result == -ESTALE)
            return rma_revoked_error(w);
        if (x.result < 0)
            return broken_error(w, n);
        if (type == SHMLOCK_EXCLUSIVE)
            pvar_set_max(&w->near.pvars, PVAR_RMA_LOCK_WAIT,
                         shmlock_grants(n->lockword) - grants - 1);
    }
    near_locked(w, n, type);
    return MPI_SUCCESS;
}

/* The word is released; no more operations are admitted. */
static inline void near_left(struct rma_win *w, struct rma_near *n, int held)
{
    /* MEM_SYNC before PROC_SYNC: pairs with the fence after the next holder's grant. */
    if (held == RMA_LOCKED_NOCHECK) {
        fence_full();
    } else {
        fence_beside_rmw(); /* the word's */
        enum shmlock_type type = held == RMA_LOCKED_EXCLUSIVE ? SHMLOCK_EXCLUSIVE : SHMLOCK_SHARED;
        if (__builtin_expect(shmlock_leave(n->lockword, &w->node.n, type), 0))
            saw(w, shmlock_clock(n->lockword));
    }
    if (n->rank == w->rank && w->target.lockq.count)
        /* far ones are next, and no other code of this process may look soon */
        rma_poll(w, RMA_POLL_LOCKQ);
}

void rma_near_unlock(struct rma_win *w, struct rma_near *n)
{
    int held = n->lock;
    sched_point();
    n->lock = RMA_UNLOCKED;
    rma_near_opened(w, n);
    near_left(w, n, held);
}

/* --- the calls -------------------------------------------------------------------------------- */

static int rank_error(const struct rma_win *w, int rank, const char *how, const char *todo)
{
    return err_make(MPI_ERR_RMA_SYNC, "%s: rank %d of %s is %s: %s", rma_call(), rank,
                    rma_win_text(w), how, todo);
}

/* NOCHECK breaks the promise of the key as well, but takes no lock: nothing depends on it. */
int rma_no_locks(const struct rma_win *w, int assert)
{
    struct rma *r = rma_self();
    if (!w->no_locks)
        return MPI_SUCCESS;
    if (w->parent)
        return rma_dup_error(w);
    if (!(assert & MPI_MODE_NOCHECK) || cvar.rma_no_locks)
        return err_make(MPI_ERR_RMA_SYNC, "%s: %s has the info key no_locks=true", rma_call(),
                        rma_win_text(w));
    if (cvar.debug_summary && !r->no_locks_told) {
        r->no_locks_told = 1;
        log_warn("%s: %s has the info key no_locks=true; permitted with MPI_MODE_NOCHECK, which "
                 "takes no lock "
                 "(MPIR_CVAR_RMA_STRICT_NO_LOCKS=1: an error)",
                 rma_call(), rma_win_text(w));
    }
    return MPI_SUCCESS;
}

static int locked_already(const struct rma_win *w, int rank)
{
    const struct rma_near *n = rma_near_of(w, rank);
    if (n)
        return n->lock != RMA_UNLOCKED || n->asked;
    return rma_target_find(w, rank) ||
           rma_evicted(&w->passive.evicted, rank);
}

static int lock_check(const struct rma_win *w, int type, int rank, int assert)
{
    if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE)
        return err_make(MPI_ERR_LOCKTYPE,
                        "%s: lock type %d is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE",
                        rma_call(), type);
    if (assert & ~MPI_MODE_NOCHECK)
        return rma_assert_error(assert & ~MPI_MODE_NOCHECK, "a lock");
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= w->size))
        return err_make(MPI_ERR_RANK, "%s: rank %d is not in the window (0 to %d)", rma_call(),
                        rank, w->size - 1);
    int err = rma_no_locks(w, assert);
    if (err)
        return err;
    if (!rma_in(w, SET_LOCK_MAY))
        return rma_sync_error(w, "another kind of epoch is open on", rma_end_first(w));
    if (rank == w->rank && w->expo != EXPO_NONE)
        return err_make(
            MPI_ERR_RMA_CONFLICT,
            "%s: rank %d locks %s, which it exposes by MPI_Win_post: call MPI_Win_wait first",
            rma_call(), rank, rma_win_text(w));
    if (rank != MPI_PROC_NULL && locked_already(w, rank))
        return rank_error(w, rank, "locked already", "call MPI_Win_unlock first");
    return MPI_SUCCESS;
}

static int lock_far(struct rma_win *w, int rank, enum shmlock_type type, int nocheck)
{
    int joins = type == SHMLOCK_SHARED && w->passive.locks > 1;
    struct rma_target *t;
    while ((t = rma_target_add(w, rank)) == NULL) {
        int err = rma_evict_target(w);
        if (err)
            return err;
    }
    t->lock = (uint8_t)type;
    t->caller = thread_self();
    if (joins)
        t->flags |= TARGET_JOIN;
    if (nocheck) {
        t->flags |= TARGET_NOCHECK;
        rma_target_born(t, TARGET_LOCK_GRANTED);
    } else {
        rma_target_born(t, TARGET_LOCK_CALLED);
        list_push(&rma_self()->called, &t->called);
    }
    return MPI_SUCCESS;
}

static void lock_closed(struct rma_win *w)
{
    if (--w->passive.locks == 0) {
        if (w->table.ntargets)
            rma_targets_drop(w);
        rma_win_goto(w, WIN_UNSET);
    }
}

static inline void near_unchecked(struct rma_win *w, struct rma_near *n)
{
    n->lock = RMA_LOCKED_NOCHECK; /* ordered by whatever assured the user that no lock is held */
    rma_near_opened(w, n);
}

static inline int is_idle(const struct rma_win *w)
{
    return rma_in(w, SET_UNSET) && w->expo == EXPO_NONE && !w->no_locks;
}

/* Must this process take other locks before? */
static inline int others_first(const struct rma *r)
{
    return !list_empty(&r->called) || r->lazy_alls;
}

static inline int is_plain(int type, int assert)
{
    return (type == MPI_LOCK_SHARED || type == MPI_LOCK_EXCLUSIVE) && !(assert & ~MPI_MODE_NOCHECK);
}

/* The common lock: no epoch is open, the word is free, and this process must take no other lock
 * first. 1: held. 0: nothing has happened, and the general path decides, errors included. */
static int lock_free(struct rma_win *w, int type, int rank, int assert)
{
    struct rma_near *n = rma_near_of(w, rank);
    int kind = type == MPI_LOCK_EXCLUSIVE ? SHMLOCK_EXCLUSIVE : SHMLOCK_SHARED;
    if (!n || n->asked || !is_idle(w) || !is_plain(type, assert) || others_first(rma_self()))
        return 0;
    if (!assert && !shmlock_try(n->lockword, &w->node.n, kind))
        return 0;
    if (assert) { /* ordered as in near_unchecked() */
        rma_lock_first(w, n, RMA_LOCKED_NOCHECK);
    } else {
        fence_beside_rmw(); /* with the pair that near_locked() names */
        rma_lock_first(w, n, kind == SHMLOCK_EXCLUSIVE ? RMA_LOCKED_EXCLUSIVE : RMA_LOCKED_SHARED);
    }
    return 1;
}

int rma_lock(struct rma_win *w, int type, int rank, int assert)
{
    if (lock_free(w, type, rank, assert))
        return MPI_SUCCESS;
    int err = lock_check(w, type, rank, assert);
    if (err)
        return err;
    if (rank == MPI_PROC_NULL) {
        w->passive.nulls++;
        return MPI_SUCCESS;
    }
    enum shmlock_type kind = type == MPI_LOCK_EXCLUSIVE ? SHMLOCK_EXCLUSIVE : SHMLOCK_SHARED;
    struct rma_near *n = rma_near_of(w, rank);
    if (!rma_in(w, SET_PER_TARGET)) {
        w->passive.age = w->passive.seen;
        rma_win_goto(w, WIN_PER_TARGET);
    }
    w->passive.locks++; /* before anything waits: the epoch is open */
    err = rma_called_grant();
    if (!err && proc->threaded && locked_already(w, rank)) /* by another thread, meanwhile */
        err = rank_error(w, rank, "locked already", "call MPI_Win_unlock first");
    if (!err && !n)
        err = lock_far(w, rank, kind, assert & MPI_MODE_NOCHECK);
    else if (!err && !(assert & MPI_MODE_NOCHECK))
        err = rma_lock_near(w, n, kind, w->passive.locks > 1 ? w->passive.age : SHMLOCK_NOW);
    if (err) {
        lock_closed(w);
        return err;
    }
    if (n && (assert & MPI_MODE_NOCHECK))
        near_unchecked(w, n);
    return MPI_SUCCESS;
}

struct drop {
    struct rma_win *w;
    int rank;
};

/* A failed target sends nothing more, and each request to it has its error. */
static int is_left_alone(const struct rma_target *t)
{
    return !t->pins && ((!t->sync && !t->tokens_out) || (t->flags & TARGET_FAILED));
}

static int left_alone(void *arg)
{
    const struct drop *d = arg;
    const struct rma_target *t = rma_target_find(d->w, d->rank);
    return !t || is_left_alone(t);
}

/* Another thread's MPI_Win_lock may wait for this grant (rma_called_grant) without having looked
 * yet (R5), or may be evicting the element. Or another thread's MPI_Win_flush_all counts on an
 * answer that this element has or is to ask for. If the element were discarded, that answer
 * would find the next element of the rank and count for none. So the element stays, but from
 * here on no thread asks it anew. The answer to the end of the epoch was the last one needed,
 * and a thread that asks without a pause would keep the element for ever. Nor is it evicted:
 * that would take a NOCHECK lock for real, and no call would release it. */
static void element_drop(struct rma_win *w, int rank, struct rma_target *t)
{
    struct drop d = {w, rank};
    if (t)
        t->closing = 1;
    if (t && !is_left_alone(t)) {
        progress_wait(left_alone, &d, "another thread", rma_world(w, rank));
        t = rma_target_find(w, rank);
    }
    if (t)
        rma_target_del(w, t);
}

/* t: its element, or NULL where it was evicted. */
static int unlock_far(struct rma_win *w, int rank, struct rma_target *t)
{
    int cut = rma_evicted_err(&w->passive.evicted, rank), err;
    if (t)
        err = rma_complete_target(w, t, RMA_F_UNLOCK);
    else if (cut) /* neither its lock nor its end can have arrived there */
        err = rma_cut_error(w, rank, cut);
    else if (boot_failed_count() && boot_failed(rma_world(w, rank)))
        err = rma_failed_error(w, rank);
    else
        /* All that was done there has been answered, so this needs no element, nor memory for
         * one. */
        err = rma_request_alone(w, rank, RMA_F_UNLOCK);
    element_drop(w, rank, t ? t : rma_target_find(w, rank));
    rma_evicted_del(&w->passive.evicted, rank);
    return err;
}

/* err, or what is left of the target of an unlock: by elements that were evicted, by bundles. Other
 * targets' errors are for their calls. The last unlock returns all. */
static int with_left(struct rma_win *w, int rank, struct rma_near *n, int err)
{
    err = rma_graver(err, rma_target_err_take(w, rank, 0));
    if (n && n->err)
        err = rma_graver(err, rma_near_take_err(w, n));
    int others = w->errs.count || w->delegate.errs || (err && !rma_is_failure(err));
    if (others && w->passive.locks > 1)
        return err;
    return rma_graver(err, rma_win_take_err(w));
}

/* The common unlock: no other lock is open, and everything was done by load and store. 1: done.
 * 0: nothing has happened. */
static int unlock_only(struct rma_win *w, int rank)
{
    struct rma_near *n = rma_near_of(w, rank);
    int held = n ? n->lock : RMA_UNLOCKED;
    if (held == RMA_UNLOCKED || w->passive.locks != 1 || w->table.ntargets || w->err ||
        rma_bundles_due(w) || !rma_in(w, SET_PER_TARGET))
        return 0;
    sched_point();
    rma_unlock_last(w, n);
    near_left(w, n, held);
    rma_look_around(w);
    return 1;
}

int rma_unlock(struct rma_win *w, int rank)
{
    rma_settle(w);
    if (unlock_only(w, rank))
        return MPI_SUCCESS;
    if (rank == MPI_PROC_NULL) {
        w->passive.nulls -= w->passive.nulls > 0;
        return MPI_SUCCESS;
    }
    if (rank < 0 || rank >= w->size)
        return err_make(MPI_ERR_RANK, "%s: rank %d is not in the window (0 to %d)", rma_call(),
                        rank, w->size - 1);
    if (!rma_in(w, SET_PER_TARGET))
        return rank_error(w, rank, "not locked", "call MPI_Win_lock first");
    struct rma_near *n = rma_near_of(w, rank);
    int err = MPI_SUCCESS;
    if (!n) {
        struct rma_target *t = rma_target_find(w, rank);
        if (!t && !rma_evicted(&w->passive.evicted, rank))
            return rank_error(w, rank, "not locked", "call MPI_Win_lock first");
        err = unlock_far(w, rank, t);
    } else {
        if (n->lock == RMA_UNLOCKED)
            return rank_error(w, rank, "not locked", "call MPI_Win_lock first");
        if (n->bundles || w->delegate.misses)
            err = rma_bundles_end(w, n);
        struct rma_target *t = rma_target_find(w, rank);
        if (t) {
            err = rma_graver(rma_complete_target(w, t, RMA_F_DONE), err);
            element_drop(w, rank, t);
        }
        rma_near_unlock(w, n);
        rma_look_around(w);
    }
    err = with_left(w, rank, n, err); /* nothing waits from here on: the locks are counted */
    lock_closed(w);
    return err;
}
