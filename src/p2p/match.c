/* match.c - matching in constant time, wildcards included.
 *
 * A receive is posted under its key (ctx, rank or any, tag or any). A message may match four keys:
 * of the first receives of each, the one posted first takes it. An unexpected message waits under
 * its four keys, so a receive of any kind finds the earliest one at once. */
#include "p2p/p2p_types.h"

static unsigned bin_of(uint32_t ctx, uint32_t src, int tag)
{
    uint64_t x = ((uint64_t)ctx << 32) ^ ((uint64_t)src * 0x85ebca6bu) ^ (uint32_t)tag;
    x *= 0x9e3779b97f4a7c15ull; /* 2^64 / golden ratio: spreads consecutive tags and ranks */
    return (unsigned)(x >> 40) % P2P_BINS;
}

static int kind_of(uint32_t src, int tag)
{
    return (src == p2p_any(src) ? 2 : 0) | (tag == MPI_ANY_TAG ? 1 : 0);
}

void match_init(struct p2p *s)
{
    for (int i = 0; i < P2P_BINS; i++)
        list_init(&s->posted[i]);
    for (int kind = 0; kind < P2P_KEYS; kind++)
        for (int i = 0; i < P2P_UNEX_BINS; i++)
            list_init(&s->unex[kind][i]);
}

void match_post(struct p2p_req *q)
{
    struct p2p *s = proc->p2p;
    q->serial = ++s->serial;
    q->state = P2P_POSTED;
    s->posted_kind[kind_of(q->src, q->tag)]++;
    list_push(&s->posted[bin_of(q->ctx, q->src, q->tag)], &q->op.link);
}

void match_unpost(struct p2p_req *q)
{
    proc->p2p->posted_kind[kind_of(q->src, q->tag)]--;
    list_del(&q->op.link);
    q->state = P2P_IDLE;
}

static struct p2p_req *first_posted(uint32_t ctx, uint32_t src, int tag)
{
    struct list *head = &proc->p2p->posted[bin_of(ctx, src, tag)];
    for (struct list *l = head->next; l != head; l = l->next) {
        struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
        if (q->tag == tag && q->src == src && q->ctx == ctx)
            return q;
    }
    return NULL;
}

struct p2p_req *match_hidden(uint32_t ctx, uint32_t src, int tag)
{
    struct list *head = &proc->p2p->posted[bin_of(ctx, src, tag)];
    for (struct list *l = head->next; l != head; l = l->next) {
        struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
        if (!q->offer && q->tag == tag && q->src == src && q->ctx == ctx)
            return q;
    }
    return NULL;
}

unsigned match_posted(void)
{
    const unsigned *kind = proc->p2p->posted_kind;
    return kind[0] + kind[1] + kind[2] + kind[3];
}

/* The first of the receives with a wildcard, if it was posted before `best` (NULL: any). */
static struct p2p_req *first_wild(const struct p2p_match *m, struct p2p_req *best)
{
    for (int kind = 1; kind < P2P_KEYS; kind++) {
        if (!proc->p2p->posted_kind[kind])
            continue;
        struct p2p_req *q =
            first_posted(m->ctx, kind & 2 ? p2p_any(m->src) : m->src,
                         kind & 1 ? MPI_ANY_TAG : m->tag);
        if (q && (!best || q->serial < best->serial))
            best = q;
    }
    return best;
}

struct p2p_req *match_arrival(const struct p2p_match *m)
{
    const struct p2p *s = proc->p2p;
    struct p2p_req *best = s->posted_kind[0] ? first_posted(m->ctx, m->src, m->tag) : NULL;
    if (s->posted_kind[1] | s->posted_kind[2] | s->posted_kind[3])
        best = first_wild(m, best);
    if (best)
        match_unpost(best);
    return best;
}

static struct list *unex_bin(uint32_t ctx, uint32_t src, int tag, int kind)
{
    unsigned bin = bin_of(ctx, kind & 2 ? p2p_any(src) : src, kind & 1 ? MPI_ANY_TAG : tag);
    return &proc->p2p->unex[kind][bin % P2P_UNEX_BINS];
}

void match_keep(struct p2p_unex *u)
{
    for (int kind = 0; kind < P2P_KEYS; kind++)
        list_push(unex_bin(u->m.ctx, u->m.src, u->m.tag, kind), &u->link[kind]);
    proc->p2p->unexpected++;
    u->serial = ++proc->p2p->arrivals;
}

static struct p2p_unex *find_kind(uint32_t ctx, uint32_t src, int tag, int kind)
{
    uint32_t wanted = kind & 2 ? ~proc->p2p->ranks : UINT32_MAX; /* bits of the sender's word */
    struct list *head = &proc->p2p->unex[kind][bin_of(ctx, src, tag) % P2P_UNEX_BINS];
    for (struct list *l = head->next; l != head; l = l->next) {
        struct p2p_unex *u = (struct p2p_unex *)((char *)(l - kind) -
                                                 offsetof(struct p2p_unex, link));
        if (u->m.ctx == ctx && (kind & 1 || u->m.tag == tag) && !((u->m.src ^ src) & wanted))
            return u;
    }
    return NULL;
}

void p2p_never_received(void (*fn)(uint32_t ctx, int source, int tag, void *arg), void *arg)
{
    for (int bin = 0; bin < P2P_UNEX_BINS; bin++) {
        struct list *head = &proc->p2p->unex[0][bin];
        for (struct list *l = head->next; l != head; l = l->next) {
            const struct p2p_unex *u = LIST_OBJ(l, struct p2p_unex, link[0]);
            if (u->m.ctx % CTX_STEP == CTX_P2P)
                fn(u->m.ctx, p2p_rank(u->m.src), u->m.tag, arg);
        }
    }
}

struct p2p_unex *match_find(uint32_t ctx, uint32_t src, int tag)
{
    if (!proc->p2p->unexpected)
        return NULL;
    return find_kind(ctx, src, tag, kind_of(src, tag));
}

void match_take(struct p2p_unex *u)
{
    for (int kind = 0; kind < P2P_KEYS; kind++)
        list_del(&u->link[kind]);
    proc->p2p->unexpected--;
}
