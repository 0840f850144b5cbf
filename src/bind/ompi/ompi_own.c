/* ompi_own.c - functions of Open MPI's interface that the core has not, or in another form: texts
 * that are cut to its lengths, its kinds of split, null and dup functions. Start with cut() and
 * custom_Comm_split_type(). */
#include "bind/front/front.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With the zero byte at the end; the core's are longer. */
enum { MAX_VERSION = 256, MAX_ERROR = 256, MAX_NAME = 64, MAX_KEY = 36, MAX_VALUE = 256 };
enum { OMPI_ERR_ARG = 13, OMPI_ERR_INFO_KEY = 31, OMPI_ERR_INFO_VALUE = 33 };

int custom_Get_version(int *version, int *subversion)
{
    enum { OF_OPEN_MPI = 3, MINOR = 1 }; /* as in the header */
    if (!version || !subversion)
        return OMPI_ERR_ARG;
    *version = OF_OPEN_MPI;
    *subversion = MINOR;
    return MPI_SUCCESS;
}

/* --- texts ---------------------------------------------------------------------------- */

/* text, with n bytes of what the core wrote, into the user's room. */
static void cut(char *to, int *resultlen, const char *text, int most)
{
    int n = (int)strnlen(text, (size_t)most - 1);
    memcpy(to, text, (size_t)n);
    to[n] = 0;
    *resultlen = n;
}

CORE(Get_library_version);
int custom_Get_library_version(char *version, int *resultlen)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n, rc = core_Get_library_version(version ? text : NULL, resultlen ? &n : NULL);
    if (!rc)
        cut(version, resultlen, text, MAX_VERSION);
    return result_out(rc);
}

CORE(Error_string);
int custom_Error_string(int errorcode, char *string, int *resultlen)
{
    char text[MPI_MAX_ERROR_STRING], named[MPI_MAX_ERROR_STRING + 64];
    const char *name = ompi_class_name(errorcode);
    int n, rc = core_Error_string(error_in(errorcode), string ? text : NULL,
                                  resultlen ? &n : NULL);
    if (rc)
        return result_out(rc);
    snprintf(named, sizeof named, "%s%s%s", name ? name : "", name ? ": " : "", text);
    cut(string, resultlen, named, MAX_ERROR);
    return MPI_SUCCESS;
}

#define GET_NAME(x)                                                                                \
    CORE(x);                                                                                       \
    int custom_##x(HANDLE h, char *name, int *resultlen)                                           \
    {                                                                                              \
        char text[MPI_MAX_OBJECT_NAME];                                                            \
        int n, rc = core_##x(handle_in(h), name ? text : NULL, resultlen ? &n : NULL);             \
        if (!rc)                                                                                   \
            cut(name, resultlen, text, MAX_NAME);                                                  \
        return result_out(rc);                                                                     \
    }
GET_NAME(Comm_get_name)
GET_NAME(Type_get_name)
GET_NAME(Win_get_name)

/* --- info ----------------------------------------------------------------------------- */

/* 0, or the code of a key that Open MPI takes for too long, after the handler of a call without an
 * object. */
static int key_fault(const char *key, const char *call)
{
    if (!key || strnlen(key, MAX_KEY) < MAX_KEY)
        return MPI_SUCCESS;
    api_fail_comm(MPI_COMM_NULL, MPI_ERR_INFO_KEY, call);
    return OMPI_ERR_INFO_KEY;
}

CORE(Info_set);
int custom_Info_set(HANDLE info, const char *key, const char *value)
{
    int rc = key_fault(key, "MPI_Info_set");
    if (!rc && value && strnlen(value, MAX_VALUE) == MAX_VALUE) {
        api_fail_comm(MPI_COMM_NULL, MPI_ERR_INFO_VALUE, "MPI_Info_set");
        return OMPI_ERR_INFO_VALUE;
    }
    return rc ? rc : result_out(core_Info_set(handle_in(info), key, value));
}

