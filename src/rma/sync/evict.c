/* evict.c - RESTORE_TARGET_ELEM_RESOURCES and RESTORE_OP_ELEM_RESOURCES: pools are exhausted, win
 * elements back. Start with rma_evict_target().
 *
 * Only here an RMA operation waits (rma.md 5.1): for the barrier of the opening fence, for the
 * posts of the start, for the grant of a lock already called, or for answers of the target's
 * progress engine. The calls that opened the epoch may wait for the first two anyway. It never
 * waits for a further call of a user. While a window is short of elements it holds nothing back for
 * piggybacking (w->starved, until the epoch ends).
 *
 *   epoch                what is waited for                     then
 *   FENCE/PSCW_ISSUED    until granted, or an element is idle
 *   FENCE/PSCW_GRANTED,  a victim's operations have left and    DONE leaves, the window counts its
 *   LOCK_ALL_GRANTED     are answered (FLUSH_LOCAL)             answer (w->acks); after a failure
 *                                                               of a member, the answer is awaited
 *   LOCK_ALL_CALLED      the switch to the window protocol
 *                        (lock_all.c)
 *   PER_TARGET           FLUSH of a victim: GRANTED, then       DONE answered; a NOCHECK lock is
 *                        ISSUED, then CALLED in the order of    acquired for real first (rma.md
 *                        the calls                              5.5, 5.6)
 *
 * Threads. The lock that is waited for may be another thread's, and its holder may wait for a lock
 * of this thread: a circle that the user's locks do not have. So with MPI_THREAD_MULTIPLE no thread
 * waits for elements that depend on an ungranted lock or on a pinning thread. If there are no
 * others, one element beyond the pool is given out. Each thread has at most one ungranted lock, so
 * the number of threads bounds the excess. */
#include "rma/sync/sync_types.h"

#include "base/event.h"

static int target_free_now(const struct rma_win *w)
{
    return w->table.target_quota.free || rma_self()->target_quota.free;
}

static int op_free_now(const struct rma_win *w)
{
    return w->table.op_quota.free || rma_self()->op_quota.free;
}

static void short_of(struct rma_win *w, enum pvar_id id)
{
    w->starved = 1;
    rma_count(w, id, 1);
    event_raise(EVENT_POOL_EMPTY, w->near.obj.handle, -1, id == PVAR_RMA_TARGETS_DRY);
    rma_count(w, PVAR_RMA_CLEANUPS, 1);
}

/* --- victims ------------------------------------------------------------------------------ */

/* An idle element can be discarded unless it is the only record of a lock. */
static int forgettable(const struct rma_win *w)
{
    return !rma_in(w, SET_PER_TARGET) && !rma_in(w, SET_LAZY_ALL);
}

static int better(const struct rma_target *a, const struct rma_target *b)
{
    static const uint8_t order[TARGET_STATES] = {
        [TARGET_LOCK_GRANTED] = 0, [TARGET_LOCK_ISSUED] = 1, [TARGET_LOCK_CALLED] = 2};
    if (!b || order[a->state] != order[b->state])
        return !b || order[a->state] < order[b->state];
    return a->nops < b->nops;
}

static struct rma_target *victim_of(struct rma_win *w)
{
    /* CALLED ones in the order of the calls: the first of this window on the process's list. */
    struct rma_target *best = NULL, *called = NULL;
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
        if (!t->pins && !t->closing && better(t, best))
            best = t;
    if (!best || best->state != TARGET_LOCK_CALLED)
        return best;
    const struct list *head = &rma_self()->called;
    for (const struct list *l = head->next; l != head && !called; l = l->next) {
        struct rma_target *t = LIST_OBJ(l, struct rma_target, called);
        if (t->w == w && !t->pins && t->state == TARGET_LOCK_CALLED)
            called = t;
    }
    return called ? called : best;
}

static int something_free(void *arg)
{
    struct rma_win *w = arg;
    return target_free_now(w) || victim_of(w) != NULL;
}

/* --- ways to evict ---------------------------------------------------------------------------- */

/* FENCE/PSCW_ISSUED: wait until it is granted, or an element becomes idle. */
static int epoch_granted(void *arg)
{
    struct rma_win *w = arg;
    rma_poll(w, RMA_POLL_FENCE);
    rma_poll(w, RMA_POLL_START);
    if (!rma_in(w, SET_BARRIER_OUT) && !rma_in(w, SET_POSTS_OUT))
        return 1;
    return target_free_now(w) || rma_is_revoked(w);
}

struct done_wait {
    struct rma_target *t;
    int err;
};

