/* check.c - argument checks, and the error halves of entering and leaving a call. Start with
 * api_comm() and api_fail_comm(). */
#include "api/api.h"

#include "api/api_types.h"
#include "api/bindings.h"
#include "base/log.h"
#include "dt/dt.h"
#include "obj/attr.h"
#include "obj/continue.h"
#include "obj/errhandler.h"
#include "threads/threads.h"
#include "var/var.h"

void api_must_run(const char *call)
{
    int phase = atomic_load_explicit(&proc->phase, memory_order_relaxed);
    /* PROC_INIT: another thread has run what was to run since the caller's test. */
    if (phase != PROC_CHECKED && phase != PROC_INIT)
        log_fatal("%s was called %s", call,
                  phase == PROC_NEW ? "before MPI_Init" : "after MPI_Finalize");
}

void api_enter_cold(const char *call)
{
    api_must_run(call);
    /* Sessions have their own levels. Free calls may run beside MPI_Finalize of another thread,
     * which frees what the watchers read. */
    if (watch_wants(WATCH_CALLED) && !proc->sessions_used && !threads_is_free(call))
        watch_called(call);
    continue_enter();
}

/* Some calls of a front end with a jump into this library: what it returns is the program's. */
__attribute__((weak, noinline)) int api_returned(int err, const char *call)
{
    (void)call;
    return err;
}

/* Where no object has a handler. */
int api_fail_outside(int err, const char *call)
{
    const char *first = var_env_get("MPIR_CVAR_INITIAL_ERRHANDLER");
    char text[ERR_TEXT];
    if (first && *first && errhandler_named(first) != ERRHANDLER_RETURN) {
        err_text(err, text, sizeof text);
        int phase = atomic_load_explicit(&proc->phase, memory_order_relaxed);
        log_fatal("fatal error in %s %s: %s", call,
                  phase == PROC_NEW ? "before MPI_Init" : "after MPI_Finalize", text);
    }
    return api_returned(err, call);
}

void api_errhandler_drop(struct errhandler *e)
{
    if (proc->threaded)
        lock_acquire(&proc->lock);
    errhandler_drop(e);
    if (proc->threaded)
        lock_release(&proc->lock);
}

int api_fail_null(const char *call, const char *arg)
{
    int locked = proc_runs() && proc->threaded;
    if (locked)
        lock_acquire(&proc->lock);
    int err = err_make(MPI_ERR_ARG, "%s: %s is a null pointer", call, arg);
    if (locked)
        lock_release(&proc->lock);
    return api_fail_comm(MPI_COMM_NULL, err, call);
}

/* An invalid communicator is none. */
int api_fail_comm(MPI_Comm comm, int err, const char *call)
{
    if (!proc_runs())
        return api_fail_outside(err, call);
    if (proc->threaded)
        lock_acquire(&proc->lock);
    err_name(err, call);
    struct comm *c = comm_find(comm);
    c = comm_ref(c ? c : comm_of_none());
    if (proc->threaded)
        lock_release(&proc->lock);
    err = err_report_comm(c, err, call);
    if (proc->threaded)
        lock_acquire(&proc->lock);
    comm_drop(c);
    if (proc->threaded)
        lock_release(&proc->lock);
    return api_returned(err, call);
}

int api_fail_begun(MPI_Comm comm, int err, MPI_Request *request)
{
    if (request)
        *request = MPI_REQUEST_NULL;
    return api_exit(comm, err);
}

int api_comm_exists(MPI_Comm comm)
{
    if (!proc_runs())
        return 0;
    if (proc->threaded)
        lock_acquire(&proc->lock);
    int exists = comm_find(comm) != NULL;
    if (proc->threaded)
        lock_release(&proc->lock);
    return exists;
}

int api_at_root(MPI_Comm comm, int root)
{
    if (!proc_runs())
        return 0;
    if (proc->threaded)
        lock_acquire(&proc->lock);
    struct comm *c = comm_find(comm);
    int is_root = c && root == (c->remote ? MPI_ROOT : c->rank);
    if (proc->threaded)
        lock_release(&proc->lock);
    return is_root;
}

int api_exit_told(MPI_Comm comm, int err, struct comm *n, MPI_Comm *out)
{
    if (!out) /* the communicator is not at fault */
        return api_exit(MPI_COMM_NULL, err);
    *out = !err && n ? n->obj.handle : MPI_COMM_NULL;
    return api_exit(comm, err);
}

