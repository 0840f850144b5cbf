#include "rma/shared/acc.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>

#include "base/atomic.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "mem/mem.h"
#include "rma/near/near.h"
#include "rma/shared/shmlock.h"

/* Work is cut into batches: pieces of the target that lie in one stripe (or one element that crosses
 * into the next; long ones that are in place at both ends: up to ACC_AT_ONCE stripes), at most ACC_STRIPE_BYTES together, applied under the lock of their stripe(s).
 *
 *   range of packed bytes --dt_iov--> blocks --cut at stripes--> batch --lock--> fetch old, apply --unlock-->
 *
 * Mapped memory is worked on in place.  By CMA the batch is read, worked on and written back. */

struct stripe {
    _Alignas(64) atomic_uint word; /* 0 free, else host index of the holder + 1 */
};

struct acc_ctl {
    uint32_t mask;    /* stripes - 1 */
    uint32_t atomics; /* elements of 1, 2, 4, 8 bytes go by the processor's atomics */
    struct stripe stripe[];
};

enum { PIECES = 64, ELEM_MAX = 64, ACC_AT_ONCE = 4 };

struct batch {
    const struct acc_target *t;
    const struct acc_args *a;
    size_t pos;    /* packed position of the first byte */
    size_t bytes;  /* in all pieces */
    unsigned n;
    uint64_t first, last; /* stripes held: index of offset / ACC_STRIPE_BYTES, not yet masked */
    struct iovec piece[PIECES]; /* iov_base: window offset */
};

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
    /* Chosen by test/perf/layouts.sh (doc/results.md): one addition 4.6 ns under a stripe, 2.9 by an atomic, 33.3 and
     * 16.2 with two processes at it; 64 KiB 5639.2 ns under stripes of 4 KiB, 24903.3 by atomics.  So stripes, unless the user
     * says that single elements are all there will be. */
    c->atomics = (hints & ACC_ALL_MAPPED) && (hints & ACC_SINGLE_ELEMENTS);
    for (unsigned i = 0; i < stripes; i++)
        atomic_init(&c->stripe[i].word, 0);
}

/* --- stripes ------------------------------------------------------------------ */

/* The stripe is held: wait for it. */
static __attribute__((noinline)) void stripe_wait(struct stripe *s, unsigned me)
{
    for (unsigned turn = 0;; turn++) {
        unsigned seen = atomic_load_explicit(&s->word, memory_order_relaxed); /* no locked instruction while it is held */
        if (!seen && atomic_compare_exchange_weak_explicit(&s->word, &seen, me, memory_order_acquire, memory_order_relaxed))
            return;
        /* A dead holder never comes back: its stripe is taken over from exactly the value seen. */
        if (seen && turn % SHM_DEAD_LOOK == SHM_DEAD_LOOK - 1 && mem_holder_died(seen) &&
            atomic_compare_exchange_strong_explicit(&s->word, &seen, me, memory_order_acquire, memory_order_relaxed))
            return;
        if (seen)
            thread_pause(turn);
    }
}

static inline void stripe_take(struct stripe *s, unsigned me)
{
    unsigned seen = 0;
    /* Acquire pairs with the release store in stripe_give(): the last holder's data is seen. */
    if (!atomic_compare_exchange_strong_explicit(&s->word, &seen, me, memory_order_acquire, memory_order_relaxed))
        stripe_wait(s, me);
}

static void stripe_give(struct stripe *s)
{
    atomic_store_explicit(&s->word, 0, memory_order_release); /* pairs with stripe_take() */
}

static void stripes(struct acc_ctl *c, uint64_t from, uint64_t end, int take, unsigned me)
{
    for (uint64_t i = from; i < end; i++)
        if (take)
            stripe_take(&c->stripe[i], me);
        else
            stripe_give(&c->stripe[i]);
}

