/* access.c - one access: checks, where it is in the file, conversion, status, pointers. The calls
 * are in access_calls.c. */
#include "io/io_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int may_access(const struct io_args *a)
{
    const struct io_file *f = a->f;
    if (a->write && (f->amode & MPI_MODE_RDONLY))
        return err_make(MPI_ERR_READ_ONLY, "%s: file \"%s\" was opened with MPI_MODE_RDONLY",
                        io_call(), f->name);
    if (!a->write && (f->amode & MPI_MODE_WRONLY))
        return err_make(MPI_ERR_ACCESS, "%s: file \"%s\" was opened with MPI_MODE_WRONLY",
                        io_call(), f->name);
    if ((f->amode & MPI_MODE_SEQUENTIAL) && (a->where == IO_AT || a->where == IO_INDIVIDUAL))
        return err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                        "%s: file \"%s\" was opened with MPI_MODE_SEQUENTIAL: only shared file "
                        "pointers may be used", io_call(), f->name);
    return a->collective ? io_no_split(f) : MPI_SUCCESS;
}

/* *bytes: of the file. */
int access_check(const struct io_args *a, size_t *bytes)
{
    const struct view *v = &a->f->view;
    int64_t n = 0;
    int err = a->err ? a->err : may_access(a);
    if (!err)
        err = rep_size(v->rep, a->t, a->count, &n);
    if (!err && n % v->esize)
        err = err_make(MPI_ERR_ARG,
                       "%s: file \"%s\": %lld elements of datatype, %lld bytes of the file, are no "
                       "whole etypes of %lld bytes", io_call(), a->f->name, (long long)a->count,
                       (long long)n, (long long)v->esize);
    if (!err && n && !v->fsize)
        err = err_make(MPI_ERR_ARG, "%s: file \"%s\": filetype of the view has no data", io_call(),
                       a->f->name);
    if (!err && a->where == IO_AT)
        err = view_check_range(a->f, a->offset, n);
    *bytes = err ? 0 : (size_t)n;
    return err;
}

static int no_memory(size_t bytes)
{
    return err_make(MPI_ERR_NO_MEM, "%s: no memory to convert %zu bytes", io_call(), bytes);
}

/* The transfer reads or writes converted bytes. */
static int access_convert(struct access *c, size_t bytes)
{
    if (!(c->converted = malloc(bytes)))
        return no_memory(bytes);
    c->x.mtype = dt_find(MPI_BYTE);
    c->x.mcount = bytes;
    c->x.buf = c->converted;
    return c->a.write ? rep_write(&c->a, c->converted) : MPI_SUCCESS;
}

int access_prepare(struct access *c, const struct io_args *a, int64_t offset, size_t bytes)
{
    const struct view *v = &a->f->view;
    struct dt_type *byte = dt_find(MPI_BYTE);
    *c = (struct access){.a = *a, .etypes = (int64_t)bytes / v->esize};
    int err = view_check_range(a->f, offset, (int64_t)bytes);
    if (err)
        return err;
    c->ftype = dt_ref(v->contig ? byte : v->filetype);
    dt_ref(a->t);
    c->x = (struct transfer){
        .fd = a->f->fd, .write = a->write,
        .sieve = a->write ? a->f->gaps : a->f->hints.ds_read != CHOICE_NO,
        .lock = a->f->atomic, .guard = a->f->guard && !a->f->atomic, .mutex = &a->f->mutex,
        .file = a->f,
        .mtype = a->t, .mcount = (size_t)a->count, .buf = a->buf, .ftype = c->ftype,
        .contig = v->contig, .disp = v->contig ? v->disp + v->filetype->true_lb : v->disp,
        .from = offset * v->esize, .len = bytes};
    return v->rep->kind != REP_NATIVE && bytes ? access_convert(c, bytes) : MPI_SUCCESS;
}

static int transfer_error(const struct access *c)
{
    char what[200];
    snprintf(what, sizeof what, "%s of %zu bytes failed at byte %lld after %zu bytes",
             c->x.write ? "writing" : "reading", c->x.len, (long long)c->x.at, c->x.done);
    return io_errno(c->x.err, c->a.f->name, what);
}

int access_finish(struct access *c, MPI_Status *st)
{
    struct io_file *f = c->a.f;
    size_t memory = c->x.done;
    int err = c->x.err ? transfer_error(c) : MPI_SUCCESS;
    if (c->converted && c->a.write)
        memory = c->x.done == c->x.len ? (size_t)(c->a.count * c->a.t->size) : 0;
    else if (c->converted) {
        int e = rep_read(&c->a, c->converted, c->x.done, &memory);
        err = err ? err : e;
    }
    if (st && st != MPI_STATUS_IGNORE) {
        int was = st->MPI_ERROR;
        status_empty(st);
        st->MPI_ERROR = was;
        status_set_count(st, (int64_t)memory);
    }
    io_count(f, STAT_CALLS, 1);
    io_count(f, STAT_ASKED, c->x.len);
    io_count(f, STAT_MOVED, c->x.moved);
    io_count(f, STAT_SYSTEM, c->x.calls);
    io_count(f, STAT_LOCKS, c->x.locks);
    io_count(f, STAT_NS, c->x.ns);
    free(c->converted);
    c->converted = NULL;
    if (c->ftype) {
        dt_drop(c->ftype);
        dt_drop(c->a.t);
        c->ftype = NULL;
    }
    return err;
}

int access_where(const struct io_args *a, int64_t etypes, int64_t *offset)
{
    switch (a->where) {
    case IO_AT: *offset = a->offset; return MPI_SUCCESS;
    case IO_INDIVIDUAL: *offset = a->f->position; return MPI_SUCCESS;
    default: return shared_add(a->f, etypes, offset);
    }
}
