/* window.c - windows and their synchronization: from which process a call acquires, and what it
 * completes. Start with race_before() and race_after(). */
#include "race/report/report.h"
#include "race/watched.h"

#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "obj/attr.h"

/* --- life ------------------------------------------------------------------------------------- */

static uint8_t accumulate_of(const char *value)
{
    if (!value || !strcmp(value, "same_op_no_op"))
        return RACE_SAME_OP_NO_OP;
    return !strcmp(value, "any_op") ? RACE_ANY_OP : RACE_SAME_OP;
}

static void take_keys(struct race_win *x)
{
    struct info *i;
    if (rma_win_get_info(x->w, &i))
        return;
    x->accumulate = accumulate_of(info_value(i, "accumulate_ops"));
    x->announces = (uint8_t)info_truth(i, "mpix_race_announce", 0);
    info_drop(i);
}

static struct race_member mine(struct rma_win *w)
{
    int *flavor = rma_win_attr(w, MPI_WIN_CREATE_FLAVOR);
    const MPI_Aint *size = rma_win_attr(w, MPI_WIN_SIZE);
    if (*flavor == MPI_WIN_FLAVOR_DYNAMIC || *flavor == MPI_WIN_FLAVOR_SHARED)
        race_barrier_unseen(); /* those of others, and those before the first operation */
    if (*flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return (struct race_member){0, 1, 0};
    return (struct race_member){(uint64_t)(uintptr_t)rma_win_attr(w, MPI_WIN_BASE),
                                (uint64_t)rma_win_unit(w), (uint64_t)*size};
}

void race_win_made(struct comm *over, struct rma_win *w, const void *site)
{
    struct race *r = proc->race;
    (void)over;
    struct comm *c = rma_win_comm(w);
    if (!race_is_inside(c))
        return;
    struct race_win *x = calloc(1, sizeof *x);
    struct race_member me = mine(w);
    if (x)
        x->member = calloc((size_t)c->size, sizeof *x->member);
    if (!x || !x->member || map_put(&r->wins, comm_ctx(c), x))
        race_no_memory();
    /* before others may send records */
    x->id = comm_ctx(c);
    x->w = w;
    take_keys(x);
    x->site = race_site(site);
    map_init(&x->targets);
    map_init(&x->origins);
    list_init(&x->held);
    race_watch_bytes(me.base, me.bytes);
    if (coll_allgather_bytes(&me, x->member, sizeof me, c))
        r->off = 1;
    race_lock_table_make(x);
}

static void origins_free(struct race_win *x)
{
    size_t at = 0;
    struct list *l;
    for (struct map_entry *e; (e = map_next(&x->origins, &at)) != NULL;) {
        struct race_origin *o = e->value;
        while ((l = list_pop(&o->posted)) != NULL) {
            race_vclock_drop(LIST_OBJ(l, struct race_posted, link)->vclock);
            free(LIST_OBJ(l, struct race_posted, link));
        }
        race_vclock_drop(o->at_complete);
        free(o);
    }
    map_destroy(&x->origins);
}

static void win_free(struct race_win *x)
{
    struct list *l;
    race_targets_free(x);
    race_notes_free(x);
    origins_free(x);
    while ((l = list_pop(&x->held)) != NULL) {
        proc->race->nheld--;
        free(LIST_OBJ(l, struct race_held, link));
    }
    race_vclock_drop(x->lock.exclusive);
    race_vclock_drop(x->lock.shared);
    race_vclock_drop(x->at_fence);
    free(x->started);
    free(x->posted);
    free(x->member);
    free(x);
}

void race_win_freed(struct comm *c)
{
    struct race *r = proc->race;
    struct race_win *x = race_win_of(comm_ctx(c));
    if (!x)
        return;
    race_wait_acks();
    race_joined(c);
    coll_barrier(c); /* what others have sent has come, too */
    race_graph_win_freed(x);
    race_barrier_no_fence(x);
    struct rma_win *lock_table = x->lock_table;
    map_del(&r->wins, x->id);
    win_free(x);
    if (lock_table)
        rma_win_free(lock_table);
}

void race_wins_free(void)
{
    struct race *r = proc->race;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&r->wins, &at)) != NULL;)
        win_free(e->value);
    map_destroy(&r->wins);
}

/* --- post, start, complete, wait -------------------------------------------------------------- */

static int *worlds_of(const struct group *g, int *n)
{
    int *list = malloc((size_t)(g->map->size ? g->map->size : 1) * sizeof *list);
    *n = list ? g->map->size : 0;
    for (int i = 0; i < *n; i++)
        list[i] = rankmap_world(g->map, i);
    return list;
}

