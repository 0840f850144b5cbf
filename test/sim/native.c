/* native.c - the contract of native operations (tp.h, doc/design/tp.md) held against tp_sim, which
 * RMA is tested on: each completion reported once, buffers free when it was reported and needed no
 * longer, flush makes visible, an AM comes after the puts before it if TP_PUT_THEN_AM is set,
 * TP_AGAIN leaves nothing behind, memory that is gone is an error. */
#include "am/am_types.h"
#include "scripted.h"

#include <errno.h>
#include <stdlib.h>

enum {
    SLICE = 512, COUNTER = 0, TICKET = 8, RANKS = 4, HEAD = 64, BYTES = HEAD + RANKS * SLICE, ROUNDS
    = 40
};

struct waits {
    struct tp_done d;
    int calls, err;
};

struct nat {
    int rank, size;
    const struct tp_ops *ops;
    struct tp *tp;
    struct tp_caps caps;
    struct tp_mem *mem;
    struct tp_far *far[RANKS];
    unsigned char *base, *of[RANKS];  /* one address space: the memory of all can be looked at */
    unsigned char model[RANKS][SLICE]; /* what this rank has put into its slice at each */
};

static void told(struct tp_done *d, int err)
{
    struct waits *w = (struct waits *)d;
    w->calls++;
    w->err = err;
}

static int done(void *arg)
{
    return ((struct waits *)arg)->calls > 0;
}

/* rc: what the call returned; waits where it is pending.  0: the caller tries again. */
static int finish(struct nat *n, struct waits *w, int rc)
{
    SIM_CHECK(rc == 0 || rc == TP_PENDING || rc == TP_AGAIN);
    SIM_CHECK(w->calls == 0); /* never from inside the call */
    if (rc == TP_AGAIN) {
        turn();
        SIM_CHECK(w->calls == 0);
        return 0;
    }
    if (rc == TP_PENDING)
        progress_wait(done, w, "a native operation", -1);
    for (int i = 0; i < 3; i++)
        n->ops->progress(n->tp);
    SIM_CHECK(w->calls == (rc == TP_PENDING));
    return 1;
}

static void setup(struct nat *n)
{
    char key[RANKS][64];
    size_t len = sizeof key[0];
    memset(n, 0, sizeof *n);
    MPI_Comm_rank(MPI_COMM_WORLD, &n->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n->size);
    n->tp = am_tp_to((n->rank + 1) % n->size, &n->ops, &n->caps);
    n->base = calloc(1, BYTES);
    SIM_CHECK(n->ops->reg(n->tp, n->base, BYTES, 0, TP_MAY_READ | TP_MAY_WRITE, &n->mem) == 0);
    SIM_CHECK(n->ops->pack(n->tp, n->mem, key[n->rank], &len) == 0);
    n->of[n->rank] = n->base;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, key, sizeof key[0], MPI_BYTE, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, n->of, sizeof n->of[0], MPI_BYTE, MPI_COMM_WORLD);
    for (int p = 0; p < n->size; p++) {
        SIM_CHECK(n->ops->import(n->tp, (unsigned)p, key[p], len, &n->far[p]) == 0);
        SIM_CHECK(n->ops->import(n->tp, (unsigned)p, key[p], len - 1, &(struct tp_far *){NULL}) <
                  0);
    }
}

static void flush(struct nat *n, int peer)
{
    struct waits w;
    do
        w = (struct waits){.d.fn = told};
    while (!finish(n, &w, n->ops->flush(n->tp, (unsigned)peer, &w.d)));
    SIM_CHECK(w.err == 0);
}

static int some(int below)
{
    return (int)(sim_random() % (uint64_t)below);
}

