/* flush.c - FLUSH family, SYNC, and the wait for answers that all synchronizations share. Start
 * with rma_flush() and rma_complete_target().
 *
 *     thread: resp on its stack --- token ---> DONE on the tail ---> target
 *             resp counted down <--- ACK (token) <--------------------'
 *
 * Each waiting thread has its own response object ([design] RMA + threads). An answer that is late,
 * or for another thread, ends no other flush (rma.md 5.6, 5.8). */
#include "rma/sync/sync_types.h"

#include <errno.h>

#include "base/atomic.h"

/* --- conditions -------------------------------------------------------------------------- */

/* Nothing up to call number `mark` is left on t's list. */
static int local_done(const struct rma_target *t, uint64_t mark)
{
    for (const struct list *l = t->ops.next; l != &t->ops; l = l->next)
        if (LIST_OBJ(l, struct rma_op, link)->seq <= mark)
            return 0;
    return 1;
}

struct wait {
    struct rma_win *w;
    struct rma_target *t; /* NULL: all */
    struct rma_resp *r;   /* NULL: local only */
    uint64_t mark;
};

/* A failure ends the wait for all answers (rma_resps_fail), but not the sending. Requests must
 * still leave for living targets, which would stay locked otherwise. */
static int unsent(const struct wait *x, const struct rma_target *t)
{
    return x->r && t->sync && t->token == x->r->token && !(t->flags & TARGET_FAILED);
}

static int wait_over(void *arg)
{
    const struct wait *x = arg;
    if (x->r && x->r->pending)
        return 0;
    if (x->t)
        return local_done(x->t, x->mark);
    if (x->r && x->w->acks)
        return 0;
    if (!x->w->table.nops && !x->w->dead)
        return 1;
    for (const struct rma_target *t = rma_target_next(x->w, NULL); t; t = rma_target_next(x->w, t))
        if (!local_done(t, x->mark) || unsent(x, t))
            return 0;
    return 1;
}

struct rma_win *rma_flush_awaits(int (*cond)(void *), void *arg)
{
    const struct wait *x = arg;
    if (cond != wait_over || !x->t || x->t->flags & TARGET_FAILED)
        return NULL;
    return x->t->state == TARGET_LOCK_ISSUED ? x->w : NULL;
}

static void wait_for(struct wait *x)
{
    if (wait_over(x))
        return;
    rma_win_active(x->w);
    rma_count(x->w, PVAR_RMA_FLUSH_WAITS, 1);
    rma_await(x->w, WHY_FLUSH, wait_over, x, "operations on a window", x->t ? x->t->world : -1);
}

static int sync_free(void *arg)
{
    const struct rma_target *t = arg;
    return !t->sync && !(t->piggybacked && t->state == TARGET_LOCK_ISSUED);
}

/* If another thread's flag waits to leave, wait for that first. */
static void sync_turn(struct rma_target *t)
{
    if (!sync_free(t))
        rma_await(t->w, WHY_FLUSH, sync_free, t, "another thread's flush", t->world);
}

/* The flags t needs in place of `sync`. The caller releases near lock words. A NOCHECK lock was
 * never acquired, unless an eviction is acquiring it now: then UNLOCK waits for the grant. */
static unsigned sync_for(const struct rma_target *t, unsigned sync)
{
    if ((t->flags & TARGET_NEAR) ||
        ((sync & RMA_F_UNLOCK) && (t->flags & TARGET_NOCHECK) && t->state == TARGET_LOCK_GRANTED))
        return RMA_F_DONE;
    return sync;
}

static inline void target_begin(struct rma_target *t, unsigned sync, struct rma_resp *r)
{
    struct rma_win *w = t->w;
    int rank = t->rank;
    t->pins++;
    sync_turn(t);
    rma_resp_open(w, r, rank);
    if (t->flags & TARGET_FAILED) {
        r->err = rma_failed_error(w, rank);
    } else {
        r->pending = 1;
        rma_target_sync(t, sync_for(t, sync), r->token);
        rma_advance_target(t);
    }
}

static inline int take_err(struct rma_target *t)
{
    t->lost = 0;
    return rma_take_err(&t->err);
}

