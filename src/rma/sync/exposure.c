/* exposure.c - POST, WAIT, TEST: the target's half of PSCW (access.c has the other). Start with
 * rma_post() and rma_wait(). */
#include "rma/sync/sync_types.h"

#include <stdlib.h>

#include "base/atomic.h"

/* The epoch is open, whatever becomes of a post: that a starter has failed is MPI_Win_wait's error,
 * as is what keeps a post from one that lives. */
static void no_post(struct rma_win *w, int rank, int err)
{
    if (err_class(err) == MPIX_ERR_PROC_FAILED) /* completes_seen() finds it */
        return;
    rma_win_add_err(w, err);
    rma_on_complete(w, rank);
}

static void tell_posts(struct rma_win *w, const int *ranks, unsigned n, int nocheck)
{
    struct rma_hdr h = {.type = RMA_PKT_POST, .detached = w->mem.detached};
    for (unsigned i = 0; i < n; i++) {
        const struct rma_near *near = rma_near_of(w, ranks[i]);
        if (near) {
            unsigned index = rma_near_index(w, near);
            w->exposure.near[w->exposure.nnear++] = (int)index;
            if (!nocheck)
                shmpair_post(w->node.pairs, &w->node.n, index);
            continue;
        }
        int err = nocheck ? MPI_SUCCESS : rma_plain_wait(w, ranks[i], &h, 0);
        if (err)
            no_post(w, ranks[i], err);
    }
    progress_signal(); /* the starter may be another thread of this process */
}

int rma_post(struct rma_win *w, struct group *g, int assert)
{
    const int known = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;

    if (w->parent)
        return rma_dup_error(w);
    if (assert & ~known)
        return rma_assert_error(assert & ~known, "MPI_Win_post");
    if (w->expo != EXPO_NONE)
        return rma_sync_error(w, "an exposure epoch is open on", "call MPI_Win_wait first");
    if (rma_in(w, SET_FENCE) && rma_fence_pending(w))
        return rma_sync_error(w, "a fence epoch with operations is open on", rma_end_first(w));
    if (rma_near_own(w)->lock != RMA_UNLOCKED || rma_in(w, SET_LOCK_ALL))
        return err_make(MPI_ERR_RMA_CONFLICT, "%s: rank %d exposes %s, which it has locked: %s",
                        rma_call(), w->rank, rma_win_text(w), rma_end_first(w));
    rma_settle(w);
    unsigned n = rma_group_size(g);
    struct rma_starter *far = rma_scratch_take(&w->exposure.mem,
                                               n * (sizeof *far + 2 * sizeof(int)) + 1);
    if (!far)
        return rma_no_memory(n);
    int *ranks = (int *)(far + n) + n;
    int err = rma_group_ranks(w, g, ranks);
    if (err)
        return err;
    w->exposure.far = far;
    w->exposure.near = (int *)(far + n);
    for (unsigned i = 0; i < n; i++) /* before any process can complete */
        if (!rma_near_of(w, ranks[i]))
            w->exposure.far[w->exposure.nfar++] = (struct rma_starter){.rank = ranks[i]};
    w->exposure.completes_due = w->exposure.nfar;
    /* a fence epoch without operations: this call ends it, as MPI_Win_start does */
    if (rma_in(w, SET_FENCE))
        rma_win_goto(w, WIN_UNSET);
    w->exposure.last = -1;
    rma_expo_goto(w, EXPO_POSTED);
    /* MEM_SYNC before PROC_SYNC: pairs with the fence when a starter has seen all posts. */
    fence_full();
    tell_posts(w, ranks, n, assert & MPI_MODE_NOCHECK);
    return MPI_SUCCESS;
}

static int by_starter(const void *key, const void *starter)
{
    int x = *(const int *)key, y = ((const struct rma_starter *)starter)->rank;
    return (x > y) - (x < y);
}

