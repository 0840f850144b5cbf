/* lock_clock.c - the holder of a lock acquires what those released that held it before. Start with
 * race_lock_acquire() and race_lock_release().
 *
 *   all members near: a table in shared memory for each target, two rows of clocks: of those that
 *                     gave up an exclusive lock, and of those that gave up a shared one
 *   else:             RELEASE before the unlock, confirmed; ASK after the lock, answered by ANSWER
 *
 * An exclusive lock comes after both rows, a shared one after the first. */
#include "race/watched.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/sched.h"
#include "boot/boot.h"

struct lock_table { /* [threads of the job] entries in each row */
    atomic_uint guard;
    uint32_t unused;
    uint64_t floor[2];
    uint64_t clock[]; /* behind it struct lock_span [processes of the window] */
};
struct lock_span { /* the last time between the calls that lock and unlock, of one process */
    uint64_t begin, end; /* ns of this host; end 0: not yet; begin 0: there was none */
    struct race_lock_site site;
};
struct release_msg {
    uint64_t win;
    uint32_t kind, unused;
}; /* the vector clock */
struct ask_msg {
    uint64_t win, number;
    uint32_t kind, unused;
}; /* ANSWER: the same and the vector clock */

/* --- near ------------------------------------------------------------------------------------- */

void race_lock_table_make(struct race_win *x)
{
    size_t rows = 2 * sizeof(uint64_t) * proc->race->tids;
    size_t spans = (size_t)rma_win_comm(x->w)->size * sizeof(struct lock_span);
    MPI_Aint bytes = (MPI_Aint)(sizeof(struct lock_table) + rows + spans);
    void *base;
    if (rma_win_allocate_shared(bytes, 1, NULL, rma_win_comm(x->w), &base, &x->lock_table)) {
        x->lock_table = NULL; /* some member is far: all see this */
        return;
    }
    memset(base, 0, (size_t)bytes);
    coll_barrier(rma_win_comm(x->w));
}

static struct lock_table *table_of(const struct race_win *x, int rank)
{
    MPI_Aint size, unit;
    void *base = NULL;
    return rma_win_shared_query(x->lock_table, rank, &size, &unit, &base) ? NULL : base;
}

static void guard_take(struct lock_table *b)
{
    /* a holder that died leaves the guard: what it wrote is whole words */
    for (unsigned n = 0; atomic_exchange_explicit(&b->guard, 1, memory_order_acquire); n++)
        if (n > 1000000 && boot_failed_count())
            return;
        else
            thread_pause(n);
}

static void guard_drop(struct lock_table *b)
{
    atomic_store_explicit(&b->guard, 0, memory_order_release);
}

static struct race_vclock *table_read(const struct race_win *x, int rank, int row)
{
    struct lock_table *b = table_of(x, rank);
    uint32_t n = proc->race->tids;
    struct race_vclock_entry *e = b ? malloc(n * sizeof *e) : NULL;
    if (!e)
        return NULL;
    guard_take(b);
    uint64_t floor = b->floor[row];
    for (uint32_t i = 0; i < n; i++)
        e[i] = (struct race_vclock_entry){i, 0, b->clock[(uint32_t)row * n + i]};
    guard_drop(b);
    struct race_vclock *v = race_vclock_make(floor, e, n);
    free(e);
    return v;
}

static void table_write(const struct race_win *x, int rank, int row, const struct race_vclock *v)
{
    struct lock_table *b = table_of(x, rank);
    if (!b)
        return;
    uint64_t *clock = b->clock + (size_t)row * proc->race->tids;
    guard_take(b);
    if (v->floor > b->floor[row])
        b->floor[row] = v->floor;
    for (uint32_t i = 0; i < v->n; i++)
        if (v->e[i].clock > clock[v->e[i].tid])
            clock[v->e[i].tid] = v->e[i].clock;
    guard_drop(b);
}

/* --- MPI_MODE_NOCHECK ------------------------------------------------------------------------- */

/* Times of one host: where some member is far nothing is known. */
static struct lock_span *spans_of(struct lock_table *b)
{
    return (struct lock_span *)(b->clock + 2 * (size_t)proc->race->tids);
}

