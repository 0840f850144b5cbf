/* acc_mirror.c - elements of a mapped window, as they are now, to copies of them in mapped memory.
 * Start with acc_mirror(). */
#include "rma/shared/acc_types.h"

/* n bytes in the largest words that both places permit: a process that dies here leaves each
 * element of such a word as it was or as it is. */
#define WORDS(T)                                                                                   \
    for (size_t i = 0; i < n; i += sizeof(T))                                                      \
    atomic_store_explicit(                                                                         \
        (_Atomic(T) *)(void *)(to + i),                                                            \
        atomic_load_explicit((const _Atomic(T) *)(const void *)(from + i), memory_order_relaxed),  \
        memory_order_relaxed)

static void words(char *to, const char *from, size_t n)
{
    uintptr_t all = (uintptr_t)to | (uintptr_t)from | n;
    if (all % 8 == 0)
        WORDS(uint64_t);
    else if (all % 4 == 0)
        WORDS(uint32_t);
    else if (all % 2 == 0)
        WORDS(uint16_t);
    else
        memcpy(to, from, n);
}

static void elements(const struct dt_type *elem, char *to, const char *from, size_t count)
{
    size_t e = elem->elem.bytes, span = (size_t)elem->extent;
    if (e == span) {
        words(to, from, count * e);
        return;
    }
    char packed[ELEM_MAX]; /* others may store to the gaps of a pair */
    for (size_t i = 0; i < count; i++) {
        dt_pack(elem, 1, from + i * span, 0, packed, e);
        dt_unpack(elem, 1, to + i * span, 0, packed, e);
    }
}

void acc_mirror(const struct acc_target *t, uint64_t off, const struct dt_type *elem, size_t count,
                char *const *to, int n)
{
    size_t span = (size_t)elem->extent, most = ACC_STRIPE_BYTES / (span * (size_t)n);
    for (size_t done = 0, part; done < count; done += part) {
        uint64_t at = off + done * span, first = at / ACC_STRIPE_BYTES;
        /* those that begin in this stripe; its holder works on one stripe of bytes at most */
        part = (size_t)(((first + 1) * ACC_STRIPE_BYTES - at + span - 1) / span);
        part = part < most ? part : most + !most;
        part = part < count - done ? part : count - done;
        uint64_t last = (at + (part - 1) * span + (uint64_t)elem->true_ub - 1) / ACC_STRIPE_BYTES;
        sched_point(); /* no stripe is held: a process may die between two parts */
        acc_stripes_lock(t->ctl, first, last, 1);
        for (int i = 0; i < n; i++)
            elements(elem, to[i] + done * span, t->base + at, part);
        acc_stripes_lock(t->ctl, first, last, 0);
    }
}
