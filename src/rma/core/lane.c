/* lane.c - short puts of a thread by a transmit context of the network, without proc->lock.
 *
 *   proc->lock                                    a thread that puts, or flushes that target
 *   a short put leaves soon (R14): open  ======>  enter the context, put, count, leave
 *   what else has to do with the target: end      (closed: the usual path, under proc->lock)
 *     enter the context, close; what went by
 *     it is out: t->native_out, t->tx_out
 *   rma_native_settle(): flush both ways (R8)
 *
 * Only in passive epochs, by a transport with contexts (tp.h). A process has TXS contexts at most,
 * and one if only one of its threads calls MPI at a time: there, too, a put by a lane needs no
 * element and no record. A window or duplicate takes one by turns at its first lane. A lane is
 * an element's way by the context of its window, from the first put until the element is deleted.
 * A window has LANES of them, by rank. A rank whose place is another's goes the usual way.
 *
 * Invariants. A lane that is open belongs to an element with nothing queued, awaited or asked for:
 * what changes that ends it first. A thread with proc->lock opens and closes it inside the
 * context, so a thread that finds it open there may put, and what it puts is counted. `sure`: the
 * element has nothing else out and no error, so a flush of the target is a flush of the lane.
 * w->native.by_lanes: each element of the window has such a lane, and nothing else is out, so a
 * flush of all is a flush of these lanes. A put has left its buffer, so a local flush waits for
 * nothing.
 *
 * Two threads with windows whose contexts differ write no common line here. Start with
 * rma_near_lane_put(). */
#include "rma/core/core.h"

#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

enum { TXS = 4, LANES = 8, POLLS = 256, LOOK_AROUND = 64 };

struct rma_tx {
    _Alignas(128) atomic_uchar busy; /* a thread is inside */
    struct tp_tx *tx;
    const struct tp_ops *ops;
};

struct rma_txs {
    struct tp *tp; /* the one transport whose contexts they are */
    struct progress_source source;
    unsigned opened, turn;
    uint8_t none;   /* it opens no more */
    uint8_t awaits; /* a flush under proc->lock is under way: since the last look at it */
    struct rma_tx of[TXS];
};

struct lane {
    _Alignas(128) atomic_uchar open; /* changed inside; elsewhere a hint */
    uint8_t sure;
    int rank, err;           /* err: what a flush has said, for the next one under proc->lock */
    struct rma_target *t;    /* proc->lock alone; NULL: free */
    struct tp_far *far;
    uint64_t unit, size, least, most; /* least, most: bytes of a put */
    uint64_t out;            /* puts since the last flush */
    uint64_t puts, bytes;    /* not in the window's counters yet */
};

struct rma_lanes {
    struct rma_tx *tx;
    uint8_t flushes;         /* looked at inside */
    struct lane of[LANES];
};

static struct lane *lane_at(struct rma_lanes *all, int rank)
{
    return &all->of[(unsigned)rank % LANES];
}

/* Another thread inside does one put, or one look of a flush, and waits for nothing. */
static inline void enter(struct rma_tx *x)
{
    unsigned turn = 0;
    /* Acquire pairs with the release in leave(). */
    while (atomic_exchange_explicit(&x->busy, 1, memory_order_acquire))
        thread_pause(turn++);
}

static inline void leave(struct rma_tx *x)
{
    atomic_store_explicit(&x->busy, 0, memory_order_release);
}

/* --- without proc->lock ----------------------------------------------------------------------- */

static inline int put_here(struct rma_tx *x, struct lane *l, uint64_t off, const void *from,
                           uint64_t bytes)
{
    if (x->ops->tx_put(x->tx, l->far, off, from, (size_t)bytes))
        return 0;
    l->out++;
    return 1;
}

/* NULL: none has been made. */
static inline struct rma_lanes *lanes_seen(const struct rma_win_near *near)
{
    /* Acquire pairs with the release in lanes_of(). */
    return atomic_load_explicit(&near->lanes, memory_order_acquire);
}