int api_exit_new(MPI_Comm comm, int err, struct comm *n, MPI_Comm *out)
{
    if (!err && n && out && watch_wants(WATCH_OBJECTS))
        watch_comm_made(comm_find(comm), n, WATCH_CALLS, NULL);
    return api_exit_told(comm, err, n, out);
}

/* Why a handle is invalid: the null handle, or any other number. */
static __attribute__((cold)) int bad_handle(int cls, const char *what, int handle, int null_handle,
                                            const char *null_name)
{
    if (handle == null_handle)
        return err_make(cls, "%s: %s is %s", proc->call, what, null_name);
    return err_make(cls, "%s: %s handle %#x does not exist", proc->call, what, (unsigned)handle);
}

static __attribute__((cold)) int bad_comm(MPI_Comm h)
{
    if (comm_find(h)) /* hidden */
        return err_make(MPIX_ERR_REVOKED, "%s: communicator %#x was revoked", proc->call,
                        (unsigned)h);
    return bad_handle(MPI_ERR_COMM, "communicator", h, MPI_COMM_NULL, "MPI_COMM_NULL");
}

int api_comm(MPI_Comm h, struct comm **out)
{
    *out = obj_find(OBJ_COMM, h);
    return *out ? MPI_SUCCESS : bad_comm(h);
}

int api_comm_local(MPI_Comm h, struct comm **out)
{
    *out = obj_find(OBJ_COMM, h);
    if (__builtin_expect(!*out, 0))
        *out = comm_find(h); /* hidden */
    return *out ? MPI_SUCCESS : bad_comm(h);
}

static int intercomm_only(MPI_Comm h, int err, const struct comm *c)
{
    if (!err && !c->remote)
        err = err_make(MPI_ERR_COMM, "%s: communicator %#x is no intercommunicator", proc->call,
                       (unsigned)h);
    return err;
}

static int intracomm_only(MPI_Comm h, int err, const struct comm *c)
{
    if (!err && c->remote)
        err = err_make(MPI_ERR_COMM, "%s: communicator %#x is an intercommunicator", proc->call,
                       (unsigned)h);
    return err;
}

int api_intracomm(MPI_Comm h, struct comm **out)
{
    int err = api_comm(h, out);
    return intracomm_only(h, err, *out);
}

int api_intercomm(MPI_Comm h, struct comm **out)
{
    int err = api_comm(h, out);
    return intercomm_only(h, err, *out);
}

int api_intracomm_local(MPI_Comm h, struct comm **out)
{
    int err = api_comm_local(h, out);
    return intracomm_only(h, err, *out);
}

int api_intercomm_local(MPI_Comm h, struct comm **out)
{
    int err = api_comm_local(h, out);
    return intercomm_only(h, err, *out);
}

int api_group(MPI_Group h, struct group **out)
{
    *out = obj_find(OBJ_GROUP, h);
    return *out ? MPI_SUCCESS
                : bad_handle(MPI_ERR_GROUP, "group", h, MPI_GROUP_NULL, "MPI_GROUP_NULL");
}

