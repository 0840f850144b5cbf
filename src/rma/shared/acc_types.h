/* acc_types.h - stripes and work under them: what acc.c, acc_atomic.c and acc_delegate.c share
 * (private). */
#ifndef RMA_ACC_TYPES_H
#define RMA_ACC_TYPES_H

#include <string.h>
#include <sys/uio.h>

#include "base/atomic.h"
#include "base/sched.h"
#include "dt/dt.h"
#include "rma/shared/acc.h"
#include "rma/shared/shmlock.h"

struct stripe {
    _Alignas(64) atomic_uint word; /* 0 free, else host index of the holder + 1 */
};

struct acc_ctl {
    uint32_t mask;    /* stripes - 1 */
    uint32_t atomics; /* elements of 1, 2, 4, 8 bytes go by the processor's atomics */
    struct stripe stripe[];
};

enum { PIECES = 64, ELEM_MAX = 64 };

struct batch {
    const struct acc_target *t;
    const struct acc_args *a;
    size_t pos;    /* packed position of the first byte */
    size_t bytes;  /* in all pieces */
    unsigned n;
    uint64_t first, last; /* stripes held: index of offset / ACC_STRIPE_BYTES, not yet masked */
    struct iovec piece[PIECES]; /* iov_base: window offset */
};

/* --- stripes ------------------------------------------------------------------ */

/* The stripe is held: wait for it. */
void acc_stripe_wait(struct stripe *s, unsigned me);
/* Stripes [first, last], ascending by their place in the table; once if two share a place. */
void acc_stripes_lock(struct acc_ctl *c, uint64_t first, uint64_t last, int take);

static inline void acc_batch_lock(const struct batch *b, int take)
{
    acc_stripes_lock(b->t->ctl, b->first, b->last, take);
}

static inline void stripe_take(struct stripe *s, unsigned me)
{
    unsigned seen = 0;
    /* Acquire pairs with the release store in stripe_give(): the last holder's data are seen. */
    if (!atomic_compare_exchange_strong_explicit(&s->word, &seen, me, memory_order_acquire,
                                                 memory_order_relaxed))
        acc_stripe_wait(s, me);
}

static inline void stripe_give(struct stripe *s)
{
    atomic_store_explicit(&s->word, 0, memory_order_release); /* pairs with stripe_take() */
}

/* --- one element ---------------------------------------------------------------- */

static inline void apply_plain(const struct dt_op *op, const struct dt_type *elem, const char *in,
                               char *mem, size_t len)
{
    if (op->index == DT_REPLACE)
        memcpy(mem, in, len);
    else if (op->index != DT_NO_OP)
        dt_op_elems(op, elem, in, mem, len / elem->elem.bytes);
}

/* Memory that some peer does not map has no atomics (acc_ctl_init), so none here is reached by
 * CMA. */
static inline int by_atomics(const struct acc_target *t, const struct dt_type *elem)
{
    return t->ctl->atomics && t->host_index < 0 && acc_type_atomic(elem);
}

/* acc_atomic.c: one read-modify-write by the processor's atomics */
void acc_elem_atomic(const struct dt_op *op, const struct dt_type *elem, const char *in, char *mem,
                     char *old);

/* Under its stripe: an element inside one stripe. */
static inline void one_locked(const struct dt_op *op, const struct dt_type *elem,
                              const void *origin, char *mem, void *result)
{
    if (result)
        memcpy(result, mem, elem->elem.bytes);
    sched_point(); /* the stripe excludes the others */
    apply_plain(op, elem, origin, mem, elem->elem.bytes);
}

static inline __attribute__((always_inline)) void
swap_locked(char *mem, const void *origin, const void *compare, void *result, size_t e)
{
    int same = memcmp(mem, compare, e) == 0;
    memcpy(result, mem, e);
    if (same)
        memcpy(mem, origin, e);
}

static inline void swap_any(char *mem, const void *origin, const void *compare, void *result,
                            size_t e)
{
    switch (e) {
    case 4: swap_locked(mem, origin, compare, result, 4); break;
    case 8: swap_locked(mem, origin, compare, result, 8); break;
    default: swap_locked(mem, origin, compare, result, e);
    }
}

#endif