/* The element has the error, too. */
static inline int target_over(struct wait *x)
{
    wait_for(x); /* of the dead target: what the network has not given back (rma_native_fail) */
    rma_resp_close(x->r);
    x->t->pins--;
    if (!x->t->err)
        x->t->err = x->r->err;
    return x->t->err;
}

static inline int target_end(struct wait *x)
{
    target_over(x);
    return take_err(x->t);
}

static inline int target_complete(struct rma_win *w, struct rma_target *t, unsigned sync)
{
    struct rma_resp r;
    struct wait x = {w, t, &r, w->seq};
    target_begin(t, sync, &r);
    return target_over(&x);
}

int rma_complete_target(struct rma_win *w, struct rma_target *t, unsigned sync)
{
    (void)target_complete(w, t, sync); /* t has the error, too */
    return take_err(t);
}

/* err of a flush of rank, or what an element of it that was evicted has left. */
static inline int evicted_too(struct rma_win *w, int rank, int err)
{
    if (__builtin_expect(w->errs.count != 0, 0))
        err = rma_graver(err, rma_target_err_take(w, rank, 0));
    return err;
}

int rma_complete_victim(struct rma_target *t)
{
    return target_complete(t->w, t, RMA_F_DONE);
}

void rma_flush_begin(struct rma_win *w, int rank, struct rma_flushing *f)
{
    f->w = w;
    f->rank = rank;
    f->mark = w->seq;
    f->t = rma_near_of(w, rank) ? NULL : rma_target_find(w, rank);
    if (!f->t || rma_unsure(w) || f->t->flags & TARGET_FAILED)
        f->t = NULL; /* the end does it all */
    else
        target_begin(f->t, RMA_F_DONE, &f->r);
}

int rma_flush_end(struct rma_flushing *f)
{
    struct wait x = {f->w, f->t, &f->r, f->mark};
    if (!f->t)
        return rma_flush(f->w, f->rank);
    int err = evicted_too(f->w, f->rank, target_end(&x));
    fence_full(); /* as in rma_flush() */
    return err;
}

/* One that the window keeps for the next synchronization, or 0. */
static int failure_of(const struct rma_win *w)
{
    return w->failure ? w->failure : rma_is_failure(w->err) ? w->err : 0;
}

/* *failure: one of the window, or 0. */
static int complete_all(struct rma_win *w, unsigned sync, int *failure)
{
    struct rma_resp r;
    struct wait x = {w, NULL, &r, w->seq};
    int err = 0, e;
    rma_resp_open(w, &r, -1);
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t)) {
        if (t->closing)
            continue;
        t->pins++;
        sync_turn(t);
        if (t->flags & TARGET_FAILED) {
            r.err = r.err ? r.err : rma_failed_error(w, t->rank);
        } else {
            r.pending++;
            rma_target_sync(t, sync_for(t, sync), r.token);
        }
        t->pins--;
    }
    rma_advance_win(w);
    wait_for(&x);
    rma_resp_close(&r);
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
        if ((e = take_err(t)) != 0)
            err = rma_graver(err, e);
    *failure = failure_of(w);
    err = rma_graver(err, rma_win_take_err(w));
    return rma_graver(err, r.err);
}

int rma_complete_all(struct rma_win *w, unsigned sync)
{
    int failure;
    return complete_all(w, sync, &failure);
}

void rma_local_wait(struct rma_win *w, struct rma_target *t)
{
    struct wait x = {w, t, NULL, w->seq};
    t->pins++;
    t->flags |= TARGET_DRAIN;
    rma_ready(t);
    rma_advance_target(t);
    wait_for(&x);
    t->pins--;
}

/* Of an element, or of one that was evicted. A call that waits for targets returns it, too. */
static int a_failure(struct rma_win *w)
{
    int left = w->delegate.errs ? 0 : failure_of(w); /* else the end of the call takes it */
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
        if (t->flags & TARGET_FAILED)
            return rma_failed_error(w, t->rank);
    if (left)
        return rma_take_err(&left); /* the window keeps it */
    return w->passive.evicted.cut.count ? rma_cut_error(w, w->cut_rank, w->cut) : MPI_SUCCESS;
}

/* err, or a failure that has ended operations meanwhile. */
static int local_wait_all(struct rma_win *w, int err)
{
    struct rma_resp r;
    struct wait x = {w, NULL, NULL, w->seq};
    rma_resp_open(w, &r, -1);
    r.err = err;
    rma_drain_all(w);
    rma_advance_win(w);
    wait_for(&x);
    rma_resp_close(&r);
    return r.err;
}

