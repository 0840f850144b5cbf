/* callback.c - functions of Fortran that the library calls: all arguments by reference, the error
 * in the last one. Start with fort_keyval(). */
#include "bind/fortran/fort.h"

/* The hooks for binding libraries (api/bindings.h): `form` tells how the value was set. */
typedef int copy_proxy(MPI_Comm_copy_attr_function *fn, int handle, int keyval, void *extra,
                       int form, void *value, void **copied, int *flag);
typedef int delete_proxy(MPI_Comm_delete_attr_function *fn, int handle, int keyval, int form,
                         void *value, void *extra);
extern void MPII_Keyval_set_proxy(int keyval, copy_proxy *copy, delete_proxy *del);
extern void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, void (*caller)(void));

typedef void fort_copy(MPI_Fint *handle, MPI_Fint *keyval, void *extra, void *value, void *copied,
                       MPI_Fint *flag, MPI_Fint *ierr);
typedef void fort_delete(MPI_Fint *handle, MPI_Fint *keyval, void *value, void *extra,
                         MPI_Fint *ierr);

static int copy(MPI_Comm_copy_attr_function *fn, int handle, int keyval, void *extra, int form,
                void *value, void **copied, int *flag)
{
    MPI_Aint e = (MPI_Aint)extra, v = (MPI_Aint)value, c = 0;
    MPI_Fint ierr = 0, is_copied = 0;
    ((fort_copy *)(void *)fn)(&handle, &keyval, &e, &v, &c, &is_copied, &ierr);
    *flag = is_copied != 0;
    *copied = (void *)c;
    return ierr;
}

static int del(MPI_Comm_delete_attr_function *fn, int handle, int keyval, int form, void *value,
               void *extra)
{
    MPI_Aint e = (MPI_Aint)extra, v = (MPI_Aint)value;
    MPI_Fint ierr = 0;
    ((fort_delete *)(void *)fn)(&handle, &keyval, &v, &e, &ierr);
    return ierr;
}

static int old_copy(MPI_Comm_copy_attr_function *fn, int handle, int keyval, void *extra, int form,
                    void *value, void **copied, int *flag)
{
    MPI_Fint e = (MPI_Fint)(MPI_Aint)extra, v = (MPI_Fint)(MPI_Aint)value, c = 0;
    MPI_Fint ierr = 0, is_copied = 0;
    ((fort_copy *)(void *)fn)(&handle, &keyval, &e, &v, &c, &is_copied, &ierr);
    *flag = is_copied != 0;
    *copied = (void *)(MPI_Aint)c;
    return ierr;
}

static int old_del(MPI_Comm_delete_attr_function *fn, int handle, int keyval, int form, void *value,
                   void *extra)
{
    MPI_Fint e = (MPI_Fint)(MPI_Aint)extra, v = (MPI_Fint)(MPI_Aint)value, ierr = 0;
    ((fort_delete *)(void *)fn)(&handle, &keyval, &v, &e, &ierr);
    return ierr;
}

void fort_keyval(int keyval, int is_old)
{
    if (is_old)
        MPII_Keyval_set_proxy(keyval, old_copy, old_del);
    else
        MPII_Keyval_set_proxy(keyval, copy, del);
}

/* Handlers of communicators, windows and sessions get what Fortran expects; a file's handle is
 * another one there. */
static void file_caller(int kind, int *handle, int *code, void (*fn)(void))
{
    MPI_Fint fh = PMPI_File_c2f(*(MPI_File *)(void *)handle);
    ((void (*)(MPI_Fint *, int *))fn)(&fh, code);
}

void fort_file_handler(MPI_Errhandler handler)
{
    MPII_Errhandler_set_cxx(handler, (void (*)(void))file_caller);
}

/* --- continuations ------------------------------------------------------------------------- */

typedef void fort_continue(MPI_Fint *error, MPI_Aint *data, MPI_Fint *ierr);

struct continuation {
    fort_function *fn;
    MPI_Aint data;
    int flags;
};

struct continuation *continuation_make(fort_function *fn, MPI_Aint data, int flags)
{
    struct continuation *c = malloc(sizeof *c);
    if (c)
        *c = (struct continuation){fn, data, flags};
    return c;
}

/* It is registered with MPIX_CONT_INVOKE_FAILED always, so that it is freed. An error that is not
 * for the program's function is the one that this returns: it comes to the same. */
int continuation_run(int error, void *of)
{
    struct continuation c = *(struct continuation *)of;
    MPI_Fint code = error, ierr = MPI_SUCCESS;
    free(of);
    if (error && !(c.flags & MPIX_CONT_INVOKE_FAILED))
        return error;
    ((fort_continue *)c.fn)(&code, &c.data, &ierr);
    return ierr;
}

/* --- data representations ------------------------------------------------------------------ */

struct datarep {
    fort_function *read, *write, *extent;
    MPI_Aint extra; /* the value: the program's variable may be gone */
};

typedef void fort_convert(void *user, MPI_Fint *type, void *count, void *file, MPI_Offset *at,
                          MPI_Aint *extra, MPI_Fint *ierr);
typedef void fort_extent(MPI_Fint *type, MPI_Aint *extent, MPI_Aint *extra, MPI_Fint *ierr);

#pragma GCC visibility push(default)
extern void mpi_conversion_fn_null_(void);
extern void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null(void);
extern void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c(void);
#pragma GCC visibility pop

int datarep_is_null(fort_function *f)
{
    return f == mpi_conversion_fn_null_ || f == __mpi_f08_callbacks_MOD_mpi_conversion_fn_null ||
           f == __mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c;
}

struct datarep *datarep_make(fort_function *read, fort_function *write, fort_function *extent,
                             MPI_Aint extra)
{
    struct datarep *d = malloc(sizeof *d);
    if (d)
        *d = (struct datarep){read, write, extent, extra};
    return d;
}

static int convert(fort_function *f, void *user, MPI_Datatype t, void *n, void *file, MPI_Offset at,
                   struct datarep *d)
{
    MPI_Fint ierr = 0;
    ((fort_convert *)f)(user, &t, n, file, &at, &d->extra, &ierr);
    return ierr;
}

int datarep_read(void *user, MPI_Datatype t, int n, void *file, MPI_Offset at, void *extra)
{
    return convert(((struct datarep *)extra)->read, user, t, &n, file, at, extra);
}

int datarep_write(void *user, MPI_Datatype t, int n, void *file, MPI_Offset at, void *extra)
{
    return convert(((struct datarep *)extra)->write, user, t, &n, file, at, extra);
}

int datarep_read_c(void *user, MPI_Datatype t, MPI_Count n, void *file, MPI_Offset at, void *extra)
{
    return convert(((struct datarep *)extra)->read, user, t, &n, file, at, extra);
}

int datarep_write_c(void *user, MPI_Datatype t, MPI_Count n, void *file, MPI_Offset at, void *extra)
{
    return convert(((struct datarep *)extra)->write, user, t, &n, file, at, extra);
}

int datarep_extent(MPI_Datatype t, MPI_Aint *extent, void *extra)
{
    struct datarep *d = extra;
    MPI_Fint ierr = 0;
    ((fort_extent *)d->extent)(&t, extent, &d->extra, &ierr);
    return ierr;
}
