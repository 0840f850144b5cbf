/* by_am.c - path 1: active messages. How a send leaves, and two of the ways to get the data of a
 * matched rendezvous (the third: by_network.c). Start with by_am_send(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sched.h"
#include "mem/mem.h"
#include "obj/err.h"
#include "p2p/net_memory.h"
#include "p2p/p2p_types.h"
#include "var/var.h"

/* --- sending ------------------------------------------------------------ */

/* The data as one piece of memory: in place, or packed. */
static const void *whole(struct p2p_req *q)
{
    if (q->block || q->size == 0)
        return q->start;
    dt_pack(q->type, q->count, q->buf, 0, proc->p2p->scratch, q->size);
    return proc->p2p->scratch;
}

static int send_eager(struct p2p_req *q, struct p2p_peer *p)
{
    int sync = (q->flags & P2P_MODE) == P2P_SYNC;
    struct p2p_eager_sync h = {{q->ctx, q->src, q->tag, p->seq_out}, sync ? wire_id_make(q) : 0};
    if (sync && !h.sreq)
        return wire_id_lacks();
    struct iovec v[2] = {{&h, sync ? sizeof h : sizeof h.m}, {(void *)whole(q), q->size}};
    int rc = am_request(q->world, sync ? P2P_EAGER_SYNC : P2P_EAGER, v, q->size ? 2 : 1, 0);
    if (rc)
        return rc;
    q->seq = peer_next_seq(p, q);
    p->eager_out += q->size + P2P_CHARGE;
    pvar_set_add(pvar_proc(), PVAR_P2P_EAGER, 1);
    if (sync) {
        q->state = P2P_OPEN;
        list_push(&proc->p2p->open, &q->op.link);
    } else {
        q->eager = 1;
        send_done(q, MPI_SUCCESS);
    }
    return 0;
}

/* Would an offer of the receiver have paid? */
static int finds_busy(const struct p2p_req *q, const struct p2p_peer *p)
{
    return p->near && q->size >= proc->p2p->offer_min && mem_attention_of(p->host) == MEM_BUSY;
}

/* In pieces; q->next bytes have left. An interrupted send goes on from the head of the queue. */
static int send_pieces(struct p2p_req *q, struct p2p_peer *p)
{
    struct p2p_eager_first h = {{q->ctx, q->src, q->tag, 0}, (uint32_t)q->size, 0};
    h.busy = (uint32_t)finds_busy(q, p);
    while (q->next < q->size) {
        if (peer_far_ahead(p))
            return AM_AGAIN;
        size_t n = q->size - q->next < p->piece ? q->size - q->next : p->piece;
        const void *data = q->start + q->next;
        if (!q->block) {
            if (n > proc->p2p->scratch_size)
                n = proc->p2p->scratch_size;
            dt_pack(q->type, q->count, q->buf, q->next, proc->p2p->scratch, n);
            data = proc->p2p->scratch;
        }
        h.m.seq = p->seq_out;
        struct iovec v[2] = {{&h, q->next ? sizeof h.m : sizeof h}, {(void *)(uintptr_t)data, n}};
        int rc = am_request(q->world, q->next ? P2P_EAGER_MORE : P2P_EAGER_FIRST, v, 2, 0);
        if (rc)
            return rc;
        uint32_t seq = peer_next_seq(p, q->next ? NULL : q);
        if (q->next == 0) {
            q->seq = seq;
            p->eager_out += q->size + P2P_CHARGE;
            pvar_set_add(pvar_proc(), PVAR_P2P_EAGER, 1);
        }
        q->next += n;
    }
    q->eager = 1;
    send_done(q, MPI_SUCCESS);
    return 0;
}

/* Where the data lie, for a receiver that can read them: at most P2P_RTS_RUNS runs, each long
 * enough for an entry. 0: it must be pulled. */
static uint32_t runs_of(struct p2p_req *q, const struct p2p_peer *p, struct p2p_run *run)
{
    if (!p->near)
        return 0;
    if (q->block) {
        run[0] = (struct p2p_run){(uintptr_t)q->start, q->size};
        return 1;
    }
    struct iovec v[P2P_RTS_RUNS];
    size_t bytes, n = dt_iov(q->type, q->count, q->buf, 0, q->size, v, P2P_RTS_RUNS, &bytes);
    /* nothing to read: the window was full, and the layout is no block */
    if (!n || bytes != q->size || bytes / n < 256)
        return 0;
    for (size_t i = 0; i < n; i++)
        run[i] = (struct p2p_run){(uintptr_t)v[i].iov_base, v[i].iov_len};
    return (uint32_t)n;
}

