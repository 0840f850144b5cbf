/* bundle.c - small puts and gets of a near process's private memory, many at a time, executed by
 * its owner.
 *
 *    asker                                           owner
 *    puts, gets: appended to the bundle of the target
 *    DELEGATE with the bundle's slot            =>   does them in order, marks the bundle done
 *    goes on; a further bundle fills meanwhile
 *    flush, or end of the epoch: waits for the marks, copies what was fetched
 *    if the owner does not look: takes them back under the stripe; CMA for all that is not done
 *
 * A bundle leaves at once while the owner has no other one, else when it has SEND_FROM bytes, else
 * when it is waited for. So a busy owner gets many operations in one message. The slots lie in the
 * box of the asker, behind those of delegate_copy.c.
 *
 * Invariants: as in delegate.c. The bundled operations of a target are done in the order of their
 * calls. An operation that cannot be bundled first waits for the bundles of its target
 * (rma_bundle_drain). One that could be bundled is done at once while another thread waits for
 * bundles, so it may pass earlier ones: MPI does not order puts and gets. While a window has a
 * bundle, no flush of it is only a fence (rma_near_admit). A process that puts once and flushes
 * uses no bundle (is_alone). Duplicates of a window share its bundles, but not elements: one that
 * has some appends nothing (rma_near_append). Start with rma_bundle_add().
 *
 * Threads. A bundle that fills is offered in n->filling. The thread that takes it from there alone
 * changes it, then offers it again or sends it. rma_near_append() does that without proc->lock. So
 * two threads with two targets write no common line until a bundle is to leave. All else needs
 * proc->lock: only its holder offers a new bundle, or takes one for good. While a thread waits for
 * the bundles of a target (n->drained), the others begin and end none of that target. */
#include "rma/near/near_types.h"

#include <stdlib.h>
#include <string.h>

enum {
    MANY = 128,            /* operations of a bundle: the owner holds a stripe meanwhile */
    BUNDLED_MOST = 4096,   /* bytes of an operation */
    SEND_FROM = 6144,
    ROOM = RMA_BUNDLE_BYTES - (int)sizeof(struct acc_bundle)
};

/* n->filling is index + 1 of what is offered, 0: nothing, or: */
enum { TAKEN = 255 };
_Static_assert((int)RMA_BUNDLES < (int)TAKEN, "filling has a byte");

enum bundle_state { BUNDLE_FREE, BUNDLE_FILLS, BUNDLE_OUT, BUNDLE_BACK };
struct bundle {
    _Alignas(128) struct rma_win *w; /* lines of its own: of the thread that fills it */
    struct rma_near *n;
    uint64_t number;     /* ascending: the order in which bundles were begun */
    uint32_t question;   /* number of the request */
    uint16_t ops, used;  /* used: bytes behind the head */
    uint8_t state, gets;
    struct {             /* heads in the slot are for the owner: near processes can write there */
        uint64_t at;
        void *user;      /* where what is fetched goes; NULL: a put */
        const struct rma_win *of; /* a window or duplicate, and the thread that called it; NULL:
                                   * without threads. They are told if it is dropped */
        void *thread;
        uint32_t len;
    } op[MANY];
};
struct rma_bundles {
    uint64_t numbers;    /* of the last one */
    struct bundle b[RMA_BUNDLES];
};

static struct acc_bundle *slot(const struct bundle *b)
{
    const struct rma *r = rma_self();
    return (struct acc_bundle *)(void *)(r->box + RMA_BOX_BYTES +
                                         (b - r->bundles->b) * RMA_BUNDLE_BYTES);
}

/* What n is offered, taken; NULL: nothing, or another thread has taken it just now. */
static inline struct bundle *fill_try(struct rma_near *n)
{
    unsigned char at = atomic_load_explicit(&n->filling, memory_order_relaxed);
    if (!at || at == TAKEN)
        return NULL;
    if (!proc->threaded)
        atomic_store_explicit(&n->filling, TAKEN, memory_order_relaxed);
    /* Acquire pairs with the release in fill_offer(): what was appended is there. */
    else if (!atomic_compare_exchange_strong_explicit(&n->filling, &at, TAKEN,
                                                      memory_order_acquire, memory_order_relaxed))
        return NULL;
    return &rma_self()->bundles->b[at - 1];
}

