/* native.c - put, get and accumulates by the network itself: registered memory, pieces, completion.
 * Start with rma_native_send(); native_keys.c has the keys.
 *
 *   origin: wants native --KEY_ASK--> target: reg, pack
 *           key in w->native.keys <---KEY---
 *           piece, piece ... --put, get, atomic of the transport--> memory, without the target's
 *           CPU flush of the transport --> confirmed: only now DONE, UNLOCK or COMPLETE may leave
 *           (R8)
 *
 * Nothing waits for a key: earlier operations go by message. A record per call stands between the
 * transport and the operation, which may be freed when the transport answers (its target failed).
 * Keys, and what else is known of a window at a rank (R11), are a bounded cache by rank: there is
 * no table of all ranks. Records that an element uses stay.
 *
 * Own and near memory is never reached natively. Accumulates are native under three conditions. All
 * processes that act on the element use the processor's atomics (acc.h). The transport's atomics
 * agree with these (TP_CPU_COHERENT). No order is broken (R9): one element is one piece. */
#include "rma/engine/engine_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct rma_native { /* one call under way */
    struct tp_done d;
    struct rma_native *next; /* r->native_free or native_doubted */
    uint32_t op;    /* 0: a flush */
    int rank;       /* of a flush: its target */
    uint8_t channel; /* of a flush: 0, or its duplicate of the window */
    uint64_t win;   /* id of its window */
    union {
        uint64_t seq;   /* of op in its window: its id may have come again (op_of) */
        uint64_t flush; /* number of the flush */
    };
    size_t bytes;
    struct tp_mem *local; /* the user's buffer, registered for this call (TP_REG_LOCAL), and its
                           * transport */
    struct tp *tp;
    const struct tp_ops *ops;
};

/* --- own memory ------------------------------------------------------------------------------ */

/* A failure is no error: messages do the same. Memory of dynamic windows is registered by its
 * handle, if it has one: the key of a region could outlive a detach (rma.md 5.9). */
void rma_native_open(struct rma_win *w, unsigned acc_hints)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    struct tp *tp;
    int dynamic = w->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    w->native.pull_min = w->all_near ? SIZE_MAX : rma_pull_least();
    /* The network would not ask which instance is valid. */
    if (!cvar.rma_native || w->all_near || w->coherent)
        return;
    for (int i = 0; w->native.nregs < RMA_REGS && (tp = am_tp_open(i, &ops, &caps)) != NULL; i++) {
        struct rma_reg *g = &w->native.reg[w->native.nregs];
        size_t min = rma_pays_from(&caps);
        int acc = !dynamic && acc_hints & ACC_SINGLE_ELEMENTS && rma_atomics_of(tp, ops, &caps);
        if (!ops->reg || (min == SIZE_MAX && !acc))
            continue;
        if (acc)
            w->native.acc = 1;
        if (min != SIZE_MAX && (!w->native.min || min < w->native.min))
            w->native.min = min ? min : 1;
        if (dynamic || !w->bytes || !w->base ||
            ops->reg(tp, w->base, (size_t)w->bytes, 0, TP_MAY_READ | TP_MAY_WRITE, &g->mem))
            continue;
        g->tp = tp;
        g->ops = ops;
        w->native.nregs++;
    }
}

void rma_native_free(struct rma *r)
{
    struct rma_native **lists[] = {&r->native_free, &r->native_doubted};
    for (int i = 0; i < 2; i++) {
        for (struct rma_native *x; (x = *lists[i]) != NULL;) {
            *lists[i] = x->next;
            free(x);
        }
    }
}

void rma_native_ask(struct rma_target *t, const struct rma_op *op)
{
    struct rma_win *w = t->w;
    struct rma_key *k = w->flavor == MPI_WIN_FLAVOR_DYNAMIC
                            ? rma_handle_key_of(t, (uint64_t)op->a.disp)
                            : rma_key_of(t, 1);
    if (!k || k->state != KEY_NEW || (op->a.notify && !rma_route_notes(t, op)) ||
        !(op->elem ? rma_route_atomic(k, op) : rma_route_moves(t, op)))
        return;
    struct rma_hdr h = {.type = RMA_PKT_KEY_ASK, .disp = k->base};
    if (rma_send_plain(w, t->rank, &h, 1) == 0) /* else the next operation requests it */
        k->state = KEY_ASKED;
}

