/* watch.c - is a process of another host alive?  Asked of its kernel and of a thread that sleeps, never of its user's code.
 *
 *      watching thread of A                                  B
 *      connect ------------------------------------------->  kernel: the port is open   (B lives: computing or stopped)
 *         refused                                            kernel: no such port       (B has ended)
 *         nothing, for MPIR_CVAR_PEER_TIMEOUT                nobody                     (B's host is cut off)
 *      "hello", B's first secret ------------------------->  watching thread of B
 *      B's second secret, whom B holds for dead <----------
 *
 * The thread has a listening socket, at most GUESTS connections of others and PROBES questions of its own; it sleeps in
 * poll(2), without end while nobody asks.  It knows only what it is handed: a rank and that rank's card.
 *
 *   W1 A stopped process does not answer.  Its connection is kept while the kernel there acknowledges it, or until others need the
 *      place, so that one that is asked again and again, for as long as a debugger holds it, does not fill the queue of its port.
 *   W2 A refusal or silence counts only where the network was seen to work: on a way out of this host (the local address of the
 *      connection) by which some process of another host has answered with its secret.  A firewall kills nobody.  (That messages come from a
 *      host proves nothing: those that reject connections in its name let them through.)
 *   W3 An address that this host has too (a bridge of containers) leads to ourselves and is not tried for another host.
 *   W4 An answer names the deaths that B knows of: who waits for B, and not for the dead that made B give up, learns of them.  If
 *      this process is among them the two are dead for each other, and all else that B says is not heard: a host that was cut off
 *      and comes back holds everybody for dead.  Nor does it tell of a silent host for which nobody could vouch that it was not
 *      this one that was cut off (BOOT_APART), but to its own host, which is in the same place.  To vouch is to answer, from a
 *      third host, while the silent one is still asked, and long enough for it to answer, too.
 *   W5 What is silent is a host: all its processes are.  One that is silent while others of its host speak is stopped, and the queue of
 *      its port is full: the kernel refuses for a process that has ended.
 *   W6 Who asks is not turned away: three ends without an answer are a death (SHUT_MAX).  However many ask at once, their connections
 *      wait in the kernel until the question is there, and then for a free place.
 *   W7 Who has never had an answer, a question, nor a message by a network, from any other host cannot tell a firewall from death (W2), and shall
 *      not wait for ever: the process that it waits for is given up after DEAF times the time-out.  After one of these from anybody
 *      this rule is off: then it is a firewall.
 *   W8 A message that came after the question is an answer: silence counts from there, and no more if nobody has asked since.
 * The thread touches its own record, struct boot's set of deaths (atomic) and nothing else; proc->lock is not its. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot_types.h"
#include "boot/watch.h"
#include "var/var.h"

enum {
    OWN = 64,     /* addresses of this host that are remembered */
    PROBES = 32,  /* processes asked at a time: twice what am/ asks in a turn, so that those who hold still keep their places (W1) */
    GUESTS = 16,  /* connections of others at a time */
    DEFER = 5,    /* seconds for which a connection without a question is left to the kernel */
    REFUSALS = 2, /* of one address, AGAIN_NS apart, until they count: a single reset may be anybody's */
    WITNESSES = 2, /* processes of different hosts that have answered: one is not of the host that is silent */
    DEAF = 10, /* W7, time-outs */
    SHUT_MAX = 3, /* connections of a process that end without its answer, until it is not that process */
    STACK = 256 * 1024
};
#define MS 1000000u /* ns */
static const uint64_t GUEST_NS = 500 * (uint64_t)MS, AGAIN_NS = 250 * (uint64_t)MS, SECOND = 1000 * (uint64_t)MS;

struct ask { /* handed to the thread through a pipe; at most PIPE_BUF bytes, so it comes whole */
    int rank, near;
    enum ask_why { ASK_LIFE, ASK_PROOF, ASK_HEARD } why; /* the last is no question: a message came from it */
    struct watch_card card;
};
_Static_assert(sizeof(struct ask) <= 512, "POSIX's least PIPE_BUF");

enum line_state { LINE_IDLE, LINE_CONNECTING, LINE_OPEN, LINE_REFUSED };

struct line { /* of a probe, to one address */
    enum line_state state;
    int fd;         /* -1: none */
    int tried;      /* it left this host, by `via` */
    int refusals;
    uint64_t again; /* LINE_IDLE: when to try (ns) */
    uint64_t began; /* LINE_CONNECTING: when (ns) */
    struct watch_spot via; /* our address; port 0: there was no way to leave by */
};

struct probe {
    int rank; /* -1: free */
    int near, host; /* host: number in the map */
    struct watch_card card;
    struct line line[WATCH_SPOTS];
    uint64_t host_since; /* last sign of life of any process of its host, or the first question (ns) */
    uint64_t vouched; /* when a third host answered first after half of the time (ns); 0: none has (W4) */
    int called; /* a witness was asked */
    int proof; /* nobody waits for it: asked for the sake of W2 alone */
    int spoke; /* W8: a message came since it was asked last */
    uint64_t begun; /* the first question (ns) */
    uint64_t since; /* last sign of life, or the first question (ns) */
    uint64_t asked; /* by our process, last (ns) */
    int shut;       /* connections that ended without an answer */
    int lost;       /* a connection ended because the kernel there was silent for the whole time */
};

struct guest {
    int fd; /* -1: free */
    uint64_t since;
};

