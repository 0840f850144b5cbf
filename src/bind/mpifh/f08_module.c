/* f08_module.c - procedures of the modules of mpi_f08: comparisons of handles, null and dup
 * functions. A handle is one INTEGER; LOGICAL is 0 or 1. */
#include <stddef.h>

#include "bind/mpifh/f08.h"

#define COMPARE(kind)                                                                              \
    F08_SHOWN int __mpi_f08_types_MOD_ompi_##kind##_op_eq(const int *a, const int *b);             \
    int __mpi_f08_types_MOD_ompi_##kind##_op_eq(const int *a, const int *b)                        \
    {                                                                                              \
        return *a == *b;                                                                           \
    }                                                                                              \
    F08_SHOWN int __mpi_f08_types_MOD_ompi_##kind##_op_ne(const int *a, const int *b);             \
    int __mpi_f08_types_MOD_ompi_##kind##_op_ne(const int *a, const int *b)                        \
    {                                                                                              \
        return *a != *b;                                                                           \
    }
COMPARE(comm)
COMPARE(datatype)
COMPARE(errhandler)
COMPARE(file)
COMPARE(group)
COMPARE(info)
COMPARE(message)
COMPARE(op)
COMPARE(request)
COMPARE(win)

#define CALLBACK(name, params)                                                                     \
    F08_SHOWN void __mpi_f08_callbacks_MOD_mpi_##name params;                                      \
    void __mpi_f08_callbacks_MOD_mpi_##name params
#define COPY_PARAMS                                                                                \
    (int *h, int *keyval, ptrdiff_t *extra, ptrdiff_t *in, ptrdiff_t *out, int *flag, int *ierr)
#define FUNCTIONS(kind)                                                                            \
    CALLBACK(kind##_dup_fn, COPY_PARAMS)                                                           \
    {                                                                                              \
        (void)h, (void)keyval, (void)extra;                                                        \
        *out = *in;                                                                                \
        *flag = 1;                                                                                 \
        *ierr = 0;                                                                                 \
    }                                                                                              \
    CALLBACK(kind##_null_copy_fn, COPY_PARAMS)                                                     \
    {                                                                                              \
        (void)h, (void)keyval, (void)extra, (void)in, (void)out;                                   \
        *flag = 0;                                                                                 \
        *ierr = 0;                                                                                 \
    }                                                                                              \
    CALLBACK(kind##_null_delete_fn,                                                                \
             (int *h, int *keyval, ptrdiff_t *value, ptrdiff_t *extra, int *ierr))                 \
    {                                                                                              \
        (void)h, (void)keyval, (void)value, (void)extra;                                           \
        *ierr = 0;                                                                                 \
    }
FUNCTIONS(comm)
FUNCTIONS(type)
FUNCTIONS(win)
/* Never called: register_datarep knows its address. */
CALLBACK(conversion_fn_null, (void))
{
}
