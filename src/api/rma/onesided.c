/* One-sided operations (MPI-3.1 11.3).
 *
 * MPI_Put and MPI_Get on mapped targets are done here, without lock or call (rma/near/near.h). What
 * the inline path does not take starts again from the top, in a slow function. Start with
 * fast_place(). */
#include "api/api.h"

#include "dt/dt.h"
#include "dt/make.h"
#include "rma/near/near.h"
#include "rma/rma.h"

/* --- fast ------------------------------------------------------------------------------------ */

/* A fast function either does everything and returns MPI_SUCCESS, or changes nothing and jumps to
 * its slow function. The argument registers stay intact, so that the jump is a tail call: saving
 * one costs more than the store itself. The ..._same slow functions serve equal counts and types.
 * They take one of each, and by address what the caller left on the stack. */
#define SLOW __attribute__((noinline, cold))
/* Its parameters are not optimized away. */
#if defined __has_attribute && __has_attribute(noipa)
#define SAME __attribute__((noipa, cold))
#else
#define SAME __attribute__((noinline, cold))
#endif
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Compiled to a branch of its own: never merged with the next condition. */
#define SPLIT(x) __builtin_expect_with_probability(!!(x), 0, 0.999999)

/* 1: *at is the memory of (rank, disp) for n elements of type t in window `win`, *bytes their size.
 * 0: take the slow path. A count that is negative as an int makes more bytes than any window
 * has. */
static inline int fast_place(MPI_Win win, int rank, MPI_Aint disp, int n, MPI_Datatype t,
                             struct rma_win_near **w, char **at, uint64_t *bytes)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_near *to;
    uint64_t off;
    if (UNLIKELY(!room) || UNLIKELY(!rma_near_plain(room, t)) ||
        UNLIKELY(!(*w = rma_near_win(room, win))) || UNLIKELY(!rma_near_target(*w, rank, &to)))
        return 0;
    *bytes = (uint64_t)(int64_t)n * rma_near_bytes(t);
    if (UNLIKELY(!rma_near_at(to, disp, *bytes, &off)))
        return 0;
    *at = to->base + off;
    return 1;
}

static inline int can_compare(const struct dt_type *t)
{
    switch (t->elem.kind) {
    case DT_SIGNED: case DT_UNSIGNED: case DT_LOGICAL: case DT_BYTE: case DT_CHAR: return 1;
    default: return 0;
    }
}

/* 1: place and type of one element. 0: take the slow path. */
static inline int fast_place_one(MPI_Win win, int rank, MPI_Aint disp, MPI_Datatype type,
                                 struct rma_win_near **w, struct rma_near **n,
                                 const struct dt_type **t, uint64_t *off)
{
    struct rma_near_table *room = rma_near_self();
    if (UNLIKELY(!room) || UNLIKELY(!rma_near_plain(room, type)) ||
        UNLIKELY(!(*w = rma_near_win(room, win))) || UNLIKELY(!rma_near_target(*w, rank, n)) ||
        UNLIKELY(!rma_near_at(*n, disp, rma_near_bytes(type), off)))
        return 0;
    *t = proc->obj->table[OBJ_TYPE].builtin[type & 0xff];
    return 1;
}

/* Is operation number o predefined (below `end`) and legal for t? */
static inline int fast_op(unsigned o, unsigned end, const struct dt_type *t)
{
    return o < end && (t->ops >> o & 1);
}

/* --- less fast ---------------------------------------------------------------------------------
 *
 * The slow functions begin with these: one element of near memory that is not mapped. op: an index
 * below `end`, or RMA_SWAP. 1: done and counted; 0: nothing was done. */

static int private_one(MPI_Win win, int rank, MPI_Aint disp, MPI_Datatype type, unsigned op,
                       unsigned end, const void *origin, const void *compare, void *result,
                       enum pvar_id counter)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *w;
    struct rma_near *n;
    if (!room || proc->threaded || !rma_near_plain(room, type) || !(w = rma_near_win(room, win)) ||
        !rma_near_target(w, rank, &n) || n->kind != RMA_NEAR_CMA)
        return 0;
    const struct dt_type *t = proc->obj->table[OBJ_TYPE].builtin[type & 0xff];
    if (!(op == RMA_SWAP ? can_compare(t) : fast_op(op, end, t)) ||
        !rma_near_delegate(w, n, disp, t, op, origin, compare, result))
        return 0;
    pvar_set_add(&w->pvars, counter, 1);
    pvar_set_add(&w->pvars, PVAR_RMA_BYTES, rma_near_bytes(type));
    return 1;
}

