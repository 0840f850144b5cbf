/* want.c - the sender's side of offered receives (offer.h): path 2, for peers that offer some.
 * Start with want_send() and want_note(). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sched.h"
#include "p2p/net_memory.h"
#include "p2p/p2p_types.h"
#include "var/var.h"

/* --- wants --------------------------------------------------------------------------- */

/* Would the receive w take a message of this key? */
static int takes(const struct p2p_want *w, uint32_t ctx, uint32_t src, int tag)
{
    return w->ctx == ctx && w->src == src && (w->tag == tag || w->tag == MPI_ANY_TAG);
}

static uint64_t open_word(const struct p2p_want *w)
{
    return word_make(w->version, WORD_OPEN, 0);
}

/* relaxed: only a claim decides */
static int is_open(const struct p2p_wants *t, const struct p2p_want *w)
{
    return atomic_load_explicit(&t->word[w->slot].w, memory_order_relaxed) == open_word(w);
}

static void remove_want(struct p2p_wants *t, unsigned i)
{
    free(t->want[i].key);
    memmove(&t->want[i], &t->want[i + 1], (--t->n - i) * sizeof t->want[0]);
}

/* The first want that takes q's message; NULL: none.  Whether its word is open does not matter:
 * its receiver takes back one word after the other, and until all are closed S may claim a later
 * one, whose pair depends on this one. */
static struct p2p_want *first_want(struct p2p_wants *t, const struct p2p_req *q)
{
    for (unsigned i = 0; i < t->n; i++)
        if (takes(&t->want[i], q->ctx, q->src, q->tag))
            return &t->want[i];
    return NULL;
}

static void remove_all(struct p2p_wants *t)
{
    while (t->n)
        remove_want(t, t->n - 1);
}

/* --- writing --------------------------------------------------------------------------- */

/* A process that waits in MPI reads at once, or copies together with this one. */
static int worth_writing(const struct p2p_req *q, const struct p2p_peer *p,
                         const struct p2p_want *w)
{
    return q->size <= w->size && q->size >= proc->p2p->offer_min && p->cma != P2P_CMA_REFUSED &&
           (cvar.p2p_prepost == 2 || proc->p2p->crowded || mem_attention_of(p->host) == MEM_BUSY);
}

/* One step from position *done on: from the layout itself if its pieces are long, else packed. */
static int write_step(const struct p2p_req *q, const struct p2p_peer *p, const struct p2p_want *w,
                      size_t *done)
{
    enum { PIECES = 64, LONG = 1024 };
    struct iovec here[PIECES];
    size_t left = q->size - *done, bytes = left, n = 1;
    if (q->block)
        here[0] = (struct iovec){q->start + *done, left};
    else
        n = dt_iov(q->type, q->count, q->buf, *done, left, here, PIECES, &bytes);
    if (!q->block && bytes / n < LONG) {
        bytes = left < proc->p2p->scratch_size ? left : proc->p2p->scratch_size;
        dt_pack(q->type, q->count, q->buf, *done, proc->p2p->scratch, bytes);
        here[0] = (struct iovec){proc->p2p->scratch, bytes};
        n = 1;
    }
    struct iovec there = {(void *)(uintptr_t)(w->addr + *done), bytes};
    *done += bytes;
    return mem_cma_write(p->host, here, n, &there, 1);
}

/* O5: open -> claimed for message seq. 0: the receiver has the word.  Acquire: pairs with
 * take_word(); the buffer is the sender's from here on. */
static int claim(const struct p2p_peer *p, const struct p2p_want *w, uint32_t seq)
{
    uint64_t word = open_word(w);
    int won = atomic_compare_exchange_strong_explicit(
        &p->wants->word[w->slot].w, &word, word_make(w->version, WORD_CLAIMED, seq),
        memory_order_acquire, memory_order_relaxed);
    if (won)
        sched_point();
    return won;
}

/* The word of a claim is open again.  Release: pairs with take_word(). */
static void give_back(const struct p2p_peer *p, const struct p2p_want *w)
{
    atomic_store_explicit(&p->wants->word[w->slot].w, open_word(w), memory_order_release);
}

