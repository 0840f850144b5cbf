/* on_target.c - packets that act at the target.  Everything in them is checked before memory is touched (rma.md 5.10).
 *
 * An error is told with the packet's own answer, or kept for its origin until the next answer goes there. */
#include "rma/core/types.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

/* One packet under way: what its answers must carry. */
struct turn {
    struct rma_win *w;
    int src;     /* world rank */
    int granted; /* tell with the first answer that the lock is held */
    /* A BATCH's answers, as many as one packet holds. */
    unsigned n;
    size_t bytes, room; /* room 0: each answer goes by itself */
};

void rma_reply(struct rma_win *w, int src, struct rma_hdr *h, const void *data, size_t len)
{
    h->win = w->id;
    h->src = (uint32_t)w->rank;
    h->len = (uint32_t)len;
    struct iovec v[2] = {{h, sizeof *h}, {(void *)(uintptr_t)data, len}};
    am_reply(src, AM_RMA + h->type, v, len ? 2 : 1);
    rma_count(w, PVAR_RMA_MSGS, 1);
}

/* Send the answers gathered so far; a single one as the packet that it is. */
static void answers_send(struct turn *x)
{
    char *out = rma_room()->answers;
    struct rma_hdr h = {.type = RMA_PKT_ANSWERS, .count = x->n};
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
    size_t need = sizeof *r + rma_pad(len);
    if (need > x->room - x->bytes)
        answers_send(x);
    if (need > x->room) {
        rma_reply(x->w, x->src, r, data, len);
        return;
    }
    char *at = rma_room()->answers + x->bytes;
    r->win = x->w->id;
    r->src = (uint32_t)x->w->rank;
    r->len = (uint32_t)len;
    memcpy(at, r, sizeof *r);
    if (len)
        memcpy(at + sizeof *r, data, len);
    memset(at + sizeof *r + len, 0, rma_pad(len) - len);
    x->bytes += need;
    x->n++;
}

/* --- where an operation acts -------------------------------------------------------------- */

struct place {
    struct dt_type *t;   /* layout; NULL: runs */
    size_t count, from, len;
    char *at;            /* address of the target buffer */
    uint64_t off;        /* the same as an offset in the window */
    const struct rma_run *runs;
    unsigned nruns;
    struct dt_type *elem; /* accumulates */
    const char *data;
    size_t data_len;
};

static struct dt_type *type_of(struct rma *r, const void *flat, size_t len)
{
    for (unsigned i = 0; i < sizeof r->types / sizeof *r->types; i++)
        if (r->types[i].t && r->types[i].len == len && !memcmp(r->types[i].flat, flat, len))
            return r->types[i].t;
    return rma_type_learn(r, flat, len);
}

static struct dt_type *predefined(uint32_t handle)
{
    struct dt_type *t = dt_find((MPI_Datatype)handle);
    return t && (t->flags & DT_PREDEFINED) && t->size > 0 ? t : NULL;
}

/* The extension and what follows it. MPI error class or 0. */
static int place_ext(const struct rma_hdr *h, const char *payload, struct place *p)
{
    struct rma_ext e;
    size_t left = h->len, total;
    if (left < sizeof e)
        return MPI_ERR_OTHER;
    memcpy(&e, payload, sizeof e);
    payload += sizeof e;
    left -= sizeof e;
    p->count = e.count;
    p->from = e.offset;
    p->len = e.want;
    if (e.flat_len) {
        if (e.flat_len > left || rma_pad(e.flat_len) > left)
            return MPI_ERR_OTHER;
        p->t = type_of(rma_room(), payload, e.flat_len);
        if (!p->t)
            return MPI_ERR_TYPE;
        payload += rma_pad(e.flat_len);
        left -= rma_pad(e.flat_len);
    } else if (e.nruns) {
        if (e.nruns > left / sizeof *p->runs)
            return MPI_ERR_OTHER;
        p->runs = (const struct rma_run *)payload;
        p->nruns = e.nruns;
        payload += e.nruns * sizeof *p->runs;
        left -= e.nruns * sizeof *p->runs;
    } else if ((p->t = predefined(h->dt)) == NULL) {
        return MPI_ERR_TYPE;
    }
    p->data = payload;
    p->data_len = left;
    if (p->t && (dt_total(p->t, p->count, &total) || p->from > total || p->len > total - p->from))
        return MPI_ERR_COUNT;
    return 0;
}

