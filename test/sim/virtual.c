/* virtual.c - the responder of virtual ranks (virtual.h), one function for each protocol. */
#include "virtual.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "am/am_types.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "p2p/p2p_types.h"
#include "rma/rma_types.h"

enum { AM_MAX = 65536, TIMEOUT = 3 }; /* polls without any event before time leaps */

struct tp {
    struct tp_env env;
    struct list flying;  /* struct flight, in order of arrival */
    uint32_t contexts;   /* context ids that virtual leaders have made */
    int idle;
};

struct flight { /* a message from a virtual rank */
    struct list link;
    long due;
    int src;
    enum tp_class cls;
    struct p2p_req *for_recv; /* the receive it was made for, NULL: none */
    size_t len;
    char data[] __attribute__((aligned(8)));
};

static struct tp *open_tp(void)
{
    return proc->am->tps[0].tp;
}

/* --- sending to the real rank --------------------------------------------------------------- */

/* hops: latencies from now, 1 for what it sends by itself, 2 for what answers a message of ours. */
static struct flight *fly(struct tp *t, int src, int hops, enum tp_class cls, int type,
                          const void *head, size_t head_len, const void *data, size_t len)
{
    struct am_hdr h = {.type = (uint16_t)type};
    struct flight *f = sim_alloc(sizeof *f + sizeof h + head_len + len);
    f->due = the_sim->step + hops * the_sim->k.latency;
    f->src = src;
    f->cls = cls;
    f->for_recv = NULL;
    f->len = sizeof h + head_len + len;
    memcpy(f->data, &h, sizeof h);
    memcpy(f->data + sizeof h, head, head_len);
    if (data)
        memcpy(f->data + sizeof h + head_len, data, len);
    else
        memset(f->data + sizeof h + head_len, 0, len);
    struct list *at = &t->flying;
    while (at->prev != &t->flying && LIST_OBJ(at->prev, struct flight, link)->due > f->due)
        at = at->prev;
    list_insert(at, &f->link);
    the_sim->in_flight++;
    return f;
}

static void answer(int src, const struct rma_hdr *asked, struct rma_hdr *a, size_t len,
                   int *granted)
{
    a->win = asked->win;
    a->src = (uint32_t)src;
    a->len = (uint32_t)len;
    if (*granted)
        a->flags |= RMA_F_GRANTED;
    *granted = 0;
    fly(open_tp(), src, 2, TP_REPLY, AM_RMA + a->type, a, sizeof *a, NULL, len);
}

/* --- one-sided requests: see the ladders in rma/core/packets.h -------------------------------- */

static size_t bytes_asked(const struct rma_hdr *h, const char *payload, uint64_t *from)
{
    struct rma_ext e;
    *from = 0;
    if (!(h->flags & RMA_F_EXT))
        return h->count * (size_t)dt_find((MPI_Datatype)h->dt)->size;
    memcpy(&e, payload, sizeof e);
    *from = e.offset;
    return e.want;
}

static void run_one(int peer, const struct rma_hdr *h, const char *payload, int *granted)
{
    struct rma_hdr a = {.token = h->token};
    if (h->flags & (RMA_F_DONE | RMA_F_UNLOCK))
        a.flags |= RMA_F_SIGNALED;
    switch (h->type) {
    case RMA_PKT_GET:
    case RMA_PKT_GACC:
    case RMA_PKT_CAS:
        a.type = RMA_PKT_DATA;
        a.op = h->op;
        a.count = (uint32_t)bytes_asked(h, payload, &a.disp);
        answer(peer, h, &a, a.count, granted);
        return;
    case RMA_PKT_POST: { /* a virtual origin that does nothing in its access epoch */
        struct rma_hdr c = {.type = RMA_PKT_DONE, .flags = RMA_F_COMPLETE, .win = h->win,
                            .src = (uint32_t)peer};
        fly(open_tp(), peer, 2, TP_REQUEST, AM_RMA + RMA_PKT_DONE, &c, sizeof c, NULL, 0);
        return;
    }
    default:
        if (!(h->flags & (RMA_F_DONE | RMA_F_UNLOCK | RMA_F_ACK)))
            return;
        a.type = RMA_PKT_ACK;
        if (h->flags & RMA_F_ACK)
            a.op = h->op;
        if (h->flags & RMA_F_COMPLETE) { /* all that is asked for lies in its window */
            a.disp = 1 << 20;
            a.count = sizeof(long);
        }
        answer(peer, h, &a, 0, granted);
    }
}

