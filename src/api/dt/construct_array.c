/* construct_array.c - subarrays, distributed arrays and parameterized types (MPI-3.1 4.1.3, 4.1.4,
 * 17.1.9). Start with PMPI_Type_create_subarray(). */
#include "api/api.h"

#include <limits.h>
#include <stdlib.h>

#include "api/dt/typecall.h"
#include "dt/make.h"

/* --- subarray, darray ------------------------------------------------------------------- */
static int check_order(int order)
{
    return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN
               ? MPI_SUCCESS
               : err_make(MPI_ERR_ARG, "%s: order is %d, neither MPI_ORDER_C nor MPI_ORDER_FORTRAN",
                          proc->call, order);
}

static int check_ndims(int ndims)
{
    return ndims > 0 ? MPI_SUCCESS
                     : err_make(MPI_ERR_DIMS, "%s: ndims is %d, less than 1", proc->call, ndims);
}

static int check_subarray(int ndims, const int64_t *sizes, const int64_t *sub,
                          const int64_t *starts, int order)
{
    for (int d = 0; d < ndims; d++)
        if (sizes[d] < 1 || sub[d] < 1 || starts[d] < 0 || sub[d] > sizes[d] ||
            starts[d] > sizes[d] - sub[d])
            return err_make(
                MPI_ERR_ARG, "%s: dimension %d: %lld elements from %lld on are no part of %lld",
                proc->call, d, (long long)sub[d], (long long)starts[d], (long long)sizes[d]);
    return check_order(order);
}