/* Does [disp + lo, disp + hi) lie in the window?  *at: where disp is in memory, which may be NULL: MPI_BOTTOM. */
static int window_at(struct rma_win *w, uint64_t disp, int64_t lo, int64_t hi, uint64_t *off, char **at)
{
    if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        *off = disp;
        *at = (char *)(uintptr_t)disp;
        return lo != hi && rma_win_local(w, disp + (uint64_t)lo, (uint64_t)(hi - lo));
    }
    if (rma_offset(disp, (uint64_t)w->disp_unit, lo, hi, (uint64_t)w->bytes, off))
        return 0;
    *at = (char *)((uintptr_t)w->base + (uintptr_t)*off);
    return 1;
}

static int place_runs(struct rma_win *w, const struct rma_hdr *h, struct place *p)
{
    size_t sum = 0;
    for (unsigned i = 0; i < p->nruns; i++) {
        int64_t lo = p->runs[i].disp, hi;
        uint64_t off;
        char *at;
        if (p->runs[i].len > INT64_MAX || __builtin_add_overflow(lo, (int64_t)p->runs[i].len, &hi) ||
            p->runs[i].len > p->len - sum || (p->elem && p->runs[i].len % p->elem->elem.bytes))
            return MPI_ERR_RMA_RANGE;
        /* An element of a pair type spans more bytes than it has. */
        if (p->elem && dt_bounds(p->elem, p->runs[i].len / p->elem->elem.bytes, &(int64_t){0}, &hi))
            return MPI_ERR_RMA_RANGE;
        if (p->elem && __builtin_add_overflow(lo, hi, &hi))
            return MPI_ERR_RMA_RANGE;
        if (!window_at(w, h->disp, lo, hi, &off, &at))
            return MPI_ERR_RMA_RANGE;
        sum += p->runs[i].len;
    }
    p->off = w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? h->disp : h->disp * (uint64_t)w->disp_unit;
    p->at = (char *)((uintptr_t)(w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? NULL : w->base) + p->off);
    return sum == p->len ? 0 : MPI_ERR_COUNT;
}

/* A pair spans more bytes than it has, and what came as a layout of pairs may have other blocks: is room for each in the window? */
static int pairs_fit(struct rma_win *w, const struct rma_hdr *h, const struct place *p)
{
    size_t bytes = p->elem->elem.bytes;
    for (size_t pos = p->from; pos < p->from + p->len; pos += bytes) {
        struct iovec iov;
        size_t got;
        uint64_t off;
        char *at;
        int64_t lo, hi;
        if (dt_iov(p->t, p->count, NULL, pos, bytes, &iov, 1, &got) == 0 || dt_bounds(p->elem, 1, &lo, &hi))
            return 0;
        int64_t first = (int64_t)(uintptr_t)iov.iov_base;
        if (__builtin_add_overflow(lo, first, &lo) || __builtin_add_overflow(hi, first, &hi) || !window_at(w, h->disp, lo, hi, &off, &at))
            return 0;
    }
    return 1;
}

