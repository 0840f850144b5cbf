/* epoch.c - the state machines of a window: access epoch, target element, exposure epoch.  The only writer of states.
 *
 *                      fence                      fence barrier done
 *           .------> FENCE_ISSUED --------------------------------> FENCE_GRANTED
 *           |          |   ^                                          |    |
 *           |          |   '-----------------fence--------------------'    |
 *           |          | start, lock, lock_all, NOSUCCEED: as from UNSET   |
 *         UNSET <------+---------------------------------------------------'
 *           |   start                  all posts seen                complete
 *           |------> PSCW_ISSUED --------------------> PSCW_GRANTED ----------> UNSET
 *           |   lock_all                out of target elements        all locks held
 *           |------> LOCK_ALL_CALLED -----------------> LOCK_ALL_ISSUED -------> LOCK_ALL_GRANTED --> UNSET
 *           |              '---------unlock_all---> UNSET                             ^
 *           |   lock_all, NOCHECK                                                      |
 *           |--------------------------------------------------------------------------'
 *           |   lock                    last unlock
 *           '------> PER_TARGET ---------------------> UNSET
 *
 *    target element (its lock):
 *        born CALLED ---LOCK leaves---> ISSUED ---GRANTED comes---> GRANTED --(NOCHECK, to be evicted)--> ISSUED
 *        born GRANTED: fence, PSCW, window protocol, NOCHECK, evicted before, near lock words
 *
 *    exposure:   NONE ---post---> POSTED ---wait, test---> NONE
 *
 * What is true in each state:
 *  E1 UNSET             no element, no answer outstanding; operations are refused
 *  E2 FENCE_ISSUED      at least one fence barrier is outstanding; operations queue, near ones too
 *  E3 FENCE_GRANTED     every member has arrived at the opening fence; operations on all
 *  E4 PSCW_ISSUED       some post of the start group has not been seen; operations on the group queue
 *  E5 PSCW_GRANTED      all have; operations on the group
 *  E6 LOCK_ALL_CALLED   near locks are held (unless a member died); a far target is locked by its element (CALLED until
 *                       the first operation)
 *  E7 LOCK_ALL_ISSUED   one thread is in rma_lockall_switch(), and in no other state; others wait
 *  E8 LOCK_ALL_GRANTED  every target is locked (or NOCHECK); elements come and go
 *  E9 PER_TARGET        w->locks > 0 locks are open; each far one has an element or stands in w->gone
 *  E10 an element in CALLED has sent nothing; in ISSUED only operations that ride with the LOCK
 *
 * WIN_UNLOCK's "window state is LOCK_CALLED" of the paper means the target's (rma.md 5.15). */
#include "rma/core/types.h"

#define BIT(s) (1u << (s))
/* From any state in which no epoch is pending the next synchronization opens its own. */
#define OPENERS                                                                                                  \
    (BIT(WIN_FENCE_ISSUED) | BIT(WIN_PSCW_ISSUED) | BIT(WIN_LOCK_ALL_CALLED) | BIT(WIN_LOCK_ALL_GRANTED) | \
     BIT(WIN_PER_TARGET))

/* maint/gen-states reads these three tables. */
static const uint16_t win_next[WIN_STATES] = {
    [WIN_UNSET] = OPENERS,
    [WIN_FENCE_ISSUED] = OPENERS | BIT(WIN_FENCE_GRANTED) | BIT(WIN_UNSET),
    [WIN_FENCE_GRANTED] = OPENERS | BIT(WIN_UNSET),
    [WIN_PSCW_ISSUED] = BIT(WIN_PSCW_GRANTED) | BIT(WIN_UNSET),
    [WIN_PSCW_GRANTED] = BIT(WIN_UNSET),
    [WIN_LOCK_ALL_CALLED] = BIT(WIN_LOCK_ALL_ISSUED) | BIT(WIN_UNSET),
    [WIN_LOCK_ALL_ISSUED] = BIT(WIN_LOCK_ALL_GRANTED),
    [WIN_LOCK_ALL_GRANTED] = BIT(WIN_UNSET),
    [WIN_PER_TARGET] = BIT(WIN_UNSET),
};
static const uint16_t target_next[TARGET_STATES] = {
    [TARGET_LOCK_CALLED] = BIT(TARGET_LOCK_ISSUED),
    [TARGET_LOCK_ISSUED] = BIT(TARGET_LOCK_GRANTED),
    [TARGET_LOCK_GRANTED] = BIT(TARGET_LOCK_ISSUED),
};
static const uint16_t expo_next[EXPO_STATES] = {
    [EXPO_NONE] = BIT(EXPO_POSTED),
    [EXPO_POSTED] = BIT(EXPO_NONE),
};

