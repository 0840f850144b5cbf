/* handlers.c - packets that act at the target. Everything in them is checked before memory is
 * touched (rma.md 5.10). Start with rma_run_packet().
 *
 * The packet's own answer reports an error. Without one, the error is stored per origin, for the
 * next answer to it. */
#include "rma/target/place.h"

#include <string.h>

#include "base/atomic.h"
#include "watch/watch.h"

/* One packet under way: what its answers must carry. */
struct turn {
    struct rma_win *w;
    int src;     /* world rank */
    int granted; /* the first answer reports that the lock is held */
    uint32_t clock; /* the answer to UNLOCK carries it, if not 0 */
    uint32_t note;  /* RMA_F_NOTIFY: index + 1 of the counter; 0: none */
    /* A BATCH's answers, as many as one packet holds. */
    unsigned n;
    size_t bytes, room; /* room 0: each answer is sent alone */
};

/* Send the answers gathered so far; a single one as a packet of its own. */
static void answers_send(struct turn *x)
{
    char *out = rma_self()->answers;
    struct rma_hdr h = {.type = RMA_PKT_ANSWERS, .packets = x->n};
    if (x->n == 1) {
        memcpy(&h, out, sizeof h);
        rma_reply(x->w, x->src, &h, out + sizeof h, h.len);
    } else if (x->n > 1) {
        rma_reply(x->w, x->src, &h, out, x->bytes);
        rma_count(x->w, PVAR_RMA_BATCH, x->n - 1);
    }
    x->n = 0;
    x->bytes = 0;
}

static void answer(struct turn *x, struct rma_hdr *r, const void *data, size_t len)
{
    if (x->granted) {
        r->flags |= RMA_F_GRANTED;
        x->granted = 0;
    }
    if (r->flags & RMA_F_SIGNALED) {
        r->clock = x->clock;
        x->clock = 0;
    }
    size_t need = sizeof *r + rma_pad(len);
    if (need > x->room - x->bytes)
        answers_send(x);
    if (need > x->room) {
        rma_reply(x->w, x->src, r, data, len);
        return;
    }
    char *at = rma_self()->answers + x->bytes;
    rma_name(x->w, r);
    r->len = (uint32_t)len;
    memcpy(at, r, sizeof *r);
    if (len)
        memcpy(at + sizeof *r, data, len);
    memset(at + sizeof *r + len, 0, rma_pad(len) - len);
    x->bytes += need;
    x->n++;
}

/* --- one packet ------------------------------------------------------------------------------- */

static void keep_fault(struct turn *x, const struct rma_hdr *h, const struct place *p, int cls)
{
    struct rma_fault f = rma_fault_of(x->w, h, p, cls);
    rma_fault_keep(x->w, h, &f);
}

/* UNLOCK and COMPLETE, after the operation and before its answer. */
static void run_sync(struct turn *x, const struct rma_hdr *h)
{
    if (h->flags & RMA_F_COMPLETE)
        rma_on_complete(x->w, (int)h->src);
    if (h->flags & RMA_F_UNLOCK) {
        int cls = rma_lockq_release(x->w, x->src, &x->clock);
        if (cls)
            keep_fault(x, h, NULL, cls);
    }
}

/* The operation is done, or refused: count its notification, before its flags and its answer. */
static void run_note(struct turn *x, const struct rma_hdr *h, int failed)
{
    int cls = x->note && !failed ? rma_note_came(x->w, x->note - 1, (int)h->src) : 0;
    if (cls)
        keep_fault(x, h, NULL, cls);
    if (x->note && (cls || failed) && watch_wants(WATCH_NOTES))
        watch_note_lost(x->w, x->w->rank, x->note - 1, 1);
}

/* The answer to one packet, under construction. */
struct reply {
    struct rma_hdr h;
    int cls;            /* MPI error class: `fault` replaces the data; 0: no error */
    struct rma_fault fault;
    const char *data;
    size_t len;         /* bytes of data */
};

static void reply_fault(struct reply *r, const struct rma_fault *f)
{
    r->fault = *f;
    r->cls = f->cls;
    r->data = (const char *)&r->fault;
    r->len = sizeof r->fault;
}

