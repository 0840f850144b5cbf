/* Wire ids of requests.
 *
 * What a peer sends back names a request of this process. It is a place in a table and a count of
 * the place's uses, never an address. An old, foreign or forged id finds nothing, and reveals
 * nothing of this process. */
#include <stdlib.h>

#include "p2p/p2p_types.h"

struct p2p_cookie {
    struct p2p_req *q; /* NULL: free */
    uint32_t uses;     /* in the upper half of ids */
    uint32_t next;     /* free ones: the next place + 1 */
};

static int grow(struct p2p *s)
{
    uint32_t n = s->cookies ? 2 * s->cookies : 16;
    struct p2p_cookie *c = n > s->cookies ? realloc(s->cookie, n * sizeof *c) : NULL;
    if (!c)
        return 0;
    for (uint32_t i = n; i-- > s->cookies;) {
        c[i] = (struct p2p_cookie){.next = s->cookie_free};
        s->cookie_free = i + 1;
    }
    s->cookie = c;
    s->cookies = n;
    return 1;
}

uint64_t cookie_make(struct p2p_req *q)
{
    struct p2p *s = proc->p2p;
    if (q->cookie)
        return q->cookie;
    if (!s->cookie_free && !grow(s))
        return 0;
    uint32_t i = s->cookie_free - 1;
    struct p2p_cookie *c = &s->cookie[i];
    s->cookie_free = c->next;
    c->q = q;
    c->uses++;
    return q->cookie = (uint64_t)c->uses << 32 | (i + 1);
}

void cookie_drop(struct p2p_req *q)
{
    struct p2p *s = proc->p2p;
    uint32_t i = (uint32_t)q->cookie - 1;
    s->cookie[i].q = NULL;
    s->cookie[i].next = s->cookie_free;
    s->cookie_free = i + 1;
    q->cookie = 0;
}

struct p2p_req *cookie_find(uint64_t cookie, int world)
{
    const struct p2p *s = proc->p2p;
    uint32_t i = (uint32_t)cookie - 1;
    struct p2p_req *q = i < s->cookies ? s->cookie[i].q : NULL;
    return q && q->cookie == cookie && q->world == world ? q : NULL;
}