static void on_rma(int peer, const char *msg)
{
    struct rma_hdr h, one;
    memcpy(&h, msg, sizeof h);
    const char *payload = msg + sizeof h;
    int granted = (h.flags & RMA_F_LOCK) != 0;
    if (h.type == RMA_PKT_BATCH) {
        for (uint32_t i = 0, at = 0; i < h.count; i++) {
            memcpy(&one, payload + at, sizeof one);
            at += (uint32_t)sizeof one;
            run_one(peer, &one, payload + at, &granted);
            at += (uint32_t)rma_pad(one.len);
        }
    } else if (h.type < RMA_PKT_DATA && h.type != RMA_PKT_LOCK) {
        run_one(peer, &h, payload, &granted);
    }
    if (granted) {
        struct rma_hdr a = {.type = RMA_PKT_GRANTED};
        answer(peer, &h, &a, 0, &granted);
    }
}

static void plain(uint32_t win, int from, enum rma_packet type, unsigned flags)
{
    struct rma_hdr h = {.type = (uint8_t)type, .flags = (uint16_t)flags, .win = win,
                        .src = (uint32_t)from, .op = 1, .token = 1};
    if (type == RMA_PKT_GET) {
        h.dt = (uint32_t)MPI_LONG;
        h.count = 1;
    }
    fly(open_tp(), from, 1, TP_REQUEST, AM_RMA + (int)type, &h, sizeof h, NULL, 0);
}

void virtual_post(uint32_t win, int from)
{
    plain(win, from, RMA_PKT_POST, 0);
}

void virtual_lock(uint32_t win, int from)
{
    plain(win, from, RMA_PKT_GET, RMA_F_SHARED | RMA_F_JOIN | RMA_F_DONE);
}

void virtual_unlock(uint32_t win, int from)
{
    plain(win, from, RMA_PKT_DONE, RMA_F_UNLOCK);
}

void virtual_put_refused(uint32_t win, int from)
{
    plain(win, from, RMA_PKT_PUT, 0);
}

/* --- collectives: whatever the real rank has posted a receive for ----------------------------- */

static int is_flying(const struct tp *t, const struct p2p_req *q)
{
    for (const struct list *l = t->flying.next; l != &t->flying; l = l->next)
        if (LIST_OBJ(l, struct flight, link)->for_recv == q)
            return 1;
    return 0;
}

/* Zeros: no error, no larger value.  But a broadcast of two context ids is made up by its
 * leader. */
static void send_expected(struct tp *t, struct p2p_req *q)
{
    struct p2p_match m = {.ctx = q->ctx, .src = q->src, .tag = q->tag};
    uint64_t ids[2];
    if (q->size > AM_MAX - 64)
        sim_fail("a receive of %zu bytes: more than a virtual rank can send", q->size);
    int agrees = q->size == sizeof ids && q->type == dt_find(MPI_BYTE);
    /* ids of rank `world` have its number in the upper bits: src 0 leads unless it is the real
     * one */
    if (agrees)
        ids[0] = ids[1] = (++t->contexts + 2) * CTX_STEP;
    fly(t, q->world, 1, TP_REQUEST, P2P_EAGER, &m, sizeof m, agrees ? ids : NULL, q->size)
        ->for_recv = q;
}

static void look_for_receives(struct tp *t)
{
    struct p2p *p = proc->p2p;
    if (!p || !p->posted_kind[0])
        return;
    for (int i = 0; i < P2P_BINS; i++)
        for (struct list *l = p->posted[i].next; l != &p->posted[i]; l = l->next) {
            struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
            if (q->world >= 0 && q->world != boot_rank() && !is_flying(t, q))
                send_expected(t, q);
        }
}

