/* send_end.c - the end of a send: what it held is given back. */
#include <errno.h>
#include <stdlib.h>

#include "obj/err.h"
#include "p2p/net_memory.h"

__attribute__((noinline)) void send_late_drop(struct p2p_req *q) /* few have it */
{
    list_del(&q->late->link);
    free(q->late);
    q->late = NULL;
}

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
        send_late_drop(q);
    if (q->copy)
        buffer_sent(q);
    request_complete(&q->r, err);
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
