/* types.c - functions on datatypes and groups whose arrays hold constants, and those of tools.
 * Start with custom_Type_get_contents(). */
#include "bind/front/front.h"

#include <stdlib.h>

/* --- contents of datatypes ----------------------------------------------------------------- */

/* A distribution's argument is a number of the user, or the one constant. */
static int darg_in(int v)
{
    return v == VALUE_DFLT_DARG ? MPI_DISTRIBUTE_DFLT_DARG : v;
}

static int darg_out(int v)
{
    return v == MPI_DISTRIBUTE_DFLT_DARG ? VALUE_DFLT_DARG : v;
}

/* The constants among the integers of a constructor. large: made by a _c call, whose sizes stand
 * apart. n: integers written. */
static void integers_out(int combiner, int large, int *v, int n)
{
    if (combiner == MPI_COMBINER_SUBARRAY && n > 0)
        v[n - 1] = order_out(v[n - 1]);
    if (combiner != MPI_COMBINER_DARRAY || n < 4)
        return;
    int dims = v[2], at = large ? 3 : 3 + dims; /* size, rank, ndims[, gsizes], distribs, dargs */
    for (int i = at; i < at + 2 * dims && i < n; i++)
        v[i] = i < at + dims ? distribution_out(v[i]) : darg_out(v[i]);
    v[n - 1] = order_out(v[n - 1]);
}

static int *types_room(HANDLE *types, MPI_Count n)
{
    return types ? malloc(((size_t)(n > 0 ? n : 0) + 1) * sizeof(int)) : NULL;
}

static void types_out(HANDLE *types, int *v, MPI_Count n)
{
    for (MPI_Count i = 0; v && i < n; i++)
        types[i] = handle_out(v[i]);
    free(v);
}

CORE(Type_get_envelope);
CORE(Type_get_contents);
int custom_Type_get_contents(HANDLE type, int max_integers, int max_addresses, int max_types,
                             int integers[], MPI_Aint addresses[], HANDLE types[])
{
    int ni = 0, na, nt = 0, combiner = 0, *v = types_room(types, max_types);
    MPI_Datatype t = handle_in(type);
    int rc = core_Type_get_contents(t, max_integers, max_addresses, max_types, integers, addresses,
                                    v);
    if (!rc)
        rc = core_Type_get_envelope(t, &ni, &na, &nt, &combiner);
    if (!rc)
        integers_out(combiner, 0, integers, ni);
    types_out(types, v, rc ? 0 : nt);
    return result_out(rc);
}

#if FRONT_MPI_5
CORE(Type_get_envelope_c);
CORE(Type_get_contents_c);
int custom_Type_get_contents_c(HANDLE type, MPI_Count max_integers, MPI_Count max_addresses,
                               MPI_Count max_large, MPI_Count max_types, int integers[],
                               MPI_Aint addresses[], MPI_Count large[], HANDLE types[])
{
    MPI_Count ni = 0, na, nl = 0, nt = 0;
    int combiner = 0, *v = types_room(types, max_types);
    MPI_Datatype t = handle_in(type);
    int rc = core_Type_get_contents_c(t, max_integers, max_addresses, max_large, max_types,
                                      integers, addresses, large, v);
    if (!rc)
        rc = core_Type_get_envelope_c(t, &ni, &na, &nl, &nt, &combiner);
    if (!rc)
        integers_out(combiner, nl > 0, integers, (int)ni);
    types_out(types, v, rc ? 0 : nt);
    return result_out(rc);
}
#endif

/* distribs and dargs in the core's constants, in one block to be freed; NULL: the core reports the
 * missing argument. */
static int *distributions(int ndims, const int *distribs, const int *dargs)
{
    int *v = ndims > 0 && distribs && dargs ? malloc(2 * (size_t)ndims * sizeof *v) : NULL;
    for (int i = 0; v && i < ndims; i++) {
        v[i] = distribution_in(distribs[i]);
        v[ndims + i] = darg_in(dargs[i]);
    }
    return v;
}