/* --- the transport --------------------------------------------------------------------------- */

static int virtual_open(const struct tp_env *env, struct tp **out, struct tp_caps *caps)
{
    struct tp *t = sim_alloc(sizeof *t);
    *t = (struct tp){.env = *env};
    list_init(&t->flying);
    *caps = (struct tp_caps){.flags = TP_AM_ORDERED | TP_AM_LEAVES,
                             .am_max = (size_t)the_sim->k.am_max,
                             .replies = (unsigned)the_sim->k.replies};
    *out = t;
    return 0;
}

static int virtual_address(struct tp *t, void *buf, size_t *len)
{
    (void)t;
    memset(buf, 0, 4);
    *len = 4;
    return 0;
}

/* The same text as am_publish() makes: name, address of four bytes. */
int virtual_get(const char *key, void *value, size_t *len)
{
    unsigned char *v = value;
    int rank;
    if (sscanf(key, "am.%d", &rank) != 1 || rank < 0 || rank >= the_sim->k.world)
        return -ENOENT;
    size_t n = strlen(virtual_tp_ops.name);
    uint16_t four = 4;
    v[0] = (unsigned char)n;
    memcpy(v + 1, virtual_tp_ops.name, n);
    memcpy(v + 1 + n, &four, 2);
    memset(v + 3 + n, 0, 4);
    *len = n + 7;
    return 0;
}

static int virtual_connect(struct tp *t, unsigned peer, const void *addr, size_t len)
{
    (void)t, (void)peer, (void)addr, (void)len;
    return 0;
}

static void virtual_close(struct tp *t)
{
    for (struct list *l; (l = list_pop(&t->flying));) {
        the_sim->in_flight--;
        sim_release(LIST_OBJ(l, struct flight, link));
    }
    sim_release(t);
}

static int virtual_am(struct tp *t, unsigned peer, enum tp_class cls, const struct iovec *iov,
                      int n, struct tp_done *d)
{
    char msg[AM_MAX] __attribute__((aligned(8)));
    size_t len = 0;
    (void)d;
    t->idle = 0;
    for (int i = 0; i < n; i++)
        len += iov[i].iov_len;
    if (len > (size_t)the_sim->k.am_max)
        return -EMSGSIZE;
    len = 0;
    for (int i = 0; i < n; len += iov[i++].iov_len)
        memcpy(msg + len, iov[i].iov_base, iov[i].iov_len);
    sim_count_sent(0, (unsigned char)msg[0], len);
    sim_moved(the_sim);
    if (cls == TP_REQUEST && msg[0] >= AM_RMA)
        on_rma((int)peer, msg + sizeof(struct am_hdr));
    return 0;
}

static int virtual_progress(struct tp *t)
{
    struct sim *s = the_sim;
    int events = 0;
    look_for_receives(t);
    while (!list_empty(&t->flying)) {
        struct flight *f = LIST_OBJ(t->flying.next, struct flight, link);
        if (f->due > s->step && !events && ++t->idle > TIMEOUT)
            s->step = f->due;
        if (f->due > s->step)
            break;
        list_del(&f->link);
        f->for_recv = NULL;
        int rc = t->env.recv(t->env.up, (unsigned)f->src, f->cls, f->data, f->len);
        if (rc == TP_AGAIN) {
            list_push_front(&t->flying, &f->link);
            break;
        }
        sim_count_received(0, (unsigned char)f->data[0]);
        s->in_flight--;
        sim_release(f);
        sim_moved(s);
        events++;
        t->idle = 0;
    }
    return events;
}

static int virtual_fd(struct tp *t, int arm)
{
    (void)t, (void)arm;
    return -1;
}

const struct tp_ops virtual_tp_ops = {.name = "virtual", .near = 1, .open = virtual_open,
                                      .address = virtual_address, .connect = virtual_connect,
                                      .close = virtual_close, .am = virtual_am,
                                      .progress = virtual_progress, .fd = virtual_fd};
