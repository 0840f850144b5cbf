/* test_ucx.c - the UCX transport beyond the contract: what it trusts, and what it leaves of the
 * process it is loaded into. */
#include "job.h"
#include "unit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "mpi.h"
#include "tp/ucx/ucx_types.h"
#include "ucx_up.h"
#include "var/var.h"

Suite *suite_ucx(void);

static int taken[2], refuse;
static size_t last_len;
static void (*look)(const char *msg, size_t len); /* at what was taken; may be NULL */

static int count(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    job_check(((uintptr_t)msg & 7) == 0 && len <= UCX_AM_MAX && peer < (unsigned)boot_size());
    if (refuse && cls == TP_REQUEST)
        return TP_AGAIN;
    taken[cls]++;
    last_len = len;
    if (look)
        look(msg, len);
    return 0;
}

static void start(void)
{
    taken[0] = taken[1] = refuse = 0;
    ucx_up(count);
}

/* Until the descriptor may be armed. */
static void be_quiet(void)
{
    while (u->quiet < UCX_QUIET)
        tp_ucx_ops.progress((struct tp *)u);
}

/* --- packets ---------------------------------------------------------------------------- */

static char packet[sizeof(struct ucx_hdr) + UCX_ADDRESS_MAX + UCX_AM_MAX + 16];

static void offer(struct ucx_hdr h, size_t len, uint64_t attr)
{
    const ucp_am_recv_param_t param = {.recv_attr = attr};
    memcpy(packet + 3, &h, sizeof h); /* on no good address: UCX's are not */
    job_check(ucx_on_message(u, NULL, 0, packet + 3, len, &param) == UCS_OK);
}

static void hostile(void)
{
    start();
    const size_t h = sizeof(struct ucx_hdr);
    const struct ucx_hdr good = {.key = u->key, .src = 1, .cls = UCX_REQUEST};
    struct ucx_hdr x = good;
    x.key ^= 1;
    offer(x, h + 8, 0);
    job_check(!map_get(&u->peers, 1)); /* no peer is kept for it */
    x = good, x.src = 2;
    offer(x, h + 8, 0);
    x = good, x.cls = UCX_CLASSES;
    offer(x, h + 8, 0);
    offer(good, h - 1, 0);
    offer(good, 0, 0);
    offer(good, h + UCX_AM_MAX + 1, 0);
    offer(good, h + 8, UCP_AM_RECV_ATTR_FLAG_RNDV);
    x = good, x.addr_bytes = 16;
    offer(x, h + 8, 0);
    x = good, x.fill = UCX_FILL(7, 2);
    offer(x, h + 8, 0);
    x = good, x.seq = UCX_WINDOW;
    offer(x, h + 8, 0);
    x.seq = UINT32_MAX;
    offer(x, h + 8, 0);
    x = good, x.taken = 1; /* of none that was sent */
    offer(x, h + 8, 0);
    job_check(taken[0] + taken[1] == 0);
    offer(good, h + 8, 0);
    job_check(taken[TP_REQUEST] == 1 && last_len == 8);
    offer(good, h + 8, 0); /* again */
    job_check(taken[TP_REQUEST] == 1);
    stop();
}

/* Messages that overtake each other come in their order; what is refused waits, what is doubled is
 * dropped. */
static void disorder(void)
{
    start();
    const size_t h = sizeof(struct ucx_hdr);
    struct ucx_hdr x = {.key = u->key, .src = 1, .cls = UCX_REQUEST};
    static const uint32_t order[] = {3, 1, 2, 2, 5, 0};
    be_quiet();
    job_check(tp_ucx_ops.fd((struct tp *)u, 1) == 0);
    be_quiet(); /* what refuses below is the message that is held */
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++) {
        x.seq = order[i];
        offer(x, h + 8 * order[i], 0);
    }
    job_check(taken[TP_REQUEST] == 1 && last_len == 0);
    job_check(tp_ucx_ops.fd((struct tp *)u, 1) == TP_AGAIN);
    tp_ucx_ops.progress((struct tp *)u);
    job_check(taken[TP_REQUEST] == 4 && last_len == 24);
    refuse = 1;
    x.seq = 4;
    offer(x, h + 32, 0);
    tp_ucx_ops.progress((struct tp *)u);
    job_check(taken[TP_REQUEST] == 4);
    x.cls = UCX_REPLY, x.seq = 0;
    offer(x, h + 80, 0);
    job_check(taken[TP_REPLY] == 1);
    refuse = 0;
    tp_ucx_ops.progress((struct tp *)u);
    job_check(taken[TP_REQUEST] == 6 && last_len == 40);
    stop(); /* nothing is held */
}

