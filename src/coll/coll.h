/* coll.h - collective operations and the agreement on context ids.
 *
 *   struct coll_args --- coll_run     blocking: shared memory of the node, or schedule and wait;
 *                    |             nothing if no bytes move
 *                    \-- coll_begin   nonblocking: schedule, driven from progress; a request
 *                     \- coll_prepare persistent: a request to be started any number of times
 *
 * Every algorithm is written once, as a schedule (schedule.h). Blocking, nonblocking and persistent
 * forms use it, also in place and on intercommunicators. Reductions keep rank order for operations
 * that do not commute. Memory of O(P) lives only while an operation runs. Start with build.c, then
 * one family (bcast.c).
 *
 * A process without memory for data takes part without it (schedule.h). One that cannot take part
 * ends the job: the others would wait for it for ever.
 *
 * All functions return MPI error codes. The caller (api/) has checked the arguments and resolved
 * handles. Buffers and count arrays must live until completion; types and ops are referenced. */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include <mpi.h>
#include <stdint.h>

#include "obj/comm.h"
#include "obj/request.h"

struct dt_type;
struct dt_op;

int coll_init(void);
void coll_finalize(void);

enum coll_call {
    COLL_BARRIER, COLL_BCAST, COLL_REDUCE, COLL_ALLREDUCE, COLL_GATHER, COLL_GATHERV,
    COLL_ALLGATHER, COLL_ALLGATHERV, COLL_SCATTER, COLL_SCATTERV, COLL_ALLTOALL, COLL_ALLTOALLV,
    COLL_ALLTOALLW, COLL_REDUCE_SCATTER, COLL_REDUCE_SCATTER_BLOCK, COLL_SCAN, COLL_EXSCAN,
    COLL_NEIGHBOR_ALLGATHER, COLL_NEIGHBOR_ALLGATHERV, COLL_NEIGHBOR_ALLTOALL,
    COLL_NEIGHBOR_ALLTOALLV, COLL_NEIGHBOR_ALLTOALLW, COLL_CALLS
};

/* An array of counts or displacements as the user gave it: ints, or 64-bit (the _c forms,
 * MPI_Aint); NULL: all 0. */
struct coll_vec {
    const void *v;
    int wide;
};
static inline MPI_Aint coll_at(struct coll_vec a, int i)
{
    if (!a.v)
        return 0;
    return a.wide ? (MPI_Aint)((const int64_t *)a.v)[i] : (MPI_Aint)((const int *)a.v)[i];
}
static inline struct coll_vec coll_ints(const int *v)
{
    return (struct coll_vec){v, 0};
}
static inline struct coll_vec coll_wide(const void *v)
{
    return (struct coll_vec){v, 1};
}

/* One collective call.  sbuf may be MPI_IN_PLACE where MPI allows it.  Bcast uses rbuf, rcount,
 * rtype; reductions use sbuf, rbuf, rcount, rtype (reduce_scatter: rcounts). */
struct coll_args {
    enum coll_call call;
    int poor; /* coll_allgather_bytes(): no memory for rbuf; it takes part, all get an error */
    struct comm *comm;
    const void *sbuf;
    void *rbuf;
    MPI_Aint scount, rcount;
    struct dt_type *stype, *rtype;
    struct coll_vec scounts, sdispls, rcounts, rdispls; /* v and w forms */
    const MPI_Datatype *stypes, *rtypes;                /* w forms */
    struct dt_op *op;
    int root;
    uint32_t number; /* align/: which call on the communicator it is, from 1 on; 0: not known */
};

int coll_run(const struct coll_args *a);
/* What coll_run() does for an operation on one group that moves no bytes. 0: nothing was done,
 * since coll_run() counts the operation on c for something else, too. */
int coll_nothing(struct comm *c);
/* The same of gatherv and scatterv, where this process alone may move none. */
int coll_nothing_here(struct comm *c);
/* The same. `aside` is work of the caller that no other process needs. It is done once: while this
 * process waits for the others, or when the call is over. */
int coll_run_aside(const struct coll_args *a, void (*aside)(void *arg), void *arg);
/* *out is an internal request (handle 0): request_publish() it, or request_wait() +
 * request_finish(). */
