/* construct.c - constructors of datatypes (MPI-3.1 4.1.2, 4.1.7, and the removed ones of MPI-1).
 * Start with vector() and indexed(); the calls are forms of these. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

#include "api/dt/typecall.h"
#include "dt/make.h"

/* --- contiguous, vector ------------------------------------------------------------ */
static int contiguous(int64_t count, MPI_Datatype oldtype, MPI_Datatype *newtype, int large)
{
    struct typecall a = {.combiner = MPI_COMBINER_CONTIGUOUS, .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = typecall_common(count, oldtype, newtype, &old);
    if (!err)
        err = dt_make_contiguous(count, old, &t);
    typecall_count(&a, count);
    return typecall_finish(&a, old, t, err, newtype);
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

static int vector(int64_t count, int64_t blocklen, int64_t stride, MPI_Datatype oldtype,
                  MPI_Datatype *newtype, int bytes, int large)
{
    struct typecall a = {.combiner = bytes ? MPI_COMBINER_HVECTOR : MPI_COMBINER_VECTOR,
                         .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = typecall_common(count, oldtype, newtype, &old);
    if (!err)
        err = typecall_len(blocklen, "blocklength");
    if (!err)
        err = bytes ? dt_make_vector_b(count, blocklen, stride, old, &t)
                    : dt_make_vector(count, blocklen, stride, old, &t);
    typecall_count(&a, count);
    typecall_count(&a, blocklen);
    if (bytes)
        typecall_bytes(&a, &stride, 1);
    else
        typecall_count(&a, stride);
    return typecall_finish(&a, old, t, err, newtype);
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
static int indexed(int64_t count, const int64_t *lens, int64_t len, const int64_t *displs,
                   MPI_Datatype oldtype, MPI_Datatype *newtype, int bytes, int large)
{
    static const int combiner[2][2] = {{MPI_COMBINER_INDEXED, MPI_COMBINER_INDEXED_BLOCK},
                                       {MPI_COMBINER_HINDEXED, MPI_COMBINER_HINDEXED_BLOCK}};
    struct typecall a = {.combiner = combiner[bytes][!lens], .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = typecall_common(count, oldtype, newtype, &old);
    if (!err)
        err = lens ? typecall_lens(lens, count, "array_of_blocklengths")
                   : typecall_len(len, "blocklength");
    if (!err && count)
        err = api_pointer(displs, "array_of_displacements");
    if (!err)
        err = bytes ? dt_make_indexed_b(count, lens, len, displs, old, &t)
                    : dt_make_indexed(count, lens, len, displs, old, &t);
    if (!err) {
        typecall_count(&a, count);
        if (lens)
            typecall_counts(&a, lens, count);
        else
            typecall_count(&a, len);
        if (bytes)
            typecall_bytes(&a, displs, count);
        else
            typecall_counts(&a, displs, count);
    }
    return typecall_finish(&a, old, t, err, newtype);
}

/* The int forms: one or two arrays of ints. */
static int indexed_int(int count, const int *lens, int len, const int *displs,
                       const MPI_Aint *displs_b, MPI_Datatype oldtype, MPI_Datatype *newtype,
                       int block)
{
    int err = api_count(count);
    int64_t *l = block ? NULL : typecall_widen(lens, count, "array_of_blocklengths", &err);
    int64_t *d = displs_b ? NULL : typecall_widen(displs, count, "array_of_displacements", &err);
    err = err ? typecall_fail(err)
              : indexed(count, l, len, displs_b ? (const int64_t *)displs_b : d, oldtype, newtype,
                        displs_b != NULL, 0);
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

static int hindexed(int count, const int *blocklengths, int len, const MPI_Aint *displs,
                    MPI_Datatype oldtype, MPI_Datatype *newtype, int block)
{
    int err = count > 0 ? api_pointer(displs, "array_of_displacements") : MPI_SUCCESS;
    return err ? typecall_fail(err)
               : indexed_int(count, blocklengths, len, NULL, displs ? displs : no_displs, oldtype,
                             newtype, block);
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
static int indexed_large(MPI_Count count, const MPI_Count *lens, const MPI_Count *displs,
                         MPI_Datatype oldtype, MPI_Datatype *newtype, int bytes)
{
    int err = count > 0 ? api_pointer(lens, "array_of_blocklengths") : MPI_SUCCESS;
    return err ? typecall_fail(err)
               : indexed(count, lens ? lens : no_displs, 0, displs, oldtype, newtype, bytes, 1);
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
        *err = typecall_no_memory();
    for (int64_t i = 0; i < n && !*err; i++)
        *err = api_type(h[i], &t[i]);
    return t;
}

static int structure(int64_t count, const int64_t *lens, const int64_t *displs,
                     const MPI_Datatype *types, MPI_Datatype *newtype, int large)
{
    struct typecall a = {.combiner = MPI_COMBINER_STRUCT, .large = large};
    struct dt_type *t = NULL;
    int err = api_pointer(newtype, "newtype");
    if (!err)
        err = api_count(count);
    if (!err && count && !lens)
        err = api_pointer(lens, "array_of_blocklengths");
    if (!err && count && !displs)
        err = api_pointer(displs, "array_of_displacements");
    if (!err)
        err = typecall_lens(lens, count, "array_of_blocklengths");
    struct dt_type **old = find_types(types, count, &err);
    if (!err)
        err = dt_make_struct(count, lens, displs, old, &t);
    if (!err) {
        typecall_count(&a, count);
        typecall_counts(&a, lens, count);
        typecall_bytes(&a, displs, count);
        a.types = old;
        a.ntypes = (int)count;
    }
    err = typecall_finish(&a, NULL, t, err, newtype);
    free(old);
    return err;
}

static int struct_int(int count, const int *lens, const MPI_Aint *displs, const MPI_Datatype *types,
                      MPI_Datatype *newtype)
{
    int err = api_count(count);
    int64_t *l = typecall_widen(lens, count, "array_of_blocklengths", &err);
    err = err ? typecall_fail(err)
              : structure(count, l, (const int64_t *)displs, types, newtype, 0);
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

static int resized(MPI_Datatype oldtype, int64_t lb, int64_t extent, MPI_Datatype *newtype,
                   int large)
{
    struct typecall a = {.combiner = MPI_COMBINER_RESIZED, .large = large};
    struct dt_type *old = NULL, *t = NULL;
    int err = typecall_common(0, oldtype, newtype, &old);
    if (!err)
        err = dt_make_resized(old, lb, extent, &t);
    typecall_bytes(&a, &lb, 1);
    typecall_bytes(&a, &extent, 1);
    return typecall_finish(&a, old, t, err, newtype);
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
