/* ucx_ping.c - the UCX transport beside bare UCX, between two processes, in one run and
 * interleaved: what UCX itself needs is the limit that ours is judged by.
 *
 *   make test/perf/ucx_ping && UCX_TLS=tcp test/perf/ucx_ping [repetitions]
 *
 * bare: UCX calls alone, polled.  tp: the same through src/tp/ucx, polled.  am: through am/ and the
 * progress engine, which also looks at the transports of the host.  All of it under the variables
 * of UCX that the transport sets (lib.c).  Median [lowest - highest] of the repetitions, and the
 * median of the ratios to bare in the same repetition. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

#include "am/am.h"
#include "base/proc.h"
#include "base/sched.h"
#include "mem/mem.h"
#include "progress/progress.h"
#include "tp/ucx/ucx_types.h"
#include "var/var.h"

enum { PING = AM_TEST, REP_MAX = 999, MEMORY = 4 << 20, WAYS = 3 };

static int reps = 31, me;
static uint64_t came; /* messages, whichever way */
static char *buf, *window;

/* --- bare UCX ------------------------------------------------------------------------- */

static struct {
    struct ucx_lib lib;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    ucp_mem_h mem;
    ucp_rkey_h rkey;
    uint64_t remote;
    unsigned pending;
    ucp_datatype_t packed; /* of short messages, as the transport sends them */
    struct ucx_out *out;
} b;

static ucs_status_t on_bare(void *arg, const void *header, size_t hlen, void *data, size_t len,
                            const ucp_am_recv_param_t *param)
{
    came++;
    return UCS_OK;
}

static void bare_done(void *request, ucs_status_t status, void *arg)
{
    job_check(status == UCS_OK);
    b.pending--;
    b.lib.ucp_request_free(request);
}

static void bare_count(ucs_status_ptr_t r)
{
    job_check(!UCS_PTR_IS_ERR(r));
    b.pending += UCS_PTR_IS_PTR(r);
}

static const ucp_request_param_t bare_param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                               UCP_OP_ATTR_FIELD_FLAGS,
                                               .flags = UCP_AM_SEND_FLAG_EAGER,
                                               .cb.send = bare_done};
static const ucp_request_param_t bare_rma = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
                                             .cb.send = bare_done};

static void bare_poll(void)
{
    b.lib.ucp_worker_progress(b.worker);
}

static void bare_send(size_t len)
{
    while (b.pending > 64)
        bare_poll();
    if (b.packed && len <= UCX_PACKED_MAX) {
        ucp_request_param_t p = bare_param;
        p.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
        p.datatype = b.packed;
        b.out->total = len;
        bare_count(b.lib.ucp_am_send_nbx(b.ep, 0, NULL, 0, b.out, 1, &p));
        return;
    }
    bare_count(b.lib.ucp_am_send_nbx(b.ep, 0, NULL, 0, buf, len, &bare_param));
}

static void bare_put(size_t len)
{
    bare_count(b.lib.ucp_put_nbx(b.ep, buf, len, b.remote, b.rkey, &bare_rma));
}

static void bare_flush(void)
{
    bare_count(b.lib.ucp_ep_flush_nbx(b.ep, &bare_rma));
    while (b.pending)
        bare_poll();
}

static void exchange(const char *what, const void *mine, size_t len, void *other, size_t room,
                     size_t *got)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%d", what, me);
    job_check(boot_put(name, mine, len) == 0 && boot_barrier() == 0);
    snprintf(name, sizeof name, "%s.%d", what, 1 - me);
    *got = room;
    job_check(boot_get(name, other, got) == 0);
}

