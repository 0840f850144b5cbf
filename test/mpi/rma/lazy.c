/* lazy.c - what may wait and what may not (rma.md, section 5, number 1): opening an epoch and
 * queueing a few operations return although the target has not done its part yet; the target does
 * it only when it has got a message that is sent after those calls. MPI lets a library wait there;
 * this one must not:
 *   fence(NOPRECEDE), put       before the target is in its fence
 *   start, put                  before the target has posted
 *   lock, put                   while another process holds the lock (far targets only)
 *   lock_all, put               while another process holds a lock (far targets only)
 * Not in shared windows: the program may load there, and a load cannot be queued (rma-near.md).
 * Pools of one element may wait; run it with the default ones. */
#include "rw.h"

static void tell(int to, MPI_Comm c) { MPI_Send(NULL, 0, MPI_INT, to, 5, c); }
static void hear(int from, MPI_Comm c)
{
    MPI_Recv(NULL, 0, MPI_INT, from, 5, c, MPI_STATUS_IGNORE);
}

static void values(struct rw *w, int64_t want, const char *what)
{
    if (w->rank != 1)
        return;
    rw_own(w);
    MUST(((int64_t *)(void *)w->mem)[0] == want, "%s, %s: %lld at the target, not %lld", what,
         rw_flavour_names[w->flavour], (long long)((int64_t *)(void *)w->mem)[0], (long long)want);
    rw_disown(w);
}

static void fence(struct rw *w)
{
    int64_t v = 11, got = -1;

    if (w->rank == 1)
        hear(0, w->comm);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
    if (w->rank == 0) {
        MPI_Put(&v, 1, MPI_INT64_T, 1, rw_disp(w, 1, 0), 1, MPI_INT64_T, w->win);
        MPI_Get(&got, 1, MPI_INT64_T, 1, rw_disp(w, 1, 8), 1, MPI_INT64_T, w->win);
        MPI_Accumulate(&v, 1, MPI_INT64_T, 1, rw_disp(w, 1, 16), 1, MPI_INT64_T, MPI_SUM, w->win);
        tell(1, w->comm);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    if (w->rank == 0)
        CHECK_EQ(got, 0);
    values(w, 11, "fence");
    MPI_Barrier(w->comm);
}

static void pscw(struct rw *w)
{
    int peer = 1 - w->rank;
    int64_t v = 22;
    MPI_Group g;

    if (w->rank < 2) {
        MPI_Group_incl(w->all, 1, &peer, &g);
        if (w->rank == 0) {
            MPI_Win_start(g, 0, w->win);
            MPI_Put(&v, 1, MPI_INT64_T, 1, rw_disp(w, 1, 0), 1, MPI_INT64_T, w->win);
            MPI_Accumulate(&v, 1, MPI_INT64_T, 1, rw_disp(w, 1, 16), 1, MPI_INT64_T, MPI_SUM,
                           w->win);
            tell(1, w->comm);
            MPI_Win_complete(w->win);
        } else {
            hear(0, w->comm);
            MPI_Win_post(g, 0, w->win);
            MPI_Win_wait(w->win);
        }
        MPI_Group_free(&g);
    }
    MPI_Barrier(w->comm);
    values(w, 22, "pscw");
    MPI_Barrier(w->comm);
}

/* Rank 1 holds its own lock until rank 0 has issued its epoch. */
static void lock(struct rw *w, int all)
{
    int64_t v = 33 + all;

    if (w->rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win);
        tell(0, w->comm);
        hear(0, w->comm);
        MPI_Win_unlock(1, w->win);
    } else if (w->rank == 0) {
        hear(1, w->comm);
        if (all)
            MPI_Win_lock_all(0, w->win);
        else
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win);
        MPI_Put(&v, 1, MPI_INT64_T, 1, rw_disp(w, 1, 0), 1, MPI_INT64_T, w->win);
        tell(1, w->comm);
        if (all)
            MPI_Win_unlock_all(w->win);
        else
            MPI_Win_unlock(1, w->win);
    }
    MPI_Barrier(w->comm);
    values(w, 33 + all, all ? "lock_all" : "lock");
    MPI_Barrier(w->comm);
}

int main(int argc, char **argv)
{
    struct rw w;
    MPI_Comm node;
    int f, far, n;

    mt_init(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_free(&node);
    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    far = n == 1;
    for (f = 0; f < RW_FLAVOURS && mt_size > 1; f++) {
        if (f == RW_SHARED || !rw_make(&w, f, 64, MPI_COMM_WORLD))
            continue;
        fence(&w);
        pscw(&w);
        if (far) {
            lock(&w, 0);
            lock(&w, 1);
        }
        rw_free(&w);
    }
    return mt_finish();
}
