/* win.c - windows and their synchronization (MPI-3.1 11.2, 11.5). Only the flushes and the order
 * are inline. Start with make() and PMPI_Win_lock(). */
#include "api/api.h"

#include <limits.h>
#include <string.h>

#include "api/bindings.h"
#include "base/atomic.h"
#include "base/bare.h"
#include "obj/attr.h"
#include "obj/errhandler.h"
#include "progress/progress.h"
#include "rma/near/near.h"
#include "rma/rma.h"

int api_win(MPI_Win h, struct rma_win **out)
{
    struct rma_near_table *room = rma_near_self();
    /* handle 0 finds `none`, the entry for "no window" */
    struct rma_win_near *known = rma_near_win(room, h);
    /* struct rma_win begins with struct rma_win_near */
    *out = known && known != &room->none ? (struct rma_win *)known : obj_find(OBJ_WIN, h);
    if (*out)
        return MPI_SUCCESS;
    if (rma_win_find_revoked(h))
        return err_make(MPIX_ERR_REVOKED, "%s: window %#x was revoked", proc->call, (unsigned)h);
    if (h == MPI_WIN_NULL)
        return err_make(MPI_ERR_WIN, "%s: the window is MPI_WIN_NULL", proc->call);
    return err_make(MPI_ERR_WIN, "%s: window handle %#x does not exist", proc->call, (unsigned)h);
}

int api_win_local(MPI_Win h, struct rma_win **out)
{
    struct rma_win *w = rma_win_find_revoked(h);
    if (!w)
        return api_win(h, out);
    *out = w;
    return MPI_SUCCESS;
}

/* For synchronization calls. Not MPI_SUCCESS: api_sync_apart() has the rest. */
static inline int win_plain(MPI_Win h, struct rma_win **out)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *known = rma_near_win(room, h);
    if (__builtin_expect(!known || known == &room->none, 0))
        return api_sync_searched(h, out);
    *out = (struct rma_win *)known;
    return MPI_SUCCESS;
}

#define UNLESS_PLAIN(...)                                                                          \
    if (__builtin_expect(err, 0))                                                                  \
        return api_sync_apart(err, __VA_ARGS__, __builtin_return_address(0))

int api_win_root(MPI_Win h, struct rma_win **out)
{
    int err = api_win(h, out);
    if (!err)
        *out = rma_win_root(*out);
    return err;
}

int api_fail_win(MPI_Win win, int err, const char *call)
{
    if (proc->threaded)
        lock_acquire(&proc->lock);
    struct rma_win *w = obj_find(OBJ_WIN, win);
    w = w ? w : rma_win_find_revoked(win);
    struct errhandler *e = w ? errhandler_ref(*rma_win_errhandler(w)) : NULL;
    char name[MPI_MAX_OBJECT_NAME] = "";
    if (w)
        strcpy(name, rma_win_name(w));
    err_name(err, call);
    if (proc->threaded)
        lock_release(&proc->lock);
    if (!e)
        return api_fail_comm(MPI_COMM_NULL, err, call);
    err = err_report_win(e, win, name, err, call);
    api_errhandler_drop(e);
    return api_returned(err, call);
}

static int handle_of(struct rma_win *w)
{
    return ((struct obj *)w)->handle;
}

/* --- creation --------------------------------------------------------------------------------- */

typedef int maker(MPI_Aint size, MPI_Aint unit, struct info *info, struct comm *c, void *base,
                  struct rma_win **out);

static int made(MPI_Comm comm, MPI_Win *win, struct rma_win *w, int err)
{
    if (!err)
        *win = handle_of(w);
    return api_exit(comm, err);
}

static int make(const char *call, enum watch_call what, const void *site, maker *fn,
                MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base,
                MPI_Win *win)
{
    api_enter(call);
    struct info *i;
    struct comm *c;
    struct rma_win *w = NULL;
    int err = api_info(info, &i);
    if (!err)
        err = api_intracomm(comm, &c);
    if (!err)
        err = api_pointer(win, "win");
    if (!err && (what == WATCH_WIN_ALLOCATE || what == WATCH_WIN_ALLOCATE_SHARED))
        err = api_pointer(base, "baseptr");
    WATCH_RUN(err, fn(size, unit, i, c, base, &w), .call = what, .comm = c, .site = site);
    if (!err)
        watch_win_made(c, w, site);
    return made(comm, win, w, err);
}

