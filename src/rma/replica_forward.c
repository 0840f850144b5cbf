/* replica_forward.c - accumulates of a window with copies. The owner's memory is changed as in any
 * window. What they made of it is put to the copies by the owner, before a synchronization of the
 * origin ends. Where all are on a node, the origin does that (replica_near.c). Start with
 * rma_forward_take(); doc/design/replicas.md has the rules.
 *
 *   origin   notes the elements that an accumulate changes
 *            => FORWARD, once the accumulates are done: some of these elements
 *   owner    reads them => COPY to each keeper; the next one when all that live have answered, so
 *            no older value comes to a copy behind a newer one
 *   keeper   stores them -> COPIED
 *   owner    -> FORWARDED
 *
 * The elements wait in lists and leave from a hook, so handlers never wait. */
#include "rma/rma_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "am/am.h"

enum { PACKET_BYTES = 8192, PACKET_LEAST = 256 };

/* What this process asks an owner for. */
struct asked {
    struct list link;
    int rank;
    uint32_t number;
    unsigned waits;      /* calls that have not read its result */
    struct rma_elems *e;
    size_t n, sent, out; /* elements: all, answered, under way */
    uint64_t from, end;  /* all are in these bytes of the part */
    /* due: the accumulates are done; gone: the owner has failed; cls: of another error; 0: none */
    uint8_t due, done, gone, cls;
};

/* What an origin has asked this process for. */
struct owed {
    struct list link;
    int src;        /* world rank */
    uint32_t number;
    uint8_t cls;    /* of an error */
    size_t n, next;
    struct rma_elems e[];
};

enum copy_state { COPY_DUE, COPY_OUT, COPY_OVER };

struct rma_forwards {
    struct rma_win *w;
    uint64_t id;             /* of the window, and its word in packets */
    uint32_t src;
    struct list asked, owed;
    uint32_t last;           /* number of what was asked last */
    uint32_t copy;           /* of the COPY under way */
    size_t len;              /* bytes of it; 0: none is */
    uint8_t *state;          /* [copy]: enum copy_state */
    char *buf;               /* PACKET_BYTES */
    uint8_t closed;          /* nothing changes the copies here any more */
    struct progress_hook hook;
};

/* --- begin, end ------------------------------------------------------------------------------- */

static int advance(void *arg);

int rma_forward_begin(struct rma_replicas *x, struct rma_win *w)
{
    struct rma_forwards *f = x->forwards = calloc(1, sizeof *f);
    if (!f)
        return -ENOMEM;
    f->w = w;
    f->id = w->id;
    f->src = w->src;
    list_init(&f->asked);
    list_init(&f->owed);
    f->hook = (struct progress_hook){.fn = advance, .arg = x};
    f->state = malloc((size_t)x->k + 1);
    f->buf = malloc(PACKET_BYTES);
    return f->state && f->buf ? 0 : -ENOMEM;
}

/* A request, and no answer to one: FORWARD reserves no room for it. Else all processes could wait
 * for the owners with that room, and owners for room to be answered by keepers. The window may be
 * gone, so words name it. 0, AM_AGAIN, -errno. */
static int forwarded(int src, uint32_t win, uint32_t name, uint32_t number, int cls)
{
    struct rma_hdr h = {.type = RMA_PKT_FORWARDED, .aop = (uint8_t)cls, .win = win, .src = name,
                        .op = number};
    struct iovec v = {&h, sizeof h};
    return am_request(src, AM_RMA + h.type, &v, 1, 0);
}

static void owed_drop(struct owed *o)
{
    list_del(&o->link);
    free(o);
}

/* Processes that still ask have given up, too: their call has returned with an error, or they have
 * failed. */
void rma_forward_end(struct rma_replicas *x)
{
    struct rma_forwards *f = x->forwards;
    if (!f)
        return;
    x->forwards = NULL;
    progress_hook_del(&f->hook);
    while (!list_empty(&f->owed)) {
        struct owed *o = LIST_OBJ(f->owed.next, struct owed, link);
        (void)forwarded(o->src, (uint32_t)f->id, f->src, o->number, MPI_ERR_WIN);
        owed_drop(o);
    }
    rma_changes_forget(&x->changes);
    free(f->state);
    free(f->buf);
    free(f);
}

void rma_forward_close(struct rma_replicas *x)
{
    x->forwards->closed = 1;
    rma_changes_forget(&x->changes);
}

/* --- packets ---------------------------------------------------------------------------------- */

