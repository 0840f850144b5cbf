/* slot.c - rank -> slot -> target element ([design] Data structures). Start with rma_target_add().
 *
 * The slot array has a fixed size; ranks are dealt to it round robin. Slots that hold targets are
 * on one list, so a walk over all targets costs only what is there. */
#include "rma/core/core.h"

#include <stdlib.h>

_Static_assert(sizeof(struct rma_slot) == 32, "what rma.md states");

int rma_slots_init(struct rma_win *w)
{
    w->table.nslots = (unsigned)cvar.rma_slots;
    if ((int)w->table.nslots > w->size)
        w->table.nslots = (unsigned)w->size;
    w->table.slots = malloc(w->table.nslots * sizeof *w->table.slots);
    if (!w->table.slots)
        return -1;
    for (unsigned i = 0; i < w->table.nslots; i++) {
        list_init(&w->table.slots[i].targets);
        list_init(&w->table.slots[i].used);
    }
    list_init(&w->table.used);
    return 0;
}

void rma_slots_free(struct rma_win *w)
{
    free(w->table.slots);
    w->table.slots = NULL;
}

/* Properties of the way to the target, read once because every packet needs them. */
static void transport_of(struct rma_target *t)
{
    struct am_way way = am_way_to(t->world);
    size_t most = way.most;
    t->packet = (uint32_t)(most < (size_t)cvar.rma_packet ? most : (size_t)cvar.rma_packet);
    t->ordered = (uint8_t)way.ordered;
    /* Half of the answers that this process can have under way, so a packet never waits for all of
     * them. */
    t->most_replies = 1;
    t->gather = t->small = 0;
    t->zcopy_min = UINT32_MAX;
    const struct tp_caps *caps = way.caps;
    if (!caps)
        return;
    if (caps->am_zcopy_min)
        t->zcopy_min = (uint32_t)caps->am_zcopy_min;
    t->most_replies = caps->replies ? caps->replies / 2 : UINT32_MAX;
    if (t->ordered) { /* on an unordered way no packet is shared */
        t->gather = (uint32_t)(caps->gather < t->packet ? caps->gather : t->packet);
        t->small = (uint32_t)(caps->gather / 4);
    }
}

int rma_target_way(struct rma_target *t)
{
    int err = am_reach(t->world);
    if (!err)
        transport_of(t);
    return err;
}

struct rma_target *rma_target_add(struct rma_win *w, int rank)
{
    struct rma_target *t = rma_target_alloc(w);
    if (!t)
        return NULL;
    struct rma_slot *s = rma_slot_of(w, rank);
    t->w = w;
    t->rank = rank;
    t->world = rma_world(w, rank);
    transport_of(t);
    list_init(&t->ops);
    t->next = &t->ops;
    list_init(&t->ready);
    list_init(&t->called);
    if (list_empty(&s->targets))
        list_push(&w->table.used, &s->used);
    list_push(&s->targets, &t->link);
    w->table.ntargets++;
    if (rma_near_of(w, rank)) {
        t->flags |= TARGET_NEAR;
        w->table.near_targets++;
    }
    rma_evicted_del(&w->passive.evicted, rank);
    t->born = t->answered = t->out_token = w->token;
    t->mark = w->orders && rma_unsure(w);
    rma_near_admit(w);
    return t;
}

void rma_target_del(struct rma_win *w, struct rma_target *t)
{
    WR_ASSERT(list_empty(&t->ops) && !t->pins);
    if (t->lane)
        rma_lane_leave(t);
    rma_keys_unref(t);
    if (w->table.recent == t)
        w->table.recent = NULL;
    struct rma_slot *s = rma_slot_of(w, t->rank);
    list_del(&t->link);
    list_del(&t->ready);
    list_del(&t->called);
    if (list_empty(&s->targets))
        list_del(&s->used);
    w->table.ntargets--;
    w->table.near_targets -= (t->flags & TARGET_NEAR) != 0;
    if (t->err)
        rma_target_err_stays(w, t->rank, t->err, t->lost);
    rma_near_admit(w);
    rma_target_free(w, t);
}

struct rma_target *rma_target_next(const struct rma_win *w, const struct rma_target *t)
{
    const struct list *used;
    if (t) {
        const struct rma_slot *s = rma_slot_of(w, t->rank);
        if (t->link.next != &s->targets)
            return LIST_OBJ(t->link.next, struct rma_target, link);
        used = s->used.next;
    } else {
        used = w->table.used.next;
    }
    if (used == &w->table.used)
        return NULL;
    const struct rma_slot *s = LIST_OBJ(used, struct rma_slot, used);
    return LIST_OBJ(s->targets.next, struct rma_target, link);
}

void rma_targets_drop(struct rma_win *w)
{
    struct rma_target *t;
    while ((t = rma_target_next(w, NULL)) != NULL)
        rma_target_del(w, t);
}

int rma_target_idle(struct rma_target *t)
{
    rma_lane_end(t);
    return !t->pins && !t->nops && !t->sync && !t->tokens_out && !(t->flags & TARGET_DIRTY) &&
           !t->native_out;
}

void rma_targets_drop_idle(struct rma_win *w)
{
    struct rma_target *next;
    for (struct rma_target *t = rma_target_next(w, NULL); t; t = next) {
        next = rma_target_next(w, t);
        /* After a failure no thread waits for the others; late answers will find no element. */
        if (w->dead && !t->pins && !t->nops) {
            t->tokens_out = t->sync = 0;
            rma_lane_end(t);
            t->native_out = t->tx_out = t->flushing = 0;
            t->flags &= (uint8_t)~TARGET_DIRTY;
        }
        if (rma_target_idle(t))
            rma_target_del(w, t);
    }
}
