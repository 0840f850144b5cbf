/* on_packet.c - handlers of the packets: what arrives is matched, delivered, answered. Start with
 * p2p_on_match(). */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sched.h"
#include "mem/mem.h"
#include "obj/err.h"
#include "p2p/net_memory.h"
#include "p2p/p2p_types.h"
#include "p2p/refuse.h"

/* --- windows of a rendezvous --------------------------------------------------- */

/* Is the window inside the message, in segments that fit a packet and the scratch buffer? */
static int pull_fits(const struct p2p_req *s, int src, const struct p2p_pull *m)
{
    size_t most = am_max(src) - sizeof(struct p2p_data);
    if (most > proc->p2p->scratch_size)
        most = proc->p2p->scratch_size;
    int inside = m->want <= s->size && m->off <= s->size && m->len <= s->size - m->off;
    int sendable = m->segment && m->segment <= most &&
                   m->len <= (uint64_t)m->segment * P2P_PULL_SEGMENTS;
    return s->state == P2P_OPEN && inside && sendable;
}

/* Would the network to src send pieces of so many bytes zero-copy? */
static int stays(int src, size_t bytes)
{
    struct tp_caps caps;
    return am_tp_to(src, NULL, &caps) && caps.am_zcopy_min && bytes >= caps.am_zcopy_min;
}

static int on_pull(int src, const void *msg, size_t len)
{
    const struct p2p_pull *m = msg;
    struct p2p_req *s = len == sizeof *m ? send_of(m->sreq, src) : NULL;
    if (!s || !pull_fits(s, src, m))
        return p2p_malformed(src, "a request for data");
    struct p2p_closing *x = s->block && stays(src, m->segment) ? send_closing(s) : NULL;
    for (size_t off = 0; off < m->len; off += m->segment) {
        size_t n = m->len - off < m->segment ? m->len - off : m->segment;
        struct p2p_data h = {m->rreq, m->off + off};
        const void *data = s->start + m->off + off;
        if (!s->block) {
            dt_pack(s->type, s->count, s->buf, m->off + off, proc->p2p->scratch, n);
            data = proc->p2p->scratch;
        }
        struct iovec v[2] = {{&h, sizeof h}, {(void *)data, n}};
        if (x) {
            x->out++; /* before: the completion may come at once */
            int rc = am_reply_zcopy(src, P2P_DATA, v, 2, &x->d);
            x->out -= rc != TP_PENDING;
            x->err = rc < 0 && !x->err ? rc : x->err;
        } else {
            am_reply(src, P2P_DATA, v, 2);
        }
        s->got += n;
    }
    if (s->got >= m->want || (x && send_failed(x)))
        send_asked(s);
    return 0;
}

static int on_data(int src, const void *msg, size_t len)
{
    const struct p2p_data *m = msg;
    struct p2p_req *q = len >= sizeof *m ? wire_id_find(m->rreq, src) : NULL;
    const char *data = (const char *)(m + 1);
    size_t n = len - sizeof *m;
    /* Only what was asked for, and no more of it in all. */
    if (!q || q->is_send || q->state != P2P_PULLING || m->off > q->next || n > q->next - m->off ||
        n > q->next - q->got)
        return p2p_malformed(src, "data");
    if (q->block)
        memcpy(q->start + m->off, data, n);
    else
        dt_unpack(q->type, q->count, q->buf, m->off, data, n);
    q->got += n;
    if (q->got == q->want) {
        list_del(&q->op.link);
        if (q->began)
            ways_took(&proc->p2p->near_ways, q->want, 0, time_now() - q->began);
        recv_done(q, MPI_SUCCESS);
    } else if (!q->waiting && q->next < q->want) {
        list_del(&q->op.link);
        peer_get(q->world)->path->more(q);
    }
    return 0;
}

/* --- matching packets -------------------------------------------------------- */

/* room: bytes of the whole message, or of what follows the RTS. */
static struct p2p_unex *unex_make(int type, const struct p2p_match *m, int src, const void *data,
                                  size_t len, size_t room)
{
    struct p2p_unex *u = malloc(sizeof *u + room);
    if (!u)
        return NULL;
    u->m = *m;
    u->world = src;
    u->type = type;
    u->size = room;
    u->arrived = len;
    u->taker = NULL;
    u->dropped = 0;
    u->sreq = 0;
    u->nruns = 0;
    u->key = 0;
    memcpy(u->data, data, len);
    return u;
}

