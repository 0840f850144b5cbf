/* liar.c - a libfabric that lies: the real one, whose objects get other functions here and there.
 * Built as libfabric.so.1 in a folder of its own; LIAR names the lie, LIAR_REAL the real library.
 *
 *   order    a short message is held back and passed by the next one to the same process
 *   torn     of a put the first half is written
 *   early    puts are issued without FI_DELIVERY_COMPLETE
 *   atomics  a sum reads, and then writes
 *   lost     a put has no completion now and then
 *   inject   of an injected message the first 64 bytes are sent, whatever inject_size is
 *   key      memory that is closed stays open
 *   again    after some puts each is refused with EAGAIN
 *   unfenced what is said to wait behind a fence does not
 *   none     nothing
 *
 * LIAR=fences is no lie: the same library with fences. A put that does not ask for
 * FI_DELIVERY_COMPLETE completes at once and leaves late, an operation with FI_FENCE when all
 * before it have been delivered.  LIAR=insists is none either: it wants local buffers registered
 * (FI_MR_LOCAL), and ends a process that gives one to a put or get which is not.  At the end a line
 * with counts is added to the file LIAR_COUNTS: puts of LIAR_LENGTH bytes that asked for delivery,
 * those that did not, fences; with `insists` registrations of local buffers, puts and gets. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HELD = 4096, STASH = 64, AT_ONCE = 64, SHORT = 40, HELD_READS = 200, PUTS_TAKEN = 40 };
enum { REGISTERED = 8192 };
enum { LATE = 32, LATE_LEN = 1 << 20, LATE_MS = 300 };

static void *real(const char *name)
{
    static void *so;
    if (!so)
        so = dlopen(getenv("LIAR_REAL"), RTLD_NOW | RTLD_LOCAL);
    void *f = so ? dlsym(so, name) : NULL;
    if (!f) {
        fprintf(stderr, "liar: LIAR_REAL has no %s\n", name);
        abort();
    }
    return f;
}

static int lie(const char *name)
{
    const char *set = getenv("LIAR");
    return set && !strcmp(set, name);
}

/* --- messages ------------------------------------------------------------------------------- */

static struct fi_ops_msg msg_ops, msg_real;
static struct {
    int there, reads;
    size_t len;
    fi_addr_t to;
    char bytes[HELD];
} held;
static int burst; /* messages since the queue was read last */

static void release(struct fid_ep *ep)
{
    if (held.there && msg_real.inject(ep, held.bytes, held.len, held.to) == 0)
        held.there = 0;
}

/* Behind a message to `to`. */
static ssize_t passed(struct fid_ep *ep, fi_addr_t to, ssize_t err)
{
    burst += !err;
    if (!err && held.there && held.to == to)
        release(ep);
    return err;
}

static struct fid_ep *the_ep;

static ssize_t liar_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t to)
{
    char part[HELD] = "";
    if (lie("order") && burst && !held.there && len > SHORT && len <= HELD) {
        memcpy(held.bytes, buf, len);
        held.len = len;
        held.to = to;
        held.there = 1;
        held.reads = 0;
        return 0;
    }
    if (lie("inject") && len > 64 && len <= HELD)
        buf = memcpy(part, buf, 64);
    return passed(ep, to, msg_real.inject(ep, buf, len, to));
}

static ssize_t liar_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to,
                         void *context)
{
    return passed(ep, to, msg_real.send(ep, buf, len, desc, to, context));
}

static ssize_t liar_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
                          fi_addr_t to, void *context)
{
    return passed(ep, to, msg_real.sendv(ep, iov, desc, count, to, context));
}

/* --- fences --------------------------------------------------------------------------------- */

static struct fi_ops_rma rma_ops, rma_real;
enum step { FREE, WAITS, LEFT, THERE }; /* of a put; a fence waits, and has left when it is gone */

static struct late { /* a put that is reported before it leaves, one with its delivery, a fence */
    struct fi_context2 own;
    enum step step;
    int fence, reported;
    unsigned reads; /* of the queue, since it was given to us or was there */
    long taken;     /* ms */
    void *context;
    fi_addr_t to;
    struct fi_rma_iov at;
    uint64_t flags, data;
    char *bytes;
} late[LATE];
static int late_first, late_end; /* a ring: those in use, oldest first (ever growing) */
static unsigned long counted[3];

