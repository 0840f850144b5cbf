/* rma.c - memory and one-sided operations over libfabric. Start with ofi_put().
 *
 * Every put and atomic asks for FI_DELIVERY_COMPLETE: its completion means that the target's memory
 * has changed.  So a flush waits for completions and sends nothing.  Where the provider has fences,
 * the flush of several puts asks for it once (O9). */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sched.h"
#include "tp/ofi/ofi.h"

/* Bytes from which a get, a pull by the network pays (tp.md, "When native pays"). */
enum { GET_MIN = 512, PULL_MIN = 131072 };

/* --- what there is ------------------------------------------------------------------- */

static const struct {
    int op;
    enum fi_op fi;
} ops[] = {
    {MPI_SUM, FI_SUM},
    {MPI_PROD, FI_PROD},
    {MPI_MIN, FI_MIN},
    {MPI_MAX, FI_MAX},
    {MPI_LAND, FI_LAND},
    {MPI_LOR, FI_LOR},
    {MPI_LXOR, FI_LXOR},
    {MPI_BAND, FI_BAND},
    {MPI_BOR, FI_BOR},
    {MPI_BXOR, FI_BXOR},
    {MPI_REPLACE, FI_ATOMIC_WRITE},
    {MPI_NO_OP, FI_ATOMIC_READ},
};

/* libfabric's operation, -1: it has none. */
static int fi_op_of(int op)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].op == op)
            return (int)ops[i].fi;
    return -1;
}

static int fi_type_of(int type)
{
    static const enum fi_datatype sints[] = {FI_INT8, FI_INT16, FI_INT32, FI_INT64};
    static const enum fi_datatype uints[] = {FI_UINT8, FI_UINT16, FI_UINT32, FI_UINT64};
    int log2 = type & TP_TYPE_LOG2;
    if (type & TP_TYPE_FLOATING)
        return log2 == 2   ? (int)FI_FLOAT
               : log2 == 3 ? (int)FI_DOUBLE
               : log2 == 4 ? (int)FI_LONG_DOUBLE
                           : -1;
    return log2 > 3 ? -1 : (int)(type & TP_TYPE_SIGNED ? sints[log2] : uints[log2]);
}

static int atomic_known(struct ofi *o, int op, int type, size_t n, int fetch)
{
    struct fi_atomic_attr attr = {0};
    int fop = fetch == 2 ? (int)FI_CSWAP : fi_op_of(op), ftype = fi_type_of(type);
    if (fop < 0 || ftype < 0 || n == 0 || n > (size_t)OFI_ATOMIC >> (type & TP_TYPE_LOG2))
        return 0;
    if (fop == (int)FI_ATOMIC_READ && fetch != 1)
        return 0;
    uint64_t flags = fetch == 2 ? FI_COMPARE_ATOMIC : fetch ? FI_FETCH_ATOMIC : 0;
    int err = fi_query_atomic(o->domain, (enum fi_datatype)ftype, (enum fi_op)fop, &attr, flags);
    return !err && attr.size == (size_t)1 << (type & TP_TYPE_LOG2) && n <= attr.count;
}

int ofi_atomic_ok(struct tp *tp, int op, int type, size_t n, int fetch)
{
    struct ofi *o = (struct ofi *)tp;
    return o->flags & TP_ATOMIC ? atomic_known(o, op, type, n, fetch) : 0;
}

