/* message.c - batches of records on their way to the target. Start with race_send_batch() and
 * take_records().
 *
 *   origin                                 target
 *     RECORDS (a batch, or a part) ------->  into its region, tested
 *     <------------------------------ ACK
 *     CLOSE (what came open is complete) -->  tested again
 *     CLOCK (vector clock) ----------------------->  before a message, or before MPI_Win_complete
 *     NOTE (vector clock) ------------------------>  before a notified operation (note_clock.c)
 *
 * RECORDS of an epoch that the target has not posted are held there, and so is their CLOSE. */
#include "race/watched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "obj/err.h"
#include "var/var.h"

struct records_msg {
    uint64_t win, number, issued, done, vclock_no, site;
    uint32_t epoch, n, tid, done_by, order, channel;
    uint8_t call, atomics, notified, in_fence, announced, unused[3];
}; /* records, then the vector clock */
struct close_msg {
    uint64_t win, number, done, site;
    uint32_t done_by, records; /* that were sent: where order is not kept, some may come later */
    uint32_t names;             /* that were sent (race_note_keep()) */
    uint32_t channel;
    uint8_t call;
    uint8_t all;                /* of all batches of that channel up to it, which are there */
    uint8_t unused[6];
};

/* --- batches ---------------------------------------------------------------------------------- */

static struct race_access access_of(const struct race_wire_access *w, struct race_batch *b, int cut)
{
    struct race_access r = {.interval = w->interval,
                            .tick = w->tick,
                            .effect = w->effect,
                            .weight = w->weight,
                            .call = w->call,
                            .site = w->site,
                            .batch = b};
    if (cut)
        r.effect.flags |= RACE_HULL;
    return r;
}

/* The vector clock that the target had when it let the origin in (MPI_Win_post, or a fence that
 * need not wait): its operations are after that. */
static struct race_vclock *with_post(struct race_win *x, int src, uint32_t epoch,
                                   struct race_vclock *v)
{
    struct race_origin *o = race_origin_of(x, src);
    if (epoch & RACE_FENCE) {
        struct race_vclock *both = race_vclock_join(v, x->at_fence);
        race_vclock_drop(v);
        return both;
    }
    for (struct list *l = o ? o->posted.next : NULL; l && l != &o->posted;) {
        struct race_posted *p = LIST_OBJ(l, struct race_posted, link);
        l = l->next;
        if (p->number == epoch) {
            struct race_vclock *both = race_vclock_join(v, p->vclock);
            race_vclock_drop(v);
            return both;
        }
        if (p->number < epoch) { /* the origin has gone on */
            list_del(&p->link);
            race_vclock_drop(p->vclock);
            free(p);
        }
    }
    return v;
}

static struct race_batch *batch_make(const struct records_msg *m, int src, struct race_win *x,
                                     struct race_vclock *v)
{
    struct race_batch *b = calloc(1, sizeof *b);
    if (m->epoch)
        v = with_post(x, src, m->epoch, v);
    if (!b) {
        race_vclock_drop(v);
        return NULL;
    }
    int in_order = !proc->race->nheld && am_ordered(src); /* rule D asks for it */
    *b = (struct race_batch){.tid = m->tid, .done_by = m->done_by, .refs = 1, .issued = m->issued,
                             .done = m->done, .vclock = v,
                             .vclock_no = in_order ? m->vclock_no : RACE_NO_VCLOCK, .win = m->win,
                             .epoch = m->epoch, .order = m->order, .channel = m->channel,
                             .number = m->number, .done_site = m->site, .done_call = m->call,
                             .accumulate = x->accumulate, .atomics = m->atomics,
                             .announced = m->announced};
    return b;
}

/* Has this process come to the call that lets the origin in? */
static int is_let_in(struct race_win *x, int src, uint32_t epoch)
{
    if (epoch & RACE_FENCE)
        return x->fences >= (epoch & ~RACE_FENCE);
    const struct race_origin *o = epoch ? race_origin_of(x, src) : NULL;
    return !o || o->posts >= epoch;
}

