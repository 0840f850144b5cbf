/* issue.c - ISSUE_OPS_{TARGET,WIN,GLOBAL} and what rides on the packets ([design] Basic routines, Performance).
 *
 *   queue of a target:  [answers awaited ...] next -> [op] [op] [op] ... [tail]
 *
 * One step sends one packet: a LOCK alone, a BATCH of small operations, one part of an operation, or a flag that
 * found no operation to ride on.  Windows deal steps to their targets in turn.  Nothing here waits: AM_AGAIN
 * leaves everything as it was. */
#include "rma/core/types.h"

#include <errno.h>
#include <string.h>

enum step { STEP_NOTHING, STEP_SENT, STEP_AGAIN };
enum { PIECES = 6, PACKET_MIN = 200 };

/* A packet being put together. */
struct packet {
    struct rma_hdr h;
    struct rma_ext e;
    struct iovec iov[PIECES];
    int n;
    size_t part;      /* packed bytes of the (last) operation that it covers */
    unsigned replies, most_replies; /* of the second: what the transport can have under way, if that is known */
    unsigned ops;     /* operations in it */
    int dirty;        /* something in it has no answer of its own */
    int unsure;       /* R11 */
    struct rma_op *keep; /* R13: whose data its last piece is, where the program has them; NULL: it is copied */
};

static struct rma_op *op_at(const struct list *l)
{
    return LIST_OBJ(l, struct rma_op, link);
}

static struct rma_hdr header(const struct rma_target *t, enum rma_packet type)
{
    return (struct rma_hdr){.type = (uint8_t)type, .win = t->w->id, .src = (uint32_t)t->w->rank};
}

/* --- one operation as a packet -------------------------------------------------------- */

struct dt_type *rma_simple_elem(const struct rma_op *op, size_t *count)
{
    struct dt_type *t = op->a.ttype;
    if (t->flags & DT_PREDEFINED) {
        *count = (size_t)op->a.tcount;
        return t;
    }
    if (!(t->flags & DT_CONTIG) || t->true_lb != 0)
        return NULL;
    struct dt_type *e = t->basic;
    if (!e && !op->elem)
        e = dt_find(MPI_BYTE);
    if (!e || e->elem.bytes != e->elem.stride)
        return NULL;
    *count = (size_t)op->a.tcount * ((size_t)t->size / e->elem.bytes);
    return e;
}

static int has_data(const struct rma_op *op)
{
    return op->kind != RMA_GET && !(op->flags & OP_NO_DATA);
}

/* Bytes of payload if the whole operation goes without extension, as *count elements of *e; SIZE_MAX: it cannot. */
static size_t whole(const struct rma_op *op, size_t room, struct dt_type **elem, size_t *count)
{
    if (op->train) { /* it was made to fit */
        *elem = op->a.ttype;
        *count = op->train_ops;
        return op->bytes;
    }
    struct dt_type *e = rma_simple_elem(op, count);
    if (!e || op->sent || *count > UINT32_MAX || *count * (size_t)e->size != op->bytes)
        return SIZE_MAX;
    *elem = e;
    size_t data = op->kind == RMA_CAS ? 2 * op->bytes : has_data(op) ? op->bytes : 0;
    size_t back = op->flags & OP_ANSWERS ? op->bytes + sizeof(struct rma_fault) : 0, most = back > data ? back : data;
    return most <= room - sizeof(struct rma_hdr) ? data : SIZE_MAX;
}

static size_t whole_bytes(const struct rma_op *op, size_t room)
{
    struct dt_type *e;
    size_t count;
    return whole(op, room, &e, &count);
}

static enum rma_packet packet_type(const struct rma_op *op)
{
    static const uint8_t of[] = {[RMA_PUT] = RMA_PKT_PUT,   [RMA_GET] = RMA_PKT_GET,  [RMA_ACC] = RMA_PKT_ACC,
                                 [RMA_GACC] = RMA_PKT_GACC, [RMA_FOP] = RMA_PKT_GACC, [RMA_CAS] = RMA_PKT_CAS};
    return of[op->kind];
}

