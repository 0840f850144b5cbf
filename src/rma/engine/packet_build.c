/* packet_build.c - builds one packet from the front of a target's queue: an operation, a part of a
 * long one, or several small ones. Start with rma_packet_next(). */
#include "rma/engine/packet_build.h"

#include <string.h>

/* --- one operation as a packet --------------------------------------------------------------- */

static int has_data(const struct rma_op *op)
{
    return op->kind != RMA_GET && !(op->flags & OP_NO_DATA);
}

/* Room that its notification takes in a packet. */
static size_t note_bytes(const struct rma_op *op)
{
    return op->a.notify && !rma_note_follows(op) ? sizeof(struct rma_noted) : 0;
}

/* How an operation goes as a whole, without extension: `data` bytes of payload for `count` elements
 * of `elem`. data SIZE_MAX: it does not. */
struct shape {
    struct dt_type *elem;
    size_t count, data;
};

static struct shape shape_of(const struct rma_op *op, size_t room)
{
    if (op->coalesced) /* it was made to fit */
        return (struct shape){op->a.ttype, op->coalesced_ops, op->bytes};
    struct shape x = {.data = SIZE_MAX};
    if (!op->bytes) /* only a notification: DONE */
        return x;
    struct dt_type *e = rma_simple_elem(op, &x.count);
    if (!e || op->sent || x.count > UINT32_MAX || x.count * (size_t)e->size != op->bytes)
        return x;
    x.elem = e;
    size_t data = op->kind == RMA_CAS ? 2 * op->bytes : has_data(op) ? op->bytes : 0;
    size_t back = op->flags & OP_ANSWERS ? op->bytes + sizeof(struct rma_fault) : 0,
           most = back > data ? back : data;
    if (most <= room - sizeof(struct rma_hdr) - note_bytes(op))
        x.data = data;
    return x;
}

static enum rma_packet packet_type(const struct rma_op *op)
{
    static const uint8_t of[] = {
        [RMA_PUT] = RMA_PKT_PUT,   [RMA_GET] = RMA_PKT_GET,  [RMA_ACC] = RMA_PKT_ACC,
        [RMA_GACC] = RMA_PKT_GACC, [RMA_FOP] = RMA_PKT_GACC, [RMA_CAS] = RMA_PKT_CAS};
    return of[op->kind];
}

static void op_header(const struct rma_target *t, struct rma_op *op, struct rma_hdr *h)
{
    *h = header(t, op->coalesced ? RMA_PKT_COALESCED : packet_type(op));
    if (!op->bytes)
        h->type = RMA_PKT_DONE;
    h->aop = op->aop;
    if (op->coalesced)
        h->each = (uint64_t)op->a.tcount;
    else
        h->disp = (uint64_t)op->a.disp;
    h->op = op->id;
    rma_coalesce_seal(op); /* what it holds now is what leaves */
    if (rma_op_asks(op))
        h->flags |= RMA_F_ACK;
}

/* Copy the data of a whole small operation to `out`. */
static void data_out(const struct rma_op *op, char *out)
{
    if (op->coalesced) {
        memcpy(out, op->coalesced, op->bytes);
    } else if (op->kind == RMA_CAS) {
        dt_pack(op->a.ttype, 1, op->a.compare, 0, out, op->bytes);
        dt_pack(op->a.ttype, 1, op->a.origin, 0, out + op->bytes, op->bytes);
    } else if (has_data(op) && dt_is_block(op->a.otype, (size_t)op->a.ocount)) {
        const void *from = dt_start(op->a.otype, op->a.origin);
        if (op->bytes == 8)
            memcpy(out, from, 8); /* two instructions for the usual length */
        else
            memcpy(out, from, op->bytes);
    } else if (has_data(op)) {
        dt_pack(op->a.otype, (size_t)op->a.ocount, op->a.origin, 0, out, op->bytes);
    }
}

/* Data [sent, sent + part) as a piece: in place, or packed into `room` of the scratch buffer. */
static void data_piece(struct packet *p, struct rma_op *op, char *scratch)
{
    if (!has_data(op))
        return;
    struct iovec *v = &p->iov[p->n++];
    v->iov_len = p->part;
    if (op->coalesced) {
        v->iov_base = op->coalesced;
    } else if (op->kind == RMA_CAS) {
        data_out(op, scratch);
        v->iov_base = scratch;
        v->iov_len = 2 * op->bytes;
    } else if (dt_is_block(op->a.otype, (size_t)op->a.ocount)) {
        v->iov_base = (char *)dt_start(op->a.otype, op->a.origin) + op->sent;
        p->zcopy = p->part >= op->t->zcopy_min ? op : NULL;
    } else {
        dt_pack(op->a.otype, (size_t)op->a.ocount, op->a.origin, op->sent, scratch, p->part);
        v->iov_base = scratch;
        rma_count(op->t->w, PVAR_RMA_PACKED, 1);
    }
    p->h.len += (uint32_t)v->iov_len;
}