static const char *const win_name[WIN_STATES] = {
    "UNSET",           "FENCE_ISSUED",    "FENCE_GRANTED",    "PSCW_ISSUED", "PSCW_GRANTED",
    "LOCK_ALL_CALLED", "LOCK_ALL_ISSUED", "LOCK_ALL_GRANTED", "PER_TARGET"};
static const char *const target_name[TARGET_STATES] = {"LOCK_CALLED", "LOCK_ISSUED", "LOCK_GRANTED"};

const char *rma_state_name(const struct rma_win *w)
{
    return win_name[w->state];
}

const char *rma_target_state_name(const struct rma_target *t)
{
    return target_name[t->state];
}

/* --- transitions -------------------------------------------------------------------- */

void rma_near_opened(struct rma_win *w, struct rma_near *n)
{
    int open = n->lock != RMA_UNLOCKED || (w->state == WIN_PSCW_GRANTED && n->started && !w->kicking);
    /* Release here and in rma_win_goto() pairs with the acquire in near.h: threads without the lock go on from here. */
    atomic_store_explicit(&n->open, (unsigned char)open, memory_order_release);
}

void rma_near_admit(struct rma_win *w)
{
    unsigned count = w->near.count, all = rma_ask(w, ASK_ON_ALL) && !w->kicking ? count : 0;
    int passive = rma_ask(w, ASK_IN_PASSIVE) && !w->ntargets && !rma_unsure(w);
    /* Release pairs with the acquire in near.h: also what answers brought is here when no element is left. */
    atomic_store_explicit(&w->near.all, all, memory_order_release);
    atomic_store_explicit(&w->near.quiet, passive ? all : 0, memory_order_release);
    atomic_store_explicit(&w->near.passive, (unsigned char)passive, memory_order_release);
}

void rma_acks_add(struct rma_win *w, int n)
{
    w->acks += (unsigned)n;
    rma_near_admit(w);
}

void rma_win_goto(struct rma_win *w, enum win_state s)
{
    WR_ASSERT(w->state == s || (win_next[w->state] & BIT(s)));
    unsigned both = BIT(w->state) | BIT(s);
    if (!w->all_near) /* LOCK_ALL that far members know nothing of yet: rma_called_grant() */
        rma_room()->lazy_alls += (rma_yes(ASK_ALL_PENDING) >> s & 1) - (rma_yes(ASK_ALL_PENDING) >> w->state & 1);
    w->state = s;
    rma_near_admit(w);
    if (both & BIT(WIN_PSCW_GRANTED))
        for (unsigned i = 0; i < w->nears; i++)
            rma_near_opened(w, &w->near.near[i]);
    if (s == WIN_UNSET) {
        if (w->dead) /* nobody waited for its answers */
            w->acks = 0;
        rma_gone_clear(&w->gone);
        w->starved = 0;
        w->lock_all_nocheck = 0;
        rma_synced(w);
    }
}

/* Most locks and unlocks open and close the epoch, and are of a near target: rma_win_goto() and rma_near_opened() in one, without
 * what these two states have in common (operations are not admitted on all; UNSET has no elements, E1). */
void rma_lock_first(struct rma_win *w, struct rma_near *n, enum rma_near_lock held)
{
    WR_ASSERT((win_next[w->state] & BIT(WIN_PER_TARGET)) && w->state == WIN_UNSET && !w->locks && !w->ntargets);
    w->state = WIN_PER_TARGET;
    w->locks = 1;
    n->lock = (uint8_t)held;
    if (!rma_unsure(w))
        atomic_store_explicit(&w->near.passive, 1, memory_order_release);
    atomic_store_explicit(&n->open, 1, memory_order_release);
}

void rma_unlock_last(struct rma_win *w, struct rma_near *n)
{
    WR_ASSERT((win_next[w->state] & BIT(WIN_UNSET)) && w->state == WIN_PER_TARGET && w->locks == 1 && !w->ntargets && !w->gone.count);
    atomic_store_explicit(&n->open, 0, memory_order_release);
    atomic_store_explicit(&w->near.passive, 0, memory_order_release);
    n->lock = RMA_UNLOCKED;
    w->locks = 0;
    w->state = WIN_UNSET;
    w->starved = 0;
    if (w->dead)
        w->acks = 0;
    rma_synced(w);
}