/* Is the next packet of it answered by itself?  Of one that is very long, so that it ends soon where it is refused (on_origin.c,
 * no_more), and of all where packets pass each other. */
static int asks(const struct rma_op *op)
{
    enum { VERY_LONG = 16 << 20 };
    return !(op->flags & OP_ANSWERS) && (!op->t->ordered || (op->bytes >= VERY_LONG && !op->sent));
}

static void op_header(const struct rma_target *t, struct rma_op *op, struct rma_hdr *h)
{
    *h = header(t, op->train ? RMA_PKT_TRAIN : packet_type(op));
    h->aop = op->aop;
    h->disp = op->train ? (uint64_t)op->a.tcount : (uint64_t)op->a.disp;
    h->op = op->id;
    rma_train_seal(op); /* what it holds now is what leaves */
    if (asks(op))
        h->flags |= RMA_F_ACK;
}

/* Copy the data of a whole small operation to `out`. */
static void data_out(const struct rma_op *op, char *out)
{
    if (op->train) {
        memcpy(out, op->train, op->bytes);
    } else if (op->kind == RMA_CAS) {
        dt_pack(op->a.ttype, 1, op->a.compare, 0, out, op->bytes);
        dt_pack(op->a.ttype, 1, op->a.origin, 0, out + op->bytes, op->bytes);
    } else if (has_data(op) && dt_is_block(op->a.otype, (size_t)op->a.ocount)) {
        const void *from = dt_start(op->a.otype, op->a.origin);
        if (op->bytes == 8)
            memcpy(out, from, 8); /* two instructions: most are that long */
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
    if (op->train) {
        v->iov_base = op->train;
    } else if (op->kind == RMA_CAS) {
        data_out(op, scratch);
        v->iov_base = scratch;
        v->iov_len = 2 * op->bytes;
    } else if (dt_is_block(op->a.otype, (size_t)op->a.ocount)) {
        v->iov_base = (char *)dt_start(op->a.otype, op->a.origin) + op->sent;
        p->keep = p->part >= op->t->keep ? op : NULL;
    } else {
        dt_pack(op->a.otype, (size_t)op->a.ocount, op->a.origin, op->sent, scratch, p->part);
        v->iov_base = scratch;
        rma_count(op->t->w, PVAR_RMA_PACKED, 1);
    }
    p->h.len += (uint32_t)v->iov_len;
}

/* Blocks of the target layout for this part, at most `max`; fills p->part. */
static unsigned make_runs(const struct rma_op *op, struct packet *p, struct rma_run *run, size_t max, size_t len)
{
    struct iovec v[64];
    size_t n = 0, done = 0;
    /* Elements of a pair type may have gaps inside: one run each, which names where the element begins. */
    size_t step = op->elem && op->elem->elem.bytes != op->elem->elem.stride ? op->elem->elem.bytes : 0;
    while (n < max && done < len) {
        size_t got = 0, ask = step ? step : len - done;
        size_t room = max - n < 64 && !step ? max - n : 64; /* a whole element, however many blocks it has */
        size_t k = dt_iov(op->a.ttype, (size_t)op->a.tcount, NULL, op->sent + done, ask, v, room, &got);
        if (!k)
            break;
        for (size_t i = 0; i < (step ? 1 : k); i++)
            run[n++] = (struct rma_run){(int64_t)(intptr_t)v[i].iov_base, step ? step : v[i].iov_len};
        done += got;
    }
    p->part = done;
    return (unsigned)n;
}

static void part_runs(struct packet *p, const struct rma_op *op, size_t room, size_t len, char **scratch)
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
    _Static_assert(sizeof p->e >= sizeof(struct rma_fault), "the answer to a part has room for a fault behind as many data");
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
    return !t->unsure && !(op->flags & OP_ANSWERS) && rma_ask(t->w, ASK_IN_PSCW) && !rma_route_certain(t, op);
}