static void reply_send(struct turn *x, struct reply *r)
{
    r->h.aop = (uint8_t)r->cls;
    answer(x, &r->h, r->data, r->len);
}

/* An earlier fault of that origin, behind the data. It does not change the rest of the answer. */
static void reply_earlier(struct turn *x, const struct rma_hdr *h, struct reply *r)
{
    struct rma *room = rma_self();
    struct rma_fault kept;
    if (!rma_fault_take(x->w, h, &kept))
        return;
    if (r->len + sizeof kept > room->reply_bytes - sizeof *h) { /* origins leave room for it */
        reply_fault(r, &kept);
        return;
    }
    if (r->data != room->reply && r->len)
        memcpy(room->reply, r->data, r->len);
    memcpy(room->reply + r->len, &kept, sizeof kept);
    r->data = room->reply;
    r->len += sizeof kept;
    r->h.flags |= RMA_F_FAULT;
}

/* The operation of a packet that brings data: they go into r, or the reason why not. */
static void answered_run(struct turn *x, const struct rma_hdr *h, const char *payload,
                         struct place *p, struct reply *r)
{
    struct rma *room = rma_self();
    const char *data = room->reply;
    int cls = rma_place_find(x->w, h, payload, p);
    if (!cls && p->len > room->reply_bytes - sizeof *h)
        cls = MPI_ERR_COUNT;
    if (!cls && h->type == RMA_PKT_GET)
        data = rma_run_get(p, room->reply);
    else if (!cls)
        cls = h->type == RMA_PKT_CAS ? rma_run_cas(x->w, p, room->reply)
                                     : rma_run_acc(x->w, h, p, room->reply);
    if ((h->flags & (RMA_F_UNLOCK | RMA_F_COMPLETE) || x->note) && !cls && data != room->reply)
        /* once released, or notified, the window's memory may change */
        data = memcpy(room->reply, data, p->len);
    r->data = data;
    r->len = p->len;
    if (cls) {
        struct rma_fault f = rma_fault_of(x->w, h, p, cls);
        reply_fault(r, &f);
    }
}

static void run_answered(struct turn *x, const struct rma_hdr *h, const char *payload)
{
    struct reply r = {.h = {.type = RMA_PKT_DATA, .op = h->op, .token = h->token}};
    struct place p;
    answered_run(x, h, payload, &p, &r);
    sched_point();
    run_note(x, h, r.cls);
    run_sync(x, h);
    r.h.from = p.from;
    r.h.asked = (uint32_t)p.len;
    if (h->flags & (RMA_F_DONE | RMA_F_UNLOCK)) {
        r.h.flags |= RMA_F_SIGNALED;
        reply_earlier(x, h, &r);
    }
    struct rma_ext e;
    if (h->flags & RMA_F_EXT && r.cls && h->len >= sizeof e) {
        /* what the origin asked for, whatever else was wrong */
        memcpy(&e, payload, sizeof e);
        r.h.asked = (uint32_t)e.want;
    }
    reply_send(x, &r);
}

/* So that the origin need not ask again (R11). at: displacement of the last operation. Returns
 * bytes of payload, which are in *told. */
static size_t tell_window(struct rma_win *w, uint64_t at, struct rma_hdr *a,
                          struct rma_extent *told)
{
    if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        const struct rma_attached *g = rma_win_region(w, at);
        if (!g)
            return 0;
        *told = (struct rma_extent){.base = g->base, .size = g->size, .detached = w->mem.detached};
        a->unit = 1;
        return sizeof *told;
    }
    if (w->disp_unit <= UINT32_MAX) {
        a->win_bytes = (uint64_t)w->bytes;
        a->unit = (uint32_t)w->disp_unit;
    }
    return 0;
}

/* One put or accumulate, or several: MPI error class or 0, and *f. *at: displacement of the last
 * operation. */
