/* load.c - opens libfabric when a job wants it.  It is never linked: every program would load its
 * providers and their libraries, and jobs on one host do not need them. Start with ofi_load() and
 * ofi_choose(). */
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "tp/ofi/nearest.h"
#include "tp/ofi/ofi.h"
#include "var/var.h"

static const char *const library = "libfabric.so.1", *const eager_limit = "FI_OFI_RXM_EAGER_LIMIT",
                         *const buffer_size = "FI_OFI_RXM_BUFFER_SIZE";
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
static const struct var_env settings[] = {{"FI_OFI_RXM_MSG_RX_SIZE", "128"},
                                          {"FI_OFI_RXM_EAGER_LIMIT", TEXT(OFI_EAGER)},
                                          {"FI_OFI_RXM_BUFFER_SIZE", TEXT(OFI_RXM_BUFFER)},
                                          {"FI_UNIVERSE_SIZE", "16"}};

/* The least version whose objects have all that is used here. */
static const uint32_t api_version = FI_VERSION(1, 11);

/* A number of the environment. */
static size_t setting(const char *name, size_t otherwise)
{
    const char *set = var_env_get(name);
    char *end = NULL;
    long n = set ? strtol(set, &end, 10) : 0;
    return n > 0 && !*end ? (size_t)n : otherwise;
}

static int is_tcp(const struct ofi *o)
{
    return !strcmp(o->info->fabric_attr->prov_name, "tcp;ofi_rxm");
}

static int is_direct(uint32_t version)
{
    return FI_VERSION_LT(version, FI_VERSION(1, 20));
}

int ofi_rxm_direct(const struct ofi_lib *lib)
{
    return is_direct(lib->version());
}

