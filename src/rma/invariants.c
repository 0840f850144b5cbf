/* invariants.c - asserts the invariants of types.h and state.c (debug builds; tests). */
#include "rma/rma_types.h"

/* R15.  `leaves`: something of t may leave now. */
static void check_age(const struct rma_win *w, const struct rma_target *t, int leaves)
{
    WR_ASSERT(!t->held || (t->queued && w->held && w->held <= t->held && !list_empty(&w->active)));
    int back = t->queued && !leaves && !t->sync && rma_may_issue(t) != ADMIT_QUEUE &&
               !(LIST_OBJ(t->next, struct rma_op, link)->flags & OP_PULLED);
    if (back && rma_in(w, SET_PASSIVE) && cvar.rma_age && !cvar.rma_delay && !w->starved &&
        !w->kicking)
        WR_ASSERT(t->held);
}

/* What the state of the window requires of the lock of an element. */
static void check_lock(const struct rma_win *w, const struct rma_target *t)
{
    int asked = t->state != TARGET_LOCK_GRANTED && !(t->flags & TARGET_NOCHECK);
    if (w->state == WIN_PER_TARGET)
        WR_ASSERT(list_empty(&t->called) == !asked); /* R6 */
    else
        WR_ASSERT(list_empty(&t->called)); /* R6 */
    if ((w->state == WIN_LOCK_ALL_CALLED || w->state == WIN_LOCK_ALL_ISSUED) &&
        !(t->flags & TARGET_NEAR))
        WR_ASSERT(t->flags & TARGET_JOIN); /* E6 */
    if (w->state == WIN_LOCK_ALL_GRANTED)
        WR_ASSERT(t->state == TARGET_LOCK_GRANTED); /* E8 */
    int due = rma_target_due(t) || (t->flags & TARGET_FAILED);
    /* Exempt: what the network has confirmed readies t, and the tail, which an unordered transport
     * sends behind the last operation only, may have to wait on. The next turn finds that. */
    if (!list_empty(&t->ready) && !w->kicking && !(t->sync && !t->ordered))
        WR_ASSERT(due); /* R4 */
    check_age(w, t, due);
    /* Exempt: what an exhausted pool releases one by one, and what is enqueued when the network has
     * confirmed. */
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
        kept += op->zcopies;
        WR_ASSERT(!op->zcopies || !(op->flags & (OP_DONE | OP_PIGGYBACKED)));
        if (op->natives && op->elem && !(t->flags & TARGET_FAILED))
            WR_ASSERT(t->atomics); /* R9 */
        if (!past && t->state == TARGET_LOCK_ISSUED && !(t->flags & TARGET_NOCHECK))
            WR_ASSERT(op->flags & (OP_PIGGYBACKED | OP_DONE)); /* E10 */
        if (t->state == TARGET_LOCK_CALLED)
            WR_ASSERT(op->sent == 0); /* E10 */
    }
    WR_ASSERT(past || t->next == &t->ops);        /* R1 */
    WR_ASSERT(n == t->nops && queued == t->queued); /* R2 */
    if (t->coalesced)
        /* R10 */
        WR_ASSERT(t->ops.prev == &t->coalesced->link && t->queued && t->coalesced->coalesced &&
                  !t->coalesced->sent && !t->sync);
    WR_ASSERT(natives == t->natives && t->flushing + t->tx_out <= t->native_out); /* R8 */
    WR_ASSERT(kept == t->zcopies); /* R13 */
    check_lock(w, t);
    WR_ASSERT(t->w == w);
    return n;
}

/* E6, E8: the words in the node segment. A failed member's lock is not waited for. */
static unsigned near_locks(const struct rma_win *w)
{
    unsigned held = 0;
    for (unsigned i = 0; i < w->nears; i++)
        held += w->near.near[i].lock != RMA_UNLOCKED;
    return held;
}

/* E9: a lock is counted from before the wait for it until its release. So one per thread may be
 * counted without being seen. */
static void check_locks(const struct rma_win *w, unsigned far)
{
    unsigned seen = near_locks(w) + far + w->passive.evicted.count;
    WR_ASSERT(w->passive.locks > 0);
    WR_ASSERT(seen <= w->passive.locks);
    WR_ASSERT(proc->threaded || w->passive.locks - seen <= 1);
}

void rma_check_invariants(const struct rma_win *w)
{
    if (w->copying) /* an element is between two states */
        return;
    unsigned ops = 0, targets = 0, far = 0;
    for (const struct list *l = w->table.used.next; l != &w->table.used; l = l->next) {
        const struct rma_slot *s = LIST_OBJ(l, struct rma_slot, used);
        WR_ASSERT(!list_empty(&s->targets)); /* R3 */
        for (const struct list *m = s->targets.next; m != &s->targets; m = m->next) {
            const struct rma_target *t = LIST_OBJ(m, struct rma_target, link);
            ops += check_target(w, t);
            far += !(t->flags & TARGET_NEAR);
            targets++;
        }
    }
    WR_ASSERT(ops == w->table.nops && targets == w->table.ntargets); /* R2 */
    WR_ASSERT(targets - far == w->table.near_targets);
    unsigned bundles = 0;
    for (unsigned i = 0; i < w->nears; i++)
        bundles += w->records[i].bundles;
    const struct rma_win *root = w->parent ? w->parent : w;
    WR_ASSERT(bundles == root->delegate.bundles && root->delegate.bundle_gets <= bundles);
    if (w->parent)
        WR_ASSERT(!w->delegate.bundles &&
                  (w->state == WIN_UNSET || rma_in(w->parent, SET_LOCK_ALL)));
    WR_ASSERT((!w->delegate.errs && !w->errs.count) || w->err);
    WR_ASSERT(!w->delegate.misses == !w->delegate.missed);
    WR_ASSERT(!bundles || !atomic_load_explicit(&w->near.quiet, memory_order_relaxed));
    WR_ASSERT(!w->errs.count || (w->all_mapped && !w->notes.sent) ||
              !atomic_load_explicit(&w->near.passive, memory_order_relaxed));
    if (w->state == WIN_UNSET)
        WR_ASSERT(targets == 0 && w->acks == 0); /* E1, R7 */
    if (w->state == WIN_FENCE_ISSUED)
        WR_ASSERT(w->fence.barriers > 0); /* E2 */
    if (w->state == WIN_FENCE_GRANTED)
        WR_ASSERT(w->fence.barriers == 0); /* E3 */
    if (w->state == WIN_PSCW_ISSUED)
        WR_ASSERT(w->access.nwaiting > 0); /* E4 */
    if (w->state == WIN_PSCW_GRANTED)
        WR_ASSERT(w->access.nwaiting == 0); /* E5 */
    int all_asked = w->state == WIN_LOCK_ALL_CALLED || w->state == WIN_LOCK_ALL_ISSUED;
    int all_granted = w->state == WIN_LOCK_ALL_GRANTED && !w->passive.nocheck_all;
    if ((all_asked || all_granted) && !w->parent) /* E6, E8 */
        WR_ASSERT(near_locks(w) + w->passive.lazies == w->nears || w->passive.giving_back ||
                  w->dead || boot_failed_count());
    WR_ASSERT((w->state == WIN_LOCK_ALL_ISSUED) == (w->passive.sw != NULL)); /* E7 */
    if (w->state == WIN_PER_TARGET)
        check_locks(w, far);
    WR_ASSERT(w->table.op_quota.free <= w->table.op_quota.size &&
              w->table.target_quota.free <= w->table.target_quota.size);
}