struct watch {
    struct boot *b;
    struct watch_card card;
    int listen_fd, ask_fd; /* ask_fd: written by the process */
    int answer_fd;         /* readable once `answered` */
    pthread_t thread;
    atomic_int stop; /* the thread is to end */
    atomic_int proven; /* W2, W4: some process of another host has answered; 0: our process shall ask any */
    atomic_int answered, heard; /* W7: a process of another host has, ever; a message or question has come from one */
    atomic_int doubt; /* a process of this host, + 1, that a far one holds for dead: our process shall ask it; 0: none */
    int64_t timeout; /* seconds */
    /* the thread's */
    int control_fd;
    int spare_fd; /* given up for a guest when no other descriptor is free; -1: given up */
    struct probe probe[PROBES];
    struct guest guest[GUESTS];
    struct ask witness[WITNESSES]; /* the last that answered, the last of another host before it; rank -1: none */
    uint64_t wake_by; /* when poll(2) was to end at the latest (ns); UINT64_MAX: any time */
    struct watch_spot own[OWN], good[OWN]; /* addresses of this host; W2 */
    unsigned nown, ngood;
    uint64_t take_at;   /* not before this are guests taken (ns) */
    unsigned tell_from; /* deaths are told in turn */
    int warned;
    struct pollfd fds[2 + GUESTS + PROBES * WATCH_SPOTS];
};

/* --- addresses --------------------------------------------------------------------- */

static int spot_same(const struct watch_spot *a, const struct watch_spot *b) /* ports are not compared */
{
    return a->v6 == b->v6 && !memcmp(a->bytes, b->bytes, a->v6 ? 16 : 4);
}

static int spot_among(const struct watch_spot *s, const struct watch_spot *list, unsigned n)
{
    while (n--)
        if (spot_same(s, &list[n]))
            return 1;
    return 0;
}

static int spot_of(const struct sockaddr *a, struct watch_spot *s)
{
    memset(s, 0, sizeof *s);
    if (a->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)a;
        memcpy(s->bytes, &in->sin_addr, 4);
        s->port = in->sin_port;
        return 0;
    }
    if (a->sa_family != AF_INET6)
        return -EAFNOSUPPORT;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)a;
    memcpy(s->bytes, &in6->sin6_addr, 16);
    s->port = in6->sin6_port;
    s->v6 = 1;
    return 0;
}

static socklen_t spot_sockaddr(const struct watch_spot *s, struct sockaddr_storage *a)
{
    memset(a, 0, sizeof *a);
    if (!s->v6) {
        struct sockaddr_in *in = (struct sockaddr_in *)a;
        in->sin_family = AF_INET;
        in->sin_port = s->port;
        memcpy(&in->sin_addr, s->bytes, 4);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)a;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = s->port;
    memcpy(&in6->sin6_addr, s->bytes, 16);
    return sizeof *in6;
}

/* Is `name` in the list MPIR_CVAR_PEER_INTERFACE, or is that empty? */
static int interface_wanted(const char *name)
{
    size_t n = strlen(name);
    if (!*cvar.peer_interface)
        return 1;
    for (const char *p = cvar.peer_interface; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (!strncmp(p, name, n) && (p[n] == ',' || !p[n]))
            return 1;
    }
    return 0;
}

static int is_linklocal(const struct watch_spot *s)
{
    return s->v6 ? s->bytes[0] == 0xfe && (s->bytes[1] & 0xc0) == 0x80 : s->bytes[0] == 169 && s->bytes[1] == 254;
}

/* Fill in own addresses and those of the card: of interfaces that are up and lead somewhere, IPv4 first. */
static int find_addresses(struct watch *w)
{
    struct ifaddrs *all;
    struct watch_spot s;
    if (getifaddrs(&all) != 0)
        return -errno;
    for (int v6 = 0; v6 < 2; v6++)
        for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
            if (!i->ifa_addr || spot_of(i->ifa_addr, &s) || s.v6 != v6)
                continue;
            s.port = 0;
            if (w->nown < OWN)
                w->own[w->nown++] = s;
            /* A loop back leads nowhere, unless somebody wishes it by name. */
            int out = i->ifa_flags & IFF_UP && (*cvar.peer_interface || !(i->ifa_flags & IFF_LOOPBACK)) && !is_linklocal(&s);
            if (out && interface_wanted(i->ifa_name) && w->card.spots < WATCH_SPOTS)
                w->card.spot[w->card.spots++] = s;
        }
    freeifaddrs(all);
    return w->card.spots ? 0 : -EADDRNOTAVAIL;
}

