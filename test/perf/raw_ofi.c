/* raw_ofi.c - bare libfabric, for raw.c. The provider is the one that the transport chooses, asked
 * for in its words (tp/ofi/load.c); its objects are opened here, as it opens them. Puts are asked
 * for with FI_DELIVERY_COMPLETE: what a flush has to know. */
#include <rdma/fi_tagged.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"
#include "tp/ofi/ofi.h"

enum { OPS = 512, READ = 16, TAG = 7, KEY = 77 };

enum kind { ONCE, AMS };
struct once { /* what a completion points to */
    struct fi_context2 ctx;
    enum kind kind;
    struct once *next;
};

struct door {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    fi_addr_t peer;
    unsigned pending;
};

static struct ofi o; /* of it: the library and what was chosen */
static struct door memory, tagged;
static struct once store[OPS], *idle;
static struct {
    struct once op;
    char *bytes;
    void *desc;
} in[OFI_BUFFERS];
static struct {
    uint64_t addr, key;
} far;
static void *buf_desc, *res_desc;

static void check(ssize_t err, const char *what)
{
    if (!err)
        return;
    fprintf(stderr, "raw_ofi: %s: %s\n", what, o.lib.strerror((int)-err));
    _exit(1);
}

static void door_open(struct door *d, struct fi_info *info, const char *name)
{
    struct fi_av_attr av = {.type = info->domain_attr->av_type == FI_AV_UNSPEC
                                        ? FI_AV_TABLE
                                        : info->domain_attr->av_type};
    struct fi_cq_attr cq = {.size = 4096, .format = FI_CQ_FORMAT_DATA,
                            .wait_obj = raw_spin ? FI_WAIT_NONE : ofi_wait_obj(&o)};
    char mine[OFI_NAME_MAX], other[OFI_NAME_MAX];
    size_t len = sizeof mine;
    d->info = info;
    check(o.lib.fabric(info->fabric_attr, &d->fabric, NULL), "fi_fabric");
    check(fi_domain(d->fabric, info, &d->domain, NULL), "fi_domain");
    check(fi_av_open(d->domain, &av, &d->av, NULL), "fi_av_open");
    check(fi_cq_open(d->domain, &cq, &d->cq, NULL), "fi_cq_open");
    check(fi_endpoint(d->domain, info, &d->ep, NULL), "fi_endpoint");
    check(fi_ep_bind(d->ep, &d->av->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(d->ep, &d->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_enable(d->ep), "fi_enable");
    check(fi_getname(&d->ep->fid, mine, &len), "fi_getname");
    raw_swap(name, mine, len, other, sizeof other);
    check(fi_av_insert(d->av, other, 1, &d->peer, 0, NULL) != 1, "fi_av_insert");
}

static struct fid_mr *mr_of(struct door *d, void *base, size_t len, uint64_t access, uint64_t key)
{
    struct fid_mr *mr;
    check(fi_mr_reg(d->domain, base, len, access, 0, key, 0, &mr, NULL), "fi_mr_reg");
    if (d->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        check(fi_mr_bind(mr, &d->ep->fid, 0), "fi_mr_bind");
        check(fi_mr_enable(mr), "fi_mr_enable");
    }
    return mr;
}

/* For providers that want our own side registered. */
static void *local(struct door *d, void *base, size_t len, uint64_t key)
{
    if (!(d->info->domain_attr->mr_mode & FI_MR_LOCAL))
        return NULL;
    return fi_mr_desc(mr_of(d, base, len, FI_SEND | FI_RECV | FI_READ | FI_WRITE, key));
}

/* --- completions ------------------------------------------------------------------------ */

static void listen_to(int i)
{
    struct iovec v = {in[i].bytes, OFI_BUFFER_BYTES};
    struct fi_msg m = {.msg_iov = &v, .desc = &in[i].desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
                       .context = &in[i].op};
    check(fi_recvmsg(memory.ep, &m, FI_COMPLETION), "fi_recvmsg");
}

static void done(struct door *d, const struct fi_cq_data_entry *e)
{
    struct once *op = e->op_context;
    if (op->kind == AMS) {
        for (int i = 0; e->flags & FI_RECV && i < OFI_BUFFERS; i++)
            if (op == &in[i].op) {
                raw_arrived(in[i].bytes, e->len);
                listen_to(i);
            }
        return;
    }
    op->next = idle;
    idle = op;
    d->pending--;
}

static void door_poll(struct door *d)
{
    struct fi_cq_data_entry e[READ];
    struct fi_cq_err_entry bad = {0};
    ssize_t n = fi_cq_read(d->cq, e, READ);
    if (n == -FI_EAVAIL && fi_cq_readerr(d->cq, &bad, 0) == 1)
        check(-bad.err, "an operation");
    if (n < 0 && n != -FI_EAGAIN)
        check(n, "fi_cq_read");
    for (ssize_t i = 0; i < n; i++)
        done(d, &e[i]);
}

static struct once *once_get(struct door *d)
{
    struct once *op;
    while (d->pending >= OPS || d->pending >= d->info->tx_attr->size || !idle)
        door_poll(d);
    op = idle;
    idle = op->next;
    return op;
}

/* Whether what the provider answered was no refusal, after which it is tried again. */
static int taken(struct door *d, ssize_t err, const char *what)
{
    if (err == -FI_EAGAIN) {
        door_poll(d);
        return 0;
    }
    check(err, what);
    return 1;
}

/* --- memory and active messages ------------------------------------------------------------ */

static void bare_poll(void)
{
    door_poll(&memory);
}

static void bare_put(size_t len)
{
    struct iovec v = {raw_buf, len};
    struct fi_rma_iov rv = {far.addr, len, far.key};
    struct fi_msg_rma m = {.msg_iov = &v, .desc = &buf_desc, .iov_count = 1, .addr = memory.peer,
                           .rma_iov = &rv, .rma_iov_count = 1, .context = once_get(&memory)};
    while (!taken(&memory, fi_writemsg(memory.ep, &m, FI_DELIVERY_COMPLETE | FI_COMPLETION),
                  "fi_writemsg"))
        ;
    memory.pending++;
}

static void bare_get(size_t len)
{
    struct iovec v = {raw_res, len};
    struct fi_rma_iov rv = {far.addr, len, far.key};
    struct fi_msg_rma m = {.msg_iov = &v, .desc = &res_desc, .iov_count = 1, .addr = memory.peer,
                           .rma_iov = &rv, .rma_iov_count = 1, .context = once_get(&memory)};
    while (!taken(&memory, fi_readmsg(memory.ep, &m, FI_COMPLETION), "fi_readmsg"))
        ;
    memory.pending++;
}

static void bare_flush(void)
{
    while (memory.pending)
        bare_poll();
}

static void bare_am(size_t from, size_t len)
{
    if (len <= memory.info->tx_attr->inject_size) {
        while (!taken(&memory, fi_inject(memory.ep, raw_buf + from, len, memory.peer), "fi_inject"))
            ;
        return;
    }
    struct once *op = once_get(&memory);
    while (!taken(&memory, fi_send(memory.ep, raw_buf + from, len, buf_desc, memory.peer, &op->ctx),
                  "fi_send"))
        ;
    memory.pending++;
}

static void start(char *words, size_t len)
{
    job_check(ofi_load(&o.lib) == 0 && ofi_choose(&o) == 0);
    const struct fi_info *i = o.info;
    /* Without these there is no like of our rows. */
    job_check(i->caps & FI_RMA && i->tx_attr->inject_size >= 8);
    uint32_t v = o.lib.version();
    snprintf(words, len, "libfabric %u.%u, %s%s", FI_MAJOR(v), FI_MINOR(v),
             i->fabric_attr->prov_name, raw_spin ? ", no descriptor" : "");
    for (int k = 0; k < OPS; k++) {
        store[k].next = idle;
        idle = &store[k];
    }
    door_open(&memory, o.info, "ofi");
    for (int k = 0; k < OFI_BUFFERS; k++) {
        in[k].op.kind = AMS;
        in[k].bytes = aligned_alloc(4096, OFI_BUFFER_BYTES);
        job_check(in[k].bytes);
        in[k].desc = local(&memory, in[k].bytes, OFI_BUFFER_BYTES, (uint64_t)KEY + 1 + (uint64_t)k);
        listen_to(k);
    }
    struct fid_mr *mr = mr_of(&memory, raw_window, RAW_BYTES, FI_REMOTE_READ | FI_REMOTE_WRITE,
                              KEY);
    const uint64_t mine[2] = {
        i->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)raw_window : 0,
        fi_mr_key(mr)};
    raw_swap("key", mine, sizeof mine, &far, sizeof far);
    buf_desc = local(&memory, raw_buf, RAW_BYTES, KEY + 100);
    res_desc = local(&memory, raw_res, RAW_BYTES, KEY + 101);
}

/* --- tagged messages --------------------------------------------------------------------- */

static void *tagged_desc[2];

/* The same provider, asked for tags alone. */
static void start_tagged(int loose)
{
    if (tagged.ep)
        return;
    struct fi_info *h = o.lib.dupinfo(o.info), *list = NULL;
    job_check(h);
    h->caps = FI_TAGGED;
    h->tx_attr->caps = h->rx_attr->caps = 0;
    h->domain_attr->caps = 0;
    check(o.lib.getinfo(FI_VERSION(1, 11), NULL, NULL, 0, h, &list),
          "fi_getinfo of tagged messages");
    door_open(&tagged, list, "tagged");
    tagged_desc[0] = local(&tagged, raw_buf, RAW_BYTES, KEY);
    tagged_desc[1] = local(&tagged, raw_res, RAW_BYTES, KEY + 1);
}

static void bare_poll_tagged(void)
{
    door_poll(&tagged);
}

static void settle(void)
{
    while (tagged.pending)
        bare_poll_tagged();
}

static void bare_send(size_t len)
{
    if (len <= tagged.info->tx_attr->inject_size) {
        while (!taken(&tagged, fi_tinject(tagged.ep, raw_buf, len, tagged.peer, TAG), "fi_tinject"))
            ;
        return;
    }
    struct once *op = once_get(&tagged);
    while (!taken(&tagged,
                  fi_tsend(tagged.ep, raw_buf, len, tagged_desc[0], tagged.peer, TAG, &op->ctx),
                  "fi_tsend"))
        ;
    tagged.pending++;
    settle();
}

static void bare_recv(size_t len)
{
    struct once *op = once_get(&tagged);
    while (!taken(&tagged,
                  fi_trecv(tagged.ep, raw_res, len, tagged_desc[1], tagged.peer, TAG, 0, &op->ctx),
                  "fi_trecv"))
        ;
    tagged.pending++;
    settle();
}

int main(int argc, char **argv)
{
    static const struct raw_ops ops = {.open = start,
                                       .put = bare_put,
                                       .get = bare_get,
                                       .flush = bare_flush,
                                       .am = bare_am,
                                       .poll = bare_poll,
                                       .open_tagged = start_tagged,
                                       .send = bare_send,
                                       .recv = bare_recv,
                                       .poll_tagged = bare_poll_tagged,
                                       .am_max = OFI_BUFFER_BYTES};
    return raw_main(argc, argv, &ops);
}