/* Takes the errors of elements, also evicted ones, where a result did not come; err: another one,
 * or 0. */
static int lost_results(struct rma_win *w, int err)
{
    int e;
    w->lost = 0;
    while ((e = rma_target_err_take(w, -1, 1)) != 0)
        err = rma_graver(err, e);
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
        if (t->lost)
            err = rma_graver(err, take_err(t));
    return err;
}

void rma_look_around(struct rma_win *w)
{
    enum { LOOK_AROUND = 64 };
    if (++w->looks % LOOK_AROUND == 0)
        progress_test();
}

/* For flush_all, on which programs spin. Of a window that near.h flushes few calls come here. */
static void look_now_and_then(struct rma_win *w)
{
    if (rma_in(w, SET_LOCK_ALL) && atomic_load_explicit(&w->near.all_here, memory_order_relaxed))
        progress_test();
    else
        rma_look_around(w);
}

/* --- the calls ------------------------------------------------------------------------------ */

static int no_epoch(const struct rma_win *w, int rank /* -1: all */)
{
    if (w->parent)
        return rma_dup_error(w);
    if (rank < 0)
        return rma_sync_error(w, "no passive-target epoch is open on",
                              "call MPI_Win_lock or MPI_Win_lock_all first");
    return err_make(MPI_ERR_RMA_SYNC,
                    "%s: no passive-target epoch is open for rank %d of %s: call MPI_Win_lock or "
                    "MPI_Win_lock_all first",
                    rma_call(), rank, rma_win_text(w));
}

static int check_rank(const struct rma_win *w, int rank)
{
    if (rank >= 0 && rank < w->size)
        return MPI_SUCCESS;
    return err_make(MPI_ERR_RANK, "%s: rank %d is not in the window (0 to %d)", rma_call(), rank,
                    w->size - 1);
}

/* Does the epoch admit a flush of rank? *t_out: its element or NULL. */
static int flush_check(struct rma_win *w, int rank, struct rma_target **t_out)
{
    int err = check_rank(w, rank);
    if (err)
        return err;
    const struct rma_near *n = rma_near_of(w, rank);
    *t_out = rma_target_find(w, rank);
    rma_synced(rma_root(w));
    if (rma_in(w, SET_LOCK_ALL) || (*t_out && rma_in(w, SET_PER_TARGET)))
        return MPI_SUCCESS;
    if (!rma_in(w, SET_PER_TARGET) || !(n ? n->lock : rma_evicted(&w->passive.evicted, rank)))
        return no_epoch(w, rank);
    return MPI_SUCCESS;
}

static int ack_came(void *arg)
{
    return !((struct rma_resp *)arg)->pending;
}

struct plain {
    struct rma_win *w;
    int rank;
    const struct rma_hdr *h;
    unsigned replies;
    int err;
};

static int plain_sent(void *arg)
{
    struct plain *p = arg;
    if (p->err != AM_AGAIN) /* conditions may be evaluated again after they were true */
        return 1;
    p->err = rma_send_plain(p->w, p->rank, p->h, p->replies);
    return p->err != AM_AGAIN;
}

int rma_plain_send(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies)
{
    struct plain p = {w, rank, h, replies, AM_AGAIN};
    rma_await(w, WHY_FLUSH, plain_sent, &p, "room for a message", rma_world(w, rank));
    return p.err;
}

int rma_plain_wait(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies)
{
    int err = rma_plain_send(w, rank, h, replies);
    if (err == -ENOTCONN)
        return rma_failed_error(w, rank);
    return err ? err_from_errno(err, rma_call()) : MPI_SUCCESS;
}

int rma_request_alone(struct rma_win *w, int rank, unsigned flag)
{
    struct rma_resp r;
    struct rma_hdr h = {.type = RMA_PKT_DONE, .flags = (uint16_t)flag};
    rma_resp_open(w, &r, rank);
    r.alone = 1;
    h.token = r.token;
    r.pending = 1;
    int err = rma_plain_wait(w, rank, &h, 1);
    if (!err) {
        rma_win_active(w);
        rma_await(w, WHY_FLUSH, ack_came, &r, "operations on a window", rma_world(w, rank));
    }
    rma_resp_close(&r);
    return err ? err : r.err;
}

