/* nearest.c - which of several cards: one on the NUMA node of this process, if it is no worse than
 * the first that libfabric names. Start with ofi_near_card().
 *
 * A wrong choice ends a job: cards that look alike may be on networks that do not meet.  So another
 * card is taken only if what the provider says of both is equal, and its speed is known. */
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/topo.h"
#include "tp/ofi/nearest.h"

int ofi_host_only(const struct fi_info *i)
{
    return !strcmp(i->fabric_attr->prov_name, "shm") || i->domain_attr->caps == FI_LOCAL_COMM;
}

/* --- what the kernel knows ------------------------------------------------------------------- */

/* The kernel's number in a file of its own; -1: none. */
static int number_in(const char *path)
{
    int n = -1;
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%d", &n) != 1)
        n = -1;
    if (f)
        fclose(f);
    return n;
}

int ofi_card_node(const struct fi_info *i)
{
    static const char *const classes[] = {"infiniband", "net", "cxi"};
    const struct fi_bus_attr *bus = i->nic ? i->nic->bus_attr : NULL;
    const char *name = i->domain_attr->name;
    char path[256];
    int node = -1;
    if (bus && bus->bus_type == FI_BUS_PCI) {
        snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.%x/numa_node",
                 bus->attr.pci.domain_id, bus->attr.pci.bus_id, bus->attr.pci.device_id,
                 bus->attr.pci.function_id);
        node = number_in(path);
    }
    for (size_t k = 0; node < 0 && name && k < sizeof classes / sizeof *classes; k++) {
        snprintf(path, sizeof path, "/sys/class/%s/%s/device/numa_node", classes[k], name);
        node = number_in(path);
    }
    return node;
}

uint64_t ofi_card_speed(const struct fi_info *i)
{
    const struct fi_link_attr *link = i->nic ? i->nic->link_attr : NULL;
    char path[256];
    if (link && link->speed)
        return link->speed;
    if (!i->domain_attr->name)
        return 0;
    snprintf(path, sizeof path, "/sys/class/net/%s/speed", i->domain_attr->name);
    int mbit = number_in(path);
    return mbit > 0 ? (uint64_t)mbit * 1000000 : 0;
}

/* The bytes of an address of IP, *n of them; NULL: another kind. */
static const unsigned char *bytes_of(const struct sockaddr *a, size_t *n)
{
    if (a->sa_family == AF_INET) {
        *n = sizeof(struct in_addr);
        return (const unsigned char *)&((const struct sockaddr_in *)a)->sin_addr;
    }
    if (a->sa_family != AF_INET6)
        return NULL;
    *n = sizeof(struct in6_addr);
    return (const unsigned char *)&((const struct sockaddr_in6 *)a)->sin6_addr;
}

/* The mask of the interface with this address; NULL: there is none. */
static const unsigned char *mask_of(const struct ifaddrs *all, const unsigned char *addr, size_t n)
{
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        size_t have = 0;
        const unsigned char *b = i->ifa_addr && i->ifa_netmask ? bytes_of(i->ifa_addr, &have)
                                                                     : NULL;
        if (!b || have != n || memcmp(b, addr, n) != 0)
            continue;
        b = bytes_of(i->ifa_netmask, &have);
        return b && have == n ? b : NULL;
    }
    return NULL;
}

int ofi_same_net(const struct ifaddrs *all, const struct sockaddr *a, const struct sockaddr *b)
{
    size_t n = 0, m = 0;
    const unsigned char *x = bytes_of(a, &n), *y = bytes_of(b, &m);
    if (!x || !y || n != m)
        return 0;
    /* Each link has that network. */
    if (n == sizeof(struct in6_addr) && x[0] == 0xfe && (x[1] & 0xc0) == 0x80)
        return 0;
    const unsigned char *mask = mask_of(all, x, n), *other = mask_of(all, y, n);
    if (!mask || !other || memcmp(mask, other, n) != 0)
        return 0;
    for (size_t k = 0; k < n; k++)
        if ((x[k] ^ y[k]) & mask[k])
            return 0;
    return 1;
}

static int in_one_net(const struct sockaddr *a, const struct sockaddr *b)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0)
        return 0;
    int same = ofi_same_net(all, a, b);
    freeifaddrs(all);
    return same;
}

const struct ofi_near ofi_near_asks = {ofi_card_node, ofi_card_speed, topo_own_node, in_one_net};

/* --- the choice ------------------------------------------------------------------------------ */

static int same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* InfiniBand and Ethernet cards of one driver differ in nothing else. */
static int same_link(const struct fi_info *a, const struct fi_info *b)
{
    const struct fi_link_attr *x = a->nic ? a->nic->link_attr : NULL,
                              *y = b->nic ? b->nic->link_attr : NULL;
    if (!x || !y)
        return x == y;
    return same_text(x->network_type, y->network_type) && x->mtu == y->mtu &&
           y->state != FI_LINK_DOWN;
}

/* The name of verbs' fabric is a subnet's prefix, the same on all that were not given one. */
static int one_network(const struct fi_info *a, const struct fi_info *b, const struct ofi_near *ask)
{
    const char *x = a->fabric_attr->name;
    size_t least = a->addr_format == FI_SOCKADDR_IN    ? sizeof(struct sockaddr_in)
                   : a->addr_format == FI_SOCKADDR_IN6 ? sizeof(struct sockaddr_in6)
                                                       : 0;
    if (!x || !same_text(x, b->fabric_attr->name))
        return 0;
    if (!least)
        return strncmp(a->fabric_attr->prov_name, "verbs", 5) != 0;
    return a->src_addr && b->src_addr && a->src_addrlen >= least && b->src_addrlen >= least &&
           ask->same_net(a->src_addr, b->src_addr);
}

/* Of another card, which reaches what `first` reaches, in the same way. */
static int is_like(const struct fi_info *first, const struct fi_info *i, const struct ofi_near *ask)
{
    int same_way = i->addr_format == first->addr_format && i->caps == first->caps &&
                   !strcmp(first->fabric_attr->prov_name, i->fabric_attr->prov_name) &&
                   i->domain_attr->mr_mode == first->domain_attr->mr_mode;
    int same_wire = i->ep_attr->protocol == first->ep_attr->protocol &&
                    i->ep_attr->protocol_version == first->ep_attr->protocol_version;
    return same_way && same_wire && !ofi_host_only(i) && same_link(first, i) &&
           one_network(first, i, ask);
}

/* The slower of two ports is often a way to administer the host. */
static int is_slower(const struct fi_info *first, const struct fi_info *i,
                     const struct ofi_near *ask)
{
    uint64_t was = ask->card_speed(first);
    return !was || ask->card_speed(i) < was;
}

const struct fi_info *ofi_near_card(const struct fi_info *first, const struct ofi_near *ask)
{
    int there = ask->card_node(first), here = -1;
    for (const struct fi_info *i = there < 0 ? NULL : first->next; i; i = i->next) {
        int node = is_like(first, i, ask) ? ask->card_node(i) : -1;
        if (node < 0 || node == there)
            continue;
        /* asked only if it matters: it takes milliseconds */
        if (here < 0 && (here = ask->own_node()) < 0)
            return first;
        if (here == there)
            return first;
        if (node == here && !is_slower(first, i, ask))
            return i;
    }
    return first;
}
