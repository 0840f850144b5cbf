/* messages.c - what a transport promises of messages (tp.h): the bodies that its processes run.
 * The contract test runs all of them for every transport, the doctor some for each network at hand.
 * What a transport does not offer (flags clear, am_max 0) is skipped.  Start with body_crowd(). */
#include "doctor/doctor.h"
#include "doctor/forked.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem.h"

enum { PEERS = 16 };
/* Networks are slower: a part of the messages. */
#ifndef DOCTOR_PACE
#define DOCTOR_PACE 1
#endif
enum { PACE = DOCTOR_PACE };
enum { ALONE_STEP = 24, ALONE = 200 };

/* --- one open transport in one process ---------------------------------------------- */

static struct box {
    struct end e;
    uint64_t next[PEERS][2]; /* messages taken, by peer and class */
    uint64_t taken;
    int refuse[PEERS];       /* requests of a peer are refused while this is not 0; -1 counts not */
    uint64_t refused;
    int in_send;             /* a handler must not run inside a send */
    int alone;               /* body_alone: lengths grow by ALONE_STEP */
    char *buf;               /* am_max bytes */
} box;

/* Message number `seq` of a stream: its length and its bytes follow from its name. */
static size_t len_of(unsigned src, enum tp_class cls, uint64_t seq)
{
    if (box.alone)
        return seq * ALONE_STEP < box.e.caps.am_max ? seq * ALONE_STEP : box.e.caps.am_max;
    uint64_t h = (seq * 1000003u + src * 7919u + (unsigned)cls * 104729u) * 0x9e3779b97f4a7c15ull;
    switch (seq % 8) {
    case 0: return box.e.caps.am_max;
    case 1: return 0;
    case 2: return (size_t)(h >> 40) % (box.e.caps.am_max + 1);
    default: return (size_t)(h >> 40) % 65;
    }
}

static char byte_of(unsigned src, enum tp_class cls, uint64_t seq, size_t i)
{
    return (char)(seq * 31 + src * 7 + (unsigned)cls * 101 + i * 13 + (i >> 8));
}

static int box_recv(void *up, unsigned peer, enum tp_class cls, const void *msg, size_t len)
{
    job_check(up == &box && !box.in_send);
    job_check(peer < (unsigned)box.e.size && ((uintptr_t)msg & 7) == 0);
    uint64_t seq = box.next[peer][cls];
    job_check(len == len_of(peer, cls, seq));
    for (size_t i = 0; i < len; i++)
        job_check(((const char *)msg)[i] == byte_of(peer, cls, seq, i));
    if (cls == TP_REQUEST && box.refuse[peer]) {
        box.refuse[peer] -= box.refuse[peer] > 0;
        box.refused++;
        return TP_AGAIN;
    }
    box.next[peer][cls]++;
    box.taken++;
    job_event();
    return 0;
}

static void box_connect(int peer)
{
    end_connect(&box.e, peer);
}

static void box_open(void)
{
    memset(&box, 0, sizeof box);
    end_open(&box.e, box_recv, &box);
    job_check(boot_barrier() == 0);
    box.buf = malloc(box.e.caps.am_max + 1);
    job_about(FAULT_ORDER);
}

static void box_poll(void)
{
    end_poll(&box.e);
}

static void box_barrier(void)
{
    end_barrier(&box.e);
}

static void box_close(void)
{
    end_leave(&box.e);
    end_close(&box.e);
    free(box.buf);
}

/* Send message `seq` of our stream, cut into three pieces. */
static int box_send(int peer, enum tp_class cls, uint64_t seq, struct tp_done *d)
{
    size_t len = len_of((unsigned)box.e.rank, cls, seq), cut = len / 3,
           last = seq % 16 ? cut : len - (len < 50 ? len : 50);
    for (size_t i = 0; i < len; i++)
        box.buf[i] = byte_of((unsigned)box.e.rank, cls, seq, i);
    cut = cut < len - last ? cut : len - last;
    struct iovec v[3] = {
        {box.buf, cut}, {box.buf + cut, len - cut - last}, {box.buf + len - last, last}};
    box.in_send = 1;
    int err = box.e.ops->am(box.e.tp, (unsigned)peer, cls, v, 3, d);
    box.in_send = 0;
    job_check(err != TP_PENDING ||
              (d && box.e.caps.am_zcopy_min && last >= box.e.caps.am_zcopy_min));
    /* Answered 0, the buffer is ours again; pending, all but its last piece. */
    memset(box.buf, 0x55, err == TP_PENDING ? len - last : len);
    memset(v, 0, sizeof v);
    return err;
}

