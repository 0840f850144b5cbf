/* win_space.c - coherent windows: MPIX_Win_acquire and its kin, and the spaces. */
#include "api/api.h"

#include "rma/rma.h"

static int window(MPI_Win win, struct rma_win **w, const void *a, const void *b, const void *c,
                  const char *name)
{
    int err = api_win_root(win, w);
    if (!err && (!a || !b || !c))
        err = err_make(MPI_ERR_ARG, "%s: %s is NULL", proc->call, name);
    return err;
}

static int acquire(MPI_Win win, const struct rma_range *r, int mode, void *ptr)
{
    struct rma_win *w;
    int err = window(win, &w, ptr, ptr, ptr, "ptr");
    if (!err)
        err = rma_coherent_acquire(w, r, mode, ptr);
    return api_exit_win(win, err);
}

static int over_range(MPI_Win win, const struct rma_range *r,
                      int (*fn)(struct rma_win *w, const struct rma_range *r))
{
    struct rma_win *w;
    int err = api_win_root(win, &w);
    if (!err)
        err = fn(w, r);
    return api_exit_win(win, err);
}

int PMPIX_Space_find(const char *name, int *space)
{
    api_enter("MPIX_Space_find");
    int err = api_pointer(name, "name");
    if (!err)
        err = api_pointer(space, "space");
    if (!err)
        err = rma_space_find(name, space);
    return api_exit(MPI_COMM_NULL, err);
}
API_ALIAS(MPIX_Space_find);

int PMPIX_Win_acquire(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space, int mode, void *ptr)
{
    api_enter("MPIX_Win_acquire");
    return acquire(win, &(struct rma_range){disp, bytes, space, 0, NULL}, mode, ptr);
}
API_ALIAS(MPIX_Win_acquire);

int PMPIX_Win_release(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space)
{
    api_enter("MPIX_Win_release");
    return over_range(win, &(struct rma_range){disp, bytes, space, 0, NULL}, rma_coherent_release);
}
API_ALIAS(MPIX_Win_release);

int PMPIX_Win_acquire_on_stream(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space, int mode,
                                void *stream, void *ptr)
{
    api_enter("MPIX_Win_acquire_on_stream");
    return acquire(win, &(struct rma_range){disp, bytes, space, 1, stream}, mode, ptr);
}
API_ALIAS(MPIX_Win_acquire_on_stream);

int PMPIX_Win_release_on_stream(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space, void *stream)
{
    api_enter("MPIX_Win_release_on_stream");
    return over_range(win, &(struct rma_range){disp, bytes, space, 1, stream},
                      rma_coherent_release);
}
API_ALIAS(MPIX_Win_release_on_stream);

int PMPIX_Win_prefetch(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space)
{
    api_enter("MPIX_Win_prefetch");
    return over_range(win, &(struct rma_range){disp, bytes, space, 0, NULL}, rma_coherent_prefetch);
}
API_ALIAS(MPIX_Win_prefetch);

int PMPIX_Win_evict(MPI_Win win, MPI_Aint disp, MPI_Aint bytes, int space)
{
    api_enter("MPIX_Win_evict");
    return over_range(win, &(struct rma_range){disp, bytes, space, 0, NULL}, rma_coherent_evict);
}
API_ALIAS(MPIX_Win_evict);

int PMPIX_Win_tile(MPI_Win win, MPI_Aint disp, int space, int *state, int *holds, MPI_Count *valid)
{
    api_enter("MPIX_Win_tile");
    struct rma_win *w;
    int err = window(win, &w, state, holds, valid, "state, holds or valid");
    if (!err)
        err = rma_coherent_tile(w, disp, space, state, holds, valid);
    return api_exit_win(win, err);
}
API_ALIAS(MPIX_Win_tile);

int PMPIX_Space_launch(int space, void *stream, MPIX_Space_kernel *kernel, int n, void *const ptr[],
                       const void *arg, int bytes)
{
    api_enter("MPIX_Space_launch");
    return api_exit(MPI_COMM_NULL, rma_space_launch(space, stream, kernel, n, ptr, arg, bytes));
}
API_ALIAS(MPIX_Space_launch);

int PMPIX_Space_wait(int space, void *stream)
{
    api_enter("MPIX_Space_wait");
    return api_exit(MPI_COMM_NULL, rma_space_wait(space, stream));
}
API_ALIAS(MPIX_Space_wait);
