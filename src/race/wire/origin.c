/* origin.c - operations of this process: their bytes at the target and in its own buffers. Start
 * with race_op(). */
#include "race/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "dt/dt.h"
#include "race/watched.h"

/* --- targets and batches ---------------------------------------------------------------------- */

struct race_target *race_target_of(struct race_win *x, int rank, int make)
{
    struct race_target *t = map_get(&x->targets, (uint64_t)rank + 1);
    if (t || !make)
        return t;
    t = calloc(1, sizeof *t);
    if (!t || map_put(&x->targets, (uint64_t)rank + 1, t)) {
        free(t);
        return NULL;
    }
    t->rank = rank;
    t->world = comm_world(rma_win_comm(x->w), rank);
    list_init(&t->pending);
    list_init(&t->local);
    map_init(&t->left);
    return t;
}

/* The batch that operations issued now belong to. alone: one that its request completes. note: that
 * of a notified operation, and its number. */
static struct race_pending *pending_now(struct race_win *x, struct race_target *t,
                                        unsigned channel, int alone, uint64_t note, int reads)
{
    struct race *r = proc->race;
    const struct race_thread *me = race_self();
    uint32_t epoch = x->nstarted ? t->starts : x->fence_open ? RACE_FENCE | x->fences : 0;
    uint32_t order = x->orders + t->orders;
    struct race_pending *p = NULL;
    struct list *l = t->pending.prev;
    /* the last two, one of which reads: so operations that take turns make no batch each */
    for (int i = 0; i < 2 && l != &t->pending; i++, l = l->prev) {
        p = LIST_OBJ(l, struct race_pending, link);
        int joins = !p->alone && !p->notified && !p->done && !alone && !note;
        joins = joins && p->channel == channel && p->vclock_no == me->vclock_no;
        joins = joins && p->epoch == epoch && p->order == order;
        if (!joins || me->clock - p->issued >= UINT32_MAX / 2)
            break;
        if (p->reads == reads)
            return p;
    }
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->number = note ? note : ++r->numbers;
    p->tid = me->tid;
    p->issued = me->clock;
    p->vclock_no = me->vclock_no;
    p->vclock = race_vclock_ref(me->vclock);
    p->epoch = epoch;
    p->order = order;
    p->in_fence = !x->nstarted && !t->lock && !x->all;
    p->alone = alone;
    p->channel = channel;
    p->notified = note != 0;
    p->reads = reads;
    list_push(&t->pending, &p->link);
    return p;
}

static int same_effect(const struct race_wire_access *a, const struct race_wire_access *b)
{
    return a->site == b->site && !memcmp(&a->effect, &b->effect, sizeof a->effect) &&
           a->call == b->call;
}

/* A record has the clock of its first operation, so what became complete since then would not be
 * before the others. */
static void pending_add(struct race_pending *p, const struct race_wire_access *w)
{
    struct race_wire_access *last = p->n > p->sent ? &p->rec[p->n - 1] : NULL;
    int at_once = last && p->issued + last->tick > race_self()->ended;
    if (at_once && same_effect(last, w) && race_interval_grow(&last->interval, &w->interval)) {
        last->weight += last->weight < UINT16_MAX;
        proc->race->shadow.n.merged++;
        return;
    }
    if (VEC_FITS(p->rec, p->room, p->n + 1, 8))
        p->rec[p->n++] = *w;
    else
        proc->race->shadow.n.lost++;
}

static void pending_free(struct race_pending *p)
{
    list_del(&p->link);
    race_vclock_drop(p->vclock);
    free(p->rec);
    free(p);
}

/* --- buffers here ----------------------------------------------------------------------------- */

/* What one operation uses here. */
struct buffers {
    struct race_target *t;
    unsigned channel;
    int alone;              /* its request ends their use */
    struct race_local *own; /* then: where they stand, once there is one */
};