/* Sleep on the transport's descriptor if it allows. */
static void box_sleep(void)
{
    if (!(box.e.caps.flags & TP_WAIT_FD) || box.e.ops->fd(box.e.tp, 0) < 0) {
        box_poll();
        return;
    }
    if (box.e.ops->fd(box.e.tp, 1) == 0) {
        struct pollfd p[TP_FDS];
        int fd[TP_FDS] = {box.e.ops->fd(box.e.tp, 0)},
            n = box.e.ops->fds ? box.e.ops->fds(box.e.tp, fd) : 1;
        job_check(n >= 1 && n <= TP_FDS);
        for (int i = 0; i < n; i++)
            p[i] = (struct pollfd){.fd = fd[i], .events = POLLIN};
        job_check(poll(p, (nfds_t)n, 30000) >= 1); /* a lost wake-up shows as a time-out */
    }
    mem_wake_disarm(); /* the engine's part */
    box_poll();
}

static void word_await(int i, uint64_t v)
{
    while (job_word(i) < v)
        sched_yield();
}

static int has_am(void)
{
    return box.e.caps.am_max > 0;
}

/* --- entries and flags ----------------------------------------------------------------- */

/* What a provider lost, or was not known to have: tests of it would be skipped silently. */
void body_offered(void)
{
    box_open();
    const struct row *r = box.e.row;
    if (box.e.caps.flags != r->flags || box.e.caps.atomic_sizes != r->atomic_sizes)
        fprintf(stderr, "%s %s %s: flags %#x, atomic sizes %#x are offered; %#x, %#x expected\n",
                r->ops->name, r->set ? r->set : "", r->env ? r->env : "", box.e.caps.flags,
                box.e.caps.atomic_sizes, r->flags, r->atomic_sizes);
    job_check(box.e.caps.flags == r->flags);
    job_check(box.e.caps.atomic_sizes == r->atomic_sizes);
    box_close();
}

void body_entries(void)
{
    box_open();
    const struct tp_ops *o = box.e.ops;
    unsigned f = box.e.caps.flags;
    job_check(o->name && o->name[0]);
    job_check(o->open && o->address && o->connect && o->close);
    job_check(o->am && o->progress && o->fd);
    /* What a flag promises is there; a table may hold more than what was opened can do. */
    job_check((!(f & TP_PUT) || o->put) && (!(f & TP_GET) || o->get));
    job_check(!(f & TP_ATOMIC) || o->atomic);
    job_check((!(f & TP_ATOMIC) || o->atomic_ok) && !(f & TP_ATOMIC) == !box.e.caps.atomic_sizes);
    job_check(!(f & (TP_PUT | TP_GET | TP_ATOMIC)) || o->import);
    job_check(!o->import == !o->drop && !o->import == !o->reg && !o->import == !o->pack &&
              !o->import == !o->dereg);
    job_check(!(f & (TP_PUT | TP_ATOMIC)) || o->flush);
    job_check(!(f & (TP_PUT | TP_GET)) == !box.e.caps.rma_max);
    job_check(o->progress(box.e.tp) == 0);
    job_check(boot_barrier() == 0); /* no process connects before */
    if (f & TP_WAIT_FD || !has_am())
        while (o->fd(box.e.tp, 1) != 0) /* a process may be connecting */
            box_poll();
    else
        job_check(o->fd(box.e.tp, 0) == -1 && o->fd(box.e.tp, 1) < 0);
    mem_wake_disarm();
    char about[64];
    if (o->describe) {
        o->describe(box.e.tp, about, sizeof about);
        job_check(strlen(about) > 0 && !strchr(about, '\n'));
    }
    /* a peer that was never connected; one that does not exist; a message that is too long */
    struct iovec v = {box.buf, 0};
    job_check(o->am(box.e.tp, (unsigned)box.e.size + 5, TP_REQUEST, &v, 1, NULL) < 0);
    job_check(o->connect(box.e.tp, (unsigned)box.e.size + 5, "", 0) < 0);
    if (has_am()) {
        box_connect(0);
        box_connect(0); /* twice is harmless */
    }
    v.iov_len = box.e.caps.am_max + 1;
    job_check(o->am(box.e.tp, 0, TP_REQUEST, &v, 1, NULL) == -EMSGSIZE);
    job_check(o->am(box.e.tp, 0, TP_REPLY, &v, 1, NULL) == -EMSGSIZE);
    struct iovec huge[2] = {{box.buf, SIZE_MAX - 1}, {box.buf, 8}};
    job_check(o->am(box.e.tp, 0, TP_REQUEST, huge, 2, NULL) == -EMSGSIZE);
    box_barrier();
    job_check(o->progress(box.e.tp) >= 0 && box.taken == 0);
    box_close();
}

