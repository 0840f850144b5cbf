/* rma_calls.h - what the files of rma/ ask of each other (private); included at the end of rma_types.h. */
#ifndef RMA_CALLS_H
#define RMA_CALLS_H

#include "rma/core/types.h"
#include "rma/core/state.h"

/* --- win.c ------------------------------------------------------------------------- */
struct rma_win *rma_win_find(uint32_t id);
void rma_win_drop(struct rma_win *w); /* free everything, with nobody asked */
/* Near record of a rank, NULL when it is far. */
struct rma_near *rma_near_search(const struct rma_win *w, int rank);
static inline struct rma_near *rma_near_of(const struct rma_win *w, int rank)
{
    unsigned i = (unsigned)rank - w->near.first;
    if (w->near.count)
        return i < w->near.count ? &w->near.near[i] : NULL;
    return rma_near_search(w, rank); /* the near ranks are not consecutive */
}
/* Does [off, off+len) lie in the memory this process exposes?  Its address, or NULL. (dynamic: off is an address) */
char *rma_win_local(struct rma_win *w, uint64_t off, uint64_t len);
const struct rma_attached *rma_win_region(const struct rma_win *w, uint64_t addr); /* dynamic: the one that holds addr; NULL: none */
/* Dynamic windows: the same for packed bytes [from, from + len) of count t at addr, block by block. */
int rma_win_holds(struct rma_win *w, uint64_t addr, const struct dt_type *t, size_t count, size_t from, size_t len);
/* Byte offset of (disp units + lo) .. hi in a target's window; 0, or -ERANGE. */
int rma_offset(uint64_t disp, uint64_t unit, int64_t lo, int64_t hi, uint64_t size, uint64_t *off);
const char *rma_call(void); /* name of the MPI call under way, for texts */
uint64_t rma_ops_total(const struct rma_win *w);

/* --- node.c: the node segment and the near table; all collective over the members on this node ------ */
int rma_node_find(struct rma_win *w);            /* who is near: w->nears, near[], all_near */
uint64_t rma_node_offer(struct rma_win *w); /* names a segment to be used again if all name the same */
/* Segment and words: a kept one, or a new one; MPI code, the same everywhere. */
int rma_node_open(struct rma_win *w, uint64_t most_bytes, uint64_t kept);
void rma_node_record(struct rma_win *w);         /* fill this process's record */
void rma_node_barrier(struct rma_win *w);
int rma_node_shared(struct rma_win *w, int noncontig); /* MPI_Win_allocate_shared: the one segment */
int rma_node_attach(struct rma_win *w, unsigned acc_hints, int err); /* reach everybody's memory; MPI code */
void rma_node_close(struct rma_win *w);
void rma_node_finalize(void);
struct rma_peer *rma_peer_of(const struct rma_win *w, unsigned i);

/* --- pool.c --------------------------------------------------------------------------- */
int rma_pools_init(struct rma *r);
void rma_pools_free(struct rma *r);
struct rma_op *rma_op_alloc(struct rma_win *w);         /* NULL: exhausted */
void rma_op_free(struct rma_win *w, struct rma_op *op);
struct rma_op *rma_op_by_id(uint32_t id);               /* NULL: stale or nonsense */
struct rma_target *rma_target_alloc(struct rma_win *w); /* NULL: exhausted */
void rma_target_free(struct rma_win *w, struct rma_target *t);

/* --- slot.c ---------------------------------------------------------------------------- */
int rma_slots_init(struct rma_win *w);
void rma_slots_free(struct rma_win *w);
struct rma_target *rma_target_find(const struct rma_win *w, int rank);
int rma_target_way(struct rma_target *t); /* connect to it after that failed: 0 or -errno */
struct rma_target *rma_target_add(struct rma_win *w, int rank); /* NULL: pools are exhausted */
void rma_target_del(struct rma_win *w, struct rma_target *t);   /* its list is empty */
/* All targets: next one after t (NULL: first); safe when the returned one is deleted after the following call only. */
struct rma_target *rma_target_next(const struct rma_win *w, const struct rma_target *t);
void rma_targets_drop(struct rma_win *w); /* end of epoch: delete all */
/* No thread, operation or answer is concerned with it. */
int rma_target_idle(const struct rma_target *t);
void rma_targets_drop_idle(struct rma_win *w); /* fence: other threads may be operating */

