/* acc_atomic.c - one element at a time: by the processor's atomics, or under its stripe. acc_near()
 * and acc_near_cas() belong to the near path. Start with acc_near() and acc_element(). */
#include "rma/shared/acc_types.h"

#include <string.h>

#include "base/proc.h"
#include "mem/mem.h"
#include "obj/obj.h"
#include "rma/near/near.h"

int acc_ctl_atomic(const struct acc_ctl *c)
{
    return c->atomics != 0;
}

int acc_type_atomic(const struct dt_type *elem)
{
    switch (elem->elem.kind) {
    case DT_SIGNED:
    case DT_UNSIGNED:
    case DT_FLOAT:
    case DT_LOGICAL:
    case DT_BYTE:
    case DT_CHAR:
        break;
    default: return 0;
    }
    unsigned n = elem->elem.bytes;
    return n == 1 || n == 2 || n == 4 || n == 8;
}

/* --- read, modify, write --------------------------------------------------------------------- */

/* One read-modify-write by compare-and-swap. Relaxed except for acquire and release on success:
 * only the full fence of a synchronization call orders an element with other data. */
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

void acc_elem_atomic(const struct dt_op *op, const struct dt_type *elem, const char *in, char *mem,
                     char *old)
{
    int integer = elem->elem.kind == DT_SIGNED || elem->elem.kind == DT_UNSIGNED;
    switch (elem->elem.bytes) {
    case 1: ACC_LOOP(uint8_t); break;
    case 2: ACC_LOOP(uint16_t); break;
    case 4: ACC_LOOP(uint32_t); break;
    default:
        if (integer && op->index == DT_SUM) { /* the usual counter */
            uint64_t v;
            memcpy(&v, in, 8);
            v = atomic_fetch_add_explicit((_Atomic(uint64_t) *)(void *)mem, v,
                                          memory_order_acq_rel);
            memcpy(old, &v, 8);
        } else {
            ACC_LOOP(uint64_t);
        }
    }
}

static void one_atomic(const struct dt_op *op, const struct dt_type *elem, const void *origin,
                       char *mem, void *result)
{
    char old[ELEM_MAX];
    acc_elem_atomic(op, elem, origin, mem, old);
    if (result)
        memcpy(result, old, elem->elem.bytes);
}

/* --- the near path --------------------------------------------------------------------------- */

/* For any element and operation, and if the stripe is held. */
static __attribute__((noinline)) int near_any(const struct rma_near *n, uint64_t off,
                                              const struct dt_type *elem, const void *origin,
                                              void *result, unsigned op)
{
    struct acc_target t = acc_mapped(n->acc, n->base);
    return acc_element(&t, off, elem, proc->obj->table[OBJ_OP].builtin[op], origin, result);
}

static __attribute__((noinline)) int near_cas_any(const struct rma_near *n, uint64_t off,
                                                  const struct dt_type *elem, const void *origin,
                                                  const void *compare, void *result)
{
    struct acc_target t = acc_mapped(n->acc, n->base);
    return acc_cas(&t, off, elem, origin, compare, result);
}

/* Take the stripe of an element of e bytes inside it, if it is free. Else NULL: take the slow path,
 * which waits. Never NULL in the simulator: no other fiber runs between take and release. */
static inline struct stripe *near_take(const struct rma_near *n, uint64_t off, size_t e)
{
    struct acc_ctl *c = n->acc;
    unsigned seen = 0;
    if (__builtin_expect(sched != NULL, 0) || __builtin_expect(c->atomics, 0) ||
        __builtin_expect(off % ACC_STRIPE_BYTES > ACC_STRIPE_BYTES - e, 0))
        return NULL;
    struct stripe *s = &c->stripe[off / ACC_STRIPE_BYTES & c->mask];
    /* As in stripe_take(). */
    return __builtin_expect(
               atomic_compare_exchange_strong_explicit(&s->word, &seen, (unsigned)n->me,
                                                       memory_order_acquire, memory_order_relaxed),
               1)
               ? s
               : NULL;
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

int acc_near(const struct rma_near *n, uint64_t off, const struct dt_type *elem, const void *origin,
             void *result, unsigned op)
{
    const uint8_t *e = &elem->elem.kind; /* kind and bytes */
    enum { KIND = 0, BYTES = 1 };
    _Static_assert(offsetof(struct dt_elem, kind) == KIND &&
                       offsetof(struct dt_elem, bytes) == BYTES,
                   "dt_elem");
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

int acc_near_cas(const struct rma_near *n, uint64_t off, const struct dt_type *elem,
                 const void *origin, const void *compare, void *result)
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

/* --- one element ----------------------------------------------------------------------------- */

int acc_element(const struct acc_target *t, uint64_t off, const struct dt_type *elem,
            const struct dt_op *op, const void *origin, void *result)
{
    size_t e = elem->elem.bytes;
    uint64_t s = off / ACC_STRIPE_BYTES;
    char *mem = (char *)((uintptr_t)t->base + (uintptr_t)off);
    if (by_atomics(t, elem) && (uintptr_t)mem % e == 0) {
        one_atomic(op, elem, origin, mem, result);
        return 0;
    }
    if (elem->elem.kind == DT_PAIR || t->host_index >= 0 || (off + e - 1) / ACC_STRIPE_BYTES != s) {
        struct acc_args a = {.elem = elem, .op = op, .off = off, .tcount = 1, .ttype = elem,
                             .len = e, .origin = origin, .ocount = 1, .otype = elem,
                             .fetches = result != NULL, .result = result, .rcount = 1,
                             .rtype = elem};
        return acc_apply(t, &a);
    }
    struct stripe *lock = &t->ctl->stripe[s & t->ctl->mask];
    stripe_take(lock, (unsigned)mem_host_index() + 1);
    one_locked(op, elem, origin, mem, result);
    stripe_give(lock);
    return 0;
}

/* Compare and swap by one locked instruction, if elements go by atomics. */
#define ACC_SWAP(T)                                                                                \
    do {                                                                                           \
        T want, expect;                                                                            \
        memcpy(&want, origin, sizeof want);                                                        \
        memcpy(&expect, compare, sizeof expect);                                                   \
        atomic_compare_exchange_strong_explicit((_Atomic(T) *)(void *)mem, &expect, want,          \
                                                memory_order_acq_rel, memory_order_acquire);       \
        memcpy(result, &expect, sizeof expect);                                                    \
    } while (0)

int acc_cas(const struct acc_target *t, uint64_t off, const struct dt_type *elem,
            const void *origin, const void *compare, void *result)
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
    struct batch b = {.t = t, .first = off / ACC_STRIPE_BYTES,
                      .last = (off + e - 1) / ACC_STRIPE_BYTES};
    struct iovec local = {work, e}, remote = {(void *)(uintptr_t)(t->remote + off), e};
    int cma = t->host_index >= 0, err = 0;
    acc_batch_lock(&b, 1);
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
    acc_batch_lock(&b, 0);
    return err;
}
