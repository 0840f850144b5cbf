/* access.c - START, COMPLETE: the origin's half of PSCW ([design] Algorithm for
 * POST-START-COMPLETE-WAIT). Start with rma_start() and rma_complete().
 *
 * Posts and completes are matched per (poster, starter). Near peers use counters in the node
 * segment. Far posts are packets counted in w->access.posts; a far starter's COMPLETE sets its
 * mark. START does not wait: operations queue until all posts are seen (PSCW_ISSUED). Exception: if
 * the program loads and stores near peers' memory (w->loads), START waits for the posts of near
 * members, because a load cannot be queued. */
#include "rma/sync/sync_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

/* Value of w->access.posts: the number of unused posts of a far rank, and the count of detached
 * regions in the last of them. */
_Static_assert(sizeof(uintptr_t) == sizeof(uint64_t), "a pointer holds both");
enum { POSTS_BITS = 32 };

int rma_post_came(struct rma_win *w, int rank, uint32_t detached)
{
    uint32_t posts = (uint32_t)(uintptr_t)map_get(&w->access.posts, (uint64_t)rank + 1);
    return map_put(&w->access.posts, (uint64_t)rank + 1,
                   (void *)((uintptr_t)detached << POSTS_BITS | (posts + (posts != UINT32_MAX))));
}

/* Use up a post of rank, if one is there: 1, 0, or < 0: it will not come. */
static int take_post(struct rma_win *w, int rank)
{
    struct rma_near *n = rma_near_of(w, rank);
    int gone = rma_has_gone(w, rank),
        got = n ? shmpair_start(w->node.pairs, &w->node.n, rma_near_index(w, n)) : 0;
    if (n)
        return got ? got : -rma_gives_up(w, gone);
    uintptr_t posts = (uintptr_t)map_get(&w->access.posts, (uint64_t)rank + 1);
    if (!posts)
        return -rma_gives_up(w, gone);
    rma_native_posted(w, rank, (uint32_t)(posts >> POSTS_BITS));
    if ((uint32_t)posts == 1)
        map_del(&w->access.posts, (uint64_t)rank + 1);
    else
        map_put(&w->access.posts, (uint64_t)rank + 1, (void *)(posts - 1));
    return 1;
}

int rma_start_poll(struct rma_win *w)
{
    int n = 0;
    if (!rma_in(w, SET_POSTS_OUT))
        return 0;
    for (unsigned i = 0; i < w->access.nstart; i++) {
        int got = w->access.waiting[i] ? take_post(w, w->access.start[i]) : 0;
        if (got < 0)
            rma_gone_error(w, w->access.start[i]);
        if (got) {
            w->access.waiting[i] = 0;
            w->access.last = w->access.start[i];
            w->access.nwaiting--;
            n++;
        }
    }
    if (!w->access.nwaiting) {
        /* MEM_SYNC: pairs with the fence before each post. */
        fence_full();
        rma_win_granted(w, WIN_PSCW_GRANTED);
        n++;
    }
    return n;
}

static int near_posts_seen(void *arg)
{
    struct rma_win *w = arg;
    rma_start_poll(w);
    for (unsigned i = 0; i < w->access.nstart && w->access.nwaiting; i++)
        if (w->access.waiting[i] && rma_near_of(w, w->access.start[i]))
            return 0;
    return 1;
}

/* The process that is waited for, where it is one. */
static int poster(const struct rma_win *w)
{
    return w->access.nstart == 1 ? rma_world(w, w->access.start[0]) : -1;
}

/* A post that a failed process owes ends the wait. MPI_Win_complete reports it, as the epoch is
 * open. */
void rma_near_posts_wait(struct rma_win *w)
{
    if (!rma_in(w, SET_POSTS_OUT))
        return;
    rma_await(w, WHY_POST, near_posts_seen, w, "the posts of a window", poster(w));
    /* MEM_SYNC after PROC_SYNC, for loads behind START: pairs with the fence before each post. */
    fence_full();
}

