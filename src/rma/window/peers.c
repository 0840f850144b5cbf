/* peers.c - the near table: which members are near, and how each one's memory is reached. Start
 * with rma_node_record() and rma_node_attach().
 *
 * Each member fills its record, then attaches the memory of the others. A segment is mapped. Other
 * memory is reached by CMA if a test value can be read (yama, seccomp or a user namespace may
 * refuse), else by active message. */
#include "rma/window/window_types.h"

#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"

/* --- near members -------------------------------------------------------------------------- */

int rma_node_find(struct rma_win *w)
{
    int on_node = boot_local_size();
    int most = on_node < w->size ? on_node : w->size;
    w->near.near = aligned_alloc(_Alignof(struct rma_near), (size_t)most * sizeof *w->near.near);
    if (!w->near.near)
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for %d node peers", rma_call(), most);
    memset(w->near.near, 0, (size_t)most * sizeof *w->near.near);
    w->records = w->near.near;
    unsigned n = 0;
    for (int i = 0; i < on_node; i++) {
        int world = boot_local_rank(i), rank = rankmap_find(w->map, world);
        if (rank >= 0)
            w->near.near[n++] = (struct rma_near){.rank = rank,
                                                  .host_index = boot_host_index(world),
                                                  .recent = &rma_recent_none};
    }
    qsort(w->near.near, n, sizeof *w->near.near, rma_near_by_rank);
    w->nears = n;
    w->all_near = (int)n == w->size;
    int together = w->near.near[n - 1].rank - w->near.near[0].rank == (int)n - 1;
    w->near.first = (unsigned)w->near.near[0].rank;
    w->near.count = together ? n : 0;
    if (!together)
        rma_spread_make(w);
    w->near.by_target = (proc->threaded && !proc->helped) || !together;
    for (unsigned i = 0; i < n; i++)
        if (w->near.near[i].rank == w->rank)
            w->node.n.me = i;
    w->node.n.peers = n;
    if (w->node.n.me == 0 && n > 1 && !(w->node.pieces = malloc(n * sizeof *w->node.pieces)))
        return err_make(MPI_ERR_NO_MEM, "%s: no memory for %u node peers", rma_call(), n);
    return MPI_SUCCESS;
}

/* Near peers that reach memory by CMA delegate copies by way of a box, one for all windows. */
static void box_record(const struct rma_win *w, struct rma_peer *p)
{
    struct rma *r = rma_self();
    p->box.size = 0;
    if (w->nears == 1 || !cvar.rma_cma ||
        (w->flavor != MPI_WIN_FLAVOR_CREATE && w->flavor != MPI_WIN_FLAVOR_DYNAMIC))
        return;
    if (!r->box && (r->box = mem_arena_alloc(RMA_BOX_ALL, RMA_PAGE)) != NULL)
        memset(r->box + RMA_BOX_BYTES, 0, RMA_BOX_ALL - RMA_BOX_BYTES);
    const struct mem_segment *s = r->box ? mem_segment_of(r->box, RMA_BOX_ALL) : NULL;
    if (!s)
        return;
    mem_segment_key(s, &p->box);
    p->box_off = (uint64_t)(r->box - (char *)s->base);
}

/* This process executes what peers that do not map its memory delegate. */
static void boxes_attach(struct rma_win *w)
{
    w->node.boxes = calloc(w->nears, sizeof *w->node.boxes);
    for (unsigned i = 0; w->node.boxes && i < w->nears; i++) {
        const struct rma_peer *p = w->near.near[i].peer;
        struct rma_box *b = &w->node.boxes[i];
        if (i == w->node.n.me)
            b->at = rma_self()->box;
        else if (p->box.size && mem_segment_attach_again(&p->box, &b->seg) == 0)
            b->at = (char *)b->seg->base + p->box_off;
    }
}

void rma_node_record(struct rma_win *w)
{
    struct rma_peer *p = rma_peer_of(w, w->node.n.me);
    p->rank = w->rank;
    p->host_index = boot_host_index(boot_rank());
    p->base = (uint64_t)(uintptr_t)w->base;
    p->size = (uint64_t)w->bytes;
    p->disp_unit = (uint64_t)w->disp_unit;
    struct rma *r = rma_self();
    if (!r->seg_id)
        r->seg_id = random_bits();
    p->seg_id = r->seg_id;
    p->seg_id_at = (uint64_t)(uintptr_t)&r->seg_id;
    p->key.size = 0;
    p->coherent = w->coherent != NULL;
    rma_alone_record(w, p);
    p->error = 0;
    atomic_store_explicit(&p->unmapped, 0, memory_order_relaxed);
    acc_delegation_init(&p->asked);
    atomic_store_explicit(&p->version, 0, memory_order_relaxed);
    atomic_store_explicit(&p->nregions, 0, memory_order_relaxed);
    p->overflow = 0;
    atomic_store_explicit(&p->notes.num, 0, memory_order_relaxed);
    atomic_store_explicit(&p->handles.num, 0, memory_order_relaxed);
    struct mem_segment *seg = w->bytes && !w->node.area ? mem_segment_of(w->base, (size_t)w->bytes)
                                                        : NULL;
    if (seg && seg->fd >= 0) {
        mem_segment_key(seg, &p->key);
        p->key_off = (uint64_t)((char *)w->base - (char *)seg->base);
    }
    box_record(w, p);
    ((int32_t *)(uintptr_t)w->node.n.host_index)[w->node.n.me] = p->host_index;
}