/* --- train.c ------------------------------------------------------------------------------- */
/* One more operation into the open train of its target: 1, and *bytes of data; 0: not possible, take the long way. */
int rma_train_append(struct rma_win *w, const struct rma_args *a, size_t *bytes);
/* op, just queued, becomes a train, if those that may follow gain by that. */
void rma_train_open(struct rma_target *t, struct rma_op *op);
/* It takes no more. */
static inline void rma_train_seal(const struct rma_op *op)
{
    if (op->t->train == op)
        op->t->train = NULL;
}
int rma_train_full(const struct rma_op *op);
/* There would be another one if some buffer were free: they all wait to leave. */
int rma_train_behind(const struct rma_target *t, const struct rma_args *a);
/* Wait for one, not for long. */
void rma_train_wait(struct rma_target *t);
void rma_train_free(struct rma_op *op);
void rma_trains_init(struct rma *r);
void rma_trains_finalize(struct rma *r);
/* Elements of a train lie in memory as they travel, without gaps. */
static inline int rma_train_type(const struct dt_type *t)
{
    return (t->flags & DT_CONTIG) && t->true_lb == 0 && t->basic == t && t->elem.bytes == t->elem.stride;
}

/* --- restore.c --------------------------------------------------------------------------- */
/* Waits; on return the caller starts again from the top (the state may have changed). MPI error code. */
int rma_restore_target(struct rma_win *w);
int rma_restore_op(struct rma_win *w);

/* --- gone.c: what is kept of the evicted elements of a passive epoch ------------------------ */
void rma_gone_init(struct rma_gone *g);
/* Of a rank without record.  cut 0: it is locked; -errno: it cannot be reached.  0, or -ENOMEM and nothing happened. */
int rma_gone_put(struct rma_gone *g, int rank, int cut);
int rma_gone_find(const struct rma_gone *g, int rank);
int rma_gone_why(const struct rma_gone *g, int rank);
void rma_gone_take(struct rma_gone *g, int rank);
void rma_gone_forget(struct rma_gone *g); /* and its memory */
/* Most epochs have none: one word is read. */
static inline int rma_gone(const struct rma_gone *g, int rank)
{
    return g->count && rma_gone_find(g, rank);
}
static inline void rma_gone_clear(struct rma_gone *g) /* every end of an epoch comes here */
{
    if (g->locked.slots || g->cut.slots)
        rma_gone_forget(g);
}
static inline int rma_gone_err(const struct rma_gone *g, int rank) /* -errno, or 0: it is not cut */
{
    return g->count ? rma_gone_why(g, rank) : 0;
}
static inline void rma_gone_del(struct rma_gone *g, int rank)
{
    if (g->count)
        rma_gone_take(g, rank);
}

