/* ofi.c - libfabric as a transport: life, progress, peers that are lost. Start with ofi_open() and
 * ofi_progress(). */
#include "tp/ofi/ofi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sched.h"
#include "boot/boot.h"

/* --- peers ------------------------------------------------------------------------ */

/* A process has failed, by the report of the launcher or the watch.  Drop what waits for it
 * here. */
static void fail_peer(struct ofi *o)
{
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&o->peers, &cursor)) != NULL;)
        if (boot_failed((int)((struct ofi_peer *)e->value)->rank))
            ofi_peer_lost(o, e->value, -ENOTCONN);
}

static void lost_settle(struct ofi *o)
{
    for (struct list *l = o->lost.next, *next; l != &o->lost; l = next) {
        struct ofi_peer *p = LIST_OBJ(l, struct ofi_peer, in_lost);
        next = l->next;
        ofi_queue_drop(o, p);
        ofi_rma_lost(o, p);
        /* Of one that has left, too: am/ keeps room for its replies until then. */
        if (!boot_failed((int)p->rank) && !p->told_lost) {
            p->told_lost = 1;
            if (o->env.lost)
                o->env.lost(o->env.up, p->rank, p->broken);
        }
        if (boot_failed((int)p->rank) || boot_has_left((int)p->rank))
            list_del(&p->in_lost);
    }
}

/* --- life ------------------------------------------------------------------------- */

/* A send or one-sided operation still under way at the end. */
static void op_free(const struct ofi *o, struct ofi_op *op)
{
    struct ofi_send *m = op->kind == OFI_OP_SEND ? LIST_OBJ(op, struct ofi_send, op) : NULL;
    struct fid_mr *mr = m ? m->mr : LIST_OBJ(op, struct ofi_rma, op)->mr;
    if (mr)
        ofi_close_fid(&mr->fid);
    /* it is the first in both */
    ofi_local_free(o, op, m ? sizeof *m + m->room : sizeof(struct ofi_rma));
}

/* Does the provider still have one-sided operations?  Only those to failed peers count. */
static int has_left(struct ofi *o)
{
    size_t cursor = 0;
    for (struct list *l = o->flying.next; l != &o->flying; l = l->next)
        if (LIST_OBJ(l, struct ofi_op, link)->kind == OFI_OP_RMA)
            return 1;
    for (struct map_entry *e; (e = map_next(&o->peers, &cursor)) != NULL;)
        if (!list_empty(&((struct ofi_peer *)e->value)->puts))
            return 1;
    return 0;
}

static void ofi_close(struct tp *tp)
{
    struct ofi *o = (struct ofi *)tp;
    size_t cursor = 0;
    /* tp-ofi.md, "What providers do not keep": it would crash.  No thread makes progress any more,
     * so it touches nothing. */
    if (has_left(o) && boot_failed_count()) {
        ofi_cache_stop(o);
        return;
    }
    ofi_tx_close_all(o);
    if (o->ep) /* first: it stops using our memory */
        ofi_close_fid(&o->ep->fid);
    ofi_cache_close(o);
    ofi_cards_close(o);
    ofi_rails_free(o);
    for (struct map_entry *e; (e = map_next(&o->peers, &cursor)) != NULL;) {
        struct ofi_peer *p = e->value;
        ofi_queue_drop(o, p);
        ofi_held_drop(p);
        for (struct list *l; (l = list_pop(&p->flushes)) != NULL;)
            free(LIST_OBJ(l, struct ofi_flush_wait, link));
        for (struct list *l; (l = list_pop(&p->puts)) != NULL;)
            op_free(o, LIST_OBJ(l, struct ofi_op, link));
        free(p);
    }
    map_destroy(&o->peers);
    for (struct list *l; (l = list_pop(&o->flying)) != NULL;)
        op_free(o, LIST_OBJ(l, struct ofi_op, link));
    for (int i = 0; i < 2; i++)
        for (struct list *l; (l = list_pop(&o->pool[i])) != NULL;)
            op_free(o, LIST_OBJ(l, struct ofi_op, link));
    for (struct list *l; (l = list_pop(&o->rma_pool)) != NULL;)
        op_free(o, LIST_OBJ(l, struct ofi_op, link));
    for (struct list *l; (l = list_pop(&o->flush_pool)) != NULL;)
        free(LIST_OBJ(l, struct ofi_flush_wait, link));
    for (int i = 0; i < o->nrecv; i++) {
        if (o->recv[i].mr)
            ofi_close_fid(&o->recv[i].mr->fid);
        ofi_local_free(o, o->recv[i].bytes, o->recv[i].size);
    }
    free(o->recv);
    free(o->scratch);
    if (o->cq)
        ofi_close_fid(&o->cq->fid);
    if (o->av)
        ofi_close_fid(&o->av->fid);
    if (o->domain && !o->txs.stays_open)
        ofi_close_fid(&o->domain->fid);
    if (o->fabric && !o->txs.stays_open)
        ofi_close_fid(&o->fabric->fid);
    if (o->info)
        o->lib.freeinfo(o->info);
    if (o->timer_fd >= 0)
        close(o->timer_fd);
    /* The library stays: providers have threads and exit handlers that must find their code. */
    free(o);
}

