/* ucx.c - messages and one-sided access over UCX (UCP): life, addresses, peers, progress.
 * ucx_types.h has the rules. Start with ucx_open() and ucx_progress(). */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mpi.h"
#include "tp/ucx/ucx_types.h"
#include "var/var.h"

/* Longest wait of close() for what the network has not taken yet (ns). */
static const uint64_t CLOSE_NS = 1000000000u;

/* --- buffers ---------------------------------------------------------------------- */

struct ucx_out *ucx_out_make(struct ucx *u, size_t bytes)
{
    int large = bytes > UCX_SMALL;
    struct ucx_out *o;
    size_t room = large ? sizeof(struct ucx_hdr) + UCX_ADDRESS_MAX + 8 + UCX_AM_MAX + 8 : UCX_SMALL;
    WR_ASSERT(bytes <= room);
    o = malloc(sizeof *o + room + 8); /* put_head() clears 8 bytes of which up to 7 are free */
    if (!o)
        return NULL;
    list_init(&o->link);
    o->u = u;
    o->d = NULL;
    o->keeps = NULL;
    o->iov = NULL;
    o->room = room;
    return o;
}

/* --- peers ------------------------------------------------------------------------ */

struct ucx_peer *ucx_peer_find(struct ucx *u, unsigned rank)
{
    struct ucx_peer *p = map_get(&u->peers, rank);
    if (p)
        return u->last = p;
    p = calloc(1, sizeof *p);
    if (!p || map_put(&u->peers, rank, p)) {
        free(p);
        return NULL;
    }
    p->u = u;
    p->rank = rank;
    list_init(&p->held[UCX_REQUEST]);
    list_init(&p->held[UCX_REPLY]);
    list_init(&p->link);
    return u->last = p;
}

int ucx_peer_address(struct ucx_peer *p, const void *addr, size_t len)
{
    if (p->addr)
        return 0;
    if (len <= sizeof p->key || len > UCX_ADDRESS_MAX)
        return -EPROTO;
    p->addr = malloc(len - sizeof p->key);
    if (!p->addr)
        return -ENOMEM;
    memcpy(&p->key, addr, sizeof p->key);
    memcpy(p->addr, (const char *)addr + sizeof p->key, len - sizeof p->key);
    return 0;
}

/* UCX lost the peer: it was killed, or has closed.  Every later call for it fails; am/ finds out
 * whether it has failed. */
static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)ep;
    struct ucx_peer *p = arg;
    struct ucx *u = p->u;
    if (!p->failed && !u->closing && u->env.lost)
        u->env.lost(u->env.up, p->rank, ucx_errno(status));
    p->failed = 1;
    u->events++;
}

int ucx_peer_open(struct ucx_peer *p)
{
    struct ucx *u = p->u;
    if (p->failed)
        return -ENOTCONN;
    if (p->ep)
        return 0;
    if (!p->addr)
        return -ENOTCONN;
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = (const ucp_address_t *)p->addr,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {on_failure, p},
    };
    u->quiet = 0; /* an interface whose endpoint is not made after all stays out of use */
    u->inside++;
    ucs_status_t s = u->lib.ucp_ep_create(u->worker, &params, &p->ep);
    if (s == UCS_ERR_UNREACHABLE || s == UCS_ERR_UNSUPPORTED) {
        /* Shared memory alone (UCX_TLS=shm) reports no deaths; on this host the launcher does.  UCX
         * has printed why it refuses.  Try each peer by itself: a network may reach others, and
         * report them.  Unsupported: the peer was the first, and has found that out. */
        params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
        s = u->lib.ucp_ep_create(u->worker, &params, &p->ep);
        p->no_failures = s == UCS_OK;
    }
    u->inside--;
    if (s != UCS_OK)
        p->ep = NULL;
    return ucx_errno(s);
}

