/* msg.c - active messages over libfabric. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "tp/ofi/ofi.h"

/* A peer that has not heard us is looked at once in this time (ns). */
static const uint64_t LOOK_NS = 1000000000u;
/* How long the first message to a peer waits for what a connection needs here, and how often it
 * tries again (ns). */
static const uint64_t LACK_NS = 10000000000u, LACK_RETRY_NS = 10000000u;
/* Looks at a broken peer that may not know of it: each look notifies it, until it counts as
 * failed. */
enum { TELL_LOOKS = 8 };

/* Bytes of a message on the wire, with header and padding (ofi.h "Wire"). */
static size_t wire_bytes(size_t len)
{
    return sizeof(struct ofi_wire) + ((len + 7) & ~(size_t)7);
}

static size_t wire_max(const struct ofi *o)
{
    return wire_bytes(o->am_max);
}

/* --- send buffers ------------------------------------------------------------------- */

static struct ofi_send *send_get(struct ofi *o, size_t len)
{
    int big = len > OFI_SMALL;
    struct list *l = list_pop(&o->pool[big]);
    if (l) {
        o->pooled[big]--;
        struct ofi_send *m = LIST_OBJ(l, struct ofi_send, op.link);
        m->kept.iov_base = NULL;
        m->done = NULL;
        return m;
    }
    size_t room = big ? wire_max(o) : OFI_SMALL;
    struct ofi_send *m = malloc(sizeof *m + room);
    if (!m)
        return NULL;
    memset(m, 0, sizeof *m);
    m->op.kind = OFI_OP_SEND;
    m->room = room;
    list_init(&m->op.link);
    if (ofi_local_reg(o, m->bytes, room, &m->mr) != 0) {
        free(m);
        return NULL;
    }
    return m;
}

static void send_put(struct ofi *o, struct ofi_send *m)
{
    int big = m->room > OFI_SMALL;
    list_del(&m->op.link);
    if (o->pooled[big] < (big ? OFI_POOL_BIG : OFI_POOL)) {
        list_push_front(&o->pool[big], &m->op.link);
        o->pooled[big]++;
        return;
    }
    if (m->mr)
        (void)fi_close(&m->mr->fid);
    free(m);
}

/* --- send --------------------------------------------------------------------------- */

/* Every packet reports to the peer how many of its requests were taken. */
static void wire_fill(struct ofi *o, struct ofi_peer *p, struct ofi_wire *w, enum ofi_packet kind,
                      size_t len)
{
    *w = (struct ofi_wire){.key = p->key,
                           .src = o->rank,
                           .taken = p->taken,
                           .len = (uint16_t)len,
                           .len_high = (uint8_t)(len >> 16),
                           .seq = p->seq,
                           .got = p->got,
                           .kind = (uint8_t)kind};
    p->told = p->taken;
    list_del(&p->in_owing);
}

/* Its header and its first n pieces; returns the end of them. */
static char *packet_begin(struct ofi *o, struct ofi_peer *p, char *to, enum ofi_packet kind,
                          const struct iovec *iov, int n, size_t len)
{
    struct ofi_wire w;
    wire_fill(o, p, &w, kind, len);
    memcpy(to, &w, sizeof w);
    tp_iov_gather(to + sizeof w, iov, n);
    return to + sizeof w + tp_iov_bytes(iov, n);
}

static void packet_fill(struct ofi *o, struct ofi_peer *p, char *to, enum ofi_packet kind,
                        const struct iovec *iov, int n, size_t len)
{
    char *end = packet_begin(o, p, to, kind, iov, n, len);
    memset(end, 0, wire_bytes(len) - sizeof(struct ofi_wire) - len);
}

static ssize_t post_zcopy(struct ofi *o, struct ofi_send *m)
{
    static const uint64_t zeros;
    struct iovec v[OFI_ZCOPY_IOV] = {
        {m->bytes, m->head},
        m->kept,
        {(void *)(uintptr_t)&zeros, m->len - m->head - m->kept.iov_len}};
    return fi_sendv(o->ep, v, NULL, v[2].iov_len ? 3 : 2, m->peer->addr, &m->op.ctx);
}

/* Give one buffer to the provider.  0, -FI_EAGAIN, or another error. */
static ssize_t post(struct ofi *o, struct ofi_send *m)
{
    struct ofi_peer *p = m->peer;
    if (m->len <= o->inject && !m->kept.iov_base) {
        ssize_t err = fi_inject(o->ep, m->bytes, m->len, p->addr);
        if (!err)
            send_put(o, m);
        return err;
    }
    ssize_t err = m->kept.iov_base ? post_zcopy(o, m)
                                   : fi_send(o->ep, m->bytes, m->len,
                                             m->mr ? fi_mr_desc(m->mr) : NULL, p->addr, &m->op.ctx);
    if (!err) {
        list_del(&m->op.link);
        list_push(&o->flying, &m->op.link);
    }
    return err;
}

