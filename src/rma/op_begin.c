/* op_begin.c - RMA_OP: one path for put, get, accumulate, get_accumulate, fetch_and_op,
 * compare_and_swap. Start with rma_op_begin().
 *
 *     admit() -> near and open: done here and now
 *             -> element, queue -> issue.c
 *             -> pools dry: evict.c, then from the top again */
#include "rma/rma_types.h"

#include "watch/watch.h"

static struct rma_target *target_make(struct rma_win *w, int rank, enum verdict v)
{
    struct rma_target *t = rma_target_add(w, rank);
    if (!t)
        return NULL;
    int lazy = v == ADMIT_LOCK_FIRST;
    rma_target_born(t, lazy ? TARGET_LOCK_CALLED : TARGET_LOCK_GRANTED);
    if (lazy) { /* LOCK_ALL by the per-target protocol */
        t->lock = SHMLOCK_SHARED;
        t->flags |= TARGET_JOIN;
    }
    return t;
}

/* A near operation must not pass earlier ones to the same target that are still queued or went by
 * message. */
static int in_order(const struct rma_win *w, const struct rma_near *n, const struct rma_target *t)
{
    return !rma_overtakes(w, n) &&
           (!t || (!t->nops && !(t->flags & TARGET_DIRTY) && !t->tokens_out));
}

/* Result of one attempt at an operation. */
enum run {
    RUN_OVER,  /* done here and now, or refused: *err */
    RUN_AGAIN, /* the thread waited for something: start from the top */
    RUN_QUEUE
};

/* A post may come within the time that a cache line takes, and an element costs more than that. So
 * the first operations of an epoch look for a while. */
static int opens_soon(struct rma_win *w)
{
    enum { LOOKS = 24 };
    int opened = rma_fence_poll(w) + rma_start_poll(w);
    while (!opened && rma_in(w, SET_POSTS_OUT) && w->access.looks < LOOKS) {
        w->access.looks++;
        cpu_relax();
        opened = rma_start_poll(w);
    }
    return opened;
}

/* bundle.c and delegate.c count the synchronizations of a window. Those of its duplicates that
 * near.h did are told at the next operation. */
static __attribute__((noinline)) struct rma_win *dup_root(struct rma_win *w,
                                                          const struct rma_near *n)
{
    struct rma_near *copy = &w->near.near[n - w->records];
    uint8_t flushes = (uint8_t)(atomic_load_explicit(&copy->flushes, memory_order_relaxed) +
                                atomic_load_explicit(&w->near.flushes, memory_order_relaxed));
    if (copy->syncs != flushes)
        rma_synced(w->parent);
    copy->syncs = flushes;
    return w->parent;
}

/* Is it admitted (*v), and can it be done at once? *bytes is 0 afterwards if only its notification
 * is left. *t is looked up again where the lock was yielded. */
static enum run run_here(struct rma_win *w, const struct rma_args *a, size_t *bytes,
                         enum rma_called how, struct rma_target **t, enum verdict *v, int *err)
{
    struct rma_near *n = rma_near_of(w, a->rank);
    *v = rma_admit(w, a->rank, n, *t);
    if (*v == ADMIT_NO) {
        *err = rma_not_admitted(w, a->rank);
        return RUN_OVER;
    }
    if (*v == ADMIT_WAIT) {
        rma_switch_wait(w);
        return RUN_AGAIN;
    }
    if (n && n->lazy) {
        *err = rma_lockall_touch(rma_root(w), n);
        return *err ? RUN_OVER : RUN_AGAIN;
    }
    if (*v == ADMIT_QUEUE && n && opens_soon(w))
        return RUN_AGAIN;
    if (n && n->bundles && !(how == RMA_LATER_TOO && rma_may_bundle(n, a, *bytes))) {
        rma_bundle_drain(w, n);
        return RUN_AGAIN;
    }
    if (n && *v == ADMIT_ISSUE && in_order(w, n, *t)) {
        if (__builtin_expect(w->parent != NULL, 0)) {
            struct rma_args of = *a;
            of.channel = w->channel;
            *err = rma_direct_noted(dup_root(w, n), n, &of, bytes, how);
        } else {
            *err = rma_direct_noted(w, n, a, bytes, how);
        }
        if (*err != NOT_HERE)
            return RUN_OVER;
        *t = rma_target_find(w, a->rank); /* others ran meanwhile, and may have flushed */
    }
    return RUN_QUEUE;
}

/* A duplicate's element needs the lock that its window holds there, or gets now. In LOCK_ALL_CALLED
 * the window's element is its record, and stays. */