/* The same for a far target whose open packet takes one more operation. What the operations of a
 * packet share was checked at its beginning. */
static inline int far_one(MPI_Win win, int rank, MPI_Aint disp, int n, MPI_Datatype type,
                          struct dt_op *op, const void *origin)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *w;
    return room && !proc->threaded && origin && rma_near_plain(room, type) &&
           (w = rma_near_win(room, win)) != NULL &&
           rma_near_coalesce(w, rank, disp, n, proc->obj->table[OBJ_TYPE].builtin[type & 0xff], op,
                          origin);
}

/* --- checks ----------------------------------------------------------------------------------- */

/* Names of the arguments that a side of an operation has. */
struct names {
    const char *addr, *count, *type;
};
static const struct names origin_args = {"origin_addr", "origin_count", "origin_datatype"},
                          result_args = {"result_addr", "result_count", "result_datatype"},
                          target_args = {NULL, "target_count", "target_datatype"};

/* One side of an operation, as the caller passed it. */
struct side {
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    const struct names *args;
};

/* Fast for most types: predefined ones of one block. */
static inline struct dt_type *plain_type(MPI_Datatype type)
{
    const struct rma_near_table *room = rma_near_self();
    return room && rma_near_plain(room, type) ? proc->obj->table[OBJ_TYPE].builtin[type & 0xff]
                                              : NULL;
}

/* MPI_Type_create_f90_* make predefined types (MPI-3.1 17.1.9) whose handles other processes do not
 * have. They are sent as their basic type. */
static int known_everywhere(int err, struct dt_type **t)
{
    if (!err && ((*t)->flags & DT_PREDEFINED) && (*t)->basic)
        *t = (*t)->basic;
    return err;
}

static int check_side(const struct side *s, struct dt_type **t)
{
    if (s->count >= 0 && s->buf && (*t = plain_type(s->type)) != NULL)
        return MPI_SUCCESS;
    int err = api_count_named((MPI_Aint)s->count, s->args->count);
    if (!err)
        err = known_everywhere(api_type_named(s->type, s->args->type, t), t);
    if (!err)
        err = api_buffer_named(s->buf, (MPI_Aint)s->count, *t, s->args->addr);
    return err;
}

static int check_target(MPI_Count count, MPI_Datatype type, struct dt_type **t)
{
    if (count >= 0 && (*t = plain_type(type)) != NULL)
        return MPI_SUCCESS;
    int err = api_count_named((MPI_Aint)count, target_args.count);
    return err ? err : known_everywhere(api_type_named(type, target_args.type, t), t);
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

/* Accumulates: one predefined element type, the same on all sides. */
static int check_acc(struct rma_args *a, MPI_Op op)
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

/* An operation with a request needs a place for it. */
static int no_request(const char *call, MPI_Win win)
{
    api_enter(call);
    return api_exit_win(win, api_pointer(NULL, "request"));
}

static int run(MPI_Win win, struct rma_args *a, MPI_Request *req, int err)
{
    struct rma_win *w;
    if (!err)
        err = api_win(win, &w);
    if (!err)
        err = rma_op(w, a, req);
    return api_exit_win(win, err);
}

/* --- put, get --------------------------------------------------------------------------------- */

static int put(const char *call, struct side o, int rank, MPI_Aint disp, MPI_Count n,
               MPI_Datatype type, MPI_Win win, MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_PUT, .rank = rank, .origin = o.buf,
                         .ocount = (MPI_Aint)o.count, .disp = disp, .tcount = (MPI_Aint)n};
    api_enter(call);
    int err = rank == MPI_PROC_NULL ? MPI_SUCCESS : check_side(&o, &a.otype);
    if (!err && rank != MPI_PROC_NULL)
        err = check_target(n, type, &a.ttype);
    return run(win, &a, req, err);
}

static int get(const char *call, struct side r, void *result, int rank, MPI_Aint disp, MPI_Count n,
               MPI_Datatype type, MPI_Win win, MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_GET, .rank = rank, .result = result,
                         .rcount = (MPI_Aint)r.count, .disp = disp, .tcount = (MPI_Aint)n};
    api_enter(call);
    int err = rank == MPI_PROC_NULL ? MPI_SUCCESS : check_side(&r, &a.rtype);
    if (!err && rank != MPI_PROC_NULL)
        err = check_target(n, type, &a.ttype);
    return run(win, &a, req, err);
}