static int has(const char *folder, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* Settings of ofi_rxm, which has no other place for them.  They are read once, when the library is
 * asked first.  Values that the user set stay.
 *   MSG_RX_SIZE  buffers that wait for messages: 4096 by default, 52 MB of every process
 *   EAGER_LIMIT  bytes of a message that is sent without asking first.  tcp takes them from our
 *                buffer and puts them into the receiver's.  By itself it is BUFFER_SIZE.  Processes
 *                with different limits do not get a connection, so it is part of the variant
 *                (ofi_variant).
 *   BUFFER_SIZE  bytes of a buffer of its own, of which it makes about 2,000: 16 KiB by default, 34
 *                MB of every process.  It bounds an inject.
 *   UNIVERSE_SIZE  processes that are expected, 1024 by default.  The queue of completions that
 *                ofi_rxm has with tcp has 256 entries of 48 bytes for each, and all of it becomes
 *                resident.  A completion that finds it full waits in a list.
 * Over verbs the second and third must be equal, and a full queue loses completions.  So all but
 * the first stay unset where there are cards, and where EAGER_LIMIT does not exist
 * (ofi_rxm_direct).
 * A program that links libfabric may have used it already.  Then it does not read them again. */
void ofi_settings_make(uint32_t version, const char *classes)
{
    int alone = !is_direct(version) || has(classes, "infiniband") || has(classes, "cxi") ||
                setting(buffer_size, 0) > OFI_EAGER;
    var_env_on(settings, alone ? 1 : 4); /* for good: the library may read them at any time */
}

/* Was the library here before this one opens it? */
static int is_there(void)
{
    void *there = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (there)
        dlclose(there);
    return there != NULL;
}

size_t ofi_eager(const struct ofi *o)
{
    if (!is_tcp(o))
        return OFI_EAGER_MIN;
    size_t buffer = setting(buffer_size, OFI_EAGER_MIN);
    return ofi_rxm_direct(&o->lib) ? setting(eager_limit, buffer) : buffer;
}

int ofi_load(struct ofi_lib *lib)
{
    int was_there = is_there();
    lib->so = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!lib->so) {
        log_warn("transport ofi: %s", dlerror());
        return -ENOENT;
    }
    const struct {
        void *to;
        const char *name;
    } wanted[] = {
        {&lib->getinfo, "fi_getinfo"},   {&lib->freeinfo, "fi_freeinfo"},
        {&lib->dupinfo, "fi_dupinfo"},   {&lib->fabric, "fi_fabric"},
        {&lib->strerror, "fi_strerror"}, {&lib->version, "fi_version"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *f = dlsym(lib->so, wanted[i].name);
        if (!f) {
            log_warn("transport ofi: %s has no %s", library, wanted[i].name);
            return -ENOENT;
        }
        memcpy(wanted[i].to, &f, sizeof f);
    }
    if (FI_VERSION_LT(lib->version(), api_version)) {
        log_warn("transport ofi: %s is version %u.%u, older than 1.11", library,
                 FI_MAJOR(lib->version()), FI_MINOR(lib->version()));
        return -ENOTSUP;
    }
    if (!was_there)
        ofi_settings_make(lib->version(), "/sys/class");
    return 0;
}

uint32_t ofi_hash(const char *text)
{
    return (uint32_t)hash_bytes(HASH_BYTES, text, strlen(text));
}

/* The request; the library makes its sub-objects, and so knows their size. */
static struct fi_info *hints_make(struct ofi *o, uint64_t caps, const char *provider)
{
    struct fi_info *h = o->lib.dupinfo(NULL);
    if (!h)
        return NULL;
    h->caps = caps;
    h->mode = FI_CONTEXT | FI_CONTEXT2;
    h->ep_attr->type = FI_EP_RDM;
    h->tx_attr->msg_order = FI_ORDER_SAS;
    h->rx_attr->msg_order = FI_ORDER_SAS;
    h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
                              FI_MR_ENDPOINT;
    h->domain_attr->threading = FI_THREAD_DOMAIN; /* one thread at a time, proc->lock */
    h->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    h->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    h->domain_attr->resource_mgmt = FI_RM_ENABLED;
    if (*provider && !(h->fabric_attr->prov_name = strdup(provider))) {
        o->lib.freeinfo(h);
        return NULL;
    }
    return h;
}

/* Ask once. 0 with o->info; else the result of libfabric. */
static int ask(struct ofi *o, uint64_t caps, const char *provider)
{
    struct fi_info *list = NULL, *h = hints_make(o, caps, provider);
    if (!h)
        return -FI_ENOMEM;
    int err = o->lib.getinfo(api_version, NULL, NULL, 0, h, &list);
    o->lib.freeinfo(h);
    if (err)
        return err;
    for (struct fi_info *i = list; i && !o->info; i = i->next)
        if (*provider || !ofi_host_only(i))
            o->info = o->lib.dupinfo(cvar.ofi_near ? ofi_near_card(i, &ofi_near_asks) : i);
    o->lib.freeinfo(list);
    return o->info ? 0 : -FI_ENODATA;
}

/* Ask the chosen provider again, by h, which is freed. One that cannot do it stays as it is. */
static void ask_again(struct ofi *o, struct fi_info *h)
{
    struct fi_info *list = NULL;
    if (o->lib.getinfo(api_version, NULL, NULL, 0, h, &list) == 0) {
        struct fi_info *more = NULL;
        for (const struct fi_info *i = list; i && !more; i = i->next)
            if (!strcmp(i->fabric_attr->prov_name, o->info->fabric_attr->prov_name) &&
                !strcmp(i->domain_attr->name, o->info->domain_attr->name) &&
                (i->caps | FI_FENCE) == (o->info->caps | FI_FENCE))
                more = o->lib.dupinfo(i);
        if (more) {
            o->lib.freeinfo(o->info);
            o->info = more;
        }
        o->lib.freeinfo(list);
    }
    o->lib.freeinfo(h);
}

/* Ask for the same with longer injects: ofi_rxm promises 64 bytes by default, and can do its
 * buffer's size.  A message that is not injected costs a system call here, and one more for its
 * completion. */
static void inject_more(struct ofi *o)
{
    int rxm = strstr(o->info->fabric_attr->prov_name, ";ofi_rxm") != NULL;
    size_t buffer = rxm ? setting(buffer_size, OFI_EAGER_MIN) : OFI_INJECT;
    size_t most = buffer < OFI_INJECT ? buffer : OFI_INJECT;
    struct fi_info *h = o->info->tx_attr->inject_size < most ? o->lib.dupinfo(o->info) : NULL;
    if (!h)
        return;
    h->tx_attr->inject_size = most;
    ask_again(o, h);
}

/* Some providers leave it to the program whether it registers its own buffers: they have a cache
 * of registrations, or copy.  With FI_MR_LOCAL the registrations are ours (cache.c).  The first
 * question offers it: a card that needs it is not to lose against a slower provider. */
static void register_less(struct ofi *o)
{
    struct fi_info *h =
        o->info->domain_attr->mr_mode & FI_MR_LOCAL ? o->lib.dupinfo(o->info) : NULL;
    if (!h)
        return;
    h->domain_attr->mr_mode &= ~FI_MR_LOCAL;
    ask_again(o, h);
}

/* Some providers can hold an operation back behind all before it (O9), if they are asked.  Where
 * messages stay behind puts, some puts have no flush behind them: none is loose there. */
static void fence_more(struct ofi *o)
{
    const uint64_t order = o->info->tx_attr->msg_order & o->info->rx_attr->msg_order;
    struct fi_info *h = o->info->caps & FI_RMA && !(order & FI_ORDER_SAW)
                            ? o->lib.dupinfo(o->info) : NULL;
    if (!h)
        return;
    h->caps |= FI_FENCE;
    ask_again(o, h);
    o->fences = (o->info->caps & FI_FENCE) != 0;
}

/* One descriptor for the queue of ofi_rxm is an epoll set of epoll sets.  An event wakes each of
 * them even if no thread sleeps: 0.2 to 0.3 us of a put and flush, both ends together.  With
 * FI_WAIT_POLLFD only a sleeper pays for them.  Its descriptors in 1.17 are the sets, which stay
 * the same; those of connections are inside.  Later versions have another tcp; earlier ones were
 * not tried. */
enum fi_wait_obj ofi_wait_obj(const struct ofi *o)
{
    int fixed = is_tcp(o) && o->lib.version() == FI_VERSION(1, 17);
    return fixed ? FI_WAIT_POLLFD : FI_WAIT_FD;
}

/* When an endpoint of tcp is closed amid transfers, 1.17 reports some as cancelled without their
 * context.  ofi_rxm reads that.  Earlier versions were not tried. */
int ofi_keeps_halves(const struct ofi *o)
{
    return is_tcp(o) && FI_VERSION_LT(o->lib.version(), FI_VERSION(1, 18));
}

/* A card that differs from the first and from those that are chosen. */
static int is_further(const struct ofi *o, const struct fi_info *i)
{
    const char *name = i->domain_attr->name;
    if (ofi_host_only(i) || i->addr_format != o->info->addr_format || !strcmp(name, "lo") ||
        !strcmp(name, o->info->domain_attr->name) ||
        strcmp(i->fabric_attr->prov_name, o->info->fabric_attr->prov_name))
        return 0;
    for (int k = 0; k < o->nrails; k++)
        if (!strcmp(name, o->rail[k].info->domain_attr->name))
            return 0;
    return 1;
}

/* The further cards of MPIR_CVAR_OFI_RAILS. */
static void rails_choose(struct ofi *o)
{
    struct fi_info *list = NULL;
    int most = (int)cvar.ofi_rails - 1 < OFI_RAILS ? (int)cvar.ofi_rails - 1 : OFI_RAILS;
    /* An endpoint to which memory is bound cannot be closed (L3). */
    int bound = (o->info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
    struct fi_info *h = most > 0 && !bound && o->info->caps & FI_RMA
                            ? hints_make(o, FI_MSG | FI_RMA, o->info->fabric_attr->prov_name)
                            : NULL;
    if (!h)
        return;
    h->domain_attr->mr_mode = o->info->domain_attr->mr_mode;
    if (o->lib.getinfo(api_version, NULL, NULL, 0, h, &list) != 0)
        list = NULL;
    o->lib.freeinfo(h);
    for (const struct fi_info *i = list; i && o->nrails < most; i = i->next) {
        struct fi_info *own = is_further(o, i) ? o->lib.dupinfo(i) : NULL;
        if (own)
            o->rail[o->nrails++] =
                (struct ofi_rail){.info = own, .net = ofi_hash(own->fabric_attr->name)};
    }
    o->lib.freeinfo(list);
}

int ofi_delivers(struct ofi *o)
{
    struct fi_info *list = NULL, *h = hints_make(o, o->info->caps, o->info->fabric_attr->prov_name);
    if (!h)
        return 0;
    h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    int err = o->lib.getinfo(api_version, NULL, NULL, 0, h, &list);
    o->lib.freeinfo(h);
    if (!err)
        o->lib.freeinfo(list);
    return !err;
}

/* Names of the providers that could carry messages. */
static void names_of_providers(struct ofi *o, char *text, size_t len)
{
    struct fi_info *list = NULL, *h = hints_make(o, FI_MSG, "");
    size_t at = 0;
    *text = 0;
    if (!h)
        return;
    if (o->lib.getinfo(api_version, NULL, NULL, 0, h, &list) != 0)
        list = NULL;
    o->lib.freeinfo(h);
    const char *last = "";
    for (const struct fi_info *i = list; i; i = i->next) {
        const char *name = i->fabric_attr->prov_name;
        size_t n = strlen(name);
        if (strstr(text, name) || !strcmp(name, last) || at + n + 3 > len)
            continue;
        at += (size_t)(stpcpy(stpcpy(text + at, at ? ", " : ""), name) - (text + at));
        last = name;
    }
    o->lib.freeinfo(list);
}

/* What providers promise and do not keep; found by the contract test, explained in
 * doc/design/tp-ofi.md. */
static const struct quirk {
    const char *provider;
    uint64_t without; /* capabilities not to be used */
    int quiet;        /* no questions (O7) */
    int alone;        /* no endpoint beside the process's own */
} quirks[] = {
    /* Long messages of several senders are mixed up in one buffer.  Atomics that are not waited for
     * crash the target.  A message that comes amid puts or gets damages them, and rma/ and p2p/
     * send messages all the time.  It has no connections that could break. */
    {"udp;ofi_rxd", FI_MULTI_RECV | FI_RMA | FI_ATOMIC, 1, 1},
    /* what arrives while no buffer is posted goes to wrong places in the next ones */
    {"tcp;ofi_rxm", FI_MULTI_RECV, 0, 0},
    /* a compare-and-swap issued while an add is under way damages memory */
    {"shm", FI_ATOMIC, 0, 0},
    /* a lock of all endpoints that it leaves out but with FI_THREAD_SAFE */
    {"efa", 0, 0, 1},
};

static const struct quirk *quirk_of(const struct ofi *o)
{
    for (size_t k = 0; k < sizeof quirks / sizeof *quirks; k++)
        if (!strcmp(o->info->fabric_attr->prov_name, quirks[k].provider))
            return &quirks[k];
    return NULL;
}

static void heed_quirks(struct ofi *o)
{
    const struct quirk *q = quirk_of(o);
    if (!q)
        return;
    o->info->caps &= ~q->without;
    o->quiet = q->quiet;
}

/* tp.md, "When native pays". */
size_t ofi_put_min(const struct ofi *o)
{
    enum { ALONE_MIN = 256, PUT_MIN = 4096 }; /* the provider moves data by itself; it does not */
    return o->info->domain_attr->data_progress == FI_PROGRESS_AUTO ? ALONE_MIN : PUT_MIN;
}

/* Transmit contexts (transmit.c) are for threads, and for puts that both they and the network take.
 * With FI_THREAD_COMPLETION a provider locks nothing of an endpoint and its queue, but what several
 * endpoints use. */
static void share(struct ofi *o)
{
    const struct fi_domain_attr *a = o->info->domain_attr;
    const struct quirk *q = quirk_of(o);
    size_t least = cvar.rma_native_put >= 0 ? (size_t)cvar.rma_native_put : ofi_put_min(o);
    int wanted = proc->thread_level == MPI_THREAD_MULTIPLE && cvar.rma_native &&
                 o->info->caps & FI_RMA && least <= OFI_PUT_INLINE;
    /* What is registered for the process's endpoint is no use to another. */
    int bound = a->mr_mode & FI_MR_ENDPOINT && a->mr_mode & FI_MR_LOCAL;
    struct fi_info *h = wanted && !bound && !(q && q->alone) ? o->lib.dupinfo(o->info) : NULL;
    if (!h)
        return;
    h->domain_attr->threading = FI_THREAD_COMPLETION;
    ask_again(o, h);
    o->txs.shared = o->info->domain_attr->threading == FI_THREAD_COMPLETION;
}

/* The shm provider names its memory by the process id.  It refuses to open if a process of the same
 * id has ended and left its own behind.  So give it a new name. */
static int rename_shm(struct fi_info *i)
{
    char name[64];
    if (i->addr_format != FI_ADDR_STR || strcmp(i->fabric_attr->prov_name, "shm"))
        return 0;
    snprintf(name, sizeof name, "fi_shm://%016llx", (unsigned long long)random_bits());
    char *copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    free(i->src_addr);
    i->src_addr = copy;
    i->src_addrlen = strlen(copy) + 1;
    return 0;
}

struct fi_info *ofi_info_again(struct ofi *o)
{
    struct fi_info *i = o->lib.dupinfo(o->info);
    if (i && rename_shm(i)) {
        o->lib.freeinfo(i);
        return NULL;
    }
    return i;
}

/* The provider with most of the features that are used.  Receive buffers for many messages are
 * worth more than put and get here. */
int ofi_choose(struct ofi *o)
{
    static const uint64_t wishes[] = {
        FI_MSG | FI_MULTI_RECV | FI_RMA | FI_ATOMIC,
        FI_MSG | FI_MULTI_RECV | FI_RMA,
        FI_MSG | FI_MULTI_RECV,
        FI_MSG | FI_RMA | FI_ATOMIC,
        FI_MSG | FI_RMA,
        FI_MSG,
    };
    char wanted[128] = "";
    unsigned long eager = 0;
    if (o->env.variant && sscanf(o->env.variant, "%127s %lu", wanted, &eager) < 1)
        return -EINVAL;
    const char *named = o->env.variant ? wanted : cvar.ofi_provider;
    int err = -FI_ENODATA;
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes && !o->info; i++)
        err = ask(o, wishes[i], named);
    if (o->info && ofi_eager(o) < OFI_EAGER_MIN) {
        log_warn("transport ofi: %s is %zu; it must be at least %d bytes",
                 var_env_get(eager_limit) ? eager_limit : buffer_size, ofi_eager(o), OFI_EAGER_MIN);
        return -EINVAL;
    }
    if (o->info && eager && ofi_eager(o) != eager) {
        log_warn("transport ofi: ofi_rxm sends packets of up to %zu bytes at once here, and %lu at "
                 "rank 0: such processes do not get a "
                 "connection; FI_OFI_RXM_EAGER_LIMIT=%d on all of them makes them alike",
                 ofi_eager(o), eager, OFI_EAGER_MIN);
        return -EPROTO;
    }
    if (o->info) {
        register_less(o);
        inject_more(o);
        fence_more(o);
        share(o);
        heed_quirks(o);
        rails_choose(o);
        return rename_shm(o->info);
    }
    char names[512];
    names_of_providers(o, names, sizeof names);
    if (*named)
        log_warn("transport ofi: %s%s: no such provider is usable (%s); libfabric has: %s",
                 o->env.variant ? "provider " : "MPIR_CVAR_OFI_PROVIDER=", named,
                 o->lib.strerror(-err), *names ? names : "none");
    else
        log_warn("transport ofi: libfabric knows no provider between hosts (%s)",
                 o->lib.strerror(-err));
    return -ENODEV;
}
