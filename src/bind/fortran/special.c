/* special.c - the calls that src/api/gen cannot make: those with functions of Fortran, attributes,
 * texts whose length is an argument, functions with a value, and MPI-1's with INTEGER for
 * addresses. Start with FORT_BOTH(), which makes the two symbols of a routine. */
#include "bind/fortran/fort.h"

#define DONE(rc)                                                                                \
    do {                                                                                        \
        int done_rc = (rc);                                                                     \
        if (ierr)                                                                               \
            *ierr = done_rc;                                                                    \
    } while (0)

/* Of api/bindings.h: attributes by value, and in which form. */
enum { FORM_AINT = 1, FORM_INT = 3 };
extern int MPII_Comm_set_attr(MPI_Comm comm, int keyval, void *value, int form);
extern int MPII_Type_set_attr(MPI_Datatype type, int keyval, void *value, int form);
extern int MPII_Win_set_attr(MPI_Win win, int keyval, void *value, int form);
extern int MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag, int form);
extern int MPII_Type_get_attr(MPI_Datatype type, int keyval, void *value, int *flag, int form);
extern int MPII_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag, int form);
extern void MPII_Grequest_set_lang_f77(MPI_Request request);

/* --- environment --------------------------------------------------------------------------- */

FORT_BOTH(_init, _INIT, (MPI_Fint *ierr))
{
    DONE(CALL(MPI_Init)(NULL, NULL));
}

FORT_BOTH(_init_thread, _INIT_THREAD, (MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Init_thread)(NULL, NULL, *required, provided));
}

FORT_BOTH(_pcontrol, _PCONTROL, (MPI_Fint *level))
{
    CALL(MPI_Pcontrol)(*level);
}

FORT_BOTH_AS(double, _wtime, _WTIME, (void))
{
    return CALL(MPI_Wtime)();
}

FORT_BOTH_AS(double, _wtick, _WTICK, (void))
{
    return CALL(MPI_Wtick)();
}

FORT_BOTH_AS(MPI_Aint, _aint_add, _AINT_ADD, (MPI_Aint *base, MPI_Aint *disp))
{
    return CALL(MPI_Aint_add)(*base, *disp);
}

FORT_BOTH_AS(MPI_Aint, _aint_diff, _AINT_DIFF, (MPI_Aint *addr1, MPI_Aint *addr2))
{
    return CALL(MPI_Aint_diff)(*addr1, *addr2);
}

FORT_BOTH(_info_create_env, _INFO_CREATE_ENV, (MPI_Fint *info, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Info_create_env)(0, NULL, info));
}

/* The compiler must have the buffer in memory before and after: that is all. */
FORT(_f_sync_reg, _F_SYNC_REG, (void *buf))
{
    (void)buf;
}
FORT08(_f_sync_reg_c, (const struct desc *buf))
{
    (void)buf;
}
FORT08(_f_sync_reg_f08ts, (const struct own_desc *buf))
{
    (void)buf;
}

/* --- memory: the address comes by reference, for the cptr names too ------------------------ */

FORT_ALIAS(FORT_LOWER(_alloc_mem_))
void FORT_LOWER(_alloc_mem_cptr_)(MPI_Aint *size, MPI_Fint *info, void *baseptr, MPI_Fint *ierr);
FORT_BOTH(_alloc_mem, _ALLOC_MEM, (MPI_Aint *size, MPI_Fint *info, void *baseptr, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Alloc_mem)(*size, *info, baseptr));
}

FORT_ALIAS(FORT_LOWER(_win_allocate_))
void FORT_LOWER(_win_allocate_cptr_)(MPI_Aint *size, MPI_Fint *unit, MPI_Fint *info, MPI_Fint *comm,
                                     void *baseptr, MPI_Fint *win, MPI_Fint *ierr);
FORT_BOTH(_win_allocate, _WIN_ALLOCATE, (MPI_Aint *size, MPI_Fint *unit, MPI_Fint *info,
                                         MPI_Fint *comm, void *baseptr, MPI_Fint *win,
                                         MPI_Fint *ierr))
{
    DONE(CALL(MPI_Win_allocate)(*size, *unit, *info, *comm, baseptr, win));
}

