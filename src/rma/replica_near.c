/* replica_near.c - where all members of a window with copies are on a node and map all of it: the
 * origin stores to the copies itself. No other process need be in MPI. All processes do so or none.
 *
 *   accumulate   its flush stores what it made. The stripes of the owner order those that do so,
 *                as an owner that sends COPY would (replica_forward.c)
 *   put          stores to the owner and to the copies, without the slow path, until a member fails
 *   flush        a fence, where nothing is noted of accumulates */
#include "rma/rma_types.h"

#include "coll/coll.h"
#include "watch/watch.h"

enum { AT_ONCE = 8 }; /* copies of which one stripe is held */

static int maps_all(const struct rma_win *w)
{
    return w->all_near && w->all_mapped;
}

/* As rma_win_fast(). rma_win_slow() ends it. */
static void mirror_on(struct rma_win *w)
{
    if (!watch_wants(WATCH_API) && !w->hidden)
        *rma_mirror_at(w->near.obj.handle) = w;
}

int rma_mirror_agree(struct rma_win *w)
{
    struct rma_replicas *x = w->replicas;
    int64_t here = x->k && maps_all(w) && maps_all(x->copies);
    int err = coll_allreduce_i64(&here, 1, COLL_MIN, w->comm);
    x->near = !err && here;
    if (x->near)
        mirror_on(w);
    return err;
}

/* --- puts ------------------------------------------------------------------------------------- */

static inline struct rma_win *mirrored(int handle)
{
    if (proc->threaded) /* another one may write the table, or be in a call */
        return NULL;
    struct rma_win *w = *rma_mirror_at(handle);
    return w && w->near.obj.handle == handle ? w : NULL;
}

static inline void store(struct rma_near *n, uint64_t off, const void *origin, uint64_t bytes)
{
    char *to = n->base + off;
    if (bytes != 8 || !rma_near_copy8(to, origin))
        rma_near_put(origin, to, bytes);
    rma_near_count(n, PVAR_RMA_PUT, bytes);
}

/* It leaves no note: without threads rma_mirror() does not run meanwhile. What is noted is read
 * later, with what this put has stored; so is what was taken by a call that waits while a
 * continuation puts. */
int rma_mirror_put(MPI_Win win, int rank, MPI_Aint disp, uint64_t bytes, const void *origin)
{
    struct rma_win *w = mirrored(win);
    struct rma_near *n;
    uint64_t off;
    if (!w || !bytes ||
        (!rma_near_target(&w->near, rank, &n) && !rma_near_target_spread(&w->near, rank, &n)) ||
        !rma_near_at(n, disp, bytes, &off))
        return 0;
    const struct rma_replicas *x = w->replicas;
    const struct rma_place *p = rma_places_of(x, rank);
    store(n, off, origin, bytes);
    for (int j = 0; j < x->k; j++)
        store(rma_near_of(x->copies, p[j].rank), p[j].at + off, origin, bytes);
    return 1;
}

/* What else has begun at copies was a store, too. */
int rma_mirror_flush(MPI_Win win, int rank)
{
    struct rma_win *w = mirrored(win);
    const struct rma_replicas *x = w ? w->replicas : NULL;
    if (!x || x->changes.n || rma_forward_asked(x, FORWARD_ALL) || x->err || x->copies->err ||
        !rma_near_flush(&w->near, rank))
        return 0;
    fence_full(); /* MEM_SYNC: as in rma_flush(), with the same pairs */
    return 1;
}

/* --- accumulates ------------------------------------------------------------------------------ */

void rma_mirror(struct rma_win *w, int rank, const struct rma_elems *e, size_t n)
{
    const struct rma_replicas *x = w->replicas;
    const struct rma_place *p = rma_places_of(x, rank);
    const struct rma_near *own = rma_near_of(w, rank);
    struct acc_target from = acc_mapped(own->acc, own->base);
    for (int j = 0; j < x->k;) {
        char *at[AT_ONCE], *to[AT_ONCE];
        int m = 0;
        for (; j < x->k && m < AT_ONCE; j++)
            if (!boot_failed(rankmap_world(x->map, p[j].rank)))
                at[m++] = rma_near_of(x->copies, p[j].rank)->base + p[j].at;
        for (size_t i = 0; m && i < n; i++) {
            for (int k = 0; k < m; k++)
                to[k] = at[k] + e[i].off;
            acc_mirror(&from, e[i].off, dt_find((MPI_Datatype)e[i].dt), e[i].count, to, m);
        }
    }
}
