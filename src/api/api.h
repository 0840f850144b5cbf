/* api.h - what every MPI function does around its one call into a core.
 *
 *   int PMPI_Win_flush(int rank, MPI_Win win)
 *   {
 *       api_enter("MPI_Win_flush");
 *       struct rma_win *w;
 *       int err = api_win(win, &w);
 *       if (!err)
 *           err = rma_flush(w, rank);
 *       return api_exit_win(win, err);
 *   }
 *   API_ALIAS(MPI_Win_flush);
 *
 * API_ALIAS makes MPI_X a weak alias of PMPI_X, for profilers. api_enter takes proc->lock if the
 * process is threaded, and notes the call. api_exit releases it and, on error, calls the error
 * handler. Handlers are user code, so they run without the lock.
 * Check helpers return MPI_SUCCESS or an error code whose text names call, argument and value. */
#ifndef API_API_H
#define API_API_H

#include <mpi.h>

#include "base/lock.h"
#include "base/proc.h"
#include "obj/comm.h"
#include "obj/err.h"
#include "obj/obj.h"
#include "obj/request.h"
#include "watch/watch.h"

#define API_EXPORT __attribute__((visibility("default")))
#define API_ALIAS(name)                                                                            \
    API_EXPORT extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)))

/* The phase was not PROC_INIT. Returns if a checker looks at the calls or continuations are to run
 * (PROC_CHECKED), which then do; else it ends the job with an error line: MPI is not initialised,
 * or is already finalized. */
void api_enter_cold(const char *call) __attribute__((cold));
/* Ends the job with that line unless MPI runs. */
void api_must_run(const char *call) __attribute__((cold));

static inline void api_enter_running(const char *call)
{
    if (proc->threaded)
        lock_acquire(&proc->lock);
    proc->call = call;
}

/* The phase is not PROC_INIT: a checker watches the calls, or MPI does not run. */
#define API_WATCHED()                                                                              \
    __builtin_expect(atomic_load_explicit(&proc->phase, memory_order_relaxed) != PROC_INIT, 0)

static inline void api_enter(const char *call)
{
    if (API_WATCHED())
        api_enter_cold(call);
    api_enter_running(call);
}

static inline void api_unlock(void)
{
    proc->call = NULL;
    if (proc->threaded)
        lock_release(&proc->lock);
}

/* Before MPI_Init or after MPI_Finalize: the error is returned, or ends the process
 * (MPIR_CVAR_INITIAL_ERRHANDLER). */
int api_fail_outside(int err, const char *call) __attribute__((cold));
/* Of a call that is legal at any time, and has not entered: this argument is a null pointer. */
int api_fail_null(const char *call, const char *arg) __attribute__((cold));
/* Give up a reference to e; the caller does not have the lock. */
struct errhandler;
void api_errhandler_drop(struct errhandler *e) __attribute__((cold));
/* Error half of the leave functions: unlock, then the handler. */
int api_fail_comm(MPI_Comm comm, int err, const char *call) __attribute__((cold));
int api_fail_win(MPI_Win win, int err, const char *call) __attribute__((cold));
/* MPI_FILE_NULL or an invalid one: the handler of MPI_FILE_NULL */
int api_fail_file(MPI_File fh, int err, const char *call) __attribute__((cold));

/* Leave after a call on a communicator. MPI_COMM_NULL or an invalid one: comm_of_none(). */
static inline int api_exit(MPI_Comm comm, int err)
{
    const char *call = proc->call;
    api_unlock();
    return __builtin_expect(err != MPI_SUCCESS, 0) ? api_fail_comm(comm, err, call) : MPI_SUCCESS;
}
/* The same, after a call that makes a request. A program that waits for all its requests after an
 * error finds MPI_REQUEST_NULL where this one failed. request may be NULL. */
int api_fail_begun(MPI_Comm comm, int err, MPI_Request *request) __attribute__((cold));
static inline int api_exit_begun(MPI_Comm comm, int err, MPI_Request *request)
{
    return __builtin_expect(err != MPI_SUCCESS, 0) ? api_fail_begun(comm, err, request)
                                                   : api_exit(comm, MPI_SUCCESS);
}
static inline int api_exit_win(MPI_Win win, int err)
{
    const char *call = proc->call;
    api_unlock();
    return __builtin_expect(err != MPI_SUCCESS, 0) ? api_fail_win(win, err, call) : MPI_SUCCESS;
}

static inline int api_exit_file(MPI_File fh, int err)
{
    const char *call = proc->call;
    api_unlock();
    return __builtin_expect(err != MPI_SUCCESS, 0) ? api_fail_file(fh, err, call) : MPI_SUCCESS;
}

/* Where a checker looks on, or a continuation runs: before a wait for these n, and when it is over.
 * Before a test. Not MPI_SUCCESS: it must not be. */
int api_waits(struct request *const *r, int n) __attribute__((cold));
void api_waits_no_more(struct request *const *r) __attribute__((cold));
int api_tests(struct request *r) __attribute__((cold));

/* Leave after a call on r: the handler of its communicator, window or file. */
int api_exit_request(struct request *r, int err);

/* Leave a call on `comm` that made communicator n: its handle, or MPI_COMM_NULL, goes to *out. */
int api_exit_new(MPI_Comm comm, int err, struct comm *n, MPI_Comm *out);
/* The same where the watchers know of n already. */
int api_exit_told(MPI_Comm comm, int err, struct comm *n, MPI_Comm *out);