static inline void fill_offer(struct bundle *b)
{
    unsigned place = (unsigned)(b - rma_self()->bundles->b) + 1;
    /* Release pairs with the acquire in fill_try(). */
    atomic_store_explicit(&b->n->filling, (unsigned char)place, memory_order_release);
}

/* Under proc->lock, so it is taken for good: the caller sends it, ends it, or offers it again. */
static struct bundle *fill_take(struct rma_near *n)
{
    struct bundle *b;
    unsigned turn = 0;
    /* Another thread appends one operation, and waits for nothing. */
    while (!(b = fill_try(n)) && atomic_load_explicit(&n->filling, memory_order_relaxed))
        thread_pause(turn++);
    if (b)
        atomic_store_explicit(&n->filling, 0, memory_order_relaxed);
    return b;
}

int rma_may_bundle(const struct rma_near *n, const struct rma_args *a, size_t bytes)
{
    return n->kind == RMA_NEAR_CMA && bytes <= BUNDLED_MOST && rma_self()->box &&
           rma_block_moves(a);
}

/* One more operation that could be bundled. Is it the first since the last synchronization, where
 * there was at most one before that, too? Then it is done within its call, so that the flush that
 * follows is a fence. But not between flush_local calls, which wait for no put in a bundle. */
static int is_alone(struct rma_win *w, const struct rma_near *n)
{
    struct rma_win_delegate *d = &w->delegate;
    uint8_t syncs = rma_syncs(w, n);
    if (d->small_syncs == syncs && d->small) {
        d->small = 2;
        return 0;
    }
    d->was_small = d->small;
    d->small = 1;
    d->small_syncs = syncs;
    return !d->local && d->was_small < 2;
}

/* --- one bundle ------------------------------------------------------------------------------- */

static void bundle_free(struct bundle *b)
{
    struct rma_near *n = b->n;
    unsigned place = (unsigned)(b - rma_self()->bundles->b) + 1;
    b->state = BUNDLE_FREE;
    if (atomic_load_explicit(&n->sent, memory_order_relaxed) == place)
        atomic_store_explicit(&n->sent, 0, memory_order_relaxed);
    n->bundles--;
    b->w->delegate.bundle_gets = (uint8_t)(b->w->delegate.bundle_gets - b->gets);
    if (--b->w->delegate.bundles == 0)
        rma_near_admit(b->w);
}

static void bundle_done(struct bundle *b)
{
    char *at = (char *)(slot(b) + 1);
    for (unsigned i = 0; b->gets && i < b->ops; i++) {
        at += sizeof(struct rma_bundled);
        if (b->op[i].user)
            rma_near_put(at, b->op[i].user, b->op[i].len);
        at += rma_pad(b->op[i].len);
    }
    rma_count(b->w, PVAR_RMA_AM, b->ops);
    bundle_free(b);
}

/* Operations from `first` on do not happen. */
static void bundle_dropped(struct bundle *b, unsigned first, int err)
{
    rma_win_add_err(b->w, err);
    b->w->delegate.errs = (uint16_t)(b->w->delegate.errs + !b->n->err);
    b->n->err = b->n->err ? b->n->err : err;
    for (unsigned i = first; i < b->ops; i++)
        rma_missed_add(b->w, b->op[i].of, b->n, b->op[i].thread, err);
}

/* The owner will not do it. */
static void bundle_by_cma(struct bundle *b)
{
    struct iovec l[MANY], r[MANY];
    char *at = (char *)(slot(b) + 1);
    unsigned first = 0; /* of those that CMA does together */
    int err = 0, host = b->n->host_index;
    for (unsigned i = 0, n = 0; i < b->ops && !err; i++) {
        void *user = b->op[i].user;
        size_t len = b->op[i].len;
        first = n ? first : i;
        at += sizeof(struct rma_bundled);
        l[n] = (struct iovec){user ? user : at, len};
        r[n++] = (struct iovec){(void *)(uintptr_t)(b->n->remote + b->op[i].at), len};
        at += rma_pad(len);
        if (i + 1 < b->ops && !user == !b->op[i + 1].user)
            continue;
        err = user ? mem_cma_read(host, l, n, r, n) : mem_cma_write(host, l, n, r, n);
        n = 0;
    }
    if (err)
        bundle_dropped(b, first, rma_memory_error(b->w, b->n->rank, err));
    rma_count(b->w, PVAR_RMA_CMA, b->ops);
    bundle_free(b);
}