void race_lock_begins(struct race_win *x, int rank, struct race_lock_site site)
{
    struct lock_table *b = x->lock_table ? table_of(x, rank) : NULL;
    if (!b)
        return;
    guard_take(b);
    spans_of(b)[rma_win_comm(x->w)->rank] = (struct lock_span){time_now(), 0, site};
    guard_drop(b);
}

/* A process that died has ended its own. */
static int spans_overlap(const struct lock_span *me, const struct lock_span *other, int world)
{
    return other->end ? other->end > me->begin : other->begin && !boot_failed(world);
}

/* Only the last span of each process is kept; its earlier ones are overwritten. */
int race_lock_ends(struct race_win *x, int rank, struct race_lock_site *mine,
                   struct race_lock_site *other)
{
    struct lock_table *b = x->lock_table ? table_of(x, rank) : NULL;
    const struct comm *c = rma_win_comm(x->w);
    int found = -1;
    if (!b)
        return -1;
    guard_take(b);
    struct lock_span *span = spans_of(b), *me = &span[c->rank];
    me->end = time_now();
    *mine = me->site;
    for (int i = 0; i < c->size && me->site.unchecked && found < 0; i++)
        if (i != c->rank && (me->site.exclusive || span[i].site.exclusive) &&
            spans_overlap(me, &span[i], comm_world(c, i))) {
            found = i;
            *other = span[i].site;
        }
    guard_drop(b);
    return found;
}

/* --- by messages ------------------------------------------------------------------------------ */

static void add(struct race_vclock **at, const struct race_vclock *v)
{
    struct race_vclock *both = race_vclock_join(*at, v);
    if (!both)
        race_no_memory();
    race_vclock_drop(*at);
    *at = both;
}

static struct race_vclock **row_of(struct race_win *x, int row)
{
    return row ? &x->lock.shared : &x->lock.exclusive;
}

int race_on_release(int src, const void *msg, size_t len)
{
    struct release_msg m;
    size_t used;
    int cut;
    if (!proc->race || len < sizeof m)
        return 0;
    memcpy(&m, msg, sizeof m);
    struct race_win *x = race_win_of(m.win);
    struct race_vclock *v =
        race_unpack((const char *)msg + sizeof m, len - sizeof m, &used, &cut);
    if (x && v)
        add(row_of(x, m.kind == RACE_SHARED), v);
    race_vclock_drop(v);
    race_msg_send(src, RACE_ACK, "", 1);
    return 0;
}

/* What a new holder acquires; a new reference. */
static struct race_vclock *for_holder(struct race_win *x, uint32_t kind)
{
    if (kind != RACE_EXCLUSIVE)
        return race_vclock_ref(x->lock.exclusive);
    return race_vclock_join(x->lock.exclusive, x->lock.shared);
}

int race_on_ask(int src, const void *msg, size_t len)
{
    struct ask_msg m;
    if (!proc->race || len < sizeof m)
        return 0;
    memcpy(&m, msg, sizeof m);
    struct race_win *x = race_win_of(m.win);
    struct race_vclock *v = x ? for_holder(x, m.kind) : NULL;
    void *b = race_pack(&m, sizeof m, v, am_max(src), &len);
    race_msg_send(src, RACE_ANSWER, b, len);
    race_vclock_drop(v);
    free(b);
    return 0;
}

int race_on_answer(int src, const void *msg, size_t len)
{
    struct ask_msg m;
    size_t used;
    int cut;
    (void)src;
    if (!proc->race || len < sizeof m)
        return 0;
    memcpy(&m, msg, sizeof m);
    struct race_vclock *v =
        race_unpack((const char *)msg + sizeof m, len - sizeof m, &used, &cut);
    if (v)
        add(&proc->race->answer, v);
    race_vclock_drop(v);
    proc->race->answered++;
    return 0;
}

static int is_answered(void *arg)
{
    const struct race *r = arg;
    return r->answered >= r->asked || boot_failed_count();
}