/* The base and the window are stored when the request is complete. */
FORT_ALIAS(FORT_LOWER(x_win_iallocate_))
void FORT_LOWER(x_win_iallocate_cptr_)(MPI_Aint *size, MPI_Aint *unit, MPI_Fint *info,
                                       MPI_Fint *comm, void *baseptr, MPI_Fint *win,
                                       MPI_Fint *request, MPI_Fint *ierr);
FORT_BOTH(x_win_iallocate, X_WIN_IALLOCATE, (MPI_Aint *size, MPI_Aint *unit, MPI_Fint *info,
                                             MPI_Fint *comm, void *baseptr, MPI_Fint *win,
                                             MPI_Fint *request, MPI_Fint *ierr))
{
    DONE(CALL(MPIX_Win_iallocate)(*size, *unit, *info, *comm, baseptr, win, request));
}

FORT_ALIAS(FORT_LOWER(_win_allocate_shared_))
void FORT_LOWER(_win_allocate_shared_cptr_)(MPI_Aint *size, MPI_Fint *unit, MPI_Fint *info,
                                            MPI_Fint *comm, void *baseptr, MPI_Fint *win,
                                            MPI_Fint *ierr);
FORT_BOTH(_win_allocate_shared, _WIN_ALLOCATE_SHARED, (MPI_Aint *size, MPI_Fint *unit,
                                                       MPI_Fint *info, MPI_Fint *comm,
                                                       void *baseptr, MPI_Fint *win,
                                                       MPI_Fint *ierr))
{
    DONE(CALL(MPI_Win_allocate_shared)(*size, *unit, *info, *comm, baseptr, win));
}

FORT_ALIAS(FORT_LOWER(_win_shared_query_))
void FORT_LOWER(_win_shared_query_cptr_)(MPI_Fint *win, MPI_Fint *rank, MPI_Aint *size,
                                         MPI_Fint *unit, void *baseptr, MPI_Fint *ierr);
FORT_BOTH(_win_shared_query, _WIN_SHARED_QUERY, (MPI_Fint *win, MPI_Fint *rank, MPI_Aint *size,
                                                 MPI_Fint *unit, void *baseptr, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Win_shared_query)(*win, *rank, size, unit, baseptr));
}

/* The buffer's address is for mpi_f08 alone: no variable of mpif.h could hold it. */
FORT(_buffer_detach, _BUFFER_DETACH, (void *buffer_addr, MPI_Fint *size, MPI_Fint *ierr))
{
    void *addr;
    DONE(CALL(MPI_Buffer_detach)(&addr, size));
}
FORT08(_buffer_detach_f08, (void *buffer_addr, MPI_Fint *size, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Buffer_detach)(buffer_addr, size));
}
FORT08(_buffer_detach_f08_large, (void *buffer_addr, MPI_Count *size, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Buffer_detach_c)(buffer_addr, size));
}

FORT(_comm_detach_buffer, _COMM_DETACH_BUFFER, (MPI_Fint *comm, void *buffer_addr, MPI_Fint *size,
                                                MPI_Fint *ierr))
{
    void *addr;
    DONE(CALL(MPI_Comm_detach_buffer)(*comm, &addr, size));
}
FORT08(_comm_detach_buffer_f08, (MPI_Fint *comm, void *buffer_addr, MPI_Fint *size, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Comm_detach_buffer)(*comm, buffer_addr, size));
}
FORT08(_comm_detach_buffer_f08_large, (MPI_Fint *comm, void *buffer_addr, MPI_Count *size,
                                       MPI_Fint *ierr))
{
    DONE(CALL(MPI_Comm_detach_buffer_c)(*comm, buffer_addr, size));
}

FORT(_session_detach_buffer, _SESSION_DETACH_BUFFER, (MPI_Fint *session, void *buffer_addr,
                                                      MPI_Fint *size, MPI_Fint *ierr))
{
    void *addr;
    DONE(CALL(MPI_Session_detach_buffer)(*session, &addr, size));
}
FORT08(_session_detach_buffer_f08, (MPI_Fint *session, void *buffer_addr, MPI_Fint *size,
                                    MPI_Fint *ierr))
{
    DONE(CALL(MPI_Session_detach_buffer)(*session, buffer_addr, size));
}
FORT08(_session_detach_buffer_f08_large, (MPI_Fint *session, void *buffer_addr, MPI_Count *size,
                                          MPI_Fint *ierr))
{
    DONE(CALL(MPI_Session_detach_buffer_c)(*session, buffer_addr, size));
}