/* Errors that may pass: what this process may have again soon. */
int ofi_is_shortage(ssize_t err)
{
    return err == -FI_ENOMEM || err == -EMFILE || err == -ENFILE || err == -ENOBUFS;
}

/* Nothing has left for p, and a connection lacks something here, such as a descriptor.  That may
 * pass, so wait for a while. 1: wait. */
static int lacks(struct ofi_peer *p, ssize_t err)
{
    if (p->reached || !ofi_is_shortage(err))
        return 0;
    uint64_t now = time_now();
    if (!p->lacks)
        p->lacks = now;
    p->lacks_next = now + LACK_RETRY_NS;
    return now - p->lacks < LACK_NS;
}

static int lacks_still(const struct ofi_peer *p)
{
    return __builtin_expect(p->lacks != 0, 0) && time_now() < p->lacks_next;
}

/* Send what waits for one peer while the provider takes it; returns events. */
static int queue_run(struct ofi *o, struct ofi_peer *p)
{
    int events = 0;
    while (!list_empty(&p->queue) && !p->broken) {
        struct ofi_send *m = LIST_OBJ(p->queue.next, struct ofi_send, op.link);
        if (lacks_still(p))
            return events;
        ssize_t err = post(o, m);
        if (!err || err == -FI_EAGAIN)
            ofi_wake(p);
        if (err == -FI_EAGAIN) { /* what it lacked is there */
            p->lacks = 0;
            return events;
        }
        if (lacks(p, err))
            return events;
        if (err) {
            ofi_peer_lost(o, p, ofi_err((int)err));
            return events;
        }
        p->reached = 1;
        p->lacks = 0;
        events++;
    }
    list_del(&p->in_queue);
    return events;
}

/* A message has its number, and can leave.  The clock is read once a second for a peer, which
 * leaves the list only at a look. */
static void numbered(struct ofi *o, struct ofi_peer *p)
{
    p->seq++;
    if (o->quiet || !list_empty(&p->in_unheard))
        return;
    p->due = time_now() + LOOK_NS;
    p->mark_seq = p->seq;
    p->mark_sent = p->sent;
    p->looks = 0;
    list_push(&o->unheard, &p->in_unheard);
}

/* A message waits for the provider now.  Another thread may sleep on its descriptors alone, and
 * must try again.  While the rooms are opened no thread sleeps. */
static void wake_sleeper(void)
{
    if (proc->threaded && proc->mem)
        mem_wake(boot_host_index(boot_rank()));
}

/* Send a message whose bytes are complete, or let it wait. */
static void enqueue_made(struct ofi *o, struct ofi_peer *p, struct ofi_send *m)
{
    numbered(o, p);
    int alone = list_empty(&p->queue);
    list_push(&p->queue, &m->op.link);
    if (!alone)
        return;
    list_push(&o->queuing, &p->in_queue);
    queue_run(o, p);
    if (!list_empty(&p->queue))
        wake_sleeper();
}

/* Copy a message, and send it or let it wait.  0 or -ENOMEM. */
static int enqueue(struct ofi *o, struct ofi_peer *p, enum ofi_packet kind, const struct iovec *iov,
                   int n, size_t len)
{
    struct ofi_send *m = send_get(o, wire_bytes(len));
    if (!m)
        return -ENOMEM;
    m->peer = p;
    m->len = wire_bytes(len);
    packet_fill(o, p, m->bytes, kind, iov, n, len);
    enqueue_made(o, p, m);
    return 0;
}

/* The same for a long message whose last piece stays where it is until d->fn.  TP_PENDING, or 0:
 * not possible. */
static int enqueue_zcopy(struct ofi *o, struct ofi_peer *p, enum ofi_packet kind,
                         const struct iovec *iov, int n, size_t len, struct tp_done *d)
{
    size_t head = sizeof(struct ofi_wire) + len - iov[n - 1].iov_len;
    struct ofi_send *m = o->am_zcopy_min && iov[n - 1].iov_len >= o->am_zcopy_min &&
                                 head <= OFI_SMALL
                             ? send_get(o, head)
                             : NULL;
    if (!m)
        return 0;
    m->peer = p;
    m->len = wire_bytes(len);
    m->head = head;
    m->kept = iov[n - 1];
    m->done = d;
    packet_begin(o, p, m->bytes, kind, iov, n - 1, len);
    enqueue_made(o, p, m);
    return TP_PENDING;
}