/* --- order and content ------------------------------------------------------------------- */

enum { STREAM = 600 / PACE };

/* Every rank to every rank, both classes at once, lengths 0 .. am_max. */
void body_crowd(void)
{
    box_open();
    uint64_t sent[PEERS][2] = {{0}}, all = (uint64_t)box.e.size * 2 * STREAM, out = 0;
    for (int p = 0; has_am() && p < box.e.size; p++)
        box_connect(p);
    while (has_am() && (out < all || box.taken < all)) {
        for (int p = 0; p < box.e.size; p++)
            for (int c = 0; c < 2; c++) {
                if (sent[p][c] == STREAM)
                    continue;
                int err = box_send(p, (enum tp_class)c, sent[p][c], NULL);
                job_check(err == 0 || err == TP_AGAIN);
                sent[p][c] += err == 0;
                out += err == 0;
            }
        box_poll();
    }
    job_check(!has_am() || (box.e.ops->progress(box.e.tp) >= 0 && box.taken == all));
    box_close();
}

/* --- each alone ------------------------------------------------------------------------- */

/* Lengths up to ALONE * ALONE_STEP, one message at a time with nothing else under way: what is lost
 * or damaged here is so for its length. */
void body_alone(void)
{
    box_open();
    box.alone = 1;
    if (has_am() && box.e.size == 2) {
        int peer = 1 - box.e.rank;
        box_connect(peer);
        job_about(FAULT_INJECT);
        for (uint64_t i = 0; i < ALONE; i++) {
            while (box.e.rank == 0 && box_send(peer, TP_REQUEST, i, NULL) != 0)
                box_poll();
            while (box.taken < i + 1)
                box_poll();
            while (box.e.rank == 1 && box_send(peer, TP_REPLY, i, NULL) != 0)
                box_poll();
        }
        job_about(FAULT_ORDER);
    }
    box_close();
}

/* --- exhaustion ---------------------------------------------------------------------------- */

/* The last process does not call progress: requests are refused after a while, then the promised
 * number of replies still finds room.  Then all arrives in order, and the sender has room again. */
void body_exhaust(void)
{
    box_open();
    int target = box.e.size - 1, sender = 0;
    uint64_t requests = 0, replies = 0;
    if (has_am() && box.e.rank == sender) {
        box_connect(target);
        int err;
        while ((err = box_send(target, TP_REQUEST, requests, NULL)) == 0)
            job_check(++requests < 1000000);
        job_check(err == TP_AGAIN);
        job_check(requests > 0);
        for (; replies < box.e.caps.replies && replies < 100000; replies++)
            job_check(box_send(target, TP_REPLY, replies, NULL) == 0);
        job_check(box_send(target, TP_REQUEST, requests, NULL) == TP_AGAIN);
        job_word_set(1, replies);
        job_word_set(2, requests + 1);
        job_word_set(0, 1);
    }
    if (has_am() && box.e.rank == target) {
        word_await(0, 1);
        uint64_t late = box.e.rank == sender; /* a process alone has yet to send its last */
        while (box.next[sender][TP_REPLY] < job_word(1) ||
               box.next[sender][TP_REQUEST] < job_word(2) - late)
            box_poll();
    }
    if (has_am() && box.e.rank == sender)
        while (box_send(target, TP_REQUEST, requests, NULL) == TP_AGAIN)
            box_poll();
    if (has_am() && box.e.rank == target)
        while (box.next[sender][TP_REQUEST] < job_word(2))
            box_poll();
    box_close();
}

/* The same, but the refused sender sleeps until there is room: the receiver must wake it. */
void body_refused_sleeper(void)
{
    box_open();
    int target = box.e.size - 1;
    enum { N = 3000 / PACE };
    if (has_am() && box.e.size > 1 && box.e.rank != target) {
        box_connect(target);
        for (uint64_t i = 0; i < N;) {
            int err = box_send(target, TP_REQUEST, i, NULL);
            job_check(err == 0 || err == TP_AGAIN);
            if (err == 0)
                i++;
            else
                box_sleep();
        }
    }
    if (has_am() && box.e.size > 1 && box.e.rank == target)
        while (box.taken < (uint64_t)N * (unsigned)target)
            box_sleep();
    box_close();
}

/* --- refusal by the receiver ------------------------------------------------------------------ */

/* The last process refuses rank 0's requests for a while.  Its replies and the requests of others
 * come through; later all of it arrives in order. */