/* Of one that is taken. 0; else the transport has no room, and it still fills. */
static int bundle_send(struct bundle *b)
{
    struct rma_near *n = b->n;
    struct acc_bundle *head = slot(b);
    unsigned index = (unsigned)(b - rma_self()->bundles->b);
    struct rma_delegated m = {.type = RMA_PKT_DELEGATE, .aop = RMA_COPY_MANY,
                              .slot = (uint16_t)index, .win = (uint32_t)b->w->id,
                              .src = b->w->src, .number = rma_delegate_number(b->w),
                              .bundle = b->number};
    struct iovec v = {&m, sizeof m};
    head->ops = b->ops;
    /* The request, which the transport publishes, follows what lies in the slot. */
    atomic_store_explicit(&head->number, b->number, memory_order_relaxed);
    if (am_request(rma_world(b->w, n->rank), AM_RMA + RMA_PKT_DELEGATE, &v, 1, 0))
        return -1;
    rma_count(b->w, PVAR_RMA_MSGS, 1);
    b->question = m.number;
    b->state = BUNDLE_OUT;
    atomic_store_explicit(&n->sent, (unsigned char)(index + 1), memory_order_relaxed);
    return 0;
}

/* The one that fills, if any, leaves. -1: the transport has no room. */
static int fill_send(struct rma_near *n)
{
    struct bundle *b = fill_take(n);
    if (!b || !bundle_send(b))
        return 0;
    fill_offer(b);
    return -1;
}

/* Of n, the first in order; NULL: none. Of all: n is NULL. */
static struct bundle *oldest(const struct rma_near *n)
{
    struct rma_bundles *all = rma_self()->bundles;
    struct bundle *first = NULL;
    for (struct bundle *b = all->b; b < all->b + RMA_BUNDLES; b++)
        if (b->state != BUNDLE_FREE && (!n || b->n == n) && (!first || b->number < first->number))
            first = b;
    return first;
}

unsigned rma_bundle_ops(struct rma_near *n)
{
    const struct rma_bundles *all = rma_self()->bundles;
    struct bundle *fills = n->bundles ? fill_take(n) : NULL;
    unsigned ops = 0;
    for (const struct bundle *b = all ? all->b : NULL; n->bundles && b < all->b + RMA_BUNDLES; b++)
        ops += b->state != BUNDLE_FREE && b->n == n ? b->ops : 0;
    if (fills)
        fill_offer(fills);
    return ops;
}

/* --- waits ------------------------------------------------------------------------------------ */

/* Of n's bundles that are out, the youngest below that number. */
static struct bundle *youngest(const struct rma_near *n, uint64_t below)
{
    struct rma_bundles *all = rma_self()->bundles;
    struct bundle *last = NULL;
    for (struct bundle *b = all->b; b < all->b + RMA_BUNDLES; b++)
        if (b->state == BUNDLE_OUT && b->n == n && b->number < below &&
            (!last || b->number > last->number))
            last = b;
    return last;
}

/* All bundles of n that are not done are taken back, the youngest first, since the owner does them
 * in order: so what is done is the front. CMA does the rest. */
static void take_back(struct rma_near *n)
{
    struct bundle *b;
    fill_take(n);
    for (uint64_t below = UINT64_MAX; (b = youngest(n, below)) != NULL; below = b->number)
        if (acc_bundle_take_back(n->acc, slot(b), b->number)) {
            rma_delegate_unread(n, b->question);
            b->state = BUNDLE_BACK;
        }
    while ((b = oldest(n)) != NULL)
        if (b->state == BUNDLE_OUT)
            bundle_done(b);
        else
            bundle_by_cma(b);
}

static int is_done(const void *what)
{
    const struct bundle *b = what;
    return acc_bundle_done(slot(b), b->number);
}

