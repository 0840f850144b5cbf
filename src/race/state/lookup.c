/* lookup.c - what all parts of the checker look up: threads, windows, places, names of calls. Start
 * with race_self(). */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sched.h"
#include "coll/newcomm.h"
#include "race/watched.h"
#include "var/var.h"

_Noreturn void race_no_memory(void)
{
    log_fatal("no memory for the race checker (MPIR_CVAR_RACE)");
}

int race_is_full(void)
{
    return !strcmp(cvar.race, "full");
}

struct race_thread *race_self(void)
{
    struct race *r = proc->race;
    return &r->thread[r->runtime ? r->runtime->number() : 0];
}

int race_is_inside(const struct comm *c)
{
    return !c->remote && !newcomm_is_mixed(c);
}

int race_is_whole(void)
{
    const struct race *r = proc->race;
    const struct race_thread *me = race_self();
    if (r->forks)
        return 0;
    for (int i = 0; i < r->threads; i++) {
        const struct race_thread *t = &r->thread[i];
        if (t != me && race_vclock_of(me->vclock, t->tid) < t->clock)
            return 0;
    }
    return 1;
}

const char *race_call_name(enum race_call call)
{
    static const char *const names[RACE_CALLS] = {
        [RACE_CALL_NONE] = "", [RACE_CALL_FENCE] = "MPI_Win_fence",
        [RACE_CALL_POST] = "MPI_Win_post", [RACE_CALL_START] = "MPI_Win_start",
        [RACE_CALL_COMPLETE] = "MPI_Win_complete", [RACE_CALL_WAIT] = "MPI_Win_wait",
        [RACE_CALL_TEST] = "MPI_Win_test", [RACE_CALL_LOCK] = "MPI_Win_lock",
        [RACE_CALL_UNLOCK] = "MPI_Win_unlock", [RACE_CALL_LOCK_ALL] = "MPI_Win_lock_all",
        [RACE_CALL_UNLOCK_ALL] = "MPI_Win_unlock_all", [RACE_CALL_FLUSH] = "MPI_Win_flush",
        [RACE_CALL_FLUSH_ALL] = "MPI_Win_flush_all",
        [RACE_CALL_FLUSH_LOCAL] = "MPI_Win_flush_local",
        [RACE_CALL_FLUSH_LOCAL_ALL] = "MPI_Win_flush_local_all",
        [RACE_CALL_ORDER] = "MPIX_Win_order", [RACE_CALL_SYNC] = "MPI_Win_sync",
        [RACE_CALL_REQUEST] = "the wait for its request", [RACE_CALL_PUT] = "MPI_Put",
        [RACE_CALL_GET] = "MPI_Get", [RACE_CALL_ACC] = "MPI_Accumulate",
        [RACE_CALL_GACC] = "MPI_Get_accumulate", [RACE_CALL_FOP] = "MPI_Fetch_and_op",
        [RACE_CALL_CAS] = "MPI_Compare_and_swap", [RACE_CALL_LOAD] = "load",
        [RACE_CALL_STORE] = "store", [RACE_CALL_BARRIER] = "MPI_Barrier",
        [RACE_CALL_PUT_NOTE] = "MPIX_Put_notify", [RACE_CALL_GET_NOTE] = "MPIX_Get_notify",
        [RACE_CALL_ACC_NOTE] = "MPIX_Accumulate_notify",
        [RACE_CALL_NOTE] = "its notification"};
    if (call >= RACE_CALLS)
        return proc->race->call_names[call - RACE_CALLS];
    return names[call];
}

const char *race_call_text(unsigned call, uint64_t site)
{
    const char *front = portable_front_call(site);
    return front ? front : race_call_name((enum race_call)call);
}

enum race_call race_call_of(const char *name)
{
    const char **names = proc->race->call_names;
    for (int i = 0; i < RACE_NAMES; i++) {
        if (!names[i])
            names[i] = name;
        if (!strcmp(names[i], name))
            return (enum race_call)(RACE_CALLS + i);
    }
    return RACE_CALL_NONE;
}

/* --- windows ---------------------------------------------------------------------------------- */

struct race_win *race_win_of(uint64_t id)
{
    return map_get(&proc->race->wins, id);
}

struct race_win *race_win_find(struct rma_win *w)
{
    return race_win_of(comm_ctx(rma_win_comm(w)));
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

uint64_t *race_open_numbers(int src, uint64_t win, unsigned channel, uint64_t most, size_t *n)
{
    const struct map *open = &proc->race->open;
    uint64_t *number = malloc((open->count + 1) * sizeof *number);
    size_t at = 0;
    if (!number)
        race_no_memory();
    *n = 0;
    for (struct map_entry *e; (e = map_next(open, &at)) != NULL;) {
        const struct race_batch *b = e->value;
        if (e->key == race_batch_key(src, b->number) && b->win == win && b->channel == channel &&
            b->number <= most)
            number[(*n)++] = b->number;
    }
    qsort(number, *n, sizeof *number, by_number);
    return number;
}

struct race_origin *race_origin_of(struct race_win *x, int world)
{
    struct race_origin *o = map_get(&x->origins, (uint64_t)world + 1);
    if (o)
        return o;
    o = calloc(1, sizeof *o);
    if (!o || map_put(&x->origins, (uint64_t)world + 1, o)) {
        free(o);
        return NULL;
    }
    list_init(&o->posted);
    return o;
}

/* --- places ----------------------------------------------------------------------------------- */

uint64_t race_site_at(uint64_t key)
{
    struct race *r = proc->race;
    void *known = map_get(&r->sites, key);
    if (known)
        return (uint64_t)(uintptr_t)known;
    site_renew();
    uint64_t site = site_portable(key);
    if (site)
        map_put(&r->sites, key, (void *)(uintptr_t)site);
    return site;
}

uint64_t race_site(const void *address)
{
    /* Not every slow function is reached by a jump: then its return address lies here. */
    return race_site_at(site_of_program((uint64_t)(uintptr_t)address));
}
