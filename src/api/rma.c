/* One-sided operations (MPI-3.1 11.3).
 *
 * MPI_Put and MPI_Get on mapped targets are done right here, without lock or call (rma/near.h); whatever the
 * inline path does not take starts again from the top. */
#include "api/api.h"

#include "dt/dt.h"
#include "rma/near.h"
#include "rma/rma.h"

/* --- fast ------------------------------------------------------------------------------------ */

/* Bytes of n elements of a predefined one-block type, 0 when the inline path is not for them. */
static inline uint64_t fast_bytes(MPI_Datatype a, MPI_Datatype b, MPI_Count n, MPI_Count m)
{
    unsigned size = dt_handle_bytes(a);
    const struct obj *o;
    if (a != b || n != m || n <= 0 || n > INT32_MAX || !size)
        return 0;
    o = proc->obj->table[OBJ_TYPE].builtin[a & 0xff];
    return o && o->handle == a ? (uint64_t)n * size : 0;
}

static inline struct rma_win_near *fast_window(MPI_Win win)
{
    return __builtin_expect(atomic_load_explicit(&proc->phase, memory_order_relaxed) == PROC_INIT, 1)
               ? rma_near_win(win)
               : NULL;
}

static inline int fast_put(const void *from, MPI_Count n, MPI_Datatype t, int rank, MPI_Aint disp, MPI_Count m,
                           MPI_Datatype u, MPI_Win win)
{
    struct rma_win_near *w = fast_window(win);
    uint64_t bytes = w && from ? fast_bytes(t, u, n, m) : 0;
    char *to = bytes ? rma_near_at(w, rank, disp, bytes) : NULL;
    if (!to)
        return 0;
    rma_near_copy(to, from, bytes);
    rma_near_count(w, PVAR_RMA_PUT, bytes);
    return 1;
}

static inline int fast_get(void *to, MPI_Count n, MPI_Datatype t, int rank, MPI_Aint disp, MPI_Count m,
                           MPI_Datatype u, MPI_Win win)
{
    struct rma_win_near *w = fast_window(win);
    uint64_t bytes = w && to ? fast_bytes(t, u, n, m) : 0;
    const char *from = bytes ? rma_near_at(w, rank, disp, bytes) : NULL;
    if (!from)
        return 0;
    rma_near_copy(to, from, bytes);
    rma_near_count(w, PVAR_RMA_GET, bytes);
    return 1;
}

/* --- checks ----------------------------------------------------------------------------------- */

/* One side of an operation as the user named it. */
struct side {
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    const char *what;
};

static int check_side(const struct side *s, struct dt_type **t)
{
    int err = api_count((MPI_Aint)s->count);
    if (!err)
        err = api_type_committed(s->type, t);
    if (!err)
        err = api_buffer(s->buf, (MPI_Aint)s->count, *t);
    return err;
}

static int check_target(MPI_Count count, MPI_Datatype type, struct dt_type **t)
{
    int err = api_count((MPI_Aint)count);
    return err ? err : api_type_committed(type, t);
}

/* Accumulates: one predefined element type, the same on all sides. */
static int check_acc(struct rma_args *a, MPI_Op op)
{
    int err = api_op(op, &a->op);
    if (!err && (a->tcount == 0 || a->ttype->size == 0)) /* nothing will be done */
        return a->op->index ? MPI_SUCCESS : err_make(MPI_ERR_OP, "%s: the operation is not predefined", proc->call);
    if (!err)
        err = dt_op_check(a->op, a->ttype, DT_FOR_ACC);
    if (err)
        return err;
    if ((a->otype && a->op->index != DT_NO_OP && a->otype->basic != a->ttype->basic) ||
        (a->rtype && a->rtype->basic != a->ttype->basic))
        return err_make(MPI_ERR_TYPE, "%s: the element types of origin, result and target differ", proc->call);
    return MPI_SUCCESS;
}

static int window(MPI_Win win, struct rma_win **w)
{
    *w = obj_find(OBJ_WIN, win);
    return *w ? MPI_SUCCESS : err_make(MPI_ERR_WIN, "%s: window handle %#x does not exist", proc->call, (unsigned)win);
}

static int run(MPI_Win win, struct rma_args *a, MPI_Request *req, int err)
{
    struct rma_win *w;
    if (!err)
        err = window(win, &w);
    if (!err)
        err = rma_op(w, a, req);
    return api_leave_win(win, err);
}

/* --- put, get --------------------------------------------------------------------------------- */

static int put(const char *call, struct side o, int rank, MPI_Aint disp, MPI_Count n, MPI_Datatype type, MPI_Win win,
               MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_PUT, .rank = rank, .origin = o.buf, .ocount = (MPI_Aint)o.count, .disp = disp,
                         .tcount = (MPI_Aint)n};
    api_enter(call);
    int err = rank == MPI_PROC_NULL ? MPI_SUCCESS : check_side(&o, &a.otype);
    if (!err && rank != MPI_PROC_NULL)
        err = check_target(n, type, &a.ttype);
    return run(win, &a, req, err);
}

