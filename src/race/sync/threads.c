/* threads.c - mode full: loads, stores and threads of a program compiled by `mpicc -race`. Start
 * with take().
 *
 * A load or store has the clock of its thread's last operation, c: the thread's next operation,
 * which has c + 1, comes after it. It is complete at once. So `issued` is c, and `done` c + 1. */
#include "race/watched.h"

#include <stdlib.h>

#include "base/log.h"
#include "boot/boot.h"
#include "var/var.h"

/* --- what goes at once ------------------------------------------------------------------------ */

int race_is_local(const struct race_interval *l)
{
    uint64_t end = race_interval_end(l);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&proc->race->wins, &at)) != NULL;) {
        const struct race_win *x = e->value;
        const struct race_member *m = &x->member[rma_win_comm(x->w)->rank];
        if (!m->base || (l->at < m->base + m->bytes && end > m->base)) /* 0: dynamic, it may be */
            return 0;
    }
    return 1;
}

int race_is_alone(void)
{
    const struct race *r = proc->race;
    const struct race_thread *me = race_self();
    for (int i = 0; i < r->threads; i++)
        if (&r->thread[i] != me && r->thread[i].ended)
            return 0;
    return !r->forks;
}

void race_access_add(const struct race_access *a, int whole)
{
    struct race_shadow *g = &proc->race->shadow;
    if (whole && !g->ordered && race_is_local(&a->interval))
        race_shadow_add_local(g, a);
    else
        race_shadow_add(g, a);
}

/* --- loads and stores ------------------------------------------------------------------------- */

static void take_all(struct race *r, const struct race_log_entry *list, unsigned n)
{
    struct race_thread *t = race_self();
    struct race_batch *b = calloc(1, sizeof *b);
    if (!b) {
        r->shadow.n.lost += n;
        return;
    }
    *b = (struct race_batch){.tid = t->tid, .refs = 1, .issued = t->clock, .done = t->clock + 1,
                             .vclock = race_vclock_ref(t->vclock), .vclock_no = t->vclock_no,
                             .atomics = r->atomics};
    int whole = race_is_whole(), quiet = race_is_alone();
    for (unsigned i = 0; i < n; i++) {
        const struct race_log_entry *a = &list[i];
        struct race_access rec = {
            .interval = {a->at, a->len, a->stride, a->blocks},
            .effect = {.kind = a->stores ? RACE_STORE : RACE_LOAD, .esize = 1},
            .weight = 1,
            .call = a->stores ? RACE_CALL_STORE : RACE_CALL_LOAD,
            .site = race_site_at((uint64_t)(uintptr_t)a->pc),
            .batch = b,
        };
        quiet = quiet && race_is_local(&rec.interval);
        if (!a->len)
            continue;
        race_access_add(&rec, whole);
        if (a->stores)
            race_assertion_store(&rec);
    }
    t->quiet += quiet != 0;
    t->ended = ++t->clock; /* a thread that acquires it now acquires these, too */
    race_batch_drop(b);
    race_count();
}

/* The program's threads come here from outside of MPI calls, too. */
static struct race *enter(void)
{
    lock_acquire(&proc->lock);
    return proc->race && !proc->race->off ? proc->race : NULL;
}

static void take(const struct race_log_entry *list, unsigned n)
{
    struct race *r = enter();
    if (r && !race_self()->in_op)
        take_all(r, list, n);
    lock_release(&proc->lock);
}

void race_op_runs(int begins)
{
    const struct race *r = proc->race;
    if (!r->runtime)
        return;
    r->runtime->flush();
    race_self()->in_op += begins ? 1u : -1u;
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
    const struct race_vclock *v = r ? map_get(&r->objects, (uint64_t)(uintptr_t)object) : NULL;
    if (v)
        race_acquire(v);
    if (r) /* from now on it may do what others have not acquired */
        race_tick();
    lock_release(&proc->lock);
}

static void renew(const void *object)
{
    struct race *r = enter();
    struct race_vclock *v = r ? map_get(&r->objects, (uint64_t)(uintptr_t)object) : NULL;
    if (v && race_self() == &r->thread[RACE_THREADS - 1]) {
        race_acquire(v); /* threads share this one: what the others acquired stays */
        race_tick();
    } else if (v) {
        r->runtime->flush();
        race_set_vclock(race_self(), race_vclock_ref(v));
        race_tick();
    }
    lock_release(&proc->lock);
}

static void release_at(struct race *r, uint64_t key)
{
    struct race_vclock *old = map_get(&r->objects, key);
    race_tick();
    struct race_vclock *mine = race_release();
    struct race_vclock *both = race_vclock_join(old, mine);
    race_vclock_drop(mine);
    if (!both || map_put(&r->objects, key, both)) /* what it leaves out would make races */
        race_no_memory();
    race_vclock_drop(old);
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
        race_vclock_drop(map_del(&r->objects, (uint64_t)(uintptr_t)object));
    lock_release(&proc->lock);
}

static void adopt(void)
{
    struct race *r = enter();
    for (int i = 0; r && i < r->threads; i++) {
        const struct race_thread *t = &r->thread[i];
        struct race_vclock *v =
            t == race_self() ? NULL : race_vclock_with(t->vclock, t->tid, t->clock);
        if (v)
            race_acquire(v);
        race_vclock_drop(v);
    }
    if (r)
        race_tick();
    lock_release(&proc->lock);
}

/* --- life ------------------------------------------------------------------------------------- */

static const struct race_host host = {
    .take = take, .acquire = acquire, .release = release, .forget = forget, .renew = renew,
    .fork = fork_at, .forked = forked, .end = end, .adopt = adopt};

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
        race_vclock_drop(e->value);
    map_destroy(&r->objects);
    for (int i = 0; i < r->threads; i++)
        race_vclock_drop(r->thread[i].vclock);
}
