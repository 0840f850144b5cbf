/* memory.c - memory that a window exposes: the user's, moved into shared memory if possible, or
 * made here. Start with rma_memory_make(). */
#include "rma/window/window_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Does an open window expose memory of [base, base+bytes)? Others may store there during a copy,
 * and a network has registered its present pages. */
static int is_shown(const void *base, size_t bytes)
{
    const struct rma *r = rma_self();
    uint64_t from = (uint64_t)(uintptr_t)base, to = from + bytes;
    for (const struct list *l = r->windows.next; l != &r->windows; l = l->next) {
        const struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        uint64_t at = (uint64_t)(uintptr_t)w->base;
        if (at < to && from < at + (uint64_t)w->bytes)
            return 1;
        for (unsigned i = 0; i < w->mem.nregions; i++)
            if (w->mem.regions[i].base < to &&
                from < w->mem.regions[i].base + w->mem.regions[i].size)
                return 1;
    }
    return 0;
}

/* A large buffer moves into shared memory if allowed, so that near peers map it. Otherwise they use
 * CMA or messages. From here to win_publish() nothing waits, so the result of is_shown() stays
 * true. */
static void memory_move(struct rma_win *w)
{
    if (!w->bytes)
        return;
    w->mem.moved = mem_move_hold(w->base, (size_t)w->bytes);
    int pays = cvar.rma_move > 0 && w->bytes >= cvar.rma_move && w->nears > 1 && !w->mem.stays;
    if (!w->mem.moved && pays && !mem_segment_of(w->base, (size_t)w->bytes) &&
        !is_shown(w->base, (size_t)w->bytes) &&
        mem_move(w->base, (size_t)w->bytes, &w->mem.moved) != 0)
        w->mem.moved = NULL;
    if (w->mem.moved && mem_segment_of(w->base, (size_t)w->bytes))
        rma_count(w, PVAR_RMA_MOVED, 1);
}

/* Memory of MPI_Alloc_mem is allocated at the first touch; peers that store into it must find it
 * there. */
static int memory_reserve(struct rma_win *w)
{
    struct mem_segment *s = w->nears > 1 && w->bytes ? mem_segment_of(w->base, (size_t)w->bytes)
                                                     : NULL;
    if (!s || s->fd < 0 ||
        mem_segment_reserve(s, (size_t)((char *)w->base - (char *)s->base), (size_t)w->bytes) == 0)
        return MPI_SUCCESS;
    return err_make(MPI_ERR_NO_MEM, "%s: no %lld bytes of memory", rma_call(), (long long)w->bytes);
}

static int memory_share(struct rma_win *w, unsigned flags)
{
    if (mem_segment_create((size_t)w->bytes, flags, &w->mem.made) != 0)
        return 0;
    if (mem_segment_align(w->mem.made, w->mem.align) == 0)
        return 1;
    mem_segment_drop(w->mem.made);
    w->mem.made = NULL;
    return 0;
}

/* Memory up to 2 MiB lies in the arenas of MPI_Alloc_mem, which peers keep mapped: so a window that
 * is made and freed over and over costs no system call for pages. */
static int memory_block(struct rma_win *w)
{
    /* whole pages: what a network registers, and what a peer stores, is of this window alone */
    size_t bytes = ((size_t)w->bytes + RMA_PAGE - 1) / RMA_PAGE * RMA_PAGE;
    char *p = w->nears > 1 ? mem_arena_alloc(bytes, w->mem.align) : NULL;
    if (!p)
        return 0;
    struct mem_segment *s = mem_segment_of(p, bytes);
    if (mem_segment_reserve(s, (size_t)(p - (char *)s->base), bytes) != 0) {
        mem_arena_free(p);
        return 0;
    }
    memset(p, 0, bytes);
    w->base = w->mem.block = p;
    return 1;
}

