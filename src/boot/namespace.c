/* namespace.c - the namespaces of this process, and whether its network leads to others. */
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/stat.h>

#include "boot/boot_types.h"

uint64_t boot_namespace(const char *kind)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
    return stat(path, &st) ? 0 : (uint64_t)st.st_ino;
}

int boot_leads_out(void)
{
    struct ifaddrs *all;
    int out = 0;
    if (getifaddrs(&all) != 0)
        return 1;
    for (const struct ifaddrs *i = all; i && !out; i = i->ifa_next)
        out = i->ifa_flags & IFF_UP && !(i->ifa_flags & IFF_LOOPBACK) && i->ifa_addr &&
              (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6);
    freeifaddrs(all);
    return out;
}
