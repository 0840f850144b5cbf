/* abi_own.c - functions of MPI-5.0's ABI that the core has not, or in another form. */
#include "bind/front/front.h"

#include <string.h>

enum { ABI_MAJOR = 1, ABI_MINOR = 0, ABI_ERR_ARG = 13, ABI_ERR_ABI = 62 };

int custom_Get_version(int *version, int *subversion)
{
    enum { MPI_5 = 5, MPI_5_0 = 0 }; /* as in the header */
    if (!version || !subversion)
        return ABI_ERR_ARG;
    *version = MPI_5;
    *subversion = MPI_5_0;
    return MPI_SUCCESS;
}

int custom_Abi_get_version(int *major, int *minor)
{
    if (!major || !minor)
        return ABI_ERR_ARG;
    *major = ABI_MAJOR;
    *minor = ABI_MINOR;
    return MPI_SUCCESS;
}

CORE(Info_create);
CORE(Info_set);
static int sizes(const char *const (*rows)[2], size_t n, HANDLE *info)
{
    MPI_Info i;
    if (!info)
        return ABI_ERR_ARG;
    int rc = core_Info_create(&i);
    for (size_t r = 0; !rc && r < n; r++)
        rc = core_Info_set(i, rows[r][0], rows[r][1]);
    if (!rc)
        *info = handle_out(i);
    return result_out(rc);
}

_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8,
               "what MPI_Abi_get_info says");
int custom_Abi_get_info(HANDLE *info)
{
    static const char *const rows[][2] = {
        {"mpi_aint_size", "8"}, {"mpi_count_size", "8"}, {"mpi_offset_size", "8"}};
    return sizes(rows, sizeof rows / sizeof *rows, info);
}

/* Fortran is that of the core's datatypes, and cannot be set. */
int custom_Abi_get_fortran_info(HANDLE *info)
{
    static const char *const rows[][2] = {
        {"mpi_logical_size", "4"}, {"mpi_integer_size", "4"}, {"mpi_real_size", "4"},
        {"mpi_double_precision_size", "8"}};
    return sizes(rows, sizeof rows / sizeof *rows, info);
}

int custom_Abi_set_fortran_info(HANDLE info)
{
    (void)info;
    return ABI_ERR_ABI;
}

int custom_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false,
                                    int *is_set)
{
    const int yes = 1, no = 0;
    if (!is_set || !logical_true || !logical_false)
        return ABI_ERR_ARG;
    *is_set = logical_size == sizeof(int);
    if (*is_set) {
        memcpy(logical_true, &yes, sizeof yes);
        memcpy(logical_false, &no, sizeof no);
    }
    return MPI_SUCCESS;
}

int custom_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    (void)logical_size, (void)logical_true, (void)logical_false;
    return ABI_ERR_ABI;
}

/* Handles as numbers, for languages without pointers. */
#define AS_INT(Kind)                                                                               \
    int custom_##Kind##_toint(HANDLE h)                                                            \
    {                                                                                              \
        return (int)(uint32_t)(uintptr_t)h;                                                        \
    }                                                                                              \
    HANDLE custom_##Kind##_fromint(int h)                                                          \
    {                                                                                              \
        return (HANDLE)(uintptr_t)(uint32_t)h;                                                     \
    }
AS_INT(Comm)
AS_INT(Type)
AS_INT(Errhandler)
AS_INT(File)
AS_INT(Group)
AS_INT(Info)
AS_INT(Message)
AS_INT(Op)
AS_INT(Request)
AS_INT(Session)
AS_INT(Win)

/* The core's forms have a large count. */
CORE(Psend_init);
CORE(Precv_init);
int custom_Psend_init_c(const void *buf, int partitions, MPI_Count count, HANDLE type, int dest,
                        int tag, HANDLE comm, HANDLE info, HANDLE *request)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int rc = core_Psend_init(buf, partitions, count, handle_in(type), rank_in(dest), tag_in(tag),
                             handle_in(comm), handle_in(info), request ? &r : NULL);
    if (!rc)
        *request = handle_out(r);
    return result_out(rc);
}

int custom_Precv_init_c(void *buf, int partitions, MPI_Count count, HANDLE type, int source,
                        int tag, HANDLE comm, HANDLE info, HANDLE *request)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int rc = core_Precv_init(buf, partitions, count, handle_in(type), rank_in(source), tag_in(tag),
                             handle_in(comm), handle_in(info), request ? &r : NULL);
    if (!rc)
        *request = handle_out(r);
    return result_out(rc);
}

FRONT_CALL(int, Pcontrol, (const int level, ...))
{
    (void)level; /* for profilers, which replace this function */
    return MPI_SUCCESS;
}
