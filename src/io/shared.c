/* shared.c - shared file pointers: one word in a window of rank 0, moved by fetch_and_op.
 *
 * On one host that is an atomic instruction in shared memory; no file holds the pointer. */
#include "io/io_types.h"

#include "coll/coll.h"
#include "rma/rma.h"

static int word(struct io_file *f, MPI_Op op, int64_t v, int64_t *old)
{
    struct dt_type *t = dt_find(MPI_INT64_T);
    struct rma_args a = {.kind = RMA_FOP, .origin = &v, .ocount = 1, .otype = t, .result = old,
                         .rcount = 1, .rtype = t, .tcount = 1, .ttype = t, .op = dt_op_find(op)};
    if (!f->pointer_win) {
        *old = f->pointer;
        f->pointer = op == MPI_SUM ? *old + v : v;
        return MPI_SUCCESS;
    }
    progress_poll(); /* near it is one instruction: one that does no more hears of no revocation */
    if (f->comm->revoked) /* a window looks for that where calls find its handle */
        return comm_revoked_error();
    int err = rma_op_begin(f->pointer_win, &a, NULL);
    return err ? err : rma_flush(f->pointer_win, 0);
}

int shared_add(struct io_file *f, int64_t n, int64_t *old)
{
    return word(f, MPI_SUM, n, old);
}

int shared_set(struct io_file *f, int64_t v)
{
    int64_t old;
    return word(f, MPI_REPLACE, v, &old);
}

int shared_make(struct io_file *f)
{
    void *base;
    if (f->comm->size == 1)
        return MPI_SUCCESS;
    int err = io_may_meet(f->comm);
    if (!err)
        err = rma_win_allocate(f->comm->rank ? 0 : 8, 8, NULL, f->comm, &base, &f->pointer_win);
    if (!err) {
        rma_win_own(f->pointer_win);
        err = rma_lock_all(f->pointer_win, MPI_MODE_NOCHECK);
    }
    if (!err && f->comm->rank == 0)
        err = shared_set(f, 0);
    return io_agree(err, f->comm);
}

void shared_free(struct io_file *f, io_win_end *end)
{
    if (!f->pointer_win)
        return;
    rma_unlock_all(f->pointer_win);
    end(f->pointer_win);
    f->pointer_win = NULL;
}

/* In rank order: each process begins where the one before it ends. Collective: an error of the
 * process that moves the pointer is one of all. */
int shared_ordered(struct io_file *f, int64_t n, int64_t *mine)
{
    int64_t before = 0, base[2] = {0, MPI_SUCCESS};
    struct dt_type *t = dt_find(MPI_INT64_T);
    struct comm *c = f->comm;
    struct coll_args a = {.call = COLL_EXSCAN, .comm = c, .sbuf = &n, .rbuf = &before,
                          .rcount = 1, .rtype = t, .op = dt_op_find(MPI_SUM)};
    int err = c->size > 1 ? io_may_meet(c) : MPI_SUCCESS;
    if (!err && c->size > 1)
        err = io_step(c, coll_run(&a));
    if (c->rank == 0)
        before = 0;
    if (c->rank == c->size - 1) {
        if (!err)
            err = shared_add(f, before + n, &base[0]);
        base[1] = err ? err_class(err) : MPI_SUCCESS;
    }
    int e = io_bcast(base, 2, c->size - 1, c);
    err = err ? err : e;
    if (!err && base[1])
        err = err_make((int)base[1], "%s: file \"%s\": the shared pointer did not move on the last "
                       "process", io_call(), f->name);
    *mine = base[0] + before;
    return err;
}
