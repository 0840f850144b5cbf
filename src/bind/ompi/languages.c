/* languages.c - what the libraries of Fortran and C++ take from libmpi.so.40 beside MPI's names.
 * The names are Open MPI's; the arguments of all but ompi_op_set_cxx_callback are this library's
 * own. */
#include "bind/front/front.h"

#include "bind/ompi/languages.h"

#define OPEN_MPI(result, name, params)                                                             \
    API_EXPORT result name params;                                                                 \
    result name params

/* --- operations ----------------------------------------------------------------------------- */

/* The function of MPI_Op_create, which gets that of the program as a fifth argument. */
typedef void front_intercept(void *in, void *inout, int *len, HANDLE *type, void_function *fn);

static void call_intercept(const void *in, void *inout, int len, MPI_Datatype type,
                           void_function *user, void_function *intercept)
{
    HANDLE h = handle_out(type);
    ((front_intercept *)intercept)((void *)(uintptr_t)in, inout, &len, &h, user);
}

OPEN_MPI(void, ompi_op_set_cxx_callback, (HANDLE op, void_function *fn))
{
    api_op_intercept(handle_in(op), fn, call_intercept);
}

/* --- error handlers ------------------------------------------------------------------------- */

static void call_of_fortran(int kind, int *handle, int *code, void_function *fn)
{
    enum { KIND_FILE = 1 };
    HANDLE h = kind == KIND_FILE ? file_out(*(MPI_File *)(void *)handle) : handle_out(*handle);
    int index = ompi_c2f(h), c = error_out(*code);
    ((void (*)(int *, int *))fn)(&index, &c);
    *code = error_in(c);
}

/* NULL: no memory. */
OPEN_MPI(HANDLE, ompi_errhandler_create, (int holder, void_function *fn, int language))
{
    HANDLE made = NULL;
    int rc = holder == HOLDER_WIN ? custom_Win_create_errhandler(fn, &made)
        : holder == HOLDER_FILE ? custom_File_create_errhandler(fn, &made)
                                : custom_Comm_create_errhandler(fn, &made);
    if (!rc && language == OF_FORTRAN)
        MPII_Errhandler_set_cxx(handle_in(made), (void_function *)call_of_fortran);
    return made;
}

/* --- attributes, which are integers in Fortran ---------------------------------------------- */

static int set_attr(int holder, HANDLE h, int keyval, MPI_Aint value, int form)
{
    int core = handle_in(h), key = key_in(keyval);
    void *v = (void *)value;
    return result_out(holder == HOLDER_WIN ? MPII_Win_set_attr(core, key, v, form)
                      : holder == HOLDER_TYPE ? MPII_Type_set_attr(core, key, v, form)
                                              : MPII_Comm_set_attr(core, key, v, form));
}

static int get_attr(int holder, HANDLE h, int keyval, MPI_Aint *value, int *flag, int form)
{
    int core = handle_in(h), key = key_in(keyval);
    int rc = holder == HOLDER_WIN ? MPII_Win_get_attr(core, key, value, flag, form)
        : holder == HOLDER_TYPE ? MPII_Type_get_attr(core, key, value, flag, form)
                                : MPII_Comm_get_attr(core, key, value, flag, form);
    if (!rc && *flag && key != keyval) {
        const int number = (int)*value, *at = &number;
        attribute_out(key, &at);
        if (at != &number)
            *value = *at; /* a constant, which has another value here */
    }
    return result_out(rc);
}

OPEN_MPI(int, ompi_attr_set_aint, (int holder, HANDLE h, int keyval, MPI_Aint value))
{
    return set_attr(holder, h, keyval, value, ATTR_AINT);
}

OPEN_MPI(int, ompi_attr_set_fint, (int holder, HANDLE h, int keyval, MPI_Fint value))
{
    return set_attr(holder, h, keyval, value, ATTR_INT);
}

OPEN_MPI(int, ompi_attr_get_aint,
         (int holder, HANDLE h, int keyval, MPI_Aint *value, int *flag))
{
    return get_attr(holder, h, keyval, value, flag, ATTR_AINT);
}

OPEN_MPI(int, ompi_attr_get_fint,
         (int holder, HANDLE h, int keyval, MPI_Fint *value, int *flag))
{
    MPI_Aint v = 0;
    int rc = get_attr(holder, h, keyval, &v, flag, ATTR_INT);
    if (!rc && *flag)
        *value = (MPI_Fint)v;
    return rc;
}

/* --- the common blocks of Fortran's sentinels ----------------------------------------------- */

/* Programs define them; these are for processes without Fortran. The sizes are Open MPI's. */
#define SENTINEL(x, size)                                                                          \
    API_EXPORT extern const char mpi_fortran_##x##_[size];                                         \
    const char mpi_fortran_##x##_[size] __attribute__((aligned(8))) = {0}
SENTINEL(bottom, 4);
SENTINEL(in_place, 4);
SENTINEL(unweighted, 4);
SENTINEL(weights_empty, 4);
SENTINEL(errcodes_ignore, 4);
SENTINEL(argv_null, 1);
SENTINEL(argvs_null, 1);
SENTINEL(status_ignore, 8);
SENTINEL(statuses_ignore, 8);

__attribute__((constructor)) static void set_for_c(void)
{
    MPI_F_STATUS_IGNORE = (MPI_Fint *)(uintptr_t)mpi_fortran_status_ignore_;
    MPI_F_STATUSES_IGNORE = (MPI_Fint *)(uintptr_t)mpi_fortran_statuses_ignore_;
}
