/* acc.c - accumulates under stripes. Start with acc_apply().
 *
 * Work is cut into batches of at most ACC_STRIPE_BYTES. A batch is the pieces of the target in one
 * stripe, or one element that crosses into the next. If long pieces are in place at both ends, it
 * spans up to ACC_AT_ONCE stripes. It is applied under the lock of its stripes.
 *
 *   range of packed bytes --dt_iov--> blocks --cut at stripes--> batch
 *     --lock--> fetch old, apply --unlock-->
 *
 * Mapped memory is changed in place. By CMA the batch is read, changed and written back. */
#include "rma/shared/acc_types.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "mem/mem.h"

enum { ACC_AT_ONCE = 4 }; /* stripes that one batch takes */

unsigned acc_stripes(uint64_t size, int dynamic)
{
    unsigned n = 1;
    while (n < ACC_STRIPES_MAX && (dynamic || (uint64_t)n * ACC_STRIPE_BYTES < size))
        n *= 2;
    return n;
}

size_t acc_ctl_bytes(unsigned stripes)
{
    return sizeof(struct acc_ctl) + stripes * sizeof(struct stripe);
}

void acc_ctl_init(struct acc_ctl *c, unsigned stripes, unsigned hints)
{
    c->mask = stripes - 1;
    /* Stripes are the default because atomics are slower on long operations (doc/results.md,
     * "Layouts"). Atomics pay for single elements only, so they need the user's hint. */
    c->atomics = (hints & ACC_ALL_MAPPED) && (hints & ACC_SINGLE_ELEMENTS);
    for (unsigned i = 0; i < stripes; i++)
        atomic_init(&c->stripe[i].word, 0);
}

/* --- stripes --------------------------------------------------------------------------------- */

/* The stripe is held: wait for it. */
__attribute__((noinline)) void acc_stripe_wait(struct stripe *s, unsigned me)
{
    for (unsigned turn = 0;; turn++) {
        /* no locked instruction while it is held */
        unsigned seen = atomic_load_explicit(&s->word, memory_order_relaxed);
        if (!seen && atomic_compare_exchange_weak_explicit(
                         &s->word, &seen, me, memory_order_acquire, memory_order_relaxed))
            return;
        /* A failed holder never returns: its stripe is taken over from exactly the value seen. */
        if (seen && shm_failed_look(turn) && mem_holder_died(seen) &&
            atomic_compare_exchange_strong_explicit(&s->word, &seen, me, memory_order_acquire,
                                                    memory_order_relaxed))
            return;
        if (seen)
            thread_pause(turn);
    }
}

static void stripes(struct acc_ctl *c, uint64_t from, uint64_t end, int take, unsigned me)
{
    for (uint64_t i = from; i < end; i++)
        if (take)
            stripe_take(&c->stripe[i], me);
        else
            stripe_give(&c->stripe[i]);
}

/* Stripes [first, last], ascending by their place in the table; once if two share a place. */
void acc_stripes_lock(struct acc_ctl *c, uint64_t first, uint64_t last, int take)
{
    uint64_t places = (uint64_t)c->mask + 1, n = last - first + 1, at = first & c->mask;
    unsigned me = take ? (unsigned)mem_host_index() + 1 : 0;
    if (n >= places) {
        stripes(c, 0, places, take, me);
        return;
    }
    if (at + n > places) /* those that wrap to the front */
        stripes(c, 0, at + n - places, take, me);
    stripes(c, at, at + n < places ? at + n : places, take, me);
}

/* --- origin and result of a packed range ----------------------------------------------------- */

static const char *origin_at(const struct acc_args *a, size_t pos, size_t len, char *buf)
{
    if (!a->otype)
        return (const char *)a->origin + (pos - a->pos);
    if (dt_is_block(a->otype, a->ocount))
        return (const char *)dt_start(a->otype, a->origin) + pos;
    dt_pack(a->otype, a->ocount, a->origin, pos, buf, len);
    return buf;
}

static void result_put(const struct acc_args *a, size_t pos, const void *old, size_t len)
{
    if (!a->rtype)
        memcpy((char *)a->result + (pos - a->pos), old, len);
    else
        dt_unpack(a->rtype, a->rcount, a->result, pos, old, len);
}

/* --- one batch under its lock ---------------------------------------------------------------- */

