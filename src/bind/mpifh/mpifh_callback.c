/* mpifh_callback.c - routines of Open MPI's Fortran interface that take functions of the program:
 * all arguments of those come by reference, the error in the last one. A record of a key or of a
 * data representation lasts to the end of the process. Start with call_op(), behind
 * MPI_OP_CREATE. */
#include "bind/mpifh/mpifh.h"

#include "bind/ompi/languages.h"

#define DONE(rc)                                                                                   \
    do {                                                                                           \
        int done_rc = (rc);                                                                        \
        if (ierr)                                                                                  \
            *ierr = done_rc;                                                                       \
    } while (0)

/* --- operations ----------------------------------------------------------------------------- */

typedef void fort_op(void *in, void *inout, MPI_Fint *len, MPI_Fint *type);

static void call_op(void *in, void *inout, int *len, HANDLE *type, void_function *fn)
{
    MPI_Fint t = PMPI_Type_c2f(*type);
    ((fort_op *)fn)(in, inout, len, &t);
}

FORT(_op_create, _OP_CREATE, (void_function *fn, MPI_Fint *commute, MPI_Fint *op, MPI_Fint *ierr))
{
    HANDLE made = NULL;
    int rc = PMPI_Op_create((void_function *)call_op, *commute, &made);
    if (!rc) {
        ompi_op_set_cxx_callback(made, fn);
        *op = PMPI_Op_c2f(made);
    }
    DONE(rc);
}

/* --- error handlers ------------------------------------------------------------------------- */

static int create_errhandler(int holder, void_function *fn, MPI_Fint *handler)
{
    HANDLE made = ompi_errhandler_create(holder, fn, OF_FORTRAN);
    if (!made)
        return MPI_ERR_NO_MEM;
    *handler = PMPI_Errhandler_c2f(made);
    return MPI_SUCCESS;
}

FORT(_comm_create_errhandler, _COMM_CREATE_ERRHANDLER, (void_function *fn, MPI_Fint *handler,
                                                        MPI_Fint *ierr))
{
    DONE(create_errhandler(HOLDER_COMM, fn, handler));
}

FORT(_win_create_errhandler, _WIN_CREATE_ERRHANDLER, (void_function *fn, MPI_Fint *handler,
                                                      MPI_Fint *ierr))
{
    DONE(create_errhandler(HOLDER_WIN, fn, handler));
}

FORT(_file_create_errhandler, _FILE_CREATE_ERRHANDLER, (void_function *fn, MPI_Fint *handler,
                                                        MPI_Fint *ierr))
{
    DONE(create_errhandler(HOLDER_FILE, fn, handler));
}

FORT_OLD(_errhandler_create, _ERRHANDLER_CREATE, (void_function *fn, MPI_Fint *handler,
                                                  MPI_Fint *ierr))
{
    DONE(create_errhandler(HOLDER_COMM, fn, handler));
}

/* --- attributes ----------------------------------------------------------------------------- */

/* Values are INTEGER(KIND=MPI_ADDRESS_KIND), or INTEGER for the calls of MPI-1. */
struct key {
    void_function *copy, *del;
    MPI_Aint extra;
    int is_old;
};
typedef void fort_copy(MPI_Fint *h, MPI_Fint *keyval, void *extra, void *value, void *copied,
                       MPI_Fint *flag, MPI_Fint *ierr);
typedef void fort_delete(MPI_Fint *h, MPI_Fint *keyval, void *value, void *extra, MPI_Fint *ierr);

static int copy_attribute(MPI_Fint h, int keyval, const struct key *k, void *in, void *out,
                          int *flag)
{
    MPI_Aint e = k->extra, v = (MPI_Aint)in, copied = 0;
    MPI_Fint old_e = (MPI_Fint)e, old_v = (MPI_Fint)v, old_copied = 0, ierr = 0, is_copied = 0;
    if (k->is_old) {
        ((fort_copy *)k->copy)(&h, &keyval, &old_e, &old_v, &old_copied, &is_copied, &ierr);
        copied = old_copied;
    } else
        ((fort_copy *)k->copy)(&h, &keyval, &e, &v, &copied, &is_copied, &ierr);
    *flag = is_copied != 0;
    *(void **)out = (void *)copied;
    return ierr;
}