/* A message that another one has overtaken acknowledges less, and is as good. */
static void overtaken(void)
{
    start();
    const size_t h = sizeof(struct ucx_hdr);
    struct ucx_hdr x = {.key = u->key, .src = 1, .cls = UCX_REPLY};
    struct ucx_peer *p = ucx_peer_of(u, 1);
    p->seq[UCX_REQUEST] = 10;
    x.seq = 1, x.taken = 4;
    offer(x, h + 8, 0);
    x.seq = 0, x.taken = 3;
    offer(x, h + 16, 0);
    tp_ucx_ops.progress((struct tp *)u);
    job_check(taken[TP_REPLY] == 2 && last_len == 8 && p->acked == 4);
    x.seq = 2, x.taken = 11; /* more than was sent: no process of ours */
    offer(x, h + 8, 0);
    job_check(taken[TP_REPLY] == 2 && p->acked == 4);
    x.taken = 10;
    offer(x, h + 8, 0);
    job_check(taken[TP_REPLY] == 3 && p->acked == 10);
    u->closing = 1; /* nothing uses it any more */
    x.seq = 3;
    offer(x, h + 8, 0);
    job_check(taken[TP_REPLY] == 3 && p->next[UCX_REPLY] == 3);
    stop();
}

/* Any bytes with the right key. */
static void random_packets(void)
{
    uint64_t s = 12345;
    start();
    for (int i = 0; i < 20000; i++) {
        struct ucx_hdr x;
        for (size_t k = 0; k < sizeof x; k++) {
            s = s * 6364136223846793005u + 1442695040888963407u;
            ((unsigned char *)&x)[k] = (unsigned char)(s >> 56);
        }
        x.key = u->key;
        if (i & 1)
            x.src &= 1, x.cls &= 3, x.seq &= 127, x.taken = 0, x.addr_bytes &= 2047;
        offer(x, (size_t)(s >> 33) % 3000, 0);
    }
    stop();
}

START_TEST(packets)
{
    ck_assert_int_eq(job_run(2, NULL, hostile, 20), 0);
    ck_assert_int_eq(job_run(2, NULL, disorder, 20), 0);
    ck_assert_int_eq(job_run(2, NULL, overtaken, 20), 0);
    ck_assert_int_eq(job_run(2, NULL, random_packets, 20), 0);
}
END_TEST

/* --- short messages, which UCX has packed ----------------------------------------------------- */

enum { BURST = 1000, LONGEST = 4000 }; /* in number fewer than UCX_REPLIES */

static char byte_of(unsigned seq, size_t i)
{
    return (char)(seq * 31 + i * 7 + (i >> 8));
}

static size_t length_of(unsigned seq)
{
    return seq % BURST * LONGEST / (BURST - 1) / 8 * 8 + seq % 8;
}

static void same_bytes(const char *msg, size_t len)
{
    unsigned seq = (unsigned)taken[TP_REPLY] - 1;
    job_check(len == length_of(seq));
    for (size_t i = 0; i < len; i++)
        job_check(msg[i] == byte_of(seq, i));
}

static void send_pieces(unsigned seq)
{
    static char buf[LONGEST + 8];
    size_t len = length_of(seq), cut = len / 3;
    struct iovec v[3] = {{buf, cut}, {buf + cut, 0}, {buf + cut, len - cut}};
    for (size_t i = 0; i < len; i++)
        buf[i] = byte_of(seq, i);
    job_check(tp_ucx_ops.am((struct tp *)u, 1, TP_REPLY, v, 3, NULL) == 0);
    memset(buf, 0x55, sizeof buf);
    memset(v, 0x55, sizeof v);
}

/* Whose send is complete may still be needed: UCX has the bytes, and its socket had no room. */
static void until_taken(int n)
{
    while (taken[TP_REPLY] < n && *(volatile uint64_t *)job_words() < (uint64_t)n)
        tp_ucx_ops.progress((struct tp *)u);
    *(volatile uint64_t *)job_words() = (uint64_t)n;
}

/* Sent before there is a connection: UCX keeps them, and the pieces are the caller's again.  Then
 * one by one, as they lie. */
