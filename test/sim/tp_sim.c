/* tp_sim.c - the transport of simulated ranks: each delivery, delay and refusal is drawn from the
 * seed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "memory.h"
#include "sim_types.h"

struct tp { /* one per simulated rank */
    struct tp_env env;
    int rank;
    int in_progress;
};

static int sim_open(const struct tp_env *env, struct tp **out, struct tp_caps *caps)
{
    struct tp *t = sim_alloc(sizeof *t);
    *t = (struct tp){.env = *env, .rank = boot_rank()};
    *caps = (struct tp_caps){.flags = TP_AM_LEAVES | (the_sim->k.ordered ? TP_AM_ORDERED : 0),
                             .am_max = (size_t)the_sim->k.am_max,
                             .am_zcopy_min = (size_t)the_sim->k.am_zcopy_min,
                             .gather = (size_t)the_sim->k.gather,
                             .replies = (unsigned)the_sim->k.replies};
    sim_native_caps(the_sim, caps);
    *out = t;
    return 0;
}

static int sim_address(struct tp *t, void *buf, size_t *len)
{
    memcpy(buf, &t->rank, sizeof t->rank);
    *len = sizeof t->rank;
    return 0;
}

static int sim_connect(struct tp *t, unsigned peer, const void *addr, size_t len)
{
    return 0;
}

void sim_zcopy_read(struct sim_msg *m, int err)
{
    struct sim_zcopy *k = m->kept;
    if (!k)
        return;
    memory_read(k->from, k->len);
    memcpy(m->data + k->at, k->from, k->len);
    k->err = err;
    k->m = NULL;
    m->kept = NULL;
    sim_moved(the_sim);
}

/* Some are read before they arrive; those that have been are completed. */
static int kept_progress(struct sim *s, struct sim_rank_state *r)
{
    int events = 0;
    for (struct list *l = r->kept.next, *next; l != &r->kept; l = next) {
        struct sim_zcopy *k = LIST_OBJ(l, struct sim_zcopy, link);
        next = l->next;
        if (k->m && sim_chance(s, 20))
            sim_zcopy_read(k->m, 0);
        if (k->m)
            continue;
        if (sim_chance(s, 60)) { /* later: others may have heard of a death first */
            sim_moved(s);
            continue;
        }
        list_del(l);
        k->d->fn(k->d, k->err);
        sim_release(k);
        events++;
    }
    return events;
}

static int unread(const struct sim_rank_state *r, int from)
{
    int n = 0;
    for (int c = 0; c < 2; c++)
        for (const struct list *l = r->inbox[c].next; l != &r->inbox[c]; l = l->next)
            n += LIST_OBJ(l, struct sim_msg, link)->src == from;
    return n;
}

/* Its connections end: what it has sent and the others have not read is gone, or comes first. */
static void reset(struct sim *s, int from)
{
    for (int i = 0; i < s->k.ranks; i++)
        for (int c = 0; c < 2 && i != from; c++) {
            struct sim_rank_state *r = &s->ranks[i];
            for (struct list *l = r->inbox[c].next, *next; l != &r->inbox[c]; l = next) {
                struct sim_msg *m = LIST_OBJ(l, struct sim_msg, link);
                next = l->next;
                if (m->src != from || s->k.far == SIM_FAR_KEEPS)
                    continue;
                list_del(l);
                r->queued[c]--;
                s->in_flight--;
                sim_event("type %d from %d to %d is discarded", m->data[0], from, i);
                sim_release(m);
            }
            r->lost[from] = 1;
        }
}

static int report_lost(struct sim *s, struct tp *t)
{
    int events = 0;
    for (int i = 0; i < s->k.ranks; i++)
        if (s->ranks[t->rank].lost[i] && sim_chance(s, 30) &&
            (s->k.far != SIM_FAR_KEEPS || !unread(&s->ranks[t->rank], i))) {
            s->ranks[t->rank].lost[i] = 0;
            t->env.lost(t->env.up, (unsigned)i, -ECONNRESET);
            events++;
        }
    return events;
}

