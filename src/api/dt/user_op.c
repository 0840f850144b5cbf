/* user_op.c - reduction operations (MPI-3.1 5.9). */
#include "api/api.h"

#include "dt/dt.h"

int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
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
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Op_create);

int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
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
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Op_create_c);

int PMPI_Op_free(MPI_Op *op)
{
    api_enter("MPI_Op_free");
    struct dt_op *o;
    int err = api_pointer(op, "op");
    if (!err)
        err = api_op(*op, &o);
    if (!err && o->index)
        err = err_make(MPI_ERR_OP, "%s: operation %#x is predefined", proc->call, (unsigned)*op);
    if (!err) {
        watch_gone(OBJ_OP, &o->obj);
        dt_op_drop(o);
        *op = MPI_OP_NULL;
    }
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Op_free);

int PMPI_Op_commutative(MPI_Op op, int *commute)
{
    api_enter("MPI_Op_commutative");
    struct dt_op *o;
    int err = api_op(op, &o);
    if (!err)
        err = api_pointer(commute, "commute");
    if (!err)
        *commute = o->commute;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Op_commutative);
