/* progress.h - the progress engine: hooks, blocking waits, sleep.
 *
 *      progress_wait(cond)
 *        loop: cond true? -> return
 *              progress_poll(): every source and hook once
 *              idle for a while -> yield -> arm all, look again, sleep on all descriptors
 *
 * Every blocking wait of the library is progress_wait().  It gives proc->lock up while it yields or
 * sleeps, so that other threads can run.  One thread at a time polls descriptors; others sleep
 * until it, or any completion, signals.
 * Hooks run under proc->lock.  They may not block and may not call progress themselves.
 * Start at progress_wait() in engine.c. */
#ifndef PROGRESS_PROGRESS_H
#define PROGRESS_PROGRESS_H

#include <stdint.h>

#include "base/list.h"
#include "base/proc.h"

/* Work to be polled: fn returns the number of events handled (0: nothing).  The owner keeps the
 * struct. */
struct progress_hook {
    int (*fn)(void *arg);
    void *arg;
    int program; /* it may call functions of the program: only for threads that are in MPI */
    struct list link;
};

enum { PROGRESS_FDS = 8 };

/* Descriptors to sleep on (a transport's). fd(arg, 0): the descriptor or -1.
 * fd(arg, 1): 0 may sleep; > 0: events are waiting, poll again; < 0: nothing reports events (now),
 * look again soon.
 * fds: for a source with several, after fd(arg, 1) returned 0: writes all of them into fd,
 * PROGRESS_FDS at most; returns how many.  NULL: only that of fd(arg, 0). */
struct progress_source {
    int (*fd)(void *arg, int arm);
    int (*fds)(void *arg, int *fd);
    int network; /* a look costs system calls, and may do for a peer what no descriptor reports */
    void *arg;
    struct list link;
};

/* MPIR_CVAR_ASYNC_PROGRESS */
enum { PROGRESS_STANDIN = -1, PROGRESS_NO_THREAD, PROGRESS_ASYNC };

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
/* Is a pass under way? Under proc->lock: of this thread, which calls from inside a hook. */
int progress_is_polling(void);
/* How many passes there were.  Callers find out by it whether a call has looked around already, and
 * how long something waits.  A sleep counts as PROGRESS_SLEEP passes: what waits for so many passes
 * waits no longer than one sleep. */
enum { PROGRESS_SLEEP = 1 << 20 };
uint64_t progress_polls(void);

/* Let threads in that wait for the lock. The call that this thread noted stays noted: its name
 * decides what an error is to the program (api_returned()). */
void progress_let_in(void);
/* Let other threads and processes run; returns with the lock, and the call that was noted, as
 * before.  Returns ns without the core; the time in which it waits for the lock is not counted.
 * idle: the caller can do nothing until another thread moves. */
uint64_t progress_step_aside(int idle);

/* Wait until cond(arg) is true; cond runs under proc->lock and must be cheap.  It may act (send,
 * for example): it is called often while false, and never again once it returned nonzero.  SIGUSR1
 * and the simulator's traces show what/peer (world rank or -1). */
void progress_wait(int (*cond)(void *arg), void *arg, const char *what, int peer);
/* The same with a time limit: 0, or -ETIMEDOUT after timeout_ns. */
int progress_wait_for(int (*cond)(void *arg), void *arg, const char *what, int peer,
                      uint64_t timeout_ns);

/* For a wait that acts without proc->lock from time to time: a pause of ns between two such acts.
 * since: when the wait began (ns). So its pauses, however short, count as one wait that lasts. */
void progress_pause(const char *what, int peer, uint64_t ns, uint64_t since);

/* Why a wait waits, for watchers. */
enum progress_why {
    WHY_OTHER, WHY_LOCK, WHY_FENCE, WHY_POST, WHY_COMPLETE, WHY_FLUSH, WHY_POOL, WHY_WINDOW,
    WHY_COLLECTIVE, WHY_MESSAGE, WHY_FILE, WHY_NOTIFY, PROGRESS_WHYS
};
/* progress_wait() of a room that knows why; of: its window, or NULL. */
void progress_wait_why(int (*cond)(void *arg), void *arg, const char *what, int peer,
                       enum progress_why why, const void *of);

/* A wait whose condition did not hold at the first look, for watchers (watch_wait_over). */
struct progress_seen {
    enum progress_why why;
    const void *of;
    int (*cond)(void *arg); /* its room knows what it is for */
    void *arg;
    const char *what;
    int peer;
    uint64_t since, until; /* ns */
    uint64_t polls; /* progress_polls() at `since` */
    uint64_t site;  /* a watcher's, 0 at first */
};

/* Something completed: other threads that wait look again.  Cheap when no thread sleeps. */
void progress_signal_threads(void);
static inline void progress_signal(void)
{
    if (__builtin_expect(proc->threaded, 0))
        progress_signal_threads();
}

/* A wait as progress_wait() got it, for watchers (watch_wait_turns). The room whose condition it is
 * knows what it is for. */
struct progress_waiting {
    int (*cond)(void *arg); /* NULL: of MPI_Test, or with a time limit: it ends by itself */
    void *arg;
    int peer;
    uint64_t since; /* ns; no other wait of this process has the same */
    uint64_t now;   /* ns */
};

/* The wait of this process that has lasted a second cannot end, as a watcher has found. mpiexec
 * reads it. Under proc->lock. */
void progress_never_ends(void);

/* For MPI_Test and its kin: one poll.  After many fruitless ones in a row it yields the core, since
 * users write `while (!flag) MPI_Test()` with more processes than cores. */
void progress_test(void);

/* For calls that find their result at once: each 64th polls nevertheless.  Programs spin on such
 * calls until they see the effect of a peer that waits for this process.  MPI promises them
 * progress, as it does waits (MPI-3.1 3.7.4, 11.7.3). */
void progress_glance(void);

/* MPIR_CVAR_ASYNC_PROGRESS: a thread that serves peers while this process computes. proc->threaded
 * must be set before. 0 or -errno. progress_finalize() stops it at the latest. */
int progress_async_start(void);
void progress_async_stop(void);
/* A thread that serves peers only while no thread of the program looks, where some are of other
 * nodes and a network is open. As above; it costs the program nothing while that polls. */
int progress_standin_wanted(void);
int progress_standin_start(void);
void progress_standin_stop(void); /* before progress_finalize() */
/* One of these two threads is there. */
int progress_has_helper(void);
/* The caller is one of these two threads: functions of the program that it calls must be safe for
 * any thread. */
int progress_is_helper(void);

#endif