static void bare_open(void)
{
    ucp_config_t *config = NULL;
    ucp_address_t *addr;
    size_t len;
    char other[BOOT_VALUE_MAX];
    void *rkey;
    unsigned set = ucx_defaults_on();
    job_check(ucx_load(&b.lib) == 0 && b.lib.ucp_config_read(NULL, NULL, &config) == UCS_OK);
    const ucp_params_t p = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                            .features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP};
    job_check(b.lib.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &p, config, &b.context) ==
              UCS_OK);
    b.lib.ucp_config_release(config);
    const ucp_worker_params_t wp = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                    .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    job_check(b.lib.ucp_worker_create(b.context, &wp, &b.worker) == UCS_OK);
    ucx_defaults_off(set);
    const ucp_am_handler_param_t h = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                    UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                                                    UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .flags = UCP_AM_FLAG_WHOLE_MSG,
                                      .cb = on_bare};
    job_check(b.lib.ucp_worker_set_am_recv_handler(b.worker, &h) == UCS_OK);
    b.out = calloc(1, sizeof *b.out + UCX_PACKED_MAX);
    if (!ucx_has_card())
        job_check(b.lib.ucp_dt_create_generic(&ucx_packer, NULL, &b.packed) == UCS_OK);
    job_check(b.lib.ucp_worker_get_address(b.worker, &addr, &len) == UCS_OK);
    exchange("bare", addr, len, other, sizeof other, &len);
    const ucp_ep_params_t ep = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                .address = (ucp_address_t *)other};
    job_check(b.lib.ucp_ep_create(b.worker, &ep, &b.ep) == UCS_OK);
    const ucp_mem_map_params_t mp = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                   UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                     .address = window,
                                     .length = MEMORY};
    job_check(b.lib.ucp_mem_map(b.context, &mp, &b.mem) == UCS_OK);
    job_check(b.lib.ucp_rkey_pack(b.context, b.mem, &rkey, &len) == UCS_OK);
    exchange("rkey", rkey, len, other, sizeof other, &len);
    job_check(b.lib.ucp_ep_rkey_unpack(b.ep, other, &b.rkey) == UCS_OK);
    const uint64_t base = (uintptr_t)window;
    exchange("base", &base, sizeof base, &b.remote, sizeof b.remote, &len);
}

/* --- the transport, and am/ ------------------------------------------------------------- */

static struct tp *tp;
static const struct tp_ops *ops;
static struct tp_caps caps;
static struct tp_far *far;
static unsigned tp_pending;

static void on_done(struct tp_done *d, int err)
{
    job_check(err == 0);
    tp_pending--;
    free(d);
}

static int on_ping(int src, const void *msg, size_t len)
{
    came++;
    return 0;
}

static void tp_poll(void)
{
    ops->progress(tp);
}

static void am_send(size_t len, void (*poll)(void))
{
    struct iovec v = {buf, len};
    int err;
    while ((err = am_request(1 - me, PING, &v, 1, 0)) == AM_AGAIN)
        poll();
    job_check(err == 0);
}

static void tp_send(size_t len)
{
    am_send(len, tp_poll);
}

static void engine_poll(void)
{
    progress_poll();
}

static void engine_send(size_t len)
{
    am_send(len, engine_poll);
}

static void tp_count(int answer, struct tp_done *d)
{
    job_check(answer == 0 || answer == TP_PENDING);
    if (answer == TP_PENDING)
        tp_pending++;
    else
        free(d);
}

static void tp_put(size_t len)
{
    struct tp_done *d = malloc(sizeof *d);
    int answer;
    d->fn = on_done;
    while ((answer = ops->put(tp, far, 0, buf, len, NULL, d)) == TP_AGAIN)
        tp_poll();
    tp_count(answer, d);
}

static void tp_flush(void)
{
    struct tp_done *d = malloc(sizeof *d);
    d->fn = on_done;
    tp_count(ops->flush(tp, (unsigned)(1 - me), d), d);
    while (tp_pending)
        tp_poll();
}

static void tp_open(void)
{
    struct tp_mem *mem;
    char key[1024], other[1024];
    size_t len = sizeof key;
    job_check(mem_init() == 0 && progress_init() == 0 && am_init() == 0);
    am_handler(PING, on_ping);
    tp = am_tp_to(1 - me, &ops, &caps);
    job_check(tp && !strcmp(ops->name, "ucx"));
    job_check(ops->reg(tp, window, MEMORY, 0, TP_MAY_READ | TP_MAY_WRITE, &mem) == 0 &&
              ops->pack(tp, mem, key, &len) == 0);
    exchange("far", key, len, other, sizeof other, &len);
    job_check(ops->import(tp, (unsigned)(1 - me), other, len, &far) == 0);
}

/* --- what is measured --------------------------------------------------------------------- */

static const struct way {
    const char *name;
    void (*send)(size_t), (*put)(size_t), (*flush)(void), (*poll)(void);
} ways[WAYS] = {{"bare", bare_send, bare_put, bare_flush, bare_poll},
                {"tp", tp_send, tp_put, tp_flush, tp_poll},
                {"am", engine_send, NULL, NULL, engine_poll}};

static void await(const struct way *w, uint64_t goal)
{
    while (came < goal)
        w->poll();
}

/* What was sent last may still need us. */
static void meet(const struct way *w)
{
    int fd;
    boot_barrier_begin(&fd);
    while (!boot_barrier_test())
        w->poll();
}

