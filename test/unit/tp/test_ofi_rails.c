/* test_ofi_rails.c - a further card that falls silent, seen by a process that sleeps between its
 * looks; a peer that has left. */
#include "config.h"

#include "job.h"
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot_types.h"
#include "tp/ofi/ofi.h"

Suite *suite_ofi_rails(void);

/* --- cards that take everything and finish nothing -------------------------------------------- */

static int questions, given;

static ssize_t take(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    given++;
    return 0;
}

static ssize_t count(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t addr)
{
    struct ofi_wire w;
    memcpy(&w, buf, sizeof w);
    questions += w.kind == OFI_ASK;
    return 0;
}

static ssize_t nothing(struct fid_cq *cq, void *buf, size_t n)
{
    return -FI_EAGAIN;
}

static int may_sleep(struct fid_fabric *f, struct fid **fids, int n)
{
    return 0;
}

static int closed;

static int close_it(struct fid *f)
{
    closed++;
    return 0;
}

static uint32_t one_seventeen(void)
{
    return FI_VERSION(1, 17);
}

static void lists_init(struct ofi *o)
{
    struct list *all[] = {&o->splits,  &o->again,   &o->stuck,    &o->suspects,
                          &o->queuing, &o->holders, &o->owing,    &o->lost,
                          &o->unposted, &o->unheard, &o->rail[0].flying};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        list_init(all[i]);
}

/* The peer answers each question at once, and nothing ends on the rail.  Each look behind a sleep
 * asks: for the first ten the piece is young, then come the first question and 15 answers.  If only
 * each 64th look asked, there would be over 1,000.  Then its endpoint is closed, but not where that
 * may crash. */
START_TEST(silent)
{
    enum { SLEEP_US = 105000, LOOKS = 27, MOST = 5 * LOOKS };
    struct fi_ops ops = {.size = sizeof ops, .close = close_it};
    struct fi_ops_rma rma = {.size = sizeof rma, .readmsg = take};
    struct fi_ops_msg msg = {.size = sizeof msg, .inject = count};
    struct fi_ops_cq cq_ops = {.size = sizeof cq_ops, .read = nothing};
    struct fi_ops_fabric fabric_ops = {.size = sizeof fabric_ops, .trywait = may_sleep};
    struct fid_fabric fabric = {.ops = &fabric_ops};
    struct fid_cq cq = {.ops = &cq_ops};
    struct fid_ep ep = {.fid = {.ops = &ops}, .rma = &rma, .msg = &msg};
    struct fi_domain_attr name[] = {{.name = "first"}, {.name = "second"}};
    struct fi_fabric_attr of = {.prov_name = _i ? "tcp;ofi_rxm" : "verbs;ofi_rxm"};
    struct fi_info info[] = {{.domain_attr = &name[0], .fabric_attr = &of},
                             {.domain_attr = &name[1], .fabric_attr = &of}};
    struct ofi o = {.lib.version = one_seventeen,
                    .info = &info[0],
                    .fabric = &fabric,
                    .cq = &cq,
                    .ep = &ep,
                    .inject = OFI_SMALL,
                    .wait = FI_WAIT_FD,
                    .nfds = 1,
                    .nrails = 1,
                    .rail = {{.info = &info[1], .fabric = &fabric, .cq = &cq, .ep = &ep}}};
    static char here[OFI_RAIL_MIN];
    lists_init(&o);
    map_init(&o.peers);
    struct ofi_peer *p = ofi_peer_make(&o, 1);
    ck_assert_ptr_nonnull(p);
    p->known = p->rails = 1;
    struct tp_far far = {.peer = p, .rails = 1};
    struct ofi_rma holder = {.peer = NULL};
    questions = given = closed = 0;
    ck_assert_int_eq(ofi_rails_move(&o, &far, 0, here, sizeof here, NULL, &holder, 0), 0);
    ck_assert_int_eq(given, 2); /* a piece each */
    int looks = 0;
    while (!o.rail[0].dead && looks++ < MOST) {
        ck_assert_int_eq(ofi_fd((struct tp *)&o, 1), 0);
        usleep(SLEEP_US);
        ofi_rails_progress(&o);
        p->heard_at = time_now();
    }
    ck_assert_msg(o.rail[0].dead, "%d questions in %d looks", questions, looks);
    ck_assert(questions > 15 && closed == !_i && o.rail[0].stays_open == _i);
    ofi_rails_progress(&o); /* its part of the get goes by the first card */
    ck_assert_int_eq(given, 3);
    ofi_rails_free(&o);
    free(p);
    map_destroy(&o.peers);
}
END_TEST

/* --- a peer that has left ------------------------------------------------------------------ */

static int lost;

static void count_lost(void *up, unsigned peer, int err)
{
    lost++;
}

/* A process of another job. Its connection ends, and it has said before, or says later, that it has
 * left: the room above is told once (am/ keeps room for its replies), and nothing waits here for
 * its death. */
static void body_left(void)
{
    const struct tp_env env = {.lost = count_lost, .proc = proc};
    struct tp *tp;
    struct tp_caps caps;
    proc->boot->universe = 16;
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == 0);
    struct ofi *o = (struct ofi *)tp;
    for (int late = 0; late <= 1; late++) {
        int rank = 10 + late;
        struct ofi_peer *p = ofi_peer_make(o, (unsigned)rank);
        lost = 0;
        if (!late)
            boot_leaves(rank);
        ofi_peer_lost(o, p, -ECONNRESET);
        for (int i = 0; i < 3; i++)
            tp_ofi_ops.progress(tp);
        job_check(lost == 1 && list_empty(&o->lost) == !late);
        boot_leaves(rank);
        tp_ofi_ops.progress(tp);
        job_check(lost == 1 && list_empty(&o->lost));
    }
    tp_ofi_ops.close(tp);
}

START_TEST(left)
{
    static const char *const tcp[] = {"MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm", NULL};
    ck_assert_int_eq(job_run(1, tcp, body_left, 30), 0);
}
END_TEST

Suite *suite_ofi_rails(void)
{
    Suite *s = suite_create("tp/ofi/rails");
    TCase *t = tcase_create("ofi_rails");
    tcase_add_loop_test(t, silent, 0, 2);
    tcase_add_test(t, left);
    suite_add_tcase(s, t);
    return s;
}
