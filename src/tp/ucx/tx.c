/* tx.c - transmit contexts: a further worker of the same context of UCX, for the puts of one thread
 * at a time. Start with ucx_tx_put().
 *
 *      under proc->lock    tx_open, tx_far --> worker, endpoints, keys of its own
 *      without             tx_put, tx_flush --> ucp_put_nbx, ucp_ep_flush_nbx, ucp_worker_progress
 *
 * tx_put and tx_flush write nothing that the process or another context writes: what they use lies
 * in blocks of whole pairs of lines.  They read of struct ucx only what is fixed once it is
 * open. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sched.h"
#include "boot/boot.h"
#include "tp/ucx/ucx_types.h"

enum { TX_OUT = 64 /* puts under way by one context (count) */, TX_LINES = 128 /* bytes */ };
/* Longest wait of tx_close() for connections that are being made, and for their ends (ns). */
static const uint64_t TX_CLOSE_NS = 1000000000u;

struct tx_out { /* the bytes of a put that UCX has not taken yet */
    struct tx_out *next; /* free */
    struct tx_peer *peer;
    unsigned char bytes[UCX_PUT_INLINE];
};

struct tx_peer {
    _Alignas(TX_LINES) struct ucx_tx *x;
    unsigned rank;
    ucp_ep_h ep;
    int reports;  /* UCX reports its death */
    int failed;   /* it cannot be reached any more: every call returns -ENOTCONN */
    int dirty;    /* puts since a flush began */
    int settled;  /* the connection is there: a flush has ended */
    unsigned out; /* puts under way */
    void *flush;  /* UCX's request; NULL: none */
};

struct tx_far { /* struct tp_far of a context */
    _Alignas(TX_LINES) struct tx_peer *peer;
    ucp_rkey_h rkey;
    uint64_t base, len;
    struct list link; /* on dropped */
};

struct ucx_tx { /* struct tp_tx */
    _Alignas(TX_LINES) struct list link; /* ucx.contexts; of the holder of proc->lock */
    _Alignas(TX_LINES) struct ucx *u;
    struct ucx_lib lib; /* u->lib has neighbours that are written */
    ucp_worker_h worker;
    unsigned puts; /* since tx_put last called progress */
    struct tx_out *idle;
    struct map peers;    /* rank -> struct tx_peer */
    struct list dropped; /* fars that were dropped with puts under way */
    struct tx_out outs[TX_OUT];
};

static void *block(size_t bytes)
{
    void *p = aligned_alloc(TX_LINES, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

/* --- life ------------------------------------------------------------------------- */

int ucx_tx_open(struct tp *tp, struct tp_tx **tx)
{
    struct ucx *u = (struct ucx *)tp;
    if (!u->shared)
        return -ENOTSUP;
    struct ucx_tx *x = block(sizeof *x);
    if (!x)
        return -ENOMEM;
    x->u = u;
    x->lib = u->lib;
    ucs_status_t s = ucx_open_worker(u, &x->worker);
    if (s != UCS_OK) {
        free(x);
        return ucx_errno(s);
    }
    for (int i = 0; i < TX_OUT; i++) {
        x->outs[i].next = x->idle;
        x->idle = &x->outs[i];
    }
    map_init(&x->peers);
    list_init(&x->dropped);
    list_push(&u->contexts, &x->link);
    *tx = (struct tp_tx *)x;
    return 0;
}

struct tp_tx *ucx_tx_of(struct list *link)
{
    return (struct tp_tx *)LIST_OBJ(link, struct ucx_tx, link);
}

/* From its worker's progress. */
static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)ep, (void)status;
    ((struct tx_peer *)arg)->failed = 1;
}

/* The process of `far`, by an endpoint of this context. 0 or -errno. */
static int peer_open(struct ucx_tx *x, const struct ucx_peer *of, struct tx_peer **peer)
{
    struct tx_peer *p = map_get(&x->peers, of->rank);
    if (of->failed || (p && p->failed))
        return -ENOTCONN;
    *peer = p;
    if (p)
        return 0;
    p = block(sizeof *p);
    if (!p || map_put(&x->peers, of->rank, p)) {
        free(p);
        return -ENOMEM;
    }
    *p = (struct tx_peer){.x = x, .rank = of->rank, .reports = !of->no_failures};
    /* Both ends must ask for the same failure handling: that of the process's own endpoint. */
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = (const ucp_address_t *)of->addr,
        .err_mode = p->reports ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE,
        .err_handler = {on_failure, p},
    };
    ucs_status_t s = x->lib.ucp_ep_create(x->worker, &params, &p->ep);
    if (s != UCS_OK) {
        map_del(&x->peers, of->rank);
        free(p);
        return ucx_errno(s);
    }
    *peer = p;
    return 0;
}