static int ucx_connect(struct tp *tp, unsigned peer, const void *addr, size_t len)
{
    struct ucx *u = (struct ucx *)tp;
    if (peer >= u->places)
        return -EINVAL;
    struct ucx_peer *p = ucx_peer_of(u, peer);
    int err = p ? ucx_peer_address(p, addr, len) : -ENOMEM;
    return err ? err : ucx_peer_open(p);
}

/* --- life ------------------------------------------------------------------------- */

int ucx_has_card(void)
{
    DIR *d = opendir("/sys/class/infiniband");
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n > 0;
}

/* One-sided access opens the process to any program that uses UCX's protocol (ucx.md,
 * "Protection").  So it is there only where it is used: with a card, or when a variable asks for
 * it. */
static int one_sided_wanted(void)
{
    int asked = cvar.rma_native_put >= 0 || cvar.rma_native_get >= 0 ||
                cvar.rma_native_atomic > 0 || cvar.rma_pull_min >= 0 || cvar.p2p_native_min >= 0;
    return cvar.rma_native && (asked || ucx_has_card());
}

/* Whether workers of the context may be used at one time: a UCX that was built without its locks
 * takes mt_workers_shared and ignores it. */
static int is_shared(const struct ucx *u)
{
    ucp_context_attr_t is = {.field_mask = UCP_ATTR_FIELD_THREAD_MODE};
    return u->lib.ucp_context_query(u->context, &is) == UCS_OK &&
           is.thread_mode == UCS_THREAD_MODE_MULTI;
}

ucs_status_t ucx_open_context(struct ucx *u)
{
    ucp_config_t *config;
    ucs_status_t s = u->lib.ucp_config_read(NULL, NULL, &config);
    if (s != UCS_OK)
        return s;
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                      UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
        .estimated_num_eps = u->size,
        .mt_workers_shared = u->shared,
    };
    /* A context without them ignores packets that write memory. */
    if (u->one_sided)
        params.features |= UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    s = u->lib.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &u->context);
    u->lib.ucp_config_release(config);
    if (s == UCS_OK && u->shared)
        u->shared = is_shared(u);
    return s;
}

static ucs_status_t open_worker(struct ucx *u)
{
    ucs_status_t s = ucx_open_worker(u, &u->worker);
    if (s != UCS_OK)
        return s;
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = UCX_AM_ID,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = ucx_on_message,
        .arg = u,
    };
    s = u->lib.ucp_worker_set_am_recv_handler(u->worker, &handler);
    if (s == UCS_OK && !ucx_has_card())
        s = u->lib.ucp_dt_create_generic(&ucx_packer, NULL, &u->packed);
    return s == UCS_OK ? u->lib.ucp_worker_get_efd(u->worker, &u->efd) : s;
}

static int open_address(struct ucx *u)
{
    ucp_address_t *addr;
    size_t len;
    ucs_status_t s = u->lib.ucp_worker_get_address(u->worker, &addr, &len);
    if (s != UCS_OK)
        return ucx_errno(s);
    u->addr_bytes = (sizeof u->key + len + 7) / 8 * 8;
    int err = 0;
    if (u->addr_bytes > UCX_ADDRESS_MAX) {
        log_warn("the address that UCX made has %zu bytes, more than the %d that fit: name fewer "
                 "devices in UCX_NET_DEVICES",
                 len, UCX_ADDRESS_MAX);
        err = -EMSGSIZE;
    } else if (!(u->addr = calloc(1, u->addr_bytes))) {
        err = -ENOMEM;
    } else {
        memcpy(u->addr, &u->key, sizeof u->key);
        memcpy(u->addr + sizeof u->key, addr, len);
    }
    u->lib.ucp_worker_release_address(u->worker, addr);
    return err;
}

/* Let UCX work until *left is 0, for a bounded time: peers may have closed. */
static void drain(struct ucx *u, const unsigned *left)
{
    uint64_t end = time_now() + CLOSE_NS;
    while (*left && time_now() < end)
        u->lib.ucp_worker_progress(u->worker);
}