static struct race_local *local_now(struct buffers *u)
{
    const struct race *r = proc->race;
    const struct race_thread *me = race_self();
    struct race_target *t = u->t;
    struct race_local *l =
        list_empty(&t->local) ? NULL : LIST_OBJ(t->local.prev, struct race_local, link);
    if (u->own)
        return u->own;
    int joins = l && !u->alone && !l->req && l->batch->vclock_no == me->vclock_no;
    joins = joins && l->channel == u->channel;
    if (joins && l->batch->done == RACE_OPEN && me->clock - l->batch->issued < UINT32_MAX / 2)
        return l;
    l = calloc(1, sizeof *l);
    struct race_batch *b = l ? calloc(1, sizeof *b) : NULL;
    if (!b) {
        free(l);
        return NULL;
    }
    *b = (struct race_batch){.tid = me->tid, .refs = 1, .issued = me->clock, .done = RACE_OPEN,
                             .vclock = race_vclock_ref(me->vclock), .vclock_no = me->vclock_no,
                             .atomics = r->atomics};
    l->batch = b;
    l->channel = u->channel;
    list_push(&t->local, &l->link);
    if (u->alone)
        u->own = l;
    return l;
}

static void use_buffer(struct buffers *u, enum race_kind kind, enum race_call call,
                       const void *buf, MPI_Aint count, const struct dt_type *type, uint64_t site)
{
    struct race *r = proc->race;
    struct race_intervals l;
    struct race_local *local;
    race_intervals_of(type, (size_t)count, (uint64_t)(uintptr_t)buf, &l);
    if (!l.n || !(local = local_now(u)))
        return;
    struct race_batch *b = local->batch;
    struct race_access rec = {.tick = (uint32_t)(race_self()->clock - b->issued), .weight = 1,
                           .effect = {.kind = (uint8_t)kind & 15, .flags = RACE_BUFFER, .esize = 1},
                           .call = (uint8_t)call, .site = site, .batch = b};
    if (l.hull)
        rec.effect.flags |= RACE_HULL;
    for (int i = 0; i < l.n; i++) {
        rec.interval = l.l[i];
        race_watch_bytes(rec.interval.at, race_interval_end(&rec.interval) - rec.interval.at);
        race_shadow_add(&r->shadow, &rec);
    }
}

static void local_free(struct race_local *l)
{
    list_del(&l->link);
    race_batch_drop(l->batch);
    free(l);
}

/* --- the call --------------------------------------------------------------------------------- */

static struct race_effect effect_of(const struct rma_args *a)
{
    struct race_effect d = {.esize = 1};
    switch (a->kind) {
    case RMA_PUT:
        d.kind = RACE_PUT;
        return d;
    case RMA_GET:
        d.kind = RACE_GET;
        return d;
    case RMA_CAS:
        d.kind = RACE_ACC;
        d.op = RACE_SWAP;
        break;
    default:
        d.op = (uint8_t)a->op->index;
        d.kind = d.op == DT_NO_OP ? RACE_READ : RACE_ACC;
        break;
    }
    const struct dt_type *e = a->ttype->basic;
    d.elem = (uint8_t)(e ? e->obj.handle & 0xff : 0);
    /* an element with a hole has intervals that do not begin where it does */
    d.esize = e && e->size == e->elem.stride ? e->elem.stride : 1;
    return d;
}

static const uint8_t calls[] = {[RMA_PUT] = RACE_CALL_PUT,   [RMA_GET] = RACE_CALL_GET,
                                [RMA_ACC] = RACE_CALL_ACC,   [RMA_GACC] = RACE_CALL_GACC,
                                [RMA_FOP] = RACE_CALL_FOP,   [RMA_CAS] = RACE_CALL_CAS};

static uint8_t call_of(const struct rma_args *a)
{
    static const uint8_t notified[] = {[RMA_PUT] = RACE_CALL_PUT_NOTE,
                                       [RMA_GET] = RACE_CALL_GET_NOTE,
                                       [RMA_ACC] = RACE_CALL_ACC_NOTE};
    return a->notify ? notified[a->kind] : calls[a->kind];
}

