/* progress.h - the progress engine: hooks, blocking waits, sleep.
 *
 *      progress_wait(cond)
 *        loop: cond true? -> return
 *              progress_poll(): every source and hook once
 *              idle for a while -> yield -> arm all, look again, sleep on all descriptors
 *
 * Every blocking wait of the library is progress_wait().  It gives proc->lock up while it
 * yields or sleeps, so other threads get in; one thread at a time polls descriptors, others
 * sleep until it, or any completion, signals.
 * Hooks run under proc->lock.  They may not block and may not call progress themselves. */
#ifndef PROGRESS_PROGRESS_H
#define PROGRESS_PROGRESS_H

#include <stdint.h>

#include "base/list.h"
#include "base/proc.h"

/* Work to be polled: fn returns the number of events handled (0: nothing).  Owner keeps the
 * struct. */
struct progress_hook {
    int (*fn)(void *arg);
    void *arg;
    struct list link;
};

enum { PROGRESS_FDS = 8 };

/* Descriptors to sleep on (a transport's).  fd(arg, 0): the descriptor or -1;
 * fd(arg, 1): 0 may sleep; > 0: events are waiting, poll again; < 0: nothing tells of events (now),
 * look again soon. fds: of one that has several, after that 0: all of them, PROGRESS_FDS at most,
 * into fd; how many.
 *  NULL: the one of fd(arg, 0). */
struct progress_source {
    int (*fd)(void *arg, int arm);
    int (*fds)(void *arg, int *fd);
    int network; /* a look costs system calls, and may do for a peer what nothing tells of */
    void *arg;
    struct list link;
};

int progress_init(void);
void progress_finalize(void);

/* A hook is active from add to del; adding twice is harmless.  A hook may del itself while it
 * runs. */
void progress_hook_add(struct progress_hook *h);
void progress_hook_del(struct progress_hook *h);
void progress_source_add(struct progress_source *s);
void progress_source_del(struct progress_source *s);

/* One pass over all hooks; events handled.  A call from inside a hook does nothing and returns
 * 0. */
int progress_poll(void);
/* How many there were, to tell whether a call has looked around already, and how long something
 * waits.  A sleep counts for PROGRESS_SLEEP of them: nothing that waits for so many passes lasts
 * longer than one sleep. */
enum { PROGRESS_SLEEP = 1 << 20 };
uint64_t progress_polls(void);

/* Wait until cond(arg) is true; cond runs under proc->lock and must be cheap.
 * It may act (send, say): it is called often while false, and never again once it returned nonzero.
 * what/peer (world rank or -1) are shown by SIGUSR1 and in the simulator's traces. */
void progress_wait(int (*cond)(void *arg), void *arg, const char *what, int peer);
/* The same with an end: 0, or -ETIMEDOUT after timeout_ns. */
int progress_wait_for(int (*cond)(void *arg), void *arg, const char *what, int peer,
                      uint64_t timeout_ns);

/* Something completed: other threads that wait look again.  Cheap when nobody sleeps. */
void progress_signal_threads(void);
static inline void progress_signal(void)
{
    if (__builtin_expect(proc->threaded, 0))
        progress_signal_threads();
}

/* Call fn(peer, lasts) under proc->lock, at most after each sleep or some hundred turns: from waits
 * that have lasted a second, and from MPI_Test's that have been fruitless for so long (lasts: 1);
 * once a second from others (0), however soon they end: what comes may be from others than the one
 * that is missed.  peer as given to progress_wait().  It may ask the launcher, and may not wait for
 * peers. NULL: nobody. */
void progress_on_stall(void (*fn)(int peer, int lasts));

/* Call fn() under proc->lock in waits that have lasted ns, and in MPI_Tests that have been
 * fruitless for so long: at most once in ns / 4, and not before the next sleep or some hundred
 * turns.  It may send, and may not wait. NULL: nobody.  One place. */
void progress_on_long_wait(void (*fn)(void), uint64_t ns);

/* For MPI_Test and its kin: one poll, and, after many fruitless ones in a row, a yield of the core,
 * since users write `while (!flag) MPI_Test()` with more processes than cores. */
void progress_test(void);

/* For calls that find at once what they want: each 64th looks all the same.  Programs spin on such
 * calls, until they see what a peer does that waits for this process; progress is promised to them
 * as to those who wait (MPI-3.1 3.7.4, 11.7.3). */
void progress_glance(void);

/* MPIR_CVAR_ASYNC_PROGRESS: a thread that serves peers while this process computes.  proc->threaded
 * must be set before.  0 or -errno.  Stopped by progress_finalize() at the latest. */
int progress_async_start(void);
void progress_async_stop(void);

#endif