static void burst(void)
{
    start();
    look = same_bytes;
    connect_to(1 - boot_rank());
    for (unsigned seq = 0; boot_rank() == 0 && seq < BURST; seq++)
        send_pieces(seq);
    job_check(boot_rank() == 1 || u->sending > BURST / 2);
    until_taken(BURST);
    for (unsigned seq = BURST; boot_rank() == 0 && seq < 2 * BURST; seq++) {
        while (u->sending)
            tp_ucx_ops.progress((struct tp *)u);
        send_pieces(seq);
    }
    until_taken(2 * BURST);
    job_check(boot_barrier() == 0);
    stop();
}

START_TEST(packed)
{
    setenv("UCX_TLS", "tcp", 1);
    ck_assert_int_eq(job_run(2, NULL, burst, 20), 0);
    setenv("UCX_TCP_TX_SEG_SIZE", "1k", 1); /* in parts */
    ck_assert_int_eq(job_run(2, NULL, burst, 20), 0);
}
END_TEST

/* --- where messages lie ----------------------------------------------------------------------- */

enum { LESSONS = 60 };

static int copied, due; /* due: messages of the other side, in all */

static void note_copies(const char *msg, size_t len)
{
    copied += msg == u->scratch;
}

static void nothing_more(struct tp_done *d, int err)
{
    (void)d;
    job_check(err == 0);
}

/* With length n, to the other and from it; several at once, which UCX reads together. */
static void exchange(size_t n, int times)
{
    static char buf[UCX_AM_MAX];
    static struct tp_done d = {nothing_more};
    struct iovec v[2] = {{buf, n % 8}, {buf + n % 8, n - n % 8}};
    due += times;
    for (int i = 0; i < times; i++) {
        int rc = tp_ucx_ops.am((struct tp *)u, 1u - (unsigned)boot_rank(), TP_REPLY, v, 2,
                               i % 2 ? NULL : &d);
        job_check(rc == 0 || (rc == TP_PENDING && n - n % 8 >= UCX_ZCOPY && i % 2 == 0));
    }
    while (taken[TP_REPLY] < due || u->sending)
        tp_ucx_ops.progress((struct tp *)u);
}

/* What was sent last may still need us. */
/* Messages that one of both copied, in so many exchanges. */
static int lessons(const size_t *longest)
{
    copied = 0;
    for (int i = 0; i < LESSONS; i++)
        exchange(longest[i % 2] - (size_t)(i % 8), 1 + i % 5);
    job_words()[boot_rank()] = (uint64_t)copied;
    meet();
    int both = (int)(job_words()[0] + job_words()[1]);
    meet();
    return both;
}

/* After the first ones none is copied, whatever their lengths.  How many are the first is UCX's
 * affair: while it connects, words of its own lie between ours. */
static void learn(const size_t lengths[][2], unsigned n)
{
    start();
    look = note_copies;
    connect_to(1 - boot_rank());
    for (unsigned k = 0, tries = 0; k < n; k++)
        while (lessons(lengths[k]))
            job_check(++tries < 50);
}

static void on_eight(void)
{
    static const size_t lengths[][2] = {{8, 1000}, {8, UCX_AM_MAX}};
    learn(lengths, 2);
    stop();
}

/* Where long ones go in parts, what is behind the last part lies as that ends; one that comes alone
 * as before. */
static void in_parts(void)
{
    static const size_t lengths[][2] = {{8, 1000}, {UCX_AM_MAX, UCX_AM_MAX}};
    learn(lengths, 2);
    copied = 0;
    exchange(8, 1);
    job_check(copied == 0);
    meet();
    stop();
}

/* n of them of class UCX_TAKEN, read at once to where the first lies `wrong`, all with the same
 * filling. */
static void read_at_once(unsigned n, unsigned wrong, unsigned pad)
{
    static _Alignas(8) char at[1024];
    const ucp_am_recv_param_t param = {0};
    const struct ucx_hdr h = {.key = u->key, .src = 1, .cls = UCX_TAKEN, .fill = UCX_FILL(pad, 0)};
    size_t each = sizeof h + pad;
    u->looks++;
    for (char *p = at + wrong; n--; p += wrong + each) { /* UCX's own are `wrong` bytes, too */
        memcpy(p, &h, sizeof h);
        job_check(ucx_on_message(u, NULL, 0, p, each, &param) == UCS_OK);
    }
}

