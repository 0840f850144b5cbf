/* Datatypes: constructors and queries (MPI-3.1 4.1, 17.1.9, removed functions of MPI-1).
 *
 * The int and the large-count (_c) form of a constructor share one function over int64: the arguments are widened
 * first, and recorded for MPI_Type_get_contents as the caller gave them. */
#include "api/api.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dt/make.h"
#include "obj/attr.h"

_Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8, "counts and addresses are int64_t here");

/* --- arguments ------------------------------------------------------------------ */
/* What a constructor was called with, for the envelope. Up to three groups of int or large-count arguments. */
struct args {
    int combiner;
    int large; /* the _c form: counts go to `counts` */
    int *ints;
    MPI_Count *counts;
    MPI_Aint *aints;
    int nints, ncounts, naints;
    struct dt_type **types;
    int ntypes;
    int err;
};

static int no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "%s: out of memory", proc->call);
}

static void *more(struct args *a, void *old, size_t bytes)
{
    void *p = realloc(old, bytes);
    if (!p && !a->err)
        a->err = no_memory();
    return p;
}

/* Append ints that are ints in both forms. */
static void add_ints(struct args *a, const int *v, int n)
{
    int *p = a->err || !n ? NULL : more(a, a->ints, (size_t)(a->nints + n) * sizeof *p);
    if (!p)
        return;
    a->ints = p;
    memcpy(p + a->nints, v, (size_t)n * sizeof *v);
    a->nints += n;
}

/* Append counts: large ones in the _c form, ints else. */
static void add_counts(struct args *a, const int64_t *v, int64_t n)
{
    if (a->err || !n)
        return;
    if (a->large) {
        MPI_Count *p = more(a, a->counts, (size_t)(a->ncounts + n) * sizeof *p);
        if (!p)
            return;
        a->counts = p;
        memcpy(p + a->ncounts, v, (size_t)n * sizeof *v);
        a->ncounts += (int)n;
        return;
    }
    int *p = more(a, a->ints, (size_t)(a->nints + n) * sizeof *p);
    if (!p)
        return;
    a->ints = p;
    for (int64_t i = 0; i < n; i++)
        p[a->nints++] = (int)v[i];
}

static void add_count(struct args *a, int64_t v)
{
    add_counts(a, &v, 1);
}

/* Append byte displacements: addresses in the int form, large counts in the _c form. */
static void add_bytes(struct args *a, const int64_t *v, int64_t n)
{
    if (a->large) {
        add_counts(a, v, n);
        return;
    }
    MPI_Aint *p = a->err || !n ? NULL : more(a, a->aints, (size_t)(a->naints + n) * sizeof *p);
    if (!p)
        return;
    a->aints = p;
    memcpy(p + a->naints, v, (size_t)n * sizeof *v);
    a->naints += (int)n;
}

static void args_free(struct args *a)
{
    free(a->ints);
    free(a->counts);
    free(a->aints);
}

/* int array to int64; NULL with *err set when memory is out or the array is missing. */
static int64_t *widen(const int *v, int64_t n, const char *name, int *err)
{
    if (*err)
        return NULL;
    if (n && !v) {
        *err = api_pointer(v, name);
        return NULL;
    }
    int64_t *w = malloc((size_t)(n ? n : 1) * sizeof *w);
    if (!w)
        *err = no_memory();
    for (int64_t i = 0; w && i < n; i++)
        w[i] = v[i];
    return w;
}

static int check_lens(const int64_t *v, int64_t n, const char *name)
{
    if (n)
        for (int64_t i = 0; i < n; i++)
            if (v[i] < 0)
                return err_make(MPI_ERR_ARG, "%s: %s[%lld] is %lld, less than 0", proc->call, name, (long long)i,
                                (long long)v[i]);
    return MPI_SUCCESS;
}

static int check_len(int64_t v, const char *name)
{
    return v >= 0 ? MPI_SUCCESS
                  : err_make(MPI_ERR_ARG, "%s: %s is %lld, less than 0", proc->call, name, (long long)v);
}

/* Count and newtype of every constructor, and its old type. */
static int check_common(int64_t count, MPI_Datatype oldtype, MPI_Datatype *newtype, struct dt_type **old)
{
    int err = api_pointer(newtype, "newtype");
    if (!err)
        err = api_count(count);
    return err ? err : api_type(oldtype, old);
}

