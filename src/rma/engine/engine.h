/* engine.h - the contract of rma/engine/: queues of operations and the packets that leave from them.
 *
 * An operation enters the queue of its target (rma_op_enqueue), becomes due (rma_queue_nudge, rma_target_sync), leaves in packets or by
 * the network itself (rma_issue_*), is answered, and its element is given back (rma_cleanup_*).
 *
 *   ownership  a queued operation belongs to its target until rma_op_finish(); a struct rma_resp lives on the stack of who waits
 *   blocking   nothing here waits but rma_train_wait(); what finds no room stays where it is, and the target stays ready (R4)
 *   lock       all under proc->lock; handlers and the hook call it too
 *   errors     of an operation: in its request, or t->err, which the next synchronization returns; of a packet: the target fails
 *   upcalls    rma_poll_win() asks the target's lock queue, fences and starts (rma->polls) */
#ifndef RMA_ENGINE_H
#define RMA_ENGINE_H

#include "rma/near/direct.h"

/* --- queue.c ------------------------------------------------------------------------------------------ */
/* a, which has so many bytes, becomes op and the last of t's queue. */
void rma_op_enqueue(struct rma_win *w, struct rma_target *t, struct rma_op *op, const struct rma_args *a, size_t bytes);
/* What is due of t after one more operation; then send it.  direct: it is near. */
enum { BEHIND = 1024, MANY = 64 }; /* operations that wait for one target (count) */
void rma_queue_nudge(struct rma_win *w, struct rma_target *t, size_t bytes, int direct);
/* Something has left the queue. */
void rma_queue_shorter(struct rma_target *t);
/* A pass of the progress engine: what w has held back for cvar.rma_age of them is due. */
void rma_queue_age(struct rma_win *w);
/* All parts have left and all answers are there: OP_DONE. */
void rma_op_settle(struct rma_op *op);
/* Complete: request, references, element. */
void rma_op_finish(struct rma_op *op);
/* Would an operation done directly pass others?  Memory that is not mapped is also reached by messages, some of which may be
 * under way from an element that was evicted. */
int rma_overtakes(const struct rma_win *w, const struct rma_near *n);

/* --- coalesce.c ----------------------------------------------------------------------------------------- */
void rma_trains_init(struct rma *r);
void rma_trains_finalize(struct rma *r);
/* One more operation into the open train of its target: 1, and *bytes of data; 0: not possible, take the long way. */
int rma_train_append(struct rma_win *w, const struct rma_args *a, size_t *bytes);
/* op, just queued, becomes a train, if those that may follow gain by that. */
void rma_train_open(struct rma_target *t, struct rma_op *op);
/* There would be another one if some buffer were free: they all wait to leave. */
int rma_train_behind(const struct rma_target *t, const struct rma_args *a);
/* Wait for one, not for long. */
void rma_train_wait(struct rma_target *t);
/* Elements of a train lie in memory as they travel, without gaps. */
static inline int rma_train_type(const struct dt_type *t)
{
    return (t->flags & DT_CONTIG) && t->true_lb == 0 && t->basic == t && t->elem.bytes == t->elem.stride;
}

/* --- issue.c, sync_flags.c -------------------------------------------------------------------------------- */
int rma_issue_target(struct rma_target *t); /* packets sent */
int rma_issue_win(struct rma_win *w);
/* Would anything of t be sent, given the state? */
int rma_target_due(const struct rma_target *t);
/* Ask that t's tail carries `sync` and the token (0: none). Nothing is sent yet. */
void rma_target_sync(struct rma_target *t, unsigned sync, uint32_t token);
/* A LOCK by itself: 1 sent, 0 no room now. */
int rma_lock_send(struct rma_target *t);

/* --- advance.c ---------------------------------------------------------------------------------------------- */
/* Something may be sent for t / the window has work: make the hook look. */
void rma_ready(struct rma_target *t);
void rma_win_active(struct rma_win *w);
void rma_win_kick(struct rma_win *w); /* the state changed: all targets look again */
void rma_hurry_all(struct rma_win *w); /* nothing is held back any more; to be issued by the caller */
/* The epoch is granted: what is queued leaves, then threads that do without the lock (near.h) may go on. */
void rma_win_granted(struct rma_win *w, enum win_state s);
void rma_advance_target(struct rma_target *t);
void rma_advance_win(struct rma_win *w);
int rma_poll_win(struct rma_win *w); /* polls, then what may leave does: events */
int rma_cleanup_target(struct rma_target *t); /* operations freed */
int rma_cleanup_win(struct rma_win *w);

/* --- token.c: answers to DONE and UNLOCK ---------------------------------------------------------------------- */
void rma_resp_open(struct rma_win *w, struct rma_resp *r, int rank);
void rma_resp_close(struct rma_resp *r);
/* The answer to a token came from `rank` (cls: MPI error class or 0), or none is needed. */
void rma_token_done(struct rma_win *w, int rank, uint32_t token, int err);
/* Who waits for this answer of this rank: nobody, a thread, one that asked past any element? */
enum rma_asked { RMA_ASKED_NOBODY, RMA_ASKED, RMA_ASKED_ALONE };
enum rma_asked rma_token_asked(const struct rma_win *w, int rank, uint32_t token);

/* --- failure.c ---------------------------------------------------------------------------------------------------- */
void rma_target_bury(struct rma_target *t);
/* What was for t could not leave (-errno): it is dead, or lives and there is no way to it, which is told instead. */
void rma_target_fail(struct rma_target *t, int err);
void rma_resps_bury(struct rma_win *w, int rank, int owes, int may, int err);
void rma_mourn(struct rma_win *w, int err);

/* --- native.c, fetch_origin.c ----------------------------------------------------------------------------------------- */
void rma_native_open(struct rma_win *w, unsigned acc_hints);  /* register the window's memory */
void rma_native_free(struct rma *r);
/* Has all that was done natively on t reached it?  1 yes, 0 not yet (a completion makes t ready), AM_AGAIN: ask again. */
int rma_native_settle(struct rma_target *t);
void rma_native_bury(struct rma_target *t);
/* The transport by which `bytes` bytes would be fetched from, and results put to, that process; NULL: none, or it does not pay. */
struct tp *rma_fetch_network(int world, int data, int results, size_t bytes, const struct tp_ops **ops, struct tp_caps *caps);

/* --- handlers ------------------------------------------------------------------------------------------------------------ */
int rma_on_key_ask(int src, const void *msg, size_t len);
int rma_on_key(int src, const void *msg, size_t len);
int rma_on_fetched(int src, const void *msg, size_t len);

/* A LOCK by itself for a rank without element: 0, AM_AGAIN, -errno.  h: flags and stamp. */
int rma_lock_plain(struct rma_win *w, int rank, struct rma_hdr *h);

#endif
