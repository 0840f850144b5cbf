/* lock_all.c - LOCK_ALL and UNLOCK_ALL with both protocols, and the switch between them ([design]
 * Algorithm for LOCK_ALL-UNLOCK_ALL; rma.md 5.3). Start with rma_lock_all() and
 * rma_lockall_touch().
 *
 * The first operation takes a near lock (n->lazy) and waits for it. Two kinds are taken at the
 * call, since they guard loads and stores that the library does not see: this process's own, and
 * all where peers' memory is shown (MPI_Win_allocate_shared, MPI_Win_shared_query), except those of
 * failed members.
 *
 * Far locks belong to the elements, with the first operation (per-target protocol), until no
 * target element can be had. Then the switch locks all members (window protocol). The number of
 * messages under way is constant; the switch counts them on its stack. */
#include "rma/sync/sync_types.h"

#include <errno.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "base/bare.h"
#include "base/event.h"

/* --- near ------------------------------------------------------------------------------------- */

/* rma_called_grant() looks for windows that have lazy locks. */
static void lazy_set(struct rma_win *w, struct rma_near *n, int lazy)
{
    if (n->lazy == lazy)
        return;
    unsigned before = w->passive.lazies;
    n->lazy = (uint8_t)(lazy != 0);
    w->passive.lazies += lazy ? 1u : -1u;
    rma_self()->lazy_alls += (w->passive.lazies != 0) - (before != 0);
    rma_near_units_set(n, !lazy);
    if (lazy)
        rma_recent_hide(n);
}

static int not_asked(void *arg)
{
    const struct rma_near *n = arg;
    return !n->asked;
}

static int is_failed(const struct rma_win *w, const struct rma_near *n)
{
    return boot_failed_count() && boot_failed(rma_world(w, n->rank));
}

static int touch(struct rma_win *w, struct rma_near *n)
{
    while (n->lazy) {
        if (n->asked) { /* by another thread */
            rma_await(w, WHY_LOCK, not_asked, n, "a window lock", rma_world(w, n->rank));
            continue;
        }
        int err = rma_lock_near(w, n, SHMLOCK_SHARED, w->passive.age);
        if (err)
            return err;
        lazy_set(w, n, 0);
        if (w->channels)
            rma_copies_follow(w, n);
    }
    return MPI_SUCCESS;
}

/* As with a far one: the first operation returns the error, whether or not the lock is free. */
int rma_lockall_touch(struct rma_win *w, struct rma_near *n)
{
    return is_failed(w, n) ? rma_failed_error(w, n->rank) : touch(w, n);
}

/* Failed members stay lazy, so that each operation on them is an error. */
int rma_lockall_lazy(const struct rma_win *w)
{
    if (!w->passive.lazies || !boot_failed_count())
        return w->passive.lazies != 0;
    for (unsigned i = 0; i < w->nears; i++)
        if (w->near.near[i].lazy && !is_failed(w, &w->near.near[i]))
            return 1;
    return 0;
}

int rma_lockall_near(struct rma_win *w)
{
    for (unsigned i = 0; i < w->nears && w->passive.lazies; i++) {
        int err = rma_lockall_touch(w, &w->near.near[i]);
        if (err && !is_failed(w, &w->near.near[i]))
            return err;
    }
    return MPI_SUCCESS;
}

void rma_near_unlock_all(struct rma_win *w)
{
    w->passive.giving_back = 1; /* other threads may run between one and the next */
    for (unsigned i = 0; w->passive.lazies; i++)
        lazy_set(w, &w->near.near[i], 0);
    for (unsigned i = 0; i < w->nears; i++)
        if (w->near.near[i].lock != RMA_UNLOCKED)
            rma_near_unlock(w, &w->near.near[i]);
    w->passive.giving_back = 0;
}

static void called_now(struct rma_win *w)
{
    w->passive.caller = thread_self();
    w->passive.age = w->passive.seen;
}

void rma_lockall_unchecked(struct rma_win *w)
{
    called_now(w);
    w->passive.nocheck_all = 1;
    rma_win_goto(w, WIN_LOCK_ALL_GRANTED);
}

int rma_lock_all(struct rma_win *w, int assert)
{
    if (assert & ~MPI_MODE_NOCHECK)
        return rma_assert_error(assert & ~MPI_MODE_NOCHECK, "a lock");
    int err = rma_no_locks(w, assert);
    if (err)
        return err;
    if (!rma_in(w, SET_LOCK_ALL_MAY))
        return rma_sync_error(w, "another epoch is open on", rma_end_first(w));
    if (w->expo != EXPO_NONE)
        return err_make(
            MPI_ERR_RMA_CONFLICT,
            "%s: rank %d locks %s, which it exposes by MPI_Win_post: call MPI_Win_wait first",
            rma_call(), w->rank, rma_win_text(w));
    if ((err = rma_called_grant()) != MPI_SUCCESS)
        return err;
    if (assert & MPI_MODE_NOCHECK) { /* ordered by whatever assured the user that it is free */
        rma_lockall_unchecked(w);
        return MPI_SUCCESS;
    }
    called_now(w);
    for (unsigned i = 0; i < w->nears; i++)
        lazy_set(w, &w->near.near[i], 1);
    err = w->loads ? rma_lockall_near(w) : touch(w, rma_near_own(w));
    if (err)
        rma_near_unlock_all(w);
    else
        rma_win_goto(w, WIN_LOCK_ALL_CALLED);
    return err;
}