/* 0: the epoch is not posted yet. */
static int take_records(int src, const struct records_msg *m, const char *records,
                        const char *vclock, size_t vclock_len)
{
    struct race *r = proc->race;
    struct race_win *x = race_win_of(m->win);
    struct race_batch *b = map_get(&r->open, race_batch_key(src, m->number));
    size_t used;
    int cut = 0;
    if (!x)
        return 1;
    /* the sender may be in the next phase already */
    int next = m->issued >> RACE_PHASE_BITS > r->floor >> RACE_PHASE_BITS;
    r->shadow.thread_atomics[m->tid] |= (uint8_t)((m->atomics & RACE_ATOMICS)
                                                  << (next ? RACE_ATOMICS_BITS : 0));
    int is_dynamic = !x->member[rma_win_comm(x->w)->rank].base;
    if (!is_let_in(x, src, m->epoch))
        return 0;
    if (!b) {
        struct race_vclock *v = race_unpack(vclock, vclock_len, &used, &cut);
        if (!v || !(b = batch_make(m, src, x, v))) {
            r->shadow.n.lost += m->n;
            return 1;
        }
        race_note_batch(x, src, b, m->notified);
        if (m->done == RACE_OPEN && !map_put(&r->open, race_batch_key(src, m->number), b))
            race_batch_ref(b);
    } else {
        race_batch_ref(b);
    }
    for (uint32_t i = 0; i < m->n && !r->off; i++) {
        struct race_wire_access w;
        memcpy(&w, records + i * sizeof w, sizeof w);
        if (!w.interval.len || !w.interval.blocks)
            continue;
        if (is_dynamic) { /* it may be by a memory handle; the shadow knows addresses only */
            w.interval.at = rma_win_address(x->w, w.interval.at);
            race_watch_bytes(w.interval.at, race_interval_end(&w.interval) - w.interval.at);
        }
        struct race_access rec = access_of(&w, b, cut);
        race_assertion_access(x, src, m->epoch || !m->in_fence ? m->epoch : RACE_IN_FENCE, &rec);
        race_shadow_add(&r->shadow, &rec);
    }
    b->came += m->n;
    race_batch_drop(b);
    race_count();
    return 1;
}

static void close_one(int src, uint64_t number, const struct close_msg *m, uint32_t done_by)
{
    struct race *r = proc->race;
    struct race_batch *b = map_del(&r->open, race_batch_key(src, number));
    if (!b)
        return;
    b->done_by = done_by;
    b->done_site = m->site;
    b->done_call = m->call;
    race_shadow_complete(&r->shadow, b, m->done);
    race_batch_drop(b);
    race_count();
}

/* With `all` as if each had its own CLOSE. m->done_by is then the thread + 1 that did it. */
static void close_batch(int src, const struct close_msg *m)
{
    if (!m->all) {
        close_one(src, m->number, m, m->done_by);
        return;
    }
    size_t n;
    uint64_t *number = race_open_numbers(src, m->win, m->channel, m->number, &n);
    for (size_t i = 0; i < n; i++) {
        const struct race_batch *b = map_get(&proc->race->open, race_batch_key(src, number[i]));
        close_one(src, number[i], m, m->done_by == b->tid + 1 ? 0 : m->done_by);
    }
    free(number);
}

void race_close_open(int src, uint64_t number, uint64_t done, uint32_t done_by)
{
    close_batch(src, &(struct close_msg){.number = number, .done = done, .done_by = done_by,
                                         .call = RACE_CALL_NOTE});
}

/* --- what comes before its post --------------------------------------------------------------- */

static void hold(struct race_win *x, int src, int type, const void *msg, size_t len)
{
    struct race_held *h = malloc(sizeof *h + len);
    if (!h) /* what is missing would make races, or hide them */
        race_no_memory();
    h->src = src;
    h->type = type;
    h->len = len;
    memcpy(h->bytes, msg, len);
    list_push(&x->held, &h->link);
    proc->race->nheld++;
}

/* Are there records of what it ends before `end`? */
static int holds(const struct race_win *x, const struct list *end, int src,
                 const struct close_msg *c)
{
    for (const struct list *l = x->held.next; l != end; l = l->next) {
        const struct race_held *h = LIST_OBJ(l, struct race_held, link);
        struct records_msg m;
        if (h->type != RACE_RECORDS || h->src != src)
            continue;
        memcpy(&m, h->bytes, sizeof m);
        int before = c->all && m.number < c->number && m.channel == c->channel;
        if (m.number == c->number || before)
            return 1;
    }
    return 0;
}

/* Where order is not kept it may come before what it ends. */
static int is_early(int src, const struct close_msg *m)
{
    const struct race_batch *b = map_get(&proc->race->open, race_batch_key(src, m->number));
    return !am_ordered(src) && (!b || b->came < m->records || b->names < m->names);
}

static void take_close(int src, const struct close_msg *m)
{
    struct race_win *x = race_win_of(m->win);
    if (x && (holds(x, &x->held, src, m) || is_early(src, m)))
        hold(x, src, RACE_CLOSE, m, sizeof *m);
    else
        close_batch(src, m);
}

