/* msg_in.c - messages that come: receive buffers, what each packet reports, held requests, the
 * window's receiver. Start with ofi_deliver(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "tp/ofi/ofi.h"

/* --- the window, receiver's side ------------------------------------------------------ */

/* Report to a peer how much was taken, if no message of ours did. */
int ofi_tell(struct ofi *o, struct ofi_peer *p)
{
    if (p->broken)
        return 0;
    if (!p->known || ofi_inject(o, p, OFI_TAKEN, NULL, 0, 0) != 0) {
        /* Called behind the queue, or when the provider has room, or when the peer's HELLO has
         * come. */
        if (list_empty(&p->in_owing)) {
            list_push(&o->owing, &p->in_owing);
            ofi_wake_sleeper();
        }
        return 0;
    }
    return 1;
}

static void took(struct ofi *o, struct ofi_peer *p, size_t wire)
{
    p->taken += (uint32_t)wire;
    /* While less than this is unreported the peer has room for a message: OFI_WINDOW is more than
     * four of them. */
    if (p->taken - p->told >= OFI_WINDOW / 2)
        ofi_tell(o, p);
}

/* --- receive -------------------------------------------------------------------------- */

/* Keep a request that was refused, or that comes behind one: no more than the window allows a
 * correct sender (O2). */
static void hold(struct ofi *o, struct ofi_peer *p, const void *msg, size_t len)
{
    if (p->held_wire + ofi_wire_bytes(len) > OFI_WINDOW) {
        if (!o->warned++)
            log_warn("transport ofi: rank %u sends requests beyond its window; they are dropped, "
                     "others are not reported",
                     p->rank);
        return;
    }
    struct ofi_held *h = malloc(sizeof *h + len);
    if (!h)
        log_fatal("out of memory for a request of %zu bytes of rank %u", len, p->rank);
    h->len = len;
    h->wire = ofi_wire_bytes(len);
    p->held_wire += h->wire;
    memcpy(h->bytes, msg, len);
    if (list_empty(&p->held))
        list_push(&o->holders, &p->in_holders);
    list_push(&p->held, &h->link);
}

static void on_message(struct ofi *o, struct ofi_peer *p, enum tp_class cls, const void *msg,
                       size_t len)
{
    if (cls == TP_REPLY) {
        o->env.recv(o->env.up, p->rank, cls, msg, len);
        return;
    }
    if (!list_empty(&p->held) || o->env.recv(o->env.up, p->rank, cls, msg, len) == TP_AGAIN)
        hold(o, p, msg, len);
    else
        took(o, p, ofi_wire_bytes(len));
}

/* One packet, from any program that found our port.  A packet without our key is dropped unread. */
static const char *bad(const struct ofi *o, const struct ofi_wire *w, size_t len)
{
    if (len < sizeof *w || w->key != o->key)
        return "does not belong to this job";
    if (w->src >= o->places || w->kind >= OFI_PACKETS)
        return "comes from no process of the job";
    if (ofi_wire_len(w) > o->am_max || ofi_wire_bytes(ofi_wire_len(w)) != len)
        return "has a wrong length";
    return NULL;
}

/* The provider lost something on the way here, or changed the order.  What comes now must not be
 * taken in its place. */
static void on_gap(struct ofi *o, struct ofi_peer *p)
{
    if (!o->warned_gap++)
        log_warn("transport ofi: messages of rank %u were lost on the way: its connection broke "
                 "(%u operations failed here "
                 "without a name); others are not reported",
                 p->rank, o->nameless);
    p->gap = 1;
    ofi_peer_lost(o, p, -ECONNRESET);
}

/* Its number was here already, so no message is missing for it. ofi_rxm reports a packet again that
 * it still has in a buffer, when a program connects and writes zeros into it (tp-ofi.md,
 * "Strangers"). */
static int came_again(struct ofi *o, const struct ofi_peer *p, uint16_t seq)
{
    if ((int16_t)(uint16_t)(seq - p->got) >= 0)
        return 0;
    if (!o->warned++)
        log_warn(
            "transport ofi: a packet of rank %u came again; it is dropped, others are not reported",
            p->rank);
    return 1;
}

void ofi_deliver(struct ofi *o, const void *packet, size_t len)
{
    struct ofi_wire w = {0};
    memcpy(&w, packet, len < sizeof w ? len : sizeof w);
    const char *why = bad(o, &w, len);
    if (why) {
        if (!o->warned++)
            log_warn(
                "transport ofi: a packet of %zu bytes %s; it is dropped, others are not reported",
                len, why);
        return;
    }
    const char *msg = (const char *)packet + sizeof w;
    size_t bytes = ofi_wire_len(&w);
    /* only behind a packet of wrong length, or in a provider's own buffer */
    if ((uintptr_t)msg & 7)
        msg = memcpy(o->scratch, msg, bytes);
    struct ofi_peer *p = ofi_peer_make(o, w.src);
    if (!p)
        log_fatal("out of memory for a peer");
    if (w.kind == OFI_LOST) {
        ofi_peer_lost(o, p, -ECONNRESET);
        return;
    }
    if (w.kind == OFI_HELLO || (w.kind == OFI_ASK && bytes))
        (void)ofi_peer_learn(o, p, msg, bytes);
    if (__builtin_expect(w.seq != p->got && o->flags & TP_AM_ORDERED, 0) && !p->gap) {
        if (came_again(o, p, w.seq))
            return;
        on_gap(o, p);
    }
    /* It does not know, since it sends.  But packets of a failed peer may come late. */
    if (__builtin_expect(p->broken, 0) && (w.kind == OFI_ASK || !boot_failed((int)p->rank)))
        ofi_look_now(o, p);
    if (p->gap)
        return;
    p->got += w.kind < OFI_TAKEN;
    /* It reports what it has taken and received.  More than we sent is an error. */
    if (w.taken - p->acked <= p->sent - p->acked)
        p->acked = w.taken;
    if ((uint16_t)(w.got - p->heard) <= (uint16_t)(p->seq - p->heard))
        p->heard = w.got;
    if (__builtin_expect(p->striped, 0))
        p->heard_at = time_now();
    if (w.kind == OFI_ASK)
        ofi_tell(o, p);
    else if (w.kind == OFI_RAIL_DOWN || w.kind == OFI_RAIL_GONE)
        ofi_rails_on(o, p, (enum ofi_packet)w.kind, msg, bytes);
    else if (w.kind < OFI_HELLO)
        on_message(o, p, (enum tp_class)w.kind, msg, bytes);
}