void ofi_rma_caps(struct ofi *o, struct tp_caps *caps)
{
    const struct fi_info *i = o->info;
    if (!(i->caps & FI_RMA) || !ofi_delivers(o))
        return;
    caps->flags |= TP_PUT | TP_GET;
    caps->put_inline = OFI_PUT_INLINE;
    caps->rma_max = i->ep_attr->max_msg_size < SIZE_MAX / 2 ? i->ep_attr->max_msg_size
                                                            : SIZE_MAX / 2;
    /* tp.md "When native pays": measured over tcp;ofi_rxm.  A provider that moves data by itself
     * needs no progress at the target. */
    int alone = i->domain_attr->data_progress == FI_PROGRESS_AUTO;
    caps->put_min = ofi_put_min(o);
    caps->get_min = alone ? caps->put_min : GET_MIN;
    caps->lone_pays = !strcmp(i->fabric_attr->prov_name, "tcp;ofi_rxm");
    caps->pull_min = caps->lone_pays ? PULL_MIN : SIZE_MAX;
    if (o->reg_local)
        caps->flags |= TP_REG_LOCAL;
    if (i->tx_attr->msg_order & i->rx_attr->msg_order & FI_ORDER_SAW && !o->nrails) /* L5 */
        caps->flags |= TP_PUT_THEN_AM;
    if (i->domain_attr->cq_data_size >= sizeof(uint32_t))
        caps->flags |= TP_PUT_NOTE;
    if (!(i->caps & FI_ATOMIC))
        return;
    /* A width is supported if an integer of it can be added, fetched and compared and swapped. */
    for (int w = 0; w < 4; w++) {
        int type = w | TP_TYPE_SIGNED;
        if (atomic_known(o, MPI_SUM, type, 1, 0) && atomic_known(o, MPI_SUM, type, 1, 1) &&
            atomic_known(o, MPI_REPLACE, type, 1, 2))
            caps->atomic_sizes |= 1u << w;
    }
    if (!caps->atomic_sizes)
        return;
    caps->flags |= TP_ATOMIC;
    /* tp-ofi.md, "Whose atomics": observed, not promised */
    if (!strcmp(i->fabric_attr->prov_name, "tcp;ofi_rxm"))
        caps->flags |= TP_CPU_COHERENT;
}

/* --- memory --------------------------------------------------------------------------- */

int ofi_reg(struct tp *tp, void *base, size_t len, int space, int access, struct tp_mem **mem)
{
    struct ofi *o = (struct ofi *)tp;
    if (space != 0 || len == 0)
        return -EINVAL;
    if (!access && o->reg_local && ofi_cache_find(o, base, len, mem) == 0)
        return 0;
    struct tp_mem *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    m->base = base;
    m->len = len;
    m->users = 1;
    list_init(&m->link);
    uint64_t rights = (access & TP_MAY_READ ? FI_REMOTE_READ : 0) |
                      (access & TP_MAY_WRITE ? FI_REMOTE_WRITE : 0);
    if (access != TP_MAY_READ)
        rights |= FI_READ | FI_WRITE;
    int err = ofi_reg_room(o, base, len, rights, &m->mr);
    if (err) {
        free(m);
        return err == TP_AGAIN ? -EIO : err;
    }
    ofi_cards_reg(o, m, rights, ofi_key_mask(o));
    if (access && rights & FI_WRITE)
        list_push_front(&o->cache.exposed, &m->link);
    *mem = m;
    return 0;
}

int ofi_pack(struct tp *tp, struct tp_mem *mem, void *key, size_t *len)
{
    struct ofi *o = (struct ofi *)tp;
    struct ofi_key k = {o->virt_addr ? (uint64_t)(uintptr_t)mem->base : 0, fi_mr_key(mem->mr),
                        mem->len};
    if (*len < sizeof k)
        return -EMSGSIZE;
    memcpy(key, &k, sizeof k);
    *len = sizeof k + ofi_cards_pack(o, mem, (char *)key + sizeof k, *len - sizeof k);
    return 0;
}

void ofi_dereg(struct tp *tp, struct tp_mem *mem)
{
    struct ofi *o = (struct ofi *)tp;
    if (mem->cached || mem->copy) {
        ofi_cache_leave(o, mem);
        return;
    }
    struct tp_mem *of = mem->of ? mem->of : mem;
    if (mem->of)
        free(mem);
    else
        list_del(&mem->link);
    if (--of->users)
        return;
    ofi_cards_dereg(o, of);
    (void)fi_close(&of->mr->fid);
    free(of);
}

int ofi_import(struct tp *tp, unsigned peer, const void *key, size_t len, struct tp_far **far)
{
    struct ofi *o = (struct ofi *)tp;
    struct ofi_peer *p = map_get(&o->peers, peer);
    if (!p || !p->connected)
        return -ENOTCONN;
    if (len < sizeof(struct ofi_key))
        return -EPROTO;
    struct tp_far *f = calloc(1, sizeof *f);
    if (!f)
        return -ENOMEM;
    f->peer = p;
    memcpy(&f->key, key, sizeof f->key);
    if (ofi_cards_import(f, (const char *)key + sizeof f->key, len - sizeof f->key) != 0) {
        free(f);
        return -EPROTO;
    }
    *far = f;
    return 0;
}

void ofi_drop(struct tp *tp, struct tp_far *far)
{
    (void)tp;
    free(far);
}

/* --- operations ------------------------------------------------------------------------- */