int rma_start(struct rma_win *w, struct group *g, int assert)
{
    if (w->parent)
        return rma_dup_error(w);
    if (assert & ~MPI_MODE_NOCHECK)
        return rma_assert_error(assert & ~MPI_MODE_NOCHECK, "MPI_Win_start");
    if (!rma_in(w, SET_START_MAY))
        return rma_sync_error(w, "another access epoch is open on", rma_end_first(w));
    unsigned n = rma_group_size(g);
    int *ranks = rma_scratch_take(
        &w->access.mem, (size_t)n * (sizeof *w->access.start + sizeof *w->access.waiting) + 1);
    if (!ranks)
        return rma_no_memory(n);
    int err = rma_group_ranks(w, g, ranks);
    if (err)
        return err;
    w->access.start = ranks;
    w->access.waiting = (uint8_t *)(ranks + n);
    w->access.nstart = n;
    memset(w->access.waiting, !(assert & MPI_MODE_NOCHECK), w->access.nstart);
    for (unsigned i = 0; i < n; i++) {
        struct rma_near *near = rma_near_of(w, w->access.start[i]);
        if (near)
            near->started = 1;
        else if (assert & MPI_MODE_NOCHECK)
            rma_native_posted(w, w->access.start[i], RMA_POST_UNSEEN);
    }
    w->access.nwaiting = assert & MPI_MODE_NOCHECK ? 0 : w->access.nstart;
    w->access.looks = 0;
    w->access.last = -1;
    rma_win_goto(w, WIN_PSCW_ISSUED);
    rma_start_poll(w);
    if (w->access.nwaiting)
        rma_win_active(w);
    if (w->loads)
        rma_near_posts_wait(w);
    return MPI_SUCCESS;
}

static int posts_seen(void *arg)
{
    rma_start_poll(arg);
    return !rma_in(arg, SET_POSTS_OUT);
}

void rma_posts_wait(struct rma_win *w)
{
    rma_await(w, WHY_POST, posts_seen, w, "the posts of a window", poster(w));
}

/* Send COMPLETE to the posters that got no operation to piggyback it on, or whose operations could
 * not leave. It may be possible now, and they wait for it. */
static int complete_far(struct rma_win *w)
{
    struct rma_hdr h = {.type = RMA_PKT_DONE, .flags = RMA_F_COMPLETE};
    int err = MPI_SUCCESS;
    for (unsigned i = 0; i < w->access.nstart && !w->all_near; i++) {
        int rank = w->access.start[i];
        const struct rma_target *t = rma_target_find(w, rank);
        if (rma_near_of(w, rank) || (t && !t->cut))
            continue;
        int e = rma_plain_wait(w, rank, &h, 0);
        err = err ? err : e;
    }
    return err;
}

struct rma_win *rma_start_awaits(int (*cond)(void *), void *arg)
{
    return cond == near_posts_seen || cond == posts_seen ? arg : NULL;
}

void rma_access_over(struct rma_win *w)
{
    w->access.start = NULL;
    w->access.waiting = NULL;
    w->access.nstart = w->access.nwaiting = 0;
    rma_scratch_over(&w->access.mem);
}

int rma_complete(struct rma_win *w)
{
    if (!rma_in(w, SET_PSCW))
        return rma_sync_error(w, "no access epoch is open on", "call MPI_Win_start first");
    rma_await(w, WHY_POST, posts_seen, w, "the posts of a window", poster(w));
    int err = complete_far(w);
    if (rma_bundles_due(w)) {
        int e = rma_bundles_end(w, NULL);
        err = rma_graver(err, e);
    }
    if (w->table.ntargets || w->acks)
        err = rma_graver(err, rma_complete_all(w, RMA_F_COMPLETE | RMA_F_DONE));
    err = rma_graver(err, rma_win_take_err(w));
    rma_targets_drop(w);
    /* MEM_SYNC before PROC_SYNC is in shmpair_complete(). */
    for (unsigned i = 0; i < w->access.nstart; i++) {
        struct rma_near *n = rma_near_of(w, w->access.start[i]);
        if (!n)
            continue;
        n->started = 0;
        shmpair_complete(w->node.pairs, &w->node.n, rma_near_index(w, n));
    }
    progress_signal(); /* the poster may be another thread of this process */
    rma_win_goto(w, WIN_UNSET);
    rma_access_over(w);
    return err;
}
