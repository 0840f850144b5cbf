/* callbacks.c - functions that take functions of the user, which get the handles and statuses of
 * the world; attributes, and the start of processes. Start with custom_Op_create(). */
#include "bind/front/front.h"

#include <stdlib.h>

/* --- operations --------------------------------------------------------------------------- */

typedef void front_user_function(void *in, void *inout, int *len, HANDLE *type);

static void call_op(const void *in, void *inout, int len, MPI_Datatype type,
                    MPI_User_function *user)
{
    HANDLE h = handle_out(type);
    ((front_user_function *)(void_function *)user)((void *)(uintptr_t)in, inout, &len, &h);
}

CORE(Op_create);
int custom_Op_create(void_function *fn, int commute, HANDLE *op)
{
    MPI_Op o = MPI_OP_NULL;
    int rc = core_Op_create((MPI_User_function *)fn, commute, op ? &o : NULL);
    if (rc)
        return result_out(rc);
    MPII_Op_set_cxx(o, (void_function *)call_op);
    *op = handle_out(o);
    return MPI_SUCCESS;
}

#if FRONT_MPI_5
typedef void front_user_function_c(void *in, void *inout, MPI_Count *len, HANDLE *type);

static void call_op_c(const void *in, void *inout, MPI_Count len, MPI_Datatype type,
                      MPI_User_function_c *user)
{
    HANDLE h = handle_out(type);
    ((front_user_function_c *)(void_function *)user)((void *)(uintptr_t)in, inout, &len, &h);
}

CORE(Op_create_c);
int custom_Op_create_c(void_function *fn, int commute, HANDLE *op)
{
    MPI_Op o = MPI_OP_NULL;
    int rc = core_Op_create_c((MPI_User_function_c *)fn, commute, op ? &o : NULL);
    if (rc)
        return result_out(rc);
    api_op_set_caller_c(o, call_op_c);
    *op = handle_out(o);
    return MPI_SUCCESS;
}
#endif

/* --- error handlers ------------------------------------------------------------------------ */

typedef void front_errhandler(HANDLE *h, int *code, ...);

static void call_errhandler(int kind, int *handle, int *code, void_function *fn)
{
    enum { KIND_FILE = 1 };
    HANDLE h = kind == KIND_FILE ? file_out(*(MPI_File *)(void *)handle) : handle_out(*handle);
    int c = error_out(*code);
    ((front_errhandler *)fn)(&h, &c);
    *code = error_in(c);
}

static int errhandler_made(int rc, MPI_Errhandler e, HANDLE *out)
{
    if (rc)
        return result_out(rc);
    MPII_Errhandler_set_cxx(e, (void_function *)call_errhandler);
    *out = handle_out(e);
    return MPI_SUCCESS;
}

#define CREATE_ERRHANDLER(Kind)                                                                    \
    int custom_##Kind##_create_errhandler(void_function *fn, HANDLE *errhandler)                   \
    {                                                                                              \
        MPI_Errhandler e = MPI_ERRHANDLER_NULL;                                                    \
        int rc = core_##Kind##_create_errhandler((MPI_##Kind##_errhandler_function *)fn,           \
                                                 errhandler ? &e : NULL);                          \
        return errhandler_made(rc, e, errhandler);                                                 \
    }
CORE(Comm_create_errhandler);
CREATE_ERRHANDLER(Comm)
CORE(Win_create_errhandler);
CREATE_ERRHANDLER(Win)
CORE(File_create_errhandler);
CREATE_ERRHANDLER(File)
#if FRONT_MPI_5
CORE(Session_create_errhandler);
CREATE_ERRHANDLER(Session)
#endif

/* --- attributes --------------------------------------------------------------------------- */

typedef int front_copy(HANDLE h, int keyval, void *extra, void *in, void *out, int *flag);
typedef int front_delete(HANDLE h, int keyval, void *value, void *extra);

static int call_copy(MPI_Comm_copy_attr_function *fn, int handle, int keyval, void *extra, int form,
                     void *value, void **copied, int *flag)
{
    (void)form;
    front_copy *f = (front_copy *)(void_function *)fn;
    return error_in(f(handle_out(handle), key_out(keyval), extra, value, copied, flag));
}

