/* reduce_local.c - MPI_Reduce_local: one step of a reduction in this process (MPI-3.1 5.9.7). */
#include "api/api.h"
#include "dt/dt.h"

static int reduce_local(const char *call, const void *in, void *inout, MPI_Count count,
                        MPI_Datatype type, MPI_Op h)
{
    struct dt_type *t;
    struct dt_op *op;
    api_enter(call);
    int err = api_count(count);
    if (!err)
        err = api_type_committed(type, &t);
    if (!err)
        err = api_op(h, &op);
    if (!err)
        err = dt_op_check(op, t, DT_FOR_REDUCE);
    if (!err)
        err = api_buffer(in, count, t);
    if (!err)
        err = api_buffer(inout, count, t);
    if (!err && count > 0 && (in == MPI_IN_PLACE || inout == MPI_IN_PLACE))
        err = err_make(MPI_ERR_BUFFER, "%s: MPI_IN_PLACE is not allowed here", call);
    if (!err && count > 0 && in == inout)
        err = err_make(MPI_ERR_BUFFER, "%s: inbuf and inoutbuf are the same", call);
    if (!err) {
        watch_memory(in, count, t, 0, "inbuf");
        watch_memory(inout, count, t, 1, "inoutbuf");
    }
    if (!err)
        dt_op_apply(op, in, inout, (size_t)count, t);
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype,
                      MPI_Op op)
{
    return reduce_local("MPI_Reduce_local", inbuf, inoutbuf, count, datatype, op);
}
API_ALIAS(MPI_Reduce_local);

int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op)
{
    return reduce_local("MPI_Reduce_local_c", inbuf, inoutbuf, count, datatype, op);
}
API_ALIAS(MPI_Reduce_local_c);
