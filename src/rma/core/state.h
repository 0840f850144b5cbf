/* state.h - the states of a window: queries and transitions (part of core.h). Only state.c writes
 * and names states; it also draws them. Start there. */
#ifndef RMA_STATE_H
#define RMA_STATE_H

#include "rma/core/types.h"

/* operations were called since the fence that opened this epoch */
int rma_fence_pending(const struct rma_win *w);

enum win_question {
    SET_FENCE_MAY,
    /* MPI_Win_fence is legal       */ SET_START_MAY, /* MPI_Win_start             */
    SET_LOCK_MAY,
    /* MPI_Win_lock                 */ SET_LOCK_ALL_MAY, /* MPI_Win_lock_all          */
    SET_PSCW,
    /* an access epoch of PSCW      */ SET_LOCK_ALL, /* LOCK_ALL, either protocol */
    SET_PASSIVE,
    /* lock or lock_all             */ SET_FREE_MAY, /* MPI_Win_free              */
    SET_BARRIER_OUT,
    /* FENCE_ISSUED                 */ SET_POSTS_OUT, /* PSCW_ISSUED               */
    SET_SWITCHING,
    /* LOCK_ALL_ISSUED              */ SET_LAZY_ALL, /* LOCK_ALL_CALLED           */
    SET_ALL_LOCKED,
    /* LOCK_ALL_GRANTED             */ SET_PER_TARGET,
    SET_ACTIVE, /* fence or PSCW, granted */
    SET_UNSET,
    SET_FENCE,
    SET_ON_ALL,
    /* operations on every target   */ SET_ALL_PENDING, /* LOCK_ALL, not granted     */
    WIN_QUESTIONS
};

/* The states in which the answer is yes, as bits. */
static inline unsigned rma_yes(enum win_question q)
{
    enum {
        FENCE = 1 << WIN_FENCE_ISSUED | 1 << WIN_FENCE_GRANTED,
        PENDING = 1 << WIN_LOCK_ALL_CALLED | 1 << WIN_LOCK_ALL_ISSUED,
        ALL = PENDING | 1 << WIN_LOCK_ALL_GRANTED
    };
    switch (q) {
    case SET_FENCE_MAY: return 1 << WIN_UNSET | FENCE;
    case SET_START_MAY:
    case SET_LOCK_ALL_MAY:
    case SET_FREE_MAY:
    case SET_UNSET: return 1 << WIN_UNSET;
    case SET_LOCK_MAY: return 1 << WIN_UNSET | 1 << WIN_PER_TARGET;
    case SET_PSCW: return 1 << WIN_PSCW_ISSUED | 1 << WIN_PSCW_GRANTED;
    case SET_LOCK_ALL: return ALL;
    case SET_PASSIVE: return ALL | 1 << WIN_PER_TARGET;
    case SET_BARRIER_OUT: return 1 << WIN_FENCE_ISSUED;
    case SET_POSTS_OUT: return 1 << WIN_PSCW_ISSUED;
    case SET_SWITCHING: return 1 << WIN_LOCK_ALL_ISSUED;
    case SET_LAZY_ALL: return 1 << WIN_LOCK_ALL_CALLED;
    case SET_ALL_LOCKED: return 1 << WIN_LOCK_ALL_GRANTED;
    case SET_PER_TARGET: return 1 << WIN_PER_TARGET;
    case SET_ACTIVE: return 1 << WIN_FENCE_GRANTED | 1 << WIN_PSCW_GRANTED;
    case SET_FENCE: return FENCE;
    case SET_ON_ALL: return 1 << WIN_FENCE_GRANTED | ALL;
    case SET_ALL_PENDING: return PENDING;
    case WIN_QUESTIONS: break;
    }
    return 0;
}