void body_hold_back(void)
{
    enum { N = 300 / PACE };
    box_open();
    int target = box.e.size - 1;
    if (has_am() && box.e.rank == target)
        box.refuse[0] = -1;
    job_check(boot_barrier() == 0);
    uint64_t sent[2] = {0};
    if (has_am() && (box.e.rank != target || box.e.size == 1)) {
        box_connect(target);
        int open = 1;
        while (sent[0] < N || sent[1] < N)
            for (int c = 0; c < 2; c++) {
                int err = sent[c] < N ? box_send(target, (enum tp_class)c, sent[c], NULL) : 0;
                job_check(err == 0 || err == TP_AGAIN);
                sent[c] += err == 0 && sent[c] < N;
                if (err)
                    box_poll();
                if (box.e.size == 1 && open && sent[1] == N && box.next[0][TP_REPLY] == N) {
                    job_check(box.next[0][TP_REQUEST] == 0 && box.refused > 0);
                    open = box.refuse[0] = 0;
                }
            }
    }
    if (has_am() && box.e.rank == target) {
        for (int p = 0; p < box.e.size; p++) {
            if (p == target && box.e.size > 1)
                continue;
            /* replies of all, requests of all but rank 0 */
            while (box.next[p][TP_REPLY] < N || (p && box.next[p][TP_REQUEST] < N))
                box_poll();
        }
        if (box.e.size > 1)
            job_check(box.next[0][TP_REQUEST] == 0);
        job_check(box.refused > 0);
        box.refuse[0] = 50; /* and now and then again */
        if (box.e.size == 1)
            box.refuse[0] = 0;
        while (box.next[0][TP_REQUEST] < N)
            box_poll();
    }
    box_close();
}

/* --- completion ------------------------------------------------------------------------------- */

struct counted {
    struct tp_done d;
    int calls;
};

static void count_done(struct tp_done *d, int err)
{
    job_check(err == 0 && !box.in_send);
    job_event();
    ((struct counted *)d)->calls++;
}

void body_done_once(void)
{
    enum { N = 500 / PACE };
    box_open();
    struct counted *done = calloc(N, sizeof *done);
    int pending[N] = {0}, peer = box.e.size - 1;
    if (has_am() && box.e.rank == 0) {
        box_connect(peer);
        for (int i = 0; i < N;) {
            done[i].d.fn = count_done;
            char *own = box.buf;
            box.buf = malloc(box.e.caps.am_max); /* must stay untouched while pending */
            int err = box_send(peer, TP_REQUEST, (uint64_t)i, &done[i].d);
            job_check(err == 0 || err == TP_AGAIN || err == TP_PENDING);
            job_about(FAULT_LOST);
            while (err == TP_PENDING && !done[i].calls)
                box_poll();
            job_about(FAULT_ORDER);
            free(box.buf);
            box.buf = own;
            if (err == TP_AGAIN) {
                job_check(done[i].calls == 0);
                box_poll();
                continue;
            }
            pending[i++] = err == TP_PENDING;
        }
        job_word_set(0, 1);
    }
    if (has_am() && box.e.rank == peer)
        while (box.next[0][TP_REQUEST] < N)
            box_poll();
    for (int i = 0; i < 100; i++)
        job_check(box.e.ops->progress(box.e.tp) >= 0);
    for (int i = 0; has_am() && box.e.rank == 0 && i < N; i++)
        job_check(done[i].calls == pending[i]);
    free(done);
    box_close();
}

/* Many long ones that stay where they are, of which the next buffer is the one whose message has
 * left: none is read later. */
void body_kept(void)
{
    enum { N = 400 / PACE, OUT = 6 };
    box_open();
    struct counted *done = calloc(OUT, sizeof *done);
    char *buf[OUT], *own = box.buf;
    int peer = box.e.size - 1, out[OUT] = {0}, total = 0;
    for (int k = 0; k < OUT; k++)
        buf[k] = malloc(box.e.caps.am_max + 1);
    if (has_am() && box.e.rank == 0 && box.e.size > 1) {
        box_connect(peer);
        for (int i = 0, k = 0; i < N; k = (k + 1) % OUT) {
            job_about(FAULT_LOST);
            while (out[k] && !done[k].calls)
                box_poll();
            job_about(FAULT_ORDER);
            done[k] = (struct counted){.d.fn = count_done};
            box.buf = buf[k];
            int err = box_send(peer, TP_REQUEST, (uint64_t)i, &done[k].d);
            job_check(err == 0 || err == TP_AGAIN || err == TP_PENDING);
            out[k] = err == TP_PENDING;
            total += out[k];
            i += err != TP_AGAIN;
            if (err == TP_AGAIN)
                box_poll();
        }
        for (int k = 0; k < OUT; k++)
            while (out[k] && !done[k].calls)
                box_poll();
        job_check(!box.e.row->waits || !box.e.caps.am_zcopy_min || total >= N / 16);
    }
    if (has_am() && box.e.rank == peer && box.e.size > 1)
        while (box.next[0][TP_REQUEST] < N)
            box_poll();
    for (int i = 0; i < 100; i++)
        job_check(box.e.ops->progress(box.e.tp) >= 0);
    for (int k = 0; k < OUT; k++) {
        job_check(done[k].calls == out[k]);
        free(buf[k]);
    }
    box.buf = own;
    free(done);
    box_close();
}