static int delete_attribute(MPI_Fint h, int keyval, const struct key *k, void *value)
{
    MPI_Aint e = k->extra, v = (MPI_Aint)value;
    MPI_Fint old_e = (MPI_Fint)e, old_v = (MPI_Fint)v, ierr = 0;
    if (k->is_old)
        ((fort_delete *)k->del)(&h, &keyval, &old_v, &old_e, &ierr);
    else
        ((fort_delete *)k->del)(&h, &keyval, &v, &e, &ierr);
    return ierr;
}

static struct key *key_make(void_function *copy, void_function *del, MPI_Aint extra, int is_old)
{
    struct key *k = malloc(sizeof *k);
    if (k)
        *k = (struct key){copy, del, extra, is_old};
    return k;
}

#define CALLERS(Name)                                                                              \
    static int copy_##Name(HANDLE h, int keyval, void *extra, void *in, void *out, int *flag)      \
    {                                                                                              \
        return copy_attribute(PMPI_##Name##_c2f(h), keyval, extra, in, out, flag);                 \
    }                                                                                              \
    static int delete_##Name(HANDLE h, int keyval, void *value, void *extra)                       \
    {                                                                                              \
        return delete_attribute(PMPI_##Name##_c2f(h), keyval, extra, value);                       \
    }
#define CREATE(call, Name, is_old)                                                                 \
    {                                                                                              \
        struct key *k = key_make(copy, del, *extra, is_old);                                       \
        int rc = k ? call((void_function *)copy_##Name, (void_function *)delete_##Name, keyval, k) \
                   : MPI_ERR_NO_MEM;                                                               \
        if (rc)                                                                                    \
            free(k);                                                                               \
        DONE(rc);                                                                                  \
    }
CALLERS(Comm)
CALLERS(Type)
CALLERS(Win)

FORT(_comm_create_keyval, _COMM_CREATE_KEYVAL, (void_function *copy, void_function *del,
                                                MPI_Fint *keyval, MPI_Aint *extra, MPI_Fint *ierr))
CREATE(PMPI_Comm_create_keyval, Comm, 0)

FORT(_type_create_keyval, _TYPE_CREATE_KEYVAL, (void_function *copy, void_function *del,
                                                MPI_Fint *keyval, MPI_Aint *extra, MPI_Fint *ierr))
CREATE(PMPI_Type_create_keyval, Type, 0)

FORT(_win_create_keyval, _WIN_CREATE_KEYVAL, (void_function *copy, void_function *del,
                                              MPI_Fint *keyval, MPI_Aint *extra, MPI_Fint *ierr))
CREATE(PMPI_Win_create_keyval, Win, 0)

FORT_OLD(_keyval_create, _KEYVAL_CREATE, (void_function *copy, void_function *del,
                                          MPI_Fint *keyval, MPI_Fint *extra, MPI_Fint *ierr))
CREATE(PMPI_Comm_create_keyval, Comm, 1)

#define ATTRIBUTES(lower, upper, Name, HOLDER)                                                     \
    FORT(lower##_set_attr, upper##_SET_ATTR, (MPI_Fint *h, MPI_Fint *keyval, MPI_Aint *value,      \
                                              MPI_Fint *ierr))                                     \
    {                                                                                              \
        DONE(ompi_attr_set_aint(HOLDER, PMPI_##Name##_f2c(*h), *keyval, *value));                  \
    }                                                                                              \
    FORT(lower##_get_attr, upper##_GET_ATTR, (MPI_Fint *h, MPI_Fint *keyval, MPI_Aint *value,      \
                                              MPI_Fint *flag, MPI_Fint *ierr))                     \
    {                                                                                              \
        DONE(ompi_attr_get_aint(HOLDER, PMPI_##Name##_f2c(*h), *keyval, value, flag));             \
    }
ATTRIBUTES(_comm, _COMM, Comm, HOLDER_COMM)
ATTRIBUTES(_type, _TYPE, Type, HOLDER_TYPE)
ATTRIBUTES(_win, _WIN, Win, HOLDER_WIN)

FORT_OLD(_attr_put, _ATTR_PUT, (MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *ierr))
{
    DONE(ompi_attr_set_fint(HOLDER_COMM, PMPI_Comm_f2c(*comm), *keyval, *value));
}

FORT_OLD(_attr_get, _ATTR_GET, (MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag,
                                MPI_Fint *ierr))
{
    DONE(ompi_attr_get_fint(HOLDER_COMM, PMPI_Comm_f2c(*comm), *keyval, value, flag));
}

/* --- generalized requests ------------------------------------------------------------------- */

struct general {
    void_function *query, *free, *cancel;
    MPI_Aint extra; /* the value: the program's variable may be gone */
};

static int general_query(void *extra, struct front_status *status)
{
    struct general *g = extra;
    MPI_Fint ierr = 0;
    ((void (*)(MPI_Aint *, struct front_status *, MPI_Fint *))g->query)(&g->extra, status, &ierr);
    return ierr;
}

static int general_free(void *extra)
{
    struct general *g = extra;
    MPI_Fint ierr = 0;
    ((void (*)(MPI_Aint *, MPI_Fint *))g->free)(&g->extra, &ierr);
    free(g);
    return ierr;
}

static int general_cancel(void *extra, int complete)
{
    struct general *g = extra;
    MPI_Fint ierr = 0;
    ((void (*)(MPI_Aint *, MPI_Fint *, MPI_Fint *))g->cancel)(&g->extra, &complete, &ierr);
    return ierr;
}

FORT(_grequest_start, _GREQUEST_START, (void_function *query, void_function *release,
                                        void_function *cancel, MPI_Aint *extra, MPI_Fint *request,
                                        MPI_Fint *ierr))
{
    struct general *g = malloc(sizeof *g);
    HANDLE made = NULL;
    int rc = MPI_ERR_NO_MEM;
    if (g) {
        *g = (struct general){query, release, cancel, *extra};
        rc = PMPI_Grequest_start((void_function *)general_query, (void_function *)general_free,
                                 (void_function *)general_cancel, g, &made);
    }
    if (rc)
        free(g);
    else
        *request = PMPI_Request_c2f(made);
    DONE(rc);
}

/* --- data representations ------------------------------------------------------------------- */

struct datarep {
    void_function *read, *write, *extent;
    MPI_Aint extra;
};
typedef void fort_convert(void *user, MPI_Fint *type, MPI_Fint *count, void *file, MPI_Offset *at,
                          MPI_Aint *extra, MPI_Fint *ierr);
typedef void fort_extent(MPI_Fint *type, MPI_Aint *extent, MPI_Aint *extra, MPI_Fint *ierr);

#pragma GCC visibility push(default)
extern void mpi_conversion_fn_null_(void);
/* of libmpi_usempif08.so.40 */
extern void __mpi_f08_callbacks_MOD_mpi_conversion_fn_null(void) __attribute__((weak));
#pragma GCC visibility pop

static int is_null(void_function *f)
{
    return f == mpi_conversion_fn_null_ || f == __mpi_f08_callbacks_MOD_mpi_conversion_fn_null;
}

static int convert(void_function *f, void *user, HANDLE type, int n, void *file, MPI_Offset at,
                   struct datarep *d)
{
    MPI_Fint ierr = 0, t = PMPI_Type_c2f(type);
    ((fort_convert *)f)(user, &t, &n, file, &at, &d->extra, &ierr);
    return ierr;
}

static int datarep_read(void *user, HANDLE type, int n, void *file, MPI_Offset at, void *extra)
{
    return convert(((struct datarep *)extra)->read, user, type, n, file, at, extra);
}

static int datarep_write(void *user, HANDLE type, int n, void *file, MPI_Offset at, void *extra)
{
    return convert(((struct datarep *)extra)->write, user, type, n, file, at, extra);
}

static int datarep_extent(HANDLE type, MPI_Aint *extent, void *extra)
{
    struct datarep *d = extra;
    MPI_Fint ierr = 0, t = PMPI_Type_c2f(type);
    ((fort_extent *)d->extent)(&t, extent, &d->extra, &ierr);
    return ierr;
}

FORT(_register_datarep, _REGISTER_DATAREP, (char *name, void_function *read, void_function *write,
                                            void_function *extent, MPI_Aint *extra, MPI_Fint *ierr,
                                            size_t len_name))
{
    char *c_name = string_in(name, len_name);
    struct datarep *d = malloc(sizeof *d);
    int rc = MPI_ERR_NO_MEM;
    if (c_name && d) {
        *d = (struct datarep){read, write, extent, *extra};
        rc = PMPI_Register_datarep(c_name, is_null(read) ? NULL : (void_function *)datarep_read,
                                   is_null(write) ? NULL : (void_function *)datarep_write,
                                   (void_function *)datarep_extent, d);
    }
    if (rc)
        free(d);
    free(c_name);
    DONE(rc);
}
