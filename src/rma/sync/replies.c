/* replies.c - answers that come back to the origin: data, acknowledgements, granted and refused
 * locks. Start with rma_on_data() and rma_on_answers(). */
#include "rma/sync/sync_types.h"

#include <string.h>

#include "base/atomic.h"
#include "base/event.h"
#include "coll/survive.h"

/* --- locks -------------------------------------------------------------------------------- */

/* Operations that left with the LOCK go back into the queue. (If a NOCHECK lock is acquired for
 * real, other operations left before it: those have answers of their own.) */
static void piggyback_again(struct rma_target *t)
{
    struct list *first = t->next;
    for (struct list *l = t->ops.next; l != t->next; l = l->next) {
        struct rma_op *op = LIST_OBJ(l, struct rma_op, link);
        if (!(op->flags & OP_PIGGYBACKED))
            continue;
        if (first == t->next)
            first = l;
        op->flags &= (uint8_t)~OP_PIGGYBACKED;
        op->sent = op->answered = 0;
        t->acks -= op->acks;
        op->acks = 0;
        t->queued++;
    }
    t->next = first;
    t->flags |= TARGET_DRAIN;
    t->coalesced = NULL; /* R10: t->sync may be back */
    if (t->piggybacked) {
        t->sync = t->piggybacked;
        if (t->piggybacked & (RMA_F_DONE | RMA_F_UNLOCK))
            t->tokens_out--;
        t->piggybacked = 0;
    }
    if (t->replies > 1)
        am_credit_return(t->world, t->replies - 1u);
    t->replies = 1; /* once, however often the same answer comes */
}

static void piggyback_over(struct rma_target *t)
{
    for (struct list *l = t->ops.next; l != t->next; l = l->next) {
        struct rma_op *op = LIST_OBJ(l, struct rma_op, link);
        if (!(op->flags & OP_PIGGYBACKED))
            continue;
        op->flags &= (uint8_t)~OP_PIGGYBACKED;
        if (!(op->flags & OP_ANSWERS) && !op->acks)
            op->flags |= OP_DONE;
    }
    t->piggybacked = 0;
}

/* A target that knows of the revocation holds no lock for it. */
static void denied(struct rma_target *t)
{
    if (t->replies > 1)
        am_credit_return(t->world, t->replies - 1u);
    t->replies = 1;
    rma_target_peer_failed(t);
}

/* t: the element of the rank, or NULL. */
static void granted(struct rma_win *w, struct rma_target *t, int rank, int dropped, int err)
{
    if (w->passive.sw && rma_switch_granted(w, rank))
        t = NULL;
    if (!t || t->state != TARGET_LOCK_ISSUED) {
        rma_win_add_err(w, err);
        return;
    }
    if (err && err_class(err) == MPIX_ERR_REVOKED) {
        denied(t);
        return;
    }
    t->err = t->err ? t->err : err;
    /* MEM_SYNC: pairs with the fence before the last holder's release. */
    fence_full();
    rma_target_goto(t, TARGET_LOCK_GRANTED);
    event_raise(EVENT_LOCK_GRANTED, w->near.obj.handle, t->world, 0);
    list_del(&t->called);
    /* With the state: the next unlock owes the target an UNLOCK (sync_for), even before the thread
     * that acquires a NOCHECK lock (take_really) runs again. */
    t->flags &= (uint8_t)~(TARGET_REFUSED | TARGET_NOCHECK);
    t->retry_ns = 0;
    if (dropped) {
        rma_count(w, PVAR_RMA_LOCKS_RESENT, 1);
        piggyback_again(t);
    } else {
        piggyback_over(t);
    }
    rma_target_moved(t);
    progress_signal();
}

int rma_on_granted(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    if (!w)
        return 0;
    if (h.aop == MPIX_ERR_REVOKED) /* as a notice, which may come later */
        coll_revoke(w->comm);
    int err = h.aop == MPIX_ERR_PROC_FAILED
                  ? err_make(MPIX_ERR_PROC_FAILED,
                             "%s: a process that held the lock of rank %d died", rma_call(),
                             (int)h.src)
              : h.aop == MPIX_ERR_REVOKED
                  ? rma_revoked_error(w)
                  : rma_far_error(w, &h, (const char *)msg + sizeof h, NULL);
    granted(w, rma_target_find(w, (int)h.src), (int)h.src, (h.flags & RMA_F_DROPPED) != 0, err);
    return 0;
}

int rma_on_refused(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    if (!w || rma_switch_refused(w, (int)h.src, h.stamp))
        return 0;
    struct rma_target *t = rma_target_find(w, (int)h.src);
    if (!t || t->state != TARGET_LOCK_ISSUED)
        return 0;
    piggyback_again(t);
    t->flags |= TARGET_REFUSED;
    t->stamp = h.stamp;
    t->retry_ns = rma_retry_after(t->retry_ns);
    t->retry_at = time_now() + t->retry_ns;
    rma_ready(t);
    return 0;
}