static int place_find(struct rma_win *w, const struct rma_hdr *h, const char *payload, struct place *p)
{
    int64_t lo, hi;
    int acc = h->type == RMA_PKT_ACC || h->type == RMA_PKT_GACC || h->type == RMA_PKT_CAS;
    memset(p, 0, sizeof *p);
    if (h->flags & RMA_F_EXT) {
        int cls = place_ext(h, payload, p);
        if (cls)
            return cls;
    } else {
        p->t = predefined(h->dt);
        if (!p->t)
            return MPI_ERR_TYPE;
        p->count = h->count;
        p->len = p->count * (size_t)p->t->size;
        p->data = payload;
        p->data_len = h->len;
    }
    if (acc) {
        p->elem = predefined(h->dt);
        if (!p->elem || p->elem->basic != p->elem || (p->t && p->t->basic != p->elem) ||
            p->from % p->elem->elem.bytes || p->len % p->elem->elem.bytes)
            return MPI_ERR_TYPE;
    }
    if (!p->t)
        return place_runs(w, h, p);
    if (dt_bounds(p->t, p->count, &lo, &hi))
        return MPI_ERR_COUNT;
    if (!window_at(w, h->disp, lo, hi, &p->off, &p->at) &&
        !(w->flavor == MPI_WIN_FLAVOR_DYNAMIC && rma_win_holds(w, h->disp, p->t, p->count, p->from, p->len)))
        return MPI_ERR_RMA_RANGE;
    if (!acc || p->t == p->elem || p->elem->elem.kind != DT_PAIR)
        return 0;
    if (p->len > p->data_len && p->len > rma_room()->reply_bytes) /* more than came, and more than an answer has room for */
        return MPI_ERR_COUNT;
    return pairs_fit(w, h, p) ? 0 : MPI_ERR_RMA_RANGE;
}

/* --- operations -------------------------------------------------------------------------------- */

static int run_put(const struct place *p)
{
    if (p->data_len != p->len)
        return MPI_ERR_COUNT;
    if (p->t) {
        dt_unpack(p->t, p->count, p->at, p->from, p->data, p->len);
        return 0;
    }
    const char *data = p->data;
    for (unsigned i = 0; i < p->nruns; i++) {
        memcpy((char *)((uintptr_t)p->at + (uint64_t)p->runs[i].disp), data, p->runs[i].len);
        data += p->runs[i].len;
    }
    return 0;
}

/* Data for the answer: in place when contiguous, else packed. */
static const char *run_get(const struct place *p, char *buf)
{
    if (p->t && dt_is_block(p->t, p->count))
        return (const char *)dt_start(p->t, p->at) + p->from;
    if (p->t) {
        dt_pack(p->t, p->count, p->at, p->from, buf, p->len);
        return buf;
    }
    char *out = buf;
    for (unsigned i = 0; i < p->nruns; i++) {
        memcpy(out, (const char *)((uintptr_t)p->at + (uint64_t)p->runs[i].disp), p->runs[i].len);
        out += p->runs[i].len;
    }
    return buf;
}

static struct acc_target own_memory(const struct rma_win *w)
{
    const struct rma_near *n = &w->near.near[w->node.n.me];
    return (struct acc_target){
        .ctl = n->acc, .base = w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? NULL : w->base, .host_index = -1};
}

static int run_acc(struct rma_win *w, const struct rma_hdr *h, const struct place *p, char *result)
{
    struct dt_op *op = h->aop > 0 && h->aop < DT_OPS ? dt_op_find((MPI_Op)(0x58000000 | h->aop)) : NULL;
    if (!op || dt_op_check(op, p->elem, DT_FOR_ACC))
        return MPI_ERR_OP;
    if (p->data_len != (op->index == DT_NO_OP ? 0 : p->len))
        return MPI_ERR_COUNT;
    struct acc_target at = own_memory(w);
    /* acc_one() has the element as it lies in memory, a packet has it packed: pair types may differ. */
    if (p->t == p->elem && p->count == 1 && p->len == p->elem->elem.bytes && p->elem->elem.bytes == p->elem->elem.stride)
        return acc_one(&at, p->off, p->elem, op, p->data, result) ? MPI_ERR_OTHER : 0;
    struct acc_args a = {.elem = p->elem, .op = op, .off = p->off, .origin = p->data, .fetches = result != NULL,
                         .result = result};
    if (p->t) {
        a.tcount = p->count;
        a.ttype = p->t;
        a.pos = p->from;
        a.len = p->len;
        return acc_apply(&at, &a) ? MPI_ERR_OTHER : 0;
    }
    a.ttype = p->elem;
    for (unsigned i = 0; i < p->nruns; i++) {
        a.off = p->off + (uint64_t)p->runs[i].disp;
        a.len = p->runs[i].len;
        a.tcount = a.len / p->elem->elem.bytes;
        if (acc_apply(&at, &a))
            return MPI_ERR_OTHER;
        if (op->index != DT_NO_OP)
            a.origin = (const char *)a.origin + a.len;
        if (result)
            a.result = (char *)a.result + a.len;
    }
    return 0;
}

