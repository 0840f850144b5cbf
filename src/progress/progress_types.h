/* progress_types.h - private record of the progress engine. proc->lock protects it. */
#ifndef PROGRESS_TYPES_H
#define PROGRESS_TYPES_H

#include <pthread.h>
#include <stdint.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/where.h"
#include "progress/progress.h"

struct pollfd;
struct standin;

struct progress {
    struct where_wait wait; /* first: mpiexec reads it */
    const void *lasting;    /* the wait that it is of (struct wait_loop), or NULL */
    struct list hooks, sources;
    struct list *cursor;   /* next hook of the pass under way */
    int nsources, networks;
    int polling;           /* a pass is under way */
    _Atomic uint64_t polls; /* passes so far, and PROGRESS_SLEEP for each sleep; under proc->lock,
                             * but read by standin.c without it */
    /* more processes on this host than cores, their progress threads included */
    int crowded;
    int64_t spin, spin_max; /* idle polls before yielding: now, at most */
    uint64_t slice; /* progress_slice(), of this host */
    /* waits that sleep without a yield: log2 of the last number; how many are left */
    int skip, skips_left;
    /* apart.c: yields in a row in which others ran for a short time; looks that left the move to
     * another process; moves so far */
    int shared;
    unsigned left, moves;
    /* when it may look again, the pause after a move, when it was moved (ns) */
    uint64_t next_spread, spread_gap, moved;
    int test_idle;         /* fruitless progress_test() calls in a row */
    unsigned glances;      /* progress_glance() */
    int poller;            /* a thread polls the descriptors, or is about to */
    int asleep;            /* ... and has released the lock, and has not been woken yet */
    int blind;             /* ... and dozes: a source has no descriptor */
    int followers;         /* threads asleep on cond */
    struct lock_cond cond;
    unsigned turns;        /* turns of all waits and tests: every so many look at the clock */
    uint64_t looked;       /* when a stall was last told, or the first look (ns); 0: never */
    /* since when MPI_Test has been fruitless, as far as known (ns); 0: not known */
    uint64_t test_since;
    struct pollfd *fds;    /* only the poller uses these */
    int fds_room;
    pthread_t async;       /* the asynchronous progress thread, while async_on */
    int async_on, async_stop;
    /* thread_self() of that thread, and of the stand-in during its pass; else NULL. By the holder
     * of proc->lock; progress_is_helper() reads without it: a thread finds its own writes. */
    _Atomic(void *) server, stand_in;
    struct standin *standin; /* standin.c; NULL: there is none */
};

/* By the holder of proc->lock: no atomic addition is needed. */
static inline void progress_polled(struct progress *p, uint64_t n)
{
    n += atomic_load_explicit(&p->polls, memory_order_relaxed);
    atomic_store_explicit(&p->polls, n, memory_order_relaxed);
}

/* engine.c: a yield that takes longer (ns) met a process that computes, where so many processes
 * share the cores. */
uint64_t progress_slice(int64_t processes, int64_t cores);

/* engine.c: a pass by another thread than the program's: without the hooks that may call functions
 * of the program. */
int progress_poll_for_others(struct progress *p);

/* A yield shorter than this (ns) found no other process on the core. */
enum { PROGRESS_YIELD_EMPTY = 1500 };
/* apart.c: after a yield of ns, outside of a pass. */
void progress_yielded(struct progress *p, uint64_t ns);
/* Publish on which core this thread runs (mem_core_set), unless it is the progress thread. */
void progress_is_here(void);

/* doze.c */
/* What arming the descriptors has shown.  BLIND: a source that must be polled has no descriptor, or
 * none now. */
enum progress_armed { PROGRESS_NEWS, PROGRESS_MAY_SLEEP, PROGRESS_BLIND };
/* Arm all sources (networks: only those) and put their descriptors behind (*fds)[0], which stays
 * the caller's.  *nfds: how many there are then. */
enum progress_armed progress_arm(struct progress *p, struct pollfd **fds, int *fds_room,
                                 int networks, int *nfds);
/* Sleep until a descriptor wakes us, at most max_ms.  One thread polls; the others wait for the
 * condition variable.  If a source has no descriptor, a thread that dozes looks again after
 * backoff_ms.  Otherwise (0) a turn is an ordinary one, and no thread follows one that dozes. 1:
 * the condition was seen to hold. *slept: ns until a descriptor woke us; 0: none did. */
__attribute__((cold)) int progress_doze(struct progress *p, int (*cond)(void *), void *arg,
                                        int max_ms, int backoff_ms, uint64_t *slept);

#endif
