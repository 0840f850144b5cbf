/* raw_ucx.c - bare UCX, for raw.c. UCX is loaded as the transport does, under the variables that it
 * sets (tp/ucx/lib.c). The features and the handling of failures are the transport's, too: both
 * decide what UCX uses. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "raw.h"
#include "tp/ucx/ucx_types.h"

enum { OPS = 1024, TAG = 7 };

struct door {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    unsigned pending;
};

static struct ucx_lib lib;
/* The transport has no use for these. */
static __typeof__(ucp_tag_send_nbx) *tag_send;
static __typeof__(ucp_tag_recv_nbx) *tag_recv;
static struct door memory, tags[2], *tagged; /* tags[1]: without handling of failures */
/* of short active messages, as the transport sends them: UCX's tcp is slower with what is
 * contiguous */
static ucp_datatype_t packed;
static size_t packed_len;
static ucp_rkey_h rkey;
static uint64_t far;

static void check(ucs_status_t s, const char *what)
{
    if (s == UCS_OK)
        return;
    fprintf(stderr, "raw_ucx: %s: status %d\n", what, (int)s);
    _exit(1);
}

static void on_failure(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    check(status, "the connection");
}

static ucs_status_t on_am(void *arg, const void *header, size_t hlen, void *data, size_t len,
                          const ucp_am_recv_param_t *param)
{
    raw_arrived(data, len);
    return UCS_OK;
}

static void on_done(void *request, ucs_status_t status, void *arg)
{
    check(status, "an operation");
    ((struct door *)arg)->pending--;
    lib.ucp_request_free(request);
}

static void on_recv(void *request, ucs_status_t status, const ucp_tag_recv_info_t *info, void *arg)
{
    on_done(request, status, arg);
}

static void count(struct door *d, ucs_status_ptr_t r, const char *what)
{
    if (UCS_PTR_IS_ERR(r))
        check(UCS_PTR_STATUS(r), what);
    d->pending += UCS_PTR_IS_PTR(r);
}

static void door_open(struct door *d, uint64_t features, ucp_err_handling_mode_t mode,
                      const char *name)
{
    ucp_config_t *config;
    ucp_address_t *addr;
    size_t len;
    char other[UCX_ADDRESS_MAX];
    check(lib.ucp_config_read(NULL, NULL, &config), "ucp_config_read");
    const ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES |
                                          UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                                          UCP_PARAM_FIELD_MT_WORKERS_SHARED,
                            .features = features | (raw_spin ? 0 : UCP_FEATURE_WAKEUP),
                            .estimated_num_eps = 2};
    check(lib.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &p, config, &d->context), "ucp_init");
    lib.ucp_config_release(config);
    const ucp_worker_params_t wp = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                    .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    check(lib.ucp_worker_create(d->context, &wp, &d->worker), "ucp_worker_create");
    const ucp_am_handler_param_t h = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                    UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                                                    UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .flags = UCP_AM_FLAG_WHOLE_MSG,
                                      .cb = on_am};
    if (features & UCP_FEATURE_AM)
        check(lib.ucp_worker_set_am_recv_handler(d->worker, &h), "ucp_worker_set_am_recv_handler");
    int efd;
    if (!raw_spin)
        check(lib.ucp_worker_get_efd(d->worker, &efd), "ucp_worker_get_efd");
    check(lib.ucp_worker_get_address(d->worker, &addr, &len), "ucp_worker_get_address");
    raw_swap(name, addr, len, other, sizeof other);
    const ucp_ep_params_t ep = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                              UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                              UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                .address = (ucp_address_t *)other,
                                .err_mode = mode,
                                .err_handler = {on_failure, NULL}};
    check(lib.ucp_ep_create(d->worker, &ep, &d->ep), "ucp_ep_create");
    lib.ucp_worker_release_address(d->worker, addr);
}

/* --- memory and active messages ------------------------------------------------------------ */

static void *pack_start(void *context, const void *buf, size_t n)
{
    return (void *)buf;
}

static size_t pack_bytes(void *state)
{
    return packed_len;
}

static size_t pack(void *state, size_t offset, void *to, size_t room)
{
    size_t n = packed_len - offset < room ? packed_len - offset : room;
    memcpy(to, (char *)state + offset, n);
    return n;
}

static void pack_finish(void *state)
{
}

static const ucp_generic_dt_ops_t packer = {
    .start_pack = pack_start, .packed_size = pack_bytes, .pack = pack, .finish = pack_finish};

static const ucp_request_param_t plain = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                          UCP_OP_ATTR_FIELD_USER_DATA,
                                          .cb.send = on_done,
                                          .user_data = &memory};

static void bare_poll(void)
{
    lib.ucp_worker_progress(memory.worker);
}