static void packet_op(struct packet *p, struct rma_op *op, size_t cap)
{
    char *scratch = rma_room()->scratch;
    rma_room()->packed.t = NULL;
    op_header(op->t, op, &p->h);
    p->n = 1;
    p->ops = 1;
    p->keep = NULL;
    if (whole_bytes(op, cap) != SIZE_MAX) {
        struct dt_type *e;
        size_t count;
        whole(op, cap, &e, &count);
        p->h.dt = (uint32_t)e->obj.handle;
        p->h.count = (uint32_t)count;
        p->part = op->bytes;
    } else {
        part_ext(p, op, cap, scratch);
        scratch += p->e.nruns * sizeof(struct rma_run);
    }
    data_piece(p, op, scratch);
    p->replies = (op->flags & OP_ANSWERS) || (p->h.flags & RMA_F_ACK) ? 1 : 0;
    p->dirty = !(op->flags & OP_ANSWERS);
    p->unsure = is_unsure(op);
}

/* --- several small ones ------------------------------------------------------------------- */

static int is_small(const struct rma_op *op)
{
    return rma_is_small(op->t, op->bytes);
}

/* As many whole small operations from the front of the queue (at most n) as share one packet; p->ops < 2: none. */
static void packet_batch(struct packet *p, struct rma_target *t, unsigned n, size_t cap)
{
    char *out = rma_room()->scratch;
    struct rma_packed *had = &rma_room()->packed;
    struct list *l = t->next;
    size_t at = 0;
    struct rma_hdr *last = NULL;
    p->ops = p->replies = 0;
    p->dirty = p->unsure = 0;
    if (had->t == t && had->first == op_at(l)->id && had->ops && had->ops <= n && !op_at(l)->sent) {
        p->ops = had->ops;
        p->replies = had->replies;
        p->dirty = had->dirty;
        p->unsure = had->unsure;
        at = had->bytes;
        l = had->last->next;
    }
    *had = (struct rma_packed){.t = t, .first = op_at(t->next)->id};
    for (; l != &t->ops && p->ops < n; l = l->next) {
        struct rma_op *op = op_at(l);
        struct dt_type *e;
        size_t count, data = whole(op, cap, &e, &count);
        if (((op->flags & OP_ANSWERS) && p->replies + 1 >= p->most_replies) || data == SIZE_MAX || (!op->train && !is_small(op)) || (op->flags & OP_DIRECT) ||
            sizeof p->h + at + sizeof *last + rma_pad(data) > cap)
            break;
        last = (struct rma_hdr *)(out + at);
        op_header(t, op, last);
        last->dt = (uint32_t)e->obj.handle;
        last->count = (uint32_t)count;
        last->len = (uint32_t)data;
        data_out(op, out + at + sizeof *last);
        if (data % RMA_PAD)
            memset(out + at + sizeof *last + data, 0, rma_pad(data) - data);
        at += sizeof *last + rma_pad(data);
        p->ops++;
        p->replies += (op->flags & OP_ANSWERS) != 0;
        p->dirty |= !(op->flags & OP_ANSWERS);
        p->unsure |= !p->unsure && is_unsure(op);
    }
    if (p->ops < 2)
        return;
    had->last = l->prev;
    had->ops = p->ops;
    had->replies = p->replies;
    had->dirty = p->dirty;
    had->unsure = p->unsure;
    had->bytes = at;
    p->h = header(t, RMA_PKT_BATCH);
    p->h.count = p->ops;
    p->h.len = (uint32_t)at;
    p->n = 2;
    p->iov[1] = (struct iovec){out, at};
}

/* Header of the last operation of the packet, which carries the flags of synchronization. */
static struct rma_hdr *tail_header(struct packet *p)
{
    if (p->h.type != RMA_PKT_BATCH)
        return &p->h;
    char *at = p->iov[1].iov_base;
    struct rma_hdr *h = (struct rma_hdr *)at;
    for (unsigned i = 1; i < p->ops; i++) {
        at += sizeof *h + rma_pad(h->len);
        h = (struct rma_hdr *)at;
    }
    return h;
}

/* --- flags that ride ------------------------------------------------------------------------- */

static int answers(const struct rma_hdr *h)
{
    return h->type == RMA_PKT_GET || h->type == RMA_PKT_GACC || h->type == RMA_PKT_CAS;
}

/* Something has left whose end this flush must ask for: what another thread's DONE asks about may not be there yet, and the answer
 * goes to that thread. */
