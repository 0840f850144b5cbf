/* view.c - views: which bytes of a file a process sees, in which order; positions in them. Start
 * with io_set_view(). */
#include "io/io_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void view_drop(struct view *v)
{
    if (v->etype)
        dt_drop(v->etype);
    if (v->filetype)
        dt_drop(v->filetype);
    v->etype = v->filetype = NULL;
}

/* Every instance of a filetype begins where MPI requires; do they keep the order, too? */
static int tiles_ascend(const struct dt_type *t, int64_t first)
{
    return t->extent >= t->true_ub - first;
}

static int filetype_check(const struct io_file *f, const struct view *v)
{
    const char *why = NULL;
    int class = MPI_ERR_IO; /* as MPICH has it for a typemap that may not be */
    int64_t first;
    uint64_t bits;
    enum dt_ascent order = dt_order(v->filetype, &first, &bits);
    if (v->esize <= 0 || v->fsize % v->esize) {
        why = v->esize <= 0 ? "etype has no data" : "filetype is not made of whole etypes";
        class = MPI_ERR_ARG;
    } else if (order == DT_UNSORTED)
        why = "displacements of filetype descend";
    else if (order == DT_OVERLAPPING && !(f->amode & MPI_MODE_RDONLY))
        why = "filetype overlaps itself, and the file was opened for writing";
    else if (v->fsize && v->filetype->true_lb < 0)
        why = "filetype has a negative displacement";
    else if (v->filetype->extent <= 0 && v->fsize)
        why = "the extent of filetype is not positive";
    return why ? err_make(class, "%s: file \"%s\": %s", io_call(), f->name, why)
               : MPI_SUCCESS;
}

static int view_make(const struct io_file *f, struct view *v)
{
    int64_t first;
    int err = rep_size(v->rep, v->etype, 1, &v->esize);
    if (!err)
        err = rep_size(v->rep, v->filetype, 1, &v->fsize);
    if (!err)
        err = filetype_check(f, v);
    if (err)
        return err;
    v->contig = (v->filetype->flags & DT_CONTIG) != 0;
    if (!v->contig && v->fsize != v->filetype->size)
        return err_make(MPI_ERR_UNSUPPORTED_DATAREP,
                        "%s: file \"%s\": in data representation %s the elements of filetype have "
                        "other sizes than in memory; filetype must then have no gaps",
                        io_call(), f->name, v->rep->name);
    v->ascending = dt_order(v->filetype, &first, &v->bits) == DT_ASCENDING;
    v->tiles_ascend = tiles_ascend(v->filetype, first);
    v->bits |= (uint64_t)v->filetype->extent;
    return MPI_SUCCESS;
}

static int disp_check(const struct io_file *f, int64_t *disp)
{
    if (*disp == MPI_DISPLACEMENT_CURRENT && (f->amode & MPI_MODE_SEQUENTIAL)) {
        *disp = 0; /* known when all are here: current_disp() */
        return MPI_SUCCESS;
    }
    if (*disp == MPI_DISPLACEMENT_CURRENT)
        return err_make(MPI_ERR_ARG,
                        "%s: disp is MPI_DISPLACEMENT_CURRENT, and file \"%s\" was not opened with "
                        "MPI_MODE_SEQUENTIAL", io_call(), f->name);
    if (f->amode & MPI_MODE_SEQUENTIAL)
        return err_make(MPI_ERR_ARG,
                        "%s: disp is %lld; with MPI_MODE_SEQUENTIAL it must be "
                        "MPI_DISPLACEMENT_CURRENT", io_call(), (long long)*disp);
    return *disp < 0 ? err_make(MPI_ERR_ARG, "%s: disp is %lld", io_call(), (long long)*disp)
                     : MPI_SUCCESS;
}

static int rep_check(const char *name, const struct rep **r)
{
    *r = name ? rep_find(name) : NULL;
    return *r ? MPI_SUCCESS
              : err_make(MPI_ERR_UNSUPPORTED_DATAREP,
                         "%s: there is no data representation \"%s\"", io_call(),
                         name ? name : "(null)");
}