/* From a starter that failed before this came, or that is not in the group: ignored. */
void rma_on_complete(struct rma_win *w, int rank)
{
    struct rma_starter *s = NULL;
    if (w->exposure.completes_due)
        s = bsearch(&rank, w->exposure.far, w->exposure.nfar, sizeof *s, by_starter);
    if (!s || s->over)
        return;
    s->over = 1;
    w->exposure.last = rank;
    w->exposure.completes_due--;
    progress_signal();
}

/* The other starters are waited for: they may still write. */
static void gone_starters(struct rma_win *w)
{
    for (unsigned i = 0; i < w->exposure.nfar; i++) {
        if (w->exposure.far[i].over ||
            !rma_gives_up(w, rma_has_gone(w, w->exposure.far[i].rank)))
            continue;
        rma_gone_error(w, w->exposure.far[i].rank);
        w->exposure.far[i].over = 1;
        w->exposure.completes_due--;
    }
}

/* 1: every starter has completed. */
static int completes_seen(void *arg)
{
    struct rma_win *w = arg;
    unsigned open = 0;
    for (unsigned i = 0; i < w->exposure.nnear; i++) {
        int rank = w->exposure.near[i] < 0 ? -1 : w->near.near[w->exposure.near[i]].rank,
            gone = rank >= 0 && rma_has_gone(w, rank);
        int got = rank < 0 ? 1
                           : shmpair_wait(w->node.pairs, &w->node.n, (unsigned)w->exposure.near[i]);
        if (got < 0 || (!got && rank >= 0 && rma_gives_up(w, gone))) {
            rma_gone_error(w, rank);
            got = -1;
        }
        w->exposure.last = got && rank >= 0 ? rank : w->exposure.last;
        if (got)
            w->exposure.near[i] = -1;
        else
            open++;
    }
    if (w->exposure.completes_due && (boot_failed_count() || rma_is_revoked(w)))
        gone_starters(w);
    return !open && !w->exposure.completes_due;
}

void rma_exposure_over(struct rma_win *w)
{
    w->exposure.near = NULL;
    w->exposure.far = NULL;
    w->exposure.nnear = w->exposure.nfar = w->exposure.completes_due = 0;
    rma_scratch_over(&w->exposure.mem);
    rma_expo_goto(w, EXPO_NONE);
}

static int exposure_over(struct rma_win *w)
{
    rma_exposure_over(w);
    /* MEM_SYNC after PROC_SYNC: pairs with the fence before each complete. */
    fence_full();
    return rma_win_take_err(w);
}

struct rma_win *rma_exposure_awaits(int (*cond)(void *), void *arg)
{
    return cond == completes_seen ? arg : NULL;
}

/* The process that is waited for, where it is one. */
static int starter(const struct rma_win *w)
{
    const struct rma_win_exposure *x = &w->exposure;
    if (x->nnear + x->nfar != 1)
        return -1;
    if (x->nfar)
        return rma_world(w, x->far[0].rank);
    return x->near[0] < 0 ? -1 : rma_world(w, w->near.near[x->near[0]].rank);
}

int rma_wait(struct rma_win *w)
{
    if (w->expo == EXPO_NONE)
        return rma_sync_error(w, "no exposure epoch is open on", "call MPI_Win_post first");
    rma_await(w, WHY_COMPLETE, completes_seen, w, "the completes of a window", starter(w));
    return exposure_over(w);
}

int rma_test(struct rma_win *w, int *flag)
{
    if (w->expo == EXPO_NONE)
        return rma_sync_error(w, "no exposure epoch is open on", "call MPI_Win_post first");
    progress_glance(); /* first: what handlers do precedes what is read when the flag is set */
    /* none: another thread has ended the epoch meanwhile */
    *flag = w->expo == EXPO_NONE || completes_seen(w);
    if (!*flag) {
        progress_test();
        *flag = w->expo == EXPO_NONE || completes_seen(w);
    }
    return *flag && w->expo != EXPO_NONE ? exposure_over(w) : MPI_SUCCESS;
}