/* Blocks of the target layout for this part, at most `max`; fills p->part. */
static unsigned make_runs(const struct rma_op *op, struct packet *p, struct rma_run *run,
                          size_t max, size_t len)
{
    enum { BLOCKS = 64 }; /* looked up at once */
    struct iovec v[BLOCKS];
    size_t n = 0, done = 0;
    /* Elements of a pair type may have gaps inside: one run each, which gives the element's
     * start. */
    size_t step = op->elem && op->elem->elem.bytes != op->elem->elem.stride ? op->elem->elem.bytes
                                                                            : 0;
    while (n < max && done < len) {
        size_t got = 0, ask = step ? step : len - done;
        /* a whole element, however many blocks it has */
        size_t room = max - n < BLOCKS && !step ? max - n : BLOCKS;
        size_t k = dt_iov(op->a.ttype, (size_t)op->a.tcount, NULL, op->sent + done, ask, v, room,
                          &got);
        if (!k)
            break;
        for (size_t i = 0; i < (step ? 1 : k); i++)
            run[n++] = (struct rma_run){(int64_t)(intptr_t)v[i].iov_base,
                                        step ? step : v[i].iov_len};
        done += got;
    }
    p->part = done;
    return (unsigned)n;
}

static void part_runs(struct packet *p, const struct rma_op *op, size_t room, size_t len,
                      char **scratch)
{
    size_t max = room / (4 * sizeof(struct rma_run)), most = room - max * sizeof(struct rma_run);
    size_t unit = op->elem ? op->elem->elem.bytes : 1;
    if (len > most)
        len = most - most % unit;
    struct rma_run *run = (struct rma_run *)*scratch;
    p->e.nruns = make_runs(op, p, run, max, len);
    size_t bytes = p->e.nruns * sizeof *run;
    p->iov[p->n++] = (struct iovec){run, bytes};
    p->h.len += (uint32_t)bytes;
    *scratch += bytes;
}

/* A part of a long operation, or one with a derived target type. */
static void part_ext(struct packet *p, struct rma_op *op, size_t cap, char *scratch)
{
    size_t count, flat_len, len = op->bytes - op->sent;
    size_t room = cap - sizeof p->h - sizeof p->e;
    _Static_assert(sizeof p->e >= sizeof(struct rma_fault),
                   "the answer to a part has room for a fault behind as many data");
    struct dt_type *e = rma_simple_elem(op, &count);
    size_t unit = op->elem ? op->elem->elem.bytes : e ? e->elem.bytes : 1;
    p->h.len = sizeof p->e;
    p->h.flags |= RMA_F_EXT;
    p->iov[p->n++] = (struct iovec){&p->e, sizeof p->e};
    p->e = (struct rma_ext){.offset = op->sent};
    if (e) {
        p->h.dt = (uint32_t)e->obj.handle;
        p->e.count = count;
    } else {
        const void *flat = dt_flat(op->a.ttype, &flat_len);
        p->e.count = (uint64_t)op->a.tcount;
        if (op->elem)
            p->h.dt = (uint32_t)op->elem->obj.handle;
        if (!flat || rma_pad(flat_len) > room / 4) {
            part_runs(p, op, room, len, &scratch);
            p->e.want = p->part;
            return;
        }
        static const char zeros[RMA_PAD];
        p->e.flat_len = (uint32_t)flat_len;
        p->iov[p->n++] = (struct iovec){(void *)(uintptr_t)flat, flat_len};
        if (rma_pad(flat_len) != flat_len)
            p->iov[p->n++] = (struct iovec){(void *)(uintptr_t)zeros, rma_pad(flat_len) - flat_len};
        p->h.len += (uint32_t)rma_pad(flat_len);
        room -= rma_pad(flat_len);
    }
    p->part = len <= room ? len : room - room % unit;
    p->e.want = p->part;
}

/* R11: may the target refuse op, which has no answer of its own? */
static int is_unsure(const struct rma_op *op)
{
    struct rma_target *t = op->t;
    return op->bytes && !t->unsure && !(op->flags & OP_ANSWERS) && rma_in(t->w, SET_PSCW) &&
           !rma_route_certain(t, op);
}

/* With the last part, before all that it brings. */
static void note_piece(struct packet *p, const struct rma_op *op)
{
    if (!op->a.notify || rma_note_follows(op) || op->sent + p->part < op->bytes)
        return;
    memmove(&p->iov[2], &p->iov[1], (size_t)(p->n - 1) * sizeof *p->iov);
    p->note = rma_note_of(op);
    p->iov[1] = (struct iovec){&p->note, sizeof p->note};
    p->n++;
    p->h.len += (uint32_t)sizeof p->note;
    p->h.flags |= RMA_F_NOTIFY;
}