static int unanswered(const struct rma_target *t)
{
    return t->flags & TARGET_DIRTY || t->tokens_out;
}

/* Which flags leave now for t->sync, given that something unanswered has left or is in the packet. */
static unsigned sync_flags(const struct rma_target *t, int dirty)
{
    unsigned f = t->sync;
    if (f & RMA_F_COMPLETE && !t->unsure && !t->tokens_out)
        dirty = 0; /* R11 */
    if ((f & RMA_F_DONE) && !dirty && !(f & RMA_F_UNLOCK))
        f &= ~(unsigned)RMA_F_DONE;
    return f;
}

static void put_sync(struct rma_hdr *h, unsigned flags, uint32_t token, unsigned *replies)
{
    rma_room()->packed.t = NULL; /* h may be in there, and others may come behind it */
    h->flags |= (uint16_t)flags;
    h->token = token;
    if ((flags & (RMA_F_DONE | RMA_F_UNLOCK)) && !answers(h) && !(h->flags & RMA_F_ACK))
        ++*replies;
}

/* The flags have left: whoever waits on the token waits for an answer, or has what he wants. */
static void sync_left(struct rma_target *t, unsigned flags)
{
    uint32_t token = t->token;
    t->sync = 0;
    t->unasked = 0;
    t->rode = (uint16_t)flags;
    if (flags & RMA_F_SYNC) {
        t->flags &= (uint8_t)~TARGET_DIRTY;
        t->unsure = 0;
    }
    if (flags & (RMA_F_DONE | RMA_F_UNLOCK)) {
        /* One that was given out earlier than the last that left: a flush_all waits for each target's turn. */
        if ((int32_t)(token - t->out_token) <= 0)
            t->loose = 1;
        else
            t->out_token = token;
        if ((int32_t)(token - t->born) <= 0)
            t->born = token - 1;
        t->tokens_out++;
    } else {
        rma_token_done(t->w, t->rank, token, 0);
    }
}

/* May flags ride on a packet that ends the queue?  Without order only if nothing is under way, no part of the same operation either. */
static int may_ride(const struct rma_target *t)
{
    return cvar.rma_hold > 0 && (t->ordered || (t->ops.next == t->next && !op_at(t->next)->sent)) && !t->natives && !t->native_out;
}

/* --- asked early -------------------------------------------------------------------------------- */

/* A long operation leaves when it is called, and the flush behind it is one more message for both.  So the last packet of what has
 * left asks at once, where flushes came like that before and no answer is under way (R12). */
static int asks_early(const struct rma_target *t, const struct packet *p)
{
    if (!t->w->asks_early || t->w->starved || t->sync || t->tokens_out || !t->ordered || !p->dirty || p->h.flags & RMA_F_ACK || !may_ride(t))
        return 0;
    /* It never waits for room for an answer that nobody needs yet: what holds that room may need this packet. */
    return rma_ask(t->w, ASK_IN_PASSIVE) && am_replies_free(t->world) > p->replies;
}

static void early_left(struct rma_target *t, uint32_t token)
{
    t->w->token = t->early = t->out_token = token;
    t->early_for = 0;
    /* It is the only one out.  Numbers may have gone half round since the last. */
    t->answered = token - 1;
    if ((int32_t)(token - t->born) <= 0)
        t->born = token - 1;
    t->tokens_out++;
    t->flags &= (uint8_t)~TARGET_DIRTY;
}

/* 1: the flush whose DONE is to leave waits for the answer to the early one. */
static int takes_early(struct rma_target *t)
{
    if (!t->early || t->early_for || t->tokens_out != 1 || t->flags & TARGET_DIRTY)
        return 0;
    t->early_for = t->token;
    t->sync = 0;
    t->unasked = 0;
    return 1;
}

static void lock_flags(const struct rma_target *t, struct rma_hdr *h)
{
    h->flags |= t->lock == SHMLOCK_EXCLUSIVE ? RMA_F_EXCLUSIVE : RMA_F_SHARED;
    if (t->flags & TARGET_JOIN)
        h->flags |= RMA_F_JOIN;
}

