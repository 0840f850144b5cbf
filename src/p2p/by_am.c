/* Path 1: handlers of the packets, and the two ways to move a rendezvous' data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "mem/mem.h"
#include "obj/err.h"
#include "p2p/p2p_types.h"
#include "var/var.h"

/* --- single copy on the node ---------------------------------------------- */

/* The part [from, from+len) of the sender's runs as an iovec; returns the entries used, *bytes what they hold. */
static size_t slice(const struct p2p_run *runs, uint32_t nruns, size_t from, size_t len, struct iovec *v, size_t *bytes)
{
    size_t n = 0, got = 0;
    for (uint32_t i = 0; i < nruns && got < len; i++) {
        if (from >= runs[i].len) {
            from -= runs[i].len;
            continue;
        }
        size_t take = runs[i].len - from < len - got ? runs[i].len - from : len - got;
        v[n++] = (struct iovec){(void *)(uintptr_t)(runs[i].addr + from), take};
        got += take;
        from = 0;
    }
    *bytes = got;
    return n;
}

/* One step of the copy from position q->got on: into the layout itself when its pieces are long, else through the
 * bounce buffer. 0 or -errno. */
static int read_step(struct p2p_req *q, struct p2p_peer *p, const struct p2p_run *runs, uint32_t nruns)
{
    struct iovec here[P2P_RTS_RUNS], there[P2P_RTS_RUNS];
    size_t left = q->want - q->got, bytes = left, nhere = 1, got;
    int direct = 1;
    if (q->block) {
        here[0] = (struct iovec){q->start + q->got, left};
    } else {
        nhere = dt_iov(q->type, q->count, q->buf, q->got, left, here, P2P_RTS_RUNS, &bytes);
        if (bytes / nhere < 1024) {
            direct = 0;
            bytes = left < P2P_BOUNCE ? left : P2P_BOUNCE;
            here[0] = (struct iovec){proc->p2p->bounce, bytes};
            nhere = 1;
        }
    }
    size_t nthere = slice(runs, nruns, q->got, bytes, there, &got);
    int rc = got == bytes ? mem_cma_read(p->host, here, nhere, there, nthere) : -EINVAL;
    if (rc)
        return rc;
    if (!direct)
        dt_unpack(q->type, q->count, q->buf, q->got, proc->p2p->bounce, bytes);
    q->got += bytes;
    return 0;
}

/* When the sender is blocked in this very message and has a core, both can copy at once, through the rings: twice
 * as fast here as one process_vm_readv, whose cost is in finding the pages.  Else one copy by the receiver leaves the
 * sender free. */
static int better_pulled(const struct p2p_req *q, const struct p2p_rts *h)
{
    return h->waits && !proc->p2p->crowded && q->want < (size_t)cvar.p2p_cma_min;
}

int rndv_read(struct p2p_req *q, struct p2p_peer *p, const struct p2p_rts *h, const struct p2p_run *runs)
{
    struct p2p *s = proc->p2p;
    if (!p->near || h->nruns == 0 || p->cma == P2P_CMA_REFUSED || better_pulled(q, h))
        return 0;
    if (!q->block && !s->bounce && !(s->bounce = malloc(P2P_BOUNCE)))
        return 0;
    while (q->got < q->want) {
        int rc = read_step(q, p, runs, h->nruns);
        if (rc) { /* the first real try decides; a single bad address later is left to the pull to report */
            if (p->cma == P2P_CMA_UNKNOWN || rc == -EPERM)
                p->cma = P2P_CMA_REFUSED;
            q->got = 0;
            return 0;
        }
        p->cma = P2P_CMA_WORKS;
    }
    return 1;
}

/* --- windows of segments --------------------------------------------------- */

static int pull_try(struct p2p_op *op, struct p2p_peer *p)
{
    struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    size_t segment = am_max(p->world) - sizeof(struct p2p_data), window;
    if (segment > proc->p2p->scratch_size) /* where the sender packs one: as large in every process */
        segment = proc->p2p->scratch_size;
    window = segment * P2P_PULL_SEGMENTS;
    int rc = 0;
    while (q->next < q->want && q->next - q->got <= window * (P2P_PULL_WINDOWS - 1)) {
        size_t len = q->want - q->next < window ? q->want - q->next : window;
        struct p2p_pull m = {q->remote, (uintptr_t)q, q->next, q->want, (uint32_t)len, (uint32_t)segment};
        struct iovec v = {&m, sizeof m};
        rc = am_request(p->world, P2P_PULL, &v, 1, (unsigned)((len + segment - 1) / segment));
        if (rc)
            break;
        q->next += len;
    }
    q->waiting = rc == AM_AGAIN;
    if (rc == 0)
        list_push(&proc->p2p->pulls, &q->op.link);
    return rc;
}

