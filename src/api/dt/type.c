/* type.c - datatypes: duplicates, life, queries, names (MPI-3.1 4.1); construct.c and
 * construct_array.c make them. Start with bounds() and get_contents(). */
#include "api/api.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/dt/typecall.h"
#include "dt/make.h"
#include "obj/attr.h"

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *type)
{
    api_enter("MPI_Type_match_size");
    int err = api_pointer(type, "datatype");
    if (!err && (typeclass < MPI_TYPECLASS_REAL || typeclass > MPI_TYPECLASS_COMPLEX))
        err = err_make(MPI_ERR_ARG, "%s: typeclass is %d, no MPI_TYPECLASS_ value", proc->call,
                       typeclass);
    struct dt_type *t = err ? NULL : dt_match_size(typeclass, size);
    if (!err && !t)
        err = err_make(MPI_ERR_ARG, "%s: no type of that class has %d bytes", proc->call, size);
    if (!err)
        *type = t->obj.handle;
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_match_size);

/* MPI-4.1 5.1.13: the predefined pair of MPI_MINLOC and MPI_MAXLOC, if there is one. */
int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair)
{
    static const MPI_Datatype pairs[][3] = {
        {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},   {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
        {MPI_LONG, MPI_INT, MPI_LONG_INT},     {MPI_INT, MPI_INT, MPI_2INT},
        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},   {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
        {MPI_REAL, MPI_REAL, MPI_2REAL},       {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
        {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION}};
    api_enter("MPI_Type_get_value_index");
    struct dt_type *t;
    int err = api_type(value_type, &t);
    if (!err)
        err = api_type(index_type, &t);
    if (!err)
        err = api_pointer(pair, "pair_type");
    if (!err)
        *pair = MPI_DATATYPE_NULL;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !err; i++)
        if (pairs[i][0] == value_type && pairs[i][1] == index_type)
            *pair = pairs[i][2];
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_get_value_index);

/* --- life ----------------------------------------------------------------------------------- */
int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    api_enter("MPI_Type_dup");
    struct typecall a = {.combiner = MPI_COMBINER_DUP};
    struct dt_type *old = NULL, *t = NULL;
    int err = typecall_common(0, oldtype, newtype, &old);
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
    return typecall_finish(&a, old, t, err, newtype);
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
    return api_exit(MPI_COMM_NULL, err);
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
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_free);

/* --- sizes and bounds ------------------------------------------------------------------------- */
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
    return api_exit(MPI_COMM_NULL, err);
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
    return api_exit(MPI_COMM_NULL, err);
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
    return api_exit(MPI_COMM_NULL, err);
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
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_ub);

/* --- envelope and contents -------------------------------------------------------------------- */
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
    return c->ncounts
               ? err_make(MPI_ERR_TYPE, "%s: datatype %#x was made with large counts: use %s_c",
                          proc->call, (unsigned)type, proc->call)
               : MPI_SUCCESS;
}

int PMPI_Type_get_envelope(MPI_Datatype type, int *num_integers, int *num_addresses,
                           int *num_datatypes, int *combiner)
{
    api_enter("MPI_Type_get_envelope");
    const struct dt_contents *c;
    int err = num_integers && num_addresses && num_datatypes && combiner
                  ? MPI_SUCCESS
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
    return api_exit(MPI_COMM_NULL, err);
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
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_get_envelope_c);

static int check_room(int64_t max, int64_t n, const void *array, const char *what)
{
    if (max < n)
        return err_make(MPI_ERR_ARG, "%s: room for %lld %s, %lld are there", proc->call,
                        (long long)max, what, (long long)n);
    return n ? api_pointer(array, what) : MPI_SUCCESS;
}

/* Derived types in the contents belong to the user, too: each handle is freed separately. */
static void give_types(const struct dt_contents *c, MPI_Datatype *types)
{
    for (int i = 0; i < c->ntypes; i++) {
        struct dt_type *t = dt_ref(c->types[i]);
        if (!(t->flags & DT_PREDEFINED))
            t->holders++;
        types[i] = t->obj.handle;
    }
}

static int get_contents(MPI_Datatype type, const MPI_Count *max, int *ints, MPI_Aint *aints,
                        MPI_Count *counts, MPI_Datatype *types)
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
        return api_exit(MPI_COMM_NULL, err);
    if (c->nints)
        memcpy(ints, c->ints, (size_t)c->nints * sizeof *ints);
    if (c->naints)
        memcpy(aints, c->aints, (size_t)c->naints * sizeof *aints);
    if (c->ncounts)
        memcpy(counts, c->counts, (size_t)c->ncounts * sizeof *counts);
    give_types(c, types);
    return api_exit(MPI_COMM_NULL, MPI_SUCCESS);
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
    const MPI_Count max[4] = {max_integers, max_addresses,
                              max_large_counts < 0 ? 0 : max_large_counts, max_datatypes};
    return get_contents(type, max, integers, addresses, large_counts, datatypes);
}
API_ALIAS(MPI_Type_get_contents_c);

/* --- names ------------------------------------------------------------------------------------ */
int PMPI_Type_set_name(MPI_Datatype type, const char *name)
{
    api_enter("MPI_Type_set_name");
    struct dt_type *t;
    int err = api_type(type, &t);
    if (!err)
        err = api_pointer(name, "type_name");
    if (!err)
        err = dt_name_set(t, name);
    return api_exit(MPI_COMM_NULL, err);
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
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPI_Type_get_name);
