/* win_begin.c - MPIX_Win_iallocate and MPIX_Win_icreate. Start with begin(). */
#include "api/api.h"

#include "dt/dt.h"
#include "rma/rma.h"
#include "watch/watch.h"

void api_watch_window(const void *base, MPI_Aint size)
{
    if (base)
        watch_memory(base, size, dt_find(MPI_BYTE), 0, "window memory");
}

int api_win_create(MPI_Aint size, MPI_Aint unit, struct info *info, struct comm *c, void *base,
                   struct rma_win **out)
{
    api_watch_window(base, size);
    return rma_win_create(base, size, unit, info, c, out);
}

struct wanted {
    MPI_Aint size, unit;
    void *base; /* where to store it, or the memory */
};

/* A race checker exchanges with all members what it must know of a window. It may not wait behind
 * the program's back, so the call does it all. */
static int at_once(const struct wanted *x, struct info *i, struct comm *c, int allocates,
                   const void *site, MPI_Win *win)
{
    struct rma_win *w;
    int err = allocates ? rma_win_allocate(x->size, x->unit, i, c, x->base, &w)
                        : rma_win_create(x->base, x->size, x->unit, i, c, &w);
    if (err)
        return err;
    watch_win_made(c, w, site);
    *win = ((struct obj *)w)->handle;
    return MPI_SUCCESS;
}

static int run(const struct wanted *x, struct info *i, struct comm *c, int allocates,
               const void *site, MPI_Win *win, MPI_Request *request)
{
    struct request *r;
    int err, waits = watch_wants(WATCH_OPS);
    if (waits && (err = at_once(x, i, c, allocates, site, win)) == MPI_SUCCESS) {
        *request = REQUEST_COMPLETE;
        return MPI_SUCCESS;
    }
    err = waits       ? rma_win_refused(c, err, &r)
          : allocates ? rma_win_iallocate(x->size, x->unit, i, c, x->base, win, &r)
                      : rma_win_icreate(x->base, x->size, x->unit, i, c, win, &r);
    if (!err && (err = request_publish(r, request)) != MPI_SUCCESS)
        rma_win_forget(r);
    return err;
}

static int begin(const char *call, enum watch_call what, const void *site, const struct wanted *x,
                 MPI_Info info, MPI_Comm comm, MPI_Win *win, MPI_Request *request)
{
    api_enter(call);
    struct info *i;
    struct comm *c;
    int allocates = what == WATCH_WIN_IALLOCATE, err = api_info(info, &i);
    if (!err)
        err = api_intracomm(comm, &c);
    if (!err)
        err = api_pointer(win, "win");
    if (!err)
        err = api_pointer(request, "request");
    if (!err && allocates)
        err = api_pointer(x->base, "baseptr");
    if (!err && !allocates)
        api_watch_window(x->base, x->size);
    if (!err)
        *win = MPI_WIN_NULL;
    WATCH_RUN(err, run(x, i, c, allocates, site, win, request), .call = what, .comm = c,
              .site = site);
    return api_exit_begun(comm, err, request);
}

int PMPIX_Win_iallocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void *baseptr, MPI_Win *win, MPI_Request *request)
{
    struct wanted x = {size, disp_unit, baseptr};
    return begin("MPIX_Win_iallocate", WATCH_WIN_IALLOCATE, __builtin_return_address(0), &x, info,
                 comm, win, request);
}
API_ALIAS(MPIX_Win_iallocate);

int PMPIX_Win_icreate(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win *win, MPI_Request *request)
{
    struct wanted x = {size, disp_unit, base};
    return begin("MPIX_Win_icreate", WATCH_WIN_ICREATE, __builtin_return_address(0), &x, info, comm,
                 win, request);
}
API_ALIAS(MPIX_Win_icreate);