static int send_rts(struct p2p_req *q, struct p2p_peer *p)
{
    struct {
        struct p2p_rts h;
        union {
            struct p2p_run run[P2P_RTS_RUNS];
            char key[P2P_RTS_TAIL];
        } tail;
    } rts;
    size_t most = am_max(q->world) - sizeof rts.h, key = 0;
    uint32_t n = runs_of(q, p, rts.tail.run);
    if (n * sizeof rts.tail.run[0] > most)
        n = 0;
    if (!n)
        key = native_offer(q, p, rts.tail.key, most < sizeof rts.tail ? most : sizeof rts.tail);
    rts.h = (struct p2p_rts){{q->ctx, q->src, q->tag, p->seq_out}, wire_id_make(q), q->size, n,
                             (uint16_t)key,
                             (uint16_t)((q->waits ? P2P_RTS_WAITS : 0) |
                                        (finds_busy(q, p) ? P2P_RTS_BUSY : 0))};
    if (!rts.h.sreq)
        return wire_id_lacks();
    struct iovec v = {&rts, sizeof rts.h + n * sizeof rts.tail.run[0] + key};
    q->got = 0;
    q->state = P2P_OPEN;
    list_push(&proc->p2p->open, &q->op.link); /* before: an answer to oneself may come at once */
    int rc = am_request(q->world, P2P_RTS, &v, 1, 0);
    if (rc) {
        list_del(&q->op.link);
        q->state = P2P_QUEUED;
        return rc;
    }
    q->seq = peer_next_seq(p, q);
    pvar_set_add(pvar_proc(), PVAR_P2P_RENDEZVOUS, 1);
    return 0;
}

/* Eager while the message is short and the window has room, else rendezvous.  Called again after
 * AM_AGAIN. */
static int by_am_send(struct p2p_req *q, struct p2p_peer *p)
{
    int err = peer_reach(p);
    if (err)
        return err;
    if (q->next) /* begun */
        return send_pieces(q, p);
    if (peer_far_ahead(p))
        return AM_AGAIN;
    int room = p->eager_out + q->size + P2P_CHARGE <= (size_t)cvar.p2p_eager_window;
    if (room && q->size <= p->eager_max)
        return send_eager(q, p);
    if (room && q->size <= (size_t)cvar.p2p_eager_max && (q->flags & P2P_MODE) != P2P_SYNC)
        return send_pieces(q, p);
    return send_rts(q, p);
}

/* --- single copy on the node ---------------------------------------------- */

/* The part [from, from+len) of the sender's runs as an iovec; returns the entries used, *bytes what
 * they hold. */
static size_t slice(const struct p2p_run *runs, uint32_t nruns, size_t from, size_t len,
                    struct iovec *v, size_t *bytes)
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

/* One step of the copy from position q->got on: into the layout itself when its pieces are long,
 * else through the bounce buffer. 0 or -errno. */
static int read_step(struct p2p_req *q, struct p2p_peer *p, const struct p2p_run *runs,
                     uint32_t nruns)
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

/* If the sender is blocked in this very message, or in the collective call that it is a part of,
 * and has a core, both can copy at once, through the rings. Where caches are near and system calls
 * slow, that takes half the time of one process_vm_readv; elsewhere it takes twice as long. So both
 * are measured. Otherwise one copy by the receiver leaves the sender free. So it does where the
 * message is long and the receiver may compute meanwhile: the rest would wait for its next call. */
enum { ANY_RECEIVER = 4 << 20 /* bytes: shorter ones go either way whatever the receiver does */ };
static int either_way(const struct p2p_req *q, const struct p2p_rts *h)
{
    return h->flags & P2P_RTS_WAITS && !proc->p2p->crowded && q->want < (size_t)cvar.p2p_cma_min &&
           (q->want < ANY_RECEIVER || q->flags & P2P_AWAITED);
}

