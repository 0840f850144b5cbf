/* send.c - a send begins: at once, or queued. Its end is in send_end.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "obj/err.h"
#include "p2p/p2p_types.h"
#include "p2p/refuse.h"
#include "var/var.h"

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

int send_is(const struct p2p_op *op)
{
    return op->try == send_try;
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
    q->next = q->got = 0;
    q->eager = 0;
    q->cancelled = 0;
    q->state = P2P_QUEUED;
    int rc = list_empty(&p->pending) ? send_try(&q->op, p) : AM_AGAIN;
    if (rc == AM_AGAIN)
        peer_queue(p, &q->op);
    else if (rc < 0)
        send_fail(&q->op, rc);
    return MPI_SUCCESS;
}
