/* leave.c - processes of other jobs that a network reaches: this process tells them when it ends
 * (doc/design/dynamic.md, "Ends"). Start with am_leave().
 *
 *      ends                                     a process of another job
 *      AM_ENDS  ----------------------------->  all that came before was handled; from now on a
 *                                               lost connection is no failure
 *               <-----------------------------  AM_ENDS_SEEN
 *      closes
 *
 * Without the answer the end of the connection might discard what this process has sent last. Both
 * are requests, and none makes room for a reply: many that are silent would hold all of it, and the
 * others could not be told. */
#include "am/am_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "boot/boot.h"

/* A process that computes without an MPI call does not answer; what was sent is with its kernel
 * then (ns). */
static const uint64_t ANSWER_NS = 5000000000u;

struct am_leaving { /* those that are to be told, or have not answered */
    int n, room;
    struct goes {
        int rank, told;
    } *to;
    unsigned char *met; /* by number, 1: it is among these, or was */
};

static int on_ends(int src, const void *msg, size_t len)
{
    (void)msg, (void)len;
    if (boot_is_own(src)) {
        am_malformed(src, "the word that it ends");
        return 0;
    }
    boot_leaves(src);
    /* Another error: its connection has ended. AM_AGAIN holds what it sends behind this word, which
     * is the answer to ours alone (without it we wait for ANSWER_NS), and replies pass. */
    return am_request(src, AM_ENDS_SEEN, NULL, 0, 0) == AM_AGAIN ? AM_AGAIN : 0;
}

static int on_seen(int src, const void *msg, size_t len)
{
    struct am_leaving *l = proc->am->leaving;
    (void)msg, (void)len;
    for (int i = 0; l && i < l->n; i++)
        if (l->to[i].rank == src) {
            l->to[i] = l->to[--l->n];
            return 0;
        }
    return 0; /* too late: it has left, too */
}

static int is_open(const struct am *a)
{
    return a->handler[TP_REQUEST][AM_ENDS] != NULL;
}

/* libfabric's provider shm crashes where it meets an endpoint that is half closed (tp.h, close).
 * Jobs end one by one. */
static int must_end_together(const struct am *a)
{
    static const char shm[] = "ofi shm ";
    char net[AM_CHOICE];
    return !am_network_text(a, net) && !strncmp(net, shm, strlen(shm));
}

/* The way for processes of other jobs by the network. */
static int open_far(struct am *a)
{
    if (!a->networks)
        return -ENETUNREACH;
    if (is_open(a))
        return 0;
    if (must_end_together(a))
        return -EPROTONOSUPPORT;
    am_handler(AM_ENDS, on_ends);
    am_handler(AM_ENDS_SEEN, on_seen);
    int watched = boot_detector_turn() != 0;
    am_liveness_start(1);
    if (!watched && boot_detector_turn())
        a->alive.heard = 0;
    return 0;
}

int am_guests(void)
{
    return !boot_meets() ? -ENOTSUP : boot_far() ? open_far(proc->am) : am_choice_guests(proc->am);
}

/* --- the end --------------------------------------------------------------------------------- */

static void add(struct am_leaving *l, int rank)
{
    if (boot_is_own(rank) || boot_has_left(rank) || boot_failed(rank))
        return;
    if (l->met[rank])
        return;
    if (l->n == l->room) {
        int room = 2 * l->room + 16;
        struct goes *to = realloc(l->to, (size_t)room * sizeof *to);
        if (!to) /* the end of its connection will look like a failure there */
            return;
        l->to = to;
        l->room = room;
    }
    l->met[rank] = 1;
    l->to[l->n++] = (struct goes){.rank = rank};
}

/* All that this process has talked to, each once. How many there are to be told. */
static int gather(struct am *a, struct am_leaving *l)
{
    const struct map_entry *e;
    size_t cursor = 0;
    while ((e = map_next(&a->peers, &cursor)) != NULL)
        add(l, ((const struct am_peer *)e->value)->rank);
    cursor = 0;
    while ((e = map_next(&a->idle, &cursor)) != NULL)
        for (unsigned i = 0; i < AM_CHUNK; i++)
            if (am_chunk_has(e->value, i) && !map_get(&a->peers, (e->key - 1) * AM_CHUNK + i))
                add(l, (int)((e->key - 1) * AM_CHUNK + i));
    return l->n;
}

/* 1: nothing more is expected of it. */
static int is_over(const struct am *a, struct goes *g)
{
    if (boot_has_left(g->rank) || boot_failed(g->rank) || am_is_lost(a, g->rank))
        return 1;
    if (g->told)
        return 0;
    /* It takes nothing as ours after this word: the replies that found no room come first. */
    const struct am_peer *p = am_peer_known(g->rank);
    if (p && !list_empty(&p->zcopies))
        return 0;
    int err = am_request(g->rank, AM_ENDS, NULL, 0, 0);
    g->told = !err;
    return err && err != AM_AGAIN;
}

static int all_told(void *arg)
{
    struct am_leaving *l = arg;
    int told = 1;
    for (int i = 0; i < l->n;)
        if (is_over(proc->am, &l->to[i]))
            l->to[i] = l->to[--l->n];
        else
            told &= l->to[i++].told;
    return told;
}

static int all_over(void *arg)
{
    return all_told(arg) && ((struct am_leaving *)arg)->n == 0;
}

void am_leave(void)
{
    struct am *a = proc->am;
    if (!is_open(a))
        return;
    /* no memory: as in add() */
    struct am_leaving l = {.met = calloc((size_t)boot_universe(), 1)};
    a->leaving = &l;
    /* Others may talk to this process for the first time meanwhile. */
    while (l.met && gather(a, &l)) {
        /* Without a bound, as all waits for room (p2p_drain_wait): one that is not told takes the
         * end for a failure. */
        progress_wait(all_told, &l, "processes of other jobs, to tell them of the end", -1);
        (void)progress_wait_for(all_over, &l, "processes of other jobs, told of the end", -1,
                                ANSWER_NS);
        l.n = 0;
    }
    free(l.to);
    free(l.met);
    a->leaving = NULL;
    a->has_told = 1;
}
