/* errhan.c - error handlers and error codes (MPI-3.1 8.3 to 8.5), the MPI-1 names included. Those
 * of windows are in win.c. Start with comm_set(), which has a twin for files. */
#include "api/api.h"

#include <stdio.h>
#include <string.h>

#include "api/api_types.h"
#include "io/io.h"
#include "obj/errhandler.h"

/* User functions get the address of the holder's handle, whose type differs with the holder. */
typedef void handler_fn(void *holder_handle, int *code, ...);

int api_errhandler_create(const char *call, int holder, void *fn, MPI_Errhandler *out)
{
    api_enter(call);
    int err = api_pointer(fn, "the handler function");
    if (!err)
        err = api_pointer(out, "errhandler");
    if (!err) {
        struct errhandler *e = errhandler_make(holder, (handler_fn *)fn);
        if (e)
            *out = e->obj.handle;
        else
            err = err_make(MPI_ERR_NO_MEM, "%s: no memory for an error handler", call);
    }
    return api_exit(MPI_COMM_NULL, err);
}

int api_errhandler_get(struct errhandler *e, MPI_Errhandler *out)
{
    int err = api_pointer(out, "errhandler");
    if (err)
        return err;
    /* The user gets a reference, which MPI_Errhandler_free drops. */
    errhandler_ref(e);
    *out = e->obj.handle;
    return MPI_SUCCESS;
}

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *fn, MPI_Errhandler *errhandler)
{
    return api_errhandler_create("MPI_Comm_create_errhandler", OBJ_COMM, (void *)fn, errhandler);
}
API_ALIAS(MPI_Comm_create_errhandler);

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *fn, MPI_Errhandler *errhandler)
{
    return api_errhandler_create("MPI_Win_create_errhandler", OBJ_WIN, (void *)fn, errhandler);
}
API_ALIAS(MPI_Win_create_errhandler);

int PMPI_File_create_errhandler(MPI_File_errhandler_function *fn, MPI_Errhandler *errhandler)
{
    return api_errhandler_create("MPI_File_create_errhandler", OBJ_FILE, (void *)fn, errhandler);
}
API_ALIAS(MPI_File_create_errhandler);

int PMPI_Errhandler_create(MPI_Handler_function *fn, MPI_Errhandler *errhandler)
{
    return api_errhandler_create("MPI_Errhandler_create", OBJ_COMM, (void *)fn, errhandler);
}
API_ALIAS(MPI_Errhandler_create);

static int comm_set(const char *call, MPI_Comm comm, MPI_Errhandler errhandler)
{
    api_enter(call);
    struct comm *c;
    struct errhandler *e;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_errhandler(errhandler, OBJ_COMM, &e);
    if (!err)
        comm_set_errhandler(c, e);
    return api_exit(comm, err);
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return comm_set("MPI_Comm_set_errhandler", comm, errhandler);
}
API_ALIAS(MPI_Comm_set_errhandler);

int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return comm_set("MPI_Errhandler_set", comm, errhandler);
}
API_ALIAS(MPI_Errhandler_set);

static int comm_get(const char *call, MPI_Comm comm, MPI_Errhandler *errhandler)
{
    api_enter(call);
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err)
        err = api_errhandler_get(c->errhandler, errhandler);
    return api_exit(comm, err);
}

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return comm_get("MPI_Comm_get_errhandler", comm, errhandler);
}
API_ALIAS(MPI_Comm_get_errhandler);

int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return comm_get("MPI_Errhandler_get", comm, errhandler);
}
API_ALIAS(MPI_Errhandler_get);

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    api_enter("MPI_Comm_call_errhandler");
    struct comm *c;
    int err = api_comm_local(comm, &c);
    if (!err && !err_valid(errorcode))
        err = err_make(MPI_ERR_ARG, "MPI_Comm_call_errhandler: %d is no error code", errorcode);
    if (err)
        return api_exit(comm, err);
    api_unlock();
    if (errorcode != MPI_SUCCESS)
        api_fail_comm(comm, errorcode, "MPI_Comm_call_errhandler");
    return MPI_SUCCESS;
}
API_ALIAS(MPI_Comm_call_errhandler);

/* The handler of MPI_FILE_NULL answers for MPI_File_open and MPI_File_delete, and new files take it
 * over: MPI_ERRORS_RETURN at first (MPI-3.1 13.7). */
static int handler_of(MPI_File file, struct errhandler ***slot)
{
    struct io_file *f;
    *slot = &proc->api->file_errhandler;
    if (file == MPI_FILE_NULL)
        return MPI_SUCCESS;
    int err = api_file_local(file, &f);
    if (!err)
        *slot = io_errhandler(f);
    return err;
}

