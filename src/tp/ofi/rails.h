/* rails.h - memory and its keys on each card; cards beside the first (part of ofi.h). */
#ifndef TP_OFI_RAILS_H
#define TP_OFI_RAILS_H

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "base/list.h"
#include "tp/ofi/limits.h"
#include "tp/ofi/wire.h"

struct ofi;
struct ofi_cached;
struct ofi_copy;
struct ofi_op;
struct ofi_peer;
struct ofi_rma;

struct ofi_key { /* a packed tp_mem */
    uint64_t addr; /* of the base: 0 where the provider counts from it */
    uint64_t key, len;
};

struct tp_mem {
    struct fid_mr *mr;
    void *base;
    size_t len;
    struct fid_mr *rail_mr[OFI_RAILS];
    struct ofi_cached *cached; /* NULL: for this one user */
    struct ofi_copy *copy;     /* operations are on this instead; NULL: on base */
    struct tp_mem *of;         /* its registration is used (C5); NULL: it has its own */
    struct list link;          /* ofi.cache.exposed: it may serve so */
    unsigned users;            /* its owner, and those that it serves */
};

struct tp_far {
    struct ofi_peer *peer;
    struct ofi_key key;
    unsigned rails; /* those of its owner that have a key (bits) */
    uint64_t rail_key[OFI_RAILS];
};

struct ofi_rail {
    struct fi_info *info;
    uint32_t net; /* hash of the network's name: equal for cards that reach each other */
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    size_t name_len;
    char name[OFI_NAME_MAX]; /* of the endpoint, in name_len bytes */
    int fd;                  /* of the queue, if that of the first card has any */
    int dead;                /* L3 */
    int stays_open;          /* ... and its endpoint is not closed, nor looked at any more */
    struct list flying;      /* pieces that it has, oldest first */
};

/* cards.c */
void ofi_cards_open(struct ofi *o); /* those that do not open are left out, with a warning */
void ofi_cards_close(struct ofi *o);
size_t ofi_cards_address(struct ofi *o, struct ofi_contact *a); /* bytes of a->name then */
void ofi_cards_learn(struct ofi *o, struct ofi_peer *p, const struct ofi_contact *a);
void ofi_cards_reg(struct ofi *o, struct tp_mem *m, uint64_t rights, uint64_t mask);
void ofi_cards_dereg(const struct ofi *o, struct tp_mem *m);
int ofi_cards_import(struct tp_far *f, const void *from, size_t len); /* 0; -1: no such form */
size_t ofi_cards_pack(const struct ofi *o, const struct tp_mem *m, void *to, size_t room);

int ofi_keeps_halves(const struct ofi *o); /* load.c: to close an endpoint may crash (L3) */

/* rails.c */
/* 0: holder, which stands where an undivided operation would, is over when all pieces are.
 * -ENOTSUP: nothing happened. */
int ofi_rails_move(struct ofi *o, const struct tp_far *far, uint64_t off, const void *here,
                   size_t len, const struct tp_mem *mem, struct ofi_rma *holder, int put);
void ofi_rails_done(struct ofi *o, struct ofi_op *op, int err); /* a piece on the first card */
void ofi_rails_on(struct ofi *o, struct ofi_peer *p, enum ofi_packet kind, const void *msg,
                  size_t len);
int ofi_rails_wait(const struct ofi *o); /* something must be looked at soon */
int ofi_rails_progress(struct ofi *o);
void ofi_rails_free(struct ofi *o); /* operations that are still under way at the end */

#endif