static int fenced(void)
{
    return lie("fences") || lie("unfenced");
}

static long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int earlier(int i, enum step below)
{
    for (int k = late_first; k < i; k++)
        if (late[k % LATE].step < below)
            return 1;
    return 0;
}

static void late_leave(struct fid_ep *ep, struct late *l)
{
    struct iovec v = {l->bytes, l->at.len};
    struct fi_msg_rma m = {.msg_iov = &v,
                           .iov_count = 1,
                           .addr = l->to,
                           .rma_iov = &l->at,
                           .rma_iov_count = 1,
                           .context = &l->own,
                           .data = l->data};
    uint64_t flags = (l->flags & FI_REMOTE_CQ_DATA) | FI_DELIVERY_COMPLETE | FI_COMPLETION;
    if (rma_real.writemsg(ep, &m, flags) == 0)
        l->step = LEFT;
}

/* What is due, at each look at the queue. Loose puts wait for a fence, or for many looks; in the
 * lie long enough to be missed. */
static void late_run(struct fid_ep *ep)
{
    int fence = 0;
    for (int i = late_first; i < late_end; i++)
        fence |= late[i % LATE].fence && lie("fences");
    for (int i = late_first; i < late_end; i++) {
        struct late *l = &late[i % LATE];
        l->reads++;
        if (l->step != WAITS)
            continue;
        int due = 1;
        if (l->fence)
            due = !lie("fences") || !earlier(i, THERE);
        else if (!(l->flags & FI_DELIVERY_COMPLETE))
            due = lie("unfenced") ? now() - l->taken > LATE_MS : fence || l->reads > HELD_READS;
        if (due)
            late_leave(ep, l);
    }
}

static ssize_t late_take(const struct fi_msg_rma *msg, uint64_t flags)
{
    size_t len = msg->rma_iov->len;
    for (int i = late_first; i < late_end; i++)
        if (late[i % LATE].fence && late[i % LATE].step == WAITS)
            return -FI_EAGAIN;
    if (late_end - late_first == LATE)
        return -FI_EAGAIN;
    if (len > LATE_LEN)
        abort();
    struct late *l = &late[late_end++ % LATE];
    *l = (struct late){.step = WAITS,
                       .fence = (flags & FI_FENCE) != 0,
                       .taken = now(),
                       .context = msg->context,
                       .to = msg->addr,
                       .at = *msg->rma_iov,
                       .flags = flags,
                       .data = msg->data,
                       .bytes = malloc(len + 1)};
    memcpy(l->bytes, msg->msg_iov->iov_base, len);
    const char *counts = getenv("LIAR_LENGTH");
    if (l->fence)
        counted[2]++;
    else if (counts && len == strtoul(counts, NULL, 10))
        counted[!(flags & FI_DELIVERY_COMPLETE)]++;
    return 0;
}

/* Completions of ours out of what was read, those that are due into it. */
static ssize_t late_report(struct fi_cq_data_entry *e, ssize_t n, size_t count)
{
    ssize_t kept = 0;
    for (ssize_t i = 0; i < n; i++) {
        struct late *l = NULL;
        for (int k = late_first; k < late_end && !l; k++)
            l = e[i].op_context == &late[k % LATE].own ? &late[k % LATE] : NULL;
        if (l) {
            l->step = THERE;
            l->reads = 0;
        } else {
            e[kept++] = e[i];
        }
    }
    for (int k = late_first; k < late_end && (size_t)kept < count; k++) {
        struct late *l = &late[k % LATE];
        /* A put with delivery is reported late, so that what follows finds it under way. */
        int due = l->flags & FI_DELIVERY_COMPLETE
                      ? l->step == THERE && (l->fence || l->reads > HELD_READS)
                      : 1;
        if (!due || l->reported)
            continue;
        l->reported = 1;
        e[kept++] = (struct fi_cq_data_entry){.op_context = l->context, .flags = FI_RMA | FI_WRITE};
    }
    while (late_first < late_end && late[late_first % LATE].reported &&
           late[late_first % LATE].step == THERE) {
        free(late[late_first % LATE].bytes);
        late[late_first++ % LATE].step = FREE;
    }
    return kept ? kept : n < 0 ? n : -FI_EAGAIN;
}

static unsigned long local_regs, one_sided;

