/* access_calls.c - the calls that access a file: blocking, nonblocking, split collective. Start
 * with io_access(). */
#include <string.h>

#include "io/io_types.h"

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

/* --- nonblocking ------------------------------------------------------------------------------ */
static int begin_alone(const struct io_args *a, int64_t offset, size_t bytes, MPI_Request *req)
{
    struct io_request *q = io_request_make(a, sizeof *q);
    if (!q)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for a request", io_call());
    int err = access_prepare(&q->c, a, offset, bytes);
    if (!err)
        err = request_publish(&q->r, req);
    if (err) {
        io_request_drop(q);
        return err;
    }
    a->f->pending++;
    io_request_alone(q);
    return MPI_SUCCESS;
}

int io_begin(const struct io_args *a, MPI_Request *req)
{
    size_t bytes;
    int64_t offset = 0;
    *req = MPI_REQUEST_NULL;
    int err = access_check(a, &bytes);
    int64_t etypes = (int64_t)bytes / a->f->view.esize;
    if (!err)
        err = access_where(a, etypes, &offset);
    if (a->collective && a->f->comm->size > 1)
        err = later_begin(a, err, offset, bytes, req);
    else if (!err)
        err = begin_alone(a, offset, bytes, req);
    if (!err && a->where == IO_INDIVIDUAL)
        a->f->position = offset + etypes;
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