static int silent_run(struct turn *x, const struct rma_hdr *h, const char *payload, uint64_t *at,
                      struct rma_fault *f)
{
    struct rma_hdr bad = *h;
    struct place p;
    const struct place *where = &p;
    int cls;
    if (h->type == RMA_PKT_COALESCED) { /* reported as the one operation of it that failed */
        bad.type = h->aop ? RMA_PKT_ACC : RMA_PKT_PUT;
        bad.count = (uint32_t)h->each;
        cls = rma_run_coalesced(x->w, h, payload, &bad);
        *at = bad.disp;
        where = NULL;
    } else {
        cls = rma_place_find(x->w, h, payload, &p);
        if (!cls)
            cls = h->type == RMA_PKT_PUT ? rma_run_put(&p) : rma_run_acc(x->w, h, &p, NULL);
    }
    if (cls)
        *f = rma_fault_of(x->w, &bad, where, cls);
    return cls;
}

static void run_plain(struct turn *x, const struct rma_hdr *h, const char *payload)
{
    struct reply r = {.h = {.type = RMA_PKT_ACK, .token = h->token}};
    struct rma_fault f;
    struct rma_extent told;
    uint64_t at = h->disp;
    /* own: an answer of its own, which does not cover others */
    int own = h->flags & RMA_F_ACK, cls = 0;
    if (rma_brings_data(h->type)) {
        run_answered(x, h, payload);
        return;
    }
    if (h->type == RMA_PKT_PUT || h->type == RMA_PKT_ACC || h->type == RMA_PKT_COALESCED) {
        cls = silent_run(x, h, payload, &at, &f);
        if (cls && !own) /* the next synchronization's answer reports it */
            rma_fault_keep(x->w, h, &f);
        /* near processes may look before the lock is released or the end is reported */
        sched_point();
    }
    run_note(x, h, cls);
    run_sync(x, h);
    if (!(h->flags & (RMA_F_DONE | RMA_F_UNLOCK | RMA_F_ACK)))
        return;
    if (own)
        r.h.op = h->op;
    if (own && cls)
        reply_fault(&r, &f);
    if (h->flags & (RMA_F_DONE | RMA_F_UNLOCK)) {
        r.h.flags |= RMA_F_SIGNALED;
        if (rma_fault_take(x->w, h, &f) && !r.cls)
            reply_fault(&r, &f);
    }
    if (h->flags & RMA_F_COMPLETE && !r.cls) {
        r.len = tell_window(x->w, at, &r.h, &told);
        r.data = (const char *)&told;
    }
    reply_send(x, &r);
}

static void run_one(struct turn *x, const struct rma_hdr *h, const char *payload)
{
    struct rma_noted note = {.index = 0};
    /* win_order.c: pairs with the flush, or the order, of the process that reads or writes */
    if (h->type == RMA_PKT_GET)
        fence_full(); /* its loads follow the stores of those before it */
    else
        fence_release();
    x->note = 0;
    if (!(h->flags & RMA_F_NOTIFY)) {
        run_plain(x, h, payload);
        return;
    }
    struct rma_hdr rest = *h;
    rest.flags &= (uint16_t)~RMA_F_NOTIFY;
    if (h->len < sizeof note) { /* malformed: what it has is done, and nothing is counted */
        keep_fault(x, h, NULL, MPI_ERR_OTHER);
    } else {
        memcpy(&note, payload, sizeof note);
        payload += sizeof note;
        rest.len -= (uint32_t)sizeof note;
        x->note = note.index + 1;
    }
    run_plain(x, &rest, payload);
}

static void run_batch(struct turn *x, const struct rma_hdr *h, const char *payload)
{
    size_t at = 0, most = am_max(x->src), bytes = rma_self()->reply_bytes;
    bytes = most < bytes ? most : bytes;
    x->room = bytes > sizeof *h ? bytes - sizeof *h : 0;
    for (uint32_t i = 0; i < h->packets && h->len - at >= sizeof *h; i++) {
        struct rma_hdr one;
        memcpy(&one, payload + at, sizeof one);
        at += sizeof one;
        if (one.len > h->len - at || (one.type > RMA_PKT_CAS && one.type != RMA_PKT_COALESCED) ||
            one.win != h->win || !rma_same_src(x->w, one.src, h->src) || (one.flags & RMA_F_LOCK)) {
            keep_fault(x, h, NULL, MPI_ERR_OTHER);
            break;
        }
        one.src = h->src;
        run_one(x, &one, payload + at);
        at += rma_pad(one.len) <= h->len - at ? rma_pad(one.len) : h->len - at;
    }
    answers_send(x);
    x->room = 0; /* further answers are sent alone */
}

