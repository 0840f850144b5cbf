/* detector_ask.c - the watching thread asks: one probe per process, one line to each of its
 * addresses. Start with detector_probe_take(). */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boot/detector_types.h"

uint64_t detector_timeout(const struct detector *w)
{
    return (uint64_t)w->timeout * SECOND;
}

/* The kernel of that host has answered. */
static void probe_heard(struct detector *w, struct probe *p, uint64_t now)
{
    p->since = now;
    for (int i = 0; i < PROBES; i++)
        if (w->probe[i].rank >= 0 &&
            detector_host_same(w, p, w->probe[i].host, &w->probe[i].card)) {
            w->probe[i].host_since = now;
            w->probe[i].vouched = 0;
            w->probe[i].called = 0;
        }
}

/* A process of another host has answered with its secret: this host is not cut off.  That proves
 * nothing for probes that began just now: the cable may have been pulled between the two. */
static void host_vouches(struct detector *w, const struct probe *p, uint64_t now)
{
    for (int i = 0; i < PROBES; i++) {
        struct probe *q = &w->probe[i];
        if (q->rank >= 0 && !q->vouched && !detector_host_same(w, p, q->host, &q->card) &&
            now - q->host_since >= detector_timeout(w) / 2)
            q->vouched = now;
    }
    const struct ask *last = &w->witness[0];
    if (last->rank < 0 || !detector_host_same(w, p, boot_host_of(w->b, last->rank), &last->card))
        w->witness[1] = w->witness[0];
    /* no wait depends on it now */
    w->witness[0] = (struct ask){.rank = p->rank, .why = ASK_PROOF, .card = p->card};
}

