/* spares.h - requests that are used again; private to p2p/. */
#ifndef P2P_SPARES_H
#define P2P_SPARES_H

#include "p2p/p2p_types.h"

/* spares.c: there is no free one. */
struct p2p_req *req_more(struct p2p *s, int flags, int leave) __attribute__((cold));

/* flags: enum p2p_flags, the stream. leave: spare ones that it does not take. */
static inline struct p2p_req *req_alloc(int flags, int leave)
{
    struct p2p *s = proc->p2p;
    struct p2p_req *q = s->free;
    if (!q)
        return req_more(s, flags, leave);
    s->free = q->next_free;
    return q;
}

static inline void req_recycle(struct p2p_req *q)
{
    if (q->holds)
        dt_drop(q->type);
    if (q->twin)
        q->twin->twin = NULL;
    q->next_free = proc->p2p->free;
    proc->p2p->free = q;
}

#endif