/* Handle to object; MPI_ERR_COMM, MPI_ERR_GROUP... */
int api_comm(MPI_Comm h, struct comm **out); /* MPIX_ERR_REVOKED, too */
/* The same for calls that do not communicate, or may on revoked ones: no MPIX_ERR_REVOKED. */
int api_comm_local(MPI_Comm h, struct comm **out);
int api_intracomm_local(MPI_Comm h, struct comm **out);
int api_intercomm_local(MPI_Comm h, struct comm **out);
int api_intracomm(MPI_Comm h, struct comm **out); /* MPI_ERR_COMM for an intercommunicator */
int api_intercomm(MPI_Comm h, struct comm **out); /* MPI_ERR_COMM for an intracommunicator */
int api_group(MPI_Group h, struct group **out);
/* a new group for the user, of that session (NULL: of none) */
int api_group_publish(struct rankmap *map, struct session_share *session, MPI_Group *out);
/* MPI_IDENT, SIMILAR, UNEQUAL */
int api_rankmap_compare(const struct rankmap *a, const struct rankmap *b, int *result);
int api_request(MPI_Request h, struct request **out); /* MPI_REQUEST_NULL: MPI_SUCCESS and NULL */
struct rma_win;
int api_win(MPI_Win h, struct rma_win **out); /* MPIX_ERR_REVOKED, too */
/* The same for calls that communicate with none, or end the window: no MPIX_ERR_REVOKED. */
int api_win_local(MPI_Win h, struct rma_win **out);
/* Memory of the program that a window gets, or had until its end. */
void api_watch_window(const void *base, MPI_Aint size) __attribute__((cold));
int api_win_create(MPI_Aint size, MPI_Aint unit, struct info *info, struct comm *c, void *base,
                   struct rma_win **out);
/* The same, and of a duplicate the window that it was made of. */
int api_win_root(MPI_Win h, struct rma_win **out);
/* The synchronization calls of windows while a watcher looks on (sync_calls.c). call: an enum
 * watch_sync_call; a, b, c: arguments of the MPI function in their order, without the window. */
int api_watch(int call, MPI_Win win, int a, int b, int c, const void *site)
    __attribute__((cold, noinline));
int api_watch_test(MPI_Win win, int *flag, const void *site) __attribute__((cold, noinline));
/* Where the inline path does not find the window: MPI_SUCCESS, or what api_sync_apart() takes. That
 * leaves the call and, if the window has copies, makes it again; it returns the call's result. */
int api_sync_searched(MPI_Win win, struct rma_win **out) __attribute__((cold, noinline));
int api_sync_apart(int err, int call, MPI_Win win, int a, int b, int c, const void *site)
    __attribute__((cold, noinline));
struct io_file;
/* The handle is a number, as others are; it names no memory. */
struct io_file *api_file_find(MPI_File h); /* NULL: there is none */
int api_file(MPI_File h, struct io_file **out); /* MPIX_ERR_REVOKED, too */
/* The same for calls that do not communicate, or end the file: no MPIX_ERR_REVOKED. */
int api_file_local(MPI_File h, struct io_file **out);
int api_unit_fits(MPI_Aint unit); /* MPI_ERR_VALUE_TOO_LARGE: an int does not hold it */
struct info;
int api_info(MPI_Info h, struct info **out); /* MPI_INFO_NULL: MPI_SUCCESS and NULL */
/* a copy for the user; NULL gives an empty one */
int api_info_publish(const struct info *of, MPI_Info *out);
struct dt_type;
int api_type(MPI_Datatype h, struct dt_type **out);           /* any valid type */
int api_type_committed(MPI_Datatype h, struct dt_type **out); /* MPI_ERR_TYPE unless committed */
struct dt_op;
int api_op(MPI_Op h, struct dt_op **out);
struct errhandler;
/* of any kind */
int api_errhandler_any(MPI_Errhandler h, struct errhandler **out);
/* for this obj_kind of holder */
int api_errhandler(MPI_Errhandler h, int holder, struct errhandler **out);
/* a whole MPI call */
int api_errhandler_create(const char *call, int holder, void *fn, MPI_Errhandler *out);
/* MPI_*_get_errhandler: a new reference for the user */
int api_errhandler_get(struct errhandler *e, MPI_Errhandler *out);

int api_count(MPI_Aint count);              /* MPI_ERR_COUNT if negative */
int api_rank(int rank, int size, int any);  /* any bits: API_ANY_SOURCE, API_PROC_NULL */
enum { API_PROC_NULL = 1, API_ANY_SOURCE = 2 };
/* MPI_ERR_ROOT; MPI_ROOT and MPI_PROC_NULL between groups */
int api_root(int root, const struct comm *c);
int api_tag(int tag, int any);              /* MPI_ERR_TAG; any = 1 lets MPI_ANY_TAG pass */
int api_pointer(const void *p, const char *arg); /* MPI_ERR_ARG if NULL */
/* MPI_ERR_ARG if NULL; MPI_STATUS_IGNORE is legal */
int api_status(const MPI_Status *status, const char *arg);
static inline MPI_Status *api_status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}
/* MPI_ERR_BUFFER: NULL with data and a type that is not absolute */
int api_buffer(const void *p, MPI_Aint count, struct dt_type *t);
/* The same, for a call that has several of them: arg is its name in the standard. */
int api_count_named(MPI_Aint count, const char *arg);
int api_type_named(MPI_Datatype h, const char *arg, struct dt_type **out); /* api_type_committed */
int api_buffer_named(const void *p, MPI_Aint count, struct dt_type *t, const char *arg);

#endif