static int allocate(MPI_Aint size, MPI_Aint unit, struct info *info, struct comm *c, void *base,
                    struct rma_win **out)
{
    return rma_replicas_allocate(size, unit, info, c, base, out);
}

static int shared(MPI_Aint size, MPI_Aint unit, struct info *info, struct comm *c, void *base,
                  struct rma_win **out)
{
    return rma_win_allocate_shared(size, unit, info, c, base, out);
}

static int dynamic(MPI_Aint size, MPI_Aint unit, struct info *info, struct comm *c, void *base,
                   struct rma_win **out)
{
    (void)size, (void)unit, (void)base;
    return rma_win_create_dynamic(info, c, out);
}

int PMPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win *win)
{
    return make("MPI_Win_create", WATCH_WIN_CREATE, __builtin_return_address(0), api_win_create,
                size, disp_unit, info, comm, base, win);
}
API_ALIAS(MPI_Win_create);

int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win *win)
{
    return make("MPI_Win_create_c", WATCH_WIN_CREATE, __builtin_return_address(0), api_win_create,
                size, disp_unit, info, comm, base, win);
}
API_ALIAS(MPI_Win_create_c);

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                      MPI_Win *win)
{
    return make("MPI_Win_allocate", WATCH_WIN_ALLOCATE, __builtin_return_address(0), allocate,
                size, disp_unit, info, comm, baseptr, win);
}
API_ALIAS(MPI_Win_allocate);

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void *baseptr, MPI_Win *win)
{
    return make("MPI_Win_allocate_c", WATCH_WIN_ALLOCATE, __builtin_return_address(0), allocate,
                size, disp_unit, info, comm, baseptr, win);
}
API_ALIAS(MPI_Win_allocate_c);

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                             void *baseptr, MPI_Win *win)
{
    return make("MPI_Win_allocate_shared", WATCH_WIN_ALLOCATE_SHARED, __builtin_return_address(0),
                shared, size, disp_unit, info, comm, baseptr, win);
}
API_ALIAS(MPI_Win_allocate_shared);

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                               void *baseptr, MPI_Win *win)
{
    return make("MPI_Win_allocate_shared_c", WATCH_WIN_ALLOCATE_SHARED, __builtin_return_address(0),
                shared, size, disp_unit, info, comm, baseptr, win);
}
API_ALIAS(MPI_Win_allocate_shared_c);

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    return make("MPI_Win_create_dynamic", WATCH_WIN_CREATE_DYNAMIC, __builtin_return_address(0),
                dynamic, 0, 1, info, comm, NULL, win);
}
API_ALIAS(MPI_Win_create_dynamic);

static __attribute__((noinline, cold)) int free_watched(struct rma_win *w, const void *site)
{
    struct comm *c = comm_ref(rma_win_comm(w));
    int err = MPI_SUCCESS;
    WATCH_RUN(err, rma_replicas_free(w), .call = WATCH_WIN_FREE, .win = w, .site = site);
    if (!err)
        watch_win_freed(c);
    comm_drop(c);
    return err;
}

/* Others may have left calls that they would have made: no checker compares this one. */
static __attribute__((noinline, cold)) int free_revoked(struct rma_win *w)
{
    struct comm *c = comm_ref(rma_win_comm(w));
    int err = rma_replicas_free(w);
    if (!err && watch_wants(WATCH_OBJECTS))
        watch_win_freed(c);
    comm_drop(c);
    return err;
}

/* To a watcher it is a flush. */
static __attribute__((noinline, cold)) int free_dup(struct rma_win *w, const void *site)
{
    const struct watch_sync s = {.call = WATCH_FLUSH_ALL, .site = site};
    if (watch_wants(WATCH_SYNC))
        watch_sync_begins(w, &s);
    return rma_replicas_free(w);
}