/* 0: it has to wait on. */
static int replay_one(const struct race_win *x, const struct race_held *h)
{
    struct records_msg m;
    struct close_msg c;
    if (h->type == RACE_CLOSE) {
        memcpy(&c, h->bytes, sizeof c);
        if (holds(x, &h->link, h->src, &c) || is_early(h->src, &c))
            return 0;
        close_batch(h->src, &c);
        return 1;
    }
    memcpy(&m, h->bytes, sizeof m);
    size_t records = (size_t)m.n * sizeof(struct race_wire_access);
    return take_records(h->src, &m, h->bytes + sizeof m, h->bytes + sizeof m + records,
                        h->len - sizeof m - records);
}

/* 1: some went, which others may have waited for. */
static int replay_some(struct race_win *x)
{
    int some = 0;
    for (struct list *l = x->held.next, *next; l != &x->held; l = next) {
        struct race_held *h = LIST_OBJ(l, struct race_held, link);
        next = l->next;
        if (!replay_one(x, h))
            continue;
        list_del(l);
        free(h);
        proc->race->nheld--;
        some = 1;
    }
    return some;
}

void race_replay(struct race_win *x)
{
    while (replay_some(x)) {
    }
}

/* --- to the target ---------------------------------------------------------------------------- */

static struct race_access access_at(const char *msg, uint32_t i, struct race_batch *b)
{
    struct race_wire_access w;
    memcpy(&w, msg + sizeof(struct records_msg) + i * sizeof w, sizeof w);
    return access_of(&w, b, 0);
}

/* Does each access of the newer message hide that of the older one, at the same place? */
static int hides(const char *old, const char *now)
{
    struct records_msg a, b;
    memcpy(&a, old, sizeof a);
    memcpy(&b, now, sizeof b);
    struct race_batch x = {.tid = a.tid, .issued = a.issued, .done = a.done, .done_by = a.done_by,
                           .vclock_no = a.vclock_no, .epoch = a.epoch, .win = a.win};
    struct race_batch y = {.tid = b.tid, .issued = b.issued, .done = b.done, .done_by = b.done_by,
                           .vclock_no = b.vclock_no, .epoch = b.epoch, .win = b.win};
    int all = a.win == b.win && a.n == b.n && b.done != RACE_OPEN;
    for (uint32_t i = 0; all && i < a.n; i++) {
        const struct race_access r = access_at(old, i, &x), s = access_at(now, i, &y);
        all = r.site == s.site && r.call == s.call && race_access_dominated(&r, &s);
    }
    return all;
}

/* Thread of this process whose clock is the end of m. */
static uint32_t ending_thread(const struct records_msg *m)
{
    return (m->done_by ? m->done_by - 1 : m->tid) / (uint32_t)boot_size();
}

/* Records, or their end, follow what was sent before. */
static void note_end(struct race_peer *p, uint32_t done_by, uint64_t end)
{
    uint64_t *ended = &p->ended[p->last_done_by];
    *ended = p->last_end > *ended ? p->last_end : *ended;
    p->last_done_by = done_by;
    p->last_end = end == RACE_OPEN ? 0 : end;
}

/* Rule D before the older accesses have left: the newer ones take their place in the queue. So a
 * loop that looks at one word fills no queue. The older ones are tested against nothing then: what
 * the thread sent before them was complete when they were issued, and what is sent later meets the
 * newer ones. */
static int replaces_last(struct race_peer *p, const struct records_msg *m, const void *bytes,
                         size_t len)
{
    if (list_empty(&p->queue) || proc->race->shadow.ordered || !am_ordered(p->world))
        return 0;
    struct race_queued *last = LIST_OBJ(p->queue.prev, struct race_queued, link);
    struct records_msg was;
    if (last->type != RACE_RECORDS || last->len != len || !hides(last->bytes, bytes))
        return 0;
    memcpy(&was, last->bytes, sizeof was);
    if (p->ended[was.tid / (uint32_t)boot_size()] > was.issued)
        return 0;
    memcpy(last->bytes, bytes, len);
    p->last_end = m->done;
    p->last_done_by = ending_thread(m);
    proc->race->shadow.n.dropped += m->n;
    return 1;
}

static void send_records(int world, const struct records_msg *m, const void *bytes, size_t len)
{
    struct race_peer *p = race_peer_of(world);
    if (!p)
        race_no_memory();
    if (replaces_last(p, m, bytes, len))
        return;
    note_end(p, ending_thread(m), m->done);
    proc->race->acks++;
    race_msg_send(world, RACE_RECORDS, bytes, len);
}

