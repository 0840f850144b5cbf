/* offer.c - the receiver's side of offered receives (offer.h): which are offered, and how they end.
 * Start with offer_posted() and offer_end(). */
#include <stdlib.h>
#include <string.h>

#include "base/sched.h"
#include "obj/err.h"
#include "p2p/net_memory.h"
#include "p2p/p2p_types.h"
#include "var/var.h"

static int on_void(int src, const void *msg, size_t len);
static int on_written(int src, const void *msg, size_t len);

static void count(enum pvar_id id)
{
    pvar_set_add(pvar_proc(), id, 1);
}

void offer_init(struct p2p *s)
{
    s->offer_most = P2P_OFFERS;
    s->offer_min = cvar.p2p_prepost ? (size_t)cvar.p2p_prepost_min : SIZE_MAX;
}

void offer_finalize(struct p2p *s)
{
    for (unsigned slot = 0; s->offers && slot < P2P_OFFERS; slot++)
        if (s->offers->used >> slot & 1 && s->offers->q[slot]->native)
            native_withdraw(s->offers->q[slot]);
    if (s->offers)
        mem_segment_drop(s->offers->seg);
    free(s->offers);
    s->offers = NULL;
}

void offer_handlers(void)
{
    am_handler(P2P_VOID, on_void);
    am_handler(P2P_WRITTEN, on_written);
}

/* --- words ------------------------------------------------------------------------- */

/* The words of this process; NULL: no memory. */
static struct p2p_offers *offers(void)
{
    struct p2p *s = proc->p2p;
    if (s->offers)
        return s->offers;
    struct p2p_offers *o = calloc(1, sizeof *o);
    if (!o || mem_segment_create(P2P_OFFERS * sizeof(struct p2p_word), MEM_ONCE, &o->seg)) {
        free(o);
        return NULL;
    }
    o->word = o->seg->base;
    return s->offers = o;
}

static uint64_t open_word(const struct p2p_offers *o, unsigned slot)
{
    return word_make(o->version[slot], WORD_OPEN, 0);
}

/* Give the place of q back.  Its word stays what it is until the next use. */
static void release(struct p2p_offers *o, struct p2p_req *q)
{
    o->used &= ~(1ull << (q->offer - 1));
    q->offer = 0;
}

/* ... and hide it: the network writes into its buffer no more. */
static void hide(struct p2p_offers *o, struct p2p_req *q)
{
    if (q->native)
        native_withdraw(q);
    release(o, q);
}

/* open -> this process's.  0: the sender has claimed it.  Acquire: pairs with the release by which
 * a sender gives a word back (want.c).  Release: pairs with the acquire of a claim; what this
 * process did with the buffer before is done. */
static int take_word(struct p2p_offers *o, unsigned slot)
{
    uint64_t w = open_word(o, slot);
    int won = atomic_compare_exchange_strong_explicit(
        &o->word[slot].w, &w, word_make(o->version[slot], WORD_TAKEN, 0), memory_order_acq_rel,
        memory_order_acquire);
    sched_point();
    return won;
}

/* --- offering ----------------------------------------------------------------------- */

/* The sender, if q may be offered at all: one block for a process of this node, or for one that
 * would put so much. The order of messages is kept, and the request outlives its call and is not to
 * be cancelled. */
static struct p2p_peer *offerable(const struct p2p_req *q)
{
    int stream = q->flags & P2P_STREAM;
    if (stream == P2P_COLL || stream == P2P_TOOL)
        return NULL;
    if (q->size < proc->p2p->offer_min || !q->holds || !q->block || q->cancelled)
        return NULL;
    if (q->world < 0 || q->target < 0 || q->world == proc->p2p->me)
        return NULL;
    struct p2p_peer *p = peer_get(q->world);
    if (!p || !p->ordered || p->dead)
        return NULL;
    return (p->near ? p->cma != P2P_CMA_REFUSED : native_puts(p, q->size)) ? p : NULL;
}

/* Was a receive of this key that no sender knows of posted before q? */
static int hides(const struct p2p_req *q, uint32_t src, int tag)
{
    const struct p2p_req *h = match_hidden(q->ctx, src, tag);
    return h && h->serial < q->serial;
}

/* O1.  With any tag all others must be offered: which tags overlap cannot be looked up. */
static int clear(const struct p2p_req *q)
{
    uint32_t any = p2p_any(q->src);
    if (q->tag == MPI_ANY_TAG)
        return match_posted() == (unsigned)__builtin_popcountll(proc->p2p->offers->used) + 1;
    return !hides(q, q->src, q->tag) && !hides(q, q->src, MPI_ANY_TAG) &&
           !hides(q, any, q->tag) && !hides(q, any, MPI_ANY_TAG);
}