#define DARRAY(x, count)                                                                           \
    int custom_##x(int size, int rank, int ndims, const count gsizes[], const int distribs[],      \
                   const int dargs[], const int psizes[], int order, HANDLE oldtype,               \
                   HANDLE *newtype)                                                                \
    {                                                                                              \
        int *v = distributions(ndims, distribs, dargs);                                            \
        MPI_Datatype t = MPI_DATATYPE_NULL;                                                        \
        int rc = core_##x(size, rank, ndims, gsizes, v ? v : distribs, v ? v + ndims : dargs,      \
                          psizes, order_in(order), handle_in(oldtype), newtype ? &t : NULL);       \
        free(v);                                                                                   \
        if (!rc)                                                                                   \
            *newtype = handle_out(t);                                                              \
        return result_out(rc);                                                                     \
    }
CORE(Type_create_darray);
DARRAY(Type_create_darray, int)
#if FRONT_MPI_5
CORE(Type_create_darray_c);
DARRAY(Type_create_darray_c, MPI_Count)
#endif

/* --- groups -------------------------------------------------------------------------------- */

CORE(Group_translate_ranks);
int custom_Group_translate_ranks(HANDLE group1, int n, const int ranks1[], HANDLE group2,
                                 int ranks2[])
{
    int *v = n > 0 && ranks1 ? malloc((size_t)n * sizeof *v) : NULL;
    for (int i = 0; v && i < n; i++)
        v[i] = rank_in(ranks1[i]);
    int rc = core_Group_translate_ranks(handle_in(group1), n, v ? v : ranks1, handle_in(group2),
                                        ranks2);
    for (int i = 0; v && !rc && i < n; i++)
        ranks2[i] = rank_out(ranks2[i]);
    free(v);
    return result_out(rc);
}

/* --- tools --------------------------------------------------------------------------------- */

CORE(T_cvar_get_info);
CORE(T_pvar_get_info);

/* The object that a variable is bound to, given by the address of its handle. */
static void *object_in(int bind, void *object, int *core, MPI_File *file)
{
    if (bind == MPI_T_BIND_NO_OBJECT || !object)
        return NULL;
    if (bind == MPI_T_BIND_MPI_FILE) {
        *file = file_in(*(HANDLE *)object);
        return file;
    }
    *core = handle_in(*(HANDLE *)object);
    return core;
}

CORE(T_cvar_handle_alloc);
int custom_T_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *handle, int *count)
{
    int bind = MPI_T_BIND_NO_OBJECT, core, scope, len = 0;
    MPI_File file;
    core_T_cvar_get_info(index, NULL, &len, NULL, NULL, NULL, NULL, NULL, &bind, &scope);
    return result_out(core_T_cvar_handle_alloc(index, object_in(bind, object, &core, &file), handle,
                                               count));
}

CORE(T_pvar_handle_alloc);
int custom_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object,
                               MPI_T_pvar_handle *handle, int *count)
{
    int bind = MPI_T_BIND_NO_OBJECT, core, len = 0;
    MPI_File file;
    core_T_pvar_get_info(index, NULL, &len, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL,
                         NULL);
    return result_out(core_T_pvar_handle_alloc(
        session, index, object_in(bind, object, &core, &file), handle, count));
}

#if FRONT_MPI_5
CORE(T_event_get_info);
int custom_T_event_get_info(int index, char *name, int *name_len, int *verbosity, HANDLE types[],
                            MPI_Aint displacements[], int *num_elements, MPI_T_enum *enumtype,
                            HANDLE *info, char *desc, int *desc_len, int *bind)
{
    MPI_Info i = MPI_INFO_NULL;
    int *v = types_room(types, num_elements ? *num_elements : 0);
    int rc = core_T_event_get_info(index, name, name_len, verbosity, v, displacements, num_elements,
                                   enumtype, info ? &i : NULL, desc, desc_len, bind);
    types_out(types, v, rc || !num_elements ? 0 : *num_elements);
    if (!rc && info)
        *info = handle_out(i);
    if (!rc && verbosity)
        *verbosity = verbosity_out(*verbosity);
    if (!rc && bind)
        *bind = bind_out(*bind);
    return result_out(rc);
}
#endif