/* A new reference. */
static struct race_vclock *ask(struct race_win *x, int rank, enum race_lock_kind kind)
{
    struct race *r = proc->race;
    int world = comm_world(rma_win_comm(x->w), rank);
    if (!r->asking++) { /* else another thread may not have taken it yet */
        race_vclock_drop(r->answer);
        r->answer = NULL;
    }
    struct ask_msg m = {.win = x->id, .number = ++r->asked, .kind = kind};
    race_msg_send(world, RACE_ASK, &m, sizeof m);
    progress_wait(is_answered, r, "what former holders of a lock knew", world);
    r->asking--;
    return race_vclock_ref(r->answer);
}

/* --- both ------------------------------------------------------------------------------------- */

/* The vector clocks that former holders released; a new reference, or NULL: nothing. Waits where
 * some member is far. */
static struct race_vclock *former(struct race_win *x, int rank, enum race_lock_kind kind)
{
    if ((uint32_t)comm_world(rma_win_comm(x->w), rank) == proc->race->me && !x->lock_table)
        return for_holder(x, kind);
    if (!x->lock_table)
        return ask(x, rank, kind);
    struct race_vclock *v = table_read(x, rank, 0);
    if (kind != RACE_EXCLUSIVE)
        return v;
    struct race_vclock *shared = table_read(x, rank, 1), *both = race_vclock_join(v, shared);
    race_vclock_drop(v);
    race_vclock_drop(shared);
    return both;
}

void race_lock_acquire(struct race_win *x, int rank, enum race_lock_kind kind)
{
    if (kind == RACE_UNLOCKED || kind == RACE_UNCHECKED)
        return;
    struct race_vclock *v = former(x, rank, kind);
    if (v)
        race_acquire(v);
    race_vclock_drop(v);
}

void race_lock_all_acquire(struct race_win *x, struct race_target *t)
{
    if (race_lock_is_known(x, t) || !rma_holds_lock(x->w, t->rank))
        return;
    t->all = 1;
    race_lock_acquire(x, t->rank, RACE_SHARED);
}

/* Its operations so far happen after what former holders of the lock did. */
static void confirm(struct race_win *x, struct race_target *t)
{
    struct race *r = proc->race;
    rma_lock_now(x->w, t->rank);
    if (race_lock_is_known(x, t) || !rma_holds_lock(x->w, t->rank)) /* a failed process has none */
        return;
    struct race_vclock *v =
        former(x, t->rank, t->late ? (enum race_lock_kind)t->lock : RACE_SHARED);
    t->all = !t->late;
    t->late = 0;
    if (!v)
        return;
    for (struct list *l = t->pending.next; l != &t->pending; l = l->next) {
        struct race_pending *p = LIST_OBJ(l, struct race_pending, link);
        if (race_vclock_includes(p->vclock, v, p->tid))
            continue;
        struct race_vclock *both = race_vclock_join(p->vclock, v);
        if (!both)
            race_no_memory();
        race_vclock_drop(p->vclock);
        p->vclock = both;
        p->vclock_no = ++r->vclock_nos;
    }
    race_acquire(v);
    race_vclock_drop(v);
}

void race_lock_confirm(struct race_win *x, int rank)
{
    int size = rma_win_comm(x->w)->size;
    if (x->lock_table) /* each is known as soon as it is held */
        return;
    for (int i = rank < 0 ? 0 : rank; i < size && (rank < 0 || i == rank); i++) {
        struct race_target *t = race_target_of(x, i, 0);
        if (t && !race_lock_is_known(x, t) && (t->late || !list_empty(&t->pending)))
            confirm(x, t);
    }
}

void race_lock_release(struct race_win *x, int rank, enum race_lock_kind kind)
{
    if (kind == RACE_UNLOCKED || kind == RACE_UNCHECKED)
        return;
    int world = comm_world(rma_win_comm(x->w), rank), row = kind == RACE_SHARED;
    race_tick();
    struct race_vclock *v = race_release();
    if (x->lock_table) {
        table_write(x, rank, row, v);
    } else if ((uint32_t)world == proc->race->me) {
        add(row_of(x, row), v);
    } else {
        struct release_msg m = {.win = x->id, .kind = kind};
        size_t len;
        void *b = race_pack(&m, sizeof m, v, am_max(world), &len);
        proc->race->acks++;
        race_msg_send(world, RACE_RELEASE, b, len);
        free(b);
        race_wait_acks(); /* it is there before the lock is free */
    }
    race_vclock_drop(v);
}
