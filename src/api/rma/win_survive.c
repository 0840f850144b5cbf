/* win_survive.c - windows after failures. Start with PMPIX_Win_shrink(). */
#include "api/api.h"

#include "obj/failed.h"
#include "p2p/p2p.h"
#include "rma/rma.h"
#include "watch/watch.h"

int PMPIX_Win_get_failed(MPI_Win win, MPI_Group *failedgrp)
{
    api_enter("MPIX_Win_get_failed");
    struct rma_win *w;
    struct rankmap *m = NULL;
    int err = api_win(win, &w);
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
    int err = api_win(win, &w);
    if (!err)
        err = api_pointer(newwin, "newwin");
    if (!err)
        err = rma_win_shrink(w, &n);
    if (!err) {
        *newwin = ((struct obj *)n)->handle;
        watch_win_made(rma_win_comm(w), n, __builtin_return_address(0));
    }
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_shrink);
