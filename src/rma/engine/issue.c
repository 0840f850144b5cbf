/* issue.c - ISSUE_OPS_{TARGET,WIN} and piggybacked flags ([design] Basic routines, Performance).
 * Start with rma_issue_win().
 *
 *   queue of a target:  [answers awaited ...] next -> [op] [op] [op] ... [tail]
 *
 * One step sends one packet: a LOCK alone, a BATCH of small operations, one part of an operation,
 * or a flag that found no operation to piggyback on. Windows give their targets one step each in
 * turn. Nothing here waits: AM_AGAIN leaves everything unchanged. */
#include "rma/engine/packet_build.h"

#include <errno.h>

#include "base/atomic.h"
#include "watch/watch.h"

enum step { STEP_NOTHING, STEP_SENT, STEP_AGAIN };

/* --- sending --------------------------------------------------------------------------------- */

static int failed(struct rma_target *t, int err)
{
    rma_target_fail(t, err);
    return STEP_SENT;
}

static int send_packet(struct rma_target *t, struct packet *p)
{
    p->iov[0] = (struct iovec){&p->h, sizeof p->h};
    int err;
    if (p->zcopy)
        err = rma_zcopy_request(t, p->zcopy, AM_RMA + p->h.type, p->iov, p->n, p->replies);
    else
        err = am_request(t->world, AM_RMA + p->h.type, p->iov, p->n, p->replies);
    if (!err)
        rma_count(t->w, PVAR_RMA_MSGS, 1);
    return err;
}

/* As many as the user called. */
static unsigned operations(const struct rma_op *op)
{
    return op->coalesced ? op->coalesced_ops : 1;
}

/* t's next operation has left, or will not. If the data were copied, or have left, a put is
 * complete for the origin. The answer to DONE covers the rest. */
static void leaves_queue(struct rma_target *t, struct rma_op *op)
{
    t->next = t->next->next;
    t->queued--;
    rma_op_settle(op);
}

/* An operation (or a part of it) has left with the packet. */
static void op_left(struct rma_target *t, struct rma_op *op, size_t part, int piggybacks)
{
    if (rma_op_asks(op)) {
        op->acks++;
        t->acks++;
    }
    op->sent += part;
    t->after |= op->after; /* R16 */
    if (piggybacks)
        op->flags |= OP_PIGGYBACKED;
    if (!(op->flags & OP_ANSWERS) && t->ordered)
        t->flags |= TARGET_DIRTY;
    if (op->sent < op->bytes)
        return;
    if (op->bytes || !(op->flags & OP_BEGUN)) /* else it is counted, and only notified */
        rma_count(t->w, PVAR_RMA_AM, operations(op));
    if (!rma_note_follows(op))
        leaves_queue(t, op);
}

static void lock_left(struct rma_target *t)
{
    t->flags &= (uint8_t)~TARGET_REFUSED;
    if (t->state != TARGET_LOCK_ISSUED)
        rma_target_goto(t, TARGET_LOCK_ISSUED);
}

static void packet_left(struct rma_target *t, const struct packet *p, int lock)
{
    size_t part = p->part;
    unsigned ops = 0;
    rma_self()->packed.t = NULL;
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
        lock_left(t);
        if (p->ops)
            rma_count(t->w, PVAR_RMA_PIGGY, 1);
    }
}

static int is_acc(const struct rma_op *op)
{
    return op->kind != RMA_PUT && op->kind != RMA_GET;
}

/* An accumulate waits for earlier native ones (R9). On an unordered transport it also waits for the
 * answers of earlier ones to the same target. */
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
    rma_put_lock(t, &p);
    if (t->flags & TARGET_REFUSED) {
        p.h.flags |= RMA_F_STAMP;
        p.h.stamp = t->stamp;
    }
    int err = send_packet(t, &p);
    if (err == AM_AGAIN)
        return STEP_AGAIN;
    if (err)
        return failed(t, err);
    packet_left(t, &p, 1);
    t->piggybacked = 0; /* a NOCHECK lock that is acquired for real had flags before */
    return STEP_SENT;
}

int rma_lock_send(struct rma_target *t)
{
    return send_lock(t) == STEP_SENT;
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
    if (err) { /* this one by message */
        op->flags |= OP_BY_AM;
        return STEP_SENT;
    }
    if (op->sent < op->bytes)
        return STEP_SENT;
    rma_count(t->w, PVAR_RMA_NATIVE, 1);
    if (!rma_note_follows(op))
        leaves_queue(t, op);
    return STEP_SENT;
}

