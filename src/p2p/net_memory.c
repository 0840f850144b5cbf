/* net_memory.c - memory that the network of a peer reads or writes: registration of a buffer, its
 * key for the other side, and what this side makes of such a key. Start with native_offer() and
 * native_import(). */
#include <stdlib.h>
#include <string.h>

#include "p2p/net_memory.h"
#include "var/var.h"

enum { NAME = 8 }; /* bytes of the transport's name, which precedes its key */

/* Bytes from which it pays; SIZE_MAX: never. */
static size_t least(const struct tp_caps *caps)
{
    return cvar.p2p_native_min < 0 ? caps->pull_min : (size_t)cvar.p2p_native_min;
}

/* The network by which p can be reached, if a get (TP_GET) or put (TP_PUT) of that length is to be
 * used there. Both ends check: a process that would not use it publishes no memory, and ignores a
 * key that it receives. Whether puts pay, which need a registration of each receive, has not been
 * measured on any network: only where the user asks for them. That is looked at first, since each
 * long receive comes by here. */
static struct tp *network(const struct p2p_peer *p, unsigned how, size_t len,
                          const struct tp_ops **ops, struct tp_caps *caps)
{
    if (p->near || !cvar.rma_native || (how == TP_PUT && cvar.p2p_prepost != 2))
        return NULL;
    struct tp *tp = am_tp_to(p->world, ops, caps);
    if (!tp || !(caps->flags & how))
        return NULL;
    size_t min = least(caps);
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

void native_record_free(struct p2p_native *x)
{
    if (x->mem)
        x->ops->dereg(x->tp, x->mem);
    if (x->far)
        x->ops->drop(x->tp, x->far);
    list_del(&x->link);
    free(x);
}

static size_t publish(struct p2p_req *q, const struct p2p_peer *p, enum tp_access access, void *key,
                      size_t room)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    unsigned how = access == TP_MAY_READ ? TP_GET : TP_PUT;
    struct tp *tp =
        q->block && q->size && room > NAME ? network(p, how, q->size, &ops, &caps) : NULL;
    if (!tp)
        return 0;
    if (!q->native) { /* else an RTS found no room before */
        struct p2p_native *x = record_make(q, tp, ops);
        if (!x || ops->reg(tp, q->start, q->size, 0, access, &x->mem)) {
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

size_t native_offer(struct p2p_req *q, const struct p2p_peer *p, void *key, size_t room)
{
    return publish(q, p, TP_MAY_READ, key, room);
}

size_t native_expose(struct p2p_req *q, const struct p2p_peer *p, void *key, size_t room)
{
    return publish(q, p, TP_MAY_WRITE, key, room);
}

int native_puts(const struct p2p_peer *p, size_t len)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    return network(p, TP_PUT, len, &ops, &caps) != NULL;
}

void native_withdraw(struct p2p_req *q)
{
    native_record_free(q->native);
    q->native = NULL;
}

struct p2p_native *native_import(struct p2p_req *q, const struct p2p_peer *p, unsigned how,
                                 size_t len, const void *key, size_t nkey)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    char name[NAME];
    struct tp *tp = nkey > NAME && q->block ? network(p, how, len, &ops, &caps) : NULL;
    if (!tp)
        return NULL;
    name_of(ops, name);
    struct p2p_native *x = memcmp(name, key, NAME) ? NULL : record_make(q, tp, ops);
    if (!x)
        return NULL;
    if (ops->import(tp, (unsigned)p->world, (const char *)key + NAME, nkey - NAME, &x->far) ||
        (caps.flags & TP_REG_LOCAL && ops->reg(tp, q->start, q->want, 0, 0, &x->mem))) {
        native_record_free(x);
        return NULL;
    }
    x->most = caps.rma_max;
    x->flags = caps.flags;
    return x;
}
