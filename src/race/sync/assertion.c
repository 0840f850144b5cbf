/* assertion.c - do the assertions of synchronization calls hold? (MPI-4.1 12.5.5) The target of
 * MPI_MODE_NOPUT looks at what comes, that of MPI_MODE_NOCHECK at the MPI_Win_start that comes with
 * MPI_Win_complete, that of MPI_MODE_NOSTORE at its own stores. A lock with MPI_MODE_NOCHECK is
 * compared with the times of others (lock_clock.c). What is found is told when the next call has
 * ended. Start with race_assertion_access() and race_assertion_sync(). */
#include "race/watched.h"

#include <stdio.h>

#include "base/hash.h"
#include "finding/finding.h"

static uint64_t key_of(uint64_t a, uint64_t b)
{
    return hash_mix(hash_mix(MPI_MODE_NOPUT, a), b) | 1;
}

/* Were these places named? */
static int is_named(uint64_t a, uint64_t b)
{
    return map_get(&proc->race->pairs, key_of(a, b)) != NULL;
}

/* --- MPI_MODE_NOPUT --------------------------------------------------------------------------- */

/* A tick tells the epochs apart: what an origin issues behind this fence has seen it, since a fence
 * that completes operations joins the clocks. */
void race_assertion_fence_now(struct race_win *x, int assert, const void *site)
{
    struct race_assertion_fence *f = &x->assertions.fence[1];
    *f = (struct race_assertion_fence){.no_put = assert & MPI_MODE_NOPUT, .site = race_site(site)};
    if (assert & MPI_MODE_NOPRECEDE || (!f->no_put && !x->assertions.fence[0].no_put))
        return;
    f->tid = race_self()->tid;
    f->clock = race_tick();
}

void race_assertion_fence_complete(struct race_win *x)
{
    x->assertions.fence[0] = x->assertions.fence[1];
    x->assertions.fence[1] = (struct race_assertion_fence){0};
}

static int is_after(const struct race_assertion_fence *f, const struct race_access *a)
{
    return f->clock && race_seen_clock(a, f->tid) >= f->clock;
}

/* Site of the call whose assertion forbids it, or 0. */
static uint64_t site_of(struct race_win *x, int src, uint32_t epoch, const struct race_access *a)
{
    const struct race_assertion_fence *f = x->assertions.fence;
    f += is_after(&f[1], a);
    if (epoch == RACE_IN_FENCE) /* which began with a join of all clocks */
        return f->no_put && is_after(f, a) ? f->site : 0;
    if (epoch & RACE_FENCE)
        return f->no_put && !f->clock && (epoch & ~RACE_FENCE) == x->fences ? f->site : 0;
    const struct race_origin *o = race_origin_of(x, src);
    for (const struct list *l = o ? o->posted.next : NULL; l && l != &o->posted; l = l->next) {
        const struct race_posted *p = LIST_OBJ(l, struct race_posted, link);
        if (p->number == epoch)
            return p->assert & MPI_MODE_NOPUT ? p->site : 0;
    }
    return 0;
}

void race_assertion_access(struct race_win *x, int src, uint32_t epoch, const struct race_access *a)
{
    int updates = a->effect.kind == RACE_PUT || a->effect.kind == RACE_ACC;
    uint64_t site;
    if (!epoch || !updates || a->effect.flags & RACE_HULL || x->assertions.violation.site)
        return;
    if ((site = site_of(x, src, epoch, a)) != 0 && !is_named(a->site, site))
        x->assertions.violation =
            (struct race_violation){.site = site, .at = a->site, .call = a->call, .src = src};
}

/* --- MPI_MODE_NOSTORE ------------------------------------------------------------------------- */

/* Has it a byte of what begins at `base`? */
static int overlaps(const struct race_interval *l, uint64_t base, uint64_t bytes)
{
    uint64_t end = l->at + l->len, run = 0;
    if (end <= base && l->stride)
        run = (base - end) / l->stride + 1; /* the first one that ends behind base */
    uint64_t at = l->at + run * l->stride;
    return run < l->blocks && at + l->len > base && at < base + bytes;
}

/* One that is ordered behind the last synchronization is enough. */
void race_assertion_store(const struct race_access *a)
{
    uint32_t me = a->batch->tid;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&proc->race->wins, &at)) != NULL;) {
        struct race_win *x = e->value;
        struct race_stored *s = &x->assertions.stored;
        const struct race_member *m = &x->member[rma_win_comm(x->w)->rank];
        if (s->site || !m->base || !m->bytes || !overlaps(&a->interval, m->base, m->bytes))
            continue;
        if (me != s->since_tid && race_vclock_of(a->batch->vclock, s->since_tid) <= s->since)
            continue;
        s->site = a->site;
        s->tid = me;
        s->clock = race_issued(a);
    }
}