static void batch_mapped(const struct batch *b, const char *in)
{
    const struct acc_args *a = b->a;
    size_t done = 0;
    if (!a->fetches) {
        sched_point(); /* the stripes exclude the others */
        dt_op_pieces(a->op, a->elem, in, (uintptr_t)b->t->base, b->piece, b->n);
        return;
    }
    for (unsigned i = 0; i < b->n; i++) {
        char *mem = (char *)((uintptr_t)b->t->base + (uintptr_t)b->piece[i].iov_base);
        size_t len = b->piece[i].iov_len;
        result_put(a, b->pos + done, mem, len);
        sched_point();
        apply_plain(a->op, a->elem, in ? in + done : NULL, mem, len);
        done += len;
    }
}

static int batch_cma(struct batch *b, const char *in)
{
    const struct acc_args *a = b->a;
    char work[ACC_STRIPE_BYTES + ELEM_MAX];
    struct iovec local = {work, b->bytes}, remote[PIECES];
    for (unsigned i = 0; i < b->n; i++)
        remote[i] = (struct iovec){
            (void *)(uintptr_t)(b->t->remote + (uintptr_t)b->piece[i].iov_base),
            b->piece[i].iov_len};
    int read = a->fetches || (a->op->index != DT_REPLACE && a->op->index != DT_NO_OP);
    int err = read ? mem_cma_read(b->t->host_index, &local, 1, remote, b->n) : 0;
    if (err)
        return err;
    if (a->fetches)
        result_put(a, b->pos, work, b->bytes);
    if (a->op->index == DT_NO_OP)
        return 0;
    apply_plain(a->op, a->elem, in, work, b->bytes);
    return mem_cma_write(b->t->host_index, &local, 1, remote, b->n);
}

/* Apply the batch and empty it. Origin data are gathered before the lock is taken. */
static int batch_run(struct batch *b)
{
    char buf[ACC_STRIPE_BYTES + ELEM_MAX];
    if (!b->n)
        return 0;
    int err = 0;
    const char *in = b->a->op->index == DT_NO_OP ? NULL : origin_at(b->a, b->pos, b->bytes, buf);
    acc_batch_lock(b, 1);
    if (b->t->host_index < 0)
        batch_mapped(b, in);
    else
        err = batch_cma(b, in);
    acc_batch_lock(b, 0);
    b->pos += b->bytes;
    b->bytes = 0;
    b->n = 0;
    return err;
}

/* Add a piece that lies in stripes [first, last]. */
static int batch_add(struct batch *b, uint64_t off, size_t len, uint64_t first, uint64_t last)
{
    if (b->n && (b->first != first || b->last != last || b->n == PIECES ||
                 b->bytes + len > ACC_STRIPE_BYTES)) {
        int err = batch_run(b);
        if (err)
            return err;
    }
    b->first = first;
    b->last = last;
    b->piece[b->n++] = (struct iovec){(void *)(uintptr_t)off, len};
    b->bytes += len;
    return 0;
}

/* A block of whole elements at window offset off: cut at stripe boundaries; an element across one
 * is a batch. */
static int batch_block(struct batch *b, uint64_t off, size_t len)
{
    size_t e = b->a->elem->elem.bytes;
    if (b->n && b->n < PIECES && off / ACC_STRIPE_BYTES == b->first && b->first == b->last &&
        (off + len - 1) / ACC_STRIPE_BYTES == b->first && b->bytes + len <= ACC_STRIPE_BYTES) {
        b->piece[b->n++] = (struct iovec){(void *)(uintptr_t)off, len};
        b->bytes += len;
        return 0;
    }
    /* Work without buffer takes a few stripes at a time: a locked instruction waits for all stores
     * before it. */
    int in_place = b->t->host_index < 0 && (!b->a->otype || dt_is_block(b->a->otype, b->a->ocount));
    while (len > 0) {
        uint64_t s = off / ACC_STRIPE_BYTES;
        /* to the end of the last stripe */
        uint64_t room = (s + (in_place ? ACC_AT_ONCE : 1)) * ACC_STRIPE_BYTES - off;
        size_t whole = len < room ? len : (size_t)(room / e) * e;
        size_t part = whole ? whole : e; /* none fits: the element crosses */
        int err = batch_add(b, off, part, s, (off + part - 1) / ACC_STRIPE_BYTES);
        if (err)
            return err;
        off += part;
        len -= part;
    }
    return 0;
}

/* --- elements by the processor's atomics ----------------------------------------------------- */

static int apply_atomics(const struct acc_target *t, const struct acc_args *a, uint64_t off,
                         size_t len, size_t pos)
{
    size_t e = a->elem->elem.bytes;
    char buf[ELEM_MAX], old[ELEM_MAX];
    for (size_t i = 0; i < len; i += e) {
        char *mem = (char *)((uintptr_t)t->base + (uintptr_t)off + i);
        const char *in = a->op->index == DT_NO_OP ? NULL : origin_at(a, pos + i, e, buf);
        if ((uintptr_t)mem % e) {
            /* misaligned: every process takes the stripe for it */
            struct batch b = {.t = t, .a = a, .pos = pos + i};
            int err = batch_block(&b, off + i, e);
            if (!err)
                err = batch_run(&b);
            if (err)
                return err;
            continue;
        }
        acc_elem_atomic(a->op, a->elem, in, mem, old);
        if (a->fetches)
            result_put(a, pos + i, old, e);
    }
    return 0;
}

