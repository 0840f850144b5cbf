/* one.c - an accumulate on one element of a near process's private memory: by its own hand where it has one free.
 *
 *     asker                                                owner
 *     ONE (40 bytes: one cache line with what is below) => takes the stripe; taken back? else does it, and answers in
 *     looks at its word of the node segment <------------- the asker's record (acc_answer): two lines travel, as for any message
 *     no answer within some microseconds: takes it back    the next time it polls it finds nothing to do, and counts that
 *     under the stripe (acc_take_back), and does it by CMA
 *
 * So nobody depends on the owner: what it is asked is answered at once or not at all, and when the call returns the operation is
 * done, as by CMA: no element, nothing for a flush to wait for.  While a question that was taken back has not been read
 * none is asked: the owner computes, and costs no more than that once. */
#include "rma/rma_types.h"

#include <string.h>

/* Turns of waiting in which it would have been done by CMA, about 5 us, and after which it is taken back: twice as many, for an owner
 * that is just doing something else.  Each serves others, such as one who asks us meanwhile. */
enum { LATE = 100, TURNS = 2 * LATE };
/* Operations by CMA after an answer that came late or not, unless the owner waits in MPI: 1, then twice as many, at most 2^this. */
enum { MISSES = 4 };
/* Operations in a row, with less than PAUSE_NS between them, after which an owner that sleeps in MPI is woken: that costs as much as
 * some of them. */
enum { NAPS = 16, PAUSE_NS = 50000 };

/* So many accumulates that fetch nothing, with no synchronization between them, are a burst. */
enum { BURST = 16 };

/* Wake it if this goes on; it spins for a while then, and will be asked. */
static void knock(struct rma_near *n)
{
    uint64_t now = time_now();
    n->naps = now - n->napped < PAUSE_NS ? (uint8_t)(n->naps + 1) : 0;
    n->napped = now;
    if (n->naps == NAPS) {
        n->naps = 0;
        mem_wake(n->host_index);
    }
}

/* Is it likely to answer soon? */
static int listens(struct rma_near *n)
{
    enum mem_attention there = mem_attention(n->host_index);
    if (n->unread && atomic_load_explicit(&n->peer->passed, memory_order_relaxed) == n->passed)
        return 0;
    n->unread = 0;
    if (there == MEM_WAITS) {
        knock(n);
        return 0;
    }
    if (there == MEM_SPINS || !n->rest)
        return 1;
    n->rest--;
    return 0;
}

/* Turns until the answer, or TURNS. */
static int await(const struct acc_asked *mine, uint32_t number)
{
    int turn = 0;
    while (turn < TURNS && !acc_answered(mine, number)) {
        progress_poll();
        sched_point();
        turn++;
    }
    return turn;
}

static void learn(struct rma_near *n, int late)
{
    n->rest = late ? (uint8_t)(1u << n->misses) : 0;
    n->misses = !late ? 0 : n->misses < MISSES ? (uint8_t)(n->misses + 1) : MISSES;
}

int rma_burst(const struct rma_win *w, struct rma_near *n)
{
    uint8_t syncs = (uint8_t)(w->syncs + atomic_load_explicit(&w->near.flushes, memory_order_relaxed));
    n->burst = n->syncs != syncs ? 1 : n->burst < BURST ? (uint8_t)(n->burst + 1) : BURST;
    n->syncs = syncs;
    return n->burst == BURST;
}

int rma_one(struct rma_win *w, struct rma_near *n, const struct rma_question *q)
{
    struct acc_asked *mine = &rma_peer_of(w, w->node.n.me)->asked;
    size_t e = q->elem->elem.bytes;
    if (!listens(n)) {
        progress_poll(); /* so that others who ask us need not wait for long */
        return 0;
    }
    struct rma_one m = {.type = RMA_PKT_ONE, .aop = (uint8_t)q->aop, .elem = (uint16_t)q->elem->obj.handle, .win = w->id,
                        .src = (uint32_t)w->rank, .number = ++w->asked, .disp = q->disp};
    if (q->origin)
        memcpy(&m.value, q->origin, e);
    if (q->compare)
        memcpy(&m.compare, q->compare, e);
    struct iovec v = {&m, sizeof m};
    n->passed = atomic_load_explicit(&n->peer->passed, memory_order_relaxed); /* before: to be compared when this one is void */
    if (am_request(rma_world(w, n->rank), AM_RMA + RMA_PKT_ONE, &v, 1, 0))
        return 0; /* no room: it reads nothing */
    rma_count(w, PVAR_RMA_MSGS, 1);
    int turns = await(mine, m.number);
    learn(n, turns > LATE);
    if (turns == TURNS && acc_take_back(n->acc, q->off, mine, m.number)) {
        n->unread = 1;
        return 0;
    }
    if (q->result)
        memcpy(q->result, &mine->old, e);
    rma_count(w, PVAR_RMA_AM, 1);
    return 1;
}

/* locate() in op.c, but for errors. */
static int lies_in(const struct rma_win *w, const struct rma_near *n, struct rma_question *q)
{
    size_t e = q->elem->elem.bytes;
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return !rma_offset(q->disp, n->disp_unit, 0, (int64_t)e, n->size, &q->off);
    q->off = q->disp;
    return rma_region_shown(n->peer, q->off, e) == 1;
}

/* As op.c does it, where nothing is queued or under way that it would pass (in_order() there) and it lies in the window. */
int rma_near_one(struct rma_win_near *near, struct rma_near *n, int64_t disp, const struct dt_type *elem, unsigned op,
                 const void *origin, const void *compare, void *result)
{
    struct rma_win *w = (struct rma_win *)near;
    struct rma_question q = {.elem = elem, .aop = op, .disp = (uint64_t)disp, .compare = compare, .result = result,
                             .origin = op == DT_NO_OP ? NULL : origin};
    if ((!result && rma_burst(w, n)) || w->ntargets || rma_unsure(w) || !lies_in(w, n, &q) || !acc_askable(n->acc, q.off, elem))
        return 0;
    if (rma_one(w, n, &q))
        return 1;
    struct acc_target at = {.ctl = n->acc, .remote = n->remote, .host_index = n->host_index};
    if (op == RMA_SWAP ? acc_cas(&at, q.off, elem, origin, compare, result)
                       : acc_one(&at, q.off, elem, proc->obj->table[OBJ_OP].builtin[op], origin, result))
        return 0;
    rma_count(w, PVAR_RMA_CMA, 1);
    return 1;
}
