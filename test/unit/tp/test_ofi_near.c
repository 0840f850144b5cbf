/* test_ofi_near.c - which of several cards tp/ofi takes. */
#include "config.h"

#include "unit.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

#include "tp/ofi/nearest.h"
#include "tp/ofi/ofi.h"

Suite *suite_ofi_near(void);

/* Made-up cards.  What is not said is the same for all of them. */
struct card {
    int node;
    const char *provider, *network; /* NULL: verbs;ofi_rxm and one */
    const char *ip;                 /* NULL: an address of another format */
    uint64_t speed;                 /* bit/s; 0: 100 Gbit/s */
    const char *link;               /* type; NULL: InfiniBand */
    int down, unknown_speed;
    uint32_t protocol;
    int mr_mode;
};

enum { CARDS = 4 };
static struct fi_info list[CARDS];
static struct made {
    struct card card;
    struct fi_domain_attr domain;
    struct fi_fabric_attr fabric;
    struct fi_ep_attr ep;
    struct fi_link_attr link;
    struct fid_nic nic;
    struct sockaddr_in addr;
} made[CARDS];
static int node_asked;

static int node_of(const struct fi_info *i)
{
    return made[i - list].card.node;
}

static uint64_t speed_of(const struct fi_info *i)
{
    const struct card *c = &made[i - list].card;
    return c->unknown_speed ? 0 : c->speed ? c->speed : 100000000000u;
}

static int node_none(void)
{
    node_asked++;
    return -1;
}

static int node_one(void)
{
    node_asked++;
    return 1;
}

static int ip_net(const struct sockaddr *a, const struct sockaddr *b)
{
    const unsigned char *x = (const void *)&((const struct sockaddr_in *)a)->sin_addr,
                        *y = (const void *)&((const struct sockaddr_in *)b)->sin_addr;
    return !memcmp(x, y, 3);
}

/* Which of these n cards is taken by a process on the node that `own` reports? */
static int near(int (*own)(void), int n, const struct card *cards)
{
    const struct ofi_near ask = {node_of, speed_of, own, ip_net};
    memset(list, 0, sizeof list);
    memset(made, 0, sizeof made);
    for (int i = 0; i < n; i++) {
        const struct card *c = &cards[i];
        struct made *m = &made[i];
        m->card = *c;
        m->domain.mr_mode = c->mr_mode;
        m->fabric.name = (char *)(c->network ? c->network : "IB-0xfe80000000000000");
        m->fabric.prov_name = (char *)(c->provider ? c->provider : "verbs;ofi_rxm");
        m->ep.protocol = c->protocol;
        m->link = (struct fi_link_attr){.network_type = (char *)(c->link ? c->link : "InfiniBand"),
                                        .state = c->down ? FI_LINK_DOWN : FI_LINK_UP};
        m->nic.link_attr = &m->link;
        m->addr.sin_family = AF_INET;
        list[i] = (struct fi_info){.domain_attr = &m->domain, .fabric_attr = &m->fabric,
                                   .ep_attr = &m->ep, .nic = &m->nic};
        if (c->ip) {
            ck_assert(inet_pton(AF_INET, c->ip, &m->addr.sin_addr) == 1);
            list[i].addr_format = FI_SOCKADDR_IN;
            list[i].src_addr = &m->addr;
            list[i].src_addrlen = sizeof m->addr;
        } else {
            list[i].addr_format = FI_SOCKADDR_IB;
        }
        if (i)
            list[i - 1].next = &list[i];
    }
    node_asked = 0;
    return (int)(ofi_near_card(list, &ask) - list);
}
#define NEAR(own, ...)                                                                           \
    near(own, (int)(sizeof((struct card[]){__VA_ARGS__}) / sizeof(struct card)),                 \
         (const struct card[]){__VA_ARGS__})
#define A .ip = "10.1.2.3"

/* Of several cards that reach the same processes the one on the process's own node is taken. */
static void nearest(void)
{
    ck_assert(NEAR(node_one, {0, A}, {1, A}, {1, A}) == 1);
    ck_assert(NEAR(node_one, {0, A}, {2, A}, {1, A}) == 2 && node_asked == 1);
    ck_assert(NEAR(node_one, {1, A}, {0, A}, {1, A}) == 0);
    /* none there, or unknown places */
    ck_assert(NEAR(node_one, {0, A}, {2, A}, {3, A}) == 0);
    ck_assert(NEAR(node_one, {-1, A}, {1, A}, {1, A}) == 0);
    ck_assert(NEAR(node_one, {0, A}, {-1, A}) == 0);
    ck_assert(NEAR(node_none, {0, A}, {1, A}) == 0 && node_asked == 1);
    /* it is not asked where that changes nothing: one card, or all on one node */
    ck_assert(NEAR(node_none, {0, A}) == 0 && NEAR(node_none, {1, A}, {1, A}) == 0);
    ck_assert(node_asked == 0);
    struct fi_domain_attr lo = {.name = (char *)"lo"};
    const struct fi_info loopback = {.domain_attr = &lo};
    ck_assert(ofi_card_node(&loopback) == -1 && ofi_card_speed(&loopback) == 0);
}