/* Whether the kernel writes to p, by what it has returned. */
static void learn(struct p2p_peer *p, int rc)
{
    if (rc == -EPERM || rc == -ENOSYS || (rc && p->cma == P2P_CMA_UNKNOWN))
        p->cma = P2P_CMA_REFUSED;
    else if (!rc)
        p->cma = P2P_CMA_WORKS;
}

/* Claim w for message seq and write q's data there. 1: done; 0: the receiver has the word;
 * < 0: -errno, the word is still claimed. */
static int claim_and_write(const struct p2p_req *q, struct p2p_peer *p, const struct p2p_want *w,
                           uint32_t seq)
{
    if (!claim(p, w, seq))
        return 0;
    int rc = 0;
    for (size_t done = 0; !rc && done < q->size;)
        rc = write_step(q, p, w, &done);
    sched_point();
    learn(p, rc);
    if (rc)
        return rc;
    pvar_set_add(pvar_proc(), PVAR_P2P_BYTES_WRITTEN, q->size);
    return 1;
}

/* Write q's message, whose number will be p->seq_out, into the receive that takes it. 1: done. */
static int write_now(struct p2p_req *q, struct p2p_peer *p)
{
    struct p2p_wants *t = p->wants;
    struct p2p_want *w = first_want(t, q);
    int rc = w && worth_writing(q, p, w) ? claim_and_write(q, p, w, p->seq_out) : 0;
    if (rc < 0) { /* announced, with this want as its pair, and never written later */
        w->size = 0;
        give_back(p, w);
    }
    if (rc > 0) {
        q->remote = w->rreq;
        remove_want(t, (unsigned)(w - t->want));
    }
    return rc > 0;
}

static int send_written(struct p2p_req *q, struct p2p_peer *p)
{
    struct p2p_rts h = {{q->ctx, q->src, q->tag, p->seq_out}, q->remote, q->size, 0, 0,
                        P2P_RTS_WRITTEN};
    struct iovec v = {&h, sizeof h};
    q->state = P2P_WRITTEN_OUT;
    int rc = am_request(q->world, P2P_RTS, &v, 1, 0);
    if (rc)
        return rc;
    q->seq = peer_next_seq(p, NULL); /* its pair was removed when it was written */
    pvar_set_add(pvar_proc(), PVAR_P2P_OFFERS_WRITTEN, 1);
    send_done(q, MPI_SUCCESS);
    return 0;
}

/* Put q's message into the receive that wants it. 1: not so; else as am_request(). */
static int put_now(struct p2p_req *q, struct p2p_peer *p)
{
    struct p2p_wants *t = p->wants;
    const struct p2p_want *w = first_want(t, q);
    if (!w || q->size > w->size || q->size < proc->p2p->offer_min || !native_put_ready(q, p, w))
        return 1;
    uint64_t rreq = w->rreq;
    struct p2p_rts h = {{q->ctx, q->src, q->tag, p->seq_out}, wire_id_make(q), q->size, 0,
                        sizeof rreq, P2P_RTS_WRITING};
    struct iovec v[2] = {{&h, sizeof h}, {&rreq, sizeof rreq}};
    int rc = h.sreq ? am_request(q->world, P2P_RTS, v, 2, 0) : wire_id_lacks();
    if (rc) {
        native_withdraw(q);
        return rc;
    }
    remove_want(t, (unsigned)(w - t->want));
    q->seq = peer_next_seq(p, NULL); /* its pair has just been removed */
    native_put(q, rreq);
    return 0;
}

/* The data of q, which has no number yet, is in place when this returns AM_AGAIN in state
 * P2P_WRITTEN_OUT: nothing else leaves before it, so its number stays that of the word. */
static int want_send(struct p2p_req *q, struct p2p_peer *p)
{
    if (q->state == P2P_WRITTEN_OUT || (p->near && !q->next && write_now(q, p)))
        return send_written(q, p);
    int rc = p->near || q->next ? 1 : put_now(q, p);
    return rc == 1 ? proc->p2p->path->send(q, p) : rc;
}