static int send_to(struct rma_win *w, int rank, struct rma_hdr *h, const void *data, size_t len,
                   unsigned replies)
{
    rma_name(w, h);
    h->len = (uint32_t)len;
    struct iovec v[2] = {{h, sizeof *h}, {(void *)(uintptr_t)data, len}};
    int err = am_request(rma_world(w, rank), AM_RMA + h->type, v, 2, replies);
    if (!err)
        rma_count(w, PVAR_RMA_MSGS, 1);
    return err;
}

/* Bytes that a packet to rank may have behind its header. */
static size_t room_to(const struct rma_win *w, int rank)
{
    size_t most = am_max(rma_world(w, rank)); /* 0: there is no way now */
    most = most > sizeof(struct rma_hdr) ? most - sizeof(struct rma_hdr) : PACKET_LEAST;
    return most < PACKET_BYTES ? most : PACKET_BYTES;
}

/* The window of a request, if it has copies. Else NULL, and *name is what names it in the answer:
 * this process does not know its rank any more, but the round is the asker's. */
static struct rma_replicas *replicas_of(int src, const void *msg, size_t len, struct rma_hdr *h,
                                        uint32_t *name)
{
    struct rma_win *w = rma_packet_window(src, msg, len, h);
    *name = w ? w->src : h->src & ~rma_self()->ranks;
    return w && w->replicas && w->replicas->forwards ? w->replicas : NULL;
}

/* The window of an answer; NULL: none with copies. */
static struct rma_replicas *answered(const void *msg, size_t len, struct rma_hdr *h)
{
    if (len != sizeof *h)
        return NULL;
    memcpy(h, msg, sizeof *h);
    struct rma_win *w = rma_win_named(h->win, h->src); /* the rank in it may be unknown */
    return w ? w->replicas : NULL;
}

/* The predefined type of e, if all of it is in `bytes` from byte `from` on; *at: where. */
static struct dt_type *elems_type(const struct rma_elems *e, uint64_t from, uint64_t bytes,
                                  uint64_t *at)
{
    struct dt_type *t = rma_predefined(e->dt);
    int64_t lo, hi;
    if (!t || t->basic != t || !e->count || dt_bounds(t, e->count, &lo, &hi))
        return NULL;
    int there = e->off <= INT64_MAX && from <= INT64_MAX &&
                !rma_offset(from + e->off, 1, lo, hi, bytes, at);
    return there ? t : NULL;
}

/* --- owner ------------------------------------------------------------------------------------ */

static int keeper_world(const struct rma_replicas *x, int copy)
{
    return rankmap_world(x->map, rma_places_of(x, x->me)[copy].rank);
}

/* The next elements of o as they are now: one COPY. */
static void fill(struct rma_replicas *x, struct owed *o)
{
    struct rma_forwards *f = x->forwards;
    struct acc_target own = rma_own_memory(f->w);
    size_t room = PACKET_BYTES;
    for (int j = 0; j < x->k; j++) {
        size_t r = am_failed(keeper_world(x, j)) ? room
                                                 : room_to(f->w, rma_places_of(x, x->me)[j].rank);
        room = r < room ? r : room;
    }
    while (o->next < o->n) {
        struct rma_elems *e = &o->e[o->next], head = *e;
        const struct dt_type *t = dt_find((MPI_Datatype)e->dt);
        size_t size = t->elem.bytes, left = room - f->len, most;
        most = left > sizeof head + RMA_PAD ? (left - sizeof head - RMA_PAD) / size : 0;
        most += !most && !f->len; /* a packet has one at least */
        if (!most)
            return;
        head.count = most < e->count ? (uint32_t)most : e->count;
        memcpy(f->buf + f->len, &head, sizeof head);
        f->len += sizeof head;
        /* under its stripe, or by the processor's atomics, as accumulates are */
        struct acc_args a = {.elem = t, .op = dt_op_find(MPI_NO_OP), .off = head.off,
                             .tcount = head.count, .ttype = t, .len = head.count * size,
                             .fetches = 1, .result = f->buf + f->len};
        if (acc_apply(&own, &a))
            o->cls = MPI_ERR_OTHER;
        f->len += rma_pad(a.len);
        e->off += head.count * (uint64_t)t->extent;
        e->count -= head.count;
        o->next += !e->count;
    }
}

/* 1: keeper `copy` has answered, or has failed. */
static int copy_over(struct rma_replicas *x, struct owed *o, int copy)
{
    struct rma_forwards *f = x->forwards;
    const struct rma_place *p = &rma_places_of(x, x->me)[copy];
    if (f->state[copy] != COPY_OVER && am_failed(keeper_world(x, copy)))
        f->state[copy] = COPY_OVER;
    if (f->state[copy] == COPY_DUE) {
        struct rma_hdr h = {.type = RMA_PKT_COPY, .disp = p->at, .op = f->copy};
        int err = send_to(f->w, p->rank, &h, f->buf, f->len, 1);
        if (err == AM_AGAIN)
            return 0;
        if (err && err != -ENOTCONN)
            o->cls = MPI_ERR_OTHER;
        f->state[copy] = err ? COPY_OVER : COPY_OUT;
    }
    return f->state[copy] == COPY_OVER;
}