/* All objects of libfabric, in its order; the error is libfabric's. */
static int objects_open(struct ofi *o)
{
    int err;
    struct fi_av_attr av = {.type = o->info->domain_attr->av_type};
    if (av.type == FI_AV_UNSPEC)
        av.type = FI_AV_TABLE;
    o->reason = "fabric";
    if ((err = o->lib.fabric(o->info->fabric_attr, &o->fabric, NULL)))
        return err;
    o->reason = "domain";
    if ((err = fi_domain(o->fabric, o->info, &o->domain, NULL)))
        return err;
    o->reason = "address vector";
    if ((err = fi_av_open(o->domain, &av, &o->av, NULL)))
        return err;
    for (enum fi_wait_obj way = ofi_wait_obj(o);; way = FI_WAIT_FD) {
        o->reason = "completion queue";
        if ((err = ofi_cq_open(o, way)))
            return err;
        o->reason = "endpoint";
        if ((err = fi_endpoint(o->domain, o->info, &o->ep, NULL)))
            return err;
        if ((err = fi_ep_bind(o->ep, &o->av->fid, 0)) ||
            (err = fi_ep_bind(o->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV)))
            return err;
        if ((err = fi_enable(o->ep)) || o->wait != FI_WAIT_POLLFD || ofi_pollfds_learn(o) == 0)
            return err;
        ofi_close_fid(&o->ep->fid);
        ofi_close_fid(&o->cq->fid);
        o->ep = NULL;
        o->cq = NULL;
    }
}

