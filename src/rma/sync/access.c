/* pscw.c - POST, START, COMPLETE, WAIT, TEST ([design] Algorithm for POST-START-COMPLETE-WAIT).
 *
 * Posts and completes are matched per (poster, starter): counters in the node segment between near peers, POST packets
 * counted in w->posts and a mark per far starter, set by its COMPLETE, between far ones.  START does not wait: until all
 * posts are seen operations queue (PSCW_ISSUED). */
#include "rma/core/types.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

/* --- groups ------------------------------------------------------------------------------ */

static int by_rank(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

enum { SCRATCH_KEPT = 4096 }; /* bytes that a window keeps between two epochs, for each side */

/* Most epochs are of the group of the one before: their lists are not allocated again. */
static void *scratch(struct rma_scratch *s, size_t bytes)
{
    if (s->room < bytes) {
        free(s->mem);
        s->mem = malloc(bytes);
        s->room = s->mem ? bytes : 0;
    }
    return s->mem;
}

static void scratch_over(struct rma_scratch *s)
{
    if (s->room > SCRATCH_KEPT) {
        free(s->mem);
        *s = (struct rma_scratch){NULL, 0};
    }
}

static unsigned group_size(const struct group *g)
{
    return g->map ? (unsigned)g->map->size : 0;
}

/* Ranks in the window of the members of g, ascending. */
static int group_ranks(const struct rma_win *w, const struct group *g, int *ranks)
{
    unsigned n = group_size(g);
    int sorted = 1;
    for (unsigned i = 0; i < n; i++) {
        ranks[i] = rankmap_find(w->map, rankmap_world(g->map, (int)i));
        if (ranks[i] < 0)
            return err_make(MPI_ERR_GROUP, "%s: member %d of the group is not in the window", rma_call(), (int)i);
        sorted &= !i || ranks[i - 1] < ranks[i];
    }
    if (!sorted)
        qsort(ranks, n, sizeof *ranks, by_rank);
    return MPI_SUCCESS;
}

static int no_memory(unsigned n)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory for a group of %u", rma_call(), n);
}

void rma_pscw_free(struct rma_win *w)
{
    free(w->start_mem.mem);
    free(w->expo_mem.mem);
}

static int assert_error(int assert)
{
    return err_make(MPI_ERR_ASSERT, "%s: assertion %#x is not one for this call", rma_call(), (unsigned)assert);
}

static int sync_error(const struct rma_win *w, const char *why)
{
    return err_make(MPI_ERR_RMA_SYNC, "%s: %s (window 0x%x is in state %s)", rma_call(), why,
                    (unsigned)w->near.obj.handle, rma_state_name(w));
}

/* --- origin ------------------------------------------------------------------------------- */

int rma_in_start(const struct rma_win *w, int rank)
{
    return w->start && bsearch(&rank, w->start, w->nstart, sizeof rank, by_rank) != NULL;
}

static unsigned near_index(const struct rma_win *w, const struct rma_near *n)
{
    return (unsigned)(n - w->near.near);
}

/* rank died, or is in MPI_Win_free after a death (leave.c): what it has not sent does not come any more.  Asked before one looks
 * for that. */
static int has_gone(const struct rma_win *w, int rank)
{
    return boot_dead_count() && (boot_dead(rma_world(w, rank)) || (rma_has_left(w, rank) && am_ordered(rma_world(w, rank))));
}

static void gone_error(struct rma_win *w, int rank)
{
    if (w->err)
        return;
    w->err = boot_dead(rma_world(w, rank))
                 ? rma_dead_error(w, rank)
                 : err_make(MPIX_ERR_PROC_FAILED, "%s: process %d died, and rank %d of the window (process %d) is in MPI_Win_free", rma_call(),
                            boot_dead_last(), rank, rma_world(w, rank));
}

/* The number of posts of a far rank that are not used up, and what the last of them says was detached there: w->posts. */
_Static_assert(sizeof(uintptr_t) == sizeof(uint64_t), "a pointer holds both");
enum { POSTS_BITS = 32 };

int rma_post_came(struct rma_win *w, int rank, uint32_t detached)
{
    uint32_t posts = (uint32_t)(uintptr_t)map_get(&w->posts, (uint64_t)rank + 1);
    return map_put(&w->posts, (uint64_t)rank + 1, (void *)((uintptr_t)detached << POSTS_BITS | (posts + (posts != UINT32_MAX))));
}

/* A post of rank is there: use it up. 1, 0, or < 0: it will not come. */
static int take_post(struct rma_win *w, int rank)
{
    struct rma_near *n = rma_near_of(w, rank);
    int gone = has_gone(w, rank), got = n ? shmpair_start(w->node.pairs, &w->node.n, near_index(w, n)) : 0;
    if (n)
        return got ? got : -gone;
    uintptr_t posts = (uintptr_t)map_get(&w->posts, (uint64_t)rank + 1);
    if (!posts)
        return -gone;
    rma_native_posted(w, rank, (uint32_t)(posts >> POSTS_BITS));
    if ((uint32_t)posts == 1)
        map_del(&w->posts, (uint64_t)rank + 1);
    else
        map_put(&w->posts, (uint64_t)rank + 1, (void *)(posts - 1));
    return 1;
}

