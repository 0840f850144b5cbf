/* status.c - statuses (MPI-3.1 3.2.5, 12.3, 17.2.5). Start with get_count(). */
#include "api/api.h"

#include <limits.h>
#include <string.h>

#include "dt/dt.h"

static int ignored(const MPI_Status *st)
{
    int err = api_status(st, "status");
    if (!err && st == MPI_STATUS_IGNORE)
        err = err_make(MPI_ERR_ARG, "%s: status is MPI_STATUS_IGNORE", proc->call);
    return err;
}

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    api_enter("MPI_Test_cancelled");
    int err = ignored(status);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err)
        *flag = status_cancelled(status);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Test_cancelled);

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    api_enter("MPI_Status_set_cancelled");
    int err = ignored(status);
    if (!err)
        status_set_cancelled(status, flag);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Status_set_cancelled);

static int get_count(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    struct dt_type *t;
    int err = ignored(status);
    if (!err)
        err = api_type(type, &t);
    if (err)
        return err;
    int64_t bytes = status_count(status);
    /* Any number of instances without data fit into 0 bytes: MPI-3.1 3.2.5 requires 0. */
    *count = t->size == 0      ? (bytes ? MPI_UNDEFINED : 0)
             : bytes % t->size ? MPI_UNDEFINED
                               : bytes / t->size;
    return MPI_SUCCESS;
}

int PMPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    api_enter("MPI_Get_count");
    MPI_Count n = 0;
    int err = get_count(status, type, &n);
    if (!err)
        err = api_pointer(count, "count");
    if (!err)
        *count = n > INT_MAX ? MPI_UNDEFINED : (int)n;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Get_count);

int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    api_enter("MPI_Get_count_c");
    MPI_Count n = 0;
    int err = get_count(status, type, &n);
    if (!err)
        err = api_pointer(count, "count");
    if (!err)
        *count = n;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Get_count_c);

static int get_elements(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    struct dt_type *t;
    int err = ignored(status);
    if (!err)
        err = api_type(type, &t);
    if (err)
        return err;
    int64_t n = dt_elements(t, (size_t)status_count(status));
    *count = n < 0 ? MPI_UNDEFINED : n;
    return MPI_SUCCESS;
}

int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype type, int *count)
{
    api_enter("MPI_Get_elements");
    MPI_Count n = 0;
    int err = get_elements(status, type, &n);
    if (!err)
        err = api_pointer(count, "count");
    if (!err)
        *count = n > INT_MAX ? MPI_UNDEFINED : (int)n;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Get_elements);

static int elements_wide(const char *call, const MPI_Status *status, MPI_Datatype type,
                         MPI_Count *count)
{
    api_enter(call);
    MPI_Count n = 0;
    int err = get_elements(status, type, &n);
    if (!err)
        err = api_pointer(count, "count");
    if (!err)
        *count = n;
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    return elements_wide("MPI_Get_elements_x", status, type, count);
}
API_ALIAS(MPI_Get_elements_x);

int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    return elements_wide("MPI_Get_elements_c", status, type, count);
}
API_ALIAS(MPI_Get_elements_c);

static int set_elements(const char *call, MPI_Status *status, MPI_Datatype type, MPI_Count count)
{
    api_enter(call);
    struct dt_type *t;
    int err = ignored(status);
    if (!err)
        err = api_type(type, &t);
    if (!err)
        err = api_count(count);
    if (!err) {
        int64_t bytes = count == 0 ? 0 : dt_elements_bytes(t, count);
        if (bytes < 0)
            err = err_make(MPI_ERR_ARG,
                           "%s: %lld basic elements of datatype %#x are no number of bytes", call,
                           (long long)count, (unsigned)type);
        else
            status_set_count(status, bytes);
    }
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype type, int count)
{
    return set_elements("MPI_Status_set_elements", status, type, count);
}
API_ALIAS(MPI_Status_set_elements);

int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype type, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_x", status, type, count);
}
API_ALIAS(MPI_Status_set_elements_x);

int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype type, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_c", status, type, count);
}
API_ALIAS(MPI_Status_set_elements_c);

/* Fortran's status is an array of five ints with the same content, so is that of Fortran 2008. */
static int copy_status(const char *call, const void *from, void *to)
{
    api_enter(call);
    int err = api_pointer(from, "the first status");
    if (!err)
        err = api_pointer(to, "the second status");
    if (!err && (from == (void *)MPI_F_STATUS_IGNORE || from == (void *)MPI_STATUS_IGNORE))
        err = err_make(MPI_ERR_ARG, "%s: the status to convert is MPI_STATUS_IGNORE", call);
    if (!err)
        memcpy(to, from, sizeof(MPI_Status));
    return api_exit(MPI_COMM_NULL, err);
}
_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint) &&
                   sizeof(MPI_Status) == sizeof(MPI_F08_status),
               "statuses of all languages have one layout");

int PMPI_Status_c2f(const MPI_Status *c, MPI_Fint *f)
{
    return copy_status("MPI_Status_c2f", c, f);
}
API_ALIAS(MPI_Status_c2f);

int PMPI_Status_f2c(const MPI_Fint *f, MPI_Status *c)
{
    return copy_status("MPI_Status_f2c", f, c);
}
API_ALIAS(MPI_Status_f2c);

int PMPI_Status_c2f08(const MPI_Status *c, MPI_F08_status *f08)
{
    return copy_status("MPI_Status_c2f08", c, f08);
}
API_ALIAS(MPI_Status_c2f08);

int PMPI_Status_f082c(const MPI_F08_status *f08, MPI_Status *c)
{
    return copy_status("MPI_Status_f082c", f08, c);
}
API_ALIAS(MPI_Status_f082c);

int PMPI_Status_f082f(const MPI_F08_status *f08, MPI_Fint *f)
{
    return copy_status("MPI_Status_f082f", f08, f);
}
API_ALIAS(MPI_Status_f082f);

int PMPI_Status_f2f08(const MPI_Fint *f, MPI_F08_status *f08)
{
    return copy_status("MPI_Status_f2f08", f, f08);
}
API_ALIAS(MPI_Status_f2f08);
