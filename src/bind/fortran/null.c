/* null.c - the predefined copy and delete functions of Fortran. */
#include <stddef.h>

#include "bind/fortran/names.h" /* and not mpi.h, which has macros of these names */

#define COPY_ARGS(value) \
    (int *handle, int *keyval, value *extra, value *in, value *out, int *flag, int *ierr)
#define DELETE_ARGS(value) (int *handle, int *keyval, value *in, value *extra, int *ierr)
#define DUP \
    { \
        *out = *in; \
        *flag = 1; \
        *ierr = 0; \
    }
#define NO_COPY \
    { \
        *flag = 0; \
        *ierr = 0; \
    }
#define NO_DELETE \
    { \
        *ierr = 0; \
    }

FORT(_dup_fn, _DUP_FN, COPY_ARGS(int))
DUP
FORT(_null_copy_fn, _NULL_COPY_FN, COPY_ARGS(int))
NO_COPY
FORT(_null_delete_fn, _NULL_DELETE_FN, DELETE_ARGS(int))
NO_DELETE
FORT(_comm_dup_fn, _COMM_DUP_FN, COPY_ARGS(ptrdiff_t))
DUP
FORT(_comm_null_copy_fn, _COMM_NULL_COPY_FN, COPY_ARGS(ptrdiff_t))
NO_COPY
FORT(_comm_null_delete_fn, _COMM_NULL_DELETE_FN, DELETE_ARGS(ptrdiff_t))
NO_DELETE
FORT(_type_dup_fn, _TYPE_DUP_FN, COPY_ARGS(ptrdiff_t))
DUP
FORT(_type_null_copy_fn, _TYPE_NULL_COPY_FN, COPY_ARGS(ptrdiff_t))
NO_COPY
FORT(_type_null_delete_fn, _TYPE_NULL_DELETE_FN, DELETE_ARGS(ptrdiff_t))
NO_DELETE
FORT(_win_dup_fn, _WIN_DUP_FN, COPY_ARGS(ptrdiff_t))
DUP
FORT(_win_null_copy_fn, _WIN_NULL_COPY_FN, COPY_ARGS(ptrdiff_t))
NO_COPY
FORT(_win_null_delete_fn, _WIN_NULL_DELETE_FN, DELETE_ARGS(ptrdiff_t))
NO_DELETE
/* Never called: register_datarep knows its address. */
FORT(_conversion_fn_null, _CONVERSION_FN_NULL, (void))
{
}
