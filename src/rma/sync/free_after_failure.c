/* free_after_failure.c - MPI_Win_free of a window with a failed member. Start with rma_free_sync().
 *
 * Processes that have seen the failure pass the last barrier at once. Another one may still be in
 * an epoch, wait for answers from here, or copy into this memory. So each survivor asks every other
 * whether it is in MPI_Win_free or past it (or in MPI_Finalize, where it starts nothing more). It
 * asks all at once, then one at a time, again after a backoff if the answer is no.
 *
 * A process that asks is in MPI_Win_free itself and is not asked. A post or complete that it still
 * owes will not come (access.c). No process waits for an answer before it gives one, so there is no
 * circle. If a process fails meanwhile, the wait for it ends. The cost is O(P) messages, but only
 * after a failure. */
#include "rma/sync/sync_types.h"

#include <string.h>

#include "base/sched.h"

enum { AGAIN_NS = 200000, AGAIN_MAX_NS = 20000000 };

static int is_dead(const struct rma_win *w)
{
    return boot_failed(rma_world(w, w->free.peer));
}

int rma_is_freeing(const struct rma_win *w, int rank)
{
    return map_get(&w->free.asked, (uint64_t)rank + 1) != NULL;
}

static int has_asked(const struct rma_win *w)
{
    return rma_is_freeing(w, w->free.peer);
}

static int told(void *arg)
{
    const struct rma_win *w = arg;
    return w->free.answered || has_asked(w) || is_dead(w);
}

static int time_over(void *arg)
{
    const struct rma_win *w = arg;
    return time_now() >= w->free.ask_again || has_asked(w) || is_dead(w);
}

/* Waits until rank is in MPI_Win_free, or has failed. */
static void wait_one(struct rma_win *w, int rank)
{
    const struct rma_hdr ask = {.type = RMA_PKT_FREEING_ASK};
    uint64_t backoff = AGAIN_NS;
    w->free.peer = rank;
    w->free.peer_freeing = 0;
    while (!is_dead(w) && !has_asked(w)) {
        w->free.answered = 0;
        if (rma_plain_wait(w, rank, &ask, 1)) /* no connection any more */
            return;
        progress_wait(told, w, "the others in MPI_Win_free", rma_world(w, rank));
        if (w->free.peer_freeing)
            return;
        w->free.ask_again = time_now() + backoff;
        progress_wait_for(time_over, w, "the others in MPI_Win_free", rma_world(w, rank), backoff);
        backoff = backoff < AGAIN_MAX_NS ? 2 * backoff : backoff;
    }
}

struct round {
    struct rma_win *w;
    int next; /* all before it have been asked, except the few in `late` */
    int late[16], nlate;
};

/* 0: no room now. */
static int ask_one(struct rma_win *w, int rank)
{
    const struct rma_hdr ask = {.type = RMA_PKT_FREEING_ASK};
    if (rank == w->rank || boot_failed(rma_world(w, rank)) || rma_is_freeing(w, rank))
        return 1;
    return rma_send_plain(w, rank, &ask, 1) != AM_AGAIN;
}

/* Each is asked as soon as it has room; the others do not wait for those without. */
static int all_asked(void *arg)
{
    struct round *x = arg;
    for (int i = 0; i < x->nlate;)
        if (ask_one(x->w, x->late[i]))
            x->late[i] = x->late[--x->nlate];
        else
            i++;
    for (; x->next < x->w->size && x->nlate < (int)(sizeof x->late / sizeof *x->late); x->next++)
        if (!ask_one(x->w, x->next))
            x->late[x->nlate++] = x->next;
    return x->next == x->w->size && !x->nlate;
}

int rma_free_unsure(const struct rma_win *w)
{
    int dead = w->free.lost;
    for (int r = 0; boot_failed_count() && r < w->size && !dead; r++)
        dead = boot_failed(rma_world(w, r));
    return dead;
}

void rma_free_sync(struct rma_win *w)
{
    struct round x = {.w = w};
    int dead = rma_free_unsure(w);
    /* First all are asked at once, whatever they answer. Otherwise, one may wait for a post that
     * will not come, while a process asked earlier waits for that one. */
    w->free.peer = w->rank;
    if (dead && !all_asked(&x))
        progress_wait(all_asked, &x, "room for a message to the others in MPI_Win_free", -1);
    for (int r = 0; dead && r < w->size; r++)
        if (r != w->rank)
            wait_one(w, r);
}

/* The word of a sender that is past the window: it does not know its rank any more, but the round
 * is the asker's. */
static uint32_t round_of(const struct rma_hdr *ask)
{
    return ask->src & ~comm_rank_mask();
}

/* Always answered: the request reserved room for it. */
static void answer(int src, uint32_t win, uint32_t name, int left)
{
    struct rma_hdr h = {.type = RMA_PKT_FREEING, .win = win, .src = name, .freeing = left != 0};
    struct iovec v = {&h, sizeof h};
    am_reply(src, AM_RMA + RMA_PKT_FREEING, &v, 1);
}

int rma_on_freeing_ask(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    struct rma_win *w = rma_packet_window(src, msg, len, &h);
    if (len < sizeof h)
        return 0;
    if (w)
        /* without memory for the entry, it is asked */
        (void)map_put(&w->free.asked, (uint64_t)h.src + 1, w);
    answer(src, h.win, w ? w->src : round_of(&h), !w || w->free.under_way || rma_self()->ending);
    return 0;
}

int rma_on_freeing_late(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    if (len != sizeof h)
        return 0;
    memcpy(&h, msg, sizeof h);
    answer(src, h.win, round_of(&h), 1);
    return 0;
}

int rma_on_freeing(int src, const void *msg, size_t len)
{
    struct rma_hdr h;
    if (len != sizeof h)
        return 0;
    memcpy(&h, msg, sizeof h);
    struct rma_win *w = rma_win_named(h.win, h.src); /* the rank in it may be unknown: by process */
    if (!w || !w->free.under_way || rma_world(w, w->free.peer) != src)
        return 0;
    w->free.answered = 1;
    w->free.peer_freeing = h.freeing != 0;
    progress_signal();
    return 0;
}