/* --- records of what is under way ---------------------------------------------------------- */

static struct rma_native *record_get(struct rma *r)
{
    struct rma_native *x = r->native_free;
    if (x)
        r->native_free = x->next;
    else
        x = malloc(sizeof *x);
    return x;
}

static void record_end(struct rma_native *x)
{
    if (x->local)
        x->ops->dereg(x->tp, x->local);
    x->local = NULL;
}

static void record_put(struct rma *r, struct rma_native *x)
{
    record_end(x);
    x->next = r->native_free;
    r->native_free = x;
}

static struct rma_native record_of(const struct rma_op *op, void (*fn)(struct tp_done *, int))
{
    return (struct rma_native){.d.fn = fn, .op = op->id, .win = op->t->w->id, .seq = op->seq};
}

/* NULL: it ended without its answer, since its target had died.  Another one may have its id. */
static struct rma_op *op_of(const struct rma_native *x)
{
    struct rma_op *op = rma_op_by_id(x->op);
    return op && op->seq == x->seq && op->t->w->id == x->win ? op : NULL;
}

/* Something ended: the rest of t may leave now. */
static void go_on(struct rma_target *t)
{
    rma_cleanup_target(t);
    /* with sync it is usually due */
    if (t->sync || (t->flags & TARGET_FAILED) || rma_target_due(t))
        rma_ready(t);
    progress_signal();
}

static int error_of(struct rma_target *t, int err)
{
    if (err == -ENOTCONN || boot_failed(t->world))
        return rma_failed_error(t->w, t->rank);
    return err_make(MPI_ERR_OTHER, "%s: native access to rank %d of %s: %s", rma_call(), t->rank,
                    rma_win_text(t->w), strerror(-err));
}

/* The network refused, and whether t has failed is not known yet. Its failure follows, which says
 * why. */
static int in_doubt(const struct rma_target *t, int err)
{
    return err == -ENOTCONN && am_in_doubt(t->world);
}

static void piece_counted(struct rma_op *op, const struct rma_native *x)
{
    op->natives--;
    op->t->natives--;
    if (op->flags & OP_ANSWERS) {
        op->answered += x->bytes;
        op->native_bytes -= x->bytes;
    }
}

static void piece_done(struct tp_done *d, int err)
{
    struct rma_native *x = LIST_OBJ(d, struct rma_native, d);
    struct rma *r = rma_self();
    if (!r) { /* MPI_Finalize did not wait for a dead peer's */
        free(x);
        return;
    }
    struct rma_op *op = op_of(x);
    if (op && op->natives) {
        struct rma_target *t = op->t;
        /* It counts as under way until rma_native_fail(), which may have been called already. */
        if (!(t->flags & TARGET_FAILED) && in_doubt(t, err)) {
            record_end(x);
            x->next = r->native_doubted;
            r->native_doubted = x;
            return;
        }
        piece_counted(op, x);
        if (err && !op->err)
            op->err = error_of(t, err);
        rma_op_settle(op);
        go_on(t);
    }
    record_put(r, x);
}

/* t has failed: what the network had refused before ends. */
static void doubted_end(struct rma *r, const struct rma_target *t)
{
    for (struct rma_native **p = &r->native_doubted, *x; (x = *p) != NULL;) {
        struct rma_op *op = op_of(x);
        if (op && op->t != t) {
            p = &x->next;
            continue;
        }
        *p = x->next;
        if (op && op->natives)
            piece_counted(op, x);
        record_put(r, x);
    }
}

/* --- data of messages that the transport reads where they are ------------------------------- */

static void zcopy_done(struct tp_done *d, int err)
{
    struct rma_native *x = LIST_OBJ(d, struct rma_native, d);
    struct rma *r = rma_self();
    if (!r) {
        free(x);
        return;
    }
    struct rma_op *op = op_of(x);
    if (op && op->zcopies) {
        struct rma_target *t = op->t;
        op->zcopies--;
        t->zcopies--;
        /* in doubt: what comes next to this target, a flush at the latest, gets the error */
        if (err && !op->err && !in_doubt(t, err))
            op->err = err == -ENOTCONN || boot_failed(t->world) ? rma_failed_error(t->w, t->rank)
                                                                : rma_cut_error(t->w, t->rank, err);
        rma_op_settle(op);
        go_on(t);
    }
    record_put(r, x);
}