void race_assertion_sync(struct race_win *x, int assert, uint64_t site)
{
    const struct race *r = proc->race;
    struct race_stored *s = &x->assertions.stored;
    if (!r->runtime)
        return;
    r->runtime->flush();
    const struct race_thread *t = race_self();
    s->forbidden = 0;
    int is_before = s->tid == t->tid || race_vclock_of(t->vclock, s->tid) > s->clock;
    if (assert & MPI_MODE_NOSTORE && s->site && is_before) {
        s->forbidden = site;
        s->by = s->site;
    }
    s->site = 0;
    s->since_tid = t->tid;
    s->since = t->clock;
}

/* --- reports ---------------------------------------------------------------------------------- */

/* The call at `at` by rank src; before, after: of the place of the other one. */
static void report(const struct race_win *x, const char *call, uint64_t at, int src,
                const char *before, uint64_t site, const char *after)
{
    char line[2][FINDING_PLACE] = {"", ""};
    const char *name = rma_win_name(x->w);
    struct finding f = {.class = "assertion", .ranks = 1, .rank = {boot_rank()}};
    if (is_named(at, site))
        return;
    map_put(&proc->race->pairs, key_of(at, site), proc->race);
    finding_rank(&f, src);
    site_text(at, line[0], sizeof line[0]);
    site_text(site, line[1], sizeof line[1]);
    finding_place(&f, line[0]);
    finding_place(&f, line[1]);
    snprintf(f.text, sizeof f.text, "%s at %s by rank %d on %s%s: %s at %s%s", call, line[0], src,
             *name ? "window " : "a window", name, before, line[1], after);
    finding_say(&f);
}

void race_assertion_report(struct race_win *x, const char *call)
{
    char what[80];
    struct race_violation b = x->assertions.violation;
    if (!b.site)
        return;
    x->assertions.violation.site = 0;
    snprintf(what, sizeof what, "MPI_MODE_NOPUT of %s", call);
    report(x, race_call_text(b.call, b.at), b.at, b.src, what, b.site, " does not hold");
}

void race_assertion_stores_report(struct race_win *x, const char *call)
{
    char what[80];
    struct race_stored *s = &x->assertions.stored;
    uint64_t site = s->forbidden;
    if (!site)
        return;
    s->forbidden = 0;
    snprintf(what, sizeof what, "MPI_MODE_NOSTORE of %s", call);
    report(x, "store", s->by, boot_rank(), what, site, " does not hold");
}

/* --- MPI_MODE_NOCHECK ------------------------------------------------------------------------- */

void race_assertion_start(struct race_origin *o, uint32_t number, int assert, uint64_t site)
{
    o->assertions.start = assert;
    o->assertions.start_site = site;
    /* it cannot have been called before MPI_Win_start, as that one asserts */
    o->assertions.early = assert & MPI_MODE_NOCHECK && number > o->posts;
}

void race_assertion_wait(struct race_win *x, int world)
{
    struct race_origin *o = race_origin_of(x, world);
    if (!o || o->completes != o->posts || !o->assertions.start_site)
        return;
    const char *what = NULL;
    /* the other way round it waits for ever */
    if (o->assertions.start & ~o->assertions.post & MPI_MODE_NOCHECK)
        what = "MPI_MODE_NOCHECK is not given in MPI_Win_post";
    else if (o->assertions.early)
        what = "MPI_MODE_NOCHECK does not hold: it did not come behind MPI_Win_post";
    if (what)
        report(x, "MPI_Win_start", o->assertions.start_site, world, what,
               o->assertions.post_site, "");
    o->assertions.early = 0;
}

void race_assertion_unlock(const struct race_win *x, const struct race_lock_site *mine,
                           const struct race_lock_site *other, int by)
{
    char what[80], conflicts[40];
    snprintf(what, sizeof what, "MPI_MODE_NOCHECK does not hold: %s",
             race_call_name((enum race_call)other->call));
    snprintf(conflicts, sizeof conflicts, " by rank %d conflicts",
             comm_world(rma_win_comm(x->w), by));
    report(x, race_call_name((enum race_call)mine->call), mine->site, boot_rank(), what,
           other->site, conflicts);
}