static inline int seems_open(struct rma_lanes *all, int rank)
{
    return all && atomic_load_explicit(&lane_at(all, rank)->open, memory_order_relaxed);
}

static inline int is_open(const struct lane *l, int rank)
{
    return atomic_load_explicit(&l->open, memory_order_relaxed) && l->rank == rank;
}

int rma_near_lane_put(struct rma_win_near *near, int rank, int64_t disp, uint64_t bytes,
                      const void *from)
{
    struct rma_lanes *all = lanes_seen(near);
    uint64_t off;
    if (!seems_open(all, rank))
        return 0;
    struct lane *l = lane_at(all, rank);
    sched_point(); /* another thread may close it */
    enter(all->tx);
    int fits = is_open(l, rank) && bytes >= l->least && bytes <= l->most && disp >= 0 &&
               !rma_offset((uint64_t)disp, l->unit, 0, (int64_t)bytes, l->size, &off);
    int done = fits && put_here(all->tx, l, off, from, bytes);
    if (done) {
        l->puts++;
        l->bytes += bytes;
    }
    leave(all->tx);
    return done;
}

/* As tx_flush of tp.h. */
static int flush_here(struct rma_tx *x, struct lane *l)
{
    int err = x->ops->tx_flush(x->tx, l->far);
    if (!err)
        l->out = 0;
    else if (err != TP_AGAIN)
        l->err = err;
    return err;
}

/* The same of all that are open: TP_AGAIN if one says so. */
static int flush_all_here(struct rma_lanes *all)
{
    int again = 0;
    for (struct lane *l = all->of; l < all->of + LANES; l++) {
        if (!atomic_load_explicit(&l->open, memory_order_relaxed) || !l->out)
            continue;
        int err = flush_here(all->tx, l);
        if (err && err != TP_AGAIN)
            return err;
        again |= err;
    }
    return again;
}

/* What a thread asks for. rank NULL: all of them. local: what is out has left its buffers. */
struct flush {
    struct rma_win *w;
    const int *rank;
    int local;
};

static inline int covers(const struct flush *f, struct rma_lanes *all)
{
    if (!f->rank) /* acquire pairs with the release in rma_lanes_admit() */
        return atomic_load_explicit(&f->w->native.by_lanes, memory_order_acquire);
    const struct lane *l = lane_at(all, *f->rank);
    return is_open(l, *f->rank) && l->sure;
}

/* One look. 1: it is over; 0: not yet; -1: not here. *look: others are to be served. */
static int flush_look(const struct flush *f, struct rma_lanes *all, int *look)
{
    int err = -1;
    enter(all->tx);
    if (covers(f, all))
        err = f->local ? 0 : f->rank ? flush_here(all->tx, lane_at(all, *f->rank))
                                     : flush_all_here(all);
    if (!err)
        *look = ++all->flushes % LOOK_AROUND == 0;
    leave(all->tx);
    return err == TP_AGAIN ? 0 : err ? -1 : 1;
}

static int flush_by(const struct flush *f, struct rma_lanes *all)
{
    int over = 0, look = 0;
    for (unsigned polls = 0; !over && polls < POLLS; polls++) {
        if (polls)
            thread_pause(polls);
        sched_point(); /* another thread may close a lane */
        over = flush_look(f, all, &look);
    }
    if (over <= 0 || boot_failed_count()) /* perhaps the target: then it is an error */
        return 0; /* under proc->lock, and others are served meanwhile */
    if (look) { /* programs flush in a loop */
        if (proc->threaded)
            lock_acquire(&proc->lock);
        progress_test();
        if (proc->threaded)
            lock_release(&proc->lock);
    }
    fence_full(); /* MEM_SYNC: as in rma_flush(), with the same pairs */
    return 1;
}

int rma_near_lane_flush(MPI_Win win, int rank, int local)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *near = room ? rma_near_win(room, win) : NULL;
    struct rma_lanes *all = near ? lanes_seen(near) : NULL;
    const struct flush f = {(struct rma_win *)near, &rank, local};
    return seems_open(all, rank) && flush_by(&f, all);
}