static void after_post(struct race_win *x, const struct watch_sync *s)
{
    struct race_vclock *v;
    race_barrier_no_fence(x);
    free(x->posted);
    x->posted = worlds_of(s->group, &x->nposted);
    race_tick();
    v = race_release();
    for (int i = 0; i < x->nposted; i++) {
        struct race_origin *o = race_origin_of(x, x->posted[i]);
        struct race_posted *p = o ? malloc(sizeof *p) : NULL;
        if (!p)
            race_no_memory();
        p->number = ++o->posts;
        p->vclock = race_vclock_ref(v);
        p->assert = o->assertions.post = s->assert;
        p->site = o->assertions.post_site = race_site(s->site);
        list_push(&o->posted, &p->link);
    }
    race_vclock_drop(v);
    race_replay(x);
    race_assertion_stores_report(x, "MPI_Win_post");
    for (int i = 0; i < x->nposted; i++) /* an epoch that was over before may never end here */
        race_assertion_wait(x, x->posted[i]);
}

static void after_start(struct race_win *x, const struct watch_sync *s)
{
    x->assertions.start = s->assert;
    x->assertions.start_site = race_site(s->site);
    race_barrier_no_fence(x);
    free(x->started);
    x->started = worlds_of(s->group, &x->nstarted);
    for (int i = 0; i < x->nstarted; i++) {
        int rank = rankmap_find(rma_win_comm(x->w)->map, x->started[i]);
        struct race_target *t = rank < 0 ? NULL : race_target_of(x, rank, 1);
        if (t)
            t->starts++;
    }
}

static void note_complete(struct race_win *x, int world, uint32_t number, struct race_vclock *v)
{
    struct race_origin *o = race_origin_of(x, world);
    if (!o)
        return;
    race_vclock_drop(o->at_complete);
    o->at_complete = race_vclock_ref(v);
    o->completes = number;
    race_assertion_start(o, number, x->assertions.start, x->assertions.start_site);
}

/* Do messages to each target of the epoch arrive in their order? */
static int keeps_order(const struct race_win *x)
{
    for (int i = 0; i < x->nstarted; i++)
        if (!am_ordered(x->started[i]))
            return 0;
    return 1;
}

static void before_complete(struct race_win *x, uint64_t site)
{
    if (!x->nstarted)
        return;
    race_complete_all(x, RACE_ALL, RACE_CALL_COMPLETE, site);
    if (!keeps_order(x)) /* MPI_Win_wait says whether MPI_MODE_NOPUT holds */
        race_wait_acks();
    race_tick();
    struct race_vclock *v = race_release();
    for (int i = 0; i < x->nstarted; i++) {
        int rank = rankmap_find(rma_win_comm(x->w)->map, x->started[i]);
        const struct race_target *t = rank < 0 ? NULL : race_target_of(x, rank, 0);
        if (t && (uint32_t)t->world == proc->race->me)
            note_complete(x, t->world, t->starts, v);
        else if (t)
            race_send_clock(t->world, x, t->starts, v);
    }
    race_vclock_drop(v);
    x->nstarted = 0;
}

static int all_completed(void *arg)
{
    struct race_win *x = arg;
    for (int i = 0; i < x->nposted; i++) {
        const struct race_origin *o = race_origin_of(x, x->posted[i]);
        if (o && o->completes < o->posts)
            return boot_failed_count() != 0;
    }
    return 1;
}

static void after_wait(struct race_win *x)
{
    progress_wait(all_completed, x, "the clocks of MPI_Win_complete", -1);
    for (int i = 0; i < x->nposted; i++) {
        const struct race_origin *o = race_origin_of(x, x->posted[i]);
        if (o && o->at_complete)
            race_acquire(o->at_complete);
    }
    race_assertion_report(x, "MPI_Win_post");
    for (int i = 0; i < x->nposted; i++)
        race_assertion_wait(x, x->posted[i]);
    x->nposted = 0;
}

/* With MPI_MODE_NOPRECEDE, which all members give alike, it need not wait for others; what it
 * promises is that operations of the epoch come after the fence of their target. */
