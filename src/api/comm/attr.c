/* attr.c - attributes of communicators, windows and datatypes (MPI-3.1 6.7), the MPI-1 names
 * included. Those of windows are in win.c. Start with do_create() and do_set(). */
#include "api/api.h"

#include <limits.h>

#include "api/api_types.h"
#include "api/bindings.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "obj/attr.h"

/* --- the three kinds of holder ------------------------------------------------- */

struct holder {
    enum obj_kind kind;
    int handle;
    struct attr_list *attrs;
    int of_session; /* a communicator of the Sessions Model */
};

static int find_comm(int h, struct holder *out)
{
    struct comm *c;
    int err = api_comm_local(h, &c);
    if (!err)
        *out = (struct holder){OBJ_COMM, h, &c->attrs, c->session != NULL};
    return err;
}

static int find_type(int h, struct holder *out)
{
    struct dt_type *t;
    int err = api_type(h, &t);
    if (!err)
        *out = (struct holder){OBJ_TYPE, h, &t->attrs, 0};
    return err;
}

static int find_holder(enum obj_kind kind, int h, struct holder *out)
{
    return kind == OBJ_COMM ? find_comm(h, out) : find_type(h, out);
}

static int leave(enum obj_kind kind, int handle, int err)
{
    return api_exit(kind == OBJ_COMM ? handle : MPI_COMM_NULL, err);
}

/* --- predefined attributes ------------------------------------------------------- */

void api_attrs_init(struct api_attrs *a)
{
    a->tag_ub = INT_MAX;
    a->host = MPI_PROC_NULL;
    a->io = MPI_ANY_SOURCE;
    a->wtime_is_global = boot_host_processes() == boot_size(); /* one kernel, one monotonic clock */
    a->universe_size = boot_expected();
    a->appnum = boot_appnum();
    a->ft = 1; /* calls return after a failure */
}

/* A predefined keyval of communicators: *value to stable memory, NULL where the attribute is not
 * set. What describes the world is no attribute of a session's communicator (MPI-4.1 9.1.2). */
static int comm_builtin(int keyval, int of_session, void **value)
{
    struct api_attrs *a = &proc->api->attrs;
    switch (keyval) {
    case MPI_TAG_UB: *value = &a->tag_ub; return 1;
    case MPI_LASTUSEDCODE: *value = err_last_used(); return 1;
    case MPIX_FT: *value = &a->ft; return 1;
    }
    if (of_session) {
        *value = NULL;
        return keyval == MPI_HOST || keyval == MPI_IO || keyval == MPI_WTIME_IS_GLOBAL ||
               keyval == MPI_UNIVERSE_SIZE || keyval == MPI_APPNUM;
    }
    switch (keyval) {
    case MPI_HOST: *value = &a->host; return 1;
    case MPI_IO: *value = &a->io; return 1;
    case MPI_WTIME_IS_GLOBAL: *value = &a->wtime_is_global; return 1;
    case MPI_UNIVERSE_SIZE: *value = a->universe_size > 0 ? &a->universe_size : NULL; return 1;
    case MPI_APPNUM: *value = a->appnum >= 0 ? &a->appnum : NULL; return 1;
    }
    return 0;
}

static int is_builtin(int keyval)
{
    return ((unsigned)keyval >> 30) == 1;
}

/* Integers to Fortran, whose numbers of the predefined keys follow C's by one. */
static int get_builtin(const struct holder *h, int keyval, void *value, int *flag,
                       enum attr_form form)
{
    void *v = NULL;
    if (form != ATTR_POINTER && keyval % 2 == 0)
        keyval--;
    if (h->kind != OBJ_COMM || !comm_builtin(keyval, h->of_session, &v))
        return err_make(MPI_ERR_KEYVAL, "%s: predefined keyval %#x is not for this kind of object",
                        proc->call, (unsigned)keyval);
    *flag = v != NULL;
    if (v && form == ATTR_POINTER)
        *(void **)value = v;
    else if (v)
        *(MPI_Aint *)value = *(int *)v;
    return MPI_SUCCESS;
}

/* --- the calls ---------------------------------------------------------------------- */

static int do_create(const char *call, enum obj_kind kind, void *copy, void *del, int *keyval,
                     void *extra)
{
    api_enter(call);
    int err = api_pointer(keyval, "keyval");
    if (!err)
        err = keyval_create(kind, copy, del, keyval, extra, 0);
    return api_exit(MPI_COMM_NULL, err);
}

static int do_free(const char *call, enum obj_kind kind, int *keyval)
{
    api_enter(call);
    int err = api_pointer(keyval, "keyval");
    if (!err && is_builtin(*keyval))
        err = err_make(MPI_ERR_KEYVAL, "%s: keyval %#x is predefined", call, (unsigned)*keyval);
    if (!err)
        err = keyval_free(kind, keyval, call);
    return api_exit(MPI_COMM_NULL, err);
}

static int do_set(const char *call, enum obj_kind kind, int handle, int keyval, void *value,
                  enum attr_form form)
{
    struct holder h;
    api_enter(call);
    int err = find_holder(kind, handle, &h);
    if (!err && is_builtin(keyval))
        err = err_make(MPI_ERR_KEYVAL, "%s: keyval %#x is predefined and cannot be set", call,
                       (unsigned)keyval);
    if (!err)
        err = attr_set_as(kind, handle, h.attrs, keyval, value, form, call);
    return leave(kind, handle, err);
}