/* --- epoch.c -------------------------------------------------------------------------------- */
void rma_win_goto(struct rma_win *w, enum win_state s);
/* The epoch is granted: what is queued leaves, then threads that do without the lock (near.h) may go on. */
void rma_win_granted(struct rma_win *w, enum win_state s);
void rma_target_goto(struct rma_target *t, enum target_state s);
void rma_target_born(struct rma_target *t, enum target_state s);
void rma_expo_goto(struct rma_win *w, enum expo_state s);
void rma_near_admit(struct rma_win *w); /* recompute what near.h compares, after a change of state or of ntargets */
void rma_acks_add(struct rma_win *w, int n); /* answers that the window as a whole waits for */
void rma_near_opened(struct rma_win *w, struct rma_near *n); /* recompute n->open */
/* UNSET to PER_TARGET by a near lock, and back when no other is open and no element left: the caller holds the lock, gives it up. */
void rma_lock_first(struct rma_win *w, struct rma_near *n, enum rma_near_lock held);
void rma_unlock_last(struct rma_win *w, struct rma_near *n);
int rma_fence_pending(const struct rma_win *w); /* for rma_ask() */
/* What a call may do now with operations on one target. */
enum verdict {
    ADMIT_NO,         /* no epoch admits it: MPI_ERR_RMA_SYNC                         */
    ADMIT_ISSUE,      /* may be sent (or done, when near) now                         */
    ADMIT_LOCK_FIRST, /* may be sent with the LOCK flag                               */
    ADMIT_QUEUE,      /* queue: a barrier, a post or a lock is still under way        */
    ADMIT_WAIT        /* another thread switches the protocol: wait, then ask again  */
};
/* t may be NULL (no element). */
enum verdict rma_admit(const struct rma_win *w, int rank, const struct rma_near *n, const struct rma_target *t);
/* May packets of t leave: ADMIT_ISSUE, ADMIT_LOCK_FIRST or ADMIT_QUEUE. */
enum verdict rma_may_issue(const struct rma_target *t);
const char *rma_state_name(const struct rma_win *w);
const char *rma_target_state_name(const struct rma_target *t);
void rma_check_invariants(const struct rma_win *w);

/* --- op.c ---------------------------------------------------------------------------------- */
/* Do an operation of so many bytes (rma_op.bytes) on a near target at once: MPI error code; -1: not possible, take the message path.
 * called: from the MPI call itself, which may look after others for a while. */
int rma_direct(struct rma_win *w, struct rma_near *n, const struct rma_args *a, size_t bytes, int called);
/* Is [addr, addr+len) inside a region that the peer of a dynamic window has published?  1, 0 no, -1: ask the peer itself. */
int rma_region_shown(const struct rma_peer *p, uint64_t addr, uint64_t len);
/* Complete: request, references, element. */
void rma_op_finish(struct rma_op *op);

/* --- one.c ------------------------------------------------------------------------------------- */
struct rma_question {
    const struct dt_type *elem;
    unsigned aop;     /* enum dt_op_index or RMA_SWAP */
    uint64_t disp;    /* in the target's units */
    uint64_t off;     /* the same in bytes, checked; dynamic windows: the address */
    const void *origin, *compare; /* NULL: none */
    void *result;     /* or NULL */
};
/* Where the owner says which of the asker's questions it found taken back last. */
static inline atomic_uint *rma_read_word(const struct rma_win *w, const struct rma_near *owner, const struct rma_near *asker)
{
    return &w->node.pairs[(size_t)(owner - w->near.near) * w->nears + (size_t)(asker - w->near.near)].read;
}
/* Ask the owner: 1 done; 0: not done, and it will not be. */
int rma_one(struct rma_win *w, struct rma_near *n, const struct rma_question *q);
/* One more accumulate that fetches nothing: does it follow many without a synchronization between? */
int rma_burst(const struct rma_win *w, struct rma_near *n);
/* There was one, which did not take the inline way of a flush; not in the count of that, whose end means more. */
static inline void rma_synced(struct rma_win *w)
{
    w->syncs++;
}