static int rndv_read(struct p2p_req *q, struct p2p_peer *p, const struct p2p_rts *h,
                     const struct p2p_run *runs)
{
    struct p2p *s = proc->p2p;
    if (!p->near || h->nruns == 0 || p->cma == P2P_CMA_REFUSED)
        return 0;
    if (!q->block && !s->bounce && !(s->bounce = malloc(P2P_BOUNCE)))
        return 0;
    uint64_t begin = either_way(q, h) ? time_now() : 0;
    if (begin && ways_pick(&s->near_ways, q->want) == 0) {
        q->began = begin;
        return 0;
    }
    while (q->got < q->want) {
        int rc = read_step(q, p, runs, h->nruns);
        if (rc) {
            /* the first real try decides; a single bad address later is reported by the pull */
            if (p->cma == P2P_CMA_UNKNOWN || rc == -EPERM)
                p->cma = P2P_CMA_REFUSED;
            q->got = 0;
            return 0;
        }
        p->cma = P2P_CMA_WORKS;
    }
    if (begin)
        ways_took(&s->near_ways, q->want, 1, time_now() - begin);
    pvar_set_add(pvar_proc(), PVAR_P2P_READ, 1);
    return 1;
}

/* --- windows of segments --------------------------------------------------- */

/* Segments of one window: at most what the transport can have under way as replies. */
static size_t window_segments(int world)
{
    struct tp_caps caps = {0};
    am_tp_to(world, NULL, &caps);
    return caps.replies && caps.replies < P2P_PULL_SEGMENTS ? caps.replies : P2P_PULL_SEGMENTS;
}

static int pull_try(struct p2p_op *op, struct p2p_peer *p)
{
    struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    size_t segment = am_max(p->world) - sizeof(struct p2p_data), window;
    /* the sender packs a segment there; it has the same size in every process */
    if (segment > proc->p2p->scratch_size)
        segment = proc->p2p->scratch_size;
    window = segment * window_segments(p->world);
    int rc = wire_id_make(q) ? 0 : wire_id_lacks();
    while (rc == 0 && q->next < q->want && q->next - q->got <= window * (P2P_PULL_WINDOWS - 1)) {
        size_t len = q->want - q->next < window ? q->want - q->next : window;
        struct p2p_pull m = {q->remote, q->wire_id,     q->next,
                             q->want,   (uint32_t)len, (uint32_t)segment};
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
    if (neg_errno == -ENOMEM && !q->wire_id) { /* nothing was asked for: the sender need not wait */
        struct p2p_fin f = {q->remote};
        peer_control(peer_get(q->world), P2P_FIN, &f, sizeof f);
    }
    int class = neg_errno == -ENOTCONN ? MPIX_ERR_PROC_FAILED
                : neg_errno == -ENOMEM ? MPI_ERR_NO_MEM
                                       : MPI_ERR_OTHER;
    recv_done(q, err_make(class, "receive: process %d of the job: %s", q->world,
                          strerror(-neg_errno)));
}

/* Ask for as many windows as may be under way; called again as data arrive. */
static void by_am_more(struct p2p_req *q)
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

static void by_am_pull(struct p2p_req *q, struct p2p_peer *p, const struct p2p_rts *h,
                        const void *tail)
{
    if (q->want == 0 || rndv_read(q, p, h, tail)) {
        struct p2p_fin f = {h->sreq};
        peer_control(p, P2P_FIN, &f, sizeof f);
        recv_done(q, MPI_SUCCESS);
    } else if (native_read(q, p, h, tail)) {
        pvar_set_add(pvar_proc(), PVAR_P2P_GOT, 1);
    } else {
        pvar_set_add(pvar_proc(), PVAR_P2P_PULLED, 1);
        by_am_more(q);
    }
}

static void by_am_cancel(struct p2p_req *q, struct p2p_peer *p)
{
    struct p2p_cancel m = {wire_id_make(q), q->seq, q->state == P2P_CANCELLING, 0, 0, 0};
    q->cancelled = 1;
    peer_control(p, P2P_CANCEL, &m, sizeof m);
}

const struct p2p_path p2p_by_am = {.name = "am",
                                   .init = p2p_handlers,
                                   .send = by_am_send,
                                   .pull = by_am_pull,
                                   .more = by_am_more,
                                   .cancel = by_am_cancel};