/* --- texts whose length is an argument ----------------------------------------------------- */

FORT_BOTH(_info_get, _INFO_GET, (MPI_Fint *info, char *key, MPI_Fint *valuelen, char *value,
                                 MPI_Fint *flag, MPI_Fint *ierr, size_t len_key, size_t len_value))
{
    char *c_key = string_in(key, len_key);
    char *c_value = calloc(1, (*valuelen > 0 ? (size_t)*valuelen : 0) + 1);
    int rc = CALL(MPI_Info_get)(*info, c_key, *valuelen, c_value, flag);
    if (!rc && *flag)
        string_out(c_value, value, len_value);
    free(c_key);
    free(c_value);
    DONE(rc);
}

/* The length is without C's closing 0, in and out. */
FORT_BOTH(_info_get_string, _INFO_GET_STRING, (MPI_Fint *info, char *key, MPI_Fint *buflen,
                                               char *value, MPI_Fint *flag, MPI_Fint *ierr,
                                               size_t len_key, size_t len_value))
{
    char *c_key = string_in(key, len_key);
    int n = *buflen > 0 ? *buflen + 1 : 0, is_asked = n != 0;
    char *c_value = calloc(1, (size_t)n + 1);
    int rc = CALL(MPI_Info_get_string)(*info, c_key, &n, c_value, flag);
    if (!rc && *flag) {
        *buflen = n - 1;
        if (is_asked)
            string_out(c_value, value, len_value);
    }
    free(c_key);
    free(c_value);
    DONE(rc);
}

FORT_BOTH(_session_get_nth_pset, _SESSION_GET_NTH_PSET, (MPI_Fint *session, MPI_Fint *info,
                                                         MPI_Fint *n, MPI_Fint *pset_len,
                                                         char *pset_name, MPI_Fint *ierr,
                                                         size_t len_pset_name))
{
    int len = *pset_len > 0 ? *pset_len + 1 : 0, is_asked = len != 0;
    char *name = calloc(1, (size_t)len + 1);
    int rc = CALL(MPI_Session_get_nth_pset)(*session, *info, *n, &len, name);
    if (!rc) {
        if (is_asked)
            string_out(name, pset_name, len_pset_name);
        else
            *pset_len = len - 1;
    }
    free(name);
    DONE(rc);
}

/* --- attributes ---------------------------------------------------------------------------- */

