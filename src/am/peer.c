/* peer.c - what is known of each process: its published addresses, its transport, its credits.
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

/* The boot key "am.<rank>" holds, for each open transport: name length (1 byte), name, address
 * length (2 bytes), address. Under the name "alive" it holds what boot_detector_ask() needs. A
 * process of another job reaches this one by a transport for guests (am_guests), whose address is
 * under the key "all.am.<rank>". */
static const char card_name[] = "alive";

static void key_name(int rank, char *name, size_t len)
{
    snprintf(name, len, "%sam.%d", boot_is_own(rank) ? "" : BOOT_ALL, rank);
}

/* An entry of that name at text + *at: where its address goes, and the room for it. */
static unsigned char *entry_begin(unsigned char *text, size_t size, size_t *at, const char *name,
                                  size_t *room)
{
    size_t n = strlen(name);
    if (*at + 1 + n + 2 > size)
        return NULL;
    text[(*at)++] = (unsigned char)n;
    memcpy(text + *at, name, n);
    *at += n + 2;
    *room = size - *at;
    return text + *at;
}

static void entry_end(unsigned char *text, size_t *at, size_t len)
{
    uint16_t len16 = (uint16_t)len;
    memcpy(text + *at - 2, &len16, 2);
    *at += len;
}

static int add_address(unsigned char *text, size_t size, size_t *at, const struct am_tp *t)
{
    size_t len;
    unsigned char *to = entry_begin(text, size, at, t->ops->name, &len);
    int err = to ? t->ops->address(t->tp, to, &len) : -EMSGSIZE;
    if (!err)
        entry_end(text, at, len);
    return err;
}

int am_publish_guests(const struct am_tp *t)
{
    unsigned char text[BOOT_VALUE_MAX];
    char name[40];
    size_t at = 0;
    int err = add_address(text, sizeof text, &at, t);
    snprintf(name, sizeof name, BOOT_ALL "am.%d", boot_rank());
    return err ? err : boot_put(name, text, at);
}

int am_publish(void)
{
    struct am *a = proc->am;
    unsigned char text[BOOT_VALUE_MAX];
    size_t at = 0;
    for (int i = 0; i < a->ntps; i++) {
        int err = add_address(text, sizeof text, &at, &a->tps[i]);
        if (err)
            return err;
    }
    if (boot_detector_turn()) {
        size_t len;
        unsigned char *to = entry_begin(text, sizeof text, &at, card_name, &len);
        if (!to || !(len = boot_detector_card(to, len)))
            return -EMSGSIZE;
        entry_end(text, &at, len);
    }
    char name[32];
    key_name(boot_rank(), name, sizeof name);
    return boot_put(name, text, at);
}

/* Find the address for a transport in a published text. */
static const void *find_address(const unsigned char *text, size_t size, const char *name,
                                size_t *len)
{
    for (size_t at = 0; at < size;) {
        size_t n = text[at++];
        uint16_t len16;
        if (at + n + 2 > size)
            return NULL;
        memcpy(&len16, text + at + n, 2);
        if (at + n + 2 + len16 > size)
            return NULL;
        if (strlen(name) == n && !memcmp(name, text + at, n)) {
            *len = len16;
            return text + at + n + 2;
        }
        at += n + 2 + len16;
    }
    return NULL;
}

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
        if (find_address(text, size, (*o)->name, &len))
            n += (size_t)snprintf(theirs + n, sizeof theirs - n, "%s%s", n ? ", " : "", (*o)->name);
    log_warn("no transport leads to rank %d: this process has %s open, that one %s; "
             "MPIR_CVAR_TRANSPORT must name one that works on all hosts",
             rank, ours, theirs);
}

static int read_key(int rank, unsigned char text[BOOT_VALUE_MAX], size_t *size)
{
    char name[32];
    key_name(rank, name, sizeof name);
    *size = BOOT_VALUE_MAX;
    int err = boot_get(name, text, size);
    if (err == -ENOENT && !boot_is_own(rank)) /* it has ended, or meets no others */
        return -ENOTCONN;
    if (err != -ETIMEDOUT || !boot_detector_turn() ||
        !proc_runs())
        return err;
    /* The launcher asks that process's host, with the timeout of the failure detector. After that,
     * no process must wait for it. */
    char why[96];
    snprintf(why, sizeof why,
             "the launcher has not found its address for %d s (MPIR_CVAR_PEER_TIMEOUT)",
             (int)cvar.peer_timeout);
    boot_fail_now(rank, why);
    return -ENOTCONN;
}

