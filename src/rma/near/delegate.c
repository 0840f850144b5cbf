/* delegate.c - an accumulate on one element of a near process's private memory, executed by its
 * owner if the owner is free.
 *
 *    asker                                         owner
 *    ONE (40 bytes: one cache line with header) => takes the stripe; if the operation was not taken
 *                                                  back, does it and answers in the asker's record
 *                                                  (acc_answer)
 *    looks at its word of the node segment <------ two cache lines move, as for any message
 *    if no answer comes within some microseconds:
 *    takes it back under the stripe                at its next poll finds nothing to do and
 *    (acc_take_back), does it by CMA               reports that
 *
 * Invariants: no process depends on the owner. An operation is answered within a bounded time or
 * taken back. When the call returns, it is complete, as by CMA: there is no element, and a flush
 * waits for nothing. While an operation that was taken back is unread, the owner gets no other one,
 * so a computing owner costs one timeout only. The owner publishes in a word of the pair which one
 * it read last. Start with rma_delegate(). */
#include "rma/near/near_types.h"

#include <string.h>

#include "base/proc.h"

/* Times from the first look at the clock (ns). After LATE_NS, CMA would have been faster. After
 * TIMEOUT_NS, the operation is taken back: an owner in the middle of other work gets twice the
 * time. Each turn of the wait serves other askers. Looking at the clock costs as much as a turn,
 * and most answers come early; so it is read first after LOOKS turns. For a bundle, where this
 * process has threads, the core is given away then, and the clock is read in each turn. */
enum { LATE_NS = 5000, TIMEOUT_NS = 2 * LATE_NS, LOOKS = 8 };
/* After a late answer this many operations go by CMA, unless the owner waits in MPI: 1, then twice
 * as many each time, at most 2^MISSES. */
enum { MISSES = 4 };
/* After ASLEEP_OPS operations in a row with less than PAUSE_NS between them, an owner that sleeps
 * in MPI is woken. A wake costs as much as some operations. If no answer in time follows, the
 * number doubles, up to 2^WAKE_SHIFT_MAX times: the woken thread may have no core to spin on. */
enum { ASLEEP_OPS = 16, WAKE_SHIFT_MAX = 3, PAUSE_NS = 50000 };
/* Numbers wrap around: 2^31 later, an operation that was taken back would look like a new one. It
 * must have been read by then. */
static const uint32_t TOO_OLD = 1u << 30;

/* So many accumulates without result, with no synchronization between them, are a burst. */
enum { BURST = 16 };

/* Wake the owner if such operations go on: it then spins for a while and can be asked. 1: it was
 * woken. */
static int wake_owner(struct rma_near *n)
{
    uint64_t now = time_now();
    n->asleep_ops = now - n->asleep_at < PAUSE_NS ? (uint8_t)(n->asleep_ops + 1) : 0;
    n->asleep_at = now;
    if (n->asleep_ops < ASLEEP_OPS << n->wakes)
        return 0;
    n->asleep_ops = 0;
    n->wakes = n->wakes < WAKE_SHIFT_MAX ? (uint8_t)(n->wakes + 1) : WAKE_SHIFT_MAX;
    mem_wake(n->host_index);
    return 1;
}

/* Has the owner still not read the last operation that was taken back? */
static int unread(const struct rma_win *w, struct rma_near *n)
{
    /* Acquire pairs with the release in rma_on_delegate(). */
    if (n->unread && atomic_load_explicit(rma_read_word(w, n, rma_near_of(w, w->rank)),
                                          memory_order_acquire) == n->unread)
        n->unread = 0;
    return n->unread != 0;
}

/* Is the owner likely to answer soon? A bundle may wait for a while, and saves many system calls.
 * So it goes to an owner that was just woken, or has been sent one and will look for it: where
 * cores are few, an owner with a core looks once and waits again. */
static int listens(const struct rma_win *w, struct rma_near *n, int bundle)
{
    enum mem_attention there = mem_attention_of(n->host_index);
    if (unread(w, n))
        return 0;
    if (there == MEM_WAITS)
        return bundle && n->bundles ? 1 : wake_owner(n) && bundle;
    if (there == MEM_SPINS || !n->backoff)
        return 1;
    n->backoff--;
    return 0;
}

/* 1: the next number is far from all that may still be unread. An owner may compute for longer, or
 * have failed: then all operations go by CMA. */
static int number_free(struct rma_win *w)
{
    if (__builtin_expect(w->delegate.asked - w->delegate.read_to < TOO_OLD, 1))
        return 1;
    uint32_t oldest = 0; /* how many before the last */
    for (unsigned i = 0; i < w->nears; i++)
        if (unread(w, &w->near.near[i]) && w->delegate.asked - w->near.near[i].unread >= oldest)
            oldest = w->delegate.asked - w->near.near[i].unread + 1;
    w->delegate.read_to = w->delegate.asked - oldest;
    return oldest < TOO_OLD;
}

enum rma_answer rma_delegate_await(int world, int aside, int (*answered)(const void *),
                                   const void *what)
{
    uint64_t begin = 0, waited = 0;
    aside = aside && !sched;
    for (unsigned turn = 1; waited < TIMEOUT_NS && !answered(what); turn++) {
        progress_poll();
        sched_turn("the answer to a question", world);
        if (aside && turn >= LOOKS) { /* the owner may have no core */
            begin = begin ? begin : time_now();
            progress_step_aside(1);
        } else if (proc->threaded) {
            progress_let_in();
        }
        if (turn < LOOKS || (!aside && turn % LOOKS))
            continue;
        uint64_t now = time_now();
        begin = begin ? begin : now;
        waited = now - begin;
    }
    if (waited >= TIMEOUT_NS)
        return answered(what) ? RMA_LATE : RMA_TIMEOUT;
    return waited <= LATE_NS ? RMA_IN_TIME : RMA_LATE;
}