int rma_memory_make(struct rma_win *w)
{
    int large = w->mem.large_pages;
    w->mem.large_pages = 0; /* unless they are granted */
    if (w->from)
        return MPI_SUCCESS;
    if (w->flavor == MPI_WIN_FLAVOR_CREATE) {
        memory_move(w);
        return memory_reserve(w);
    }
    if (w->flavor != MPI_WIN_FLAVOR_ALLOCATE || !w->bytes)
        return MPI_SUCCESS;
    if (w->node.area) {
        w->base = w->node.area + w->node.n.me * w->node.part;
        return MPI_SUCCESS;
    }
    w->mem.large_pages = large && memory_share(w, MEM_LARGE);
    if (!w->mem.large_pages && memory_block(w))
        return MPI_SUCCESS;
    if (w->mem.large_pages || (w->nears > 1 && memory_share(w, 0))) {
        w->base = w->mem.made->base;
        return MPI_SUCCESS;
    }
    /* There is no near peer, or no shared memory is left: peers use CMA or messages. */
    if ((uint64_t)w->bytes < (uint64_t)PTRDIFF_MAX - w->mem.align)
        /* its pages are allocated at the first touch */
        w->mem.heap = calloc(1, (size_t)w->bytes + w->mem.align);
    if (!w->mem.heap)
        return err_make(MPI_ERR_NO_MEM, "%s: no %lld bytes of memory, aligned to %zu", rma_call(),
                        (long long)w->bytes, w->mem.align);
    w->base = (char *)w->mem.heap + (-(uintptr_t)w->mem.heap & (w->mem.align - 1));
    return MPI_SUCCESS;
}

/* --- MPI_Win_allocate_shared ------------------------------------------------------------------ */

/* Offset of a member's part: packed, or aligned with pages of its own. UINT64_MAX: beyond all
 * memory. */
static uint64_t part_offset(const struct rma_win *w, unsigned upto, int noncontig)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), off = 0;
    if (w->node.area || page < w->mem.align) /* the area has no room for large system pages */
        page = w->mem.align;
    for (unsigned i = 0; i < upto; i++) {
        /* from an MPI_Aint, so rounding it up does not overflow */
        uint64_t size = rma_peer_of(w, i)->size;
        if (__builtin_add_overflow(off, noncontig ? (size + page - 1) / page * page : size, &off))
            return UINT64_MAX;
    }
    return off;
}

/* The node segment has room for it: no other memory is made. */
static int shared_in_area(struct rma_win *w, int noncontig)
{
    for (unsigned i = 0; i < w->nears; i++)
        w->near.near[i].mapping = w->node.area + part_offset(w, i, noncontig);
    w->base = w->bytes ? rma_near_own(w)->mapping : NULL;
    return MPI_SUCCESS;
}

int rma_node_shared(struct rma_win *w, int noncontig)
{
    unsigned me = w->node.n.me;
    struct rma_peer *first = rma_peer_of(w, 0);
    int met = rma_node_barrier(w); /* all sizes are there */
    if (met)
        return met;
    if (w->node.area)
        return shared_in_area(w, noncontig);
    uint64_t total = part_offset(w, w->nears, noncontig);
    int err = 0;
    if (total > INT64_MAX) /* all members find the same */
        return err_make(MPI_ERR_NO_MEM,
                        "%s: no memory for what %u processes want together: more than %lld bytes",
                        rma_call(), w->nears, (long long)INT64_MAX);
    if (me == 0 && total) {
        err = mem_segment_create(total, MEM_NO_RESERVE, &w->mem.made);
        if (!err)
            mem_segment_key(w->mem.made, &first->key);
        first->error = err ? MPI_ERR_NO_MEM : 0;
    }
    met = rma_node_barrier(w);
    if (met)
        return met;
    if (me != 0 && total && !first->error)
        err = mem_segment_attach(&first->key, &w->mem.made);
    if (!err && first->error)
        err = -ENOMEM;
    if (!err && w->mem.made)
        err = mem_segment_align(w->mem.made, w->mem.align);
    uint64_t off = part_offset(w, me, noncontig);
    if (!err && w->bytes)
        err = mem_segment_reserve(w->mem.made, off, (size_t)w->bytes);
    if (err)
        return err_make(MPI_ERR_NO_MEM, "%s: no %llu bytes of shared memory, aligned to %zu: %s",
                        rma_call(), (unsigned long long)total, w->mem.align, strerror(-err));
    w->base = w->mem.made && w->bytes ? (char *)w->mem.made->base + off : NULL;
    for (unsigned i = 0; i < w->nears; i++) {
        struct rma_near *n = &w->near.near[i];
        n->mapping = w->mem.made ? (char *)w->mem.made->base + part_offset(w, i, noncontig) : NULL;
    }
    return MPI_SUCCESS;
}
