/* error.c - the errors that several sub-rooms return: a process failed, a process cannot be
 * reached, a target refused. */
#include "mem/space.h"
#include "rma/core/core.h"

#include <stdio.h>
#include <string.h>

#include "dt/make.h"

const char *rma_call(void)
{
    return proc->call ? proc->call : "RMA";
}

const char *rma_win_text(const struct rma_win *w)
{
    struct rma *r = rma_self();
    if (w->name[0])
        snprintf(r->win_text, sizeof r->win_text, "window \"%s\"", w->name);
    else
        snprintf(r->win_text, sizeof r->win_text, "window 0x%x", (unsigned)w->near.obj.handle);
    return r->win_text;
}

int rma_cut_error(const struct rma_win *w, int rank, int cut)
{
    char what[MPI_MAX_OBJECT_NAME + 128];
    snprintf(what, sizeof what, "%s: rank %d of %s (process %d) cannot be reached", rma_call(),
             rank, rma_win_text(w), rma_world(w, rank));
    return err_from_errno(cut, what);
}

int rma_revoked_error(const struct rma_win *w)
{
    return err_make(MPIX_ERR_REVOKED, "%s: %s was revoked", rma_call(), rma_win_text(w));
}

int rma_failed_error(struct rma_win *w, int rank)
{
    int world = rank < 0 ? boot_failed_last() : rma_world(w, rank);
    if (rank < 0) /* a rank of the window, or a process whose end took a member with it */
        rank = rankmap_find(w->map, world);
    const struct rma_target *t = rank >= 0 ? rma_target_find(w, rank) : NULL;
    int cut = t ? t->cut : rank < 0 || rank == w->cut_rank ? w->cut : 0;
    if (cut && !boot_failed(world)) /* no process has failed */
        return rma_cut_error(w, rank < 0 ? w->cut_rank : rank, cut);
    if (rank >= 0 && !boot_failed(world) && rma_is_revoked(w)) /* rma_epochs_revoke() */
        return rma_revoked_error(w);
    return err_make(MPIX_ERR_PROC_FAILED, "%s: rank %d of %s (process %d) died: %s", rma_call(),
                    rank, rma_win_text(w), world, boot_failed_why(world));
}

int rma_err_taken(int *slot)
{
    int err = *slot;
    *slot = 0;
    err_returned_by(err, rma_call()); /* it came during any call */
    return err;
}

static const char *why(const struct rma_fault *f)
{
    switch (f->cls) {
    case MPI_ERR_RMA_RANGE:
        if (f->bytes == RMA_FAULT_DYNAMIC && rma_is_handle(f->disp))
            return "there is no such memory handle there any more, or its memory is shorter";
        return f->bytes == RMA_FAULT_DYNAMIC ? "it does not lie in memory attached there"
                                             : "it does not lie in the window there";
    case MPI_ERR_TYPE: return "its datatype does not fit there";
    case MPI_ERR_COUNT: return "its count does not fit there";
    case MPI_ERR_OP: return "its operation is not defined for its datatype";
    case MPIX_ERR_REVOKED: return "the window was revoked";
    case MPI_ERR_RMA_SYNC: return "no lock of this process is held there";
    }
    return "it could not be done there";
}

/* A coherent window: the target holds it for writing on a device. */
static int conflict_error(const struct rma_win *w, const struct rma_fault *f, int rank,
                          const char *name)
{
    char space[SPACE_NAME];
    space_name((int)f->bytes, space);
    return err_make(MPI_ERR_RMA_CONFLICT,
                    "%s: %s was refused by rank %d of %s: it holds byte %llu for writing in %s",
                    rma_call(), name, rank, rma_win_text(w), (unsigned long long)f->disp, space);
}

/* With the reason that the target reports. */
int rma_far_error(const struct rma_win *w, const struct rma_hdr *h, const char *what,
                  const char *call)
{
    static const char *const names[RMA_PKTS] = {[RMA_PKT_PUT] = "a put",
                                                [RMA_PKT_GET] = "a get",
                                                [RMA_PKT_ACC] = "an accumulate",
                                                [RMA_PKT_GACC] = "a fetching accumulate",
                                                [RMA_PKT_CAS] = "a compare and swap",
                                                [RMA_PKT_BATCH] = "a packet of operations"};
    int rank = (int)h->src;
    struct rma_fault f;
    if (!h->aop)
        return MPI_SUCCESS;
    if (h->len < sizeof f)
        return err_make(h->aop, "%s: an operation on rank %d of %s failed there", rma_call(), rank,
                        rma_win_text(w));
    memcpy(&f, what, sizeof f);
    f.cls = h->aop;
    if (f.cls == MPIX_ERR_INVALID_NOTIFICATION) /* its data is there */
        return err_make(f.cls, "%s: rank %d of %s did not count a notification: the counter is not "
                        "made there, and no more such notifications are kept", rma_call(), rank,
                        rma_win_text(w));
    const char *name = f.type < RMA_PKTS ? names[f.type] : NULL;
    if (name && call)
        name = call;
    if (f.cls == MPI_ERR_RMA_CONFLICT && f.bytes <= INT32_MAX)
        return conflict_error(w, &f, rank, name ? name : "an operation");
    const struct dt_type *t = f.dt ? dt_find((MPI_Datatype)f.dt) : NULL;
    const char *of = t && t->flags & DT_PREDEFINED ? dt_default_name(t) : "of a derived datatype";
    if (!name)
        return err_make(f.cls, "%s: rank %d of %s refused what came with the end of an epoch: %s",
                        rma_call(), rank, rma_win_text(w), why(&f));
    char size[40] = "";
    if (f.cls == MPI_ERR_RMA_RANGE && f.bytes != RMA_FAULT_DYNAMIC)
        snprintf(size, sizeof size, " (%llu bytes)", (unsigned long long)f.bytes);
    return err_make(f.cls,
                    "%s: %s of %llu %s at displacement %lld was refused by rank %d of %s: %s%s",
                    rma_call(), name, (unsigned long long)f.count, of, (long long)f.disp, rank,
                    rma_win_text(w), why(&f), size);
}

/* If many operations or parts are refused, all get the text of the first: error texts are few. */
int rma_op_refused(const struct rma_op *op, const struct rma_hdr *h, const char *what)
{
    int had = op->err || op->req ? op->err : op->t->err;
    return h->aop && had ? had : rma_far_error(op->t->w, h, what, op->req ? op->req->call : NULL);
}

int rma_dup_error(const struct rma_win *w)
{
    return err_make(MPI_ERR_RMA_SYNC,
                    "%s: %s is a duplicate, which has no epochs of its own: use the window that it "
                    "was made of, under MPI_Win_lock_all",
                    rma_call(), rma_win_text(w));
}

int rma_sync_error(const struct rma_win *w, const char *what, const char *todo)
{
    return err_make(MPI_ERR_RMA_SYNC, "%s: %s %s: %s", rma_call(), what, rma_win_text(w), todo);
}