static void arrived(struct p2p_unex *u)
{
    proc->p2p->lack_unex.since = 0;
    match_keep(u);
    progress_signal(); /* another thread may probe for it */
}

/* There is no memory for a message: the transport keeps it, and all that come after it from that
 * process. What this process waits for may be among them. */
static __attribute__((cold)) int held_back(int src, uint32_t seq)
{
    char limits[256];
    if (p2p_lacks(&proc->p2p->lack_unex, (uint64_t)src << 32 | seq) != AM_AGAIN)
        log_fatal("out of memory for a message of process %d, tried for 10 s; limits: %s", src,
                  mem_limits(limits, sizeof limits, 1));
    return AM_AGAIN;
}

/* A written message that fits no claim: the data is not where the program expects it. */
static __attribute__((cold)) void misled(struct p2p_req *q, int src)
{
    p2p_malformed(src, "an answer to an offered receive");
    if (q && q->native)
        native_withdraw(q);
    if (q)
        recv_done(q, err_make(MPI_ERR_OTHER, "receive: process %d of the job wrote into another "
                                             "receive than the one that takes its message", src));
}

/* A message that its sender has not written takes the receive q. 0: q has ended with an error. */
static inline int announced(struct p2p_req *q, uint32_t seq)
{
    if (__builtin_expect(!q->offer, 1) || offer_end(q, seq) == OFFER_TAKEN)
        return 1;
    misled(q, q->world);
    return 0;
}

/* The sender writes the data of q, and says when all are there. What comes from a process behind
 * its failure may be an RTS, but no WRITTEN follows: then q ends as in peer_reap(). */
static void await_sender(struct p2p_req *q, const struct p2p_rts *h, int src)
{
    const struct p2p_peer *p = peer_get(src);
    recv_await(q, h, src);
    if (__builtin_expect(!p || !p->dead, 1))
        return;
    list_del(&q->op.link);
    if (q->native) /* P13 */
        native_linger(q);
    else
        recv_done(q, peer_death(q, src));
}

/* An RTS whose receive was offered, or which claims so. 0: its data is still to be moved. */
static int take_offered(struct p2p_req *q, const struct p2p_rts *h, int src)
{
    int written = h->flags & P2P_RTS_WRITTEN, putting = h->flags & P2P_RTS_WRITING;
    uint64_t named = written ? h->sreq : putting ? *(const uint64_t *)(h + 1) : 0;
    enum offer_fate end = OFFER_TAKEN;
    if (q && q->offer)
        end = written || putting ? offer_named(q, putting != 0) : offer_end(q, h->m.seq);
    if ((written || putting) && end == OFFER_CLAIMED && named != q->wire_id)
        end = OFFER_BROKEN;
    if (end == OFFER_TAKEN && !written && !putting)
        return 0;
    if (end != OFFER_CLAIMED || !h->size || h->size > q->size)
        misled(q, src); /* without bytes: no sender writes that, and it could not be pulled */
    else if (written)
        recv_written(q, h, src);
    else
        await_sender(q, h, src);
    return 1;
}

static int take_eager(int src, const struct p2p_match *m, const void *data, size_t len)
{
    struct p2p_peer *p = peer_get(src);
    struct p2p_req *q = match_arrival(m);
    if (q && !announced(q, m->seq))
        return 0;
    if (q) {
        peer_credit(p, len + P2P_CHARGE);
        recv_eager(q, m, src, data, len);
        return 0;
    }
    struct p2p_unex *u = unex_make(P2P_EAGER, m, src, data, len, len);
    if (!u)
        return held_back(src, m->seq);
    arrived(u);
    return 0;
}

static int take_eager_sync(int src, const struct p2p_eager_sync *h, size_t len)
{
    struct p2p_peer *p = peer_get(src);
    struct p2p_req *q = match_arrival(&h->m);
    if (q && !announced(q, h->m.seq))
        return 0;
    if (q) {
        struct p2p_fin f = {h->sreq};
        peer_credit(p, len + P2P_CHARGE);
        peer_control(p, P2P_FIN, &f, sizeof f);
        recv_eager(q, &h->m, src, h + 1, len);
        return 0;
    }
    struct p2p_unex *u = unex_make(P2P_EAGER_SYNC, &h->m, src, h + 1, len, len);
    if (!u)
        return held_back(src, h->m.seq);
    u->sreq = h->sreq;
    arrived(u);
    return 0;
}