#define KEYVAL(kind, Name)                                                                       \
    {                                                                                           \
        int rc = CALL(MPI_##Name##_create_keyval)(                                              \
            (MPI_##Name##_copy_attr_function *)(void *)copy,                                    \
            (MPI_##Name##_delete_attr_function *)(void *)del, keyval, (void *)*extra);          \
        if (!rc)                                                                                \
            fort_keyval(*keyval, 0);                                                            \
        DONE(rc);                                                                               \
    }

FORT_BOTH(_comm_create_keyval, _COMM_CREATE_KEYVAL, (fort_function *copy, fort_function *del,
                                                     MPI_Fint *keyval, MPI_Aint *extra,
                                                     MPI_Fint *ierr))
KEYVAL(comm, Comm)

FORT_BOTH(_type_create_keyval, _TYPE_CREATE_KEYVAL, (fort_function *copy, fort_function *del,
                                                     MPI_Fint *keyval, MPI_Aint *extra,
                                                     MPI_Fint *ierr))
KEYVAL(type, Type)

FORT_BOTH(_win_create_keyval, _WIN_CREATE_KEYVAL, (fort_function *copy, fort_function *del,
                                                   MPI_Fint *keyval, MPI_Aint *extra,
                                                   MPI_Fint *ierr))
KEYVAL(win, Win)

FORT(_keyval_create, _KEYVAL_CREATE, (fort_function *copy, fort_function *del, MPI_Fint *keyval,
                                      MPI_Fint *extra, MPI_Fint *ierr))
{
    int rc = CALL(MPI_Keyval_create)((MPI_Copy_function *)(void *)copy,
                                     (MPI_Delete_function *)(void *)del, keyval,
                                     (void *)(MPI_Aint)*extra);
    if (!rc)
        fort_keyval(*keyval, 1);
    DONE(rc);
}

FORT_BOTH(_comm_set_attr, _COMM_SET_ATTR, (MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *value,
                                           MPI_Fint *ierr))
{
    DONE(MPII_Comm_set_attr(*comm, *keyval, (void *)*value, FORM_AINT));
}

FORT_BOTH(_type_set_attr, _TYPE_SET_ATTR, (MPI_Fint *type, MPI_Fint *keyval, MPI_Aint *value,
                                           MPI_Fint *ierr))
{
    DONE(MPII_Type_set_attr(*type, *keyval, (void *)*value, FORM_AINT));
}

FORT_BOTH(_win_set_attr, _WIN_SET_ATTR, (MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *value,
                                         MPI_Fint *ierr))
{
    DONE(MPII_Win_set_attr(*win, *keyval, (void *)*value, FORM_AINT));
}

FORT(_attr_put, _ATTR_PUT, (MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *ierr))
{
    DONE(MPII_Comm_set_attr(*comm, *keyval, (void *)(MPI_Aint)*value, FORM_INT));
}

FORT_BOTH(_comm_get_attr, _COMM_GET_ATTR, (MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *value,
                                           MPI_Fint *flag, MPI_Fint *ierr))
{
    DONE(MPII_Comm_get_attr(*comm, *keyval, value, flag, FORM_AINT));
}

FORT_BOTH(_type_get_attr, _TYPE_GET_ATTR, (MPI_Fint *type, MPI_Fint *keyval, MPI_Aint *value,
                                           MPI_Fint *flag, MPI_Fint *ierr))
{
    DONE(MPII_Type_get_attr(*type, *keyval, value, flag, FORM_AINT));
}

FORT_BOTH(_win_get_attr, _WIN_GET_ATTR, (MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *value,
                                         MPI_Fint *flag, MPI_Fint *ierr))
{
    DONE(MPII_Win_get_attr(*win, *keyval, value, flag, FORM_AINT));
}

FORT(_attr_get, _ATTR_GET, (MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag,
                            MPI_Fint *ierr))
{
    MPI_Aint v = 0;
    int rc = MPII_Comm_get_attr(*comm, *keyval, &v, flag, FORM_INT);
    if (!rc && *flag)
        *value = (MPI_Fint)v;
    DONE(rc);
}

/* --- other functions of the program -------------------------------------------------------- */

FORT_BOTH(_file_create_errhandler, _FILE_CREATE_ERRHANDLER, (fort_function *fn, MPI_Fint *handler,
                                                             MPI_Fint *ierr))
{
    int rc = CALL(MPI_File_create_errhandler)((MPI_File_errhandler_function *)(void *)fn, handler);
    if (!rc)
        fort_file_handler(*handler);
    DONE(rc);
}

FORT_BOTH(_grequest_start, _GREQUEST_START, (fort_function *query, fort_function *release,
                                             fort_function *cancel, MPI_Aint *extra,
                                             MPI_Fint *request, MPI_Fint *ierr))
{
    int rc = CALL(MPI_Grequest_start)((MPI_Grequest_query_function *)(void *)query,
                                      (MPI_Grequest_free_function *)(void *)release,
                                      (MPI_Grequest_cancel_function *)(void *)cancel, extra,
                                      request);
    if (!rc)
        MPII_Grequest_set_lang_f77(*request);
    DONE(rc);
}

FORT_BOTH(x_continue, X_CONTINUE, (MPI_Fint *request, fort_function *fn, MPI_Aint *data,
                                   MPI_Fint *flags, MPI_Fint *status, MPI_Fint *cont_req,
                                   MPI_Fint *ierr))
{
    struct continuation *c = continuation_make(fn, *data, *flags);
    int rc = MPI_ERR_NO_MEM;
    if (c)
        rc = CALL(MPIX_Continue)(request, continuation_run, c, *flags | MPIX_CONT_INVOKE_FAILED,
                                 status_in(status), *cont_req);
    if (rc)
        free(c);
    DONE(rc);
}

FORT_BOTH(x_continueall, X_CONTINUEALL, (MPI_Fint *n, MPI_Fint *requests, fort_function *fn,
                                         MPI_Aint *data, MPI_Fint *flags, MPI_Fint *statuses,
                                         MPI_Fint *cont_req, MPI_Fint *ierr))
{
    struct continuation *c = continuation_make(fn, *data, *flags);
    int rc = MPI_ERR_NO_MEM;
    if (c)
        rc = CALL(MPIX_Continueall)(*n, requests, continuation_run, c,
                                    *flags | MPIX_CONT_INVOKE_FAILED, status_in(statuses),
                                    *cont_req);
    if (rc)
        free(c);
    DONE(rc);
}

FORT_BOTH(_register_datarep, _REGISTER_DATAREP, (char *name, fort_function *read,
                                                 fort_function *write, fort_function *extent,
                                                 MPI_Aint *extra, MPI_Fint *ierr,
                                                 size_t len_name))
{
    char *c_name = string_in(name, len_name);
    struct datarep *d = datarep_make(read, write, extent, *extra);
    int rc = MPI_ERR_NO_MEM;
    if (c_name && d)
        rc = CALL(MPI_Register_datarep)(c_name, datarep_is_null(read) ? NULL : datarep_read,
                                        datarep_is_null(write) ? NULL : datarep_write,
                                        datarep_extent, d);
    if (rc)
        free(d);
    free(c_name);
    DONE(rc);
}

FORT08(_register_datarep_c_f08, (char *name, fort_function *read, fort_function *write,
                                 fort_function *extent, MPI_Aint *extra, MPI_Fint *ierr,
                                 size_t len_name))
{
    char *c_name = string_in(name, len_name);
    struct datarep *d = datarep_make(read, write, extent, *extra);
    int rc = MPI_ERR_NO_MEM;
    if (c_name && d)
        rc = CALL(MPI_Register_datarep_c)(c_name, datarep_is_null(read) ? NULL : datarep_read_c,
                                          datarep_is_null(write) ? NULL : datarep_write_c,
                                          datarep_extent, d);
    if (rc)
        free(d);
    free(c_name);
    DONE(rc);
}

/* --- processes ----------------------------------------------------------------------------- */

static int *errcodes_in(MPI_Fint *codes)
{
    if (codes == mpipriv2_.errcodes_ignore ||
        codes == __mpi_f08_link_constants_MOD_mpi_errcodes_ignore)
        return MPI_ERRCODES_IGNORE;
    return codes;
}

static int is_argv_null(const char *argv)
{
    return argv == &mpiprivc_[0] || argv == &mpiprivc_[1] ||
           argv == __mpi_f08_link_constants_MOD_mpi_argv_null ||
           argv == __mpi_f08_link_constants_MOD_mpi_argvs_null;
}

/* Elsewhere arrays may be shorter, and argv has no end. */
static int is_root(MPI_Comm comm, MPI_Fint root)
{
    int rank;
    return comm != MPI_COMM_NULL && !PMPI_Comm_rank(comm, &rank) && rank == root;
}

FORT_BOTH(_comm_spawn, _COMM_SPAWN, (char *command, char *argv, MPI_Fint *maxprocs, MPI_Fint *info,
                                     MPI_Fint *root, MPI_Fint *comm, MPI_Fint *intercomm,
                                     MPI_Fint *codes, MPI_Fint *ierr, size_t len_command,
                                     size_t len_argv))
{
    char *c_command = string_in(command, len_command);
    int reads = !is_argv_null(argv) && is_root(*comm, *root);
    char **c_argv = reads ? strings_in(argv, len_argv, len_argv) : MPI_ARGV_NULL;
    DONE(CALL(MPI_Comm_spawn)(c_command, c_argv, *maxprocs, *info, *root, *comm, intercomm,
                              errcodes_in(codes)));
    strings_free(c_argv);
    free(c_command);
}

/* argv is an array of `count` rows, so the texts of one row are `count` apart. */
FORT_BOTH(_comm_spawn_multiple, _COMM_SPAWN_MULTIPLE, (MPI_Fint *count, char *commands, char *argv,
                                                       MPI_Fint *maxprocs, MPI_Fint *infos,
                                                       MPI_Fint *root, MPI_Fint *comm,
                                                       MPI_Fint *intercomm, MPI_Fint *codes,
                                                       MPI_Fint *ierr, size_t len_commands,
                                                       size_t len_argv))
{
    int n = *count > 0 && is_root(*comm, *root) ? *count : 0;
    char **c_commands = n ? strings_of(commands, len_commands, n) : NULL;
    char ***c_argvs = MPI_ARGVS_NULL;
    if (n && !is_argv_null(argv) && (c_argvs = calloc((size_t)n + 1, sizeof *c_argvs)))
        for (int i = 0; i < n; i++)
            c_argvs[i] = strings_in(argv + (size_t)i * len_argv, len_argv, len_argv * (size_t)n);
    DONE(CALL(MPI_Comm_spawn_multiple)(*count, c_commands, c_argvs, maxprocs, infos, *root, *comm,
                                       intercomm, errcodes_in(codes)));
    for (int i = 0; c_argvs && i < n; i++)
        strings_free(c_argvs[i]);
    free(c_argvs);
    strings_free(c_commands);
}

/* --- MPI-1: addresses as INTEGER ----------------------------------------------------------- */

/* What does not fit into an INTEGER is cut, as in MPICH; MPI_Get_address gives all of it. */
FORT(_address, _ADDRESS, (void *location, MPI_Fint *address, MPI_Fint *ierr))
{
    MPI_Aint a = 0;
    DONE(CALL(MPI_Get_address)(buf_in(location), &a));
    *address = (MPI_Fint)a;
}

FORT(_type_extent, _TYPE_EXTENT, (MPI_Fint *type, MPI_Fint *extent, MPI_Fint *ierr))
{
    MPI_Aint lb = 0, e = 0;
    DONE(CALL(MPI_Type_get_extent)(*type, &lb, &e));
    *extent = (MPI_Fint)e;
}

FORT(_type_lb, _TYPE_LB, (MPI_Fint *type, MPI_Fint *disp, MPI_Fint *ierr))
{
    MPI_Aint lb = 0, e = 0;
    DONE(CALL(MPI_Type_get_extent)(*type, &lb, &e));
    *disp = (MPI_Fint)lb;
}

FORT(_type_ub, _TYPE_UB, (MPI_Fint *type, MPI_Fint *disp, MPI_Fint *ierr))
{
    MPI_Aint lb = 0, e = 0;
    DONE(CALL(MPI_Type_get_extent)(*type, &lb, &e));
    *disp = (MPI_Fint)(lb + e);
}

FORT(_type_hvector, _TYPE_HVECTOR, (MPI_Fint *count, MPI_Fint *length, MPI_Fint *stride,
                                    MPI_Fint *old, MPI_Fint *made, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Type_create_hvector)(*count, *length, *stride, *old, made));
}

static MPI_Aint *aints_in(const MPI_Fint *from, int count)
{
    MPI_Aint *a = calloc((count > 0 ? (size_t)count : 0) + 1, sizeof *a);
    for (int i = 0; a && i < count; i++)
        a[i] = from[i];
    return a;
}

FORT(_type_hindexed, _TYPE_HINDEXED, (MPI_Fint *count, MPI_Fint *lengths, MPI_Fint *disps,
                                      MPI_Fint *old, MPI_Fint *made, MPI_Fint *ierr))
{
    MPI_Aint *a = aints_in(disps, *count);
    DONE(CALL(MPI_Type_create_hindexed)(*count, lengths, a, *old, made));
    free(a);
}

FORT(_type_struct, _TYPE_STRUCT, (MPI_Fint *count, MPI_Fint *lengths, MPI_Fint *disps,
                                  MPI_Fint *types, MPI_Fint *made, MPI_Fint *ierr))
{
    MPI_Aint *a = aints_in(disps, *count);
    DONE(CALL(MPI_Type_create_struct)(*count, lengths, a, types, made));
    free(a);
}

FORT(_errhandler_create, _ERRHANDLER_CREATE, (fort_function *fn, MPI_Fint *handler, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Comm_create_errhandler)((MPI_Comm_errhandler_function *)(void *)fn, handler));
}

FORT(_errhandler_set, _ERRHANDLER_SET, (MPI_Fint *comm, MPI_Fint *handler, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Comm_set_errhandler)(*comm, *handler));
}

FORT(_errhandler_get, _ERRHANDLER_GET, (MPI_Fint *comm, MPI_Fint *handler, MPI_Fint *ierr))
{
    DONE(CALL(MPI_Comm_get_errhandler)(*comm, handler));
}