/* Whatever was filled in and however many come at once, one look shows it. */
static void measured(void)
{
    start();
    const struct ucx_peer *p = ucx_peer_of(u, 1);
    for (unsigned wrong = 0; wrong < 8; wrong++)
        for (unsigned pad = 0; pad < 8; pad++)
            for (unsigned n = 1; n < 4; n++) {
                read_at_once(n, wrong, pad);
                job_check((p->pad[0] + wrong) % 8 == 0 && p->pad[1] == 0);
            }
    job_check(boot_barrier() == 0);
    stop();
}

START_TEST(aligned)
{
    setenv("UCX_TLS", "tcp", 1);
    ck_assert_int_eq(job_run(2, NULL, measured, 20), 0);
    ck_assert_int_eq(job_run(2, NULL, on_eight, 20), 0);
    setenv("UCX_ZCOPY_THRESH", "inf", 1);
    ck_assert_int_eq(job_run(2, NULL, in_parts, 20), 0);
}
END_TEST

/* --- what stays where it is ------------------------------------------------------------------- */

enum { PIECE = 60001, PIECES = 1000, LEAD = 24 };

struct piece {
    struct tp_done d;
    int calls, err;
    char *data;
};
static __typeof__(ucp_am_send_nbx) *really_send;
static unsigned in_place;
static const void *stays;
static unsigned alike; /* messages that were all of their sender's number */

/* Is what goes to UCX the caller's own memory? */
static ucs_status_ptr_t send_and_look(ucp_ep_h ep, unsigned id, const void *header, size_t hlen,
                                      const void *buf, size_t n, const ucp_request_param_t *param)
{
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE && param->datatype == UCP_DATATYPE_IOV) {
        const ucp_dt_iov_t *v = buf;
        size_t bytes = 0;
        for (size_t i = 0; i < n; i++)
            bytes += v[i].length;
        job_check(v[1].buffer == stays && (bytes - ucx_pad(v[0].buffer)) % 8 == 0);
        in_place++;
    }
    return really_send(ep, id, header, hlen, buf, n, param);
}

static void left(struct tp_done *d, int err)
{
    struct piece *x = (struct piece *)d;
    x->calls++;
    x->err = err;
}

static void same_throughout(const char *msg, size_t len)
{
    job_check(len >= LEAD);
    for (size_t i = 1; i < len; i++)
        job_check(msg[i] == msg[0]);
    alike++;
}

/* One message all of whose bytes are x's number, the last `len` of them in x->data. */
static int give(struct piece *x, int number, size_t len, struct tp_done *d)
{
    char lead[LEAD];
    memset(lead, number, sizeof lead);
    memset(x->data, number, len);
    struct iovec v[3] = {{lead, 10}, {lead + 10, LEAD - 10}, {x->data, len}};
    stays = x->data;
    return tp_ucx_ops.am((struct tp *)u, 1u - (unsigned)boot_rank(), TP_REPLY, v, 3, d);
}

/* To one that does not look: until three wait.  How many there are. */
static int fill_up(struct piece *all)
{
    int n = 0, waiting = 0;
    really_send = u->lib.ucp_am_send_nbx;
    u->lib.ucp_am_send_nbx = send_and_look;
    while (waiting < 3 && n < PIECES) {
        struct piece *x = &all[n++];
        x->d.fn = left;
        x->data = malloc(PIECE);
        int rc = give(x, n, (size_t)PIECE - (size_t)(n % 16), &x->d);
        job_check(rc == 0 || rc == TP_PENDING);
        if (rc == TP_PENDING) {
            waiting++;
        } else {
            memset(x->data, 0x55, PIECE);
            free(x->data);
            x->data = NULL;
        }
    }
    job_check(waiting == 3 && in_place == (unsigned)n && u->zcopies == 3);
    return n;
}

/* Each waiting piece is completed once, and its data are not read after that. */
static void all_told(struct piece *all, int n, int err)
{
    for (int i = 0; i < n; i++) {
        while (all[i].data && !all[i].calls)
            tp_ucx_ops.progress((struct tp *)u);
        job_check(all[i].calls == !!all[i].data && (!all[i].data || all[i].err == err));
        free(all[i].data);
    }
    job_check(u->zcopies == 0);
}

/* As soon as the kernel takes no more, a message waits in the program's memory; until then each has
 * left when the call returns, and so has what is short, or whose sender wants its memory back. */