static double half_round_trip(const struct way *w, size_t len, int n)
{
    came = 0;
    meet(w);
    uint64_t t = time_now();
    for (int i = 0; i < n; i++) {
        if (me == 0)
            w->send(len);
        await(w, (uint64_t)i + 1);
        if (me == 1)
            w->send(len);
    }
    return (double)(time_now() - t) / (2e3 * n);
}

static double stream(const struct way *w, size_t len, int n)
{
    came = 0;
    meet(w);
    uint64_t t = time_now();
    for (int i = 0; me == 0 && i < n; i++)
        w->send(len);
    await(w, me == 0 ? 1 : (uint64_t)n);
    if (me == 1)
        w->send(8);
    return (double)(time_now() - t) / (1e3 * n);
}

/* One side puts; the other serves, as UCX over tcp needs its help, until a shared word shows that
 * all is done. */
static double puts_of(const struct way *w, size_t len, int n, int flush_each)
{
    _Atomic uint64_t *over = (_Atomic uint64_t *)&job_words()[8];
    double us = 0;
    if (me == 0)
        atomic_store(over, 0);
    meet(w);
    if (me == 0) {
        uint64_t t = time_now();
        for (int i = 0; i < n; i++) {
            w->put(len);
            if (flush_each)
                w->flush();
        }
        w->flush();
        us = (double)(time_now() - t) / (1e3 * n);
        atomic_store(over, 1);
    }
    while (!atomic_load(over))
        w->poll();
    meet(w);
    return us;
}

static int by_value(const void *x, const void *y)
{
    return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

static const struct row {
    const char *name;
    size_t len;
    int n, what; /* 0 half round trip, 1 stream, 2 put + flush, 3 puts and one flush */
} table[] = {{"message, half round trip", 8, 1000, 0},
             {"message, half round trip", 1024, 1000, 0},
             {"message, half round trip", 30000, 300, 0},
             {"message, stream", 8, 5000, 1},
             {"message, stream", 30000, 1000, 1},
             {"put + flush", 8, 500, 2},
             {"put + flush", 65536, 100, 2},
             {"puts, one flush", 8, 3000, 3},
             {"puts, one flush", 65536, 300, 3},
             {"puts, one flush", 1 << 20, 30, 3}};

static void measure(const struct row *r)
{
    double v[WAYS][REP_MAX], ratio[WAYS][REP_MAX];
    for (int k = -1; k < reps; k++) /* one round to warm up */
        for (int w = 0; w < WAYS; w++) {
            double us = 0;
            if (r->what == 0)
                us = half_round_trip(&ways[w], r->len, r->n);
            else if (r->what == 1)
                us = stream(&ways[w], r->len, r->n);
            else if (ways[w].put)
                us = puts_of(&ways[w], r->len, r->n, r->what == 2);
            if (k >= 0)
                ratio[w][k] = (v[w][k] = us) / v[0][k];
        }
    for (int w = 0; me == 0 && w < WAYS; w++) {
        if (r->what > 1 && !ways[w].put)
            continue;
        qsort(v[w], (size_t)reps, sizeof(double), by_value);
        qsort(ratio[w], (size_t)reps, sizeof(double), by_value);
        printf("%-26s %8zu B  %-5s %9.2f us [%.2f - %.2f]  %8.2f GB/s  x %.2f\n", r->name, r->len,
               ways[w].name, v[w][reps / 2], v[w][0], v[w][reps - 1],
               (double)r->len / (v[w][reps / 2] * 1e3), ratio[w][reps / 2]);
    }
    fflush(stdout);
}

static void body(void)
{
    me = boot_rank();
    buf = calloc(1, MEMORY);
    window = calloc(1, MEMORY);
    bare_open();
    tp_open();
    if (me == 0)
        printf("UCX %s, UCX_TLS=%s\n", b.lib.ucp_get_version_string(),
               getenv("UCX_TLS") ? getenv("UCX_TLS") : "(all)");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        measure(&table[i]);
    boot_barrier(); /* the kernel frees the rest */
}

int main(int argc, char **argv)
{
    static const char *const sets[] = {"MPIR_CVAR_TRANSPORT=ucx", "MPIR_CVAR_NOLOCAL=1",
                                       "MPIR_CVAR_RMA_NATIVE_PUT_MIN=1", NULL};
    if (argc > 1)
        reps = atoi(argv[1]);
    if (reps < 1 || reps > REP_MAX)
        reps = 31;
    return job_run(2, sets, body, 600) ? EXIT_FAILURE : EXIT_SUCCESS;
}
