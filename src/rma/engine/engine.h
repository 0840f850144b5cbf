/* engine.h - the contract of rma/engine/: queues of operations and the packets that leave from
 * them.
 *
 * An operation enters the queue of its target (rma_op_enqueue). It becomes due (rma_queue_kick,
 * rma_target_sync) and leaves in packets or by the network itself (rma_issue_*). It is answered,
 * and its element is freed (rma_cleanup_*). Start with queue.c, due.c, then issue.c.
 *
 *   ownership  a queued operation belongs to its target until rma_op_finish(); a struct rma_resp
 *              lives on the stack of the waiting thread
 *   blocking   nothing here waits but rma_coalesce_wait(); what finds no room stays where it is,
 *              and the target stays ready (R4)
 *   lock       all under proc->lock; handlers and the hook call it too
 *   errors     of an operation: in its request, or t->err, which the next synchronization returns;
 *              of a packet: the target fails
 *   upcalls    rma_poll_win() polls the target's lock queue, fences and starts (rma->polls) */
#ifndef RMA_ENGINE_H
#define RMA_ENGINE_H

#include "rma/engine/due.h"

/* --- due.c ------------------------------------------------------------------------------------ */
/* Is everything that went to t by message complete there? */
int rma_nothing_under_way(const struct rma_target *t);
/* Something has left the queue. */
void rma_queue_shorter(struct rma_target *t);
/* Operations of this rank have ended without success, as it has failed. Each call that waits for
 * them returns that: the error that they leave at the element is for the first of these only. */
void rma_tell_all(const struct rma_win *w, int rank, int err);
/* Complete: request, references, element. */
void rma_op_finish(struct rma_op *op);
int rma_cleanup_target(struct rma_target *t); /* operations freed */
int rma_cleanup_win(struct rma_win *w);

/* --- queue.c ---------------------------------------------------------------------------------- */
/* Makes op of `a`, which moves `bytes` bytes, and appends it to t's queue. */
void rma_op_enqueue(struct rma_win *w, struct rma_target *t, struct rma_op *op,
                    const struct rma_args *a, size_t bytes);
enum { BEHIND = 1024, MANY = 64 }; /* operations that wait for one target (count) */
/* Determine what of t is due after one more operation, then send it. direct: it is near. */
void rma_queue_kick(struct rma_win *w, struct rma_target *t, size_t bytes, int direct);
/* A pass of the progress engine: what w has held back for cvar.rma_age of them is due. */
void rma_queue_age(struct rma_win *w);

/* --- coalesce.c ------------------------------------------------------------------------------- */
void rma_coalesce_init(struct rma *r);
void rma_coalesce_finalize(struct rma *r);
/* Append an operation to the open coalesced packet of its target, t. 1: done, *bytes of data; 0:
 * not possible, take the slow path. */
int rma_coalesce_add(struct rma_target *t, const struct rma_args *a, size_t *bytes);
static inline int rma_coalesce_append(struct rma_target *t, const struct rma_args *a, size_t *bytes)
{
    return (t->coalesced || t->lone >= RMA_LONE_SOON) && rma_coalesce_add(t, a, bytes);
}
/* Makes op, just queued, a coalesced packet, if operations that may follow gain by it. */
void rma_coalesce_make(struct rma_target *t, struct rma_op *op);
static inline void rma_coalesce_open(struct rma_target *t, struct rma_op *op)
{
    if (t->queued >= 2 && t->gather && t->ordered)
        rma_coalesce_make(t, op);
}
/* All buffers are in use, and some of t's wait to leave. */
static inline int rma_coalesce_dry(const struct rma_target *t)
{
    const struct rma *r = rma_self();
    return r->coalesce_buffers >= r->coalesce_buffers_max && !r->coalesce_idle && t->queued &&
           !list_empty(&t->ready);
}
/* t is dry, and the operation would open a coalesced packet. */
int rma_coalesce_behind(const struct rma_target *t, const struct rma_args *a);
/* Wait for a buffer, with a timeout. */
void rma_coalesce_wait(struct rma_target *t);
/* Elements of this type lie in memory as in a coalesced packet, without gaps. */
static inline int rma_coalesce_type(const struct dt_type *t)
{
    return (t->flags & DT_CONTIG) && t->true_lb == 0 && t->basic == t &&
           t->elem.bytes == t->elem.stride;
}