static int serve(struct rma_replicas *x)
{
    struct rma_forwards *f = x->forwards;
    int events = 0;
    while (!list_empty(&f->owed)) {
        struct owed *o = LIST_OBJ(f->owed.next, struct owed, link);
        int over = 1;
        if (!f->len && o->next == o->n) {
            if (forwarded(o->src, (uint32_t)f->id, f->src, o->number, o->cls) == AM_AGAIN)
                break;
            owed_drop(o);
            events++;
            continue;
        }
        if (!f->len) {
            fill(x, o);
            f->copy++;
            memset(f->state, COPY_DUE, (size_t)x->k);
        }
        for (int j = 0; j < x->k; j++)
            over &= copy_over(x, o, j);
        if (!over)
            break;
        f->len = 0;
        events++;
    }
    return events;
}

int rma_on_forward(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    uint32_t name;
    if (len < sizeof h)
        return 0;
    struct rma_replicas *x = replicas_of(src, msg, len, &h, &name);
    if (!x)
        return forwarded(src, h.win, name, h.op, MPI_ERR_WIN) == AM_AGAIN ? AM_AGAIN : 0;
    struct rma_forwards *f = x->forwards;
    size_t n = h.len / sizeof(struct rma_elems);
    int ok = n && h.len % sizeof(struct rma_elems) == 0;
    struct owed *o = ok ? malloc(sizeof *o + h.len) : NULL;
    for (size_t i = 0; o && ok && i < n; i++) {
        uint64_t at;
        memcpy(&o->e[i], (const char *)msg + sizeof h + i * sizeof o->e[i], sizeof o->e[i]);
        ok = elems_type(&o->e[i], 0, (uint64_t)f->w->bytes, &at) != NULL;
    }
    if (!o || !ok) {
        int cls = ok ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
        free(o);
        return forwarded(src, h.win, f->src, h.op, cls) == AM_AGAIN ? AM_AGAIN : 0;
    }
    o->src = src;
    o->number = h.op;
    o->cls = 0;
    o->n = n;
    o->next = 0;
    list_push(&f->owed, &o->link);
    progress_hook_add(&f->hook);
    serve(x);
    return 0;
}

int rma_on_copied(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    struct rma_replicas *x = answered(msg, len, &h);
    struct rma_forwards *f = x ? x->forwards : NULL;
    if (!f || !f->len || h.op != f->copy)
        return 0;
    for (int j = 0; j < x->k; j++)
        if (f->state[j] == COPY_OUT && keeper_world(x, j) == src) {
            f->state[j] = COPY_OVER;
            if (h.aop) /* it has given up its copies */
                LIST_OBJ(f->owed.next, struct owed, link)->cls = h.aop;
        }
    serve(x);
    return 0;
}

/* --- keeper ----------------------------------------------------------------------------------- */

int rma_on_copy(int src, const void *msg, size_t len)
{
    struct rma_hdr h, r = {.type = RMA_PKT_COPIED, .aop = MPI_ERR_WIN};
    struct iovec v = {&r, sizeof r};
    if (len < sizeof h)
        return 0;
    struct rma_replicas *x = replicas_of(src, msg, len, &h, &r.src);
    r.win = h.win;
    r.op = h.op;
    if (!x) {
        am_reply(src, AM_RMA + RMA_PKT_COPIED, &v, 1); /* the request reserved room for it */
        return 0;
    }
    const char *from = (const char *)msg + sizeof h;
    size_t left = h.len;
    r.aop = x->forwards->closed || !x->copies ? MPI_ERR_WIN : 0;
    while (left && !r.aop) {
        struct rma_elems e;
        struct dt_type *t = NULL;
        uint64_t at;
        size_t bytes = 0;
        if (left >= sizeof e) {
            memcpy(&e, from, sizeof e);
            t = elems_type(&e, h.disp, (uint64_t)x->copies->bytes, &at);
            bytes = t ? rma_pad(e.count * (size_t)t->elem.bytes) : 0;
        }
        if (!t || bytes > left - sizeof e) {
            r.aop = MPI_ERR_OTHER;
            break;
        }
        dt_unpack(t, e.count, x->base + at, 0, from + sizeof e, e.count * (size_t)t->elem.bytes);
        from += sizeof e + bytes;
        left -= sizeof e + bytes;
    }
    rma_reply(x->forwards->w, src, &r, NULL, 0);
    return 0;
}