int rma_start_poll(struct rma_win *w)
{
    int n = 0;
    if (!rma_ask(w, ASK_POSTS_OUT))
        return 0;
    for (unsigned i = 0; i < w->nstart; i++) {
        int got = w->waiting[i] ? take_post(w, w->start[i]) : 0;
        if (got < 0)
            gone_error(w, w->start[i]);
        if (got) {
            w->waiting[i] = 0;
            w->nwaiting--;
            n++;
        }
    }
    if (!w->nwaiting) {
        /* MEM_SYNC: pairs with the fence before each post. */
        fence_full();
        rma_win_granted(w, WIN_PSCW_GRANTED);
        n++;
    }
    return n;
}

int rma_start(struct rma_win *w, struct group *g, int assert)
{
    if (assert & ~MPI_MODE_NOCHECK)
        return assert_error(assert);
    if (!rma_ask(w, ASK_START_MAY))
        return sync_error(w, "another access epoch is open");
    unsigned n = group_size(g);
    int *ranks = scratch(&w->start_mem, (size_t)n * (sizeof *w->start + sizeof *w->waiting) + 1);
    if (!ranks)
        return no_memory(n);
    int err = group_ranks(w, g, ranks);
    if (err)
        return err;
    w->start = ranks;
    w->waiting = (uint8_t *)(ranks + n);
    w->nstart = n;
    memset(w->waiting, !(assert & MPI_MODE_NOCHECK), w->nstart);
    for (unsigned i = 0; i < n; i++) {
        struct rma_near *near = rma_near_of(w, w->start[i]);
        if (near)
            near->started = 1;
        else if (assert & MPI_MODE_NOCHECK)
            rma_native_posted(w, w->start[i], RMA_POST_UNSEEN);
    }
    w->nwaiting = assert & MPI_MODE_NOCHECK ? 0 : w->nstart;
    rma_win_goto(w, WIN_PSCW_ISSUED);
    rma_start_poll(w);
    if (w->nwaiting)
        rma_win_active(w);
    return MPI_SUCCESS;
}

static int posts_seen(void *arg)
{
    rma_start_poll(arg);
    return !rma_ask(arg, ASK_POSTS_OUT);
}

/* Tell the posters that got no operation a COMPLETE could ride on, or whose operations could not leave: perhaps this can now, and
 * they wait for it. */
static int complete_far(struct rma_win *w)
{
    struct rma_hdr h = {.type = RMA_PKT_DONE, .flags = RMA_F_COMPLETE};
    int err = MPI_SUCCESS;
    for (unsigned i = 0; i < w->nstart && !w->all_near; i++) {
        int rank = w->start[i];
        const struct rma_target *t = w->ntargets ? rma_target_find(w, rank) : NULL;
        if (rma_near_of(w, rank) || (t && !t->cut))
            continue;
        int e = rma_plain_wait(w, rank, &h, 0);
        err = err ? err : e;
    }
    return err;
}

int rma_complete(struct rma_win *w)
{
    if (!rma_ask(w, ASK_IN_PSCW))
        return sync_error(w, "no access epoch was started");
    progress_wait(posts_seen, w, "the posts of a window", -1);
    int err = complete_far(w), e;
    if (w->ntargets || w->acks) {
        e = rma_complete_all(w, RMA_F_COMPLETE | RMA_F_DONE);
        err = err ? err : e;
    }
    e = rma_take_err(&w->err);
    err = err ? err : e;
    rma_targets_drop(w);
    /* MEM_SYNC before PROC_SYNC is in shmpair_complete(). */
    for (unsigned i = 0; i < w->nstart; i++) {
        struct rma_near *n = rma_near_of(w, w->start[i]);
        if (!n)
            continue;
        n->started = 0;
        shmpair_complete(w->node.pairs, &w->node.n, near_index(w, n));
    }
    progress_signal(); /* the poster may be another thread of this process */
    rma_win_goto(w, WIN_UNSET);
    w->start = NULL;
    w->waiting = NULL;
    w->nstart = 0;
    scratch_over(&w->start_mem);
    return err;
}

/* --- target --------------------------------------------------------------------------------- */

static int tell_posts(struct rma_win *w, const int *ranks, unsigned n, int nocheck)
{
    struct rma_hdr h = {.type = RMA_PKT_POST, .disp = w->detached};
    int err = MPI_SUCCESS;
    for (unsigned i = 0; i < n; i++) {
        const struct rma_near *near = rma_near_of(w, ranks[i]);
        if (near) {
            unsigned index = near_index(w, near);
            w->expo_near[w->nexpo_near++] = (int)index;
            if (!nocheck)
                shmpair_post(w->node.pairs, &w->node.n, index);
            continue;
        }
        if (!nocheck) {
            int e = rma_plain_wait(w, ranks[i], &h, 0);
            err = err ? err : e;
        }
    }
    progress_signal(); /* the starter may be another thread of this process */
    return err;
}