int PMPI_Win_free(MPI_Win *win)
{
    api_enter("MPI_Win_free");
    struct rma_win *w;
    int err = api_pointer(win, "win");
    MPI_Win h = err ? MPI_WIN_NULL : *win;
    if (!err)
        err = api_win_local(h, &w);
    if (!err && watch_wants(WATCH_MEMORY) && rma_win_flavor(w) == MPI_WIN_FLAVOR_CREATE)
        api_watch_window(rma_win_attr(w, MPI_WIN_BASE), *(MPI_Aint *)rma_win_attr(w, MPI_WIN_SIZE));
    if (!err && rma_win_channel(w))
        err = free_dup(w, __builtin_return_address(0));
    else if (!err && rma_win_is_revoked(w))
        err = free_revoked(w);
    else if (!err)
        err = watch_wants(WATCH_OBJECTS) ? free_watched(w, __builtin_return_address(0))
                                         : rma_replicas_free(w);
    if (!err)
        *win = MPI_WIN_NULL;
    return api_exit_win(h, err);
}
API_ALIAS(MPI_Win_free);

/* --- memory ----------------------------------------------------------------------------------- */

int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    api_enter("MPI_Win_attach");
    struct rma_win *w;
    int err = api_win(win, &w);
    if (!err) {
        api_watch_window(base, size);
        err = rma_win_attach(w, base, size);
    }
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_attach);

int PMPI_Win_detach(MPI_Win win, const void *base)
{
    api_enter("MPI_Win_detach");
    struct rma_win *w;
    int err = api_win(win, &w);
    if (!err)
        err = rma_win_detach(w, base);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_detach);

/* Limit of the calls without _c and of the attribute: an int. */
int api_unit_fits(MPI_Aint unit)
{
    return unit <= INT_MAX ? MPI_SUCCESS
                           : err_make(MPI_ERR_VALUE_TOO_LARGE,
                                      "%s: the displacement unit is %lld, more than an int holds",
                                      proc->call, (long long)unit);
}

/* as_int: where the call without _c gets the unit. */
static int query(const char *call, MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                 const int *as_int, void *baseptr)
{
    api_enter(call);
    struct rma_win *w;
    int err = api_win(win, &w);
    if (!err)
        err = api_pointer(size, "size");
    if (!err)
        err = api_pointer(baseptr, "baseptr");
    if (!err)
        err = rma_win_shared_query(w, rank, size, disp_unit, baseptr);
    if (!err && as_int)
        err = api_unit_fits(*disp_unit);
    return api_exit_win(win, err);
}

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    MPI_Aint unit = 0;
    int err = query("MPI_Win_shared_query", win, rank, size, &unit, disp_unit, baseptr);
    if (!err && disp_unit)
        *disp_unit = (int)unit;
    return err;
}
API_ALIAS(MPI_Win_shared_query);

int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                            void *baseptr)
{
    MPI_Aint unit = 0;
    int err = query("MPI_Win_shared_query_c", win, rank, size, &unit, NULL, baseptr);
    if (!err && disp_unit)
        *disp_unit = unit;
    return err;
}
API_ALIAS(MPI_Win_shared_query_c);

/* --- active target ---------------------------------------------------------------------------- */

int PMPI_Win_fence(int assert, MPI_Win win)
{
    if (API_WATCHED())
        return api_watch(WATCH_FENCE, win, assert, 0, 0, __builtin_return_address(0));
    api_enter_running("MPI_Win_fence");
    struct rma_win *w;
    int err = win_plain(win, &w);
    UNLESS_PLAIN(WATCH_FENCE, win, assert, 0, 0);
    err = rma_fence(w, assert);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_fence);

int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    if (API_WATCHED())
        return api_watch(WATCH_POST, win, group, assert, 0, __builtin_return_address(0));
    api_enter_running("MPI_Win_post");
    struct rma_win *w;
    struct group *g;
    int err = win_plain(win, &w);
    UNLESS_PLAIN(WATCH_POST, win, group, assert, 0);
    err = api_group(group, &g);
    if (!err)
        err = rma_post(w, g, assert);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_post);

int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    if (API_WATCHED())
        return api_watch(WATCH_START, win, group, assert, 0, __builtin_return_address(0));
    api_enter_running("MPI_Win_start");
    struct rma_win *w;
    struct group *g;
    int err = win_plain(win, &w);
    UNLESS_PLAIN(WATCH_START, win, group, assert, 0);
    err = api_group(group, &g);
    if (!err)
        err = rma_start(w, g, assert);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_start);