/* --- origin ----------------------------------------------------------------------------------- */

/* Where this process stores to the copies itself. Another thread's call may have given them up. */
static void mirror(struct rma_win *w, struct asked *a)
{
    a->done = 1;
    a->gone = boot_failed(rma_world(w, a->rank)) != 0;
    a->cls = a->gone ? MPI_ERR_OTHER : w->replicas->forwards->closed ? MPI_ERR_WIN : 0;
    if (!a->cls)
        rma_mirror(w, a->rank, a->e, a->n);
}

/* Sends what is due; 1: something happened. Nothing that a revocation has refused is copied: it
 * would race with another process's put to the same place. */
static int ask(struct rma_forwards *f, struct asked *a)
{
    if (!a->due || a->done || (a->out && !am_failed(rma_world(f->w, a->rank))) ||
        rma_is_revoked(f->w))
        return 0;
    if (f->w->replicas->near) {
        mirror(f->w, a);
        return 1;
    }
    size_t n = a->n - a->sent, most = room_to(f->w, a->rank) / sizeof *a->e;
    struct rma_hdr h = {.type = RMA_PKT_FORWARD, .op = a->number};
    n = n < most ? n : most;
    int err = a->out ? -ENOTCONN
                     : send_to(f->w, a->rank, &h, a->e + a->sent, n * sizeof *a->e, 0);
    if (err == AM_AGAIN)
        return 0;
    a->done = err != 0;
    a->gone = err == -ENOTCONN;
    a->cls = err ? MPI_ERR_OTHER : 0;
    a->out = n;
    return 1;
}

int rma_on_forwarded(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    struct rma_replicas *x = answered(msg, len, &h);
    struct rma_forwards *f = x ? x->forwards : NULL;
    for (struct list *l = f ? f->asked.next : NULL; l && l != &f->asked; l = l->next) {
        struct asked *a = LIST_OBJ(l, struct asked, link);
        if (a->number != h.op || rma_world(f->w, a->rank) != src || !a->out)
            continue;
        a->sent += a->out;
        a->out = 0;
        a->cls = h.aop;
        a->done = a->cls || a->sent == a->n;
        progress_signal();
        if (!a->done)
            ask(f, a);
    }
    return 0;
}

static int advance(void *arg)
{
    struct rma_replicas *x = arg;
    struct rma_forwards *f = x->forwards;
    int events = serve(x);
    for (struct list *l = f->asked.next; l != &f->asked; l = l->next)
        events += ask(f, LIST_OBJ(l, struct asked, link));
    if (list_empty(&f->asked) && list_empty(&f->owed))
        progress_hook_del(&f->hook);
    return events;
}

void rma_forward_failed(struct rma_replicas *x)
{
    if (x->forwards)
        progress_hook_add(&x->forwards->hook);
}

/* Does the call wait for a? What came later is of calls that have begun later. */
static int waits_for(const struct rma_forwarding *c, const struct asked *a)
{
    return (c->rank == FORWARD_ALL || c->rank == a->rank) && (int32_t)(a->number - c->last) <= 0;
}

static int all_answered(void *arg)
{
    const struct rma_forwarding *c = arg;
    const struct rma_forwards *f = c->w->replicas->forwards;
    if (rma_is_revoked(c->w))
        return 1;
    for (const struct list *l = f->asked.next; l != &f->asked; l = l->next) {
        const struct asked *a = LIST_OBJ(l, struct asked, link);
        if (!a->done && waits_for(c, a))
            return 0;
    }
    return 1;
}

static int asked_error(struct rma_win *w, const struct asked *a)
{
    if (!a->done || a->cls == MPI_ERR_WIN)
        return rma_revoked_error(w);
    if (!a->cls)
        return MPI_SUCCESS;
    if (a->gone || boot_failed(rma_world(w, a->rank)))
        return rma_failed_error(w, a->rank);
    return err_make(a->cls, "%s: the copies of what rank %d has on %s are not up to date",
                    rma_call(), a->rank, rma_win_text(w));
}

static void see_passed(struct rma_putting *p, const struct asked *a)
{
    int its = !a->done && a->rank == p->rank;
    if (its && !p->passed && a->from < p->end && p->from < a->end)
        p->passed = rma_elems_meet(a->e, a->n, p->from, p->end);
}