static void want_pull(struct p2p_req *q, struct p2p_peer *p, const struct p2p_rts *h,
                      const void *tail)
{
    proc->p2p->path->pull(q, p, h, tail);
}

static void want_more(struct p2p_req *q)
{
    proc->p2p->path->more(q);
}

static void want_cancel(struct p2p_req *q, struct p2p_peer *p)
{
    proc->p2p->path->cancel(q, p);
}

const struct p2p_path p2p_by_want = {.name = "want",
                                     .send = want_send,
                                     .pull = want_pull,
                                     .more = want_more,
                                     .cancel = want_cancel};

/* --- writing later ------------------------------------------------------------------------- */

static void late_add(struct p2p_req *q, const struct p2p_want *w)
{
    struct p2p *s = proc->p2p;
    struct p2p_late *x = q->late || q->size > w->size ? NULL : malloc(sizeof *x);
    if (!x)
        return;
    *x = (struct p2p_late){.q = q, .w = *w};
    q->late = x;
    list_push(&s->lates, &x->link);
    progress_hook_add(&s->late_hook);
}

/* The receiver computes: do what it would do. Returns whether the receive is claimed. */
static int write_late(struct p2p_req *q, struct p2p_peer *p, const struct p2p_want *w)
{
    int rc = claim_and_write(q, p, w, q->seq);
    if (!rc)
        return 0;
    struct p2p_written m = {w->rreq, q->wire_id, rc < 0};
    peer_control(p, P2P_WRITTEN, &m, sizeof m);
    send_late_drop(q);
    if (rc < 0) /* it is pulled */
        return 1;
    pvar_set_add(pvar_proc(), PVAR_P2P_OFFERS_LATE, 1);
    list_del(&q->op.link);
    send_done(q, MPI_SUCCESS);
    return 1;
}

/* Hook, while there are announced messages whose receives are offered. */
static int want_look(void *arg)
{
    struct p2p *s = arg;
    int moved = 0;
    for (struct list *l = s->lates.next; l != &s->lates;) {
        struct p2p_late *x = LIST_OBJ(l, struct p2p_late, link);
        struct p2p_req *q = x->q;
        struct p2p_want w = x->w;
        l = l->next;
        struct p2p_peer *p = peer_get(q->world);
        if (!is_open(p->wants, &w))
            send_late_drop(q);
        else if (worth_writing(q, p, &w))
            moved += write_late(q, p, &w);
    }
    if (list_empty(&s->lates))
        progress_hook_del(&s->late_hook);
    return moved;
}

/* --- writing in parts ------------------------------------------------------------------------ */

int want_parts(int world)
{
    const struct p2p_peer *p = map_get(&proc->p2p->peers, (uint64_t)world);
    return p && p->near && p->wants && p->wants->n && !p->dead && p->cma != P2P_CMA_REFUSED;
}

/* The claim goes first, by an RTS that names no data, so the receiver waits for WRITTEN. */
static int send_claim(struct p2p_req *q, struct p2p_peer *p, const struct p2p_want *w)
{
    struct p2p_rts h = {{q->ctx, q->src, q->tag, p->seq_out}, wire_id_make(q), q->size, 0, 0, 0};
    struct iovec v = {&h, sizeof h};
    if (h.sreq && claim(p, w, p->seq_out)) {
        if (am_request(q->world, P2P_RTS, &v, 1, 0) == 0)
            return 1;
        give_back(p, w);
    }
    if (h.sreq)
        wire_id_drop(q);
    return 0;
}