static int open_all(struct ofi *o, struct tp_caps *caps)
{
    /* Libraries that libfabric loads (libinfinipath) take SIGINT, SIGTERM, SIGSEGV and others for
     * themselves at once, with or without a card.  (The provider shm does so later, for its files,
     * and calls the previous handler.) */
    struct boot_signals had;
    boot_signals_are(&had);
    int err = ofi_load(&o->lib);
    err = err ? err : ofi_choose(o);
    boot_signals_back(&had);
    if (err)
        return err;
    const struct fi_info *i = o->info;
    o->reg_local = (i->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
    o->virt_addr = (i->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    o->multi = (i->caps & FI_MULTI_RECV) != 0;
    o->inject = i->tx_attr->inject_size;
    size_t most = i->ep_attr->max_msg_size - sizeof(struct ofi_wire),
           at_once = ofi_eager(o) - OFI_AM_ROOM;
    at_once = at_once < OFI_EAGER - OFI_AM_ROOM ? at_once : OFI_EAGER - OFI_AM_ROOM;
    o->am_max = (most < at_once ? most : at_once) & ~(size_t)7;
    err = objects_open(o);
    if (err) {
        log_warn("transport ofi, provider %s: the %s does not open: %s", i->fabric_attr->prov_name,
                 o->reason, o->lib.strerror(-err));
        return ofi_err(err) == TP_AGAIN ? -EIO : ofi_err(err);
    }
    ofi_cards_open(o);
    ofi_cache_open(o);
    o->flags = i->tx_attr->msg_order & i->rx_attr->msg_order & FI_ORDER_SAS ? TP_AM_ORDERED : 0;
    if (o->nfds)
        o->flags |= TP_WAIT_FD;
    /* From then on the kernel, a card or memory delivers it. ofi_rxd and sockets send in later
     * calls of the sender. */
    const char *provider = i->fabric_attr->prov_name;
    if (strstr(provider, ";ofi_rxm") || !strcmp(provider, "shm"))
        o->flags |= TP_AM_LEAVES;
    if (strstr(provider, ";ofi_rxm") && !o->reg_local && i->tx_attr->iov_limit >= OFI_ZCOPY_IOV &&
        o->am_max > OFI_ZCOPY)
        o->am_zcopy_min = OFI_ZCOPY;
    *caps = (struct tp_caps){.flags = o->flags,
                             .am_max = o->am_max,
                             .am_zcopy_min = o->am_zcopy_min,
                             .gather = OFI_GATHER,
                             .replies = OFI_REPLIES};
    ofi_rma_caps(o, caps);
    o->flags = caps->flags;
    return ofi_recv_start(o);
}

static int ofi_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    struct ofi *o = calloc(1, sizeof *o);
    if (!o)
        return -ENOMEM;
    o->env = *env;
    o->rank = (unsigned)boot_rank();
    o->places = (unsigned)boot_universe();
    o->key = random_bits();
    o->timer_fd = -1;
    map_init(&o->peers);
    struct list *all[] = {&o->queuing, &o->holders, &o->owing,   &o->lost,     &o->unposted,
                          &o->unheard, &o->flying,  &o->pool[0], &o->pool[1],  &o->rma_pool,
                          &o->splits,  &o->again,   &o->stuck,   &o->suspects, &o->flush_pool,
                          &o->txs.open};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        list_init(all[i]);
    int err = open_all(o, caps);
    if (err) {
        ofi_close((struct tp *)o);
        return err;
    }
    *tp = (struct tp *)o;
    return 0;
}

static int ofi_connect(struct tp *tp, unsigned peer, const void *addr, size_t len)
{
    struct ofi *o = (struct ofi *)tp;
    if (peer >= o->places)
        return -EHOSTUNREACH;
    struct ofi_peer *p = ofi_peer_make(o, peer);
    if (!p)
        return -ENOMEM;
    if (p->connected || p->broken)
        return !p->broken ? 0 : ofi_is_shortage(p->broken) ? p->broken : -ENOTCONN;
    int err = ofi_peer_learn(o, p, addr, len);
    err = err ? err : ofi_greet(o, p);
    p->connected = !err;
    return err;
}

static void ofi_describe(struct tp *tp, char *text, size_t len)
{
    const struct ofi *o = (const struct ofi *)tp;
    const struct fi_info *i = o->info;
    uint32_t v = o->lib.version();
    int n = snprintf(text, len, "libfabric %u.%u, provider %s, %s %s", FI_MAJOR(v), FI_MINOR(v),
                     i->fabric_attr->prov_name, i->fabric_attr->name ? i->fabric_attr->name : "",
                     i->domain_attr->name ? i->domain_attr->name : "");
    for (int k = 0; k < o->nrails && n >= 0 && (size_t)n < len; k++)
        n += snprintf(text + n, len - (size_t)n, "%s %s", k ? "," : " and",
                      o->rail[k].info->domain_attr->name);
}

static void ofi_variant(struct tp *tp, char *text, size_t len)
{
    const struct ofi *o = (const struct ofi *)tp;
    snprintf(text, len, "%s %zu", o->info->fabric_attr->prov_name, ofi_eager(o));
}

/* --- progress --------------------------------------------------------------------- */

static void complete(struct ofi *o, const struct fi_cq_data_entry *e, int err)
{
    struct ofi_op *op = e->op_context;
    if (e->flags & FI_REMOTE_WRITE) { /* a peer's (ofi_put_note); op is none of ours */
        if (!err && e->flags & FI_REMOTE_CQ_DATA && o->env.noted)
            o->env.noted(o->env.up, (uint32_t)e->data);
        return;
    }
    if (!op)
        return;
    if (op->kind == OFI_OP_SEND) {
        ofi_send_done(o, LIST_OBJ(op, struct ofi_send, op), err);
    } else if (op->kind == OFI_OP_RMA) {
        ofi_rma_done(o, op, err);
    } else if (op->kind == OFI_OP_PIECE) {
        ofi_rails_done(o, op, err);
    } else {
        struct ofi_recv *r = LIST_OBJ(op, struct ofi_recv, op);
        if (!err && e->flags & FI_RECV)
            ofi_deliver(o, o->multi ? e->buf : r->bytes, e->len);
        if (!o->multi || e->flags & FI_MULTI_RECV)
            ofi_recv_post(o, r);
    }
}

/* What was under way when a connection broke comes back as cancelled, and the provider's code may
 * be an old errno.  Nothing but a receive is cancelled by ofi.c. */
static int why_failed(const struct fi_cq_err_entry *e)
{
    const struct ofi_op *op = e->op_context;
    if (e->err == FI_ECANCELED && op && op->kind != OFI_OP_RECV)
        return -ENOTCONN;
    int err = ofi_err(-e->err);
    return err == TP_AGAIN ? -EIO : err;
}

/* One operation failed.  If its peer is known, the error is the peer's.  A broken receive buffer is
 * posted again. */
static void complain(struct ofi *o)
{
    struct fi_cq_err_entry e = {0};
    if (fi_cq_readerr(o->cq, &e, 0) < 1)
        return;
    if (e.flags & FI_REMOTE_WRITE) /* a peer's: its context is none of ours */
        return;
    /* An inject: a question (O7) shows which peer did not get it. */
    o->nameless += !e.op_context;
    if (!(e.op_context && ((struct ofi_op *)e.op_context)->kind == OFI_OP_SEND) &&
        boot_failed_count() == 0 && !o->warned_failed++)
        log_warn(
            "transport ofi: an operation failed: %s (provider's code %d); more are not reported",
            o->lib.strerror(e.err), e.prov_errno);
    struct fi_cq_data_entry d = {.op_context = e.op_context, .flags = e.flags};
    complete(o, &d, why_failed(&e));
}

static int ofi_progress(struct tp *tp)
{
    struct ofi *o = (struct ofi *)tp;
    enum { AT_ONCE = 16 };
    struct fi_cq_data_entry e[AT_ONCE];
    int events = 0;
    if (__builtin_expect(boot_failed_count() != o->deaths, 0)) {
        o->deaths = boot_failed_count();
        fail_peer(o);
    }
    if (!list_empty(&o->holders) || !list_empty(&o->queuing) || !list_empty(&o->owing) ||
        !list_empty(&o->unposted))
        events = ofi_msg_progress(o);
    if (o->nrails)
        events += ofi_rails_progress(o);
    if (!list_empty(&o->unheard) && ++o->turns % OFI_TURNS == 0)
        events += ofi_look(o);
    for (int turn = 0; turn < OFI_BUDGET / AT_ONCE; turn++) {
        ssize_t n = fi_cq_read(o->cq, e, AT_ONCE);
        if (n == -FI_EAVAIL) {
            complain(o);
            events++;
            continue;
        }
        if (n < 0 && n != -FI_EAGAIN)
            return ofi_err((int)n);
        for (ssize_t i = 0; i < n; i++)
            complete(o, &e[i], 0);
        events += n > 0 ? (int)n : 0;
        if (n < AT_ONCE)
            break;
    }
    if (!list_empty(&o->lost))
        lost_settle(o);
    return events;
}

const struct tp_ops tp_ofi_ops = {
    .name = "ofi",
    .open = ofi_open,
    .address = ofi_address,
    .connect = ofi_connect,
    .close = ofi_close,
    .am = ofi_am,
    .reg = ofi_reg,
    .pack = ofi_pack,
    .dereg = ofi_dereg,
    .import = ofi_import,
    .drop = ofi_drop,
    .put = ofi_put,
    .put_note = ofi_put_note,
    .get = ofi_get,
    .atomic = ofi_atomic,
    .atomic_ok = ofi_atomic_ok,
    .flush = ofi_flush,
    .tx_open = ofi_tx_open,
    .tx_close = ofi_tx_close,
    .tx_far = ofi_tx_far,
    .tx_drop = ofi_tx_drop,
    .tx_put = ofi_tx_put,
    .tx_flush = ofi_tx_flush,
    .progress = ofi_progress,
    .fd = ofi_fd,
    .fds = ofi_fds,
    .describe = ofi_describe,
    .variant = ofi_variant,
};