/* The end of a request. number: of the batch that is complete at the target with it, or 0. */
struct race_request {
    struct race_local *here; /* NULL: complete, or it has no buffers */
    uint64_t win, number;
    int rank;
};

/* Before others that were issued earlier. */
static void complete_early(struct race_win *x, struct race_target *t, struct race_pending *p,
                           uint64_t done, enum race_call call, uint64_t site)
{
    if (race_lock_is_known(x, t)) {
        race_send_batch(x, t, p, done, call, site);
        pending_free(p);
        return;
    }
    p->done = done;
    p->done_by = race_done_by(p->tid);
    p->done_call = call;
    p->done_site = site;
    /* It comes behind batches that are complete later. None of what is issued from now on may hide
     * what it meets: no rule D across this (race.md 5). */
    race_self()->vclock_no = ++proc->race->vclock_nos;
}

/* A get has read what it returns, an atomic operation is applied. */
static void complete_one(const struct race_request *e, uint64_t done)
{
    struct race_win *x = race_win_of(e->win);
    struct race_target *t = x ? race_target_of(x, e->rank, 0) : NULL;
    for (struct list *l = t ? t->pending.next : NULL; l && l != &t->pending; l = l->next) {
        struct race_pending *p = LIST_OBJ(l, struct race_pending, link);
        if (p->number != e->number || p->done) /* MPI_Win_flush_local may have ended it */
            continue;
        complete_early(x, t, p, done, RACE_CALL_REQUEST, 0);
        return;
    }
}

/* The request is complete here: its buffers are the program's again. */
static void on_request(void *arg)
{
    struct race_request *e = arg;
    struct race *r = proc->race;
    uint64_t done = r && !r->off ? race_tick() : 0;
    struct race_local *l = e->here;
    if (l && done) {
        l->batch->done_call = RACE_CALL_REQUEST;
        l->batch->done_by = race_done_by(l->batch->tid);
        race_shadow_complete(&r->shadow, l->batch, done);
    }
    if (l)
        local_free(l);
    if (done && e->number)
        complete_one(e, done);
    free(e);
}

/* The operation has batches of its own, which its request ends. */
static void watch_request(struct race_win *x, const struct buffers *u, uint64_t number,
                          struct request *req)
{
    struct race_request *e = malloc(sizeof *e);
    if (!e)
        return;
    *e = (struct race_request){.here = u->own, .win = x->id, .number = number,
                               .rank = u->t->rank};
    if (e->here)
        e->here->req = e;
    race_watch_done(req, on_request, e);
}

/* p is one of those that a CLOSE of its channel will end. 0: no memory. */
static int note_left(struct race_target *t, const struct race_pending *p)
{
    uint64_t left = (uintptr_t)map_get(&t->left, p->channel + 1ull);
    uint64_t most = p->number > left ? p->number : left;
    return !map_put(&t->left, p->channel + 1ull, (void *)(uintptr_t)most);
}

/* A program may notify without end, and never flush. So what the target has is not kept here: one
 * CLOSE ends all of it, for each channel. Without order a CLOSE has to name the records that it
 * waits for. */
static void leave_some(struct race_win *x, struct race_target *t)
{
    int covers = rma_notes_cover(x->w);
    if (++t->noted <= RACE_NOTED_MAX || !am_ordered(t->world))
        return;
    for (struct list *l = t->pending.next, *next; l != &t->pending; l = next) {
        struct race_pending *p = LIST_OBJ(l, struct race_pending, link);
        next = l->next;
        if (p->alone || p->done || (covers && !p->notified)) /* a NOTE will name it */
            continue;
        race_send_batch(x, t, p, RACE_OPEN, RACE_CALL_NONE, 0);
        if (p->sent < p->n || !note_left(t, p)) /* to a failed process */
            continue;
        pending_free(p);
    }
    t->noted = 0;
}

/* Number of the batch that a notification announced for this operation, or 0. */
static uint64_t next_number(const struct race_win *x, int rank)
{
    struct race_thread *me = race_self();
    uint64_t number = me->announced;
    if (!number || me->announced_win != x->id || me->announced_rank != rank)
        return 0;
    me->announced = 0;
    return number;
}