static void drain(struct rma_win *w, struct rma_near *n)
{
    int late = 0;
    for (struct bundle *b; (b = oldest(n)) != NULL;) {
        if (fill_send(n) && b->state == BUNDLE_FILLS) {
            fill_take(n);
            bundle_by_cma(b); /* no room: the owner does not read */
            late = 1;
            continue;
        }
        enum rma_answer how = rma_delegate_await(rma_world(w, n->rank), proc->threaded,
                                                 is_done, b);
        late |= how == RMA_TIMEOUT; /* one answer for many operations takes longer */
        if (how == RMA_TIMEOUT)
            take_back(n);
        else
            bundle_done(b);
    }
    rma_delegate_learn(n, late);
}

static int is_not_drained(void *arg)
{
    const struct rma_near *n = arg;
    return !n->drained;
}

/* Those of n that are there now; another thread may begin others afterwards. */
static void drain_one(struct rma_win *w, struct rma_near *n)
{
    while (n->bundles && n->drained)
        progress_wait(is_not_drained, n, "another thread's operations on a window",
                      rma_world(w, n->rank));
    if (!n->bundles)
        return;
    n->drained = 1;
    drain(w, n);
    n->drained = 0;
    progress_signal(); /* is_not_drained() of other threads */
}

int rma_bundles_end(struct rma_win *w, struct rma_near *n)
{
    rma_bundle_drain(w, n);
    return rma_missed_end(w, n);
}

void rma_bundle_drain(struct rma_win *w, struct rma_near *n)
{
    if (n) {
        drain_one(w, n);
        return;
    }
    for (unsigned i = 0; i < w->nears; i++) /* all work while this one waits */
        if (!w->near.near[i].drained)
            fill_send(&w->near.near[i]);
    for (unsigned i = 0; i < w->nears; i++)
        drain_one(w, &w->near.near[i]);
}

/* --- the calls -------------------------------------------------------------------------------- */

/* Taken. NULL: not now. */
static struct bundle *bundle_new(struct rma_win *w, struct rma_near *n)
{
    struct rma_bundles *all = rma_self()->bundles;
    struct bundle *b = NULL, *old;
    if (!rma_delegate_may(w, n, 1))
        return NULL;
    for (struct bundle *x = all->b; x < all->b + RMA_BUNDLES; x++) {
        if (x->state == BUNDLE_OUT && !x->n->drained && acc_bundle_done(slot(x), x->number))
            bundle_done(x);
        b = !b && x->state == BUNDLE_FREE ? x : b;
    }
    if (!b) {
        old = oldest(NULL);
        /* A thread that drains it may end its window before this one is back. */
        if (!old || old->n->drained)
            return NULL;
        rma_bundle_drain(old->w, old->n);
        if (n->unread || n->backoff || n->drained ||
            atomic_load_explicit(&n->filling, memory_order_relaxed))
            return NULL;
        for (b = all->b; b < all->b + RMA_BUNDLES && b->state != BUNDLE_FREE; b++)
            ;
        if (b == all->b + RMA_BUNDLES)
            return NULL;
    }
    b->w = w;
    b->n = n;
    b->number = ++all->numbers;
    b->ops = b->used = 0;
    b->gets = 0;
    b->state = BUNDLE_FILLS;
    n->bundles++;
    if (w->delegate.bundles++ == 0)
        rma_near_admit(w);
    return b;
}

static int has_room(const struct bundle *b, size_t bytes)
{
    return b->ops < MANY && (size_t)ROOM - b->used >= sizeof(struct rma_bundled) + rma_pad(bytes);
}

/* from NULL: a get to `to`. */
static inline void append(struct bundle *b, const struct rma_win *of, void *thread, uint64_t at,
                          size_t bytes, const void *from, void *to)
{
    char *in = (char *)(slot(b) + 1) + b->used;
    struct rma_bundled e = {.at = at, .len = (uint32_t)bytes, .get = !from};
    memcpy(in, &e, sizeof e);
    if (from && bytes == sizeof(uint64_t))
        memcpy(in + sizeof e, from, sizeof(uint64_t)); /* without a call */
    else if (from)
        memcpy(in + sizeof e, from, bytes);
    b->op[b->ops].at = at;
    b->op[b->ops].len = e.len;
    b->op[b->ops].of = of;
    b->op[b->ops].thread = thread;
    b->op[b->ops++].user = to;
    b->used = (uint16_t)(b->used + sizeof e + rma_pad(bytes));
}

/* Is it time that b leaves? The slot of the one before may be another target's by now: then this is
 * only a guess. */