static int send_offer(struct p2p_req *q, const struct p2p_peer *p, unsigned slot)
{
    struct p2p_offers *o = proc->p2p->offers;
    char key[P2P_PREPOST_KEY];
    size_t most = am_max(p->world), head = sizeof(struct p2p_prepost);
    size_t room = most > head ? most - head : 0;
    struct p2p_prepost m = {.rreq = wire_id_make(q), .addr = (uintptr_t)q->start, .size = q->size,
                            .ctx = q->ctx, .src = q->src, .tag = q->tag,
                            .seen = p->offered.taken, .gen = p->offered.gen, .slot = slot,
                            .version = o->version[slot]};
    if (p->near)
        mem_segment_key(o->seg, &m.words);
    else
        m.key = (uint32_t)native_expose(q, p, key, room < sizeof key ? room : sizeof key);
    struct iovec v[2] = {{&m, sizeof m}, {key, m.key}};
    int sent = m.rreq && (p->near || m.key) &&
               am_request(p->world, P2P_PREPOST, v, m.key ? 2 : 1, 0) == 0;
    if (!sent && q->native)
        native_withdraw(q);
    return sent;
}

/* 1: q is offered. */
static int offer(struct p2p_req *q, struct p2p_peer *p)
{
    struct p2p_offers *o = offers();
    unsigned open = o ? (unsigned)__builtin_popcountll(o->used) : P2P_OFFERS;
    if (open >= proc->p2p->offer_most || !clear(q))
        return 0;
    unsigned slot = (unsigned)__builtin_ctzll(~o->used);
    o->version[slot] = o->version[slot] % WORD_VERSIONS + 1;
    /* relaxed: the message that names the version is behind it */
    atomic_store_explicit(&o->word[slot].w, open_word(o, slot), memory_order_relaxed);
    if (!send_offer(q, p, slot))
        return 0;
    o->used |= 1ull << slot;
    o->q[slot] = q;
    q->offer = slot + 1;
    count(PVAR_P2P_OFFERS);
    return 1;
}

/* Ask p to drop what it knows, and to name the message from which on it keeps a log. */
static void send_forget(struct p2p_peer *p)
{
    struct p2p_forget m = {{0}};
    p->offered.state = OFFER_ASKED;
    p->direct = 0;
    peer_control(p, P2P_FORGET, &m, sizeof m);
}

void offer_posted(struct p2p_req *q)
{
    struct p2p_peer *p = offerable(q);
    if (!p || p->offered.state == OFFER_NEVER)
        return;
    if (p->offered.state == OFFER_NEW)
        send_forget(p);
    if (p->offered.state == OFFER_OPEN && p->offered.rest) {
        p->offered.rest--;
        return;
    }
    /* Two at a time: so a window of receives in which one was hidden recovers. */
    for (int i = 0; i < 2 && p->offered.state == OFFER_OPEN; i++) {
        struct p2p_req *h = match_hidden(q->ctx, q->src, q->tag);
        if (!h || offerable(h) != p || !offer(h, p))
            break;
    }
    if (!q->offer)
        count(PVAR_P2P_OFFERS_HIDDEN);
}

/* --- the end of an offer -------------------------------------------------------------- */

static void missed(struct p2p_offered *f)
{
    count(PVAR_P2P_OFFERS_MISSED);
    if (++f->misses < (unsigned)cvar.p2p_prepost_misses || cvar.p2p_prepost == 2)
        return;
    f->span = f->span < P2P_OFFER_REST ? f->span ? 2 * f->span : 2 : P2P_OFFER_REST;
    f->rest = f->span;
}

static void hit(struct p2p_offered *f)
{
    count(PVAR_P2P_OFFERS_HIT);
    f->misses = f->rest = f->span = 0;
}

void offer_again(int world)
{
    struct p2p_peer *p = peer_get(world);
    if (p)
        p->offered.misses = p->offered.rest = p->offered.span = 0;
}

enum offer_fate offer_end(struct p2p_req *q, uint32_t seq)
{
    struct p2p_offers *o = proc->p2p->offers;
    unsigned slot = q->offer - 1;
    struct p2p_offered *f = &peer_get(q->world)->offered;
    hide(o, q);
    if (take_word(o, slot)) {
        missed(f);
        return OFFER_TAKEN;
    }
    hit(f);
    /* acquire: the data that the sender wrote before its message; the message's cell has it, too */
    return atomic_load_explicit(&o->word[slot].w, memory_order_acquire) ==
                   word_make(o->version[slot], WORD_CLAIMED, seq)
               ? OFFER_CLAIMED
               : OFFER_BROKEN;
}

enum offer_fate offer_named(struct p2p_req *q, int far)
{
    if ((q->native != NULL) != far) {
        offer_end(q, 0);
        return OFFER_BROKEN;
    }
    struct p2p_offered *f = &peer_get(q->world)->offered;
    release(proc->p2p->offers, q);
    hit(f);
    return OFFER_CLAIMED;
}

/* Hide all open offers to p. */
static void take_back(const struct p2p_peer *p)
{
    struct p2p_offers *o = proc->p2p->offers;
    for (unsigned slot = 0; o && slot < P2P_OFFERS; slot++)
        if (o->used >> slot & 1 && o->q[slot]->world == p->world && take_word(o, slot))
            hide(o, o->q[slot]);
}

/* Are messages of p under way into offered receives?  Of another node's, what is offered may be
 * claimed until VOID comes. */
