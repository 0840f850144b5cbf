/* type.c - the life of types, their bounds, envelopes and names. Start with type_derive(). */
#include "dt/dt_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "obj/attr.h"
#include "obj/err.h"

int type_errno(int neg_errno)
{
    const char *call = proc->call ? proc->call : "datatype";
    if (neg_errno == -EOVERFLOW)
        return err_make(MPI_ERR_COUNT, "%s: size or bounds of the datatype do not fit 63 bits",
                        call);
    if (neg_errno == -ENOMEM)
        return err_make(MPI_ERR_NO_MEM, "%s: out of memory for the datatype", call);
    return neg_errno ? err_make(MPI_ERR_TYPE, "%s: malformed datatype", call) : MPI_SUCCESS;
}

struct dt_type *type_alloc(void)
{
    struct dt_type *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->obj.refs = 1;
    t->align = 1;
    t->id = ++proc->dt->next_id;
    attr_list_init(&t->attrs);
    return t;
}

void type_derive(struct dt_type *t)
{
    const struct dt_node *n = t->node;
    t->size = n ? n->size : 0;
    t->true_lb = n ? t->origin + n->lo : 0;
    t->true_ub = n ? t->origin + n->hi : 0;
    t->flags &= ~(unsigned)(DT_CONTIG | DT_ONE | DT_ABSOLUTE);
    if (!n || n->kind == NODE_BLOCK)
        t->flags |= DT_ONE;
    if (!n || (n->kind == NODE_BLOCK && n->size == t->extent))
        t->flags |= DT_CONTIG;
    if (n && t->true_lb != 0)
        t->flags |= DT_ABSOLUTE;
}

static void contents_drop(struct dt_contents *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->ntypes; i++)
        dt_drop(c->types[i]);
    free(c->ints);
    free(c->aints);
    free(c->counts);
    free(c->types);
    free(c);
}

/* Types that only this one referenced are freed after it, not recursively: chains may be long. */
void dt_drop(struct dt_type *t)
{
    if ((t->flags & DT_PREDEFINED) || --t->obj.refs)
        return;
    while (t) {
        struct dt_contents *c = t->contents;
        struct dt_type *next = NULL;
        for (int i = 0; c && i < c->ntypes && !next; i++)
            if (!(c->types[i]->flags & DT_PREDEFINED) && c->types[i]->obj.refs == 1) {
                next = c->types[i];
                c->types[i] = proc->dt->types; /* dropping a predefined one has no effect */
            }
        contents_drop(c);
        if (t->obj.handle)
            obj_del(OBJ_TYPE, &t->obj);
        node_drop(t->node);
        sig_drop(t->sig);
        free(t->flat);
        free(t->marks);
        free(t->name);
        free(t);
        t = next;
    }
}

int dt_total(const struct dt_type *t, size_t count, size_t *bytes)
{
    int64_t n;
    if (count > INT64_MAX || mul64((int64_t)count, t->size, &n))
        return type_errno(-EOVERFLOW);
    *bytes = (size_t)n;
    return MPI_SUCCESS;
}

int type_span(int64_t n, int64_t stride, int64_t *lo, int64_t *hi)
{
    int64_t last;
    if (mul64(n - 1, stride, &last) || add64(last < 0 ? last : 0, *lo, lo) ||
        add64(last > 0 ? last : 0, *hi, hi))
        return -EOVERFLOW;
    return 0;
}

int dt_bounds(const struct dt_type *t, size_t count, int64_t *lo, int64_t *hi)
{
    *lo = *hi = 0;
    if (!t->size || !count)
        return MPI_SUCCESS;
    if (count > INT64_MAX)
        return type_errno(-EOVERFLOW);
    *lo = t->true_lb;
    *hi = t->true_ub;
    int64_t width;
    if (type_span((int64_t)count, t->extent, lo, hi) || __builtin_sub_overflow(*hi, *lo, &width))
        return type_errno(-EOVERFLOW);
    return MPI_SUCCESS;
}

/* --- envelope, name ------------------------------------------------------------- */
static void *copy_of(const void *p, size_t bytes, int *failed)
{
    if (!bytes)
        return NULL;
    void *q = malloc(bytes);
    if (q)
        memcpy(q, p, bytes);
    else
        *failed = 1;
    return q;
}

int dt_contents_set(struct dt_type *t, const struct dt_contents *c)
{
    int failed = 0;
    struct dt_contents *n = calloc(1, sizeof *n);
    if (!n)
        return type_errno(-ENOMEM);
    n->combiner = c->combiner;
    n->ints = copy_of(c->ints, (size_t)c->nints * sizeof *c->ints, &failed);
    n->aints = copy_of(c->aints, (size_t)c->naints * sizeof *c->aints, &failed);
    n->counts = copy_of(c->counts, (size_t)c->ncounts * sizeof *c->counts, &failed);
    n->types = copy_of(c->types, (size_t)c->ntypes * sizeof *c->types, &failed);
    if (failed) {
        contents_drop(n);
        return type_errno(-ENOMEM);
    }
    n->nints = c->nints;
    n->naints = c->naints;
    n->ncounts = c->ncounts;
    n->ntypes = c->ntypes;
    for (int i = 0; i < n->ntypes; i++)
        dt_ref(n->types[i]);
    t->contents = n;
    return MPI_SUCCESS;
}

int dt_name_set(struct dt_type *t, const char *name)
{
    char *copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);
    if (!copy)
        return type_errno(-ENOMEM);
    free(t->name);
    t->name = copy;
    return MPI_SUCCESS;
}
