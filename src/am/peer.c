#include "am/am_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "boot/boot.h"

/* The boot key "am.<rank>" holds, for each open transport: name length (1 byte), name, address length (2 bytes),
 * address. */

static void key_name(int rank, char *name, size_t len)
{
    snprintf(name, len, "am.%d", rank);
}

int am_publish(void)
{
    struct am *a = proc->am;
    unsigned char text[BOOT_VALUE_MAX];
    size_t at = 0;
    for (int i = 0; i < a->ntps; i++) {
        const struct am_tp *t = &a->tps[i];
        size_t n = strlen(t->ops->name);
        if (at + 1 + n + 2 > sizeof text)
            return -EMSGSIZE;
        text[at++] = (unsigned char)n;
        memcpy(text + at, t->ops->name, n);
        at += n + 2;
        size_t len = sizeof text - at;
        int err = t->ops->address(t->tp, text + at, &len);
        if (err)
            return err;
        uint16_t len16 = (uint16_t)len;
        memcpy(text + at - 2, &len16, 2);
        at += len;
    }
    char name[32];
    key_name(boot_rank(), name, sizeof name);
    return boot_put(name, text, at);
}

/* Find the address for a transport in a published text. */
static const void *find_address(const unsigned char *text, size_t size, const char *name, size_t *len)
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

/* Both sides' transports, for a message. */
static void say_unreachable(int rank, const unsigned char *text, size_t size)
{
    struct am *a = proc->am;
    char ours[128] = "", theirs[128] = "";
    size_t n = 0, len;
    if (a->warned & AM_WARN_REACH)
        return;
    a->warned |= AM_WARN_REACH;
    for (int i = 0; i < a->ntps && n < sizeof ours; i++)
        n += (size_t)snprintf(ours + n, sizeof ours - n, "%s%s", n ? ", " : "", a->tps[i].ops->name);
    n = 0;
    for (const struct tp_ops *const *o = tp_active(); *o && n < sizeof theirs; o++)
        if (find_address(text, size, (*o)->name, &len))
            n += (size_t)snprintf(theirs + n, sizeof theirs - n, "%s%s", n ? ", " : "", (*o)->name);
    log_warn("no transport leads to rank %d: this process has %s open, that one %s; MPIR_CVAR_TRANSPORT must name one that "
             "works on all hosts", rank, ours, theirs);
}

/* Connect by the first transport that leads to rank: on one node those of the host first, else networks first. */
static int choose(int rank, struct am_tp **out)
{
    struct am *a = proc->am;
    unsigned char text[BOOT_VALUE_MAX];
    size_t size = sizeof text;
    char name[32];
    key_name(rank, name, sizeof name);
    int err = boot_get(name, text, &size);
    if (err)
        return err;
    int near = boot_same_node(rank), worst = -EHOSTUNREACH;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < a->ntps; i++) {
            struct am_tp *t = &a->tps[i];
            size_t len;
            const void *addr;
            if (t->ops->near != (pass ? !near : near) || !(addr = find_address(text, size, t->ops->name, &len)))
                continue;
            err = t->ops->connect(t->tp, (unsigned)rank, addr, len);
            if (!err) {
                *out = t;
                return 0;
            }
            if (err != -EHOSTUNREACH)
                worst = err;
        }
    if (worst == -EHOSTUNREACH)
        say_unreachable(rank, text, size);
    return worst;
}

struct am_peer *am_peer_known(int rank)
{
    struct am *a = proc->am;
    if (a->last && a->last->rank == rank)
        return a->last;
    struct am_peer *p = map_get(&a->peers, (uint64_t)rank);
    if (p)
        a->last = p;
    return p;
}

/* --- processes that were talked to ------------------------------------------------
 * The transport keeps the connection; what is left to remember of a process that owes nothing and is owed nothing is
 * which transport it was. */

static struct am_tp *idle_find(int rank)
{
    struct am *a = proc->am;
    const struct am_chunk *c = a->idle.count ? map_get(&a->idle, (uint64_t)rank / AM_CHUNK + 1) : NULL;
    unsigned i = c ? c->tp[rank % AM_CHUNK / 2] >> (rank % 2 * 4) & 15 : 0;
    return i ? &a->tps[i - 1] : NULL;
}

/* 0, or the record has to stay. */
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
    return !p->owed && !p->dead && !p->nonsense && list_empty(&p->kept) && idle_keep(p) == 0;
}

/* Drop idle records; the next look comes when there are twice as many as remained, so that it costs a constant per
 * new record. */
static void peers_shrink(struct am *a)
{
    struct map old = a->peers;
    size_t cursor = 0;
    map_init(&a->peers);
    for (struct map_entry *e; (e = map_next(&old, &cursor)) != NULL;) {
        struct am_peer *p = e->value;
        if (is_idle(p))
            free(p);
        else if (map_put(&a->peers, e->key, p))
            log_fatal("out of memory for the record of process %d", p->rank);
    }
    map_destroy(&old);
    a->last = NULL;
    a->peers_max = 2 * a->peers.count > AM_PEERS ? 2 * a->peers.count : AM_PEERS;
}

static struct am_peer *peer_make(int rank, int *err)
{
    if (rank < 0 || rank >= boot_size()) {
        *err = -EINVAL;
        return NULL;
    }
    if (boot_dead(rank)) {
        *err = -ENOTCONN;
        return NULL;
    }
    struct am_peer *p = calloc(1, sizeof *p);
    if (!p) {
        *err = -ENOMEM;
        return NULL;
    }
    p->rank = rank;
    list_init(&p->kept);
    list_init(&p->link);
    if (proc->am->peers.count >= proc->am->peers_max)
        peers_shrink(proc->am);
    p->t = idle_find(rank);
    *err = p->t ? 0 : choose(rank, &p->t);
    if (!*err)
        *err = map_put(&proc->am->peers, (uint64_t)rank, p);
    if (!*err)
        return proc->am->last = p;
    free(p);
    /* Its memory went between the look above and the attach. */
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

void am_peer_drop_kept(struct am_peer *p)
{
    for (struct list *l; (l = list_pop(&p->kept)) != NULL;)
        free(LIST_OBJ(l, struct am_kept, link));
    p->nkept = 0;
    list_del(&p->link);
}

void am_peers_bury(void)
{
    struct am *a = proc->am;
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&a->peers, &cursor)) != NULL;) {
        struct am_peer *p = e->value;
        if (p->dead || !boot_dead(p->rank))
            continue;
        p->dead = 1;
        p->t->credits += p->owed;
        p->owed = 0;
        am_peer_drop_kept(p);
    }
}