/* --- sending ------------------------------------------------------------------------------------ */

static int failed(struct rma_target *t, int err)
{
    rma_target_fail(t, err);
    return STEP_SENT;
}

static int send_packet(struct rma_target *t, struct packet *p)
{
    p->iov[0] = (struct iovec){&p->h, sizeof p->h};
    int err;
    if (p->keep)
        err = rma_kept_request(t, p->keep, AM_RMA + p->h.type, p->iov, p->n, p->replies);
    else
        err = am_request(t->world, AM_RMA + p->h.type, p->iov, p->n, p->replies);
    if (!err)
        rma_count(t->w, PVAR_RMA_MSGS, 1);
    return err;
}

void rma_op_settle(struct rma_op *op)
{
    int over = op->sent == op->bytes && !op->acks && !(op->flags & OP_RIDES) &&
               (!(op->flags & OP_ANSWERS) || op->answered == op->bytes);
    if (!op->natives && !op->kept && (over || op->t->flags & TARGET_DEAD))
        op->flags |= OP_DONE;
}

/* As many as the user called. */
static unsigned operations(const struct rma_op *op)
{
    return op->train ? op->train_ops : 1;
}

/* An operation (or a part of it) has left with the packet. */
static void op_left(struct rma_target *t, struct rma_op *op, size_t part, int rides)
{
    if (asks(op)) {
        op->acks++;
        t->acks++;
    }
    op->sent += part;
    if (rides)
        op->flags |= OP_RIDES;
    if (!(op->flags & OP_ANSWERS) && t->ordered)
        t->flags |= TARGET_DIRTY;
    if (op->sent < op->bytes)
        return;
    t->next = t->next->next;
    t->queued--;
    rma_count(t->w, PVAR_RMA_AM, operations(op));
    /* Where the data were copied, or have left: a put is complete for the origin, and the answer to DONE covers the rest. */
    rma_op_settle(op);
}

static void packet_left(struct rma_target *t, const struct packet *p, int lock)
{
    size_t part = p->part;
    unsigned ops = 0;
    rma_room()->packed.t = NULL;
    for (unsigned i = 0; i < p->ops; i++) {
        struct rma_op *op = op_at(t->next);
        ops += operations(op);
        op_left(t, op, p->ops > 1 ? op->bytes : part, lock);
    }
    if (ops > 1)
        rma_count(t->w, PVAR_RMA_BATCH, ops - 1);
    if (ops > 1 || t->native_out)
        t->lone = 0;
    if (lock) {
        t->replies = (uint16_t)p->replies;
        rma_lock_left(t);
        if (p->ops)
            rma_count(t->w, PVAR_RMA_PIGGY, 1);
    }
}

/* How many operations of the queue may go now: all, or all but a small tail. */
static unsigned due_ops(const struct rma_target *t)
{
    if (t->sync || t->w->starved || (t->flags & TARGET_HURRY))
        return t->queued;
    if (!(t->flags & TARGET_SPILL))
        return 0;
    return is_small(op_at(t->ops.prev)) ? t->queued - 1 : t->queued;
}

int rma_nothing_under_way(const struct rma_target *t)
{
    if (t->flags & TARGET_DIRTY || t->tokens_out || t->acks)
        return 0;
    for (const struct list *l = t->ops.next; l != t->next; l = l->next)
        if (!(op_at(l)->flags & OP_DONE))
            return 0;
    return 1;
}

static int is_acc(const struct rma_op *op)
{
    return op->kind != RMA_PUT && op->kind != RMA_GET;
}

/* An accumulate waits for native ones before it (R9) and, on an unordered transport, for the answers of earlier ones to the
 * same target. */
static int must_wait_turn(struct rma_target *t, const struct rma_op *op)
{
    if (!is_acc(op) || !t->w->ordered_acc || op->sent)
        return 0;
    if (t->atomics && rma_native_settle(t) != 1)
        return 1;
    if (t->ordered)
        return 0;
    for (const struct list *l = t->ops.next; l != t->next; l = l->next)
        if (is_acc(op_at(l)) && !(op_at(l)->flags & OP_DONE))
            return 1;
    return 0;
}