static void sim_close(struct tp *t)
{
    struct sim_rank_state *r = &the_sim->ranks[t->rank];
    SIM_CHECK(list_empty(&r->txs)); /* contexts end first */
    sim_native_close(the_sim, t->rank);
    r->closed = 1;
    if (the_sim->k.far)
        reset(the_sim, t->rank);
    for (int c = 0; c < 2; c++)
        for (struct list *l; (l = list_pop(&r->inbox[c]));) {
            r->queued[c]--;
            the_sim->in_flight--;
            sim_event("message of class %d left at the end", c);
            sim_zcopy_read(LIST_OBJ(l, struct sim_msg, link), -ENOTCONN);
            sim_release(LIST_OBJ(l, struct sim_msg, link));
        }
    for (struct list *l; (l = list_pop(&r->kept)) != NULL;) {
        struct sim_zcopy *k = LIST_OBJ(l, struct sim_zcopy, link);
        if (!the_sim->k.mortal)
            sim_fail("rank %d: a message has not left at the end", t->rank);
        if (k->m)
            sim_zcopy_read(k->m, 0);
        sim_release(k);
    }
    sim_release(t);
}

/* Place for a message: the end, or, without order, anywhere; never before one of the same sender
 * when ordered. */
static void enqueue(struct sim *s, struct sim_rank_state *to, struct sim_msg *m)
{
    struct list *head = &to->inbox[m->cls], *at = head;
    int back = to->queued[m->cls] ? (int)(sim_draw_bits(s) % (uint64_t)(to->queued[m->cls] + 1))
                                  : 0;
    while (back-- > 0 && at->prev != head) {
        struct sim_msg *before = LIST_OBJ(at->prev, struct sim_msg, link);
        if (s->k.ordered && before->src == m->src)
            break;
        at = at->prev;
    }
    list_insert(at, &m->link);
    to->queued[m->cls]++;
}

/* By chance, as a full card would. A refused sender can move at another try: no deadlock. */
static int refused(struct sim *s)
{
    if (!sim_chance(s, s->k.again_percent))
        return 0;
    sim_moved(s);
    return 1;
}

static int sim_am(struct tp *t, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
                  struct tp_done *d)
{
    struct sim *s = the_sim;
    struct sim_rank_state *to = &s->ranks[peer];
    size_t len = 0;
    for (int i = 0; i < n; i++)
        len += iov[i].iov_len;
    if (len > (size_t)s->k.am_max)
        return -EMSGSIZE;
    if (to->cut && !to->dead) {
        sim_event("cannot send type %d to %u", *(unsigned char *)iov[0].iov_base, peer);
        return -ENOTCONN;
    }
    if (s->k.far && to->closed)
        return -ENOTCONN;
    if (cls == TP_REQUEST && to->no_way_err && to->no_way == t->rank)
        return to->no_way_err;
    if (cls == TP_REQUEST && (to->queued[cls] >= s->k.inbox || refused(s)))
        return TP_AGAIN;
    if (cls == TP_REPLY && refused(s))
        return TP_AGAIN;
    if (to->dead) {
        sim_event("sends type %d to %u, which is dead", *(unsigned char *)iov[0].iov_base, peer);
        return 0;
    }
    struct sim_msg *m = sim_alloc(sizeof *m + len);
    m->src = t->rank;
    m->cls = cls;
    m->after = s->nic_serial;
    m->len = len;
    m->due = s->k.latency
                 ? s->step + s->k.latency
                 : s->step +
                       (s->k.max_delay ? (long)(sim_draw_bits(s) % (uint64_t)s->k.max_delay) : 0);
    m->due = sim_due(s, *(const unsigned char *)iov[0].iov_base, (int)peer, m->due);
    size_t at = 0;
    m->kept = NULL;
    if (d && s->k.am_zcopy_min && iov[n - 1].iov_len >= (size_t)s->k.am_zcopy_min) {
        n--;
        m->kept = sim_alloc(sizeof *m->kept);
        *m->kept = (struct sim_zcopy){.m = m,
                                     .from = iov[n].iov_base,
                                     .at = len - iov[n].iov_len,
                                     .len = iov[n].iov_len,
                                     .d = d};
        list_push(&s->ranks[t->rank].kept, &m->kept->link);
        memset(m->data + m->kept->at, 0xcc, m->kept->len);
    }
    for (int i = 0; i < n; i++) {
        memory_read(iov[i].iov_base, iov[i].iov_len);
        memcpy(m->data + at, iov[i].iov_base, iov[i].iov_len);
        at += iov[i].iov_len;
    }
    enqueue(s, to, m);
    s->in_flight++;
    sim_count_sent(t->rank, m->data[0], len);
    /* of RMA packets */
    sim_event("sends type %d to %u, class %d, %zu bytes, flags %#x", m->data[0], peer, (int)cls,
              len, len >= 12 && m->data[0] >= 64 ? m->data[10] | m->data[11] << 8 : 0);
    sim_moved(s);
    return m->kept ? TP_PENDING : 0;
}

