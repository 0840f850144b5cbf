/* attach.c - attached regions of a dynamic window. */
#include "base/vec.h"
#include "rma/window/window_types.h"

#include <stdlib.h>
#include <string.h>

/* Show the list to near peers. The version is odd meanwhile; pairs with rma_region_shown(). */
static void regions_publish(struct rma_win *w)
{
    struct rma_peer *p = rma_peer_of(w, w->node.n.me);
    unsigned v = atomic_load_explicit(&p->version, memory_order_relaxed);
    unsigned n = w->mem.nregions < RMA_REGIONS ? w->mem.nregions : RMA_REGIONS;
    atomic_store_explicit(&p->version, v + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    sched_point(); /* near readers see that the list is invalid */
    for (unsigned i = 0; i < n; i++) {
        __atomic_store_n(&p->region[i].base, w->mem.regions[i].base, __ATOMIC_RELAXED);
        __atomic_store_n(&p->region[i].size, w->mem.regions[i].size, __ATOMIC_RELAXED);
    }
    atomic_store_explicit(&p->nregions, n, memory_order_relaxed);
    __atomic_store_n(&p->overflow, (uint32_t)(w->mem.nregions > RMA_REGIONS), __ATOMIC_RELAXED);
    atomic_store_explicit(&p->version, v + 2, memory_order_release);
}

static int not_dynamic(const struct rma_win *w)
{
    return err_make(MPI_ERR_RMA_FLAVOR, "%s: %s was not made by MPI_Win_create_dynamic", rma_call(),
                    rma_win_text(w));
}

/* A region without bytes overlaps none and can only be detached. It is stored apart, so that every
 * other region has bytes and a base of its own. */
static int attach_empty(struct rma_win *w, uint64_t addr)
{
    uint64_t *more = realloc(w->mem.empties, (w->mem.nempties + 1) * sizeof *more);
    if (!more)
        return err_make(MPI_ERR_RMA_ATTACH, "%s: no memory for one more region", rma_call());
    w->mem.empties = more;
    w->mem.empties[w->mem.nempties++] = addr;
    return MPI_SUCCESS;
}

static int detach_empty(struct rma_win *w, uint64_t addr)
{
    for (unsigned i = 0; i < w->mem.nempties; i++)
        if (w->mem.empties[i] == addr) {
            w->mem.empties[i] = w->mem.empties[--w->mem.nempties];
            return MPI_SUCCESS;
        }
    return err_make(MPI_ERR_RMA_ATTACH, "%s: no attached region begins at %p", rma_call(),
                    (void *)(uintptr_t)addr);
}

int rma_win_attach(struct rma_win *w, void *base, MPI_Aint size)
{
    uint64_t addr = (uint64_t)(uintptr_t)base;
    w = rma_root(w);
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return not_dynamic(w);
    if (size < 0)
        return err_make(MPI_ERR_SIZE, "%s: size is %lld, less than 0", rma_call(), (long long)size);
    if (!base && size)
        return err_make(MPI_ERR_BASE, "%s: base is NULL and size %lld", rma_call(),
                        (long long)size);
    if ((uint64_t)size > UINT64_MAX - addr)
        return err_make(MPI_ERR_RMA_ATTACH, "%s: [%p, +%lld) goes beyond the end of memory",
                        rma_call(), base, (long long)size);
    if (!size)
        return attach_empty(w, addr);
    unsigned i = rma_region_above(w, addr);
    if ((i > 0 && w->mem.regions[i - 1].base + w->mem.regions[i - 1].size > addr) ||
        (i < w->mem.nregions && addr + (uint64_t)size > w->mem.regions[i].base))
        return err_make(MPI_ERR_RMA_ATTACH,
                        "%s: [%p, +%lld) overlaps memory that is attached already", rma_call(),
                        base, (long long)size);
    if (!VEC_FITS(w->mem.regions, w->mem.regions_room, w->mem.nregions + 1, 16))
        return err_make(MPI_ERR_RMA_ATTACH, "%s: no memory for one more region", rma_call());
    memmove(w->mem.regions + i + 1, w->mem.regions + i,
            (w->mem.nregions - i) * sizeof *w->mem.regions);
    w->mem.regions[i] = (struct rma_attached){.base = addr, .size = (uint64_t)size,
                                              .moved = mem_move_hold(base, (size_t)size)};
    w->mem.nregions++;
    regions_publish(w);
    return MPI_SUCCESS;
}

int rma_win_detach(struct rma_win *w, const void *base)
{
    uint64_t addr = (uint64_t)(uintptr_t)base;
    w = rma_root(w);
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return not_dynamic(w);
    if (w->mem.handles)
        rma_memhandles_end(w, addr); /* meanwhile other threads may attach and detach */
    unsigned i = rma_region_above(w, addr);
    if (i == 0 || w->mem.regions[i - 1].base != addr)
        return detach_empty(w, addr);
    mem_move_back(w->mem.regions[i - 1].moved);
    memmove(w->mem.regions + i - 1, w->mem.regions + i,
            (w->mem.nregions - i) * sizeof *w->mem.regions);
    w->mem.nregions--;
    w->mem.detached++;
    regions_publish(w);
    return MPI_SUCCESS;
}