int rma_zcopy_request(struct rma_target *t, struct rma_op *op, int type, const struct iovec *iov,
                      int n, unsigned replies)
{
    struct rma_native *x = record_get(rma_self());
    if (!x)
        return am_request(t->world, type, iov, n, replies);
    *x = record_of(op, zcopy_done);
    int err = am_request_zcopy(t->world, type, iov, n, replies, &x->d);
    if (err != TP_PENDING) {
        record_put(rma_self(), x);
        return err;
    }
    op->zcopies++;
    t->zcopies++;
    return 0;
}

/* --- pieces by the network -------------------------------------------------------------------- */

/* The next stretch of op that is one block at both ends; *off: its offset in the target's
 * window. */
static size_t stretch(const struct rma_key *k, const struct rma_op *op, void **here, uint64_t *off)
{
    const struct rma_args *a = &op->a;
    struct iovec far, mine;
    size_t len = op->bytes - op->sent;
    if (len > k->most)
        len = k->most;
    if (!dt_iov(a->ttype, (size_t)a->tcount, NULL, op->sent, len, &far, 1, &len))
        return 0;
    if (op->kind == RMA_PUT
            ? !dt_iov(a->otype, (size_t)a->ocount, a->origin, op->sent, len, &mine, 1, &len)
            : !dt_iov(a->rtype, (size_t)a->rcount, a->result, op->sent, len, &mine, 1, &len))
        return 0;
    *here = mine.iov_base;
    *off = ((uint64_t)a->disp - k->base) * k->unit + (uint64_t)(intptr_t)far.iov_base;
    return len;
}

/* Handles the transport's result for a piece of op: whether it was taken, and is counted. The data
 * of a piece are here when it is complete: now, or in piece_done. */
static int handed_over(struct rma_target *t, struct rma_op *op, struct rma_native *x, int err,
                       int answers)
{
    uint64_t bytes = x->bytes;
    if (err != TP_PENDING)
        record_put(rma_self(), x);
    /* in doubt: it fails soon, and the error then says why */
    if (err == TP_AGAIN || in_doubt(t, err))
        return AM_AGAIN;
    if (err < 0)
        return err;
    op->sent += bytes;
    op->flags |= OP_BEGUN;
    if (err == TP_PENDING) {
        op->natives++;
        t->natives++;
        op->native_bytes += answers ? bytes : 0;
    } else if (answers) {
        op->answered += bytes;
    }
    return 0;
}

/* The next element of op by the network's atomics. */
static int atomic_send(struct rma_target *t, struct rma_op *op)
{
    struct rma *r = rma_self();
    const struct rma_key *k = t->key;
    const struct rma_args *a = &op->a;
    size_t e = op->elem->elem.bytes, len;
    uint64_t operand = 0; /* of 8 bytes at most */
    struct iovec far, result = {NULL, 0};
    if (!dt_iov(a->ttype, (size_t)a->tcount, NULL, op->sent, e, &far, 1, &len) || len != e ||
        (op->flags & OP_ANSWERS &&
         (!dt_iov(a->rtype, (size_t)a->rcount, a->result, op->sent, e, &result, 1, &len) ||
          len != e)))
        return -ENOTSUP;
    if (!(op->flags & OP_NO_DATA))
        dt_pack(a->otype, (size_t)a->ocount, a->origin, op->sent, &operand, e);
    struct rma_native *x = record_get(r);
    if (!x)
        return -ENOMEM;
    *x = record_of(op, piece_done);
    x->bytes = e;
    const struct tp_atomic atom = {.op = a->op ? a->op->obj.handle : MPI_OP_NULL,
                                   .type = e == 8 ? 3 : 2,
                                   .n = 1,
                                   .operand = &operand,
                                   .compare = a->compare,
                                   .result = result.iov_base};
    uint64_t off = (uint64_t)a->disp * k->unit + (uint64_t)(intptr_t)far.iov_base;
    int err = k->ops->atomic(k->tp, k->far, off, &atom, &x->d);
    err = handed_over(t, op, x, err, op->flags & OP_ANSWERS);
    if (err)
        return err;
    t->atomics = 1;
    /* old values come from memory that has changed; otherwise only a flush reports */
    if (!(op->flags & OP_ANSWERS))
        t->native_out++;
    return 0;
}