static void far_end(const struct ucx_tx *x, struct tx_far *f)
{
    x->lib.ucp_rkey_destroy(f->rkey);
    free(f);
}

/* Of those that were dropped, the ones whose puts have ended. */
static void reap(struct ucx_tx *x)
{
    for (struct list *l = x->dropped.next, *next; l != &x->dropped; l = next) {
        struct tx_far *f = LIST_OBJ(l, struct tx_far, link);
        next = l->next;
        if (f->peer->out)
            continue;
        list_del(l);
        far_end(x, f);
    }
}

int ucx_tx_far(struct tp_tx *tx, struct tp_far *far, struct tp_far **mine)
{
    struct ucx_tx *x = (struct ucx_tx *)tx;
    const struct ucx_far *of = (const struct ucx_far *)far;
    struct tx_peer *p;
    reap(x);
    int err = peer_open(x, of->peer, &p);
    if (err)
        return err;
    struct tx_far *f = block(sizeof *f);
    if (!f)
        return -ENOMEM;
    *f = (struct tx_far){.peer = p, .base = of->base, .len = of->len};
    ucs_status_t s = x->lib.ucp_ep_rkey_unpack(p->ep, of->packed, &f->rkey);
    if (s != UCS_OK) {
        free(f);
        return ucx_errno(s);
    }
    *mine = (struct tp_far *)f;
    return 0;
}

/* UCX reads the key of a put that is under way. */
void ucx_tx_drop(struct tp_tx *tx, struct tp_far *mine)
{
    struct ucx_tx *x = (struct ucx_tx *)tx;
    struct tx_far *f = (struct tx_far *)mine;
    if (f->peer->out)
        list_push(&x->dropped, &f->link);
    else
        far_end(x, f);
}

/* --- puts and flush --------------------------------------------------------------- */

static void on_put(void *request, ucs_status_t status, void *arg)
{
    struct tx_out *o = arg;
    struct tx_peer *p = o->peer;
    if (status != UCS_OK)
        p->failed = 1;
    p->out--;
    o->next = p->x->idle;
    p->x->idle = o;
    p->x->lib.ucp_request_free(request);
}

/* TP_AGAIN or -ENOTCONN.  UCX may not report that the peer is dead; the launcher does. */
static __attribute__((cold)) int crowded(const struct ucx_tx *x, struct tx_peer *p)
{
    x->lib.ucp_worker_progress(x->worker);
    p->failed |= boot_failed((int)p->rank);
    return p->failed ? -ENOTCONN : TP_AGAIN;
}

int ucx_tx_put(struct tp_tx *tx, struct tp_far *mine, uint64_t off, const void *src, size_t len)
{
    struct ucx_tx *x = (struct ucx_tx *)tx;
    const struct tx_far *f = (const struct tx_far *)mine;
    struct tx_peer *p = f->peer;
    if (off > f->len || len > f->len - off)
        return -ERANGE;
    if (len > UCX_PUT_INLINE)
        return -EMSGSIZE;
    /* Where the target answers each put (tcp), its answers wait in its memory until they are
     * read. */
    if (__builtin_expect(x->puts == TX_OUT, 0)) {
        x->puts = 0;
        x->lib.ucp_worker_progress(x->worker);
    }
    struct tx_out *o = x->idle;
    if (p->failed)
        return -ENOTCONN;
    if (!o)
        return crowded(x, p);
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                       UCP_OP_ATTR_FIELD_USER_DATA,
                                       .cb.send = on_put,
                                       .user_data = o};
    x->puts++;
    x->idle = o->next;
    o->peer = p;
    if (len)
        memcpy(o->bytes, src, len);
    ucs_status_ptr_t r = x->lib.ucp_put_nbx(p->ep, o->bytes, len, f->base + off, f->rkey, &param);
    if (UCS_PTR_IS_PTR(r)) {
        p->out++;
        p->dirty = 1;
        return 0;
    }
    o->next = x->idle;
    x->idle = o;
    if (__builtin_expect(UCS_PTR_IS_ERR(r), 0)) {
        int err = ucx_errno(UCS_PTR_STATUS(r));
        p->failed |= err == -ENOTCONN; /* on_failure() comes later */
        return err;
    }
    p->dirty = 1;
    return 0;
}