/* Send a short packet without a buffer of ours. 0: sent; -FI_EAGAIN: not now, or not in this way;
 * or another error, which shows again when the packet leaves the queue. */
static ssize_t inject(struct ofi *o, struct ofi_peer *p, enum ofi_packet kind,
                      const struct iovec *iov, int n, size_t len)
{
    _Alignas(8) char packet[OFI_SMALL];
    size_t bytes = wire_bytes(len);
    if (bytes > o->inject || bytes > sizeof packet || !list_empty(&p->queue))
        return -FI_EAGAIN;
    uint32_t told = p->told;
    int owed = !list_empty(&p->in_owing);
    packet_fill(o, p, packet, kind, iov, n, len);
    ssize_t err = fi_inject(o->ep, packet, bytes, p->addr);
    if (!err)
        ofi_wake(p);
    else
        p->told = told;
    if (err && owed)
        list_push(&o->owing, &p->in_owing);
    if (!err && kind < OFI_TAKEN)
        numbered(o, p);
    return err;
}

int ofi_am(struct tp *tp, unsigned peer, enum tp_class cls, const struct iovec *iov, int n,
           struct tp_done *d)
{
    struct ofi *o = (struct ofi *)tp;
    size_t len = tp_iov_bytes(iov, n);
    int pending = 0;
    if (len > o->am_max)
        return -EMSGSIZE;
    struct ofi_peer *p = map_get(&o->peers, peer);
    if (p && ofi_is_shortage(p->broken)) /* the peer is alive: something is missing here */
        return p->broken;
    if (!p || !p->connected || p->broken)
        return -ENOTCONN;
    if (p->lacks) /* take nothing more that might not leave */
        return TP_AGAIN;
    uint32_t wire = (uint32_t)wire_bytes(len);
    if (cls == TP_REQUEST && p->sent - p->acked + wire > OFI_WINDOW)
        return TP_AGAIN;
    if (d)
        pending = enqueue_zcopy(o, p, (enum ofi_packet)cls, iov, n, len, d);
    if (!pending && inject(o, p, (enum ofi_packet)cls, iov, n, len) != 0 &&
        enqueue(o, p, (enum ofi_packet)cls, iov, n, len) != 0)
        return TP_AGAIN;
    if (cls == TP_REQUEST)
        p->sent += wire;
    return pending;
}

/* Our own address, for HELLO and ASK. */
static int our_address(struct ofi *o, struct ofi_address *a, struct iovec *v)
{
    *v = (struct iovec){a, sizeof *a};
    return tp_ofi_ops.address((struct tp *)o, a, &v->iov_len);
}

/* The first packet to a peer: our address, so that it can answer without asking the launcher. */
int ofi_greet(struct ofi *o, struct ofi_peer *p)
{
    struct ofi_address a;
    struct iovec v;
    int err = our_address(o, &a, &v);
    return err ? err : enqueue(o, p, OFI_HELLO, &v, 1, v.iov_len);
}

/* It has left, or never will. */
static void send_over(struct ofi *o, struct ofi_send *m, int err)
{
    struct tp_done *d = m->done;
    send_put(o, m);
    if (d)
        d->fn(d, err);
}

void ofi_send_done(struct ofi *o, struct ofi_send *m, int err)
{
    struct ofi_peer *p = m->peer;
    send_over(o, m, err ? -ENOTCONN : 0); /* after any other error the peer is lost */
    if (err)
        ofi_peer_lost(o, p, err);
}

void ofi_queue_drop(struct ofi *o, struct ofi_peer *p)
{
    while (!list_empty(&p->queue))
        send_over(o, LIST_OBJ(p->queue.next, struct ofi_send, op.link),
                  ofi_is_shortage(p->broken) ? p->broken : -ENOTCONN);
    list_del(&p->in_queue);
    list_del(&p->in_owing);
}

void ofi_held_drop(struct ofi_peer *p)
{
    for (struct list *l; (l = list_pop(&p->held)) != NULL;)
        free(LIST_OBJ(l, struct ofi_held, link));
    p->held_wire = 0;
    list_del(&p->in_holders);
}

/* --- the window, receiver's side ------------------------------------------------------ */

