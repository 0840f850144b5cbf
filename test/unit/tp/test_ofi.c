/* test_ofi.c - what the contract test cannot see of tp/ofi: strangers, the window, descriptors,
 * choices. */
#include "config.h"

#include "job.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
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

/* A packet without the key, or with an impossible part, touches nothing: no message, no peer, no
 * window. */
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
    p.w.src = o->places;
    ofi_deliver(o, &p, WHOLE);
    p = good(o);
    p.w.kind = OFI_PACKETS;
    ofi_deliver(o, &p, WHOLE);
    p = good(o);
    p.w.len_high = UINT8_MAX;
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

/* With the key, but with wrong contents: no window is opened beyond what was sent, no address
 * replaced. */
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
    p.w.seq = 1;
    ofi_deliver(o, &p, sizeof p.w + 40);
    job_check(!peer->known);
    /* what is held is offered again, in order, and counted when taken */
    for (int i = 0; i < 5; i++) {
        p = good(o);
        p.w.seq = (uint16_t)(2 + i);
        ofi_deliver(o, &p, sizeof p.w + 40);
    }
    job_check(peer->taken == 0);
    answer = 0;
    taken = 0;
    ofi_msg_progress(o);
    job_check(taken == 6 && list_empty(&peer->held) && peer->taken == 6 * (sizeof p.w + 40));
    close_one(o);
}

/* A sender that ignores the window does not fill the receiver's memory. */
static void greedy(void)
{
    int answer = TP_AGAIN;
    struct ofi *o = open_one(&answer);
    struct packet p = good(o);
    enum { WHOLE = sizeof p.w + 40, FIT = OFI_WINDOW / WHOLE };
    for (unsigned i = 0; i < FIT + 100; i++) {
        p.w.seq = (uint16_t)i;
        ofi_deliver(o, &p, WHOLE);
    }
    struct ofi_peer *peer = map_get(&o->peers, 1);
    job_check(peer && peer->held_wire == FIT * WHOLE);
    answer = taken = 0;
    for (int i = 0; i < FIT / OFI_BUDGET + 1; i++)
        ofi_msg_progress(o);
    job_check(taken == FIT && peer->held_wire == 0);
    p.w.seq = FIT + 100;
    ofi_deliver(o, &p, WHOLE); /* an honest one still comes through */
    job_check(taken == FIT + 1);
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
    addr[offsetof(struct ofi_contact, provider)] ^= 1;
    job_check(tp_ofi_ops.connect(tp, 1, addr, len) == -EPROTO);
    addr[offsetof(struct ofi_contact, provider)] ^= 1;
    /* rank 1 is ourselves under another name, and never polls */
    job_check(tp_ofi_ops.connect(tp, 1, addr, len) == 0);
    while ((err = tp_ofi_ops.am(tp, 1, TP_REQUEST, &v, 1, NULL)) == 0)
        sent += sizeof(struct ofi_wire) + sizeof bytes;
    job_check(err == TP_AGAIN && sent <= OFI_WINDOW && sent > OFI_WINDOW - 2000);
    for (int i = 0; i < OFI_REPLIES; i++)
        job_check(tp_ofi_ops.am(tp, 1, TP_REPLY, &v, 1, NULL) == 0);
    close_one(o); /* with all of it under way */
}

/* --- what a connection loses ------------------------------------------------------------------
 * Two transports of one process that call themselves ranks 2 and 1; what they inject goes through
 * the air, where it can be lost. */

struct side {
    struct ofi *o;
    struct ofi_peer *peer; /* the other one */
    int value[100000], n;  /* what came */
    int lost, answer;
};
static struct side left, right;

static struct flight {
    struct side *to;
    size_t len;
    _Alignas(8) char bytes[OFI_SMALL];
} air[256];
static int flying, asked, busy, injects;

static ssize_t fly(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t addr)
{
    job_check(flying < 256 && len <= OFI_SMALL && ++injects < 1000000);
    if (busy)
        return -FI_EAGAIN;
    struct flight *f = &air[flying++];
    f->to = ep == left.o->ep ? &right : &left;
    f->len = len;
    memcpy(f->bytes, buf, len);
    asked += ((struct ofi_wire *)f->bytes)->kind == OFI_ASK;
    return 0;
}