void rma_run_packet(struct rma_win *w, int src, const struct rma_hdr *h, const char *payload,
                    int granted)
{
    struct turn x = {.w = w, .src = src, .granted = granted};
    if (h->type == RMA_PKT_BATCH)
        run_batch(&x, h, payload);
    else
        run_one(&x, h, payload);
    if (x.granted) {
        struct rma_hdr a = {.type = RMA_PKT_GRANTED};
        answer(&x, &a, NULL, 0);
    }
}

static int malformed(int src, const char *what)
{
    rma_self()->malformed++;
    am_malformed(src, what);
    return 0;
}

int rma_on_op(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    if (!w)
        return malformed(src, "an operation for a window");
    const char *payload = (const char *)msg + sizeof h;
    uint64_t age = 0;
    if (h.flags & RMA_F_AGE) {
        if (h.len < sizeof age)
            return malformed(src, "a lock for a window");
        h.len -= (uint32_t)sizeof age;
        h.flags &= (uint16_t)~RMA_F_AGE;
        memcpy(&age, payload + h.len, sizeof age);
        age &= RMA_AGE_MAX;
    }
    if (h.flags & RMA_F_LOCK)
        rma_lockq_ask(w, src, &h, payload, age);
    else
        rma_run_packet(w, src, &h, payload, 0);
    return 0;
}

/* An operation that was taken back is read no more. Release pairs with the acquire in unread()
 * (delegate.c). */
static void mark_read(const struct rma_win *w, const struct rma_near *asker, uint32_t number)
{
    atomic_store_explicit(rma_read_word(w, rma_near_of(w, w->rank), asker), number,
                          memory_order_release);
}

/* A piece of a put or get of a near process (delegate_copy.c). 1: done and answered, or left to the
 * asker, which takes it back: its box is not mapped here, for lack of memory. 0: it was taken back.
 * -1: malformed. */
static int run_piece(struct rma_win *w, const struct rma_near *n, const struct rma_delegated *q,
                     int src)
{
    enum { SLOT_BYTES = RMA_BOX_BYTES / RMA_BOX_SLOTS };
    uint64_t off = 0;
    char *mem;
    char *box = w->node.boxes ? w->node.boxes[n - w->near.near].at : NULL;
    if (!box && n->peer->box.size)
        return 1;
    if (!box || !q->len || q->len > SLOT_BYTES || q->slot >= RMA_BOX_SLOTS ||
        q->at > INT64_MAX - SLOT_BYTES)
        return -1;
    if (acc_taken_back(&n->peer->asked, q->number))
        return 0;
    if (!rma_window_at(w, q->disp, q->at, q->at + (int64_t)q->len, &off, &mem))
        return -1;
    box += q->slot * SLOT_BYTES;
    mem = (char *)((uintptr_t)mem + (uintptr_t)q->at);
    struct acc_copy x = {.off = off, .to = q->aop == RMA_COPY_IN ? mem : box,
                         .from = q->aop == RMA_COPY_IN ? box : mem, .len = (size_t)q->len,
                         .asked = &n->peer->asked, .number = q->number, .asker = src};
    return acc_answer_copy(rma_own_memory(w).ctl, &x);
}

/* Operations of a bundle, in order: 0, or -1: one of them is malformed. The asker may store to the
 * slot meanwhile, so each head is read once. */
