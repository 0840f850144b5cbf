/* lockq.c - far lock requests at the target: granted, queued within bounds, or refused with a stamp
 * (rma.md 5.3, 5.4). Start with rma_lockq_ask().
 *
 *   request -> free, none before it    -> taken from the lock word, packet run, GRANTED
 *                                         piggybacked on its answer
 *           -> queue has a place       -> waits; its data are stored while they fit, else it is
 *                                         granted DROPPED
 *           -> full                    -> REFUSED with stamp n; comes again with it
 *
 * First come, first served, refusals included. While stamps are outstanding (admitted < stamps), no
 * newcomer passes. A stamped request may enter if its stamp is below admitted + size of the queue.
 * That takes two counters and no memory per refused request. A JOIN request stands where its age
 * puts it (rma.md 5.3): it passes younger writers, and refused requests. */
#include "rma/target/target_types.h"

#include <stdlib.h>
#include <string.h>

void rma_lockq_init(struct rma_lockq *q)
{
    list_init(&q->entries);
    map_init(&q->holders);
}

/* Take e off the queue; *packet: its data, the caller's now (NULL: freed). */
static void entry_take(struct rma_lockq *q, struct lock_entry *e, char **packet)
{
    struct rma_win *w = LIST_OBJ(q, struct rma_win, target.lockq);
    list_del(&e->link);
    q->count--;
    counter_add(&w->near.pvars.v[PVAR_RMA_LOCKS_USED], (uint64_t)-1);
    if (e->packet)
        q->bytes -= e->hdr.len;
    if (packet)
        *packet = e->packet;
    else
        free(e->packet);
    free(e);
}

void rma_lockq_free(struct rma_lockq *q)
{
    while (!list_empty(&q->entries))
        entry_take(q, LIST_OBJ(q->entries.next, struct lock_entry, link), NULL);
    map_destroy(&q->holders);
}

static enum shmlock_type type_of(const struct rma_hdr *h)
{
    return h->flags & RMA_F_EXCLUSIVE ? SHMLOCK_EXCLUSIVE : SHMLOCK_SHARED;
}

static struct shmlock *word_of(const struct rma_win *w)
{
    return rma_near_own(w)->lockword;
}

/* --- holders ---------------------------------------------------------------------------- */

static void hold(struct rma_lockq *q, int src, enum shmlock_type type)
{
    /* Readers beyond the bound are only counted: their UNLOCKs cannot be distinguished. Processes
     * of this node take the lock word instead; if one comes here, it is named, so that its failure
     * releases what it holds. */
    if (type == SHMLOCK_SHARED && q->holders.count >= (size_t)cvar.rma_lock_entries &&
        !boot_same_node(src))
        q->anonymous++;
    else if (map_put(&q->holders, (uint64_t)src + 1, (void *)(uintptr_t)type) &&
             type == SHMLOCK_SHARED)
        q->anonymous++;
}

int rma_lockq_release(struct rma_win *w, int src, uint32_t *clock)
{
    struct rma_lockq *q = &w->target.lockq;
    enum shmlock_type type = (enum shmlock_type)(uintptr_t)map_del(&q->holders, (uint64_t)src + 1);
    if (!type) {
        if (!q->anonymous)
            return rma_is_revoked(w) ? MPIX_ERR_REVOKED : MPI_ERR_RMA_SYNC;
        q->anonymous--;
        type = SHMLOCK_SHARED;
        if (!q->anonymous && q->doubt) {
            q->doubt = 0;
            shmlock_doubt(word_of(w), &w->node.n, 0);
        }
    }
    /* The hook grants the next: a handler that ran queued packets from here would recurse as deep
     * as the queue is long. */
    if (shmlock_far_leave(word_of(w), &w->node.n, type))
        *clock = (uint32_t)shmlock_clock(word_of(w));
    return 0;
}

/* --- death ---------------------------------------------------------------------------------- */

static void tell_all(struct rma_lockq *q)
{
    for (struct list *l = q->entries.next; l != &q->entries; l = l->next)
        LIST_OBJ(l, struct lock_entry, link)->broken = 1;
}

/* A near holder failed, and a near process took the lock from it. */
static void look_for_deaths(struct rma_win *w)
{
    unsigned n = shmlock_broken(word_of(w));
    if (n != w->target.lockq.broken)
        tell_all(&w->target.lockq);
    w->target.lockq.broken = n;
}

/* --- ask ---------------------------------------------------------------------------------- */

static void tell_waiting(struct rma_win *w)
{
    const struct list *l = list_first(&w->target.lockq.entries);
    const struct lock_entry *e = l ? LIST_OBJ(l, struct lock_entry, link) : NULL;
    shmlock_far_waiting(word_of(w), &w->node.n, e ? (int)type_of(&e->hdr) : 0, e ? e->key : 0);
}