int coll_begin(const struct coll_args *a, struct request **out);
/* Inactive; out->ops->start begins it. */
int coll_prepare(const struct coll_args *a, struct request **out);

/* The next collectives on c, and what they do inside, match only those of members that have given
 * the same note, the same for the same sequence of calls. The others have not come yet. */
void coll_note(struct comm *c, uint32_t note);
/* memory (of malloc) is freed with r, a request of coll_begin() or coll_prepare(); at most two. */
void coll_request_own(struct request *r, void *memory);
/* What a wait (progress_waiting) of coll/ is for: calls each() with each process whose message or
 * arrival it needs now. 0: none of coll/'s. */
int coll_awaits(int (*cond)(void *), void *arg, void (*each)(int world, void *to), void *to);
/* The same of a request that coll_begin() or coll_prepare() made: its coll_args.number. each may be
 * NULL. */
uint32_t coll_request_awaits(const struct request *r, void (*each)(int world, void *to), void *to);

/* Job rank of a failed member of c (of either group, or of a related one); -1: none. */
int coll_failed_member(struct comm *c);
/* The same of one that has died, though what it had sent may not have been handled here yet. */
int coll_dead_member(const struct comm *c);

/* --- the same by name, for rooms that call collectives ------------------------- */
int coll_barrier(struct comm *c);
/* The barrier of MPI_Finalize. Its messages match no other collective's, because a process with an
 * error may come while others are still in one. It returns an error as soon as any process of the
 * job has failed: else one member gives up for the failed process, and others wait for that member
 * for ever. */
int coll_barrier_living(struct comm *c);
int coll_bcast(void *buf, MPI_Aint count, struct dt_type *t, int root, struct comm *c);
int coll_reduce(const void *sbuf, void *rbuf, MPI_Aint count, struct dt_type *t, struct dt_op *op,
                int root, struct comm *c);
int coll_allreduce(const void *sbuf, void *rbuf, MPI_Aint count, struct dt_type *t,
                   struct dt_op *op, struct comm *c);
int coll_gather(const void *sbuf, MPI_Aint scount, struct dt_type *st, void *rbuf, MPI_Aint rcount,
                struct dt_type *rt, int root, struct comm *c);
int coll_allgather(const void *sbuf, MPI_Aint scount, struct dt_type *st, void *rbuf,
                   MPI_Aint rcount, struct dt_type *rt, struct comm *c);
int coll_allgatherv(const void *sbuf, MPI_Aint scount, struct dt_type *st, void *rbuf,
                    const int *rcounts, const int *displs, struct dt_type *rt, struct comm *c);
int coll_scatter(const void *sbuf, MPI_Aint scount, struct dt_type *st, void *rbuf, MPI_Aint rcount,
                 struct dt_type *rt, int root, struct comm *c);
int coll_alltoall(const void *sbuf, MPI_Aint scount, struct dt_type *st, void *rbuf,
                  MPI_Aint rcount, struct dt_type *rt, struct comm *c);
int coll_ibarrier(struct comm *c, struct request **out);
/* Ends with MPIX_ERR_PROC_FAILED at every member when a member has failed, even if only living ones
 * are waited for: those may have given up. */
int coll_ibarrier_members(struct comm *c, struct request **out);
int coll_ibcast(void *buf, MPI_Aint count, struct dt_type *t, int root, struct comm *c,
                struct request **out);
int coll_iallreduce(const void *sbuf, void *rbuf, MPI_Aint count, struct dt_type *t,
                    struct dt_op *op, struct comm *c, struct request **out);

/* Messages between members of an intracommunicator, in the order of the list for each pair. All
 * members call it, also those with no message. A message that is not of the length that is
 * expected is an error at its receiver. Memory stays until *req is done. */
struct coll_piece {
    int rank;
    void *buf;
    size_t bytes;
};
int coll_iexchange(struct comm *c, const struct coll_piece *in, int nin,
                   const struct coll_piece *out, int nout, struct request **req);

/* --- plain bytes, no datatypes (set-up of communicators and windows; intracommunicators) --- */
int coll_bcast_bytes(void *buf, size_t len, int root, struct comm *c);
/* len bytes of each member, in rank order; out: c->size * len bytes; in may lie at its place in
 * out. out NULL: this process has no memory for them, so all get an error. */