static int take_rts(int src, const struct p2p_rts *h)
{
    size_t tail = h->nruns * sizeof(struct p2p_run) + h->key;
    struct p2p_req *q = match_arrival(&h->m);
    if (h->flags & P2P_RTS_BUSY)
        offer_again(src);
    if (__builtin_expect((q && q->offer) || h->flags & (P2P_RTS_WRITTEN | P2P_RTS_WRITING), 0) &&
        take_offered(q, h, src))
        return 0;
    if (q) {
        recv_rendezvous(q, h, src, h + 1);
        return 0;
    }
    struct p2p_unex *u = unex_make(P2P_RTS, &h->m, src, h + 1, tail, tail);
    if (!u)
        return held_back(src, h->m.seq);
    u->sreq = h->sreq;
    u->size = h->size;
    u->nruns = h->nruns;
    u->key = h->key;
    u->flags = h->flags;
    arrived(u);
    return 0;
}

static int take_first(int src, const struct p2p_eager_first *h, size_t len)
{
    struct p2p_peer *p = peer_get(src);
    if (p->dead) /* the rest will not come */
        return 0;
    if (p->in_req || p->in_unex || len >= h->size || h->size > P2P_EAGER_LIMIT)
        return p2p_malformed(src, "the beginning of a message");
    if (h->busy)
        offer_again(src);
    struct p2p_req *q = match_arrival(&h->m);
    if (q && !announced(q, h->m.seq))
        return 0;
    if (q) {
        recv_first(q, p, &h->m, h->size, h + 1, len);
        return 0;
    }
    p->in_unex = unex_make(P2P_EAGER, &h->m, src, h + 1, len, h->size);
    if (!p->in_unex)
        return held_back(src, h->m.seq);
    arrived(p->in_unex);
    return 0;
}

static int take_more(int src, const void *data, size_t len)
{
    struct p2p_peer *p = peer_get(src);
    if (!p || (p->in_req ? len > p->in_req->full - p->in_req->got
                         : !p->in_unex || len > p->in_unex->size - p->in_unex->arrived))
        return p2p_malformed(src, "a piece of a message");
    recv_more(p, data, len);
    return 0;
}

static int take(int type, int src, const void *msg, size_t len)
{
    switch (type) {
    case P2P_EAGER:
        return take_eager(src, msg, (const struct p2p_match *)msg + 1,
                          len - sizeof(struct p2p_match));
    case P2P_EAGER_SYNC:
        return take_eager_sync(src, msg, len - sizeof(struct p2p_eager_sync));
    case P2P_EAGER_FIRST:
        return take_first(src, msg, len - sizeof(struct p2p_eager_first));
    case P2P_EAGER_MORE:
        return take_more(src, (const struct p2p_match *)msg + 1, len - sizeof(struct p2p_match));
    default:
        return take_rts(src, msg);
    }
}

/* Bytes before the data, which a message of this type has at least; RTS: its length must match its
 * fields. */
static int well_formed(int type, const void *msg, size_t len)
{
    static const size_t head[] = {[P2P_EAGER - P2P_EAGER] = sizeof(struct p2p_match),
                                  [P2P_EAGER_SYNC - P2P_EAGER] = sizeof(struct p2p_eager_sync),
                                  [P2P_RTS - P2P_EAGER] = sizeof(struct p2p_rts),
                                  [P2P_EAGER_FIRST - P2P_EAGER] = sizeof(struct p2p_eager_first),
                                  [P2P_EAGER_MORE - P2P_EAGER] = sizeof(struct p2p_match)};
    if (len < head[type - P2P_EAGER])
        return 0;
    const struct p2p_rts *r = msg;
    if (type != P2P_RTS)
        return 1;
    if (r->nruns > P2P_RTS_RUNS || r->key > P2P_RTS_TAIL || (r->nruns && r->key))
        return 0;
    if (r->flags & P2P_RTS_WRITTEN && (r->nruns || r->key))
        return 0;
    if (r->flags & P2P_RTS_WRITING &&
        (r->nruns || r->key != sizeof(uint64_t) || r->flags & P2P_RTS_WRITTEN))
        return 0;
    return r->size <= INT64_MAX &&
           len == sizeof *r + r->nruns * sizeof(struct p2p_run) + r->key;
}