static int do_get(const char *call, enum obj_kind kind, int handle, int keyval, void *value,
                  int *flag, enum attr_form form)
{
    struct holder h;
    api_enter(call);
    int err = find_holder(kind, handle, &h);
    if (!err)
        err = api_pointer(value, "attribute_val");
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err)
        err = is_builtin(keyval) ? get_builtin(&h, keyval, value, flag, form)
                                 : attr_get_as(kind, h.attrs, keyval, value, flag, form, call);
    return leave(kind, handle, err);
}

static int do_delete(const char *call, enum obj_kind kind, int handle, int keyval)
{
    struct holder h;
    api_enter(call);
    int err = find_holder(kind, handle, &h);
    if (!err && is_builtin(keyval))
        err = err_make(MPI_ERR_KEYVAL, "%s: keyval %#x is predefined and cannot be deleted", call,
                       (unsigned)keyval);
    if (!err)
        err = attr_delete(kind, handle, h.attrs, keyval, call);
    return leave(kind, handle, err);
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *del,
                            int *keyval, void *extra)
{
    return do_create("MPI_Comm_create_keyval", OBJ_COMM, (void *)copy, (void *)del, keyval, extra);
}
API_ALIAS(MPI_Comm_create_keyval);

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *del,
                           int *keyval, void *extra)
{
    return do_create("MPI_Win_create_keyval", OBJ_WIN, (void *)copy, (void *)del, keyval, extra);
}
API_ALIAS(MPI_Win_create_keyval);

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *del,
                            int *keyval, void *extra)
{
    return do_create("MPI_Type_create_keyval", OBJ_TYPE, (void *)copy, (void *)del, keyval, extra);
}
API_ALIAS(MPI_Type_create_keyval);

int PMPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *del, int *keyval, void *extra)
{
    return do_create("MPI_Keyval_create", OBJ_COMM, (void *)copy, (void *)del, keyval, extra);
}
API_ALIAS(MPI_Keyval_create);

int PMPI_Comm_free_keyval(int *keyval)
{
    return do_free("MPI_Comm_free_keyval", OBJ_COMM, keyval);
}
API_ALIAS(MPI_Comm_free_keyval);

int PMPI_Win_free_keyval(int *keyval)
{
    return do_free("MPI_Win_free_keyval", OBJ_WIN, keyval);
}
API_ALIAS(MPI_Win_free_keyval);

int PMPI_Type_free_keyval(int *keyval)
{
    return do_free("MPI_Type_free_keyval", OBJ_TYPE, keyval);
}
API_ALIAS(MPI_Type_free_keyval);

int PMPI_Keyval_free(int *keyval)
{
    return do_free("MPI_Keyval_free", OBJ_COMM, keyval);
}
API_ALIAS(MPI_Keyval_free);

int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    return do_set("MPI_Comm_set_attr", OBJ_COMM, comm, keyval, value, ATTR_POINTER);
}
API_ALIAS(MPI_Comm_set_attr);

int PMPI_Type_set_attr(MPI_Datatype type, int keyval, void *value)
{
    return do_set("MPI_Type_set_attr", OBJ_TYPE, type, keyval, value, ATTR_POINTER);
}
API_ALIAS(MPI_Type_set_attr);

int PMPI_Attr_put(MPI_Comm comm, int keyval, void *value)
{
    return do_set("MPI_Attr_put", OBJ_COMM, comm, keyval, value, ATTR_POINTER);
}
API_ALIAS(MPI_Attr_put);

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return do_get("MPI_Comm_get_attr", OBJ_COMM, comm, keyval, value, flag, ATTR_POINTER);
}
API_ALIAS(MPI_Comm_get_attr);

int PMPI_Type_get_attr(MPI_Datatype type, int keyval, void *value, int *flag)
{
    return do_get("MPI_Type_get_attr", OBJ_TYPE, type, keyval, value, flag, ATTR_POINTER);
}
API_ALIAS(MPI_Type_get_attr);

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return do_get("MPI_Attr_get", OBJ_COMM, comm, keyval, value, flag, ATTR_POINTER);
}
API_ALIAS(MPI_Attr_get);

int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval)
{
    return do_delete("MPI_Comm_delete_attr", OBJ_COMM, comm, keyval);
}
API_ALIAS(MPI_Comm_delete_attr);

int PMPI_Type_delete_attr(MPI_Datatype type, int keyval)
{
    return do_delete("MPI_Type_delete_attr", OBJ_TYPE, type, keyval);
}
API_ALIAS(MPI_Type_delete_attr);

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return do_delete("MPI_Attr_delete", OBJ_COMM, comm, keyval);
}
API_ALIAS(MPI_Attr_delete);

/* --- for the binding libraries (bindings.h) ----------------------------------------------- */

int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void *value, int form)
{
    return do_set("MPI_Comm_set_attr", OBJ_COMM, comm, keyval, value, form);
}

int MPII_Type_set_attr(MPI_Datatype type, int keyval, void *value, int form)
{
    return do_set("MPI_Type_set_attr", OBJ_TYPE, type, keyval, value, form);
}

int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag, int form)
{
    return do_get("MPI_Comm_get_attr", OBJ_COMM, comm, keyval, value, flag, form);
}

int MPII_Type_get_attr(MPI_Datatype type, int keyval, void *value, int *flag, int form)
{
    return do_get("MPI_Type_get_attr", OBJ_TYPE, type, keyval, value, flag, form);
}

void MPII_Keyval_set_proxy(int keyval, attr_copy_proxy *copy, attr_delete_proxy *del)
{
    api_enter("MPII_Keyval_set_proxy");
    keyval_set_proxy(keyval, copy, del);
    api_unlock();
}