static struct ofi_rma *rma_get(struct ofi *o, struct ofi_peer *p, struct tp_done *d)
{
    struct list *l = list_pop(&o->rma_pool);
    struct ofi_rma *r = l ? LIST_OBJ(l, struct ofi_rma, op.link) : NULL;
    if (!r) {
        if (!(r = ofi_local_alloc(o, 16, sizeof *r)))
            return NULL;
        memset(r, 0, offsetof(struct ofi_rma, bytes));
        list_init(&r->op.link);
        if (ofi_local_reg(o, &r->bytes, sizeof r->bytes, &r->mr) != 0) {
            ofi_local_free(o, r, sizeof *r);
            return NULL;
        }
    }
    r->op.kind = OFI_OP_RMA;
    r->peer = p;
    r->done = d;
    r->seq = 0;
    r->result = NULL;
    return r;
}

static void rma_put(struct ofi *o, struct ofi_rma *r)
{
    list_del(&r->op.link);
    list_push_front(&o->rma_pool, &r->op.link);
}

/* r, with a result, is over. */
static void results_come(struct ofi *o, const struct ofi_rma *r, int err)
{
    if (!err && r->len)
        memcpy(r->result, r->from, r->len);
    if (r->copy)
        ofi_copy_leave(o, r->copy);
}

/* The provider's result: remember what it took. `changes`: it changes the target's memory, so a
 * flush waits for it, and must fail if something never left.  A read can be done in another way:
 * the peer is lost only if the provider reports so. */
static int issued(struct ofi *o, struct ofi_rma *r, ssize_t err, int changes)
{
    if (!err || err == -FI_EAGAIN)
        ofi_wake(r->peer);
    if (err) {
        struct ofi_peer *p = r->peer;
        if (r->result)
            results_come(o, r, (int)err);
        rma_put(o, r);
        int ours = ofi_err((int)err);
        if (ours == -ENOTCONN ||
            (changes && ours != TP_AGAIN && ours != -EINVAL && ours != -EMSGSIZE))
            ofi_peer_lost(o, p, ours);
        return ours;
    }
    if (changes)
        r->seq = ++r->peer->put_seq;
    list_push(changes ? &r->peer->puts : &o->flying, &r->op.link);
    return r->done ? TP_PENDING : 0;
}

/* 0 if [off, off+len) lies in far memory that can be reached. */
static int check(const struct tp_far *far, uint64_t off, size_t len)
{
    if (far->peer->broken)
        return -ENOTCONN;
    return off > far->key.len || len > far->key.len - off ? -ERANGE : 0;
}

/* O9: a put with nothing before it would need the fence for itself alone. */
static int is_loose(const struct ofi *o, const struct ofi_peer *p)
{
    return o->fences && (p->loose || !list_empty(&p->puts));
}

/* Over several cards; -ENOTSUP: it goes undivided. */
static int striped(struct ofi *o, struct tp_far *far, uint64_t off, const void *here, size_t len,
                   const struct tp_mem *mem, struct tp_done *d, int put)
{
    struct ofi_rma *r = d && far->rails && far->peer->rails ? rma_get(o, far->peer, d) : NULL;
    int err = r ? ofi_rails_move(o, far, off, here, len, mem, r, put) : -ENOTSUP;
    if (!err)
        return issued(o, r, 0, put);
    if (r)
        rma_put(o, r);
    return err;
}

static int put(struct ofi *o, struct tp_far *far, uint64_t off, const void *src, size_t len,
               const struct tp_mem *smem, struct tp_done *d, uint64_t flags, uint32_t note)
{
    int err = check(far, off, len), small = len <= OFI_PUT_INLINE;
    /* With a note, the target may detach the memory before a fence comes to it. */
    int loose = !(flags & FI_REMOTE_CQ_DATA) && is_loose(o, far->peer);
    if (err || len == 0)
        return err;
    if (len >= OFI_RAIL_MIN && o->nrails && !flags &&
        (err = striped(o, far, off, src, len, smem, d, 1)) != -ENOTSUP)
        return err;
    struct ofi_rma *r = rma_get(o, far->peer, small ? NULL : d);
    if (!r)
        return TP_AGAIN;
    if (small)
        src = memcpy(r->bytes.put, src, len);
    struct fid_mr *mr = small ? r->mr : smem ? smem->mr : NULL;
    void *desc = mr ? fi_mr_desc(mr) : NULL;
    if (!small && smem && smem->copy) {
        src = memcpy(ofi_copy_use(r, smem, src), src, len);
        r->result = r; /* nothing comes */
        r->len = 0;
    }
    struct iovec v = {(void *)(uintptr_t)src, len};
    struct fi_rma_iov rv = {far->key.addr + off, len, far->key.key};
    struct fi_msg_rma m = {.msg_iov = &v,
                           .desc = &desc,
                           .iov_count = 1,
                           .addr = far->peer->addr,
                           .rma_iov = &rv,
                           .rma_iov_count = 1,
                           .context = &r->op.ctx,
                           .data = note};
    flags |= FI_COMPLETION | (loose ? FI_TRANSMIT_COMPLETE : FI_DELIVERY_COMPLETE);
    err = issued(o, r, fi_writemsg(o->ep, &m, flags), 1);
    if (loose && (err == 0 || err == TP_PENDING)) {
        far->peer->loose++;
        far->peer->loose_key = far->key;
    }
    return err;
}