int rma_near_lanes_flush(MPI_Win win, int local)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *near = room ? rma_near_win(room, win) : NULL;
    struct rma_lanes *all = near ? lanes_seen(near) : NULL;
    const struct flush f = {(struct rma_win *)near, NULL, local};
    return all && covers(&f, all) && flush_by(&f, all);
}

/* --- contexts --------------------------------------------------------------------------------- */

/* No descriptor reports that a context's flush is over, so a thread that waits for it keeps
 * looking. Each look at the target asks again. */
static int awaits(void *arg, int arm)
{
    struct rma_txs *all = arg;
    int blind = !arm || all->awaits ? -1 : 0;
    all->awaits = 0;
    return blind;
}

static struct rma_tx *tx_take(struct rma *r, const struct rma_key *k)
{
    if (!r->txs && (r->txs = aligned_alloc(128, sizeof *r->txs)) != NULL)
        memset(r->txs, 0, sizeof *r->txs);
    struct rma_txs *all = r->txs;
    if (!all || (all->tp && all->tp != k->tp))
        return NULL;
    /* One is enough for one thread; the one that stands in puts nothing. */
    unsigned most = proc->threaded && !proc->helped ? TXS : 1;
    if (!all->none && all->opened < most) {
        struct rma_tx *x = &all->of[all->opened];
        if (!k->ops->tx_open || k->ops->tx_open(k->tp, &x->tx)) {
            all->none = 1;
        } else {
            x->ops = k->ops;
            all->tp = k->tp;
            if (!all->opened++) {
                all->source = (struct progress_source){.fd = awaits, .arg = all};
                progress_source_add(&all->source);
            }
            return x;
        }
    }
    return all->opened ? &all->of[all->turn++ % all->opened] : NULL;
}

void rma_txs_close(struct rma *r)
{
    if (!r->txs)
        return;
    lock_acquire(&proc->lock); /* tp.h; MPI_Finalize does not hold it here */
    if (r->txs->opened)
        progress_source_del(&r->txs->source);
    for (unsigned i = 0; i < r->txs->opened; i++)
        r->txs->of[i].ops->tx_close(r->txs->of[i].tx);
    lock_release(&proc->lock);
    free(r->txs);
    r->txs = NULL;
}

/* Of a window or duplicate. NULL: there is no context, or no memory. */
static struct rma_lanes *lanes_of(struct rma_win *w, const struct rma_key *k)
{
    struct rma_lanes *all = atomic_load_explicit(&w->near.lanes, memory_order_relaxed);
    if (all)
        return all;
    struct rma_tx *x = tx_take(rma_self(), k);
    all = x ? aligned_alloc(128, sizeof *all) : NULL;
    if (!all)
        return NULL;
    memset(all, 0, sizeof *all);
    all->tx = x;
    /* Release pairs with the acquire in seen(). */
    atomic_store_explicit(&w->near.lanes, all, memory_order_release);
    return all;
}

/* --- under proc->lock ------------------------------------------------------------------------- */

static struct rma_tx *tx_of(const struct rma_target *t)
{
    return atomic_load_explicit(&t->w->near.lanes, memory_order_relaxed)->tx;
}

int rma_lane_open(struct rma_target *t)
{
    struct rma_win *w = t->w;
    const struct rma_key *k = t->key;
    if (t->laneless || w->flavor == MPI_WIN_FLAVOR_DYNAMIC || !rma_in(w, SET_PASSIVE) || t->pins)
        return 0;
    struct rma_lanes *all = lanes_of(w, k);
    struct lane *l = all ? lane_at(all, t->rank) : NULL;
    if (!l || (l->t && l->t != t) || rma_self()->txs->tp != k->tp) {
        t->laneless = 1;
        return 0;
    }
    enter(all->tx);
    if (!l->t && all->tx->ops->tx_far(all->tx->tx, k->far, &l->far)) {
        t->laneless = 1;
    } else {
        l->t = t;
        l->rank = t->rank;
        l->unit = k->unit;
        l->size = k->size;
        l->least = k->put_min ? k->put_min : 1;
        l->most = k->put_inline;
        l->sure = !t->native_out && !t->err && !t->lost && !w->errs.count && !rma_unsure(w);
        atomic_store_explicit(&l->open, 1, memory_order_relaxed);
        t->lane = l;
        w->native.sure += l->sure;
        rma_lanes_admit(w);
    }
    leave(all->tx);
    return !t->laneless;
}