static void kept(void)
{
    volatile uint64_t *go = job_words();
    start();
    look = same_throughout;
    connect_to(1 - boot_rank());
    if (boot_rank() == 1) {
        while (!go[0])
            sched_yield();
        while (alike < go[0])
            tp_ucx_ops.progress((struct tp *)u);
        go[1] = 1;
        meet();
        stop();
        return;
    }
    struct piece *all = calloc(PIECES, sizeof *all);
    int n = fill_up(all);
    struct piece x = {.d.fn = left, .data = malloc(PIECE)};
    job_check(give(&x, 1, UCX_ZCOPY - 1, &x.d) == 0 && give(&x, 2, PIECE, NULL) == 0 &&
              in_place == (unsigned)n);
    free(x.data);
    go[0] = (uint64_t)n + 2;
    all_told(all, n, 0);
    while (!go[1])
        tp_ucx_ops.progress((struct tp *)u);
    job_check(x.calls == 0);
    free(all);
    meet();
    stop();
}

/* Its receiver dies: killed, or held for dead, when nothing of it may be read any more (U7). */
static void orphaned(int killed)
{
    volatile uint64_t *go = job_words();
    start();
    connect_to(1 - boot_rank());
    if (boot_rank() == 1) {
        while (!go[0])
            sched_yield();
        if (killed)
            raise(SIGKILL);
        _exit(0);
    }
    struct piece *all = calloc(PIECES, sizeof *all);
    int n = fill_up(all);
    go[0] = (uint64_t)killed;
    if (!killed)
        boot_fail_now(1, "its part in this test is over");
    all_told(all, n, -ENOTCONN);
    struct iovec v = {packet, 100};
    int err;
    while ((err = tp_ucx_ops.am((struct tp *)u, 1, TP_REPLY, &v, 1, NULL)) == 0)
        tp_ucx_ops.progress((struct tp *)u);
    job_check(err == -ENOTCONN);
    free(all);
    go[0] = 1;
    stop();
}

static void killed(void)
{
    orphaned(1);
}

static void held_for_dead(void)
{
    orphaned(0);
}

START_TEST(kept_)
{
    setenv("UCX_TLS", "tcp", 1);
    setenv("UCX_TCP_SNDBUF", "200k", 1); /* a kernel that is set to take much would take all */
    setenv("UCX_TCP_RCVBUF", "200k", 1);
    ck_assert_int_eq(job_run(2, NULL, kept, 30), 0);
    ck_assert_int_eq(job_run(2, NULL, held_for_dead, 30), 0);
    ck_assert_int_eq(job_run(2, NULL, killed, 30), 1); /* the killed one */
}
END_TEST

/* --- sleep ------------------------------------------------------------------------------------ */

static unsigned found;

static unsigned progress_finds(ucp_worker_h worker)
{
    unsigned n = found;
    (void)worker;
    found = 0;
    return n;
}

/* What UCX counts is an event, whether it is ours or not; UCX_QUIET looks without one, and it may
 * be armed, once. */
static void looks_before_sleep(void)
{
    for (int i = 0; i < UCX_QUIET; i++) {
        job_check(tp_ucx_ops.fd((struct tp *)u, 1) == TP_AGAIN);
        job_check(tp_ucx_ops.progress((struct tp *)u) == 0);
    }
    job_check(tp_ucx_ops.fd((struct tp *)u, 1) == 0);
}

static void armed(void)
{
    start();
    void *ucp = dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD);
    __typeof__(ucp_worker_signal) *wake = ucp ? (__typeof__(wake))dlsym(ucp, "ucp_worker_signal")
                                              : NULL;
    job_check(wake && tp_ucx_ops.fd((struct tp *)u, 1) == TP_AGAIN);
    be_quiet();
    job_check(tp_ucx_ops.fd((struct tp *)u, 1) == 0);
    looks_before_sleep();
    be_quiet();
    job_check(wake(u->worker) == UCS_OK && tp_ucx_ops.fd((struct tp *)u, 1) == TP_AGAIN);
    looks_before_sleep();
    __typeof__(u->lib.ucp_worker_progress) progress = u->lib.ucp_worker_progress;
    u->lib.ucp_worker_progress = progress_finds;
    be_quiet();
    found = 1;
    job_check(tp_ucx_ops.progress((struct tp *)u) > 0);
    looks_before_sleep();
    u->lib.ucp_worker_progress = progress;
    stop();
}

START_TEST(armed_)
{
    setenv("UCX_TLS", "tcp", 1);
    ck_assert_int_eq(job_run(1, NULL, armed, 20), 0);
}
END_TEST