static int done_sent(void *arg)
{
    struct done_wait *x = arg;
    struct rma_target *t = x->t;
    struct rma_hdr h = {.type = RMA_PKT_DONE, .flags = RMA_F_DONE};
    if (t->w->dead || x->err != AM_AGAIN)
        return 1;
    x->err = rma_send_plain(t->w, t->rank, &h, 1);
    /* counted here: the wait may poll once more at its end, and the answer may come then */
    if (!x->err) {
        rma_acks_add(t->w, 1);
        t->flags &= (uint8_t)~TARGET_DIRTY;
    }
    return x->err != AM_AGAIN;
}

/* No other thread uses t, or a thread waits on it (then it is no victim). */
static int others_over(void *arg)
{
    const struct rma_target *t = arg;
    return t->pins > 1 || (!t->sync && !t->tokens_out) || (t->flags & TARGET_FAILED);
}

/* Native operations have no DONE that could be answered later. */
static int settled(void *arg)
{
    struct rma_target *t = arg;
    return t->flags & TARGET_FAILED || t->nops || rma_native_settle(t) == 1;
}

/* The record of the lock must exist before the element is deleted; without memory the element
 * stays. */
static int remember(struct rma_win *w, const struct rma_target *t, int cut)
{
    return rma_evicted_put(&w->passive.evicted, t->rank, cut)
               ? err_make(MPI_ERR_NO_MEM, "%s: no memory to give up the element of rank %d",
                          rma_call(), t->rank)
               : MPI_SUCCESS;
}

/* What a failed target never confirmed must reach the next flush, which finds no element. */
static int forget(struct rma_win *w, struct rma_target *t)
{
    int err = t->cut && rma_in(w, SET_LOCK_ALL) ? remember(w, t, t->cut) : MPI_SUCCESS;
    if (err)
        return err;
    if (t->flags & TARGET_FAILED)
        rma_win_add_err(w, rma_failed_error(w, t->rank));
    rma_count(w, PVAR_RMA_EVICTIONS, 1);
    event_raise(EVENT_EVICTED, w->near.obj.handle, t->world, 0);
    rma_target_del(w, t);
    return MPI_SUCCESS;
}

/* Active epochs and window protocol: local completion, DONE sent; its answer is not awaited. */
static int evict_active(struct rma_win *w, struct rma_target *t)
{
    t->pins++;
    rma_local_wait(w, t);
    rma_await(w, WHY_POOL, settled, t, "operations on a window", t->world);
    /* Another thread may have queued more or may be flushing meanwhile. */
    if (t->pins == 1 && !t->nops && (t->flags & TARGET_DIRTY) && !w->dead) {
        struct done_wait x = {t, AM_AGAIN};
        rma_await(w, WHY_POOL, done_sent, &x, "room for a message", t->world);
        if (x.err != 0 && x.err != AM_AGAIN && !(t->flags & TARGET_FAILED))
            rma_target_fail(t, x.err);
    }
    if (t->pins == 1 && !t->nops && (t->flags & TARGET_DIRTY) && w->dead)
        (void)rma_complete_victim(t);
    rma_await(w, WHY_POOL, others_over, t, "another thread's flush", t->world);
    t->pins--;
    if (rma_target_idle(t) || (t->flags & TARGET_FAILED && !t->pins && !t->nops))
        return forget(w, t);
    return MPI_SUCCESS;
}

struct really {
    struct rma_target *t;
    int sent;
};

/* Another thread may be ending its epoch; that thread then sees no lock to release. */
static int is_ours(const struct rma_target *t, int pins)
{
    return t->pins == pins && !t->closing;
}

static int lock_sent(void *arg)
{
    struct really *x = arg;
    if (x->t->flags & TARGET_FAILED || !is_ours(x->t, 2))
        return 1;
    x->sent = rma_lock_send(x->t);
    return x->sent;
}

/* If a NOCHECK lock outlives its element, it must be acquired for real, so that the UNLOCK finds a
 * lock. */
static int take_really(struct rma_target *t)
{
    struct really x = {t, 0};
    t->pins++;
    if (!lock_sent(&x))
        rma_await(t->w, WHY_POOL, lock_sent, &x, "room for a message", t->world);
    int err = t->flags & TARGET_FAILED ? rma_failed_error(t->w, t->rank)
              : x.sent               ? rma_grant_wait(t)
                                     : MPI_SUCCESS;
    t->pins--;
    return err;
}

