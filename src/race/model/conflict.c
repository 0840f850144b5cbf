/* conflict.c - two accesses: is one before the other, does one hide the other, do they race? Start
 * with race_access_test(). */
#include "race/model/model.h"

#include <stdlib.h>

/* --- order ------------------------------------------------------------------------------------ */

uint64_t race_seen_clock(const struct race_access *r, uint32_t tid)
{
    return r->batch->tid == tid ? race_issued(r) : race_vclock_of(r->batch->vclock, tid);
}

/* Whose clock `done` is. */
static uint32_t done_by(const struct race_batch *b)
{
    return b->done_by ? b->done_by - 1 : b->tid;
}

int race_is_noted(const struct race_access *early, const struct race_access *late)
{
    const struct race_batch *b = early->batch;
    return b->noted && race_seen_clock(late, b->noted_by) >= b->noted;
}

/* Does early end before late is issued? Undecided: early is open, and was issued before late. */
static enum race_order happens_before(const struct race_access *early,
                                      const struct race_access *late)
{
    const struct race_batch *b = early->batch;
    if (race_is_noted(early, late))
        return RACE_ORDERED;
    if (b->done != RACE_OPEN)
        return race_seen_clock(late, done_by(b)) >= b->done ? RACE_ORDERED : RACE_UNORDERED;
    return race_seen_clock(late, b->tid) >= race_issued(early) ? RACE_UNDECIDED : RACE_UNORDERED;
}

enum race_order race_order_of(const struct race_access *a, const struct race_access *b)
{
    enum race_order x = happens_before(b, a), y = happens_before(a, b);
    if (x == RACE_ORDERED || y == RACE_ORDERED)
        return RACE_ORDERED;
    return x == RACE_UNDECIDED || y == RACE_UNDECIDED ? RACE_UNDECIDED : RACE_UNORDERED;
}

/* --- two records ------------------------------------------------------------------------------ */

/* Accumulates are atomic only where their elements lie alike: a third one may fit the newer, and
 * not the older. */
static int lie_alike(const struct race_access *old, const struct race_access *now)
{
    uint32_t size = old->effect.esize;
    return old->effect.kind < RACE_ACC || size < 2 ||
           !race_intervals_misaligned(&old->interval, &now->interval, size);
}

/* Accumulates through one window are atomic with each other; through two they are not. */
static int windows_differ(const struct race_access *a, const struct race_access *b)
{
    return a->effect.kind >= RACE_ACC && b->effect.kind >= RACE_ACC &&
           a->batch->win != b->batch->win;
}

/* Rule D: one thread had one vector clock, the older access was complete before the newer was
 * issued, and each access that conflicts with it does with the newer. What lets the origin in adds
 * to what that: then both are of one epoch, whose number is the window's. */
int race_access_dominated(const struct race_access *old, const struct race_access *now)
{
    const struct race_batch *a = old->batch, *b = now->batch;
    int same_vclock = a->tid == b->tid && a->vclock_no == b->vclock_no;
    int same_window = a->accumulate == b->accumulate && a->epoch == b->epoch &&
                      (!a->epoch || a->win == b->win);
    int done_before = a->done != RACE_OPEN && !a->done_by && a->done <= race_issued(now);
    if (windows_differ(old, now))
        return 0;
    if (b->vclock_no == RACE_NO_VCLOCK || !same_vclock || !same_window)
        return 0;
    return done_before && race_effect_covers(now->effect, old->effect) &&
           race_interval_covers(&now->interval, &old->interval) && lie_alike(old, now);
}

static int one_process(const struct race_shadow *g, uint32_t a, uint32_t b)
{
    return g->ranks ? a % g->ranks == b % g->ranks : a == b;
}

/* Accumulates of its process, as far as reported. */
static unsigned atomics_of(const struct race_shadow *g, const struct race_batch *b)
{
    unsigned d = g->thread_atomics ? g->thread_atomics[b->tid] : 0u;
    return (b->atomics | d | d >> RACE_ATOMICS_BITS) & RACE_ATOMICS;
}

/* May accumulates of both make a lock, or a flag? */
int race_may_be_lock(const struct race_shadow *g, const struct race_conflict *f)
{
    unsigned x = atomics_of(g, f->old->batch), y = atomics_of(g, f->now->batch);
    return x && y && ((x | y) & RACE_FETCHED);
}

/* A flag is seen before the accumulate that set it is reported. What looks at it fetches. */
static int may_be_reported(const struct race_shadow *g, const struct race_conflict *f)
{
    unsigned x = atomics_of(g, f->old->batch), y = atomics_of(g, f->now->batch);
    return g->thread_atomics && (!x || !y) && ((x | y) & RACE_FETCHED);
}

static enum race_rule rule_of(const struct race_shadow *g, const struct race_access *old,
                              const struct race_access *now)
{
    uint32_t size = old->effect.esize;
    int one = one_process(g, old->batch->tid, now->batch->tid);
    uint64_t apart = size > 1 && size == now->effect.esize &&
                     race_intervals_misaligned(&old->interval, &now->interval, size);
    enum race_rule rule = race_rule_of(old->effect, now->effect, apart, one,
                                    (enum race_accumulate)now->batch->accumulate);
    int reads = old->effect.kind == RACE_READ && now->effect.kind == RACE_READ;
    if (rule == RACE_FINE && windows_differ(old, now) && !reads)
        return RACE_ACC_WIN;
    /* a process's own loads and stores are not MPI's */
    return rule == RACE_LANGUAGE && g->ranks && one ? RACE_FINE : rule;
}