#define SIDE(buf, count, type) ((struct side){buf, count, type, &origin_args})
#define RESULT(buf, count, type) ((struct side){buf, count, type, &result_args})

static SLOW int put_slow(const void *origin, int ocount, MPI_Datatype otype, int rank,
                         MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win)
{
    return put("MPI_Put", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, NULL);
}

static SAME int put_same(const void *origin, const MPI_Win *win, const MPI_Datatype *type, int rank,
                         MPI_Aint disp, int count)
{
    if (far_one(*win, rank, disp, count, *type, NULL, origin))
        return MPI_SUCCESS;
    return put_slow(origin, count, *type, rank, disp, count, *type, *win);
}

int PMPI_Put(const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
             int tcount, MPI_Datatype ttype, MPI_Win win)
{
    struct rma_win_near *w;
    uint64_t bytes;
    char *at;
    if (SPLIT(otype != ttype) || SPLIT(ocount != tcount))
        return put_slow(origin, ocount, otype, rank, disp, tcount, ttype, win);
    if (UNLIKELY(!origin) || UNLIKELY(!fast_place(win, rank, disp, ocount, otype, &w, &at, &bytes)))
        return put_same(origin, &win, &ttype, rank, disp, tcount);
    rma_near_count(w, PVAR_RMA_PUT, bytes);
    return bytes == 8 && rma_near_copy8(at, origin) ? MPI_SUCCESS : rma_near_put(origin, at, bytes);
}
API_ALIAS(MPI_Put);

int PMPI_Put_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
               MPI_Count tcount, MPI_Datatype ttype, MPI_Win win)
{
    struct rma_win_near *w;
    uint64_t bytes;
    char *at;
    if (origin && otype == ttype && ocount == tcount && tcount == (int)tcount &&
        fast_place(win, rank, disp, (int)tcount, ttype, &w, &at, &bytes)) {
        rma_near_count(w, PVAR_RMA_PUT, bytes);
        return bytes == 8 && rma_near_copy8(at, origin) ? MPI_SUCCESS
                                                        : rma_near_put(origin, at, bytes);
    }
    return put("MPI_Put_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, NULL);
}
API_ALIAS(MPI_Put_c);

int PMPI_Rput(const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
              int tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request)
{
    if (!request)
        return no_request("MPI_Rput", win);
    return put("MPI_Rput", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, request);
}
API_ALIAS(MPI_Rput);

int PMPI_Rput_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request)
{
    if (!request)
        return no_request("MPI_Rput_c", win);
    return put("MPI_Rput_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, win, request);
}
API_ALIAS(MPI_Rput_c);

static SLOW int get_slow(void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                         int tcount, MPI_Datatype ttype, MPI_Win win)
{
    return get("MPI_Get", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win,
               NULL);
}

static SAME int get_same(void *origin, const MPI_Win *win, const MPI_Datatype *type, int rank,
                         MPI_Aint disp, int count)
{
    return get_slow(origin, count, *type, rank, disp, count, *type, *win);
}

int PMPI_Get(void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
             MPI_Datatype ttype, MPI_Win win)
{
    struct rma_win_near *w;
    uint64_t bytes;
    char *at;
    if (SPLIT(otype != ttype) || SPLIT(ocount != tcount))
        return get_slow(origin, ocount, otype, rank, disp, tcount, ttype, win);
    if (UNLIKELY(!origin) || UNLIKELY(!fast_place(win, rank, disp, ocount, otype, &w, &at, &bytes)))
        return get_same(origin, &win, &ttype, rank, disp, tcount);
    rma_near_count(w, PVAR_RMA_GET, bytes);
    return bytes == 8 && rma_near_copy8(origin, at) ? MPI_SUCCESS : rma_near_get(origin, at, bytes);
}
API_ALIAS(MPI_Get);

int PMPI_Get_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
               MPI_Count tcount, MPI_Datatype ttype, MPI_Win win)
{
    struct rma_win_near *w;
    uint64_t bytes;
    char *at;
    if (origin && otype == ttype && ocount == tcount && tcount == (int)tcount &&
        fast_place(win, rank, disp, (int)tcount, ttype, &w, &at, &bytes)) {
        rma_near_count(w, PVAR_RMA_GET, bytes);
        return bytes == 8 && rma_near_copy8(origin, at) ? MPI_SUCCESS
                                                        : rma_near_get(origin, at, bytes);
    }
    return get("MPI_Get_c", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win,
               NULL);
}
API_ALIAS(MPI_Get_c);

