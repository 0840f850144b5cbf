/* typecall.c - the arguments of a datatype constructor, kept for MPI_Type_get_contents, in int
 * and in large-count form. Start with typecall_ints() and typecall_finish(). */
#include "api/dt/typecall.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "dt/make.h"

int typecall_no_memory(void)
{
    return err_make(MPI_ERR_NO_MEM, "%s: out of memory", proc->call);
}

static void *more(struct typecall *a, void *old, size_t bytes)
{
    void *p = realloc(old, bytes);
    if (!p && !a->err)
        a->err = typecall_no_memory();
    return p;
}

/* Append ints that are ints in both forms. */
void typecall_ints(struct typecall *a, const int *v, int n)
{
    int *p = a->err || !n ? NULL : more(a, a->ints, (size_t)(a->nints + n) * sizeof *p);
    if (!p)
        return;
    a->ints = p;
    memcpy(p + a->nints, v, (size_t)n * sizeof *v);
    a->nints += n;
}

/* Append counts: large ones in the _c form, ints else. */
void typecall_counts(struct typecall *a, const int64_t *v, int64_t n)
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

void typecall_count(struct typecall *a, int64_t v)
{
    typecall_counts(a, &v, 1);
}

/* Append byte displacements: addresses in the int form, large counts in the _c form. */
void typecall_bytes(struct typecall *a, const int64_t *v, int64_t n)
{
    if (a->large) {
        typecall_counts(a, v, n);
        return;
    }
    MPI_Aint *p = a->err || !n ? NULL : more(a, a->aints, (size_t)(a->naints + n) * sizeof *p);
    if (!p)
        return;
    a->aints = p;
    memcpy(p + a->naints, v, (size_t)n * sizeof *v);
    a->naints += (int)n;
}

void typecall_free(struct typecall *a)
{
    free(a->ints);
    free(a->counts);
    free(a->aints);
}

/* int array to int64; NULL with *err set when memory is out or the array is missing. */
int64_t *typecall_widen(const int *v, int64_t n, const char *name, int *err)
{
    if (*err)
        return NULL;
    if (n && !v) {
        *err = api_pointer(v, name);
        return NULL;
    }
    int64_t *w = malloc((size_t)(n ? n : 1) * sizeof *w);
    if (!w)
        *err = typecall_no_memory();
    for (int64_t i = 0; w && i < n; i++)
        w[i] = v[i];
    return w;
}

/* The end of every constructor: record the arguments, hand out the handle. */
int typecall_finish(struct typecall *a, struct dt_type *old, struct dt_type *t, int err,
                    MPI_Datatype *newtype)
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
    typecall_free(a);
    return api_exit(MPI_COMM_NULL, err);
}

/* Count and newtype of every constructor, and its old type. */
int typecall_common(int64_t count, MPI_Datatype oldtype, MPI_Datatype *newtype,
                    struct dt_type **old)
{
    int err = api_pointer(newtype, "newtype");
    if (!err)
        err = api_count(count);
    return err ? err : api_type(oldtype, old);
}

int typecall_len(int64_t v, const char *name)
{
    return v >= 0 ? MPI_SUCCESS
                  : err_make(MPI_ERR_ARG, "%s: %s is %lld, less than 0", proc->call, name,
                             (long long)v);
}

int typecall_lens(const int64_t *v, int64_t n, const char *name)
{
    if (n)
        for (int64_t i = 0; i < n; i++)
            if (v[i] < 0)
                return err_make(MPI_ERR_ARG, "%s: %s[%lld] is %lld, less than 0", proc->call, name,
                                (long long)i, (long long)v[i]);
    return MPI_SUCCESS;
}

int typecall_fail(int err)
{
    return api_exit(MPI_COMM_NULL, err);
}
