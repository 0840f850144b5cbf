/* Sending: eager while the message is short and the window has room, else rendezvous. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "obj/err.h"
#include "p2p/p2p_types.h"
#include "var/var.h"

void send_done(struct p2p_req *q, int err)
{
    q->state = P2P_IDLE;
    if (q->copy)
        buffer_sent(q);
    request_complete(&q->r, err);
}

static void send_fail(struct p2p_op *op, int neg_errno)
{
    struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    send_done(q, neg_errno == -ENOTCONN
                     ? err_make(MPIX_ERR_PROC_FAILED, "send: process %d of the job has died", q->world)
                     : err_from_errno(neg_errno, "send"));
}

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
    struct p2p_eager_sync h = {{q->ctx, q->rank, q->tag, p->seq_out}, (uintptr_t)q};
    struct iovec v[2] = {{&h, sync ? sizeof h : sizeof h.m}, {(void *)whole(q), q->size}};
    int rc = am_request(q->world, sync ? P2P_EAGER_SYNC : P2P_EAGER, v, q->size ? 2 : 1, 0);
    if (rc)
        return rc;
    q->seq = p->seq_out++;
    p->eager_out += q->size + P2P_CHARGE;
    if (sync) {
        q->state = P2P_OPEN;
        list_push(&proc->p2p->open, &q->op.link);
    } else {
        q->eager = 1;
        send_done(q, MPI_SUCCESS);
    }
    return 0;
}

/* In pieces; q->next bytes are out.  What stops half way goes on from the head of the queue. */
static int send_pieces(struct p2p_req *q, struct p2p_peer *p)
{
    struct p2p_eager_first h = {{q->ctx, q->rank, q->tag, 0}, q->size};
    while (q->next < q->size) {
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
        if (q->next == 0) {
            q->seq = p->seq_out;
            p->eager_out += q->size + P2P_CHARGE;
        }
        p->seq_out++;
        q->next += n;
    }
    q->eager = 1;
    send_done(q, MPI_SUCCESS);
    return 0;
}

/* Where the data lies, for a receiver that can read it: at most P2P_RTS_RUNS runs, none too short to be worth
 * a place in a list.  0: it must be pulled. */
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
    if (bytes != q->size || bytes / n < 256)
        return 0;
    for (size_t i = 0; i < n; i++)
        run[i] = (struct p2p_run){(uintptr_t)v[i].iov_base, v[i].iov_len};
    return (uint32_t)n;
}

static int send_rts(struct p2p_req *q, struct p2p_peer *p)
{
    struct {
        struct p2p_rts h;
        struct p2p_run run[P2P_RTS_RUNS];
    } rts;
    uint32_t n = runs_of(q, p, rts.run);
    if (sizeof rts.h + n * sizeof rts.run[0] > am_max(q->world))
        n = 0;
    rts.h = (struct p2p_rts){{q->ctx, q->rank, q->tag, p->seq_out}, (uintptr_t)q, q->size, n, (uint32_t)q->waits};
    struct iovec v = {&rts, sizeof rts.h + n * sizeof rts.run[0]};
    q->got = 0;
    q->state = P2P_OPEN;
    list_push(&proc->p2p->open, &q->op.link); /* before: an answer to oneself may come at once */
    int rc = am_request(q->world, P2P_RTS, &v, 1, 0);
    if (rc) {
        list_del(&q->op.link);
        q->state = P2P_QUEUED;
        return rc;
    }
    q->seq = p->seq_out++;
    return 0;
}

static int send_try(struct p2p_op *op, struct p2p_peer *p)
{
    struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    if (q->next) /* begun */
        return send_pieces(q, p);
    int room = p->eager_out + q->size + P2P_CHARGE <= (size_t)cvar.p2p_eager_window;
    if (room && q->size <= p->eager_max)
        return send_eager(q, p);
    if (room && q->size <= (size_t)cvar.p2p_eager_max && (q->flags & P2P_MODE) != P2P_SYNC)
        return send_pieces(q, p);
    return send_rts(q, p);
}

/* q is filled in; from here to its completion by send_done(). */
int send_begin(struct p2p_req *q)
{
    if (q->world < 0) { /* MPI_PROC_NULL */
        request_complete(&q->r, MPI_SUCCESS);
        return MPI_SUCCESS;
    }
    if ((q->flags & P2P_MODE) == P2P_BUFFERED && !q->copy)
        return buffer_send(q);
    struct p2p_peer *p = peer_get(q->world);
    if (!p)
        return err_make(MPI_ERR_NO_MEM, "send: no memory for the record of process %d", q->world);
    q->op.try = send_try;
    q->op.fail = send_fail;
    q->next = 0;
    q->eager = 0;
    q->state = P2P_QUEUED;
    int rc = list_empty(&p->pending) ? send_try(&q->op, p) : AM_AGAIN;
    if (rc == AM_AGAIN)
        peer_queue(p, &q->op);
    else if (rc < 0)
        send_fail(&q->op, rc);
    return MPI_SUCCESS;
}
