/* replica_near.c - what accumulates make, where all members of a window with copies are on a node
 * and map all of it: the origin stores it to the copies itself. No other process need be in MPI.
 *
 * All processes do so or none. The stripes of the owner order those that copy, as an owner that
 * sends COPY would (replica_forward.c). */
#include "rma/rma_types.h"

#include "coll/coll.h"

enum { AT_ONCE = 8 }; /* copies of which one stripe is held */

static int maps_all(const struct rma_win *w)
{
    return w->all_near && w->all_mapped;
}

int rma_mirror_agree(struct rma_win *w)
{
    struct rma_replicas *x = w->replicas;
    int64_t here = x->k && maps_all(w) && maps_all(x->copies);
    int err = coll_allreduce_i64(&here, 1, COLL_MIN, w->comm);
    x->near = !err && here;
    return err;
}

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
