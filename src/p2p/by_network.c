/* by_network.c - the data of a rendezvous by the network's own get, and those of an offered receive
 * by its put. Start with native_read() and native_put(); the keys are made by net_memory.c.
 *
 *   S: registers its buffer --RTS(name of the transport, its key)--> R: matches, imports the key
 *                                              memory of S --> R: get, get ... of the transport
 *   S: deregisters          <------------FIN------------------------ R: all answered
 *
 *   R: registers its buffer --PREPOST(name, key)--> S: imports the key, RTS(WRITING)
 *   S: put, put ... of the transport --> memory of R
 *   S: all answered, flush; WRITTEN --------------------------------> R: deregisters
 *
 * The data are one block at both ends, because each piece of a layout would need a key. A key
 * serves one message: there is no cache to search, or to clean when the user frees memory. Networks
 * with cheap registration lose nothing; one that pins pages would want a cache. What fails while S
 * lives is pulled, from the beginning. So a failure here is never a failure of the message.
 *
 * P13: what the network has may still be written, so a receive ends when all its pieces have been
 * answered. A network answers those of a failed process with an error as soon as it detects that. A
 * process that does not answer then (its host is unreachable) is waited for one second, as in
 * rma/engine/by_network.c. The record stays for the late answer. The same holds for a receive that
 * was offered to a process that failed: what that one had put may still come, so the receive ends a
 * second later. */
#include <errno.h>

#include "base/sched.h"
#include "obj/err.h"
#include "p2p/net_memory.h"
#include "var/var.h"

/* --- moving the data --------------------------------------------------------------- */

/* Nothing is under way any more: q, a send, ends, or its data are pulled. */
static void finish_put(struct p2p_req *q)
{
    struct p2p_peer *p = peer_get(q->world);
    struct p2p_native *x = q->native;
    struct p2p_written m = {x->rreq, q->wire_id, x->err != 0};
    int err = x->err;
    native_withdraw(q);
    if (p->dead) {
        send_done(q, peer_death(q, q->world));
        return;
    }
    q->next = q->got = 0;
    if (err) { /* before WRITTEN: it is pulled, or peer_reap() ends it */
        q->state = P2P_OPEN;
        list_push(&proc->p2p->open, &q->op.link);
    }
    peer_control(p, P2P_WRITTEN, &m, sizeof m);
    if (err)
        return;
    pvar_set_add(pvar_proc(), PVAR_P2P_PUT, 1);
    pvar_set_add(pvar_proc(), PVAR_P2P_BYTES_WRITTEN, q->size);
    send_done(q, MPI_SUCCESS);
}

/* ... or a receive. */
static void finish(struct p2p_req *q)
{
    if (q->is_send) {
        finish_put(q);
        return;
    }
    struct p2p_peer *p = peer_get(q->world);
    int err = q->native->err;
    native_withdraw(q);
    if (!err) {
        struct p2p_fin f = {q->remote};
        peer_control(p, P2P_FIN, &f, sizeof f);
        recv_done(q, MPI_SUCCESS);
    } else if (p->dead) {
        recv_done(q, peer_death(q, q->world));
    } else {
        q->next = q->got = 0;
        p->path->more(q);
    }
}

static int piece(const struct p2p_req *q, struct p2p_native *x, size_t n)
{
    if (q->is_send)
        return x->ops->put(x->tp, x->far, q->next, q->start + q->next, n, x->mem, &x->d);
    return x->ops->get(x->tp, x->far, q->next, q->start + q->next, n, x->mem, &x->d);
}

/* All puts have been asked for, or one has failed. WRITTEN leaves when none can come behind it: R
 * gives its buffer back then, also to pull the data. So all are to be answered first, which reports
 * whether they failed. Then the transport delivers WRITTEN behind them, or a flush confirms them.
 * Returns what the flush returned. */
static int confirm(const struct p2p_req *q, const struct p2p_peer *p)
{
    struct p2p_native *x = q->native;
    if (x->out || x->flushed || p->dead)
        return 0;
    sched_point();
    int rc = x->flags & TP_PUT_THEN_AM ? 0 : x->ops->flush(x->tp, (unsigned)p->world, &x->d);
    x->flushed = rc != TP_AGAIN;
    return rc;
}

/* Request what is not requested yet; q may be freed afterwards. */
static int read_try(struct p2p_op *op, struct p2p_peer *p)
{
    struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    struct p2p_native *x = q->native;
    while (q->next < q->want && !x->err) {
        size_t n = q->want - q->next < x->most ? q->want - q->next : x->most;
        int rc = piece(q, x, n);
        if (rc == TP_AGAIN && !x->out)
            return AM_AGAIN; /* nothing signals when there is room */
        if (rc == TP_AGAIN)
            return 0;
        if (rc < 0)
            x->err = rc;
        else
            q->next += n;
        x->out += rc == TP_PENDING;
    }
    if (q->is_send) {
        int rc = confirm(q, p);
        if (rc == TP_AGAIN)
            return AM_AGAIN;
        if (rc < 0 && !x->err)
            x->err = rc;
        x->out += rc == TP_PENDING;
    }
    if (!x->out)
        finish(q);
    return 0;
}

