/* test_ucx_contexts.c - one-sided access of the UCX transport, where it is used and nowhere else,
 * and its transmit contexts beyond the contract. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "mpi.h"
#include "ucx_up.h"
#include "var/var.h"

Suite *suite_ucx_contexts(void);

/* No process sends here. */
static int unexpected(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    (void)up, (void)peer, (void)cls, (void)msg, (void)len;
    job_check(0);
    return 0;
}

static void start(void)
{
    ucx_up(unexpected);
}

/* --- one-sided access where it is used, and nowhere else -------------------------------------- */

static uint64_t features;
static int shared; /* by several workers: locks of UCX */

static ucs_status_t init_and_look(unsigned major, unsigned minor, const ucp_params_t *params,
                                  const ucp_config_t *config, ucp_context_h *context)
{
    (void)major, (void)minor, (void)config, (void)context;
    features = params->features;
    shared = params->mt_workers_shared;
    return UCS_ERR_UNSUPPORTED;
}

static void opens_of(int wanted)
{
    const unsigned rma = TP_PUT | TP_GET | TP_ATOMIC;
    const uint64_t asked = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    start();
    u->lib.ucp_init_version = init_and_look;
    job_check(ucx_open_context(u) == UCS_ERR_UNSUPPORTED);
    job_check((caps.flags & rma) == (wanted ? rma : 0) &&
              (features & asked) == (wanted ? asked : 0));
    job_check(shared == wanted);
    stop();
}

static void closed(void)
{
    opens_of(0);
}

static void open_to_all(void)
{
    opens_of(1);
}

static ucs_status_t init_the_same(unsigned major, unsigned minor, const ucp_params_t *params,
                                  const ucp_config_t *config, ucp_context_h *context)
{
    (void)major, (void)minor, (void)config, (void)context;
    shared = params->mt_workers_shared;
    return UCS_OK;
}

static ucs_status_t one_at_a_time(ucp_context_h context, ucp_context_attr_t *is)
{
    (void)context;
    is->thread_mode = UCS_THREAD_MODE_SINGLE;
    return UCS_OK;
}

/* A UCX that has no locks: it was asked for them, and there are no transmit contexts. */
static void open_without_locks(void)
{
    struct tp_tx *tx;
    start();
    u->lib.ucp_init_version = init_the_same;
    u->lib.ucp_context_query = one_at_a_time;
    job_check(ucx_open_context(u) == UCS_OK && shared);
    job_check(tp_ucx_ops.tx_open((struct tp *)u, &tx) == -ENOTSUP);
    stop();
}

static void as_the_card_says(void)
{
    opens_of(entries_of("/sys/class/infiniband") > 2);
}

START_TEST(one_sided_when_used)
{
    static const char *const asks[] = {
        "MPIR_CVAR_RMA_NATIVE_PUT_MIN=0", "MPIR_CVAR_RMA_NATIVE_GET_MIN=1",
        "MPIR_CVAR_RMA_NATIVE_ATOMIC=1", "MPIR_CVAR_RMA_PULL_MIN=0", "MPIR_CVAR_P2P_NATIVE_MIN=1"};
    static const char *const off[] = {"MPIR_CVAR_RMA_NATIVE=0", "MPIR_CVAR_RMA_NATIVE_PUT_MIN=0",
                                      NULL};
    ck_assert_int_eq(job_run(1, NULL, as_the_card_says, 20), 0);
    ck_assert_int_eq(job_run(1, off, closed, 20), 0);
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        const char *const set[] = {asks[i], NULL};
        ck_assert_int_eq(job_run(1, set, open_to_all, 20), 0);
        ck_assert_int_eq(job_run(1, set, open_without_locks, 20), 0);
    }
}
END_TEST

/* --- transmit contexts ------------------------------------------------------------------------ */

static unsigned flushes;
static __typeof__(ucp_ep_flush_nbx) *really_flush;