/* Rule S: both are of one batch, so they had one vector clock, and will end together. What the
 * thread did between the two came between them, and was tested against old. */
enum race_repeat race_access_repeats(const struct race_shadow *g, const struct race_access *old,
                                   const struct race_access *now)
{
    if (old->batch != now->batch || now->batch->done != RACE_OPEN ||
        race_issued(old) > race_issued(now))
        return RACE_OTHER;
    if (!race_effect_covers(old->effect, now->effect) ||
        !race_interval_covers(&old->interval, &now->interval) || !lie_alike(now, old))
        return RACE_OTHER;
    if (rule_of(g, old, now) == RACE_FINE)
        return RACE_REPEATS;
    return old->site == now->site && old->call == now->call ? RACE_WITH_ITSELF : RACE_OTHER;
}

/* By one call. */
static int same_effect(const struct race_access *a, const struct race_access *b)
{
    return a->call == b->call && race_effect_covers(b->effect, a->effect);
}

int race_access_follows(const struct race_access *old, const struct race_access *now)
{
    const struct race_batch *a = old->batch, *b = now->batch;
    const struct race_interval *x = &old->interval, *y = &now->interval;
    int one_end = a->win == b->win && a->channel == b->channel && a->done == RACE_OPEN &&
                  b->done == RACE_OPEN;
    int one_vclock = a->tid == b->tid && b->vclock_no != RACE_NO_VCLOCK &&
                     a->vclock_no == b->vclock_no && a->epoch == b->epoch && a->order == b->order;
    int one_place = x->at == y->at && x->len == y->len && x->stride == y->stride &&
                    x->blocks == y->blocks && old->site == now->site;
    return a->announced && b->announced && one_end && one_vclock && one_place &&
           same_effect(old, now);
}

/* again: all but the end of now's batch was known when they were tested before */
static void report_ordered(struct race_shadow *g, const struct race_access *old,
                         const struct race_access *now, int again)
{
    int first = happens_before(old, now) == RACE_ORDERED;
    if (g->ordered && !((old->effect.flags | now->effect.flags) & RACE_HULL) && !(again && first))
        g->ordered(g->arg, first ? old : now, first ? now : old);
}

/* One process did both, and called MPIX_Win_order between them. */
static int in_turn(const struct race_access *old, const struct race_access *now)
{
    const struct race_batch *a = old->batch, *b = now->batch;
    int known = a->order != RACE_NO_ORDER && b->order != RACE_NO_ORDER;
    return known && a->win && a->win == b->win && a->order != b->order;
}

void race_access_test(struct race_shadow *g, const struct race_access *old,
                      const struct race_access *now, int again)
{
    enum race_rule rule = rule_of(g, old, now);
    if (rule == RACE_FINE)
        return;
    g->n.tests++;
    enum race_overlap overlap = race_intervals_overlap(&old->interval, &now->interval);
    if (overlap == RACE_DISJOINT)
        return;
    enum race_order order = race_order_of(old, now);
    if (order == RACE_ORDERED)
        report_ordered(g, old, now, again);
    g->undecided |= order == RACE_UNDECIDED;
    if (order != RACE_UNORDERED)
        return;
    int one = one_process(g, old->batch->tid, now->batch->tid);
    if (one && in_turn(old, now))
        return;
    int hulls = (old->effect.flags | now->effect.flags) & RACE_HULL;
    int locks = !one && rule != RACE_ACC_TYPE && rule != RACE_ACC_OP;
    struct race_conflict f = {old, now, rule, overlap == RACE_MAY_OVERLAP || hulls, 0};
    if (locks && !f.possible) {
        f.possible = race_may_be_lock(g, &f);
        f.depends = may_be_reported(g, &f);
    }
    g->found(g->arg, &f);
}

void race_access_replaced(struct race_shadow *g, const struct race_access *old,
                        const struct race_access *now)
{
    if (g->ordered && rule_of(g, old, now) != RACE_FINE)
        report_ordered(g, old, now, 0);
}

struct race_batch *race_batch_of_both(const struct race_batch *a, const struct race_batch *b)
{
    struct race_batch *x = malloc(sizeof *x);
    if (!x)
        return NULL;
    *x = *a;
    x->refs = x->kept = 0;
    x->vclock = NULL;
    x->vclock_no = RACE_NO_VCLOCK;
    x->number = 0;
    x->noted = 0;
    x->order = a->win == b->win && a->order == b->order ? a->order : RACE_NO_ORDER;
    x->issued = a->issued < b->issued ? a->issued : b->issued;
    x->done = a->done > b->done ? a->done : b->done;
    return x;
}

int race_access_same_sort(const struct race_access *a, const struct race_access *b)
{
    const struct race_effect *x = &a->effect, *y = &b->effect;
    if (x->kind == RACE_ACC && a->batch->win != b->batch->win) /* rule 5 */
        return 0;
    return a->batch->tid == b->batch->tid && a->batch->done_by == b->batch->done_by &&
           x->kind == y->kind && !((x->flags ^ y->flags) & RACE_BUFFER) && x->op == y->op &&
           x->elem == y->elem;
}

int race_access_same_request(const struct race_access *old, const struct race_access *now)
{
    return (now->effect.flags & RACE_MESSAGE) && old->batch->done == RACE_OPEN &&
           old->site == now->site && old->call == now->call;
}
