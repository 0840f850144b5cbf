/* test_ofi_contexts.c - transmit contexts of tp/ofi beyond the contract: where they are, what a
 * provider is asked, what follows from its answers. */
#include "config.h"

#include "job.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mpi.h"
#include "tp/ofi/ofi.h"
#include "var/var.h"

Suite *suite_ofi_contexts(void);

/* --- where they are --------------------------------------------------------------------------- */

static int unexpected(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    job_check(0);
    return 0;
}

static struct ofi *open_with(int level, long put_min, int native)
{
    struct tp *tp;
    struct tp_caps caps;
    const struct tp_env env = {.recv = unexpected, .proc = proc};
    proc->thread_level = level;
    cvar.rma_native_put = put_min;
    cvar.rma_native = native;
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == 0);
    return (struct ofi *)tp;
}

static void offered(int level, long put_min, int native, int wanted)
{
    struct ofi *o = open_with(level, put_min, native);
    struct tp_tx *tx;
    job_check(tp_ofi_ops.tx_open((struct tp *)o, &tx) == (wanted ? 0 : -ENOTSUP));
    job_check(o->info->domain_attr->threading ==
              (wanted ? FI_THREAD_COMPLETION : FI_THREAD_DOMAIN));
    if (wanted) {
        job_check(((uintptr_t)tx & 127) == 0);
        tp_ofi_ops.tx_close(tx);
    }
    tp_ofi_ops.close((struct tp *)o);
}

/* With threads, and where puts go that it takes. Elsewhere the provider is asked as ever. */
static void where(void)
{
    offered(MPI_THREAD_MULTIPLE, -1, 1, 0);
    offered(MPI_THREAD_MULTIPLE, 0, 1, 1);
    offered(MPI_THREAD_MULTIPLE, OFI_PUT_INLINE, 1, 1);
    offered(MPI_THREAD_MULTIPLE, OFI_PUT_INLINE + 1, 1, 0);
    offered(MPI_THREAD_MULTIPLE, 1, 0, 0);
    offered(MPI_THREAD_SERIALIZED, 1, 1, 0);
}

static struct ofi_lib lib;
static const char *called;

/* The provider tcp;ofi_rxm by another name. */
static int renamed_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                           const struct fi_info *hints, struct fi_info **list)
{
    struct fi_info *h = lib.dupinfo(hints);
    free(h->fabric_attr->prov_name);
    h->fabric_attr->prov_name = strdup("tcp;ofi_rxm");
    int err = lib.getinfo(version, node, service, flags, h, list);
    lib.freeinfo(h);
    for (struct fi_info *i = err ? NULL : *list; i; i = i->next) {
        free(i->fabric_attr->prov_name);
        i->fabric_attr->prov_name = strdup(called);
    }
    return err;
}

/* Not where the provider shares something between endpoints. */
static void where_not(void)
{
    static const char *const names[] = {"cxi", "efa"};
    struct ofi *o = open_with(MPI_THREAD_MULTIPLE, 1, 1);
    lib = o->lib;
    for (int i = 0; i < 2; i++) {
        struct ofi card = {.lib = o->lib};
        card.lib.getinfo = renamed_getinfo;
        called = names[i];
        job_check(ofi_choose(&card) == 0);
        job_check(card.txs.shared == !i && (card.info->domain_attr->threading ==
                                            FI_THREAD_COMPLETION) == !i);
        card.lib.freeinfo(card.info);
    }
    tp_ofi_ops.close((struct tp *)o);
}

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* What is open yet ends with its transport. */
static void no_descriptor_left(void)
{
    struct tp_tx *tx[2];
    tp_ofi_ops.close((struct tp *)open_with(MPI_THREAD_MULTIPLE, 1, 1));
    int before = descriptors();
    struct ofi *o = open_with(MPI_THREAD_MULTIPLE, 1, 1);
    int open = descriptors();
    for (int i = 0; i < 2; i++)
        job_check(tp_ofi_ops.tx_open((struct tp *)o, &tx[i]) == 0);
    job_check(descriptors() > open);
    tp_ofi_ops.tx_close(tx[0]);
    tp_ofi_ops.close((struct tp *)o);
    job_check(descriptors() == before);
}

/* --- a provider that does what it is told ----------------------------------------------------- */