int rma_holds_lock(const struct rma_win *w, int rank)
{
    const struct rma_near *n = rma_near_of(w, rank);
    if (n)
        return n->lock != RMA_UNLOCKED;
    const struct rma_target *t = rma_target_find(w, rank);
    return rma_in(w, SET_ALL_LOCKED) || (t && t->state == TARGET_LOCK_GRANTED);
}

int rma_lock_now(struct rma_win *w, int rank)
{
    struct rma_target *t = rma_target_find(w, rank);
    if (rma_near_of(w, rank) || rma_switch_wait(w) || !t || t->flags & TARGET_FAILED)
        return MPI_SUCCESS;
    return rma_grant_wait(t);
}

/* --- the switch ------------------------------------------------------------------------------- */

struct lockall_switch {
    struct rma_win *w;
    int next;             /* first rank not looked at */
    unsigned out, max;    /* places in use */
    struct place {
        int rank;         /* -1: free */
        int refused, unsent;
        uint64_t stamp, retry_at, retry_ns;
    } *place;
};

static struct place *place_of(struct lockall_switch *s, int rank)
{
    for (unsigned i = 0; i < s->max; i++)
        if (s->place[i].rank == rank)
            return &s->place[i];
    return NULL;
}

static void place_send(struct lockall_switch *s, struct place *p)
{
    struct rma_hdr h = {.flags = RMA_F_SHARED | RMA_F_JOIN};
    if (p->refused) {
        if (time_now() < p->retry_at)
            return;
        h.flags |= RMA_F_STAMP;
        h.stamp = p->stamp;
    }
    int err = rma_lock_plain(s->w, p->rank, &h);
    if (err == AM_AGAIN)
        return;
    if (err) {
        /* A failed member needs no lock. If it cannot be reached, the epoch's next
         * synchronization returns the error. */
        if (err != -ENOTCONN && !boot_failed(rma_world(s->w, p->rank))) {
            /* It is not locked: no operation goes there in this epoch, and no UNLOCK. If there
             * is no memory to record that, it is tried again, as if there were none for the
             * message. */
            if (rma_evicted_put(&s->w->passive.evicted, p->rank, err))
                return;
            s->w->cut = err;
            s->w->cut_rank = p->rank;
            rma_win_add_err(s->w, rma_failed_error(s->w, p->rank));
        }
        p->rank = -1;
        s->out--;
        return;
    }
    if (p->refused)
        rma_count(s->w, PVAR_RMA_LOCKS_RESENT, 1);
    p->unsent = p->refused = 0;
}

int rma_switch_granted(struct rma_win *w, int rank)
{
    struct place *p = w->passive.sw ? place_of(w->passive.sw, rank) : NULL;
    if (!p)
        return 0;
    p->rank = -1;
    w->passive.sw->out--;
    return 1;
}

enum { RETRY_FIRST_NS = 20000, RETRY_MAX_NS = 2000000 };

uint64_t rma_retry_after(uint64_t before)
{
    uint64_t ns = before ? 2 * before : RETRY_FIRST_NS;
    return ns < RETRY_MAX_NS ? ns : RETRY_MAX_NS;
}

int rma_switch_refused(struct rma_win *w, int rank, uint64_t stamp)
{
    struct place *p = w->passive.sw ? place_of(w->passive.sw, rank) : NULL;
    if (!p)
        return 0;
    p->refused = p->unsent = 1;
    p->stamp = stamp;
    p->retry_ns = rma_retry_after(p->retry_ns);
    p->retry_at = time_now() + p->retry_ns;
    return 1;
}

/* Ranks that need a lock message of their own, while there are places. */
static void fill_places(struct lockall_switch *s)
{
    struct rma_win *w = s->w;
    while (s->next < w->size && s->out < s->max) {
        int rank = s->next++;
        if (rma_near_of(w, rank) || rma_target_find(w, rank))
            continue;
        struct place *p = place_of(s, -1);
        *p = (struct place){.rank = rank, .unsent = 1};
        s->out++;
    }
}

static int switch_over(void *arg)
{
    struct lockall_switch *s = arg;
    fill_places(s);
    for (unsigned i = 0; i < s->max; i++) {
        struct place *p = &s->place[i];
        if (p->rank >= 0 && boot_failed_count() && boot_failed(rma_world(s->w, p->rank))) {
            p->rank = -1;
            s->out--;
        }
        if (p->rank >= 0 && p->unsent)
            place_send(s, p);
    }
    fill_places(s);
    if (s->out || s->next < s->w->size)
        return 0;
    for (const struct rma_target *t = rma_target_next(s->w, NULL); t; t = rma_target_next(s->w, t))
        if (t->state != TARGET_LOCK_GRANTED)
            return 0;
    return 1;
}