/* The end of every constructor: record the arguments, hand out the handle. */
static int finish(struct args *a, struct dt_type *old, struct dt_type *t, int err, MPI_Datatype *newtype)
{
    if (!err && a->err) {
        dt_drop(t);
        err = a->err;
    }
    if (!err) {
        struct dt_type *one[1] = {old};
        struct dt_contents c = {a->combiner, a->nints, a->naints, a->ncounts, old ? 1 : a->ntypes,
                                a->ints,     a->aints, a->counts, old ? one : a->types};
        err = dt_contents_set(t, &c);
        if (err)
            dt_drop(t);
        else
            *newtype = t->obj.handle;
    }
    args_free(a);
    return api_leave(MPI_COMM_NULL, err);
}

/* --- contiguous, vector ------------------------------------------------------------ */
static int contiguous(int64_t count, MPI_Datatype oldtype, MPI_Datatype *newtype, int large)
{
    struct args a = {.combiner = MPI_COMBINER_CONTIGUOUS, .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = check_common(count, oldtype, newtype, &old);
    if (!err)
        err = dt_make_contiguous(count, old, &t);
    add_count(&a, count);
    return finish(&a, old, t, err, newtype);
}

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_contiguous");
    return contiguous(count, oldtype, newtype, 0);
}
API_ALIAS(MPI_Type_contiguous);

int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_contiguous_c");
    return contiguous(count, oldtype, newtype, 1);
}
API_ALIAS(MPI_Type_contiguous_c);

static int vector(int64_t count, int64_t blocklen, int64_t stride, MPI_Datatype oldtype, MPI_Datatype *newtype,
                  int bytes, int large)
{
    struct args a = {.combiner = bytes ? MPI_COMBINER_HVECTOR : MPI_COMBINER_VECTOR, .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = check_common(count, oldtype, newtype, &old);
    if (!err)
        err = check_len(blocklen, "blocklength");
    if (!err)
        err = bytes ? dt_make_vector_b(count, blocklen, stride, old, &t)
                    : dt_make_vector(count, blocklen, stride, old, &t);
    add_count(&a, count);
    add_count(&a, blocklen);
    if (bytes)
        add_bytes(&a, &stride, 1);
    else
        add_count(&a, stride);
    return finish(&a, old, t, err, newtype);
}

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    api_enter("MPI_Type_vector");
    return vector(count, blocklength, stride, oldtype, newtype, 0, 0);
}
API_ALIAS(MPI_Type_vector);

int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_vector_c");
    return vector(count, blocklength, stride, oldtype, newtype, 0, 1);
}
API_ALIAS(MPI_Type_vector_c);

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_hvector");
    return vector(count, blocklength, stride, oldtype, newtype, 1, 0);
}
API_ALIAS(MPI_Type_create_hvector);

int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                               MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_hvector_c");
    return vector(count, blocklength, stride, oldtype, newtype, 1, 1);
}
API_ALIAS(MPI_Type_create_hvector_c);

int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    api_enter("MPI_Type_hvector");
    return vector(count, blocklength, stride, oldtype, newtype, 1, 0);
}
API_ALIAS(MPI_Type_hvector);