static enum run run_parent(struct rma_win *p, int rank, int *err)
{
    struct rma_target *t = rma_target_find(p, rank);
    if (rma_near_of(p, rank)) /* run_here() has taken it */
        return RUN_QUEUE;
    if (rma_switch_wait(p))
        return RUN_AGAIN;
    if (t && t->flags & TARGET_FAILED) {
        *err = rma_failed_error(p, rank);
        return RUN_OVER;
    }
    if (rma_evicted_err(&p->passive.evicted, rank)) {
        *err = rma_cut_error(p, rank, rma_evicted_err(&p->passive.evicted, rank));
        return RUN_OVER;
    }
    if (rma_in(p, SET_ALL_LOCKED) || (t && t->state == TARGET_LOCK_GRANTED))
        return RUN_QUEUE;
    if (!t && !(t = target_make(p, rank, ADMIT_LOCK_FIRST)))
        *err = rma_evict_target(p);
    else
        *err = rma_lock_now(p, rank);
    return *err ? RUN_OVER : RUN_AGAIN;
}

/* The element of its target; a missing one is made. */
static enum run run_target(struct rma_win *w, int rank, enum verdict v, struct rma_target **t,
                           int *err)
{
    if (!*t && rma_evicted_err(&w->passive.evicted, rank)) {
        *err = rma_cut_error(w, rank, rma_evicted_err(&w->passive.evicted, rank));
        return RUN_OVER;
    }
    enum run parent = !*t && w->parent ? run_parent(w->parent, rank, err) : RUN_QUEUE;
    if (parent != RUN_QUEUE)
        return parent;
    if (!*t && !(*t = target_make(w, rank, v))) {
        *err = rma_evict_target(w);
        return *err ? RUN_OVER : RUN_AGAIN;
    }
    if ((*t)->flags & TARGET_FAILED) {
        *err = rma_failed_error(w, rank);
        return RUN_OVER;
    }
    return RUN_QUEUE;
}

static void run_queue(struct rma_target *t, struct rma_op *op, const struct rma_args *a,
                      size_t bytes, struct rma_request *req)
{
    struct rma_win *w = t->w;
    int near = rma_near_of(w, a->rank) != NULL;
    if (near && a->notify && !w->notes.sent) {
        w->notes.sent = 1; /* a flush is more than a fence */
        rma_near_admit(w);
    }
    rma_op_enqueue(w, t, op, a, bytes);
    if (near)
        op->flags |= OP_DIRECT;
    op->req = req;
    if (req)
        req->op = op;
    rma_coalesce_open(t, op);
    int coalesced = op->coalesced != NULL; /* op may be freed below */
    rma_queue_kick(w, t, bytes, near);
    /* The target does not keep up, or its answers are not read. Polling brings them, and room for
     * what waits. */
    if ((coalesced && !list_empty(&t->ready)) ||
        (t->queued >= BEHIND && t->queued % (BEHIND / 4) == 0))
        progress_test();
}

/* t: the element of the target as the caller found it; it is looked up again after each wait. A
 * missing *q is made for `req` (NULL: none is asked for) when the operation is not done at once. */
static int op_run(struct rma_win *w, struct rma_target *t, const struct rma_args *a, size_t bytes,
                  struct rma_request **q, MPI_Request *req, int *later)
{
    for (int waited = 0;; t = rma_target_find(w, a->rank)) {
        enum verdict v;
        int err = MPI_SUCCESS;
        enum rma_called how = *q || req || a->notify ? RMA_CALLED : RMA_LATER_TOO;
        enum run r = run_here(w, a, &bytes, how, &t, &v, &err);
        if (r == RUN_QUEUE) {
            err = MPI_SUCCESS; /* NOT_HERE is no error */
            r = run_target(w, a->rank, v, &t, &err);
        }
        if (r == RUN_OVER)
            return err;
        if (r == RUN_AGAIN && rma_is_revoked(w)) /* meanwhile */
            return rma_revoked_error(w);
        if (r == RUN_AGAIN)
            continue;
        if (!waited++ && how == RMA_LATER_TOO && rma_coalesce_dry(t) && rma_coalesce_behind(t, a)) {
            rma_coalesce_wait(t);
            continue;
        }
        if (req && !*q && (err = rma_request_make(w, q, req)) != MPI_SUCCESS)
            return err;
        struct rma_op *op = rma_op_alloc(w);
        if (op) {
            *later = 1;
            run_queue(t, op, a, bytes, *q);
            return MPI_SUCCESS;
        }
        if ((err = rma_evict_for_op(w)) != MPI_SUCCESS)
            return err;
        if (rma_is_revoked(w))
            return rma_revoked_error(w);
    }
}

/* --- the call --------------------------------------------------------------------------------- */

/* What is moved, of the *bytes that the target buffer has. A message may be shorter than its
 * buffer, not longer (MPI-3.1 11.3.1). So all of the origin goes into as much of the target, or all
 * of the target into as much of the result buffer. A fetching accumulate changes as much as it
 * fetches. */
