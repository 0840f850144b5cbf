/* acquire.c - the user's calls on coherent windows, and on spaces.  Start with
 * rma_coherent_acquire(). */
#include "rma/coherent/home.h"

#include <errno.h>
#include <stdlib.h>

/* --- waiting ---------------------------------------------------------------------------------- */

/* A device reports nothing by a descriptor. */
static int no_descriptor(void *arg, int arm)
{
    (void)arg;
    (void)arm;
    return -1;
}

void rma_coherent_wait(int (*cond)(void *), void *arg, const char *what)
{
    if (cond(arg))
        return;
    struct progress_source s = {.fd = no_descriptor, .arg = arg};
    list_init(&s.link);
    progress_source_add(&s);
    progress_wait(cond, arg, what, -1);
    progress_source_del(&s);
}

struct wait_ask {
    struct coh *c;
    struct coh_ask a;
    int release, stream; /* which call: else an acquire */
    int err;
};

static int acquired(void *arg)
{
    struct wait_ask *x = arg;
    x->err = coh_acquire(x->c, &x->a);
    return x->err != SPACE_AGAIN;
}

static int released(void *arg)
{
    struct wait_ask *x = arg;
    x->err = coh_release(x->c, x->a.off, x->a.len, x->a.space, x->stream, x->a.stream);
    return x->err != SPACE_AGAIN;
}

static int evicted(void *arg)
{
    struct wait_ask *x = arg;
    x->err = coh_evict(x->c, &x->a);
    return x->err != SPACE_AGAIN;
}

/* --- checks and errors ------------------------------------------------------------------------ */

/* A window, a range and a space: the instance in *at. */
static int check(struct rma_win *w, MPI_Aint disp, MPI_Aint bytes, int space, unsigned *at)
{
    const struct rma_coherent *x = w->coherent;
    char name[SPACE_NAME];
    if (!x)
        return err_make(MPI_ERR_RMA_FLAVOR,
                        "%s: %s has no spaces: it was made without the key mpix_win_spaces",
                        rma_call(), rma_win_text(w));
    if (disp < 0 || bytes < 0 || disp > w->bytes || bytes > w->bytes - disp)
        return err_make(MPI_ERR_RMA_RANGE,
                        "%s: %lld bytes at %lld do not lie in the %lld bytes of %s", rma_call(),
                        (long long)bytes, (long long)disp, (long long)w->bytes, rma_win_text(w));
    for (*at = 0; *at < x->n; ++*at)
        if (x->number[*at] == space)
            return MPI_SUCCESS;
    space_name(space, name);
    return err_make(MPI_ERR_ARG, "%s: space %d (%s) is none of %s", rma_call(), space, name,
                    rma_win_text(w));
}

int rma_coherent_failed(struct rma_win *w, const struct coh_ask *a, int err)
{
    const struct rma_coherent *x = w->coherent;
    char name[SPACE_NAME], other[SPACE_NAME], text[160] = "host memory";
    struct coh_sums sum;
    space_name(x->number[a->space], name);
    space_name(x->number[a->bad_space], other);
    coh_sum(x->coh, a->space, &sum);
    if (x->space[a->space])
        x->space[a->space]->ops->describe(x->space[a->space], text, sizeof text);
    switch (err) {
    case -EBUSY:
        return err_make(MPI_ERR_RMA_CONFLICT,
                        "%s: byte %zu of rank %d of %s is held for writing in %s", rma_call(),
                        a->bad, w->rank, rma_win_text(w), other);
    case -ENOMEM:
        return err_make(MPI_ERR_NO_MEM,
                        "%s: no room for %zu bytes in %s: %zu of %zu bytes are held for %s",
                        rma_call(), a->len, name, sum.held, sum.budget, rma_win_text(w));
    case -EINVAL:
        return err_make(MPI_ERR_ARG, "%s: %zu bytes at %zu of %s are not held in %s", rma_call(),
                        a->len, a->off, rma_win_text(w), name);
    case -ENODATA:
        return err_make(MPI_ERR_OTHER, "%s: byte %zu of rank %d of %s was lost with its device",
                        rma_call(), a->bad, w->rank, rma_win_text(w));
    }
    return err_make(MPI_ERR_OTHER, "%s: byte %zu of rank %d of %s, in %s: %s", rma_call(), a->off,
                    w->rank, rma_win_text(w), name, text);
}

/* --- the calls -------------------------------------------------------------------------------- */

int rma_coherent_acquire(struct rma_win *w, const struct rma_range *r, int mode, void **ptr)
{
    unsigned at;
    int err = check(w, r->disp, r->bytes, r->space, &at);
    if (err)
        return err;
    if (mode != COH_READ && mode != COH_WRITE && mode != COH_DISCARD)
        return err_make(MPI_ERR_ARG, "%s: %d is no mode: give MPIX_WIN_READ, MPIX_WIN_WRITE or "
                        "MPIX_WIN_DISCARD", rma_call(), mode);
    struct wait_ask x = {.c = w->coherent->coh,
                         .a = {.off = (size_t)r->disp, .len = (size_t)r->bytes, .space = at,
                               .mode = (unsigned)mode, .on_stream = r->on_stream,
                               .stream = r->stream}};
    rma_coherent_wait(acquired, &x, "the copies of an acquire");
    if (x.err)
        return rma_coherent_failed(w, &x.a, x.err);
    if (!at)
        rma_guard_set(w, x.a.off, x.a.len);
    *ptr = at ? (void *)(uintptr_t)x.a.ptr : (char *)rma_win_shown(w) + x.a.off;
    return MPI_SUCCESS;
}