/* --- indexed ------------------------------------------------------------------------ */
/* lens NULL: `len` for all (the _block constructors). Displacements in bytes or in extents. */
static int indexed(int64_t count, const int64_t *lens, int64_t len, const int64_t *displs, MPI_Datatype oldtype,
                   MPI_Datatype *newtype, int bytes, int large)
{
    static const int combiner[2][2] = {{MPI_COMBINER_INDEXED, MPI_COMBINER_INDEXED_BLOCK},
                                       {MPI_COMBINER_HINDEXED, MPI_COMBINER_HINDEXED_BLOCK}};
    struct args a = {.combiner = combiner[bytes][!lens], .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = check_common(count, oldtype, newtype, &old);
    if (!err)
        err = lens ? check_lens(lens, count, "array_of_blocklengths") : check_len(len, "blocklength");
    if (!err && count)
        err = api_pointer(displs, "array_of_displacements");
    if (!err)
        err = bytes ? dt_make_indexed_b(count, lens, len, displs, old, &t)
                    : dt_make_indexed(count, lens, len, displs, old, &t);
    if (!err) {
        add_count(&a, count);
        if (lens)
            add_counts(&a, lens, count);
        else
            add_count(&a, len);
        if (bytes)
            add_bytes(&a, displs, count);
        else
            add_counts(&a, displs, count);
    }
    return finish(&a, old, t, err, newtype);
}

static int fail(int err)
{
    return api_leave(MPI_COMM_NULL, err);
}

/* The int forms: one or two arrays of ints. */
static int indexed_int(int count, const int *lens, int len, const int *displs, const MPI_Aint *displs_b,
                       MPI_Datatype oldtype, MPI_Datatype *newtype, int block)
{
    int err = api_count(count);
    int64_t *l = block ? NULL : widen(lens, count, "array_of_blocklengths", &err);
    int64_t *d = displs_b ? NULL : widen(displs, count, "array_of_displacements", &err);
    err = err ? fail(err)
              : indexed(count, l, len, displs_b ? (const int64_t *)displs_b : d, oldtype, newtype, displs_b != NULL, 0);
    free(l);
    free(d);
    return err;
}

static const MPI_Aint no_displs[1]; /* count 0 may come with a null pointer */

int PMPI_Type_indexed(int count, const int blocklengths[], const int displacements[],
                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_indexed");
    return indexed_int(count, blocklengths, 0, displacements, NULL, oldtype, newtype, 0);
}
API_ALIAS(MPI_Type_indexed);

static int hindexed(int count, const int *blocklengths, int len, const MPI_Aint *displs, MPI_Datatype oldtype,
                    MPI_Datatype *newtype, int block)
{
    int err = count > 0 ? api_pointer(displs, "array_of_displacements") : MPI_SUCCESS;
    return err ? fail(err)
               : indexed_int(count, blocklengths, len, NULL, displs ? displs : no_displs, oldtype, newtype, block);
}

int PMPI_Type_create_hindexed(int count, const int blocklengths[], const MPI_Aint displacements[],
                              MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_hindexed");
    return hindexed(count, blocklengths, 0, displacements, oldtype, newtype, 0);
}
API_ALIAS(MPI_Type_create_hindexed);

int PMPI_Type_hindexed(int count, int blocklengths[], MPI_Aint displacements[],
                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_hindexed");
    return hindexed(count, blocklengths, 0, displacements, oldtype, newtype, 0);
}
API_ALIAS(MPI_Type_hindexed);

int PMPI_Type_create_hindexed_block(int count, int blocklength, const MPI_Aint displacements[],
                                    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_hindexed_block");
    return hindexed(count, NULL, blocklength, displacements, oldtype, newtype, 1);
}
API_ALIAS(MPI_Type_create_hindexed_block);

int PMPI_Type_create_indexed_block(int count, int blocklength, const int displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_indexed_block");
    return indexed_int(count, NULL, blocklength, displacements, NULL, oldtype, newtype, 1);
}
API_ALIAS(MPI_Type_create_indexed_block);

/* The large forms with lengths per block: none missing. */
static int indexed_large(MPI_Count count, const MPI_Count *lens, const MPI_Count *displs, MPI_Datatype oldtype,
                         MPI_Datatype *newtype, int bytes)
{
    int err = count > 0 ? api_pointer(lens, "array_of_blocklengths") : MPI_SUCCESS;
    return err ? fail(err) : indexed(count, lens ? lens : no_displs, 0, displs, oldtype, newtype, bytes, 1);
}

int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count blocklengths[],
                        const MPI_Count displacements[], MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    api_enter("MPI_Type_indexed_c");
    return indexed_large(count, blocklengths, displacements, oldtype, newtype, 0);
}
API_ALIAS(MPI_Type_indexed_c);

int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count blocklengths[],
                                const MPI_Count displacements[], MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_hindexed_c");
    return indexed_large(count, blocklengths, displacements, oldtype, newtype, 1);
}
API_ALIAS(MPI_Type_create_hindexed_c);

int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                      const MPI_Count displacements[], MPI_Datatype oldtype,
                                      MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_hindexed_block_c");
    return indexed(count, NULL, blocklength, displacements, oldtype, newtype, 1, 1);
}
API_ALIAS(MPI_Type_create_hindexed_block_c);

int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_indexed_block_c");
    return indexed(count, NULL, blocklength, displacements, oldtype, newtype, 0, 1);
}
API_ALIAS(MPI_Type_create_indexed_block_c);

/* --- struct, resized ------------------------------------------------------------------ */
/* Handles to objects; NULL with *err set. */
static struct dt_type **find_types(const MPI_Datatype *h, int64_t n, int *err)
{
    if (!*err && n && !h)
        *err = api_pointer(h, "array_of_types");
    struct dt_type **t = *err ? NULL : malloc((size_t)(n ? n : 1) * sizeof *t);
    if (!*err && !t)
        *err = no_memory();
    for (int64_t i = 0; i < n && !*err; i++)
        *err = api_type(h[i], &t[i]);
    return t;
}