/* Let the target pull the data of the next operation. STEP_NOTHING: take the usual path. */
static enum step send_pull(struct rma_target *t)
{
    struct rma_op *op = op_at(t->next);
    int err = rma_pull_send(t, op);
    if (err == AM_AGAIN)
        return STEP_AGAIN;
    if (err == -ENOTSUP)
        return STEP_NOTHING;
    return err ? failed(t, err) : STEP_SENT;
}

/* The next operation by the network itself, from here or by a pull. STEP_NOTHING: by message. */
static enum step send_by_network(struct rma_target *t)
{
    const struct rma_op *op = op_at(t->next);
    /* an existing offer is sent as soon as there is room */
    if (!t->offer && rma_route_of(t, op) == RMA_ROUTE_NATIVE)
        return send_native(t);
    return rma_route_pulls(t, op) ? send_pull(t) : STEP_NOTHING;
}

/* The notification leaves with the last part. Without an order that part waits until all others are
 * done there. */
static int parts_are_out(const struct rma_op *op)
{
    return op->acks || (op->flags & OP_ANSWERS && op->answered != op->sent);
}

/* All of op has left, some of it natively. STEP_SENT: it is there, or the transport delivers what
 * follows behind it. So only its notification is left, or nothing of it. */
static enum step data_first(struct rma_target *t, struct rma_op *op)
{
    int put = !(op->flags & OP_ANSWERS);
    int settled = put && !(t->key && t->key->then_am) ? rma_native_settle(t) : 1;
    if (settled != 1)
        return settled == AM_AGAIN ? STEP_AGAIN : STEP_NOTHING; /* a completion makes t ready */
    if (parts_are_out(op))
        return op->natives ? STEP_NOTHING : STEP_AGAIN;
    if (op->err) {
        if (watch_wants(WATCH_NOTES))
            watch_note_lost(t->w, t->rank, (unsigned)op->a.notify - 1, 1);
        leaves_queue(t, op);
        return STEP_SENT;
    }
    op->bytes = op->sent = op->answered = 0;
    op->flags &= (uint8_t)~OP_ANSWERS;
    return STEP_SENT;
}

static int note_is_early(const struct rma_target *t, const struct packet *p)
{
    struct rma_op *op = op_at(t->next);
    if (t->ordered || !(p->h.flags & RMA_F_NOTIFY) || !op->sent)
        return 0;
    op->last_waits = (uint8_t)parts_are_out(op);
    return op->last_waits;
}

/* Of the n operations that may go now, those that the next packet may have. One that follows others
 * (R16) waits for what the network itself does (R8), and for all answers where messages pass each
 * other; those before it do not. One that has begun has waited. 0: none may go. */
static unsigned may_leave(struct rma_target *t, unsigned n)
{
    const struct list *l = t->next;
    unsigned k = 0, most = (unsigned)(t->packet / sizeof(struct rma_hdr));
    if (!t->w->orders || !n)
        return n;
    if (t->after && !rma_is_behind(t))
        t->after = 0;
    n = n < most ? n : most;
    if (rma_note_follows(op_at(l)) || op_at(l)->sent) {
        k++;
        l = l->next;
    }
    for (; k < n && !rma_follows(op_at(l)); l = l->next)
        k++;
    if (k == n)
        return n;
    if (k) /* these wait for nothing */
        return t->ordered && !t->natives && !t->native_out ? n : k;
    if (rma_native_settle(t) != 1)
        return 0;
    /* without order, an element that was evicted had the answers of its operations (evict.c) */
    for (l = t->ops.next; !t->ordered && l != t->next; l = l->next)
        if (!(op_at(l)->flags & OP_DONE))
            return 0;
    return n;
}

static int send_ops(struct rma_target *t, int lock)
{
    struct packet p = {.ops = 0};
    unsigned n = rma_due_ops(t);
    struct rma_op *first = op_at(t->next);
    if (rma_note_follows(first) && first->sent == first->bytes)
        return data_first(t, first);
    if (must_wait_turn(t, first) || (n = may_leave(t, n)) == 0)
        return STEP_AGAIN;
    if (op_at(t->next)->last_waits && parts_are_out(op_at(t->next)))
        return STEP_AGAIN;
    rma_native_want(t, op_at(t->next));
    enum step s = lock ? STEP_NOTHING : send_by_network(t);
    if (s != STEP_NOTHING)
        return s;
    rma_packet_next(&p, t, lock, n);
    if (p.ops == 0)
        return send_lock(t);
    if (note_is_early(t, &p))
        return STEP_AGAIN;
    t->unsure |= (uint8_t)p.unsure; /* R11 */
    struct tail tail = rma_tail_flags(t, &p, lock);
    int err = send_packet(t, &p);
    if (err == AM_AGAIN)
        return STEP_AGAIN;
    if (err)
        return failed(t, err);
    packet_left(t, &p, lock);
    rma_tail_left(t, &tail);
    return STEP_SENT;
}

