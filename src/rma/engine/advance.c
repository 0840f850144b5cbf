/* advance.c - MAKE_RMA_PROGRESS_{TARGET,WIN} (GLOBAL, the hook: progress.c). Start with
 * rma_poll_win(). */
#include "rma/engine/engine_types.h"

void rma_win_kick(struct rma_win *w)
{
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
        if (rma_target_due(t))
            rma_ready(t);
    rma_issue_win(w);
    rma_cleanup_win(w);
}

void rma_drain_all(struct rma_win *w)
{
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t)) {
        t->flags |= TARGET_DRAIN;
        /* R4: other threads may look before these are issued */
        if (rma_target_due(t) || t->flags & TARGET_FAILED)
            rma_ready(t);
    }
}

/* Issuing sends all that may leave; only an element that is freed can make more due. */
void rma_advance_target(struct rma_target *t)
{
    do
        rma_issue_target(t);
    while (rma_cleanup_target(t));
}

void rma_target_moved(struct rma_target *t)
{
    rma_cleanup_target(t);
    rma_ready(t);
    rma_advance_target(t);
}

int rma_poll_win(struct rma_win *w)
{
    int events = 0, n;
    if (w->target.lockq.count)
        events += rma_poll(w, RMA_POLL_LOCKQ);
    if (w->fence.barriers)
        events += rma_poll(w, RMA_POLL_FENCE);
    if (rma_in(w, SET_POSTS_OUT))
        events += rma_poll(w, RMA_POLL_START);
    do {
        n = rma_issue_win(w);
        events += n;
    } while (n);
    return events;
}

void rma_advance_win(struct rma_win *w)
{
    rma_poll_win(w);
    rma_cleanup_win(w);
}

void rma_win_granted(struct rma_win *w, enum win_state s)
{
    if (!w->table.ntargets) { /* nothing waits for this window */
        rma_win_goto(w, s);
        return;
    }
    w->kicking = 1;
    rma_win_goto(w, s);
    sched_point(); /* another thread may call an operation; near.h lets it do so without the lock */
    rma_win_kick(w);
    w->kicking = 0;
    rma_win_goto(w, s);
}