int coll_allgather_bytes(const void *in, void *out, size_t len, struct comm *c);
/* Over an intercommunicator: n bytes of rank 0 of each group (`mine`, significant there) go to all
 * members of the other. A process that has seen the failure of a member returns that error before
 * it sends. */
int coll_swap_bytes(const void *mine, size_t n, void *theirs, size_t m, struct comm *c);
/* Element-wise over n numbers, in place.  BAND/BOR act on bits. */
enum coll_num { COLL_SUM, COLL_MAX, COLL_MIN, COLL_BAND, COLL_BOR };
int coll_allreduce_i64(int64_t *v, int n, enum coll_num op, struct comm *c);
/* Worst error class of all members (0 if all pass 0): for collective creation calls that may fail
 * on some. */
int coll_agree_error(int err, struct comm *c);

/* --- context ids --------------------------------------------------------------
 * An id is (round, world rank of the leader of the new group, that process's own counter): see
 * obj/comm.h.  Ids differ everywhere by construction, so agreement is one broadcast from the
 * leader, thread-safe without any lock or order between communicators.  Numbers are multiples of
 * CTX_STEP. */

/* New id for a communicator with the members of c (dup, first step of split ...). If c is an
 * intercommunicator, each group gets its own receiving id, and *send is the other group's; else
 * both are equal. Collective over c. For subsets (create, split), use coll_ctx_agree_map. */
int coll_ctx_agree(struct comm *c, uint64_t *recv, uint64_t *send);
/* The same, nonblocking: n, which must stay, gets them when *out completes (MPI_Comm_idup). */
int coll_ctx_iagree(struct comm *c, struct comm *n, struct request **out);
/* New id for the members of `map` (world ranks; this process is `rank` in it). All are members of
 * c, and only they take part. `tag` separates simultaneous calls of several threads: that of
 * MPI_Comm_create_group, or one of these. In split and create, each subset calls it with its own
 * map.
 * COLL_CREATE: MPI_Comm_create and its like, one at a time on c.
 * COLL_WITHIN: a step of a call of all members of c. In its earlier steps, some may have given up
 * because of a failure. A process that waits for them then ends by that failure, of any member of
 * c. With other tags only members of the map count. */
enum { COLL_WITHIN = -1, COLL_CREATE = -2 };
int coll_ctx_agree_map(struct comm *c, struct rankmap *map, int rank, int tag, uint64_t *ctx);
/* The same where a text, of at most COLL_TEXT_MAX characters, separates the calls: the members are
 * of this job, and need not share a communicator. is_local: a step of
 * MPI_Intercomm_create_from_groups. */
enum { COLL_TEXT_MAX = 1024 };
int coll_ctx_agree_text(struct rankmap *map, int rank, const char *text, int is_local,
                        uint64_t *ctx);
/* For MPI_Intercomm_merge: one id for both groups of intercommunicator c. */
int coll_ctx_merge(struct comm *c, uint64_t *ctx);
/* How a leader reaches the other one. tag COLL_WITHIN: a step of a call of all members of `peer`,
 * as above. */
struct coll_leaders {
    struct comm *peer;
    int rank; /* of the other leader in peer */
    int tag;
    const char *text; /* not NULL: it separates the calls, not the tag; peer is MPI_COMM_WORLD */
};
/* For MPI_Intercomm_create: leaders swap ids and world ranks (`to` is significant at the leader
 * only), and send them to all members of `local`. *remote: a new map of the other group, in its
 * rank order (drop it). `send_extra`/`recv_extra`: one more number of each leader (or 0/NULL). */
int coll_intercomm_exchange(struct comm *local, int local_leader, const struct coll_leaders *to,
                            uint64_t *recv, uint64_t *send, struct rankmap **remote,
                            int64_t send_extra, int64_t *recv_extra);
/* Called instead by a leader that cannot go on: the other leader, which waits for it, gets the
 * class of err. */
void coll_intercomm_refuse(const struct coll_leaders *to, int err);

/* Duplicate of an intracommunicator for internal use: same map, new id, no attributes, no name. The
 * caller sets maker to NULL when what it is for has been made. */
int coll_comm_dup(struct comm *c, struct comm **out);

#endif