/* The queue is empty: flags go alone, or prove unnecessary. They wait until everything done
 * natively is there (R8), because the notified process may look at once. */
static int send_sync(struct rma_target *t)
{
    int settled = rma_native_settle(t);
    if (settled != 1)
        return settled == AM_AGAIN ? STEP_AGAIN : STEP_NOTHING;
    int clean = !rma_unanswered(t);
    /* Never locked, or NOCHECK: nothing was sent that needs a release. */
    unsigned flags = t->state == TARGET_LOCK_CALLED ? 0 : rma_sync_flags(t, !clean);
    if (!flags) {
        rma_sync_left(t, 0);
        return STEP_SENT;
    }
    if (flags == RMA_F_DONE && rma_takes_early(t))
        return STEP_SENT;
    t->w->asks_early = flags == RMA_F_DONE;
    struct packet p = {.h = header(t, RMA_PKT_DONE), .n = 1};
    rma_put_sync(&p.h, flags, t->token, &p.replies);
    int err = send_packet(t, &p);
    if (err == AM_AGAIN)
        return STEP_AGAIN;
    if (err)
        return failed(t, err);
    rma_sync_left(t, flags);
    return STEP_SENT;
}

/* Operations on near targets that waited for the grant of the epoch, or behind others. */
static void run_direct(struct rma_target *t)
{
    struct rma_op *op = op_at(t->next);
    struct rma_near *n = rma_near_of(t->w, t->rank);
    /* R4: it may wait for a stripe, and other threads look at this window meanwhile */
    rma_ready(t);
    int err = n && !rma_overtakes(t->w, n) && rma_nothing_under_way(t)
                  ? rma_direct_noted(rma_root(t->w), n, &op->a, &op->bytes, RMA_QUEUED)
                  : NOT_HERE;
    if (!op->bytes) /* its notification is left */
        op->flags &= (uint8_t)~OP_ANSWERS;
    if (err == NOT_HERE) {
        op->flags &= (uint8_t)~OP_DIRECT;
        return;
    }
    if (err) {
        op->err = err;
        if (op->a.notify && watch_wants(WATCH_NOTES))
            watch_note_lost(t->w, t->rank, (unsigned)op->a.notify - 1, 1);
    }
    op->sent = op->bytes;
    t->next = t->next->next;
    t->queued--;
    op->flags |= OP_DONE;
    /* MPIX_Win_order was called before this was done. Its stores precede those of later operations:
     * pairs with the fence in the flush of the process that reads them. */
    if (t->w->orders)
        fence_full();
}

/* --- steps ----------------------------------------------------------------------------------- */

static enum step one_step(struct rma_target *t)
{
    /* native pieces that the network has not given back */
    if ((t->flags & TARGET_FAILED) && t->nops) {
        rma_native_fail(t);
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
    /* a thread that waits for the lock has priority (rma_grant_wait) */
    } else if (t->sync && !(lock && t->flags & TARGET_DRAIN)) {
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
    while ((s = one_step(t)) == STEP_SENT)
        n++;
    if (s == STEP_AGAIN)
        rma_ready(t);
    else
        list_del(&t->ready);
    return n;
}

/* One packet per target in turn, until none can send. */
int rma_issue_win(struct rma_win *w)
{
    int n = 0;
    unsigned idle = 0;
    while (!list_empty(&w->table.ready) && idle <= w->table.ntargets) {
        struct rma_target *t = LIST_OBJ(list_pop(&w->table.ready), struct rma_target, ready);
        enum step s = one_step(t);
        if (s == STEP_SENT) {
            n++;
            idle = 0;
            rma_cleanup_target(t);
        } else {
            idle++;
        }
        int settled = s == STEP_SENT && !t->queued && !t->sync &&
                      !(t->flags & (TARGET_DRAIN | TARGET_REFUSED | TARGET_FAILED));
        if (s != STEP_NOTHING && !settled)
            rma_ready(t); /* unless the step has made it ready */
    }
    return n;
}