/* A message of an unordered transport before its turn is stored; one in turn delivers those after
 * it, too. */
static int in_turn(struct p2p_peer *p, int type, const void *msg, size_t len)
{
    const struct p2p_match *m = msg;
    if ((int32_t)(m->seq - p->seq_in) < 0)
        return p2p_malformed(p->world, "a message twice");
    if (m->seq - p->seq_in >= P2P_EARLY || p->nearly >= P2P_EARLY)
        return p2p_malformed(p->world, "a message long before its turn");
    if (m->seq != p->seq_in) {
        struct p2p_early *e = malloc(sizeof *e + len);
        if (!e)
            return held_back(p->world, m->seq);
        e->type = type;
        e->len = len;
        memcpy(e->msg, msg, len);
        list_push(&p->early, &e->link);
        p->nearly++;
        return 0;
    }
    int rc = take(type, p->world, msg, len);
    if (rc)
        return rc;
    p->seq_in++;
    for (struct list *l = p->early.next; l != &p->early;) {
        struct p2p_early *e = LIST_OBJ(l, struct p2p_early, link);
        l = l->next;
        if (((struct p2p_match *)e->msg)->seq != p->seq_in)
            continue;
        if (take(e->type, p->world, e->msg, e->len))
            log_fatal("no memory for a message of process %d", p->world);
        p->seq_in++;
        list_del(&e->link);
        free(e);
        p->nearly--;
        l = p->early.next;
    }
    peer_credit(p, 0);
    return 0;
}

/* P10 holds by itself, and the receives that this process offers to p depend on what has come. */
static int in_order(struct p2p_peer *p, int type, const void *msg, size_t len)
{
    int rc = take(type, p->world, msg, len);
    if (!rc)
        offer_passed(p, ((const struct p2p_match *)msg)->seq);
    return rc;
}

int p2p_on_match(int type, int src, const void *msg, size_t len)
{
    if (__builtin_expect(!well_formed(type, msg, len), 0))
        return p2p_malformed(src, "a message");
    struct p2p_peer *p = peer_get(src);
    if (!p)
        return held_back(src, ((const struct p2p_match *)msg)->seq);
    if (__builtin_expect(!p->direct, 0))
        return p->ordered ? in_order(p, type, msg, len) : in_turn(p, type, msg, len);
    return take(type, src, msg, len);
}

/* p2p_on_match(), the fast path. */
static int on_eager(int src, const void *msg, size_t len)
{
    const struct p2p_peer *p = peer_get(src);
    if (__builtin_expect(len < sizeof(struct p2p_match) || !p || !p->direct, 0))
        return p2p_on_match(P2P_EAGER, src, msg, len);
    return take_eager(src, msg, (const struct p2p_match *)msg + 1, len - sizeof(struct p2p_match));
}

static int on_eager_sync(int src, const void *msg, size_t len)
{
    return p2p_on_match(P2P_EAGER_SYNC, src, msg, len);
}

static int on_eager_first(int src, const void *msg, size_t len)
{
    return p2p_on_match(P2P_EAGER_FIRST, src, msg, len);
}

static int on_eager_more(int src, const void *msg, size_t len)
{
    return p2p_on_match(P2P_EAGER_MORE, src, msg, len);
}

static int on_rts(int src, const void *msg, size_t len)
{
    return p2p_on_match(P2P_RTS, src, msg, len);
}

static int on_fin(int src, const void *msg, size_t len)
{
    const struct p2p_fin *m = msg;
    struct p2p_req *s = len == sizeof *m ? send_of(m->sreq, src) : NULL;
    if (!s || s->state != P2P_OPEN || s->got) /* a receiver that pulls sends no FIN; P14 */
        return p2p_malformed(src, "the end of a message");
    list_del(&s->op.link);
    send_done(s, MPI_SUCCESS);
    return 0;
}

