/* sync_calls.c - synchronization calls of windows while a watcher looks on, and of windows with
 * copies. The public functions jump here from the cold side of a test. */
#include "api/api.h"

#include "progress/progress.h"
#include "rma/rma.h"

static const char *const names[WATCH_SYNCS] = {
    [WATCH_FENCE] = "MPI_Win_fence", [WATCH_POST] = "MPI_Win_post",
    [WATCH_START] = "MPI_Win_start", [WATCH_COMPLETE] = "MPI_Win_complete",
    [WATCH_WAIT] = "MPI_Win_wait", [WATCH_TEST] = "MPI_Win_test", [WATCH_LOCK] = "MPI_Win_lock",
    [WATCH_UNLOCK] = "MPI_Win_unlock", [WATCH_LOCK_ALL] = "MPI_Win_lock_all",
    [WATCH_UNLOCK_ALL] = "MPI_Win_unlock_all", [WATCH_FLUSH] = "MPI_Win_flush",
    [WATCH_FLUSH_ALL] = "MPI_Win_flush_all", [WATCH_FLUSH_LOCAL] = "MPI_Win_flush_local",
    [WATCH_FLUSH_LOCAL_ALL] = "MPI_Win_flush_local_all", [WATCH_ORDER] = "MPIX_Win_order"};

static int fence(struct rma_win *w, int assert, const void *site)
{
    int err = MPI_SUCCESS;
    WATCH_RUN(err, rma_fence(w, assert), .call = WATCH_WIN_FENCE, .win = w, .assert = assert,
              .site = site);
    return err;
}

static int flushed(struct rma_win *w, const struct watch_sync *s)
{
    int err = s->call == WATCH_FLUSH         ? rma_flush(w, s->rank)
              : s->call == WATCH_FLUSH_ALL   ? rma_flush_all(w)
              : s->call == WATCH_FLUSH_LOCAL ? rma_flush_local(w, s->rank)
                                                 : rma_flush_local_all(w);
    return err;
}

static int core(struct rma_win *w, const struct watch_sync *s)
{
    switch (s->call) {
    case WATCH_FENCE:
        return fence(w, s->assert, s->site);
    case WATCH_POST:
        return rma_post(w, s->group, s->assert);
    case WATCH_START:
        return rma_start(w, s->group, s->assert);
    case WATCH_COMPLETE:
        return rma_complete(w);
    case WATCH_WAIT:
        return rma_wait(w);
    case WATCH_TEST:
        return rma_test(w, s->flag);
    case WATCH_LOCK:
        return rma_lock(w, s->type, s->rank, s->assert);
    case WATCH_UNLOCK:
        return rma_unlock(w, s->rank);
    case WATCH_LOCK_ALL:
        return rma_lock_all(w, s->assert);
    case WATCH_UNLOCK_ALL:
        return rma_unlock_all(w);
    case WATCH_ORDER:
        return rma_order(w, s->rank);
    default:
        return flushed(w, s);
    }
}

static int run(MPI_Win win, MPI_Group group, struct watch_sync *s)
{
    struct rma_win *w = NULL;
    int grouped = s->call == WATCH_POST || s->call == WATCH_START;
    api_enter(names[s->call]);
    int err = api_win(win, &w);
    if (!err && grouped)
        err = api_group(group, &s->group);
    if (!err && s->call == WATCH_TEST)
        err = api_pointer(s->flag, "flag");
    uint64_t polls = progress_polls();
    if (!err) {
        watch_sync_begins(w, s);
        err = rma_win_has_copies(w) ? rma_replicas_sync(w, s, core) : core(w, s);
        watch_sync_ended(w, s, err);
    }
    if (!err && polls == progress_polls()) /* programs call it in a loop until a value changes */
        progress_test();
    return api_exit_win(win, err);
}

int api_watch(int call, MPI_Win win, int a, int b, int c, const void *site)
{
    struct watch_sync s = {.call = call, .site = site, .rank = a, .assert = a};
    MPI_Group group = MPI_GROUP_NULL;
    if (s.call == WATCH_LOCK) {
        s.type = a;
        s.rank = b;
        s.assert = c;
    } else if (s.call == WATCH_POST || s.call == WATCH_START) {
        group = a;
        s.assert = b;
    }
    return run(win, group, &s);
}

int api_watch_test(MPI_Win win, int *flag, const void *site)
{
    struct watch_sync s = {.call = WATCH_TEST, .flag = flag, .site = site};
    return run(win, MPI_GROUP_NULL, &s);
}

/* A window with copies is not among those that the inline path finds. */
enum { HAS_COPIES = -1 };

int api_sync_searched(MPI_Win win, struct rma_win **out)
{
    int err = api_win(win, out);
    return !err && rma_win_has_copies(*out) ? HAS_COPIES : err;
}

int api_sync_apart(int err, int call, MPI_Win win, int a, int b, int c, const void *site)
{
    if (err != HAS_COPIES)
        return api_exit_win(win, err);
    if (call == WATCH_FLUSH && rma_mirror_flush(win, a))
        return api_exit_win(win, MPI_SUCCESS);
    api_unlock(); /* the call begins again */
    return api_watch(call, win, a, b, c, site);
}