static ucs_status_ptr_t flush_and_count(ucp_ep_h ep, const ucp_request_param_t *param)
{
    flushes++;
    return really_flush(ep, param);
}

/* The memory of rank 1, 8 bytes for each context, as the process reaches it. */
static struct tp_far *memory_of_one(uint64_t *memory)
{
    struct tp_mem *mem = NULL;
    struct tp_far *far = NULL;
    char key[512];
    size_t len = sizeof key;
    connect_to(1 - boot_rank());
    if (boot_rank() == 1) {
        ok(tp_ucx_ops.reg((struct tp *)u, memory, 16, 0, TP_MAY_READ | TP_MAY_WRITE, &mem));
        ok(tp_ucx_ops.pack((struct tp *)u, mem, key, &len));
        ok(boot_put("memory", key, len));
    }
    ok(boot_barrier());
    len = sizeof key;
    if (boot_rank() == 0) {
        ok(boot_get("memory", key, &len));
        ok(tp_ucx_ops.import((struct tp *)u, 1, key, len, &far));
    }
    return far;
}

static void flushed(struct tp_tx *tx, struct tp_far *far, unsigned calls)
{
    int rc;
    flushes = 0;
    while ((rc = tp_ucx_ops.tx_flush(tx, far)) == TP_AGAIN)
        tp_ucx_ops.progress((struct tp *)u);
    job_check(rc == 0 && flushes == calls);
}

/* UCX is asked once for each flush that has something to wait for, whatever the other has flushed,
 * and once more for a put in between; what a worker reads stays in the environment as long as one
 * can be made; the transport ends a context that is open yet. */
static void economical(void)
{
    uint64_t memory[2] = {0}, v = 3;
    struct tp_tx *left;
    int descriptors = entries_of("/proc/self/fd");
    start();
    job_check(getenv("UCX_TCP_CONN_NB") && getenv("UCX_TCP_MAX_POLL") && !getenv("UCX_MEM_EVENTS"));
    struct tp_far *far = memory_of_one(memory), *mine[2];
    struct tp_tx *tx[2];
    really_flush = u->lib.ucp_ep_flush_nbx;
    u->lib.ucp_ep_flush_nbx = flush_and_count;
    for (int i = 0; far && i < 2; i++) {
        ok(tp_ucx_ops.tx_open((struct tp *)u, &tx[i]));
        job_check(((uintptr_t)tx[i] & 127) == 0);
        ok(tp_ucx_ops.tx_far(tx[i], far, &mine[i]));
        ok(tp_ucx_ops.tx_put(tx[i], mine[i], 8 * (uint64_t)i, &v, 8));
    }
    if (far) { /* there is no connection yet */
        job_check(tp_ucx_ops.tx_flush(tx[0], mine[0]) == TP_AGAIN && flushes == 1);
        ok(tp_ucx_ops.tx_put(tx[0], mine[0], 0, &v, 8));
    }
    for (int i = 0; far && i < 2; i++) {
        flushed(tx[i], mine[i], 1);
        flushed(tx[i], mine[i], 0);
    }
    for (int i = 0; far && i < 2; i++) {
        tp_ucx_ops.tx_drop(tx[i], mine[i]);
        tp_ucx_ops.tx_close(tx[i]);
    }
    meet();
    job_check(boot_rank() == 0 || (memory[0] == v && memory[1] == v));
    if (far)
        tp_ucx_ops.drop((struct tp *)u, far);
    job_check(list_empty(&u->contexts));
    ok(tp_ucx_ops.tx_open((struct tp *)u, &left));
    stop();
    job_check(entries_of("/proc/self/fd") == descriptors);
    job_check(!getenv("UCX_TCP_CONN_NB") && !getenv("UCX_TCP_MAX_POLL"));
}

static unsigned looks, keys_ended;
static __typeof__(ucp_worker_progress) *really_progress;
static __typeof__(ucp_rkey_destroy) *really_end_key;
static __typeof__(ucp_put_nbx) *really_put;
static int refuses;