/* Where the shared pointer is, in bytes. Collective: no process moves it meanwhile. */
static int current_disp(struct io_file *f, int64_t *disp)
{
    int64_t at[2] = {0, MPI_SUCCESS}, offset;
    if (f->comm->rank == 0) {
        int err = shared_add(f, 0, &offset);
        at[0] = err || !f->view.fsize ? f->view.disp
                                      : view_offset(&f->view, offset * f->view.esize);
        at[1] = err ? err_class(err) : 0;
    }
    int err = io_bcast(at, 2, 0, f->comm);
    *disp = at[0];
    return err || !at[1] ? err
                         : err_make((int)at[1], "%s: file \"%s\": no shared file pointer",
                                    io_call(), f->name);
}

int io_set_view(struct io_file *f, int64_t disp, struct dt_type *etype, struct dt_type *filetype,
                const char *datarep, struct info *info)
{
    struct view v = {.etype = dt_ref(etype), .filetype = dt_ref(filetype)};
    int err = io_no_split(f);
    if (!err)
        err = disp_check(f, &disp);
    if (!err)
        err = rep_check(datarep, &v.rep);
    v.disp = disp;
    if (!err)
        err = view_make(f, &v);
    if (!err)
        err = hints_take(f, info);
    err = io_same(f, v.esize, "the extent of etype", err);
    int same = !err; /* else all return */
    if (!err && (f->amode & MPI_MODE_SEQUENTIAL))
        err = current_disp(f, &v.disp);
    /* The shared pointer begins again; no process uses it before all are here. */
    if (!err && f->comm->rank == 0)
        err = shared_set(f, 0);
    if (same && f->comm->size > 1)
        err = io_agree(err, f->comm);
    if (err) {
        view_drop(&v);
        return err;
    }
    view_drop(&f->view);
    f->view = v;
    f->position = 0;
    return MPI_SUCCESS;
}

int view_default(struct io_file *f)
{
    struct dt_type *byte = dt_find(MPI_BYTE);
    f->view = (struct view){.etype = dt_ref(byte), .filetype = dt_ref(byte),
                            .rep = &io_self()->native};
    return view_make(f, &f->view);
}

void io_view(const struct io_file *f, int64_t *disp, struct dt_type **etype,
             struct dt_type **filetype, const char **datarep)
{
    *disp = f->view.disp;
    *etype = f->view.etype;
    *filetype = f->view.filetype;
    *datarep = f->view.rep->name;
}

/* --- positions -------------------------------------------------------------------------------- */
/* Do `bytes` of data from an offset in etypes on have places that fit a file offset? */
int view_check_range(const struct io_file *f, int64_t offset, int64_t bytes)
{
    const struct view *v = &f->view;
    int64_t from, end, lo, hi;
    if (offset < 0)
        return err_make(MPI_ERR_ARG, "%s: file \"%s\": offset is %lld", io_call(), f->name,
                        (long long)offset);
    int bad = __builtin_mul_overflow(offset, v->esize, &from) ||
              __builtin_add_overflow(from, bytes, &end);
    if (!bad && v->contig)
        bad = __builtin_add_overflow(end, v->filetype->true_lb, &hi) ||
              __builtin_add_overflow(hi, v->disp, &hi);
    else if (!bad && v->fsize)
        bad = dt_bounds(v->filetype, (size_t)(end / v->fsize) + 1, &lo, &hi) != MPI_SUCCESS ||
              __builtin_add_overflow(hi, v->disp, &hi);
    return bad ? err_make(MPI_ERR_ARG,
                          "%s: file \"%s\": %lld bytes at offset %lld end beyond the largest "
                          "offset of a file", io_call(), f->name, (long long)bytes,
                          (long long)offset)
               : MPI_SUCCESS;
}

int64_t view_offset(const struct view *v, int64_t from)
{
    struct iovec b;
    size_t got;
    if (v->contig)
        return v->disp + v->filetype->true_lb + from;
    view_blocks(v->filetype, v->disp, from, 1, &b, 1, &got);
    return (int64_t)(uintptr_t)b.iov_base;
}