/* While a near target has an element, flushes of it take the long path. Delete one that has nothing
 * under way; it has no record of a lock. NULL: deleted. */
static struct rma_target *drop_idle(struct rma_win *w, struct rma_target *t)
{
    if (!rma_target_idle(t) || t->err || t->cut || t->flags & TARGET_FAILED || t->closing ||
        !rma_in(w, SET_LOCK_ALL))
        return t;
    rma_target_del(w, t);
    return NULL;
}

static int has_died(const struct rma_win *w, int rank)
{
    return boot_failed_count() && boot_failed(rma_world(w, rank));
}

int rma_flush(struct rma_win *w, int rank)
{
    struct rma_target *t;
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int err = flush_check(w, rank, &t);
    if (err)
        return err;
    struct rma_near *n = rma_near_of(w, rank);
    if (n && n->bundles) {
        rma_bundle_drain(w, n);
        t = rma_target_find(w, rank); /* others ran meanwhile */
    }
    /* Messages of an evicted element may be under way: DONE follows them. What the network did
     * needs none. */
    if (t && rma_unsure(w) && rma_in(w, SET_ALL_LOCKED) && !(t->flags & TARGET_FAILED))
        t->flags |= TARGET_DIRTY;
    if (t && n)
        t = drop_idle(w, t);
    int dead = !t && has_died(w, rank);
    if (t)
        err = rma_complete_target(w, t, RMA_F_DONE);
    /* the record of what was done there was deleted with its element */
    else if (rma_evicted_err(&w->passive.evicted, rank))
        err = rma_cut_error(w, rank, rma_evicted_err(&w->passive.evicted, rank));
    else if (!dead && rank != w->rank && rma_unsure(w) && rma_in(w, SET_ALL_LOCKED))
        /* near ranks, too: some accumulates go to them by message */
        err = rma_request_alone(w, rank, RMA_F_DONE);
    else if (dead && !n)
        err = rma_failed_error(w, rank); /* the record of what was done there was deleted with its
                                        * element */
    /* MEM_SYNC: pairs with the fence after lock, start and fence of the process that is notified
     * next, and with the one in its flush. It is last: what the target did for this process by
     * message precedes what is read next. */
    fence_full();
    err = evicted_too(w, rank, err);
    /* of its bundles, for which any call may have waited */
    return err || !n || !(n->err || rma_root(w)->delegate.misses) ? err : rma_near_take_err(w, n);
}

int rma_flush_local(struct rma_win *w, int rank)
{
    struct rma_target *t;
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int err = flush_check(w, rank, &t);
    if (err)
        return err;
    struct rma_near *n = rma_near_of(w, rank);
    rma_root(w)->delegate.local = 1;
    if (n && n->bundles && rma_root(w)->delegate.bundle_gets) {
        rma_bundle_drain(w, n);
        t = rma_target_find(w, rank);
    }
    /* MEM_SYNC for near operations, with the pairs of the fence in rma_flush(): here they are also
     * complete at the target, but for puts in a bundle, which no other process sees yet. */
    fence_full();
    if (t)
        rma_local_wait(w, t);
    int lost = t && t->lost ? take_err(t) : MPI_SUCCESS;
    if (w->lost)
        lost = rma_graver(lost, rma_target_err_take(w, rank, 1));
    if (t ? t->flags & TARGET_FAILED : !n && has_died(w, rank))
        lost = rma_graver(rma_failed_error(w, rank), lost);
    else if (!t && rma_evicted_err(&w->passive.evicted, rank)) /* as in rma_flush() */
        lost = rma_cut_error(w, rank, rma_evicted_err(&w->passive.evicted, rank));
    if (lost)
        return lost; /* what a get was to bring has not come */
    return n && (n->err || rma_root(w)->delegate.misses) ? rma_near_take_err(w, n)
                                                         : MPI_SUCCESS; /* as in rma_flush() */
}

/* err of a call in an epoch that goes on. Where it stands before a failure of the window, that one
 * is for the next call. */
static int before_failure(struct rma_win *w, int err, int failure)
{
    if (failure && !rma_is_failure(err))
        rma_win_add_err(w, failure);
    return err;
}

