/* onesided.c - what one-sided calls share outside the inline path. Start with onesided_run(). */
#include "api/rma/onesided.h"


int onesided_private(MPI_Win win, int rank, MPI_Aint disp, MPI_Datatype type, unsigned op,
                     unsigned end, const void *origin, const void *compare, void *result,
                     enum pvar_id counter)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *w;
    struct rma_near *n;
    if (!room || !rma_near_plain(room, type) || !(w = rma_near_win(room, win)) ||
        (!rma_near_target(w, rank, &n) && !rma_near_target_spread(w, rank, &n)))
        return 0;
    const struct dt_type *t = proc->obj->table[OBJ_TYPE].builtin[type & 0xff];
    uint64_t off;
    if (!(op == RMA_SWAP ? can_compare(t) : fast_op(op, end, t)))
        return 0;
    if (rma_near_at(n, disp, rma_near_bytes(type), &off)) { /* near ranks are not consecutive */
        rma_near_count(n, counter, rma_near_bytes(type));
        return op == RMA_SWAP ? !acc_near_cas(n, off, t, origin, compare, result)
                              : !acc_near(n, off, t, origin, result, op);
    }
    if (w->alone && !proc->threaded && !n->alone &&
        rma_near_handle_acc(w, n, disp, t, op, origin, compare, result)) {
        rma_near_count(n, counter, rma_near_bytes(type));
        return 1;
    }
    if (proc->threaded || n->kind != RMA_NEAR_CMA ||
        !rma_near_delegate(w, n, disp, t, op, origin, compare, result))
        return 0;
    pvar_set_add(&w->pvars, counter, 1);
    pvar_set_add(&w->pvars, PVAR_RMA_BYTES, rma_near_bytes(type));
    return 1;
}

const struct names origin_args = {"origin_addr", "origin_count", "origin_datatype"},
                   result_args = {"result_addr", "result_count", "result_datatype"};
static const struct names target_args = {NULL, "target_count", "target_datatype"};

/* Fast for most types: predefined ones of one block. */
static inline struct dt_type *plain_type(MPI_Datatype type)
{
    const struct rma_near_table *room = rma_near_self();
    return room && rma_near_plain(room, type) ? proc->obj->table[OBJ_TYPE].builtin[type & 0xff]
                                              : NULL;
}

int onesided_known(int err, struct dt_type **t)
{
    if (!err && ((*t)->flags & DT_PREDEFINED) && (*t)->basic)
        *t = (*t)->basic;
    return err;
}

int onesided_side(const struct side *s, struct dt_type **t)
{
    if (s->count >= 0 && s->buf && (*t = plain_type(s->type)) != NULL)
        return MPI_SUCCESS;
    int err = api_count_named((MPI_Aint)s->count, s->args->count);
    if (!err)
        err = onesided_known(api_type_named(s->type, s->args->type, t), t);
    if (!err)
        err = api_buffer_named(s->buf, (MPI_Aint)s->count, *t, s->args->addr);
    return err;
}

int onesided_target(MPI_Count count, MPI_Datatype type, struct dt_type **t)
{
    if (count >= 0 && (*t = plain_type(type)) != NULL)
        return MPI_SUCCESS;
    int err = api_count_named((MPI_Aint)count, target_args.count);
    return err ? err : onesided_known(api_type_named(type, target_args.type, t), t);
}

/* A side must have the elements of the target. A side without data has none. */
static int same_elements(const struct dt_type *t, MPI_Aint count, const struct dt_type *target,
                         const char *side)
{
    if (!t || !count || !t->size || t->basic == target->basic)
        return MPI_SUCCESS;
    return err_make(MPI_ERR_TYPE, "%s: the elements of the %s are %s, those of the target %s",
                    proc->call, side,
                    t->basic ? dt_default_name(t->basic) : "of more than one type",
                    dt_default_name(target->basic));
}

int onesided_acc(struct rma_args *a, MPI_Op op)
{
    int err = api_op(op, &a->op);
    if (!err && (a->tcount == 0 || a->ttype->size == 0)) /* nothing to do */
        return a->op->index ? MPI_SUCCESS : dt_op_check(a->op, a->ttype, DT_FOR_ACC);
    if (!err)
        err = dt_op_check(a->op, a->ttype, DT_FOR_ACC);
    if (!err && a->op->index != DT_NO_OP)
        err = same_elements(a->otype, a->ocount, a->ttype, "origin");
    return err ? err : same_elements(a->rtype, a->rcount, a->ttype, "result");
}

int onesided_no_request(const char *call, MPI_Win win)
{
    api_enter(call);
    return api_exit_win(win, api_pointer(NULL, "request"));
}

/* With MPI_NO_OP the origin is not used. */
static void look_at_memory(const struct rma_args *a)
{
    int reads = a->otype && !(a->op && a->op->index == DT_NO_OP);
    if (reads && a->origin)
        watch_memory(a->origin, a->ocount, a->otype, 0, "origin buffer");
    if (a->result && a->rtype)
        watch_memory(a->result, a->rcount, a->rtype, 1, "result buffer");
    if (a->compare)
        watch_memory(a->compare, 1, a->ttype, 0, "compare buffer");
}

/* Some window takes buffers on devices, or has copies, or a watcher looks on. */
static SLOW int run_apart(struct rma_win *w, const struct rma_args *a, MPI_Request *req,
                          const void *site)
{
    if (a->rank != MPI_PROC_NULL)
        look_at_memory(a);
    int notes = a->notify && a->rank != MPI_PROC_NULL && watch_wants(WATCH_NOTES);
    if (notes)
        watch_noting(w, a);
    int err = rma_op_begin_staged(w, a, req);
    if (notes && err)
        watch_note_lost(w, a->rank, (unsigned)a->notify - 1, 0);
    if (watch_wants(WATCH_OPS) && !err)
        watch_op(w, a, req ? obj_find(OBJ_REQUEST, *req) : NULL, site);
    return err;
}

/* A call that makes a request leaves MPI_REQUEST_NULL: see api_exit_begun(). */
static SLOW int refused(MPI_Win win, int err, MPI_Request *req)
{
    if (req)
        *req = MPI_REQUEST_NULL;
    return api_exit_win(win, err);
}

int onesided_run(MPI_Win win, struct rma_args *a, MPI_Request *req, int err, const void *site)
{
    struct rma_win *w;
    if (!err)
        err = api_win(win, &w);
    if (watch_wants(WATCH_OPS | WATCH_APART | WATCH_MEMORY) && !err)
        err = run_apart(w, a, req, site);
    else if (!err)
        err = rma_op_begin(w, a, req);
    return UNLIKELY(err) ? refused(win, err, req) : api_exit_win(win, MPI_SUCCESS);
}
