/* buffers.c - origin, compare and result buffers in memory of devices.  A window with the key
 * mpix_win_buffers looks for them in the spaces that the key names.
 *
 *   device --copy--> host, without gaps --operation--> target
 *   target --operation--> host, without gaps --copy--> device
 *
 * Start with rma_buffer_find(). */
#include "rma/coherent/home.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* --- where it lies ---------------------------------------------------------------------------- */

static struct space *space_at(const struct rma_buffers *x, uint64_t addr, size_t len)
{
    for (unsigned i = 0; i < x->n; i++)
        if (x->space[i]->ops->holds(x->space[i], addr, len))
            return x->space[i];
    return NULL;
}

static int buffer_error(const struct rma_buffer *b, const char *why)
{
    char name[SPACE_NAME];
    space_name(space_number(b->space), name);
    return err_make(MPI_ERR_BUFFER, "%s: the %s at %p %s %s", b->call, b->what, b->at, why,
                    name);
}

int rma_buffer_find(const struct rma_win *w, const void *buf, size_t count,
                    const struct dt_type *t, struct rma_buffer *b)
{
    int64_t lo, hi;
    int err = t ? dt_bounds(t, count, &lo, &hi) : MPI_SUCCESS;
    if (err || !t || lo == hi)
        return err;
    uint64_t from = (uint64_t)(uintptr_t)buf + (uint64_t)lo, len = (uint64_t)(hi - lo);
    b->space = space_at(w->buffers, from, 1);
    if (!b->space && !(b->space = space_at(w->buffers, from + len - 1, 1)))
        return MPI_SUCCESS;
    b->call = rma_call(); /* a result is copied later, in any call */
    b->at = (void *)(uintptr_t)buf;
    b->type = t;
    b->count = count;
    if (!b->space->ops->holds(b->space, from, len))
        return buffer_error(b, "lies only partly in");
    if ((err = dt_total(t, count, &b->bytes)) != MPI_SUCCESS)
        return err;
    /* on the host: elements of the same kind, one behind the other */
    b->elem = t->basic ? t->basic : dt_find(MPI_BYTE);
    b->n = b->bytes / b->elem->elem.bytes;
    return MPI_SUCCESS;
}

/* Memory of a window of this process must be held. Other memory is the program's alone. */
static int is_held(const struct space *s, uint64_t addr, size_t len, int writes)
{
    for (const struct list *l = rma_self()->windows.next; l != &rma_self()->windows; l = l->next) {
        const struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        int held = w->coherent ? coh_in_hold(w->coherent->coh, s, addr, len, writes) : -1;
        if (held >= 0)
            return held;
    }
    return 1;
}

/* --- copies ----------------------------------------------------------------------------------- */

struct copying {
    struct space *s;
    struct space_mark mark;
    int err;
};

static int copied(void *arg)
{
    struct copying *x = arg;
    x->err = x->s->ops->done(x->s, &x->mark);
    return x->err != SPACE_AGAIN;
}

/* Runs of one copy, of the packed bytes from `from` on; *got: their bytes. */
static unsigned runs_of(const struct rma_buffer *b, char *packed, int in, size_t from, size_t len,
                        struct space_run run[RMA_BUFFER_RUNS], size_t *got)
{
    struct iovec v[RMA_BUFFER_RUNS];
    size_t n = dt_iov(b->type, b->count, b->at, from, len, v, RMA_BUFFER_RUNS, got), at = from;
    for (size_t i = 0; i < n; i++) {
        uint64_t device = (uint64_t)(uintptr_t)v[i].iov_base;
        uint64_t host = (uint64_t)(uintptr_t)packed + at;
        run[i] = in ? (struct space_run){device, host, v[i].iov_len}
                    : (struct space_run){host, device, v[i].iov_len};
        at += v[i].iov_len;
    }
    return (unsigned)n;
}

