/* advance.c - MAKE_RMA_PROGRESS_{TARGET,WIN,GLOBAL}, and the hook in the progress engine.
 *
 * The hook is there while a window has work: something to send, a barrier or post under way, an answer awaited, a
 * lock request waiting.  It deals with windows in turn. */
#include "rma/core/types.h"

#include <errno.h>
#include <stdlib.h>

void rma_win_active(struct rma_win *w)
{
    struct rma *r = rma_room();
    if (list_empty(&w->active)) {
        list_push(&r->active, &w->active);
        progress_hook_add(&r->hook);
    }
}

void rma_ready(struct rma_target *t)
{
    if (list_empty(&t->ready))
        list_push(&t->w->ready, &t->ready);
    rma_win_active(t->w);
}

void rma_win_kick(struct rma_win *w)
{
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
        if (rma_target_due(t))
            rma_ready(t);
    rma_issue_win(w);
    rma_cleanup_win(w);
}

void rma_hurry_all(struct rma_win *w)
{
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t)) {
        t->flags |= TARGET_HURRY;
        if (rma_target_due(t) || t->flags & TARGET_DEAD) /* R4: others may look before these are issued */
            rma_ready(t);
    }
}

void rma_advance_target(struct rma_target *t)
{
    while (rma_issue_target(t) + rma_cleanup_target(t) != 0)
        ;
}

static int win_has_work(const struct rma_win *w)
{
    return !list_empty(&w->ready) || w->nops || w->acks || w->lockq.count || w->lockq.stamps != w->lockq.admitted ||
           !list_empty(&w->resps) || w->barriers || rma_ask(w, ASK_POSTS_OUT) || w->sw;
}

static int advance_win(struct rma_win *w)
{
    int events = rma_lockq_poll(w);
    events += rma_fence_poll(w);
    events += rma_start_poll(w);
    int n;
    do {
        n = rma_issue_win(w);
        events += n;
    } while (n);
    return events;
}

void rma_advance_win(struct rma_win *w)
{
    advance_win(w);
    rma_cleanup_win(w);
}

int rma_advance_global(void *arg)
{
    struct rma *r = arg;
    int events = 0;
    for (struct list *l = r->active.next, *next; l != &r->active; l = next) {
        struct rma_win *w = LIST_OBJ(l, struct rma_win, active);
        next = l->next;
        events += advance_win(w);
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

/* Threads that wait for an answer of this rank: it will not come.  Of those that wait for several nobody knows which are
 * missing, so they wait no longer for any: where it owed one (`owes`), or `may` have (asked past any element). */
static void resps_bury(struct rma_win *w, int rank, int owes, int may, int err)
{
    for (struct list *l = w->resps.next; l != &w->resps; l = l->next) {
        struct rma_resp *r = LIST_OBJ(l, struct rma_resp, link);
        if (!r->pending || (r->rank != rank && (r->rank != -1 || !(owes || (may && r->alone)))))
            continue;
        r->pending = 0;
        if (!r->err)
            r->err = err;
    }
    progress_signal();
}

/* From now on the window counts no answers to evicted elements (restore.c): whose are missing nobody knows. */
static void mourn(struct rma_win *w, int err)
{
    w->dead = 1;
    if (w->acks)
        w->err = w->err ? w->err : err;
    rma_acks_add(w, -(int)w->acks);
}

void rma_target_fail(struct rma_target *t, int err)
{
    if (err != -ENOTCONN && !boot_dead(t->world)) {
        t->w->cut = t->cut = err;
        t->w->cut_rank = t->rank;
        if (!t->err)
            t->err = rma_dead_error(t->w, t->rank);
    }
    rma_target_bury(t);
}

void rma_target_bury(struct rma_target *t)
{
    struct rma_win *w = t->w;
    int err = rma_dead_error(w, t->rank);
    if (!t->cut)
        mourn(w, err); /* a transport may tell of an end before anybody else does */
    t->flags |= TARGET_DEAD;
    t->flags &= (uint8_t)~(TARGET_REFUSED | TARGET_DIRTY);
    for (struct list *l = t->ops.next; l != &t->ops; l = l->next) {
        struct rma_op *op = LIST_OBJ(l, struct rma_op, link);
        if (!(op->flags & OP_DONE))
            op->err = err;
        op->flags |= OP_DONE;
        op->flags &= (uint8_t)~OP_RIDES;
    }
    t->next = &t->ops;
    t->queued = 0;
    t->acks = 0;
    t->retry_at = 0;
    rma_native_bury(t);
    rma_cleanup_target(t);
    list_del(&t->called);
    if (t->state == TARGET_LOCK_CALLED)
        rma_target_goto(t, TARGET_LOCK_ISSUED);
    if (t->state == TARGET_LOCK_ISSUED)
        rma_target_goto(t, TARGET_LOCK_GRANTED);
    if (t->sync) {
        t->sync = 0;
        rma_token_done(w, t->rank, t->token, err);
    }
    /* Whoever may wait for it is told: a wait that goes on would have no end.  For an early one that no flush has taken nobody waits. */
    int owes = t->tokens_out > (unsigned)(t->early && !t->early_for) || t->doubt;
    t->tokens_out = t->early = t->early_for = 0;
    resps_bury(w, t->rank, owes, !t->cut, err);
    if (!t->nops)
        list_del(&t->ready);
}

static void bury_in_win(struct rma_win *w, int world)
{
    int rank = rankmap_find(w->map, world);
    if (rank < 0)
        return;
    struct rma_target *t = rma_target_find(w, rank);
    if (t && !(t->flags & TARGET_DEAD))
        rma_target_bury(t);
    mourn(w, rma_dead_error(w, rank));
    resps_bury(w, rank, 0, 1, rma_dead_error(w, rank));
    rma_lockq_bury(w, world);
    rma_win_active(w);
}

/* Those whose posts are awaited; others for which a window waits have been sent something, so am/ knows them. */
void rma_name_awaited(void (*ask)(int rank))
{
    struct rma *r = rma_room();
    for (const struct list *l = r ? r->windows.next : NULL; l && l != &r->windows; l = l->next) {
        const struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        for (unsigned i = 0; i < w->nstart && w->nwaiting; i++)
            if (w->waiting[i])
                ask(rma_world(w, w->start[i]));
    }
}

/* Called by am/, not by the hook: a thread that waits for a lock word here which a dead far origin holds has no window
 * with work. */
void rma_bury(void)
{
    struct rma *r = rma_room();
    if (!r) /* finalized */
        return;
    if (!r->buried)
        r->buried = calloc((size_t)boot_size(), 1); /* the one table of all processes, in jobs that lose one */
    for (int i = 0; i < boot_size(); i++) {
        /* Once: who is mourned again would take innocent waiters with him.  (Without memory for the table: all the dead.) */
        if (!boot_dead(i) || (r->buried && r->buried[i]))
            continue;
        for (struct list *l = r->windows.next; l != &r->windows; l = l->next)
            bury_in_win(LIST_OBJ(l, struct rma_win, link), i);
        if (r->buried)
            r->buried[i] = 1;
    }
}
