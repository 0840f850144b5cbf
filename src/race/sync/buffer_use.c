/* buffer_use.c - mode full: buffers of messages and collectives as accesses of this process, from
 * the start of a call to its completion (doc/design/race.md 14). Start with
 * race_use_make() and race_use_end().
 *
 *   race_use_make() --> the intervals of a request's buffers --> begin(): a batch, open
 *   race_accessed(): complete at once                      race_use_end(): it is complete
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "coll/parts.h"
#include "dt/dt.h"
#include "race/watched.h"

struct use_interval { /* of a buffer */
    struct race_interval interval;
    struct race_effect effect;
    uint32_t part;
};
struct race_use {
    struct list link;
    struct use_interval *interval;       /* by part */
    uint32_t n, room, parts;
    uint8_t call, when_ready;  /* when_ready: partitions of a send, used from MPI_Pready on */
    uint64_t site;
    struct race_batch **batch; /* [parts]: in use, or NULL */
};

static int is_on(void)
{
    const struct race *r = proc->race;
    return r->runtime && !r->off;
}

static struct race_effect effect_of(const struct watch_buffer *b, int hull)
{
    struct race_effect e = {.kind = b->writes ? RACE_STORE : RACE_LOAD, .esize = 1,
                            .flags = RACE_BUFFER | RACE_MESSAGE};
    if (hull)
        e.flags |= RACE_HULL;
    return e;
}

/* --- accesses --------------------------------------------------------------------------------- */

static struct race_batch *batch_make(uint64_t done)
{
    const struct race_thread *t = race_self();
    struct race_batch *b = calloc(1, sizeof *b);
    if (!b)
        race_no_memory();
    *b = (struct race_batch){.tid = t->tid, .refs = 1, .issued = t->clock, .done = done,
                             .vclock = race_vclock_ref(t->vclock), .vclock_no = t->vclock_no,
                             .atomics = proc->race->atomics};
    return b;
}

static int is_local(const struct race_use *u, uint32_t part)
{
    for (uint32_t i = 0; i < u->n; i++)
        if (u->interval[i].part == part && !race_is_local(&u->interval[i].interval))
            return 0;
    return 1;
}

/* So many ticks of the calling thread are no news for other processes. */
static void count_local(int local, uint64_t ticks)
{
    if (local && race_is_alone())
        race_self()->quiet += ticks;
}

static void begin(struct race_use *u, uint32_t part)
{
    race_op_tick();
    count_local(is_local(u, part), 1);
    struct race_batch *b = batch_make(RACE_OPEN);
    for (uint32_t i = 0; i < u->n; i++) {
        const struct use_interval *p = &u->interval[i];
        struct race_access a = {.interval = p->interval, .effect = p->effect, .weight = 1,
                                .call = u->call, .site = u->site, .batch = b};
        if (p->part != part)
            continue;
        race_watch_bytes(a.interval.at, race_interval_end(&a.interval) - a.interval.at);
        race_shadow_add(&proc->race->shadow, &a);
    }
    u->batch[part] = b;
    race_count();
}

static void end(struct race_use *u, uint32_t part)
{
    struct race *r = proc->race;
    struct race_batch *b = u->batch[part];
    if (!b)
        return;
    u->batch[part] = NULL;
    if (!r->off) {
        int local = is_local(u, part);
        uint64_t done = race_tick();
        count_local(local, 1);
        b->done_call = RACE_CALL_REQUEST;
        b->done_by = race_done_by(b->tid);
        /* rule L: it is of no interest when it is over */
        race_shadow_end(&r->shadow, b, done, local && !r->shadow.ordered && race_is_whole());
    }
    race_batch_drop(b);
}

/* --- requests --------------------------------------------------------------------------------- */

static void add_interval(struct race_use *u, const struct race_interval *l, struct race_effect e,
                      uint32_t part)
{
    struct use_interval *last = u->n ? &u->interval[u->n - 1] : NULL;
    if (last && last->part == part && !memcmp(&last->effect, &e, sizeof e) &&
        race_interval_grow(&last->interval, l))
        return;
    if (!VEC_FITS(u->interval, u->room, u->n + 1, 4))
        race_no_memory();
    u->interval[u->n++] = (struct use_interval){*l, e, part};
}