/* Deliver what is on its way, and what that leads to. */
static void arrive(void)
{
    for (int i = 0; i < flying; i++) {
        struct flight f = air[i];
        ofi_deliver(f.to->o, f.bytes, f.len);
    }
    flying = 0;
}

static int take(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    struct side *s = up;
    if (s->answer && cls == TP_REQUEST)
        return s->answer;
    memcpy(&s->value[s->n++], msg, sizeof(int));
    return 0;
}

static void count_lost(void *up, unsigned peer, int err)
{
    ((struct side *)up)->lost++;
}

static int say(struct side *s, enum tp_class cls, int value)
{
    struct iovec v = {&value, sizeof value};
    return tp_ofi_ops.am((struct tp *)s->o, s->peer->rank, cls, &v, 1, NULL);
}

static void side_open(struct side *s, unsigned rank)
{
    static struct fi_ops_msg ops;
    struct tp *tp;
    struct tp_caps caps;
    const struct tp_env env = {.recv = take, .lost = count_lost, .up = s, .proc = proc};
    s->n = s->lost = s->answer = 0;
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == 0);
    job_check(caps.flags & TP_AM_ORDERED);
    s->o = (struct ofi *)tp;
    s->o->rank = rank;
    ops = *s->o->ep->msg;
    ops.inject = fly;
    s->o->ep->msg = &ops;
}

static void side_connect(struct side *s, const struct side *to)
{
    char addr[512];
    size_t len = sizeof addr;
    job_check(tp_ofi_ops.address((struct tp *)to->o, addr, &len) == 0);
    job_check(tp_ofi_ops.connect((struct tp *)s->o, to->o->rank, addr, len) == 0);
    s->peer = map_get(&s->o->peers, to->o->rank);
}

static void pair_open(int greeted)
{
    flying = asked = busy = injects = 0;
    side_open(&left, 2);
    side_open(&right, 1);
    side_connect(&left, &right);
    if (!greeted)
        return;
    arrive();
    side_connect(&right, &left);
    arrive();
    job_check(flying == 0);
}

static void pair_close(void)
{
    close_one(left.o);
    close_one(right.o);
}

/* A second of progress on one side. */
static void second(struct side *s)
{
    if (!list_empty(&s->peer->in_unheard))
        s->peer->due = 0;
    for (int i = 0; i < 2 * OFI_TURNS; i++)
        tp_ofi_ops.progress((struct tp *)s->o);
}

/* Both know that the other cannot be trusted any more, and have reported it to the room above. */
static void both_lost(void)
{
    second(&left);
    second(&right);
    arrive();
    second(&left);
    second(&right);
    job_check(left.lost == 1 && right.lost == 1);
    job_check(say(&left, TP_REQUEST, 99) == -ENOTCONN && say(&right, TP_REPLY, 99) == -ENOTCONN);
}

/* Three of six messages go down with their connection: the others do not come in their place. */
static void lost_amid(void)
{
    for (int cls = TP_REQUEST; cls <= TP_REPLY; cls++) {
        pair_open(1);
        for (int i = 0; i < 6; i++) {
            job_check(say(&left, (enum tp_class)cls, i) == 0);
            if (i == 2)
                flying = 0;
        }
        arrive();
        job_check(right.n == 0 && right.peer->broken);
        both_lost();
        job_check(right.n == 0);
        pair_close();
    }
}

/* Packets arrive again, of any kind and in any order. Nothing of them is taken, and no peer is
 * lost. */
static void again(void)
{
    static struct flight old[8];
    pair_open(0);
    job_check(flying == 1); /* the greeting */
    for (int i = 0; i < 6; i++)
        job_check(say(&left, i % 2 ? TP_REPLY : TP_REQUEST, i) == 0);
    int n = flying;
    memcpy(old, air, (size_t)n * sizeof *old);
    arrive();
    for (int i = 0; i < 3 * n; i++)
        ofi_deliver(right.o, old[i * 5 % n].bytes, old[i * 5 % n].len);
    job_check(n == 7 && right.n == 6 && right.lost == 0);
    job_check(say(&left, TP_REQUEST, 6) == 0);
    arrive();
    job_check(right.n == 7 && right.value[6] == 6 && left.lost + right.lost == 0);
    pair_close();
}