/* Not one that may be on another network, or speaks otherwise, or is slower: the next is. */
static void no_worse(void)
{
    const struct card others[] = {
        {1, .ip = "10.1.3.3"},
        {1, A, .network = "IB-0xfe80000000000001"},
        {1, A, .provider = "tcp;ofi_rxm"},
        {1, A, .link = "Ethernet"},
        {1, A, .down = 1},
        {1, A, .protocol = 7},
        {1, A, .mr_mode = FI_MR_LOCAL},
        {1, A, .speed = 25000000000u},
        {1, A, .unknown_speed = 1},
        {.node = 1}, /* without an address of IP */
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert(NEAR(node_one, {0, A}, others[i], {1, A, .speed = 200000000000u}) == 2);
    ck_assert(NEAR(node_one, {0, A, .unknown_speed = 1}, {1, A}) == 0);
    /* The name of verbs' fabric alone says nothing, that of others does. */
    ck_assert(NEAR(node_one, {.node = 0}, {.node = 1}) == 0 && node_asked == 0);
    ck_assert(NEAR(node_one, {0, .provider = "cxi"}, {1, .provider = "cxi"}) == 1);
}

/* --- networks of IP --------------------------------------------------------------------------- */

static struct sockaddr *ip(const char *text)
{
    static struct sockaddr_in6 six[16];
    static struct sockaddr_in four[16];
    static unsigned n;
    struct sockaddr_in *a = &four[n % 16];
    struct sockaddr_in6 *b = &six[n++ % 16];
    a->sin_family = AF_INET;
    b->sin6_family = AF_INET6;
    if (inet_pton(AF_INET, text, &a->sin_addr) == 1)
        return (struct sockaddr *)a;
    ck_assert(inet_pton(AF_INET6, text, &b->sin6_addr) == 1);
    return (struct sockaddr *)b;
}

/* Are the addresses of these two interfaces, with these masks, in one network? */
static int one(const char *a, const char *amask, const char *b, const char *bmask)
{
    struct ifaddrs two = {.ifa_addr = ip(b), .ifa_netmask = ip(bmask)},
                   without = {.ifa_next = &two}, /* as of a tunnel */
                   all = {.ifa_next = &without, .ifa_addr = ip(a), .ifa_netmask = ip(amask)};
    return ofi_same_net(&all, ip(a), ip(b));
}

static void one_network(void)
{
    const char *m24 = "255.255.255.0", *m64 = "ffff:ffff:ffff:ffff::";
    ck_assert(one("10.1.2.3", m24, "10.1.2.200", m24));
    ck_assert(!one("10.1.2.3", m24, "10.1.3.3", m24));
    ck_assert(one("10.1.2.3", "255.255.254.0", "10.1.3.3", "255.255.254.0"));
    ck_assert(!one("10.1.2.3", "255.255.0.0", "10.1.2.4", m24));
    ck_assert(one("2001:db8::1", m64, "2001:db8::2:1", m64));
    ck_assert(!one("2001:db8::1", m64, "2001:db8:0:1::1", m64));
    ck_assert(!one("fe80::1", m64, "fe80::2", m64)); /* each link has that one */
    ck_assert(!one("10.1.2.3", m24, "2001:db8::1", m64));
    /* An address of no interface. */
    struct ifaddrs all = {.ifa_addr = ip("10.1.2.3"), .ifa_netmask = ip(m24)};
    ck_assert(!ofi_same_net(&all, ip("10.1.2.3"), ip("10.1.2.4")));
    ck_assert(ofi_same_net(&all, ip("10.1.2.3"), ip("10.1.2.3")));
    /* Those of this host. */
    struct ifaddrs *own;
    ck_assert(getifaddrs(&own) == 0);
    for (const struct ifaddrs *i = own; i; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_netmask)
            ck_assert(ofi_near_asks.same_net(i->ifa_addr, i->ifa_addr));
    freeifaddrs(own);
}

START_TEST(nearest_)
{
    nearest();
    no_worse();
}
END_TEST

START_TEST(one_network_)
{
    one_network();
}
END_TEST

Suite *suite_ofi_near(void)
{
    Suite *s = suite_create("tp/ofi/near");
    TCase *t = tcase_create("ofi_near");
    tcase_add_test(t, nearest_);
    tcase_add_test(t, one_network_);
    suite_add_tcase(s, t);
    return s;
}
