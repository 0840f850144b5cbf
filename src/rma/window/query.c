/* query.c - queries of a window. */
#include "rma/window/window_types.h"

int rma_win_shared_query(struct rma_win *w, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                         void *base_out)
{
    w = rma_root(w);
    if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return err_make(MPI_ERR_RMA_FLAVOR, "%s: %s is dynamic: it has no memory of its own",
                        rma_call(), rma_win_text(w));
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= w->size))
        return err_make(MPI_ERR_RANK, "%s: rank %d is not in the window (0 to %d)", rma_call(),
                        rank, w->size - 1);
    const struct rma_near *n = rank == MPI_PROC_NULL ? NULL : rma_near_of(w, rank);
    for (unsigned i = 0; rank == MPI_PROC_NULL && i < w->nears && !n; i++)
        if (w->near.near[i].kind == RMA_NEAR_MAPPED && w->near.near[i].size > 0)
            n = &w->near.near[i];
    /* Of a coherent window this process loads its own memory only. */
    int reach = n && (n->kind == RMA_NEAR_MAPPED || n->rank == w->rank);
    int err = reach && n->size && n->rank != w->rank ? rma_loads_begin(w) : MPI_SUCCESS;
    if (err)
        return err;
    *size = reach ? (MPI_Aint)n->size : 0;
    *disp_unit = reach ? (MPI_Aint)n->disp_unit : 0;
    *(void **)base_out = NULL;
    if (reach && n->size)
        *(void **)base_out = n->rank == w->rank ? rma_win_shown(w) : n->base;
    return MPI_SUCCESS;
}

int rma_win_group(struct rma_win *w, struct group **out)
{
    *out = group_make(w->map, w->rank);
    return *out ? MPI_SUCCESS : err_make(MPI_ERR_NO_MEM, "%s: no memory for a group", rma_call());
}

void *rma_win_attr(struct rma_win *w, int keyval)
{
    switch (keyval) {
    case MPI_WIN_BASE:
        return rma_win_shown(w);
    case MPI_WIN_SIZE:
        return &w->bytes;
    case MPI_WIN_DISP_UNIT:
        return w->attr_unit ? &w->attr_unit : NULL;
    case MPI_WIN_CREATE_FLAVOR:
        return &w->create_flavor;
    case MPI_WIN_MODEL:
        return &w->model;
    case MPIX_WIN_PROGRESS:
        w->serves = rma_serves_worst(w);
        return &w->serves;
    default:
        return NULL;
    }
}

MPI_Aint rma_win_unit(const struct rma_win *w)
{
    return w->disp_unit;
}

struct attr_list *rma_win_attrs(struct rma_win *w)
{
    return &w->attrs;
}

char *rma_win_name(struct rma_win *w)
{
    return w->name;
}

struct errhandler **rma_win_errhandler(struct rma_win *w)
{
    return &w->errhandler;
}

uint64_t rma_win_pvar(const struct rma_win *w, int id)
{
    return rma_pvar(w, (enum pvar_id)id) + rma_lanes_counted(w, (enum pvar_id)id);
}

/* Are the pieces of op that are under way in t->native_out? */
static int is_counted(const struct rma_target *t, const struct rma_op *op)
{
    if (op->flags & (OP_ANSWERS | OP_PULLED))
        return 0;
    return op->kind != RMA_PUT || !t->key || !t->key->then_am;
}

/* Elements of operations that are done are freed later. Of one that the network does, the part that
 * waits for a flush may be here, too. */
static uint64_t outstanding(const struct rma_target *t)
{
    uint64_t n = 0, out = t->native_out;
    for (const struct list *l = t->ops.next; l != &t->ops; l = l->next) {
        const struct rma_op *op = LIST_OBJ(l, struct rma_op, link);
        if (op->flags & OP_DONE)
            continue;
        n += op->coalesced ? op->coalesced_ops : 1;
        if (is_counted(t, op))
            out -= op->natives < out ? op->natives : out;
    }
    return n + out + (t->lane ? rma_lane_out(t) : 0);
}

uint64_t rma_win_pvar_at(const struct rma_win *w, int id, int rank)
{
    if (id == PVAR_RMA_PROGRESS)
        return (uint64_t)rma_serves_of(w, rank);
    if (id != PVAR_RMA_OUTSTANDING)
        return 0;
    const struct rma_target *t = rma_target_find(w, rank);
    struct rma_near *n = rma_near_of(w, rank);
    return (t ? outstanding(t) : 0) + (n ? rma_bundle_ops(n) : 0);
}

struct comm *rma_win_comm(struct rma_win *w)
{
    return w->comm;
}