/* O9: nothing is written, behind all that was written before. */
static int fence(struct ofi *o, struct ofi_peer *p)
{
    struct ofi_rma *r = rma_get(o, p, NULL);
    if (!r)
        return TP_AGAIN;
    void *desc = r->mr ? fi_mr_desc(r->mr) : NULL;
    struct iovec v = {r->bytes.put, 0};
    struct fi_rma_iov rv = {p->loose_key.addr, 0, p->loose_key.key};
    struct fi_msg_rma m = {.msg_iov = &v,
                           .desc = &desc,
                           .iov_count = 1,
                           .addr = p->addr,
                           .rma_iov = &rv,
                           .rma_iov_count = 1,
                           .context = &r->op.ctx};
    int err = issued(
        o, r, fi_writemsg(o->ep, &m, FI_FENCE | FI_DELIVERY_COMPLETE | FI_COMPLETION), 1);
    if (!err)
        p->loose = 0;
    return err;
}

int ofi_put(struct tp *tp, struct tp_far *far, uint64_t off, const void *src, size_t len,
            struct tp_mem *smem, struct tp_done *d)
{
    return put((struct ofi *)tp, far, off, src, len, smem, d, 0, 0);
}

/* The note is the immediate data of the put: the target's completion queue has it behind the
 * data. */
int ofi_put_note(struct tp *tp, struct tp_far *far, uint64_t off, const void *src, size_t len,
                 struct tp_mem *smem, uint32_t note, struct tp_done *d)
{
    return put((struct ofi *)tp, far, off, src, len, smem, d, FI_REMOTE_CQ_DATA, note);
}

int ofi_get(struct tp *tp, struct tp_far *far, uint64_t off, void *dst, size_t len,
            struct tp_mem *dmem, struct tp_done *d)
{
    struct ofi *o = (struct ofi *)tp;
    int err = check(far, off, len);
    if (err || len == 0)
        return err;
    if (len >= OFI_RAIL_MIN && o->nrails &&
        (err = striped(o, far, off, dst, len, dmem, d, 0)) != -ENOTSUP)
        return err;
    struct ofi_rma *r = rma_get(o, far->peer, d);
    if (!r)
        return TP_AGAIN;
    void *desc = dmem ? fi_mr_desc(dmem->mr) : NULL;
    struct iovec v = {dst, len};
    if (dmem && dmem->copy) {
        r->from = v.iov_base = ofi_copy_use(r, dmem, dst);
        r->result = dst;
        r->len = len;
    }
    struct fi_rma_iov rv = {far->key.addr + off, len, far->key.key};
    struct fi_msg_rma m = {.msg_iov = &v,
                           .desc = &desc,
                           .iov_count = 1,
                           .addr = far->peer->addr,
                           .rma_iov = &rv,
                           .rma_iov_count = 1,
                           .context = &r->op.ctx};
    return issued(o, r, fi_readmsg(o->ep, &m, FI_COMPLETION), 0);
}