/* --- pair types: value and index with a gap, element by element ------------------------------ */

/* One element to or from its place in `work`, block by block. Another process may store at any time
 * to gaps and to padding behind a value, or they may not be memory at all. */
static int pair_cma(const struct acc_target *t, const struct dt_type *elem, uint64_t off,
                    char *work, int write)
{
    enum { BLOCKS = 2 };
    struct iovec local[BLOCKS], remote[BLOCKS];
    size_t got, n = dt_iov(elem, 1, work, 0, elem->elem.bytes, local, BLOCKS, &got);
    for (size_t i = 0; i < n; i++) {
        uint64_t at = (uint64_t)((char *)local[i].iov_base - work);
        remote[i] = (struct iovec){(void *)(uintptr_t)(t->remote + off + at), local[i].iov_len};
    }
    return write ? mem_cma_write(t->host_index, local, n, remote, n)
                 : mem_cma_read(t->host_index, local, n, remote, n);
}

static int pair_one(const struct acc_target *t, const struct acc_args *a, uint64_t off, size_t pos)
{
    const struct dt_type *elem = a->elem;
    size_t span = (size_t)elem->true_ub, bytes = elem->elem.bytes; /* its data begin at 0 */
    struct batch b = {.t = t, .a = a, .first = off / ACC_STRIPE_BYTES,
                      .last = (off + span - 1) / ACC_STRIPE_BYTES};
    char work[ELEM_MAX], packed[ELEM_MAX], in_buf[ELEM_MAX];
    int cma = t->host_index >= 0, changes = a->op->index != DT_NO_OP;
    char *mem = cma ? work : (char *)((uintptr_t)t->base + (uintptr_t)off);
    const char *in = changes ? origin_at(a, pos, bytes, in_buf) : NULL;
    int err = 0;
    acc_batch_lock(&b, 1);
    if (cma && (a->fetches || a->op->index != DT_REPLACE))
        err = pair_cma(t, elem, off, work, 0);
    if (!err && a->fetches) {
        dt_pack(elem, 1, mem, 0, packed, bytes);
        result_put(a, pos, packed, bytes);
    }
    if (!err && changes) {
        dt_op_unpack(a->op, elem, 1, mem, 0, in, bytes);
        if (cma)
            err = pair_cma(t, elem, off, work, 1);
    }
    acc_batch_lock(&b, 0);
    return err;
}

static int apply_pairs(const struct acc_target *t, const struct acc_args *a)
{
    size_t bytes = a->elem->elem.bytes;
    for (size_t pos = a->pos; pos < a->pos + a->len; pos += bytes) {
        struct iovec iov;
        size_t got;
        /* The value comes first in an element, so its first block starts where the element
         * starts. */
        if (dt_iov(a->ttype, a->tcount, NULL, pos, bytes, &iov, 1, &got) == 0)
            return -EFAULT;
        int err = pair_one(t, a, a->off + (uint64_t)(uintptr_t)iov.iov_base, pos);
        if (err)
            return err;
    }
    return 0;
}

/* --- entry ----------------------------------------------------------------------------------- */

int acc_apply(const struct acc_target *t, const struct acc_args *a)
{
    if (a->len == 0 || (a->op->index == DT_NO_OP && !a->fetches))
        return 0;
    if (a->elem->elem.kind == DT_PAIR)
        return apply_pairs(t, a);
    int atomics = by_atomics(t, a->elem);
    struct batch b = {.t = t, .a = a, .pos = a->pos};
    for (size_t pos = a->pos; pos < a->pos + a->len;) {
        struct iovec iov[16];
        size_t got = 0;
        size_t n = dt_iov(a->ttype, a->tcount, NULL, pos, a->pos + a->len - pos, iov, 16, &got);
        if (n == 0)
            break;
        size_t at = pos;
        for (size_t i = 0; i < n; i++) {
            uint64_t off = a->off + (uint64_t)(uintptr_t)iov[i].iov_base;
            int err = atomics ? apply_atomics(t, a, off, iov[i].iov_len, at)
                              : batch_block(&b, off, iov[i].iov_len);
            if (err)
                return err;
            at += iov[i].iov_len;
        }
        pos += got;
    }
    return batch_run(&b);
}
