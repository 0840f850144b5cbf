/* proc.h - the process: one opaque pointer per room, and the only global of the library.
 *
 * All mutable state of every room hangs on struct proc (CVAR values excepted: they are read-only
 * after MPI_Init).  In production there is one, and `proc` never changes; the simulator has one per
 * simulated rank and swaps `proc` at each fiber switch.  So:
 *
 *   - no room keeps a static or thread-local variable;
 *   - `proc` may be read again after any wait, never cached across processes.
 *
 * Locking: proc->lock is taken by every MPI call when MPI_THREAD_MULTIPLE was given, an
 * asynchronous progress thread runs, or one that stands in (proc->threaded); progress_wait() gives
 * it up while it yields or sleeps.  All rooms rely on it; only the near fast path of rma/ goes
 * without. */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include "base/lock.h"

struct proc {
    struct lock lock;          /* see above */
    int threaded;              /* lock must be taken */
    int helped;                /* ... but by one thread of the program at a time: another one of the
                                * library serves peers (progress/standin.c) */
    int thread_level;          /* MPI_THREAD_* given */
    atomic_int phase;          /* enum proc_phase */
    int sessions_used;         /* one was opened: the library ends with the process */
    /* call, wait_what, wait_peer: a struct where (base/where.h) that mpiexec reads */
    const char *volatile call; /* MPI function the process is in, NULL outside */
    const char *volatile wait_what; /* what it waits for, or NULL */
    volatile int wait_peer;    /* the process it waits for: world rank or -1 */
    /* one per room, allocated by <room>_init(), freed by <room>_finalize() */
    struct boot *boot;
    struct mem *mem;
    struct spaces *spaces; /* memory of devices; NULL: none was asked for */
    struct progress *progress;
    struct tp_room *tp;
    struct am *am;
    struct obj_room *obj;
    struct dt_room *dt;
    struct p2p *p2p;
    struct coll_room *coll;
    struct rma *rma;
    struct io_room *io;
    struct watch *watch; /* the watchers; NULL: there are none */
    unsigned watched;    /* enum watch_events: those that have a subscriber */
    struct place_room *place; /* NULL: nothing is kept of places in the program */
    struct check *check; /* NULL: collective calls are not compared */
    struct bounds *bounds; /* NULL: the memory of buffers is not looked at */
    struct leak *leak;   /* NULL: what the program leaves behind is not looked for */
    struct threads *threads; /* NULL: the level of threads is not looked at */
    struct signature *signature; /* NULL: types of messages are not compared */
    struct race *race;   /* NULL: one-sided operations are not watched */
    struct profile *profile; /* NULL: no report is asked for */
    struct api *api;
    struct var_room *var;
    struct tool *tool; /* MPI_T; may begin before MPI_Init and end after MPI_Finalize */
    void *sim; /* the simulator's own record of this rank; NULL in production */
};

/* PROC_CHECKED: MPI runs as in PROC_INIT.  Calls that a checker watches (watch/watch.h, WATCH_API)
 * leave the hot path at their first test, which is that of the phase. So do all while continuations
 * run or are to run; then the phase goes there and back (obj/continue.c). */
enum proc_phase { PROC_NEW, PROC_INIT, PROC_FINALIZED, PROC_CHECKED };

/* test/ranks: every rank is some threads of one process, so that ThreadSanitizer sees them all. */
#ifdef BASE_RANKS_AS_THREADS
extern _Thread_local struct proc *proc;
#else
/* reached without the table of shared objects */
extern struct proc *proc __attribute__((visibility("hidden")));
#endif

static inline int proc_runs(void)
{
    int phase = atomic_load_explicit(&proc->phase, memory_order_relaxed);
    return phase == PROC_INIT || phase == PROC_CHECKED;
}

#endif