static inline int is_due(const struct bundle *b)
{
    unsigned sent = atomic_load_explicit(&b->n->sent, memory_order_relaxed);
    if (b->used >= SEND_FROM || b->ops == MANY || !sent)
        return 1;
    const struct acc_bundle *last = slot(&rma_self()->bundles->b[sent - 1]);
    return acc_bundle_done(last, atomic_load_explicit(&last->number, memory_order_relaxed));
}

int rma_bundle_add(struct rma_win *w, struct rma_near *n, const struct rma_args *a, uint64_t off,
                   size_t bytes)
{
    struct rma *r = rma_self();
    int64_t lo = 0, hi;
    if (!r->bundles && (r->bundles = aligned_alloc(128, sizeof *r->bundles)) != NULL)
        memset(r->bundles, 0, sizeof *r->bundles);
    struct rma_bundles *all = r->bundles;
    if (!all || n->drained || dt_bounds(a->ttype, (size_t)a->tcount, &lo, &hi))
        return 0;
    int alone = is_alone(w, n) && !n->bundles;
    struct bundle *b = fill_take(n);
    if (b && !has_room(b, bytes)) {
        if (bundle_send(b)) {
            fill_offer(b);
            rma_bundle_drain(w, n);
        }
        b = NULL;
    }
    if (!b && (alone || !(b = bundle_new(w, n)))) {
        rma_bundle_drain(w, n); /* what follows passes none */
        return 0;
    }
    const struct rma_win *of = a->channel ? w->channels->of[a->channel] : w;
    void *thread = proc->threaded ? rma_thread() : NULL;
    if (a->kind == RMA_PUT) {
        append(b, of, thread, off + (uint64_t)lo, bytes, dt_start(a->otype, a->origin), NULL);
    } else {
        if (!b->gets)
            b->gets = 1, w->delegate.bundle_gets++;
        append(b, of, thread, off + (uint64_t)lo, bytes, NULL,
               (void *)dt_start(a->rtype, a->result));
    }
    if (!is_due(b) || bundle_send(b)) /* without room it waits for a later call */
        fill_offer(b);
    return 1;
}

/* b is taken, and due: it leaves, unless another thread has proc->lock. Then it goes on to fill. */
static int send_now(struct bundle *b)
{
    if (proc->threaded && (lock_seen_held(&proc->lock) || !lock_try(&proc->lock)))
        return 0;
    int sent = !bundle_send(b);
    if (sent)
        atomic_store_explicit(&b->n->filling, 0, memory_order_relaxed);
    if (proc->threaded)
        lock_release(&proc->lock);
    return sent;
}

int rma_near_append(struct rma_win_near *near, struct rma_near *n, int64_t disp, uint64_t bytes,
                    const void *from, void *to)
{
    const struct rma_win *w = (const struct rma_win *)near;
    struct rma_near *of = rma_near_record(w, n);
    uint64_t off;
    if (!bytes || bytes > BUNDLED_MOST || disp < 0 || w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return 0;
    if (__builtin_mul_overflow((uint64_t)disp, n->disp_unit, &off) || off > n->size ||
        n->size - off < bytes)
        return 0;
    void *thread = NULL;
    if (proc->threaded) {
        sched_point(); /* the thread with proc->lock may take or end what fills */
        thread = rma_thread();
    }
    struct bundle *b = fill_try(of);
    if (!b)
        return 0;
    if (proc->threaded)
        sched_point(); /* b is this thread's */
    /* Another duplicate may have begun the bundle. Relaxed: this thread's own elements count. It
     * is asked behind fill_try(), whose acquire pairs with the release of fill_offer(): the first
     * duplicate is made, and the byte stored, before that one begins a bundle. */
    if (atomic_load_explicit(&near->unsettled, memory_order_relaxed) || !has_room(b, bytes) ||
        (to && !b->gets)) {
        fill_offer(b);
        return 0;
    }
    append(b, w, thread, off, bytes, from, to);
    counter_add(&n->counted[(from ? PVAR_RMA_PUT : PVAR_RMA_GET) - PVAR_RMA_PUT], 1);
    counter_add(&n->counted[PVAR_RMA_BYTES - PVAR_RMA_PUT], bytes);
    if (!is_due(b) || !send_now(b))
        fill_offer(b);
    return 1;
}
