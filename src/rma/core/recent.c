/* recent.c - the memory handles that the inline path finds (near/recent.h). */
#include "rma/core/core.h"

#include "base/atomic.h"

const struct rma_recent rma_recent_none = {
    .base = RMA_NO_BASE, .shown = (const _Atomic uint64_t *)&rma_recent_none.size};

void rma_recent_set(struct rma_recent *r, uint64_t base, uint64_t size,
                    const _Atomic uint64_t *shown, uint64_t at)
{
    if (r->base == base)
        return;
    __atomic_store_n(&r->base, RMA_NO_BASE, __ATOMIC_RELAXED);
    fence_release(); /* pairs with the last fence in rma_recent_at() */
    __atomic_store_n(&r->shown, shown, __ATOMIC_RELAXED);
    __atomic_store_n(&r->size, size, __ATOMIC_RELAXED);
    __atomic_store_n(&r->from, (uintptr_t)(at - base), __ATOMIC_RELAXED);
    __atomic_store_n(&r->base, base, __ATOMIC_RELEASE); /* pairs with rma_recent_at() */
}

void rma_recents_hide(struct rma_win *w)
{
    for (unsigned i = 0; w->near.near && i < w->nears; i++)
        rma_recent_hide(&w->near.near[i]);
}