/* --- acknowledgements ------------------------------------------------------------------------ */

/* Answers come once each, in the order in which the requests left. */
static int answered_before(const struct rma_target *t, uint32_t token)
{
    return t->ordered && !t->loose && rma_token_upto(token, t->answered);
}

/* A failure may have ended the wait for this token. Then the answer counts only if the token can
 * have left for t unanswered. Otherwise, a forged one would take the place of an answer that a
 * thread waits for. */
static int may_be_due(const struct rma_target *t, uint32_t token)
{
    return rma_token_upto(token, t->out_token) && !answered_before(t, token);
}

/* The answer to an early DONE: for the flush that took it, or an error for the next one (R12). */
static void early_answered(struct rma_target *t, int err)
{
    uint32_t token = t->early_for;
    t->early = t->early_for = 0;
    t->unasked = !token && !t->tokens_out; /* else a flush came and asked by itself */
    if (token && rma_token_asked(t->w, t->rank, token) != RMA_ASKED_NONE)
        rma_token_done(t->w, t->rank, token, err);
    else if (err && !t->err)
        t->err = err;
}

/* t: the element of the rank, or NULL. */
static void signaled(struct rma_win *w, struct rma_target *t, const struct rma_hdr *h, int err)
{
    int early = t && h->token && h->token == t->early;
    enum rma_asked asked = early      ? RMA_ASKED
                           : h->token ? rma_token_asked(w, (int)h->src, h->token)
                                      : RMA_ASKED_NONE;
    if (h->token && !t && asked != RMA_ASKED_ALONE)
        /* elements stay until they are answered: this one asked nothing, and another target has yet
         * to answer its flush_all */
        return;
    if (t && h->token) {
        int older = rma_token_upto(h->token, t->born);
        if (asked == RMA_ASKED_NONE && (older || !may_be_due(t, h->token)))
            /* the answer to an element before t, whose waiter a failure ended; or a forged one */
            return;
        if (asked == RMA_ASKED && !older && answered_before(t, h->token))
            /* forged: it would take the place of another rank's answer to the same flush_all */
            return;
        t->doubt |= asked == RMA_ASKED_NONE;
        /* An answer to a request without element means nothing for t, though t may have been made
         * since. */
        if (asked != RMA_ASKED_ALONE && !t->tokens_out)
            return; /* t was asked nothing: not an answer for another rank either */
        t->tokens_out -= asked != RMA_ASKED_ALONE;
        if (asked != RMA_ASKED_ALONE && !rma_token_upto(h->token, t->answered))
            t->answered = h->token;
        if (!t->tokens_out)
            t->loose = 0;
        if (early || (t->early && !t->tokens_out)) /* or a forged one has answered it */
            early_answered(t, early ? err : 0);
    }
    if (early)
        return;
    if (t && h->token && asked == RMA_ASKED_NONE && err && !t->err)
        t->err = err; /* a failure has ended the wait for it: it is for the next one */
    rma_token_done(w, (int)h->src, h->token, err);
}

/* Its answer came. The list is not searched: it may hold many that wait. */
static void settle(struct rma_op *op)
{
    rma_op_settle(op);
    if (op->flags & OP_DONE)
        rma_op_finish(op);
}

/* A part was refused, so the others would be: no more is asked for or sent. What has left will
 * still be answered. */
static void no_more(struct rma_op *op)
{
    struct rma_target *t = op->t;
    if (!op->sent || op->sent == op->bytes || t->flags & TARGET_FAILED)
        return;
    WR_ASSERT(t->next == &op->link); /* R1 */
    op->bytes = op->sent;
    t->next = t->next->next;
    t->queued--;
    rma_queue_shorter(t);
    rma_count(t->w, PVAR_RMA_AM, 1);
}

/* An answer to op has come, and is counted. */
static void answered(struct rma_op *op, int err)
{
    struct rma_target *t = op->t; /* op may end here */
    if (err && !op->err)
        op->err = err;
    if (err)
        no_more(op);
    settle(op);
    if (rma_target_due(t))
        rma_ready(t);
}