int PMPI_Win_complete(MPI_Win win)
{
    if (API_WATCHED())
        return api_watch(WATCH_COMPLETE, win, 0, 0, 0, __builtin_return_address(0));
    api_enter_running("MPI_Win_complete");
    struct rma_win *w;
    int err = win_plain(win, &w);
    UNLESS_PLAIN(WATCH_COMPLETE, win, 0, 0, 0);
    err = rma_complete(w);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_complete);

int PMPI_Win_wait(MPI_Win win)
{
    if (API_WATCHED())
        return api_watch(WATCH_WAIT, win, 0, 0, 0, __builtin_return_address(0));
    api_enter_running("MPI_Win_wait");
    struct rma_win *w;
    int err = api_win(win, &w);
    if (!err)
        err = rma_wait(w);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_wait);

int PMPI_Win_test(MPI_Win win, int *flag)
{
    if (API_WATCHED())
        return api_watch_test(win, flag, __builtin_return_address(0));
    api_enter_running("MPI_Win_test");
    struct rma_win *w;
    int err = api_win(win, &w);
    if (!err)
        err = api_pointer(flag, "flag");
    if (!err)
        err = rma_test(w, flag);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_test);

/* --- passive target --------------------------------------------------------------------------- */

BARE int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win);
BARE int PMPI_Win_unlock(int rank, MPI_Win win);
BARE int PMPI_Win_lock_all(int assert, MPI_Win win);
BARE int PMPI_Win_unlock_all(MPI_Win win);

int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    if (API_WATCHED())
        return api_watch(WATCH_LOCK, win, lock_type, rank, assert, __builtin_return_address(0));
    api_enter_running("MPI_Win_lock");
    struct rma_win *w;
    int err = win_plain(win, &w);
    UNLESS_PLAIN(WATCH_LOCK, win, lock_type, rank, assert);
    err = rma_lock(w, lock_type, rank, assert);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_lock);

int PMPI_Win_unlock(int rank, MPI_Win win)
{
    if (API_WATCHED())
        return api_watch(WATCH_UNLOCK, win, rank, 0, 0, __builtin_return_address(0));
    api_enter_running("MPI_Win_unlock");
    struct rma_win *w;
    int err = win_plain(win, &w);
    UNLESS_PLAIN(WATCH_UNLOCK, win, rank, 0, 0);
    err = rma_unlock(w, rank);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_unlock);

int PMPI_Win_lock_all(int assert, MPI_Win win)
{
    if (API_WATCHED())
        return api_watch(WATCH_LOCK_ALL, win, assert, 0, 0, __builtin_return_address(0));
    api_enter_running("MPI_Win_lock_all");
    struct rma_win *w;
    int err = win_plain(win, &w);
    UNLESS_PLAIN(WATCH_LOCK_ALL, win, assert, 0, 0);
    err = rma_lock_all(w, assert);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_lock_all);

int PMPI_Win_unlock_all(MPI_Win win)
{
    if (API_WATCHED())
        return api_watch(WATCH_UNLOCK_ALL, win, 0, 0, 0, __builtin_return_address(0));
    api_enter_running("MPI_Win_unlock_all");
    struct rma_win *w;
    int err = win_plain(win, &w);
    UNLESS_PLAIN(WATCH_UNLOCK_ALL, win, 0, 0, 0);
    err = rma_unlock_all(w);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_unlock_all);

/* Only a full fence, if a flush is no more than that. Now and then it takes the slow path, which
 * makes progress: programs spin on flush. */
static inline int fast_flush(MPI_Win win, int rank)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *w;
    if (__builtin_expect(!room, 0) || __builtin_expect(!(w = rma_near_win(room, win)), 0) ||
        __builtin_expect(!rma_near_flush(w, rank), 0))
        return 0;
    fence_full(); /* MEM_SYNC: as in rma_flush(), with the same pairs */
    return 1;
}

/* The same for flush_local, but where a put can be in a bundle: such a put is complete here, and
 * rma_flush_local() has to know that the program does not wait for more. */
static inline int fast_flush_local(MPI_Win win, int rank)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *w = room ? rma_near_win(room, win) : NULL;
    return w && !w->by_cma && fast_flush(win, rank);
}