static int on_ack(int src, const void *msg, size_t len)
{
    const struct p2p_ack *m = msg;
    struct p2p_peer *p = peer_get(src);
    if (!p || len != sizeof *m || m->bytes > p->eager_out)
        return p2p_malformed(src, "a credit");
    p->eager_out -= m->bytes;
    if ((int32_t)(m->seq - p->seq_told) > 0 && (int32_t)(m->seq - p->seq_out) <= 0)
        p->seq_told = m->seq;
    return 0;
}

/* --- cancelling a send --------------------------------------------------------- */

static struct p2p_unex *find_sent(int src, uint32_t seq)
{
    struct p2p *s = proc->p2p;
    for (int bin = 0; bin < P2P_UNEX_BINS && s->unexpected; bin++)
        for (struct list *l = s->unex[0][bin].next; l != &s->unex[0][bin]; l = l->next) {
            struct p2p_unex *u = LIST_OBJ(l, struct p2p_unex, link[0]);
            if (u->world == src && u->m.seq == seq)
                return u;
        }
    return NULL;
}

/* Take back a message of src that has not been received or matched. Returns whether there was
 * one. */
static int withdraw(int src, uint32_t seq)
{
    struct p2p_unex *u = find_sent(src, seq);
    if (!u)
        return 0;
    match_take(u);
    recv_give_back(u);
    return 1;
}

static int on_cancel(int src, const void *msg, size_t len)
{
    struct p2p_cancel m;
    if (len != sizeof m)
        return p2p_malformed(src, "a wish to cancel");
    memcpy(&m, msg, sizeof m);
    struct p2p_peer *p = peer_get(src);
    /* without order: this one may have come before its message */
    m.early = p && !p->ordered && (int32_t)(m.seq - p->seq_in) >= 0;
    m.done = !m.early && withdraw(src, m.seq);
    if (p && (m.done || m.eager || m.early))
        peer_control(p, P2P_CANCELLED, &m, sizeof m);
    return 0;
}

void send_cancel_own(struct p2p_req *q)
{
    int me = proc->p2p->me;
    /* One pass delivers all that this process has sent to itself: then the message is stored here,
     * or matched. */
    if (!find_sent(me, q->seq))
        progress_poll();
    if ((q->r.done && !q->eager) || !withdraw(me, q->seq))
        return;
    status_set_cancelled(&q->r.status, 1);
    q->eager = 0;
    if (q->r.done) /* it had left, and is complete because of that */
        return;
    list_del(&q->op.link);
    send_done(q, MPI_SUCCESS);
}

/* It had come before its message: it goes again, if that has not had its end meanwhile. */
static int ask_again(struct p2p_req *s, int src)
{
    struct p2p_peer *p = s ? peer_get(src) : NULL;
    if (p && (s->state == P2P_CANCELLING || (s->state == P2P_OPEN && s->cancelled && !s->got)))
        p->path->cancel(s, p);
    return 0;
}

static int on_cancelled(int src, const void *msg, size_t len)
{
    const struct p2p_cancel *m = msg;
    const struct p2p_peer *p = peer_get(src);
    struct p2p_req *s = len == sizeof *m ? send_of(m->sreq, src) : NULL;
    if (len == sizeof *m && m->early && p && !p->ordered)
        return ask_again(s, src);
    if (!s || !(s->state == P2P_CANCELLING ||
                (s->state == P2P_OPEN && m->done && s->cancelled && !s->got)))
        return p2p_malformed(src, "an answer to MPI_Cancel");
    list_del(&s->op.link);
    status_set_cancelled(&s->r.status, m->done != 0);
    send_done(s, MPI_SUCCESS);
    return 0;
}

void p2p_handlers(void)
{
    am_handler(P2P_EAGER, on_eager);
    am_handler(P2P_EAGER_SYNC, on_eager_sync);
    am_handler(P2P_EAGER_FIRST, on_eager_first);
    am_handler(P2P_EAGER_MORE, on_eager_more);
    am_handler(P2P_RTS, on_rts);
    am_handler(P2P_FIN, on_fin);
    am_handler(P2P_PULL, on_pull);
    am_reply_handler(P2P_DATA, on_data);
    am_handler(P2P_ACK, on_ack);
    am_handler(P2P_CANCEL, on_cancel);
    am_handler(P2P_CANCELLED, on_cancelled);
}
