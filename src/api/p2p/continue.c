/* continue.c - MPIX_Continue and its kin: a function of the program runs when requests are complete
 * (obj/continue.h). Start with PMPIX_Continue(). */
#include "obj/continue_quick.h"

#include <stdlib.h>

#include "api/api.h"
#include "obj/attr.h"

/* With the signature that MPICH's and Open MPI's patches have, and Open MPI's values of the
 * flags. */
static int init_args(int flags, int max_poll, MPI_Info info, const MPI_Request *out,
                     struct continue_mode *m)
{
    struct info *i = NULL;
    int err = api_pointer(out, "cont_req");
    if (!err && flags & ~(MPIX_CONT_POLL_ONLY | MPIX_CONT_DEFER_COMPLETE))
        err = err_make(MPI_ERR_ARG, "%s: flags is %#x, not MPIX_CONT_POLL_ONLY or 0", proc->call,
                       (unsigned)flags);
    if (!err && max_poll < 0 && max_poll != MPI_UNDEFINED)
        err = err_make(MPI_ERR_ARG, "%s: max_poll is %d", proc->call, max_poll);
    if (!err)
        err = api_info(info, &i);
    if (err)
        return err;
    const char *most = i ? info_value(i, "mpi_continue_max_poll") : NULL;
    *m = (struct continue_mode){.polled = (flags & MPIX_CONT_POLL_ONLY) != 0,
                                .defer = (flags & MPIX_CONT_DEFER_COMPLETE) != 0,
                                .max_poll = max_poll > 0 ? max_poll : 0};
    if (i) {
        m->polled = info_truth(i, "mpi_continue_poll_only", m->polled);
        m->defer = info_truth(i, "mpi_continue_enqueue_complete", m->defer);
    }
    if (most && atoi(most) > 0)
        m->max_poll = atoi(most);
    /* A bound that other calls do not keep is none. */
    m->polled |= m->max_poll > 0;
    return MPI_SUCCESS;
}

int PMPIX_Continue_init(int flags, int max_poll, MPI_Info info, MPI_Request *cont_req)
{
    api_enter("MPIX_Continue_init");
    struct continue_mode m;
    int err = init_args(flags, max_poll, info, cont_req, &m);
    if (!err)
        err = continue_init(&m, cont_req);
    return api_exit_begun(MPI_COMM_NULL, err, cont_req);
}
API_ALIAS(MPIX_Continue_init);

static int op_wrong(MPI_Request h, const char *why)
{
    return err_make(MPI_ERR_REQUEST, "%s: request %#x %s", proc->call, (unsigned)h, why);
}

/* *r: of h, or NULL. */
static inline int op_arg(MPI_Request h, const struct request *cont, struct request **r)
{
    *r = obj_find(OBJ_REQUEST, h);
    if (__builtin_expect(!*r, 0))
        return api_request(h, r); /* null, or an error */
    if (__builtin_expect((*r)->kind == REQUEST_MESSAGE, 0))
        return op_wrong(h, "is a message, no request");
    if (__builtin_expect(*r == cont, 0))
        return op_wrong(h, "cannot continue with itself");
    return __builtin_expect(continue_holds(*r), 0) ? op_wrong(h, "has a continuation already")
                                                   : MPI_SUCCESS;
}

static inline int cont_arg(MPI_Request h, struct request **cont)
{
    *cont = obj_find(OBJ_REQUEST, h);
    if (__builtin_expect(*cont && request_is_continue(*cont), 1))
        return MPI_SUCCESS;
    int err = api_request(h, cont);
    if (!err && (!*cont || !request_is_continue(*cont)))
        err = op_wrong(h, "was not made by MPIX_Continue_init");
    return err;
}

enum {
    FLAGS = MPIX_CONT_REQBUF_VOLATILE | MPIX_CONT_REQUESTS_FREE | MPIX_CONT_POLL_ONLY |
            MPIX_CONT_DEFER_COMPLETE | MPIX_CONT_INVOKE_FAILED
};

