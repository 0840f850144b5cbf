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
 * uses no bundle (is_alone). Start with rma_bundle_add(). */
#include "rma/near/near_types.h"

#include <stdlib.h>
#include <string.h>

enum {
    MANY = 128,            /* operations of a bundle: the owner holds a stripe meanwhile */
    BUNDLED_MOST = 4096,   /* bytes of an operation */
    SEND_FROM = 6144,
    ROOM = RMA_BUNDLE_BYTES - (int)sizeof(struct acc_bundle)
};

enum bundle_state { BUNDLE_FREE, BUNDLE_FILLS, BUNDLE_OUT, BUNDLE_BACK };
struct bundle {
    struct rma_win *w;
    struct rma_near *n;
    uint64_t number;     /* ascending: the order in which bundles were begun */
    uint32_t question;   /* number of the request */
    uint16_t ops, used;  /* used: bytes behind the head */
    uint8_t state, gets;
    struct {             /* heads in the slot are for the owner: near processes can write there */
        uint64_t at;
        void *user;      /* where what is fetched goes; NULL: a put */
        uint32_t len;
    } op[MANY];
};
struct rma_bundles {
    uint64_t numbers;    /* of the last one */
    uint8_t busy;        /* a thread waits for some: no other one changes any */
    struct bundle b[RMA_BUNDLES];
};

static struct acc_bundle *slot(const struct bundle *b)
{
    const struct rma *r = rma_self();
    return (struct acc_bundle *)(void *)(r->box + RMA_BOX_BYTES +
                                         (b - r->bundles->b) * RMA_BUNDLE_BYTES);
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
    n->filling = n->filling == place ? 0 : n->filling;
    n->sent = n->sent == place ? 0 : n->sent;
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

/* The owner will not do it. */
static void bundle_by_cma(struct bundle *b)
{
    struct iovec l[MANY], r[MANY];
    char *at = (char *)(slot(b) + 1);
    int err = 0, host = b->n->host_index;
    for (unsigned i = 0, n = 0; i < b->ops && !err; i++) {
        void *user = b->op[i].user;
        size_t len = b->op[i].len;
        at += sizeof(struct rma_bundled);
        l[n] = (struct iovec){user ? user : at, len};
        r[n++] = (struct iovec){(void *)(uintptr_t)(b->n->remote + b->op[i].at), len};
        at += rma_pad(len);
        if (i + 1 < b->ops && !user == !b->op[i + 1].user)
            continue;
        err = user ? mem_cma_read(host, l, n, r, n) : mem_cma_write(host, l, n, r, n);
        n = 0;
    }
    if (err) {
        err = rma_memory_error(b->w, b->n->rank, err);
        rma_win_add_err(b->w, err);
        b->w->delegate.errs = (uint16_t)(b->w->delegate.errs + !b->n->err);
        b->n->err = b->n->err ? b->n->err : err;
    }
    rma_count(b->w, PVAR_RMA_CMA, b->ops);
    bundle_free(b);
}

/* 0; else the transport has no room. */
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
    n->filling = 0;
    n->sent = (uint8_t)(index + 1);
    return 0;
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

unsigned rma_bundle_ops(const struct rma_near *n)
{
    const struct rma_bundles *all = rma_self()->bundles;
    unsigned ops = 0;
    for (const struct bundle *b = all ? all->b : NULL; n->bundles && b < all->b + RMA_BUNDLES; b++)
        ops += b->state != BUNDLE_FREE && b->n == n ? b->ops : 0;
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
        if (n->filling && bundle_send(&rma_self()->bundles->b[n->filling - 1]) &&
            b->state == BUNDLE_FILLS) {
            bundle_by_cma(b); /* no room: the owner does not read */
            late = 1;
            continue;
        }
        enum rma_answer how = rma_delegate_await(rma_world(w, n->rank), is_done, b);
        late |= how != RMA_IN_TIME;
        if (how == RMA_TIMEOUT)
            take_back(n);
        else
            bundle_done(b);
    }
    rma_delegate_learn(n, late);
}

struct drained {
    const struct rma_win *w;
    const struct rma_near *n;
};

static int is_free(void *arg)
{
    const struct drained *x = arg;
    return !rma_self()->bundles->busy || !(x->n ? x->n->bundles : x->w->delegate.bundles);
}