/* `len` packed bytes: 0 or -errno. waits: by progress_wait(); else it spins, as a handler must. */
static int copy(struct rma_win *w, const struct rma_buffer *b, char *packed, size_t len, int in,
                int waits)
{
    struct space_run run[RMA_BUFFER_RUNS];
    struct copying x = {.s = b->space};
    for (size_t done = 0, got; done < len; done += got) {
        unsigned n = runs_of(b, packed, in, done, len - done, run, &got);
        for (unsigned i = 0; i < n; i++)
            if (!is_held(b->space, in ? run[i].dst : run[i].src, run[i].len, in))
                return -EPERM;
        int err = n ? x.s->ops->copy(x.s, NULL, in ? SPACE_IN : SPACE_OUT, run, n, &x.mark) : -EIO;
        if (err)
            return err;
        if (waits)
            rma_coherent_wait(copied, &x, "a copy of a buffer");
        for (unsigned turn = 0; !waits && !copied(&x); turn++)
            thread_pause(turn);
        if (x.err)
            return x.err;
        rma_count(w, PVAR_COH_COPIES, 1);
        rma_count(w, in ? PVAR_COH_BYTES_IN : PVAR_COH_BYTES_OUT, got);
    }
    return 0;
}

static int copy_error(const struct rma_buffer *b, int err, int in)
{
    char text[160];
    if (!err)
        return MPI_SUCCESS;
    if (err == -EPERM)
        return buffer_error(b, in ? "is not held for writing in" : "is not held in");
    b->space->ops->describe(b->space, text, sizeof text);
    return err_make(err == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER,
                    "%s: the %s at %p could not be copied: %s", b->call, b->what, b->at, text);
}

/* Elements with gaps inside an array (MPI_DOUBLE_INT) are packed for the copy. */
static int has_gaps(const struct rma_buffer *b)
{
    return b->elem->elem.bytes != b->elem->elem.stride;
}

int rma_buffer_room(struct rma_buffer *b)
{
    size_t len = b->n * b->elem->elem.stride + (has_gaps(b) ? b->bytes : 0);
    b->host = malloc(len ? len : 1);
    b->packed = !b->host ? NULL : has_gaps(b) ? b->host + b->n * b->elem->elem.stride : b->host;
    return b->host ? MPI_SUCCESS
                   : err_make(MPI_ERR_NO_MEM, "%s: no memory for %zu bytes of the %s", b->call,
                              len, b->what);
}

int rma_buffer_out(struct rma_win *w, struct rma_buffer *b)
{
    int err = rma_buffer_room(b);
    if (!err)
        err = copy_error(b, copy(w, b, b->packed, b->bytes, 0, 1), 0);
    if (!err && has_gaps(b))
        dt_unpack(b->elem, b->n, b->host, 0, b->packed, b->bytes);
    return err;
}

int rma_buffer_in(struct rma_win *w, const struct rma_buffer *b, size_t len, int waits)
{
    if (has_gaps(b))
        dt_pack(b->elem, b->n, b->host, 0, b->packed, len);
    return copy_error(b, copy(w, b, b->packed, len, 1, waits), 1);
}

/* --- faults ----------------------------------------------------------------------------------- */

size_t rma_buffer_fault(const void *at, char *text, size_t len)
{
    const struct list *all = proc->rma ? &rma_self()->windows : NULL;
    for (const struct list *l = all ? all->next : NULL; l && l != all; l = l->next) {
        const struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        char name[SPACE_NAME];
        unsigned i;
        long long off = w->coherent ? coh_offset_of(w->coherent->coh, (uintptr_t)at, &i) : -1;
        if (off < 0)
            continue;
        space_name(w->coherent->number[i], name);
        int n = snprintf(text, len, "the address is in %s, which the host cannot reach: as a "
                         "buffer of RMA it needs %s in the key mpix_win_buffers of that window",
                         name, name);
        return n < 0 ? 0 : (size_t)n < len ? (size_t)n : len - 1;
    }
    return 0;
}