CORE(Info_delete);
int custom_Info_delete(HANDLE info, const char *key)
{
    int rc = key_fault(key, "MPI_Info_delete");
    return rc ? rc : result_out(core_Info_delete(handle_in(info), key));
}

CORE(Info_get);
int custom_Info_get(HANDLE info, const char *key, int valuelen, char *value, int *flag)
{
    int rc = key_fault(key, "MPI_Info_get");
    int most = valuelen < MAX_VALUE ? valuelen : MAX_VALUE - 1;
    return rc ? rc : result_out(core_Info_get(handle_in(info), key, most, value, flag));
}

CORE(Info_get_valuelen);
int custom_Info_get_valuelen(HANDLE info, const char *key, int *valuelen, int *flag)
{
    int rc = key_fault(key, "MPI_Info_get_valuelen");
    if (!rc)
        rc = result_out(core_Info_get_valuelen(handle_in(info), key, valuelen, flag));
    if (!rc && *flag && *valuelen >= MAX_VALUE)
        *valuelen = MAX_VALUE - 1;
    return rc;
}

CORE(Info_get_nthkey);
int custom_Info_get_nthkey(HANDLE info, int n, char *key)
{
    char text[MPI_MAX_INFO_KEY + 1];
    int len, rc = core_Info_get_nthkey(handle_in(info), n, key ? text : NULL);
    if (!rc)
        cut(key, &len, text, MAX_KEY);
    return result_out(rc);
}

/* --- datatypes ------------------------------------------------------------------------ */

/* A datatype of Open MPI that is not there has size 0: MPI_REAL2, pairs of complex numbers. */
static int is_lacking(HANDLE type)
{
    extern const char ompi_mpi_datatype_null[];
    return handle_in(type) == MPI_DATATYPE_NULL && (const char *)type != ompi_mpi_datatype_null;
}

