/* note_clock.c - notified operations: what the owner of a counter acquires when its program sees
 * it. Start with race_noting() and race_noted().
 *
 *   origin                                           owner
 *     NOTE (its vector clock, number of a batch) -->  kept by counter
 *     RECORDS of that batch, the operation alone -->  kept until the counter is seen
 *     the core does it, the counter grows             sees the counter: waits for as many NOTEs,
 *                                                     acquires them; their batches are complete
 *                                                     for what follows here
 *
 * So only that operation is complete, and others of the origin stay open. It stays open itself for
 * those that do not acquire from the owner. Which notifications a value counts is not known: it
 * acquires all that have come for that counter.
 *
 * With the info key mpix_race_announce (of SHMEM) a notification of no bytes announces the batch of
 * the next operation of its thread on that window and target. So the owner, which has seen the word
 * that this one changes, has seen the operation (doc/design/shmem.md, N2). */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "race/watched.h"

/* A NOTE announces one notification. With `lost` it takes one back, with `more` it only names a
 * batch. */
struct note_msg {
    uint64_t win, number; /* of its batch; 0: it has no bytes, and announces nothing */
    uint64_t group;       /* without order, of a NOTE and those that name what it covers; else 0 */
    uint32_t index;
    uint32_t names;       /* so many others of its group name a batch */
    uint8_t lost;         /* one that was told is not counted. number: its batch will not come */
    uint8_t more;         /* that batch was issued before the notification of the next NOTE, which
                           * covers it */
    uint8_t lock;         /* not RACE_UNLOCKED: the origin does not know yet what former holders of
                           * this lock knew. The owner of the counter takes it from them */
    uint8_t covers;       /* not if lost: a notification covers all that its origin has named */
}; /* then the vector clock */

/* --- at the origin ---------------------------------------------------------------------------- */

static int on_note(struct race_win *x, int src, const struct note_msg *m, struct race_vclock *v);

static void send(struct race_win *x, int rank, const struct note_msg *m, struct race_vclock *v)
{
    int world = comm_world(rma_win_comm(x->w), rank);
    size_t len;
    if ((uint32_t)world == proc->race->me) {
        on_note(x, world, m, v);
        return;
    }
    void *b = race_pack(m, sizeof *m, v, am_max(world), &len);
    proc->race->acks++;
    race_msg_send(world, RACE_NOTE, b, len);
    free(b);
}

static int is_member(const struct race_win *x, int rank)
{
    return x && !proc->race->off && rank >= 0 && rank < rma_win_comm(x->w)->size;
}

/* Names what it covers, and returns how often. Where order is kept the target knows that all that
 * was named before is covered, too, by whichever counter: so each batch is named once. Those before
 * one that was looked at were looked at with it. */
static uint32_t note_all(struct race_win *x, const struct race_target *t, struct note_msg m,
                         struct race_vclock *v)
{
    int once = m.covers, looked = once ? 2 : (int)m.index + 3;
    uint32_t names = 0;
    m.more = 1;
    for (struct list *l = t->pending.prev; l != &t->pending; l = l->prev) {
        struct race_pending *p = LIST_OBJ(l, struct race_pending, link);
        int was = p->notified;
        if (was == looked)
            break;
        p->notified = looked;
        if (once && was) /* by its own NOTE */
            continue;
        m.number = p->number;
        p->names += !once;
        send(x, t->rank, &m, v);
        names++;
    }
    return names;
}

void race_noting(struct rma_win *w, const struct rma_args *a)
{
    struct race_win *x = race_win_find(w);
    struct race_target *t = is_member(x, a->rank) ? race_target_of(x, a->rank, 1) : NULL;
    if (!t)
        return;
    size_t bytes = 0;
    struct note_msg m = {.win = x->id, .index = (uint32_t)a->notify - 1};
    if (!race_lock_is_known(x, t))
        m.lock = t->late ? t->lock : RACE_SHARED;
    race_tick();
    if (!dt_total(a->ttype, (size_t)a->tcount, &bytes) && bytes)
        m.number = ++proc->race->numbers;
    race_self()->noting = m.number;
    if (!bytes && x->announces) {
        m.number = race_self()->announced = ++proc->race->numbers;
        race_self()->announced_win = x->id;
        race_self()->announced_rank = a->rank;
    }
    struct race_vclock *v = race_release();
    m.covers = rma_notes_cover(w) && am_ordered(t->world);
    if (rma_notes_cover(w)) {
        m.group = m.covers ? 0 : ++proc->race->numbers;
        m.names = note_all(x, t, m, v);
    }
    send(x, a->rank, &m, v);
    race_vclock_drop(v);
}

/* Where the core has taken it, records of its batch are there, or come. So are its bytes, perhaps:
 * which of several notifications failed is not known, so its batch may count as seen. */
void race_note_undo(struct rma_win *w, int rank, unsigned index, int taken)
{
    struct race_win *x = race_win_find(w);
    struct note_msg m = {.index = index, .lost = 1};
    if (!is_member(x, rank))
        return;
    if (!taken)
        m.number = race_self()->noting;
    m.win = x->id;
    send(x, rank, &m, race_self()->vclock);
}

/* --- at the owner ----------------------------------------------------------------------------- */

/* The origin knows already that these were seen, so their completion there adds nothing. Of its
 * further messages none ends them: that holds where order is kept. */
static void close_known(struct race_win *x, int src, const struct race_vclock *v)
{
    struct race_note_end end;
    while (race_note_known(x, src, v, &end))
        race_close_open(src, end.number, end.clock, end.tid + 1);
}

