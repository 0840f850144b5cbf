/* peer.c - what is known of each process talked to, what waits to be sent to it, credits. Start
 * with peer_find() and peer_queue(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "obj/err.h"
#include "p2p/p2p_types.h"
#include "place/place.h"
#include "var/var.h"

struct control {
    struct p2p_op op;
    int type;
    size_t len;
    char msg[48];
};

static int control_try(struct p2p_op *op, struct p2p_peer *p)
{
    struct control *c = LIST_OBJ(op, struct control, op);
    struct iovec v = {c->msg, c->len};
    int rc = am_request(p->world, c->type, &v, 1, 0);
    if (rc == 0)
        free(c);
    return rc;
}

static void control_fail(struct p2p_op *op, int neg_errno)
{
    (void)neg_errno; /* no thread waits for a control message here; the other side has failed */
    free(LIST_OBJ(op, struct control, op));
}

/* Properties of the way to it. If there is none now, `piece` is 0, and it is asked again later. */
static void peer_way(struct p2p_peer *p)
{
    size_t longest = am_max(p->world);
    /* second: if the first has no answer, both are asked again */
    p->ordered = am_ordered(p->world);
    longest = longest > sizeof(struct p2p_eager_sync) ? longest - sizeof(struct p2p_eager_sync) : 0;
    p->eager_max = (size_t)cvar.p2p_eager_max < longest ? (size_t)cvar.p2p_eager_max : longest;
    p->piece = longest;
    p->short_end = p->wants ? 0 : p->eager_max + 1;
    p->direct = p->ordered && p->offered.state == OFFER_NEW;
}

int peer_reach(struct p2p_peer *p)
{
    int err = p->piece ? 0 : am_reach(p->world);
    if (!err && !p->piece)
        peer_way(p);
    return err;
}

static struct p2p_peer *peer_make(int world)
{
    struct p2p_peer *p = calloc(1, sizeof *p);
    if (!p || map_put(&proc->p2p->peers, (uint64_t)world, p) != 0) {
        free(p);
        return NULL;
    }
    p->world = world;
    p->path = proc->p2p->path;
    p->near = boot_same_node(world);
    p->host = p->near ? boot_host_index(world) : -1;
    peer_way(p);
    list_init(&p->pending);
    list_init(&p->busy);
    list_init(&p->early);
    return p;
}

struct p2p_peer *peer_find(int world)
{
    struct p2p *s = proc->p2p;
    struct p2p_peer *p = map_get(&s->peers, (uint64_t)world);
    if (!p)
        p = peer_make(world);
    else if (!p->piece)
        peer_way(p);
    if (p && p->piece)
        s->last = p;
    return p;
}

void peer_drop(struct p2p_peer *p)
{
    while (!list_empty(&p->early))
        free(LIST_OBJ(list_pop(&p->early), struct p2p_early, link));
    while (!list_empty(&p->pending)) {
        struct p2p_op *op = LIST_OBJ(list_pop(&p->pending), struct p2p_op, link);
        if (op->try == control_try)
            control_fail(op, 0);
    }
    if (p->in_unex && (p->in_unex->taker || p->in_unex->dropped)) /* in no bin */
        free(p->in_unex);
    free(p);
}

/* Offer what is pending, in order.  Returns how many went. */
static int peer_try(struct p2p_peer *p)
{
    int sent = 0;
    while (!list_empty(&p->pending)) {
        struct p2p_op *op = LIST_OBJ(p->pending.next, struct p2p_op, link);
        list_del(&op->link); /* first: a completion may free or restart what holds it */
        int rc = op->try(op, p);
        if (rc == AM_AGAIN) {
            list_push_front(&p->pending, &op->link);
            return sent;
        }
        if (rc < 0)
            op->fail(op, rc);
        sent++;
    }
    list_del(&p->busy);
    return sent;
}

int peer_retry(void *arg)
{
    struct p2p *s = arg;
    int sent = 0;
    for (struct list *l = s->busy.next, *next; l != &s->busy; l = next) {
        next = l->next;
        sent += peer_try(LIST_OBJ(l, struct p2p_peer, busy));
    }
    if (list_empty(&s->busy))
        progress_hook_del(&s->hook);
    return sent;
}

void peer_queue(struct p2p_peer *p, struct p2p_op *op)
{
    struct p2p *s = proc->p2p;
    list_push(&p->pending, &op->link);
    if (list_empty(&p->busy))
        list_push(&s->busy, &p->busy);
    progress_hook_add(&s->hook);
}

void peer_control(struct p2p_peer *p, int type, const void *msg, size_t len)
{
    struct iovec v = {(void *)msg, len};
    if (am_request(p->world, type, &v, 1, 0) != AM_AGAIN)
        return;
    struct control *c = malloc(sizeof *c);
    if (!c || len > sizeof c->msg)
        log_fatal("no memory for a control message to process %d", p->world);
    c->op = (struct p2p_op){.try = control_try, .fail = control_fail};
    c->type = type;
    c->len = len;
    memcpy(c->msg, msg, len);
    peer_queue(p, &c->op);
    if (type == P2P_ACK) {
        /* not behind what waits for the other side, which may wait the same way */
        list_del(&c->op.link);
        list_push_front(&p->pending, &c->op.link);
    }
}

void peer_credit(struct p2p_peer *p, size_t bytes)
{
    p->eager_in += bytes;
    if (p->eager_in * 4 < (size_t)cvar.p2p_eager_window && p->seq_in - p->seq_said < P2P_EARLY / 4)
        return;
    struct p2p_ack a = {.bytes = p->eager_in, .seq = p->seq_in};
    p->eager_in = 0;
    p->seq_said = p->seq_in;
    peer_control(p, P2P_ACK, &a, sizeof a);
}

/* --- what its failure does to one request ------------------------------------- */

const char *p2p_until_ack(int from_any)
{
    const char *const volatile *front = site_front_waits();
    if (!from_any || (front && *front)) /* programs of SHMEM have no such call */
        return "";
    return "; MPIX_Comm_failure_ack lets calls for any source go on";
}

int peer_death(const struct p2p_req *q, int world)
{
    return err_make(MPIX_ERR_PROC_FAILED, "%s: process %d of the job has died: %s%s",
                    q->is_send ? "send" : "receive", world, boot_failed_why(world),
                    p2p_until_ack(q->world < 0));
}

/* A receive from any process that the program waits for by a handle: others may yet send, so it
 * goes on when the program has acknowledged the failure. */
static int may_go_on(const struct p2p_req *q)
{
    return q->target == MPI_ANY_SOURCE && q->r.kind == REQUEST_RECV && q->holds &&
           !(q->flags & P2P_WHOLE);
}

int peer_hold(struct p2p_req *q, int world)
{
    if (!may_go_on(q))
        return 0;
    if (!q->r.freed)
        request_suspend(&q->r, err_make(MPIX_ERR_PROC_FAILED_PENDING,
                                        "receive: process %d of the job, which might have sent the "
                                        "message, has died: %s%s",
                                        world, boot_failed_why(world), p2p_until_ack(1)));
    return 1;
}
