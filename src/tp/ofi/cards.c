/* cards.c - the rails of a process (rails.c): their objects, addresses and keys. Start with
 * ofi_cards_open(). */
#include <netinet/in.h>
#include <string.h>

#include "base/log.h"
#include "base/sched.h"
#include "tp/ofi/ofi.h"

/* --- life ------------------------------------------------------------------------------------ */

static void rail_close(struct ofi_rail *l)
{
    struct fid *all[] = {l->ep ? &l->ep->fid : NULL, l->cq ? &l->cq->fid : NULL,
                         l->av ? &l->av->fid : NULL, l->domain ? &l->domain->fid : NULL,
                         l->fabric ? &l->fabric->fid : NULL};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ofi_close_fid(all[i]);
}

static int rail_open(struct ofi *o, struct ofi_rail *l)
{
    struct fi_av_attr av = {.type = l->info->domain_attr->av_type};
    struct fi_cq_attr cq = {.size = 4096, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
    if (av.type == FI_AV_UNSPEC)
        av.type = FI_AV_TABLE;
    if (!o->nfds)
        cq.wait_obj = FI_WAIT_NONE;
    int err = o->lib.fabric(l->info->fabric_attr, &l->fabric, NULL);
    err = err ? err : fi_domain(l->fabric, l->info, &l->domain, NULL);
    err = err ? err : fi_av_open(l->domain, &av, &l->av, NULL);
    err = err ? err : fi_cq_open(l->domain, &cq, &l->cq, NULL);
    err = err || !o->nfds ? err : fi_control(&l->cq->fid, FI_GETWAIT, &l->fd);
    err = err ? err : fi_endpoint(l->domain, l->info, &l->ep, NULL);
    err = err ? err : fi_ep_bind(l->ep, &l->av->fid, 0);
    err = err ? err : fi_ep_bind(l->ep, &l->cq->fid, FI_TRANSMIT | FI_RECV);
    err = err ? err : fi_enable(l->ep);
    l->name_len = sizeof l->name;
    return err ? err : fi_getname(&l->ep->fid, l->name, &l->name_len);
}

void ofi_cards_open(struct ofi *o)
{
    int n = 0, room = OFI_FDS - o->nfds;
    for (int i = 0; i < o->nrails; i++) {
        struct ofi_rail *l = &o->rail[n];
        if (i != n)
            *l = o->rail[i];
        list_init(&l->flying);
        int err = n < room ? rail_open(o, l) : -FI_EMFILE;
        if (!err) {
            n++;
            continue;
        }
        log_warn("transport ofi: the card %s of MPIR_CVAR_OFI_RAILS does not open: %s",
                 l->info->domain_attr->name, o->lib.strerror(-err));
        rail_close(l);
        o->lib.freeinfo(l->info);
        *l = (struct ofi_rail){0};
    }
    o->nrails = n;
}

void ofi_cards_close(struct ofi *o)
{
    for (int i = 0; i < o->nrails; i++) {
        if (!o->rail[i].stays_open) /* L3: for good */
            rail_close(&o->rail[i]);
        o->lib.freeinfo(o->rail[i].info);
    }
}

/* --- addresses and keys ---------------------------------------------------------------------- */

/* Behind the first name: per rail the number of its network, and a name of the same length. */
size_t ofi_cards_address(struct ofi *o, struct ofi_contact *a)
{
    size_t each = sizeof(uint32_t) + a->len, at = a->len;
    a->rails = 0;
    for (int i = 0; i < o->nrails && at + each <= sizeof a->name; i++, at += each) {
        const struct ofi_rail *l = &o->rail[i];
        if (l->name_len != a->len)
            break;
        memcpy(a->name + at, &l->net, sizeof(uint32_t));
        memcpy(a->name + at + sizeof(uint32_t), l->name, l->name_len);
        a->rails++;
    }
    return at;
}

/* Networks that each host has for itself (docker0) have equal names, and equal addresses. */
static int is_ours(const struct ofi *o, const struct ofi_rail *l, const char *name)
{
    size_t at, n;
    if (o->info->addr_format == FI_SOCKADDR_IN) {
        at = offsetof(struct sockaddr_in, sin_addr);
        n = sizeof(struct in_addr);
    } else if (o->info->addr_format == FI_SOCKADDR_IN6) {
        at = offsetof(struct sockaddr_in6, sin6_addr);
        n = sizeof(struct in6_addr);
    } else {
        return 0;
    }
    return l->name_len >= at + n && !memcmp(l->name + at, name + at, n);
}

/* Which of its rails is on the network of which of ours? */
void ofi_cards_learn(struct ofi *o, struct ofi_peer *p, const struct ofi_contact *a)
{
    size_t each = sizeof(uint32_t) + a->len;
    for (int k = 0; k < a->rails && k < OFI_RAILS; k++) {
        const char *at = a->name + a->len + (size_t)k * each;
        uint32_t net;
        memcpy(&net, at, sizeof net);
        for (int i = 0; i < o->nrails; i++) {
            if (p->rails >> i & 1 || o->rail[i].net != net || o->rail[i].name_len != a->len ||
                is_ours(o, &o->rail[i], at + sizeof net))
                continue;
            if (fi_av_insert(o->rail[i].av, at + sizeof net, 1, &p->rail_addr[i], 0, NULL) == 1) {
                p->rails |= (uint8_t)(1u << i);
                p->rail_theirs[i] = (uint8_t)k;
            }
            break;
        }
    }
}

/* What a rail does not register goes by the first card (L2). */
void ofi_cards_reg(struct ofi *o, struct tp_mem *m, uint64_t rights, uint64_t mask)
{
    enum { KEY_TRIES = 16 }; /* random keys until one is free */
    for (int i = 0; i < o->nrails && m->len >= OFI_RAIL_MIN; i++) {
        struct ofi_rail *l = &o->rail[i];
        int err = l->dead ? 0 : -FI_ENOKEY;
        for (int k = 0; k < KEY_TRIES && err == -FI_ENOKEY; k++)
            err = fi_mr_reg(l->domain, m->base, m->len, rights, 0, random_bits() & mask, 0,
                            &m->rail_mr[i], NULL);
        if (err)
            m->rail_mr[i] = NULL;
    }
}

void ofi_cards_dereg(const struct ofi *o, struct tp_mem *m)
{
    for (int i = 0; i < o->nrails; i++)
        if (m->rail_mr[i])
            ofi_close_fid(&m->rail_mr[i]->fid);
}

/* Behind the key for the first card, if there is room: the rails that have one (8 bytes), these. */
size_t ofi_cards_pack(const struct ofi *o, const struct tp_mem *m, void *to, size_t room)
{
    uint64_t key[1 + OFI_RAILS] = {0};
    size_t n = 1;
    for (int i = 0; i < o->nrails; i++)
        if (m->rail_mr[i]) {
            key[0] |= 1u << i;
            key[n++] = fi_mr_key(m->rail_mr[i]);
        }
    size_t len = n * sizeof *key;
    if (n == 1 || len > room)
        return 0;
    memcpy(to, key, len);
    return len;
}

int ofi_cards_import(struct tp_far *f, const void *from, size_t len)
{
    uint64_t key[1 + OFI_RAILS] = {0};
    if (len > sizeof key || len % sizeof *key)
        return -1;
    memcpy(key, from, len);
    size_t n = 1;
    for (int i = 0; i < OFI_RAILS; i++)
        if (key[0] >> i & 1) {
            if (n * sizeof *key >= len)
                return -1;
            f->rail_key[i] = key[n++];
        }
    f->rails = (unsigned)key[0];
    return len && n * sizeof *key != len ? -1 : 0;
}
