/* send.c - a send begins: at once, or queued. Its end is in send_end.c. */
#include <errno.h>

#include "obj/err.h"
#include "p2p/refuse.h"
#include "p2p/spares.h"
#include "watch/watch.h"

static void send_fail(struct p2p_op *op, int neg_errno)
{
    struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    send_done(q, neg_errno == -ENOTCONN
                     ? err_make(MPIX_ERR_PROC_FAILED, "send: process %d of the job has died: %s",
                                q->world, boot_failed_why(q->world))
                     : err_from_errno(neg_errno, "send"));
}

static int send_try(struct p2p_op *op, struct p2p_peer *p)
{
    return p->path->send(LIST_OBJ(op, struct p2p_req, op), p);
}

/* Watchers hear of it first, and once for each number that it may get. */
static int send_try_told(struct p2p_op *op, struct p2p_peer *p)
{
    struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    if (q->next == 0 && q->label.told != p->seq_out + 1) {
        struct p2p_leaves m = {q->world, q->tag, p->seq_out, &q->label};
        if (watch_leaves(&m) == AM_AGAIN)
            return AM_AGAIN;
        q->label.told = p->seq_out + 1;
    }
    return p->path->send(q, p);
}

int send_is(const struct p2p_op *op)
{
    return op->try == send_try || op->try == send_try_told;
}

/* A copy is sent, so the user has the buffer back at once. The piece is dropped when the copy ends:
 * here, or by buffer_sent(). */
static int send_copy(struct p2p_req *q, struct p2p_piece *piece)
{
    struct p2p_req *copy = req_alloc(P2P_STANDARD, 0);
    if (!copy) {
        buffer_drop(piece);
        return err_make(MPI_ERR_NO_MEM, "MPI_Bsend: no memory for one more request");
    }
    char *data = buffer_data(piece);
    dt_pack(q->type, q->count, q->buf, 0, data, q->size);
    *copy = *q;
    copy->twin = NULL;
    copy->wire_id = 0;
    copy->waits = 0;
    request_init(&copy->r, REQUEST_SEND, request_own_ops(&q->r), NULL);
    copy->holds = 0;
    copy->copy = piece;
    copy->buf = copy->start = data;
    copy->count = q->size;
    copy->type = dt_find(MPI_BYTE);
    copy->block = 1;
    int err = send_begin(copy);
    if (!err && !copy->r.done) {
        if (!q->waits) { /* a blocking call's request is on the stack, and cannot be cancelled */
            copy->twin = q;
            q->twin = copy;
        }
        copy->r.freed = 1; /* request_complete() frees it */
        return MPI_SUCCESS;
    }
    if (!err) { /* it left as an eager message, which the user may still cancel */
        err = copy->r.error;
        q->eager = copy->eager;
        q->seq = copy->seq;
    }
    if (copy->copy)
        buffer_drop(piece);
    req_recycle(copy);
    return err;
}

static __attribute__((noinline)) int send_buffered(struct p2p_req *q)
{
    struct p2p_piece *piece;
    int err = buffer_take(q->r.comm, q->size, &piece);
    if (!err)
        err = send_copy(q, piece);
    if (err)
        return err;
    request_complete(&q->r, MPI_SUCCESS);
    return MPI_SUCCESS;
}

static inline __attribute__((always_inline)) int
send_now(struct p2p_req *q, int (*try)(struct p2p_op *op, struct p2p_peer *p))
{
    struct p2p_peer *p = peer_get(q->world);
    if (!p)
        return err_make(MPI_ERR_NO_MEM, "send: no memory for the record of process %d", q->world);
    q->op.try = try;
    q->op.fail = send_fail;
    q->next = q->got = 0;
    q->eager = 0;
    q->cancelled = 0;
    q->state = P2P_QUEUED;
    int rc = list_empty(&p->pending) ? try(&q->op, p) : AM_AGAIN;
    if (rc == AM_AGAIN)
        peer_queue(p, &q->op);
    else if (rc < 0)
        send_fail(&q->op, rc);
    return MPI_SUCCESS;
}

static __attribute__((cold, noinline)) int send_special(struct p2p_req *q)
{
    if ((q->flags & P2P_MODE) == P2P_BUFFERED && !q->copy)
        return send_buffered(q);
    if (!(q->flags & P2P_LABELLED))
        return send_now(q, send_try);
    q->label.told = 0;
    return send_now(q, send_try_told);
}

/* Buffered, or labelled: tested as one. */
_Static_assert((int)P2P_BUFFERED == (int)P2P_MODE && (int)P2P_LABELLED > (int)P2P_MODE,
               "both are above the other modes");

/* q is filled in; from here to its completion by send_done(). */
int send_begin(struct p2p_req *q)
{
    if (q->world < 0) { /* MPI_PROC_NULL */
        request_complete(&q->r, MPI_SUCCESS);
        return MPI_SUCCESS;
    }
    if ((q->flags & (P2P_MODE | P2P_LABELLED)) >= P2P_BUFFERED)
        return send_special(q);
    return send_now(q, send_try);
}
