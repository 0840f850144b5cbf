/* sync_types.h - what the files of rma/sync/ share (private). */
#ifndef RMA_SYNC_TYPES_H
#define RMA_SYNC_TYPES_H

#include "rma/coherent/home.h"
#include "rma/sync/sync.h"

/* Releases in streams of this process take effect before an epoch ends. */
static inline void rma_settle(struct rma_win *w)
{
    if (__builtin_expect(w->coherent != NULL, 0))
        rma_coherent_settle(w);
}

/* --- flush.c ---- */
/* Send a packet of header only, waiting for room. MPI error code; the other one: -errno. */
int rma_plain_wait(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies);
int rma_plain_send(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies);
/* RMA_F_DONE or UNLOCK to a rank whose element was evicted, and wait for the answer. MPI error
 * code. */
int rma_request_alone(struct rma_win *w, int rank, unsigned flag);
/* Complete everything issued so far at target t, or at all (NULL): sends DONE where needed. */
int rma_complete_target(struct rma_win *w, struct rma_target *t, unsigned sync);
/* The same for an element that is to be evicted: it keeps its error, with what local flushes need
 * of it. */
int rma_complete_victim(struct rma_target *t);
int rma_complete_all(struct rma_win *w, unsigned sync);
/* Wait until all operations of t called so far have left and are answered. */
void rma_local_wait(struct rma_win *w, struct rma_target *t);
/* End of a near epoch that waited for nothing: now and then polls, since programs spin on such
 * epochs. */
void rma_look_around(struct rma_win *w);

/* --- access.c ---- */
/* START, with loads: the posts of near members. Waits */
void rma_near_posts_wait(struct rma_win *w);
/* The lists of an epoch go: of PSCW access, of exposure. */
void rma_access_over(struct rma_win *w);
void rma_exposure_over(struct rma_win *w);

/* --- lock.c, lock_all.c ---- */
int rma_called_grant(void);           /* decision 2: waits */
/* May this lock be: MPI error code where the window has the info key no_locks. */
int rma_no_locks(const struct rma_win *w, int assert);
int rma_lockall_switch(struct rma_win *w); /* waits */
/* 1: an open LOCK_ALL has not requested the lock of a living near member. */
int rma_lockall_lazy(const struct rma_win *w);
int rma_lock_near(struct rma_win *w, struct rma_near *n, enum shmlock_type type, uint64_t age);
/* Where a lock was released, a process waited; the clock there had this value (low bits). */
void rma_clock_advance(struct rma_win *w, uint32_t clock);
static inline void rma_clock_heard(struct rma_win *w, uint32_t clock)
{
    if (clock) /* 0: no process waited */
        rma_clock_advance(w, clock);
}
void rma_near_unlock(struct rma_win *w, struct rma_near *n);
void rma_near_unlock_all(struct rma_win *w); /* all that are held; none is lazy any more */
/* Send the lock of t if it has not left; wait until it is granted. */
int rma_grant_wait(struct rma_target *t);
/* Backoff of a refused lock request (ns), given the one before. */
uint64_t rma_retry_after(uint64_t before);
/* Replies to the switch's lock messages. 1: it was one. */
int rma_switch_granted(struct rma_win *w, int rank);
int rma_switch_refused(struct rma_win *w, int rank, uint64_t stamp);

/* As rma_awaits(), of the waits of access.c, lock.c, flush.c and exposure.c. */
struct rma_win *rma_start_awaits(int (*cond)(void *), void *arg);
struct rma_win *rma_lock_awaits(int (*cond)(void *), void *arg);
struct rma_win *rma_flush_awaits(int (*cond)(void *), void *arg);
struct rma_win *rma_exposure_awaits(int (*cond)(void *), void *arg);

/* --- note_wait.c ---- */
int64_t rma_note_value(const struct rma_win *w, unsigned i);
struct rma_win *rma_note_awaits(int (*cond)(void *), void *arg); /* as rma_awaits() */
/* MPI error code if i is no counter here, or value cannot be waited for. */
int rma_note_check(const struct rma_win *w, int i, MPI_Count value);

/* --- note_request.c ---- */
/* The counter that r waits for, and the id of its window; 0: r is no such request. */
uint64_t rma_note_requested(const struct request *r, unsigned *counter);

/* --- free_after_failure.c ---- */
/* it reported that it is in MPI_Win_free, after a failure */
int rma_is_freeing(const struct rma_win *w, int rank);

/* --- group.c: both halves of PSCW ---- */
/* Memory of a list. Most epochs have the group of the one before, so the list is kept. */
void *rma_scratch_take(struct rma_scratch *s, size_t bytes);
void rma_scratch_over(struct rma_scratch *s);
unsigned rma_group_size(const struct group *g);
/* Ranks in the window of the members of g, ascending. */
int rma_group_ranks(const struct rma_win *w, const struct group *g, int *ranks);
unsigned rma_near_index(const struct rma_win *w, const struct rma_near *n);
/* rank failed, or is in MPI_Win_free after a failure: what it has not sent will not come. Call this
 * before looking for what was sent. */
int rma_has_gone(const struct rma_win *w, int rank);
/* The same, or the window was revoked, so that it may have given up. */
static inline int rma_gives_up(const struct rma_win *w, int gone)
{
    return gone || rma_is_revoked(w);
}
void rma_gone_error(struct rma_win *w, int rank); /* into w->err, if that is free */
int rma_no_memory(unsigned n);
/* MPI_ERR_ASSERT that names the bits wrong, which the call or epoch where does not take. */
int rma_assert_error(int wrong, const char *where);

#endif
