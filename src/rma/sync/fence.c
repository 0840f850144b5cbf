/* fence.c - FENCE with its nonblocking opening ([design] Algorithm for FENCE). Start with
 * rma_fence().
 *
 * With NOPRECEDE, it arrives at a barrier and returns (FENCE_ISSUED). The hook, or the first
 * operation that must leave, finds the barrier complete. If the program loads and stores near
 * peers' memory (w->loads), the barrier is waited for, because a load cannot be queued. Without
 * NOPRECEDE, everything is sent and acknowledged; then a barrier is waited for. The barrier is
 * counters in the node segment if all members are near, else coll_ibarrier_members(). At most two
 * are outstanding (rma.md 5.12). */
#include "rma/sync/sync_types.h"

#include <string.h>

#include "base/atomic.h"
#include "coll/coll.h"

enum { BARRIERS_MAX = 2 };

static int oldest_done(struct rma_win *w)
{
    if (w->all_near) {
        int r = shmbar_poll(w->node.bar, &w->node.n, w->node.bars - w->fence.barriers + 1);
        if (r < 0) {
            w->dead = 1;
            rma_not_all_here(w);
            rma_win_add_err(w, rma_failed_error(w, -1));
        }
        return r != 0;
    }
    if (!w->fence.barrier[0]->done)
        return 0;
    int err = request_finish(w->fence.barrier[0], MPI_STATUS_IGNORE);
    w->fence.missed |= err != MPI_SUCCESS;
    rma_win_add_err(w, err);
    w->fence.barrier[0] = w->fence.barrier[1];
    w->fence.barrier[1] = NULL;
    return 1;
}

int rma_fence_poll(struct rma_win *w)
{
    int n = 0;
    while (w->fence.barriers && oldest_done(w)) {
        w->fence.barriers--;
        n++;
    }
    if (n && !w->fence.barriers && rma_in(w, SET_BARRIER_OUT)) {
        /* MEM_SYNC after PROC_SYNC: pairs with the fence before each member's arrival. */
        fence_full();
        rma_win_granted(w, WIN_FENCE_GRANTED);
    }
    return n;
}

struct left {
    struct rma_win *w;
    unsigned left;
};

static int few_left(void *arg)
{
    struct left *x = arg;
    struct rma_win *w = x->w;
    if (w->fence.barriers > x->left)
        rma_fence_poll(w);
    if (w->fence.barriers > x->left && w->comm->misaligned) {
        w->dead = 1;
        rma_not_all_here(w);
        if (!w->err || rma_is_failure(w->err)) /* it is asked at each poll */
            rma_win_add_err(w, comm_verdict(w->comm));
        /* Near barriers stay open. Requests end by it, too; until then they use the communicator,
         * which goes with the window. */
        return w->all_near;
    }
    return w->fence.barriers <= x->left;
}

void rma_barriers_wait(struct rma_win *w, unsigned left)
{
    struct left x = {w, left};
    rma_await(w, WHY_FENCE, few_left, &x, "the other processes at a fence", -1);
}

static int barrier_start(struct rma_win *w)
{
    rma_barriers_wait(w, BARRIERS_MAX - 1);
    if (w->all_near) {
        shmbar_arrive(w->node.bar, &w->node.n, ++w->node.bars);
    } else {
        int err = coll_ibarrier_members(w->comm, &w->fence.barrier[w->fence.barriers]);
        w->fence.missed |= err != MPI_SUCCESS;
        if (err)
            return err;
    }
    w->fence.barriers++;
    rma_win_active(w);
    return MPI_SUCCESS;
}

/* Closing half: all operations called before are sent and acknowledged. What other threads call
 * meanwhile belongs to the next epoch and keeps its element (rma.md 5.8). */
static int close_epoch(struct rma_win *w)
{
    int err = MPI_SUCCESS;
    if (rma_in(w, SET_BARRIER_OUT))
        rma_barriers_wait(w, 0);
    if (rma_bundles_due(w))
        err = rma_bundles_end(w, NULL);
    if (w->table.ntargets || w->acks)
        err = rma_graver(rma_complete_all(w, RMA_F_DONE), err);
    rma_targets_drop_idle(w);
    return err;
}

int rma_fence_check(const struct rma_win *w, int assert)
{
    const int known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    if (w->parent)
        return rma_dup_error(w);
    if (assert & ~known)
        return rma_assert_error(assert & ~known, "a fence");
    if (!rma_in(w, SET_FENCE_MAY) || w->expo != EXPO_NONE)
        return rma_sync_error(w, "another epoch is open on",
                              w->expo != EXPO_NONE && rma_in(w, SET_FENCE_MAY)
                                  ? "call MPI_Win_wait first"
                                  : rma_end_first(w));
    return MPI_SUCCESS;
}

int rma_fence(struct rma_win *w, int assert)
{
    int err = rma_fence_check(w, assert);
    if (err)
        return err;
    rma_settle(w);
    /* MEM_SYNC before PROC_SYNC: each member that sees this arrival also sees the local and near
     * stores so far, and what was seen done by owners. Pairs with the fence in rma_fence_poll()
     * after all have arrived. */
    fence_full();
    rma_synced(w);
    int closes = !(assert & MPI_MODE_NOPRECEDE) || w->table.ntargets || w->acks ||
                 rma_bundles_due(w);
    int waits = closes || w->loads;
    err = closes ? close_epoch(w) : MPI_SUCCESS;
    int e = barrier_start(w);
    err = rma_graver(err, e);
    if (!e) {
        rma_win_goto(w, WIN_FENCE_ISSUED);
        if (waits)
            rma_barriers_wait(w, 0);
    }
    if (waits)
        err = rma_graver(err, rma_win_take_err(w));
    if (assert & MPI_MODE_NOSUCCEED && !rma_in(w, SET_UNSET))
        rma_win_goto(w, WIN_UNSET);
    w->fence.ops = rma_ops_total(w);
    return err;
}

int rma_fence_missed(const struct rma_win *w)
{
    return w->fence.missed;
}

int rma_loads_begin(struct rma_win *w)
{
    int before = w->loads;
    w->loads = 1; /* before anything waits: another thread may begin an epoch */
    int err = rma_lockall_near(w);
    if (err)
        w->loads = (uint8_t)before;
    if (err || before)
        return err;
    if (rma_in(w, SET_BARRIER_OUT))
        rma_barriers_wait(w, 0);
    rma_near_posts_wait(w);
    return MPI_SUCCESS;
}