static void add(void *arg, const struct watch_buffer *b)
{
    struct race_use *u = arg;
    struct race_intervals l;
    uint64_t at = (uint64_t)(uintptr_t)b->buf;
    for (uint32_t part = 0; b->count && part < u->parts; part++) {
        race_intervals_of(b->t, (size_t)b->count, at, &l);
        for (int i = 0; i < l.n; i++)
            add_interval(u, &l.l[i], effect_of(b, l.hull), part);
        at += (uint64_t)(b->count * b->t->extent);
    }
}

static struct race_use *use_make(uint32_t parts, const void *site)
{
    struct race_use *u = calloc(1, sizeof *u);
    if (!u || !(u->batch = calloc(parts, sizeof(struct race_batch *))))
        race_no_memory();
    u->parts = parts;
    u->call = (uint8_t)race_call_of(proc->call);
    u->site = race_site(site);
    list_push(&proc->race->uses, &u->link);
    return u;
}

void race_use_start(struct race_use *u)
{
    for (uint32_t i = 0; u && !u->when_ready && is_on() && i < u->parts; i++)
        if (!u->batch[i])
            begin(u, i);
}

void race_use_end(struct race_use *u)
{
    for (uint32_t i = 0; u && i < u->parts; i++)
        end(u, i);
}

void race_use_free(struct race_use *u)
{
    if (!u)
        return;
    race_use_end(u);
    list_del(&u->link);
    free(u->interval);
    free(u->batch);
    free(u);
}

void race_uses_end(void)
{
    struct list *uses = &proc->race->uses;
    for (struct list *l = uses->next; l != uses; l = l->next)
        race_use_end(LIST_OBJ(l, struct race_use, link));
}

struct race_use *race_use_make(const struct watch_buffer *b, int n, int starts, const void *site)
{
    if (!is_on())
        return NULL;
    struct race_use *u = use_make(b->parts ? (uint32_t)b->parts : 1, site);
    for (int i = 0; i < n; i++)
        add(u, &b[i]);
    u->when_ready = b->parts && !b->writes;
    if (starts)
        race_use_start(u);
    return u;
}

void race_use_partition(struct race_use *u, int i)
{
    if (!u || !is_on() || (uint32_t)i >= u->parts)
        return;
    if (!u->when_ready)
        end(u, (uint32_t)i); /* it has arrived */
    else if (!u->batch[i])
        begin(u, (uint32_t)i);
}

/* --- calls that block ------------------------------------------------------------------------- */

/* One access of the calling thread, complete at once. */
static void access_now(const struct watch_buffer *b, uint8_t call, uint64_t site)
{
    struct race_intervals l;
    struct race_thread *t = race_self();
    race_intervals_of(b->t, (size_t)b->count, (uint64_t)(uintptr_t)b->buf, &l);
    if (!l.n)
        return;
    race_op_tick();
    int whole = race_is_whole(), local = 1;
    struct race_batch *of = batch_make(t->clock + 1);
    for (int i = 0; i < l.n; i++) {
        struct race_access a = {.interval = l.l[i], .effect = effect_of(b, l.hull), .weight = 1,
                                .call = call, .site = site, .batch = of};
        race_watch_bytes(a.interval.at, race_interval_end(&a.interval) - a.interval.at);
        race_access_add(&a, whole);
        local = local && race_is_local(&a.interval);
    }
    count_local(local, 2);
    t->ended = ++t->clock;
    race_batch_drop(of);
    race_count();
}

void race_accessed(const struct watch_buffer *b, const void *site)
{
    if (is_on() && b->count > 0)
        access_now(b, (uint8_t)race_call_of(proc->call), race_site(site));
}

struct coll_access {
    int writes;
    uint8_t call;
    uint64_t site;
};

static void access_one(void *arg, const struct watch_buffer *b)
{
    const struct coll_access *t = arg;
    if (b->writes == t->writes)
        access_now(b, t->call, t->site);
}

void race_coll_access(const struct watch_turn *t, int writes)
{
    if (!is_on() || !race_is_inside(t->comm) || !proc->call)
        return;
    struct coll_access x = {writes, (uint8_t)race_call_of(proc->call), race_site(t->site)};
    coll_each_part(t->args, access_one, &x);
}

struct race_use *race_coll_use(const struct watch_turn *t)
{
    if (!is_on() || !proc->call)
        return NULL;
    struct race_use *u = use_make(1, t->site);
    coll_each_part(t->args, add, u);
    if (t->form == WATCH_NONBLOCKING)
        race_use_start(u);
    return u;
}
