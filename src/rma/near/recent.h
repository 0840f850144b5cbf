/* recent.h - the memory handle of a near target that was used last, as the inline path finds it
 * (part of near.h). handle_near.c writes it; see there. */
#ifndef RMA_NEAR_RECENT_H
#define RMA_NEAR_RECENT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/atomic.h"

/* A mapped handle. No base is given twice: one that is read before and after the rest belongs to
 * the rest. */
struct rma_recent {
    _Alignas(64) uint64_t base; /* RMA_NO_BASE: there is none, or it is being written */
    const _Atomic uint64_t *shown; /* equal to base while the handle lives */
    uint64_t size;
    uintptr_t from;             /* a displacement in it, plus this, is an address here */
};
enum { RMA_NO_BASE = 1 };       /* no handle, and not what the place of an ended one has */

/* A word that another thread may change. x86-64 loads in order, so a plain load is enough there and
 * folds into a comparison. */
#if defined(__x86_64__) && !defined(BASE_TSAN)
#define RMA_NEAR_WORD(x) (*(__typeof__(*(x)) *)(uintptr_t)(x))
#else
#define RMA_NEAR_WORD(x) __atomic_load_n((x), __ATOMIC_ACQUIRE)
#endif

/* 1: the handle has `bytes` bytes at disp; *at is where they are. Else 0. Besides what is compared
 * it needs one register: with more, MPI_Put would need a frame. */
static inline int rma_recent_at(const struct rma_recent *r, int64_t disp, uint64_t bytes, char **at)
{
    uint64_t base = RMA_NEAR_WORD(&r->base), end;
    /* The order of these loads pairs with that of the stores in rma_recent_set(), and with the
     * release in hide() (window/memhandle.c). */
    atomic_thread_fence(memory_order_acquire);
    if (__builtin_expect(RMA_NEAR_WORD((const uint64_t *)RMA_NEAR_WORD(&r->shown)) != base, 0) ||
        __builtin_expect(__builtin_add_overflow((uint64_t)disp - base, bytes, &end), 0) ||
        __builtin_expect(end > RMA_NEAR_WORD(&r->size), 0))
        return 0;
    *at = (char *)((uint64_t)disp + RMA_NEAR_WORD(&r->from));
    atomic_thread_fence(memory_order_acquire); /* pairs with the fence in rma_recent_set() */
    return __builtin_expect(RMA_NEAR_WORD(&r->base) == base, 1);
}

/* Nothing is found there. */
extern const struct rma_recent rma_recent_none;
/* Only under proc->lock, or without threads. Other threads may be reading. */
void rma_recent_set(struct rma_recent *r, uint64_t base, uint64_t size,
                    const _Atomic uint64_t *shown, uint64_t at);

#endif