/* Put a random piece of our slice; the source is spoilt as soon as it is ours again. */
static void put(struct nat *n, int peer)
{
    unsigned char src[SLICE];
    int at = some(SLICE), len = 1 + some(SLICE - at), rc;
    struct waits w;
    do {
        w = (struct waits){.d.fn = told};
        for (int i = 0; i < len; i++)
            src[i] = (unsigned char)sim_random();
        rc = n->ops->put(n->tp, n->far[peer], (uint64_t)(HEAD + n->rank * SLICE + at), src,
                         (size_t)len, NULL, &w.d);
    } while (rc == TP_AGAIN && !finish(n, &w, rc));
    SIM_CHECK(rc != 0 || (size_t)len <= n->caps.put_inline);
    unsigned char sent[SLICE];
    memcpy(sent, src, (size_t)len);
    if (rc == 0)
        memset(src, 0xee, sizeof src);
    finish(n, &w, rc);
    SIM_CHECK(w.err == 0);
    memset(src, 0xee, sizeof src);
    /* Overlapping puts have an order only where the transport keeps one. */
    memcpy(n->model[peer] + at, sent, (size_t)len);
    if (!(n->caps.flags & TP_PUT_THEN_AM) || some(3) == 0) {
        flush(n, peer);
        SIM_CHECK(memcmp(n->of[peer] + HEAD + n->rank * SLICE, n->model[peer], SLICE) == 0);
    }
}

static void get(struct nat *n, int peer)
{
    unsigned char dst[SLICE + 2];
    int at = some(SLICE), len = 1 + some(SLICE - at);
    struct waits w;
    flush(n, peer);
    memset(dst, 0x5a, sizeof dst);
    do
        w = (struct waits){.d.fn = told};
    while (!finish(n, &w,
                   n->ops->get(n->tp, n->far[peer], (uint64_t)(HEAD + n->rank * SLICE + at),
                               dst + 1, (size_t)len, NULL, &w.d)));
    SIM_CHECK(w.err == 0 && dst[0] == 0x5a && dst[len + 1] == 0x5a);
    SIM_CHECK(memcmp(dst + 1, n->model[peer] + at, (size_t)len) == 0);
}

static uint64_t atomic(struct nat *n, int peer, uint64_t off, int op, uint64_t v,
                       const uint64_t *compare)
{
    uint64_t old = 0;
    struct tp_atomic a = {.op = op, .type = 3, .n = 1, .operand = &v, .compare = compare,
                          .result = &old};
    struct waits w;
    SIM_CHECK(n->ops->atomic_ok(n->tp, op, 3, 1, compare ? 2 : 1));
    do
        w = (struct waits){.d.fn = told};
    while (!finish(n, &w, n->ops->atomic(n->tp, n->far[peer], off, &a, &w.d)));
    SIM_CHECK(w.err == 0);
    return old;
}

static void take_ticket(struct nat *n, int peer)
{
    uint64_t seen = 0, got;
    while ((got = atomic(n, peer, TICKET, MPI_REPLACE, seen + 1, &seen)) != seen)
        seen = got;
}

