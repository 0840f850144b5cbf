/* accumulate.c - accumulates, and calls on one element (MPI-3.1 11.3.4). Start with
 * PMPI_Accumulate(). */
#include "api/rma/onesided.h"

static int acc(const char *call, struct side o, int rank, MPI_Aint disp, MPI_Count n,
               MPI_Datatype type, MPI_Op op, MPI_Win win, MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_ACC, .rank = rank, .origin = o.buf,
                         .ocount = (MPI_Aint)o.count, .disp = disp, .tcount = (MPI_Aint)n};
    api_enter(call);
    int err = MPI_SUCCESS;
    if (rank != MPI_PROC_NULL) {
        err = onesided_side(&o, &a.otype);
        if (!err)
            err = onesided_target(n, type, &a.ttype);
        if (!err)
            err = onesided_acc(&a, op);
        if (!err && a.op->index == DT_NO_OP)
            err = err_make(MPI_ERR_OP, "%s: MPI_NO_OP is for operations that fetch", call);
    }
    return onesided_run(win, &a, req, err, o.site);
}

static int gacc(const char *call, struct side o, struct side r, void *result, int rank,
                MPI_Aint disp, MPI_Count n, MPI_Datatype type, MPI_Op op, MPI_Win win,
                MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_GACC, .rank = rank, .origin = o.buf,
                         .ocount = (MPI_Aint)o.count, .result = result, .rcount = (MPI_Aint)r.count,
                         .disp = disp, .tcount = (MPI_Aint)n};
    api_enter(call);
    int err = MPI_SUCCESS;
    if (rank != MPI_PROC_NULL) {
        /* MPI_NO_OP: the origin buffer is ignored. */
        if (op != MPI_NO_OP)
            err = onesided_side(&o, &a.otype);
        if (!err)
            err = onesided_side(&r, &a.rtype);
        if (!err)
            err = onesided_target(n, type, &a.ttype);
        if (!err)
            err = onesided_acc(&a, op);
    }
    return onesided_run(win, &a, req, err, o.site);
}

static SLOW int acc_slow(const void *origin, int ocount, MPI_Datatype otype, int rank,
                         MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win,
                         const void *site)
{
    unsigned o = dt_op_handle_index(op);
    if (!(ocount | tcount) && origin && otype == ttype && o && o < DT_NO_OP) {
        struct rma_win_near *w = onesided_known_win(win, ttype);
        if (w && onesided_nothing(w, rank, disp, PVAR_RMA_ACC))
            return MPI_SUCCESS;
    }
    return acc("MPI_Accumulate", SIDE_AT(origin, ocount, otype, site), rank, disp, tcount, ttype,
               op, win, NULL);
}

static SAME int acc_same(const void *origin, const MPI_Win *win, const MPI_Datatype *type, int rank,
                         MPI_Aint disp, const MPI_Op *op, const void *site)
{
    if (onesided_private(*win, rank, disp, *type, dt_op_handle_index(*op), DT_NO_OP, origin, NULL,
                         NULL, PVAR_RMA_ACC))
        return MPI_SUCCESS;
    unsigned o = dt_op_handle_index(*op);
    struct rma_win_near *w = origin && o && o < DT_NO_OP ? onesided_known_win(*win, *type) : NULL;
    if (w && onesided_far(w, rank, disp, 1, *type, proc->obj->table[OBJ_OP].builtin[o], origin))
        return MPI_SUCCESS;
    return acc_slow(origin, 1, *type, rank, disp, 1, *type, *op, *win, site);
}

int PMPI_Accumulate(const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                    int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    struct rma_near *n;
    const struct dt_type *t;
    unsigned o;
    uint64_t off;
    if (SPLIT(otype != ttype) || SPLIT((ocount ^ 1) | (tcount ^ 1)) || SPLIT(!origin))
        return acc_slow(origin, ocount, otype, rank, disp, tcount, ttype, op, win, SITE);
    if (UNLIKELY(!fast_place_one(win, rank, disp, otype, &n, &t, &off)) ||
        UNLIKELY(!fast_op(o = dt_op_handle_index(op), DT_NO_OP, t)))
        return acc_same(origin, &win, &ttype, rank, disp, &op, SITE);
    rma_near_count(n, PVAR_RMA_ACC, rma_near_bytes(otype));
    return acc_near(n, off, t, origin, NULL, o);
}
API_ALIAS(MPI_Accumulate);

int PMPI_Accumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank,
                      MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    return acc("MPI_Accumulate_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, op, win,
               NULL);
}
API_ALIAS(MPI_Accumulate_c);

int PMPI_Raccumulate(const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                     int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct rma_near *n;
    const struct dt_type *t;
    unsigned o;
    uint64_t off;
    if (!request)
        return onesided_no_request("MPI_Raccumulate", win);
    if (origin && otype == ttype && ocount == 1 && tcount == 1 &&
        fast_place_passive(win, rank, disp, rma_near_bytes(ttype), ttype, &n, &off) &&
        fast_op(o = dt_op_handle_index(op), DT_NO_OP,
                t = proc->obj->table[OBJ_TYPE].builtin[ttype & 0xff])) {
        rma_near_count(n, PVAR_RMA_ACC, rma_near_bytes(ttype));
        *request = REQUEST_COMPLETE;
        return acc_near(n, off, t, origin, NULL, o);
    }
    return acc("MPI_Raccumulate", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, op, win,
               request);
}
API_ALIAS(MPI_Raccumulate);