static int evict_passive(struct rma_win *w, struct rma_target *t)
{
    int err = MPI_SUCCESS;
    t->pins++;
    if (t->state != TARGET_LOCK_GRANTED)
        err = rma_grant_wait(t);
    if (!err)
        err = rma_complete_victim(t);
    if (!err && (t->flags & TARGET_NOCHECK) && !(t->flags & TARGET_NEAR) && is_ours(t, 1))
        err = take_really(t);
    rma_await(w, WHY_POOL, others_over, t, "another thread's flush", t->world);
    t->pins--;
    t->err = t->err ? t->err : err;
    if ((t->flags & TARGET_NOCHECK) && !(t->flags & (TARGET_NEAR | TARGET_FAILED)) && !t->closing)
        return MPI_SUCCESS; /* another thread changed it meanwhile: only the element records the
                             * lock */
    if (rma_target_idle(t) || (t->flags & TARGET_FAILED && !t->pins && !t->nops)) {
        /* leaving: its lock has been released */
        err = t->flags & TARGET_NEAR || t->closing ? MPI_SUCCESS : remember(w, t, t->cut);
        if (err)
            return err;
        rma_count(w, PVAR_RMA_EVICTIONS, 1);
        event_raise(EVENT_EVICTED, w->near.obj.handle, t->world, 0);
        rma_target_del(w, t);
    }
    return MPI_SUCCESS;
}

/* --- the two calls ---------------------------------------------------------------------------- */

static int discard_idle(struct rma_win *w)
{
    if (!forgettable(w))
        return 0;
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t)) {
        if (rma_target_idle(t) && !forget(w, t))
            return 1;
    }
    return 0;
}

static int threads(void)
{
    return proc->thread_level == MPI_THREAD_MULTIPLE;
}

static int evict_target(struct rma_win *w)
{
    short_of(w, PVAR_RMA_TARGETS_DRY);
    /* by another thread: the elements alone record which targets are locked */
    if (rma_switch_wait(w))
        return MPI_SUCCESS;
    if (rma_in(w, SET_LAZY_ALL))
        return rma_lockall_switch(w);
    if (discard_idle(w))
        return MPI_SUCCESS;
    if (rma_in(w, SET_BARRIER_OUT) || rma_in(w, SET_POSTS_OUT)) {
        rma_await(w, WHY_POOL, epoch_granted, w, "the opening of an epoch", -1);
        return MPI_SUCCESS;
    }
    struct rma_target *t = victim_of(w);
    if (!t && target_free_now(w) && !rma_self()->target_free)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a target element", rma_call());
    if (threads() && (!t || (rma_in(w, SET_PER_TARGET) && t->state != TARGET_LOCK_GRANTED))) {
        w->table.target_quota.overdraft = 1;
        return MPI_SUCCESS;
    }
    if (!t) {
        rma_await(w, WHY_POOL, something_free, w, "another thread's operations", -1);
        return MPI_SUCCESS;
    }
    return rma_in(w, SET_PER_TARGET) ? evict_passive(w, t) : evict_active(w, t);
}

/* Every operation of the window waits for a lock that is not granted. */
static int all_hang(const struct rma_win *w)
{
    if (!threads() || !rma_in(w, SET_PASSIVE))
        return 0;
    for (const struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
        if (t->nops && t->state == TARGET_LOCK_GRANTED)
            return 0;
    return 1;
}

static int op_free_soon(void *arg)
{
    struct rma_win *w = arg;
    rma_poll(w, RMA_POLL_FENCE);
    rma_poll(w, RMA_POLL_START);
    if (op_free_now(w))
        return 1;
    rma_issue_win(w);
    return op_free_now(w) || all_hang(w);
}

/* The shares have room but memory is exhausted: wait for another operation's element. */
struct fewer {
    struct rma_win *w;
    unsigned nops;
};

static int fewer_ops(void *arg)
{
    const struct fewer *x = arg;
    return x->w->table.nops < x->nops || rma_self()->op_free || all_hang(x->w);
}

static int evict_for_op(struct rma_win *w)
{
    short_of(w, PVAR_RMA_OPS_DRY);
    struct fewer x = {w, w->table.nops};
    int memory = !op_free_now(w) || rma_self()->op_free;
    if (!memory && (!w->table.nops || all_hang(w)))
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for an operation", rma_call());
    rma_drain_all(w);
    rma_advance_win(w);
    if (!memory) {
        rma_await(w, WHY_POOL, fewer_ops, &x, "operations on a window", -1);
        return MPI_SUCCESS;
    }
    rma_await(w, WHY_POOL, op_free_soon, w, "operations on a window", -1);
    w->table.op_quota.overdraft = !op_free_now(w);
    return MPI_SUCCESS;
}

/* Waits meanwhile are for the pool (rma_await()). */
static int for_pool(struct rma_win *w, int (*fn)(struct rma_win *))
{
    int counts = w->evicting < UINT8_MAX;
    w->evicting = (uint8_t)(w->evicting + counts);
    int err = fn(w);
    w->evicting = (uint8_t)(w->evicting - counts);
    return err;
}

int rma_evict_target(struct rma_win *w)
{
    return for_pool(w, evict_target);
}

int rma_evict_for_op(struct rma_win *w)
{
    return for_pool(w, evict_for_op);
}