void rma_win_granted(struct rma_win *w, enum win_state s)
{
    if (!w->ntargets) { /* nothing waits for this */
        rma_win_goto(w, s);
        return;
    }
    w->kicking = 1;
    rma_win_goto(w, s);
    sched_point(); /* another thread may call an operation, without the lock if near.h lets it */
    rma_win_kick(w);
    w->kicking = 0;
    rma_win_goto(w, s);
}

void rma_target_goto(struct rma_target *t, enum target_state s)
{
    WR_ASSERT(target_next[t->state] & BIT(s));
    t->state = s;
}

void rma_target_born(struct rma_target *t, enum target_state s)
{
    t->state = s;
}

void rma_expo_goto(struct rma_win *w, enum expo_state s)
{
    WR_ASSERT(expo_next[w->expo] & BIT(s));
    w->expo = s;
}

/* --- questions ------------------------------------------------------------------------ */

static enum verdict of_lock(const struct rma_target *t)
{
    switch (t->state) {
    case TARGET_LOCK_CALLED:
        return ADMIT_LOCK_FIRST;
    case TARGET_LOCK_ISSUED:
        return ADMIT_QUEUE;
    default:
        return ADMIT_ISSUE;
    }
}

enum verdict rma_admit(const struct rma_win *w, int rank, const struct rma_near *n, const struct rma_target *t)
{
    switch (w->state) {
    case WIN_FENCE_ISSUED:
        return ADMIT_QUEUE;
    case WIN_FENCE_GRANTED:
    case WIN_LOCK_ALL_GRANTED:
        return ADMIT_ISSUE;
    case WIN_PSCW_ISSUED:
        return rma_in_start(w, rank) ? ADMIT_QUEUE : ADMIT_NO;
    case WIN_PSCW_GRANTED:
        return rma_in_start(w, rank) ? ADMIT_ISSUE : ADMIT_NO;
    case WIN_LOCK_ALL_CALLED:
        return n ? ADMIT_ISSUE : t ? of_lock(t) : ADMIT_LOCK_FIRST;
    case WIN_LOCK_ALL_ISSUED:
        return n ? ADMIT_ISSUE : t ? of_lock(t) : ADMIT_WAIT;
    case WIN_PER_TARGET:
        if (n)
            return n->lock != RMA_UNLOCKED ? ADMIT_ISSUE : ADMIT_NO;
        return t ? of_lock(t) : rma_gone(&w->gone, rank) ? ADMIT_ISSUE : ADMIT_NO;
    default:
        return ADMIT_NO;
    }
}

enum verdict rma_may_issue(const struct rma_target *t)
{
    switch (t->w->state) {
    case WIN_FENCE_GRANTED:
    case WIN_PSCW_GRANTED:
    case WIN_LOCK_ALL_GRANTED:
        /* A NOCHECK lock that is being taken for real (eviction) holds its operations back. */
        return t->state == TARGET_LOCK_ISSUED ? ADMIT_QUEUE : ADMIT_ISSUE;
    case WIN_LOCK_ALL_CALLED:
    case WIN_LOCK_ALL_ISSUED:
    case WIN_PER_TARGET:
        if (t->flags & TARGET_REFUSED)
            return ADMIT_LOCK_FIRST;
        return of_lock(t);
    default:
        return ADMIT_QUEUE;
    }
}

/* Operations were called since the fence that opened this epoch, so only a fence may close it. */
int rma_fence_pending(const struct rma_win *w)
{
    return w->nops > 0 || rma_ops_total(w) != w->ops_at_fence;
}

/* --- debug ----------------------------------------------------------------------------- */

/* What the state of the window says of the lock of an element. */
static void check_lock(const struct rma_win *w, const struct rma_target *t)
{
    int asked = t->state != TARGET_LOCK_GRANTED && !(t->flags & TARGET_NOCHECK);
    if (w->state == WIN_PER_TARGET)
        WR_ASSERT(list_empty(&t->called) == !asked); /* R6 */
    else
        WR_ASSERT(list_empty(&t->called)); /* R6 */
    if ((w->state == WIN_LOCK_ALL_CALLED || w->state == WIN_LOCK_ALL_ISSUED) && !(t->flags & TARGET_NEAR))
        WR_ASSERT(t->flags & TARGET_JOIN); /* E6 */
    if (w->state == WIN_LOCK_ALL_GRANTED)
        WR_ASSERT(t->state == TARGET_LOCK_GRANTED); /* E8 */
    int due = rma_target_due(t) || (t->flags & TARGET_DEAD);
    if (!list_empty(&t->ready) && !w->kicking)
        WR_ASSERT(due); /* R4 */
    /* Not at once: what an empty pool lets go one by one, and what is put there when the network has confirmed. */
    if (list_empty(&t->ready) && !w->kicking && !w->starved && !t->natives && !t->native_out)
        WR_ASSERT(!rma_target_due(t)); /* R4 */
}

