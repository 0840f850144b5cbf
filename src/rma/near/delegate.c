/* delegate.c - an accumulate on one element of a near process's private memory: by its own hand
 * where it has one free.
 *
 *     asker                                         owner
 *     ONE (40 bytes: one line with what is below) => takes the stripe; taken back? else does it,
 *                                                    and answers in the asker's record (acc_answer)
 *     looks at its word of the node segment <------- two lines travel, as for any message
 *     no answer within some microseconds: takes it
 *     back under the stripe (acc_take_back), and     the next time it polls it finds nothing to do,
 *     does it by CMA                                 and says so
 *
 * So nobody depends on the owner: what it is asked is answered at once or not at all, and when the
 * call returns the operation is done, as by CMA: no element, nothing for a flush to wait for.
 * While a question that was taken back has not been read the owner is asked none: it computes, and
 * costs no more than that once.  It says in a word of the pair which one it has read. */
#include "rma/near/near_types.h"

#include <string.h>

#include "base/proc.h"

/* From the first look at the clock on: a time in which it would have been done by CMA, and one
 * after which it is taken back, twice as long, for an owner that is just doing something else (ns).
 * Each turn of waiting serves others, such as one who asks us meanwhile, and the clock, which costs
 * as much as that, is looked at after some: most answers have come by then. */
enum { LATE_NS = 5000, PATIENCE_NS = 2 * LATE_NS, LOOKS = 8 };
/* Operations by CMA after an answer that came late or not, unless the owner waits in MPI: 1, then
 * twice as many, at most 2^this. */
enum { MISSES = 4 };
/* Operations in a row, with less than PAUSE_NS between them, after which an owner that sleeps in
 * MPI is woken: that costs as much as some of them.  Twice as many each time that no answer in time
 * came of it, at most 2^KNOCKS times as many: who was woken then is a thread that serves a
 * computing process, say, and found no core to spin on. */
enum { NAPS = 16, KNOCKS = 3, PAUSE_NS = 50000 };
/* Numbers go round: 2^31 later a question that was taken back looks like one that was not, and must
 * have been read. */
static const uint32_t TOO_OLD = 1u << 30;

/* So many accumulates that fetch nothing, with no synchronization between them, are a burst. */
enum { BURST = 16 };

/* Wake it if this goes on; it spins for a while then, and will be asked. */
static void knock(struct rma_near *n)
{
    uint64_t now = time_now();
    n->naps = now - n->napped < PAUSE_NS ? (uint8_t)(n->naps + 1) : 0;
    n->napped = now;
    if (n->naps >= NAPS << n->knocks) {
        n->naps = 0;
        n->knocks = n->knocks < KNOCKS ? (uint8_t)(n->knocks + 1) : KNOCKS;
        mem_wake(n->host_index);
    }
}

/* Has it not read the last one that was taken back? */
static int unread(const struct rma_win *w, struct rma_near *n)
{
    /* Acquire pairs with the release in rma_on_one(). */
    if (n->unread && atomic_load_explicit(rma_read_word(w, n, rma_near_of(w, w->rank)),
                                          memory_order_acquire) == n->unread)
        n->unread = 0;
    return n->unread != 0;
}

/* Is it likely to answer soon? */
static int listens(const struct rma_win *w, struct rma_near *n)
{
    enum mem_attention there = mem_attention(n->host_index);
    if (unread(w, n))
        return 0;
    if (there == MEM_WAITS) {
        knock(n);
        return 0;
    }
    if (there == MEM_SPINS || !n->rest)
        return 1;
    n->rest--;
    return 0;
}

/* 1: the next number is far from all that may yet be read.  Somebody may compute, or be dead, for
 * longer: then all goes by CMA. */
static int number_free(struct rma_win *w)
{
    if (__builtin_expect(w->asked - w->read_to < TOO_OLD, 1))
        return 1;
    uint32_t oldest = 0; /* how many before the last */
    for (unsigned i = 0; i < w->nears; i++)
        if (unread(w, &w->near.near[i]) && w->asked - w->near.near[i].unread >= oldest)
            oldest = w->asked - w->near.near[i].unread + 1;
    w->read_to = w->asked - oldest;
    return oldest < TOO_OLD;
}

/* ns until the answer, or PATIENCE_NS or more.  Other threads of this process have their turns,
 * too. */