static void refuse(struct rma_win *w, int src, const struct rma_hdr *h, uint64_t stamp)
{
    struct rma_hdr r = {.type = RMA_PKT_REFUSED, .stamp = stamp, .op = h->op, .token = h->token};
    rma_count(w, PVAR_RMA_LOCKS_REFUSED, 1);
    rma_reply(w, src, &r, NULL, 0);
}

/* After all whose keys are not above its own. */
static void insert(struct rma_lockq *q, struct lock_entry *e)
{
    struct list *after = q->entries.prev;
    while (after != &q->entries &&
           shmlock_before(e->key, LIST_OBJ(after, struct lock_entry, link)->key))
        after = after->prev;
    list_push(after->next, &e->link); /* before that one */
    q->count++;
}

static int enqueue(struct rma_win *w, int src, const struct rma_hdr *h, const char *payload,
                   uint64_t age)
{
    struct rma_lockq *q = &w->target.lockq;
    struct lock_entry *e = calloc(1, sizeof *e);
    if (!e)
        return -1;
    look_for_deaths(w); /* what it learns is for those that wait already */
    e->src = src;
    e->hdr = *h;
    if (h->type != RMA_PKT_LOCK && q->bytes + h->len <= (size_t)cvar.rma_lock_bytes &&
        (e->packet = malloc((size_t)h->len + 1)) != NULL) {
        memcpy(e->packet, payload, h->len);
        q->bytes += h->len;
        pvar_set_max(&w->near.pvars, PVAR_RMA_LOCK_BYTES_HIGH, q->bytes);
    } else if (h->type != RMA_PKT_LOCK) {
        rma_count(w, PVAR_RMA_LOCKS_DROPPED, 1);
    }
    e->key = shmlock_far_key(word_of(w), &w->node.n, type_of(h), age);
    e->grants = shmlock_grants(word_of(w));
    insert(q, e);
    counter_add(&w->near.pvars.v[PVAR_RMA_LOCKS_USED], 1);
    rma_count(w, PVAR_RMA_LOCKS_QUEUED, 1);
    pvar_set_max(&w->near.pvars, PVAR_RMA_LOCKS_HIGH, q->count);
    tell_waiting(w);
    rma_win_active(w);
    return 0;
}

/* Only readers join: a writer with that flag would enter as a reader and leave as a writer. */
static int joins(const struct rma_hdr *h)
{
    return (h->flags & RMA_F_JOIN) && type_of(h) == SHMLOCK_SHARED;
}

/* A second lock of one target by one origin: an error, and it holds nothing. */
static void second(struct rma_win *w, int src)
{
    struct rma_hdr r = {.type = RMA_PKT_GRANTED, .flags = RMA_F_DROPPED, .aop = MPI_ERR_RMA_SYNC};
    rma_reply(w, src, &r, NULL, 0);
}

/* The window is revoked: a holder of the lock may have given up. The request holds nothing. */
static void deny(struct rma_win *w, int src)
{
    struct rma_hdr r = {.type = RMA_PKT_GRANTED, .flags = RMA_F_DROPPED, .aop = MPIX_ERR_REVOKED};
    rma_reply(w, src, &r, NULL, 0);
}

void rma_lockq_deny(struct rma_win *w)
{
    struct rma_lockq *q = &w->target.lockq;
    while (!list_empty(&q->entries)) {
        struct lock_entry *e = LIST_OBJ(q->entries.next, struct lock_entry, link);
        int src = e->src;
        entry_take(q, e, NULL);
        deny(w, src);
    }
    q->admitted = q->stamps; /* none of them comes again */
    tell_waiting(w);
}

/* Does every waiting far request stand behind a reader of that age? */
static int is_oldest(const struct rma_win *w, uint64_t age)
{
    const struct list *l = list_first(&w->target.lockq.entries);
    return !l || shmlock_before(shmlock_reader_key(word_of(w), age),
                                LIST_OBJ(l, struct lock_entry, link)->key);
}