static unsigned check_target(const struct rma_win *w, const struct rma_target *t)
{
    unsigned n = 0, queued = 0, past = 0, natives = 0, kept = 0;
    for (const struct list *l = t->ops.next; l != &t->ops; l = l->next) {
        const struct rma_op *op = LIST_OBJ(l, struct rma_op, link);
        WR_ASSERT(op->t == t);
        past |= l == t->next;
        queued += past;
        n++;
        natives += op->natives;
        kept += op->kept;
        WR_ASSERT(!op->kept || !(op->flags & (OP_DONE | OP_RIDES)));
        if (op->natives && op->elem && !(t->flags & TARGET_DEAD))
            WR_ASSERT(t->atomics); /* R9 */
        if (!past && t->state == TARGET_LOCK_ISSUED && !(t->flags & TARGET_NOCHECK))
            WR_ASSERT(op->flags & (OP_RIDES | OP_DONE)); /* E10 */
        if (t->state == TARGET_LOCK_CALLED)
            WR_ASSERT(op->sent == 0); /* E10 */
    }
    WR_ASSERT(past || t->next == &t->ops);        /* R1 */
    WR_ASSERT(n == t->nops && queued == t->queued); /* R2 */
    if (t->train)
        WR_ASSERT(t->ops.prev == &t->train->link && t->queued && t->train->train && !t->train->sent && !t->sync); /* R10 */
    WR_ASSERT(natives == t->natives && t->flushing <= t->native_out); /* R8 */
    WR_ASSERT(kept == t->kept); /* R13 */
    check_lock(w, t);
    WR_ASSERT(t->w == w);
    return n;
}

/* E6, E8: the words in the node segment.  Of a dead member's nobody waits any more. */
static unsigned near_locks(const struct rma_win *w)
{
    unsigned held = 0;
    for (unsigned i = 0; i < w->nears; i++)
        held += w->near.near[i].lock != RMA_UNLOCKED;
    return held;
}

/* E9: a lock is counted before it is waited for and until it is given back, so one may be counted that is not seen; one
 * for each thread that is at it. */
static void check_locks(const struct rma_win *w, unsigned far)
{
    unsigned seen = near_locks(w) + far + w->gone.count;
    WR_ASSERT(w->locks > 0);
    WR_ASSERT(seen <= w->locks);
    WR_ASSERT(proc->threaded || w->locks - seen <= 1);
}

void rma_check_invariants(const struct rma_win *w)
{
    unsigned ops = 0, targets = 0, far = 0;
    for (const struct list *l = w->slots_used.next; l != &w->slots_used; l = l->next) {
        const struct rma_slot *s = LIST_OBJ(l, struct rma_slot, used);
        WR_ASSERT(!list_empty(&s->targets)); /* R3 */
        for (const struct list *m = s->targets.next; m != &s->targets; m = m->next) {
            const struct rma_target *t = LIST_OBJ(m, struct rma_target, link);
            ops += check_target(w, t);
            far += !(t->flags & TARGET_NEAR);
            targets++;
        }
    }
    WR_ASSERT(ops == w->nops && targets == w->ntargets); /* R2 */
    if (w->state == WIN_UNSET)
        WR_ASSERT(targets == 0 && w->acks == 0); /* E1, R7 */
    if (w->state == WIN_FENCE_ISSUED)
        WR_ASSERT(w->barriers > 0); /* E2 */
    if (w->state == WIN_FENCE_GRANTED)
        WR_ASSERT(w->barriers == 0); /* E3 */
    if (w->state == WIN_PSCW_ISSUED)
        WR_ASSERT(w->nwaiting > 0); /* E4 */
    if (w->state == WIN_PSCW_GRANTED)
        WR_ASSERT(w->nwaiting == 0); /* E5 */
    if (w->state == WIN_LOCK_ALL_CALLED || w->state == WIN_LOCK_ALL_ISSUED ||
        (w->state == WIN_LOCK_ALL_GRANTED && !w->lock_all_nocheck))
        WR_ASSERT(near_locks(w) == w->nears || w->giving_back || w->dead || boot_dead_count()); /* E6, E8 */
    WR_ASSERT((w->state == WIN_LOCK_ALL_ISSUED) == (w->sw != NULL)); /* E7 */
    if (w->state == WIN_PER_TARGET)
        check_locks(w, far);
    WR_ASSERT(w->op_quota.free <= w->op_quota.size && w->target_quota.free <= w->target_quota.size);
}