static void line_close(struct line *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

/* W2: a way out is known to work from now on.  Earlier silence may have been its fault. */
static void way_is_good(struct detector *w, const struct detector_spot *via, uint64_t now)
{
    if (w->ngood == OWN || detector_spot_among(via, w->good, w->ngood))
        return;
    w->good[w->ngood++] = *via;
    atomic_store_explicit(&w->answered, 1, memory_order_relaxed);
    (void)!eventfd_write(w->answer_fd, 1);
    for (int i = 0; i < PROBES; i++)
        if (w->probe[i].rank >= 0) {
            w->probe[i].since = w->probe[i].host_since = now;
            w->probe[i].vouched = 0;
            w->probe[i].called = 0;
        }
}

/* W7 */
int detector_is_deaf(const struct detector *w)
{
    return !atomic_load_explicit(&w->answered, memory_order_relaxed) &&
           !atomic_load_explicit(&w->heard, memory_order_relaxed);
}

/* The kernel of that host has taken the question. */
int detector_probe_open(const struct probe *p)
{
    for (int i = 0; i < DETECTOR_SPOTS && p->rank >= 0; i++)
        if (p->line[i].state == LINE_OPEN)
            return 1;
    return 0;
}

void detector_probe_end(struct probe *p)
{
    for (int i = 0; i < DETECTOR_SPOTS; i++)
        line_close(&p->line[i]);
    p->rank = -1;
}

void detector_line_retry(struct line *l, uint64_t when)
{
    line_close(l);
    l->state = LINE_IDLE;
    l->again = when;
}

/* Errors of the network that mean that there is no answer. */
static int is_silence(int err)
{
    return err == ETIMEDOUT || err == ENETDOWN || err == ENETUNREACH || err == EHOSTDOWN ||
           err == EHOSTUNREACH;
}

static void line_fails(struct detector *w, struct probe *p, struct line *l, int err, uint64_t now)
{
    detector_line_retry(l, now + AGAIN_NS);
    if (err == ECONNREFUSED || err == ECONNRESET) {
        probe_heard(w, p, now);
        if (++l->refusals >= REFUSALS)
            l->state = LINE_REFUSED;
    } else if (!is_silence(err)) { /* a shortage of this process, such as too many descriptors */
        l->tried = 0;
    }
}

void detector_line_begin(struct detector *w, struct probe *p, struct line *l, uint64_t now)
{
    const struct detector_spot *to = &p->card.spot[l - p->line];
    struct sockaddr_storage a;
    int one = 1, idle = w->timeout >= 6 ? (int)(w->timeout / 3) : 1;
    unsigned ms = w->timeout > 1000000 ? 1000000000u : (unsigned)w->timeout * 1000;
    socklen_t len = detector_spot_sockaddr(to, &a);
    l->fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->fd < 0) {
        line_fails(w, p, l, errno, now);
        return;
    }
    setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    /* W1: while it is open the kernels ask each other. */
    detector_keep_alive(l->fd, idle, idle, 3);
    int err = connect(l->fd, (struct sockaddr *)&a, len) ? errno : 0;
    l->tried = 1;
    memset(&l->via, 0, sizeof l->via);
    if (err && err != EINPROGRESS) {
        line_fails(w, p, l, err, now);
        return;
    }
    /* Not before the connection is there: it would limit the attempt, which has its own limit. */
    setsockopt(l->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    len = sizeof a;
    if (getsockname(l->fd, (struct sockaddr *)&a, &len) ||
        detector_spot_of((struct sockaddr *)&a, &l->via))
        l->tried = 0;
    l->state = LINE_CONNECTING;
    l->began = now;
}

void detector_line_opens(struct detector *w, struct probe *p, struct line *l, uint64_t now)
{
    struct detector_hello h = {.secret = p->card.hello, .rank = (uint32_t)detector_self(w)};
    int err = 0, want = offsetof(struct detector_answer, death);
    socklen_t len = sizeof err;
    getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &err, &len);
    if (err) {
        line_fails(w, p, l, err, now);
        return;
    }
    l->state = LINE_OPEN;
    probe_heard(w, p, now);
    p->lost = 0;
    setsockopt(l->fd, SOL_SOCKET, SO_RCVLOWAT, &want, sizeof want);
    (void)!send(l->fd, &h, sizeof h, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A failure that p reports: this process, or its whole host, as seen from p?  A process of our host
 * cannot mean that our host failed. */
static int death_is_ours(const struct detector *w, const struct probe *p,
                         const struct detector_obituary *o)
{
    return (int)o->rank == detector_self(w) ||
           (o->scope != BOOT_ONE && !p->near && detector_is_near(w, (int)o->rank));
}

/* W4 */
static void deaths_learn(struct detector *w, const struct probe *p, struct detector_answer *a)
{
    for (uint32_t i = 0; i < a->deaths; i++) {
        const struct detector_obituary *o = &a->death[i];
        if (o->rank < (uint32_t)w->b->universe && death_is_ours(w, p, o)) {
            char why[BOOT_WHY_MAX];
            snprintf(why, sizeof why, "it has given process %d up", detector_self(w));
            boot_fail_first(w->b, p->rank, why);
            return;
        }
    }
    for (uint32_t i = 0; i < a->deaths; i++) {
        struct detector_obituary *o = &a->death[i];
        o->why[sizeof o->why - 1] = 0;
        if (o->rank >= (uint32_t)w->b->universe || o->scope > BOOT_APART ||
            (o->scope == BOOT_APART && !p->near))
            continue;
        /* On our own host only single processes can have failed.  Their kernel knows that better
         * than a far process. */
        if (!detector_is_near(w, (int)o->rank) || (p->near && o->scope == BOOT_ONE))
            boot_fail_take(w->b, (int)o->rank, (enum boot_scope)o->scope, o->why);
        else if (o->scope == BOOT_ONE)
            atomic_store_explicit(&w->doubt, (int)o->rank + 1, memory_order_relaxed);
    }
}

/* The line has an answer, an end, or an error. */
void detector_line_reads(struct detector *w, struct probe *p, struct line *l, uint64_t now)
{
    struct detector_answer a;
    ssize_t n = recv(l->fd, &a, sizeof a, MSG_DONTWAIT | MSG_PEEK);
    int head = offsetof(struct detector_answer, death), err = n < 0 ? errno : 0;
    if (n < 0 && (err == EAGAIN || err == EINTR))
        return;
    if (n >= head && a.secret == p->card.answer && a.deaths <= DETECTOR_FAILURES) {
        int want = head + (int)(a.deaths * sizeof a.death[0]);
        if (n >= want) {
            if (!p->near)
                way_is_good(w, &l->via, now);
            probe_heard(w, p, now);
            if (!p->near)
                host_vouches(w, p, now);
            if (w->ngood)
                atomic_store_explicit(&w->proven, 1, memory_order_relaxed);
            deaths_learn(w, p, &a);
            detector_probe_end(p);
            return;
        }
        /* The rest is on its way.  If an end comes first, the next look finds it, since then fewer
         * bytes come. */
        int had;
        socklen_t len = sizeof had;
        if (!getsockopt(l->fd, SOL_SOCKET, SO_RCVLOWAT, &had, &len) && had < want) {
            setsockopt(l->fd, SOL_SOCKET, SO_RCVLOWAT, &want, sizeof want);
            return;
        }
    }
    /* Not at once: the process that closed it may be short of something, and others may ask it,
     * too. */
    detector_line_retry(l, now + (AGAIN_NS << p->shut));
    if (is_silence(err)) { /* the kernel asked its host for the whole time-out (TCP_USER_TIMEOUT) */
        if (now - p->asked > detector_timeout(w))
            detector_probe_end(p); /* no wait depends on it any more */
        else
            p->lost = 1;
        return;
    }
    probe_heard(w, p, now); /* its host answered, even by an end */
    if (++p->shut >= SHUT_MAX) /* another program has its port */
        l->state = LINE_REFUSED;
}

/* W8 */
void detector_probe_spoke(struct detector *w, int rank, uint64_t now)
{
    for (int i = 0; i < PROBES; i++)
        if (w->probe[i].rank == rank) {
            w->probe[i].spoke = 1;
            probe_heard(w, &w->probe[i], now);
        }
}

/* It is alive, or asked for as long as W7 asks: others first. */
static int probe_yields(const struct detector *w, const struct probe *p, uint64_t now)
{
    return detector_probe_open(p) || (detector_is_deaf(w) && now - p->since > detector_timeout(w));
}

void detector_probe_take(struct detector *w, const struct ask *a, uint64_t now)
{
    struct probe *p = NULL;
    for (int i = 0; i < PROBES; i++) {
        struct probe *q = &w->probe[i];
        if (q->rank == a->rank) {
            q->asked = now;
            if (a->why == ASK_LIFE && q->proof)
                q->begun = now;
            if (a->why == ASK_LIFE && q->spoke) /* W8: what else it said was not reported */
                probe_heard(w, q, now);
            if (a->why == ASK_LIFE)
                q->proof = q->spoke = 0;
            return;
        }
        if (q->rank < 0)
            p = q;
        else if (probe_yields(w, q, now) && (!p || (p->rank >= 0 && q->asked < p->asked)))
            p = q;
    }
    if (!p)
        return; /* it will be asked again */
    if (p->rank >= 0)
        detector_probe_end(p);
    *p = (struct probe){.rank = a->rank,
                        .card = a->card,
                        .since = now,
                        .asked = now,
                        .host_since = now,
                        .begun = now,
                        .proof = a->why == ASK_PROOF};
    p->host = boot_host_of(w->b, a->rank);
    p->near = p->host == w->b->map.host;
    p->card.host[sizeof p->card.host - 1] = 0;
    if (p->card.spots > DETECTOR_SPOTS)
        p->card.spots = DETECTOR_SPOTS;
    for (unsigned i = 0; i < DETECTOR_SPOTS; i++) {
        p->line[i].fd = -1;
        p->line[i].again = UINT64_MAX;
        /* W3 */
        if (i < p->card.spots &&
            (p->near || !detector_spot_among(&p->card.spot[i], w->own, w->nown)))
            p->line[i].again = now;
    }
}

/* The network's own attempts come at growing intervals.  After the end of a break they would be too
 * late. */
int detector_line_is_stale(const struct detector *w, const struct line *l, uint64_t now)
{
    uint64_t fresh = detector_timeout(w) / 8 > SECOND ? detector_timeout(w) / 8 : SECOND;
    return l->state == LINE_CONNECTING && now - l->began > fresh;
}