/* Nothing follows what was lost: the sender asks, and asks again where the question is lost,
 * too. */
static void lost_last(void)
{
    for (int cls = TP_REQUEST; cls <= TP_REPLY; cls++) {
        pair_open(1);
        job_check(say(&left, (enum tp_class)cls, 1) == 0);
        arrive();
        job_check(say(&left, (enum tp_class)cls, 2) == 0);
        second(&left); /* not yet: it may be on its way */
        flying = 0;
        for (int i = 0; i < 3; i++) {
            second(&left);
            if (i < 1)
                flying = 0;
        }
        job_check(asked > 0);
        arrive();
        job_check(right.n == 1);
        both_lost();
        pair_close();
    }
}

/* LOST is final: each later question and each later send gets it again. */
static void lost_verdict(void)
{
    pair_open(1);
    job_check(say(&left, TP_REQUEST, 1) == 0);
    flying = 0;
    job_check(say(&left, TP_REQUEST, 2) == 0);
    arrive();
    boot_fail_now(2, "test"); /* the right side has given up, and sends nothing unasked */
    second(&right);
    flying = 0;
    second(&right);
    job_check(flying == 0 && left.lost == 0);
    for (int i = 0; i < 4 && !left.lost; i++) {
        second(&left);
        arrive();
        second(&right);
        arrive();
        second(&left);
    }
    job_check(left.lost == 1 && right.n == 0);
    pair_close();
}

/* The very first packet, which names the sender, is lost: the question names it again. */
static void lost_hello(void)
{
    pair_open(0);
    flying = 0;
    job_check(say(&left, TP_REQUEST, 1) == 0);
    flying = 0;
    second(&left);
    second(&left);
    arrive();
    right.peer = map_get(&right.o->peers, 2);
    job_check(right.peer && right.peer->known && right.n == 0);
    second(&right);
    arrive();
    second(&left);
    job_check(left.lost == 1 && right.lost == 1);
    pair_close();
}

/* All comes: one question at most, which is answered at once, then silence. */
static void nothing_lost(void)
{
    pair_open(1);
    for (int i = 0; i < 3; i++)
        job_check(say(&left, TP_REQUEST, i) == 0 && say(&right, TP_REPLY, i) == 0);
    arrive();
    for (int i = 0; i < 20; i++) {
        second(&left);
        second(&right);
        arrive();
    }
    job_check(asked <= 2 && left.lost + right.lost == 0 && right.n == 3 && left.n == 3);
    job_check(list_empty(&left.o->unheard) && list_empty(&right.o->unheard));
    job_check(left.peer->acked == left.peer->sent && left.peer->heard == left.peer->seq);
    /* numbers begin anew, in both directions */
    for (int i = 0; i < 70000; i++) {
        job_check(say(&left, i & 1 ? TP_REPLY : TP_REQUEST, i) == 0);
        if (i % 3 == 0)
            job_check(say(&right, TP_REPLY, i) == 0);
        arrive();
    }
    job_check(left.lost + right.lost == 0 && !left.peer->broken && !right.peer->broken);
    job_check(right.n == 70003 && right.value[70002] == 69999 && left.n == 3 + 70000 / 3 + 1);
    pair_close();
}

/* A peer that is stopped, or computes, is asked ever less often, and is not lost; nor is one that
 * refuses. */
static void silent(void)
{
    pair_open(1);
    job_check(say(&left, TP_REQUEST, 1) == 0);
    for (int i = 0; i < 160; i++)
        second(&left);
    job_check(asked >= 3 && asked <= 16 && left.lost == 0);
    arrive(); /* it goes on */
    second(&left);
    second(&left);
    job_check(left.lost == 0 && right.n == 1 && list_empty(&left.o->unheard));
    right.answer = TP_AGAIN;
    job_check(say(&left, TP_REQUEST, 2) == 0);
    for (int i = 0; i < 40; i++) {
        second(&left);
        arrive();
    }
    job_check(left.lost + right.lost == 0);
    right.answer = 0;
    second(&right);
    second(&left);
    arrive();
    job_check(right.n == 2 && say(&left, TP_REPLY, 3) == 0);
    pair_close();
}