static unsigned look_and_count(ucp_worker_h worker)
{
    looks++;
    return really_progress(worker);
}

static void end_key_and_count(ucp_rkey_h rkey)
{
    keys_ended++;
    really_end_key(rkey);
}

static ucs_status_ptr_t put_or_refuse(ucp_ep_h ep, const void *from, size_t n, uint64_t to,
                                      ucp_rkey_h rkey, const ucp_request_param_t *param)
{
    return refuses ? UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET)
                   : really_put(ep, from, n, to, rkey, param);
}

static void settle(struct tp_tx *tx, struct tp_far *far, int want)
{
    int rc;
    while ((rc = tp_ucx_ops.tx_flush(tx, far)) == TP_AGAIN)
        tp_ucx_ops.progress((struct tp *)u);
    job_check(rc == want);
}

/* A context that is not flushed reads what the target answers.  A key that is dropped under a put
 * lives until that has ended, and no longer.  What UCX refuses for ever, every call reports. */
static void left_alone(void)
{
    enum { MANY = 6400, AT_MOST = 64 };
    uint64_t memory[2] = {0}, v = 3;
    start();
    struct tp_far *far = memory_of_one(memory), *mine, *other;
    struct tp_tx *tx;
    really_progress = u->lib.ucp_worker_progress;
    really_end_key = u->lib.ucp_rkey_destroy;
    really_put = u->lib.ucp_put_nbx;
    if (far) {
        u->lib.ucp_worker_progress = look_and_count;
        u->lib.ucp_rkey_destroy = end_key_and_count;
        u->lib.ucp_put_nbx = put_or_refuse;
        ok(tp_ucx_ops.tx_open((struct tp *)u, &tx));
        ok(tp_ucx_ops.tx_far(tx, far, &mine));
        ok(tp_ucx_ops.tx_put(tx, mine, 0, &v, 8)); /* it waits for the connection */
        tp_ucx_ops.tx_drop(tx, mine);
        ok(tp_ucx_ops.tx_far(tx, far, &other));
        job_check(keys_ended == 0);
        settle(tx, other, 0);
        ok(tp_ucx_ops.tx_far(tx, far, &mine));
        job_check(keys_ended == 1);
        looks = 0;
        for (int i = 0; i < MANY; i++)
            while (tp_ucx_ops.tx_put(tx, mine, 8, &v, 8) == TP_AGAIN)
                continue;
        job_check(looks >= MANY / AT_MOST - 1);
        settle(tx, mine, 0);
        refuses = 1;
        job_check(tp_ucx_ops.tx_put(tx, mine, 8, &v, 8) == -ENOTCONN);
        refuses = 0;
        job_check(tp_ucx_ops.tx_put(tx, mine, 8, &v, 8) == -ENOTCONN);
        settle(tx, mine, -ENOTCONN);
        tp_ucx_ops.tx_drop(tx, mine);
        tp_ucx_ops.tx_drop(tx, other);
        job_check(keys_ended == 3);
        tp_ucx_ops.tx_close(tx);
        tp_ucx_ops.drop((struct tp *)u, far);
    }
    meet();
    stop();
}

START_TEST(contexts)
{
    static const char *const asks[] = {"MPIR_CVAR_RMA_NATIVE_PUT_MIN=1", NULL};
    setenv("UCX_TLS", "tcp", 1);
    ck_assert_int_eq(job_run(2, asks, economical, 20), 0);
    ck_assert_int_eq(job_run(2, asks, left_alone, 20), 0);
}
END_TEST

Suite *suite_ucx_contexts(void)
{
    Suite *s = suite_create("tp/ucx_contexts");
    TCase *t = tcase_create("ucx_contexts");
    tcase_set_timeout(t, 80);
    tcase_add_test(t, one_sided_when_used);
    tcase_add_test(t, contexts);
    suite_add_tcase(s, t);
    return s;
}