/* The operation, or its next part, in at most `cap` bytes. */
static void packet_op(struct packet *p, struct rma_op *op, size_t cap, struct shape x)
{
    char *scratch = rma_self()->scratch;
    rma_self()->packed.t = NULL;
    op_header(op->t, op, &p->h);
    p->n = 1;
    p->ops = 1;
    p->zcopy = NULL;
    if (x.data != SIZE_MAX) {
        p->h.dt = (uint32_t)x.elem->obj.handle;
        p->h.count = (uint32_t)x.count;
        p->part = op->bytes;
    } else if (op->bytes) {
        part_ext(p, op, cap - note_bytes(op), scratch);
        scratch += p->e.nruns * sizeof(struct rma_run);
    } else {
        p->part = 0;
    }
    if (op->bytes)
        data_piece(p, op, scratch);
    note_piece(p, op);
    p->replies = (op->flags & OP_ANSWERS) || (p->h.flags & RMA_F_ACK) ? 1 : 0;
    p->dirty = !(op->flags & OP_ANSWERS);
    p->unsure = is_unsure(op);
}

/* --- several small ones ---------------------------------------------------------------------- */

/* Resume a batch that the transport refused, if it begins with the first operation of the queue.
 * Its bytes; 0: none. */
static size_t batch_resume(struct packet *p, const struct rma_target *t, unsigned n)
{
    const struct rma_packed *had = &rma_self()->packed;
    const struct rma_op *first = op_at(t->next);
    if (had->t != t || had->first != first->id || !had->ops || had->ops > n || first->sent)
        return 0;
    p->ops = had->ops;
    p->replies = had->replies;
    p->dirty = had->dirty;
    p->unsure = had->unsure;
    return had->bytes;
}

/* One more at out + at, if it may share the packet: its bytes, or 0. */
static size_t batch_append(struct packet *p, struct rma_op *op, char *out, size_t at, size_t cap)
{
    struct shape x = shape_of(op, cap);
    int brings = (op->flags & OP_ANSWERS) != 0;
    size_t note = note_bytes(op), data = x.data;
    if (data == SIZE_MAX || (brings && p->replies + 1 >= p->most_replies) || op->flags & OP_DIRECT)
        return 0;
    if ((!op->coalesced && !is_small(op)) ||
        sizeof p->h + at + sizeof(struct rma_hdr) + note + rma_pad(data) > cap)
        return 0;
    struct rma_hdr *h = (struct rma_hdr *)(out + at);
    op_header(op->t, op, h);
    h->dt = (uint32_t)x.elem->obj.handle;
    h->count = (uint32_t)x.count;
    h->len = (uint32_t)(note + data);
    out += at + sizeof *h;
    if (note) {
        h->flags |= RMA_F_NOTIFY;
        *(struct rma_noted *)out = rma_note_of(op);
        out += note;
    }
    data_out(op, out);
    if (data % RMA_PAD)
        memset(out + data, 0, rma_pad(data) - data);
    p->ops++;
    p->replies += (unsigned)brings;
    p->dirty |= !brings;
    p->unsure |= !p->unsure && is_unsure(op);
    return sizeof *h + note + rma_pad(data);
}

/* Whole small operations from the front of the queue (at most n) as one packet. p->ops < 2: none */
static void packet_batch(struct packet *p, struct rma_target *t, unsigned n, size_t cap)
{
    char *out = rma_self()->scratch;
    struct rma_packed *had = &rma_self()->packed;
    p->ops = p->replies = 0;
    p->dirty = p->unsure = 0;
    size_t at = batch_resume(p, t, n), more;
    struct list *l = at ? had->last->next : t->next;
    *had = (struct rma_packed){.t = t, .first = op_at(t->next)->id};
    for (; l != &t->ops && p->ops < n && (more = batch_append(p, op_at(l), out, at, cap)) != 0;
         l = l->next)
        at += more;
    if (p->ops < 2)
        return;
    had->last = l->prev;
    had->ops = p->ops;
    had->replies = p->replies;
    had->dirty = p->dirty;
    had->unsure = p->unsure;
    had->bytes = at;
    p->h = header(t, RMA_PKT_BATCH);
    p->h.packets = p->ops;
    p->h.len = (uint32_t)at;
    p->n = 2;
    p->iov[1] = (struct iovec){out, at};
}

void rma_packet_next(struct packet *p, struct rma_target *t, int lock, unsigned n)
{
    size_t cap = lock ? t->packet - sizeof t->w->passive.age : t->packet;
    struct rma_op *op = op_at(t->next);
    struct shape x = shape_of(op, cap);
    p->ops = 0;
    if (lock && (!cvar.rma_hold || (t->flags & TARGET_REFUSED) || x.data == SIZE_MAX ||
                 op->bytes > (size_t)cvar.rma_lock_piggyback))
        return;
    p->most_replies = t->most_replies;
    /* After a put there may be accumulates that must wait: R9. */
    if (n > 1 && cvar.rma_hold && t->ordered && !(t->atomics && t->w->ordered_acc))
        packet_batch(p, t, n, cap);
    if (p->ops < 2)
        packet_op(p, op, cap, x);
}

struct rma_hdr *rma_batch_tail(struct packet *p)
{
    char *at = p->iov[1].iov_base;
    struct rma_hdr *h = (struct rma_hdr *)at;
    for (unsigned i = 1; i < p->ops; i++) {
        at += sizeof *h + rma_pad(h->len);
        h = (struct rma_hdr *)at;
    }
    return h;
}