static int structure(int64_t count, const int64_t *lens, const int64_t *displs, const MPI_Datatype *types,
                     MPI_Datatype *newtype, int large)
{
    struct args a = {.combiner = MPI_COMBINER_STRUCT, .large = large};
    struct dt_type *t = NULL;
    int err = api_pointer(newtype, "newtype");
    if (!err)
        err = api_count(count);
    if (!err && count && !lens)
        err = api_pointer(lens, "array_of_blocklengths");
    if (!err && count && !displs)
        err = api_pointer(displs, "array_of_displacements");
    if (!err)
        err = check_lens(lens, count, "array_of_blocklengths");
    struct dt_type **old = find_types(types, count, &err);
    if (!err)
        err = dt_make_struct(count, lens, displs, old, &t);
    if (!err) {
        add_count(&a, count);
        add_counts(&a, lens, count);
        add_bytes(&a, displs, count);
        a.types = old;
        a.ntypes = (int)count;
    }
    err = finish(&a, NULL, t, err, newtype);
    free(old);
    return err;
}

static int struct_int(int count, const int *lens, const MPI_Aint *displs, const MPI_Datatype *types,
                      MPI_Datatype *newtype)
{
    int err = api_count(count);
    int64_t *l = widen(lens, count, "array_of_blocklengths", &err);
    err = err ? fail(err) : structure(count, l, (const int64_t *)displs, types, newtype, 0);
    free(l);
    return err;
}

int PMPI_Type_create_struct(int count, const int blocklengths[], const MPI_Aint displacements[],
                            const MPI_Datatype types[], MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_struct");
    return struct_int(count, blocklengths, displacements, types, newtype);
}
API_ALIAS(MPI_Type_create_struct);

int PMPI_Type_struct(int count, int blocklengths[], MPI_Aint displacements[], MPI_Datatype types[],
                     MPI_Datatype *newtype)
{
    api_enter("MPI_Type_struct");
    return struct_int(count, blocklengths, displacements, types, newtype);
}
API_ALIAS(MPI_Type_struct);

int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count blocklengths[],
                              const MPI_Count displacements[], const MPI_Datatype types[],
                              MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_struct_c");
    return structure(count, blocklengths, displacements, types, newtype, 1);
}
API_ALIAS(MPI_Type_create_struct_c);

static int resized(MPI_Datatype oldtype, int64_t lb, int64_t extent, MPI_Datatype *newtype, int large)
{
    struct args a = {.combiner = MPI_COMBINER_RESIZED, .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = check_common(0, oldtype, newtype, &old);
    if (!err)
        err = dt_make_resized(old, lb, extent, &t);
    add_bytes(&a, &lb, 1);
    add_bytes(&a, &extent, 1);
    return finish(&a, old, t, err, newtype);
}

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
                             MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_resized");
    return resized(oldtype, lb, extent, newtype, 0);
}
API_ALIAS(MPI_Type_create_resized);

int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                               MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_resized_c");
    return resized(oldtype, lb, extent, newtype, 1);
}
API_ALIAS(MPI_Type_create_resized_c);

/* --- subarray, darray ------------------------------------------------------------------- */
static int check_order(int order)
{
    return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN
               ? MPI_SUCCESS
               : err_make(MPI_ERR_ARG, "%s: order is %d, neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", proc->call, order);
}

static int check_ndims(int ndims)
{
    return ndims > 0 ? MPI_SUCCESS : err_make(MPI_ERR_DIMS, "%s: ndims is %d, less than 1", proc->call, ndims);
}

static int check_subarray(int ndims, const int64_t *sizes, const int64_t *sub, const int64_t *starts, int order)
{
    for (int d = 0; d < ndims; d++)
        if (sizes[d] < 1 || sub[d] < 1 || starts[d] < 0 || sub[d] > sizes[d] || starts[d] > sizes[d] - sub[d])
            return err_make(MPI_ERR_ARG, "%s: dimension %d: %lld elements from %lld on are no part of %lld", proc->call,
                            d, (long long)sub[d], (long long)starts[d], (long long)sizes[d]);
    return check_order(order);
}