static void after_fence(struct race_win *x, int assert, const void *site)
{
    x->fence_open = 0;
    race_barrier_begins(RACE_CALL_FENCE, site, x->id);
    if (!(assert & MPI_MODE_NOPRECEDE)) {
        race_joined(rma_win_comm(x->w));
        race_barrier_ends();
        race_barrier_fenced(x, assert);
        race_assertion_report(x, "MPI_Win_fence");
        race_assertion_stores_report(x, "MPI_Win_fence");
        race_assertion_fence_complete(x);
        return;
    }
    race_barrier_ends();
    race_tick();
    struct race_vclock *v = race_release();
    race_vclock_drop(x->at_fence);
    x->at_fence = v;
    x->fences++;
    x->fence_open = !(assert & MPI_MODE_NOSUCCEED);
    race_assertion_fence_complete(x);
    race_replay(x);
    race_assertion_stores_report(x, "MPI_Win_fence");
}

/* --- locks ------------------------------------------------------------------------------------ */

static struct race_lock_site lock_site(const struct watch_sync *s, int exclusive)
{
    return (struct race_lock_site){.site = race_site(s->site), .call = (uint8_t)s->call,
                                   .exclusive = (uint8_t)exclusive,
                                   .unchecked = (s->assert & MPI_MODE_NOCHECK) != 0};
}

static void after_lock(struct race_win *x, const struct watch_sync *s)
{
    struct race_target *t = s->rank < 0 ? NULL : race_target_of(x, s->rank, 1);
    if (!t)
        return;
    race_barrier_no_fence(x);
    if (s->type == MPI_LOCK_EXCLUSIVE && !(s->assert & MPI_MODE_NOCHECK))
        race_barrier_locked(x, s->site);
    t->lock = s->assert & MPI_MODE_NOCHECK ? RACE_UNCHECKED
              : s->type == MPI_LOCK_EXCLUSIVE ? RACE_EXCLUSIVE : RACE_SHARED;
    if (t->lock != RACE_UNCHECKED && !rma_holds_lock(x->w, s->rank))
        t->late = 1;
    else
        race_lock_acquire(x, s->rank, (enum race_lock_kind)t->lock);
    race_lock_begins(x, s->rank, lock_site(s, s->type == MPI_LOCK_EXCLUSIVE));
}

static void unlocks(struct race_win *x, int rank)
{
    struct race_lock_site mine, other;
    int by = race_lock_ends(x, rank, &mine, &other);
    if (by >= 0)
        race_assertion_unlock(x, &mine, &other, by);
}

static void before_unlock(struct race_win *x, const struct watch_sync *s, uint64_t site)
{
    int size = rma_win_comm(x->w)->size;
    struct race_target *t =
        s->rank < 0 || s->rank >= size ? NULL : race_target_of(x, s->rank, 0);
    if (!t || !t->lock)
        return;
    unlocks(x, s->rank);
    race_lock_confirm(x, s->rank);
    t->late = 0;
    race_complete(x, t, RACE_ALL, race_tick(), RACE_CALL_UNLOCK, site);
    race_lock_release(x, s->rank, (enum race_lock_kind)t->lock);
    t->lock = RACE_UNLOCKED;
}

/* Some locks are taken here, as this process's own: they guard loads and stores. */
static void after_lock_all(struct race_win *x, const struct watch_sync *s)
{
    int size = rma_win_comm(x->w)->size;
    race_barrier_no_fence(x);
    x->all = s->assert & MPI_MODE_NOCHECK ? RACE_UNCHECKED : RACE_SHARED;
    for (int i = 0; x->all == RACE_SHARED && i < size; i++) {
        struct race_target *t = rma_holds_lock(x->w, i) ? race_target_of(x, i, 1) : NULL;
        if (t)
            race_lock_all_acquire(x, t);
    }
    struct race_lock_site at = lock_site(s, 0);
    for (int i = 0; i < size; i++)
        race_lock_begins(x, i, at);
}

static void before_unlock_all(struct race_win *x, uint64_t site)
{
    int size = rma_win_comm(x->w)->size;
    if (!x->all)
        return;
    for (int i = 0; i < size; i++)
        unlocks(x, i);
    race_lock_confirm(x, -1);
    race_complete_all(x, RACE_ALL, RACE_CALL_UNLOCK_ALL, site);
    for (int i = 0; i < size; i++) {
        struct race_target *t = race_target_of(x, i, 0);
        if (!t || !t->all) /* it was not locked */
            continue;
        t->all = 0;
        race_lock_release(x, i, RACE_SHARED);
    }
    x->all = RACE_UNLOCKED;
}

/* --- the calls -------------------------------------------------------------------------------- */

