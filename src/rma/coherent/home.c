/* home.c - what an operation of RMA touches becomes valid at home.  Start with rma_home(). */
#include "rma/coherent/home.h"

#include <errno.h>

static int class_of(int err)
{
    switch (err) {
    case 0: return 0;
    case -EBUSY: return MPI_ERR_RMA_CONFLICT;
    case -ENOMEM: return MPI_ERR_NO_MEM;
    case -ERANGE: return MPI_ERR_RMA_RANGE;
    }
    return MPI_ERR_OTHER;
}

/* A bounded wait: copies of a packet or a piece, on a stream of ours. */
static int one(struct rma_win *w, uint64_t off, uint64_t len, enum coh_access how)
{
    struct coh_ask a = {.off = (size_t)off, .len = (size_t)len};
    int err;
    for (unsigned turn = 0; (err = coh_home(w->coherent->coh, &a, how)) == SPACE_AGAIN; turn++)
        thread_pause(turn);
    if (err) {
        w->coherent->bad = a.bad;
        w->coherent->bad_space = a.bad_space;
    }
    return class_of(err);
}

int rma_home(struct rma_win *w, uint64_t off, uint64_t len, enum coh_access how)
{
    return len ? one(w, off, len, how) : 0;
}

/* Several blocks: a refusal must change nothing, so lanes become home's own only when all edges are
 * there. */
enum { STEPS = 3 };
static int steps_of(enum coh_access how, enum coh_access step[STEPS])
{
    step[0] = COH_AT_CHECK;
    step[1] = how == COH_AT_PUT ? COH_AT_EDGES : COH_AT_GET;
    step[2] = how;
    return how == COH_AT_GET ? 2 : STEPS;
}

static int layout_step(struct rma_win *w, uint64_t off, const struct dt_type *t, size_t count,
                       size_t from, size_t len, enum coh_access how)
{
    enum { BLOCKS = 32 };
    struct iovec v[BLOCKS];
    for (size_t done = 0, got; done < len; done += got) {
        size_t n = dt_iov(t, count, NULL, from + done, len - done, v, BLOCKS, &got);
        if (!n)
            return MPI_ERR_TYPE;
        for (size_t i = 0; i < n; i++) {
            int cls = rma_home(w, off + (uint64_t)(uintptr_t)v[i].iov_base, v[i].iov_len, how);
            if (cls)
                return cls;
        }
    }
    return 0;
}

int rma_home_layout(struct rma_win *w, uint64_t off, const struct dt_type *t, size_t count,
                    size_t from, size_t len, enum coh_access how)
{
    enum coh_access step[STEPS];
    int cls = 0, n = steps_of(how, step);
    if (dt_is_block(t, count))
        return rma_home(w, off + (uint64_t)(uintptr_t)dt_start(t, NULL) + from, len, how);
    for (int i = 0; !cls && i < n; i++)
        cls = layout_step(w, off, t, count, from, len, step[i]);
    return cls;
}

int rma_home_runs(struct rma_win *w, uint64_t off, const struct rma_run *runs, unsigned n,
                  enum coh_access how)
{
    enum coh_access step[STEPS];
    int cls = 0, steps = steps_of(how, step);
    for (int k = 0; !cls && k < steps; k++)
        for (unsigned i = 0; !cls && i < n; i++)
            cls = rma_home(w, off + (uint64_t)runs[i].disp, runs[i].len, step[k]);
    return cls;
}

int rma_home_own(struct rma_win *w, const struct rma_args *a, uint64_t off, size_t bytes)
{
    char name[SPACE_NAME];
    enum coh_access how = a->kind == RMA_PUT ? COH_AT_PUT : a->kind == RMA_GET ? COH_AT_GET
                                                                           : COH_AT_UPDATE;
    int cls = rma_home_layout(w, off, a->ttype, (size_t)a->tcount, 0, bytes, how);
    if (!cls)
        return MPI_SUCCESS;
    const struct rma_coherent *x = w->coherent;
    space_name(x->number[x->bad_space], name);
    if (cls == MPI_ERR_RMA_CONFLICT)
        return err_make(cls, "%s: byte %llu of rank %d of %s is held for writing in %s", rma_call(),
                        (unsigned long long)x->bad, w->rank, rma_win_text(w), name);
    return err_make(cls, "%s: byte %llu of rank %d of %s could not be copied from its device",
                    rma_call(), (unsigned long long)x->bad, w->rank, rma_win_text(w));
}