int PMPI_Raccumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank,
                       MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win,
                       MPI_Request *request)
{
    if (!request)
        return onesided_no_request("MPI_Raccumulate_c", win);
    return acc("MPI_Raccumulate_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, op, win,
               request);
}
API_ALIAS(MPI_Raccumulate_c);

int PMPI_Get_accumulate(const void *origin, int ocount, MPI_Datatype otype, void *result,
                        int rcount, MPI_Datatype rtype, int rank, MPI_Aint disp, int tcount,
                        MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    struct rma_near *n;
    const struct dt_type *t;
    uint64_t off;
    int one = ocount == 1 && rcount == 1 && tcount == 1, alike = otype == ttype && rtype == ttype;
    if (one && alike && result && origin) {
        unsigned o = dt_op_handle_index(op);
        if (fast_place_one(win, rank, disp, ttype, &n, &t, &off) && fast_op(o, DT_OPS, t)) {
            rma_near_count(n, PVAR_RMA_GACC, rma_near_bytes(ttype));
            return acc_near(n, off, t, origin, result, o);
        }
        if (onesided_private(win, rank, disp, ttype, o, DT_OPS, origin, NULL, result,
                             PVAR_RMA_GACC))
            return MPI_SUCCESS;
    }
    return gacc("MPI_Get_accumulate", SIDE(origin, ocount, otype), RESULT(result, rcount, rtype),
                result, rank, disp, tcount, ttype, op, win, NULL);
}
API_ALIAS(MPI_Get_accumulate);

int PMPI_Get_accumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, void *result,
                          MPI_Count rcount, MPI_Datatype rtype, int rank, MPI_Aint disp,
                          MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    return gacc("MPI_Get_accumulate_c", SIDE(origin, ocount, otype), RESULT(result, rcount, rtype),
                result, rank, disp, tcount, ttype, op, win, NULL);
}
API_ALIAS(MPI_Get_accumulate_c);

int PMPI_Rget_accumulate(const void *origin, int ocount, MPI_Datatype otype, void *result,
                         int rcount, MPI_Datatype rtype, int rank, MPI_Aint disp, int tcount,
                         MPI_Datatype ttype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    if (!request)
        return onesided_no_request("MPI_Rget_accumulate", win);
    return gacc("MPI_Rget_accumulate", SIDE(origin, ocount, otype), RESULT(result, rcount, rtype),
                result, rank, disp, tcount, ttype, op, win, request);
}
API_ALIAS(MPI_Rget_accumulate);

int PMPI_Rget_accumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, void *result,
                           MPI_Count rcount, MPI_Datatype rtype, int rank, MPI_Aint disp,
                           MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win,
                           MPI_Request *request)
{
    if (!request)
        return onesided_no_request("MPI_Rget_accumulate_c", win);
    return gacc("MPI_Rget_accumulate_c", SIDE(origin, ocount, otype), RESULT(result, rcount, rtype),
                result, rank, disp, tcount, ttype, op, win, request);
}
API_ALIAS(MPI_Rget_accumulate_c);

/* --- one element ------------------------------------------------------------------------------ */

static int check_one(MPI_Datatype type, struct dt_type **t)
{
    int err = onesided_known(api_type(type, t), t);
    if (!err && (!((*t)->flags & DT_PREDEFINED) || (*t)->basic != *t))
        err = err_make(MPI_ERR_TYPE, "%s: datatype %#x is not predefined", proc->call,
                       (unsigned)type);
    return err;
}

static int fop(const char *call, const void *origin, void *result, MPI_Datatype type, int rank,
               MPI_Aint disp, MPI_Op op, MPI_Win win, MPI_Request *req, const void *site)
{
    struct rma_args a = {.kind = RMA_FOP, .rank = rank, .origin = origin, .ocount = 1,
                         .result = result, .rcount = 1, .disp = disp, .tcount = 1};
    api_enter(call);
    int err = MPI_SUCCESS;
    if (rank != MPI_PROC_NULL) {
        err = check_one(type, &a.ttype);
        a.otype = a.rtype = a.ttype;
        if (!err)
            err = onesided_acc(&a, op);
        if (!err && a.op->index == DT_NO_OP)
            a.otype = NULL;
        else if (!err)
            err = api_pointer(origin, "origin_addr");
        if (!err)
            err = api_pointer(result, "result_addr");
    }
    return onesided_run(win, &a, req, err, site);
}

static SLOW int fop_slow(const void *origin, void *result, MPI_Datatype type, int rank,
                         MPI_Aint disp, MPI_Op op, MPI_Win win)
{
    if (origin && result &&
        onesided_private(win, rank, disp, type, dt_op_handle_index(op), DT_OPS, origin, NULL,
                         result, PVAR_RMA_FOP))
        return MPI_SUCCESS;
    return fop("MPI_Fetch_and_op", origin, result, type, rank, disp, op, win, NULL, SITE);
}

int PMPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
                      MPI_Op op, MPI_Win win)
{
    struct rma_near *n;
    const struct dt_type *t;
    unsigned o;
    uint64_t off;
    if (UNLIKELY(!origin) || UNLIKELY(!result) ||
        UNLIKELY(!fast_place_one(win, rank, disp, type, &n, &t, &off)) ||
        UNLIKELY(!fast_op(o = dt_op_handle_index(op), DT_OPS, t)))
        return fop_slow(origin, result, type, rank, disp, op, win);
    rma_near_count(n, PVAR_RMA_FOP, rma_near_bytes(type));
    return acc_near(n, off, t, origin, result, o);
}
API_ALIAS(MPI_Fetch_and_op);

int PMPIX_Rfetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank,
                        MPI_Aint disp, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct rma_near *n;
    const struct dt_type *t;
    unsigned o;
    uint64_t off;
    if (!request)
        return onesided_no_request("MPIX_Rfetch_and_op", win);
    if (origin && result &&
        fast_place_passive(win, rank, disp, rma_near_bytes(type), type, &n, &off) &&
        fast_op(o = dt_op_handle_index(op), DT_OPS,
                t = proc->obj->table[OBJ_TYPE].builtin[type & 0xff])) {
        rma_near_count(n, PVAR_RMA_FOP, rma_near_bytes(type));
        *request = REQUEST_COMPLETE;
        return acc_near(n, off, t, origin, result, o);
    }
    return fop("MPIX_Rfetch_and_op", origin, result, type, rank, disp, op, win, request, SITE);
}
API_ALIAS(MPIX_Rfetch_and_op);

static int cas(const char *call, const void *origin, const void *compare, void *result,
               MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win, MPI_Request *req,
               const void *site)
{
    struct rma_args a = {.kind = RMA_CAS, .rank = rank, .origin = origin, .ocount = 1,
                         .result = result, .rcount = 1, .compare = compare, .disp = disp,
                         .tcount = 1};
    api_enter(call);
    int err = MPI_SUCCESS;
    if (rank != MPI_PROC_NULL) {
        err = check_one(type, &a.ttype);
        a.otype = a.rtype = a.ttype;
        if (!err && !can_compare(a.ttype))
            err = err_make(MPI_ERR_TYPE, "%s: datatype %#x is no integer, logical or byte",
                           proc->call, (unsigned)type);
        if (!err)
            err = api_pointer(origin, "origin_addr");
        if (!err)
            err = api_pointer(compare, "compare_addr");
        if (!err)
            err = api_pointer(result, "result_addr");
    }
    return onesided_run(win, &a, req, err, site);
}

static SLOW int cas_slow(const void *origin, const void *compare, void *result, MPI_Datatype type,
                         int rank, MPI_Aint disp, MPI_Win win)
{
    if (origin && compare && result &&
        onesided_private(win, rank, disp, type, RMA_SWAP, 0, origin, compare, result, PVAR_RMA_CAS))
        return MPI_SUCCESS;
    return cas("MPI_Compare_and_swap", origin, compare, result, type, rank, disp, win, NULL, SITE);
}

int PMPI_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                          int rank, MPI_Aint disp, MPI_Win win)
{
    struct rma_near *n;
    const struct dt_type *t;
    uint64_t off;
    if (UNLIKELY(!origin) || UNLIKELY(!compare) || UNLIKELY(!result) ||
        UNLIKELY(!fast_place_one(win, rank, disp, type, &n, &t, &off)) ||
        UNLIKELY(!can_compare(t)))
        return cas_slow(origin, compare, result, type, rank, disp, win);
    rma_near_count(n, PVAR_RMA_CAS, rma_near_bytes(type));
    return acc_near_cas(n, off, t, origin, compare, result);
}
API_ALIAS(MPI_Compare_and_swap);

int PMPIX_Rcompare_and_swap(const void *origin, const void *compare, void *result,
                            MPI_Datatype type, int rank, MPI_Aint disp, MPI_Win win,
                            MPI_Request *request)
{
    struct rma_near *n;
    const struct dt_type *t;
    uint64_t off;
    if (!request)
        return onesided_no_request("MPIX_Rcompare_and_swap", win);
    if (origin && compare && result &&
        fast_place_passive(win, rank, disp, rma_near_bytes(type), type, &n, &off) &&
        can_compare(t = proc->obj->table[OBJ_TYPE].builtin[type & 0xff])) {
        rma_near_count(n, PVAR_RMA_CAS, rma_near_bytes(type));
        *request = REQUEST_COMPLETE;
        return acc_near_cas(n, off, t, origin, compare, result);
    }
    return cas("MPIX_Rcompare_and_swap", origin, compare, result, type, rank, disp, win, request,
               SITE);
}
API_ALIAS(MPIX_Rcompare_and_swap);