int rma_part(struct rma_win *w, const struct rma_hdr *h, uint64_t count, size_t from, size_t len, const void *data, char *result)
{
    int64_t lo, hi;
    size_t total;
    struct dt_type *e = predefined(h->dt);
    struct place p = {.t = e, .elem = e, .count = count, .from = from, .len = len, .data = data, .data_len = len};
    if (!e || e->basic != e || e->elem.bytes != e->elem.stride)
        return MPI_ERR_TYPE;
    if (count > SIZE_MAX || dt_total(e, count, &total) || from > total || len > total - from || dt_bounds(e, count, &lo, &hi))
        return MPI_ERR_COUNT;
    if (!window_at(w, h->disp, lo, hi, &p.off, &p.at))
        return MPI_ERR_RMA_RANGE;
    if (h->aop)
        return h->aop == DT_NO_OP ? MPI_ERR_OP : run_acc(w, h, &p, result);
    if (!result)
        return run_put(&p);
    dt_pack(e, p.count, p.at, from, result, len);
    return 0;
}

static int run_cas(struct rma_win *w, const struct place *p, char *result)
{
    size_t size = p->elem->elem.bytes;
    if (p->t != p->elem || p->count != 1 || p->data_len != 2 * size)
        return MPI_ERR_COUNT;
    struct acc_target at = own_memory(w);
    return acc_cas(&at, p->off, p->elem, p->data + size, p->data, result) ? MPI_ERR_OTHER : 0;
}

/* Many operations that are all alike: what they have in common is looked at once, each place by itself.  One out of range keeps
 * no other from being done; *bad: the displacement of the first that failed, else of the last. */
static int run_train(struct rma_win *w, const struct rma_hdr *h, const char *at, struct rma_hdr *bad)
{
    struct dt_type *e = predefined(h->dt);
    struct dt_op *op = NULL;
    size_t bytes, step;
    int cls = 0;
    if (!e || !rma_train_type(e))
        return MPI_ERR_TYPE;
    if (h->aop) {
        op = h->aop < DT_NO_OP ? dt_op_find((MPI_Op)(0x58000000 | h->aop)) : NULL;
        if (!op || dt_op_check(op, e, DT_FOR_ACC))
            return MPI_ERR_OP;
    }
    if (h->flags & RMA_F_EXT || !h->disp || h->disp > h->len || dt_total(e, (size_t)h->disp, &bytes) || bytes > h->len)
        return MPI_ERR_COUNT;
    step = sizeof(uint64_t) + rma_pad(bytes);
    if (h->len % step || h->len / step != h->count)
        return MPI_ERR_COUNT;
    struct acc_target own = own_memory(w);
    struct acc_args a = {.elem = e, .op = op, .tcount = (size_t)h->disp, .ttype = e, .len = bytes};
    for (const char *end = at + h->len; at != end; at += step) {
        uint64_t disp, off;
        char *mem;
        const char *data = at + sizeof disp;
        memcpy(&disp, at, sizeof disp);
        int err = 0;
        if (!window_at(w, disp, 0, (int64_t)bytes, &off, &mem)) {
            err = MPI_ERR_RMA_RANGE;
        } else if (!op) {
            rma_near_put(data, mem, bytes);
        } else if (h->disp == 1) {
            err = acc_one(&own, off, e, op, data, NULL);
        } else {
            a.off = off;
            a.origin = data;
            err = acc_apply(&own, &a);
        }
        if (!cls)
            bad->disp = disp;
        if (err && !cls)
            cls = err == MPI_ERR_RMA_RANGE ? err : MPI_ERR_OTHER;
    }
    return cls;
}

/* --- errors to tell ------------------------------------------------------------------------------- */

