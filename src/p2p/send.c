/* send.c - the life of a send: begun, perhaps queued, done. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "obj/err.h"
#include "p2p/p2p_types.h"
#include "p2p/refuse.h"
#include "var/var.h"

void send_done(struct p2p_req *q, int err)
{
    q->state = P2P_IDLE;
    if (q->wire_id)
        wire_id_drop(q);
    if (q->native)
        native_withdraw(q);
    if (q->leaving) { /* its pieces have left, or its peer has failed */
        q->leaving->q = NULL;
        if (!q->leaving->out)
            free(q->leaving);
        q->leaving = NULL;
    }
    if (q->late)
        want_late_drop(q);
    if (q->copy)
        buffer_sent(q);
    request_complete(&q->r, err);
}

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

/* --- data that leaves from where it lies ---------------------------------------- */

void send_asked(struct p2p_req *q)
{
    q->state = P2P_CLOSING;
    if (q->leaving && q->leaving->out)
        return;
    int err = q->leaving ? q->leaving->err : 0;
    /* stays open: am/ determines whether the peer is dead, and peer_reap() ends it */
    if (err == -ENOTCONN)
        return;
    list_del(&q->op.link);
    send_done(q, err ? err_from_errno(err, "send") : MPI_SUCCESS);
}

static void piece_left(struct tp_done *d, int err)
{
    struct p2p_closing *x = LIST_OBJ(d, struct p2p_closing, d);
    x->out--;
    if (err && !x->err)
        x->err = err;
    if (x->q && (x->q->state == P2P_CLOSING || send_failed(x)))
        send_asked(x->q);
    else if (!x->q && !x->out)
        free(x);
}

struct p2p_closing *send_closing(struct p2p_req *q)
{
    if (!q->leaving && (q->leaving = malloc(sizeof *q->leaving)))
        *q->leaving = (struct p2p_closing){.d = {piece_left}, .q = q};
    return q->leaving;
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