static void acked(struct rma_win *w, int src, const struct rma_hdr *h, const char *data)
{
    struct rma_target *t = rma_target_find(w, (int)h->src); /* no handler deletes it */
    if (h->flags & RMA_F_GRANTED)
        granted(w, t, (int)h->src, 0, 0);
    struct rma_op *op = h->op ? rma_op_by_id(h->op) : NULL;
    int its = op && op->t->w == w && op->t->world == src && op->acks &&
              !(op->t->flags & TARGET_FAILED);
    int err = !h->aop ? MPI_SUCCESS
              : its   ? rma_op_refused(op, h, data)
                      : rma_far_error(w, h, data, NULL);
    if (its) {
        op->acks--;
        op->t->acks--;
        answered(op, err);
    }
    struct rma_extent told;
    if (t && h->unit && w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        rma_native_extent(t, h->win_bytes, h->unit);
    else if (t && h->unit && h->len == sizeof told && !h->aop)
        rma_native_extent_region(t, memcpy(&told, data, sizeof told));
    if (h->flags & RMA_F_SIGNALED) {
        rma_clock_heard(w, h->clock);
        signaled(w, t, h, err);
    } else if (!op && err) {
        rma_win_add_err(w, err);
    }
}

/* Never more than was asked for by message: the data go into the user's memory. */
static int is_asked_for(const struct rma_op *op, const struct rma_hdr *h, size_t len)
{
    if (!(op->flags & OP_ANSWERS) || op->flags & OP_DONE)
        return 0;
    return h->asked <= op->sent - op->answered - op->native_bytes && h->from <= op->bytes &&
           len <= op->bytes - h->from;
}

static void data_came(struct rma_win *w, int src, const struct rma_hdr *h, const char *data)
{
    struct rma_target *t = rma_target_find(w, (int)h->src); /* no handler deletes it */
    if (h->flags & RMA_F_GRANTED)
        granted(w, t, (int)h->src, 0, 0);
    struct rma_op *op = rma_op_by_id(h->op);
    size_t len = h->aop ? 0 : h->len; /* the other payload is the reason */
    /* an error of an earlier operation: for the flush that this answers */
    int earlier = MPI_SUCCESS;
    if (h->flags & RMA_F_FAULT && h->len >= (h->aop ? 2 : 1) * sizeof(struct rma_fault)) {
        struct rma_hdr told = *h;
        struct rma_fault f;
        memcpy(&f, data + h->len - sizeof f, sizeof f);
        len -= h->aop ? 0 : sizeof f;
        told.aop = f.cls;
        earlier = rma_far_error(w, &told, (const char *)&f, NULL);
    }
    if (op && op->t->w == w && op->t->world == src && is_asked_for(op, h, len)) {
        int err = rma_op_refused(op, h, data);
        /* Refused before its length was known: nothing more will come of what has left. */
        size_t count = err && !h->asked ? op->sent - op->answered - op->native_bytes : h->asked;
        if (len)
            dt_unpack(op->a.rtype, (size_t)op->a.rcount, op->a.result, h->from, data, len);
        op->answered += count;
        answered(op, err);
    }
    if (h->flags & RMA_F_SIGNALED) {
        rma_clock_heard(w, h->clock);
        signaled(w, t, h, earlier);
    }
}

/* The window whose request it answers: w, or a duplicate of it. The channel goes out of the token.
 * NULL: that duplicate has been freed. */
static struct rma_win *asker(struct rma_win *w, struct rma_hdr *h)
{
    unsigned channel = rma_channel_of(h);
    h->token &= RMA_TOKEN_MASK;
    return rma_channel(w, channel);
}

/* A single reply, for the window that it names. */
static int reply_came(int src, const void *msg, size_t len,
                      void (*take)(struct rma_win *, int, const struct rma_hdr *, const char *))
{
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    if (w && (w = asker(w, &h)) != NULL)
        take(w, src, &h, (const char *)msg + sizeof h);
    return 0;
}

int rma_on_ack(int src, const void *msg, size_t len)
{
    return reply_came(src, msg, len, acked);
}

int rma_on_data(int src, const void *msg, size_t len)
{
    return reply_came(src, msg, len, data_came);
}

/* Replies to a BATCH. They came as one packet: the reservations of the others are returned. */
int rma_on_answers(int src, const void *msg, size_t len)
{
    struct rma_hdr all;
    struct rma_win *w = rma_packet_window(src, msg, len, &all);
    if (!w) {
        if (len >= sizeof all && all.count > 1 && all.count <= len / sizeof all)
            am_credit_return(src, all.count - 1);
        return 0;
    }
    const char *at = (const char *)msg + sizeof all;
    uint32_t n = 0;
    for (size_t left = all.len; n < all.count && left >= sizeof(struct rma_hdr); n++) {
        struct rma_hdr h;
        memcpy(&h, at, sizeof h);
        at += sizeof h;
        left -= sizeof h;
        if (h.win != all.win || !rma_same_src(w, h.src, all.src) || rma_pad(h.len) > left)
            break;
        h.src = all.src;
        struct rma_win *its = asker(w, &h);
        if (its && h.type == RMA_PKT_DATA)
            data_came(its, src, &h, at);
        else if (its && h.type == RMA_PKT_ACK)
            acked(its, src, &h, at);
        at += rma_pad(h.len);
        left -= rma_pad(h.len);
    }
    if (n > 1)
        am_credit_return(src, n - 1);
    return 0;
}
