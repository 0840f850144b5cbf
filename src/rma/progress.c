/* progress.c - MAKE_RMA_PROGRESS_GLOBAL, the hook in the progress engine; failures of processes.
 *
 * The hook is registered while a window has work: something to send, a barrier or post under way,
 * an answer awaited, a lock request waiting. It serves windows in turn. Start with
 * rma_advance_global(). */
#include "rma/rma_types.h"

#include <stdlib.h>

static int win_has_work(const struct rma_win *w)
{
    int sends = !list_empty(&w->table.ready) || w->table.nops || w->fence.barriers;
    int awaits = w->acks || !list_empty(&w->resps) || rma_in(w, SET_POSTS_OUT) || w->passive.sw;
    int grants = w->target.lockq.count || w->target.lockq.stamps != w->target.lockq.admitted;
    return sends || awaits || grants;
}

int rma_advance_global(void *arg)
{
    struct rma *r = arg;
    int events = 0;
    for (struct list *l = r->active.next, *next; l != &r->active; l = next) {
        struct rma_win *w = LIST_OBJ(l, struct rma_win, active);
        next = l->next;
        if (w->held)
            rma_queue_age(w);
        events += rma_poll_win(w);
#ifdef WR_DEBUG
        rma_check_invariants(w);
#endif
        if (!win_has_work(w))
            list_del(l);
    }
    if (list_empty(&r->active))
        progress_hook_del(&r->hook);
    return events;
}

/* --- death ----------------------------------------------------------------------------- */

static void fail_in_win(struct rma_win *w, int world)
{
    int rank = rankmap_find(w->map, world);
    if (rank < 0)
        return;
    struct rma_target *t = rma_target_find(w, rank);
    if (t && !(t->flags & TARGET_FAILED))
        rma_target_peer_failed(t);
    rma_stop_counting(w, rma_failed_error(w, rank));
    rma_resps_fail(w, rank, 0, 1, rma_failed_error(w, rank));
    if (!w->parent) { /* a duplicate has no queue, and its window's lock words */
        rma_lockq_fail(w, world);
        rma_near_close(w, rank);
    }
    if (w->replicas) {
        rma_win_slow(w); /* rma_mirror_put() does not ask which keepers live */
        rma_forward_failed(w->replicas);
    }
    w->notes.deaths++;
    rma_win_active(w);
}

/* Ranks whose posts are awaited. am/ has a record of all others, because they were sent
 * something. */
void rma_name_awaited(void (*ask)(int rank))
{
    struct rma *r = rma_self();
    for (const struct list *l = r ? r->windows.next : NULL; l && l != &r->windows; l = l->next) {
        const struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        for (unsigned i = 0; i < w->access.nstart && w->access.nwaiting; i++)
            if (w->access.waiting[i])
                ask(rma_world(w, w->access.start[i]));
    }
}

/* Called by am/, not by the hook: if a thread waits here for a lock word that a failed far origin
 * holds, no window has work. */
void rma_fail_peers(void)
{
    struct rma *r = rma_self();
    if (!r) /* after rma_finalize() */
        return;
    if (!r->failed)
        /* the only table of all processes, in jobs where one failed */
        r->failed = calloc((size_t)boot_universe(), 1);
    for (int i = 0; i < boot_universe(); i++) {
        /* Once for each: counting a failure twice would end waits that do not depend on it.
         * (Without memory for the table, all failures are counted again.) */
        if (!boot_failed(i) || (r->failed && r->failed[i]))
            continue;
        for (struct list *l = r->windows.next; l != &r->windows; l = l->next)
            fail_in_win(LIST_OBJ(l, struct rma_win, link), i);
        if (r->failed)
            r->failed[i] = 1;
    }
}