int rma_coherent_release(struct rma_win *w, const struct rma_range *r)
{
    unsigned at;
    int err = check(w, r->disp, r->bytes, r->space, &at);
    if (err)
        return err;
    struct wait_ask x = {.c = w->coherent->coh, .stream = r->on_stream,
                         .a = {.off = (size_t)r->disp, .len = (size_t)r->bytes, .space = at,
                               .stream = r->stream}};
    rma_coherent_wait(released, &x, "the copies of a release");
    if (!at)
        rma_guard_set(w, x.a.off, x.a.len);
    return x.err ? rma_coherent_failed(w, &x.a, x.err) : MPI_SUCCESS;
}

int rma_coherent_prefetch(struct rma_win *w, const struct rma_range *r)
{
    unsigned at;
    int err = check(w, r->disp, r->bytes, r->space, &at);
    if (!err)
        coh_prefetch(w->coherent->coh, (size_t)r->disp, (size_t)r->bytes, at);
    return err;
}

int rma_coherent_evict(struct rma_win *w, const struct rma_range *r)
{
    unsigned at;
    int err = check(w, r->disp, r->bytes, r->space, &at);
    if (err)
        return err;
    struct wait_ask x = {.c = w->coherent->coh,
                         .a = {.off = (size_t)r->disp, .len = (size_t)r->bytes, .space = at}};
    rma_coherent_wait(evicted, &x, "the copies of an eviction");
    if (x.err == -EBUSY)
        return rma_sync_error(w, "the range is held of", "call MPIX_Win_release first");
    return x.err ? rma_coherent_failed(w, &x.a, x.err) : MPI_SUCCESS;
}

int rma_coherent_tile(struct rma_win *w, MPI_Aint disp, int space, int *state, int *holds,
                      MPI_Count *valid)
{
    unsigned at;
    struct coh_view v;
    int err = check(w, disp, w->coherent && disp < w->bytes ? 1 : 0, space, &at);
    if (!err && disp == w->bytes)
        err = err_make(MPI_ERR_RMA_RANGE, "%s: byte %lld does not lie in the %lld bytes of %s",
                       rma_call(), (long long)disp, (long long)w->bytes, rma_win_text(w));
    if (err)
        return err;
    coh_poll(w->coherent->coh);
    coh_look(w->coherent->coh, (size_t)disp, at, &v);
    *state = v.state == 'M' ? MPIX_TILE_MODIFIED : v.state == 'S' ? MPIX_TILE_SHARED
                                                                 : MPIX_TILE_INVALID;
    *holds = (int)v.holds;
    *valid = (MPI_Count)v.valid;
    return MPI_SUCCESS;
}

/* --- spaces ----------------------------------------------------------------------------------- */

int rma_space_find(const char *name, int *space)
{
    int err = space_find(name, space);
    if (err == -EINVAL)
        return err_make(MPI_ERR_ARG, "%s: \"%s\" is no name of a space, such as \"host\" or "
                        "\"cuda:0\"", rma_call(), name);
    if (err)
        *space = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int launchable(int number, struct space **s)
{
    char name[SPACE_NAME];
    *s = space_opened(number);
    if (*s && (*s)->caps.flags & SPACE_LAUNCH)
        return MPI_SUCCESS;
    space_name(number, name);
    return err_make(*s ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_ERR_ARG, "%s: %s %s", rma_call(), name,
                    *s ? "is no simulated device: launch by its own means"
                       : "is not the space of an open window");
}

int rma_space_launch(int number, void *stream, void (*kernel)(void *const *, const void *), int n,
                     void *const *ptr, const void *arg, int bytes)
{
    struct space *s;
    int err = launchable(number, &s);
    if (err)
        return err;
    int bad = !kernel || n < 0 || bytes < 0;
    if (bad || (n && !ptr) || (bytes && !arg))
        return err_make(MPI_ERR_ARG, "%s: a kernel, its pointers and its argument are needed",
                        rma_call());
    struct space_job job = {kernel, n, ptr, arg, (size_t)bytes};
    err = s->ops->launch(s, stream, &job);
    if (err)
        return err_make(err == -EFAULT ? MPI_ERR_ARG : MPI_ERR_OTHER, "%s: %s", rma_call(),
                        err == -EFAULT ? "a pointer is not of that device"
                                       : "the device takes no kernel");
    return MPI_SUCCESS;
}

struct wait_mark {
    struct space *s;
    struct space_mark m;
    int err;
};

static int marked(void *arg)
{
    struct wait_mark *x = arg;
    x->err = x->s->ops->done(x->s, &x->m);
    return x->err != SPACE_AGAIN;
}

int rma_space_wait(int number, void *stream)
{
    struct wait_mark x;
    int err = launchable(number, &x.s);
    if (err)
        return err;
    x.err = x.s->ops->after(x.s, stream, &x.m);
    if (!x.err)
        rma_coherent_wait(marked, &x, "a stream of this process");
    return x.err ? err_make(MPI_ERR_OTHER, "%s: the device failed", rma_call()) : MPI_SUCCESS;
}
