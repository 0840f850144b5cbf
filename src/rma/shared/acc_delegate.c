/* acc_delegate.c - one element, done by its owner for a near process (near/delegate.c). */
#include "rma/shared/acc_types.h"

#include <string.h>

#include "boot/boot.h"
#include "mem/mem.h"

void acc_delegation_init(struct acc_delegation *a)
{
    atomic_store_explicit(&a->answered, 0, memory_order_relaxed);
    atomic_store_explicit(&a->back, 0, memory_order_relaxed);
}

int acc_delegable(const struct acc_ctl *c, uint64_t off, const struct dt_type *elem)
{
    return !c->atomics && acc_type_atomic(elem) &&
           off % ACC_STRIPE_BYTES <= ACC_STRIPE_BYTES - (uint64_t)elem->elem.bytes;
}

int acc_answer(const struct acc_target *t, const struct acc_question *q)
{
    struct stripe *lock = &t->ctl->stripe[q->off / ACC_STRIPE_BYTES & t->ctl->mask];
    char *mem = (char *)((uintptr_t)t->base + (uintptr_t)q->off);
    sched_point(); /* it may still be taken back */
    stripe_take(lock, (unsigned)mem_host_index() + 1);
    /* final: the stripe orders it with the store in acc_take_back() */
    int open = !acc_taken_back(q->asked, q->number);
    if (open && boot_failed_count() && boot_failed(q->asker))
        open = 0;
    if (open && q->op)
        one_locked(q->op, q->elem, q->origin, mem, &q->asked->old);
    else if (open)
        swap_any(mem, q->origin, q->compare, &q->asked->old, q->elem->elem.bytes);
    /* Release pairs with the acquire in acc_answered(): the old value is there. */
    if (open)
        atomic_store_explicit(&q->asked->answered, q->number, memory_order_release);
    stripe_give(lock);
    return open;
}

int acc_answer_copy(struct acc_ctl *c, const struct acc_copy *x)
{
    struct stripe *lock = &c->stripe[x->off / ACC_STRIPE_BYTES & c->mask];
    sched_point(); /* it may still be taken back */
    stripe_take(lock, (unsigned)mem_host_index() + 1);
    /* final: the stripe orders it with the store in acc_take_back() */
    int open = !acc_taken_back(x->asked, x->number);
    if (open && boot_failed_count() && boot_failed(x->asker))
        open = 0;
    if (open) {
        memcpy(x->to, x->from, x->len);
        /* Release pairs with the acquire in acc_answered(): the bytes are there. */
        atomic_store_explicit(&x->asked->answered, x->number, memory_order_release);
    }
    stripe_give(lock);
    return open;
}

int acc_take_back(struct acc_ctl *c, uint64_t off, struct acc_delegation *a, uint32_t number)
{
    struct stripe *lock = &c->stripe[off / ACC_STRIPE_BYTES & c->mask];
    stripe_take(lock, (unsigned)mem_host_index() + 1);
    int open = !acc_answered(a, number, number);
    if (open)
        /* ordered by the stripe, too */
        atomic_store_explicit(&a->back, number, memory_order_relaxed);
    stripe_give(lock);
    return open;
}

int acc_bundle_begin(struct acc_ctl *c, struct acc_bundle *b, uint64_t number, int asker)
{
    sched_point(); /* it may still be taken back */
    stripe_take(&c->stripe[0], (unsigned)mem_host_index() + 1);
    /* final: the stripe orders it with the store in acc_bundle_take_back(). The slot may hold a
     * later one, for another owner, even from between the two loads on; it may be taken back, too,
     * under that owner's stripe. Numbers of a slot ascend. */
    int open = atomic_load_explicit(&b->number, memory_order_relaxed) == number &&
               atomic_load_explicit(&b->back, memory_order_relaxed) < number;
    if (open && boot_failed_count() && boot_failed(asker))
        open = 0;
    if (!open)
        stripe_give(&c->stripe[0]);
    return open;
}

void acc_bundle_end(struct acc_ctl *c, struct acc_bundle *b, uint64_t number)
{
    /* Release pairs with the acquire in acc_bundle_done(). */
    if (number)
        atomic_store_explicit(&b->done, number, memory_order_release);
    stripe_give(&c->stripe[0]);
}

int acc_bundle_take_back(struct acc_ctl *c, struct acc_bundle *b, uint64_t number)
{
    stripe_take(&c->stripe[0], (unsigned)mem_host_index() + 1);
    int open = !acc_bundle_done(b, number);
    if (open)
        /* ordered by the stripe, too */
        atomic_store_explicit(&b->back, number, memory_order_relaxed);
    stripe_give(&c->stripe[0]);
    return open;
}
