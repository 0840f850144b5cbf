/* revoked_epochs.c - the epochs of a window that was revoked. Start with rma_epochs_revoke().
 *
 * At the revocation those operations end that wait for the opening of a fence epoch, for posts, or
 * for a lock that was not asked for: nothing of them has left. Locks that were asked for are denied
 * by their targets, or granted. All else is answered by its target, which keeps the window until
 * this process is in MPI_Win_free. The program ends no epoch any more, so MPI_Win_free and
 * MPIX_Win_shrink do. */
#include "rma/sync/sync_types.h"

/* Elements in CALLED, or all. */
static void targets_end(struct rma_win *w, int all)
{
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = rma_target_next(w, t))
        if (!(t->flags & TARGET_FAILED) && (all || t->state == TARGET_LOCK_CALLED))
            rma_target_peer_failed(t);
}

void rma_epochs_revoke(struct rma_win *w)
{
    targets_end(w, rma_in(w, SET_BARRIER_OUT) || rma_in(w, SET_POSTS_OUT));
    rma_note_requests_revoke(w);
    rma_win_active(w); /* its polls find what else has ended */
}

/* Packets of evicted elements may be under way to members without element, and after a death their
 * answers were not counted. They come before the request that is answered here. */
void rma_evicted_wait(struct rma_win *w)
{
    if (!w->dead || !rma_pvar(w, PVAR_RMA_EVICTIONS))
        return;
    for (int rank = 0; rank < w->size; rank++)
        if (rank != w->rank && !rma_target_find(w, rank) && !boot_failed(rma_world(w, rank)))
            (void)rma_request_alone(w, rank, RMA_F_DONE);
}

void rma_revoked_end(struct rma_win *w)
{
    rma_switch_wait(w);
    (void)rma_dups_end(w);
    if (rma_bundles_due(w))
        (void)rma_bundles_end(w, NULL);
    targets_end(w, 0);
    if (w->table.ntargets || w->acks)
        (void)rma_complete_all(w, RMA_F_DONE);
    rma_targets_drop(w);
    rma_barriers_wait(w, 0);
    w->fence.barriers = 0; /* near ones stay open */
    for (unsigned i = 0; i < w->nears; i++)
        w->near.near[i].started = 0;
    rma_access_over(w);
    if (w->expo != EXPO_NONE)
        rma_exposure_over(w);
    rma_near_unlock_all(w);
    w->passive.caller = NULL;
    w->passive.locks = w->passive.nulls = 0;
    if (!rma_in(w, SET_UNSET))
        rma_win_goto(w, WIN_UNSET);
    (void)rma_win_take_err(w);
}
