/* range.c - whether an access lies in a window, and where a near rank's record is. Start with
 * rma_near_place(). */
#include "rma/core/core.h"

#include <errno.h>
#include <stdlib.h>

int rma_offset(uint64_t disp, uint64_t unit, int64_t lo, int64_t hi, uint64_t size, uint64_t *off)
{
    uint64_t start;
    if (disp > INT64_MAX || __builtin_mul_overflow(disp, unit, &start) || start > INT64_MAX)
        return -ERANGE;
    int64_t first, end;
    if (__builtin_add_overflow((int64_t)start, lo, &first) ||
        __builtin_add_overflow((int64_t)start, hi, &end) || first < 0 || (uint64_t)end > size)
        return -ERANGE;
    *off = start;
    return 0;
}

int rma_region_shown(const struct rma_peer *p, uint64_t addr, uint64_t len)
{
    /* Acquire pairs with the release of regions_publish(). An odd or changed version: the peer
     * is changing the list. */
    unsigned v = atomic_load_explicit(&p->version, memory_order_acquire);
    sched_point();
    unsigned n = atomic_load_explicit(&p->nregions, memory_order_relaxed);
    int found = 0;
    if (v & 1 || n > RMA_REGIONS)
        return NOT_HERE;
    for (unsigned i = 0; i < n && !found; i++) {
        uint64_t base = __atomic_load_n(&p->region[i].base, __ATOMIC_RELAXED);
        uint64_t size = __atomic_load_n(&p->region[i].size, __ATOMIC_RELAXED);
        if (addr < base || addr - base >= size)
            continue;
        uint64_t here = size - (addr - base);
        found = len <= here;
        addr += here; /* the rest may lie in the next region, without a gap */
        len -= found ? len : here;
    }
    int more = __atomic_load_n(&p->overflow, __ATOMIC_RELAXED) != 0;
    atomic_thread_fence(memory_order_acquire);
    sched_point();
    if (atomic_load_explicit(&p->version, memory_order_relaxed) != v || (!found && more))
        return NOT_HERE;
    return found;
}

int rma_near_place(struct rma_win *w, const struct rma_near *n, uint64_t disp, int64_t lo,
                   int64_t hi, uint64_t *off)
{
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return !rma_offset(disp, n->disp_unit, lo, hi, n->size, off);
    if (rma_is_handle(disp)) /* of near peers: handle_near.c */
        return n->rank == w->rank ? rma_handle_bytes(w, disp, lo, hi, off) : NOT_HERE;
    *off = disp;
    uint64_t first = disp + (uint64_t)lo, len = (uint64_t)(hi - lo);
    if (n->rank == w->rank)
        return len && rma_win_local(w, first, len) != NULL;
    return rma_region_shown(n->peer, first, len);
}

/* Index of the first region that begins above addr. */
unsigned rma_region_above(const struct rma_win *w, uint64_t addr)
{
    unsigned lo = 0, hi = w->mem.nregions;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (w->mem.regions[mid].base <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct rma_attached *rma_win_region(const struct rma_win *w, uint64_t addr)
{
    unsigned i = rma_region_above(w, addr);
    return i > 0 && addr - w->mem.regions[i - 1].base < w->mem.regions[i - 1].size
               ? &w->mem.regions[i - 1]
               : NULL;
}

/* Memory may span regions that follow each other without a gap. */
char *rma_win_local(struct rma_win *w, uint64_t off, uint64_t len)
{
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return off <= (uint64_t)w->bytes && len <= (uint64_t)w->bytes - off ? (char *)w->base + off
                                                                            : NULL;
    uint64_t at = off, left = len;
    for (unsigned i = rma_region_above(w, off);
         i > 0 && i <= w->mem.nregions && w->mem.regions[i - 1].base <= at; i++) {
        const struct rma_attached *g = &w->mem.regions[i - 1];
        uint64_t here = at - g->base < g->size ? g->size - (at - g->base) : 0;
        if (left <= here)
            return (char *)(uintptr_t)off;
        if (!here)
            return NULL;
        at += here;
        left -= here;
    }
    return NULL;
}

/* Only the blocks of a layout must lie in attached regions, not its gaps. addr: that of its buffer,
 * perhaps MPI_BOTTOM. */
int rma_win_holds(struct rma_win *w, uint64_t addr, const struct dt_type *t, size_t count,
                  size_t from, size_t len)
{
    enum { BLOCKS = 32 };
    struct iovec v[BLOCKS];
    for (size_t done = 0, got; done < len; done += got) {
        size_t n = dt_iov(t, count, NULL, from + done, len - done, v, BLOCKS, &got);
        if (!n)
            return 0;
        for (size_t i = 0; i < n; i++)
            if (!rma_win_local(w, addr + (uint64_t)(uintptr_t)v[i].iov_base, v[i].iov_len))
                return 0;
    }
    return len > 0;
}

int rma_near_by_rank(const void *a, const void *b)
{
    const struct rma_near *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

struct rma_near *rma_near_search(const struct rma_win *w, int rank)
{
    struct rma_near key = {.rank = rank};
    return bsearch(&key, w->records, w->nears, sizeof key, rma_near_by_rank);
}

uint64_t rma_pvar(const struct rma_win *w, enum pvar_id id)
{
    uint64_t sum = atomic_load_explicit(&w->near.pvars.v[id], memory_order_relaxed);
    const struct rma_win *dup;
    for (unsigned i = 0; pvar_table[id].cls == PVAR_COUNTER && (dup = rma_dup_next(w, &i));)
        sum += rma_pvar(dup, id);
    for (unsigned i = 0; id >= PVAR_RMA_PUT && id <= PVAR_RMA_BYTES && i < w->nears; i++)
        sum += atomic_load_explicit(&w->near.near[i].counted[id - PVAR_RMA_PUT],
                                    memory_order_relaxed);
    /* these words are the window's, for its duplicates, too */
    for (unsigned i = 0; id == PVAR_RMA_NOTIFIED && !w->parent && i < w->nears; i++) {
        struct rma_note *x = atomic_load_explicit(&w->near.near[i].note, memory_order_acquire);
        sum += x ? atomic_load_explicit(&x->counted, memory_order_relaxed) : 0;
    }
    return sum;
}