static int get(const char *call, struct side r, void *result, int rank, MPI_Aint disp, MPI_Count n,
               MPI_Datatype type, MPI_Win win, MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_GET, .rank = rank, .result = result, .rcount = (MPI_Aint)r.count, .disp = disp,
                         .tcount = (MPI_Aint)n};
    api_enter(call);
    int err = rank == MPI_PROC_NULL ? MPI_SUCCESS : check_side(&r, &a.rtype);
    if (!err && rank != MPI_PROC_NULL)
        err = check_target(n, type, &a.ttype);
    return run(win, &a, req, err);
}

#define SIDE(buf, count, type) ((struct side){buf, count, type, "origin"})

API(int, MPI_Put, (const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
                   MPI_Datatype ttype, MPI_Win win))
{
    if (fast_put(origin, ocount, otype, rank, disp, tcount, ttype, win))
        return MPI_SUCCESS;
    return put("MPI_Put", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, NULL);
}

API(int, MPI_Put_c, (const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                     MPI_Count tcount, MPI_Datatype ttype, MPI_Win win))
{
    if (fast_put(origin, ocount, otype, rank, disp, tcount, ttype, win))
        return MPI_SUCCESS;
    return put("MPI_Put_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, NULL);
}

API(int, MPI_Rput, (const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
                    MPI_Datatype ttype, MPI_Win win, MPI_Request *request))
{
    return put("MPI_Rput", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, request);
}

API(int, MPI_Rput_c, (const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                      MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request))
{
    return put("MPI_Rput_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, request);
}

API(int, MPI_Get, (void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
                   MPI_Datatype ttype, MPI_Win win))
{
    if (fast_get(origin, ocount, otype, rank, disp, tcount, ttype, win))
        return MPI_SUCCESS;
    return get("MPI_Get", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win, NULL);
}

API(int, MPI_Get_c, (void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp, MPI_Count tcount,
                     MPI_Datatype ttype, MPI_Win win))
{
    if (fast_get(origin, ocount, otype, rank, disp, tcount, ttype, win))
        return MPI_SUCCESS;
    return get("MPI_Get_c", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win, NULL);
}

API(int, MPI_Rget, (void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
                    MPI_Datatype ttype, MPI_Win win, MPI_Request *request))
{
    return get("MPI_Rget", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win, request);
}

API(int, MPI_Rget_c, (void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp, MPI_Count tcount,
                      MPI_Datatype ttype, MPI_Win win, MPI_Request *request))
{
    return get("MPI_Rget_c", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win, request);
}

/* --- accumulate --------------------------------------------------------------------------------- */

static int acc(const char *call, struct side o, int rank, MPI_Aint disp, MPI_Count n, MPI_Datatype type, MPI_Op op,
               MPI_Win win, MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_ACC, .rank = rank, .origin = o.buf, .ocount = (MPI_Aint)o.count, .disp = disp,
                         .tcount = (MPI_Aint)n};
    api_enter(call);
    int err = MPI_SUCCESS;
    if (rank != MPI_PROC_NULL) {
        err = check_side(&o, &a.otype);
        if (!err)
            err = check_target(n, type, &a.ttype);
        if (!err)
            err = check_acc(&a, op);
        if (!err && a.op->index == DT_NO_OP)
            err = err_make(MPI_ERR_OP, "%s: MPI_NO_OP is for operations that fetch", call);
    }
    return run(win, &a, req, err);
}

static int gacc(const char *call, struct side o, struct side r, void *result, int rank, MPI_Aint disp, MPI_Count n,
                MPI_Datatype type, MPI_Op op, MPI_Win win, MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_GACC, .rank = rank, .origin = o.buf, .ocount = (MPI_Aint)o.count,
                         .result = result, .rcount = (MPI_Aint)r.count, .disp = disp, .tcount = (MPI_Aint)n};
    api_enter(call);
    int err = MPI_SUCCESS;
    if (rank != MPI_PROC_NULL) {
        /* MPI_NO_OP: the origin is ignored, whatever stands there. */
        if (op != MPI_NO_OP)
            err = check_side(&o, &a.otype);
        if (!err)
            err = check_side(&r, &a.rtype);
        if (!err)
            err = check_target(n, type, &a.ttype);
        if (!err)
            err = check_acc(&a, op);
    }
    return run(win, &a, req, err);
}

API(int, MPI_Accumulate, (const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
                          MPI_Datatype ttype, MPI_Op op, MPI_Win win))
{
    return acc("MPI_Accumulate", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, op, win, NULL);
}