size_t am_peer_card(int rank, void *card)
{
    struct am *a = proc->am;
    const struct am_peer *p = am_peer_known(rank);
    unsigned char text[BOOT_VALUE_MAX];
    size_t size, len = 0;
    if (p && p->card) {
        memcpy(card, p->card, p->card_bytes);
        return p->card_bytes;
    }
    int err = a->warned & AM_WARN_CARD ? -EIO : read_key(rank, text, &size);
    if (err && err != -ENOENT && err != -EINPROGRESS && err != -ENOTCONN && err != -ETIMEDOUT) {
        /* the launcher has ended, which was reported: never again */
        a->warned |= AM_WARN_CARD;
        return 0;
    }
    const void *found = err ? NULL : find_address(text, size, card_name, &len);
    if (!found || len > BOOT_CARD_MAX)
        return 0;
    memcpy(card, found, len);
    return len;
}

/* Store the card: it is available now; later it would cost a request to the launcher. */
static void keep_card(struct am_peer *p, const unsigned char *text, size_t size)
{
    size_t len;
    const void *card = boot_detector_turn() ? find_address(text, size, card_name, &len) : NULL;
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
    int rank = p->rank, err = am_is_lost(a, rank) ? -EINPROGRESS : read_key(rank, text, &size);
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
                !(addr = find_address(text, size, t->ops->name, &len)))
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
    if (tried && boot_detector_turn() && boot_host_index(rank) < 0) {
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

struct am_peer *am_peer_find(int rank)
{
    struct am *a = proc->am;
    struct am_peer *p = map_get(&a->peers, (uint64_t)rank);
    if (p)
        a->last = p;
    return p;
}

/* --- processes that were talked to ------------------------------------------------
 * The transport keeps the connection; what is left to remember of a process that owes nothing and
 * is owed nothing is which transport it was. */

int am_chunk_has(const struct am_chunk *c, unsigned i)
{
    return c->tp[i / 2] >> (i % 2 * 4) & 15;
}

static struct am_tp *idle_find(int rank)
{
    struct am *a = proc->am;
    const struct am_chunk *c = a->idle.count ? map_get(&a->idle, (uint64_t)rank / AM_CHUNK + 1)
                                             : NULL;
    int i = c ? am_chunk_has(c, (unsigned)rank % AM_CHUNK) : 0;
    return i ? &a->tps[i - 1] : NULL;
}

int am_has_left(int dst)
{
    if (boot_is_own(dst))
        return 0;
    const struct am_peer *p = am_peer_known(dst);
    const struct am_tp *t = p ? p->t : idle_find(dst);
    return t && t->ops->left && t->ops->left(t->tp, (unsigned)dst);
}

/* 0, or the record must stay. */
static int idle_keep(const struct am_peer *p)
{
    struct am *a = proc->am;
    uint64_t key = (uint64_t)p->rank / AM_CHUNK + 1;
    struct am_chunk *c = map_get(&a->idle, key);
    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c || map_put(&a->idle, key, c)) {
            free(c);
            return -ENOMEM;
        }
    }
    unsigned i = (unsigned)(p->t - a->tps) + 1, shift = (unsigned)p->rank % 2 * 4;
    uint8_t *b = &c->tp[p->rank % AM_CHUNK / 2];
    *b = (uint8_t)((*b & ~(15u << shift)) | i << shift);
    return 0;
}

static int is_idle(const struct am_peer *p)
{
    return !p->owed && !p->dead && !p->malformed && list_empty(&p->zcopies) && idle_keep(p) == 0;
}

/* Drop idle records. The next search comes at twice the remaining number, so its cost is constant
 * per new record. */
static void peers_shrink(struct am *a)
{
    struct map old = a->peers;
    size_t cursor = 0;
    map_init(&a->peers);
    for (struct map_entry *e; (e = map_next(&old, &cursor)) != NULL;) {
        struct am_peer *p = e->value;
        if (is_idle(p) && p->asked)
            a->alive.blind = p->rank + 1;
        if (is_idle(p))
            am_peer_free(p);
        else if (map_put(&a->peers, e->key, p))
            log_fatal("out of memory for the record of process %d", p->rank);
    }
    map_destroy(&old);
    a->last = NULL;
    a->peers_max = 2 * a->peers.count > AM_PEERS ? 2 * a->peers.count : AM_PEERS;
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
        peers_shrink(proc->am);
    p->t = idle_find(rank);
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
    if (p || idle_find(rank)) /* no connection is needed */
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
    if (idle_find(rank))
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

static void drop_zcopy(struct am_peer *p)
{
    for (struct list *l; (l = list_pop(&p->zcopies)) != NULL;)
        free(LIST_OBJ(l, struct am_zcopy, link));
    p->nzcopies = 0;
    list_del(&p->link);
}

void am_peer_free(struct am_peer *p)
{
    drop_zcopy(p);
    free(p->card);
    free(p);
}

void am_peers_fail(void)
{
    struct am *a = proc->am;
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&a->peers, &cursor)) != NULL;) {
        struct am_peer *p = e->value;
        if (p->dead || !boot_failed(p->rank))
            continue;
        p->dead = 1;
        p->t->credits += p->owed;
        p->owed = 0;
        drop_zcopy(p);
    }
}