/* A put, then a message, and no flush between. */
static void put_then_am(struct nat *n)
{
    int to = (n->rank + 1) % n->size, from = (n->rank + n->size - 1) % n->size;
    unsigned char theirs[SLICE];
    for (int i = 0; i < 6; i++) {
        put(n, to);
        if (!(n->caps.flags & TP_PUT_THEN_AM))
            flush(n, to);
        MPI_Sendrecv(n->model[to], SLICE, MPI_BYTE, to, 0, theirs, SLICE, MPI_BYTE, from, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        SIM_CHECK(memcmp(n->base + HEAD + from * SLICE, theirs, SLICE) == 0);
        MPI_Barrier(MPI_COMM_WORLD); /* before the next put comes */
    }
}

static void errors(struct nat *n)
{
    struct waits w;
    unsigned char byte[8] = {0};
    int peer = (n->rank + 1) % n->size;
    SIM_CHECK(n->ops->put(n->tp, n->far[peer], 0, byte, n->caps.rma_max + 1, NULL, NULL) ==
              -EMSGSIZE);
    do /* out of what was registered */
        w = (struct waits){.d.fn = told};
    while (!finish(n, &w, n->ops->get(n->tp, n->far[peer], BYTES - 4, byte, 8, NULL, &w.d)));
    SIM_CHECK(w.err < 0);
    MPI_Barrier(MPI_COMM_WORLD);
    n->ops->dereg(n->tp, n->mem);
    MPI_Barrier(MPI_COMM_WORLD);
    do /* no longer registered */
        w = (struct waits){.d.fn = told};
    while (!finish(n, &w, n->ops->get(n->tp, n->far[peer], 0, byte, 8, NULL, &w.d)));
    SIM_CHECK(w.err < 0);
}

static void contract(void *arg)
{
    (void)arg;
    struct nat n;
    uint64_t adds = 0, all[2] = {0};
    setup(&n);
    for (int i = 0; i < ROUNDS; i++) {
        int peer = some(n.size);
        switch (some(4)) {
        case 0: get(&n, peer); break;
        case 1: atomic(&n, 0, COUNTER, MPI_SUM, (uint64_t)i, NULL); adds += (uint64_t)i; break;
        case 2: take_ticket(&n, 0); all[1]++; break;
        default: put(&n, peer);
        }
    }
    for (int p = 0; p < n.size; p++)
        flush(&n, p);
    all[0] = adds;
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int p = 0; p < n.size; p++)
        SIM_CHECK(memcmp(n.of[p] + HEAD + n.rank * SLICE, n.model[p], SLICE) == 0);
    uint64_t have[2];
    memcpy(have, n.of[0], sizeof have);
    SIM_CHECK(have[0] == all[0] && have[1] == all[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    put_then_am(&n);
    errors(&n);
    for (int p = 0; p < n.size; p++)
        n.ops->drop(n.tp, n.far[p]);
    MPI_Barrier(MPI_COMM_WORLD);
    free(n.base);
}

/* --- transmit contexts --- */

enum { CONTEXTS = 2, PART = SLICE / CONTEXTS };

struct way { /* one context to one peer; it has a part of the slice for itself */
    struct tp_tx *tx;
    struct tp_far *far;
    int peer, at;
};

static struct way way_open(struct nat *n, int peer, int part)
{
    struct way y = {.peer = peer, .at = part * PART};
    SIM_CHECK(n->ops->tx_open(n->tp, &y.tx) == 0);
    SIM_CHECK(n->ops->tx_far(y.tx, n->far[peer], &y.far) == 0);
    return y;
}

static void way_close(struct nat *n, struct way *y)
{
    n->ops->tx_drop(y->tx, y->far);
    n->ops->tx_close(y->tx);
}

static int way_put(struct nat *n, const struct way *y)
{
    unsigned char src[SLICE];
    int len = some((int)n->caps.put_inline + 1), at = y->at + some(PART - len + 1), rc;
    for (int i = 0; i < len; i++)
        src[i] = (unsigned char)sim_random();
    while ((rc = n->ops->tx_put(y->tx, y->far, (uint64_t)(HEAD + n->rank * SLICE + at), src,
                                (size_t)len)) == TP_AGAIN)
        turn();
    if (!rc)
        memcpy(n->model[y->peer] + at, src, (size_t)len);
    return rc;
}

static int way_flush(struct nat *n, const struct way *y)
{
    int rc;
    while ((rc = n->ops->tx_flush(y->tx, y->far)) == TP_AGAIN)
        turn();
    return rc;
}

static void way_arrived(const struct nat *n, const struct way *y)
{
    SIM_CHECK(!memcmp(n->of[y->peer] + HEAD + n->rank * SLICE + y->at, n->model[y->peer] + y->at,
                      PART));
}

/* What is under way by one context is not waited for by the other, nor by the process. */
static void way_alone(struct nat *n, const struct way *y)
{
    long puts = sim_tx_puts(n->rank), flushes = sim_tx_flushes(n->rank);
    sim_hold(SIM_NATIVE_OPS, n->rank, y->peer);
    SIM_CHECK(way_put(n, &y[1]) == 0);
    sim_hold(-1, 0, 0);
    SIM_CHECK(way_put(n, &y[0]) == 0 && way_flush(n, &y[0]) == 0);
    way_arrived(n, &y[0]);
    flush(n, y->peer);
    for (int i = 0; i < 20; i++, turn())
        SIM_CHECK(n->ops->tx_flush(y[1].tx, y[1].far) == TP_AGAIN);
    sim_let_go(SIM_NATIVE_OPS, y->peer);
    SIM_CHECK(way_flush(n, &y[1]) == 0);
    way_arrived(n, &y[1]);
    SIM_CHECK(sim_tx_puts(n->rank) == puts + 2 && sim_tx_flushes(n->rank) == flushes + 2);
}

static void contexts(void *arg)
{
    struct nat n;
    struct way y[CONTEXTS];
    setup(&n);
    int peer = (n.rank + 1) % n.size;
    for (int i = 0; i < CONTEXTS; i++)
        y[i] = way_open(&n, peer, i);
    SIM_CHECK(n.ops->tx_open(n.tp, &(struct tp_tx *){NULL}) == -ENOMEM);
    for (int i = 0; i < ROUNDS; i++) { /* two puts of a context have no order */
        const struct way *one = &y[some(CONTEXTS)];
        SIM_CHECK(way_flush(&n, one) == 0);
        way_arrived(&n, one);
        SIM_CHECK(way_put(&n, one) == 0);
    }
    SIM_CHECK(way_flush(&n, &y[0]) == 0 && way_flush(&n, &y[1]) == 0);
    for (int r = 0; r < n.size; r++) { /* one after the other: there is one sim_hold() */
        MPI_Barrier(MPI_COMM_WORLD);
        if (r == n.rank)
            way_alone(&n, y);
    }
    for (int i = 0; i < CONTEXTS; i++)
        way_close(&n, &y[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    n.ops->dereg(n.tp, n.mem);
    for (int p = 0; p < n.size; p++)
        n.ops->drop(n.tp, n.far[p]);
    MPI_Barrier(MPI_COMM_WORLD);
    free(n.base);
}

/* Puts to one that has died are lost; a flush reports it, and so does a put, now or later. */
static void contexts_death(void *arg)
{
    struct nat n;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* turn() is such a call */
    setup(&n);
    struct way y = way_open(&n, 1 - n.rank, 0);
    SIM_CHECK(way_put(&n, &y) == 0 && way_flush(&n, &y) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (n.rank)
        sim_die();
    int rc = 0;
    while (!rc && some(4)) /* it may not have died yet */
        rc = way_put(&n, &y);
    SIM_CHECK(rc == 0 || rc == -ENOTCONN);
    hear_of_death(1);
    rc = way_put(&n, &y);
    SIM_CHECK(rc == -ENOTCONN || (rc == 0 && way_flush(&n, &y) == -ENOTCONN));
    SIM_CHECK(way_put(&n, &y) == -ENOTCONN && way_flush(&n, &y) == -ENOTCONN);
    way_close(&n, &y);
    n.ops->dereg(n.tp, n.mem);
    for (int p = 0; p < n.size; p++)
        n.ops->drop(n.tp, n.far[p]);
    free(n.base);
}

/* What is off has no entry and no flag. */
static void off(void *arg)
{
    (void)arg;
    struct nat n;
    n.tp = am_tp_to(1 - sim_rank(), &n.ops, &n.caps);
    SIM_CHECK(!(n.caps.flags & (TP_PUT | TP_GET | TP_ATOMIC)) && !n.ops->put && !n.ops->get &&
              !n.ops->atomic && !n.ops->flush && !n.ops->tx_open);
}

static void with_order(struct sim_knobs *k)
{
    k->native = SIM_NATIVE_ALL;
    k->native_ordered = 1;
}

static void without_order(struct sim_knobs *k)
{
    k->native = SIM_NATIVE_ALL;
    k->native_ordered = 0;
}

static void with_contexts(struct sim_knobs *k)
{
    k->native = SIM_NATIVE_ALL;
    k->native_tx = CONTEXTS;
}

static void with_contexts_mortal(struct sim_knobs *k)
{
    with_contexts(k);
    k->mortal = 1;
}

static void none(struct sim_knobs *k)
{
    k->native = 0;
}

const struct scenario scenarios_native[] = {
    {"native-ordered", RANKS, 1, contract, NULL, with_order},
    {"native-unordered", RANKS, 1, contract, NULL, without_order},
    {"native-contexts", RANKS, 1, contexts, NULL, with_contexts},
    {"native-contexts-death", 2, 1, contexts_death, NULL, with_contexts_mortal},
    {"native-off", 2, 1, off, NULL, none},
    {NULL, 0, 0, NULL, NULL, NULL},
};