/* Etypes of the view before the end of the file. */
static int view_end(struct io_file *f, int64_t *etypes)
{
    const struct view *v = &f->view;
    int64_t size, tile = v->filetype->extent, n, lo, hi;
    int err = io_size(f, &size);
    *etypes = 0;
    if (err || size <= v->disp || !v->fsize)
        return err;
    size -= v->disp;
    if (v->contig) {
        size -= v->filetype->true_lb;
        *etypes = size > 0 ? (size - 1) / v->esize + 1 : 0;
        return MPI_SUCCESS;
    }
    /* Bisection over the bytes of one or a few instances: places ascend with positions. */
    n = size / tile + 1;
    lo = 0;
    hi = n * (v->fsize / v->esize);
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (view_offset(v, mid * v->esize) - v->disp < size)
            lo = mid + 1;
        else
            hi = mid;
    }
    *etypes = lo;
    return MPI_SUCCESS;
}

static int is_sequential(const struct io_file *f)
{
    return f->amode & MPI_MODE_SEQUENTIAL
               ? err_make(MPI_ERR_UNSUPPORTED_OPERATION,
                          "%s: file \"%s\" was opened with MPI_MODE_SEQUENTIAL", io_call(), f->name)
               : MPI_SUCCESS;
}

/* The position that a seek leads to; now: the pointer before. */
static int target_of(struct io_file *f, int64_t offset, int whence, int64_t now, int64_t *out)
{
    int64_t base = whence == MPI_SEEK_CUR ? now : 0;
    int err = is_sequential(f);
    if (!err && whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END)
        err = err_make(MPI_ERR_ARG, "%s: whence is %d", io_call(), whence);
    if (!err && whence == MPI_SEEK_END)
        err = view_end(f, &base);
    if (!err && (__builtin_add_overflow(base, offset, out) || *out < 0))
        err = err_make(MPI_ERR_ARG, "%s: file \"%s\": offset %lld leads out of the view", io_call(),
                       f->name, (long long)offset);
    return err;
}

int io_seek(struct io_file *f, int64_t offset, int whence)
{
    int64_t to;
    int err = target_of(f, offset, whence, f->position, &to);
    if (!err)
        f->position = to;
    return err;
}

int io_position(const struct io_file *f, int64_t *offset)
{
    int err = is_sequential(f);
    *offset = err ? 0 : f->position;
    return err;
}

int io_seek_shared(struct io_file *f, int64_t offset, int whence)
{
    int64_t now = 0, to = 0;
    int err = io_no_split(f);
    err = io_same(f, offset, "offset", err);
    if (!err)
        err = io_same(f, whence, "whence", MPI_SUCCESS);
    if (err)
        return err;
    if (f->comm->rank == 0) {
        err = shared_add(f, 0, &now);
        if (!err)
            err = target_of(f, offset, whence, now, &to);
        if (!err)
            err = shared_set(f, to);
    }
    return io_agree(err, f->comm);
}

int io_position_shared(struct io_file *f, int64_t *offset)
{
    int err = is_sequential(f);
    return err ? err : shared_add(f, 0, offset);
}

int io_byte_offset(const struct io_file *f, int64_t offset, int64_t *disp)
{
    int err = is_sequential(f);
    *disp = 0;
    if (!err)
        err = view_check_range(f, offset, 1);
    if (!err && f->view.fsize)
        *disp = view_offset(&f->view, offset * f->view.esize);
    else if (!err)
        *disp = f->view.disp;
    return err;
}

int io_type_extent(const struct io_file *f, struct dt_type *t, int64_t *extent)
{
    const struct rep *r = f->view.rep;
    int64_t bytes;
    *extent = t->extent;
    if (r->kind == REP_NATIVE || !t->size)
        return MPI_SUCCESS;
    int err = rep_size(r, t, 1, &bytes);
    if (!err) /* types without gaps keep none, the extent of others grows as their data do */
        *extent = t->flags & DT_CONTIG ? bytes : t->extent / t->size * bytes +
                                                     t->extent % t->size * bytes / t->size;
    return err;
}