static int send_lock(struct rma_target *t)
{
    struct packet p = {.h = header(t, RMA_PKT_LOCK), .n = 1, .replies = 1};
    lock_flags(t, &p.h);
    if (t->flags & TARGET_REFUSED) {
        p.h.flags |= RMA_F_STAMP;
        p.h.disp = t->stamp;
    }
    int err = send_packet(t, &p);
    if (err == AM_AGAIN)
        return STEP_AGAIN;
    if (err)
        return failed(t, err);
    packet_left(t, &p, 1);
    t->rode = 0; /* a NOCHECK lock that is taken for real has had flags before */
    return STEP_SENT;
}

int rma_lock_send(struct rma_target *t)
{
    return send_lock(t) == STEP_SENT;
}

/* Put together the next packet from the queue; p->ops 0: the LOCK must go alone. */
static void packet_next(struct packet *p, struct rma_target *t, int lock, unsigned n)
{
    size_t cap = t->packet;
    struct rma_op *op = op_at(t->next);
    p->ops = 0;
    if (lock && (!cvar.rma_hold || (t->flags & TARGET_REFUSED) || whole_bytes(op, cap) == SIZE_MAX ||
                 op->bytes > (size_t)cvar.rma_lock_ride))
        return;
    p->most_replies = t->most_replies;
    /* Behind a put there may be accumulates that must wait: R9. */
    if (n > 1 && cvar.rma_hold && t->ordered && !(t->atomics && t->w->ordered_acc))
        packet_batch(p, t, n, cap);
    if (p->ops < 2)
        packet_op(p, op, cap);
}

/* One piece of the next operation by the network itself. */
static int send_native(struct rma_target *t)
{
    struct rma_op *op = op_at(t->next);
    int err = rma_native_send(t, op);
    if (err == AM_AGAIN)
        return STEP_AGAIN;
    if (err == -ENOTCONN)
        return failed(t, err);
    if (err) { /* not this one: by message */
        op->flags |= OP_BY_AM;
        return STEP_SENT;
    }
    if (op->sent == op->bytes) {
        t->next = t->next->next;
        t->queued--;
        rma_count(t->w, PVAR_RMA_NATIVE, 1);
        rma_op_settle(op);
    }
    return STEP_SENT;
}

/* The target fetches the data of the next operation.  STEP_NOTHING: it goes as ever. */
static enum step send_fetch(struct rma_target *t)
{
    struct rma_op *op = op_at(t->next);
    int err = rma_fetch_send(t, op);
    if (err == AM_AGAIN)
        return STEP_AGAIN;
    if (err == -ENOTSUP)
        return STEP_NOTHING;
    return err ? failed(t, err) : STEP_SENT;
}

static int send_ops(struct rma_target *t, int lock)
{
    struct packet p = {.ops = 0};
    unsigned n = due_ops(t);
    enum step s;
    if (must_wait_turn(t, op_at(t->next)))
        return STEP_AGAIN;
    rma_native_want(t, op_at(t->next));
    if (!lock && !t->offer && rma_route(t, op_at(t->next)) == RMA_ROUTE_NATIVE) /* an offer: by that way, as soon as there is room */
        return send_native(t);
    if (!lock && op_at(t->next)->bytes >= t->w->fetch_min && (s = send_fetch(t)) != STEP_NOTHING)
        return s;
    packet_next(&p, t, lock, n);
    if (p.ops == 0)
        return send_lock(t);
    t->unsure |= (uint8_t)p.unsure; /* R11 */
    unsigned sync = 0;
    int ends = p.ops == t->queued && (p.ops > 1 || op_at(t->next)->sent + p.part == op_at(t->next)->bytes);
    int rides = ends && t->sync && may_ride(t);
    if (rides) {
        sync = sync_flags(t, p.dirty || unanswered(t));
        put_sync(tail_header(&p), sync, t->token, &p.replies);
    }
    if (lock) {
        lock_flags(t, &p.h);
        if (!p.replies)
            p.replies = 1;
        p.keep = NULL; /* it may have to be sent again */
    }
    if (t->early || t->unasked)
        t->w->asks_early = 0; /* flushes do not come behind each operation after all */
    uint32_t early = ends && !lock && asks_early(t, &p) ? rma_token_next(t->w) : 0;
    if (early)
        put_sync(tail_header(&p), RMA_F_DONE, early, &p.replies);
    int err = send_packet(t, &p);
    if (err == AM_AGAIN)
        return STEP_AGAIN;
    if (err)
        return failed(t, err);
    packet_left(t, &p, lock);
    t->rode = 0;
    if (early) {
        rma_count(t->w, PVAR_RMA_PIGGY, 1);
        early_left(t, early);
    }
    if (rides) {
        if (sync)
            rma_count(t->w, PVAR_RMA_PIGGY, 1);
        sync_left(t, sync);
    }
    return STEP_SENT;
}