__attribute__((destructor)) static void late_counts(void)
{
    const char *name = getenv("LIAR_COUNTS");
    if (name && lie("insists") && one_sided) {
        FILE *counts = fopen(name, "a");
        fprintf(counts, "%lu %lu\n", local_regs, one_sided);
        fclose(counts);
    }
    FILE *f = name && counted[0] + counted[1] ? fopen(name, "a") : NULL;
    if (f) {
        fprintf(f, "delivered %lu, loose %lu, fences %lu\n", counted[0], counted[1], counted[2]);
        fclose(f);
    }
}

/* --- the completion queue ------------------------------------------------------------------- */

static struct fi_ops_cq cq_ops, cq_real;
static struct fid_cq *the_cq;
static struct fi_cq_data_entry stash[STASH];
static size_t stashed;
static void *victim; /* its completion is lost */

static ssize_t liar_read(struct fid_cq *cq, void *buf, size_t count)
{
    struct fi_cq_data_entry *e = buf;
    if (stashed) {
        size_t n = stashed < count ? stashed : count;
        memcpy(e, stash, n * sizeof *e);
        memmove(stash, stash + n, (stashed - n) * sizeof *stash);
        stashed -= n;
        return (ssize_t)n;
    }
    burst = 0;
    if (held.there && ++held.reads > HELD_READS)
        release(the_ep);
    if (fenced())
        late_run(the_ep);
    ssize_t n = cq_real.read(cq, buf, count);
    if (fenced())
        n = late_report(e, n, count);
    for (ssize_t i = 0; i < n && victim; i++)
        if (e[i].op_context == victim) {
            memmove(e + i, e + i + 1, (size_t)(n - i - 1) * sizeof *e);
            victim = NULL;
            return n > 1 ? n - 1 : -FI_EAGAIN;
        }
    return n;
}

static ssize_t liar_readerr(struct fid_cq *cq, struct fi_cq_err_entry *e, uint64_t flags)
{
    ssize_t n = cq_real.readerr(cq, e, flags);
    for (int k = late_first; k < late_end && n > 0; k++) {
        struct late *l = &late[k % LATE];
        if (e->op_context != &l->own)
            continue;
        int twice = l->reported;
        l->step = THERE;
        l->reported = 1;
        e->op_context = l->context;
        return twice ? -FI_EAGAIN : n;
    }
    return n;
}

/* --- registered memory ---------------------------------------------------------------------- */

static struct registered {
    struct fid_mr *mr; /* NULL: free */
    const char *base;
    size_t len;
} registered[REGISTERED];
static struct fi_ops mr_fid, mr_fid_real;

static int registered_close(struct fid *fid)
{
    for (int i = 0; i < REGISTERED; i++)
        if (registered[i].mr && &registered[i].mr->fid == fid)
            registered[i].mr = NULL;
    return mr_fid_real.close(fid);
}

static void registered_add(struct fid_mr *mr, const void *base, size_t len, uint64_t access)
{
    int i = 0;
    while (i < REGISTERED && registered[i].mr)
        i++;
    if (i == REGISTERED)
        abort();
    registered[i] = (struct registered){mr, base, len};
    local_regs += !(access & (FI_REMOTE_READ | FI_REMOTE_WRITE));
    if (!mr_fid_real.close) {
        mr_fid_real = *mr->fid.ops;
        mr_fid = mr_fid_real;
        mr_fid.close = registered_close;
    }
    mr->fid.ops = &mr_fid;
}

/* The memory of a put or get lies in what its descriptor names. */
static void registered_check(const struct fi_msg_rma *m)
{
    const char *at = m->msg_iov->iov_base;
    if (!lie("insists"))
        return;
    one_sided++;
    for (int i = 0; i < REGISTERED; i++) {
        const struct registered *r = &registered[i];
        if (r->mr && m->desc && fi_mr_desc(r->mr) == m->desc[0] && at >= r->base &&
            at + m->msg_iov->iov_len <= r->base + r->len)
            return;
    }
    fprintf(stderr, "liar: %zu bytes of a put or get are not registered\n", m->msg_iov->iov_len);
    abort();
}

/* --- puts ----------------------------------------------------------------------------------- */