/* --- issue.c, sync_flags.c -------------------------------------------------------------------- */
int rma_issue_target(struct rma_target *t); /* number of packets sent */
int rma_issue_win(struct rma_win *w);
/* Let t's tail carry `sync` and the token (0: none). Nothing is sent yet. */
void rma_target_sync(struct rma_target *t, unsigned sync, uint32_t token);
/* Send a LOCK alone: 1 sent, 0 no room now. */
int rma_lock_send(struct rma_target *t);

/* --- advance.c -------------------------------------------------------------------------------- */
void rma_win_kick(struct rma_win *w);  /* the state changed: all targets may be due */
void rma_drain_all(struct rma_win *w); /* hold nothing back any more; the caller issues */
/* The epoch is granted: first queued operations leave, then threads without the lock (near.h) may
 * operate. */
void rma_win_granted(struct rma_win *w, enum win_state s);
void rma_advance_target(struct rma_target *t);
/* Its lock was granted: free what is done, send what is due. */
void rma_target_moved(struct rma_target *t);
void rma_advance_win(struct rma_win *w);
int rma_poll_win(struct rma_win *w); /* polls, then sends what is due: events */

/* --- token.c: answers to DONE and UNLOCK ------------------------------------------------------ */
void rma_resp_open(struct rma_win *w, struct rma_resp *r, int rank);
void rma_resp_close(struct rma_resp *r);
/* The answer to a token came from `rank` (cls: MPI error class or 0), or none is needed. */
void rma_token_done(struct rma_win *w, int rank, uint32_t token, int err);
/* What waits for this answer of this rank: nothing, a thread, or a request without element? */
enum rma_asked { RMA_ASKED_NONE, RMA_ASKED, RMA_ASKED_ALONE };
enum rma_asked rma_token_asked(const struct rma_win *w, int rank, uint32_t token);

/* --- failure.c -------------------------------------------------------------------------------- */
void rma_target_peer_failed(struct rma_target *t);
/* A packet for t could not leave (-errno). Either t is dead, or it lives and there is no way to it;
 * the error is chosen accordingly. */
void rma_target_fail(struct rma_target *t, int err);
void rma_resps_fail(struct rma_win *w, int rank, int owes, int may, int err);
void rma_stop_counting(struct rma_win *w, int err);

/* --- native.c, pull_origin.c ------------------------------------------------------------------ */
void rma_native_open(struct rma_win *w, unsigned acc_hints); /* register the window's memory */
void rma_native_free(struct rma *r);
/* Has everything done natively on t reached it? 1: yes, 0: not yet (a completion makes t ready),
 * AM_AGAIN: try again. */
int rma_native_settle(struct rma_target *t);
void rma_native_fail(struct rma_target *t);
/* The transport by which that process would pull `bytes` bytes of data, and put results. NULL:
 * none, or it is not faster. */
struct tp *rma_pull_network(int world, int data, int results, size_t bytes,
                            const struct tp_ops **ops, struct tp_caps *caps);

/* --- handlers --------------------------------------------------------------------------------- */
int rma_on_key_ask(int src, const void *msg, size_t len);
int rma_on_key(int src, const void *msg, size_t len);
int rma_on_handle_ends(int src, const void *msg, size_t len);
int rma_on_handle_left(int src, const void *msg, size_t len);
int rma_on_pulled(int src, const void *msg, size_t len);

/* Send a LOCK alone to a rank without element: 0, AM_AGAIN, -errno. h: flags and stamp. */
int rma_lock_plain(struct rma_win *w, int rank, struct rma_hdr *h);

#endif