/* The queue is empty: flags go alone, or prove unnecessary.  Not before what was done natively is there (R8): whoever
 * is told by them may look at once. */
static int send_sync(struct rma_target *t)
{
    int settled = rma_native_settle(t);
    if (settled != 1)
        return settled == AM_AGAIN ? STEP_AGAIN : STEP_NOTHING;
    int clean = !unanswered(t);
    /* Never locked, or NOCHECK: nothing was sent that had to be released. */
    unsigned flags = t->state == TARGET_LOCK_CALLED ? 0 : sync_flags(t, !clean);
    if (!flags) {
        sync_left(t, 0);
        return STEP_SENT;
    }
    if (flags == RMA_F_DONE && takes_early(t))
        return STEP_SENT;
    t->w->asks_early = flags == RMA_F_DONE;
    struct packet p = {.h = header(t, RMA_PKT_DONE), .n = 1};
    put_sync(&p.h, flags, t->token, &p.replies);
    int err = send_packet(t, &p);
    if (err == AM_AGAIN)
        return STEP_AGAIN;
    if (err)
        return failed(t, err);
    sync_left(t, flags);
    return STEP_SENT;
}

/* Operations on near targets that were queued until the epoch was granted, or behind others. */
static void run_direct(struct rma_target *t)
{
    struct rma_op *op = op_at(t->next);
    struct rma_near *n = rma_near_of(t->w, t->rank);
    rma_ready(t); /* R4: it may wait for a stripe, and others look at this window meanwhile */
    int err = n && !rma_overtakes(t->w, n) && rma_nothing_under_way(t) ? rma_direct(t->w, n, &op->a, op->bytes, 0) : -1;
    if (err == -1) { /* not reachable after all: by message */
        op->flags &= (uint8_t)~OP_DIRECT;
        return;
    }
    if (err)
        op->err = err;
    op->sent = op->bytes;
    t->next = t->next->next;
    t->queued--;
    op->flags |= OP_DONE;
}

/* --- steps ------------------------------------------------------------------------------------------ */

/* Something has left it: what had to hurry, or filled more than a packet, is gone or small now. */
void rma_queue_shorter(struct rma_target *t)
{
    if (!t->queued)
        t->flags &= (uint8_t)~(TARGET_HURRY | TARGET_SPILL);
    else if (t->queued == 1 && is_small(op_at(t->ops.prev)))
        t->flags &= (uint8_t)~TARGET_SPILL;
}

int rma_target_due(const struct rma_target *t)
{
    enum verdict v = rma_may_issue(t);
    if (v == ADMIT_QUEUE || (t->flags & TARGET_DEAD))
        return 0;
    if (t->flags & TARGET_REFUSED)
        return 1;
    if (t->queued && op_at(t->next)->flags & OP_FETCHING)
        return 0; /* its answer makes t ready */
    if (t->queued)
        return (op_at(t->next)->flags & OP_DIRECT) || due_ops(t) > 0;
    if (t->sync)
        return t->ordered || list_empty(&t->ops);
    return v == ADMIT_LOCK_FIRST && (t->flags & TARGET_HURRY);
}