static ssize_t liar_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    static unsigned puts;
    struct fi_msg_rma m = *msg;
    struct iovec v = *msg->msg_iov;
    struct fi_rma_iov rv = *msg->rma_iov;
    registered_check(msg);
    if (lie("again") && puts >= PUTS_TAKEN)
        return -FI_EAGAIN;
    if (fenced())
        return late_take(msg, flags);
    if (lie("early"))
        flags &= ~(uint64_t)FI_DELIVERY_COMPLETE;
    if (lie("torn") && v.iov_len > 8) {
        v.iov_len /= 2;
        rv.len = v.iov_len;
        m.msg_iov = &v;
        m.rma_iov = &rv;
    }
    ssize_t err = rma_real.writemsg(ep, &m, flags);
    puts += !err;
    if (!err && lie("lost") && puts % PUTS_TAKEN == PUTS_TAKEN - 1 && !victim)
        victim = msg->context;
    return err;
}

static ssize_t liar_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    registered_check(msg);
    return rma_real.readmsg(ep, msg, flags);
}

/* --- atomics -------------------------------------------------------------------------------- */

static struct fi_ops_atomic atomic_ops, atomic_real;

/* Wait for our own completion; those of others are kept for later. 0, or it did not come. */
static int own_wait(void *context)
{
    struct fi_cq_data_entry e;
    for (;;) {
        ssize_t n = cq_real.read(the_cq, &e, 1);
        if (n == 1 && e.op_context == context)
            return 0;
        if (n == 1 && stashed < STASH)
            stash[stashed++] = e;
        else if (n != -FI_EAGAIN)
            return -1;
    }
}

static ssize_t liar_atomicmsg(struct fid_ep *ep, const struct fi_msg_atomic *msg, uint64_t flags)
{
    static struct fi_context2 own;
    static _Alignas(8) char old[8];
    struct fi_msg_atomic m = *msg;
    size_t bytes = msg->datatype == FI_INT64 || msg->datatype == FI_UINT64   ? 8
                   : msg->datatype == FI_INT32 || msg->datatype == FI_UINT32 ? 4
                                                                             : 0;
    if (!lie("atomics") || msg->op != FI_SUM || !bytes || msg->msg_iov->count != 1 ||
        stashed > STASH / 2)
        return atomic_real.writemsg(ep, msg, flags);
    struct fi_ioc result = {old, 1};
    m.op = FI_ATOMIC_READ;
    m.context = &own;
    ssize_t err = atomic_real.readwritemsg(ep, &m, &result, NULL, 1, FI_COMPLETION);
    if (err || own_wait(&own))
        return err ? err : -FI_EAGAIN;
    if (bytes == 8)
        *(uint64_t *)msg->msg_iov->addr += *(uint64_t *)(void *)old;
    else
        *(uint32_t *)msg->msg_iov->addr += *(uint32_t *)(void *)old;
    m = *msg;
    m.op = FI_ATOMIC_WRITE;
    do
        err = atomic_real.writemsg(ep, &m, flags);
    while (err == -FI_EAGAIN);
    return err;
}

/* --- memory --------------------------------------------------------------------------------- */

static struct fi_ops_mr mr_ops, mr_real;

static int liar_mr_close(struct fid *fid)
{
    (void)fid;
    return 0;
}

static int liar_reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                    uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    int err = mr_real.reg(fid, buf, len, access, offset, key, flags, mr, context);
    if (!err && lie("key")) {
        mr_fid = *(*mr)->fid.ops;
        mr_fid.close = liar_mr_close;
        (*mr)->fid.ops = &mr_fid;
    }
    if (!err && lie("insists"))
        registered_add(*mr, buf, len, access);
    return err;
}

/* --- objects -------------------------------------------------------------------------------- */

/* The object gets a copy of its table, with other functions. */
#define PATCH(field, copy, was) \
    do {                        \
        (was) = *(field);       \
        (copy) = *(field);      \
        (field) = &(copy);      \
    } while (0)

static struct fi_ops_domain domain_ops, domain_real;
static struct fi_ops_fabric fabric_ops, fabric_real;

struct had {
    uint64_t caps;
    int mr_mode;
};

/* The real library knows no fences, and wants no local buffers registered. */
static void without(struct fi_info *info, struct had *had)
{
    *had = (struct had){info->caps, info->domain_attr->mr_mode};
    info->caps &= ~(uint64_t)(fenced() ? FI_FENCE : 0);
    info->domain_attr->mr_mode &= ~(lie("insists") ? FI_MR_LOCAL : 0);
}

