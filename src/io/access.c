/* access.c - one access: checks, where it is in the file, conversion, status, pointers. */
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

static int access_run(struct access *c, const struct io_args *a, int err, int64_t offset,
                      size_t bytes)
{
    int done = 0;
    if (!err)
        err = access_prepare(c, a, offset, bytes);
    if (a->collective && a->f->comm->size > 1) {
        int e = two_phase_access(c, err, &done);
        err = err ? err : e;
    }
    if (!err && !done) {
        struct io_away away = io_leave();
        c->x.away = &away;
        transfer_run(&c->x);
        c->x.away = NULL;
        io_return(&away, NULL);
    }
    return err;
}

int io_access(const struct io_args *a, MPI_Status *st)
{
    struct access c = {.a = *a};
    size_t bytes;
    int64_t offset = a->f->position; /* where it stays after an error */
    int err = access_check(a, &bytes);
    int64_t esize = a->f->view.esize, etypes = (int64_t)bytes / esize;
    if (a->where == IO_ORDERED) { /* the others count on this process */
        int e = shared_ordered(a->f, etypes, &offset);
        err = err ? err : e;
    } else if (!err) {
        err = access_where(a, etypes, &offset);
    }
    /* Another thread that uses the pointer meanwhile goes on behind this access. */
    int64_t past = (int64_t)((uint64_t)offset + (uint64_t)etypes);
    if (!err && a->where == IO_INDIVIDUAL)
        a->f->position = past;
    a->f->pending++;
    err = access_run(&c, a, err, offset, bytes);
    a->f->pending--;
    if (err)
        c.x.done = 0;
    int e = access_finish(&c, st);
    err = err ? err : e;
    if (a->where == IO_INDIVIDUAL && a->f->position == past)
        a->f->position = offset + (int64_t)c.x.done / esize;
    return err;
}

/* --- split collectives ------------------------------------------------------------------------ */
static const char *split_name(const struct io_args *a)
{
    static const char *const names[2][3] = {
        {"MPI_File_read_at_all_end", "MPI_File_read_all_end", "MPI_File_read_ordered_end"},
        {"MPI_File_write_at_all_end", "MPI_File_write_all_end", "MPI_File_write_ordered_end"}};
    return names[a->write][a->where == IO_AT ? 0 : a->where == IO_INDIVIDUAL ? 1 : 2];
}

/* The access is done here; the end returns what came of it (MPI-3.1 13.4.5 lets either half
 * block). Misuse is returned at once, after the others have heard of it. */
int io_split_begin(const struct io_args *a)
{
    int begun = !a->err && !a->f->split;
    MPI_Status st;
    status_empty(&st);
    int err = io_access(a, &st);
    if (!begun)
        return err;
    a->f->split_status = st;
    a->f->split_error = err;
    a->f->split = split_name(a);
    return MPI_SUCCESS;
}

int io_split_end(const struct io_args *a, MPI_Status *st)
{
    const char *name = split_name(a);
    if (!a->f->split || strcmp(a->f->split, name))
        return err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                        "%s: file \"%s\": no access was begun that this call ends", io_call(),
                        a->f->name);
    a->f->split = NULL;
    if (st && st != MPI_STATUS_IGNORE) {
        int was = st->MPI_ERROR;
        *st = a->f->split_status;
        st->MPI_ERROR = was;
    }
    int err = a->f->split_error;
    a->f->split_error = MPI_SUCCESS;
    if (err)
        err_returned_by(err, name);
    return err;
}
