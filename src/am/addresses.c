/* addresses.c - what processes publish of themselves, and read of others. Start with am_publish()
 * and am_address_find(). */
#include "am/am_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "var/var.h"

/* The boot key "am.<rank>" holds, for each open transport: name length (1 byte), name, address
 * length (2 bytes), address. Under the name "alive" it holds what boot_detector_ask() needs. A
 * process of another job reaches this one by a transport for guests (am_guests), whose address is
 * under the key "all.am.<rank>"; or by the network, whose address is on a card (am_card). */
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

void am_files_want(size_t processes)
{
    struct rlimit l;
    rlim_t want = 2 * (rlim_t)processes + 256;
    if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur == RLIM_INFINITY || l.rlim_cur >= want)
        return;
    l.rlim_cur = l.rlim_max == RLIM_INFINITY || want < l.rlim_max ? want : l.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &l); /* if not: as it was */
}

/* --- where processes that meet exchange them --------------------------------------------- */

struct known {
    size_t len;
    unsigned char text[];
};

#define AM_HOST "host" /* the name of a struct boot_host */
#define AM_NET "net"   /* of what am_choice_text() says of the network: all have the same */

/* The longest card: host, job, network and its address under a name of 16 bytes, failure
 * detector. */
#define ENTRY(name, len) (sizeof(name) + 2 + (len))
_Static_assert(ENTRY(AM_HOST, sizeof(struct boot_host)) + ENTRY(AM_NET, AM_CHOICE) + 1 + 16 + 2 +
                       TP_ADDRESS_MAX + ENTRY(AM_ALIVE, BOOT_CARD_MAX) +
                       ENTRY(AM_JOB, BOOT_JOB_MAX) <= AM_CARD_MAX,
               "a card has room for the longest address");

/* a->here is read from files once.  0; -EMFILE, -ENFILE: not now. */
static int find_here(struct am *a)
{
    int err = a->here_known ? 0 : boot_host_here(&a->here);
    a->here_known = !err;
    return err;
}

static int add_bytes(unsigned char *text, size_t size, size_t *at, const char *name,
                     const void *bytes, size_t len)
{
    size_t room;
    unsigned char *to = entry_begin(text, size, at, name, &room);
    if (!to || room < len)
        return -EMSGSIZE;
    memcpy(to, bytes, len);
    entry_end(text, at, len);
    return 0;
}

static int add_host(struct am *a, unsigned char *text, size_t size, size_t *at)
{
    int err = find_here(a);
    return err ? err : add_bytes(text, size, at, AM_HOST, &a->here, sizeof a->here);
}

/* What its launcher calls its job, for one that reports ends. */
static int add_job(unsigned char *text, size_t size, size_t *at)
{
    unsigned char job[BOOT_JOB_MAX];
    size_t len = boot_job_card(job, sizeof job);
    return len ? add_bytes(text, size, at, AM_JOB, job, len) : 0;
}

/* Of a process of this host?  0; -EHOSTUNREACH; -EMFILE, -ENFILE: not known. */
static int check_host(struct am *a, const void *card, size_t len)
{
    struct boot_host theirs;
    size_t n;
    const void *found = am_address_find(card, len, AM_HOST, &n);
    if (!found || n != sizeof theirs)
        return -EHOSTUNREACH;
    int err = find_here(a);
    memcpy(&theirs, found, n);
    return err ? err : boot_host_differs(&theirs, &a->here) ? -EHOSTUNREACH : 0;
}

void am_choice_text(const struct am_tp *t, char text[AM_CHOICE])
{
    char variant[AM_CHOICE] = "";
    *text = 0;
    if (t->ops && t->ops->variant)
        t->ops->variant(t->tp, variant, sizeof variant);
    if (t->ops)
        snprintf(text, AM_CHOICE, "%s%s%.64s", t->ops->name, *variant ? " " : "", variant);
}

int am_network_text(const struct am *a, char text[AM_CHOICE])
{
    for (int i = 0; i < a->ntps; i++)
        if (!a->tps[i].ops->near) {
            am_choice_text(&a->tps[i], text);
            return 0;
        }
    return -ENETUNREACH;
}