/* age: of the requester's locks of the window, as the packet states. */
void rma_lockq_ask(struct rma_win *w, int src, const struct rma_hdr *h, const char *payload,
                   uint64_t age)
{
    struct rma_lockq *q = &w->target.lockq;
    enum shmlock_type type = type_of(h);
    int join = joins(h), got = 0;
    shmlock_clock_raise(word_of(w), age);
    /* sent before it failed, received after the failure was handled: it would never be released */
    if (boot_failed_count() && boot_failed(src))
        return;
    if (rma_is_revoked(w)) {
        deny(w, src);
        return;
    }
    /* A stamp that was never given out, or that has expired (a failure let newcomers in), counts as
     * none. */
    int stamped = (h->flags & RMA_F_STAMP) && h->stamp > 0 && h->stamp <= q->stamps &&
                  q->admitted < q->stamps;
    if (map_get(&q->holders, (uint64_t)src + 1)) {
        second(w, src);
        return;
    }
    int turn = stamped ? h->stamp <= q->admitted + (uint64_t)cvar.rma_lock_entries
                       : q->stamps == q->admitted;
    if (join || (turn && q->count == 0))
        got = shmlock_far_try(word_of(w), &w->node.n, type, !join || is_oldest(w, age),
                              join ? age + 1 : 0);
    if (!got && (!turn || q->count >= (unsigned)cvar.rma_lock_entries ||
                 enqueue(w, src, h, payload, join ? age : SHMLOCK_NOW) != 0)) {
        refuse(w, src, h, stamped ? h->stamp : ++q->stamps);
        return;
    }
    if (stamped)
        q->admitted++;
    if (got) {
        hold(q, src, type);
        rma_run_packet(w, src, h, payload, 1);
    }
}

/* --- grant ------------------------------------------------------------------------------------ */

static void grant(struct rma_win *w, struct lock_entry *e)
{
    struct rma_lockq *q = &w->target.lockq;
    struct lock_entry mine = *e;
    hold(q, e->src, type_of(&e->hdr));
    if (type_of(&e->hdr) == SHMLOCK_EXCLUSIVE)
        pvar_set_max(&w->near.pvars, PVAR_RMA_LOCK_WAIT,
                     shmlock_grants(word_of(w)) - e->grants - 1);
    entry_take(q, e, &mine.packet);
    tell_waiting(w);
    if (!mine.broken && (mine.packet || mine.hdr.type == RMA_PKT_LOCK)) {
        rma_run_packet(w, mine.src, &mine.hdr, mine.packet, 1);
    } else {
        struct rma_hdr r = {.type = RMA_PKT_GRANTED, .flags = RMA_F_DROPPED,
                            .aop = mine.broken ? MPIX_ERR_PROC_FAILED : 0};
        rma_reply(w, mine.src, &r, NULL, 0);
    }
    free(mine.packet);
}

/* A writer waits for a reader that may have failed: it gets the lock with a warning, as a reader's
 * grant, which its UNLOCK releases. */
static int in_spite(struct rma_win *w, struct lock_entry *e)
{
    if (!w->target.lockq.doubt || type_of(&e->hdr) != SHMLOCK_EXCLUSIVE ||
        !shmlock_far_try(word_of(w), &w->node.n, SHMLOCK_SHARED, 1, 0))
        return 0;
    e->hdr.flags &= (uint16_t)~RMA_F_EXCLUSIVE;
    e->broken = 1;
    return 1;
}

/* Two requests of one process were queued, and the other was granted: it is held once and released
 * once. */
static int doubled(struct rma_win *w, struct lock_entry *e)
{
    struct rma_lockq *q = &w->target.lockq;
    int src = e->src;
    if (!map_get(&q->holders, (uint64_t)src + 1))
        return 0;
    entry_take(q, e, NULL);
    tell_waiting(w);
    second(w, src);
    return 1;
}

int rma_lockq_poll(struct rma_win *w)
{
    struct rma_lockq *q = &w->target.lockq;
    int n = 0;
    look_for_deaths(w);
    while (!list_empty(&q->entries)) {
        struct lock_entry *e = LIST_OBJ(q->entries.next, struct lock_entry, link);
        if (doubled(w, e)) {
            n++;
            continue;
        }
        if (!shmlock_far_try(word_of(w), &w->node.n, type_of(&e->hdr), 1, 0) && !in_spite(w, e))
            break;
        grant(w, e);
        n++;
    }
    return n;
}

void rma_lockq_fail(struct rma_win *w, int src)
{
    struct rma_lockq *q = &w->target.lockq;
    for (struct list *l = q->entries.next, *next; l != &q->entries; l = next) {
        struct lock_entry *e = LIST_OBJ(l, struct lock_entry, link);
        next = l->next;
        if (e->src == src)
            entry_take(q, e, NULL);
    }
    if (map_get(&q->holders, (uint64_t)src + 1)) {
        tell_all(q);
        shmlock_break(word_of(w), &w->node.n);
        q->broken = shmlock_broken(word_of(w));
        uint32_t clock;
        rma_lockq_release(w, src, &clock);
    } else if (boot_same_node(src)) {
        shmlock_fail(word_of(w), &w->node.n);
        look_for_deaths(w);
    } else if (q->anonymous && !q->doubt) { /* the failed process may be one of them */
        q->doubt = 1;
        shmlock_doubt(word_of(w), &w->node.n, 1);
    }
    /* Its stamps will never come: let newcomers in. */
    q->admitted = q->stamps;
    tell_waiting(w);
}