static struct rma_fault fault_of(const struct rma_win *w, const struct rma_hdr *h, const struct place *p, int cls)
{
    struct rma_fault f = {.disp = h->disp, .count = p && p->count ? p->count : h->count, .type = h->type, .cls = (uint8_t)cls};
    if (p && p->t && p->t->flags & DT_PREDEFINED)
        f.dt = (uint32_t)p->t->obj.handle;
    else if (!(h->flags & RMA_F_EXT))
        f.dt = h->dt;
    f.bytes = w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? RMA_FAULT_DYNAMIC : (uint64_t)w->bytes;
    return f;
}

/* The first error of an origin is kept for its next answer. */
static void error_keep(struct rma_win *w, uint32_t rank, const struct rma_fault *f)
{
    if (map_get(&w->far_errors, (uint64_t)rank + 1))
        return;
    struct rma_fault *kept = malloc(sizeof *kept);
    if (kept)
        *kept = *f;
    if (!kept || map_put(&w->far_errors, (uint64_t)rank + 1, kept))
        log_fatal("out of memory for an error of rank %u of a window", (unsigned)rank);
}

static void keep_fault(struct turn *x, const struct rma_hdr *h, const struct place *p, int cls)
{
    struct rma_fault f = fault_of(x->w, h, p, cls);
    error_keep(x->w, h->src, &f);
}

/* 1 and *f: what was kept of that origin. */
static int error_take(struct rma_win *w, uint32_t rank, struct rma_fault *f)
{
    struct rma_fault *kept = w->far_errors.count ? map_del(&w->far_errors, (uint64_t)rank + 1) : NULL;
    if (!kept)
        return 0;
    *f = *kept;
    free(kept);
    return 1;
}

void rma_errors_free(struct rma_win *w)
{
    struct map_entry *e;
    for (size_t at = 0; (e = map_next(&w->far_errors, &at)) != NULL;)
        free(e->value);
    map_destroy(&w->far_errors);
}

/* --- one packet ------------------------------------------------------------------------------------ */

/* UNLOCK and COMPLETE, after the operation and before its answer. */
static void run_sync(struct turn *x, const struct rma_hdr *h)
{
    if (h->flags & RMA_F_COMPLETE)
        rma_on_complete(x->w, (int)h->src);
    if (h->flags & RMA_F_UNLOCK) {
        int cls = rma_lockq_release(x->w, x->src);
        if (cls)
            keep_fault(x, h, NULL, cls);
    }
}

static int is_answered(int type)
{
    return type == RMA_PKT_GET || type == RMA_PKT_GACC || type == RMA_PKT_CAS;
}

static void run_answered(struct turn *x, const struct rma_hdr *h, const char *payload)
{
    struct rma *r = rma_room();
    struct place p;
    const char *data = r->reply;
    int cls = place_find(x->w, h, payload, &p);
    if (!cls && p.len > r->reply_bytes - sizeof *h)
        cls = MPI_ERR_COUNT;
    if (!cls && h->type == RMA_PKT_GET)
        data = run_get(&p, r->reply);
    else if (!cls)
        cls = h->type == RMA_PKT_CAS ? run_cas(x->w, &p, r->reply) : run_acc(x->w, h, &p, r->reply);
    if ((h->flags & (RMA_F_UNLOCK | RMA_F_COMPLETE)) && !cls && data != r->reply)
        data = memcpy(r->reply, data, p.len); /* once given up, the window's memory is others' to change */
    sched_point();
    run_sync(x, h);
    struct rma_hdr a = {.type = RMA_PKT_DATA, .disp = p.from, .count = (uint32_t)p.len, .op = h->op, .token = h->token};
    struct rma_fault f, kept;
    size_t both = 0; /* bytes of an answer with an earlier operation's fault behind it, all in r->reply */
    if (cls)
        f = fault_of(x->w, h, &p, cls);
    if (h->flags & (RMA_F_DONE | RMA_F_UNLOCK)) {
        a.flags |= RMA_F_SIGNALED;
        if (error_take(x->w, h->src, &kept)) {
            size_t len = cls ? sizeof f : p.len;
            const char *what = cls ? (const char *)&f : data;
            if (len + sizeof kept <= r->reply_bytes - sizeof *h) { /* what it says itself is none the worse for it */
                data = what == r->reply || !len ? r->reply : memcpy(r->reply, what, len);
                memcpy(r->reply + len, &kept, sizeof kept);
                both = len + sizeof kept;
                a.flags |= RMA_F_FAULT;
            } else { /* origins leave room for it */
                f = kept;
                cls = f.cls;
            }
        }
    }
    a.aop = (uint8_t)cls;
    if (h->flags & RMA_F_EXT && cls) { /* what the origin asked for, however wrong the rest was */
        struct rma_ext e;
        if (h->len >= sizeof e) {
            memcpy(&e, payload, sizeof e);
            a.count = (uint32_t)e.want;
        }
    }
    if (both)
        answer(x, &a, data, both);
    else
        answer(x, &a, cls ? (const char *)&f : data, cls ? sizeof f : p.len);
}