int rma_lockall_switch(struct rma_win *w)
{
    struct place places[cvar.rma_switch_out > 0 ? cvar.rma_switch_out : 1];
    struct lockall_switch s = {.w = w, .max = (unsigned)cvar.rma_switch_out, .place = places};
    for (unsigned i = 0; i < s.max; i++)
        places[i].rank = -1;
    rma_count(w, PVAR_RMA_SWITCHES, 1);
    event_raise(EVENT_LOCKS_SWITCHED, w->near.obj.handle, -1, w->size);
    rma_win_goto(w, WIN_LOCK_ALL_ISSUED);
    w->passive.sw = &s;
    rma_drain_all(w);
    rma_win_active(w);
    rma_issue_win(w);
    rma_await(w, WHY_LOCK, switch_over, &s, "the locks of all processes", -1);
    w->passive.sw = NULL;
    rma_win_goto(w, WIN_LOCK_ALL_GRANTED);
    rma_win_kick(w);
    return MPI_SUCCESS;
}

static int not_switching(void *arg)
{
    return !rma_in(arg, SET_SWITCHING);
}

int rma_switch_wait(struct rma_win *w)
{
    if (!rma_in(w, SET_SWITCHING))
        return 0;
    rma_await(w, WHY_LOCK, not_switching, w, "MPI_Win_lock_all's locks", -1);
    return 1;
}

/* --- the end ---------------------------------------------------------------------------------- */

static int few_out(void *arg)
{
    return ((struct rma_resp *)arg)->pending < (unsigned)cvar.rma_switch_out;
}

static int none_out(void *arg)
{
    return ((struct rma_resp *)arg)->pending == 0;
}

/* Window protocol: UNLOCK to each member that has no element to piggyback it on. */
static int unlock_others(struct rma_win *w)
{
    struct rma_resp r;
    int err = MPI_SUCCESS;
    rma_resp_open(w, &r, -1);
    r.alone = 1;
    rma_win_active(w);
    for (int rank = 0; rank < w->size; rank++) {
        if (rma_near_of(w, rank) || rma_target_find(w, rank))
            continue;
        if (rma_evicted_err(&w->passive.evicted, rank)) {
            err = err ? err : rma_cut_error(w, rank, rma_evicted_err(&w->passive.evicted, rank));
            continue;
        }
        struct rma_hdr h = {.type = RMA_PKT_DONE, .flags = RMA_F_UNLOCK, .token = r.token};
        rma_await(w, WHY_FLUSH, few_out, &r, "answers to MPI_Win_unlock_all", rma_world(w, rank));
        r.pending++;
        int e = rma_plain_wait(w, rank, &h, 1);
        if (e) {
            r.pending -= r.pending > 0; /* a death has set it to 0 meanwhile */
            err = err ? err : e;
        }
    }
    rma_await(w, WHY_FLUSH, none_out, &r, "answers to MPI_Win_unlock_all", -1);
    rma_resp_close(&r);
    return err ? err : r.err;
}

BARE int rma_unlock_all(struct rma_win *w)
{
    if (w->parent)
        return rma_dup_error(w);
    if (!rma_in(w, SET_LOCK_ALL))
        return rma_sync_error(w, "no lock_all epoch is open on", "call MPI_Win_lock_all first");
    int err = MPI_SUCCESS, e;
    rma_settle(w);
    w->passive.caller = NULL; /* no other thread begins a switch while this one waits */
    /* another thread that locks another window gets this one granted first */
    rma_switch_wait(w);
    if (__builtin_expect(w->channels != NULL, 0))
        err = rma_dups_end(w);
    if (rma_bundles_due(w)) {
        e = rma_bundles_end(w, NULL);
        err = rma_graver(err, e);
    }
    if (rma_in(w, SET_ALL_LOCKED) && !w->passive.nocheck_all && !w->all_near) {
        e = unlock_others(w);
        err = rma_graver(err, e);
    }
    if (w->table.ntargets || w->acks || w->err) {
        e = rma_complete_all(w, w->passive.nocheck_all ? RMA_F_DONE : RMA_F_UNLOCK);
        err = rma_graver(err, e);
    }
    if (w->table.ntargets)
        rma_targets_drop(w);
    if (w->passive.nocheck_all)
        /* MEM_SYNC before PROC_SYNC: pairs with the fence after the next holder's grant, as in
         * rma_near_unlock() */
        fence_full();
    else
        rma_near_unlock_all(w); /* with a fence for each */
    rma_win_goto(w, WIN_UNSET);
    rma_look_around(w);
    return err;
}
