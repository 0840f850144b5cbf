/* nearest.h - which of several cards (part of tp/ofi). */
#ifndef TP_OFI_NEAREST_H
#define TP_OFI_NEAREST_H

#include <rdma/fabric.h>
#include <stdint.h>

struct ifaddrs;
struct sockaddr;

/* What is asked of the system: the tests have another one. */
struct ofi_near {
    int (*card_node)(const struct fi_info *);       /* -1: unknown */
    uint64_t (*card_speed)(const struct fi_info *); /* bit/s; 0: unknown */
    int (*own_node)(void);                          /* of the process; -1: of several */
    int (*same_net)(const struct sockaddr *, const struct sockaddr *);
};
extern const struct ofi_near ofi_near_asks; /* this one */

/* The first of the list, or one that is like it on the process's own node. */
const struct fi_info *ofi_near_card(const struct fi_info *first, const struct ofi_near *ask);
int ofi_card_node(const struct fi_info *i);
uint64_t ofi_card_speed(const struct fi_info *i);
/* Two addresses of interfaces of `all`, in one network of IP that meets. */
int ofi_same_net(const struct ifaddrs *all, const struct sockaddr *a, const struct sockaddr *b);
/* Providers that reach this host only: chosen only by name, since a job without one spans hosts. */
int ofi_host_only(const struct fi_info *i);

#endif
