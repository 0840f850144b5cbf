/* rma.c - start and end of the room, and what its windows share. */
#include "rma/rma_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/space.h"
#include "rma/coherent/home.h"

/* The table that near.h reads without a lock. */
static void fast_init(struct rma_near_table *f)
{
    for (int i = 0; i < RMA_FAST_WINS; i++)
        atomic_init(&f->win[i], &f->none);
    for (int i = 0; i < RMA_FAST_TYPES; i++) {
        const struct dt_type *t = proc->obj->table[OBJ_TYPE].builtin[i];
        /* no handle with this low byte */
        f->plain[i] = t && dt_handle_bytes(t->obj.handle) ? t->obj.handle : ~i;
    }
}

int rma_init(void)
{
    struct rma *r = aligned_alloc(64, (sizeof *r + 63) / 64 * 64);
    if (!r)
        return -ENOMEM;
    memset(r, 0, sizeof *r);
    fast_init(&r->fast);
    list_init(&r->windows);
    list_init(&r->makings);
    list_init(&r->active);
    list_init(&r->called);
    list_init(&r->notes.waiting);
    rma_pull_init(r);
    rma_coalesce_init(r);
    map_init(&r->wins);
    r->ranks = comm_rank_mask();
    r->hook = (struct progress_hook){.fn = rma_advance_global, .arg = r};
    r->polls[RMA_POLL_LOCKQ] = rma_lockq_poll;
    r->polls[RMA_POLL_FENCE] = rma_fence_poll;
    r->polls[RMA_POLL_START] = rma_start_poll;
    r->scratch_bytes = r->reply_bytes = (size_t)cvar.rma_packet;
    /* Untouched pages cost nothing. */
    r->scratch = malloc(r->scratch_bytes + RMA_PAD);
    r->reply = malloc(r->reply_bytes + RMA_PAD);
    r->answers = malloc(r->reply_bytes);
    proc->rma = r;
    if (!r->scratch || !r->reply || !r->answers || rma_pools_init(r)) {
        rma_finalize();
        return -ENOMEM;
    }
#define TO_TARGET am_handler
#define TO_ORIGIN am_reply_handler
#define P(name, direction, handler) direction(AM_RMA + RMA_PKT_##name, handler);
    RMA_PACKETS(P)
#undef P
#undef TO_TARGET
#undef TO_ORIGIN
    am_on_death(rma_fail_peers);
    am_on_stall(rma_name_awaited);
    am_on_note(rma_note_put_came);
    proc->obj->comm_revoked = rma_comm_revoked;
    return 0;
}

void rma_win_own(struct rma_win *w)
{
    w->own = 1;
}

void rma_ending(void)
{
    struct rma *r = proc->rma;
    r->ending = 1;
    for (struct list *l = r->windows.next; l != &r->windows; l = l->next) {
        struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        if (!w->own && !w->parent && !w->hidden &&
            (!rma_in(w, SET_FREE_MAY) || w->expo != EXPO_NONE))
            log_warn("MPI_Finalize: an epoch is open on %s: %s; processes that wait for its end "
                     "wait for ever",
                     rma_win_text(w),
                     w->expo != EXPO_NONE ? "call MPI_Win_wait first" : rma_end_first(w));
    }
}

static int on_late(int src, const void *msg, size_t len)
{
    (void)src;
    (void)msg;
    (void)len;
    return 0;
}

void rma_finalize(void)
{
    struct rma *r = proc->rma;
    if (!r)
        return;
    /* Packets may still arrive until the transport closes: after a failure, the barrier of
     * MPI_Finalize does not hold back the processes that go on. */
    for (int type = AM_RMA; type < AM_RMA + RMA_PKTS; type++)
        am_handler(type, on_late);
    am_handler(AM_RMA + RMA_PKT_FREEING_ASK, rma_on_freeing_late);
    rma_time_stop();
    rma_buffers_end();
    if (cvar.rma_stats)
        rma_stats_print();
    if (cvar.rma_stats_file && *cvar.rma_stats_file)
        rma_stats_write(cvar.rma_stats_file);
    rma_makings_end(); /* MPI wants them to be complete: what they have is left behind */
    for (struct list *l = r->windows.next; l != &r->windows; l = l->next)
        rma_replicas_drop(LIST_OBJ(l, struct rma_win, link));
    while (!list_empty(&r->windows))
        rma_win_drop(LIST_OBJ(r->windows.next, struct rma_win, link));
    for (struct rma_win *w = r->spare, *next; w; w = next) {
        next = (struct rma_win *)w->mem.heap;
        free(w);
    }
    rma_node_finalize();
    space_finalize();
    mem_arena_free(r->box);
    free(r->bundles);
    progress_hook_del(&r->hook);
    progress_hook_del(&r->notes.hook);
    free(r->notes.numbered);
    for (unsigned i = 0; i < sizeof r->types / sizeof *r->types; i++) {
        free(r->types[i].flat);
        if (r->types[i].t)
            dt_drop(r->types[i].t);
    }
    rma_native_free(r);
    rma_txs_close(r);
    rma_pull_finalize(r);
    rma_coalesce_finalize(r);
    rma_pools_free(r);
    map_destroy(&r->wins);
    free(r->scratch);
    free(r->reply);
    free(r->answers);
    free(r->failed);
    free(r);
    proc->rma = NULL;
}