/* Report to a peer how much was taken, if no message of ours did. */
static int tell(struct ofi *o, struct ofi_peer *p)
{
    if (p->broken)
        return 0;
    if (!p->known || inject(o, p, OFI_TAKEN, NULL, 0, 0) != 0) {
        /* Called behind the queue, or when the provider has room, or when the peer's HELLO has
         * come. */
        if (list_empty(&p->in_owing)) {
            list_push(&o->owing, &p->in_owing);
            wake_sleeper();
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
        tell(o, p);
}

/* --- has it arrived? ----------------------------------------------------------------------- */

void ofi_look_now(struct ofi *o, struct ofi_peer *p)
{
    list_del(&p->in_unheard);
    p->due = 0;
    p->looks = 0;
    list_push_front(&o->unheard, &p->in_unheard);
}

/* Ask how far it has come: at the looks 1, 2, 4, 8, 16, then at every 16th.  So a process that
 * computes or is stopped finds few questions. 1: asked. */
static int ask(struct ofi *o, struct ofi_peer *p)
{
    struct ofi_address a;
    struct iovec v;
    p->looks++;
    if ((p->looks & (p->looks - 1)) && p->looks % 16)
        return 0;
    int n = our_address(o, &a, &v) == 0 && wire_bytes(v.iov_len) <= o->inject;
    ssize_t err = inject(o, p, OFI_ASK, &v, n, n ? v.iov_len : 0);
    if (err == -FI_EAGAIN)
        p->looks--; /* the provider is busy, or makes a new connection */
    else if (err)
        ofi_peer_lost(o, p, ofi_err((int)err));
    return !err;
}

/* One look; 1: the peer stays on the list. */
static int look_at(struct ofi *o, struct ofi_peer *p, int *events)
{
    if (p->broken) {
        int most = boot_failed((int)p->rank) ? 1 : TELL_LOOKS;
        if (!p->known || p->looks++ >= (unsigned)most)
            return 0;
        *events += inject(o, p, OFI_LOST, NULL, 0, 0) == 0;
        return 1;
    }
    if (p->heard == p->seq && p->acked == p->sent)
        return 0;
    if ((int16_t)(uint16_t)(p->heard - p->mark_seq) >= 0 &&
        (int32_t)(p->acked - p->mark_sent) >= 0) {
        p->looks = 0;
        p->mark_seq = p->seq;
        p->mark_sent = p->sent;
    } else {
        *events += ask(o, p);
    }
    return 1;
}

int ofi_look(struct ofi *o)
{
    int events = 0;
    uint64_t now = time_now();
    for (int i = 0; i < OFI_BUDGET && !list_empty(&o->unheard); i++) {
        struct ofi_peer *p = LIST_OBJ(o->unheard.next, struct ofi_peer, in_unheard);
        if (p->due > now)
            break;
        list_del(&p->in_unheard);
        if (look_at(o, p, &events) && list_empty(&p->in_unheard)) {
            p->due = now + LOOK_NS;
            list_push(&o->unheard, &p->in_unheard);
        }
    }
    return events;
}

/* --- receive -------------------------------------------------------------------------- */

/* Keep a request that was refused, or that comes behind one: no more than the window allows a
 * correct sender (O2). */
static void hold(struct ofi *o, struct ofi_peer *p, const void *msg, size_t len)
{
    if (p->held_wire + wire_bytes(len) > OFI_WINDOW) {
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
    h->wire = wire_bytes(len);
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
        took(o, p, wire_bytes(len));
}

/* One packet, from any program that found our port.  A packet without our key is dropped unread. */
static const char *bad(const struct ofi *o, const struct ofi_wire *w, size_t len)
{
    if (len < sizeof *w || w->key != o->key)
        return "does not belong to this job";
    if (w->src >= o->size || w->kind >= OFI_PACKETS)
        return "comes from no process of the job";
    if (ofi_wire_len(w) > o->am_max || wire_bytes(ofi_wire_len(w)) != len)
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
    if (w.kind == OFI_ASK)
        tell(o, p);
    else if (w.kind < OFI_HELLO)
        on_message(o, p, (enum tp_class)w.kind, msg, bytes);
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
        wake_sleeper();
}

int ofi_recv_start(struct ofi *o)
{
    size_t least = wire_max(o), each = o->multi ? OFI_BUFFER_BYTES : least;
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
        if (posix_memalign((void **)&r->bytes, 4096, each) != 0)
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
        events += queue_run(o, LIST_OBJ(l, struct ofi_peer, in_queue));
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
            events += tell(o, p);
    }
    for (struct list *l = o->holders.next, *next; l != &o->holders && events < OFI_BUDGET;
         l = next) {
        next = l->next;
        events += offer_held(o, LIST_OBJ(l, struct ofi_peer, in_holders), OFI_BUDGET - events);
    }
    return events;
}
