/* threads.c - mode full: loads, stores and threads of a program compiled by `mpicc -race`.
 *
 * A load or store has the clock of its thread's last operation, c: the thread's next operation,
 * which has c + 1, comes after it. It is complete at once. So `issued` is c, and `done` c + 1. */
#include "race/race_types.h"

#include <stdlib.h>

#include "base/log.h"
#include "boot/boot.h"
#include "var/var.h"

/* --- loads and stores ------------------------------------------------------------------------- */

static void take_all(struct race *r, const struct race_access *list, unsigned n)
{
    struct race_thread *t = race_self();
    struct race_batch *b = calloc(1, sizeof *b);
    if (!b) {
        r->region.n.lost += n;
        return;
    }
    *b = (struct race_batch){.tid = t->tid, .refs = 1, .issued = t->clock, .done = t->clock + 1,
                             .view = race_view_ref(t->view), .view_no = t->view_no,
                             .fetched = r->fetched};
    for (unsigned i = 0; i < n; i++) {
        const struct race_access *a = &list[i];
        struct race_rec rec = {
            .lane = {a->at, a->len, a->stride, a->blocks},
            .deed = {.kind = a->stores ? RACE_STORE : RACE_LOAD, .esize = 1},
            .weight = 1,
            .call = a->stores ? RACE_CALL_STORE : RACE_CALL_LOAD,
            .site = race_place((uint64_t)(uintptr_t)a->pc),
            .batch = b,
        };
        if (a->len)
            race_region_add(&r->region, &rec);
    }
    t->ended = ++t->clock; /* a thread that hears of it now hears of these, too */
    race_batch_drop(b);
    race_count();
}

/* The program's threads come here from outside of MPI calls, too. */
static struct race *enter(void)
{
    lock_acquire(&proc->lock);
    return proc->race && !proc->race->off ? proc->race : NULL;
}

static void take(const struct race_access *list, unsigned n)
{
    struct race *r = enter();
    if (r)
        take_all(r, list, n);
    lock_release(&proc->lock);
}

void race_watch_bytes(uint64_t at, uint64_t len)
{
    const struct race *r = proc->race;
    if (r->runtime && at && len)
        r->runtime->watch(at, len);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void acquire(const void *object)
{
    struct race *r = enter();
    const struct race_view *v = r ? map_get(&r->objects, (uint64_t)(uintptr_t)object) : NULL;
    if (v)
        race_learn(v);
    if (r) /* from now on it may do what others do not know */
        race_tick();
    lock_release(&proc->lock);
}

static void renew(const void *object)
{
    struct race *r = enter();
    struct race_view *v = r ? map_get(&r->objects, (uint64_t)(uintptr_t)object) : NULL;
    if (v && race_self() == &r->thread[RACE_THREADS - 1]) {
        race_learn(v); /* threads share this one: what the others know stays */
        race_tick();
    } else if (v) {
        r->runtime->flush();
        race_know(race_self(), race_view_ref(v));
        race_tick();
    }
    lock_release(&proc->lock);
}

static void release_at(struct race *r, uint64_t key)
{
    struct race_view *old = map_get(&r->objects, key);
    race_tick();
    struct race_view *mine = race_knowledge();
    struct race_view *both = race_view_join(old, mine);
    race_view_drop(mine);
    if (!both || map_put(&r->objects, key, both)) /* what it leaves out would make races */
        race_no_memory();
    race_view_drop(old);
}

static void end(const void *object)
{
    struct race *r = enter();
    if (r)
        release_at(r, (uint64_t)(uintptr_t)object);
    lock_release(&proc->lock);
}

static void release(const void *object)
{
    struct race *r = enter();
    if (r)
        release_at(r, (uint64_t)(uintptr_t)object);
    if (r) /* as in acquire() */
        race_tick();
    lock_release(&proc->lock);
}

static void fork_at(const void *object)
{
    struct race *r = enter();
    if (r)
        r->forks++;
    release(object);
    lock_release(&proc->lock);
}

static void forked(void)
{
    struct race *r = enter();
    if (r && r->forks)
        r->forks--;
    lock_release(&proc->lock);
}

static void forget(const void *object)
{
    struct race *r = enter();
    if (r)
        race_view_drop(map_del(&r->objects, (uint64_t)(uintptr_t)object));
    lock_release(&proc->lock);
}

static void stranger(void)
{
    struct race *r = enter();
    for (int i = 0; r && i < r->threads; i++) {
        const struct race_thread *t = &r->thread[i];
        struct race_view *v =
            t == race_self() ? NULL : race_view_with(t->view, t->tid, t->clock);
        if (v)
            race_learn(v);
        race_view_drop(v);
    }
    if (r)
        race_tick();
    lock_release(&proc->lock);
}

/* --- life ------------------------------------------------------------------------------------- */

static const struct race_host host = {
    .take = take, .acquire = acquire, .release = release, .forget = forget, .renew = renew,
    .fork = fork_at, .forked = forked, .end = end, .stranger = stranger};

int race_full_init(void)
{
    struct race *r = proc->race;
    const struct race_runtime *t = &windrose_race_runtime;
    if (!race_is_full())
        return 0;
    if (!t) {
        if (!race_rank())
            log_warn("MPIR_CVAR_RACE=full: the program was not linked by mpicc -race; its loads "
                     "and stores are not seen");
        return 0;
    }
    if (t->version != RACE_RUNTIME_VERSION)
        log_fatal("MPI_Init: the program was linked by mpicc -race of another version");
    r->runtime = t;
    t->run(&host);
    return 0;
}

void race_full_stop(void)
{
    struct race *r = proc->race;
    if (r->runtime)
        r->runtime->run(NULL);
    r->runtime = NULL;
}

void race_full_free(void)
{
    struct race *r = proc->race;
    size_t at = 0;
    race_full_stop();
    for (struct map_entry *e; (e = map_next(&r->objects, &at)) != NULL;)
        race_view_drop(e->value);
    map_destroy(&r->objects);
    for (int i = 0; i < r->threads; i++)
        race_view_drop(r->thread[i].view);
}