static int bundle_run(struct rma_win *w, char *at, uint32_t ops)
{
    size_t left = RMA_BUNDLE_BYTES - sizeof(struct acc_bundle);
    for (uint32_t i = 0; i < ops; i++) {
        struct rma_bundled e;
        char *mem;
        if (left < sizeof e)
            return -1;
        memcpy(&e, at, sizeof e);
        at += sizeof e;
        left -= sizeof e;
        size_t room = rma_pad(e.len);
        fence_release(); /* as in run_one() */
        if (!e.len || room > left || !(mem = rma_win_local(w, e.at, e.len)))
            return -1;
        if (e.get)
            rma_near_get(at, mem, e.len);
        else
            rma_near_put(at, mem, e.len);
        at += room;
        left -= room;
    }
    return 0;
}

/* Puts and gets of a near process (bundle.c). Returns as run_piece() does. */
static int run_bundle(struct rma_win *w, const struct rma_near *n, const struct rma_delegated *q,
                      int src)
{
    char *box = w->node.boxes ? w->node.boxes[n - w->near.near].at : NULL;
    struct acc_ctl *ctl = rma_own_memory(w).ctl;
    if (!box && n->peer->box.size)
        return 1;
    if (!box || q->slot >= RMA_BUNDLES || !q->bundle)
        return -1;
    box += RMA_BOX_BYTES + q->slot * RMA_BUNDLE_BYTES;
    struct acc_bundle *b = (struct acc_bundle *)(void *)box;
    if (!acc_bundle_begin(ctl, b, q->bundle, src))
        return 0;
    int bad = bundle_run(w, (char *)(b + 1), b->ops);
    acc_bundle_end(ctl, b, bad ? 0 : q->bundle);
    return bad ? -1 : 1;
}

/* One element, delegated to this process by a near one (delegate.c). A malformed one is not
 * answered: the asker takes it back. */
int rma_on_delegate(int src, const void *msg, size_t len)
{
    struct rma_delegated q;
    if (len != sizeof q)
        return malformed(src, "a question");
    memcpy(&q, msg, sizeof q);
    struct rma_win *w = rma_win_named(q.win, q.src);
    if (!w)
        return 0; /* taken back, and the window ended since */
    if (w->coherent) /* peers send it packets, which ask for lanes */
        return malformed(src, "a question");
    uint32_t rank = q.src & rma_self()->ranks;
    int known = rank < (uint32_t)w->size && rma_world(w, (int)rank) == src;
    struct rma_near *n = known ? rma_near_of(w, (int)rank) : NULL;
    struct dt_type *e = rma_predefined(RMA_DELEGATE_TYPES | q.elem);
    struct dt_op *op = q.aop < DT_OPS ? proc->obj->table[OBJ_OP].builtin[q.aop] : NULL;
    struct acc_target at = rma_own_memory(w);
    uint64_t off = 0;
    char *mem;
    if (n && (q.aop == RMA_COPY_IN || q.aop == RMA_COPY_OUT || q.aop == RMA_COPY_MANY)) {
        int done = q.aop == RMA_COPY_MANY ? run_bundle(w, n, &q, src) : run_piece(w, n, &q, src);
        if (done < 0)
            return malformed(src, "a piece of an operation");
        if (!done)
            mark_read(w, n, q.number);
        return 0;
    }
    if (!n || !e || !(op ? e->ops >> q.aop & 1 : q.aop == RMA_SWAP))
        return malformed(src, "a question");
    /* Before its place is checked, which may be detached since. */
    int open = !acc_taken_back(&n->peer->asked, q.number);
    if (open && (!rma_window_at(w, q.disp, 0, (int64_t)e->elem.bytes, &off, &mem) ||
                 !acc_delegable(at.ctl, off, e)))
        return malformed(src, "a question");
    struct acc_question x = {.off = off, .elem = e, .op = op, .origin = &q.value,
                             .compare = &q.compare, .asked = &n->peer->asked, .number = q.number,
                             .asker = src};
    if (!open || !acc_answer(&at, &x))
        mark_read(w, n, q.number);
    return 0;
}

int rma_on_post(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    if (!w)
        return malformed(src, "a post for a window");
    if (rma_post_came(w, (int)h.src, (uint32_t)h.detached))
        log_fatal("out of memory for the posts of a window");
    progress_signal();
    return 0;
}