static int held(struct sim *s, int type, int to, int let_go)
{
    int n = 0;
    if (type == SIM_NATIVE_OPS)
        return sim_native_held(s, to, let_go);
    for (int c = 0; c < 2; c++)
        for (struct list *l = s->ranks[to].inbox[c].next; l != &s->ranks[to].inbox[c];
             l = l->next) {
            struct sim_msg *m = LIST_OBJ(l, struct sim_msg, link);
            if (m->due != LONG_MAX || m->data[0] != type)
                continue;
            n++;
            if (!let_go)
                continue;
            m->due = s->step;
            s->held--;
        }
    return n;
}

int sim_held(int type, int to)
{
    return held(the_sim, type, to, 0);
}

void sim_let_go(int type, int to)
{
    sim_event("lets go %d of type %d to %d", held(the_sim, type, to, 1), type, to);
    sim_moved(the_sim);
}

void sim_hold(int type, int from, int to)
{
    the_sim->hold = type < 0 ? 0 : type;
    the_sim->hold_from = from;
    the_sim->hold_to = to;
}

/* Deliver the first message that is due; a later one of another sender may pass one that is not. */
static int deliver_one(struct sim *s, struct tp *t, enum tp_class cls)
{
    struct sim_rank_state *r = &s->ranks[t->rank];
    char blocked[SIM_RANKS] = {0};
    for (struct list *l = r->inbox[cls].next; l != &r->inbox[cls]; l = l->next) {
        struct sim_msg *m = LIST_OBJ(l, struct sim_msg, link);
        if (blocked[m->src])
            continue;
        if (m->due > s->step || sim_native_before(s, m->src, t->rank, m->after)) {
            blocked[m->src] = (char)s->k.ordered;
            continue;
        }
        list_del(&m->link);
        r->queued[cls]--;
        sim_zcopy_read(m, 0);
        int rc = t->env.recv(t->env.up, (unsigned)m->src, cls, m->data, m->len);
        if (rc == TP_AGAIN) { /* keep it in its place */
            list_push_front(&r->inbox[cls], &m->link);
            r->queued[cls]++;
            return 0;
        }
        s->in_flight--;
        sim_count_received(t->rank, m->data[0]);
        sim_event("handled type %d from %d, class %d, %zu bytes", m->data[0], m->src, (int)cls,
                  m->len);
        sim_moved(s);
        sim_release(m);
        return 1;
    }
    return 0;
}

static int sim_progress(struct tp *t)
{
    struct sim *s = the_sim;
    struct sim_rank_state *r = &s->ranks[t->rank];
    int events = 0;
    while (sim_native_progress(s, t->rank, &t->env))
        events++;
    events += kept_progress(s, r);
    if (s->k.far)
        events += report_lost(s, t);
    if (sim_chance(s, s->k.refuse_percent))
        r->held_until = s->step + (long)(sim_draw_bits(s) % 50);
    for (int i = 0; i < 4; i++) {
        events += deliver_one(s, t, TP_REPLY);
        if (r->held_until <= s->step)
            events += deliver_one(s, t, TP_REQUEST);
    }
    return events;
}

static int sim_fd(struct tp *t, int arm)
{
    return -1;
}

const struct tp_ops sim_tp_ops = {.name = "sim", .near = 1, .open = sim_open,
                                  .address = sim_address, .connect = sim_connect,
                                  .close = sim_close, .am = sim_am, .progress = sim_progress,
                                  .fd = sim_fd};
const struct tp_ops sim_tp_far_ops = {.name = "sim", .open = sim_open, .address = sim_address,
                                      .connect = sim_connect, .close = sim_close, .am = sim_am,
                                      .progress = sim_progress, .fd = sim_fd};
#define NATIVE                                                                                   \
    .name = "sim", .near = 1, .open = sim_open, .address = sim_address, .connect = sim_connect,  \
    .close = sim_close, .am = sim_am, .progress = sim_progress, .fd = sim_fd,                    \
    .reg = sim_native_reg, .pack = sim_native_pack, .dereg = sim_native_dereg,                   \
    .import = sim_native_import, .drop = sim_native_drop, .put = sim_native_put,                 \
    .put_note = sim_native_put_note, .get = sim_native_get, .atomic = sim_native_atomic,         \
    .atomic_ok = sim_native_atomic_ok, .flush = sim_native_flush
const struct tp_ops sim_tp_native_ops = {NATIVE};
const struct tp_ops sim_tp_tx_ops = {NATIVE,
                                     .tx_open = sim_tx_open,
                                     .tx_close = sim_tx_close,
                                     .tx_far = sim_tx_far,
                                     .tx_drop = sim_tx_drop,
                                     .tx_put = sim_tx_put,
                                     .tx_flush = sim_tx_flush};
