/* sync_flags.c - the flags of synchronization: which are requested, which piggyback on the tail of
 * the queue, which ask early. Start with rma_tail_flags(). */
#include "rma/engine/packet_build.h"

/* --- piggybacked flags ------------------------------------------------------------------------ */

unsigned rma_sync_flags(const struct rma_target *t, int dirty)
{
    unsigned f = t->sync;
    if (f & RMA_F_COMPLETE && !t->unsure && !t->tokens_out)
        dirty = 0; /* R11 */
    if ((f & RMA_F_DONE) && !dirty && !(f & RMA_F_UNLOCK))
        f &= ~(unsigned)RMA_F_DONE;
    return f;
}

void rma_put_sync(struct rma_hdr *h, unsigned flags, uint32_t token, unsigned *replies)
{
    rma_self()->packed.t = NULL; /* h may be in there, and other headers may come behind it */
    h->flags |= (uint16_t)flags;
    h->token = (h->token & ~RMA_TOKEN_MASK) | token;
    if ((flags & (RMA_F_DONE | RMA_F_UNLOCK)) && !rma_brings_data(h->type) &&
        !(h->flags & RMA_F_ACK))
        ++*replies;
}

/* The flags have left: waiters of the token now wait for an answer, or are done. */
void rma_sync_left(struct rma_target *t, unsigned flags)
{
    uint32_t token = t->token;
    t->sync = 0;
    t->unasked = 0;
    t->piggybacked = (uint16_t)flags;
    if (flags & RMA_F_SYNC) {
        t->flags &= (uint8_t)~TARGET_DIRTY;
        t->unsure = 0;
    }
    if (flags & (RMA_F_DONE | RMA_F_UNLOCK)) {
        /* It was given out earlier than the last that left: a flush_all waits for each target's
         * turn. */
        if (rma_token_upto(token, t->out_token))
            t->loose = 1;
        else
            t->out_token = token;
        if (rma_token_upto(token, t->born))
            t->born = token - 1;
        t->tokens_out++;
    } else {
        rma_token_done(t->w, t->rank, token, 0);
    }
}

/* May flags piggyback on a packet that ends the queue? Without order, only if nothing else is under
 * way, not even a part of the same operation. */
static int may_piggyback(const struct rma_target *t)
{
    return cvar.rma_hold > 0 && (t->ordered || (t->ops.next == t->next && !op_at(t->next)->sent)) &&
           !t->natives && !t->native_out;
}

/* --- asked early ----------------------------------------------------------------------------- */

/* A long operation leaves at its call, and the flush after it costs another message each way. So if
 * flushes came like that before and no answer is under way, the last packet asks at once (R12). */
static int asks_early(const struct rma_target *t, const struct packet *p)
{
    if (!t->w->asks_early || t->w->starved || !t->ordered || t->sync || t->tokens_out)
        return 0;
    if (!p->dirty || p->h.flags & RMA_F_ACK || !may_piggyback(t) || op_at(t->ops.prev)->a.notify)
        return 0; /* a flush seldom follows what notifies by itself */
    /* It never waits for room for an early answer: the holder of that room may need this packet. */
    return rma_in(t->w, SET_PASSIVE) && am_replies_free(t->world) > p->replies;
}

static void early_left(struct rma_target *t, uint32_t token)
{
    t->w->token = t->early = t->out_token = token;
    t->early_for = 0;
    /* It is the only one out. Numbers may have advanced by half the range since the last. */
    t->answered = token - 1;
    if (rma_token_upto(token, t->born))
        t->born = token - 1;
    t->tokens_out++;
    t->flags &= (uint8_t)~TARGET_DIRTY;
}

/* 1: the flush with a due DONE takes the answer to the early one. */
int rma_takes_early(struct rma_target *t)
{
    if (!t->early || t->early_for || t->tokens_out != 1 || t->flags & TARGET_DIRTY)
        return 0;
    t->early_for = t->token;
    t->sync = 0;
    t->unasked = 0;
    return 1;
}