int want_begin(struct p2p_req *q)
{
    struct p2p_peer *p = peer_get(q->world);
    if (!p || !want_parts(q->world) || !list_empty(&p->pending) || !q->block)
        return 0;
    const struct p2p_want *w = first_want(p->wants, q);
    if (!w || q->size > w->size || q->size < proc->p2p->offer_min)
        return 0;
    struct p2p_late *x = malloc(sizeof *x);
    if (!x || !send_claim(q, p, w)) {
        free(x);
        return 0;
    }
    *x = (struct p2p_late){.q = q, .w = *w};
    list_init(&x->link);
    q->late = x;
    q->next = q->got = 0;
    q->state = P2P_FILLING;
    list_push(&proc->p2p->open, &q->op.link);
    remove_want(p->wants, (unsigned)(w - p->wants->want));
    q->seq = peer_next_seq(p, NULL); /* its pair has just been removed */
    return 1;
}

void want_fill(struct p2p_req *q, size_t off, size_t len)
{
    struct p2p_peer *p = peer_get(q->world);
    struct p2p_late *x = q->late;
    if (x->failed || !len)
        return;
    struct iovec here = {q->start + off, len};
    struct iovec there = {(void *)(uintptr_t)(x->w.addr + off), len};
    int rc = mem_cma_write(p->host, &here, 1, &there, 1);
    sched_point();
    learn(p, rc);
    x->failed = rc != 0;
    if (!rc)
        pvar_set_add(pvar_proc(), PVAR_P2P_BYTES_WRITTEN, len);
}

void want_filled(struct p2p_req *q)
{
    struct p2p_late *x = q->late;
    struct p2p_written m = {x->w.rreq, q->wire_id, (uint64_t)x->failed};
    int failed = x->failed;
    send_late_drop(q);
    if (failed) /* it is pulled */
        q->state = P2P_OPEN;
    peer_control(peer_get(q->world), P2P_WRITTEN, &m, sizeof m);
    if (failed)
        return;
    pvar_set_add(pvar_proc(), PVAR_P2P_OFFERS_WRITTEN, 1);
    list_del(&q->op.link);
    send_done(q, MPI_SUCCESS);
}

void want_revoke(struct p2p_req *q)
{
    struct p2p_written m = {q->late->w.rreq, q->wire_id, P2P_WRITTEN_NEVER};
    send_late_drop(q);
    peer_control(peer_get(q->world), P2P_WRITTEN, &m, sizeof m);
    list_del(&q->op.link);
    send_done(q, comm_revoked_error());
}

/* --- pairs ---------------------------------------------------------------------------------- */

void want_note(struct p2p_peer *p, struct p2p_req *q)
{
    struct p2p_wants *t = p->wants;
    struct p2p_sent *e = &t->log[p->seq_out % P2P_LOG];
    *e = (struct p2p_sent){.seq = p->seq_out, .paired = 1};
    if (!q)
        return;
    int rts = q->state == P2P_OPEN;
    *e = (struct p2p_sent){p->seq_out, q->ctx, q->src, q->tag, 0, rts ? q->wire_id : 0};
    struct p2p_want *w = first_want(t, q);
    if (!w)
        return;
    e->paired = 1;
    if (rts && p->near)
        late_add(q, w);
    remove_want(t, (unsigned)(w - t->want));
}

/* O2.  Returns whether a message that has left takes w. */
static int pair_with_sent(struct p2p_peer *p, const struct p2p_want *w, uint32_t seen)
{
    for (uint32_t i = seen; i != p->seq_out; i++) {
        struct p2p_sent *e = &p->wants->log[i % P2P_LOG];
        if (e->paired || !takes(w, e->ctx, e->src, e->tag))
            continue;
        e->paired = 1;
        struct p2p_req *q = e->sreq ? wire_id_find(e->sreq, p->world) : NULL;
        if (p->near && q && q->is_send && q->state == P2P_OPEN && !q->got)
            late_add(q, w);
        return 1;
    }
    return 0;
}

/* --- packets ---------------------------------------------------------------------------------- */

/* O4. */
static void drop_all(struct p2p_peer *p, int never)
{
    struct p2p_wants *t = p->wants;
    struct p2p_void m = {.seq = p->seq_out, .never = (uint32_t)never};
    if (t) {
        remove_all(t);
        t->base = p->seq_out; /* what is offered behind this VOID has seen all before */
        m.gen = ++t->gen;
    }
    pvar_set_add(pvar_proc(), PVAR_P2P_OFFERS_VOID, 1);
    peer_control(p, P2P_VOID, &m, sizeof m);
}