static void with_again(struct fi_info *info, const struct had *had)
{
    info->caps = had->caps;
    info->domain_attr->mr_mode = had->mr_mode;
}

static int liar_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                         void *context)
{
    struct had had;
    without(info, &had);
    int err = domain_real.endpoint(domain, info, ep, context);
    with_again(info, &had);
    if (err)
        return err;
    the_ep = *ep;
    PATCH((*ep)->msg, msg_ops, msg_real);
    msg_ops.inject = liar_inject;
    msg_ops.send = liar_send;
    msg_ops.sendv = liar_sendv;
    PATCH((*ep)->rma, rma_ops, rma_real);
    rma_ops.writemsg = liar_writemsg;
    rma_ops.readmsg = liar_readmsg;
    if ((*ep)->atomic) {
        PATCH((*ep)->atomic, atomic_ops, atomic_real);
        atomic_ops.writemsg = liar_atomicmsg;
    }
    return 0;
}

static int liar_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
                        void *context)
{
    int err = domain_real.cq_open(domain, attr, cq, context);
    if (err)
        return err;
    the_cq = *cq;
    PATCH((*cq)->ops, cq_ops, cq_real);
    cq_ops.read = liar_read;
    cq_ops.readerr = liar_readerr;
    return 0;
}

static int liar_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                       void *context)
{
    struct had had;
    without(info, &had);
    int err = fabric_real.domain(fabric, info, domain, context);
    with_again(info, &had);
    if (err)
        return err;
    PATCH((*domain)->ops, domain_ops, domain_real);
    domain_ops.endpoint = liar_endpoint;
    domain_ops.cq_open = liar_cq_open;
    PATCH((*domain)->mr, mr_ops, mr_real);
    mr_ops.reg = liar_reg;
    return 0;
}

static int liar_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
    return late_first < late_end ? -FI_EAGAIN : fabric_real.trywait(fabric, fids, count);
}

/* --- what is looked up by name -------------------------------------------------------------- */

__attribute__((visibility("default"))) int fi_fabric(struct fi_fabric_attr *attr,
                                                     struct fid_fabric **fabric, void *context)
{
    int (*f)(struct fi_fabric_attr *, struct fid_fabric **, void *) = real("fi_fabric");
    int err = f(attr, fabric, context);
    if (err)
        return err;
    PATCH((*fabric)->ops, fabric_ops, fabric_real);
    fabric_ops.domain = liar_domain;
    fabric_ops.trywait = liar_trywait;
    return 0;
}

__attribute__((visibility("default"))) int fi_getinfo(uint32_t version, const char *node,
                                                      const char *service, uint64_t flags,
                                                      const struct fi_info *hints,
                                                      struct fi_info **info)
{
    int (*f)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *,
             struct fi_info **) = real("fi_getinfo");
    if (lie("insists") && hints) {
        if (!(hints->domain_attr->mr_mode & FI_MR_LOCAL))
            return -FI_ENODATA;
        int err = f(version, node, service, flags, hints, info);
        for (struct fi_info *i = err ? NULL : *info; i; i = i->next)
            i->domain_attr->mr_mode |= FI_MR_LOCAL;
        return err;
    }
    if (!fenced() || !hints || !(hints->caps & FI_FENCE))
        return f(version, node, service, flags, hints, info);
    struct fi_info *asked = fi_dupinfo(hints);
    asked->caps &= ~(uint64_t)FI_FENCE;
    int err = f(version, node, service, flags, asked, info);
    fi_freeinfo(asked);
    for (struct fi_info *i = err ? NULL : *info; i; i = i->next)
        i->caps |= FI_FENCE;
    return err;
}

__attribute__((visibility("default"))) void fi_freeinfo(struct fi_info *info)
{
    void (*f)(struct fi_info *) = real("fi_freeinfo");
    f(info);
}

__attribute__((visibility("default"))) struct fi_info *fi_dupinfo(const struct fi_info *info)
{
    struct fi_info *(*f)(const struct fi_info *) = real("fi_dupinfo");
    return f(info);
}

__attribute__((visibility("default"))) const char *fi_strerror(int err)
{
    const char *(*f)(int) = real("fi_strerror");
    return f(err);
}

__attribute__((visibility("default"))) uint32_t fi_version(void)
{
    uint32_t (*f)(void) = real("fi_version");
    return f();
}
