/* Reduction operations (MPI-3.1 5.9). */
#include "api/api.h"

#include "dt/dt.h"

API(int, MPI_Op_create, (MPI_User_function *user_fn, int commute, MPI_Op *op))
{
    api_enter("MPI_Op_create");
    struct dt_op *o;
    int err = api_pointer((const void *)(uintptr_t)user_fn, "user_fn");
    if (!err)
        err = api_pointer(op, "op");
    if (!err)
        err = dt_op_make(user_fn, commute != 0, &o);
    if (!err)
        *op = o->obj.handle;
    return api_leave(MPI_COMM_NULL, err);
}

API(int, MPI_Op_create_c, (MPI_User_function_c *user_fn, int commute, MPI_Op *op))
{
    api_enter("MPI_Op_create_c");
    struct dt_op *o;
    int err = api_pointer((const void *)(uintptr_t)user_fn, "user_fn");
    if (!err)
        err = api_pointer(op, "op");
    if (!err)
        err = dt_op_make_c(user_fn, commute != 0, &o);
    if (!err)
        *op = o->obj.handle;
    return api_leave(MPI_COMM_NULL, err);
}

API(int, MPI_Op_free, (MPI_Op *op))
{
    api_enter("MPI_Op_free");
    struct dt_op *o;
    int err = api_pointer(op, "op");
    if (!err)
        err = api_op(*op, &o);
    if (!err && o->index)
        err = err_make(MPI_ERR_OP, "%s: operation %#x is predefined", proc->call, (unsigned)*op);
    if (!err) {
        dt_op_drop(o);
        *op = MPI_OP_NULL;
    }
    return api_leave(MPI_COMM_NULL, err);
}

API(int, MPI_Op_commutative, (MPI_Op op, int *commute))
{
    api_enter("MPI_Op_commutative");
    struct dt_op *o;
    int err = api_op(op, &o);
    if (!err)
        err = api_pointer(commute, "commute");
    if (!err)
        *commute = o->commute;
    return api_leave(MPI_COMM_NULL, err);
}

static int reduce_local(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
    struct dt_type *t;
    struct dt_op *o;
    size_t bytes = 0;
    int err = api_count(count);
    if (!err)
        err = api_op(op, &o);
    if (!err)
        err = api_type_committed(type, &t);
    if (!err)
        err = dt_op_check(o, t, DT_FOR_REDUCE);
    if (!err)
        err = dt_total(t, (size_t)count, &bytes);
    if (!err && bytes && (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE || inbuf == inoutbuf))
        err = err_make(MPI_ERR_BUFFER, "%s: inbuf and inoutbuf are the same, or MPI_IN_PLACE", proc->call);
    if (!err)
        err = api_buffer(inbuf, count, t);
    if (!err)
        err = api_buffer(inoutbuf, count, t);
    if (!err && count)
        dt_op_apply(o, inbuf, inoutbuf, (size_t)count, t);
    return api_leave(MPI_COMM_NULL, err);
}

API(int, MPI_Reduce_local, (const void *inbuf, void *inoutbuf, int count, MPI_Datatype type, MPI_Op op))
{
    api_enter("MPI_Reduce_local");
    return reduce_local(inbuf, inoutbuf, count, type, op);
}

API(int, MPI_Reduce_local_c, (const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype type, MPI_Op op))
{
    api_enter("MPI_Reduce_local_c");
    return reduce_local(inbuf, inoutbuf, count, type, op);
}