/* --- all members' memory ---------------------------------------------------------------------- */

/* Tested with the first window: what the system allows between two processes does not change. */
static int cma_works(const struct rma_near *n)
{
    struct rma *room = rma_self();
    uint64_t seg_id = 0;
    struct iovec l = {&seg_id, sizeof seg_id},
                 r = {(void *)(uintptr_t)n->peer->seg_id_at, sizeof seg_id};
    if (!cvar.rma_cma)
        return 0;
    if (room->cma_known && room->cma_known[n->host_index])
        return 1;
    if (mem_cma_read(n->host_index, &l, 1, &r, 1) != 0 || seg_id != n->peer->seg_id)
        return 0;
    if (!room->cma_known)
        room->cma_known = calloc((size_t)boot_host_processes(), 1);
    if (room->cma_known)
        room->cma_known[n->host_index] = 1;
    return 1;
}

/* Memory of another member in this process, or NULL. */
static char *near_map(struct rma_win *w, struct rma_near *n)
{
    const struct rma_peer *p = n->peer;
    if (w->node.area)
        return w->node.area + (size_t)(n - w->near.near) * w->node.part;
    if (!p->key.size || mem_segment_attach_again(&p->key, &n->seg) != 0)
        return NULL;
    uint64_t off = p->key_off; /* read once: peers can write the record */
    if (n->size <= n->seg->size && off <= n->seg->size - n->size)
        return (char *)n->seg->base + off;
    mem_segment_drop(n->seg);
    n->seg = NULL;
    return NULL;
}

static void near_attach(struct rma_win *w, struct rma_near *n)
{
    struct rma_peer *p = n->peer;
    n->disp_unit = p->disp_unit;
    n->size = p->size;
    n->remote = p->base;
    n->kind = RMA_NEAR_MAPPED;
    if (n->rank == w->rank) { /* not by the record, which peers can write */
        n->disp_unit = (uint64_t)w->disp_unit;
        n->size = (uint64_t)w->bytes;
        if (w->coherent)
            n->kind = RMA_NEAR_AM; /* operations of its own ask for lanes, too: not inline */
        else
            n->base = w->base;
        return;
    }
    if (p->coherent) {
        atomic_fetch_add_explicit(&p->unmapped, 1, memory_order_relaxed);
        n->kind = RMA_NEAR_AM;
        char *base = p->size && p->alone.key.size ? near_map(w, n) : NULL;
        if (base)
            rma_alone_attach(w, n, base);
        return;
    }
    if (w->flavor == MPI_WIN_FLAVOR_SHARED) {
        n->base = n->mapping;
        return;
    }
    if (p->size == 0 && w->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        n->base = (char *)n; /* never read: no access to 0 bytes is in range */
        return;
    }
    if ((n->mapping = n->base = w->from ? rma_from_mapping(w, n) : near_map(w, n)) != NULL)
        return;
    atomic_fetch_add_explicit(&p->unmapped, 1, memory_order_relaxed);
    n->kind = cma_works(n) ? RMA_NEAR_CMA : RMA_NEAR_AM;
    w->near.by_cma |= n->kind == RMA_NEAR_CMA;
}

void rma_node_tell(struct rma_win *w, int err)
{
    rma_peer_of(w, w->node.n.me)->error = err ? err_class(err) : 0;
}

int rma_node_reach(struct rma_win *w, int err)
{
    for (unsigned i = 0; i < w->nears; i++)
        if (rma_peer_of(w, i)->error)
            return err ? err
                       : err_make(rma_peer_of(w, i)->error, "%s failed on another process",
                                  rma_call());
    w->all_mapped = 1;
    for (unsigned i = 0; i < w->nears; i++) {
        struct rma_near *n = &w->near.near[i];
        near_attach(w, n);
        rma_near_units_set(n, 1);
        w->all_mapped &= n->kind == RMA_NEAR_MAPPED && w->flavor != MPI_WIN_FLAVOR_DYNAMIC;
        n->me = (uint64_t)mem_host_index() + 1;
    }
    return MPI_SUCCESS;
}

void rma_node_reached(struct rma_win *w, unsigned acc_hints)
{
    unsigned me = w->node.n.me;
    struct rma_peer *p = rma_peer_of(w, me);
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC &&
        atomic_load_explicit(&p->unmapped, memory_order_relaxed) == 0)
        acc_hints |= ACC_ALL_MAPPED;
    else
        boxes_attach(w);
    acc_ctl_init(w->near.near[me].acc, p->stripes, acc_hints);
    if (w->mem.made && w->mem.made->owner)
        mem_segment_shut(w->mem.made);
}

/* All members on the node agree on the result. */
int rma_node_attach(struct rma_win *w, unsigned acc_hints, int err)
{
    rma_node_tell(w, err);
    int met = rma_node_barrier(w); /* all records are there */
    if (!met && (met = rma_node_reach(w, err)) == MPI_SUCCESS)
        met = rma_node_barrier(w); /* all have tried */
    if (met)
        return met;
    rma_node_reached(w, acc_hints);
    return rma_node_barrier(w); /* all are ready */
}