int PMPI_Rget(void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp, int tcount,
              MPI_Datatype ttype, MPI_Win win, MPI_Request *request)
{
    if (!request)
        return no_request("MPI_Rget", win);
    return get("MPI_Rget", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win,
               request);
}
API_ALIAS(MPI_Rget);

int PMPI_Rget_c(void *origin, MPI_Count ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                MPI_Count tcount, MPI_Datatype ttype, MPI_Win win, MPI_Request *request)
{
    if (!request)
        return no_request("MPI_Rget_c", win);
    return get("MPI_Rget_c", SIDE(origin, ocount, otype), origin, rank, disp, tcount, ttype, win,
               request);
}
API_ALIAS(MPI_Rget_c);

/* --- accumulate ------------------------------------------------------------------------------- */

static int acc(const char *call, struct side o, int rank, MPI_Aint disp, MPI_Count n,
               MPI_Datatype type, MPI_Op op, MPI_Win win, MPI_Request *req)
{
    struct rma_args a = {.kind = RMA_ACC, .rank = rank, .origin = o.buf,
                         .ocount = (MPI_Aint)o.count, .disp = disp, .tcount = (MPI_Aint)n};
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

static SLOW int acc_slow(const void *origin, int ocount, MPI_Datatype otype, int rank,
                         MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    return acc("MPI_Accumulate", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, op, win,
               NULL);
}

static SAME int acc_same(const void *origin, const MPI_Win *win, const MPI_Datatype *type, int rank,
                         MPI_Aint disp, const MPI_Op *op)
{
    if (private_one(*win, rank, disp, *type, dt_op_handle_index(*op), DT_NO_OP, origin, NULL, NULL,
                    PVAR_RMA_ACC))
        return MPI_SUCCESS;
    unsigned o = dt_op_handle_index(*op);
    if (o && o < DT_NO_OP &&
        far_one(*win, rank, disp, 1, *type, proc->obj->table[OBJ_OP].builtin[o], origin))
        return MPI_SUCCESS;
    return acc_slow(origin, 1, *type, rank, disp, 1, *type, *op, *win);
}

int PMPI_Accumulate(const void *origin, int ocount, MPI_Datatype otype, int rank, MPI_Aint disp,
                    int tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    struct rma_win_near *w;
    struct rma_near *n;
    const struct dt_type *t;
    unsigned o;
    uint64_t off;
    if (SPLIT(otype != ttype) || SPLIT((ocount ^ 1) | (tcount ^ 1)) || SPLIT(!origin))
        return acc_slow(origin, ocount, otype, rank, disp, tcount, ttype, op, win);
    if (UNLIKELY(!fast_place_one(win, rank, disp, otype, &w, &n, &t, &off)) ||
        UNLIKELY(!fast_op(o = dt_op_handle_index(op), DT_NO_OP, t)))
        return acc_same(origin, &win, &ttype, rank, disp, &op);
    rma_near_count(w, PVAR_RMA_ACC, rma_near_bytes(otype));
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
    if (!request)
        return no_request("MPI_Raccumulate", win);
    return acc("MPI_Raccumulate", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, op, win,
               request);
}
API_ALIAS(MPI_Raccumulate);

int PMPI_Raccumulate_c(const void *origin, MPI_Count ocount, MPI_Datatype otype, int rank,
                       MPI_Aint disp, MPI_Count tcount, MPI_Datatype ttype, MPI_Op op, MPI_Win win,
                       MPI_Request *request)
{
    if (!request)
        return no_request("MPI_Raccumulate_c", win);
    return acc("MPI_Raccumulate_c", SIDE(origin, ocount, otype), rank, disp, tcount, ttype, op, win,
               request);
}
API_ALIAS(MPI_Raccumulate_c);

int PMPI_Get_accumulate(const void *origin, int ocount, MPI_Datatype otype, void *result,
                        int rcount, MPI_Datatype rtype, int rank, MPI_Aint disp, int tcount,
                        MPI_Datatype ttype, MPI_Op op, MPI_Win win)
{
    struct rma_win_near *w;
    struct rma_near *n;
    const struct dt_type *t;
    unsigned o;
    uint64_t off;
    if (ocount == 1 && rcount == 1 && tcount == 1 && otype == ttype && rtype == ttype && result &&
        origin && fast_place_one(win, rank, disp, ttype, &w, &n, &t, &off) &&
        fast_op(o = dt_op_handle_index(op), DT_OPS, t)) {
        rma_near_count(w, PVAR_RMA_GACC, rma_near_bytes(ttype));
        return acc_near(n, off, t, origin, result, o);
    }
    if (ocount == 1 && rcount == 1 && tcount == 1 && otype == ttype && rtype == ttype && result &&
        origin &&
        private_one(win, rank, disp, ttype, dt_op_handle_index(op), DT_OPS, origin, NULL, result,
                    PVAR_RMA_GACC))
        return MPI_SUCCESS;
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
        return no_request("MPI_Rget_accumulate", win);
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
        return no_request("MPI_Rget_accumulate_c", win);
    return gacc("MPI_Rget_accumulate_c", SIDE(origin, ocount, otype), RESULT(result, rcount, rtype),
                result, rank, disp, tcount, ttype, op, win, request);
}
API_ALIAS(MPI_Rget_accumulate_c);

/* --- one element ------------------------------------------------------------------------------ */

static int check_one(MPI_Datatype type, struct dt_type **t)
{
    int err = known_everywhere(api_type(type, t), t);
    if (!err && (!((*t)->flags & DT_PREDEFINED) || (*t)->basic != *t))
        err = err_make(MPI_ERR_TYPE, "%s: datatype %#x is not predefined", proc->call,
                       (unsigned)type);
    return err;
}

static SLOW int fop_slow(const void *origin, void *result, MPI_Datatype type, int rank,
                         MPI_Aint disp, MPI_Op op, MPI_Win win)
{
    struct rma_args a = {.kind = RMA_FOP, .rank = rank, .origin = origin, .ocount = 1,
                         .result = result, .rcount = 1, .disp = disp, .tcount = 1};
    if (origin && result &&
        private_one(win, rank, disp, type, dt_op_handle_index(op), DT_OPS, origin, NULL, result,
                    PVAR_RMA_FOP))
        return MPI_SUCCESS;
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

int PMPI_Fetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
                      MPI_Op op, MPI_Win win)
{
    struct rma_win_near *w;
    struct rma_near *n;
    const struct dt_type *t;
    unsigned o;
    uint64_t off;
    if (UNLIKELY(!origin) || UNLIKELY(!result) ||
        UNLIKELY(!fast_place_one(win, rank, disp, type, &w, &n, &t, &off)) ||
        UNLIKELY(!fast_op(o = dt_op_handle_index(op), DT_OPS, t)))
        return fop_slow(origin, result, type, rank, disp, op, win);
    rma_near_count(w, PVAR_RMA_FOP, rma_near_bytes(type));
    return acc_near(n, off, t, origin, result, o);
}
API_ALIAS(MPI_Fetch_and_op);

static SLOW int cas_slow(const void *origin, const void *compare, void *result, MPI_Datatype type,
                         int rank, MPI_Aint disp, MPI_Win win)
{
    struct rma_args a = {.kind = RMA_CAS, .rank = rank, .origin = origin, .ocount = 1,
                         .result = result, .rcount = 1, .compare = compare, .disp = disp,
                         .tcount = 1};
    if (origin && compare && result &&
        private_one(win, rank, disp, type, RMA_SWAP, 0, origin, compare, result, PVAR_RMA_CAS))
        return MPI_SUCCESS;
    api_enter("MPI_Compare_and_swap");
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
    return run(win, &a, NULL, err);
}

int PMPI_Compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                          int rank, MPI_Aint disp, MPI_Win win)
{
    struct rma_win_near *w;
    struct rma_near *n;
    const struct dt_type *t;
    uint64_t off;
    if (UNLIKELY(!origin) || UNLIKELY(!compare) || UNLIKELY(!result) ||
        UNLIKELY(!fast_place_one(win, rank, disp, type, &w, &n, &t, &off)) ||
        UNLIKELY(!can_compare(t)))
        return cas_slow(origin, compare, result, type, rank, disp, win);
    rma_near_count(w, PVAR_RMA_CAS, rma_near_bytes(type));
    return acc_near_cas(n, off, t, origin, compare, result);
}
API_ALIAS(MPI_Compare_and_swap);