/* --- arm race --------------------------------------------------------------------------------- */

/* Two processes bounce messages and sleep between them; each must be woken each time. */
void body_arm_race(void)
{
    enum { N = 10000 / PACE };
    box_open();
    if (has_am() && box.e.caps.flags & TP_WAIT_FD) {
        int peer = box.e.size - 1 - box.e.rank;
        box_connect(peer);
        for (uint64_t i = 0; i < N; i++) {
            enum tp_class c = i & 1 ? TP_REPLY : TP_REQUEST;
            if (box.e.rank == 0)
                while (box_send(peer, c, i / 2, NULL) != 0)
                    box_poll();
            while (box.taken < i + 1)
                box_sleep();
            if (box.e.rank == 1)
                while (box_send(peer, c, i / 2, NULL) != 0)
                    box_poll();
        }
        /* with a message there the transport forbids sleep */
        if (box.e.size == 1) {
            job_check(box_send(0, TP_REQUEST, N / 2, NULL) == 0);
            job_check(box.e.ops->fd(box.e.tp, 1) == TP_AGAIN);
            mem_wake_disarm();
            box_poll();
            job_check(box.e.ops->fd(box.e.tp, 1) == 0);
            mem_wake_disarm();
        }
    }
    box_close();
}

/* A sender that was refused nothing sleeps until it is answered, with more under way than the
 * transport may carry at once: what the transport still has to do for it wakes it, or forbids the
 * sleep. */
void body_asleep_behind(void)
{
    enum { ROUNDS = 20, EACH = 48 };
    box_open();
    if (has_am() && box.e.caps.flags & TP_WAIT_FD && box.e.size == 2) {
        int peer = 1 - box.e.rank;
        box_connect(peer);
        for (uint64_t r = 0; r < ROUNDS; r++) {
            for (uint64_t i = r * EACH; box.e.rank == 0 && i < (r + 1) * EACH; i++)
                while (box_send(peer, TP_REQUEST, i, NULL) != 0)
                    box_poll();
            while (box.taken < (box.e.rank ? (r + 1) * EACH : r + 1))
                box_sleep();
            while (box.e.rank == 1 && box_send(peer, TP_REPLY, r, NULL) != 0)
                box_poll();
        }
    }
    box_close();
}

/* A peer that is sent to first connects only when it answers. */
void body_late_answer(void)
{
    box_open();
    if (has_am() && box.e.size == 2) {
        if (box.e.rank == 0) {
            box_connect(1);
            while (box_send(1, TP_REQUEST, 0, NULL) != 0)
                box_poll();
        }
        while (!box.taken)
            box_poll();
        if (box.e.rank == 1) {
            box_connect(0);
            while (box_send(0, TP_REPLY, 0, NULL) != 0)
                box_poll();
        }
    }
    box_close();
}

/* --- fairness --------------------------------------------------------------------------------- */

/* All flood one, without end; the run ends only when each has got its share through: none starves.
 * (How large a share each gets in a given time is the kernel's business too, with more processes
 * than cores.) */
static int all_served(uint64_t per)
{
    for (int p = 0; p < box.e.size - 1; p++)
        if (box.next[p][TP_REQUEST] < per)
            return 0;
    return 1;
}

void body_flood(void)
{
    enum { PER = 500 / PACE };
    box_open();
    int target = box.e.size - 1;
    uint64_t i = 0;
    if (has_am() && box.e.size > 1 && box.e.rank != target) {
        box_connect(target);
        while (!job_word(0)) {
            int err = box_send(target, TP_REQUEST, i, NULL);
            i += err == 0;
            if (err)
                box_poll();
        }
    }
    if (has_am() && box.e.size > 1 && box.e.rank == target) {
        while (!all_served(PER))
            box_poll();
        job_word_set(0, 1);
    }
    box_close();
}