/* How the network reaches this process. */
static int add_network(const struct am *a, unsigned char *text, size_t size, size_t *at)
{
    char net[AM_CHOICE];
    unsigned char alive[BOOT_CARD_MAX];
    int err = am_network_text(a, net);
    if (!err)
        err = add_bytes(text, size, at, AM_NET, net, strlen(net));
    for (int i = 0; i < a->ntps && !err; i++)
        if (!a->tps[i].ops->near)
            err = add_address(text, size, at, &a->tps[i]);
    size_t len = boot_detector_card(alive, sizeof alive);
    return err || !len ? err : add_bytes(text, size, at, AM_ALIVE, alive, len);
}

/* 0; -ENETUNREACH: it has another network. */
static int check_network(const struct am *a, const void *card, size_t len)
{
    char net[AM_CHOICE];
    size_t n;
    const void *theirs = am_address_find(card, len, AM_NET, &n);
    int err = am_network_text(a, net);
    return err ? err : theirs && n == strlen(net) && !memcmp(theirs, net, n) ? 0 : -ENETUNREACH;
}

int am_card(void *card, size_t room)
{
    struct am *a = proc->am;
    size_t at = 0;
    if (boot_meets() != BOOT_MEETS_DIRECT)
        return 0;
    int err = add_host(a, card, room, &at);
    if (!err)
        err = add_job(card, room, &at);
    if (!err && boot_far())
        err = add_network(a, card, room, &at);
    for (int i = 0; i < a->ntps && !err; i++)
        if (a->tps[i].ops == &tp_guest_ops)
            err = add_address(card, room, &at, &a->tps[i]);
    return err ? err : (int)at;
}

int am_card_known(const struct am *a, int rank)
{
    return map_get(&a->cards, (uint64_t)rank + 1) != NULL;
}

int am_card_learn(int rank, const void *card, size_t len)
{
    struct am *a = proc->am;
    if (boot_is_own(rank) || am_card_known(a, rank))
        return 0;
    int err = check_host(a, card, len);
    if (boot_far() && (!err || err == -EHOSTUNREACH)) {
        if (!err)
            boot_near_take(rank);
        err = check_network(a, card, len);
    }
    size_t n;
    const void *job = err ? NULL : am_address_find(card, len, AM_JOB, &n);
    if (job)
        err = boot_job_learn(rank, job, n);
    if (err)
        return err;
    struct known *c = malloc(sizeof *c + len);
    if (!c)
        return -ENOMEM;
    c->len = len;
    memcpy(c->text, card, len);
    err = map_put(&a->cards, (uint64_t)rank + 1, c);
    if (err)
        free(c);
    else if (boot_far())
        am_files_want((size_t)boot_size() + a->cards.count);
    return err;
}

void am_cards_free(struct am *a)
{
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&a->cards, &cursor)) != NULL;)
        free(e->value);
    map_destroy(&a->cards);
}

/* -EINPROGRESS: a member of a communicator that is being made here sends already. */
static int card_read(int rank, unsigned char text[BOOT_VALUE_MAX], size_t *size)
{
    const struct known *c = map_get(&proc->am->cards, (uint64_t)rank + 1);
    if (!c)
        return -EINPROGRESS;
    memcpy(text, c->text, c->len);
    *size = c->len;
    return 0;
}

/* --- where the launcher has them ----------------------------------------------------------- */

int am_publish_guests(const struct am_tp *t)
{
    if (boot_meets() == BOOT_MEETS_DIRECT)
        return 0;
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
        unsigned char *to = entry_begin(text, sizeof text, &at, AM_ALIVE, &len);
        if (!to || !(len = boot_detector_card(to, len)))
            return -EMSGSIZE;
        entry_end(text, &at, len);
    }
    char name[32];
    key_name(boot_rank(), name, sizeof name);
    return boot_put(name, text, at);
}

const void *am_address_find(const unsigned char *text, size_t size, const char *name,
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

int am_address_read(int rank, unsigned char text[BOOT_VALUE_MAX], size_t *size)
{
    char name[32];
    if (!boot_is_own(rank) && boot_meets() == BOOT_MEETS_DIRECT)
        return card_read(rank, text, size);
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
    int err = a->warned & AM_WARN_CARD ? -EIO : am_address_read(rank, text, &size);
    if (err && err != -ENOENT && err != -EINPROGRESS && err != -ENOTCONN && err != -ETIMEDOUT) {
        /* the launcher has ended, which was reported: never again */
        a->warned |= AM_WARN_CARD;
        return 0;
    }
    const void *found = err ? NULL : am_address_find(text, size, AM_ALIVE, &len);
    if (!found || len > BOOT_CARD_MAX)
        return 0;
    memcpy(card, found, len);
    return len;
}
