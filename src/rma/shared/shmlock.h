/* shmlock.h - a contract of rma/shared/: synchronization words of a window in the node segment
 * (private to rma/).
 *
 *   ownership  the words lie in the node segment, which window/ makes
 *   blocking   none but the internal guard, a few instructions long
 *   lock       none: the words are changed by the processor's atomics
 *   errors     -EOWNERDEAD: the holder, or the process that is expected, failed
 *
 *   struct shmlock   one per near target: the window lock of MPI_Win_lock, reader-writer, FIFO
 *   struct shmpair   one per (poster, starter) of the node: posts and completes; delegate.c has a
 *                    word in it
 *   struct shmbar    one per window and node: the fence among node peers
 *
 * Processes are "peers" 0..n-1: the members of the window on this node, in order of their rank in
 * the window. Words are changed by CPU atomics only; no call needs the help of the target.
 *
 * Every function returns at once (shmlock_enter: soon). The caller waits by progress_wait() on a
 * condition built from the *_poll functions. The process that makes such a condition true calls
 * mem_wake(host index of the waiter), so that sleeping waiters look again.
 *
 * Failures. Words record their owners by peer. If the word is held by (or expected from) a process
 * that boot_failed() reports, a poll function returns -EOWNERDEAD; it looks only when
 * boot_failed_count() != 0. A lock is taken from a holder that failed. All waiters of that time,
 * near and far, get the error once; the next to ask gets the lock. If the target itself failed, no
 * process gets a lock that it would have to wait for. Readers beyond the bound of the target's list
 * are counted, not named. If one of these may have failed (doubt), each writer gets the error until
 * the count is 0 again.
 *
 * The internal guard of a lock (a few instructions long) records its holder too. If that holder
 * failed, the next process takes the guard over and repairs the lock (shmlock_repair.c). A waiter
 * for the guard spins, then calls thread_pause(). The guard is never held across a wait of any
 * kind, so handlers may take it.
 *
 * One process asks for a given lock at most once at a time (MPI forbids a second lock of one
 * target). So a queue of n places never overflows, and "peer" names the request. */
#ifndef RMA_SHMLOCK_H
#define RMA_SHMLOCK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sched.h"

/* How this process sees its node in one window; private memory, filled by window/. */
struct shmnode {
    unsigned peers, me;        /* n, and this process's index */
    const int32_t *host_index; /* [peers], in shared memory: for mem_wake and boot_host_rank */
};

/* --- window lock ----------------------------------------------------------------
 * word   W writer | count of readers, near and far together | Q near peers are queued | F far
 *        requests wait
 *
 *   near  shmlock_enter --1--> held           (one compare-and-swap if it is free and none waits)
 *              \----------0--> queued, FIFO --(shmlock_poll == 1)--> held --shmlock_leave--> free,
 *                              next in order granted
 *   far   the target's handler: shmlock_far_try --1--> held --shmlock_far_leave-->
 *              \----------0--> the request waits in the target's lockq; F stays set while it is not
 *                              empty
 *
 * Order. Waiting requests have keys, near and far ones together; the least is served first (rma.md
 * 5.3). A writer draws its key from a clock when it is queued. A reader's key is its age, or the
 * clock when it is queued. So it passes the writers that are younger, and stays behind the others.
 * Readers next to each other in the queue enter together.
 *
 * While F is set, newcomers queue instead of entering. If a far request is the first of all, the
 * lock is left reserved for it and the TARGET is woken; its hook calls shmlock_far_try. While no
 * far process holds or waits, a target that computes delays no other process. A far try never
 * takes a place in the near queue and never spins for the lock. */
enum shmlock_type { SHMLOCK_SHARED = 1, SHMLOCK_EXCLUSIVE = 2 };

/* Turns of a wait for a word that its holder keeps for a few instructions; after these,
 * mem_holder_died() is called. */
#ifndef SHM_FAILED_LOOK /* test/litmus/guard has another value */
#define SHM_FAILED_LOOK 4096
#endif
/* In the simulator a turn is a switch to another fiber. */
static inline int shm_failed_look(unsigned turn)
{
    unsigned every = sched ? 4 : SHM_FAILED_LOOK;
    return turn % every == every - 1;
}

struct shmlock; /* layout: shmlock.c; 64-byte aligned */

size_t shmlock_bytes(unsigned peers); /* a multiple of 64 */
/* In zeroed memory, by its owner (peer `owner` = the target), before any peer looks. */
void shmlock_init(struct shmlock *l, unsigned peers, unsigned owner);

/* Ask for the lock.  1: held, at once or within some microseconds.  0: queued, poll. */
int shmlock_enter(struct shmlock *l, const struct shmnode *n, enum shmlock_type type);
/* The same for a reader of that age. */
#define SHMLOCK_NOW UINT64_MAX
int shmlock_enter_aged(struct shmlock *l, const struct shmnode *n, enum shmlock_type type,
                       uint64_t age);
/* Ask without queueing: 1 held, 0 not. Not while this process is queued. */
int shmlock_try(struct shmlock *l, const struct shmnode *n, enum shmlock_type type);
/* 1: granted since.  0: still queued.  -EOWNERDEAD, once: a holder or the target died; the request
 * is withdrawn. */
int shmlock_poll(struct shmlock *l, const struct shmnode *n);
/* The peer (a holder) that the caller waits for, or -1. For traces. */
int shmlock_holder(const struct shmlock *l, const struct shmnode *n);
/* Stop waiting. 1: it was granted before that. */
int shmlock_give_up(struct shmlock *l, const struct shmnode *n);
/* Release the lock; wakes the next in order. 1: one waited, and the clock has counted it. */
int shmlock_leave(struct shmlock *l, const struct shmnode *n, enum shmlock_type type);
/* What this process holds: 0, SHMLOCK_SHARED or SHMLOCK_EXCLUSIVE. */
int shmlock_held(const struct shmlock *l, const struct shmnode *n);

