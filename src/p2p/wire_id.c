/* wire_id.c - wire ids of requests, and packets that name none.
 *
 * What a peer sends back names a request of this process. It is a place in a table and a count of
 * the place's uses, never an address. An old, foreign or forged id finds nothing, and reveals
 * nothing of this process. */
#include <errno.h>
#include <stdlib.h>

#include "base/sched.h"
#include "p2p/p2p_types.h"

struct p2p_wire_id {
    struct p2p_req *q; /* NULL: free */
    uint32_t uses;     /* in the upper half of ids */
    uint32_t next;     /* free ones: the next place + 1 */
};

static int grow(struct p2p *s)
{
    uint32_t n = s->wire_ids ? 2 * s->wire_ids : 16;
    struct p2p_wire_id *c = n > s->wire_ids ? realloc(s->wire_id, n * sizeof *c) : NULL;
    if (!c)
        return 0;
    for (uint32_t i = n; i-- > s->wire_ids;) {
        c[i] = (struct p2p_wire_id){.next = s->wire_id_free};
        s->wire_id_free = i + 1;
    }
    s->wire_id = c;
    s->wire_ids = n;
    return 1;
}

uint64_t wire_id_make(struct p2p_req *q)
{
    struct p2p *s = proc->p2p;
    if (q->wire_id)
        return q->wire_id;
    if (!s->wire_id_free && !grow(s))
        return 0;
    s->lack_id.since = 0;
    uint32_t i = s->wire_id_free - 1;
    struct p2p_wire_id *c = &s->wire_id[i];
    s->wire_id_free = c->next;
    c->q = q;
    c->uses++;
    return q->wire_id = (uint64_t)c->uses << 32 | (i + 1);
}

int p2p_lacks(struct p2p_lack *x, uint64_t of)
{
    const uint64_t longest = 10000000000u, forget = 1000000000u; /* ns */
    uint64_t now = time_now();
    if (!x->since || now > x->last + forget) {
        x->since = now;
        x->of = of;
    }
    if (x->of != of) /* one is timed; when that one has gone, this may be the next */
        return AM_AGAIN;
    x->last = now;
    return now - x->since < longest ? AM_AGAIN : -ENOMEM;
}

int wire_id_lacks(void)
{
    return p2p_lacks(&proc->p2p->lack_id, 0);
}

void wire_id_drop(struct p2p_req *q)
{
    struct p2p *s = proc->p2p;
    uint32_t i = (uint32_t)q->wire_id - 1;
    s->wire_id[i].q = NULL;
    s->wire_id[i].next = s->wire_id_free;
    s->wire_id_free = i + 1;
    q->wire_id = 0;
}

struct p2p_req *wire_id_find(uint64_t wire_id, int world)
{
    const struct p2p *s = proc->p2p;
    uint32_t i = (uint32_t)wire_id - 1;
    struct p2p_req *q = i < s->wire_ids ? s->wire_id[i].q : NULL;
    return q && q->wire_id == wire_id && q->world == world ? q : NULL;
}

/* A malformed packet, or one that was not asked for: nothing of it is used. */
int p2p_malformed(int src, const char *what)
{
    if (boot_failed(src)) /* what it sent may come after the requests concerned have ended here */
        return 0;
    proc->p2p->malformed++;
    am_malformed(src, what);
    return 0;
}