static inline int what_args(const struct continue_what *what)
{
    if (__builtin_expect(what->fn && !(what->flags & ~FLAGS), 1))
        return MPI_SUCCESS;
    return !what->fn ? api_pointer(NULL, "cb")
                     : err_make(MPI_ERR_ARG, "%s: flags has unknown bits: %#x", proc->call,
                                (unsigned)what->flags);
}

/* What is complete already runs, unless it is to wait. */
static inline int leave(struct request *cont, int flags, int err)
{
    if (!err && !(flags & MPIX_CONT_DEFER_COMPLETE) && proc->obj->continues_ready)
        continue_now(cont);
    return api_exit(MPI_COMM_NULL, err);
}

static __attribute__((noinline)) int attach(MPI_Request *op_request, MPIX_Continue_cb_function *cb,
                                            void *cb_data, int flags, MPI_Status *status,
                                            MPI_Request cont_req)
{
    if (!API_WATCHED() && !proc->threaded && !(flags & ~FLAGS) &&
        continue_at_once(op_request, cb, cb_data, flags, status, cont_req))
        return MPI_SUCCESS;
    api_enter("MPIX_Continue");
    if (proc->threaded && !(flags & ~FLAGS) &&
        continue_quick(op_request, cb, cb_data, flags, status, cont_req))
        return leave(&proc->obj->continue_recent->r, flags, MPI_SUCCESS);
    if (proc->threaded && !(flags & ~FLAGS) &&
        continue_at_once(op_request, cb, cb_data, flags, status, cont_req))
        return api_exit(MPI_COMM_NULL, MPI_SUCCESS);
    struct continue_what what = {cb, cb_data, flags};
    struct request *cont = NULL, *r;
    int err = op_request && status ? MPI_SUCCESS : api_pointer(op_request, "op_request");
    if (!err && !status)
        err = api_status(status, "status");
    if (!err)
        err = what_args(&what);
    if (!err)
        err = cont_arg(cont_req, &cont);
    if (!err)
        err = op_arg(*op_request, cont, &r);
    if (!err)
        err = continue_attach_one(cont, &what, r, op_request,
                                  status == MPI_STATUS_IGNORE ? NULL : status);
    return leave(cont, flags, err);
}

/* In PROC_INIT nothing is to run and no function runs (upcall.h). */
int PMPIX_Continue(MPI_Request *op_request, MPIX_Continue_cb_function *cb, void *cb_data, int flags,
                   MPI_Status *status, MPI_Request cont_req)
{
    if (!API_WATCHED() && !proc->threaded && !(flags & ~FLAGS) &&
        continue_quick(op_request, cb, cb_data, flags, status, cont_req))
        return MPI_SUCCESS;
    return attach(op_request, cb, cb_data, flags, status, cont_req);
}
API_ALIAS(MPIX_Continue);

int PMPIX_Continueall(int count, MPI_Request op_requests[], MPIX_Continue_cb_function *cb,
                      void *cb_data, int flags, MPI_Status *statuses, MPI_Request cont_req)
{
    api_enter("MPIX_Continueall");
    int err = api_count(count);
    if (!err && count > 0)
        err = api_pointer(op_requests, "array_of_op_requests");
    if (!err && count > 0)
        err = api_status(statuses, "array_of_statuses");
    struct continue_what what = {cb, cb_data, flags};
    struct request *cont = NULL, *r;
    if (!err)
        err = what_args(&what);
    if (!err)
        err = cont_arg(cont_req, &cont);
    for (int i = 0; i < count && !err; i++)
        err = op_arg(op_requests[i], cont, &r);
    if (!err)
        err = continue_attach(cont, &what, count, op_requests,
                              statuses == MPI_STATUSES_IGNORE ? NULL : statuses);
    return leave(cont, flags, err);
}
API_ALIAS(MPIX_Continueall);