void rma_bundle_drain(struct rma_win *w, struct rma_near *n)
{
    struct rma_bundles *all = rma_self()->bundles;
    struct drained x = {w, n};
    while (n ? n->bundles : w->delegate.bundles) {
        if (all->busy) {
            progress_wait(is_free, &x, "another thread's operations on a window",
                          n ? rma_world(w, n->rank) : -1);
            continue;
        }
        all->busy = 1;
        for (unsigned i = 0; i < w->nears && !n; i++) /* all work while this one waits */
            if (w->near.near[i].filling)
                bundle_send(&all->b[w->near.near[i].filling - 1]);
        for (unsigned i = 0; i < w->nears && !n; i++)
            if (w->near.near[i].bundles)
                drain(w, &w->near.near[i]);
        if (n)
            drain(w, n);
        all->busy = 0;
        progress_signal(); /* is_free() of other threads */
    }
}

/* --- the calls -------------------------------------------------------------------------------- */

/* NULL: not now. */
static struct bundle *bundle_new(struct rma_win *w, struct rma_near *n)
{
    struct rma_bundles *all = rma_self()->bundles;
    struct bundle *b = NULL, *old;
    if (!rma_delegate_may(w, n))
        return NULL;
    for (struct bundle *x = all->b; x < all->b + RMA_BUNDLES; x++) {
        if (x->state == BUNDLE_OUT && acc_bundle_done(slot(x), x->number))
            bundle_done(x);
        b = !b && x->state == BUNDLE_FREE ? x : b;
    }
    if (!b && (old = oldest(NULL)) != NULL) {
        rma_bundle_drain(old->w, old->n);
        if (n->unread || n->backoff || all->busy || n->filling)
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
    n->filling = (uint8_t)(b - all->b + 1);
    n->bundles++;
    if (w->delegate.bundles++ == 0)
        rma_near_admit(w);
    return b;
}

static void append(struct bundle *b, const struct rma_args *a, uint64_t at, size_t bytes)
{
    struct rma_win_delegate *d = &b->w->delegate;
    char *to = (char *)(slot(b) + 1) + b->used;
    struct rma_bundled e = {.at = at, .len = (uint32_t)bytes, .get = a->kind == RMA_GET};
    memcpy(to, &e, sizeof e);
    if (a->kind == RMA_PUT)
        memcpy(to + sizeof e, dt_start(a->otype, a->origin), bytes);
    else if (!b->gets)
        b->gets = 1, d->bundle_gets++;
    b->op[b->ops].at = at;
    b->op[b->ops].len = e.len;
    b->op[b->ops++].user = a->kind == RMA_PUT ? NULL : (void *)dt_start(a->rtype, a->result);
    b->used = (uint16_t)(b->used + sizeof e + rma_pad(bytes));
}

int rma_bundle_add(struct rma_win *w, struct rma_near *n, const struct rma_args *a, uint64_t off,
                   size_t bytes)
{
    struct rma *r = rma_self();
    int64_t lo = 0, hi;
    if (!r->bundles)
        r->bundles = calloc(1, sizeof *r->bundles);
    struct rma_bundles *all = r->bundles;
    if (!all || all->busy || dt_bounds(a->ttype, (size_t)a->tcount, &lo, &hi))
        return 0;
    int alone = is_alone(w, n) && !n->bundles;
    struct bundle *b = n->filling ? &all->b[n->filling - 1] : NULL;
    if (b && (b->ops == MANY ||
              (size_t)ROOM - b->used < sizeof(struct rma_bundled) + rma_pad(bytes))) {
        if (bundle_send(b))
            rma_bundle_drain(w, n);
        b = NULL;
    }
    if (!b && (alone || !(b = bundle_new(w, n)))) {
        rma_bundle_drain(w, n); /* what follows passes none */
        return 0;
    }
    append(b, a, off + (uint64_t)lo, bytes);
    const struct bundle *last = n->sent ? &all->b[n->sent - 1] : NULL;
    if (b->used >= SEND_FROM || b->ops == MANY || !last || is_done(last))
        bundle_send(b); /* without room it waits for a later call */
    return 1;
}
