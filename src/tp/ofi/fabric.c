/* fabric.c - what the files of this transport share: peers, addresses, objects of libfabric and
 * its errors. Start with ofi_peer_make(). Of the others it calls cards.c and ofi_hash() alone. */
#include "tp/ofi/ofi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"

/* --- libfabric -------------------------------------------------------------------------------- */

int ofi_err(int err)
{
    switch (-err) {
    case FI_EAGAIN: return TP_AGAIN;
    case FI_ENOMEM: return -ENOMEM;
    case FI_ENOSYS: return -ENOSYS;
    /* Numbers below FI_ERRNO_OFFSET are those of errno. */
    default: return err < 0 && -err < FI_ERRNO_OFFSET ? err : -EIO;
    }
}

/* Errors that may pass: what this process may have again soon. */
int ofi_is_shortage(ssize_t err)
{
    return err == -FI_ENOMEM || err == -EMFILE || err == -ENFILE || err == -ENOBUFS;
}

void ofi_close_fid(struct fid *f)
{
    if (f)
        (void)fi_close(f);
}

uint64_t ofi_key_mask(const struct ofi *o)
{
    size_t bytes = o->info->domain_attr->mr_key_size;
    return bytes >= 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1;
}

int ofi_reg_as(struct ofi *o, void *base, size_t len, uint64_t rights, struct fid_mr **mr)
{
    enum { KEY_TRIES = 16 }; /* random keys until one is free */
    int err = -FI_ENOKEY;
    *mr = NULL;
    /* Random keys, where we may choose them (not with FI_MR_PROV_KEY). */
    for (int i = 0; i < KEY_TRIES && err == -FI_ENOKEY; i++)
        err = fi_mr_reg(o->domain, base, len, rights, 0, random_bits() & ofi_key_mask(o), 0, mr,
                        NULL);
    if (!err && o->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        err = fi_mr_bind(*mr, &o->ep->fid, 0);
        err = err ? err : fi_mr_enable(*mr);
    }
    if (!err)
        return 0;
    if (*mr)
        ofi_close_fid(&(*mr)->fid);
    *mr = NULL; /* the caller frees what it meant to register, and reads nothing else */
    return ofi_err(err);
}

/* --- peers ------------------------------------------------------------------------------------ */

struct ofi_peer *ofi_peer_make(struct ofi *o, unsigned rank)
{
    struct ofi_peer *p = map_get(&o->peers, rank);
    if (p)
        return p;
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->rank = rank;
    p->sleeper = o->nfds ? -1 : boot_host_index((int)rank);
    struct list *all[] = {&p->queue,      &p->held,     &p->puts,    &p->flushes,   &p->in_queue,
                          &p->in_holders, &p->in_owing, &p->in_lost, &p->in_unheard};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        list_init(all[i]);
    if (map_put(&o->peers, rank, p) != 0) {
        free(p);
        return NULL;
    }
    return p;
}

void ofi_wake(const struct ofi_peer *p)
{
    if (p->sleeper >= 0 && proc->mem) /* while the rooms are opened no thread sleeps */
        mem_wake(p->sleeper);
}

int ofi_address(struct tp *tp, void *buf, size_t *len)
{
    struct ofi *o = (struct ofi *)tp;
    struct ofi_contact a = {.key = o->key, .provider = ofi_hash(o->info->fabric_attr->prov_name)};
    size_t n = sizeof a.name;
    int err = fi_getname(&o->ep->fid, a.name, &n);
    if (err)
        return ofi_err(err);
    a.len = (uint16_t)n;
    n = offsetof(struct ofi_contact, name) + ofi_cards_address(o, &a);
    if (n > *len)
        return -EMSGSIZE;
    memcpy(buf, &a, n);
    *len = n;
    return 0;
}

/* Take its address from a boot value or a HELLO. */
int ofi_peer_learn(struct ofi *o, struct ofi_peer *p, const void *addr, size_t len)
{
    struct ofi_contact a = {0};
    if (p->known)
        return 0;
    if (len < offsetof(struct ofi_contact, name) || len > sizeof a)
        return -EPROTO;
    memcpy(&a, addr, len);
    if (a.rails > OFI_RAILS ||
        len != offsetof(struct ofi_contact, name) + a.len + a.rails * (sizeof(uint32_t) + a.len))
        return -EPROTO;
    if (a.provider != ofi_hash(o->info->fabric_attr->prov_name)) {
        log_warn("rank %u does not use provider %s as this process does: MPIR_CVAR_OFI_PROVIDER "
                 "must be the same "
                 "everywhere",
                 p->rank, o->info->fabric_attr->prov_name);
        return -EPROTO;
    }
    int n = fi_av_insert(o->av, a.name, 1, &p->addr, 0, NULL);
    if (n != 1)
        return n < 0 ? ofi_err(n) : -EHOSTUNREACH;
    ofi_cards_learn(o, p, &a);
    p->key = a.key;
    p->known = 1;
    return 0;
}

void ofi_look_now(struct ofi *o, struct ofi_peer *p)
{
    list_del(&p->in_unheard);
    p->due = 0;
    p->looks = 0;
    list_push_front(&o->unheard, &p->in_unheard);
}

/* Nothing can be sent to it any more.  Called from anywhere: progress drops what waits for it. am/
 * finds out whether it has failed. */
void ofi_peer_lost(struct ofi *o, struct ofi_peer *p, int err)
{
    if (p->broken)
        return;
    p->broken = err ? err : -ECONNRESET;
    list_push(&o->lost, &p->in_lost);
    list_del(&p->in_unheard);
    /* It may be alive, and wait for what the connection lost. */
    if (!boot_failed((int)p->rank) && !boot_has_left((int)p->rank))
        ofi_look_now(o, p);
}
