/* win_dup.c - MPIX_Win_idup: a duplicate of a window, without its other members. It has a request
 * since others might take a message for it; here the request is complete. */
#include "api/api.h"

#include "rma/rma.h"

int PMPIX_Win_idup(MPI_Win win, MPI_Info info, MPI_Win *newwin, MPI_Request *request)
{
    api_enter("MPIX_Win_idup");
    struct rma_win *w, *dup;
    struct info *i;
    int err = api_win(win, &w);
    if (!err)
        err = api_info(info, &i);
    if (!err)
        err = api_pointer(newwin, "newwin");
    if (!err)
        err = api_pointer(request, "request");
    if (!err)
        err = rma_win_idup(w, i, &dup);
    if (!err) {
        *newwin = ((struct obj *)dup)->handle;
        *request = REQUEST_COMPLETE;
    }
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_idup);