static void room(void)
{
    while (memory.pending >= OPS)
        bare_poll();
}

static void bare_put(size_t len)
{
    room();
    count(&memory, lib.ucp_put_nbx(memory.ep, raw_buf, len, far, rkey, &plain), "ucp_put_nbx");
}

static void bare_get(size_t len)
{
    room();
    count(&memory, lib.ucp_get_nbx(memory.ep, raw_res, len, far, rkey, &plain), "ucp_get_nbx");
}

static void bare_flush(void)
{
    count(&memory, lib.ucp_ep_flush_nbx(memory.ep, &plain), "ucp_ep_flush_nbx");
    while (memory.pending)
        bare_poll();
}

static void bare_am(size_t from, size_t len)
{
    ucp_request_param_t p = plain;
    p.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    p.flags = UCP_AM_SEND_FLAG_EAGER;
    room();
    if (packed && len <= UCX_PACKED_MAX) {
        /* one length at a time: there is no other while one is pending */
        packed_len = len;
        p.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        p.datatype = packed;
        count(&memory, lib.ucp_am_send_nbx(memory.ep, UCX_AM_ID, NULL, 0, raw_buf + from, 1, &p),
              "ucp_am_send_nbx");
        return;
    }
    count(&memory, lib.ucp_am_send_nbx(memory.ep, UCX_AM_ID, NULL, 0, raw_buf + from, len, &p),
          "ucp_am_send_nbx");
}

static void start(char *words, size_t len)
{
    ucp_mem_h mem;
    void *key;
    size_t bytes;
    char other[1024];
    unsigned set = ucx_defaults_on();
    job_check(ucx_load(&lib) == 0);
    const char *tls = getenv("UCX_TLS");
    snprintf(words, len, "UCX %s, UCX_TLS=%s%s", lib.ucp_get_version_string(), tls ? tls : "(all)",
             raw_spin ? ", no descriptor" : "");
    door_open(&memory, UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
              UCP_ERR_HANDLING_MODE_PEER, "ucx");
    ucx_defaults_off(set);
    if (!ucx_has_card())
        check(lib.ucp_dt_create_generic(&packer, NULL, &packed), "ucp_dt_create_generic");
    const ucp_mem_map_params_t mp = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                   UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                     .address = raw_window,
                                     .length = RAW_BYTES};
    check(lib.ucp_mem_map(memory.context, &mp, &mem), "ucp_mem_map");
    check(lib.ucp_rkey_pack(memory.context, mem, &key, &bytes), "ucp_rkey_pack");
    raw_swap("key", key, bytes, other, sizeof other);
    lib.ucp_rkey_buffer_release(key);
    check(lib.ucp_ep_rkey_unpack(memory.ep, other, &rkey), "ucp_ep_rkey_unpack");
    const uint64_t base = (uintptr_t)raw_window;
    raw_swap("base", &base, sizeof base, &far, sizeof far);
}

/* --- tagged messages --------------------------------------------------------------------- */

static void start_tagged(int loose)
{
    tagged = &tags[loose];
    if (tagged->ep)
        return;
    void *h = dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD);
    job_check(h);
    tag_send = (__typeof__(tag_send))dlsym(h, "ucp_tag_send_nbx");
    tag_recv = (__typeof__(tag_recv))dlsym(h, "ucp_tag_recv_nbx");
    job_check(tag_send && tag_recv);
    unsigned set = ucx_defaults_on();
    door_open(tagged, UCP_FEATURE_TAG,
              loose ? UCP_ERR_HANDLING_MODE_NONE : UCP_ERR_HANDLING_MODE_PEER,
              loose ? "loose" : "tagged");
    ucx_defaults_off(set);
}

static void bare_poll_tagged(void)
{
    lib.ucp_worker_progress(tagged->worker);
}

static void settle(void)
{
    while (tagged->pending)
        bare_poll_tagged();
}

static void bare_send(size_t len)
{
    const ucp_request_param_t p = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                   UCP_OP_ATTR_FIELD_USER_DATA,
                                   .cb.send = on_done,
                                   .user_data = tagged};
    count(tagged, tag_send(tagged->ep, raw_buf, len, TAG, &p), "ucp_tag_send_nbx");
    settle();
}

static void bare_recv(size_t len)
{
    const ucp_request_param_t p = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                   UCP_OP_ATTR_FIELD_USER_DATA,
                                   .cb.recv = on_recv,
                                   .user_data = tagged};
    count(tagged, tag_recv(tagged->worker, raw_res, len, TAG, UINT64_MAX, &p), "ucp_tag_recv_nbx");
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
                                       .has_loose = 1,
                                       .am_max = UCX_AM_MAX};
    return raw_main(argc, argv, &ops);
}