/* The clock alone, no look forced: a lost message is found within seconds. */
static void by_the_clock(void)
{
    pair_open(1);
    job_check(say(&left, TP_REQUEST, 1) == 0);
    flying = 0;
    for (int i = 0; i < 3000 && !left.lost; i++) {
        tp_ofi_ops.progress((struct tp *)left.o);
        tp_ofi_ops.progress((struct tp *)right.o);
        arrive();
        usleep(1000);
    }
    job_check(left.lost == 1 && right.lost == 1);
    pair_close();
}

/* --- what waits for the provider -------------------------------------------------------------- */

/* Several peers are owed news that the provider does not take now: each is tried once by a
 * progress. */
static void owed(void)
{
    pair_open(1);
    struct ofi *o = left.o;
    for (unsigned i = 1; i < 4; i++) {
        struct ofi_peer *p = ofi_peer_make(o, i);
        p->known = 1;
        p->addr = left.peer->addr;
        list_push(&o->owing, &p->in_owing);
    }
    struct ofi_peer *gone = ofi_peer_make(o, 2);
    busy = 1;
    injects = 0;
    ofi_msg_progress(o);
    job_check(injects == 3 && !list_empty(&o->owing));
    gone->broken = -ECONNRESET;
    ofi_msg_progress(o);
    job_check(injects == 5 && list_empty(&gone->in_owing));
    busy = 0;
    ofi_msg_progress(o);
    job_check(injects == 7 && flying == 2 && list_empty(&o->owing));
    flying = 0;
    pair_close();
}

/* What the provider refuses for the moment is late, and no number is missing for it. */
static void refused(void)
{
    pair_open(1);
    for (int i = 0; i < 30; i++) {
        busy = i % 3 != 0;
        job_check(say(&left, i % 2 ? TP_REPLY : TP_REQUEST, i) == 0);
        if (i % 5 == 4) {
            busy = 0;
            tp_ofi_ops.progress((struct tp *)left.o);
            arrive();
        }
    }
    job_check(right.n == 30 && left.lost + right.lost == 0 && !right.peer->gap);
    for (int i = 0; i < 30; i++)
        job_check(right.value[i] == i);
    pair_close();
}

/* A failure found by others: nothing waits for the failed process, and it is sent nothing more. */
static void failed_elsewhere(void)
{
    pair_open(1);
    busy = 1;
    job_check(say(&left, TP_REQUEST, 1) == 0 && !list_empty(&left.peer->queue));
    list_push(&left.o->owing, &left.peer->in_owing);
    boot_fail_now(1, "test");
    tp_ofi_ops.progress((struct tp *)left.o);
    job_check(list_empty(&left.peer->queue) && list_empty(&left.o->queuing) &&
              list_empty(&left.o->owing));
    job_check(list_empty(&left.o->lost) && left.lost == 0);
    second(&left);
    job_check(list_empty(&left.o->unheard) && say(&left, TP_REPLY, 1) == -ENOTCONN);
    pair_close();
}

static ssize_t receives_nothing(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
    return -FI_EAGAIN;
}

/* A receive that is refused: before there is anything to wake by; when it begins to wait; and each
 * time that it is tried again. */
static void sleeper_of_receives(struct pollfd *fd, int woken)
{
    ofi_recv_post(left.o, &left.o->recv[0]);
    job_check(!list_empty(&left.o->unposted) && (!fd || poll(fd, 1, 0) == woken));
}

/* A thread that sleeps on the provider's descriptor is woken when another one's message finds no
 * room there. */