void rma_putting_begin(struct rma_replicas *x, struct rma_putting *p)
{
    const struct rma_forwards *f = x->forwards;
    p->passed = 0;
    for (const struct list *l = f->asked.next; l != &f->asked; l = l->next)
        see_passed(p, LIST_OBJ(l, const struct asked, link));
    list_push(&x->puts, &p->link);
}

/* The notes v[0, n), all of one rank. 0: no memory. */
static int asked_make(struct rma_replicas *x, const struct rma_changed *v, size_t n)
{
    struct rma_forwards *f = x->forwards;
    struct asked *a = calloc(1, sizeof *a);
    struct rma_elems *e = malloc(n * sizeof *e);
    if (!a || !e) {
        free(a);
        free(e);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        e[i] = v[i].e;
    *a = (struct asked){.rank = v->rank, .number = ++f->last, .e = e, .n = n};
    rma_elems_bounds(e, n, &a->from, &a->end);
    list_push(&f->asked, &a->link);
    for (struct list *l = x->puts.next; l != &x->puts; l = l->next)
        see_passed(LIST_OBJ(l, struct rma_putting, link), a);
    return 1;
}

/* All that is noted of a rank. 0: no memory, and some of it is forgotten. */
static int take_notes(struct rma_replicas *x, int rank)
{
    struct rma_changes *c = &x->changes;
    size_t kept = 0;
    int ok = 1;
    rma_changes_join(c);
    for (size_t i = 0, end; i < c->n; i = end) {
        for (end = i + 1; end < c->n && c->of[end].rank == c->of[i].rank; end++)
            ;
        if (rank == FORWARD_ALL || c->of[i].rank == rank) {
            ok &= asked_make(x, c->of + i, end - i);
        } else {
            memmove(c->of + kept, c->of + i, (end - i) * sizeof *c->of);
            kept += end - i;
        }
    }
    c->n = kept;
    return ok;
}

void rma_forward_take(struct rma_win *w, int rank, struct rma_forwarding *c)
{
    struct rma_replicas *x = w->replicas;
    struct rma_forwards *f = x->forwards;
    *c = (struct rma_forwarding){.w = w, .rank = rank};
    if (f->closed)
        rma_changes_forget(&x->changes);
    if (rank != FORWARD_NONE && x->changes.n && !take_notes(x, rank))
        c->err = err_make(MPI_ERR_NO_MEM, "%s: no memory for copies of a window", rma_call());
    c->last = f->last;
    for (struct list *l = f->asked.next; l != &f->asked; l = l->next) {
        struct asked *a = LIST_OBJ(l, struct asked, link);
        a->waits += (unsigned)waits_for(c, a);
    }
}

int rma_forward_wait(struct rma_forwarding *c)
{
    struct rma_win *w = c->w;
    struct rma_forwards *f = w->replicas->forwards;
    int err = c->err;
    if (c->rank == FORWARD_NONE || list_empty(&f->asked))
        return err;
    /* Also what other threads have taken: this call has waited for the same accumulates, and those
     * may be in a longer call, which another process ends only after this one. */
    for (struct list *l = f->asked.next; l != &f->asked; l = l->next) {
        struct asked *a = LIST_OBJ(l, struct asked, link);
        a->due |= (uint8_t)waits_for(c, a);
        if (ask(f, a)) /* another thread may wait for it, too */
            progress_signal();
    }
    if (!all_answered(c)) {
        progress_hook_add(&f->hook);
        rma_await(w, WHY_FLUSH, all_answered, c, "copies of accumulates",
                  c->rank < 0 ? -1 : rma_world(w, c->rank));
    }
    for (struct list *l = f->asked.next, *next; l != &f->asked; l = next) {
        struct asked *a = LIST_OBJ(l, struct asked, link);
        next = l->next;
        if (!waits_for(c, a))
            continue;
        err = rma_graver(err, asked_error(w, a));
        if (--a->waits)
            continue;
        list_del(&a->link);
        free(a->e);
        free(a);
    }
    return err;
}

int rma_forward_asked(const struct rma_replicas *x, int rank)
{
    const struct rma_forwards *f = x->forwards;
    for (const struct list *l = f->asked.next; l != &f->asked; l = l->next)
        if (rank == FORWARD_ALL || LIST_OBJ(l, const struct asked, link)->rank == rank)
            return 1;
    return 0;
}

static int nothing_owed(void *arg)
{
    struct rma_forwards *f = arg;
    return list_empty(&f->owed) || rma_is_revoked(f->w);
}

void rma_forward_settle(struct rma_win *w)
{
    struct rma_forwards *f = w->replicas->forwards;
    if (!nothing_owed(f))
        rma_await(w, WHY_FLUSH, nothing_owed, f, "copies of accumulates", -1);
}
