/* transmit.c - transmit contexts: a further endpoint of the same domain, with a completion queue
 * and an address vector of its own, for the puts of one thread at a time. Start with ofi_tx_put().
 *
 *      under proc->lock    tx_open, tx_far --> endpoint, queue, addresses of its own
 *      without             tx_put, tx_flush --> fi_writemsg, fi_cq_read
 *
 * tx_put and tx_flush write nothing that the process or another context writes: what they use lies
 * in blocks of whole pairs of lines.  They read nothing of struct ofi.  Each put asks for
 * FI_DELIVERY_COMPLETE, as in rma.c; a flush waits for the completions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "tp/ofi/ofi.h"

enum {
    TX_OUT = 128,  /* puts under way by one context (count) */
    TX_LINES = 128 /* bytes */
};
/* Longest wait of tx_close() for puts that are under way (ns). */
static const uint64_t TX_CLOSE_NS = 1000000000u;

struct tx_out { /* a put that has not been completed */
    struct fi_context2 ctx; /* first: a completion points to it */
    struct tx_out *next;    /* idle */
    struct tx_peer *peer;
    unsigned char bytes[OFI_PUT_INLINE];
};

struct tx_peer {
    _Alignas(TX_LINES) fi_addr_t addr; /* in the context's vector */
    unsigned rank;
    int sleeper;  /* O8 */
    int failed;   /* it cannot be reached any more: every call returns -ENOTCONN */
    int tried;    /* a put was given to the provider */
    int reached;  /* ... which took one: the connection is there */
    unsigned out; /* puts under way */
};

struct tx_far { /* struct tp_far of a context */
    _Alignas(TX_LINES) struct tx_peer *peer;
    struct ofi_key key;
};

struct ofi_tx { /* struct tp_tx */
    _Alignas(TX_LINES) struct list link; /* ofi.txs.open; of the holder of proc->lock */
    struct ofi *o;
    struct fi_info *info;
    struct fid_mr *mr;
    struct fid_av *av;
    struct map peers; /* rank -> struct tx_peer */
    _Alignas(TX_LINES) struct fid_ep *ep;
    struct fid_cq *cq;
    void *desc;
    struct tx_out *idle;
    struct tx_out outs[TX_OUT];
};