static void pull_fail(struct p2p_op *op, int neg_errno)
{
    struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    list_del(&q->op.link);
    recv_done(q, err_make(neg_errno == -ENOTCONN ? MPIX_ERR_PROC_FAILED : MPI_ERR_OTHER,
                          "receive: process %d of the job: %s", q->world, strerror(-neg_errno)));
}

/* Ask for as many windows as may be under way; called again as data arrives. */
void rndv_pull(struct p2p_req *q)
{
    struct p2p_peer *p = peer_get(q->world);
    q->op.try = pull_try;
    q->op.fail = pull_fail;
    q->state = P2P_PULLING;
    list_init(&q->op.link);
    int rc = pull_try(&q->op, p);
    if (rc == AM_AGAIN)
        peer_queue(p, &q->op);
    else if (rc < 0)
        pull_fail(&q->op, rc);
}

static int on_pull(int src, const void *msg, size_t len)
{
    const struct p2p_pull *m = msg;
    struct p2p_req *s = (struct p2p_req *)(uintptr_t)m->sreq;
    (void)len;
    for (size_t off = 0; off < m->len; off += m->segment) {
        size_t n = m->len - off < m->segment ? m->len - off : m->segment;
        struct p2p_data h = {m->rreq, m->off + off};
        const void *data = s->start + m->off + off;
        if (!s->block) {
            dt_pack(s->type, s->count, s->buf, m->off + off, proc->p2p->scratch, n);
            data = proc->p2p->scratch;
        }
        struct iovec v[2] = {{&h, sizeof h}, {(void *)data, n}};
        am_reply(src, P2P_DATA, v, 2);
        s->got += n;
    }
    if (s->got >= m->want) {
        list_del(&s->op.link);
        send_done(s, MPI_SUCCESS);
    }
    return 0;
}

static int on_data(int src, const void *msg, size_t len)
{
    const struct p2p_data *m = msg;
    struct p2p_req *q = (struct p2p_req *)(uintptr_t)m->rreq;
    const char *data = (const char *)(m + 1);
    size_t n = len - sizeof *m;
    (void)src;
    if (q->block)
        memcpy(q->start + m->off, data, n);
    else
        dt_unpack(q->type, q->count, q->buf, m->off, data, n);
    q->got += n;
    if (q->got == q->want) {
        list_del(&q->op.link);
        recv_done(q, MPI_SUCCESS);
    } else if (!q->waiting && q->next < q->want) {
        list_del(&q->op.link);
        rndv_pull(q);
    }
    return 0;
}

/* --- matching packets -------------------------------------------------------- */

/* room: bytes of the whole message, or of the runs. */
static struct p2p_unex *unex_make(int type, const struct p2p_match *m, int src, const void *data, size_t len, size_t room)
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
    memcpy(u->data, data, len);
    return u;
}

static void arrived(struct p2p_unex *u)
{
    match_keep(u);
    progress_signal(); /* another thread may probe for it */
}

static int take_eager(int src, const struct p2p_match *m, const void *data, size_t len)
{
    struct p2p_peer *p = peer_get(src);
    struct p2p_req *q = match_arrival(m);
    if (q) {
        if (p)
            peer_credit(p, len + P2P_CHARGE);
        recv_eager(q, m, src, data, len);
        return 0;
    }
    struct p2p_unex *u = unex_make(P2P_EAGER, m, src, data, len, len);
    if (!u)
        return AM_AGAIN; /* the transport keeps it until memory is free */
    arrived(u);
    return 0;
}

static int take_eager_sync(int src, const struct p2p_eager_sync *h, size_t len)
{
    struct p2p_peer *p = peer_get(src);
    struct p2p_req *q = p ? match_arrival(&h->m) : NULL;
    if (q) {
        struct p2p_fin f = {h->sreq};
        peer_credit(p, len + P2P_CHARGE);
        peer_control(p, P2P_FIN, &f, sizeof f);
        recv_eager(q, &h->m, src, h + 1, len);
        return 0;
    }
    struct p2p_unex *u = unex_make(P2P_EAGER_SYNC, &h->m, src, h + 1, len, len);
    if (!u)
        return AM_AGAIN;
    u->sreq = h->sreq;
    arrived(u);
    return 0;
}