/* So that the origin need not ask again (R11).  at: displacement of the last operation.  Bytes of payload, which are in *told. */
static size_t tell_window(struct rma_win *w, uint64_t at, struct rma_hdr *a, struct rma_told *told)
{
    if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        const struct rma_attached *g = rma_win_region(w, at);
        if (!g)
            return 0;
        *told = (struct rma_told){.base = g->base, .size = g->size, .detached = w->detached};
        a->count = 1;
        return sizeof *told;
    }
    if (w->disp_unit <= UINT32_MAX) {
        a->disp = (uint64_t)w->bytes;
        a->count = (uint32_t)w->disp_unit;
    }
    return 0;
}

static void run_one(struct turn *x, const struct rma_hdr *h, const char *payload)
{
    struct rma_fault f;
    struct rma_told told;
    struct place p;
    uint64_t at = h->disp;
    size_t tells = 0;
    int cls = 0;
    if (is_answered(h->type)) {
        run_answered(x, h, payload);
        return;
    }
    if (h->type == RMA_PKT_PUT || h->type == RMA_PKT_ACC || h->type == RMA_PKT_TRAIN) {
        struct rma_hdr bad = *h;
        if (h->type == RMA_PKT_TRAIN) { /* told as the one operation of it that failed */
            bad.type = h->aop ? RMA_PKT_ACC : RMA_PKT_PUT;
            bad.count = (uint32_t)h->disp;
            cls = run_train(x->w, h, payload, &bad);
            at = bad.disp;
        } else {
            cls = place_find(x->w, h, payload, &p);
            if (!cls)
                cls = h->type == RMA_PKT_PUT ? run_put(&p) : run_acc(x->w, h, &p, NULL);
        }
        if (cls) /* told by its own answer, which says nothing of others, or by the next synchronization's */
            f = fault_of(x->w, &bad, h->type == RMA_PKT_TRAIN ? NULL : &p, cls);
        if (cls && !(h->flags & RMA_F_ACK))
            error_keep(x->w, h->src, &f);
        sched_point(); /* near processes may look before the lock is given up or the end is told */
    }
    run_sync(x, h);
    if (!(h->flags & (RMA_F_DONE | RMA_F_UNLOCK | RMA_F_ACK)))
        return;
    struct rma_hdr a = {.type = RMA_PKT_ACK, .token = h->token, .op = h->flags & RMA_F_ACK ? h->op : 0};
    a.aop = (uint8_t)(h->flags & RMA_F_ACK ? cls : 0);
    if (h->flags & (RMA_F_DONE | RMA_F_UNLOCK)) {
        struct rma_fault kept;
        a.flags |= RMA_F_SIGNALED;
        if (error_take(x->w, h->src, &kept) && !a.aop) {
            f = kept;
            a.aop = f.cls;
        }
    }
    if (h->flags & RMA_F_COMPLETE && !a.aop)
        tells = tell_window(x->w, at, &a, &told);
    if (a.aop)
        answer(x, &a, &f, sizeof f);
    else
        answer(x, &a, &told, tells);
}

