/* give_up.c - MPI_Request_free and MPI_Cancel. */
#include "api/api.h"

#include "obj/continue.h"

/* The request, which is none of a message, and is not null. */
static int arg(const MPI_Request *request, struct request **r)
{
    *r = NULL;
    int err = api_pointer(request, "request");
    if (!err)
        err = api_request(*request, r);
    if (!err && !*r)
        err = err_make(MPI_ERR_REQUEST, "%s: request is MPI_REQUEST_NULL", proc->call);
    if (!err && (*r)->kind == REQUEST_MESSAGE)
        err = err_make(MPI_ERR_REQUEST, "%s: handle %#x is a message, no request", proc->call,
                       (unsigned)*request);
    return err;
}

int PMPI_Request_free(MPI_Request *request)
{
    api_enter("MPI_Request_free");
    struct request *r;
    int err = arg(request, &r);
    if (!err && r->kind == REQUEST_PART && r->active && !r->done)
        err = err_make(MPI_ERR_REQUEST,
                       "MPI_Request_free: request %#x is a partitioned message that was started "
                       "and is not complete",
                       (unsigned)*request);
    if (!err && continue_holds(r))
        err = err_make(MPI_ERR_REQUEST, "MPI_Request_free: request %#x has a continuation",
                       (unsigned)*request);
    if (!err) {
        if (watch_wants(WATCH_BUFFERS))
            watch_released(r);
        (request_is_continue(r) ? continue_release : request_release)(r);
        *request = MPI_REQUEST_NULL;
    }
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Request_free);

int PMPI_Cancel(MPI_Request *request)
{
    api_enter("MPI_Cancel");
    struct request *r;
    int err = arg(request, &r);
    if (!err && !r->ops->cancel)
        err = err_make(MPI_ERR_REQUEST, "MPI_Cancel: request %#x cannot be cancelled",
                       (unsigned)*request);
    if (!err && !r->active)
        err = err_make(MPI_ERR_REQUEST, "MPI_Cancel: request %#x is not active",
                       (unsigned)*request);
    /* Its function is about to run, and is told of the completion; a generalized one is told. */
    int late = !err && continue_holds(r) && r->done && !request_is_suspended(r) &&
               r->kind != REQUEST_GENERAL;
    if (!err && !late)
        err = r->ops->cancel(r);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Cancel);