/* Do not wait for answers of the peers: they may have closed, and after the job's barrier nothing
 * of value is under way. */
static void close_endpoints(struct ucx *u)
{
    uint64_t end = time_now() + CLOSE_NS;
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&u->peers, &cursor)) != NULL;) {
        struct ucx_peer *p = e->value;
        const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                           .flags = p->no_failures ? 0 : UCP_EP_CLOSE_FLAG_FORCE};
        void *r = p->ep ? u->lib.ucp_ep_close_nbx(p->ep, &force) : NULL;
        if (UCS_PTR_IS_PTR(r)) {
            while (u->lib.ucp_request_check_status(r) == UCS_INPROGRESS && time_now() < end)
                u->lib.ucp_worker_progress(u->worker);
            u->lib.ucp_request_free(r);
        }
        p->ep = NULL;
    }
}

static void ucx_close(struct tp *tp)
{
    struct ucx *u = (struct ucx *)tp;
    size_t cursor = 0;
    u->closing = 1;
    for (struct list *l; (l = list_first(&u->contexts)) != NULL;)
        ucx_tx_close(ucx_tx_of(l));
    if (u->worker) {
        drain(u, &u->sending);
        close_endpoints(u);
        drain(u, &u->sending);
        drain(u, &u->ops);
        u->lib.ucp_worker_destroy(u->worker);
    }
    if (u->packed)
        u->lib.ucp_dt_destroy(u->packed);
    if (u->context)
        u->lib.ucp_cleanup(u->context);
    for (struct map_entry *e; (e = map_next(&u->peers, &cursor)) != NULL;) {
        struct ucx_peer *p = e->value;
        ucx_drop_held(p);
        free(p->addr);
        free(p);
    }
    map_destroy(&u->peers);
    for (int i = 0; i < 2; i++)
        for (struct list *l; (l = list_pop(&u->idle[i])) != NULL;)
            free(LIST_OBJ(l, struct ucx_out, link));
    free(u->addr);
    ucx_defaults_off(u->stay);
    free(u);
}

static struct tp_caps caps_of(const struct ucx *u, unsigned defaults)
{
    struct tp_caps c = {.flags = TP_AM_ORDERED | TP_WAIT_FD | TP_AM_LEAVES, .am_max = UCX_AM_MAX,
                        .am_zcopy_min = UCX_ZCOPY, .gather = UCX_GATHER, .replies = UCX_REPLIES};
    if (u->one_sided) {
        c.flags |= TP_PUT | TP_GET | TP_ATOMIC | (ucx_defaults_cpu(defaults) ? TP_CPU_COHERENT : 0);
        c.put_inline = UCX_PUT_INLINE;
        c.rma_max = SIZE_MAX / 2;
        /* tp.md "When native pays": over tcp UCX's put and get are slower than our messages. */
        c.put_min = c.get_min = ucx_has_card() ? UCX_PUT_INLINE : SIZE_MAX;
        /* the cost of a registration per message with a card, which pins memory, was not
         * measured */
        c.pull_min = SIZE_MAX;
        c.atomic_sizes = 1u << 2 | 1u << 3;
    }
    return c;
}

static int ucx_open(const struct tp_env *env, struct tp **tp, struct tp_caps *caps)
{
    struct ucx *u = calloc(1, sizeof *u);
    if (!u)
        return -ENOMEM;
    u->env = *env;
    u->rank = (unsigned)boot_rank();
    u->size = (unsigned)boot_size();
    u->places = (unsigned)boot_universe();
    u->efd = -1;
    u->key = random_bits();
    u->one_sided = one_sided_wanted();
    u->shared = u->one_sided; /* MPI_Session_init may come later, with its threads */
    map_init(&u->peers);
    list_init(&u->holders);
    list_init(&u->contexts);
    list_init(&u->idle[0]);
    list_init(&u->idle[1]);
    unsigned defaults = ucx_defaults_on();
    ucs_status_t s = UCS_OK;
    int err = ucx_load(&u->lib);
    if (!err && (s = ucx_open_context(u)) == UCS_OK)
        s = open_worker(u);
    u->stay = u->shared ? ucx_defaults_of_workers(defaults) : 0;
    ucx_defaults_off(defaults & ~u->stay);
    if (!err)
        err = s != UCS_OK ? ucx_errno(s) : open_address(u);
    if (err) {
        ucx_close((struct tp *)u);
        return err;
    }
    *caps = caps_of(u, defaults);
    *tp = (struct tp *)u;
    return 0;
}

