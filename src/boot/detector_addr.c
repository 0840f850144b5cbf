/* detector_addr.c - the addresses of this host, and the port of its watching thread. Start with
 * detector_card_find(). */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boot/detector_types.h"
#include "var/var.h"

/* ports are not compared */
static int spot_same(const struct detector_spot *a, const struct detector_spot *b)
{
    return a->v6 == b->v6 && !memcmp(a->bytes, b->bytes, a->v6 ? 16 : 4);
}

int detector_spot_among(const struct detector_spot *s, const struct detector_spot *list, unsigned n)
{
    while (n--)
        if (spot_same(s, &list[n]))
            return 1;
    return 0;
}

/* The first address of both, if it leads to one host: not one that this host has, too (W3). */
static int card_same(const struct detector *w, const struct detector_card *a,
                     const struct detector_card *b)
{
    return a->spots && b->spots && spot_same(&a->spot[0], &b->spot[0]) &&
           !detector_spot_among(&a->spot[0], w->own, w->nown);
}

int detector_host_same(const struct detector *w, const struct probe *p, int host,
                       const struct detector_card *card)
{
    return p->host == host || ((p->host < 0 || host < 0) && card_same(w, &p->card, card));
}

int detector_spot_of(const struct sockaddr *a, struct detector_spot *s)
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
    s->port = in6->sin6_port;
    s->v6 = !IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr); /* a port for both kinds names IPv4 so */
    memcpy(s->bytes, in6->sin6_addr.s6_addr + (s->v6 ? 0 : 12), s->v6 ? 16 : 4);
    return 0;
}

socklen_t detector_spot_sockaddr(const struct detector_spot *s, struct sockaddr_storage *a)
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

/* Is `name` in the list MPIR_CVAR_PEER_INTERFACE, or is that list empty? */
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

static int is_linklocal(const struct detector_spot *s)
{
    return s->v6 ? s->bytes[0] == 0xfe && (s->bytes[1] & 0xc0) == 0x80
                 : s->bytes[0] == 169 && s->bytes[1] == 254;
}

void detector_keep_alive(int fd, int idle, int every, int count)
{
    int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

/* Is i of this kind?  Its address. */
static int is_of_kind(const struct ifaddrs *i, int v6, struct detector_spot *s)
{
    if (!i->ifa_addr || detector_spot_of(i->ifa_addr, s) || s->v6 != v6)
        return 0;
    s->port = 0;
    return 1;
}

/* Those of interfaces that are up and lead to other hosts, IPv4 first. */
static void card_fill(struct detector_card *card, const struct ifaddrs *all)
{
    struct detector_spot s;
    for (int v6 = 0; v6 < 2; v6++)
        for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
            if (!is_of_kind(i, v6, &s))
                continue;
            /* A loopback leads to no other host.  Use it only if the list names it. */
            int out = i->ifa_flags & IFF_UP &&
                      (*cvar.peer_interface || !(i->ifa_flags & IFF_LOOPBACK)) && !is_linklocal(&s);
            if (out && interface_wanted(i->ifa_name) && card->spots < DETECTOR_SPOTS)
                card->spot[card->spots++] = s;
        }
}

int detector_card_find(struct detector_card *card)
{
    struct ifaddrs *all;
    if (getifaddrs(&all) != 0)
        return -errno;
    card_fill(card, all);
    freeifaddrs(all);
    return card->spots ? 0 : -EADDRNOTAVAIL;
}

int detector_addresses_find(struct detector *w)
{
    struct ifaddrs *all;
    struct detector_spot s;
    if (getifaddrs(&all) != 0)
        return -errno;
    for (int v6 = 0; v6 < 2; v6++)
        for (const struct ifaddrs *i = all; i; i = i->ifa_next)
            if (is_of_kind(i, v6, &s) && w->nown < OWN)
                w->own[w->nown++] = s;
    card_fill(&w->card, all);
    freeifaddrs(all);
    return w->card.spots ? 0 : -EADDRNOTAVAIL;
}

int detector_port_open(struct detector_card *card)
{
    struct sockaddr_storage a;
    int one = 1, zero = 0, defer = DEFER;
    /* A single address is bound to; several need a socket for all. */
    struct detector_spot s = card->spot[0];
    int v6 = 0;
    for (unsigned i = 0; i < card->spots; i++)
        v6 |= card->spot[i].v6;
    if (card->spots > 1) {
        memset(&s, 0, sizeof s);
        s.v6 = (uint8_t)v6;
    }
    socklen_t len = detector_spot_sockaddr(&s, &a);
    int fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (v6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    /* W6: accept a connection only when its question is there.  Otherwise a peer takes the thread's
     * time for as long as it asks others. */
    setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer, sizeof defer);
    socklen_t room = sizeof a;
    if (bind(fd, (struct sockaddr *)&a, len) || listen(fd, SOMAXCONN) ||
        getsockname(fd, (struct sockaddr *)&a, &room)) {
        int err = -errno;
        close(fd);
        return err;
    }
    detector_spot_of((struct sockaddr *)&a, &s);
    for (unsigned i = 0; i < card->spots; i++)
        card->spot[i].port = s.port;
    return fd;
}
