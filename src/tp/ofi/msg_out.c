/* msg_out.c - messages that leave: buffers, the queue of each peer, the window's sender. Start with
 * ofi_am(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "tp/ofi/ofi.h"

/* How long the first message to a peer waits for what a connection needs here, and how often it
 * tries again (ns). */
static const uint64_t LACK_NS = 10000000000u, LACK_RETRY_NS = 10000000u;

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
    size_t room = big ? ofi_wire_bytes(o->am_max) : OFI_SMALL;
    struct ofi_send *m = ofi_local_alloc(o, 16, sizeof *m + room);
    if (!m)
        return NULL;
    memset(m, 0, sizeof *m);
    m->op.kind = OFI_OP_SEND;
    m->room = room;
    list_init(&m->op.link);
    if (ofi_local_reg(o, m->bytes, room, &m->mr) != 0) {
        ofi_local_free(o, m, sizeof *m + room);
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
    ofi_local_free(o, m, sizeof *m + m->room);
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
    memset(end, 0, ofi_wire_bytes(len) - sizeof(struct ofi_wire) - len);
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

/* May the provider be busy with what it has taken for p? Not if all that has arrived, as far as is
 * known. Nothing known: it also takes the first message for a connection that it then cannot
 * make. */
static int may_be_busy(const struct ofi_peer *p)
{
    uint16_t waiting = 0;
    if (!p->reached || (!p->heard && !p->acked))
        return 0;
    for (const struct list *l = p->queue.next; l != &p->queue; l = l->next)
        waiting++;
    return (uint16_t)(p->seq - waiting) != p->heard;
}

/* A connection lacks something here, such as a descriptor or memory.  That may pass, so wait for a
 * while. 1: wait. */
static int lacks(struct ofi_peer *p, ssize_t err)
{
    if (!ofi_is_shortage(err))
        return 0;
    uint64_t now = time_now();
    if (!p->lacks)
        p->lacks = now;
    p->lacks_next = now + LACK_RETRY_NS;
    return now - p->lacks < LACK_NS;
}

/* The provider is busy, or it has no memory for a connection: it answers the same to both. A busy
 * one may stay so as long as the peer computes. */
static int starves(struct ofi_peer *p)
{
    uint64_t now = time_now();
    if (now < p->looked)
        return p->lacks != 0;
    p->looked = now + LACK_RETRY_NS;
    return !may_be_busy(p) && mem_starves();
}

static int lacks_still(const struct ofi_peer *p)
{
    return __builtin_expect(p->lacks != 0, 0) && time_now() < p->lacks_next;
}

/* Send what waits for one peer while the provider takes it; returns events. */
int ofi_queue_run(struct ofi *o, struct ofi_peer *p)
{
    int events = 0;
    while (!list_empty(&p->queue) && !p->broken) {
        struct ofi_send *m = LIST_OBJ(p->queue.next, struct ofi_send, op.link);
        if (lacks_still(p))
            return events;
        ssize_t err = post(o, m);
        if (!err || err == -FI_EAGAIN)
            ofi_wake(p);
        if (err == -FI_EAGAIN && starves(p))
            err = -FI_ENOMEM;
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
    p->due = time_now() + OFI_LOOK_NS;
    p->mark_seq = p->seq;
    p->mark_sent = p->sent;
    p->looks = 0;
    list_push(&o->unheard, &p->in_unheard);
}

/* A message waits for the provider now.  Another thread may sleep on its descriptors alone, and
 * must try again.  While the rooms are opened no thread sleeps. */
void ofi_wake_sleeper(void)
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
    ofi_queue_run(o, p);
    if (!list_empty(&p->queue))
        ofi_wake_sleeper();
}

/* Copy a message, and send it or let it wait.  0 or -ENOMEM. */
static int enqueue(struct ofi *o, struct ofi_peer *p, enum ofi_packet kind, const struct iovec *iov,
                   int n, size_t len)
{
    struct ofi_send *m = send_get(o, ofi_wire_bytes(len));
    if (!m)
        return -ENOMEM;
    m->peer = p;
    m->len = ofi_wire_bytes(len);
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
    m->len = ofi_wire_bytes(len);
    m->head = head;
    m->kept = iov[n - 1];
    m->done = d;
    packet_begin(o, p, m->bytes, kind, iov, n - 1, len);
    enqueue_made(o, p, m);
    return TP_PENDING;
}

/* Send a short packet without a buffer of ours. 0: sent; -FI_EAGAIN: not now, or not in this way;
 * or another error, which shows again when the packet leaves the queue. */
ssize_t ofi_inject(struct ofi *o, struct ofi_peer *p, enum ofi_packet kind,
                      const struct iovec *iov, int n, size_t len)
{
    _Alignas(8) char packet[OFI_SMALL];
    size_t bytes = ofi_wire_bytes(len);
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
    uint32_t wire = (uint32_t)ofi_wire_bytes(len);
    if (cls == TP_REQUEST && p->sent - p->acked + wire > OFI_WINDOW)
        return TP_AGAIN;
    if (d)
        pending = enqueue_zcopy(o, p, (enum ofi_packet)cls, iov, n, len, d);
    if (!pending && ofi_inject(o, p, (enum ofi_packet)cls, iov, n, len) != 0 &&
        enqueue(o, p, (enum ofi_packet)cls, iov, n, len) != 0)
        return TP_AGAIN;
    if (cls == TP_REQUEST)
        p->sent += wire;
    return pending;
}

/* Our own address, for HELLO and ASK. */
int ofi_own_address(struct ofi *o, struct ofi_contact *a, struct iovec *v)
{
    *v = (struct iovec){a, sizeof *a};
    return ofi_address((struct tp *)o, a, &v->iov_len);
}

/* The first packet to a peer: our address, so that it can answer without asking the launcher. */
int ofi_greet(struct ofi *o, struct ofi_peer *p)
{
    struct ofi_contact a;
    struct iovec v;
    int err = ofi_own_address(o, &a, &v);
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
