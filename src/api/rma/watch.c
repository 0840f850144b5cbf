/* watch.c - synchronization calls of windows while a checker watches. The public functions jump
 * here from the cold side of their first test. */
#include "api/api.h"

#include "progress/progress.h"
#include "race/race.h"
#include "rma/rma.h"

static int fence(struct rma_win *w, int assert, const void *site)
{
    int err = MPI_SUCCESS;
    WATCH_RUN(err, rma_fence(w, assert), .call = WATCH_WIN_FENCE, .win = w, .assert = assert,
              .site = site);
    return err;
}

static int flushed(struct rma_win *w, const struct race_sync *s)
{
    int err = s->call == RACE_CALL_FLUSH         ? rma_flush(w, s->rank)
              : s->call == RACE_CALL_FLUSH_ALL   ? rma_flush_all(w)
              : s->call == RACE_CALL_FLUSH_LOCAL ? rma_flush_local(w, s->rank)
                                                 : rma_flush_local_all(w);
    return err;
}

static int core(struct rma_win *w, const struct race_sync *s)
{
    switch (s->call) {
    case RACE_CALL_FENCE:
        return fence(w, s->assert, s->site);
    case RACE_CALL_POST:
        return rma_post(w, s->group, s->assert);
    case RACE_CALL_START:
        return rma_start(w, s->group, s->assert);
    case RACE_CALL_COMPLETE:
        return rma_complete(w);
    case RACE_CALL_WAIT:
        return rma_wait(w);
    case RACE_CALL_TEST:
        return rma_test(w, s->flag);
    case RACE_CALL_LOCK:
        return rma_lock(w, s->type, s->rank, s->assert);
    case RACE_CALL_UNLOCK:
        return rma_unlock(w, s->rank);
    case RACE_CALL_LOCK_ALL:
        return rma_lock_all(w, s->assert);
    case RACE_CALL_UNLOCK_ALL:
        return rma_unlock_all(w);
    default:
        return flushed(w, s);
    }
}

static int run(MPI_Win win, MPI_Group group, struct race_sync *s)
{
    struct rma_win *w = NULL;
    int grouped = s->call == RACE_CALL_POST || s->call == RACE_CALL_START;
    api_enter(race_call_name(s->call));
    int err = api_win(win, &w);
    if (!err && grouped)
        err = api_group(group, &s->group);
    if (!err && s->call == RACE_CALL_TEST)
        err = api_pointer(s->flag, "flag");
    if (!err && proc->race)
        race_before(w, s);
    uint64_t polls = progress_polls();
    if (!err)
        err = core(w, s);
    if (w && proc->race)
        race_after(w, s, err);
    if (!err && polls == progress_polls()) /* programs call it in a loop until a value changes */
        progress_test();
    return api_exit_win(win, err);
}

int api_watch(int call, MPI_Win win, int a, int b, int c, const void *site)
{
    struct race_sync s = {.call = (enum race_call)call, .site = site, .rank = a, .assert = a};
    MPI_Group group = MPI_GROUP_NULL;
    if (s.call == RACE_CALL_LOCK) {
        s.type = a;
        s.rank = b;
        s.assert = c;
    } else if (s.call == RACE_CALL_POST || s.call == RACE_CALL_START) {
        group = a;
        s.assert = b;
    }
    return run(win, group, &s);
}

int api_watch_test(MPI_Win win, int *flag, const void *site)
{
    struct race_sync s = {.call = RACE_CALL_TEST, .flag = flag, .site = site};
    return run(win, MPI_GROUP_NULL, &s);
}