int api_fail_file(MPI_File fh, int err, const char *call)
{
    struct errhandler **slot;
    if (proc->threaded)
        lock_acquire(&proc->lock);
    err_name(err, call);
    struct io_file *f = fh == MPI_FILE_NULL ? NULL : api_file_find(fh);
    slot = f ? io_errhandler(f) : &proc->api->file_errhandler;
    struct errhandler *e = errhandler_ref(*slot);
    if (proc->threaded)
        lock_release(&proc->lock);
    err = err_report_file(e, f ? fh : MPI_FILE_NULL, err, call);
    api_errhandler_drop(e);
    return err;
}

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    api_enter("MPI_File_set_errhandler");
    struct errhandler *e, **slot;
    int err = handler_of(file, &slot);
    if (!err)
        err = api_errhandler(errhandler, OBJ_FILE, &e);
    if (!err) {
        errhandler_ref(e);
        errhandler_drop(*slot);
        *slot = e;
    }
    return api_exit_file(file, err);
}
API_ALIAS(MPI_File_set_errhandler);

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
    api_enter("MPI_File_get_errhandler");
    struct errhandler **slot;
    int err = handler_of(file, &slot);
    if (!err)
        err = api_errhandler_get(*slot, errhandler);
    return api_exit_file(file, err);
}
API_ALIAS(MPI_File_get_errhandler);

int PMPI_File_call_errhandler(MPI_File file, int errorcode)
{
    api_enter("MPI_File_call_errhandler");
    struct errhandler **slot;
    int err = handler_of(file, &slot);
    if (!err && !err_valid(errorcode))
        err = err_make(MPI_ERR_ARG, "MPI_File_call_errhandler: %d is no error code", errorcode);
    if (err)
        return api_exit_file(file, err);
    api_unlock();
    if (errorcode != MPI_SUCCESS)
        api_fail_file(file, errorcode, "MPI_File_call_errhandler");
    return MPI_SUCCESS;
}
API_ALIAS(MPI_File_call_errhandler);

int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    api_enter("MPI_Errhandler_free");
    struct errhandler *e = NULL;
    int err = api_pointer(errhandler, "errhandler");
    if (!err)
        err = api_errhandler_any(*errhandler, &e);
    if (!err) {
        errhandler_drop(e);
        *errhandler = MPI_ERRHANDLER_NULL;
    }
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Errhandler_free);

/* These may be called at any time (MPI-4 8.4), so they skip the check in api_enter. */
static void maybe_lock(void)
{
    if (proc_runs() && proc->threaded)
        lock_acquire(&proc->lock);
}

static void maybe_unlock(void)
{
    if (proc_runs() && proc->threaded)
        lock_release(&proc->lock);
}

int PMPI_Error_class(int errorcode, int *errorclass)
{
    maybe_lock();
    int err = !errorclass ? err_make(MPI_ERR_ARG, "MPI_Error_class: errorclass is a null pointer")
              : !err_valid(errorcode)
                  ? err_make(MPI_ERR_ARG, "MPI_Error_class: %d is no error code", errorcode)
                  : MPI_SUCCESS;
    if (!err)
        *errorclass = err_class(errorcode);
    maybe_unlock();
    return err ? api_fail_comm(MPI_COMM_NULL, err, "MPI_Error_class") : MPI_SUCCESS;
}
API_ALIAS(MPI_Error_class);

int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    maybe_lock();
    int err = !string || !resultlen
                  ? err_make(MPI_ERR_ARG, "MPI_Error_string: %s is a null pointer",
                             string ? "resultlen" : "string")
              : !err_valid(errorcode)
                  ? err_make(MPI_ERR_ARG, "MPI_Error_string: %d is no error code", errorcode)
                  : MPI_SUCCESS;
    if (!err) {
        err_text(errorcode, string, MPI_MAX_ERROR_STRING);
        *resultlen = (int)strlen(string);
    }
    maybe_unlock();
    return err ? api_fail_comm(MPI_COMM_NULL, err, "MPI_Error_string") : MPI_SUCCESS;
}
API_ALIAS(MPI_Error_string);

int PMPI_Add_error_class(int *errorclass)
{
    api_enter("MPI_Add_error_class");
    int err = api_pointer(errorclass, "errorclass");
    if (!err)
        err = err_add_class(errorclass);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Add_error_class);

int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    api_enter("MPI_Add_error_code");
    int err = api_pointer(errorcode, "errorcode");
    if (!err)
        err = err_add_code(errorclass, errorcode);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Add_error_code);

int PMPI_Add_error_string(int errorcode, const char *string)
{
    api_enter("MPI_Add_error_string");
    int err = api_pointer(string, "string");
    if (!err && strlen(string) >= MPI_MAX_ERROR_STRING)
        err = err_make(MPI_ERR_ARG,
                       "MPI_Add_error_string: the text has %zu characters, more than %d",
                       strlen(string), MPI_MAX_ERROR_STRING - 1);
    if (!err)
        err = err_add_string(errorcode, string);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Add_error_string);

int PMPI_Remove_error_class(int errorclass)
{
    api_enter("MPI_Remove_error_class");
    return api_exit(MPI_COMM_NULL, err_delete(errorclass, 1));
}
API_ALIAS(MPI_Remove_error_class);

int PMPI_Remove_error_code(int errorcode)
{
    api_enter("MPI_Remove_error_code");
    return api_exit(MPI_COMM_NULL, err_delete(errorcode, 0));
}
API_ALIAS(MPI_Remove_error_code);

int PMPI_Remove_error_string(int errorcode)
{
    api_enter("MPI_Remove_error_string");
    return api_exit(MPI_COMM_NULL, err_delete_string(errorcode));
}
API_ALIAS(MPI_Remove_error_string);