static void *block(size_t bytes)
{
    void *p = aligned_alloc(TX_LINES, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

/* --- life ------------------------------------------------------------------------- */

/* Of an endpoint that no call is under way on. */
static void tx_end(struct ofi_tx *x)
{
    struct ofi *o = x->o;
    size_t cursor = 0;
    if (x->ep) /* first: it stops using our memory */
        ofi_close_fid(&x->ep->fid);
    if (x->mr)
        ofi_close_fid(&x->mr->fid);
    if (x->cq)
        ofi_close_fid(&x->cq->fid);
    if (x->av)
        ofi_close_fid(&x->av->fid);
    if (x->info)
        o->lib.freeinfo(x->info);
    for (struct map_entry *e; (e = map_next(&x->peers, &cursor)) != NULL;)
        free(e->value);
    map_destroy(&x->peers);
    list_del(&x->link);
    ofi_local_free(o, x, sizeof *x);
}

/* The error is libfabric's. No thread sleeps on the queue. */
static int objects_open(struct ofi_tx *x)
{
    struct ofi *o = x->o;
    struct fi_av_attr av = {.type = o->info->domain_attr->av_type};
    struct fi_cq_attr cq = {.size = 2 * TX_OUT, .format = FI_CQ_FORMAT_CONTEXT};
    int err = (x->info = ofi_info_again(o)) ? 0 : -FI_ENOMEM;
    if (av.type == FI_AV_UNSPEC)
        av.type = FI_AV_TABLE;
    err = err ? err : fi_av_open(o->domain, &av, &x->av, NULL);
    err = err ? err : fi_cq_open(o->domain, &cq, &x->cq, NULL);
    err = err ? err : fi_endpoint(o->domain, x->info, &x->ep, NULL);
    err = err ? err : fi_ep_bind(x->ep, &x->av->fid, 0);
    err = err ? err : fi_ep_bind(x->ep, &x->cq->fid, FI_TRANSMIT | FI_RECV);
    return err ? err : fi_enable(x->ep);
}

int ofi_tx_open(struct tp *tp, struct tp_tx **tx)
{
    struct ofi *o = (struct ofi *)tp;
    if (!o->txs.shared || !(o->flags & TP_PUT))
        return -ENOTSUP;
    struct ofi_tx *x = ofi_local_alloc(o, TX_LINES, sizeof *x);
    if (!x)
        return -ENOMEM;
    memset(x, 0, sizeof *x);
    x->o = o;
    map_init(&x->peers);
    list_init(&x->link);
    int said = objects_open(x);
    int err = said ? ofi_err(said) : ofi_local_reg(o, x->outs, sizeof x->outs, &x->mr);
    if (err) {
        tx_end(x);
        return err == TP_AGAIN ? -EIO : err;
    }
    x->desc = x->mr ? fi_mr_desc(x->mr) : NULL;
    for (int i = 0; i < TX_OUT; i++) {
        x->outs[i].next = x->idle;
        x->idle = &x->outs[i];
    }
    list_push(&o->txs.open, &x->link);
    *tx = (struct tp_tx *)x;
    return 0;
}

/* The process of `far`, in the vector of this context. 0 or -errno. */
static int peer_open(struct ofi_tx *x, const struct ofi_peer *of, struct tx_peer **peer)
{
    char name[OFI_NAME_MAX];
    size_t len = sizeof name;
    struct tx_peer *p = map_get(&x->peers, of->rank);
    if (of->broken || (p && p->failed))
        return -ENOTCONN;
    *peer = p;
    if (p)
        return 0;
    int err = fi_av_lookup(x->o->av, of->addr, name, &len);
    if (err || len > sizeof name)
        return err ? ofi_err(err) : -EMSGSIZE;
    p = block(sizeof *p);
    if (!p || map_put(&x->peers, of->rank, p)) {
        free(p);
        return -ENOMEM;
    }
    p->rank = of->rank;
    p->sleeper = of->sleeper;
    int n = fi_av_insert(x->av, name, 1, &p->addr, 0, NULL);
    if (n == 1) {
        *peer = p;
        return 0;
    }
    map_del(&x->peers, of->rank);
    free(p);
    return n < 0 ? ofi_err(n) : -EHOSTUNREACH;
}

int ofi_tx_far(struct tp_tx *tx, struct tp_far *far, struct tp_far **mine)
{
    struct tx_peer *p;
    int err = peer_open((struct ofi_tx *)tx, far->peer, &p);
    if (err)
        return err == TP_AGAIN ? -EIO : err;
    struct tx_far *f = block(sizeof *f);
    if (!f)
        return -ENOMEM;
    *f = (struct tx_far){.peer = p, .key = far->key};
    *mine = (struct tp_far *)f;
    return 0;
}

void ofi_tx_drop(struct tp_tx *tx, struct tp_far *mine)
{
    (void)tx; /* a put that is under way has its own copy of the key */
    free(mine);
}

/* --- puts and flush --------------------------------------------------------------- */

static void over(struct ofi_tx *x, struct tx_out *o, int err)
{
    if (!o) /* none of ours */
        return;
    o->peer->failed |= err != 0;
    o->peer->out--;
    o->next = x->idle;
    x->idle = o;
}

/* What has ended. The provider, which moves data in such calls, makes connections in them, too. */
static void look(struct ofi_tx *x)
{
    enum { AT_ONCE = 16 };
    struct fi_cq_entry e[AT_ONCE];
    ssize_t n = AT_ONCE;
    for (int turn = 0; turn < TX_OUT && (n == AT_ONCE || n == -FI_EAVAIL); turn++) {
        n = fi_cq_read(x->cq, e, AT_ONCE);
        for (ssize_t i = 0; i < n; i++)
            over(x, e[i].op_context, 0);
        struct fi_cq_err_entry bad = {0};
        if (n == -FI_EAVAIL && fi_cq_readerr(x->cq, &bad, 0) > 0)
            over(x, bad.op_context, bad.err);
    }
}

/* TP_AGAIN or -ENOTCONN.  The provider shm does not report that the peer is dead; the launcher
 * does. */
static __attribute__((cold)) int crowded(struct ofi_tx *x, struct tx_peer *p)
{
    look(x);
    p->failed |= boot_failed((int)p->rank);
    return p->failed ? -ENOTCONN : TP_AGAIN;
}

/* The provider does not take it. */
static __attribute__((cold)) int refused(struct ofi_tx *x, struct tx_peer *p, ssize_t said)
{
    int err = ofi_err((int)said);
    if (err == TP_AGAIN)
        return crowded(x, p);
    if (err == -EINVAL || err == -EMSGSIZE)
        return err;
    p->failed = 1;
    return -ENOTCONN;
}

static ssize_t issue(const struct ofi_tx *x, const struct tx_far *f, uint64_t off,
                     struct tx_out *o, size_t len)
{
    struct iovec v = {o->bytes, len};
    void *desc = x->desc;
    struct fi_rma_iov rv = {f->key.addr + off, len, f->key.key};
    struct fi_msg_rma m = {.msg_iov = &v,
                           .desc = &desc,
                           .iov_count = 1,
                           .addr = f->peer->addr,
                           .rma_iov = &rv,
                           .rma_iov_count = 1,
                           .context = &o->ctx};
    ssize_t said = fi_writemsg(x->ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE);
    if (f->peer->sleeper >= 0 && (!said || said == -FI_EAGAIN))
        mem_wake(f->peer->sleeper);
    return said;
}

int ofi_tx_put(struct tp_tx *tx, struct tp_far *mine, uint64_t off, const void *src, size_t len)
{
    struct ofi_tx *x = (struct ofi_tx *)tx;
    const struct tx_far *f = (const struct tx_far *)mine;
    struct tx_peer *p = f->peer;
    if (off > f->key.len || len > f->key.len - off)
        return -ERANGE;
    if (len > OFI_PUT_INLINE)
        return -EMSGSIZE;
    if (!x->idle)
        look(x);
    if (p->failed)
        return -ENOTCONN;
    if (!len)
        return 0;
    struct tx_out *o = x->idle;
    if (!o)
        return crowded(x, p);
    memcpy(o->bytes, src, len);
    o->peer = p;
    p->tried = 1;
    ssize_t said = issue(x, f, off, o, len);
    if (__builtin_expect(said != 0, 0))
        return refused(x, p, said);
    x->idle = o->next;
    p->reached = 1;
    p->out++;
    return 0;
}

int ofi_tx_flush(struct tp_tx *tx, struct tp_far *mine)
{
    struct ofi_tx *x = (struct ofi_tx *)tx;
    struct tx_peer *p = ((const struct tx_far *)mine)->peer;
    if (p->out && !p->failed)
        look(x);
    if (p->out && !p->failed)
        return crowded(x, p);
    return p->failed ? -ENOTCONN : 0;
}

/* --- end -------------------------------------------------------------------------- */

/* Puts that will end. */
static unsigned puts_out(const struct ofi_tx *x)
{
    unsigned n = 0;
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&x->peers, &cursor)) != NULL;) {
        const struct tx_peer *p = e->value;
        if (!boot_failed((int)p->rank))
            n += p->out;
    }
    return n;
}

/* Some put is under way, or some connection is being made. To close such an endpoint may crash this
 * process or the other (tp-ofi.md, "What providers do not keep"). */
static int is_busy(const struct ofi_tx *x)
{
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&x->peers, &cursor)) != NULL;) {
        const struct tx_peer *p = e->value;
        if (p->out || (p->tried && !p->reached))
            return 1;
    }
    return 0;
}

/* What was not flushed may be lost. */
void ofi_tx_close(struct tp_tx *tx)
{
    struct ofi_tx *x = (struct ofi_tx *)tx;
    uint64_t end = time_now() + TX_CLOSE_NS;
    while (puts_out(x) && time_now() < end)
        look(x);
    if (is_busy(x)) { /* it stays until the process ends */
        list_del(&x->link);
        x->o->txs.stays_open = 1;
    } else {
        tx_end(x);
    }
}

void ofi_tx_close_all(struct ofi *o)
{
    for (struct list *l; (l = list_first(&o->txs.open)) != NULL;)
        ofi_tx_close((struct tp_tx *)LIST_OBJ(l, struct ofi_tx, link));
}