static void flush_local(struct race_win *x, int channel, int rank, enum race_call call,
                        uint64_t site)
{
    uint64_t done = race_tick();
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&x->targets, &at)) != NULL;) {
        struct race_target *t = e->value;
        if (rank < 0 || t->rank == rank)
            race_complete_local(x, t, channel, done, call, site);
    }
}

/* Else the flush is refused, and nothing is complete. rank -1: all */
static int in_passive(struct race_win *x, int rank)
{
    size_t at = 0;
    if (x->all)
        return 1;
    for (struct map_entry *e; (e = map_next(&x->targets, &at)) != NULL;) {
        const struct race_target *t = e->value;
        if (t->lock && (rank < 0 || t->rank == rank))
            return 1;
    }
    return 0;
}

static void before_flush(struct race_win *x, int channel, const struct watch_sync *s,
                         uint64_t site)
{
    int rank = s->call == RACE_CALL_FLUSH || s->call == RACE_CALL_FLUSH_LOCAL ? s->rank : -1;
    struct race_target *t;
    if (rank < 0 && s->call != RACE_CALL_FLUSH_ALL && s->call != RACE_CALL_FLUSH_LOCAL_ALL)
        return; /* MPI_PROC_NULL */
    if (!in_passive(x, rank))
        return;
    if (s->call == RACE_CALL_FLUSH_LOCAL || s->call == RACE_CALL_FLUSH_LOCAL_ALL) {
        flush_local(x, channel, rank, s->call, site);
        return;
    }
    race_lock_confirm(x, rank);
    if (rank < 0)
        race_complete_all(x, channel, s->call, site);
    else if ((t = race_target_of(x, rank, 0)) != NULL)
        race_complete(x, t, channel, race_tick(), s->call, site);
}

static void after_order(struct race_win *x, int rank)
{
    struct race_target *t = rank < 0 ? NULL : race_target_of(x, rank, 1);
    x->orders += rank == MPIX_ALL;
    if (t)
        t->orders++;
}

/* A duplicate has no epochs: no such call has an effect. */
static int opens_none(const struct rma_win *w, int call)
{
    return rma_win_channel(w) && call != RACE_CALL_FLUSH && call != RACE_CALL_FLUSH_ALL &&
           call != RACE_CALL_FLUSH_LOCAL && call != RACE_CALL_FLUSH_LOCAL_ALL &&
           call != RACE_CALL_ORDER;
}

void race_before(struct rma_win *w, const struct watch_sync *s)
{
    struct race_win *x = race_win_find(w);
    if (!x || proc->race->off || opens_none(w, s->call))
        return;
    uint64_t site = race_site(s->site);
    int asserts = (s->call == RACE_CALL_FENCE && !rma_fence_check(w, s->assert)) ||
                  s->call == RACE_CALL_POST;
    race_advice_run(s->call, site);
    race_assertion_sync(x, asserts ? s->assert : 0, site);
    switch (s->call) {
    case RACE_CALL_FENCE:
        if (!asserts)
            break;
        race_complete_all(x, RACE_ALL, s->call, site);
        race_assertion_fence_now(x, s->assert, s->site);
        break;
    case RACE_CALL_COMPLETE:
        before_complete(x, site);
        break;
    case RACE_CALL_UNLOCK:
        before_unlock(x, s, site);
        break;
    case RACE_CALL_UNLOCK_ALL:
        before_unlock_all(x, site);
        break;
    case RACE_CALL_FLUSH:
    case RACE_CALL_FLUSH_ALL:
    case RACE_CALL_FLUSH_LOCAL:
    case RACE_CALL_FLUSH_LOCAL_ALL:
        before_flush(x, (int)rma_win_channel(w), s, site);
        break;
    default:
        break;
    }
}

void race_after(struct rma_win *w, const struct watch_sync *s, int err)
{
    struct race_win *x = race_win_find(w);
    if (!x || err || proc->race->off)
        return;
    switch (s->call) {
    case RACE_CALL_FENCE:
        after_fence(x, s->assert, s->site);
        break;
    case RACE_CALL_POST:
        after_post(x, s);
        break;
    case RACE_CALL_START:
        after_start(x, s);
        break;
    case RACE_CALL_TEST:
        if (!*s->flag)
            break;
        after_wait(x);
        break;
    case RACE_CALL_WAIT:
        after_wait(x);
        break;
    case RACE_CALL_ORDER:
        after_order(x, s->rank);
        break;
    case RACE_CALL_LOCK:
        after_lock(x, s);
        break;
    case RACE_CALL_LOCK_ALL:
        after_lock_all(x, s);
        break;
    default:
        break;
    }
}
