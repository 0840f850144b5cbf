/* stranger_ucx.c - a stranger that speaks UCX (stranger.c): it has an address, and not the key. */
#include "job.h"
#include "stranger.h"
#include "unit.h"

#include <string.h>

#include "base/proc.h"
#include "mpi.h"
#include "tp/ucx/ucx_types.h"
#include "var/var.h"

Suite *suite_stranger(void);

static struct ucx *u; /* the stranger's own */
static struct ucx_peer *prey;
static struct tp_mem *mem;
static struct tp_far *far;

static int take_nothing(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    job_check(0);
    return 0;
}

static void turn(void)
{
    if (u)
        tp_ucx_ops.progress((struct tp *)u);
}

/* UCX's own send, as ucx_am() would do it. */
static void packet(const struct ucx_hdr *h, size_t len)
{
    static char bytes[sizeof *h + CONTROL_BYTES];
    memcpy(bytes, h, sizeof *h);
    const ucp_request_param_t eager = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags = UCP_AM_SEND_FLAG_EAGER};
    void *r = u->lib.ucp_am_send_nbx(prey->ep, UCX_AM_ID, NULL, 0, bytes,
                                     len < sizeof bytes ? len : sizeof bytes, &eager);
    job_check(!UCS_PTR_IS_ERR(r));
    if (!UCS_PTR_IS_PTR(r))
        return;
    while (u->lib.ucp_request_check_status(r) == UCS_INPROGRESS)
        turn();
    u->lib.ucp_request_free(r);
}

static void meet(const void *addr, size_t len)
{
    struct tp *tp;
    struct tp_caps caps;
    const struct tp_env env = {.recv = take_nothing, .proc = proc};
    cvar.rma_native = 1;
    cvar.rma_native_put = 0;
    job_check(tp_ucx_ops.open(&env, &tp, &caps) == 0);
    u = (struct ucx *)tp;
    prey = ucx_peer_of(u, 0);
    job_check(ucx_peer_address(prey, addr, len) == 0 && ucx_peer_open(prey) == 0);
}

enum { WHOLE = sizeof(struct ucx_hdr) + CONTROL_BYTES };

static void say_without_key(void)
{
    struct ucx_hdr h = {.src = 2};
    for (int bit = -1; bit < 64; bit++)
        for (int cls = 0; cls < UCX_CLASSES; cls++) {
            h.key = bit < 0 ? 0 : prey->key ^ 1ull << bit;
            h.src = (uint32_t)(bit + 1) % 3;
            h.cls = (uint8_t)cls;
            packet(&h, WHOLE);
        }
    for (size_t n = 1; n < WHOLE; n++) {
        h.key = n % 2 ? 0 : prey->key + 1;
        packet(&h, n);
    }
}

static void ignored(struct tp_done *d, int err)
{
}

/* UCX's key of memory is empty over tcp: one of our own will do, and the address is what we
 * like. */
static void strike(void)
{
    static uint64_t own, one = 1;
    static struct tp_done d = {ignored};
    const uint64_t base = (uintptr_t)stranger_spoil();
    const struct tp_atomic add = {.op = MPI_SUM, .type = 3 | 16, .n = 1, .operand = &one};
    struct tp *tp = (struct tp *)u;
    char key[1024];
    size_t len = sizeof key;
    job_check(tp_ucx_ops.reg(tp, &own, sizeof own, 0, TP_MAY_READ | TP_MAY_WRITE, &mem) == 0);
    job_check(tp_ucx_ops.pack(tp, mem, key, &len) == 0);
    memcpy(key, &base, sizeof base);
    job_check(tp_ucx_ops.import(tp, 0, key, len, &far) == 0);
    job_check(tp_ucx_ops.put(tp, far, 0, &own, sizeof own, NULL, &d) >= 0);
    job_check(tp_ucx_ops.atomic(tp, far, 0, &add, &d) >= 0);
}

static void speak(void)
{
    say_without_key();
    strike();
}

/* On the same connection, so what was sent before has come. */
static void control(void)
{
    packet(&(const struct ucx_hdr){.key = prey->key, .src = 2, .cls = UCX_REQUEST}, WHOLE);
}

static void part(void)
{
    tp_ucx_ops.drop((struct tp *)u, far);
    tp_ucx_ops.dereg((struct tp *)u, mem);
    tp_ucx_ops.close((struct tp *)u);
    u = NULL;
}

static const struct row messages = {&tp_ucx_ops,        2, 2, "MPIR_CVAR_RMA_NATIVE=0",
                                    "UCX_TLS=tcp,self", 0, 0, 0, 0};
static const struct row one_sided = {&tp_ucx_ops,        2, 2, "MPIR_CVAR_RMA_NATIVE_PUT_MIN=1",
                                     "UCX_TLS=tcp,self", 0, 0, 0, 0};

/* Where only messages are used, nothing of it has an effect. */
START_TEST(stranger)
{
    static const struct tongue ucx = {meet, speak, control, turn, part, NULL, 0, 0};
    uint64_t spoil;
    ck_assert_int_eq(stranger_run(&messages, &ucx, &spoil), 0);
    ck_assert_uint_eq(spoil, STRANGER_SPOIL);
}
END_TEST

/* With UCX's one-sided access a stranger can write anywhere. If this fails, SECURITY.md is too
 * pessimistic about UCX. */
START_TEST(hole)
{
    static const struct tongue ucx = {meet, speak, control, turn, part, NULL, 0, 0};
    uint64_t spoil;
    ck_assert_int_eq(stranger_run(&one_sided, &ucx, &spoil), 0);
    ck_assert_uint_ne(spoil, STRANGER_SPOIL);
}
END_TEST

/* What UCX's tcp reads behind the eight bytes that each connection begins with it believes, and
 * aborts: the job ends, and nothing was written. */
START_TEST(aborted)
{
    static const uint64_t magic = 0xCAFEBABE12345678u;
    static const struct tongue ucx = {meet, speak, control, turn, part, &magic, sizeof magic, 0};
    uint64_t spoil;
    (void)stranger_run(&messages, &ucx, &spoil);
    ck_assert_uint_eq(spoil, STRANGER_SPOIL);
}
END_TEST

Suite *suite_stranger(void)
{
    Suite *s = suite_create("tp/stranger");
    TCase *t = tcase_create("stranger");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, stranger);
    tcase_add_test(t, hole);
    tcase_add_test(t, aborted);
    suite_add_tcase(s, t);
    return s;
}