static int on_forget(int src, const void *msg, size_t len)
{
    struct p2p_peer *p = peer_get(src);
    (void)msg;
    if (!p || len != sizeof(struct p2p_forget)) {
        p2p_malformed(src, "a wish to drop offered receives");
        return 0;
    }
    if (!p->wants && cvar.p2p_prepost && p->ordered && (p->near || native_puts(p, SIZE_MAX)) &&
        (p->wants = calloc(1, sizeof *p->wants))) {
        p->wants->base = p->seq_out;
        p->short_end = 0;
        p->path = &p2p_by_want;
    }
    drop_all(p, !p->wants);
    return 0;
}

/* Map the words of p at its first offer. */
static int words_of(struct p2p_wants *t, const struct mem_key *key)
{
    if (t->word)
        return 0;
    if (mem_segment_attach_soon(key, &t->seg)) /* in a handler, under proc->lock */
        return -1;
    if (t->seg->size < P2P_OFFERS * sizeof(struct p2p_word)) {
        mem_segment_drop(t->seg);
        t->seg = NULL;
        return -1;
    }
    t->word = t->seg->base;
    return 0;
}

/* Keep it behind the others. Without memory for its key nothing is put there, and it keeps its
 * place. */
static void add_want(struct p2p_wants *t, const struct p2p_want *w, const void *key)
{
    struct p2p_want *x = &t->want[t->n++];
    *x = *w;
    if (w->nkey && (x->key = malloc(w->nkey)) != NULL)
        memcpy(x->key, key, w->nkey);
}

/* Is it the offer of a process of this node, or of another, with all that belongs to it? */
static int sound(const struct p2p_peer *p, const struct p2p_prepost *m, size_t len)
{
    if (len < sizeof *m || m->key > P2P_PREPOST_KEY || len != sizeof *m + m->key)
        return 0;
    return m->slot < P2P_OFFERS && (int32_t)(p->seq_out - m->seen) >= 0 && p->near == !m->key;
}

static int on_prepost(int src, const void *msg, size_t len)
{
    const struct p2p_prepost *m = msg;
    struct p2p_peer *p = peer_get(src);
    struct p2p_wants *t = p ? p->wants : NULL;
    if (!t || !sound(p, m, len)) {
        p2p_malformed(src, "an offered receive");
        return 0;
    }
    if (m->gen != t->gen)
        return 0;
    if (p->near && words_of(t, &m->words)) {
        drop_all(p, 1);
        return 0;
    }
    struct p2p_want w = {m->rreq, m->addr, m->size,    m->ctx, m->src,
                         m->tag,  m->slot, m->version, m->key, NULL};
    int logged = p->seq_out - m->seen <= proc->p2p->log_most && (int32_t)(m->seen - t->base) >= 0;
    if (!logged || t->n == P2P_OFFERS)
        drop_all(p, 0);
    else if (!pair_with_sent(p, &w, m->seen))
        add_want(t, &w, m + 1);
    return 0;
}

void want_init(struct p2p *s)
{
    s->log_most = P2P_LOG;
    list_init(&s->lates);
    s->late_hook.fn = want_look;
    s->late_hook.arg = s;
}

void want_handlers(void)
{
    am_handler(P2P_PREPOST, on_prepost);
    am_handler(P2P_FORGET, on_forget);
}

void want_finalize(struct p2p *s)
{
    progress_hook_del(&s->late_hook);
    while (!list_empty(&s->lates))
        send_late_drop(LIST_OBJ(s->lates.next, struct p2p_late, link)->q);
}

void want_drop(struct p2p_peer *p)
{
    if (p->wants)
        remove_all(p->wants);
    if (p->wants && p->wants->seg)
        mem_segment_drop(p->wants->seg);
    free(p->wants);
    p->wants = NULL;
}
