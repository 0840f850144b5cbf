/* blank.c - the record of a window: made blank, found by calls without the lock (near.h), given
 * back. Start with rma_win_blank(). */
#include "rma/window/window_types.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "watch/watch.h"

struct rma_win *rma_win_blank(int flavor, void *base, MPI_Aint bytes, MPI_Aint disp_unit)
{
    struct rma *r = rma_self();
    struct rma_win *w = r->spare;
    if (w)
        r->spare = (struct rma_win *)w->mem.heap;
    else if ((w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64)) != NULL)
        w->near.obj.handle = 0;
    else
        return NULL;
    _Static_assert(offsetof(struct rma_win, near.obj) == 0,
                   "what follows is cleared, the handle stays 0");
    memset((char *)w + sizeof w->near.obj, 0, sizeof *w - sizeof w->near.obj);
    w->flavor = (uint8_t)flavor;
    w->create_flavor = flavor;
    w->model = MPI_WIN_UNIFIED;
    w->loads = flavor == MPI_WIN_FLAVOR_SHARED; /* known without a query: parts are contiguous */
    w->base = base;
    w->bytes = bytes;
    w->disp_unit = disp_unit;
    w->attr_unit = disp_unit <= INT_MAX ? (int)disp_unit : 0;
    w->table.op_quota.size = w->table.op_quota.free = (unsigned)cvar.rma_op_win;
    w->table.target_quota.size = w->table.target_quota.free = (unsigned)cvar.rma_target_win;
    list_init(&w->link);
    list_init(&w->active);
    list_init(&w->table.ready);
    list_init(&w->resps);
    list_init(&w->table.used);
    list_init(&w->native.keys);
    map_init(&w->errs);
    map_init(&w->access.posts);
    map_init(&w->target.errors);
    map_init(&w->notes.early);
    map_init(&w->notes.sources);
    list_init(&w->notes.calls);
    map_init(&w->free.asked);
    rma_evicted_init(&w->passive.evicted);
    rma_lockq_init(&w->target.lockq);
    attr_list_init(&w->attrs);
    w->errhandler = errhandler_of(ERRHANDLER_FATAL);
    return w;
}

/* What the window exposes, and its mappings of other members' memory. */
static void memory_free(struct rma_win *w)
{
    if (w->near.near)
        rma_node_close(w);
    free(w->mem.heap);
    mem_move_back(w->mem.moved);
    while (w->mem.nregions)
        mem_move_back(w->mem.regions[--w->mem.nregions].moved);
    free(w->mem.regions);
    free(w->mem.empties);
}

/* The record; then that of the window whose memory w had, if it is freed and has no other user. */
static void put_back(struct rma_win *w)
{
    struct rma *r = rma_self();
    struct rma_win *from = w->from;
    w->mem.heap = (void *)r->spare; /* not freed before the end: rma_near_win() */
    r->spare = w;
    if (from)
        rma_win_unuse(from);
}

void rma_win_unuse(struct rma_win *w)
{
    if (--w->users || !w->closed)
        return;
    memory_free(w);
    put_back(w);
}

void rma_win_slow(struct rma_win *w)
{
    struct rma *r = rma_self();
    _Atomic(struct rma_win_near *) *at = &r->fast.win[w->near.obj.handle & (RMA_FAST_WINS - 1)];
    if (atomic_load_explicit(at, memory_order_relaxed) == &w->near)
        atomic_store_explicit(at, &r->fast.none, memory_order_relaxed);
    if (*rma_mirror_at(w->near.obj.handle) == w)
        *rma_mirror_at(w->near.obj.handle) = NULL;
}

void rma_win_fast(struct rma_win *w)
{
    if (watch_wants(WATCH_OPS | WATCH_CALLED) || w->buffers)
        return; /* flushes do not look at the phase, which the other calls begin with */
    atomic_store_explicit(&rma_self()->fast.win[w->near.obj.handle & (RMA_FAST_WINS - 1)], &w->near,
                          memory_order_release);
}

void rma_win_drop(struct rma_win *w)
{
    struct rma *r = rma_self();
    struct rma_win *dup;
    for (unsigned i = 0; (dup = rma_dup_next(w, &i)) != NULL;)
        rma_win_drop(dup);
    free(w->channels);
    w->channels = NULL;
    rma_lanes_free(w); /* before the counters are added up, and before its keys end */
    if (watch_wants(WATCH_WINDOWS) && w->id && !w->parent)
        watch_win_closes(w);
    if (w->near.obj.handle) {
        rma_win_slow(w);
        if (w->hidden)
            obj_show(OBJ_WIN, &w->near.obj);
        obj_del(OBJ_WIN, &w->near.obj);
    }
    list_del(&w->link);
    list_del(&w->active);
    if (w->parent)
        rma_dup_leave(w); /* what is its window's stays there */
    if (w->id)
        map_del(&r->wins, w->id);
    for (int i = 0; i < PVAR_COUNT; i++)
        if (pvar_table[i].cls == PVAR_COUNTER)
            counter_add(&r->closed.v[i], rma_pvar(w, (enum pvar_id)i));
        else if (pvar_table[i].cls == PVAR_HIGHWATER)
            counter_max(&r->closed.v[i], w->near.pvars.v[i]);
    rma_native_close(w);
    rma_memhandles_drop(w);
    rma_held_free(w);
    rma_coherent_drop(w);
    rma_buffers_drop(w);
    rma_lockq_free(&w->target.lockq);
    map_destroy(&w->access.posts);
    rma_errors_free(w);
    map_destroy(&w->free.asked);
    map_destroy(&w->errs);
    rma_evicted_clear(&w->passive.evicted);
    rma_notes_close(w);
    if (!w->users)
        memory_free(w);
    rma_slots_free(w);
    rma_pscw_free(w);
    info_drop(w->info);
    errhandler_drop(w->errhandler);
    if (w->comm)
        comm_drop(w->comm);
    w->closed = w->users != 0;
    w->node.reusable = 0; /* if it stays: its segment may hold the memory */
    if (!w->closed)
        put_back(w);
}

int rma_win_is_idle(struct rma_win *w)
{
    if (!rma_in(w, SET_FREE_MAY) || w->expo != EXPO_NONE)
        return rma_sync_error(w, "an epoch is open on", w->expo != EXPO_NONE
                                                            ? "call MPI_Win_wait first"
                                                            : rma_end_first(w));
    if (!list_empty(&w->notes.calls) || (w->notes.requests && rma_note_requests(w)))
        return rma_sync_error(w, "a call or request waits for notifications of",
                              "it must end first");
    return MPI_SUCCESS;
}