static int check_sizes(const struct rma_args *a, size_t *bytes)
{
    size_t target = *bytes, other;
    int err;
    if (a->otype && !(a->op && a->op->index == DT_NO_OP) &&
        !(a->otype == a->ttype && a->ocount == a->tcount)) {
        if ((err = dt_total(a->otype, (size_t)a->ocount, &other)) != MPI_SUCCESS)
            return err;
        if (other > target || (a->rtype && other != target))
            return err_make(MPI_ERR_TYPE, "%s: the origin has %zu bytes, the target %zu",
                            rma_call(), other, target);
        *bytes = other;
    }
    if (a->rtype) {
        if ((err = dt_total(a->rtype, (size_t)a->rcount, &other)) != MPI_SUCCESS)
            return err;
        if (other < target)
            return err_make(MPI_ERR_TYPE, "%s: the %s has room for %zu bytes, the target has %zu",
                            rma_call(), a->kind == RMA_GET ? "origin" : "result", other, target);
    }
    return MPI_SUCCESS;
}

static int op_check(const struct rma_win *w, const struct rma_args *a, int request, size_t *bytes)
{
    if (a->rank < 0 || a->rank >= w->size)
        return err_make(MPI_ERR_RANK, "%s: target rank %d is not in the window (0 to %d)",
                        rma_call(), a->rank, w->size - 1);
    if (a->disp < 0 && w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return err_make(MPI_ERR_DISP, "%s: target displacement %lld is negative", rma_call(),
                        (long long)a->disp);
    if (request && !rma_in(w, SET_PASSIVE))
        return rma_sync_error(w, "request-based operations need a passive-target epoch on",
                              "call MPI_Win_lock or MPI_Win_lock_all first");
    int err = dt_total(a->ttype, (size_t)a->tcount, bytes);
    if (__builtin_expect(w->promise.given, 0) && !err && *bytes && a->kind >= RMA_ACC)
        err = rma_promise_check(w, a);
    return err ? err : check_sizes(a, bytes);
}

static const uint8_t counter[] = {[RMA_PUT] = PVAR_RMA_PUT,   [RMA_GET] = PVAR_RMA_GET,
                                  [RMA_ACC] = PVAR_RMA_ACC,   [RMA_GACC] = PVAR_RMA_GACC,
                                  [RMA_FOP] = PVAR_RMA_FOP,   [RMA_CAS] = PVAR_RMA_CAS};

/* It was checked, and its target is a rank. */
static inline int op_take(struct rma_win *w, struct rma_target *t, const struct rma_args *a,
                          size_t bytes, struct rma_request **q, MPI_Request *req, int *later)
{
    int err = MPI_SUCCESS;
    struct rma_near *n = rma_near_of(w, a->rank);
    if (bytes || a->notify)
        err = op_run(w, t, a, bytes, q, req, later);
    else if (rma_admit(w, a->rank, n, t) == ADMIT_NO)
        err = rma_not_admitted(w, a->rank);
    if (!err) {
        rma_count(w, counter[a->kind], 1);
        rma_count(w, PVAR_RMA_BYTES, bytes);
        if (a->notify)
            rma_count(w, PVAR_RMA_NOTIFIED, 1);
    }
    return err;
}

int rma_op_with(struct rma_win *w, const struct rma_args *a, struct rma_request *q, int asked,
                int *later)
{
    size_t bytes = 0;
    int err = op_check(w, a, asked, &bytes);
    *later = 0;
    return err ? err : op_take(w, rma_target_find(w, a->rank), a, bytes, &q, NULL, later);
}

int rma_op_begin(struct rma_win *w, const struct rma_args *a, MPI_Request *req)
{
    struct rma_request *q = NULL;
    size_t bytes = 0;
    int later = 0, err = MPI_SUCCESS;
    struct rma_target *t = a->rank >= 0 && a->rank < w->size ? rma_target_find(w, a->rank) : NULL;
    if (!req && !a->notify && t && rma_coalesce_append(t, a, &bytes)) {
        rma_count(w, counter[a->kind], 1);
        rma_count(w, PVAR_RMA_BYTES, bytes);
        return MPI_SUCCESS;
    }
    if (a->rank != MPI_PROC_NULL && (err = op_check(w, a, req != NULL, &bytes)) != MPI_SUCCESS)
        return err;
    /* A checker notes the request. */
    if (req && watch_wants(WATCH_OPS) && (err = rma_request_make(w, &q, req)) != MPI_SUCCESS)
        return err;
    if (a->rank != MPI_PROC_NULL)
        err = op_take(w, t, a, bytes, &q, req, &later);
    if (q && err) {
        q->r.done = 1;
        request_release(&q->r);
        *req = MPI_REQUEST_NULL;
    } else if (q && !later) {
        request_complete(&q->r, MPI_SUCCESS);
    } else if (req && !later) {
        *req = err ? MPI_REQUEST_NULL : REQUEST_COMPLETE;
    }
    return err;
}