int rma_delegate_answered(const void *what)
{
    const struct rma_awaited *x = what;
    return acc_answered(x->mine, x->number, x->last);
}

void rma_delegate_unread(struct rma_near *n, uint32_t number)
{
    if (!n->unread || (int32_t)(number - n->unread) > 0) /* they are read in order */
        n->unread = number;
}

void rma_delegate_learn(struct rma_near *n, int late)
{
    n->backoff = late ? (uint8_t)(1u << n->misses) : 0;
    n->misses = !late ? 0 : n->misses < MISSES ? (uint8_t)(n->misses + 1) : MISSES;
    n->wakes = late ? n->wakes : 0;
}

uint8_t rma_syncs(const struct rma_win *w, const struct rma_near *n)
{
    return (uint8_t)(w->delegate.syncs +
                     atomic_load_explicit(&w->near.flushes, memory_order_relaxed) +
                     atomic_load_explicit(&n->flushes, memory_order_relaxed));
}

int rma_burst(const struct rma_win *w, struct rma_near *n)
{
    uint8_t syncs = rma_syncs(w, n);
    n->burst = n->syncs != syncs ? 1 : n->burst < BURST ? (uint8_t)(n->burst + 1) : BURST;
    n->syncs = syncs;
    return n->burst == BURST;
}

int rma_delegate_may(struct rma_win *w, struct rma_near *n, int bundle)
{
    /* While another thread is asking: there is one record, for one operation. */
    if (!w->delegate.asking && listens(w, n, bundle) && number_free(w))
        return 1;
    progress_poll(); /* so that processes that ask this one need not wait for long */
    return 0;
}

uint32_t rma_delegate_number(struct rma_win *w)
{
    return w->delegate.asked += w->delegate.asked == UINT32_MAX ? 2 : 1;
}

int rma_delegate(struct rma_win *w, struct rma_near *n, const struct rma_delegate_op *q)
{
    struct acc_delegation *mine = &rma_peer_of(w, w->node.n.me)->asked;
    size_t e = q->elem->elem.bytes;
    if (!rma_delegate_may(w, n, 0))
        return 0;
    struct rma_delegated m = {.type = RMA_PKT_DELEGATE, .aop = (uint8_t)q->aop,
                        .elem = (uint16_t)q->elem->obj.handle, .win = (uint32_t)w->id,
                        .src = w->src, .number = rma_delegate_number(w), .disp = q->disp};
    if (q->origin)
        memcpy(&m.value, q->origin, e);
    if (q->compare)
        memcpy(&m.compare, q->compare, e);
    struct iovec v = {&m, sizeof m};
    int world = rma_world(w, n->rank);
    if (am_request(world, AM_RMA + RMA_PKT_DELEGATE, &v, 1, 0)) {
        /* no room: the owner does not read. The next message to it, or sleep, drops this wish for
         * room */
        rma_delegate_learn(n, 1);
        return 0;
    }
    rma_count(w, PVAR_RMA_MSGS, 1);
    w->delegate.asking = 1;
    const struct rma_awaited answer = {mine, m.number, m.number};
    enum rma_answer how = rma_delegate_await(world, 0, rma_delegate_answered, &answer);
    w->delegate.asking = 0;
    rma_delegate_learn(n, how != RMA_IN_TIME);
    if (how == RMA_TIMEOUT && acc_take_back(n->acc, q->off, mine, m.number)) {
        rma_delegate_unread(n, m.number);
        return 0;
    }
    if (q->result)
        memcpy(q->result, &mine->old, e);
    rma_count(w, PVAR_RMA_AM, 1);
    return 1;
}

/* Does what the call does, if nothing queued or under way would be passed (in_order() in
 * op_begin.c) and the element lies in the window. */
int rma_near_delegate(struct rma_win_near *near, struct rma_near *n, int64_t disp,
                 const struct dt_type *elem, unsigned op, const void *origin, const void *compare,
                 void *result)
{
    struct rma_win *w = (struct rma_win *)near;
    n = rma_near_record(w, n);
    struct rma_delegate_op q = {.elem = elem, .aop = op, .disp = (uint64_t)disp, .compare = compare,
                             .result = result, .origin = op == DT_NO_OP ? NULL : origin};
    int may_pass = w->table.near_targets || rma_unsure(w) || n->bundles || n->lazy;
    w = rma_root(w); /* one question at a time for all duplicates */
    if (may_pass || rma_near_place(w, n, q.disp, 0, (int64_t)elem->elem.bytes, &q.off) != 1)
        return 0;
    if (!acc_delegable(n->acc, q.off, elem) || (!result && rma_burst(w, n)))
        return 0;
    if (rma_delegate(w, n, &q))
        return 1;
    struct acc_target at = acc_by_cma(n->acc, n->remote, n->host_index);
    if (op == RMA_SWAP
            ? acc_cas(&at, q.off, elem, origin, compare, result)
            : acc_element(&at, q.off, elem, proc->obj->table[OBJ_OP].builtin[op], origin, result))
        return 0;
    rma_count(w, PVAR_RMA_CMA, 1);
    return 1;
}