/* --- issue.c, cleanup.c, advance.c ------------------------------------------------------------ */
int rma_issue_target(struct rma_target *t); /* packets sent */
void rma_queue_shorter(struct rma_target *t);
int rma_issue_win(struct rma_win *w);
int rma_issue_global(void);
int rma_cleanup_target(struct rma_target *t); /* operations freed */
int rma_cleanup_win(struct rma_win *w);
int rma_cleanup_global(void);
void rma_advance_target(struct rma_target *t);
void rma_advance_win(struct rma_win *w);
int rma_advance_global(void *arg); /* the hook */
/* Something may be sent for t / the window has work: make the hook look. */
void rma_ready(struct rma_target *t);
void rma_win_active(struct rma_win *w);
void rma_win_kick(struct rma_win *w); /* the state changed: all targets look again */
void rma_hurry_all(struct rma_win *w); /* nothing is held back any more; to be issued by the caller */
/* Would anything of t be sent, given the state? */
int rma_target_due(const struct rma_target *t);
/* Ask that t's tail carries `sync` and the token (0: none). Nothing is sent yet. */
void rma_target_sync(struct rma_target *t, unsigned sync, uint32_t token);
/* The target layout as `count` elements of a predefined type, if it is that (of these op->bytes may be fewer); else NULL. */
struct dt_type *rma_simple_elem(const struct rma_op *op, size_t *count);
/* A LOCK by itself: 1 sent, 0 no room now. */
int rma_lock_send(struct rma_target *t);
/* A packet of header only to a rank, element or not: 0, AM_AGAIN, -errno. */
int rma_send_plain(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies);
/* The launcher says that some rank died: fail what waits for it. */
void rma_bury(void);
/* am_on_stall(): whose message is awaited, where am/ may not know. */
void rma_name_awaited(void (*ask)(int rank));
void rma_target_bury(struct rma_target *t);
/* What was for t could not leave (-errno): it is dead, or lives and there is no way to it, which is told instead. */
void rma_target_fail(struct rma_target *t, int err);

/* --- route.c, native.c ------------------------------------------------------------------------- */
enum rma_route { RMA_ROUTE_AM, RMA_ROUTE_NATIVE };
enum rma_route rma_route(const struct rma_target *t, const struct rma_op *op);
/* Is it known here that the target will do it?  (R11) */
int rma_route_certain(struct rma_target *t, const struct rma_op *op);
/* Would it pay to do op natively, were the key known?  min: bytes of one put or get. */
int rma_route_pays(const struct rma_op *op, size_t min);
/* Would it pay for this put or get of a target whose key record is there? */
int rma_route_moves(const struct rma_target *t, const struct rma_op *op);
/* The same of an accumulate: what the network's atomics can do. */
int rma_route_atomic(const struct rma_key *k, const struct rma_op *op);
void rma_native_open(struct rma_win *w, unsigned acc_hints);  /* register the window's memory */
void rma_native_close(struct rma_win *w); /* forget keys and memory */
void rma_native_free(struct rma *r);
void rma_native_want(struct rma_target *t, const struct rma_op *op); /* ask for the key if op could use it */
const struct rma_key *rma_native_known(struct rma_target *t); /* what is known of the window there; NULL: nothing */
/* The window there has so many bytes, in units of so many (0: it does not say).  An answer to COMPLETE tells it. */
void rma_native_told(struct rma_target *t, uint64_t bytes, uint64_t unit);
/* The same of a dynamic window, of the one region; true until its rank posts with another number of detached ones. */
void rma_native_told_region(struct rma_target *t, const struct rma_told *told);
/* rank has posted, and so many regions were detached there; RMA_POST_UNSEEN: it may have, nobody looks (NOCHECK). */
#define RMA_POST_UNSEEN UINT64_MAX
void rma_native_posted(struct rma_win *w, int rank, uint64_t detached);
void rma_native_leave(struct rma_target *t); /* the element goes */
/* A packet with data of op as its last piece, without a copy where that may be (R13): as am_request(). */
int rma_kept_request(struct rma_target *t, struct rma_op *op, int type, const struct iovec *iov, int n, unsigned replies);
int rma_native_send(struct rma_target *t, struct rma_op *op); /* one piece: 0, AM_AGAIN, -errno */
/* R14.  The bytes of a short put that has left by the network; 0: it goes as ever. */
size_t rma_native_soon(struct rma_target *t, const struct rma_args *a);
/* Has all that was done natively on t reached it?  1 yes, 0 not yet (a completion makes t ready), AM_AGAIN: ask again. */
int rma_native_settle(struct rma_target *t);
void rma_native_bury(struct rma_target *t);
int rma_on_key_ask(int src, const void *msg, size_t len);
/* --- fetch.c ----------------------------------------------------------------------------------- */
size_t rma_fetch_least(void);
/* The first operation of the queue, if it is one that t may fetch: 0, AM_AGAIN, -ENOTSUP: by message, -errno. */
int rma_fetch_send(struct rma_target *t, struct rma_op *op);
void rma_fetch_over(struct rma_target *t); /* the network is done with the operation's memory */
int rma_on_fetch(int src, const void *msg, size_t len);
int rma_on_fetched(int src, const void *msg, size_t len);
void rma_fetch_init(struct rma *r);
void rma_fetch_finalize(struct rma *r);
/* Bytes [from, from + len) of an operation on `count` elements at h->disp: an accumulate, or with h->aop 0 a put (result NULL) or a
 * get (on_target.c).  MPI error class or 0. */