/* Number of its batch; 0: no memory. */
static uint64_t record(struct race_win *x, struct race_target *t, unsigned channel,
                       const struct rma_args *a, int alone, uint64_t site)
{
    struct race_intervals l;
    const struct race_member *m = &x->member[a->rank];
    struct race_effect effect = effect_of(a);
    int reads = effect.kind == RACE_GET || effect.kind == RACE_READ;
    uint64_t note = a->notify ? race_self()->noting : next_number(x, a->rank);
    struct race_pending *p = pending_now(x, t, channel, alone, note, reads);
    race_intervals_of(a->ttype, (size_t)a->tcount, m->base + (uint64_t)a->disp * m->unit, &l);
    if (!p)
        return 0;
    if (note && !a->notify && !alone && l.n == 1 && !rma_notes_cover(x->w))
        p->announced = 1;
    struct race_wire_access w = {.tick = (uint32_t)(race_self()->clock - p->issued),
                              .effect = effect, .weight = 1,
                              .call = call_of(a), .site = site};
    if (l.hull)
        w.effect.flags |= RACE_HULL;
    for (int i = 0; i < l.n; i++) {
        w.interval = l.l[i];
        pending_add(p, &w);
    }
    int many = p->notified || p->n - p->sent >= proc->race->pending_max;
    uint64_t number = p->number;
    if (many && race_lock_is_known(x, t)) {
        race_send_batch(x, t, p, RACE_OPEN, RACE_CALL_NONE, 0);
        if (p->notified)
            leave_some(x, t);
    }
    return number;
}

void race_op(struct rma_win *w, const struct rma_args *a, struct request *req, const void *site)
{
    struct race *r = proc->race;
    struct race_win *x = race_win_find(w);
    size_t bytes;
    if (!x || r->off || a->rank < 0 || dt_total(a->ttype, (size_t)a->tcount, &bytes) || !bytes)
        return;
    struct race_target *t = race_target_of(x, a->rank, 1);
    if (!t)
        return;
    uint64_t place = race_site(site);
    if (a->kind >= RMA_ACC) { /* others may wait for it */
        race_advice_release();
        race_barrier_atomic(x);
    }
    if (x->lock_table) /* the lock was taken for it, if it was not held before */
        race_lock_all_acquire(x, t);
    race_op_tick();
    r->atomics |= a->kind >= RMA_GACC ? RACE_FETCHED : a->kind == RMA_ACC ? RACE_UPDATED : 0;
    /* MPIX_Rfetch_and_op and MPIX_Rcompare_and_swap are applied when their request is complete. */
    int ends = req && (a->kind == RMA_GET || a->kind == RMA_FOP || a->kind == RMA_CAS);
    uint64_t number = record(x, t, rma_win_channel(w), a, ends, place);
    int reads = a->kind != RMA_GET && !(a->op && a->op->index == DT_NO_OP);
    struct buffers u = {.t = t, .channel = rma_win_channel(w), .alone = req != NULL};
    if (reads && a->otype)
        use_buffer(&u, RACE_LOAD, call_of(a), a->origin, a->ocount, a->otype, place);
    if (a->kind == RMA_CAS)
        use_buffer(&u, RACE_LOAD, calls[a->kind], a->compare, 1, a->ttype, place);
    if (a->rtype)
        use_buffer(&u, RACE_STORE, call_of(a), a->result, a->rcount, a->rtype, place);
    if (req)
        watch_request(x, &u, ends ? number : 0, req);
    race_count();
}

/* --- completion ------------------------------------------------------------------------------- */

static int is_of(unsigned of, int channel)
{
    return channel == RACE_ALL || of == (unsigned)channel;
}

static struct race_local *local_of(const struct race_target *t, int channel)
{
    for (struct list *l = t->local.next; l != &t->local; l = l->next)
        if (is_of(LIST_OBJ(l, struct race_local, link)->channel, channel))
            return LIST_OBJ(l, struct race_local, link);
    return NULL;
}

