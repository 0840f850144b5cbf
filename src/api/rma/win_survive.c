/* win_survive.c - windows after failures: revoke, shrink, recover, and which members have failed.
 * Start with PMPIX_Win_shrink(). */
#include "api/api.h"

#include "obj/failed.h"
#include "p2p/p2p.h"
#include "rma/rma.h"
#include "watch/watch.h"

int PMPIX_Win_revoke(MPI_Win win)
{
    api_enter("MPIX_Win_revoke");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err)
        rma_win_revoke(w);
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_revoke);

int PMPIX_Win_is_revoked(MPI_Win win, int *flag)
{
    api_enter("MPIX_Win_is_revoked");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err) {
        p2p_see_failed(); /* polls: a notice may have come */
        *flag = rma_win_is_revoked(w);
    }
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_is_revoked);

int PMPIX_Win_get_failed(MPI_Win win, MPI_Group *failedgrp)
{
    api_enter("MPIX_Win_get_failed");
    struct rma_win *w;
    struct rankmap *m = NULL;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_pointer(failedgrp, "failedgrp");
    if (!err)
        p2p_see_failed();
    if (!err && !(m = failed_map(rma_win_comm(w), comm_failed)))
        err = err_make(MPI_ERR_NO_MEM, "MPIX_Win_get_failed: no memory for the group");
    if (!err)
        err = api_group_publish(m, rma_win_comm(w)->session, failedgrp);
    rankmap_drop(m);
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_get_failed);

int PMPIX_Win_shrink(MPI_Win win, MPI_Win *newwin)
{
    api_enter("MPIX_Win_shrink");
    struct rma_win *w, *n;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_pointer(newwin, "newwin");
    if (!err)
        err = rma_replicas_shrink(w, &n);
    if (!err) {
        *newwin = ((struct obj *)n)->handle;
        watch_win_made(rma_win_comm(w), n, __builtin_return_address(0));
    }
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_shrink);

int PMPIX_Win_recover(MPI_Win win, int failed_rank, void *baseptr)
{
    api_enter("MPIX_Win_recover");
    struct rma_win *w;
    int err = api_win_local(win, &w);
    if (!err)
        err = api_pointer(baseptr, "baseptr");
    if (!err)
        err = rma_replicas_recover(w, failed_rank, baseptr);
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_recover);