static int take_rts(int src, const struct p2p_rts *h)
{
    const struct p2p_run *runs = (const struct p2p_run *)(h + 1);
    struct p2p_req *q = match_arrival(&h->m);
    if (q) {
        recv_rendezvous(q, h, src, runs);
        return 0;
    }
    struct p2p_unex *u = unex_make(P2P_RTS, &h->m, src, runs, h->nruns * sizeof *runs, h->nruns * sizeof *runs);
    if (!u)
        return AM_AGAIN;
    u->sreq = h->sreq;
    u->size = h->size;
    u->nruns = h->nruns;
    u->waits = h->waits;
    arrived(u);
    return 0;
}

static int take_first(int src, const struct p2p_eager_first *h, size_t len)
{
    struct p2p_peer *p = peer_get(src);
    if (!p)
        return AM_AGAIN;
    struct p2p_req *q = match_arrival(&h->m);
    if (q) {
        recv_first(q, p, &h->m, h->size, h + 1, len);
        return 0;
    }
    p->in_unex = unex_make(P2P_EAGER, &h->m, src, h + 1, len, h->size);
    if (!p->in_unex)
        return AM_AGAIN;
    arrived(p->in_unex);
    return 0;
}

static int take_more(int src, const void *data, size_t len)
{
    struct p2p_peer *p = peer_get(src);
    if (p)
        recv_more(p, data, len);
    return 0;
}

static int take(int type, int src, const void *msg, size_t len)
{
    switch (type) {
    case P2P_EAGER:
        return take_eager(src, msg, (const struct p2p_match *)msg + 1, len - sizeof(struct p2p_match));
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

/* A message of an unordered transport before its turn is kept; one in turn brings those after it along. */
static int in_turn(struct p2p_peer *p, int type, const void *msg, size_t len)
{
    const struct p2p_match *m = msg;
    if (m->seq != p->seq_in) {
        struct p2p_early *e = malloc(sizeof *e + len);
        if (!e)
            return AM_AGAIN;
        e->type = type;
        e->len = len;
        memcpy(e->msg, msg, len);
        list_push(&p->early, &e->link);
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
        l = p->early.next;
    }
    return 0;
}

static int on_match(int type, int src, const void *msg, size_t len)
{
    struct p2p_peer *p = peer_get(src);
    if (__builtin_expect(p && !p->ordered, 0))
        return in_turn(p, type, msg, len);
    return take(type, src, msg, len);
}

static int on_eager(int src, const void *msg, size_t len)
{
    return on_match(P2P_EAGER, src, msg, len);
}

static int on_eager_sync(int src, const void *msg, size_t len)
{
    return on_match(P2P_EAGER_SYNC, src, msg, len);
}

static int on_eager_first(int src, const void *msg, size_t len)
{
    return on_match(P2P_EAGER_FIRST, src, msg, len);
}

static int on_eager_more(int src, const void *msg, size_t len)
{
    return on_match(P2P_EAGER_MORE, src, msg, len);
}

static int on_rts(int src, const void *msg, size_t len)
{
    return on_match(P2P_RTS, src, msg, len);
}

static int on_fin(int src, const void *msg, size_t len)
{
    const struct p2p_fin *m = msg;
    struct p2p_req *s = (struct p2p_req *)(uintptr_t)m->sreq;
    (void)src;
    (void)len;
    list_del(&s->op.link);
    send_done(s, MPI_SUCCESS);
    return 0;
}

static int on_ack(int src, const void *msg, size_t len)
{
    const struct p2p_ack *m = msg;
    struct p2p_peer *p = peer_get(src);
    (void)len;
    if (p)
        p->eager_out -= m->bytes;
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

static int on_cancel(int src, const void *msg, size_t len)
{
    struct p2p_cancel m = *(const struct p2p_cancel *)msg;
    struct p2p_unex *u = find_sent(src, m.seq);
    struct p2p_peer *p = peer_get(src);
    (void)len;
    if (u) {
        match_take(u);
        if (p && u->type != P2P_RTS)
            peer_credit(p, u->size + P2P_CHARGE);
        recv_drop(u);
        m.done = 1;
    }
    if (p && (u || m.eager))
        peer_control(p, P2P_CANCELLED, &m, sizeof m);
    return 0;
}

static int on_cancelled(int src, const void *msg, size_t len)
{
    const struct p2p_cancel *m = msg;
    struct p2p_req *s = (struct p2p_req *)(uintptr_t)m->sreq;
    (void)src;
    (void)len;
    list_del(&s->op.link);
    status_set_cancelled(&s->r.status, m->done);
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
    am_handler(P2P_DATA, on_data);
    am_handler(P2P_ACK, on_ack);
    am_handler(P2P_CANCEL, on_cancel);
    am_handler(P2P_CANCELLED, on_cancelled);
}