/* A call that opens an epoch is also legal after a fence, if no operation was called since. */
static inline int rma_in(const struct rma_win *w, enum win_question q)
{
    if (rma_yes(q) >> w->state & 1)
        return 1;
    int opens = q == SET_START_MAY || q == SET_LOCK_MAY || q == SET_LOCK_ALL_MAY ||
                q == SET_FREE_MAY;
    return opens && (rma_yes(SET_FENCE) >> w->state & 1) && !rma_fence_pending(w);
}

/* --- transitions ------------------------------------------------------------------------------ */
void rma_win_goto(struct rma_win *w, enum win_state s);
void rma_target_goto(struct rma_target *t, enum target_state s);
void rma_target_born(struct rma_target *t, enum target_state s);
void rma_target_gone(const struct rma_target *t); /* it is about to be freed */
void rma_expo_goto(struct rma_win *w, enum expo_state s);
void rma_near_units_set(struct rma_near *n, int on); /* whether near.h may reach its memory */
/* What near.h reads of n has changed in an epoch: units, note. Each duplicate has a copy
 * (window/dup.c). */
void rma_copies_follow(struct rma_win *w, const struct rma_near *n) __attribute__((cold));
void rma_near_follow(struct rma_near *copy, const struct rma_near *n);
/* recompute what near.h compares, after a change of state, of ntargets, or of bundles */
void rma_near_admit(struct rma_win *w);
static inline int rma_is_failure(int err)
{
    return err_class(err) == MPIX_ERR_PROC_FAILED;
}
/* Which of two is returned, or 0: the first one, but a failure gives way. A target that has failed
 * reports that in each later call; for w->err see rma_win_add_err(). */
static inline int rma_graver(int err, int e)
{
    return e && (!err || rma_is_failure(err)) ? e : err;
}
/* An error of what has no element any more, for the next synchronization: w->err. A failure and
 * another error both stay, the failure in w->failure: nothing else may know what it has lost. */
void rma_win_add_err(struct rma_win *w, int err);
/* op has failed, and no request tells the program. The next synchronization returns it. For a local
 * flush an operation without a result was over when it had left; one with a result is over when
 * that is here, so a local flush returns its error, too. */
static inline void rma_op_failed(const struct rma_op *op)
{
    struct rma_target *t = op->t;
    if (!t->err)
        t->err = op->err;
    if (op->flags & OP_ANSWERS)
        t->lost = t->w->lost = 1;
}
/* The same of one target. Its record of the error stays here, since it has no element any more, so
 * that a flush of it returns the error; `lost`: as rma_target.lost. Without memory for it, a call
 * for all targets alone returns it. */
void rma_target_err_stays(struct rma_win *w, int rank, int err, int lost);
/* Takes it; lost: only if a result did not come. rank < 0: that of any target. */
int rma_target_err_take(struct rma_win *w, int rank, int lost);
/* Of n only, for a flush of it by this thread, of a window or a duplicate. */
int rma_near_take_err(struct rma_win *of, struct rma_near *n);
/* --- missed.c: operations in bundles that were dropped ---- */
/* As thread_self(), without a call: for marks alone, since its values are others. */
static inline void *rma_thread(void)
{
    return __builtin_expect(sched != NULL, 0) ? sched->self() : __builtin_thread_pointer();
}
/* `thread` (NULL: any) called one on n, by the window or duplicate `of`. */
void rma_missed_add(struct rma_win *w, const struct rma_win *of, const struct rma_near *n,
                    void *thread, int err);
/* What this thread has missed there, and has not been told. */
int rma_missed_take(struct rma_win *of, const struct rma_near *n);
/* What any thread has, of the window and its duplicates, whose epoch ends, on n or (NULL)
 * everywhere: none is told later. */
int rma_missed_end(struct rma_win *w, const struct rma_near *n);
int rma_missed_drop(const struct rma_win *of); /* the same of a duplicate that ends */
int rma_win_err_taken(struct rma_win *w);
/* rma_take_err() of both, and of those of all near targets, which are in w->err. An epoch that ends
 * ends with the graver one. */