/* The core has not taken it, so no records will come. */
static void forget(struct race_win *x, struct race_row *c, int src, uint64_t number)
{
    uint64_t named = race_note_forget(x, src, number);
    for (uint32_t i = c->n; i-- > 0;)
        if (c->batch[i].src == src && c->batch[i].number == (c->batch[i].covers ? named : number)) {
            c->batch[i] = c->batch[--c->n];
            return;
        }
}

static void keep(struct race_win *x, struct race_row *c, int src, uint64_t number, int covers)
{
    uint32_t need = c->n + 1;
    if (!number)
        return;
    if (c->n && c->n == c->room) {
        race_note_purge(x, c);
        /* half of the room is new entries by the next purge: a constant number of looks at each */
        need = c->n > c->room / 2 ? c->room + 1 : c->n + 1;
    }
    if (!VEC_FITS(c->batch, c->room, need, 8))
        race_no_memory();
    c->batch[c->n].src = src;
    c->batch[c->n].covers = covers;
    c->batch[c->n++].number = number;
}

/* Where messages pass each other a NOTE may come before those that name what it covers. */
static void group_came(struct race_row *c, int src, const struct note_msg *m)
{
    uint64_t key = race_batch_key(src, m->group);
    int64_t before = (intptr_t)map_del(&c->groups, key);
    int64_t left = before + (m->more ? -1 : (int64_t)m->names);
    c->parted += (uint32_t)(left > 0) - (uint32_t)(before > 0);
    if (left && map_put(&c->groups, key, (void *)(intptr_t)left))
        race_no_memory();
}

static int on_note(struct race_win *x, int src, const struct note_msg *m, struct race_vclock *v)
{
    struct race_row *c = race_note_row(x, m->index);
    if (m->lost) {
        c->lost++;
        if (m->number)
            forget(x, c, src, m->number);
        return 0;
    }
    struct race_vclock *both = race_vclock_join(c->vclock, v);
    if (!both)
        race_no_memory();
    race_vclock_drop(c->vclock);
    c->vclock = both;
    if (!m->covers)
        keep(x, c, src, m->number, 0);
    else if (!m->more)
        keep(x, c, src, race_note_name(x, src, m->number), 1);
    else
        race_note_name(x, src, m->number);
    if (m->group)
        group_came(c, src, m);
    if (m->more)
        race_note_keep(x, src, m->number);
    c->lock = m->lock > c->lock ? m->lock : c->lock;
    c->came += !m->more;
    if (am_ordered(src))
        close_known(x, src, v);
    return 0;
}

static int on_note_msg(int src, const void *msg, size_t len)
{
    struct note_msg m;
    size_t used;
    int cut;
    if (!proc->race)
        return 0;
    if (len < sizeof m) {
        am_malformed(src, "a notification of the race checker");
        return 0;
    }
    memcpy(&m, msg, sizeof m);
    struct race_vclock *v = race_unpack((const char *)msg + sizeof m, len - sizeof m, &used, &cut);
    struct race_win *x = race_win_of(m.win);
    if (x && v && m.index < MPIX_NOTIFY_MAX) {
        on_note(x, src, &m, v);
        if (m.more && proc->race->nheld && !am_ordered(src)) /* the end of what it names */
            race_replay(x);
    }
    race_vclock_drop(v);
    race_msg_send(src, RACE_ACK, "", 1);
    return 0;
}

void race_note_init(void)
{
    am_handler(RACE_NOTE, on_note_msg);
}

/* All that has come for the counter happened before what the calling thread does from now on. */
static void take(struct race_win *x, unsigned index)
{
    const struct race *r = proc->race;
    struct race_row *c = race_note_row(x, index);
    if (!c->vclock)
        return;
    race_acquire(c->vclock);
    race_lock_acquire(x, rma_win_comm(x->w)->rank, (enum race_lock_kind)c->lock);
    struct race_note_end end = {.tid = race_self()->tid, .clock = c->n ? race_tick() : 0};
    for (uint32_t i = 0; i < c->n; i++) {
        end.number = c->batch[i].number;
        (c->batch[i].covers ? race_note_seen_all : race_note_seen)(x, c->batch[i].src, &end);
    }
    struct race_vclock *v = NULL;
    if (r->threads > 1) /* another thread may see the same ones later */
        v = c->n ? race_vclock_with(c->vclock, end.tid, end.clock) : race_vclock_ref(c->vclock);
    c->n = 0;
    race_vclock_drop(c->vclock);
    c->vclock = v;
}

struct wait {
    struct race_win *x;
    unsigned index;
    uint64_t word;
};

static int all_here(void *arg)
{
    const struct wait *q = arg;
    const struct race_row *c = race_note_row(q->x, q->index);
    return ((int64_t)(c->came - c->lost - q->word) >= 0 && !c->parted) || boot_failed_count();
}

int race_note_awaits(struct rma_win *w, unsigned index, uint64_t word)
{
    struct race_win *x = race_win_find(w);
    struct wait q = {x, index, word};
    return x && !proc->race->off && !all_here(&q);
}

struct end { /* of a request */
    uint64_t win;
    unsigned index;
};

static void on_end(void *arg)
{
    struct end *e = arg;
    struct race_win *x = proc->race && !proc->race->off ? race_win_of(e->win) : NULL;
    if (x)
        take(x, e->index);
    free(e);
}

void race_noted(struct rma_win *w, unsigned index, uint64_t word, struct request *req)
{
    struct race_win *x = race_win_find(w);
    struct wait q = {x, index, word};
    if (!x || proc->race->off)
        return;
    if (req) {
        struct end *e = malloc(sizeof *e);
        if (!e)
            race_no_memory();
        *e = (struct end){x->id, index};
        race_watch_done(req, on_end, e);
        return;
    }
    if (!all_here(&q))
        progress_wait(all_here, &q, "the clocks of notified operations", -1);
    take(x, index);
}
