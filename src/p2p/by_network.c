/* by_network.c - the data of a rendezvous by the network's own get. Start with native_offer() and
 * native_read().
 *
 *   S: registers its buffer --RTS(name of the transport, its key)--> R: matches, imports the key
 *                                              memory of S --> R: get, get ... of the transport
 *   S: deregisters          <------------FIN------------------------ R: all answered
 *
 * The data are one block at both ends, because each piece of a layout would need a key. A key
 * serves one message: there is no cache to search, or to clean when the user frees memory. Networks
 * with cheap registration lose nothing; one that pins pages would want a cache. What fails while S
 * lives is pulled, from the beginning. So a failure here is never a failure of the message.
 *
 * P13: what the network has may still be written, so a receive ends when all its pieces have been
 * answered. A network answers those of a failed process with an error as soon as it detects that. A
 * process that does not answer then (its host is unreachable) is waited for one second, as in
 * rma/engine/by_network.c. The record stays for the late answer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sched.h"
#include "p2p/p2p_types.h"
#include "var/var.h"

enum { NAME = 8 }; /* bytes of the transport's name, which precedes its key */

struct p2p_native { /* what the network knows of one request */
    struct tp_done d; /* shared by all pieces: each answer counts down */
    struct list link; /* receive: on p2p->reads */
    struct p2p_req *q; /* NULL: it was given up */
    struct tp *tp;
    const struct tp_ops *ops;
    struct tp_mem *mem; /* the user's buffer; NULL: needs no registration */
    struct tp_far *far; /* receive: the sender's */
    size_t most;        /* bytes of one get */
    unsigned out;       /* gets under way */
    int err;            /* -errno of the first that failed: no more is asked for */
    uint64_t over;      /* ns: when a failed process's data are given up; 0: it lives */
};

/* The network by which p can be reached, if a get of that length is faster there. Both ends check:
 * a process that would not get publishes no memory, and ignores a key that it receives. */
static struct tp *network(const struct p2p_peer *p, size_t len, const struct tp_ops **ops,
                          struct tp_caps *caps)
{
    struct tp *tp = p->near || !cvar.rma_native ? NULL : am_tp_to(p->world, ops, caps);
    if (!tp || !(caps->flags & TP_GET))
        return NULL;
    size_t min = cvar.p2p_native_min < 0 ? caps->pull_min : (size_t)cvar.p2p_native_min;
    return min != SIZE_MAX && len >= min ? tp : NULL;
}

static void name_of(const struct tp_ops *ops, char name[NAME])
{
    memset(name, 0, NAME);
    memcpy(name, ops->name, strnlen(ops->name, NAME));
}

static struct p2p_native *record_make(struct p2p_req *q, struct tp *tp, const struct tp_ops *ops)
{
    struct p2p_native *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    x->q = q;
    x->tp = tp;
    x->ops = ops;
    list_init(&x->link);
    return x;
}

static void record_free(struct p2p_native *x)
{
    if (x->mem)
        x->ops->dereg(x->tp, x->mem);
    if (x->far)
        x->ops->drop(x->tp, x->far);
    list_del(&x->link);
    free(x);
}

/* --- the sender -------------------------------------------------------------------- */

size_t native_offer(struct p2p_req *q, const struct p2p_peer *p, void *key, size_t room)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    struct tp *tp = q->block && q->size && room > NAME ? network(p, q->size, &ops, &caps) : NULL;
    if (!tp)
        return 0;
    if (!q->native) { /* else an RTS found no room before */
        struct p2p_native *x = record_make(q, tp, ops);
        if (!x || ops->reg(tp, q->start, q->size, 0, TP_MAY_READ, &x->mem)) {
            free(x);
            return 0;
        }
        q->native = x;
    }
    size_t n = room - NAME;
    if (ops->pack(tp, q->native->mem, (char *)key + NAME, &n)) {
        native_withdraw(q);
        return 0;
    }
    name_of(ops, key);
    return NAME + n;
}

void native_withdraw(struct p2p_req *q)
{
    record_free(q->native);
    q->native = NULL;
}

/* --- the receiver ------------------------------------------------------------------ */

/* Nothing is under way any more: q ends, or its data are moved in another way. */
static void finish(struct p2p_req *q)
{
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

/* Request what is not requested yet; q may be freed afterwards. */
static int read_try(struct p2p_op *op, struct p2p_peer *p)
{
    struct p2p_req *q = LIST_OBJ(op, struct p2p_req, op);
    struct p2p_native *x = q->native;
    (void)p;
    while (q->next < q->want && !x->err) {
        size_t n = q->want - q->next < x->most ? q->want - q->next : x->most;
        int rc = x->ops->get(x->tp, x->far, q->next, q->start + q->next, n, x->mem, &x->d);
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
        record_free(x);
}

int native_read(struct p2p_req *q, struct p2p_peer *p, const struct p2p_rts *h, const void *key)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    char name[NAME];
    struct tp *tp = h->key > NAME && q->block ? network(p, h->size, &ops, &caps) : NULL;
    if (!tp)
        return 0;
    name_of(ops, name);
    struct p2p_native *x = memcmp(name, key, NAME) ? NULL : record_make(q, tp, ops);
    if (!x)
        return 0;
    if (ops->import(tp, (unsigned)p->world, (const char *)key + NAME, h->key - NAME, &x->far) ||
        (caps.flags & TP_REG_LOCAL && ops->reg(tp, q->start, q->want, 0, 0, &x->mem))) {
        record_free(x);
        return 0;
    }
    x->d.fn = piece_done;
    x->most = caps.rma_max;
    list_push(&proc->p2p->reads, &x->link);
    q->native = x;
    q->state = P2P_READING;
    q->op.try = read_try;
    q->op.fail = read_fail;
    list_init(&q->op.link);
    read_more(q);
    return 1;
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
        recv_done(q, peer_death(q, q->world));
        ended++;
    }
    if (!left)
        progress_hook_del(&s->fail_hook);
    return ended;
}

void native_died(int world)
{
    struct p2p *s = proc->p2p;
    for (struct list *l = s->reads.next; l != &s->reads; l = l->next) {
        struct p2p_native *x = LIST_OBJ(l, struct p2p_native, link);
        if (x->q->world != world)
            continue;
        x->err = -ENOTCONN;
        x->over = time_now() + TP_FAILED_NS;
        progress_hook_add(&s->fail_hook);
    }
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
    for (struct list *l; (l = list_pop(&s->reads)) != NULL;)
        LIST_OBJ(l, struct p2p_native, link)->q = NULL;
}