static uint64_t await(int world, const struct acc_asked *mine, uint32_t number)
{
    const char *call = proc->call;
    uint64_t begin = 0, waited = 0;
    for (unsigned turn = 1; waited < PATIENCE_NS && !acc_answered(mine, number); turn++) {
        progress_poll();
        sched_turn("the answer to a question", world);
        if (proc->threaded) {
            lock_yield(&proc->lock);
            proc->call = call;
        }
        if (turn % LOOKS)
            continue;
        uint64_t now = time_now();
        begin = begin ? begin : now;
        waited = now - begin;
    }
    return waited;
}

static void learn(struct rma_near *n, int late)
{
    n->rest = late ? (uint8_t)(1u << n->misses) : 0;
    n->misses = !late ? 0 : n->misses < MISSES ? (uint8_t)(n->misses + 1) : MISSES;
    n->knocks = late ? n->knocks : 0;
}

int rma_burst(const struct rma_win *w, struct rma_near *n)
{
    uint8_t syncs = (uint8_t)(w->syncs +
                              atomic_load_explicit(&w->near.flushes, memory_order_relaxed));
    n->burst = n->syncs != syncs ? 1 : n->burst < BURST ? (uint8_t)(n->burst + 1) : BURST;
    n->syncs = syncs;
    return n->burst == BURST;
}

int rma_one(struct rma_win *w, struct rma_near *n, const struct rma_question *q)
{
    struct acc_asked *mine = &rma_peer_of(w, w->node.n.me)->asked;
    size_t e = q->elem->elem.bytes;
    if (w->asking || !listens(w, n) || !number_free(w)) {
        /* asking: another thread; one record, one question */
        progress_poll(); /* so that others who ask us need not wait for long */
        return 0;
    }
    w->asked += w->asked == UINT32_MAX ? 2 : 1;
    struct rma_one m = {.type = RMA_PKT_ONE, .aop = (uint8_t)q->aop,
                        .elem = (uint16_t)q->elem->obj.handle, .win = (uint32_t)w->id,
                        .src = w->src, .number = w->asked, .disp = q->disp};
    if (q->origin)
        memcpy(&m.value, q->origin, e);
    if (q->compare)
        memcpy(&m.compare, q->compare, e);
    struct iovec v = {&m, sizeof m};
    int world = rma_world(w, n->rank);
    if (am_request(world, AM_RMA + RMA_PKT_ONE, &v, 1, 0)) {
        /* no room: it reads nothing.  That we wanted some is forgotten with the next message to it,
         * or before we sleep */
        learn(n, 1);
        return 0;
    }
    rma_count(w, PVAR_RMA_MSGS, 1);
    w->asking = 1;
    uint64_t waited = await(world, mine, m.number);
    w->asking = 0;
    learn(n, waited > LATE_NS);
    if (waited >= PATIENCE_NS && acc_take_back(n->acc, q->off, mine, m.number)) {
        n->unread = m.number;
        return 0;
    }
    if (q->result)
        memcpy(q->result, &mine->old, e);
    rma_count(w, PVAR_RMA_AM, 1);
    return 1;
}

/* locate() in direct.c, but for errors. */
static int lies_in(const struct rma_win *w, const struct rma_near *n, struct rma_question *q)
{
    size_t e = q->elem->elem.bytes;
    if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return !rma_offset(q->disp, n->disp_unit, 0, (int64_t)e, n->size, &q->off);
    q->off = q->disp;
    return rma_region_shown(n->peer, q->off, e) == 1;
}

/* As a call does it, where nothing is queued or under way that it would pass (in_order() in op.c)
 * and it lies in the window. */
int rma_near_one(struct rma_win_near *near, struct rma_near *n, int64_t disp,
                 const struct dt_type *elem, unsigned op, const void *origin, const void *compare,
                 void *result)
{
    struct rma_win *w = (struct rma_win *)near;
    struct rma_question q = {.elem = elem, .aop = op, .disp = (uint64_t)disp, .compare = compare,
                             .result = result, .origin = op == DT_NO_OP ? NULL : origin};
    if (w->ntargets || rma_unsure(w) || n->lazy || !lies_in(w, n, &q) ||
        !acc_askable(n->acc, q.off, elem) || (!result && rma_burst(w, n)))
        return 0;
    if (rma_one(w, n, &q))
        return 1;
    struct acc_target at = acc_by_cma(n->acc, n->remote, n->host_index);
    if (op == RMA_SWAP
            ? acc_cas(&at, q.off, elem, origin, compare, result)
            : acc_one(&at, q.off, elem, proc->obj->table[OBJ_OP].builtin[op], origin, result))
        return 0;
    rma_count(w, PVAR_RMA_CMA, 1);
    return 1;
}
