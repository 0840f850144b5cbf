/* ofi_atomics.c - a bare libfabric program: atomics of one process on the memory of another, each
 * waited for or not.
 *
 *   cc -o ofi_atomics ofi_atomics.c -lfabric
 *   ofi_atomics PROVIDER [wait [local]]    "wait": each add is waited for; "local": without
 *                                          FI_DELIVERY_COMPLETE
 *
 * 100 times: add 1, then add 1 by compare-and-swap.  Prints the sum, which must be 200; exit status
 * 1 if it is not.  What was seen with which provider: doc/design/tp-ofi.md. */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 100, TRIES = 100000 };

static struct shared {
    volatile int ready[2], done;
    char name[2][256];
    size_t len[2];
    uint64_t key, addr, mem[64];
} *all;

static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_ep *ep;
static struct fi_info *info;
static int out; /* operations under way */
static uint64_t flags;

static void check(ssize_t err, const char *what)
{
    if (err) {
        fprintf(stderr, "%s: %s\n", what, fi_strerror((int)-err));
        exit(2);
    }
}

static void start(const char *provider, int me)
{
    struct fid_fabric *fabric;
    struct fi_info *h = fi_allocinfo();
    struct fi_av_attr aa = {.type = FI_AV_TABLE};
    struct fi_cq_attr ca = {.format = FI_CQ_FORMAT_DATA, .size = 1024};
    h->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    h->ep_attr->type = FI_EP_RDM;
    h->mode = FI_CONTEXT | FI_CONTEXT2;
    h->domain_attr->mr_mode = FI_MR_VIRT_ADDR;
    h->domain_attr->threading = FI_THREAD_DOMAIN;
    h->domain_attr->data_progress = h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    h->fabric_attr->prov_name = strdup(provider);
    check(fi_getinfo(FI_VERSION(1, 11), NULL, NULL, 0, h, &info), "fi_getinfo");
    check(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    check(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    check(fi_av_open(domain, &aa, &av, NULL), "fi_av_open");
    check(fi_cq_open(domain, &ca, &cq, NULL), "fi_cq_open");
    check(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
    check(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_enable(ep), "fi_enable");
    all->len[me] = sizeof all->name[me];
    check(fi_getname(&ep->fid, all->name[me], &all->len[me]), "fi_getname");
}

/* Reads the queue until nothing is under way, or the operation of `context` has completed. */
static void wait_for(const void *context)
{
    struct fi_cq_data_entry e[8];
    for (int seen = 0; out && !seen;) {
        ssize_t n = fi_cq_read(cq, e, 8);
        if (n < 0 && n != -FI_EAGAIN)
            check(n, "fi_cq_read");
        for (ssize_t i = 0; i < n; i++, out--)
            seen |= e[i].op_context == context;
    }
}

static void origin(int wait)
{
    static struct fi_context2 ctx[2 * TURNS + TRIES];
    static uint64_t one = 1, cmp[TRIES], swap[TRIES], old[TRIES];
    struct fi_rma_ioc at = {all->addr, 1, all->key};
    fi_addr_t to;
    uint64_t before = 0;
    int n = 0, k = 0;
    ssize_t err;
    check(fi_av_insert(av, all->name[1], 1, &to, 0, NULL) != 1, "fi_av_insert");
    for (int i = 0; i < TURNS; i++) {
        struct fi_ioc v = {&one, 1};
        struct fi_msg_atomic m = {.msg_iov = &v, .iov_count = 1, .addr = to, .rma_iov = &at,
                                  .rma_iov_count = 1, .datatype = FI_UINT64, .op = FI_SUM,
                                  .context = &ctx[n++]};
        while ((err = fi_atomicmsg(ep, &m, flags)) == -FI_EAGAIN)
            fi_cq_read(cq, NULL, 0);
        check(err, "fi_atomicmsg");
        out++;
        if (wait)
            wait_for(NULL);
        for (;; before = old[k++]) {
            struct fi_ioc a = {&swap[k], 1}, b = {&cmp[k], 1}, r = {&old[k], 1};
            cmp[k] = before;
            swap[k] = before + 1;
            m.msg_iov = &a;
            m.op = FI_CSWAP;
            m.context = &ctx[n++];
            while ((err = fi_compare_atomicmsg(ep, &m, &b, NULL, 1, &r, NULL, 1, flags)) ==
                   -FI_EAGAIN)
                fi_cq_read(cq, NULL, 0);
            check(err, "fi_compare_atomicmsg");
            out++;
            wait_for(m.context);
            if (old[k] == before || k == TRIES - 1)
                break;
        }
        k++;
    }
    wait_for(NULL);
}

int main(int argc, char **argv)
{
    struct fid_mr *mr;
    struct fi_cq_data_entry e[8];
    if (argc < 2)
        return 2;
    flags = FI_COMPLETION | (argc > 3 ? 0 : FI_DELIVERY_COMPLETE);
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int me = fork() == 0;
    start(argv[1], me);
    if (me) {
        check(fi_mr_reg(domain, all->mem, sizeof all->mem, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 77,
                        0, &mr, NULL),
              "fi_mr_reg");
        all->key = fi_mr_key(mr);
        all->addr = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)all->mem
                                                                 : 0;
    }
    all->ready[me] = 1;
    while (!all->ready[!me])
        usleep(100);
    if (me) {
        while (!all->done)
            fi_cq_read(cq, e, 8);
        return 0;
    }
    origin(argc > 2);
    printf("%s: %d adds and %d exchanges: %lu, expected %d\n", argv[1], TURNS, TURNS,
           (unsigned long)all->mem[0], 2 * TURNS);
    all->done = 1;
    wait(NULL);
    return all->mem[0] != 2 * TURNS;
}