/* What came before it is at the peer: 0; -errno; or p->flush is under way: TP_AGAIN. */
static int flush_begin(const struct ucx_tx *x, struct tx_peer *p)
{
    const ucp_request_param_t none = {0};
    p->dirty = 0;
    ucs_status_ptr_t r = x->lib.ucp_ep_flush_nbx(p->ep, &none);
    if (UCS_PTR_IS_PTR(r)) {
        p->flush = r;
        return TP_AGAIN;
    }
    p->settled |= !UCS_PTR_IS_ERR(r);
    return UCS_PTR_IS_ERR(r) ? -ENOTCONN : 0;
}

/* p->flush, after progress; death as in crowded(). */
static int flush_look(const struct ucx_tx *x, struct tx_peer *p)
{
    ucs_status_t s = x->lib.ucp_request_check_status(p->flush);
    if (s == UCS_INPROGRESS)
        return p->failed || boot_failed((int)p->rank) ? -ENOTCONN : TP_AGAIN;
    x->lib.ucp_request_free(p->flush);
    p->flush = NULL;
    p->settled |= s == UCS_OK;
    return s == UCS_OK ? 0 : -ENOTCONN;
}

int ucx_tx_flush(struct tp_tx *tx, struct tp_far *mine)
{
    const struct ucx_tx *x = (const struct ucx_tx *)tx;
    struct tx_peer *p = ((const struct tx_far *)mine)->peer;
    int err = p->failed ? -ENOTCONN : 0;
    if (!err && !p->flush && p->dirty)
        err = flush_begin(x, p);
    if (err >= 0 && p->flush) {
        x->lib.ucp_worker_progress(x->worker);
        err = flush_look(x, p);
    }
    if (!err && p->dirty) /* by puts since then */
        err = flush_begin(x, p);
    if (err < 0)
        p->failed = 1;
    return err;
}

/* --- end -------------------------------------------------------------------------- */

/* 1: some connection is being made. To end it then may abort the process (ucx.md, "Found", 6). */
static int unsettled(const struct ucx_tx *x)
{
    int n = 0;
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&x->peers, &cursor)) != NULL;) {
        struct tx_peer *p = e->value;
        if (p->settled || p->failed || !p->reports)
            continue;
        int rc = p->flush ? flush_look(x, p) : flush_begin(x, p);
        p->failed |= rc < 0;
        n += rc == TP_AGAIN;
    }
    return n;
}

/* Puts that will end: those to the dead do where UCX reports it. */
static unsigned puts_out(const struct ucx_tx *x)
{
    unsigned n = 0;
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&x->peers, &cursor)) != NULL;) {
        const struct tx_peer *p = e->value;
        if (p->reports || !boot_failed((int)p->rank))
            n += p->out;
    }
    return n;
}

/* What was not flushed may be lost.  An endpoint without failure handling cannot be closed by
 * force; it ends with the worker. */
static void peer_end(const struct ucx_tx *x, struct tx_peer *p, uint64_t end)
{
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_EP_CLOSE_FLAG_FORCE};
    if (p->flush)
        x->lib.ucp_request_free(p->flush);
    void *r = p->reports ? x->lib.ucp_ep_close_nbx(p->ep, &force) : NULL;
    if (!UCS_PTR_IS_PTR(r))
        return;
    while (x->lib.ucp_request_check_status(r) == UCS_INPROGRESS && time_now() < end)
        x->lib.ucp_worker_progress(x->worker);
    x->lib.ucp_request_free(r);
}

void ucx_tx_close(struct tp_tx *tx)
{
    struct ucx_tx *x = (struct ucx_tx *)tx;
    uint64_t end = time_now() + TX_CLOSE_NS;
    size_t cursor = 0;
    while (unsettled(x) && time_now() < end)
        x->lib.ucp_worker_progress(x->worker);
    for (struct map_entry *e; (e = map_next(&x->peers, &cursor)) != NULL;)
        peer_end(x, e->value, end);
    while (puts_out(x) && time_now() < end)
        x->lib.ucp_worker_progress(x->worker);
    for (struct list *l; (l = list_pop(&x->dropped)) != NULL;)
        far_end(x, LIST_OBJ(l, struct tx_far, link));
    x->lib.ucp_worker_destroy(x->worker);
    cursor = 0;
    for (struct map_entry *e; (e = map_next(&x->peers, &cursor)) != NULL;)
        free(e->value);
    map_destroy(&x->peers);
    list_del(&x->link);
    free(x);
}