/* What was read at the target is in the buffers here. A notified batch is complete by its own
 * rules. */
static void complete_reads(struct race_win *x, struct race_target *t, int channel, uint64_t done,
                           enum race_call call, uint64_t site)
{
    for (struct list *l = t->pending.next, *next; l != &t->pending; l = next) {
        struct race_pending *p = LIST_OBJ(l, struct race_pending, link);
        next = l->next;
        if (p->reads && !p->done && !p->notified && is_of(p->channel, channel))
            complete_early(x, t, p, done, call, site);
    }
}

static void complete_buffers(struct race_target *t, int channel, uint64_t done,
                             enum race_call call, uint64_t site)
{
    race_advice_done(t, call, site);
    for (struct race_local *x; (x = local_of(t, channel)) != NULL;) {
        x->batch->done_by = race_done_by(x->batch->tid);
        x->batch->done_call = (uint8_t)call;
        x->batch->done_site = site;
        race_shadow_complete(&proc->race->shadow, x->batch, done);
        if (x->req)
            x->req->here = NULL;
        local_free(x);
    }
}

void race_complete_local(struct race_win *x, struct race_target *t, int channel, uint64_t done,
                         enum race_call call, uint64_t site)
{
    complete_buffers(t, channel, done, call, site);
    complete_reads(x, t, channel, done, call, site);
}

static void complete_left(struct race_win *x, struct race_target *t, int channel, uint64_t done,
                          enum race_call call, uint64_t site)
{
    if (channel != RACE_ALL) {
        uint64_t number = (uintptr_t)map_del(&t->left, (unsigned)channel + 1ull);
        if (number)
            race_close_left(x, t, (unsigned)channel, number, done, call, site);
        return;
    }
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&t->left, &at)) != NULL;)
        race_close_left(x, t, (unsigned)(e->key - 1), (uintptr_t)e->value, done, call, site);
    map_destroy(&t->left);
}

void race_complete(struct race_win *x, struct race_target *t, int channel, uint64_t done,
                   enum race_call call, uint64_t site)
{
    complete_buffers(t, channel, done, call, site);
    complete_left(x, t, channel, done, call, site);
    for (struct list *l = t->pending.next, *next; l != &t->pending; l = next) {
        struct race_pending *p = LIST_OBJ(l, struct race_pending, link);
        next = l->next;
        if (!is_of(p->channel, channel))
            continue;
        if (p->done)
            race_send_batch(x, t, p, p->done, p->done_call, p->done_site);
        else
            race_send_batch(x, t, p, done, call, site);
        pending_free(p);
    }
    if (list_empty(&t->pending))
        t->noted = 0;
}

void race_complete_all(struct race_win *x, int channel, enum race_call call, uint64_t site)
{
    uint64_t done = race_tick();
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&x->targets, &at)) != NULL;)
        race_complete(x, e->value, channel, done, call, site);
}

int race_send_open(struct race_win *x)
{
    size_t at = 0;
    int all = 1;
    for (struct map_entry *e; (e = map_next(&x->targets, &at)) != NULL;) {
        const struct race_target *t = e->value;
        if (!race_lock_is_known(x, t)) { /* it may have to come behind what is not known yet */
            all &= list_empty(&t->pending);
            continue;
        }
        for (struct list *l = t->pending.next; l != &t->pending; l = l->next)
            race_send_batch(x, t, LIST_OBJ(l, struct race_pending, link), RACE_OPEN, RACE_CALL_NONE,
                            0);
    }
    return all;
}

void race_targets_free(struct race_win *x)
{
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&x->targets, &at)) != NULL;) {
        struct race_target *t = e->value;
        while (!list_empty(&t->pending))
            pending_free(LIST_OBJ(t->pending.next, struct race_pending, link));
        complete_buffers(t, RACE_ALL, race_tick(), RACE_CALL_NONE, 0);
        race_advice_gone(t);
        map_destroy(&t->left);
        free(t);
    }
    map_destroy(&x->targets);
}
