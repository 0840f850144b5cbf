/* peer_failed.c - a process has failed, or has gone: all that waits for it ends. Start with
 * peer_reap(). */
#include <errno.h>
#include <stdlib.h>

#include "obj/err.h"
#include "obj/failed.h"
#include "p2p/p2p_types.h"

/* May the message that q waits for come from `world`? Any-source receives fail too: the failed
 * process could have been the only sender left. */
static int waits_for(const struct p2p_req *q, int world)
{
    if (q->world >= 0)
        return q->world == world;
    const struct comm *c = q->r.comm;
    return c && rankmap_find(c->remote ? c->remote : c->map, world) >= 0;
}

static void go_on(void *arg)
{
    struct request *r = arg;
    if (request_is_suspended(r) && comm_unacked(r->comm) < 0)
        request_resume(r);
}

void p2p_see_failed(void)
{
    do /* what is known to have failed is dealt with: am/ first handles what it had sent */
        progress_poll();
    while (am_failed_count() != boot_failed_count());
}

void p2p_ack_failed(struct comm *c, int n)
{
    p2p_see_failed();
    comm_ack_first(c, n);
    obj_sweep(OBJ_REQUEST, go_on);
}

static void fail_one(struct p2p_req *q, int err, void (*done)(struct p2p_req *, int))
{
    if (q->offer)
        q->native ? offer_named(q, 1) : offer_end(q, 0);
    if (q->state == P2P_POSTED)
        match_unpost(q);
    else
        list_del(&q->op.link);
    if (q->native && !q->is_send) /* P13 */
        native_linger(q);
    else
        done(q, err);
}

static void fail_list(struct list *head, int world, void (*done)(struct p2p_req *, int))
{
    for (struct list *l = head->next; l != head;) {
        struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
        l = l->next;
        if (!waits_for(q, world) || (q->state == P2P_POSTED && peer_hold(q, world)))
            continue;
        fail_one(q, peer_death(q, world), done);
    }
}

void p2p_give_up(struct request *r)
{
    struct p2p_req *q = (struct p2p_req *)r;
    if (r->done || q->world < 0 || !am_has_left(q->world))
        return;
    struct p2p_peer *p = peer_get(q->world);
    if (p && p->in_req == q)
        p->in_req = NULL;
    if (p && p->in_unex && p->in_unex->taker == q) { /* more of it may come */
        p->in_unex->taker = NULL;
        p->in_unex->dropped = 1;
    }
    fail_one(q, err_make(MPIX_ERR_PROC_FAILED, "process %d has called MPI_Finalize", q->world),
             q->is_send ? send_done : recv_done);
}

static void peer_died(int world)
{
    struct p2p *s = proc->p2p;
    struct p2p_peer *p = peer_get(world);
    failed_note(world);
    if (p)
        p->dead = 1;
    while (p && !list_empty(&p->pending)) {
        struct p2p_op *op = LIST_OBJ(list_pop(&p->pending), struct p2p_op, link);
        op->fail(op, -ENOTCONN);
    }
    if (p)
        list_del(&p->busy);
    if (p)
        p->in_req = NULL; /* on s->pulls */
    fail_list(&s->open, world, send_done);
    fail_list(&s->pulls, world, recv_done);
    native_died(world);
    if (p && p->in_unex && (p->in_unex->taker || p->in_unex->dropped)) {
        free(p->in_unex);
        p->in_unex = NULL;
    }
    for (int i = 0; i < P2P_BINS; i++)
        fail_list(&s->posted[i], world, recv_done);
}

/* Each process whose message is awaited, talked to or not. */
void peer_name_awaited(void (*ask)(int rank))
{
    const struct p2p *s = proc->p2p;
    for (int i = 0; s && i < P2P_BINS; i++)
        for (const struct list *l = s->posted[i].next; l != &s->posted[i]; l = l->next) {
            const struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
            if (q->world >= 0)
                ask(q->world);
        }
}

void peer_reap(void)
{
    struct p2p *s = proc->p2p;
    if (!s) /* finalized */
        return;
    enum { DYING = 2 };
    for (int r = 0; r < boot_universe(); r++) { /* all first: reports of one failure include all */
        struct p2p_peer *p = am_failed(r) ? peer_get(r) : NULL;
        if (p && !p->dead)
            p->dead = DYING;
    }
    for (int r = 0; r < boot_universe(); r++) {
        const struct p2p_peer *p = am_failed(r) ? map_get(&s->peers, (uint64_t)r) : NULL;
        if (am_failed(r) && (!p || p->dead == DYING))
            peer_died(r);
    }
}