static void sleeper(void)
{
    if (boot_rank() > 0) {
        /* a process that ends sooner removes what the others still look for */
        job_check(mem_init() == 0 && boot_barrier() == 0);
        mem_finalize();
        return;
    }
    pair_open(1);
    ((struct fi_ops_msg *)left.o->ep->msg)->recvmsg = receives_nothing;
    proc->threaded = 1;
    sleeper_of_receives(NULL, 0);
    list_del(&left.o->recv[0].op.link);
    job_check(mem_init() == 0 && boot_barrier() == 0);
    struct pollfd fd = {.fd = mem_wake_fd(), .events = POLLIN};
    mem_wake_arm();
    sleeper_of_receives(&fd, 1);
    mem_wake_disarm();
    mem_wake_arm();
    sleeper_of_receives(&fd, 0);
    list_del(&left.o->recv[0].op.link);
    mem_wake_disarm();
    proc->threaded = 0;
    mem_wake_arm();
    busy = 1;
    job_check(say(&left, TP_REQUEST, 1) == 0);
    job_check(poll(&fd, 1, 0) == 0); /* one thread: it looks itself */
    proc->threaded = 1;
    ofi_queue_drop(left.o, left.peer);
    job_check(say(&left, TP_REQUEST, 2) == 0);
    job_check(poll(&fd, 1, 0) == 1);
    proc->threaded = 0;
    mem_wake_disarm();
    pair_close();
    mem_finalize();
}

/* --- memory of ours, registered --------------------------------------------------------------- */

static int mr_open;

static int mr_close(struct fid *f)
{
    mr_open--;
    return 0;
}

static int mr_refuse(struct fid *f, struct fid *to, uint64_t flags)
{
    return -FI_EINVAL;
}

static int mr_reg(struct fid *f, const void *buf, size_t len, uint64_t access, uint64_t offset,
                  uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    static struct fi_ops ops = {.size = sizeof ops, .close = mr_close, .bind = mr_refuse};
    static struct fid_mr one = {.fid = {.ops = &ops}};
    mr_open++;
    *mr = &one;
    return 0;
}

/* A provider that registers, and then does not bind: the registration is given back. */
static void half_registered(void)
{
    char bytes[64];
    struct fid_mr *mr;
    struct fi_ops_mr ops = {.size = sizeof ops, .reg = mr_reg};
    struct fid_domain domain = {.mr = &ops};
    struct fi_domain_attr attr = {.mr_mode = FI_MR_ENDPOINT};
    struct fi_info info = {.domain_attr = &attr};
    struct fid_ep ep = {0};
    struct ofi o = {.domain = &domain, .ep = &ep, .info = &info, .reg_local = 1};
    job_check(ofi_local_reg(&o, bytes, sizeof bytes, &mr) == -EINVAL);
    job_check(mr_open == 0 && mr == NULL);
}

/* --- one-sided calls that fail ---------------------------------------------------------------- */

static ssize_t says;         /* the provider, to a one-sided call */
static struct ofi_op *given; /* what it was given last */

static ssize_t one_sided(struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
    given = m->context;
    return says;
}

struct told_done {
    struct tp_done d;
    int n, err;
};

static void told(struct tp_done *d, int err)
{
    struct told_done *t = (struct told_done *)d;
    t->n++;
    t->err = err;
}

/* If memory cannot be read or written, the process that asked gets the error, and no other one.
 * If a put has no completion, the peer is lost, since no flush may report success. */