int ofi_atomic(struct tp *tp, struct tp_far *far, uint64_t off, const struct tp_atomic *a,
               struct tp_done *d)
{
    struct ofi *o = (struct ofi *)tp;
    size_t len = a->n << (a->type & TP_TYPE_LOG2);
    int fetch = a->compare ? 2 : a->result != NULL, err = check(far, off, len);
    if (err)
        return err;
    if (a->n > OFI_ATOMIC || !atomic_known(o, a->op, a->type, a->n, fetch))
        return -ENOTSUP;
    struct ofi_rma *r = rma_get(o, far->peer, fetch ? d : NULL);
    if (!r)
        return TP_AGAIN;
    if (a->operand)
        memcpy(r->bytes.atom[0], a->operand, len);
    if (a->compare)
        memcpy(r->bytes.atom[1], a->compare, len);
    r->result = a->result;
    r->len = len;
    r->copy = NULL;
    r->from = r->bytes.atom[2];
    void *desc = r->mr ? fi_mr_desc(r->mr) : NULL;
    struct fi_ioc v = {r->bytes.atom[0], a->n}, cv = {r->bytes.atom[1], a->n},
                  ov = {r->bytes.atom[2], a->n};
    struct fi_rma_ioc rv = {far->key.addr + off, a->n, far->key.key};
    struct fi_msg_atomic m = {.msg_iov = &v,
                              .desc = &desc,
                              .iov_count = 1,
                              .addr = far->peer->addr,
                              .rma_iov = &rv,
                              .rma_iov_count = 1,
                              .datatype = (enum fi_datatype)fi_type_of(a->type),
                              .op = fetch == 2 ? FI_CSWAP : (enum fi_op)fi_op_of(a->op),
                              .context = &r->op.ctx};
    uint64_t flags = FI_DELIVERY_COMPLETE | FI_COMPLETION;
    ssize_t said = fetch == 2 ? fi_compare_atomicmsg(o->ep, &m, &cv, &desc, 1, &ov, &desc, 1, flags)
                   : fetch == 1 ? fi_fetch_atomicmsg(o->ep, &m, &ov, &desc, 1, flags)
                                : fi_atomicmsg(o->ep, &m, flags);
    return issued(o, r, said, 1);
}

/* --- completion ---------------------------------------------------------------------------- */

/* Flushes of a peer whose puts have all completed. */
static void flushes_run(struct ofi *o, struct ofi_peer *p)
{
    while (!list_empty(&p->flushes)) {
        struct ofi_flush_wait *f = LIST_OBJ(p->flushes.next, struct ofi_flush_wait, link);
        if (!list_empty(&p->puts) && LIST_OBJ(p->puts.next, struct ofi_rma, op.link)->seq <= f->seq)
            return;
        struct tp_done *d = f->done;
        list_del(&f->link);
        list_push_front(&o->flush_pool, &f->link);
        d->fn(d, 0);
    }
}

void ofi_rma_done(struct ofi *o, struct ofi_op *op, int err)
{
    struct ofi_rma *r = LIST_OBJ(op, struct ofi_rma, op);
    struct ofi_peer *p = r->peer;
    struct tp_done *d = r->done;
    int put = r->seq != 0;
    /* What waits for a failed peer may have given up, and unmapped the place of the results. */
    if (!err && p->broken && r->result && r->len)
        err = -ENOTCONN;
    if (r->result)
        results_come(o, r, err);
    rma_put(o, r);
    /* It has no caller, and which flush asks next is unknown: none to this peer may succeed. */
    if (err && put && !d)
        ofi_peer_lost(o, p, err);
    if (d)
        d->fn(d, err);
    if (put && !p->broken) /* else ofi_rma_lost() ends them */
        flushes_run(o, p);
}

int ofi_flush(struct tp *tp, unsigned peer, struct tp_done *d)
{
    struct ofi *o = (struct ofi *)tp;
    struct ofi_peer *p = map_get(&o->peers, peer);
    if (!p || !p->connected)
        return -ENOTCONN;
    if (p->broken)
        return -ENOTCONN;
    int err = p->loose ? fence(o, p) : 0;
    if (err || list_empty(&p->puts))
        return err;
    struct list *l = list_pop(&o->flush_pool);
    struct ofi_flush_wait *f = l ? LIST_OBJ(l, struct ofi_flush_wait, link) : malloc(sizeof *f);
    if (!f)
        return TP_AGAIN;
    *f = (struct ofi_flush_wait){.done = d, .seq = p->put_seq};
    list_init(&f->link);
    list_push(&p->flushes, &f->link);
    return TP_PENDING;
}

/* The peer is lost.  The provider returns what it still has with an error; flushes need not wait
 * for it. */
void ofi_rma_lost(struct ofi *o, struct ofi_peer *p)
{
    (void)o;
    for (struct list *l; (l = list_pop(&p->flushes)) != NULL;) {
        struct ofi_flush_wait *f = LIST_OBJ(l, struct ofi_flush_wait, link);
        struct tp_done *d = f->done;
        free(f);
        d->fn(d, -ENOTCONN);
    }
}