int rma_part(struct rma_win *w, const struct rma_hdr *h, uint64_t count, size_t from, size_t len, const void *data, char *result);
/* The error that a reply tells, 0 if none; what: its payload (on_origin.c). */
int rma_far_error(const struct rma_hdr *h, const char *what);
/* The same, for op. */
int rma_op_refused(const struct rma_op *op, const struct rma_hdr *h, const char *what);

int rma_on_key(int src, const void *msg, size_t len);
/* May an operation of so many bytes be held back and share a packet?  Longer ones, too, where a second message costs more than to
 * copy them. */
static inline int rma_is_small(const struct rma_target *t, size_t bytes)
{
    return bytes <= (size_t)cvar.rma_small || bytes <= t->small;
}
/* Would an operation done directly pass others?  Memory that is not mapped is also reached by messages, some of which may be
 * under way from an element that was evicted. */
int rma_overtakes(const struct rma_win *w, const struct rma_near *n);
/* Has everything that went to t by message been done there? */
int rma_nothing_under_way(const struct rma_target *t);
/* All parts have left and all answers are there: OP_DONE. */
void rma_op_settle(struct rma_op *op);

/* --- sync helpers (flush.c) -------------------------------------------------------------------- */
uint32_t rma_token_next(const struct rma_win *w); /* the one that is given out next */
void rma_resp_open(struct rma_win *w, struct rma_resp *r, int rank);
void rma_resp_close(struct rma_win *w, struct rma_resp *r);
/* The answer to a token came from `rank` (cls: MPI error class or 0), or none is needed. */
void rma_token_done(struct rma_win *w, int rank, uint32_t token, int err);
/* Who waits for this answer of this rank: nobody, a thread, one that asked past any element? */
/* Of an element that was evicted something may be under way.  Answers are counted until a member dies (advance.c, mourn). */
static inline int rma_unsure(const struct rma_win *w)
{
    return w->acks || w->dead;
}

enum rma_asked { RMA_ASKED_NOBODY, RMA_ASKED, RMA_ASKED_ALONE };
enum rma_asked rma_token_asked(const struct rma_win *w, int rank, uint32_t token);
/* Send a packet of header only, waiting for room. MPI error code. */
int rma_plain_wait(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies);
/* RMA_F_DONE or UNLOCK to a rank whose element was evicted, and wait for the answer. MPI error code. */
int rma_ask_alone(struct rma_win *w, int rank, unsigned flag);
/* Complete everything issued so far on t (or all targets when NULL) at the target: DONE where needed. */
int rma_complete_target(struct rma_win *w, struct rma_target *t, unsigned sync);
int rma_complete_all(struct rma_win *w, unsigned sync);
/* Wait until all operations of t up to now have left and are answered. */
void rma_local_wait(struct rma_win *w, struct rma_target *t);
int rma_take_err(int *slot);
/* End of a near epoch, which needed nobody: now and then let others in, since programs spin on such epochs. */
void rma_look_around(struct rma_win *w);
int rma_dead_error(struct rma_win *w, int rank);
/* rank cannot be reached: cut, -errno, says why. */
int rma_cut_error(const struct rma_win *w, int rank, int cut);