API(int, MPI_Accumulate_c, (const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                            MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win))
{
    return acc("MPI_Accumulate_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, op, win, NULL);
}

API(int, MPI_Raccumulate, (const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
                           MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request))
{
    return acc("MPI_Raccumulate", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, op, win, request);
}

API(int, MPI_Raccumulate_c, (const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                             MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request))
{
    return acc("MPI_Raccumulate_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, op, win, request);
}

API(int, MPI_Get_accumulate, (const void *origin, int ocount, MPI_Datatype otype, void *result, int rcount,
                              MPI_Datatype rtype, int rank, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op,
                              MPI_Win win))
{
    return gacc("MPI_Get_accumulate", SIDE(origin, ocount, otype), SIDE(result, rcount, rtype), result, rank, disp,
                tcount, ttype, op, win, NULL);
}

API(int, MPI_Get_accumulate_c, (const void *origin, MPI_Count ocount, MPI_Datatype otype, void *result,
                                MPI_Count rcount, MPI_Datatype rtype, int rank, MPI_Aint disp, MPI_Count tcount,
                                MPI_Datatype ttype, MPI_Op op, MPI_Win win))
{
    return gacc("MPI_Get_accumulate_c", SIDE(origin, ocount, otype), SIDE(result, rcount, rtype), result, rank, disp,
                tcount, ttype, op, win, NULL);
}

API(int, MPI_Rget_accumulate, (const void *origin, int ocount, MPI_Datatype otype, void *result, int rcount,
                               MPI_Datatype rtype, int rank, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op,
                               MPI_Win win, MPI_Request *request))
{
    return gacc("MPI_Rget_accumulate", SIDE(origin, ocount, otype), SIDE(result, rcount, rtype), result, rank, disp,
                tcount, ttype, op, win, request);
}

API(int, MPI_Rget_accumulate_c, (const void *origin, MPI_Count ocount, MPI_Datatype otype, void *result,
                                 MPI_Count rcount, MPI_Datatype rtype, int rank, MPI_Aint disp, MPI_Count tcount,
                                 MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request))
{
    return gacc("MPI_Rget_accumulate_c", SIDE(origin, ocount, otype), SIDE(result, rcount, rtype), result, rank, disp,
                tcount, ttype, op, win, request);
}

/* --- one element ----------------------------------------------------------------------------------- */

static int check_one(MPI_Datatype type, struct dt_type **t)
{
    int err = api_type(type, t);
    if (!err && (!((*t)->flags & DT_PREDEFINED) || (*t)->basic != *t))
        err = err_make(MPI_ERR_TYPE, "%s: datatype %#x is not predefined", proc->call, (unsigned)type);
    return err;
}

API(int, MPI_Fetch_and_op, (const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op,
                            MPI_Win win))
{
    struct rma_args a = {.kind = RMA_FOP, .rank = rank, .origin = origin, .ocount = 1, .result = result, .rcount = 1,
                         .disp = disp, .tcount = 1};
    api_enter("MPI_Fetch_and_op");
    int err = MPI_SUCCESS;
    if (rank != MPI_PROC_NULL) {
        err = check_one(type, &a.ttype);
        a.otype = a.rtype = a.ttype;
        if (!err)
            err = check_acc(&a, op);
        if (!err && a.op->index == DT_NO_OP)
            a.otype = NULL;
        else if (!err)
            err = api_pointer(origin, "origin_addr");
        if (!err)
            err = api_pointer(result, "result_addr");
    }
    return run(win, &a, NULL, err);
}

API(int, MPI_Compare_and_swap, (const void *origin, const void *compare, void *result, MPI_Datatype type, int rank,
                                MPI_Aint disp, MPI_Win win))
{
    struct rma_args a = {.kind = RMA_CAS, .rank = rank, .origin = origin, .ocount = 1, .result = result, .rcount = 1,
                         .compare = compare, .disp = disp, .tcount = 1};
    api_enter("MPI_Compare_and_swap");
    int err = MPI_SUCCESS;
    if (rank != MPI_PROC_NULL) {
        err = check_one(type, &a.ttype);
        a.otype = a.rtype = a.ttype;
        if (!err && a.ttype->elem.kind != DT_SIGNED && a.ttype->elem.kind != DT_UNSIGNED &&
            a.ttype->elem.kind != DT_LOGICAL && a.ttype->elem.kind != DT_BYTE && a.ttype->elem.kind != DT_CHAR)
            err = err_make(MPI_ERR_TYPE, "%s: datatype %#x is no integer, logical or byte", proc->call, (unsigned)type);
        if (!err)
            err = api_pointer(origin, "origin_addr");
        if (!err)
            err = api_pointer(compare, "compare_addr");
        if (!err)
            err = api_pointer(result, "result_addr");
    }
    return run(win, &a, NULL, err);
}