void ofi_held_drop(struct ofi_peer *p)
{
    for (struct list *l; (l = list_pop(&p->held)) != NULL;)
        free(LIST_OBJ(l, struct ofi_held, link));
    p->held_wire = 0;
    list_del(&p->in_holders);
}

void ofi_recv_post(struct ofi *o, struct ofi_recv *r)
{
    struct iovec v = {r->bytes, r->size};
    void *desc = r->mr ? fi_mr_desc(r->mr) : NULL;
    struct fi_msg m = {.msg_iov = &v,
                       .desc = &desc,
                       .iov_count = 1,
                       .addr = FI_ADDR_UNSPEC,
                       .context = &r->op.ctx};
    ssize_t err = fi_recvmsg(o->ep, &m, FI_COMPLETION | (o->multi ? FI_MULTI_RECV : 0));
    if (err && err != -FI_EAGAIN)
        log_fatal("transport ofi: a receive buffer cannot be posted: %s",
                  o->lib.strerror((int)-err));
    int waited = !list_empty(&r->op.link);
    list_del(&r->op.link);
    if (err)
        list_push(&o->unposted, &r->op.link);
    if (err && !waited)
        ofi_wake_sleeper();
}

int ofi_recv_start(struct ofi *o)
{
    size_t least = ofi_wire_bytes(o->am_max), each = o->multi ? OFI_BUFFER_BYTES : least;
    int n = o->multi ? OFI_BUFFERS : OFI_SINGLES;
    if (o->multi &&
        fi_setopt(&o->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least) != 0) {
        /* It uses another size: one message each, then. */
        o->multi = 0;
        each = least;
        n = OFI_SINGLES;
    }
    o->recv = calloc((size_t)n, sizeof *o->recv);
    o->scratch = malloc(o->am_max + 8);
    if (!o->recv || !o->scratch)
        return -ENOMEM;
    for (int i = 0; i < n; i++) {
        struct ofi_recv *r = &o->recv[i];
        r->op.kind = OFI_OP_RECV;
        list_init(&r->op.link);
        o->nrecv = i + 1;
        if (!(r->bytes = ofi_local_alloc(o, 4096, each)))
            return -ENOMEM;
        r->size = each;
        int err = ofi_local_reg(o, r->bytes, each, &r->mr);
        if (err)
            return err;
        ofi_recv_post(o, r);
    }
    return 0;
}

/* --- what waits ------------------------------------------------------------------------- */

static int offer_held(struct ofi *o, struct ofi_peer *p, int budget)
{
    int events = 0;
    while (events < budget && !list_empty(&p->held)) {
        struct ofi_held *h = LIST_OBJ(p->held.next, struct ofi_held, link);
        if (o->env.recv(o->env.up, p->rank, TP_REQUEST, h->bytes, h->len) == TP_AGAIN)
            return events;
        list_del(&h->link);
        p->held_wire -= h->wire;
        if (list_empty(&p->held))
            list_del(&p->in_holders);
        took(o, p, h->wire);
        free(h);
        events++;
    }
    return events;
}

int ofi_msg_progress(struct ofi *o)
{
    int events = 0;
    for (struct list *l = o->unposted.next, *next; l != &o->unposted; l = next) {
        next = l->next;
        ofi_recv_post(o, LIST_OBJ(l, struct ofi_recv, op.link));
        if (!list_empty(l)) /* refused, and again at the end of the list */
            break;
    }
    for (struct list *l = o->queuing.next, *next; l != &o->queuing; l = next) {
        next = l->next;
        events += ofi_queue_run(o, LIST_OBJ(l, struct ofi_peer, in_queue));
    }
    /* One round: a peer that cannot be notified now goes to the end of the list. */
    for (struct list *l = o->owing.next, *last = o->owing.prev, *next, *at = NULL;
         l != &o->owing && at != last; l = next) {
        struct ofi_peer *p = LIST_OBJ(l, struct ofi_peer, in_owing);
        next = l->next;
        at = l;
        if (p->broken)
            list_del(l);
        else if (list_empty(&p->queue))
            events += ofi_tell(o, p);
    }
    for (struct list *l = o->holders.next, *next; l != &o->holders && events < OFI_BUDGET;
         l = next) {
        next = l->next;
        events += offer_held(o, LIST_OBJ(l, struct ofi_peer, in_holders), OFI_BUDGET - events);
    }
    return events;
}