/* Far side; called by the target only (handlers and hook), under its proc->lock.
 * `first`: no far request that waits stands before this one.  `join`: 0, or the age of a reader
 * that is not queued, plus 1. 1: held. 0: not; nothing remembered. */
int shmlock_far_try(struct shmlock *l, const struct shmnode *n, enum shmlock_type type, int first,
                    uint64_t join);
/* as shmlock_leave() */
int shmlock_far_leave(struct shmlock *l, const struct shmnode *n, enum shmlock_type type);
/* Key of a far request that is about to be queued. Then near newcomers learn which far request
 * is the first (type 0: none waits). */
uint32_t shmlock_far_key(struct shmlock *l, const struct shmnode *n, enum shmlock_type type,
                         uint64_t age);
void shmlock_far_waiting(struct shmlock *l, const struct shmnode *n, int type, uint32_t key);

/* The clock of the window on this node counts writers that had to queue. The locks of a window
 * lie one behind the other by owner, and share one clock. No process of the node has an age
 * above it: an age from another node raises it first. */
uint64_t shmlock_clock(const struct shmlock *l);
void shmlock_clock_raise(struct shmlock *l, uint64_t age);
/* Key of a reader of that age. SHMLOCK_NOW: of one that comes now. */
uint32_t shmlock_reader_key(struct shmlock *l, uint64_t age);
enum { SHMLOCK_OLDEST = 1 << 28 }; /* largest difference of ages */
static inline int shmlock_before(uint32_t key, uint32_t other)
{
    return (int32_t)(key - other) < 0;
}
/* Requests granted while another waited, modulo 2^32. */
uint32_t shmlock_grants(const struct shmlock *l);

/* Repair what failed near processes left. */
void shmlock_fail(struct shmlock *l, const struct shmnode *n);
/* Its owner failed: from now on no process gets it. Those that ask wait until they learn of the
 * failure, too: shmlock_poll(). */
void shmlock_close(struct shmlock *l, const struct shmnode *n);
/* The target: a far holder failed and is about to be removed. Near waiters get the error. */
void shmlock_break(struct shmlock *l, const struct shmnode *n);
/* The target: a reader that cannot be named may have failed, or (0) no such reader is left.
 * Wakes near waiters. */
void shmlock_doubt(struct shmlock *l, const struct shmnode *n, int on);
/* 1: readers hold it, and shmlock_doubt() is on. */
int shmlock_doubtful(const struct shmlock *l);
/* How often a holder failed, so that the target can report it to the far waiters of that time. */
unsigned shmlock_broken(const struct shmlock *l);

/* --- post / start / complete / wait ------------------------------------------------
 * pair[poster * peers + starter]: four counters and a word. Each is written by one process only,
 * so that a post meant for a later start never satisfies an earlier one. The counters wrap
 * around; only differences count. */
#ifndef SHMPAIR_ALIGN /* bytes; by test/perf/layouts, as above */
#define SHMPAIR_ALIGN 4
#endif
#ifndef SHMPAIR_SPLIT
#define SHMPAIR_SPLIT 4
#endif
struct shmpair {
    /* by the poster: MPI_Win_post calls naming this starter */
    _Alignas(SHMPAIR_ALIGN) atomic_uint posts;
    /* by the poster: completes used up                       */
    atomic_uint waits;
    /* by the poster: the starter's delegated request that it last found taken back (delegate.c) */
    atomic_uint read;
    /* by the starter: posts used up                          */
    _Alignas(SHMPAIR_SPLIT) atomic_uint starts;
    /* by the starter: MPI_Win_complete calls                 */
    atomic_uint completes;
};

/* Poster (this process is `n->me`): expose to `starter`.  Full fence before the store (MEM_SYNC of
 * MPI_Win_post); wakes it. */
void shmpair_post(struct shmpair *pairs, const struct shmnode *n, unsigned starter);
/* Starter: use up one post of `poster`.  1 done, 0 none there yet, -EOWNERDEAD.  Acquire. */
int shmpair_start(struct shmpair *pairs, const struct shmnode *n, unsigned poster);
/* Starter: the epoch with `poster` is over. Full fence before the store; wakes it. */
void shmpair_complete(struct shmpair *pairs, const struct shmnode *n, unsigned poster);
/* Poster: use up one complete of `starter`.  1, 0 or -EOWNERDEAD.  Acquire. */
int shmpair_wait(struct shmpair *pairs, const struct shmnode *n, unsigned starter);

/* --- fence ------------------------------------------------------------------------
 * Arrivals are numbered 1, 2, 3...; a process arrives for number k only after it saw k-2 done, so
 * at most two are outstanding and four counters suffice.  The last to arrive publishes `done` and
 * wakes the sleepers. */
struct shmbar {
    _Alignas(64) atomic_uint count[4];
    _Alignas(64) atomic_uint done; /* number of the last barrier that all have reached */
    _Alignas(64) atomic_uint arrived_dummy; /* keeps `done` alone on its cache line */
};

/* Arrive for barrier `number` (nonblocking).  Full fence first (MEM_SYNC).  */
void shmbar_arrive(struct shmbar *b, const struct shmnode *n, unsigned number);
/* 1: all have arrived for it (acquire; the caller adds its full fence).  0: not yet.
 * -EOWNERDEAD. */
int shmbar_poll(struct shmbar *b, const struct shmnode *n, unsigned number);

#endif
