/* living.c - a window of the living members over the memory of an older one. Start with
 * rma_win_shrink() and doc/design/survive.md.
 *
 *   old window:  memory, and mappings of the others'   <--- from ---  new window: all else
 *
 * Locks, queues, stripes, pairs and counters are new, so nothing of a failed member is in them. The
 * old window stays as it is. The oldest one's record stays closed, if it is freed first, until the
 * last window over its memory goes. */
#include "rma/window/window_types.h"

#include "coll/coll.h"
#include "coll/survive.h"

void rma_win_take_from(struct rma_win *w, struct rma_win *from)
{
    from->users++;
    w->from = from;
    w->create_flavor = from->create_flavor;
    w->loads = from->loads;
}

char *rma_from_mapping(const struct rma_win *w, const struct rma_near *n)
{
    int rank = rankmap_find(w->from->map, rma_world(w, n->rank));
    const struct rma_near *old = rank < 0 ? NULL : rma_near_of(w->from, rank);
    return old && old->kind == RMA_NEAR_MAPPED && old->size == n->size ? old->mapping : NULL;
}

/* Each region of this process again. */
static int attach_all(struct rma_win *w)
{
    const struct rma_win_mem *m = &w->from->mem;
    int err = MPI_SUCCESS;
    for (unsigned i = 0; !err && i < m->nregions; i++)
        err = rma_win_attach(w, (void *)(uintptr_t)m->regions[i].base,
                             (MPI_Aint)m->regions[i].size);
    for (unsigned i = 0; !err && i < m->nempties; i++)
        err = rma_win_attach(w, (void *)(uintptr_t)m->empties[i], 0);
    return coll_agree_error(err, w->comm);
}

/* The memory is the oldest one's, and so are the mappings: windows between need not stay for it. */
static void take_from_oldest(struct rma_win *w)
{
    struct rma_win *oldest = w->from->from;
    if (!oldest)
        return;
    oldest->users++;
    w->from->users--; /* it is not freed, so it stays */
    w->from = oldest;
}

/* am/ first handles what a failed member had sent: it must not land behind the shrink. */
static int all_handled(void *arg)
{
    (void)arg;
    return am_failed_count() == boot_failed_count();
}

int rma_win_shrink(struct rma_win *w, struct rma_win **out)
{
    struct comm *c;
    *out = NULL;
    if (!w->parent && rma_is_revoked(w))
        rma_revoked_end(w);
    int err = rma_win_is_idle(w);
    if (!err && w->parent)
        err = rma_sync_error(w, "a duplicate is", "shrink the window that it is of");
    if (!err && w->coherent)
        err = err_make(MPI_ERR_UNSUPPORTED_OPERATION, "%s: %s has instances on devices", rma_call(),
                       rma_win_text(w));
    if (err)
        return err;
    rma_evicted_wait(w);
    err = coll_shrink(w->comm, &c);
    if (err)
        return err;
    progress_wait(all_handled, NULL, "what failed processes had sent", -1);
    int dynamic = w->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    err = rma_win_create_from(w, dynamic ? MPI_WIN_FLAVOR_DYNAMIC : MPI_WIN_FLAVOR_CREATE, c, out);
    comm_drop(c);
    if (!err && dynamic && (err = attach_all(*out)) != MPI_SUCCESS)
        rma_win_drop(*out);
    if (err) {
        *out = NULL;
        return err;
    }
    take_from_oldest(*out);
    errhandler_drop((*out)->errhandler);
    (*out)->errhandler = errhandler_ref(w->errhandler);
    return MPI_SUCCESS;
}
