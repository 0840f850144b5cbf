/* get_status.c - completion without freeing (MPI-4.1 3.7.6), and the fields of a status by name
 * (3.2.5). A request stays as it is: MPI_Test and its like end it. Start with
 * PMPI_Request_get_status_all(). */
#include "api/api.h"

#include <string.h>

#include "progress/progress.h"

/* NULL: an empty status, which has the error MPI_SUCCESS (MPI-4.1 3.7.3). In others only the calls
 * that end several requests write it (3.2.5). */
static void status_give(MPI_Status *to, const MPI_Status *from)
{
    if (to == MPI_STATUS_IGNORE)
        return;
    if (!from) {
        status_empty(to);
        return;
    }
    int error = to->MPI_ERROR;
    *to = *from;
    to->MPI_ERROR = error;
}

static int set_args(int n, const MPI_Request *requests, MPI_Status *statuses, const char *name)
{
    int err = api_count(n);
    if (!err && n > 0)
        err = api_pointer(requests, "array_of_requests");
    if (!err && n > 0)
        err = api_status(statuses, name);
    for (int i = 0; i < n && !err; i++) {
        struct request *r;
        err = api_request(requests[i], &r);
        if (!err && r && r->kind == REQUEST_MESSAGE)
            err = err_make(MPI_ERR_REQUEST, "%s: array_of_requests[%d] is a message, no request",
                           proc->call, i);
    }
    return err;
}

/* The active request of a handle that set_args() has seen; NULL: null or inactive. */
static struct request *active_of(MPI_Request h)
{
    struct request *r = NULL;
    return api_request(h, &r) == MPI_SUCCESS && r && r->active ? r : NULL;
}

/* A suspended one is not: it waits for the program, which must hear of it. */
static int is_complete(const struct request *r)
{
    return r->done && !request_is_suspended(r);
}

/* Gives progress unless `need` of them are done. */
static void poll_set(const MPI_Request *requests, int n, int need)
{
    int done = 0;
    for (int i = 0; i < n; i++) {
        struct request *r = active_of(requests[i]);
        done += !r || is_complete(r);
        if (r && !r->done && r->ops->poke)
            r->ops->poke(r);
    }
    if (done >= need)
        progress_glance();
    else
        progress_test();
}

static int take(struct request *r, MPI_Status *status)
{
    int err = r && r->ops->query ? r->ops->query(r, &r->status) : MPI_SUCCESS;
    status_give(status, r ? &r->status : NULL);
    return err;
}

/* err, or the error of a suspended request, for which its communicator's handler is called. */
static int leave(struct request *suspended, int err)
{
    return !err && suspended ? api_exit_request(suspended, suspended->error)
                             : api_exit(MPI_COMM_NULL, err);
}

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    api_enter("MPI_Request_get_status");
    int err = set_args(1, &request, status, "status");
    if (!err)
        err = api_pointer(flag, "flag");
    if (err)
        return api_exit(MPI_COMM_NULL, err);
    poll_set(&request, 1, 1);
    struct request *r = active_of(request);
    *flag = !r || is_complete(r);
    if (*flag)
        err = take(r, status);
    return leave(r && request_is_suspended(r) ? r : NULL, err);
}
API_ALIAS(MPI_Request_get_status);

int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag,
                                MPI_Status *statuses)
{
    api_enter("MPI_Request_get_status_all");
    int err = set_args(count, requests, statuses, "array_of_statuses");
    if (!err)
        err = api_pointer(flag, "flag");
    if (err)
        return api_exit(MPI_COMM_NULL, err);
    poll_set(requests, count, count);
    struct request *suspended = NULL;
    *flag = 1;
    for (int i = 0; i < count; i++) {
        struct request *r = active_of(requests[i]);
        *flag &= !r || is_complete(r);
        suspended = r && request_is_suspended(r) ? r : suspended;
    }
    for (int i = 0; i < count && *flag && !err; i++)
        err = take(active_of(requests[i]), api_status_at(statuses, i));
    return leave(suspended, err);
}
API_ALIAS(MPI_Request_get_status_all);

