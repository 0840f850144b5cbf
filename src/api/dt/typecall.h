/* typecall.h - what the constructors of datatypes share; private to api/.
 *
 * The int and the large-count (_c) form of a constructor share one function over int64: the
 * arguments are widened first, and recorded for MPI_Type_get_contents as the caller gave them. */
#ifndef API_DT_TYPECALL_H
#define API_DT_TYPECALL_H

#include <mpi.h>
#include <stdint.h>

struct dt_type;

_Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8,
               "counts and addresses are int64_t here");

/* What a constructor was called with, for the envelope. Up to three groups of int or large-count
 * arguments. */
struct typecall {
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

int typecall_no_memory(void);
/* Append ints that are ints in both forms. */
void typecall_ints(struct typecall *a, const int *v, int n);
/* Append counts: large ones in the _c form, ints else. */
void typecall_counts(struct typecall *a, const int64_t *v, int64_t n);
void typecall_count(struct typecall *a, int64_t v);
/* Append byte displacements: addresses in the int form, large counts in the _c form. */
void typecall_bytes(struct typecall *a, const int64_t *v, int64_t n);
void typecall_free(struct typecall *a);
/* int array to int64; NULL with *err set when memory is out or the array is missing. */
int64_t *typecall_widen(const int *v, int64_t n, const char *name, int *err);
/* The end of every constructor: record the arguments, hand out the handle. */
int typecall_finish(struct typecall *a, struct dt_type *old, struct dt_type *t, int err,
                    MPI_Datatype *newtype);
/* Count and newtype of every constructor, and its old type. */
int typecall_common(int64_t count, MPI_Datatype oldtype, MPI_Datatype *newtype,
                    struct dt_type **old);
int typecall_len(int64_t v, const char *name);
int typecall_lens(const int64_t *v, int64_t n, const char *name);
int typecall_fail(int err);

#endif
