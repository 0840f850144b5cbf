/* mpifh_own.c - routines of Open MPI's Fortran interface that src/api/gen cannot make: texts whose
 * length is an argument, functions with a value, processes. */
#include "bind/mpifh/mpifh.h"

#define DONE(rc)                                                                                   \
    do {                                                                                           \
        int done_rc = (rc);                                                                        \
        if (ierr)                                                                                  \
            *ierr = done_rc;                                                                       \
    } while (0)

/* --- environment ---------------------------------------------------------------------------- */

FORT(_init, _INIT, (MPI_Fint *ierr))
{
    DONE(PMPI_Init(NULL, NULL));
}

FORT(_init_thread, _INIT_THREAD, (MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr))
{
    DONE(PMPI_Init_thread(NULL, NULL, *required, provided));
}

FORT(_pcontrol, _PCONTROL, (MPI_Fint *level))
{
    PMPI_Pcontrol(*level);
}

FORT_OLD_AS(double, _wtime, _WTIME, (void))
{
    return PMPI_Wtime();
}

FORT_OLD_AS(double, _wtick, _WTICK, (void))
{
    return PMPI_Wtick();
}

/* Sums of addresses. */
FORT_AS(MPI_Aint, _aint_add, _AINT_ADD, (MPI_Aint *base, MPI_Aint *disp))
{
    return *base + *disp;
}

FORT_AS(MPI_Aint, _aint_diff, _AINT_DIFF, (MPI_Aint *addr1, MPI_Aint *addr2))
{
    return *addr1 - *addr2;
}

/* The compiler must have the buffer in memory before and after: that is all. */
FORT(_f_sync_reg, _F_SYNC_REG, (void *buf))
{
    (void)buf;
}

/* The buffer's address is for mpi_f08 alone: no variable of mpif.h could hold it. */
FORT(_buffer_detach, _BUFFER_DETACH, (void *buffer_addr, MPI_Fint *size, MPI_Fint *ierr))
{
    void *addr = NULL;
    int rc = PMPI_Buffer_detach(&addr, size);
#ifdef FORT_F08
    if (!rc)
        *(void **)buffer_addr = addr;
#else
    (void)buffer_addr;
#endif
    DONE(rc);
}

FORT(_info_get, _INFO_GET, (MPI_Fint *info, char *key, MPI_Fint *valuelen, char *value,
                            MPI_Fint *flag, MPI_Fint *ierr, size_t len_key, size_t len_value))
{
    char *c_key = string_in(key, len_key);
    char *c_value = calloc(1, (*valuelen > 0 ? (size_t)*valuelen : 0) + 1);
    int rc = PMPI_Info_get(PMPI_Info_f2c(*info), c_key, *valuelen, c_value, flag);
    if (!rc && *flag)
        string_out(c_value, value, len_value);
    free(c_key);
    free(c_value);
    DONE(rc);
}

/* --- processes ------------------------------------------------------------------------------ */

static int *errcodes_in(MPI_Fint *codes)
{
    return (const char *)codes == mpi_fortran_errcodes_ignore_ ? NULL : codes;
}

/* Elsewhere arrays may be shorter, and argv has no end. */
static int is_root(HANDLE c, MPI_Fint root)
{
    int rank = -1;
    return c && !PMPI_Comm_rank(c, &rank) && rank == root;
}

FORT(_comm_spawn, _COMM_SPAWN, (char *command, char *argv, MPI_Fint *maxprocs, MPI_Fint *info,
                                MPI_Fint *root, MPI_Fint *comm, MPI_Fint *intercomm,
                                MPI_Fint *codes, MPI_Fint *ierr, size_t len_command,
                                size_t len_argv))
{
    HANDLE c = PMPI_Comm_f2c(*comm), made = NULL;
    char *c_command = string_in(command, len_command);
    int reads = argv != mpi_fortran_argv_null_ && is_root(c, *root);
    char **c_argv = reads ? strings_in(argv, len_argv, len_argv) : NULL;
    int rc = PMPI_Comm_spawn(c_command, c_argv, *maxprocs, PMPI_Info_f2c(*info), *root, c, &made,
                             errcodes_in(codes));
    if (made)
        *intercomm = PMPI_Comm_c2f(made);
    strings_free(c_argv);
    free(c_command);
    DONE(rc);
}

/* argv is an array of `count` rows, so the texts of one row are `count` apart. */
static char ***argvs_in(const char *argv, size_t len, int n)
{
    char ***a = calloc((size_t)n + 1, sizeof *a);
    for (int i = 0; a && i < n; i++)
        a[i] = strings_in(argv + (size_t)i * len, len, len * (size_t)n);
    return a;
}

FORT(_comm_spawn_multiple, _COMM_SPAWN_MULTIPLE, (MPI_Fint *count, char *commands, char *argv,
                                                  MPI_Fint *maxprocs, MPI_Fint *infos,
                                                  MPI_Fint *root, MPI_Fint *comm,
                                                  MPI_Fint *intercomm, MPI_Fint *codes,
                                                  MPI_Fint *ierr, size_t len_commands,
                                                  size_t len_argv))
{
    HANDLE c = PMPI_Comm_f2c(*comm), made = NULL;
    int n = is_root(c, *root) && *count > 0 ? *count : 0;
    struct handles c_infos;
    handles_begin(&c_infos, n, PMPI_Info_f2c, infos);
    char **c_commands = n ? strings_of(commands, len_commands, n) : NULL;
    char ***c_argvs = n && argv != mpi_fortran_argvs_null_ ? argvs_in(argv, len_argv, n) : NULL;
    int rc = PMPI_Comm_spawn_multiple(n, c_commands, c_argvs, maxprocs, c_infos.v, *root, c, &made,
                                      errcodes_in(codes));
    if (made)
        *intercomm = PMPI_Comm_c2f(made);
    for (int i = 0; c_argvs && i < n; i++)
        strings_free(c_argvs[i]);
    free(c_argvs);
    strings_free(c_commands);
    handles_end(&c_infos);
    DONE(rc);
}
