/* make.h - making datatypes: one function per MPI constructor, for api/.
 *
 * All take valid types and return a new, uncommitted type with a handle and one reference. On error
 * they return an MPI error code (MPI_ERR_ARG, MPI_ERR_COUNT for bounds that do not fit 63 bits,
 * MPI_ERR_NO_MEM) and do not change *out. Displacements named _b are bytes, others are multiples of
 * the old type's extent. Counts are int64, for the int and the _c bindings. dt_contents_set()
 * records envelopes. */
#ifndef DT_MAKE_H
#define DT_MAKE_H

#include "dt/dt.h"

int dt_make_dup(struct dt_type *old, struct dt_type **out); /* not the attributes */
int dt_make_contiguous(int64_t count, struct dt_type *old, struct dt_type **out);
int dt_make_vector_b(int64_t count, int64_t blocklen, int64_t stride_b, struct dt_type *old,
                     struct dt_type **out);
int dt_make_vector(int64_t count, int64_t blocklen, int64_t stride, struct dt_type *old,
                   struct dt_type **out);
/* blocklens NULL: all `blocklen`. */
int dt_make_indexed_b(int64_t count, const int64_t *blocklens, int64_t blocklen,
                      const int64_t *displs_b, struct dt_type *old, struct dt_type **out);
int dt_make_indexed(int64_t count, const int64_t *blocklens, int64_t blocklen,
                    const int64_t *displs, struct dt_type *old, struct dt_type **out);
int dt_make_struct(int64_t count, const int64_t *blocklens, const int64_t *displs_b,
                   struct dt_type **types, struct dt_type **out);
int dt_make_resized(struct dt_type *old, int64_t lb, int64_t extent, struct dt_type **out);
int dt_make_subarray(int ndims, const int64_t *sizes, const int64_t *subsizes,
                     const int64_t *starts, int order, struct dt_type *old, struct dt_type **out);
int dt_make_darray(int size, int rank, int ndims, const int64_t *gsizes, const int *distribs,
                   const int *dargs, const int *psizes, int order, struct dt_type *old,
                   struct dt_type **out);

/* MPI_COMBINER_F90_REAL, _COMPLEX or _INTEGER; the same type for the same precision and range. It
 * counts as predefined: not to be dropped. MPI_ERR_ARG when no kind is large enough. */
int dt_make_f90(int combiner, int p, int r, struct dt_type **out);

/* --- envelope and contents ---------------------------------------------------- */
struct dt_contents {
    int combiner; /* MPI_COMBINER_* */
    int nints, naints, ncounts, ntypes;
    int *ints;
    MPI_Aint *aints;
    MPI_Count *counts; /* arguments of large-count constructors */
    struct dt_type **types; /* referenced */
};
/* Copies the arrays and references the types. MPI_ERR_NO_MEM. */
int dt_contents_set(struct dt_type *t, const struct dt_contents *c);

/* Predefined type of the index-th row of the table of predefined types, NULL past the end. */
struct dt_type *dt_predefined(int index);
/* Its index, the same in all processes, below DT_PREDEFINED_MAX; -1: it is not predefined. */
enum { DT_PREDEFINED_MAX = 127 };
int dt_predefined_index(const struct dt_type *t);
const char *dt_predefined_name(int index); /* NULL: there is none */
const char *dt_default_name(const struct dt_type *t);
int dt_name_set(struct dt_type *t, const char *name);
/* Predefined type with that MPI_TYPECLASS_* and size in bytes, or NULL (MPI_Type_match_size). */
struct dt_type *dt_match_size(int typeclass, int size);

#endif