static int subarray(int ndims, const int64_t *sizes, const int64_t *sub, const int64_t *starts,
                    int order, MPI_Datatype oldtype, MPI_Datatype *newtype, int large)
{
    struct typecall a = {.combiner = MPI_COMBINER_SUBARRAY, .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = typecall_common(0, oldtype, newtype, &old);
    if (!err)
        err = check_subarray(ndims, sizes, sub, starts, order);
    if (!err)
        err = dt_make_subarray(ndims, sizes, sub, starts, order, old, &t);
    if (!err) {
        typecall_ints(&a, &ndims, 1);
        typecall_counts(&a, sizes, ndims);
        typecall_counts(&a, sub, ndims);
        typecall_counts(&a, starts, ndims);
        typecall_ints(&a, &order, 1);
    }
    return typecall_finish(&a, old, t, err, newtype);
}

int PMPI_Type_create_subarray(int ndims, const int sizes[], const int subsizes[],
                              const int starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_subarray");
    int err = check_ndims(ndims);
    int64_t *n = typecall_widen(sizes, ndims, "array_of_sizes", &err);
    int64_t *s = typecall_widen(subsizes, ndims, "array_of_subsizes", &err);
    int64_t *b = typecall_widen(starts, ndims, "array_of_starts", &err);
    err = err ? typecall_fail(err) : subarray(ndims, n, s, b, order, oldtype, newtype, 0);
    free(n);
    free(s);
    free(b);
    return err;
}
API_ALIAS(MPI_Type_create_subarray);

int PMPI_Type_create_subarray_c(int ndims, const MPI_Count sizes[], const MPI_Count subsizes[],
                                const MPI_Count starts[], int order, MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_subarray_c");
    int err = check_ndims(ndims);
    if (!err && !(sizes && subsizes && starts))
        err = api_pointer(NULL, "array_of_sizes, array_of_subsizes or array_of_starts");
    return err ? typecall_fail(err)
               : subarray(ndims, sizes, subsizes, starts, order, oldtype, newtype, 1);
}
API_ALIAS(MPI_Type_create_subarray_c);

struct darray {
    int size, rank, ndims;
    const int *distribs, *dargs, *psizes;
    int order;
};

static int check_distribution(const struct darray *d, int i, int64_t gsize)
{
    int kind = d->distribs[i], darg = d->dargs[i], p = d->psizes[i];
    const char *wrong = NULL;
    if (gsize < 1)
        wrong = "the global size is less than 1";
    else if (p < 1)
        wrong = "the number of processes is less than 1";
    else if (kind != MPI_DISTRIBUTE_BLOCK && kind != MPI_DISTRIBUTE_CYCLIC &&
             kind != MPI_DISTRIBUTE_NONE)
        wrong = "the distribution is no MPI_DISTRIBUTE_ value";
    else if (kind == MPI_DISTRIBUTE_NONE && p != 1)
        wrong = "MPI_DISTRIBUTE_NONE wants one process";
    else if (kind != MPI_DISTRIBUTE_NONE && darg != MPI_DISTRIBUTE_DFLT_DARG && darg < 1)
        wrong = "the distribution argument is less than 1";
    else if (kind == MPI_DISTRIBUTE_BLOCK && darg != MPI_DISTRIBUTE_DFLT_DARG &&
             (int64_t)darg * p < gsize)
        wrong = "blocks of that length do not cover the array";
    return wrong ? err_make(MPI_ERR_ARG, "%s: dimension %d: %s", proc->call, i, wrong)
                 : MPI_SUCCESS;
}

static int check_darray(const struct darray *d, const int64_t *gsizes)
{
    int64_t all = 1;
    int err = d->distribs && d->dargs && d->psizes && gsizes
                  ? MPI_SUCCESS
                  : api_pointer(NULL, "an array argument");
    for (int i = 0; i < d->ndims && !err; i++) {
        err = check_distribution(d, i, gsizes[i]);
        all = all <= INT_MAX ? all * (err ? 1 : d->psizes[i]) : all;
    }
    if (!err && d->size < 1)
        err = err_make(MPI_ERR_ARG, "%s: size is %d, less than 1", proc->call, d->size);
    if (!err && (d->rank < 0 || d->rank >= d->size))
        err = err_make(MPI_ERR_RANK, "%s: rank %d is not one of %d processes", proc->call, d->rank,
                       d->size);
    if (!err && all != d->size)
        err = err_make(MPI_ERR_ARG, "%s: the process grid needs %lld processes, not %d",
                       proc->call, (long long)all, d->size);
    return err ? err : check_order(d->order);
}

static int make_darray(const struct darray *d, const int64_t *gsizes, MPI_Datatype oldtype,
                  MPI_Datatype *newtype, int large)
{
    struct typecall a = {.combiner = MPI_COMBINER_DARRAY, .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = typecall_common(0, oldtype, newtype, &old);
    if (!err)
        err = check_darray(d, gsizes);
    if (!err)
        err = dt_make_darray(d->size, d->rank, d->ndims, gsizes, d->distribs, d->dargs, d->psizes,
                             d->order, old, &t);
    if (!err) {
        const int head[3] = {d->size, d->rank, d->ndims};
        typecall_ints(&a, head, 3);
        typecall_counts(&a, gsizes, d->ndims);
        typecall_ints(&a, d->distribs, d->ndims);
        typecall_ints(&a, d->dargs, d->ndims);
        typecall_ints(&a, d->psizes, d->ndims);
        typecall_ints(&a, &d->order, 1);
    }
    return typecall_finish(&a, old, t, err, newtype);
}

int PMPI_Type_create_darray(int size, int rank, int ndims, const int gsizes[], const int distribs[],
                            const int dargs[], const int psizes[], int order, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_darray");
    const struct darray d = {size, rank, ndims, distribs, dargs, psizes, order};
    int err = check_ndims(ndims);
    int64_t *g = typecall_widen(gsizes, ndims, "array_of_gsizes", &err);
    err = err ? typecall_fail(err) : make_darray(&d, g, oldtype, newtype, 0);
    free(g);
    return err;
}
API_ALIAS(MPI_Type_create_darray);

int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count gsizes[],
                              const int distribs[], const int dargs[], const int psizes[],
                              int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_darray_c");
    const struct darray d = {size, rank, ndims, distribs, dargs, psizes, order};
    int err = check_ndims(ndims);
    return err ? typecall_fail(err) : make_darray(&d, gsizes, oldtype, newtype, 1);
}
API_ALIAS(MPI_Type_create_darray_c);

/* --- Fortran kinds ------------------------------------------------------------------------ */
static int f90(int combiner, int p, int r, MPI_Datatype *newtype)
{
    struct dt_type *t;
    int err = api_pointer(newtype, "newtype");
    if (!err)
        err = dt_make_f90(combiner, p, r, &t);
    if (!err)
        *newtype = t->obj.handle;
    return api_exit(MPI_COMM_NULL, err);
}

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_f90_real");
    return f90(MPI_COMBINER_F90_REAL, p, r, newtype);
}
API_ALIAS(MPI_Type_create_f90_real);

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_f90_complex");
    return f90(MPI_COMBINER_F90_COMPLEX, p, r, newtype);
}
API_ALIAS(MPI_Type_create_f90_complex);

int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_f90_integer");
    return f90(MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, r, newtype);
}
API_ALIAS(MPI_Type_create_f90_integer);