int rma_lane_soon(struct rma_target *t, uint64_t off, const void *from, size_t bytes)
{
    struct rma_tx *x = tx_of(t);
    enter(x);
    int done = put_here(x, t->lane, off, from, bytes);
    leave(x);
    return done;
}

static void counted(struct rma_win *w, struct lane *l)
{
    rma_count(w, PVAR_RMA_PUT, l->puts);
    rma_count(w, PVAR_RMA_NATIVE, l->puts);
    rma_count(w, PVAR_RMA_BYTES, l->bytes);
    l->puts = l->bytes = 0;
}

void rma_lane_close(struct rma_target *t)
{
    struct lane *l = t->lane;
    if (!atomic_load_explicit(&l->open, memory_order_relaxed))
        return;
    struct rma_tx *x = tx_of(t);
    enter(x);
    atomic_store_explicit(&l->open, 0, memory_order_relaxed);
    t->w->native.sure -= l->sure;
    rma_lanes_admit(t->w);
    t->native_out += (unsigned)l->out;
    t->tx_out += (unsigned)l->out;
    l->out = 0;
    leave(x);
    counted(t->w, l);
}

int rma_lane_flush(struct rma_target *t)
{
    struct rma_tx *x = tx_of(t);
    struct lane *l = t->lane;
    enter(x);
    int err = l->err ? l->err : x->ops->tx_flush(x->tx, l->far);
    leave(x);
    l->err = 0;
    if (err == TP_AGAIN)
        rma_self()->txs->awaits = 1;
    return err;
}

void rma_lane_leave(struct rma_target *t)
{
    struct lane *l = t->lane;
    struct rma_tx *x = tx_of(t);
    rma_lane_close(t);
    enter(x);
    x->ops->tx_drop(x->tx, l->far);
    leave(x);
    l->t = NULL;
    l->err = 0;
    t->lane = NULL;
}

uint64_t rma_lane_out(const struct rma_target *t)
{
    struct rma_tx *x = tx_of(t);
    enter(x);
    uint64_t out = t->lane->out;
    leave(x);
    return out;
}

uint64_t rma_lanes_counted(const struct rma_win *w, enum pvar_id id)
{
    struct rma_lanes *all = atomic_load_explicit(&w->near.lanes, memory_order_relaxed);
    const struct rma_win *dup;
    uint64_t sum = 0;
    if (id != PVAR_RMA_PUT && id != PVAR_RMA_NATIVE && id != PVAR_RMA_BYTES)
        return 0;
    for (unsigned i = 0; (dup = rma_dup_next(w, &i)) != NULL;)
        sum += rma_lanes_counted(dup, id);
    if (!all)
        return sum;
    enter(all->tx);
    for (const struct lane *l = all->of; l < all->of + LANES; l++)
        sum += id == PVAR_RMA_BYTES ? l->bytes : l->puts;
    leave(all->tx);
    return sum;
}

/* w is freed, perhaps with its elements. */
void rma_lanes_free(struct rma_win *w)
{
    struct rma_lanes *all = atomic_load_explicit(&w->near.lanes, memory_order_relaxed);
    for (struct lane *l = all ? all->of : NULL; all && l < all->of + LANES; l++)
        if (l->t)
            rma_lane_leave(l->t);
    atomic_store_explicit(&w->near.lanes, NULL, memory_order_relaxed);
    free(all);
}
