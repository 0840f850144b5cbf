/* watch.h - the one seam between what the library does and those that watch it
 * (doc/design/watch.md).
 *
 *   progress/, rma/, api/ --- an event ---> each watcher that has a function for it
 *
 * A room that watches fills in a struct watcher and subscribes with watch_add(). It is called under
 * proc->lock, in the thread that does what the event is about. proc->watched has a bit for each
 * kind of event that has a subscriber: without one, an event costs the test of that word. What
 * begins is told in the order of subscription, what ends in the reverse order. */
#ifndef WATCH_WATCH_H
#define WATCH_WATCH_H

#include "base/proc.h"

struct progress_seen;
struct progress_waiting;
struct rma_win;
struct where_wait;

/* Bits of proc->watched. */
enum watch_events {
    WATCH_WAITS = 1,    /* wait_lasts, wait_over */
    WATCH_TURNS = 2,    /* wait_turns */
    WATCH_LASTING = 4,  /* wait_second */
    WATCH_STALLS = 8,   /* wait_stalls */
    WATCH_WINDOWS = 16, /* win_closes */
    WATCH_STATES = 32   /* target_state */
};

/* What a watcher takes; NULL: not that. The functions may send, and may not wait, unless their
 * comment permits it. */
struct watcher {
    /* --- waits: a wait whose condition did not hold at the first look (progress/progress.h) --- */
    /* When it has made many turns, or is about to give the core away; often. */
    void (*wait_lasts)(struct progress_seen *s);
    /* Its condition holds. Without a watcher that has this, a wait reads no clock. */
    void (*wait_over)(const struct progress_seen *s);
    /* At each look at the clock: after a sleep, or after some hundred turns; in fruitless
     * MPI_Tests, too. */
    void (*wait_turns)(const struct progress_waiting *w);
    /* It has lasted a second: fill in site and about, which mpiexec reads. Once, and again where
     * the record was that of another wait meanwhile; then site is there. of: the window of the
     * wait, or NULL. */
    void (*wait_second)(struct where_wait *w, const void *of);
    /* At most after each sleep or some hundred turns. lasts is 1 in waits that have lasted a second
     * and in MPI_Tests that have been fruitless for so long. It is 0 in others, once a second,
     * however short they are: what comes may be from other processes than the awaited one. peer is
     * that of progress_wait(). It may ask the launcher, and may not wait for peers. */
    void (*wait_stalls)(int peer, int lasts);

    /* --- windows --- */
    /* It goes, and can still be asked. */
    void (*win_closes)(struct rma_win *w);
    /* The element of a target, a rank of the world, has another state, with that name; NULL: the
     * element goes. */
    void (*target_state)(struct rma_win *w, int world, const char *state);
};

enum { WATCHERS = 8 };
struct watch {
    int n;
    const struct watcher *of[WATCHERS]; /* in the order of subscription */
};

/* 0 or -ENOMEM; adding twice is harmless. w stays as it is until watch_drop(). */
int watch_add(const struct watcher *w);
void watch_drop(const struct watcher *w);

static inline int watch_wants(unsigned events)
{
    return __builtin_expect((proc->watched & events) != 0, 0);
}

/* The events. Each may be told without a look at watch_wants(). */
void watch_wait_lasts(struct progress_seen *s);
void watch_wait_over(const struct progress_seen *s);
void watch_wait_turns(const struct progress_waiting *w);
void watch_wait_second(struct where_wait *w, const void *of);
void watch_wait_stalls(int peer, int lasts);
void watch_win_closes(struct rma_win *w);
void watch_target_state(struct rma_win *w, int world, const char *state);

#endif