/* --- a peer that dies ------------------------------------------------------------------------ */

static void death(void)
{
    struct iovec v = {packet, 100};
    int err = 0;
    start();
    connect_to(1 - boot_rank());
    if (boot_rank() == 1) {
        while (!taken[TP_REPLY])
            tp_ucx_ops.progress((struct tp *)u);
        job_words()[0] = 1;
        raise(SIGKILL);
    }
    job_check(tp_ucx_ops.am((struct tp *)u, 1, TP_REPLY, &v, 1, NULL) == 0);
    while (!*(volatile uint64_t *)job_words())
        tp_ucx_ops.progress((struct tp *)u);
    while (err == 0 || err == TP_AGAIN) { /* an error in the end, and no abort */
        err = tp_ucx_ops.am((struct tp *)u, 1, TP_REQUEST, &v, 1, NULL);
        tp_ucx_ops.progress((struct tp *)u);
    }
    job_check(err == -ENOTCONN);
    job_check(tp_ucx_ops.flush((struct tp *)u, 1, NULL) == -ENOTCONN);
    stop();
    job_words()[1] = 1;
}

/* UCX cannot report failures of one peer; it still reports those of the others. */
static ucs_status_t create_but_one(ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *ep)
{
    if (params->err_mode == UCP_ERR_HANDLING_MODE_PEER &&
        ((struct ucx_peer *)params->err_handler.arg)->rank == 1)
        return UCS_ERR_UNSUPPORTED;
    *ep = (ucp_ep_h)(uintptr_t)(params->err_mode == UCP_ERR_HANDLING_MODE_PEER ? 8 : 16);
    return UCS_OK;
}

static void one_without(void)
{
    char none[16] = {0};
    start();
    __typeof__(u->lib.ucp_ep_create) create = u->lib.ucp_ep_create;
    u->lib.ucp_ep_create = create_but_one;
    for (unsigned i = 0; i < 3; i++) {
        struct ucx_peer *p = ucx_peer_of(u, i);
        job_check(ucx_peer_address(p, none, sizeof none) == 0 && ucx_peer_open(p) == 0);
        job_check((uintptr_t)p->ep == (i == 1 ? 16 : 8) && p->no_failures == (i == 1));
        p->ep = NULL;
    }
    u->lib.ucp_ep_create = create;
    stop();
}

START_TEST(dead_peer)
{
    setenv("UCX_TLS", "tcp", 1);
    ck_assert_int_eq(job_run(3, NULL, one_without, 20), 0);
    ck_assert_int_eq(job_run(2, NULL, death, 20), 1); /* the killed one */
}
END_TEST

/* --- the process around it -------------------------------------------------------------------- */

static void guest(void)
{
    struct sigaction before[64], now;
    unsigned char code[8];
    const int descriptors = entries_of("/proc/self/fd"), threads = entries_of("/proc/self/task");
    for (int i = 1; i < 64; i++)
        sigaction(i, NULL, &before[i]);
    memcpy(code, (const void *)(uintptr_t)mmap, sizeof code);
    for (int round = 0; round < 3; round++) {
        start();
        connect_to(1 - boot_rank());
        for (int i = 1; i < 64; i++)
            job_check(sigaction(i, NULL, &now) != 0 || now.sa_handler == before[i].sa_handler);
        job_check(!memcmp(code, (const void *)(uintptr_t)mmap, sizeof code)); /* no hook */
        job_check(!getenv("UCX_MEM_EVENTS") && !getenv("UCX_HANDLE_ERRORS"));
        job_check(boot_barrier() == 0);
        stop();
    }
    job_check(entries_of("/proc/self/task") == threads);
    job_check(entries_of("/proc/self/fd") == descriptors);
}

START_TEST(good_guest)
{
    ck_assert_int_eq(job_run(2, NULL, guest, 20), 0);
}
END_TEST

Suite *suite_ucx(void)
{
    Suite *s = suite_create("tp/ucx");
    TCase *t = tcase_create("ucx");
    tcase_set_timeout(t, 80);
    tcase_add_test(t, packets);
    tcase_add_test(t, packed);
    tcase_add_test(t, aligned);
    tcase_add_test(t, kept_);
    tcase_add_test(t, armed_);
    tcase_add_test(t, dead_peer);
    tcase_add_test(t, good_guest);
    suite_add_tcase(s, t);
    return s;
}