/* The same for all ranks, and for flush_local_all. */
static inline int fast_flush_all(MPI_Win win)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *w = room ? rma_near_win(room, win) : NULL;
    if (!w || !atomic_load_explicit(&w->all_here, memory_order_relaxed) ||
        (!atomic_load_explicit(&w->quiet, memory_order_acquire) && /* near.h (b) */
         !atomic_load_explicit(&w->quiet_each, memory_order_acquire)) ||
        counter_wraps(&w->flush_alls))
        return 0;
    fence_full(); /* MEM_SYNC: as in rma_flush(), with the same pairs */
    return 1;
}

/* The first arguments are those of the fast functions, where they lie. */
static __attribute__((noinline, cold)) int flush_slow(int rank, MPI_Win win, const char *call,
                                                      int watched, int (*fn)(struct rma_win *, int),
                                                      const void *site)
{
    if (API_WATCHED())
        return api_watch(watched, win, rank, 0, 0, site);
    if (watched != WATCH_ORDER &&
        rma_near_lane_flush(win, rank, watched == WATCH_FLUSH_LOCAL))
        return MPI_SUCCESS;
    api_enter_running(call);
    struct rma_win *w;
    int err = win_plain(win, &w);
    if (__builtin_expect(err, 0))
        return api_sync_apart(err, watched, win, rank, 0, 0, site);
    uint64_t polls = progress_polls();
    err = fn(w, rank);
    if (!err && watched != WATCH_ORDER && polls == progress_polls()) /* programs flush in a loop */
        progress_test();
    return api_exit_win(win, err);
}

int PMPI_Win_flush(int rank, MPI_Win win)
{
    return fast_flush(win, rank) ? MPI_SUCCESS
                                 : flush_slow(rank, win, "MPI_Win_flush", WATCH_FLUSH, rma_flush,
                                              __builtin_return_address(0));
}
API_ALIAS(MPI_Win_flush);

/* Where a flush is a fence, so is this. */
int PMPIX_Win_order(int rank, MPI_Win win)
{
    return fast_flush(win, rank) ? MPI_SUCCESS
                                 : flush_slow(rank, win, "MPIX_Win_order", WATCH_ORDER, rma_order,
                                              __builtin_return_address(0));
}
API_ALIAS(MPIX_Win_order);

int PMPI_Win_flush_local(int rank, MPI_Win win)
{
    return fast_flush_local(win, rank)
               ? MPI_SUCCESS
               : flush_slow(rank, win, "MPI_Win_flush_local", WATCH_FLUSH_LOCAL, rma_flush_local,
                            __builtin_return_address(0));
}
API_ALIAS(MPI_Win_flush_local);

static __attribute__((noinline, cold)) int flush_all_slow(const char *call, int watched,
                                                          MPI_Win win, int (*fn)(struct rma_win *),
                                                          const void *site)
{
    if (API_WATCHED())
        return api_watch(watched, win, 0, 0, 0, site);
    if (rma_near_lanes_flush(win, watched == WATCH_FLUSH_LOCAL_ALL))
        return MPI_SUCCESS;
    api_enter_running(call);
    struct rma_win *w;
    int err = win_plain(win, &w);
    if (__builtin_expect(err, 0))
        return api_sync_apart(err, watched, win, 0, 0, 0, site);
    err = fn(w);
    return api_exit_win(win, err);
}

int PMPI_Win_flush_all(MPI_Win win)
{
    return fast_flush_all(win) ? MPI_SUCCESS
                               : flush_all_slow("MPI_Win_flush_all", WATCH_FLUSH_ALL, win,
                                                rma_flush_all, __builtin_return_address(0));
}
API_ALIAS(MPI_Win_flush_all);

int PMPI_Win_flush_local_all(MPI_Win win)
{
    return fast_flush_all(win) ? MPI_SUCCESS
                               : flush_all_slow("MPI_Win_flush_local_all", WATCH_FLUSH_LOCAL_ALL,
                                                win, rma_flush_local_all,
                                                __builtin_return_address(0));
}
API_ALIAS(MPI_Win_flush_local_all);

int PMPI_Win_sync(MPI_Win win)
{
    api_enter("MPI_Win_sync");
    struct rma_win *w;
    int err = api_win(win, &w);
    if (!err)
        err = rma_sync(w);
    return api_exit_win(win, err);
}
API_ALIAS(MPI_Win_sync);
