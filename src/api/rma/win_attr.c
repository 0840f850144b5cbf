/* win_attr.c - names, groups, attributes, hints and error handlers of windows (MPI-3.1 6.7, 6.8,
 * 8.3, 11.2). Start with set_attr() and get_attr(). */
#include "api/api.h"

#include <limits.h>
#include <string.h>

#include "api/bindings.h"
#include "api/env/hardware.h"
#include "obj/attr.h"
#include "obj/errhandler.h"
#include "rma/rma.h"

int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    api_enter("MPI_Win_get_group");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_pointer(group, "group");
    if (!err)
        err = api_group_publish(rma_win_comm(w)->map, NULL, group);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_get_group);

int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    api_enter("MPI_Win_set_info");
    struct rma_win *w;
    struct info *i;
    int err = api_win(win, &w);
    if (!err)
        err = api_info(info, &i);
    WATCH_RUN(err, rma_win_set_info(w, i), .call = WATCH_WIN_SET_INFO, .win = w,
              .site = __builtin_return_address(0));
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_set_info);

int PMPI_Win_get_info(MPI_Win win, MPI_Info *info)
{
    api_enter("MPI_Win_get_info");
    struct rma_win *w;
    struct info *i = NULL;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_pointer(info, "info_used");
    if (!err)
        err = rma_win_get_info(w, &i);
    if (!err && memory_kinds_put(i, rma_win_comm(w)->session))
        err = err_make(MPI_ERR_NO_MEM, "MPI_Win_get_info: no memory for an info object");
    if (!err)
        err = api_info_publish(i, info);
    info_drop(i);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_get_info);

int PMPI_Win_set_name(MPI_Win win, const char *name)
{
    api_enter("MPI_Win_set_name");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_pointer(name, "win_name");
    if (!err) {
        char *to = rma_win_name(w);
        size_t n = strnlen(name, MPI_MAX_OBJECT_NAME - 1);
        memcpy(to, name, n);
        to[n] = '\0';
    }
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_set_name);

int PMPI_Win_get_name(MPI_Win win, char *name, int *len)
{
    api_enter("MPI_Win_get_name");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_pointer(name, "win_name");
    if (!err)
        err = api_pointer(len, "resultlen");
    if (!err) {
        strcpy(name, rma_win_name(w));
        *len = (int)strlen(name);
    }
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_get_name);

static int predefined(int keyval)
{
    return keyval == MPI_WIN_BASE || keyval == MPI_WIN_SIZE || keyval == MPI_WIN_DISP_UNIT ||
           keyval == MPI_WIN_CREATE_FLAVOR || keyval == MPI_WIN_MODEL ||
           keyval == MPIX_WIN_PROGRESS;
}

static int fixed(int keyval)
{
    return err_make(MPI_ERR_KEYVAL, "%s: keyval %#x is predefined and cannot be changed",
                    proc->call, (unsigned)keyval);
}

static int set_attr(MPI_Win win, int keyval, void *value, enum attr_form form)
{
    api_enter("MPI_Win_set_attr");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err && predefined(keyval))
        err = fixed(keyval);
    if (!err)
        err = attr_set_as(OBJ_WIN, win, rma_win_attrs(w), keyval, value, form, proc->call);
    return api_exit_win(win, err);
}

/* Fortran gets the value itself, not its address: the base is an address, the size an MPI_Aint, the
 * others are ints. */
static MPI_Aint fixed_number(struct rma_win *w, int keyval)
{
    const void *value = rma_win_attr(w, keyval);
    return keyval == MPI_WIN_BASE   ? (MPI_Aint)value
           : keyval == MPI_WIN_SIZE ? *(const MPI_Aint *)value
                                    : *(const int *)value;
}

static int get_attr(MPI_Win win, int keyval, void *value, int *flag, enum attr_form form)
{
    api_enter("MPI_Win_get_attr");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_pointer(value, "attribute_val");
    if (!err)
        err = api_pointer(flag, "flag");
    /* Fortran's numbers of these keys are C's plus one */
    if (form != ATTR_POINTER && predefined(keyval - 1))
        keyval--;
    int fixed_one = !err && predefined(keyval);
    if (fixed_one && keyval == MPI_WIN_DISP_UNIT)
        err = api_unit_fits(rma_win_unit(w));
    if (fixed_one && !err) {
        if (form == ATTR_POINTER)
            *(void **)value = rma_win_attr(w, keyval);
        else
            *(MPI_Aint *)value = fixed_number(w, keyval);
        *flag = 1;
    } else if (!err) {
        err = attr_get_as(OBJ_WIN, rma_win_attrs(w), keyval, value, flag, form, proc->call);
    }
    return api_exit_win(win, err);
}

int PMPI_Win_set_attr(MPI_Win win, int keyval, void *value)
{
    return set_attr(win, keyval, value, ATTR_POINTER);
}
API_ALIAS(MPI_Win_set_attr);

int PMPI_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    return get_attr(win, keyval, value, flag, ATTR_POINTER);
}
API_ALIAS(MPI_Win_get_attr);

int MPII_Win_set_attr(MPI_Win win, int keyval, void *value, int form)
{
    return set_attr(win, keyval, value, form);
}

int MPII_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag, int form)
{
    return get_attr(win, keyval, value, flag, form);
}

int PMPI_Win_delete_attr(MPI_Win win, int keyval)
{
    api_enter("MPI_Win_delete_attr");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err && predefined(keyval))
        err = fixed(keyval);
    if (!err)
        err = attr_delete(OBJ_WIN, win, rma_win_attrs(w), keyval, proc->call);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_delete_attr);

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    api_enter("MPI_Win_set_errhandler");
    struct rma_win *w;
    struct errhandler *e;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_errhandler(errhandler, OBJ_WIN, &e);
    if (!err) {
        struct errhandler **at = rma_win_errhandler(w), *old = *at;
        *at = errhandler_ref(e);
        errhandler_drop(old);
    }
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_set_errhandler);

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    api_enter("MPI_Win_get_errhandler");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_errhandler_get(*rma_win_errhandler(w), errhandler);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_get_errhandler);

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    api_enter("MPI_Win_call_errhandler");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err && !err_valid(errorcode))
        err = err_make(MPI_ERR_ARG, "MPI_Win_call_errhandler: %d is no error code", errorcode);
    if (err)
        return api_exit_win(win, err);
    api_unlock();
    if (errorcode != MPI_SUCCESS)
        api_fail_win(win, errorcode, "MPI_Win_call_errhandler");
    return MPI_SUCCESS;
}
API_ALIAS(MPI_Win_call_errhandler);
