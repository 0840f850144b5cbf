/* test_ofi.c - what the contract test cannot see of tp/ofi: strangers, the window, descriptors, choices. */
#include "config.h"

#include "job.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "tp/ofi/ofi.h"

Suite *suite_ofi(void);

static int taken;

static int count_recv(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    taken++;
    return *(int *)up;
}

static struct ofi *open_one(int *answer)
{
    struct tp *tp;
    struct tp_caps caps;
    const struct tp_env env = {.recv = count_recv, .up = answer, .proc = proc};
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == 0);
    return (struct ofi *)tp;
}

static void close_one(struct ofi *o)
{
    tp_ofi_ops.close((struct tp *)o);
}

/* --- strangers ------------------------------------------------------------------------ */

struct packet {
    struct ofi_wire w;
    char bytes[64];
};

static struct packet good(const struct ofi *o)
{
    return (struct packet){.w = {.key = o->key, .src = 1, .len = 40, .kind = OFI_REQUEST}};
}

/* A packet without the key, or with an impossible part, touches nothing: no message, no peer, no window. */
static void strangers(void)
{
    int answer = 0;
    struct ofi *o = open_one(&answer);
    struct packet p = good(o);
    enum { WHOLE = sizeof(struct ofi_wire) + 40 };
    taken = 0;
    for (size_t len = 0; len < sizeof p; len++)
        if (len != WHOLE)
            ofi_deliver(o, &p, len);
    for (int bit = 0; bit < 64; bit++) {
        p = good(o);
        p.w.key ^= 1ull << bit;
        ofi_deliver(o, &p, WHOLE);
    }
    p = good(o);
    p.w.src = o->size;
    ofi_deliver(o, &p, WHOLE);
    p = good(o);
    p.w.kind = OFI_PACKETS;
    ofi_deliver(o, &p, WHOLE);
    p = good(o);
    p.w.len = UINT32_MAX;
    ofi_deliver(o, &p, WHOLE);
    uint64_t seed = 88172645463325252ull;
    for (int i = 0; i < 20000; i++) {
        for (size_t k = 0; k < sizeof p; k += 8) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            memcpy((char *)&p + k, &seed, sizeof seed);
        }
        ofi_deliver(o, &p, (size_t)seed % (sizeof p + 1));
    }
    job_check(taken == 0 && o->peers.count == 0 && o->warned > 0);
    p = good(o);
    ofi_deliver(o, &p, WHOLE); /* and the right one is delivered */
    job_check(taken == 1 && o->peers.count == 1);
    close_one(o);
}

/* With the key, but wrong in what it says: no window is opened beyond what was sent, no address replaced. */
static void liars(void)
{
    int answer = TP_AGAIN;
    struct ofi *o = open_one(&answer);
    struct packet p = good(o);
    p.w.taken = 1000;
    ofi_deliver(o, &p, sizeof p.w + 40);
    struct ofi_peer *peer = map_get(&o->peers, 1);
    job_check(peer && peer->acked == 0 && !list_empty(&peer->held));
    p = good(o);
    p.w.kind = OFI_HELLO;
    ofi_deliver(o, &p, sizeof p.w + 40);
    job_check(!peer->known);
    /* what is held is offered again, in order, and counted when taken */
    for (int i = 0; i < 5; i++) {
        p = good(o);
        ofi_deliver(o, &p, sizeof p.w + 40);
    }
    job_check(peer->taken == 0);
    answer = 0;
    taken = 0;
    ofi_msg_progress(o);
    job_check(taken == 6 && list_empty(&peer->held) && peer->taken == 6 * (sizeof p.w + 40));
    close_one(o);
}

/* --- the window --------------------------------------------------------------------------- */

/* Requests stop at the window, whatever the provider takes; replies go on. */
static void window(void)
{
    int answer = 0, err;
    char addr[512], bytes[1000] = {0};
    size_t len = sizeof addr, sent = 0;
    struct ofi *o = open_one(&answer);
    struct tp *tp = (struct tp *)o;
    struct iovec v = {bytes, sizeof bytes};
    job_check(tp_ofi_ops.address(tp, addr, &len) == 0);
    job_check(tp_ofi_ops.connect(tp, 1, addr, len - 1) == -EPROTO);
    job_check(tp_ofi_ops.connect(tp, 2, addr, len) == -EHOSTUNREACH);
    addr[offsetof(struct ofi_address, provider)] ^= 1;
    job_check(tp_ofi_ops.connect(tp, 1, addr, len) == -EPROTO);
    addr[offsetof(struct ofi_address, provider)] ^= 1;
    /* rank 1 is ourselves under another name, and never polls */
    job_check(tp_ofi_ops.connect(tp, 1, addr, len) == 0);
    while ((err = tp_ofi_ops.am(tp, 1, TP_REQUEST, &v, 1, NULL)) == 0)
        sent += sizeof(struct ofi_wire) + sizeof bytes;
    job_check(err == TP_AGAIN && sent <= OFI_WINDOW && sent > OFI_WINDOW - 2000);
    for (int i = 0; i < OFI_REPLIES; i++)
        job_check(tp_ofi_ops.am(tp, 1, TP_REPLY, &v, 1, NULL) == 0);
    close_one(o); /* with all of it under way */
}

/* --- descriptors ------------------------------------------------------------------------------ */

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Opening again and again leaves no descriptor; what libfabric opens once for itself is left out of account. */
static void no_leak(void)
{
    int answer = 0;
    close_one(open_one(&answer));
    int before = descriptors();
    for (int i = 0; i < 5; i++)
        close_one(open_one(&answer));
    job_check(descriptors() == before);
}

/* --- choices ------------------------------------------------------------------------------------ */

static void no_such_provider(void)
{
    struct tp *tp;
    struct tp_caps caps;
    const struct tp_env env = {.recv = count_recv, .up = NULL, .proc = proc};
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == -ENODEV);
}

#define RUN(name, size, set)                                              \
    START_TEST(name##_)                                                   \
    {                                                                     \
        static const char *const sets[] = {set, NULL};                    \
        ck_assert_int_eq(job_run(size, sets, name##_all, 60), 0);         \
    }                                                                     \
    END_TEST

/* The others are only there to have ranks. */
static void strangers_all(void) { if (boot_rank() == 0) strangers(); }
static void liars_all(void) { if (boot_rank() == 0) liars(); }
static void window_all(void) { if (boot_rank() == 0) window(); }
static void no_leak_all(void) { no_leak(); }
static void no_such_provider_all(void) { no_such_provider(); }

RUN(strangers, 2, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(liars, 2, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(window, 2, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(no_leak, 1, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(no_such_provider, 1, "MPIR_CVAR_OFI_PROVIDER=pigeons")

Suite *suite_ofi(void)
{
    Suite *s = suite_create("tp/ofi");
    TCase *t = tcase_create("ofi");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, strangers_);
    tcase_add_test(t, liars_);
    tcase_add_test(t, window_);
    tcase_add_test(t, no_leak_);
    tcase_add_test(t, no_such_provider_);
    suite_add_tcase(s, t);
    return s;
}
