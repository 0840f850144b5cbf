/* outgoing.c - requests and replies leave, and by which way (am.h; doc/design/am.md). Start with
 * am_request_zcopy() and am_reply_zcopy(). */
#include "am/am_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "boot/boot.h"
#include "var/var.h"

/* Put the header before the room's pieces; the number of pieces, or -EINVAL. */
static int prepend(struct am_hdr *h, int type, const struct iovec *iov, int n, struct iovec *out)
{
    if (n < 0 || n >= AM_IOV || type < 0 || type >= AM_TYPES)
        return -EINVAL;
    *h = (struct am_hdr){.type = (uint16_t)type};
    out[0] = (struct iovec){h, sizeof *h};
    for (int i = 0; i < n; i++)
        out[i + 1] = iov[i];
    return n + 1;
}

int am_request_zcopy(int dst, int type, const struct iovec *iov, int n, unsigned replies,
                    struct tp_done *d)
{
    int err;
    struct am_hdr h;
    struct iovec v[AM_IOV];
    struct am_peer *p = am_peer_known(dst);
    if (__builtin_expect(!p || p->dead, 0) && !(p = am_peer_try(dst, &err)))
        return err;
    struct am_tp *t = p->t;
    if (replies > t->credits) {
        pvar_set_add(pvar_proc(), PVAR_AM_AGAIN, 1);
        return replies > t->caps.replies ? -EINVAL : AM_AGAIN;
    }
    n = prepend(&h, type, iov, n, v);
    if (n < 0)
        return n;
    /* Before the send: an idle record may be dropped. */
    t->credits -= replies;
    p->owed += replies;
    err = t->ops->am(t->tp, (unsigned)dst, TP_REQUEST, v, n, d);
    if (err && err != TP_PENDING) {
        if (replies)
            am_credit_return(dst, replies);
        if (err == -ENOTCONN && am_in_doubt(dst))
            err = AM_AGAIN;
        if (err == TP_AGAIN)
            pvar_set_add(pvar_proc(), PVAR_AM_AGAIN, 1);
        return err;
    }
    pvar_set_add(pvar_proc(), PVAR_AM_SENT, 1);
    if (t->local) /* another thread may sleep and is to deliver it */
        progress_signal();
    return err;
}

int am_request(int dst, int type, const struct iovec *iov, int n, unsigned replies)
{
    return am_request_zcopy(dst, type, iov, n, replies, NULL);
}

/* Copy a reply that finds no room. */
static int keep(struct am *a, struct am_peer *p, const struct iovec *v, int n)
{
    size_t len = 0, at = 0;
    for (int i = 0; i < n; i++)
        len += v[i].iov_len;
    struct am_zcopy *k = malloc(sizeof *k + len);
    if (!k)
        log_fatal("out of memory for a reply of %zu bytes to rank %d", len, p->rank);
    k->len = len;
    p->nzcopies++;
    for (int i = 0; i < n; at += v[i++].iov_len)
        if (v[i].iov_len)
            memcpy(k->bytes + at, v[i].iov_base, v[i].iov_len);
    if (list_empty(&p->zcopies))
        list_push(&a->zcopiers, &p->link);
    list_push(&p->zcopies, &k->link);
    return 0;
}

int am_reply_zcopy(int dst, int type, const struct iovec *iov, int n, struct tp_done *d)
{
    int err;
    struct am_hdr h;
    struct iovec v[AM_IOV];
    struct am_peer *p = am_peer_get(dst, &err);
    /* receive() has found a way back; the process that asked must not wait in vain. */
    if (!p && err != -ENOTCONN && dst >= 0 && dst < boot_universe())
        log_fatal("there is no way to answer process %d: %s", dst, strerror(-err));
    if (!p)
        return err;
    struct am_tp *t = p->t;
    n = prepend(&h, type, iov, n, v);
    if (n < 0)
        return n;
    err = list_empty(&p->zcopies) ? t->ops->am(t->tp, (unsigned)dst, TP_REPLY, v, n, d) : TP_AGAIN;
    if (err == TP_AGAIN)
        return keep(proc->am, p, v, n);
    if (err && err != TP_PENDING)
        return err;
    pvar_set_add(pvar_proc(), PVAR_AM_SENT, 1);
    if (t->local)
        progress_signal();
    return err;
}

int am_reply(int dst, int type, const struct iovec *iov, int n)
{
    return am_reply_zcopy(dst, type, iov, n, NULL);
}

/* --- handlers and ways ------------------------------------------------------------- */

int am_networks(void)
{
    return proc->am->networks;
}

void am_handler(int type, am_fn *fn)
{
    WR_ASSERT(type >= 0 && type < AM_TYPES);
    am_fn **replies = &proc->am->handler[TP_REPLY][type];
    proc->am->handler[TP_REQUEST][type] = fn;
    *replies = *replies ? fn : NULL;
}

void am_reply_handler(int type, am_fn *fn)
{
    am_handler(type, fn);
    proc->am->handler[TP_REPLY][type] = fn;
}

struct am_way am_way_to(int dst)
{
    int err;
    const struct am_peer *p = am_peer_try(dst, &err);
    if (!p)
        return (struct am_way){.most = 0};
    const struct tp_caps *c = &p->t->caps;
    return (struct am_way){c->am_max > sizeof(struct am_hdr) ? c->am_max - sizeof(struct am_hdr)
                                                             : 0,
                           (c->flags & TP_AM_ORDERED) != 0, c};
}

unsigned am_replies_free(int dst)
{
    int err;
    const struct am_peer *p = am_peer_try(dst, &err);
    return p ? p->t->credits : 0;
}

int am_reach(int dst)
{
    int err;
    am_peer_try(dst, &err);
    return err;
}

struct tp *am_tp_to(int dst, const struct tp_ops **ops, struct tp_caps *caps)
{
    int err;
    const struct am_peer *p = am_peer_try(dst, &err);
    if (!p)
        return NULL;
    if (ops)
        *ops = p->t->ops;
    *caps = p->t->caps;
    return p->t->tp;
}

struct tp *am_tp_open(int i, const struct tp_ops **ops, struct tp_caps *caps)
{
    const struct am *a = proc->am;
    if (i >= a->ntps)
        return NULL;
    *ops = a->tps[i].ops;
    *caps = a->tps[i].caps;
    return a->tps[i].tp;
}