static void read_more(struct p2p_req *q)
{
    struct p2p_peer *p = peer_get(q->world);
    if (read_try(&q->op, p) == AM_AGAIN)
        peer_queue(p, &q->op);
}

/* It waited for room: nothing of it is under way. */
static void read_fail(struct p2p_op *op, int neg_errno)
{
    struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    q->native->err = neg_errno;
    finish(q);
}

static void piece_done(struct tp_done *d, int err)
{
    struct p2p_native *x = LIST_OBJ(d, struct p2p_native, d);
    x->out--;
    if (err && !x->err)
        x->err = err;
    if (x->q)
        read_more(x->q);
    else if (!x->out)
        native_record_free(x);
}

static void begin(struct p2p_req *q, struct p2p_native *x, enum p2p_state state)
{
    x->d.fn = piece_done;
    list_push(&proc->p2p->reads, &x->link);
    q->native = x;
    q->state = state;
    q->op.try = read_try;
    q->op.fail = read_fail;
    list_init(&q->op.link);
    read_more(q);
}

int native_read(struct p2p_req *q, struct p2p_peer *p, const struct p2p_rts *h, const void *key)
{
    struct p2p_native *x = h->key ? native_import(q, p, TP_GET, h->size, key, h->key) : NULL;
    if (!x)
        return 0;
    begin(q, x, P2P_READING);
    return 1;
}

int native_put_ready(struct p2p_req *q, const struct p2p_peer *p, const struct p2p_want *w)
{
    q->want = q->size;
    struct p2p_native *x = w->key ? native_import(q, p, TP_PUT, q->size, w->key, w->nkey) : NULL;
    if (!x)
        return 0;
    if (q->native) /* it was to be announced, and found no room */
        native_withdraw(q);
    q->native = x;
    return 1;
}

void native_put(struct p2p_req *q, uint64_t rreq)
{
    q->native->rreq = rreq;
    sched_point();
    begin(q, q->native, P2P_PUTTING);
}

/* --- death -------------------------------------------------------------------------- */

/* Hook, while there are data of failed processes. */
static int fail_peer(void *arg)
{
    struct p2p *s = arg;
    uint64_t now = time_now();
    int left = 0, ended = 0;
    for (struct list *l = s->reads.next, *next; l != &s->reads; l = next) {
        struct p2p_native *x = LIST_OBJ(l, struct p2p_native, link);
        next = l->next;
        left += x->over > now;
        if (!x->over || x->over > now)
            continue;
        struct p2p_req *q = x->q;
        list_del(&x->link);
        x->q = NULL;
        q->native = NULL;
        if (!x->out) /* a receive that was offered */
            native_record_free(x);
        (q->is_send ? send_done : recv_done)(q, peer_death(q, q->world));
        ended++;
    }
    if (!left)
        progress_hook_del(&s->fail_hook);
    return ended;
}

static void give_up(struct p2p_native *x)
{
    x->err = -ENOTCONN;
    x->over = time_now() + TP_FAILED_NS;
    progress_hook_add(&proc->p2p->fail_hook);
}

void native_died(int world)
{
    struct p2p *s = proc->p2p;
    for (struct list *l = s->reads.next; l != &s->reads; l = l->next) {
        struct p2p_native *x = LIST_OBJ(l, struct p2p_native, link);
        if (x->q->world == world)
            give_up(x);
    }
}

void native_linger(struct p2p_req *q)
{
    q->state = P2P_READING;
    list_init(&q->op.link);
    list_push(&proc->p2p->reads, &q->native->link);
    give_up(q->native);
}

int native_left_behind(void)
{
    struct p2p *s = proc->p2p;
    for (struct list *l = s->reads.next; l != &s->reads; l = l->next) {
        const struct p2p_req *q = LIST_OBJ(l, struct p2p_native, link)->q;
        if (q->is_send && (q->r.freed || q->copy))
            return 1;
    }
    return 0;
}

void native_init(struct p2p *s)
{
    list_init(&s->reads);
    s->fail_hook.fn = fail_peer;
    s->fail_hook.arg = s;
}

void native_finalize(struct p2p *s)
{
    progress_hook_del(&s->fail_hook);
    for (struct list *l; (l = list_pop(&s->reads)) != NULL;) {
        struct p2p_native *x = LIST_OBJ(l, struct p2p_native, link);
        x->q = NULL;
        if (!x->out) /* nothing is to come: of an offered receive, or it waited for room */
            native_record_free(x);
    }
}