/* --- fence.c, pscw.c, lock.c, lockall.c ---------------------------------------------------------- */
int rma_fence_poll(struct rma_win *w); /* events */
void rma_barriers_wait(struct rma_win *w, unsigned left);
int rma_start_poll(struct rma_win *w);
void rma_pscw_free(struct rma_win *w);
void rma_on_complete(struct rma_win *w, int rank); /* a far starter has completed */
int rma_post_came(struct rma_win *w, int rank, uint32_t detached); /* 0, or < 0: no memory */
int rma_in_start(const struct rma_win *w, int rank);
int rma_called_grant(void);           /* decision 2: waits */
int rma_no_locks(const struct rma_win *w); /* the window has that info key: MPI error code */
void rma_lock_left(struct rma_target *t); /* its LOCK packet has left */
int rma_lockall_switch(struct rma_win *w); /* waits */
int rma_switch_wait(struct rma_win *w);    /* until another thread's switch is over; 1: there was one */
int rma_near_lock(struct rma_win *w, struct rma_near *n, enum shmlock_type type);
void rma_near_unlock(struct rma_win *w, struct rma_near *n);
/* Send the lock of t if it has not left, wait until it is granted. */
int rma_grant_wait(struct rma_target *t);
/* How long a refused lock request stays away (ns), given how long it did before. */
uint64_t rma_retry_after(uint64_t before);
/* Replies to the switch's lock messages; 1: it was one. */
int rma_switch_granted(struct rma_win *w, int rank);
int rma_switch_refused(struct rma_win *w, int rank, uint64_t stamp);

/* --- leave.c ---------------------------------------------------------------------------------------- */
int rma_has_left(const struct rma_win *w, int rank); /* it said that it is in MPI_Win_free, after a death */
void rma_leave(struct rma_win *w); /* after the last barrier: waits for the living, if somebody is dead */
int rma_on_left_ask(int src, const void *msg, size_t len);
int rma_on_left(int src, const void *msg, size_t len);
int rma_on_left_late(int src, const void *msg, size_t len); /* LEFT_ASK after rma_finalize() */

/* --- target side ----------------------------------------------------------------------------------- */
int rma_on_op(int src, const void *msg, size_t len);
int rma_on_post(int src, const void *msg, size_t len);
int rma_on_one(int src, const void *msg, size_t len);
int rma_on_data(int src, const void *msg, size_t len);
int rma_on_ack(int src, const void *msg, size_t len);
int rma_on_granted(int src, const void *msg, size_t len);
int rma_on_refused(int src, const void *msg, size_t len);
int rma_on_answers(int src, const void *msg, size_t len);
/* Run a packet whose lock (if any) is held. `granted`: tell so with the first reply. */
void rma_errors_free(struct rma_win *w);
void rma_run_packet(struct rma_win *w, int src, const struct rma_hdr *h, const char *payload, int granted);
/* Header with win and src filled in, and data. */
void rma_reply(struct rma_win *w, int src, struct rma_hdr *h, const void *data, size_t len);
void rma_lockq_init(struct rma_lockq *q);
void rma_lockq_free(struct rma_lockq *q);
/* The window a packet names, if it is well formed and may come from src; NULL. */
struct rma_win *rma_packet_window(int src, const void *msg, size_t len, struct rma_hdr *h);
/* Decode a derived type and keep it for the next packets; NULL: nonsense. */
struct dt_type *rma_type_learn(struct rma *r, const void *flat, size_t len);
/* A request with the LOCK flag came in. */
void rma_lockq_ask(struct rma_win *w, int src, const struct rma_hdr *h, const char *payload);
int rma_lockq_release(struct rma_win *w, int src); /* UNLOCK: MPI class of an error, or 0 */
int rma_lockq_poll(struct rma_win *w);             /* grants; events */
void rma_lockq_bury(struct rma_win *w, int src);

extern const char *const rma_packet_name[RMA_PKTS];

#endif