static int call_delete(MPI_Comm_delete_attr_function *fn, int handle, int keyval, int form,
                       void *value, void *extra)
{
    (void)form;
    front_delete *f = (front_delete *)(void_function *)fn;
    return error_in(f(handle_out(handle), key_out(keyval), value, extra));
}

#define CREATE_KEYVAL(x, copy_type, delete_type)                                                   \
    int custom_##x(void_function *copy, void_function *del, int *keyval, void *extra)              \
    {                                                                                              \
        copy_type *c = DUP_FN_IS(copy) ? (copy_type *)(void_function *)MPIR_Dup_fn                 \
                                    : (copy_type *)copy;                                           \
        int rc = core_##x(c, (delete_type *)del, keyval, extra);                                   \
        if (!rc) {                                                                                 \
            MPII_Keyval_set_proxy(*keyval, call_copy, call_delete);                                \
            *keyval = key_out(*keyval);                                                            \
        }                                                                                          \
        return result_out(rc);                                                                     \
    }
CORE(Comm_create_keyval);
CREATE_KEYVAL(Comm_create_keyval, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function)
CORE(Type_create_keyval);
CREATE_KEYVAL(Type_create_keyval, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function)
CORE(Win_create_keyval);
CREATE_KEYVAL(Win_create_keyval, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function)
CORE(Keyval_create);
CREATE_KEYVAL(Keyval_create, MPI_Copy_function, MPI_Delete_function)

#define GET_ATTR(x)                                                                                \
    int custom_##x(HANDLE h, int keyval, void *value, int *flag)                                   \
    {                                                                                              \
        int key = key_in(keyval), rc = core_##x(handle_in(h), key, value, flag);                   \
        if (!rc && *flag && key != keyval)                                                         \
            attribute_out(key, value);                                                             \
        return result_out(rc);                                                                     \
    }
CORE(Comm_get_attr);
GET_ATTR(Comm_get_attr)
CORE(Attr_get);
GET_ATTR(Attr_get)
CORE(Win_get_attr);
GET_ATTR(Win_get_attr)

/* --- generalized requests, data representations --------------------------------------------- */

struct general {
    int (*query)(void *extra, struct front_status *status);
    int (*free)(void *extra);
    int (*cancel)(void *extra, int complete);
    void *extra;
};

static int general_query(void *extra, MPI_Status *status)
{
    struct general *g = extra;
    struct front_status s = {.MPI_ERROR = 0};
    if (!g->query)
        return MPI_SUCCESS;
    status_back(&s, status);
    int rc = g->query(g->extra, &s);
    status_in(status, &s);
    return error_in(rc);
}

static int general_free(void *extra)
{
    struct general *g = extra;
    int rc = g->free ? g->free(g->extra) : MPI_SUCCESS;
    free(g);
    return error_in(rc);
}

static int general_cancel(void *extra, int complete)
{
    struct general *g = extra;
    return g->cancel ? error_in(g->cancel(g->extra, complete)) : MPI_SUCCESS;
}

CORE(Grequest_start);
int custom_Grequest_start(void_function *query, void_function *free_fn, void_function *cancel,
                          void *extra, HANDLE *request)
{
    struct general *g = malloc(sizeof *g);
    MPI_Request r = MPI_REQUEST_NULL;
    if (!g)
        return error_out(MPI_ERR_NO_MEM);
    *g = (struct general){(int (*)(void *, struct front_status *))query, (int (*)(void *))free_fn,
                          (int (*)(void *, int))cancel, extra};
    int rc = core_Grequest_start(general_query, general_free, general_cancel, g,
                                 request ? &r : NULL);
    if (rc)
        free(g);
    else
        *request = handle_out(r);
    return result_out(rc);
}

/* A representation stays to the end of the process. */
struct datarep {
    int (*read)(void *user, HANDLE type, MPI_Count n, void *file, MPI_Offset at, void *extra);
    int (*write)(void *user, HANDLE type, MPI_Count n, void *file, MPI_Offset at, void *extra);
    int (*extent)(HANDLE type, MPI_Aint *extent, void *extra);
    int counts_are_int;
    void *extra;
};
typedef int convert_int(void *user, HANDLE type, int n, void *file, MPI_Offset at, void *extra);