/* The age of the locks that are held follows everything else (rma.md 5.3); it is usually 0. */
static int put_age(struct rma_win *w, struct rma_hdr *h, struct iovec *v)
{
    if (!w->passive.age)
        return 0;
    *v = (struct iovec){&w->passive.age, sizeof w->passive.age};
    h->flags |= RMA_F_AGE;
    h->len += (uint32_t)sizeof w->passive.age;
    return 1;
}

void rma_put_lock(const struct rma_target *t, struct packet *p)
{
    p->h.flags |= t->lock == SHMLOCK_EXCLUSIVE ? RMA_F_EXCLUSIVE : RMA_F_SHARED;
    if (t->flags & TARGET_JOIN)
        p->h.flags |= RMA_F_JOIN;
    p->n += put_age(t->w, &p->h, &p->iov[p->n]);
}

struct tail rma_tail_flags(struct rma_target *t, struct packet *p, int lock)
{
    const struct rma_op *first = op_at(t->next);
    struct tail x = {.ends = p->ops == t->queued &&
                             (p->ops > 1 || (first->sent + p->part == first->bytes &&
                                             !rma_note_follows(first)))};
    x.piggybacks = x.ends && t->sync && may_piggyback(t);
    if (x.piggybacks) {
        x.sync = rma_sync_flags(t, p->dirty || rma_unanswered(t));
        rma_put_sync(rma_tail_header(p), x.sync, t->token, &p->replies);
    }
    if (lock) {
        rma_put_lock(t, p);
        if (!p->replies)
            p->replies = 1;
        p->zcopy = NULL; /* it may have to be sent again */
    }
    if (t->early || t->unasked)
        t->w->asks_early = 0; /* flushes do not follow each operation after all */
    if (x.ends && !lock && asks_early(t, p)) {
        x.early = rma_token_next(t->w);
        rma_put_sync(rma_tail_header(p), RMA_F_DONE, x.early, &p->replies);
    }
    return x;
}

void rma_tail_left(struct rma_target *t, const struct tail *x)
{
    t->piggybacked = 0;
    if (x->early || x->sync)
        rma_count(t->w, PVAR_RMA_PIGGY, 1);
    if (x->early)
        early_left(t, x->early);
    if (x->piggybacks)
        rma_sync_left(t, x->sync);
}

int rma_lock_plain(struct rma_win *w, int rank, struct rma_hdr *h)
{
    struct iovec v[2] = {{h, sizeof *h}};
    h->type = RMA_PKT_LOCK;
    rma_name(w, h);
    int n = 1 + put_age(w, h, &v[1]);
    int err = am_request(rma_world(w, rank), AM_RMA + h->type, v, n, 1);
    if (!err)
        rma_count(w, PVAR_RMA_MSGS, 1);
    return err;
}

/* --- what callers ask for -------------------------------------------------------------------- */

/* Only a get may change its place: its answer is then the acknowledgement, too. It passes none that
 * follows it (R16). */
static void get_to_tail(struct rma_target *t)
{
    if (!cvar.rma_hold || t->queued < 2 || !t->ordered || op_at(t->ops.prev)->kind == RMA_GET)
        return;
    for (struct list *l = t->ops.prev; l != t->next->prev; l = l->prev) {
        struct rma_op *op = op_at(l);
        if (rma_follows(op))
            return;
        /* its target pulls it: it stays first */
        if (op->kind != RMA_GET || op->sent || (op->flags & OP_DIRECT) ||
            (t->offer && l == t->next))
            continue;
        if (l == t->next)
            t->next = l->next;
        rma_self()->packed.t = NULL; /* it may hold this one */
        list_del(l);
        list_push(&t->ops, l);
        return;
    }
}

void rma_target_sync(struct rma_target *t, unsigned sync, uint32_t token)
{
    WR_ASSERT(!t->sync);
    rma_lane_end(t);
    t->coalesced = NULL; /* R10 */
    get_to_tail(t);
    t->sync = (uint16_t)sync;
    t->token = token;
    rma_ready(t);
}
