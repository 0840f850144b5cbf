/* stranger_ofi.c - a stranger that speaks libfabric (stranger.c): it has the name of an endpoint,
 * and not the key that is beside it. */
#include "job.h"
#include "stranger.h"
#include "unit.h"

#include <string.h>

#include "base/proc.h"
#include "tp/ofi/ofi.h"

Suite *suite_stranger(void);

static struct ofi *o; /* the stranger's own */
static fi_addr_t prey;
static struct ofi_contact card; /* the victim's; its key is for the control alone */

static int take_nothing(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    job_check(0);
    return 0;
}

static void turn(void)
{
    if (o)
        tp_ofi_ops.progress((struct tp *)o);
}

static void packet(struct ofi_wire w, size_t len)
{
    char bytes[sizeof w + CONTROL_BYTES] = {0};
    ssize_t err;
    memcpy(bytes, &w, sizeof w);
    while ((err = fi_inject(o->ep, bytes, len < sizeof bytes ? len : sizeof bytes, prey)) ==
           -FI_EAGAIN)
        turn();
    job_check(err == 0);
}

static void meet(const void *addr, size_t len)
{
    struct tp *tp;
    struct tp_caps caps;
    const struct tp_env env = {.recv = take_nothing, .proc = proc};
    memcpy(&card, addr, len < sizeof card ? len : sizeof card);
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == 0);
    o = (struct ofi *)tp;
    job_check(fi_av_insert(o->av, card.name, 1, &prey, 0, NULL) == 1);
}

enum { WHOLE = sizeof(struct ofi_wire) + CONTROL_BYTES };

/* Greetings and verdicts, too, and in any process's name; the key is never right. */
static void speak(void)
{
    struct ofi_wire w = {.len = CONTROL_BYTES};
    for (int bit = -1; bit < 64; bit++)
        for (int kind = 0; kind < OFI_PACKETS; kind++) {
            w.key = bit < 0 ? 0 : card.key ^ 1ull << bit;
            w.src = (uint32_t)kind % 3;
            w.kind = (uint8_t)kind;
            packet(w, WHOLE);
        }
    for (size_t n = 1; n < WHOLE; n++) {
        w.key = n % 2 ? 0 : card.key + 1;
        packet(w, n);
    }
}

static void control(void)
{
    packet((struct ofi_wire){.key = card.key, .src = 2, .len = CONTROL_BYTES, .kind = OFI_REQUEST},
           WHOLE);
}

static void part(void)
{
    tp_ofi_ops.close((struct tp *)o);
    o = NULL;
}

/* Garbage in connections of libfabric's own breaks those and no others. (Zeros make it acknowledge
 * once more packets that it has taken: dropped, too.) */
START_TEST(stranger)
{
    static const struct tongue libfabric = {meet, speak, control, turn, part, NULL, 0, 8};
    uint64_t spoil;
    ck_assert_int_eq(stranger_run(&rows[0], &libfabric, &spoil), 0);
    ck_assert_uint_eq(spoil, STRANGER_SPOIL);
}
END_TEST

Suite *suite_stranger(void)
{
    Suite *s = suite_create("tp/stranger");
    TCase *t = tcase_create("stranger");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, stranger);
    suite_add_tcase(s, t);
    return s;
}