/* rma_complete_all() in an epoch that goes on. */
static int complete_now(struct rma_win *w)
{
    if (!w->table.ntargets && !w->acks && !w->err)
        return MPI_SUCCESS;
    int failure = 0, err = complete_all(w, RMA_F_DONE, &failure);
    return before_failure(w, err, failure);
}

/* Bundles, and their errors, are of the window: a duplicate's flush takes those of all. err:
 * another one, or 0. Where it is no failure, what bundles have left is for the next call. */
static int near_errors(struct rma_win *w, int err)
{
    struct rma_win *p = rma_root(w);
    int failure = err;
    if (err && !rma_is_failure(err))
        return err;
    for (unsigned i = 0; (p->delegate.errs || p->delegate.misses) && i < p->nears; i++) {
        int e = rma_near_take_err(w, &p->near.near[i]);
        failure = rma_is_failure(e) ? e : failure;
        err = rma_graver(err, e);
    }
    return before_failure(w, err, failure);
}

int rma_flush_all(struct rma_win *w)
{
    if (!rma_in(w, SET_PASSIVE))
        return w->passive.nulls ? MPI_SUCCESS : no_epoch(w, -1);
    rma_synced(rma_root(w));
    if (rma_root(w)->delegate.bundles)
        rma_bundle_drain(rma_root(w), NULL);
    int err = complete_now(w);
    /* before the fence, because what handlers do precedes what is read next */
    look_now_and_then(w);
    fence_full(); /* as in rma_flush() */
    return w->parent || w->delegate.misses ? near_errors(w, err) : err;
}

int rma_flush_epoch(struct rma_win *w)
{
    if (w->delegate.bundles)
        rma_bundle_drain(w, NULL);
    int err = complete_now(w);
    fence_full(); /* as in rma_flush() */
    return err;
}

/* A local flush returns what bundles have left, errors of gets and other operations with a result,
 * for which it waits, and that a target has failed or cannot be reached. What puts have left by
 * message, and a bundle's failure behind another error, are for a call that waits for targets
 * (MPI-4.1 12.5.4). */
int rma_flush_local_all(struct rma_win *w)
{
    if (!rma_in(w, SET_PASSIVE))
        return w->passive.nulls ? MPI_SUCCESS : no_epoch(w, -1);
    rma_synced(rma_root(w));
    rma_root(w)->delegate.local = 1;
    if (rma_root(w)->delegate.bundle_gets)
        rma_bundle_drain(rma_root(w), NULL);
    int err = w->dead || w->cut ? a_failure(w) : MPI_SUCCESS;
    if (w->table.nops)
        err = local_wait_all(w, err);
    else
        look_now_and_then(w);
    fence_full(); /* as in rma_flush_local() */
    if (w->lost)
        err = lost_results(w, err);
    return w->parent || w->delegate.errs || w->delegate.misses ? near_errors(w, err) : err;
}

int rma_dup_end(struct rma_win *dup)
{
    int err = MPI_SUCCESS;
    if (dup->table.ntargets || dup->acks || dup->err)
        err = rma_complete_all(dup, RMA_F_DONE);
    if (dup->table.ntargets)
        rma_targets_drop(dup);
    if (dup->dead) /* the failed process does not answer */
        rma_acks_add(dup, -(int)dup->acks);
    return err;
}

/* Another thread that frees a duplicate waits until this is over (rma_dup_free). */
int rma_dups_end(struct rma_win *w)
{
    int err = MPI_SUCCESS;
    struct rma_win *dup;
    if (!w->channels)
        return err;
    w->channels->ending++;
    for (unsigned i = 0; (dup = rma_dup_next(w, &i)) != NULL;) {
        int e = rma_dup_end(dup);
        rma_win_goto(dup, WIN_UNSET);
        err = err ? err : e;
    }
    w->channels->ending--;
    progress_signal();
    return err;
}

int rma_sync(struct rma_win *w)
{
    rma_settle(w); /* else it has no meaning and no effect outside an epoch */
    /* Programs spin on this call until others act, perhaps through handlers of this process or on
     * its core. */
    progress_test();
    /* MEM_SYNC: pairs with the same call, or the flush, of each process that shares this memory.
     * Stores before it precede those after it in that process's view. What is read after it is no
     * older than the value by which that process notified this one. */
    fence_full();
    return MPI_SUCCESS;
}