static int open_port(struct watch *w)
{
    struct sockaddr_storage a;
    int one = 1, zero = 0, defer = DEFER;
    /* One address alone is bound to; several take a socket for all. */
    struct watch_spot s = w->card.spot[0];
    int v6 = 0;
    for (unsigned i = 0; i < w->card.spots; i++)
        v6 |= w->card.spot[i].v6;
    if (w->card.spots > 1) {
        memset(&s, 0, sizeof s);
        s.v6 = (uint8_t)v6;
    }
    socklen_t len = spot_sockaddr(&s, &a);
    w->listen_fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (w->listen_fd < 0)
        return -errno;
    setsockopt(w->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (v6)
        setsockopt(w->listen_fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    /* W6: who connects is not accepted before his question is there, which takes his thread as long as he has others to begin. */
    setsockopt(w->listen_fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof defer);
    if (bind(w->listen_fd, (struct sockaddr *)&a, len) || listen(w->listen_fd, SOMAXCONN))
        return -errno;
    len = sizeof a;
    if (getsockname(w->listen_fd, (struct sockaddr *)&a, &len))
        return -errno;
    spot_of((struct sockaddr *)&a, &s);
    for (unsigned i = 0; i < w->card.spots; i++)
        w->card.spot[i].port = s.port;
    return 0;
}

/* --- others ask --------------------------------------------------------------------- */

static void spare_take(struct watch *w)
{
    if (w->spare_fd < 0)
        w->spare_fd = fcntl(w->control_fd, F_DUPFD_CLOEXEC, 0);
}

static void guest_drop(struct watch *w, struct guest *g)
{
    close(g->fd);
    g->fd = -1;
    spare_take(w);
}

static void death_tell(const struct boot_death *d, struct watch_obituary *to)
{
    memset(to, 0, sizeof *to);
    to->rank = (uint32_t)d->rank;
    to->scope = (uint32_t)atomic_load_explicit(&d->scope, memory_order_relaxed);
    memcpy(to->why, d->why, strlen(d->why));
}

/* Deaths that this process knows, WATCH_TOLD at a time in turn; if whoever asks is among them that one alone (W4). */
static uint32_t deaths_tell(struct watch *w, uint32_t asker, struct watch_obituary *to)
{
    uint32_t n = 0;
    int near = node_map_host_index(&w->b->map, (int)asker) >= 0;
    unsigned at = 0, count = atomic_load_explicit(&w->b->burials, memory_order_acquire); /* pairs with boot_bury() */
    if (w->tell_from >= count)
        w->tell_from = 0;
    unsigned next = w->tell_from;
    for (const struct boot_death *d = atomic_load_explicit(&w->b->deaths, memory_order_acquire); d; d = d->next, at++) {
        if ((uint32_t)d->rank == asker) {
            death_tell(d, to);
            return 1;
        }
        if (at < w->tell_from || n == WATCH_TOLD)
            continue;
        next = at + 1;
        if (near || atomic_load_explicit(&d->scope, memory_order_relaxed) != BOOT_APART)
            death_tell(d, &to[n++]);
    }
    w->tell_from = next;
    return n;
}

/* Its question is there, or it has gone. */
static void guest_answer(struct watch *w, struct guest *g)
{
    struct watch_hello h;
    ssize_t n = recv(g->fd, &h, sizeof h, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    /* Who does not know the secret is told nothing. */
    if (n == sizeof h && h.secret == w->card.hello && h.rank < (uint32_t)w->b->size) {
        struct watch_answer a = {.secret = w->card.answer};
        if (node_map_host_index(&w->b->map, (int)h.rank) < 0) /* W7: something has come from another host, if no answer */
            atomic_store_explicit(&w->heard, 1, memory_order_relaxed);
        a.deaths = deaths_tell(w, h.rank, a.death);
        /* An empty socket takes it whole. */
        (void)!send(g->fd, &a, offsetof(struct watch_answer, death) + a.deaths * sizeof a.death[0], MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    guest_drop(w, g);
}

/* NULL: all places are taken, by some that say nothing (W6) and go when they are old. */
static struct guest *guest_place(struct watch *w)
{
    for (int i = 0; i < GUESTS; i++)
        if (w->guest[i].fd < 0)
            return &w->guest[i];
    return NULL;
}

/* A process that has used up its descriptors lives, and shall say so. */
static int guest_accept(struct watch *w)
{
    int fd = accept4(w->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 || (errno != EMFILE && errno != ENFILE) || w->spare_fd < 0)
        return fd;
    close(w->spare_fd);
    w->spare_fd = -1;
    return accept4(w->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static void guests_take(struct watch *w, uint64_t now)
{
    struct guest *g;
    for (int i = 0; i < GUESTS && (g = guest_place(w)); i++) {
        int fd = guest_accept(w), want = sizeof(struct watch_hello);
        if (fd < 0) {
            /* Out of descriptors or memory: the guest stays in the queue, and poll(2) would tell of it again at once. */
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                w->take_at = now + AGAIN_NS;
            spare_take(w);
            return;
        }
        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &want, sizeof want);
        *g = (struct guest){fd, now};
        guest_answer(w, g);
    }
}

/* --- we ask ----------------------------------------------------------------------------- */

static uint64_t patience(const struct watch *w)
{
    return (uint64_t)w->timeout * SECOND;
}

/* Its kernel has said something. */
static void probe_heard(struct watch *w, struct probe *p, uint64_t now)
{
    p->since = now;
    for (int i = 0; i < PROBES; i++)
        if (w->probe[i].rank >= 0 && w->probe[i].host == p->host) {
            w->probe[i].host_since = now;
            w->probe[i].vouched = 0;
            w->probe[i].called = 0;
        }
}

/* A process of another host has answered with its secret: this host is not cut off.  Of those that have been asked just now it says
 * nothing: the cable may have been pulled between the two. */
static void host_vouches(struct watch *w, const struct probe *p, uint64_t now)
{
    for (int i = 0; i < PROBES; i++) {
        struct probe *q = &w->probe[i];
        if (q->rank >= 0 && q->host != p->host && !q->vouched && now - q->host_since >= patience(w) / 2)
            q->vouched = now;
    }
    if (w->witness[0].rank < 0 || node_map_host(&w->b->map, w->witness[0].rank) != p->host)
        w->witness[1] = w->witness[0];
    w->witness[0] = (struct ask){.rank = p->rank, .why = ASK_PROOF, .card = p->card}; /* nobody waits for it when it is called */
}

static void line_close(struct line *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

/* W2: a way out is known to work from now on.  What was not heard before may have been its fault. */
static void way_is_good(struct watch *w, const struct watch_spot *via, uint64_t now)
{
    if (w->ngood == OWN || spot_among(via, w->good, w->ngood))
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
static int is_deaf(const struct watch *w)
{
    return !atomic_load_explicit(&w->answered, memory_order_relaxed) && !atomic_load_explicit(&w->heard, memory_order_relaxed);
}

/* Its kernel has taken the question. */
static int probe_open(const struct probe *p)
{
    for (int i = 0; i < WATCH_SPOTS && p->rank >= 0; i++)
        if (p->line[i].state == LINE_OPEN)
            return 1;
    return 0;
}

static void probe_end(struct probe *p)
{
    for (int i = 0; i < WATCH_SPOTS; i++)
        line_close(&p->line[i]);
    p->rank = -1;
}

static void line_retry(struct line *l, uint64_t when)
{
    line_close(l);
    l->state = LINE_IDLE;
    l->again = when;
}

/* The network's errors that mean that nobody answers. */
static int is_silence(int err)
{
    return err == ETIMEDOUT || err == ENETDOWN || err == ENETUNREACH || err == EHOSTDOWN || err == EHOSTUNREACH;
}

static void line_fails(struct watch *w, struct probe *p, struct line *l, int err, uint64_t now)
{
    line_retry(l, now + AGAIN_NS);
    if (err == ECONNREFUSED || err == ECONNRESET) {
        probe_heard(w, p, now);
        if (++l->refusals >= REFUSALS)
            l->state = LINE_REFUSED;
    } else if (!is_silence(err)) { /* our own trouble, such as too many descriptors */
        l->tried = 0;
    }
}

/* W2: what this line meets says something about the peer.  `left`: some line of the probe found a way out; one that found none, such
 * as to an IPv6 address from a host that has no IPv6, then says nothing. */
static int line_counts(const struct watch *w, const struct probe *p, const struct line *l, int left)
{
    if (l->state == LINE_REFUSED && p->near)
        return 1;
    return l->tried && (l->via.port ? spot_among(&l->via, w->good, w->ngood) : w->ngood > 0 && !left);
}

static void line_begin(struct watch *w, struct probe *p, struct line *l, uint64_t now)
{
    const struct watch_spot *to = &p->card.spot[l - p->line];
    struct sockaddr_storage a;
    int one = 1, idle = w->timeout >= 6 ? (int)(w->timeout / 3) : 1, count = 3;
    unsigned ms = w->timeout > 1000000 ? 1000000000u : (unsigned)w->timeout * 1000;
    socklen_t len = spot_sockaddr(to, &a);
    l->fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->fd < 0) {
        line_fails(w, p, l, errno, now);
        return;
    }
    setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    /* W1: for as long as it is open the kernels ask each other. */
    setsockopt(l->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    setsockopt(l->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(l->fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof idle);
    setsockopt(l->fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    int err = connect(l->fd, (struct sockaddr *)&a, len) ? errno : 0;
    l->tried = 1;
    memset(&l->via, 0, sizeof l->via);
    if (err && err != EINPROGRESS) {
        line_fails(w, p, l, err, now);
        return;
    }
    /* Not before connecting: there it would limit the attempt, which we do ourselves. */
    setsockopt(l->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    len = sizeof a;
    if (getsockname(l->fd, (struct sockaddr *)&a, &len) || spot_of((struct sockaddr *)&a, &l->via))
        l->tried = 0;
    l->state = LINE_CONNECTING;
    l->began = now;
}

static void line_opens(struct watch *w, struct probe *p, struct line *l, uint64_t now)
{
    struct watch_hello h = {.secret = p->card.hello, .rank = (uint32_t)w->b->rank};
    int err = 0, want = offsetof(struct watch_answer, death);
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

/* A death of which p tells: this process, or all of its host, from where p is?  A near one cannot mean our host. */
static int death_is_ours(const struct watch *w, const struct probe *p, const struct watch_obituary *o)
{
    return (int)o->rank == w->b->rank || (o->scope != BOOT_ONE && !p->near && node_map_host_index(&w->b->map, (int)o->rank) >= 0);
}

/* W4 */
static void deaths_learn(struct watch *w, const struct probe *p, struct watch_answer *a)
{
    for (uint32_t i = 0; i < a->deaths; i++) {
        const struct watch_obituary *o = &a->death[i];
        if (o->rank < (uint32_t)w->b->size && death_is_ours(w, p, o)) {
            char why[BOOT_WHY_MAX];
            snprintf(why, sizeof why, "it has given process %d up", w->b->rank);
            boot_bury(w->b, p->rank, BOOT_ONE, why);
            return;
        }
    }
    for (uint32_t i = 0; i < a->deaths; i++) {
        struct watch_obituary *o = &a->death[i];
        o->why[sizeof o->why - 1] = 0;
        if (o->rank >= (uint32_t)w->b->size || o->scope > BOOT_APART || (o->scope == BOOT_APART && !p->near))
            continue;
        /* Of our own host only single processes can have died, and its kernel knows better than who is far away. */
        if (node_map_host_index(&w->b->map, (int)o->rank) < 0 || (p->near && o->scope == BOOT_ONE))
            boot_bury(w->b, (int)o->rank, (enum boot_scope)o->scope, o->why);
        else if (o->scope == BOOT_ONE)
            atomic_store_explicit(&w->doubt, (int)o->rank + 1, memory_order_relaxed);
    }
}

/* The answer, an end, or an error. */
static void line_reads(struct watch *w, struct probe *p, struct line *l, uint64_t now)
{
    struct watch_answer a;
    ssize_t n = recv(l->fd, &a, sizeof a, MSG_DONTWAIT | MSG_PEEK);
    int head = offsetof(struct watch_answer, death), err = n < 0 ? errno : 0;
    if (n < 0 && (err == EAGAIN || err == EINTR))
        return;
    if (n >= head && a.secret == p->card.answer && a.deaths <= WATCH_TOLD) {
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
            probe_end(p);
            return;
        }
        /* The rest is on its way; of an end before it the next look tells, since then less will come. */
        int had;
        socklen_t len = sizeof had;
        if (!getsockopt(l->fd, SOL_SOCKET, SO_RCVLOWAT, &had, &len) && had < want) {
            setsockopt(l->fd, SOL_SOCKET, SO_RCVLOWAT, &want, sizeof want);
            return;
        }
    }
    /* Not at once: whoever ended it may be short of something, and others may ask it, too. */
    line_retry(l, now + (AGAIN_NS << p->shut));
    if (is_silence(err)) { /* its kernel was asked for the whole time-out (TCP_USER_TIMEOUT) */
        if (now - p->asked > patience(w))
            probe_end(p); /* nobody waits for it any more */
        else
            p->lost = 1;
        return;
    }
    probe_heard(w, p, now); /* an end is a word of its host */
    if (++p->shut >= SHUT_MAX) /* somebody else has its port */
        l->state = LINE_REFUSED;
}

/* The addresses that were tried, and what came of it. */
static void lines_tell(const struct probe *p, char *text, size_t size)
{
    size_t n = 0;
    *text = 0;
    for (unsigned i = 0; i < p->card.spots && n < size; i++) {
        const struct line *l = &p->line[i];
        const struct watch_spot *s = &p->card.spot[i];
        char to[INET6_ADDRSTRLEN] = "?", from[INET6_ADDRSTRLEN] = "";
        inet_ntop(s->v6 ? AF_INET6 : AF_INET, s->bytes, to, sizeof to);
        if (l->via.port)
            inet_ntop(l->via.v6 ? AF_INET6 : AF_INET, l->via.bytes, from, sizeof from);
        const char *what = l->again == UINT64_MAX ? "an address of this host, too" : l->state == LINE_REFUSED ? "refused" :
                           l->via.port ? "no answer, from " : "no way there";
        n += (size_t)snprintf(text + n, size - n, "%s%s port %d (%s%s)", n ? ", " : "", to, ntohs(s->port), what, l->state == LINE_REFUSED ? "" : from);
    }
}

static void cannot_ask(struct watch *w, const struct probe *p)
{
    int tried = 0;
    for (unsigned i = 0; i < p->card.spots; i++)
        tried |= p->line[i].again != UINT64_MAX;
    /* One process of the host says it. */
    if (!p->near && !w->warned++ && node_map_host_index(&w->b->map, w->b->rank) == 0)
        log_warn("host %s cannot be asked whether process %d lives (%s; MPIR_CVAR_PEER_INTERFACE); deaths there may go unnoticed",
                 p->card.host, p->rank, tried ? "no answer to TCP connections has ever come from another host" :
                                                "this host has all its addresses, too");
}

/* W7: nothing was ever heard of any other host. */
static void probe_judge_deaf(struct watch *w, struct probe *p, int silent, uint64_t now)
{
    char why[BOOT_WHY_MAX], tried[360];
    long long s = (long long)w->timeout * DEAF;
    if (silent)
        cannot_ask(w, p);
    if (now - p->asked > patience(w)) { /* nobody waits for it any more */
        if (silent)
            probe_end(p);
        return;
    }
    if (!p->proof && now - p->begun > DEAF * patience(w)) {
        lines_tell(p, tried, sizeof tried);
        log_warn("process %d on %s is given up: for %lld s (%d times MPIR_CVAR_PEER_TIMEOUT) it was waited for, and this process has never had "
                 "a message or an answer from any other host.  Tried by TCP: %s.  Either that host or this one is cut off, or the process has "
                 "ended; if it is a firewall: MPIR_CVAR_PEER_INTERFACE names interfaces that are open, and with MPIR_CVAR_PEER_TIMEOUT=0 nobody "
                 "is asked or given up", p->rank, p->card.host, s, DEAF, tried);
        snprintf(why, sizeof why, "nothing was ever heard from its host %s, for %lld s", p->card.host, s);
        boot_bury(w->b, p->rank, BOOT_APART, why);
        probe_end(p);
        return;
    }
    for (unsigned i = 0; i < p->card.spots && silent; i++) /* what refused it may not last */
        if (p->line[i].state == LINE_REFUSED) {
            p->line[i].refusals = 0;
            line_retry(&p->line[i], now);
        }
}

/* What the lines of a probe say together. */
static void probe_judge(struct watch *w, struct probe *p, uint64_t now)
{
    int left = 0, lines = 0, refused = 0, doubt = 0; /* doubt: on a way that is not known to work it may yet answer */
    char why[BOOT_WHY_MAX];
    if (probe_open(p)) /* W1: it stays, however long it is stopped */
        return;
    for (unsigned i = 0; i < p->card.spots; i++)
        left |= p->line[i].tried && p->line[i].via.port;
    for (unsigned i = 0; i < p->card.spots; i++) {
        const struct line *l = &p->line[i];
        int counts = line_counts(w, p, l, left);
        lines += counts;
        refused += counts && l->state == LINE_REFUSED;
        /* One that waits for its next try, too; but not one for which this host has no way out. */
        int open = l->state == LINE_CONNECTING || (l->state == LINE_IDLE && l->again != UINT64_MAX && !(l->tried && !l->via.port));
        doubt += open && !counts;
    }
    int silent = p->lost || now - p->since > patience(w);
    int host_silent = silent && now - p->host_since > patience(w);
    if (is_deaf(w) && !p->near) {
        probe_judge_deaf(w, p, silent, now);
    } else if (p->proof && (silent || (lines && refused == lines))) {
        probe_end(p);
    } else if (silent && p->spoke) { /* W8 */
        probe_end(p);
    } else if (lines && refused && (silent || (refused == lines && !doubt))) {
        snprintf(why, sizeof why, "its process on %s has ended", p->card.host);
        boot_bury(w->b, p->rank, BOOT_ONE, why);
        probe_end(p);
    } else if (host_silent && lines && !p->near) {
        if (p->vouched && now - p->vouched < patience(w) / 4) /* only just: it was this host, and the other has not had its chance since */
            return;
        snprintf(why, sizeof why, "its host %s has not answered for %lld s", p->card.host, (long long)w->timeout);
        boot_bury(w->b, p->rank, p->vouched ? BOOT_HOST : BOOT_APART, why);
        probe_end(p);
    } else if (silent && lines && !p->near && now - p->asked <= patience(w)) {
        return; /* W5: others of its host speak.  It is tried on, so that the end of that host is not found a time-out later */
    } else if (silent) {
        if (!lines)
            cannot_ask(w, p);
        probe_end(p);
    }
}

/* W8 */
static void probe_spoke(struct watch *w, int rank, uint64_t now)
{
    for (int i = 0; i < PROBES; i++)
        if (w->probe[i].rank == rank) {
            w->probe[i].spoke = 1;
            probe_heard(w, &w->probe[i], now);
        }
}

/* It lives, or is asked for as long as W7 says: others first. */
static int probe_yields(const struct watch *w, const struct probe *p, uint64_t now)
{
    return probe_open(p) || (is_deaf(w) && now - p->since > patience(w));
}

static void probe_take(struct watch *w, const struct ask *a, uint64_t now)
{
    struct probe *p = NULL;
    for (int i = 0; i < PROBES; i++) {
        struct probe *q = &w->probe[i];
        if (q->rank == a->rank) {
            q->asked = now;
            if (a->why == ASK_LIFE && q->proof)
                q->begun = now;
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
        probe_end(p);
    *p = (struct probe){.rank = a->rank, .near = a->near, .card = a->card, .since = now, .asked = now, .host_since = now, .begun = now,
                        .proof = a->why == ASK_PROOF};
    p->host = node_map_host(&w->b->map, a->rank);
    p->card.host[sizeof p->card.host - 1] = 0;
    if (p->card.spots > WATCH_SPOTS)
        p->card.spots = WATCH_SPOTS;
    for (unsigned i = 0; i < WATCH_SPOTS; i++) {
        p->line[i].fd = -1;
        p->line[i].again = UINT64_MAX;
        if (i < p->card.spots && (p->near || !spot_among(&p->card.spot[i], w->own, w->nown))) /* W3 */
            p->line[i].again = now;
    }
}

/* --- the thread ---------------------------------------------------------------------------- */

/* Questions of our process.  0: it wants us to end. */
static int control(struct watch *w, uint64_t now)
{
    struct ask a;
    while (read(w->control_fd, &a, sizeof a) == sizeof a)
        if (a.rank >= 0 && a.why == ASK_HEARD)
            probe_spoke(w, a.rank, now);
        else if (a.rank >= 0)
            probe_take(w, &a, now);
    return !atomic_load_explicit(&w->stop, memory_order_acquire); /* pairs with boot_watch_stop() */
}

/* The network's own attempts come ever more seldom: after the end of a break they would be too late. */
static int line_is_stale(const struct watch *w, const struct line *l, uint64_t now)
{
    uint64_t fresh = patience(w) / 8 > SECOND ? patience(w) / 8 : SECOND;
    return l->state == LINE_CONNECTING && now - l->began > fresh;
}

/* Half of the time has passed without a word: is it that host, or this one?  (W4) */
static void witness_call(struct watch *w, struct probe *p, uint64_t now)
{
    if (p->near || p->called || p->vouched || now - p->host_since < patience(w) / 2 || probe_open(p))
        return;
    p->called = 1;
    for (int i = 0; i < WITNESSES; i++)
        if (w->witness[i].rank >= 0 && node_map_host(&w->b->map, w->witness[i].rank) != p->host) {
            probe_take(w, &w->witness[i], now);
            return;
        }
    atomic_store_explicit(&w->proven, 0, memory_order_relaxed);
}

/* This process was stopped, or its machine: nobody could answer meanwhile. */
static void was_away(struct watch *w, uint64_t ns)
{
    for (int i = 0; i < PROBES; i++) {
        struct probe *p = &w->probe[i];
        p->since += ns;
        p->host_since += ns;
        p->begun += ns;
        if (p->vouched)
            p->vouched += ns;
    }
}

static uint64_t look_at_clock(struct watch *w)
{
    uint64_t now = time_now();
    if (now > w->wake_by) {
        if (now - w->wake_by > SECOND)
            was_away(w, now - w->wake_by);
        w->wake_by = now; /* no time in the record is later: what is moved stays in the past */
    }
    return now;
}

/* Begin what is due; ms until the next thing is, -1: never. */
static int due(struct watch *w, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < PROBES; i++) {
        struct probe *p = &w->probe[i];
        if (p->rank < 0)
            continue;
        for (int k = 0; k < WATCH_SPOTS; k++) {
            struct line *l = &p->line[k];
            if (line_is_stale(w, l, now))
                line_retry(l, now);
            if (l->state == LINE_IDLE && l->again <= now)
                line_begin(w, p, l, now);
        }
        witness_call(w, p, now);
        probe_judge(w, p, now);
        if (p->rank >= 0 && !probe_open(p) && now + AGAIN_NS < next)
            next = now + AGAIN_NS;
    }
    for (int i = 0; i < GUESTS; i++) {
        struct guest *g = &w->guest[i];
        if (g->fd >= 0 && now - g->since > GUEST_NS) {
            guest_answer(w, g); /* this thread may have been away, not the guest */
            if (g->fd >= 0)
                guest_drop(w, g);
        } else if (g->fd >= 0 && g->since + GUEST_NS < next) {
            next = g->since + GUEST_NS;
        }
    }
    if (w->take_at > now && w->take_at < next)
        next = w->take_at;
    return next == UINT64_MAX ? -1 : (int)((next - now) / MS) + 1;
}

/* The descriptors' places in fds are theirs in the record; what is not open has -1, which poll skips. */
static void collect(struct watch *w, uint64_t now)
{
    struct pollfd *f = w->fds;
    *f++ = (struct pollfd){.fd = w->control_fd, .events = POLLIN};
    *f++ = (struct pollfd){.fd = w->take_at <= now && guest_place(w) ? w->listen_fd : -1, .events = POLLIN};
    for (int i = 0; i < GUESTS; i++)
        *f++ = (struct pollfd){.fd = w->guest[i].fd, .events = POLLIN};
    for (int i = 0; i < PROBES; i++)
        for (int k = 0; k < WATCH_SPOTS; k++, f++) {
            const struct line *l = &w->probe[i].line[k];
            *f = (struct pollfd){.fd = w->probe[i].rank < 0 ? -1 : l->fd, .events = l->state == LINE_OPEN ? POLLIN : POLLOUT};
        }
}

static void *watch_run(void *arg)
{
    struct watch *w = arg;
    for (;;) {
        uint64_t now = look_at_clock(w);
        int ms = due(w, now);
        w->wake_by = ms < 0 ? UINT64_MAX : now + (uint64_t)ms * MS;
        collect(w, now);
        int n = poll(w->fds, sizeof w->fds / sizeof *w->fds, ms);
        if (n < 0 && errno != EINTR) /* out of memory, or more places than RLIMIT_NOFILE: it would return at once for ever */
            usleep((useconds_t)(AGAIN_NS / 1000));
        if (n < 0) /* stop is looked at in any case */
            w->fds[0].revents = POLLIN;
        if (n == 0)
            continue;
        now = look_at_clock(w);
        const struct pollfd *f = w->fds + 2;
        for (int i = 0; i < GUESTS; i++, f++)
            if (f->revents && w->guest[i].fd == f->fd)
                guest_answer(w, &w->guest[i]);
        for (int i = 0; i < PROBES; i++)
            for (int k = 0; k < WATCH_SPOTS; k++, f++) {
                struct line *l = &w->probe[i].line[k];
                if (!f->revents || w->probe[i].rank < 0 || l->fd != f->fd)
                    continue;
                if (l->state == LINE_CONNECTING)
                    line_opens(w, &w->probe[i], l, now);
                else
                    line_reads(w, &w->probe[i], l, now);
            }
        if (w->fds[1].revents)
            guests_take(w, now);
        if (w->fds[0].revents && !control(w, now))
            return NULL;
    }
}

/* --- life -------------------------------------------------------------------------------------- */

/* A child without exec() shares our port: it would answer for us after our death.  Once: in its own children the number may be that of
 * another file. */
static void in_child(void)
{
    struct boot *b = proc->boot;
    if (!b || !b->watch || b->watch->listen_fd < 0)
        return;
    close(b->watch->listen_fd);
    b->watch->listen_fd = -1;
}

static void watch_free(struct watch *w)
{
    int fds[] = {w->listen_fd, w->ask_fd, w->control_fd, w->spare_fd, w->answer_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(w);
}

static int thread_start(struct watch *w)
{
    sigset_t all, old;
    pthread_attr_t attr;
    int err = pthread_attr_init(&attr);
    if (err)
        return -err;
    pthread_attr_setstacksize(&attr, STACK);
    /* Signals are the user's: they must go to the user's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    err = pthread_create(&w->thread, &attr, watch_run, w);
    if (err == EINVAL) /* the program's thread-local variables do not fit in */
        err = pthread_create(&w->thread, NULL, watch_run, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return -err;
}

static int watch_open(struct watch *w)
{
    int fd[2], err = find_addresses(w);
    if (err || (err = open_port(w)))
        return err;
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK))
        return -errno;
    w->control_fd = fd[0];
    w->ask_fd = fd[1];
    if ((w->answer_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return -errno;
    spare_take(w);
    w->card.hello = random_bits();
    w->card.answer = random_bits();
    if (gethostname(w->card.host, sizeof w->card.host - 1))
        strcpy(w->card.host, "?");
    w->card.host[strcspn(w->card.host, ".")] = 0;
    return thread_start(w);
}

int boot_watch_start(void)
{
    struct boot *b = proc->boot;
    if (b->watch || !b->ops->watched || b->page || !cvar.peer_timeout || b->map.host_size == b->size)
        return 0;
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    w->b = b;
    w->timeout = cvar.peer_timeout;
    w->listen_fd = w->ask_fd = w->control_fd = w->spare_fd = w->answer_fd = -1;
    w->wake_by = UINT64_MAX;
    for (int i = 0; i < WITNESSES; i++)
        w->witness[i].rank = -1;
    for (int i = 0; i < PROBES; i++) {
        w->probe[i].rank = -1;
        for (int k = 0; k < WATCH_SPOTS; k++)
            w->probe[i].line[k].fd = -1;
    }
    for (int i = 0; i < GUESTS; i++)
        w->guest[i].fd = -1;
    int err = watch_open(w);
    if (err) {
        watch_free(w);
        return err;
    }
    b->watch = w;
    pthread_atfork(NULL, NULL, in_child);
    return 0;
}

void boot_watch_stop(void)
{
    struct boot *b = proc->boot;
    struct watch *w = b->watch;
    if (!w)
        return;
    /* The end of the pipe would not do: a child of ours may hold it open.  If it is full the thread is about to read it. */
    const struct ask nothing = {.rank = -1};
    atomic_store_explicit(&w->stop, 1, memory_order_release); /* pairs with control() */
    (void)!write(w->ask_fd, &nothing, sizeof nothing);
    pthread_join(w->thread, NULL);
    for (int i = 0; i < PROBES; i++)
        if (w->probe[i].rank >= 0)
            probe_end(&w->probe[i]);
    for (int i = 0; i < GUESTS; i++)
        if (w->guest[i].fd >= 0)
            guest_drop(w, &w->guest[i]);
    b->watch = NULL;
    watch_free(w);
}

size_t boot_watch_card(void *buf, size_t room)
{
    const struct watch *w = proc->boot->watch;
    if (!w || room < sizeof w->card)
        return 0;
    memcpy(buf, &w->card, sizeof w->card);
    return sizeof w->card;
}

uint64_t boot_watch_turn(void)
{
    const struct watch *w = proc->boot->watch;
    if (!w)
        return 0;
    return w->timeout > 1 ? (uint64_t)w->timeout * 250 * MS : AGAIN_NS;
}

int boot_watch_proven(void)
{
    const struct watch *w = proc->boot->watch;
    return !w || atomic_load_explicit(&w->proven, memory_order_relaxed);
}

int boot_watch_doubt(void)
{
    struct watch *w = proc->boot->watch;
    return w ? atomic_exchange_explicit(&w->doubt, 0, memory_order_relaxed) - 1 : -1;
}

static void put_question(int rank, enum ask_why why, const void *card, size_t len)
{
    const struct watch *w = proc->boot->watch;
    struct ask a = {.rank = rank, .why = why};
    if (!w || len != sizeof a.card || rank == w->b->rank || boot_dead(rank))
        return;
    a.near = boot_host_index(rank) >= 0;
    memcpy(&a.card, card, sizeof a.card);
    (void)!write(w->ask_fd, &a, sizeof a); /* full: it will be asked again */
}

void boot_watch_ask(int rank, const void *card, size_t len)
{
    put_question(rank, ASK_LIFE, card, len);
}

void boot_watch_try(int rank, const void *card, size_t len)
{
    put_question(rank, ASK_PROOF, card, len);
}

void boot_watch_hear(int rank)
{
    struct watch *w = proc->boot->watch;
    struct ask a = {.rank = rank, .why = ASK_HEARD};
    if (!w || boot_host_index(rank) >= 0)
        return;
    atomic_store_explicit(&w->heard, 1, memory_order_relaxed);
    (void)!write(w->ask_fd, &a, sizeof a); /* full: the next message says it again */
}

int boot_watch_wait(uint64_t ns)
{
    const struct watch *w = proc->boot->watch;
    struct pollfd f = {.fd = w ? w->answer_fd : -1, .events = POLLIN};
    uint64_t end = time_now() + ns, now;
    while (w && !atomic_load_explicit(&w->answered, memory_order_relaxed) && (now = time_now()) < end)
        poll(&f, 1, (int)((end - now) / MS) + 1);
    return !w || atomic_load_explicit(&w->answered, memory_order_relaxed);
}

int boot_watch_deaf(void)
{
    const struct watch *w = proc->boot->watch;
    return w && is_deaf(w);
}