int api_request(MPI_Request h, struct request **out)
{
    *out = NULL;
    if (h == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    *out = obj_find(OBJ_REQUEST, h);
    return *out ? MPI_SUCCESS
                : bad_handle(MPI_ERR_REQUEST, "request", h, MPI_REQUEST_NULL, "MPI_REQUEST_NULL");
}

int api_info(MPI_Info h, struct info **out)
{
    *out = NULL;
    if (h == MPI_INFO_NULL)
        return MPI_SUCCESS;
    *out = obj_find(OBJ_INFO, h);
    return *out ? MPI_SUCCESS : bad_handle(MPI_ERR_INFO, "info", h, MPI_INFO_NULL, "MPI_INFO_NULL");
}

static int type_named(MPI_Datatype h, const char *arg, struct dt_type **out)
{
    *out = dt_find(h);
    if (*out && !(*out)->holders) /* freed by the user; pending operations hold it */
        *out = NULL;
    return *out ? MPI_SUCCESS
                : bad_handle(MPI_ERR_TYPE, arg, h, MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");
}

int api_type(MPI_Datatype h, struct dt_type **out)
{
    return type_named(h, "datatype", out);
}

int api_type_named(MPI_Datatype h, const char *arg, struct dt_type **out)
{
    int err = type_named(h, arg, out);
    if (!err && !((*out)->flags & DT_COMMITTED))
        err = err_make(MPI_ERR_TYPE, "%s: %s %#x is not committed", proc->call, arg, (unsigned)h);
    return err;
}

int api_type_committed(MPI_Datatype h, struct dt_type **out)
{
    return api_type_named(h, "datatype", out);
}

int api_op(MPI_Op h, struct dt_op **out)
{
    *out = dt_op_find(h);
    return *out ? MPI_SUCCESS : bad_handle(MPI_ERR_OP, "operation", h, MPI_OP_NULL, "MPI_OP_NULL");
}

/* MPI_ERRHANDLER_NULL is MPI_ERR_ARG, as in the libraries of before MPI-4.1 that programs know. */
int api_errhandler_any(MPI_Errhandler h, struct errhandler **out)
{
    *out = errhandler_find(h);
    return *out ? MPI_SUCCESS
                : bad_handle(h == MPI_ERRHANDLER_NULL ? MPI_ERR_ARG : MPI_ERR_ERRHANDLER,
                             "error handler", h, MPI_ERRHANDLER_NULL, "MPI_ERRHANDLER_NULL");
}

int api_errhandler(MPI_Errhandler h, int holder, struct errhandler **out)
{
    static const char *const names[OBJ_KINDS] = {[OBJ_COMM] = "communicators",
                                                 [OBJ_WIN] = "windows",
                                                 [OBJ_FILE] = "files",
                                                 [OBJ_SESSION] = "sessions"};
    int err = api_errhandler_any(h, out);
    if (err)
        return err;
    if ((*out)->holder && (*out)->holder != holder)
        err = err_make(MPI_ERR_ERRHANDLER, "%s: error handler %#x is for %s, not for %s",
                       proc->call, (unsigned)h, names[(*out)->holder], names[holder]);
    return err;
}

int api_count_named(MPI_Aint count, const char *arg)
{
    return count >= 0 ? MPI_SUCCESS
                      : err_make(MPI_ERR_COUNT, "%s: %s is %lld, less than 0", proc->call, arg,
                                 (long long)count);
}

int api_count(MPI_Aint count)
{
    return api_count_named(count, "count");
}

int api_rank(int rank, int size, int any)
{
    if (rank >= 0 && rank < size)
        return MPI_SUCCESS;
    if ((rank == MPI_PROC_NULL && (any & API_PROC_NULL)) ||
        (rank == MPI_ANY_SOURCE && (any & API_ANY_SOURCE)))
        return MPI_SUCCESS;
    return err_make(MPI_ERR_RANK, "%s: rank %d is not in the group of %d processes", proc->call,
                    rank, size);
}

int api_root(int root, const struct comm *c)
{
    if (c->remote
            ? root == MPI_ROOT || root == MPI_PROC_NULL || (root >= 0 && root < c->remote->size)
            : root >= 0 && root < c->size)
        return MPI_SUCCESS;
    return err_make(MPI_ERR_ROOT, "%s: root %d is not in the group of %d processes", proc->call,
                    root, comm_peer_size(c));
}

int api_tag(int tag, int any)
{
    if (tag >= 0 || (tag == MPI_ANY_TAG && any)) /* MPI_TAG_UB is INT_MAX */
        return MPI_SUCCESS;
    return err_make(MPI_ERR_TAG, "%s: tag %d is less than 0", proc->call, tag);
}

int api_pointer(const void *p, const char *arg)
{
    return p ? MPI_SUCCESS : err_make(MPI_ERR_ARG, "%s: %s is a null pointer", proc->call, arg);
}

int api_buffer_named(const void *p, MPI_Aint count, struct dt_type *t, const char *arg)
{
    if (p || count == 0 || t->size == 0 || (t->flags & DT_ABSOLUTE))
        return MPI_SUCCESS;
    return err_make(MPI_ERR_BUFFER, "%s: %s of %lld elements is a null pointer", proc->call, arg,
                    (long long)count);
}

int api_buffer(const void *p, MPI_Aint count, struct dt_type *t)
{
    return api_buffer_named(p, count, t, "the buffer");
}

int api_status(const MPI_Status *status, const char *name)
{
    return status ? MPI_SUCCESS
                  : err_make(MPI_ERR_ARG, "%s: %s is a null pointer (MPI_STATUS_IGNORE is not)",
                             proc->call, name);
}
