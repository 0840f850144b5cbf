/* refuse.c - the end of all messages on a communicator that was revoked (doc/design/survive.md).
 *
 * Receives that are posted end here. A send that has left is ended by its receiver, which refuses
 * what no receive has taken: what lies here when it gets to know, and what comes later. So each
 * message either runs to its end or is refused, in whatever order notices and messages come.
 *
 * The handlers that look at each message are put in place when the first communicator is revoked.
 * Before, this costs nothing. Start with p2p_revoke(). */
#include <stdlib.h>

#include "base/log.h"
#include "obj/err.h"
#include "p2p/refuse.h"

static int is_spared(uint32_t ctx, int tag)
{
    return ctx % CTX_STEP == CTX_TOOL && tag < P2P_SPARED;
}

/* --- what has come -------------------------------------------------------------------------- */

/* It is in no bin. */
static void refuse(struct p2p_unex *u)
{
    struct p2p_peer *p = peer_get(u->world);
    struct p2p_fin f = {u->sreq};
    int is_awaited = u->type != P2P_EAGER;
    recv_give_back(u);
    if (p && is_awaited)
        peer_control(p, P2P_REFUSED, &f, sizeof f);
}

static void refuse_all(void)
{
    struct p2p *s = proc->p2p;
    for (int bin = 0; bin < P2P_UNEX_BINS && s->unexpected; bin++)
        for (struct list *l = s->unex[0][bin].next; l != &s->unex[0][bin];) {
            struct p2p_unex *u = LIST_OBJ(l, struct p2p_unex, link[0]);
            l = l->next;
            if (!refuse_is(u->m.ctx, u->m.src) || is_spared(u->m.ctx, u->m.tag))
                continue;
            match_take(u);
            refuse(u);
        }
}

/* One message may let earlier ones of its sender pass, which had come before their turn. */
static int on_matched(int type, int src, const void *msg, size_t len)
{
    const struct p2p_match *m = msg;
    const struct p2p_peer *p = peer_get(src);
    unsigned early = p ? p->nearly : 0;
    int ours = len >= sizeof *m && refuse_is(m->ctx, m->src);
    int rc = p2p_on_match(type, src, msg, len);
    if (!rc && (ours || (p && p->nearly < early)))
        refuse_all();
    return rc;
}

static int on_eager(int src, const void *msg, size_t len)
{
    return on_matched(P2P_EAGER, src, msg, len);
}

static int on_eager_sync(int src, const void *msg, size_t len)
{
    return on_matched(P2P_EAGER_SYNC, src, msg, len);
}

static int on_eager_first(int src, const void *msg, size_t len)
{
    return on_matched(P2P_EAGER_FIRST, src, msg, len);
}

static int on_eager_more(int src, const void *msg, size_t len)
{
    return on_matched(P2P_EAGER_MORE, src, msg, len);
}

static int on_rts(int src, const void *msg, size_t len)
{
    return on_matched(P2P_RTS, src, msg, len);
}

static struct p2p_revoked *revoked(void)
{
    struct p2p_revoked *v = proc->p2p->revoked;
    if (v)
        return v;
    v = proc->p2p->revoked = calloc(1, sizeof *v);
    if (!v) /* others rely on it */
        log_fatal("no memory to revoke a communicator");
    map_init(&v->ids);
    am_handler(P2P_EAGER, on_eager);
    am_handler(P2P_EAGER_SYNC, on_eager_sync);
    am_handler(P2P_EAGER_FIRST, on_eager_first);
    am_handler(P2P_EAGER_MORE, on_eager_more);
    am_handler(P2P_RTS, on_rts);
    return v;
}

/* --- what waits ------------------------------------------------------------------------------ */

/* Of a receive that a sender has claimed the message comes, or settle() cancels it (offer.c). */
static int end_posted(struct p2p_req *q)
{
    if (!refuse_is(q->ctx, q->src) || is_spared(q->ctx, q->tag) || !offer_cancel(q))
        return 0;
    match_unpost(q);
    recv_done(q, comm_revoked_error());
    return 1;
}

/* What the end of one calls may post or end others: begin again. */
static void end_receives(void)
{
    struct p2p *s = proc->p2p;
    for (int i = 0; i < P2P_BINS; i++)
        for (struct list *l = s->posted[i].next; l != &s->posted[i];) {
            struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
            l = end_posted(q) ? s->posted[i].next : l->next;
        }
}

/* Nothing of it has left. Others end when their receiver has taken or refused them. */
static int is_waiting_send(const struct p2p_op *op)
{
    const struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    return send_is(op) && q->state == P2P_QUEUED && q->next == 0 &&
           refuse_id(q->ctx, q->src) == proc->p2p->revoked->send && !is_spared(q->ctx, q->tag);
}

static void end_sends(struct p2p_peer *p)
{
    for (struct list *l = p->pending.next; l != &p->pending;) {
        struct p2p_op *op = LIST_OBJ(l, struct p2p_op, link);
        if (!is_waiting_send(op)) {
            l = l->next;
            continue;
        }
        list_del(&op->link); /* peer_try() finds the queue empty and settles the rest */
        send_done(LIST_OBJ(op, struct p2p_req, op), comm_revoked_error());
        l = p->pending.next;
    }
}

static void end_request(void *request, void *comm)
{
    struct request *r = request;
    if (r->comm != comm)
        return;
    struct p2p_unex *u = probe_empty(r);
    if (u)
        refuse(u);
    part_revoke(r);
}

static void add_id(struct p2p_revoked *v, uint64_t ctx)
{
    if (map_put(&v->ids, ctx + 1, v))
        log_fatal("no memory to revoke a communicator");
}

void p2p_refuse(uint64_t ctx)
{
    add_id(revoked(), ctx);
    end_receives(); /* of operations that go on though it was freed */
    refuse_all();
    progress_signal();
}

void p2p_revoke(struct comm *c)
{
    struct p2p *s = proc->p2p;
    struct p2p_revoked *v = revoked();
    add_id(v, comm_ctx(c));
    v->send = refuse_id(c->ctx_send, c->src);
    end_receives();
    for (struct list *l = s->busy.next; l != &s->busy;) {
        struct p2p_peer *p = LIST_OBJ(l, struct p2p_peer, busy);
        l = l->next;
        end_sends(p);
    }
    obj_each(OBJ_REQUEST, end_request, c);
    refuse_all();
    progress_signal();
}

/* --- the sender ---------------------------------------------------------------------- */

static int on_refused(int src, const void *msg, size_t len)
{
    const struct p2p_fin *m = msg;
    struct p2p_req *q = len == sizeof *m ? send_of(m->sreq, src) : NULL;
    if (!q || q->state != P2P_OPEN || q->got)
        return p2p_malformed(src, "the refusal of a message");
    uint64_t ctx = refuse_id(q->ctx, q->src);
    list_del(&q->op.link);
    send_done(q, comm_revoked_error());
    if (proc->obj->ctx_refused) /* as a notice: later calls must not succeed */
        proc->obj->ctx_refused(ctx);
    return 0;
}

void refuse_handlers(void)
{
    am_handler(P2P_REFUSED, on_refused);
}

void refuse_finalize(struct p2p *s)
{
    if (s->revoked)
        map_destroy(&s->revoked->ids);
    free(s->revoked);
    s->revoked = NULL;
}