static void failed_get(void)
{
    static struct fi_ops_rma ops = {.size = sizeof ops, .readmsg = one_sided,
                                    .writemsg = one_sided};
    struct fid_ep ep = {.rma = &ops};
    struct ofi o = {.ep = &ep};
    struct tp *tp = (struct tp *)&o;
    struct list *all[] = {&o.flying, &o.rma_pool, &o.flush_pool, &o.lost, &o.unheard};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        list_init(all[i]);
    map_init(&o.peers);
    struct ofi_peer *p = ofi_peer_make(&o, 1);
    p->connected = 1;
    const uint64_t key[3] = {0, 7, 4096}; /* address, key, bytes */
    struct tp_far *far;
    char b[4096];
    struct told_done get = {{told}, 0, 0}, put = get, flush = get;
    job_check(ofi_import(tp, 1, key, sizeof key, &far) == 0);
    job_check(ofi_put(tp, far, 0, b, sizeof b, NULL, &put.d) == TP_PENDING);
    struct ofi_op *its = given;
    job_check(ofi_get(tp, far, 0, b, sizeof b, NULL, &get.d) == TP_PENDING);
    job_check(ofi_flush(tp, 1, &flush.d) == TP_PENDING);
    ofi_rma_done(&o, given, -EIO);
    job_check(get.n == 1 && get.err == -EIO && flush.n == 0);
    ofi_rma_done(&o, its, 0);
    job_check(put.n == 1 && put.err == 0 && flush.n == 1 && flush.err == 0 &&
              ofi_flush(tp, 1, &flush.d) == 0);
    says = -FI_EIO;
    job_check(ofi_get(tp, far, 0, b, sizeof b, NULL, &get.d) == -EIO && !p->broken &&
              ofi_flush(tp, 1, &flush.d) == 0);
    says = 0;
    job_check(ofi_put(tp, far, 0, b, sizeof b, NULL, &put.d) == TP_PENDING);
    ofi_rma_done(&o, given, -EIO);
    job_check(put.n == 2 && put.err == -EIO && !p->broken && ofi_flush(tp, 1, &flush.d) == 0);
    job_check(ofi_put(tp, far, 0, b, 8, NULL, &put.d) == 0 &&
              ofi_flush(tp, 1, &flush.d) == TP_PENDING);
    ofi_rma_done(&o, given, -EIO);
    job_check(put.n == 2 && flush.n == 1 && p->broken == -EIO &&
              ofi_flush(tp, 1, &flush.d) == -ENOTCONN);
    ofi_rma_lost(&o, p); /* as progress does */
    job_check(flush.n == 2 && flush.err == -ENOTCONN);
    p->broken = 0;
    list_del(&p->in_lost);
    says = -FI_ENOTCONN;
    job_check(ofi_get(tp, far, 0, b, sizeof b, NULL, &get.d) == -ENOTCONN &&
              p->broken == -ENOTCONN);
    job_check(get.n == 1 && put.n == 2 && flush.n == 2);
    ofi_drop(tp, far);
    free(p);
    map_destroy(&o.peers);
    for (struct list *l; (l = list_pop(&o.rma_pool)) != NULL;)
        free(LIST_OBJ(l, struct ofi_rma, op.link));
    for (struct list *l; (l = list_pop(&o.flush_pool)) != NULL;)
        free(LIST_OBJ(l, struct ofi_flush_wait, link));
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

/* Opening again and again leaves no descriptor; what libfabric opens once for itself is left out of
 * account. */
static void no_leak(void)
{
    int answer = 0;
    close_one(open_one(&answer));
    int before = descriptors();
    for (int i = 0; i < 5; i++)
        close_one(open_one(&answer));
    job_check(descriptors() == before);
}

/* What is slept on: the sets of the provider besides libfabric's own; and nothing where only these
 * are there. */
static void pollfds(void)
{
    int answer = 0, fd[TP_FDS];
    struct ofi *o = open_one(&answer);
    job_check(o->lib.version() != FI_VERSION(1, 17) || ofi_wait_obj(o) == FI_WAIT_POLLFD);
    job_check(o->wait == ofi_wait_obj(o) && o->flags & TP_WAIT_FD);
    for (int said; (said = tp_ofi_ops.fd((struct tp *)o, 1)) != 0;
         tp_ofi_ops.progress((struct tp *)o))
        job_check(said == TP_AGAIN);
    job_check(tp_ofi_ops.fds((struct tp *)o, fd) >= (o->wait == FI_WAIT_POLLFD ? 4 : 1));
    o->fds_as_of += o->wait == FI_WAIT_POLLFD; /* the list has changed since */
    job_check(o->wait != FI_WAIT_POLLFD || tp_ofi_ops.fd((struct tp *)o, 1) == -ENOTSUP);
    close_one(o);
}

static void deaf(void)
{
    int answer = 0;
    setenv("FI_OFI_RXM_DEF_TCP_WAIT_OBJ", "pollfd", 1);
    struct ofi *o = open_one(&answer);
    job_check(o->lib.version() != FI_VERSION(1, 17) || !(o->flags & TP_WAIT_FD));
    job_check(o->flags & TP_WAIT_FD ||
              (tp_ofi_ops.fd((struct tp *)o, 0) == -1 && tp_ofi_ops.fd((struct tp *)o, 1) < 0));
    close_one(o);
}

/* --- choices ---------------------------------------------------------------------------------- */

/* Open what is not there: what is reported then. */
static void refusal(const char *variant, char *text, size_t room)
{
    struct tp *tp;
    struct tp_caps caps;
    const struct tp_env env = {.recv = count_recv, .up = NULL, .proc = proc, .variant = variant};
    int fd[2], saved = dup(STDERR_FILENO);
    job_check(pipe(fd) == 0 && dup2(fd[1], STDERR_FILENO) >= 0);
    int err = tp_ofi_ops.open(&env, &tp, &caps);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(fd[1]);
    ssize_t n = read(fd[0], text, room - 1); /* one line, one write */
    text[n > 0 ? n : 0] = 0;
    close(fd[0]);
    job_check(err == -ENODEV);
}

/* A wrong name of a provider is reported with its source and the names that there are. */
static void no_such_provider(void)
{
    static const struct {
        const char *variant, *asked;
    } ways[] = {{NULL, "MPIR_CVAR_OFI_PROVIDER=pigeons: "}, {"geese 16384", "provider geese: "}};
    for (int i = 0; i < 2; i++) {
        char text[2000];
        refusal(ways[i].variant, text, sizeof text);
        const char *there = strstr(text, "libfabric has: ");
        job_check(strstr(text, ways[i].asked) != NULL);
        job_check(there && strstr(there, "tcp;ofi_rxm") && strstr(there, "udp;ofi_rxd"));
    }
}

static size_t longest_inject(const struct ofi *o)
{
    return ofi_rxm_direct(&o->lib) ? OFI_RXM_BUFFER : OFI_INJECT;
}

/* A card whose driver needs registered buffers, or takes them where they are offered. */
static int (*real_getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                           const struct fi_info *hints, struct fi_info **list);
static int needs_local, asked_with, asked_without;

static int card_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                        const struct fi_info *hints, struct fi_info **list)
{
    int with = (hints->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
    asked_with += with;
    asked_without += !with;
    if (needs_local && !with)
        return -FI_ENODATA;
    int err = real_getinfo(version, node, service, flags, hints, list);
    for (struct fi_info *i = err ? NULL : *list; i && with; i = i->next)
        i->domain_attr->mr_mode |= FI_MR_LOCAL;
    return err;
}

/* Buffers are registered only where the provider insists on it; and one that does is chosen. */
static void registers_less(void)
{
    int answer = 0;
    struct ofi *o = open_one(&answer);
    real_getinfo = o->lib.getinfo;
    for (needs_local = 0; needs_local < 2; needs_local++) {
        struct ofi card = {.lib = o->lib};
        card.lib.getinfo = card_getinfo;
        asked_with = asked_without = 0;
        job_check(ofi_choose(&card) == 0);
        job_check(!(card.info->domain_attr->mr_mode & FI_MR_LOCAL) == !needs_local);
        job_check(card.info->tx_attr->inject_size == longest_inject(&card));
        job_check(asked_with > 0 && asked_without > 0);
        card.lib.freeinfo(card.info);
    }
    close_one(o);
}

static uint32_t two_six(void)
{
    return FI_VERSION(2, 6);
}

/* Later versions have no limit beside their buffer's size. */
static void later_eager(struct ofi *o)
{
    uint32_t (*real)(void) = o->lib.version;
    char had[32];
    snprintf(had, sizeof had, "%s", getenv("FI_OFI_RXM_BUFFER_SIZE"));
    o->lib.version = two_six;
    setenv("FI_OFI_RXM_EAGER_LIMIT", "69632", 1);
    setenv("FI_OFI_RXM_BUFFER_SIZE", "32768", 1);
    job_check(!ofi_rxm_direct(&o->lib) && ofi_eager(o) == 32768);
    unsetenv("FI_OFI_RXM_BUFFER_SIZE");
    job_check(ofi_eager(o) == OFI_EAGER_MIN);
    setenv("FI_OFI_RXM_BUFFER_SIZE", had, 1);
    o->lib.version = real;
}

/* What rank 0 has overrules the variable, and is published again as it was. */
static void variants(void)
{
    struct tp *tp;
    struct tp_caps caps;
    char text[64];
    struct tp_env env = {.recv = count_recv, .up = NULL, .proc = proc, .variant = "udp;ofi_rxd"};
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == 0);
    tp_ofi_ops.variant(tp, text, sizeof text);
    job_check(!strcmp(text, "udp;ofi_rxd 16384"));
    int direct = ofi_rxm_direct(&((struct ofi *)tp)->lib);
    tp_ofi_ops.close(tp);
    /* With packets of another length there would be no connection.  From libfabric 1.20 on they
     * have the length of a buffer. */
    setenv("FI_OFI_RXM_EAGER_LIMIT", "20000", 1);
    if (!direct)
        setenv("FI_OFI_RXM_BUFFER_SIZE", "20000", 1);
    env.variant = "tcp;ofi_rxm 20000";
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == 0 && caps.am_max < 20000 && caps.am_max > 19000);
    job_check(((struct ofi *)tp)->inject == longest_inject((struct ofi *)tp));
    tp_ofi_ops.close(tp);
    env.variant = "tcp;ofi_rxm 16384";
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == -EPROTO);
    env.variant = "pigeons";
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == -ENODEV);
    /* No last piece is long enough to be sent from where it lies. */
    setenv("FI_OFI_RXM_EAGER_LIMIT", "16384", 1);
    if (!direct)
        setenv("FI_OFI_RXM_BUFFER_SIZE", "16384", 1);
    env.variant = "tcp;ofi_rxm 16384";
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == 0);
    job_check(caps.am_max < OFI_ZCOPY && caps.am_zcopy_min == 0);
    later_eager((struct ofi *)tp);
    tp_ofi_ops.close(tp);
    /* Packets of ours have at least 16 KiB. */
    setenv(direct ? "FI_OFI_RXM_EAGER_LIMIT" : "FI_OFI_RXM_BUFFER_SIZE", "8192", 1);
    env.variant = "tcp;ofi_rxm";
    job_check(tp_ofi_ops.open(&env, &tp, &caps) == -EINVAL);
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
static void greedy_all(void) { if (boot_rank() == 0) greedy(); }
#define ONE(name)                                    \
    static void name##_all(void)                     \
    {                                                \
        if (boot_rank() == 0)                        \
            name();                                  \
    }                                                \
    RUN(name, 4, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
ONE(lost_amid)
ONE(again)
ONE(registers_less)
ONE(lost_last)
ONE(lost_verdict)
ONE(lost_hello)
ONE(nothing_lost)
ONE(silent)
ONE(by_the_clock)
ONE(owed)
ONE(refused)
ONE(failed_elsewhere)
ONE(half_registered)
ONE(failed_get)
static void no_leak_all(void) { no_leak(); }
static void pollfds_all(void) { pollfds(); }
static void deaf_all(void) { deaf(); }
static void no_such_provider_all(void) { no_such_provider(); }
static void variants_all(void) { variants(); }

RUN(strangers, 2, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(liars, 2, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(greedy, 2, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
/* mem_init() is for all. */
static void sleeper_all(void) { sleeper(); }
RUN(sleeper, 4, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(window, 2, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(no_leak, 1, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(pollfds, 1, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(deaf, 1, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")
RUN(no_such_provider, 1, "MPIR_CVAR_OFI_PROVIDER=pigeons")
RUN(variants, 1, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm")

Suite *suite_ofi(void)
{
    Suite *s = suite_create("tp/ofi");
    TCase *t = tcase_create("ofi");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, strangers_);
    tcase_add_test(t, liars_);
    tcase_add_test(t, greedy_);
    tcase_add_test(t, window_);
    tcase_add_test(t, lost_amid_);
    tcase_add_test(t, again_);
    tcase_add_test(t, registers_less_);
    tcase_add_test(t, lost_last_);
    tcase_add_test(t, lost_verdict_);
    tcase_add_test(t, lost_hello_);
    tcase_add_test(t, nothing_lost_);
    tcase_add_test(t, silent_);
    tcase_add_test(t, by_the_clock_);
    tcase_add_test(t, owed_);
    tcase_add_test(t, refused_);
    tcase_add_test(t, failed_elsewhere_);
    tcase_add_test(t, sleeper_);
    tcase_add_test(t, half_registered_);
    tcase_add_test(t, failed_get_);
    tcase_add_test(t, no_leak_);
    tcase_add_test(t, pollfds_);
    tcase_add_test(t, deaf_);
    tcase_add_test(t, no_such_provider_);
    tcase_add_test(t, variants_);
    suite_add_tcase(s, t);
    return s;
}