int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag,
                                MPI_Status *status)
{
    api_enter("MPI_Request_get_status_any");
    int err = set_args(count, requests, status, "status");
    if (!err)
        err = api_pointer(index, "index");
    if (!err)
        err = api_pointer(flag, "flag");
    if (err)
        return api_exit(MPI_COMM_NULL, err);
    poll_set(requests, count, 1);
    struct request *suspended = NULL;
    int active = 0;
    *index = MPI_UNDEFINED;
    for (int i = 0; i < count && *index == MPI_UNDEFINED; i++) {
        struct request *r = active_of(requests[i]);
        active += r != NULL;
        if (r && is_complete(r)) {
            *index = i;
            err = take(r, status);
        } else if (r && r->done) {
            suspended = r;
        }
    }
    *flag = *index != MPI_UNDEFINED || !active;
    if (!active)
        status_give(status, NULL);
    return leave(*flag ? NULL : suspended, err);
}
API_ALIAS(MPI_Request_get_status_any);

int PMPI_Request_get_status_some(int incount, const MPI_Request requests[], int *outcount,
                                 int indices[], MPI_Status *statuses)
{
    api_enter("MPI_Request_get_status_some");
    int err = set_args(incount, requests, statuses, "array_of_statuses");
    if (!err)
        err = api_pointer(outcount, "outcount");
    if (!err && incount > 0)
        err = api_pointer(indices, "array_of_indices");
    if (err)
        return api_exit(MPI_COMM_NULL, err);
    poll_set(requests, incount, 1);
    struct request *suspended = NULL;
    int active = 0, n = 0;
    for (int i = 0; i < incount && !err; i++) {
        struct request *r = active_of(requests[i]);
        active += r != NULL;
        if (r && is_complete(r)) {
            indices[n] = i;
            err = take(r, api_status_at(statuses, n));
            n++;
        } else if (r && r->done) {
            suspended = r;
        }
    }
    *outcount = active ? n : MPI_UNDEFINED;
    return leave(n ? NULL : suspended, err);
}
API_ALIAS(MPI_Request_get_status_some);

static int is_over(MPI_Request request, struct request **r)
{
    *r = obj_find(OBJ_REQUEST, request);
    return !*r || (request_seen_done(*r) && !request_is_suspended(*r));
}

/* What the program learns by it is known to a checker. It makes no mark, which no api_exit() would
 * end, and runs no continuation: these write proc->call, beside a call of another thread. */
static __attribute__((cold, noinline)) int is_over_watched(MPI_Request request)
{
    struct request *r;
    api_must_run("MPIX_Request_is_complete");
    int over = is_over(request, &r);
    if (r && over && watch_wants(WATCH_BUFFERS)) {
        lock_acquire(&proc->lock);
        watch_released(r);
        lock_release(&proc->lock);
    }
    return over;
}

/* Without lock and progress: a program may call it where it may call nothing that waits. */
int PMPIX_Request_is_complete(MPI_Request request)
{
    struct request *r;
    return API_WATCHED() ? is_over_watched(request) : is_over(request, &r);
}
API_ALIAS(MPIX_Request_is_complete);

/* --- fields of a status -------------------------------------------------------------- */

static int field_arg(const char *call, const MPI_Status *status, const void *out, const char *name)
{
    api_enter(call);
    int err = api_status(status, "status");
    if (!err && status == MPI_STATUS_IGNORE)
        err = err_make(MPI_ERR_ARG, "%s: status is MPI_STATUS_IGNORE", proc->call);
    return err ? err : api_pointer(out, name);
}

int PMPI_Status_get_source(const MPI_Status *status, int *source)
{
    int err = field_arg("MPI_Status_get_source", status, source, "source");
    if (!err)
        *source = status->MPI_SOURCE;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Status_get_source);

int PMPI_Status_get_tag(const MPI_Status *status, int *tag)
{
    int err = field_arg("MPI_Status_get_tag", status, tag, "tag");
    if (!err)
        *tag = status->MPI_TAG;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Status_get_tag);

int PMPI_Status_get_error(const MPI_Status *status, int *error)
{
    int err = field_arg("MPI_Status_get_error", status, error, "err");
    if (!err)
        *error = status->MPI_ERROR;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Status_get_error);

int PMPI_Status_set_source(MPI_Status *status, int source)
{
    int err = field_arg("MPI_Status_set_source", status, status, "status");
    if (!err)
        status->MPI_SOURCE = source;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Status_set_source);

int PMPI_Status_set_tag(MPI_Status *status, int tag)
{
    int err = field_arg("MPI_Status_set_tag", status, status, "status");
    if (!err)
        status->MPI_TAG = tag;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Status_set_tag);

int PMPI_Status_set_error(MPI_Status *status, int error)
{
    int err = field_arg("MPI_Status_set_error", status, status, "status");
    if (!err)
        status->MPI_ERROR = error;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Status_set_error);