static void send_part(struct race_win *x, const struct race_target *t, const struct race_pending *p,
                      const struct records_msg *m, const struct race_wire_access *rec)
{
    int here = (uint32_t)t->world == proc->race->me;
    size_t n = m->n * sizeof *rec, len, head = sizeof *m + n;
    char *h = malloc(head);
    if (!h)
        race_no_memory();
    memcpy(h, m, sizeof *m);
    memcpy(h + sizeof *m, rec, n);
    void *b = race_pack(h, head, p->vclock, here ? SIZE_MAX / 2 : am_max(t->world), &len);
    if (!here)
        send_records(t->world, m, b, len);
    else if (!take_records(t->world, m, h + sizeof *m, (char *)b + head, len - head))
        hold(x, t->world, RACE_RECORDS, b, len);
    free(b);
    free(h);
}

/* thread: the one here whose clock is the end. */
static void send_close(int world, const struct close_msg *c, uint32_t thread)
{
    if ((uint32_t)world == proc->race->me) {
        take_close(world, c);
        return;
    }
    struct race_peer *to = race_peer_of(world);
    if (!to)
        race_no_memory();
    note_end(to, thread, c->done);
    proc->race->acks++;
    race_msg_send(world, RACE_CLOSE, c, sizeof *c);
}

void race_send_batch(struct race_win *x, const struct race_target *t, struct race_pending *p,
                     uint64_t done, enum race_call call, uint64_t site)
{
    /* half of a message is for the vector clock */
    uint32_t most = (uint32_t)(am_max(t->world) / 2 / sizeof *p->rec);
    int was = p->sent || p->notified; /* that one has one batch at the target, however it is sent */
    struct records_msg m = {.win = x->id, .number = p->number, .issued = p->issued,
                            .done = was ? RACE_OPEN : done, .vclock_no = p->vclock_no, .site = site,
                            .epoch = p->epoch, .order = p->order, .channel = p->channel,
                            .announced = p->announced != 0, .tid = p->tid,
                            .done_by = p->done ? p->done_by : race_done_by(p->tid),
                            .call = (uint8_t)call, .notified = p->notified != 0,
                            .in_fence = p->in_fence != 0,
                            .atomics = proc->race->atomics};
    while (most && p->sent < p->n) { /* a failed process takes nothing */
        m.n = p->n - p->sent < most ? p->n - p->sent : most;
        send_part(x, t, p, &m, p->rec + p->sent);
        p->sent += m.n;
    }
    if (p->notified && p->sent == p->n) { /* it may stay open for long */
        free(p->rec);
        p->rec = NULL;
        p->room = 0;
    }
    if (!was || done == RACE_OPEN)
        return;
    struct close_msg c = {.win = x->id, .number = p->number, .done = done, .site = site,
                          .done_by = m.done_by, .records = p->sent, .call = (uint8_t)call,
                          .names = p->names};
    send_close(t->world, &c, ending_thread(&m));
}

void race_close_left(struct race_win *x, const struct race_target *t, unsigned channel,
                     uint64_t number, uint64_t done, enum race_call call, uint64_t site)
{
    uint32_t me = race_self()->tid;
    struct close_msg c = {.win = x->id, .number = number, .done = done, .site = site, .all = 1,
                          .channel = channel, .done_by = me + 1, .call = (uint8_t)call};
    send_close(t->world, &c, me / (uint32_t)boot_size());
}

/* --- handlers --------------------------------------------------------------------------------- */

static int on_records(int src, const void *msg, size_t len)
{
    struct records_msg m;
    const char *bytes = msg;
    if (!proc->race)
        return 0;
    if (len < sizeof m || (memcpy(&m, msg, sizeof m),
                           len < sizeof m + (size_t)m.n * sizeof(struct race_wire_access)) ||
        m.tid >= proc->race->tids ||
        m.tid % (uint32_t)boot_size() != (uint32_t)(src - boot_first())) {
        am_malformed(src, "records of the race checker");
        return 0;
    }
    size_t records = (size_t)m.n * sizeof(struct race_wire_access);
    struct race_win *x = race_win_of(m.win);
    if (!take_records(src, &m, bytes + sizeof m, bytes + sizeof m + records,
                      len - sizeof m - records) && x)
        hold(x, src, RACE_RECORDS, msg, len);
    else if (x && proc->race->nheld && !am_ordered(src)) /* their end may be here */
        race_replay(x);
    race_msg_send(src, RACE_ACK, "", 1);
    return 0;
}

static int on_close(int src, const void *msg, size_t len)
{
    struct close_msg m;
    if (!proc->race)
        return 0;
    if (len == sizeof m) {
        memcpy(&m, msg, sizeof m);
        take_close(src, &m);
    }
    race_msg_send(src, RACE_ACK, "", 1);
    return 0;
}

void race_batches_init(void)
{
    am_handler(RACE_RECORDS, on_records);
    am_handler(RACE_CLOSE, on_close);
}

void race_batches_free(void)
{
    struct race *r = proc->race;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&r->open, &at)) != NULL;)
        race_batch_drop(e->value);
    map_destroy(&r->open);
}
