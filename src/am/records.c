/* records.c - the records of processes: full ones, and what is left of idle ones. Start with
 * am_peer_find().
 *
 * The transport keeps the connection. Of a process that owes nothing and is owed nothing, what is
 * left is the transport's number. */
#include "am/am_types.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/proc.h"
#include "boot/boot.h"

struct am_peer *am_peer_find(int rank)
{
    struct am *a = proc->am;
    struct am_peer *p = map_get(&a->peers, (uint64_t)rank);
    if (p)
        a->last = p;
    return p;
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

int am_chunk_has(const struct am_chunk *c, unsigned i)
{
    return c->tp[i / 2] >> (i % 2 * 4) & 15;
}

struct am_tp *am_idle_find(int rank)
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
    if (boot_has_left(dst))
        return 1;
    const struct am_peer *p = am_peer_known(dst);
    const struct am_tp *t = p ? p->t : am_idle_find(dst);
    return t && t->ops->left && t->ops->left(t->tp, (unsigned)dst);
}

void am_credit_return(int dst, unsigned replies)
{
    struct am_peer *p = am_peer_known(dst);
    if (!p || p->dead)
        return;
    if (replies > p->owed) /* it sends more answers than were requested */
        replies = p->owed;
    p->owed -= replies;
    p->t->credits += replies;
}

void am_peer_left(int rank)
{
    am_credit_return(rank, UINT_MAX); /* all */
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

void am_peers_shrink(struct am *a)
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

void am_peers_fail(void)
{
    struct am *a = proc->am;
    size_t cursor = 0;
    for (struct map_entry *e; (e = map_next(&a->peers, &cursor)) != NULL;) {
        struct am_peer *p = e->value;
        if (p->dead || !boot_failed(p->rank))
            continue;
        am_peer_left(p->rank); /* of a dead one no credits are returned */
        p->dead = 1;
        drop_zcopy(p);
    }
}