static inline int rma_win_take_err(struct rma_win *w)
{
    return __builtin_expect(w->err != 0, 0) ? rma_win_err_taken(w) : MPI_SUCCESS;
}
/* all_here: all members are mapped, and none has failed. From now on flush_all is more than a
 * fence, perhaps. */
static inline void rma_not_all_here(struct rma_win *w)
{
    atomic_store_explicit(&w->near.all_here, 0, memory_order_relaxed);
}
void rma_acks_add(struct rma_win *w, int n); /* answers that the window as a whole waits for */
void rma_near_opened(struct rma_win *w, struct rma_near *n); /* recompute n->open */
/* A near lock moves UNSET to PER_TARGET. It moves back when no other lock is open and no element is
 * left. The caller holds the lock word, and releases it. */
void rma_lock_first(struct rma_win *w, struct rma_near *n, enum rma_near_lock held);
void rma_unlock_last(struct rma_win *w, struct rma_near *n);
/* A synchronization that did not take the inline path of flush. They have a count of their own:
 * near.flushes wraps to a network poll. */
static inline void rma_synced(struct rma_win *w)
{
    w->delegate.syncs++;
    w->delegate.local = 0;
}

/* --- what a call may do now with operations on one target ------------------------------------- */
enum verdict {
    ADMIT_NO,         /* no epoch admits it: MPI_ERR_RMA_SYNC                         */
    ADMIT_ISSUE,      /* may be sent (or done, when near) now                         */
    ADMIT_LOCK_FIRST, /* may be sent with the LOCK flag                               */
    ADMIT_QUEUE,      /* queue: a barrier, a post or a lock is still under way        */
    ADMIT_WAIT        /* another thread switches the protocol: wait, then ask again  */
};
/* t may be NULL (no element). */
enum verdict rma_admit(const struct rma_win *w, int rank, const struct rma_near *n,
                       const struct rma_target *t);
/* The same by the state of t's lock alone. */
static inline enum verdict rma_lock_verdict(const struct rma_target *t)
{
    switch (t->state) {
    case TARGET_LOCK_CALLED:
        return ADMIT_LOCK_FIRST;
    case TARGET_LOCK_ISSUED:
        return ADMIT_QUEUE;
    default:
        return ADMIT_ISSUE;
    }
}
/* May packets of t leave: ADMIT_ISSUE, ADMIT_LOCK_FIRST or ADMIT_QUEUE. */
static inline enum verdict rma_may_issue(const struct rma_target *t)
{
    switch (t->w->state) {
    case WIN_FENCE_GRANTED:
    case WIN_PSCW_GRANTED:
    case WIN_LOCK_ALL_GRANTED:
        /* A NOCHECK lock that is being acquired for real (eviction) holds its operations back. */
        return t->state == TARGET_LOCK_ISSUED ? ADMIT_QUEUE : ADMIT_ISSUE;
    case WIN_LOCK_ALL_CALLED:
    case WIN_LOCK_ALL_ISSUED:
    case WIN_PER_TARGET:
        if (t->flags & TARGET_REFUSED)
            return ADMIT_LOCK_FIRST;
        return rma_lock_verdict(t);
    default:
        return ADMIT_QUEUE;
    }
}
int rma_in_start(const struct rma_win *w, int rank); /* in the group of the PSCW access epoch */
int rma_by_rank(const void *a, const void *b);       /* order of ranks, for qsort and bsearch */
const char *rma_state_name(const struct rma_win *w);
/* For texts: "call MPI_Win_... first", the call that ends the open epoch. */
const char *rma_end_first(const struct rma_win *w);
int rma_not_admitted(const struct rma_win *w, int rank); /* ADMIT_NO as an error */
const char *rma_target_state_name(const struct rma_target *t);
uint64_t rma_ops_total(const struct rma_win *w);
/* Something sent by an evicted element may be under way. Answers are counted until a member fails
 * (engine/failure.c, rma_stop_counting). */
static inline int rma_unsure(const struct rma_win *w)
{
    return w->acks || w->dead;
}

#endif
