/* win_memhandle.c - memory handles of dynamic windows: displacements for all calls. */
#include "api/api.h"

#include "rma/rma.h"

int PMPIX_Memhandle_create(MPI_Win win, void *base, MPI_Aint size, MPI_Aint *handle)
{
    api_enter("MPIX_Memhandle_create");
    struct rma_win *w;
    uint64_t disp = 0;
    int err = api_win(win, &w);
    if (!err)
        err = api_pointer(handle, "handle");
    if (!err)
        err = rma_memhandle_create(w, base, size, &disp);
    if (!err)
        *handle = (MPI_Aint)disp;
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Memhandle_create);

int PMPIX_Memhandle_free(MPI_Win win, MPI_Aint handle)
{
    api_enter("MPIX_Memhandle_free");
    struct rma_win *w;
    int err = api_win(win, &w);
    if (!err)
        err = rma_memhandle_free(w, (uint64_t)handle);
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Memhandle_free);
