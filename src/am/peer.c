/* peer.c - a process is reached: the choice of its transport, and what this process lacks for it.
 * Start with am_peer_get(). */
#include "am/am_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "var/var.h"

/* Report both sides' transports. */
static void say_unreachable(int rank, const unsigned char *text, size_t size)
{
    struct am *a = proc->am;
    char ours[128] = "", theirs[128] = "";
    size_t n = 0, len;
    if (a->warned & AM_WARN_REACH)
        return;
    a->warned |= AM_WARN_REACH;
    for (int i = 0; i < a->ntps && n < sizeof ours; i++)
        n += (size_t)snprintf(ours + n, sizeof ours - n, "%s%s", n ? ", " : "",
                              a->tps[i].ops->name);
    n = 0;
    for (const struct tp_ops *const *o = tp_active(); *o && n < sizeof theirs; o++)
        if (am_address_find(text, size, (*o)->name, &len))
            n += (size_t)snprintf(theirs + n, sizeof theirs - n, "%s%s", n ? ", " : "", (*o)->name);
    log_warn("no transport leads to rank %d: this process has %s open, that one %s; "
             "MPIR_CVAR_TRANSPORT must name one that works on all hosts",
             rank, ours, theirs);
}

/* Store the card: it is available now; later it would cost a request to the launcher. */
static void keep_card(struct am_peer *p, const unsigned char *text, size_t size)
{
    size_t len;
    const void *card = boot_detector_turn() ? am_address_find(text, size, AM_ALIVE, &len) : NULL;
    if (!card || len > BOOT_CARD_MAX || !(p->card = malloc(len)))
        return;
    memcpy(p->card, card, len);
    p->card_bytes = len;
}

/* Connect by the first transport that leads to p: on one node the host's transports first, else
 * networks first. */
static int choose(struct am_peer *p)
{
    struct am *a = proc->am;
    unsigned char text[BOOT_VALUE_MAX];
    size_t size;
    int rank = p->rank;
    int err = am_is_lost(a, rank) ? -EINPROGRESS : am_address_read(rank, text, &size);
    if (err)
        return err;
    int near = boot_same_node(rank), worst = -EHOSTUNREACH;
    const char *tried = NULL; /* a network that both have */
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < a->ntps; i++) {
            struct am_tp *t = &a->tps[i];
            size_t len;
            const void *addr;
            if (t->ops->near != (pass ? !near : near) ||
                !(addr = am_address_find(text, size, t->ops->name, &len)))
                continue;
            err = t->ops->connect(t->tp, (unsigned)rank, addr, len);
            tried = t->ops->near ? tried : t->ops->name;
            if (!err) {
                p->t = t;
                keep_card(p, text, size);
                return 0;
            }
            if (err != -EHOSTUNREACH)
                worst = err;
        }
    if (worst != -EHOSTUNREACH)
        return worst;
    /* A network that both have also refuses if a host is unreachable, after seconds of trying
     * (UCX). Then the failure detector decides, or the connection counts as broken. If the failure
     * detector finds that the process lives, the two use the network in incompatible ways. */
    if (tried && boot_detector_turn() && !boot_is_near(rank)) {
        char why[BOOT_WHY_MAX];
        snprintf(why, sizeof why,
                 "%s, which both have, does not lead there: does UCX_NET_DEVICES or FI_TCP_IFACE "
                 "differ?",
                 tried);
        am_lost_why(a, rank, why);
        return -EINPROGRESS;
    }
    say_unreachable(rank, text, size);
    return worst;
}

