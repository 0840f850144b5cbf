/* datarep.c - data representations: native, internal, external32, and those of the program. */
#include "io/io_types.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const struct rep *rep_find(const char *name)
{
    struct io_room *r = io_self();
    const struct rep *known[] = {&r->native, &r->internal, &r->external32};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i]->name))
            return known[i];
    for (struct list *l = r->reps.next; l != &r->reps; l = l->next)
        if (!strcmp(name, LIST_OBJ(l, struct rep, link)->name))
            return LIST_OBJ(l, struct rep, link);
    return NULL;
}

int io_register_datarep(const char *name, const struct io_datarep *d)
{
    size_t len = strlen(name);
    if (!len || len >= MPI_MAX_DATAREP_STRING)
        return err_make(MPI_ERR_ARG, "%s: the name of a data representation has %zu characters",
                        io_call(), len);
    if (rep_find(name))
        return err_make(MPI_ERR_DUP_DATAREP, "%s: there is a data representation \"%s\" already",
                        io_call(), name);
    struct rep *r = calloc(1, sizeof *r);
    if (!r)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a data representation", io_call());
    r->kind = REP_USER;
    r->user = *d;
    strcpy(r->name, name);
    list_push(&io_self()->reps, &r->link);
    return MPI_SUCCESS;
}

/* Bytes of a basic element in the file, as the program's function returns them. */
static int user_bytes(const struct rep *r, const struct dt_type *basic, int64_t *bytes)
{
    MPI_Aint extent = 0;
    const char *call = proc->call;
    int err = r->user.extent(basic->obj.handle, &extent, r->user.extra);
    proc->call = call;
    if (err || extent <= 0)
        return err_make(MPI_ERR_CONVERSION,
                        "%s: the extent function of data representation %s returned error %d, "
                        "extent %lld", io_call(), r->name, err, (long long)extent);
    *bytes = extent;
    return MPI_SUCCESS;
}

static int too_large(const struct rep *r)
{
    return err_make(MPI_ERR_COUNT, "%s: the size in data representation %s does not fit 63 bits",
                    io_call(), r->name);
}

int rep_size(const struct rep *r, const struct dt_type *t, int64_t count, int64_t *bytes)
{
    size_t n = 0;
    int64_t one = 0;
    int err = r->kind == REP_EXTERNAL32 ? dt_ext_size(t, (size_t)count, &n)
                                        : dt_total(t, (size_t)count, &n);
    *bytes = (int64_t)n;
    if (err || r->kind != REP_USER || !n)
        return err;
    if (!t->basic)
        return err_make(MPI_ERR_UNSUPPORTED_DATAREP,
                        "%s: data representation %s is used with a datatype of several kinds of "
                        "elements", io_call(), r->name);
    if (!r->user.large && (r->user.read || r->user.write) && count > INT_MAX)
        return err_make(MPI_ERR_COUNT,
                        "%s: %lld elements are more than the functions of data representation %s "
                        "take: MPI_Register_datarep_c has no such limit", io_call(),
                        (long long)count, r->name);
    err = user_bytes(r, t->basic, &one);
    if (!err && __builtin_mul_overflow((int64_t)n / t->basic->size, one, bytes))
        err = too_large(r);
    return err;
}

/* A conversion function of the program; NULL: the bytes stay as they are. */
static int convert(const struct rep *r, const struct io_args *a, void *file, int64_t count)
{
    void *fn = a->write ? r->user.write : r->user.read;
    const char *call = proc->call;
    int err;
    if (!fn)
        return MPI_SUCCESS;
    if (r->user.large)
        err = ((MPI_Datarep_conversion_function_c *)fn)(a->buf, a->t->obj.handle, count, file, 0,
                                                        r->user.extra);
    else
        err = ((MPI_Datarep_conversion_function *)fn)(a->buf, a->t->obj.handle, (int)count, file, 0,
                                                      r->user.extra);
    proc->call = call;
    return err ? err_make(MPI_ERR_CONVERSION,
                          "%s: the conversion function of data representation %s returned error %d",
                          io_call(), r->name, err)
               : MPI_SUCCESS;
}

int rep_write(const struct io_args *a, void *out)
{
    const struct rep *r = a->f->view.rep;
    if (r->kind == REP_EXTERNAL32)
        return dt_ext_pack(a->t, (size_t)a->count, a->buf, out);
    if (!r->user.write) {
        dt_pack(a->t, (size_t)a->count, a->buf, 0, out, SIZE_MAX);
        return MPI_SUCCESS;
    }
    return convert(r, a, out, a->count);
}

/* `got` bytes of the file to the program's memory; *memory: bytes there. */
int rep_read(const struct io_args *a, const void *in, size_t got, size_t *memory)
{
    const struct rep *r = a->f->view.rep;
    int64_t one;
    int err = rep_size(r, a->t, 1, &one);
    *memory = 0;
    if (err || !got)
        return err;
    int64_t whole = (int64_t)got / one;
    *memory = (size_t)(whole * a->t->size);
    if (r->kind == REP_USER && !r->user.read) {
        *memory = dt_unpack(a->t, (size_t)a->count, a->buf, 0, in, got);
        return MPI_SUCCESS;
    }
    if (r->kind == REP_USER)
        return convert(r, a, (void *)(uintptr_t)in, whole);
    *memory = dt_ext_unpack_part(a->t, (size_t)a->count, a->buf, in, got);
    return MPI_SUCCESS;
}