static int any_claimed(const struct p2p_peer *p)
{
    const struct p2p_offers *o = proc->p2p->offers;
    for (unsigned slot = 0; slot < P2P_OFFERS; slot++)
        if (o->used >> slot & 1 && o->q[slot]->world == p->world &&
            (!p->near || atomic_load_explicit(&o->word[slot].w, memory_order_relaxed) !=
                             open_word(o, slot)))
            return 1;
    sched_point(); /* a sender may claim one now */
    return 0;
}

/* All open offers to the peer are taken back: if only q, or what overlaps it, were, a third would
 * stay offered behind a hidden one, against O1.  While a claim is under way its message may be one
 * that comes behind another, which q takes: then q was offered, too, and has a pair.
 * From another node the sender decides, by VOID; a hidden receive has no pair there, since what
 * left before the last VOID has come. */
int offer_cancel(struct p2p_req *q)
{
    struct p2p_peer *p = proc->p2p->offers && q->world >= 0 ? peer_get(q->world) : NULL;
    if (!p)
        return 1;
    if (q->offer) {
        if (p->near)
            take_back(p);
        if (p->offered.state == OFFER_OPEN)
            send_forget(p);
    }
    /* Once: senders change the words meanwhile.  If q's own is claimed, its message comes, unless
     * the sender could not write, gave the word back and cancelled. */
    int waits = q->offer || (p->near && any_claimed(p));
    if (waits)
        p->offered.wishes = 1;
    q->cancelled = waits;
    return !waits;
}

/* The claimed offers to p have ended: receives that were to be cancelled, and that are still
 * posted, are. */
static void settle(struct p2p_peer *p)
{
    struct p2p *s = proc->p2p;
    if (any_claimed(p))
        return;
    p->offered.wishes = 0;
    for (int i = 0; i < P2P_BINS && !p->offered.wishes; i++)
        for (struct list *l = s->posted[i].next; l != &s->posted[i] && !p->offered.wishes;) {
            struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
            int ends = q->world == p->world && q->cancelled;
            if (ends)
                q->r.ops->cancel(&q->r);
            /* What its end calls may post or end others: begin again. If it offers another receive,
             * the rest waits for that claim. */
            l = ends ? s->posted[i].next : l->next;
        }
}

void offer_passed(struct p2p_peer *p, uint32_t seq)
{
    p->offered.taken = seq + 1;
    p->offered.known = 1;
    if (__builtin_expect(p->offered.wishes != 0, 0))
        settle(p);
}

/* --- packets -------------------------------------------------------------------------- */

/* The hidden receive for p that was posted first, and that is behind `serial`. */
static struct p2p_req *next_hidden(const struct p2p_peer *p, uint64_t serial)
{
    struct p2p *s = proc->p2p;
    struct p2p_req *best = NULL;
    for (int i = 0; i < P2P_BINS; i++)
        for (struct list *l = s->posted[i].next; l != &s->posted[i]; l = l->next) {
            struct p2p_req *q = LIST_OBJ(l, struct p2p_req, op.link);
            if (!q->offer && q->world == p->world && q->serial > serial &&
                (!best || q->serial < best->serial) && offerable(q))
                best = q;
        }
    return best;
}

/* O4: S has dropped what was open, and names the message from which on it keeps a log. */
static int on_void(int src, const void *msg, size_t len)
{
    const struct p2p_void *m = msg;
    struct p2p_peer *p = peer_get(src);
    if (!p || len != sizeof *m || p->offered.state == OFFER_NEW ||
        p->offered.state == OFFER_NEVER) {
        p2p_malformed(src, "an answer about offered receives");
        return 0;
    }
    struct p2p_offered *f = &p->offered;
    if ((int32_t)(m->gen - f->gen) < 0) /* it waited for room, and a later one did not */
        return 0;
    if (!f->known || (int32_t)(m->seq - f->taken) > 0)
        f->taken = m->seq;
    f->known = 1;
    f->gen = m->gen;
    take_back(p);
    if (f->wishes)
        settle(p);
    f->state = m->never ? OFFER_NEVER : OFFER_OPEN;
    p->direct = p->ordered && m->never;
    enum { AGAIN = 8 }; /* receives that are offered at once; others wait for offer_posted() */
    struct p2p_req *q = m->never ? NULL : next_hidden(p, 0);
    for (int i = 0; q && i < AGAIN && offer(q, p); i++)
        q = next_hidden(p, q->serial);
    return 0;
}

static int on_written(int src, const void *msg, size_t len)
{
    const struct p2p_written *m = msg;
    struct p2p_req *q = len == sizeof *m ? wire_id_find(m->rreq, src) : NULL;
    if (!q || q->is_send || q->state != P2P_AWAITING || q->remote != m->sreq) {
        p2p_malformed(src, "the end of a written message");
        return 0;
    }
    list_del(&q->op.link);
    if (q->native)
        native_withdraw(q);
    if (m->failed == P2P_WRITTEN_NEVER)
        recv_done(q, comm_revoked_error());
    else if (m->failed)
        peer_get(src)->path->more(q);
    else
        recv_done(q, MPI_SUCCESS);
    return 0;
}