static void run_batch(struct turn *x, const struct rma_hdr *h, const char *payload)
{
    size_t at = 0, most = am_max(x->src), bytes = rma_room()->reply_bytes;
    bytes = most < bytes ? most : bytes;
    x->room = bytes > sizeof *h ? bytes - sizeof *h : 0;
    for (uint32_t i = 0; i < h->count && h->len - at >= sizeof *h; i++) {
        struct rma_hdr one;
        memcpy(&one, payload + at, sizeof one);
        at += sizeof one;
        if (one.len > h->len - at || (one.type > RMA_PKT_CAS && one.type != RMA_PKT_TRAIN) || one.win != h->win || one.src != h->src ||
            (one.flags & RMA_F_LOCK)) {
            keep_fault(x, h, NULL, MPI_ERR_OTHER);
            break;
        }
        run_one(x, &one, payload + at);
        at += rma_pad(one.len) <= h->len - at ? rma_pad(one.len) : h->len - at;
    }
    answers_send(x);
    x->room = 0; /* what else there is to say goes by itself */
}

void rma_run_packet(struct rma_win *w, int src, const struct rma_hdr *h, const char *payload, int granted)
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

/* The window a packet names, if it may come from src. */
struct rma_win *rma_packet_window(int src, const void *msg, size_t len, struct rma_hdr *h)
{
    if (len < sizeof *h)
        return NULL;
    memcpy(h, msg, sizeof *h);
    struct rma_win *w = rma_win_find(h->win);
    if (!w || h->src >= (uint32_t)w->size || rma_world(w, (int)h->src) != src || h->len != len - sizeof *h)
        return NULL;
    return w;
}

static int nonsense(int src, const char *what)
{
    rma_room()->nonsense++;
    am_nonsense(src, what);
    return 0;
}

int rma_on_op(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    if (!w)
        return nonsense(src, "an operation for a window");
    const char *payload = (const char *)msg + sizeof h;
    if (h.flags & RMA_F_LOCK)
        rma_lockq_ask(w, src, &h, payload);
    else
        rma_run_packet(w, src, &h, payload, 0);
    return 0;
}

/* One element, asked of this process by a near one (one.c).  What does not fit is not answered: the asker takes it back. */
int rma_on_one(int src, const void *msg, size_t len)
{
    struct rma_one q;
    if (len != sizeof q)
        return nonsense(src, "a question");
    memcpy(&q, msg, sizeof q);
    struct rma_win *w = rma_win_find(q.win);
    if (!w)
        return 0; /* taken back, and the window ended since */
    struct rma_near *n = q.src < (uint32_t)w->size && rma_world(w, (int)q.src) == src ? rma_near_of(w, (int)q.src) : NULL;
    struct dt_type *e = predefined(RMA_ONE_TYPES | q.elem);
    struct dt_op *op = q.aop < DT_OPS ? proc->obj->table[OBJ_OP].builtin[q.aop] : NULL;
    struct acc_target at = own_memory(w);
    uint64_t off = 0;
    char *mem;
    if (!n || !e || !(op ? e->ops >> q.aop & 1 : q.aop == RMA_SWAP))
        return nonsense(src, "a question");
    /* Before its place is looked at, which may have been detached since. */
    int open = !acc_taken_back(&n->peer->asked, q.number);
    if (open && (!window_at(w, q.disp, 0, (int64_t)e->elem.bytes, &off, &mem) || !acc_askable(at.ctl, off, e)))
        return nonsense(src, "a question");
    struct acc_question x = {.off = off, .elem = e, .op = op, .origin = &q.value, .compare = &q.compare,
                             .asked = &n->peer->asked, .number = q.number, .asker = src};
    /* Release pairs with the acquire in listens() (one.c): it is looked at no more. */
    if (!open || !acc_answer(&at, &x))
        atomic_store_explicit(rma_read_word(w, rma_near_of(w, w->rank), n), q.number, memory_order_release);
    return 0;
}

int rma_on_post(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    if (!w)
        return nonsense(src, "a post for a window");
    if (rma_post_came(w, (int)h.src, (uint32_t)h.disp))
        log_fatal("out of memory for the posts of a window");
    progress_signal();
    return 0;
}