static enum step step(struct rma_target *t)
{
    if ((t->flags & TARGET_DEAD) && t->nops) { /* native pieces that the network has not given back */
        rma_native_bury(t);
        return t->nops ? STEP_AGAIN : STEP_NOTHING;
    }
    if (!rma_target_due(t))
        return STEP_NOTHING;
    if (t->packet < PACKET_MIN) { /* there was no way to this peer */
        int err = rma_target_way(t);
        if (err == AM_AGAIN)
            return STEP_AGAIN;
        if (err || t->packet < PACKET_MIN)
            return failed(t, err ? err : -ENOTCONN);
    }
    int lock = rma_may_issue(t) == ADMIT_LOCK_FIRST;
    enum step s;
    if ((t->flags & TARGET_REFUSED) && time_now() < t->retry_at) {
        return STEP_AGAIN;
    } else if (t->flags & TARGET_REFUSED) {
        rma_count(t->w, PVAR_RMA_LOCKS_RESENT, 1);
        s = send_lock(t);
    } else if (t->queued && (op_at(t->next)->flags & OP_DIRECT)) {
        run_direct(t);
        s = STEP_SENT;
    } else if (t->queued) {
        s = send_ops(t, lock);
    } else if (t->sync && !(lock && t->flags & TARGET_HURRY)) { /* a thread that waits for the lock comes first (rma_grant_wait) */
        s = send_sync(t);
    } else {
        s = send_lock(t);
    }
    if (s == STEP_SENT)
        rma_queue_shorter(t);
    return s;
}

int rma_issue_target(struct rma_target *t)
{
    int n = 0;
    enum step s;
    while ((s = step(t)) == STEP_SENT)
        n++;
    if (s == STEP_AGAIN)
        rma_ready(t);
    else
        list_del(&t->ready);
    return n;
}

/* One packet per target in turn, until nobody can send. */
int rma_issue_win(struct rma_win *w)
{
    int n = 0;
    unsigned idle = 0;
    while (!list_empty(&w->ready) && idle <= w->ntargets) {
        struct rma_target *t = LIST_OBJ(list_pop(&w->ready), struct rma_target, ready);
        enum step s = step(t);
        if (s == STEP_SENT) {
            n++;
            idle = 0;
            rma_cleanup_target(t);
        } else {
            idle++;
        }
        int settled = s == STEP_SENT && !t->queued && !t->sync && !(t->flags & (TARGET_HURRY | TARGET_REFUSED | TARGET_DEAD));
        if (s != STEP_NOTHING && !settled)
            rma_ready(t); /* unless the step has done so */
    }
    return n;
}

int rma_issue_global(void)
{
    struct rma *r = rma_room();
    int n = 0;
    for (struct list *l = r->active.next; l != &r->active; l = l->next)
        n += rma_issue_win(LIST_OBJ(l, struct rma_win, active));
    return n;
}

/* --- what callers ask for -------------------------------------------------------------------------- */

/* Only a get may change its place: its answer then is the acknowledgement too. */
static void get_to_tail(struct rma_target *t)
{
    if (!cvar.rma_hold || t->queued < 2 || !t->ordered || op_at(t->ops.prev)->kind == RMA_GET)
        return;
    for (struct list *l = t->ops.prev; l != t->next->prev; l = l->prev) {
        struct rma_op *op = op_at(l);
        if (op->kind != RMA_GET || op->sent || (op->flags & OP_DIRECT) || (t->offer && l == t->next)) /* its target fetches it: it stays first */
            continue;
        if (l == t->next)
            t->next = l->next;
        rma_room()->packed.t = NULL; /* it may hold this one */
        list_del(l);
        list_push(&t->ops, l);
        return;
    }
}

void rma_target_sync(struct rma_target *t, unsigned sync, uint32_t token)
{
    WR_ASSERT(!t->sync);
    t->train = NULL; /* R10 */
    get_to_tail(t);
    t->sync = (uint16_t)sync;
    t->token = token;
    rma_ready(t);
}

int rma_send_plain(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies)
{
    struct rma_hdr full = *h;
    full.win = w->id;
    full.src = (uint32_t)w->rank;
    struct iovec v = {&full, sizeof full};
    int err = am_request(rma_world(w, rank), AM_RMA + full.type, &v, 1, replies);
    if (!err)
        rma_count(w, PVAR_RMA_MSGS, 1);
    return err;
}
