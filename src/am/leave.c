/* leave.c - processes of other jobs that a network reaches: this process tells them when it ends
 * (doc/design/dynamic.md, "Ends"). Start with am_leave().
 *
 *      ends                                     a process of another job
 *      AM_LEAVES  --------------------------->  all that came before was handled; from now on a
 *                                               lost connection is no failure
 *                 <---------------------------  AM_LEAVES_SEEN
 *      closes
 *
 * Without the answer the end of the connection might discard what this process has sent last. */
#include "am/am_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "boot/boot.h"

/* A process that computes without an MPI call does not answer; what was sent is with its kernel
 * then (ns). */
static const uint64_t LEAVE_NS = 5000000000u;

struct am_leaving { /* those that are to be told, or have not answered */
    int n, room;
    struct goes {
        int rank, told;
    } *to;
};

static int on_leaves(int src, const void *msg, size_t len)
{
    (void)msg, (void)len;
    if (boot_is_own(src))
        am_malformed(src, "the word that it ends");
    else
        boot_leaves(src);
    am_reply(src, AM_LEAVES_SEEN, NULL, 0);
    return 0;
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
    return a->handler[TP_REQUEST][AM_LEAVES] != NULL;
}

/* The way for processes of other jobs by the network. */
static int open_far(struct am *a)
{
    if (!a->networks)
        return -ENETUNREACH;
    if (is_open(a))
        return 0;
    am_handler(AM_LEAVES, on_leaves);
    am_reply_handler(AM_LEAVES_SEEN, on_seen);
    int watched = boot_detector_turn() != 0, blind = boot_detector_start(1);
    if (blind && boot_host_index(boot_rank()) == 0) /* one process of the host reports it */
        log_warn("processes of other jobs will not be able to ask whether this one lives: %s "
                 "(MPIR_CVAR_PEER_INTERFACE)",
                 strerror(-blind));
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
    if (l->n == l->room) {
        int room = 2 * l->room + 16;
        struct goes *to = realloc(l->to, (size_t)room * sizeof *to);
        if (!to) /* the end of its connection will look like a failure there */
            return;
        l->to = to;
        l->room = room;
    }
    l->to[l->n++] = (struct goes){.rank = rank};
}

/* All that this process has ever talked to. */
static void gather(struct am *a, struct am_leaving *l)
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
}

/* 1: nothing more is expected of it. */
static int is_over(const struct am *a, struct goes *g)
{
    if (boot_has_left(g->rank) || boot_failed(g->rank) || am_is_lost(a, g->rank))
        return 1;
    int err = g->told ? 0 : am_request(g->rank, AM_LEAVES, NULL, 0, 1);
    g->told |= !err;
    return err && err != AM_AGAIN;
}

static int all_over(void *arg)
{
    struct am_leaving *l = arg;
    for (int i = 0; i < l->n;)
        if (is_over(proc->am, &l->to[i]))
            l->to[i] = l->to[--l->n];
        else
            i++;
    return l->n == 0;
}

void am_leave(void)
{
    struct am *a = proc->am;
    struct am_leaving l = {0};
    if (!is_open(a))
        return;
    gather(a, &l);
    a->leaving = &l;
    (void)progress_wait_for(all_over, &l, "processes of other jobs, to tell them of the end", -1,
                            LEAVE_NS);
    l.n = 0;
    free(l.to);
    a->leaving = NULL;
    a->left = 1;
}
