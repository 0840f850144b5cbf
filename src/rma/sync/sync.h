/* sync.h - the contract of rma/sync/: the synchronization calls, the waits that they share, and
 * answers that come to the origin.
 *
 * rma.h declares the MPI calls that are defined here: fence, start, complete, post, wait, test,
 * lock, unlock, flush and their kin. Start with flush.c; each of the others is one pair of calls.
 *
 *   ownership  epochs own their target elements: the call that ends an epoch gives them back
 *   blocking   functions that wait are marked; they wait by progress_wait(), which releases
 *              proc->lock. Polls and handlers never wait
 *   lock       all under proc->lock
 *   errors     MPI error codes; errors of evicted elements and of failed processes gather in
 *              w->err, which the next synchronization returns
 *   upcalls    rma_near_unlock() polls the target's lock queue (RMA_POLL_LOCKQ) */
#ifndef RMA_SYNC_H
#define RMA_SYNC_H

#include "rma/engine/engine.h"

/* --- polls: events ---- */
int rma_fence_poll(struct rma_win *w);
int rma_start_poll(struct rma_win *w);

/* --- pools are exhausted (evict.c) ---- */
/* Waits; then the caller starts again from the top, as the state may have changed. MPI error
 * code. */
int rma_evict_target(struct rma_win *w);
int rma_evict_for_op(struct rma_win *w);
/* Waits until another thread's switch of the LOCK_ALL protocol is over. 1: there was one. */
int rma_switch_wait(struct rma_win *w);

/* --- a flush of one rank in two halves (flush.c); f stays where it is. The epoch admits it. Both
 * wait; end(): MPI error code ---- */
struct rma_flushing {
    struct rma_win *w;
    struct rma_target *t; /* NULL: the second half is all of it */
    struct rma_resp r;
    int rank;
    uint64_t mark;        /* operations up to this number */
};
void rma_flush_begin(struct rma_win *w, int rank, struct rma_flushing *f);
int rma_flush_end(struct rma_flushing *f);
/* The operations of the open epoch, of whatever kind, are done. Waits. MPI error code. */
int rma_flush_epoch(struct rma_win *w);
/* All posts of the open PSCW access epoch are seen. Waits. */
void rma_posts_wait(struct rma_win *w);

/* --- near locks of LOCK_ALL (lock_all.c): MPI error codes ---- */
/* Before the first access to n; to all near members. Both wait. */
int rma_lockall_touch(struct rma_win *w, struct rma_near *n);
int rma_lockall_near(struct rma_win *w);
/* MPI_Win_lock_all(MPI_MODE_NOCHECK) of a window without epochs: no lock of another one is waited
 * for, and nothing can fail. */
void rma_lockall_unchecked(struct rma_win *w);
/* A member failed (lock.c): its lock is an error from now on, also where it is free. */
void rma_near_close(struct rma_win *w, int rank);

/* --- duplicates (flush.c): complete the operations of one, of all of a window, whose epoch ends.
 * They wait. MPI error code ---- */
int rma_dup_end(struct rma_win *dup);
int rma_dups_end(struct rma_win *w);

/* --- a revoked window (revoked_epochs.c) ---- */
/* Nothing of this process waits for a fence, a post, or a lock that was not asked for. */
void rma_epochs_revoke(struct rma_win *w);
/* Ends all epochs of this process. Its operations that have left are complete then. Waits. */
void rma_revoked_end(struct rma_win *w);
/* Before the memory is another window's: what left in ended epochs has arrived. Waits. */
void rma_evicted_wait(struct rma_win *w);

/* --- the end of a window ---- */
void rma_barriers_wait(struct rma_win *w, unsigned left); /* waits */
/* After the last barrier: a member has failed, or may not have come to it. Then rma_free_sync()
 * waits for the others. */
int rma_free_unsure(const struct rma_win *w);
void rma_free_sync(struct rma_win *w);
void rma_pscw_free(struct rma_win *w);

/* The program may load and store near peers' memory from now on. Waits until the open access epoch
 * permits it, and until all near locks of a LOCK_ALL are held. MPI error code. */
int rma_loads_begin(struct rma_win *w);

/* --- PSCW: called by the target's handlers ---- */
void rma_on_complete(struct rma_win *w, int rank); /* a far starter has completed */
int rma_post_came(struct rma_win *w, int rank, uint32_t detached); /* 0, or < 0: no memory */

/* --- notifications (note_wait.c, note_request.c) ---- */
/* One more for counter i of this process, from rank src (-1: unknown): MPI error class, or 0. */
int rma_note_came(struct rma_win *w, unsigned i, int src);
void rma_notes_close(struct rma_win *w);
/* Of requests that wait for a counter: how many are open; those that the program has freed end. */
unsigned rma_note_requests(struct rma_win *w);
void rma_note_requests_end(struct rma_win *w); /* all, as cancelled */
void rma_note_requests_revoke(struct rma_win *w); /* all; REVOKED if the value is not there */
void rma_note_put_came(uint32_t note); /* by the network */
/* The info key mpix_notify_num, if it is there: MPI error code. */
int rma_notes_hint(struct rma_win *w);

/* --- handle_end.c: waits until the ranks that were told a key of g have left it ---- */
/* 0: one of them could not be told, so its memory must stay registered. */
int rma_handle_farewell(struct rma_win *w, struct rma_handle *g);

/* --- handlers ---- */
int rma_on_data(int src, const void *msg, size_t len);
int rma_on_ack(int src, const void *msg, size_t len);
int rma_on_granted(int src, const void *msg, size_t len);
int rma_on_refused(int src, const void *msg, size_t len);
int rma_on_answers(int src, const void *msg, size_t len);
int rma_on_freeing_ask(int src, const void *msg, size_t len);
int rma_on_freeing(int src, const void *msg, size_t len);
int rma_on_freeing_late(int src, const void *msg,
                        size_t len); /* FREEING_ASK after rma_finalize() */

#endif
