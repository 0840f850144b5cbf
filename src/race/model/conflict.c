/* conflict.c - two accesses: is one before the other, does one hide the other, do they race? */
#include "race/model/model.h"

/* --- order ------------------------------------------------------------------------------------ */

/* What the thread of r knew of tid when it issued r. */
uint64_t race_pair_knew(const struct race_rec *r, uint32_t tid)
{
    return r->batch->tid == tid ? race_issued(r) : race_view_of(r->batch->view, tid);
}

/* Whose clock `done` is. */
static uint32_t closer(const struct race_batch *b)
{
    return b->closer ? b->closer - 1 : b->tid;
}

static enum race_order after(const struct race_rec *late, const struct race_rec *early)
{
    const struct race_batch *b = early->batch;
    if (b->done != RACE_OPEN)
        return race_pair_knew(late, closer(b)) >= b->done ? RACE_ORDERED : RACE_UNORDERED;
    return race_pair_knew(late, b->tid) >= race_issued(early) ? RACE_UNDECIDED : RACE_UNORDERED;
}

enum race_order race_order_of(const struct race_rec *a, const struct race_rec *b)
{
    enum race_order x = after(a, b), y = after(b, a);
    if (x == RACE_ORDERED || y == RACE_ORDERED)
        return RACE_ORDERED;
    return x == RACE_UNDECIDED || y == RACE_UNDECIDED ? RACE_UNDECIDED : RACE_UNORDERED;
}

/* --- two records ------------------------------------------------------------------------------ */

/* Accumulates are atomic only where their elements lie alike: a third one may fit the newer, and
 * not the older. */
static int lie_alike(const struct race_rec *old, const struct race_rec *now)
{
    uint32_t size = old->deed.esize;
    return old->deed.kind < RACE_ACC || size < 2 ||
           !race_lanes_shifted(&old->lane, &now->lane, size);
}

/* Rule D: the same thread knew the same, the older access was complete before the newer was issued,
 * and each access that interferes with it does with the newer. What lets the origin in adds to what
 * it knew: then both are of one epoch, whose number is the window's. */
int race_pair_dominated(const struct race_rec *old, const struct race_rec *now)
{
    const struct race_batch *a = old->batch, *b = now->batch;
    int same_knowledge = a->tid == b->tid && a->view_no == b->view_no;
    int same_window = a->accumulate == b->accumulate && a->epoch == b->epoch &&
                      (!a->epoch || a->win == b->win);
    int done_before = a->done != RACE_OPEN && !a->closer && a->done <= race_issued(now);
    if (b->view_no == RACE_NO_VIEW || !same_knowledge || !same_window)
        return 0;
    return done_before && race_deed_covers(now->deed, old->deed) &&
           race_lane_covers(&now->lane, &old->lane) && lie_alike(old, now);
}

static int one_process(const struct race_region *g, uint32_t a, uint32_t b)
{
    return g->ranks ? a % g->ranks == b % g->ranks : a == b;
}

/* Accumulates of its process, as far as heard. */
static unsigned did(const struct race_region *g, const struct race_batch *b)
{
    unsigned d = g->did ? g->did[b->tid] : 0u;
    return (b->fetched | d | d >> RACE_DID_BITS) & RACE_DID;
}

/* May accumulates of both make a lock, or a flag? */
int race_pair_may_lock(const struct race_region *g, const struct race_found *f)
{
    unsigned x = did(g, f->old->batch), y = did(g, f->now->batch);
    return x && y && ((x | y) & RACE_FETCHED);
}

/* A flag is seen before the accumulate that set it is heard of. What looks at it fetches. */
static int may_hear(const struct race_region *g, const struct race_found *f)
{
    unsigned x = did(g, f->old->batch), y = did(g, f->now->batch);
    return g->did && (!x || !y) && ((x | y) & RACE_FETCHED);
}

static enum race_rule rule_of(const struct race_region *g, const struct race_rec *old,
                              const struct race_rec *now)
{
    uint32_t size = old->deed.esize;
    int one = one_process(g, old->batch->tid, now->batch->tid);
    uint64_t apart = size > 1 && size == now->deed.esize &&
                     race_lanes_shifted(&old->lane, &now->lane, size);
    enum race_rule rule = race_rule_of(old->deed, now->deed, apart, one,
                                    (enum race_accumulate)now->batch->accumulate);
    /* a process's own loads and stores are not MPI's */
    return rule == RACE_LANGUAGE && g->ranks && one ? RACE_FINE : rule;
}

/* Rule S: both are of one batch, so they knew the same, and will end together. What the thread did
 * between the two came between them, and was tested against old. */
enum race_repeat race_pair_repeats(const struct race_region *g, const struct race_rec *old,
                                   const struct race_rec *now)
{
    if (old->batch != now->batch || now->batch->done != RACE_OPEN ||
        race_issued(old) > race_issued(now))
        return RACE_OTHER;
    if (!race_deed_covers(old->deed, now->deed) || !race_lane_covers(&old->lane, &now->lane) ||
        !lie_alike(now, old))
        return RACE_OTHER;
    if (rule_of(g, old, now) == RACE_FINE)
        return RACE_REPEATS;
    return old->site == now->site && old->call == now->call ? RACE_WITH_ITSELF : RACE_OTHER;
}

/* again: all but the end of now's batch was known when they were tested before */
static void tell_ordered(struct race_region *g, const struct race_rec *old,
                         const struct race_rec *now, int again)
{
    int first = after(now, old) == RACE_ORDERED;
    if (g->ordered && !((old->deed.flags | now->deed.flags) & RACE_HULL) && !(again && first))
        g->ordered(g->arg, first ? old : now, first ? now : old);
}

void race_pair_test(struct race_region *g, const struct race_rec *old, const struct race_rec *now,
                    int again)
{
    enum race_rule rule = rule_of(g, old, now);
    if (rule == RACE_FINE)
        return;
    g->n.tests++;
    enum race_touch touch = race_lanes_touch(&old->lane, &now->lane);
    if (touch == RACE_APART)
        return;
    enum race_order order = race_order_of(old, now);
    if (order == RACE_ORDERED)
        tell_ordered(g, old, now, again);
    if (order != RACE_UNORDERED)
        return;
    int one = one_process(g, old->batch->tid, now->batch->tid);
    int hulls = (old->deed.flags | now->deed.flags) & RACE_HULL;
    int locks = !one && rule != RACE_ACC_TYPE && rule != RACE_ACC_OP;
    struct race_found f = {old, now, rule, touch == RACE_MAY_TOUCH || hulls, 0};
    if (locks && !f.possible) {
        f.possible = race_pair_may_lock(g, &f);
        f.depends = may_hear(g, &f);
    }
    g->found(g->arg, &f);
}

void race_pair_replaced(struct race_region *g, const struct race_rec *old,
                        const struct race_rec *now)
{
    if (g->ordered && rule_of(g, old, now) != RACE_FINE)
        tell_ordered(g, old, now, 0);
}