static int datarep_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    struct datarep *d = extra;
    return error_in(d->extent(handle_out(type), extent, d->extra));
}

static int datarep_read(void *user, MPI_Datatype type, MPI_Count n, void *file, MPI_Offset at,
                        void *extra)
{
    struct datarep *d = extra;
    if (d->counts_are_int)
        return error_in(((convert_int *)(void_function *)d->read)(user, handle_out(type), (int)n,
                                                                  file, at, d->extra));
    return error_in(d->read(user, handle_out(type), n, file, at, d->extra));
}

static int datarep_write(void *user, MPI_Datatype type, MPI_Count n, void *file, MPI_Offset at,
                         void *extra)
{
    struct datarep *d = extra;
    if (d->counts_are_int)
        return error_in(((convert_int *)(void_function *)d->write)(user, handle_out(type), (int)n,
                                                                   file, at, d->extra));
    return error_in(d->write(user, handle_out(type), n, file, at, d->extra));
}

static int datarep_read_int(void *user, MPI_Datatype type, int n, void *file, MPI_Offset at,
                            void *extra)
{
    return datarep_read(user, type, n, file, at, extra);
}

static int datarep_write_int(void *user, MPI_Datatype type, int n, void *file, MPI_Offset at,
                             void *extra)
{
    return datarep_write(user, type, n, file, at, extra);
}

static struct datarep *datarep_make(void_function *read, void_function *write,
                                    void_function *extent, int counts_are_int, void *extra)
{
    struct datarep *d = malloc(sizeof *d);
    if (d)
        *d = (struct datarep){
            (int (*)(void *, HANDLE, MPI_Count, void *, MPI_Offset, void *))read,
            (int (*)(void *, HANDLE, MPI_Count, void *, MPI_Offset, void *))write,
            (int (*)(HANDLE, MPI_Aint *, void *))extent, counts_are_int, extra};
    return d;
}

CORE(Register_datarep);
int custom_Register_datarep(const char *name, void_function *read, void_function *write,
                            void_function *extent, void *extra)
{
    struct datarep *d = datarep_make(read, write, extent, 1, extra);
    int rc = !d ? MPI_ERR_NO_MEM
                : core_Register_datarep(name, read ? datarep_read_int : NULL,
                                        write ? datarep_write_int : NULL,
                                        extent ? datarep_extent : NULL, d);
    if (rc)
        free(d);
    return result_out(rc);
}

#if FRONT_MPI_5
CORE(Register_datarep_c);
int custom_Register_datarep_c(const char *name, void_function *read, void_function *write,
                              void_function *extent, void *extra)
{
    struct datarep *d = datarep_make(read, write, extent, 0, extra);
    int rc = !d ? MPI_ERR_NO_MEM
                : core_Register_datarep_c(name, read ? datarep_read : NULL,
                                          write ? datarep_write : NULL,
                                          extent ? datarep_extent : NULL, d);
    if (rc)
        free(d);
    return result_out(rc);
}
#endif

/* --- spawn ------------------------------------------------------------------------------- */

/* In place of that of api/env/spawn.c. */
int api_err_spawn(void)
{
    return error_out(MPI_ERR_SPAWN);
}

/* Only at the root do count and the array of infos mean anything. */
CORE(Comm_spawn_multiple);
int custom_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[],
                               const HANDLE infos[], int root, HANDLE comm, HANDLE *intercomm,
                               int errcodes[])
{
    struct ints c;
    int made = 0, at_root = api_at_root(handle_in(comm), rank_in(root));
    ints_begin(&c, at_root ? count : 0, at_root ? infos : NULL);
    int rc = core_Comm_spawn_multiple(count, commands, argvs, maxprocs, c.v, rank_in(root),
                                  handle_in(comm), intercomm ? &made : NULL, errcodes);
    ints_end(&c);
    if (made)
        *intercomm = handle_out(made);
    return result_out(rc);
}