static int ucx_address(struct tp *tp, void *buf, size_t *len)
{
    const struct ucx *u = (const struct ucx *)tp;
    if (*len < u->addr_bytes)
        return -EMSGSIZE;
    memcpy(buf, u->addr, u->addr_bytes);
    *len = u->addr_bytes;
    return 0;
}

/* --- progress and sleep ----------------------------------------------------------- */

/* U7: nothing more goes to failed peers, and the waits for it end. */
static __attribute__((cold)) void fail_peer(struct ucx *u)
{
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_EP_CLOSE_FLAG_FORCE};
    size_t cursor = 0;
    u->deaths = boot_failed_count();
    for (struct map_entry *e; (e = map_next(&u->peers, &cursor)) != NULL;) {
        struct ucx_peer *p = e->value;
        if (!p->zcopies || p->failed || !boot_failed((int)p->rank))
            continue;
        p->failed = 1;
        void *r = u->lib.ucp_ep_close_nbx(p->ep, &force);
        p->ep = NULL;
        if (UCS_PTR_IS_PTR(r))
            u->lib.ucp_request_free(r);
    }
}

static int ucx_progress(struct tp *tp)
{
    struct ucx *u = (struct ucx *)tp;
    u->events = 0;
    u->fresh = 0;
    if (__builtin_expect(u->zcopies != 0, 0) && boot_failed_count() != u->deaths)
        fail_peer(u);
    if (__builtin_expect(!list_empty(&u->holders), 0))
        ucx_deliver_held(u);
    u->looks++;
    int n = (int)u->lib.ucp_worker_progress(u->worker);
    u->quiet = n ? 0 : u->quiet + 1;
    return n + u->events;
}

static int ucx_fd(struct tp *tp, int arm)
{
    struct ucx *u = (struct ucx *)tp;
    if (!arm)
        return u->efd;
    if (u->fresh || u->quiet < UCX_QUIET)
        return TP_AGAIN;
    /* Any other result than UCS_OK: do not sleep, the next progress() gets the error. */
    u->quiet = 0; /* what the next look finds is new */
    return u->lib.ucp_worker_arm(u->worker) == UCS_OK ? 0 : TP_AGAIN;
}

static void ucx_describe(struct tp *tp, char *text, size_t len)
{
    const struct ucx *u = (const struct ucx *)tp;
    snprintf(text, len, "UCX %s, address of %zu bytes%s", u->lib.ucp_get_version_string(),
             u->addr_bytes, u->one_sided ? "" : ", messages only");
}

const struct tp_ops tp_ucx_ops = {
    .name = "ucx",
    .open = ucx_open,
    .address = ucx_address,
    .connect = ucx_connect,
    .close = ucx_close,
    .am = ucx_am,
    .reg = ucx_reg,
    .pack = ucx_pack,
    .dereg = ucx_dereg,
    .import = ucx_import,
    .drop = ucx_drop,
    .put = ucx_put,
    .get = ucx_get,
    .atomic = ucx_atomic,
    .atomic_ok = ucx_atomic_ok,
    .flush = ucx_flush,
    .tx_open = ucx_tx_open,
    .tx_close = ucx_tx_close,
    .tx_far = ucx_tx_far,
    .tx_drop = ucx_tx_drop,
    .tx_put = ucx_tx_put,
    .tx_flush = ucx_tx_flush,
    .progress = ucx_progress,
    .fd = ucx_fd,
    .describe = ucx_describe,
};