#define TYPE_SIZE(x, number)                                                                       \
    CORE(x);                                                                                       \
    int custom_##x(HANDLE type, number *size)                                                      \
    {                                                                                              \
        if (!size || !is_lacking(type))                                                            \
            return result_out(core_##x(handle_in(type), size));                                    \
        *size = 0;                                                                                 \
        return MPI_SUCCESS;                                                                        \
    }
TYPE_SIZE(Type_size, int)
TYPE_SIZE(Type_size_x, MPI_Count)

/* --- splits --------------------------------------------------------------------------- */

/* Open MPI's kinds of split: 0 is MPI_COMM_TYPE_SHARED, and those of hwloc's names. */
enum { SPLIT_SHARED, SPLIT_HWTHREAD, SPLIT_NUMA = 7, SPLIT_BOARD, SPLIT_HOST, SPLIT_CU,
       SPLIT_CLUSTER };
static const char *const resource[] = {
    [SPLIT_HWTHREAD] = "PU", "Core", "L1Cache", "L2Cache", "L3Cache", "Package",
    [SPLIT_NUMA] = "NUMANode"};

CORE(Comm_split);
CORE(Comm_split_type);
CORE(Info_create);
CORE(Info_free);

/* A process that no single resource of the kind holds gets a communicator of its own. */
static int split_by_resource(MPI_Comm comm, int kind, int key, MPI_Comm *out)
{
    MPI_Info info;
    int rc = core_Info_create(&info);
    if (rc)
        return rc;
    rc = core_Info_set(info, "mpi_hw_resource_type", resource[kind]);
    if (!rc)
        rc = core_Comm_split_type(comm, MPI_COMM_TYPE_HW_GUIDED, key, info, out);
    core_Info_free(&info);
    /* no copy of MPI_COMM_SELF: that would have its attributes */
    return !rc && *out == MPI_COMM_NULL ? core_Comm_split(MPI_COMM_SELF, 0, 0, out) : rc;
}

int custom_Comm_split_type(HANDLE comm, int split_type, int key, HANDLE info, HANDLE *newcomm)
{
    MPI_Comm c = handle_in(comm), out = MPI_COMM_NULL;
    int rc;
    if (!newcomm || split_type < MPI_UNDEFINED || split_type > SPLIT_CLUSTER)
        rc = core_Comm_split_type(c, newcomm ? INT32_MAX : MPI_COMM_TYPE_SHARED, key,
                                  handle_in(info), newcomm ? &out : NULL);
    else if (split_type == MPI_UNDEFINED)
        rc = core_Comm_split_type(c, MPI_UNDEFINED, key, handle_in(info), &out);
    else if (split_type >= SPLIT_HWTHREAD && split_type <= SPLIT_NUMA)
        rc = split_by_resource(c, split_type, key, &out);
    else if (split_type == SPLIT_CU || split_type == SPLIT_CLUSTER)
        rc = core_Comm_split(c, 0, key, &out);
    else
        rc = core_Comm_split_type(c, split_type < 0 ? INT32_MAX : MPI_COMM_TYPE_SHARED, key,
                                  handle_in(info), &out);
    if (!rc)
        *newcomm = handle_out(out);
    return result_out(rc);
}

/* --- statuses of Fortran, which are those of C ------------------------------------------ */

static int status_copy(void *to, const void *from)
{
    if (!to || !from)
        return OMPI_ERR_ARG;
    memcpy(to, from, sizeof(struct front_status));
    return MPI_SUCCESS;
}

int custom_Status_c2f(const struct front_status *c_status, MPI_Fint *f_status)
{
    return status_copy(f_status, c_status);
}

int custom_Status_f2c(const MPI_Fint *f_status, struct front_status *c_status)
{
    return status_copy(c_status, f_status);
}

/* --- null and dup functions ------------------------------------------------------------- */

#define OPEN_MPI(result, name, params)                                                             \
    API_EXPORT result name params;                                                                 \
    result name params

#define PREDEFINED_FUNCTIONS(prefix)                                                               \
    OPEN_MPI(int, OMPI_C_MPI_##prefix##DUP_FN,                                                     \
             (HANDLE h, int keyval, void *extra, void *in, void *out, int *flag))                  \
    {                                                                                              \
        (void)h, (void)keyval, (void)extra;                                                        \
        *flag = 1;                                                                                 \
        *(void **)out = in;                                                                        \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    OPEN_MPI(int, OMPI_C_MPI_##prefix##NULL_COPY_FN,                                               \
             (HANDLE h, int keyval, void *extra, void *in, void *out, int *flag))                  \
    {                                                                                              \
        (void)h, (void)keyval, (void)extra, (void)in, (void)out;                                   \
        *flag = 0;                                                                                 \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    OPEN_MPI(int, OMPI_C_MPI_##prefix##NULL_DELETE_FN,                                             \
             (HANDLE h, int keyval, void *value, void *extra))                                     \
    {                                                                                              \
        (void)h, (void)keyval, (void)value, (void)extra;                                           \
        return MPI_SUCCESS;                                                                        \
    }
PREDEFINED_FUNCTIONS()
PREDEFINED_FUNCTIONS(COMM_)
PREDEFINED_FUNCTIONS(TYPE_)
PREDEFINED_FUNCTIONS(WIN_)

/* --- others ------------------------------------------------------------------------------ */

int custom_Errhandler_create(void_function *fn, HANDLE *errhandler)
{
    return custom_Comm_create_errhandler(fn, errhandler);
}

FRONT_CALL(int, Pcontrol, (const int level, ...))
{
    (void)level; /* for profilers, which replace this function */
    return MPI_SUCCESS;
}

OPEN_MPI(int, MPIX_Query_cuda_support, (void))
{
    return 0;
}

/* Where a process is bound: three texts of this size. */
enum { AFFINITY_TEXT = 1024 };
OPEN_MPI(int, OMPI_Affinity_str,
         (int format, char bound[AFFINITY_TEXT], char now[AFFINITY_TEXT], char all[AFFINITY_TEXT]))
{
    (void)format;
    *bound = *now = *all = 0;
    return MPI_SUCCESS;
}