int rma_native_send(struct rma_target *t, struct rma_op *op)
{
    if (op->elem)
        return atomic_send(t, op);
    struct rma *r = rma_self();
    const struct rma_key *k = rma_key_for(t, &op->a);
    void *here;
    uint64_t off;
    size_t len = stretch(k, op, &here, &off);
    struct rma_native *x = len ? record_get(r) : NULL;
    if (!x)
        return -ENOMEM;
    *x = record_of(op, piece_done);
    x->bytes = len;
    int put = op->kind == RMA_PUT, err = 0;
    uint32_t note = len == op->bytes && rma_route_carries(t, op)
                        ? (uint32_t)k->note << RMA_NOTE_BITS | ((uint32_t)op->a.notify - 1)
                        : 0;
    if (k->reg_local && !(put && len <= k->put_inline)) {
        x->tp = k->tp;
        x->ops = k->ops;
        err = k->ops->reg(k->tp, here, len, 0, 0, &x->local);
    }
    if (!err)
        err = !put   ? k->ops->get(k->tp, k->far, off, here, len, x->local, &x->d)
              : note ? k->ops->put_note(k->tp, k->far, off, here, len, x->local, note, &x->d)
                     : k->ops->put(k->tp, k->far, off, here, len, x->local, &x->d);
    err = handed_over(t, op, x, err, !put);
    if (err)
        return err;
    if (note)
        op->a.notify = 0; /* the network notifies */
    int inlined = put && len == op->bytes && len <= k->put_inline;
    int alone = inlined && t->sync == RMA_F_DONE && t->nops == 1 && !t->native_out;
    if (inlined && len >= k->put_min)
        t->lone = RMA_SHORT_SOON;
    else if (!alone && t->lone < RMA_SHORT_SOON)
        t->lone = 0;
    else if (t->lone < RMA_LONE_SOON)
        t->lone++;
    if (put && k->then_am)
        t->flags |= TARGET_DIRTY; /* DONE is answered after it */
    else if (put)
        t->native_out++;
    return 0;
}

/* A put of elements that lie end to end on both sides. */
static int is_plain_put(const struct rma_args *a)
{
    if (a->kind != RMA_PUT || a->otype != a->ttype || a->ocount != a->tcount || a->tcount <= 0)
        return 0;
    return (a->ttype->flags & DT_PREDEFINED) && dt_is_block(a->ttype, (size_t)a->tcount);
}

/* May a put leave at its call, with nothing to leave before it? All that needs the usual path takes
 * it. pays: its length does, so native puts that no flush has confirmed may be out. No order holds
 * among puts without MPIX_Win_order (R16), and the flush covers all. */
static int leaves_soon(const struct rma_target *t, int pays)
{
    int before = t->nops || t->natives || t->mark || (t->native_out && !pays);
    int asked = t->sync || t->tokens_out || t->acks || t->closing;
    int unusual = t->flags & (TARGET_FAILED | TARGET_DIRTY | TARGET_REFUSED | TARGET_DRAIN);
    /* a thread that waits until all is confirmed (evict.c) must come to an end */
    if (before || asked || unusual || (t->native_out && t->pins))
        return 0;
    return rma_may_issue(t) == ADMIT_ISSUE && !t->w->starved && cvar.rma_hold && !cvar.rma_delay;
}

size_t rma_native_soon(struct rma_target *t, const struct rma_args *a)
{
    const struct rma_key *k = rma_key_for(t, a);
    size_t bytes;
    uint64_t off;
    rma_lane_end(t); /* it did not take the put */
    if (!k || k->state != KEY_READY || k->then_am)
        return 0;
    if (!is_plain_put(a) || dt_total(a->ttype, (size_t)a->tcount, &bytes) || !bytes)
        return 0;
    int pays = bytes >= k->put_min;
    if (!(pays || k->lone_put) || bytes > k->put_inline || !leaves_soon(t, pays))
        return 0;
    if (rma_offset((uint64_t)a->disp - k->base, k->unit, 0, (int64_t)bytes, k->size, &off))
        return 0;
    const void *from = dt_start(a->otype, a->origin);
    int by_lane = pays && rma_lane_open(t) && rma_lane_soon(t, off, from, bytes);
    if (!by_lane) {
        rma_lane_end(t);
        if (k->ops->put(k->tp, k->far, off, from, bytes, NULL, NULL) != 0)
            return 0;
        t->native_out++;
    }
    rma_count(t->w, PVAR_RMA_NATIVE, 1);
    return bytes;
}