enum { MOST = 1024 };

static struct {
    struct fid_domain domain;
    struct fid_ep ep;
    struct fid_cq cq;
    struct fid_av av;
    struct fid_mr mr;
    struct fi_info info;
    int made, closed; /* objects */
    ssize_t says;     /* to a write */
    int writes, reads;
    uint64_t flags;
    struct fi_msg_rma last;
    struct iovec v;
    struct fi_rma_iov rv;
    void *desc;
    struct {
        void *context;
        int err;
    } flying[MOST], over[MOST];
    int nflying, nover, atover;
} it;

static int its_close(struct fid *f)
{
    it.closed++;
    return 0;
}

static int its_bind(struct fid *f, struct fid *to, uint64_t flags)
{
    return 0;
}

static int its_control(struct fid *f, int command, void *arg)
{
    return 0;
}

static ssize_t its_write(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    it.last = *m;
    it.v = m->msg_iov[0];
    it.rv = m->rma_iov[0];
    it.desc = m->desc[0];
    it.flags = flags;
    it.writes++;
    if (!it.says)
        it.flying[it.nflying++].context = m->context;
    return it.says;
}

static ssize_t its_read(struct fid_cq *cq, void *to, size_t count)
{
    struct fi_cq_entry *e = to;
    ssize_t n = 0;
    it.reads++;
    for (; n < (ssize_t)count && it.atover < it.nover && !it.over[it.atover].err; n++)
        e[n].op_context = it.over[it.atover++].context;
    return n ? n : it.atover < it.nover ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t its_readerr(struct fid_cq *cq, struct fi_cq_err_entry *e, uint64_t flags)
{
    e->op_context = it.over[it.atover].context;
    e->err = it.over[it.atover++].err;
    return 1;
}

static int its_lookup(struct fid_av *av, fi_addr_t addr, void *to, size_t *len)
{
    memcpy(to, &addr, sizeof addr);
    *len = sizeof addr;
    return 0;
}

static int its_insert(struct fid_av *av, const void *addr, size_t n, fi_addr_t *to, uint64_t flags,
                      void *context)
{
    memcpy(to, addr, sizeof *to);
    *to += 100; /* numbers of its own */
    return 1;
}

static struct fi_ops fid_ops = {.size = sizeof fid_ops, .close = its_close, .bind = its_bind,
                                .control = its_control};
static struct fi_ops_rma rma_ops = {.size = sizeof rma_ops, .writemsg = its_write};
static struct fi_ops_cq cq_ops = {.size = sizeof cq_ops, .read = its_read, .readerr = its_readerr};
static struct fi_ops_av av_ops = {.size = sizeof av_ops, .insert = its_insert,
                                  .lookup = its_lookup};

static int its_av(struct fid_domain *d, struct fi_av_attr *a, struct fid_av **av, void *context)
{
    it.made++;
    it.av = (struct fid_av){.fid.ops = &fid_ops, .ops = &av_ops};
    *av = &it.av;
    return 0;
}

static int its_cq(struct fid_domain *d, struct fi_cq_attr *a, struct fid_cq **cq, void *context)
{
    it.made++;
    it.cq = (struct fid_cq){.fid.ops = &fid_ops, .ops = &cq_ops};
    *cq = &it.cq;
    return 0;
}

static int its_ep(struct fid_domain *d, struct fi_info *i, struct fid_ep **ep, void *context)
{
    it.made++;
    it.ep = (struct fid_ep){.fid.ops = &fid_ops, .rma = &rma_ops};
    *ep = &it.ep;
    return 0;
}

static int its_reg(struct fid *f, const void *buf, size_t len, uint64_t access, uint64_t offset,
                   uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    it.made++;
    it.mr = (struct fid_mr){.fid.ops = &fid_ops, .mem_desc = &it};
    *mr = &it.mr;
    return 0;
}

static struct fi_info *its_info(const struct fi_info *i)
{
    return &it.info;
}

static void its_free(struct fi_info *i)
{
}

/* --- a context over it ------------------------------------------------------------------------ */

static struct fi_ops_domain domain_ops = {.size = sizeof domain_ops, .av_open = its_av,
                                          .cq_open = its_cq, .endpoint = its_ep};
static struct fi_ops_mr mr_ops = {.size = sizeof mr_ops, .reg = its_reg};
static struct fi_domain_attr domain_attr = {.mr_key_size = 8};
static struct ofi o;
static struct ofi_peer peers[2];
static struct tp_far far[2];
static struct tp_tx *tx;
static struct tp_far *mine[2];

static void begin(int reg_local)
{
    memset(&it, 0, sizeof it);
    it.domain = (struct fid_domain){.ops = &domain_ops, .mr = &mr_ops};
    it.info.domain_attr = &domain_attr;
    it.av = (struct fid_av){.ops = &av_ops};
    o = (struct ofi){.domain = &it.domain, .av = &it.av, .info = &it.info, .flags = TP_PUT,
                     .reg_local = reg_local, .txs.shared = 1, .lib.dupinfo = its_info,
                     .lib.freeinfo = its_free};
    list_init(&o.txs.open);
    job_check(tp_ofi_ops.tx_open((struct tp *)&o, &tx) == 0);
    for (unsigned i = 0; i < 2; i++) {
        peers[i] = (struct ofi_peer){.rank = 1 + i, .addr = i, .sleeper = -1};
        far[i] = (struct tp_far){.peer = &peers[i], .key = {.addr = 4096, .key = 7, .len = 4096}};
        job_check(tp_ofi_ops.tx_far(tx, &far[i], &mine[i]) == 0);
    }
}

static void end(void)
{
    for (int i = 0; i < 2; i++)
        tp_ofi_ops.tx_drop(tx, mine[i]);
    tp_ofi_ops.tx_close(tx);
    job_check(list_empty(&o.txs.open));
}

static int put(int to)
{
    uint64_t v = 5;
    int rc = tp_ofi_ops.tx_put(tx, mine[to], 8, &v, sizeof v);
    v = 6; /* ours again */
    return rc;
}

static int flush(int to)
{
    return tp_ofi_ops.tx_flush(tx, mine[to]);
}

/* The next put to be completed. */
static void complete(int err)
{
    it.over[it.nover].context = it.flying[it.nover].context;
    it.over[it.nover++].err = err;
}

/* A flush waits for each put, those since its last call included, and for no other's. */
static void flushes(void)
{
    begin(0);
    job_check(flush(0) == 0 && it.reads == 0);
    job_check(put(0) == 0 && it.flags == (FI_COMPLETION | FI_DELIVERY_COMPLETE));
    job_check(it.last.addr == 100 && it.rv.addr == 4096 + 8 && it.rv.len == 8 && it.rv.key == 7);
    job_check(*(uint64_t *)it.v.iov_base == 5 && it.v.iov_len == 8 && !it.desc);
    job_check(flush(0) == TP_AGAIN && flush(1) == 0);
    job_check(put(1) == 0 && it.last.addr == 101 && put(0) == 0);
    complete(0);
    job_check(flush(0) == TP_AGAIN);
    complete(0);
    job_check(flush(1) == 0 && flush(0) == TP_AGAIN);
    complete(0);
    job_check(flush(0) == 0);
    it.reads = 0;
    job_check(flush(0) == 0 && it.reads == 0);
    end();
    job_check(it.made == 3 && it.closed == 3 && !o.txs.stays_open);
}

/* What the provider wants registered is. */
static void registered(void)
{
    begin(1);
    job_check(put(0) == 0 && it.desc == &it);
    complete(0);
    job_check(flush(0) == 0);
    end();
    job_check(it.made == 4 && it.closed == 4);
}

/* Outside of the memory, or too long: nothing happens. */
static void ranges(void)
{
    char b[OFI_PUT_INLINE + 1] = {0};
    begin(0);
    job_check(tp_ofi_ops.tx_put(tx, mine[0], 4089, b, 8) == -ERANGE);
    job_check(tp_ofi_ops.tx_put(tx, mine[0], UINT64_MAX - 3, b, 8) == -ERANGE);
    job_check(tp_ofi_ops.tx_put(tx, mine[0], 0, b, sizeof b) == -EMSGSIZE && it.writes == 0);
    job_check(tp_ofi_ops.tx_put(tx, mine[0], 4096, b, 0) == 0 && flush(0) == 0);
    job_check(tp_ofi_ops.tx_put(tx, mine[0], 0, b, sizeof b - 1) == 0);
    complete(0);
    job_check(flush(0) == 0);
    end();
}

/* Without a buffer the queue is read, at most once for each call.  Then nothing happens.  Each
 * buffer comes back. */
static void crowds(void)
{
    int most = 0, again;
    begin(0);
    while (put(0) == 0)
        most++;
    job_check(most == it.writes && most >= 64 && it.reads > 0 && it.reads <= 2);
    complete(0);
    job_check(put(0) == 0 && it.writes == most + 1);
    job_check(put(1) == TP_AGAIN && it.writes == most + 1 && flush(1) == 0);
    for (int i = 0; i < most; i++)
        complete(0);
    it.says = -FI_EAGAIN;
    for (int i = 0; i < 2 * most; i++)
        job_check(put(0) == TP_AGAIN);
    it.says = -FI_EINVAL;
    job_check(put(0) == -EINVAL && flush(0) == 0);
    it.says = 0;
    for (again = 0; put(0) == 0;)
        again++;
    job_check(again == most);
    for (int i = 0; i < most; i++)
        complete(0);
    job_check(flush(0) == 0);
    end();
    job_check(it.closed == it.made);
}

/* Of a peer whose put has failed, all is lost, and of the other one nothing. */
static void lost(void)
{
    begin(0);
    job_check(put(0) == 0 && put(1) == 0 && put(0) == 0);
    complete(FI_EIO);
    job_check(flush(0) == -ENOTCONN && put(0) == -ENOTCONN);
    complete(0);
    complete(0);
    job_check(flush(1) == 0 && flush(0) == -ENOTCONN);
    job_check(tp_ofi_ops.tx_far(tx, &far[0], &(struct tp_far *){NULL}) == -ENOTCONN);
    peers[1].broken = -EIO; /* as the process knows by itself */
    job_check(tp_ofi_ops.tx_far(tx, &far[1], &(struct tp_far *){NULL}) == -ENOTCONN);
    it.says = -FI_ECONNRESET;
    job_check(put(1) == -ENOTCONN);
    it.says = 0;
    job_check(put(1) == -ENOTCONN && flush(1) == -ENOTCONN);
    end();
    job_check(it.closed == it.made);
}

/* An endpoint with a put under way, or with a connection that is being made, is not closed. */
static void stays(void)
{
    uint64_t from = time_now();
    begin(0);
    job_check(put(0) == 0);
    end();
    job_check(it.closed == 0 && o.txs.stays_open && time_now() - from < 5000000000u);
    begin(0);
    it.says = -FI_EAGAIN;
    job_check(put(0) == TP_AGAIN);
    end();
    job_check(it.closed == 0 && o.txs.stays_open);
    begin(0);
    job_check(put(0) == 0);
    complete(0); /* tx_close reads it */
    end();
    job_check(it.closed == it.made && !o.txs.stays_open);
}

#define RUN(name)                                                                               \
    static void name##_all(void)                                                                \
    {                                                                                           \
        if (boot_rank() == 0)                                                                   \
            name();                                                                             \
    }                                                                                           \
    START_TEST(name##_)                                                                         \
    {                                                                                           \
        static const char *const sets[] = {"MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm", NULL};         \
        ck_assert_int_eq(job_run(3, sets, name##_all, 60), 0);                                  \
    }                                                                                           \
    END_TEST

RUN(where)
RUN(where_not)
RUN(no_descriptor_left)
RUN(flushes)
RUN(registered)
RUN(ranges)
RUN(crowds)
RUN(lost)
RUN(stays)

Suite *suite_ofi_contexts(void)
{
    Suite *s = suite_create("tp/ofi_contexts");
    TCase *t = tcase_create("ofi_contexts");
    tcase_set_timeout(t, 80);
    tcase_add_test(t, where_);
    tcase_add_test(t, where_not_);
    tcase_add_test(t, no_descriptor_left_);
    tcase_add_test(t, flushes_);
    tcase_add_test(t, registered_);
    tcase_add_test(t, ranges_);
    tcase_add_test(t, crowds_);
    tcase_add_test(t, lost_);
    tcase_add_test(t, stays_);
    suite_add_tcase(s, t);
    return s;
}