static struct am_peer *peer_make(int rank, int *err)
{
    if (rank < 0 || rank >= boot_universe()) {
        *err = -EINVAL;
        return NULL;
    }
    if (boot_failed(rank)) {
        *err = -ENOTCONN;
        return NULL;
    }
    struct am_peer *p = calloc(1, sizeof *p);
    if (!p) {
        *err = -ENOMEM;
        return NULL;
    }
    p->rank = rank;
    list_init(&p->zcopies);
    list_init(&p->link);
    if (proc->am->peers.count >= proc->am->peers_max)
        am_peers_shrink(proc->am);
    p->t = am_idle_find(rank);
    *err = p->t ? 0 : choose(p);
    if (!*err)
        *err = map_put(&proc->am->peers, (uint64_t)rank, p);
    if (!*err) {
        am_met(p);
        return proc->am->last = p;
    }
    am_peer_free(p);
    /* Its memory was freed between the check above and the attach. */
    if (*err == -ESTALE)
        *err = -ENOTCONN;
    return NULL;
}

struct am_peer *am_peer_get(int rank, int *err)
{
    struct am_peer *p = am_peer_known(rank);
    if (!p)
        return peer_make(rank, err);
    *err = p->dead ? -ENOTCONN : 0;
    return p->dead ? NULL : p;
}

/* What this process lacks now and may have later. EINPROGRESS: the launcher was asked for the
 * peer's address, or whether it lives; both end by themselves. */
static int is_shortage(int err)
{
    return err == -EINPROGRESS || err == -EMFILE || err == -ENFILE || err == -ENOMEM ||
           err == -ENOBUFS;
}

/* Each try asks the launcher. The user may close files meanwhile; if not, an error is better than
 * two processes that wait for ever. */
static const uint64_t CUT_RETRY_NS = 10000000u, CUT_MAX_NS = 10000000000u,
                      CUT_FORGET_NS = 1000000000u;

struct am_peer *am_peer_try(int rank, int *err)
{
    struct am *a = proc->am;
    struct am_peer *p = am_peer_known(rank);
    if (p && !p->dead) {
        *err = 0;
        return p;
    }
    if (p || am_idle_find(rank)) /* no connection is needed */
        return am_peer_get(rank, err);
    uint64_t now = a->lack.since ? time_now() : 0;
    if (now < a->lack.next && now - a->lack.since < CUT_MAX_NS &&
        (rank == a->lack.rank || !boot_same_node(rank))) {
        *err = AM_AGAIN;
        return NULL;
    }
    p = am_peer_get(rank, err);
    if (p || !is_shortage(*err)) {
        if (p && rank == a->lack.rank)
            a->lack.since = a->lack.next = 0;
        return p;
    }
    /* Nothing was wanted for some time: a shortage now is a new one. */
    now = time_now();
    if (!a->lack.since || now > a->lack.next + CUT_FORGET_NS)
        a->lack.since = now;
    a->lack.rank = rank;
    a->lack.next = now + CUT_RETRY_NS;
    if (*err == -EINPROGRESS || now - a->lack.since < CUT_MAX_NS)
        *err = AM_AGAIN;
    return NULL;
}

int am_peer_way_back(int rank)
{
    struct am *a = proc->am;
    int err;
    if (am_idle_find(rank))
        return 0;
    uint64_t now = a->cut.since ? time_now() : 0;
    if (now < a->cut.next)
        return TP_AGAIN;
    if (am_peer_get(rank, &err) || !is_shortage(err)) {
        a->cut.since = a->cut.next = 0;
        return 0;
    }
    now = time_now();
    /* the process that sent the request has ended meanwhile */
    if (!a->cut.since || now > a->cut.next + CUT_FORGET_NS)
        a->cut.since = now;
    int over = err != -EINPROGRESS && now - a->cut.since > CUT_MAX_NS;
    if (over && err == -ENOBUFS && !boot_is_own(rank)) {
        /* Too many others talk to it, which is no fault of this process. */
        boot_fail_now(rank, "its inbox has no place for this process");
        a->cut.since = a->cut.next = 0;
        return 0;
    }
    if (over)
        log_fatal("there is no way to answer process %d, tried for %d s: %s%s", rank,
                  (int)(CUT_MAX_NS / 1000000000u), strerror(-err),
                  err == -EMFILE ? " (RLIMIT_NOFILE, ulimit -n)" : "");
    a->cut.next = now + CUT_RETRY_NS;
    return TP_AGAIN;
}