/* --- completion at the target --------------------------------------------------------------- */

static void flushed(struct rma_target *t, int err)
{
    t->native_out -= t->flushing;
    t->flushing = 0;
    t->flush = 0;
    if (!err)
        return;
    int said = error_of(t, err);
    struct rma_op *op = t->queued ? LIST_OBJ(t->next, struct rma_op, link) : NULL;
    if (op && rma_note_follows(op))
        op->err = said; /* some of its data may be lost: it does not notify */
    if (!t->err)
        t->err = said;
}

static void flush_done(struct tp_done *d, int err)
{
    struct rma_native *x = LIST_OBJ(d, struct rma_native, d);
    struct rma *r = rma_self();
    if (!r) {
        free(x);
        return;
    }
    struct rma_win *w = rma_win_find(x->win);
    w = w ? rma_channel(w, x->channel) : NULL;
    struct rma_target *t = w ? rma_target_find(w, x->rank) : NULL;
    if (t && t->flush == x->flush && !in_doubt(t, err)) { /* rma_native_fail() ends it else */
        flushed(t, err);
        go_on(t);
    }
    record_put(r, x);
}

int rma_native_settle(struct rma_target *t)
{
    struct rma *r = rma_self();
    if (t->tx_out) {
        int err = rma_lane_flush(t);
        if (err != TP_AGAIN && !in_doubt(t, err)) {
            t->native_out -= t->tx_out;
            t->tx_out = 0;
            if (err && !t->err)
                t->err = error_of(t, err);
        }
    }
    /* the flush also covers pieces that are still here */
    if (t->native_out > t->tx_out && !t->flushing) {
        struct rma_native *x = record_get(r);
        if (!x)
            return AM_AGAIN;
        *x = (struct rma_native){
            .d.fn = flush_done, .win = t->w->id, .channel = t->w->channel, .rank = t->rank,
            .flush = ++r->flushes};
        t->flushing = t->native_out - t->tx_out;
        t->flush = x->flush;
        int err = t->key->ops->flush(t->key->tp, (unsigned)t->world, &x->d);
        if (err != TP_PENDING)
            record_put(r, x);
        if (err == TP_AGAIN || in_doubt(t, err)) {
            t->flushing = 0;
            return AM_AGAIN;
        }
        if (err != TP_PENDING)
            flushed(t, err);
    }
    if (t->natives || t->native_out)
        return t->tx_out ? AM_AGAIN : 0; /* no callback tells of a context */
    t->atomics = 0; /* R9 */
    return 1;
}

/* t failed. What the network still has may yet be written into the user's memory. The network
 * returns what it cannot do, so that is awaited, with a timeout. Called until no operation is
 * left. */
void rma_native_fail(struct rma_target *t)
{
    uint64_t now = time_now();
    rma_lane_end(t);
    t->native_out = t->tx_out = t->flushing = 0;
    t->flush = 0;
    t->atomics = 0;
    doubted_end(rma_self(), t);
    if (!t->natives && !t->zcopies) {
        rma_pull_over(t); /* of an offer that found no room for its packet */
        return;
    }
    if (!t->retry_at)
        t->retry_at = now + TP_FAILED_NS;
    int over = now >= t->retry_at;
    for (struct list *l = t->ops.next; l != &t->ops; l = l->next) {
        struct rma_op *op = LIST_OBJ(l, struct rma_op, link);
        if (!op->natives && !op->zcopies)
            continue;
        if (over)
            op->natives = op->zcopies = 0;
        op->flags = (uint8_t)(over ? op->flags | OP_DONE : op->flags & ~OP_DONE);
    }
    if (over) {
        t->natives = t->zcopies = 0;
        rma_pull_over(t);
    } else {
        rma_ready(t);
    }
    rma_cleanup_target(t);
}