/* The stripes of a batch, ascending by their place in the table; once where they fall together. */
static void batch_lock(const struct batch *b, int take)
{
    struct acc_ctl *c = b->t->ctl;
    uint64_t places = (uint64_t)c->mask + 1, n = b->last - b->first + 1, at = b->first & c->mask;
    unsigned me = take ? (unsigned)mem_host_index() + 1 : 0;
    if (n >= places) {
        stripes(c, 0, places, take, me);
        return;
    }
    if (at + n > places) /* those that begin again at the front */
        stripes(c, 0, at + n - places, take, me);
    stripes(c, at, at + n < places ? at + n : places, take, me);
}

/* --- origin and result of a packed range ---------------------------------------- */

/* Origin data of packed bytes [pos, pos+len): in place where it is contiguous, else packed into buf. */
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

/* --- one batch under its lock ------------------------------------------------------ */

static void apply_plain(const struct dt_op *op, const struct dt_type *elem, const char *in, char *mem, size_t len)
{
    if (op->index == DT_REPLACE)
        memcpy(mem, in, len);
    else if (op->index != DT_NO_OP)
        dt_op_elems(op, elem, in, mem, len / elem->elem.bytes);
}

static void batch_mapped(const struct batch *b, const char *in)
{
    const struct acc_args *a = b->a;
    size_t done = 0;
    for (unsigned i = 0; i < b->n; i++) {
        char *mem = (char *)((uintptr_t)b->t->base + (uintptr_t)b->piece[i].iov_base);
        size_t len = b->piece[i].iov_len;
        if (a->fetches)
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
        remote[i] = (struct iovec){(void *)(uintptr_t)(b->t->remote + (uintptr_t)b->piece[i].iov_base),
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

/* Apply what the batch holds and empty it.  Origin data is gathered before the lock is taken. */
static int batch_run(struct batch *b)
{
    char buf[ACC_STRIPE_BYTES + ELEM_MAX];
    if (!b->n)
        return 0;
    int err = 0;
    const char *in = b->a->op->index == DT_NO_OP ? NULL : origin_at(b->a, b->pos, b->bytes, buf);
    batch_lock(b, 1);
    if (b->t->host_index < 0)
        batch_mapped(b, in);
    else
        err = batch_cma(b, in);
    batch_lock(b, 0);
    b->pos += b->bytes;
    b->bytes = 0;
    b->n = 0;
    return err;
}

/* Add a piece that lies in stripes [first, last]. */
static int batch_add(struct batch *b, uint64_t off, size_t len, uint64_t first, uint64_t last)
{
    if (b->n && (b->first != first || b->last != last || b->n == PIECES || b->bytes + len > ACC_STRIPE_BYTES)) {
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

/* A block of whole elements at window offset off: cut at stripe boundaries, an element across one by itself. */
static int batch_block(struct batch *b, uint64_t off, size_t len)
{
    size_t e = b->a->elem->elem.bytes;
    /* What needs no buffer takes a few stripes at a time: a locked instruction waits for all stores before it. */
    int in_place = b->t->host_index < 0 && (!b->a->otype || dt_is_block(b->a->otype, b->a->ocount));
    while (len > 0) {
        uint64_t s = off / ACC_STRIPE_BYTES;
        uint64_t room = (s + (in_place ? ACC_AT_ONCE : 1)) * ACC_STRIPE_BYTES - off; /* to the end of the last stripe */
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

/* --- elements by the processor's atomics -------------------------------------------- */

int acc_ctl_atomic(const struct acc_ctl *c)
{
    return c->atomics != 0;
}

int acc_type_atomic(const struct dt_type *elem)
{
    switch (elem->elem.kind) {
    case DT_SIGNED: case DT_UNSIGNED: case DT_FLOAT: case DT_LOGICAL: case DT_BYTE: case DT_CHAR: break;
    default: return 0;
    }
    unsigned n = elem->elem.bytes;
    return n == 1 || n == 2 || n == 4 || n == 8;
}

/* Memory that some peer does not map has no atomics (acc_ctl_init), so none is reached by CMA here. */
static int by_atomics(const struct acc_target *t, const struct dt_type *elem)
{
    return t->ctl->atomics && t->host_index < 0 && acc_type_atomic(elem);
}

/* One read-modify-write by compare-and-swap.  Relaxed except for acquire and release on success: an element is
 * ordered with other data only by synchronization calls, whose full fences do that. */
#define ACC_LOOP(T)                                                                              \
    do {                                                                                         \
        _Atomic(T) *p = (_Atomic(T) *)(void *)mem;                                               \
        T seen = atomic_load_explicit(p, memory_order_relaxed), want;                            \
        do {                                                                                     \
            want = seen;                                                                         \
            apply_plain(op, elem, in, (char *)&want, sizeof want);                               \
            sched_point();                                                                       \
        } while (!atomic_compare_exchange_weak_explicit(p, &seen, want, memory_order_acq_rel,    \
                                                        memory_order_relaxed));                  \
        memcpy(old, &seen, sizeof seen);                                                         \
    } while (0)

static void elem_atomic(const struct dt_op *op, const struct dt_type *elem, const char *in, char *mem, char *old)
{
    int integer = elem->elem.kind == DT_SIGNED || elem->elem.kind == DT_UNSIGNED;
    switch (elem->elem.bytes) {
    case 1: ACC_LOOP(uint8_t); break;
    case 2: ACC_LOOP(uint16_t); break;
    case 4: ACC_LOOP(uint32_t); break;
    default:
        if (integer && op->index == DT_SUM) { /* the counter everybody has */
            uint64_t v;
            memcpy(&v, in, 8);
            v = atomic_fetch_add_explicit((_Atomic(uint64_t) *)(void *)mem, v, memory_order_acq_rel);
            memcpy(old, &v, 8);
        } else {
            ACC_LOOP(uint64_t);
        }
    }
}

static int apply_atomics(const struct acc_target *t, const struct acc_args *a, uint64_t off, size_t len, size_t pos)
{
    size_t e = a->elem->elem.bytes;
    char buf[ELEM_MAX], old[ELEM_MAX];
    for (size_t i = 0; i < len; i += e) {
        char *mem = (char *)((uintptr_t)t->base + (uintptr_t)off + i);
        const char *in = a->op->index == DT_NO_OP ? NULL : origin_at(a, pos + i, e, buf);
        if ((uintptr_t)mem % e) { /* misaligned: reached so by everybody, hence under the stripe by everybody */
            struct batch b = {.t = t, .a = a, .pos = pos + i};
            int err = batch_block(&b, off + i, e);
            if (!err)
                err = batch_run(&b);
            if (err)
                return err;
            continue;
        }
        elem_atomic(a->op, a->elem, in, mem, old);
        if (a->fetches)
            result_put(a, pos + i, old, e);
    }
    return 0;
}

/* --- pair types: value and index with a gap, element by element ----------------------- */

/* One element to or from its place in `work`, by its blocks: what lies in a gap, or behind a value whose extent is padded, is another's
 * to store at any time, or is no memory at all. */
static int pair_cma(const struct acc_target *t, const struct dt_type *elem, uint64_t off, char *work, int write)
{
    enum { BLOCKS = 2 };
    struct iovec local[BLOCKS], remote[BLOCKS];
    size_t got, n = dt_iov(elem, 1, work, 0, elem->elem.bytes, local, BLOCKS, &got);
    for (size_t i = 0; i < n; i++) {
        uint64_t at = (uint64_t)((char *)local[i].iov_base - work);
        remote[i] = (struct iovec){(void *)(uintptr_t)(t->remote + off + at), local[i].iov_len};
    }
    return write ? mem_cma_write(t->host_index, local, n, remote, n) : mem_cma_read(t->host_index, local, n, remote, n);
}

static int pair_one(const struct acc_target *t, const struct acc_args *a, uint64_t off, size_t pos)
{
    const struct dt_type *elem = a->elem;
    size_t span = (size_t)elem->true_ub, bytes = elem->elem.bytes; /* its data begin at 0 */
    struct batch b = {.t = t, .a = a, .first = off / ACC_STRIPE_BYTES, .last = (off + span - 1) / ACC_STRIPE_BYTES};
    char work[ELEM_MAX], packed[ELEM_MAX], in_buf[ELEM_MAX];
    int cma = t->host_index >= 0, changes = a->op->index != DT_NO_OP;
    char *mem = cma ? work : (char *)((uintptr_t)t->base + (uintptr_t)off);
    const char *in = changes ? origin_at(a, pos, bytes, in_buf) : NULL;
    int err = 0;
    batch_lock(&b, 1);
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
    batch_lock(&b, 0);
    return err;
}

static int apply_pairs(const struct acc_target *t, const struct acc_args *a)
{
    size_t bytes = a->elem->elem.bytes;
    for (size_t pos = a->pos; pos < a->pos + a->len; pos += bytes) {
        struct iovec iov;
        size_t got;
        /* The value comes first in an element, so its first block starts where the element starts. */
        if (dt_iov(a->ttype, a->tcount, NULL, pos, bytes, &iov, 1, &got) == 0)
            return -EFAULT;
        int err = pair_one(t, a, a->off + (uint64_t)(uintptr_t)iov.iov_base, pos);
        if (err)
            return err;
    }
    return 0;
}

/* --- entries --------------------------------------------------------------------------- */

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
            int err = atomics ? apply_atomics(t, a, off, iov[i].iov_len, at) : batch_block(&b, off, iov[i].iov_len);
            if (err)
                return err;
            at += iov[i].iov_len;
        }
        pos += got;
    }
    return batch_run(&b);
}

/* Under its stripe: an element that lies in one. */
static void one_locked(const struct dt_op *op, const struct dt_type *elem, const void *origin, char *mem, void *result)
{
    if (result)
        memcpy(result, mem, elem->elem.bytes);
    sched_point(); /* the stripe holds others off */
    apply_plain(op, elem, origin, mem, elem->elem.bytes);
}

static void one_atomic(const struct dt_op *op, const struct dt_type *elem, const void *origin, char *mem, void *result)
{
    char old[ELEM_MAX];
    elem_atomic(op, elem, origin, mem, old);
    if (result)
        memcpy(result, old, elem->elem.bytes);
}

static inline __attribute__((always_inline)) void swap_locked(char *mem, const void *origin, const void *compare,
                                                              void *result, size_t e)
{
    int same = memcmp(mem, compare, e) == 0;
    memcpy(result, mem, e);
    if (same)
        memcpy(mem, origin, e);
}

static inline void swap_any(char *mem, const void *origin, const void *compare, void *result, size_t e)
{
    switch (e) {
    case 4: swap_locked(mem, origin, compare, result, 4); break;
    case 8: swap_locked(mem, origin, compare, result, 8); break;
    default: swap_locked(mem, origin, compare, result, e);
    }
}

/* Whatever the element, the operation and whoever holds the stripe. */
static __attribute__((noinline)) int near_any(const struct rma_near *n, uint64_t off, const struct dt_type *elem,
                                              const void *origin, void *result, unsigned op)
{
    struct acc_target t = {.ctl = n->acc, .base = n->base, .host_index = -1};
    return acc_one(&t, off, elem, proc->obj->table[OBJ_OP].builtin[op], origin, result);
}

static __attribute__((noinline)) int near_cas_any(const struct rma_near *n, uint64_t off, const struct dt_type *elem,
                                                  const void *origin, const void *compare, void *result)
{
    struct acc_target t = {.ctl = n->acc, .base = n->base, .host_index = -1};
    return acc_cas(&t, off, elem, origin, compare, result);
}

/* Take the stripe of an element of e bytes that lies in one, if it is free; else NULL, and then the long way, which
 * waits.  Never in the simulator: no other runs between taking and giving here. */
static inline struct stripe *near_take(const struct rma_near *n, uint64_t off, size_t e)
{
    struct acc_ctl *c = n->acc;
    unsigned seen = 0;
    if (__builtin_expect(sched != NULL, 0) || __builtin_expect(c->atomics, 0) ||
        __builtin_expect(off % ACC_STRIPE_BYTES > ACC_STRIPE_BYTES - e, 0))
        return NULL;
    struct stripe *s = &c->stripe[off / ACC_STRIPE_BYTES & c->mask];
    /* As in stripe_take(). */
    return __builtin_expect(atomic_compare_exchange_strong_explicit(&s->word, &seen, (unsigned)n->me, memory_order_acquire,
                                                                    memory_order_relaxed), 1) ? s : NULL;
}

/* One element of type T; x: the origin's, y: the window's. */
#define NEAR(T, EXPR)                                                             \
    do {                                                                          \
        typedef T any __attribute__((aligned(1), may_alias));                     \
        struct stripe *lock = near_take(n, off, sizeof(T));                       \
        if (__builtin_expect(!lock, 0))                                           \
            break;                                                                \
        any *mem = (any *)(n->base + off);                                        \
        const T x = *(const any *)origin, y = *mem;                               \
        if (result)                                                               \
            *(any *)result = y;                                                   \
        *mem = (EXPR);                                                            \
        stripe_give(lock);                                                        \
        return 0;                                                                 \
    } while (0)

int acc_near(const struct rma_near *n, uint64_t off, const struct dt_type *elem, const void *origin, void *result,
             unsigned op)
{
    const uint8_t *e = &elem->elem.kind; /* kind and bytes */
    enum { KIND = 0, BYTES = 1 };
    _Static_assert(offsetof(struct dt_elem, kind) == KIND && offsetof(struct dt_elem, bytes) == BYTES, "dt_elem");
    if (op == DT_SUM && e[BYTES] == 8) {
        if (e[KIND] == DT_SIGNED || e[KIND] == DT_UNSIGNED)
            NEAR(uint64_t, x + y);
        else if (e[KIND] == DT_FLOAT)
            NEAR(double, x + y);
    } else if (op == DT_SUM && e[BYTES] == 4) {
        if (e[KIND] == DT_SIGNED || e[KIND] == DT_UNSIGNED)
            NEAR(uint32_t, x + y);
    } else if (op == DT_REPLACE && e[BYTES] == 8) {
        NEAR(uint64_t, ((void)y, x));
    }
    return near_any(n, off, elem, origin, result, op);
}

int acc_near_cas(const struct rma_near *n, uint64_t off, const struct dt_type *elem, const void *origin,
                 const void *compare, void *result)
{
    size_t e = elem->elem.bytes;
    struct stripe *lock = e == 8 || e == 4 ? near_take(n, off, e) : NULL;
    if (__builtin_expect(!lock, 0))
        return near_cas_any(n, off, elem, origin, compare, result);
    if (e == 8)
        swap_locked(n->base + off, origin, compare, result, 8);
    else
        swap_locked(n->base + off, origin, compare, result, 4);
    stripe_give(lock);
    return 0;
}

int acc_one(const struct acc_target *t, uint64_t off, const struct dt_type *elem, const struct dt_op *op, const void *origin,
            void *result)
{
    size_t e = elem->elem.bytes;
    uint64_t s = off / ACC_STRIPE_BYTES;
    char *mem = (char *)((uintptr_t)t->base + (uintptr_t)off);
    if (by_atomics(t, elem) && (uintptr_t)mem % e == 0) {
        one_atomic(op, elem, origin, mem, result);
        return 0;
    }
    if (elem->elem.kind == DT_PAIR || t->host_index >= 0 || (off + e - 1) / ACC_STRIPE_BYTES != s) {
        struct acc_args a = {.elem = elem, .op = op, .off = off, .tcount = 1, .ttype = elem, .len = e,
                             .origin = origin, .ocount = 1, .otype = elem, .fetches = result != NULL, .result = result,
                             .rcount = 1, .rtype = elem};
        return acc_apply(t, &a);
    }
    struct stripe *lock = &t->ctl->stripe[s & t->ctl->mask];
    stripe_take(lock, (unsigned)mem_host_index() + 1);
    one_locked(op, elem, origin, mem, result);
    stripe_give(lock);
    return 0;
}

/* --- by the owner, when asked ------------------------------------------------------------------ */

void acc_asked_init(struct acc_asked *a)
{
    atomic_store_explicit(&a->answered, 0, memory_order_relaxed);
    atomic_store_explicit(&a->back, 0, memory_order_relaxed);
}

int acc_askable(const struct acc_ctl *c, uint64_t off, const struct dt_type *elem)
{
    return !c->atomics && acc_type_atomic(elem) && off % ACC_STRIPE_BYTES <= ACC_STRIPE_BYTES - (uint64_t)elem->elem.bytes;
}

int acc_answer(const struct acc_target *t, const struct acc_question *q)
{
    struct stripe *lock = &t->ctl->stripe[q->off / ACC_STRIPE_BYTES & t->ctl->mask];
    char *mem = (char *)((uintptr_t)t->base + (uintptr_t)q->off);
    sched_point(); /* it may be taken back yet */
    stripe_take(lock, (unsigned)mem_host_index() + 1);
    int open = !acc_taken_back(q->asked, q->number); /* now for good: the stripe orders it with the store in acc_take_back() */
    if (open && boot_dead_count() && boot_dead(q->asker))
        open = 0;
    if (open && q->op)
        one_locked(q->op, q->elem, q->origin, mem, &q->asked->old);
    else if (open)
        swap_any(mem, q->origin, q->compare, &q->asked->old, q->elem->elem.bytes);
    /* Release pairs with the acquire in acc_answered(): the old value is there. */
    if (open)
        atomic_store_explicit(&q->asked->answered, q->number, memory_order_release);
    stripe_give(lock);
    return open;
}

int acc_take_back(struct acc_ctl *c, uint64_t off, struct acc_asked *a, uint32_t number)
{
    struct stripe *lock = &c->stripe[off / ACC_STRIPE_BYTES & c->mask];
    stripe_take(lock, (unsigned)mem_host_index() + 1);
    int open = !acc_answered(a, number);
    if (open)
        atomic_store_explicit(&a->back, number, memory_order_relaxed); /* ordered by the stripe, too */
    stripe_give(lock);
    return open;
}

/* Compare and swap by one locked instruction where elements go by atomics. */
#define ACC_SWAP(T)                                                                                          \
    do {                                                                                                     \
        T want, expect;                                                                                      \
        memcpy(&want, origin, sizeof want);                                                                  \
        memcpy(&expect, compare, sizeof expect);                                                             \
        atomic_compare_exchange_strong_explicit((_Atomic(T) *)(void *)mem, &expect, want,                    \
                                                memory_order_acq_rel, memory_order_acquire);                 \
        memcpy(result, &expect, sizeof expect);                                                              \
    } while (0)

int acc_cas(const struct acc_target *t, uint64_t off, const struct dt_type *elem, const void *origin, const void *compare,
            void *result)
{
    size_t e = elem->elem.bytes;
    char *mem = (char *)((uintptr_t)t->base + (uintptr_t)off), work[ELEM_MAX];
    if (by_atomics(t, elem) && (uintptr_t)mem % e == 0) {
        switch (e) {
        case 1: ACC_SWAP(uint8_t); break;
        case 2: ACC_SWAP(uint16_t); break;
        case 4: ACC_SWAP(uint32_t); break;
        default: ACC_SWAP(uint64_t); break;
        }
        return 0;
    }
    uint64_t s = off / ACC_STRIPE_BYTES;
    if (t->host_index < 0 && (off + e - 1) / ACC_STRIPE_BYTES == s) {
        struct stripe *lock = &t->ctl->stripe[s & t->ctl->mask];
        stripe_take(lock, (unsigned)mem_host_index() + 1);
        swap_any(mem, origin, compare, result, e);
        stripe_give(lock);
        return 0;
    }
    struct batch b = {.t = t, .first = off / ACC_STRIPE_BYTES, .last = (off + e - 1) / ACC_STRIPE_BYTES};
    struct iovec local = {work, e}, remote = {(void *)(uintptr_t)(t->remote + off), e};
    int cma = t->host_index >= 0, err = 0;
    batch_lock(&b, 1);
    if (cma) {
        err = mem_cma_read(t->host_index, &local, 1, &remote, 1);
        mem = work;
    }
    if (!err) {
        memcpy(result, mem, e);
        sched_point();
        if (memcmp(result, compare, e) == 0) {
            memcpy(mem, origin, e);
            if (cma)
                err = mem_cma_write(t->host_index, &local, 1, &remote, 1);
        }
    }
    batch_lock(&b, 0);
    return err;
}