static int subarray(int ndims, const int64_t *sizes, const int64_t *sub, const int64_t *starts, int order,
                    MPI_Datatype oldtype, MPI_Datatype *newtype, int large)
{
    struct args a = {.combiner = MPI_COMBINER_SUBARRAY, .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = check_common(0, oldtype, newtype, &old);
    if (!err)
        err = check_subarray(ndims, sizes, sub, starts, order);
    if (!err)
        err = dt_make_subarray(ndims, sizes, sub, starts, order, old, &t);
    if (!err) {
        add_ints(&a, &ndims, 1);
        add_counts(&a, sizes, ndims);
        add_counts(&a, sub, ndims);
        add_counts(&a, starts, ndims);
        add_ints(&a, &order, 1);
    }
    return finish(&a, old, t, err, newtype);
}

int PMPI_Type_create_subarray(int ndims, const int sizes[], const int subsizes[],
                              const int starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_subarray");
    int err = check_ndims(ndims);
    int64_t *n = widen(sizes, ndims, "array_of_sizes", &err);
    int64_t *s = widen(subsizes, ndims, "array_of_subsizes", &err);
    int64_t *b = widen(starts, ndims, "array_of_starts", &err);
    err = err ? fail(err) : subarray(ndims, n, s, b, order, oldtype, newtype, 0);
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
    return err ? fail(err) : subarray(ndims, sizes, subsizes, starts, order, oldtype, newtype, 1);
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
    else if (kind != MPI_DISTRIBUTE_BLOCK && kind != MPI_DISTRIBUTE_CYCLIC && kind != MPI_DISTRIBUTE_NONE)
        wrong = "the distribution is no MPI_DISTRIBUTE_ value";
    else if (kind == MPI_DISTRIBUTE_NONE && p != 1)
        wrong = "MPI_DISTRIBUTE_NONE wants one process";
    else if (kind != MPI_DISTRIBUTE_NONE && darg != MPI_DISTRIBUTE_DFLT_DARG && darg < 1)
        wrong = "the distribution argument is less than 1";
    else if (kind == MPI_DISTRIBUTE_BLOCK && darg != MPI_DISTRIBUTE_DFLT_DARG && (int64_t)darg * p < gsize)
        wrong = "blocks of that length do not cover the array";
    return wrong ? err_make(MPI_ERR_ARG, "%s: dimension %d: %s", proc->call, i, wrong) : MPI_SUCCESS;
}

static int check_darray(const struct darray *d, const int64_t *gsizes)
{
    int64_t all = 1;
    int err = d->distribs && d->dargs && d->psizes && gsizes ? MPI_SUCCESS : api_pointer(NULL, "an array argument");
    for (int i = 0; i < d->ndims && !err; i++) {
        err = check_distribution(d, i, gsizes[i]);
        all = all <= INT_MAX ? all * (err ? 1 : d->psizes[i]) : all;
    }
    if (!err && d->size < 1)
        err = err_make(MPI_ERR_ARG, "%s: size is %d, less than 1", proc->call, d->size);
    if (!err && (d->rank < 0 || d->rank >= d->size))
        err = err_make(MPI_ERR_RANK, "%s: rank %d is not one of %d processes", proc->call, d->rank, d->size);
    if (!err && all != d->size)
        err = err_make(MPI_ERR_ARG, "%s: the process grid has not %d processes", proc->call, d->size);
    return err ? err : check_order(d->order);
}

static int darray(const struct darray *d, const int64_t *gsizes, MPI_Datatype oldtype, MPI_Datatype *newtype, int large)
{
    struct args a = {.combiner = MPI_COMBINER_DARRAY, .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = check_common(0, oldtype, newtype, &old);
    if (!err)
        err = check_darray(d, gsizes);
    if (!err)
        err = dt_make_darray(d->size, d->rank, d->ndims, gsizes, d->distribs, d->dargs, d->psizes, d->order, old, &t);
    if (!err) {
        const int head[3] = {d->size, d->rank, d->ndims};
        add_ints(&a, head, 3);
        add_counts(&a, gsizes, d->ndims);
        add_ints(&a, d->distribs, d->ndims);
        add_ints(&a, d->dargs, d->ndims);
        add_ints(&a, d->psizes, d->ndims);
        add_ints(&a, &d->order, 1);
    }
    return finish(&a, old, t, err, newtype);
}

int PMPI_Type_create_darray(int size, int rank, int ndims, const int gsizes[], const int distribs[],
                            const int dargs[], const int psizes[], int order, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    api_enter("MPI_Type_create_darray");
    const struct darray d = {size, rank, ndims, distribs, dargs, psizes, order};
    int err = check_ndims(ndims);
    int64_t *g = widen(gsizes, ndims, "array_of_gsizes", &err);
    err = err ? fail(err) : darray(&d, g, oldtype, newtype, 0);
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
    return err ? fail(err) : darray(&d, gsizes, oldtype, newtype, 1);
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
    return api_leave(MPI_COMM_NULL, err);
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

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *type)
{
    api_enter("MPI_Type_match_size");
    int err = api_pointer(type, "datatype");
    if (!err && (typeclass < MPI_TYPECLASS_REAL || typeclass > MPI_TYPECLASS_COMPLEX))
        err = err_make(MPI_ERR_ARG, "%s: typeclass is %d, no MPI_TYPECLASS_ value", proc->call, typeclass);
    struct dt_type *t = err ? NULL : dt_match_size(typeclass, size);
    if (!err && !t)
        err = err_make(MPI_ERR_ARG, "%s: no type of that class has %d bytes", proc->call, size);
    if (!err)
        *type = t->obj.handle;
    return api_leave(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_match_size);

/* --- life ----------------------------------------------------------------------------------- */
int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_dup");
    struct args a = {.combiner = MPI_COMBINER_DUP};
    struct dt_type *old = NULL, *t = NULL;
    int err = check_common(0, oldtype, newtype, &old);
    if (!err)
        err = dt_make_dup(old, &t);
    if (!err) {
        err = attr_copy(OBJ_TYPE, oldtype, &old->attrs, t->obj.handle, &t->attrs);
        if (err) {
            attr_delete_all(OBJ_TYPE, t->obj.handle, &t->attrs);
            dt_drop(t);
            *newtype = MPI_DATATYPE_NULL;
        }
    }
    return finish(&a, old, t, err, newtype);
}
API_ALIAS(MPI_Type_dup);

int PMPI_Type_commit(MPI_Datatype *type)
{
    api_enter("MPI_Type_commit");
    struct dt_type *t;
    int err = api_pointer(type, "datatype");
    if (!err)
        err = api_type(*type, &t);
    if (!err)
        t->flags |= DT_COMMITTED;
    return api_leave(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_commit);

int PMPI_Type_free(MPI_Datatype *type)
{
    api_enter("MPI_Type_free");
    struct dt_type *t;
    int err = api_pointer(type, "datatype");
    if (!err)
        err = api_type(*type, &t);
    if (!err && (t->flags & DT_PREDEFINED))
        err = err_make(MPI_ERR_TYPE, "%s: datatype %#x is predefined", proc->call, (unsigned)*type);
    if (!err && t->holders == 1)
        err = attr_delete_all(OBJ_TYPE, *type, &t->attrs);
    if (!err) {
        t->holders--;
        dt_drop(t);
        *type = MPI_DATATYPE_NULL;
    }
    return api_leave(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_free);

/* --- sizes and bounds -------------------------------------------------------------------------- */
enum what { SIZE, EXTENT, TRUE_EXTENT };

/* The one or two numbers asked for. */
static int query(MPI_Datatype type, enum what what, int64_t *first, int64_t *second)
{
    struct dt_type *t;
    int err = api_type(type, &t);
    if (!err) {
        *first = what == SIZE ? t->size : what == EXTENT ? t->lb : t->true_lb;
        *second = what == EXTENT ? t->extent : t->true_ub - t->true_lb;
    }
    return err;
}

int PMPI_Type_size(MPI_Datatype type, int *size)
{
    api_enter("MPI_Type_size");
    int64_t n, none;
    int err = api_pointer(size, "size");
    if (!err)
        err = query(type, SIZE, &n, &none);
    if (!err)
        *size = n <= INT_MAX ? (int)n : MPI_UNDEFINED;
    return api_leave(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_size);

static int size_count(MPI_Datatype type, MPI_Count *size)
{
    int64_t n, none;
    int err = api_pointer(size, "size");
    if (!err)
        err = query(type, SIZE, &n, &none);
    if (!err)
        *size = n;
    return api_leave(MPI_COMM_NULL, err);
}

int PMPI_Type_size_x(MPI_Datatype type, MPI_Count *size)
{
    api_enter("MPI_Type_size_x");
    return size_count(type, size);
}
API_ALIAS(MPI_Type_size_x);

int PMPI_Type_size_c(MPI_Datatype type, MPI_Count *size)
{
    api_enter("MPI_Type_size_c");
    return size_count(type, size);
}
API_ALIAS(MPI_Type_size_c);

/* MPI_Aint and MPI_Count are the same here. */
static int bounds(MPI_Datatype type, enum what what, int64_t *lb, int64_t *extent)
{
    int64_t first, second;
    int err = api_pointer(lb, "lb");
    if (!err)
        err = api_pointer(extent, "extent");
    if (!err)
        err = query(type, what, &first, &second);
    if (!err) {
        *lb = first;
        *extent = second;
    }
    return api_leave(MPI_COMM_NULL, err);
}

int PMPI_Type_get_extent(MPI_Datatype type, MPI_Aint *lb, MPI_Aint *extent)
{
    api_enter("MPI_Type_get_extent");
    return bounds(type, EXTENT, lb, extent);
}
API_ALIAS(MPI_Type_get_extent);

int PMPI_Type_get_extent_x(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)
{
    api_enter("MPI_Type_get_extent_x");
    return bounds(type, EXTENT, lb, extent);
}
API_ALIAS(MPI_Type_get_extent_x);

int PMPI_Type_get_extent_c(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)
{
    api_enter("MPI_Type_get_extent_c");
    return bounds(type, EXTENT, lb, extent);
}
API_ALIAS(MPI_Type_get_extent_c);

int PMPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint *true_lb, MPI_Aint *true_extent)
{
    api_enter("MPI_Type_get_true_extent");
    return bounds(type, TRUE_EXTENT, true_lb, true_extent);
}
API_ALIAS(MPI_Type_get_true_extent);

int PMPI_Type_get_true_extent_x(MPI_Datatype type, MPI_Count *true_lb, MPI_Count *true_extent)
{
    api_enter("MPI_Type_get_true_extent_x");
    return bounds(type, TRUE_EXTENT, true_lb, true_extent);
}
API_ALIAS(MPI_Type_get_true_extent_x);

int PMPI_Type_get_true_extent_c(MPI_Datatype type, MPI_Count *true_lb, MPI_Count *true_extent)
{
    api_enter("MPI_Type_get_true_extent_c");
    return bounds(type, TRUE_EXTENT, true_lb, true_extent);
}
API_ALIAS(MPI_Type_get_true_extent_c);

int PMPI_Type_extent(MPI_Datatype type, MPI_Aint *extent)
{
    api_enter("MPI_Type_extent");
    MPI_Aint lb;
    return bounds(type, EXTENT, &lb, extent);
}
API_ALIAS(MPI_Type_extent);

int PMPI_Type_lb(MPI_Datatype type, MPI_Aint *displacement)
{
    api_enter("MPI_Type_lb");
    MPI_Aint extent;
    return bounds(type, EXTENT, displacement, &extent);
}
API_ALIAS(MPI_Type_lb);

int PMPI_Type_ub(MPI_Datatype type, MPI_Aint *displacement)
{
    api_enter("MPI_Type_ub");
    int64_t lb, extent;
    int err = api_pointer(displacement, "displacement");
    if (!err)
        err = query(type, EXTENT, &lb, &extent);
    if (!err)
        *displacement = lb + extent;
    return api_leave(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_ub);

/* --- envelope and contents ------------------------------------------------------------------------ */
static const struct dt_contents named = {.combiner = MPI_COMBINER_NAMED};

static int contents_of(MPI_Datatype type, const struct dt_contents **out)
{
    struct dt_type *t;
    int err = api_type(type, &t);
    if (!err)
        *out = t->contents ? t->contents : &named;
    return err;
}

static int no_large(MPI_Datatype type, const struct dt_contents *c)
{
    return c->ncounts ? err_make(MPI_ERR_TYPE, "%s: datatype %#x was made with large counts: use %s_c", proc->call,
                                 (unsigned)type, proc->call)
                      : MPI_SUCCESS;
}

int PMPI_Type_get_envelope(MPI_Datatype type, int *num_integers, int *num_addresses,
                           int *num_datatypes, int *combiner)
{
    api_enter("MPI_Type_get_envelope");
    const struct dt_contents *c;
    int err = num_integers && num_addresses && num_datatypes && combiner ? MPI_SUCCESS
                                                                         : api_pointer(NULL, "an output argument");
    if (!err)
        err = contents_of(type, &c);
    if (!err)
        err = no_large(type, c);
    if (!err) {
        *num_integers = c->nints;
        *num_addresses = c->naints;
        *num_datatypes = c->ntypes;
        *combiner = c->combiner;
    }
    return api_leave(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_get_envelope);

int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count *num_integers, MPI_Count *num_addresses,
                             MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner)
{
    api_enter("MPI_Type_get_envelope_c");
    const struct dt_contents *c;
    int err = num_integers && num_addresses && num_large_counts && num_datatypes && combiner
                  ? MPI_SUCCESS
                  : api_pointer(NULL, "an output argument");
    if (!err)
        err = contents_of(type, &c);
    if (!err) {
        *num_integers = c->nints;
        *num_addresses = c->naints;
        *num_large_counts = c->ncounts;
        *num_datatypes = c->ntypes;
        *combiner = c->combiner;
    }
    return api_leave(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_get_envelope_c);

static int check_room(int64_t max, int64_t n, const void *array, const char *what)
{
    if (max < n)
        return err_make(MPI_ERR_ARG, "%s: room for %lld %s, %lld are there", proc->call, (long long)max, what,
                        (long long)n);
    return n ? api_pointer(array, what) : MPI_SUCCESS;
}

/* Derived types among the contents become the user's too: each handle is freed by itself. */
static void give_types(const struct dt_contents *c, MPI_Datatype *types)
{
    for (int i = 0; i < c->ntypes; i++) {
        struct dt_type *t = dt_ref(c->types[i]);
        if (!(t->flags & DT_PREDEFINED))
            t->holders++;
        types[i] = t->obj.handle;
    }
}

static int get_contents(MPI_Datatype type, const MPI_Count *max, int *ints, MPI_Aint *aints, MPI_Count *counts,
                        MPI_Datatype *types)
{
    const struct dt_contents *c;
    int err = contents_of(type, &c);
    if (!err && c->combiner == MPI_COMBINER_NAMED)
        err = err_make(MPI_ERR_TYPE, "%s: datatype %#x is predefined", proc->call, (unsigned)type);
    if (!err && max[2] < 0)
        err = no_large(type, c);
    if (!err)
        err = check_room(max[0], c->nints, ints, "integers");
    if (!err)
        err = check_room(max[1], c->naints, aints, "addresses");
    if (!err)
        err = check_room(max[2] < 0 ? 0 : max[2], c->ncounts, counts, "large counts");
    if (!err)
        err = check_room(max[3], c->ntypes, types, "datatypes");
    if (err)
        return api_leave(MPI_COMM_NULL, err);
    if (c->nints)
        memcpy(ints, c->ints, (size_t)c->nints * sizeof *ints);
    if (c->naints)
        memcpy(aints, c->aints, (size_t)c->naints * sizeof *aints);
    if (c->ncounts)
        memcpy(counts, c->counts, (size_t)c->ncounts * sizeof *counts);
    give_types(c, types);
    return api_leave(MPI_COMM_NULL, MPI_SUCCESS);
}

int PMPI_Type_get_contents(MPI_Datatype type, int max_integers, int max_addresses,
                           int max_datatypes, int integers[], MPI_Aint addresses[],
                           MPI_Datatype datatypes[])
{
    api_enter("MPI_Type_get_contents");
    const MPI_Count max[4] = {max_integers, max_addresses, -1, max_datatypes};
    return get_contents(type, max, integers, addresses, NULL, datatypes);
}
API_ALIAS(MPI_Type_get_contents);

int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes, int integers[],
                             MPI_Aint addresses[], MPI_Count large_counts[],
                             MPI_Datatype datatypes[])
{
    api_enter("MPI_Type_get_contents_c");
    const MPI_Count max[4] = {max_integers, max_addresses, max_large_counts < 0 ? 0 : max_large_counts, max_datatypes};
    return get_contents(type, max, integers, addresses, large_counts, datatypes);
}
API_ALIAS(MPI_Type_get_contents_c);

/* --- names -------------------------------------------------------------------------------------------- */
int PMPI_Type_set_name(MPI_Datatype type, const char *name)
{
    api_enter("MPI_Type_set_name");
    struct dt_type *t;
    int err = api_type(type, &t);
    if (!err)
        err = api_pointer(name, "type_name");
    if (!err)
        err = dt_name_set(t, name);
    return api_leave(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_set_name);

int PMPI_Type_get_name(MPI_Datatype type, char *name, int *resultlen)
{
    api_enter("MPI_Type_get_name");
    struct dt_type *t = NULL;
    int err = type == MPI_DATATYPE_NULL ? MPI_SUCCESS : api_type(type, &t);
    if (!err)
        err = api_pointer(name, "type_name");
    if (!err)
        err = api_pointer(resultlen, "resultlen");
    if (!err) {
        const char *text = !t ? "MPI_DATATYPE_NULL" : t->name ? t->name : dt_default_name(t);
        *resultlen = (int)strlen(text);
        memcpy(name, text, (size_t)*resultlen + 1);
    }
    return api_leave(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_get_name);