int rma_post(struct rma_win *w, struct group *g, int assert)
{
    if (assert & ~(MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT))
        return assert_error(assert);
    if (w->expo != EXPO_NONE)
        return sync_error(w, "an exposure epoch is open");
    if (w->near.near[w->node.n.me].lock != RMA_UNLOCKED || rma_ask(w, ASK_IN_LOCK_ALL))
        return err_make(MPI_ERR_RMA_CONFLICT, "%s: rank %d exposes its window 0x%x, which it has locked", rma_call(),
                        w->rank, (unsigned)w->near.obj.handle);
    unsigned n = group_size(g);
    struct rma_starter *far = scratch(&w->expo_mem, n * (sizeof *far + 2 * sizeof(int)) + 1);
    if (!far)
        return no_memory(n);
    int *ranks = (int *)(far + n) + n;
    int err = group_ranks(w, g, ranks);
    if (err)
        return err;
    w->expo_far = far;
    w->expo_near = (int *)(far + n);
    for (unsigned i = 0; i < n; i++) /* before anybody can complete */
        if (!rma_near_of(w, ranks[i]))
            w->expo_far[w->nexpo_far++] = (struct rma_starter){.rank = ranks[i]};
    w->completes_due = w->nexpo_far;
    rma_expo_goto(w, EXPO_POSTED);
    /* MEM_SYNC before PROC_SYNC: pairs with the fence when a starter has seen all posts. */
    fence_full();
    return tell_posts(w, ranks, n, assert & MPI_MODE_NOCHECK);
}

static int by_starter(const void *key, const void *starter)
{
    int x = *(const int *)key, y = ((const struct rma_starter *)starter)->rank;
    return (x > y) - (x < y);
}

/* A starter that died before this came, or one that nobody waits for: nothing. */
void rma_on_complete(struct rma_win *w, int rank)
{
    struct rma_starter *s =
        w->completes_due ? bsearch(&rank, w->expo_far, w->nexpo_far, sizeof *s, by_starter) : NULL;
    if (!s || s->over)
        return;
    s->over = 1;
    w->completes_due--;
    progress_signal();
}

/* The others are waited for: they may still write. */
static void gone_starters(struct rma_win *w)
{
    for (unsigned i = 0; i < w->nexpo_far; i++) {
        if (w->expo_far[i].over || !has_gone(w, w->expo_far[i].rank))
            continue;
        gone_error(w, w->expo_far[i].rank);
        w->expo_far[i].over = 1;
        w->completes_due--;
    }
}

/* 1: every starter has completed. */
static int completes_seen(void *arg)
{
    struct rma_win *w = arg;
    unsigned open = 0;
    for (unsigned i = 0; i < w->nexpo_near; i++) {
        int rank = w->expo_near[i] < 0 ? -1 : w->near.near[w->expo_near[i]].rank, gone = rank >= 0 && has_gone(w, rank);
        int got = rank < 0 ? 1 : shmpair_wait(w->node.pairs, &w->node.n, (unsigned)w->expo_near[i]);
        if (got < 0 || (!got && gone)) {
            gone_error(w, rank);
            got = -1;
        }
        if (got)
            w->expo_near[i] = -1;
        else
            open++;
    }
    if (w->completes_due && boot_dead_count())
        gone_starters(w);
    return !open && !w->completes_due;
}

static int exposure_over(struct rma_win *w)
{
    w->expo_near = NULL;
    w->expo_far = NULL;
    w->nexpo_near = w->nexpo_far = w->completes_due = 0;
    scratch_over(&w->expo_mem);
    rma_expo_goto(w, EXPO_NONE);
    /* MEM_SYNC after PROC_SYNC: pairs with the fence before each complete. */
    fence_full();
    return rma_take_err(&w->err);
}

int rma_wait(struct rma_win *w)
{
    if (w->expo == EXPO_NONE)
        return sync_error(w, "no exposure epoch was posted");
    progress_wait(completes_seen, w, "the completes of a window", -1);
    return exposure_over(w);
}

int rma_test(struct rma_win *w, int *flag)
{
    if (w->expo == EXPO_NONE)
        return sync_error(w, "no exposure epoch was posted");
    progress_glance(); /* first: what handlers do comes before what is read when the flag is set */
    *flag = w->expo == EXPO_NONE || completes_seen(w); /* none: another thread has looked and ended it meanwhile */
    if (!*flag) {
        progress_test();
        *flag = w->expo == EXPO_NONE || completes_seen(w);
    }
    return *flag && w->expo != EXPO_NONE ? exposure_over(w) : MPI_SUCCESS;
}
