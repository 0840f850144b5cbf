/* onesided.h - what the one-sided calls share: the near path, sides and their checks.
 *
 * MPI_Put, MPI_Get and the accumulates on mapped targets are done inline, without lock or call
 * (rma/near/near.h). What the inline path does not take starts again from the top, in a slow
 * function. Start with fast_place(). */
#ifndef API_RMA_ONESIDED_H
#define API_RMA_ONESIDED_H

#include "api/api.h"
#include "dt/dt.h"
#include "dt/make.h"
#include "rma/near/near.h"
#include "rma/rma.h"

/* --- fast ------------------------------------------------------------------------------------ */

/* A fast function either does everything and returns MPI_SUCCESS, or changes nothing and jumps to
 * its slow function. The argument registers stay intact, so that the jump is a tail call: saving
 * one costs more than the store itself. The ..._same slow functions serve equal counts and types.
 * They take one of each, and by address what the caller left on the stack. */
#define SLOW __attribute__((noinline, cold))
/* Its parameters are not optimized away. Not cold: far puts that are coalesced, puts by a memory
 * handle, and near puts to a window with copies go through it. */
#if defined __has_attribute && __has_attribute(noipa)
#define SAME __attribute__((noipa))
#else
#define SAME __attribute__((noinline))
#endif
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Compiled to a branch of its own: never merged with the next condition. */
#define SPLIT(x) __builtin_expect_with_probability(!!(x), 0, 0.999999)

/* 1: *at is the memory of (rank, disp) for n elements of type t in window `win`, *bytes their size.
 * 0: take the slow path. A count that is negative as an int makes more bytes than any window
 * has. */
static inline __attribute__((always_inline)) int fast_place(MPI_Win win, int rank, MPI_Aint disp,
                                                            int n, MPI_Datatype t,
                                                            struct rma_near **to, char **at,
                                                            uint64_t *bytes)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *w;
    uint64_t off;
    if (UNLIKELY(!room) || UNLIKELY(!rma_near_plain(room, t)) ||
        UNLIKELY(!(w = rma_near_win(room, win))) || UNLIKELY(!rma_near_target(w, rank, to)))
        return 0;
    *bytes = (uint64_t)(int64_t)n * rma_near_bytes(t);
    if (UNLIKELY(!rma_near_at(*to, disp, *bytes, &off)))
        return rma_recent_at(RMA_NEAR_WORD(&(*to)->recent), disp, *bytes, at);
    *at = (*to)->base + off;
    return 1;
}

static inline int can_compare(const struct dt_type *t)
{
    switch (t->elem.kind) {
    case DT_SIGNED: case DT_UNSIGNED: case DT_LOGICAL: case DT_BYTE: case DT_CHAR: return 1;
    default: return 0;
    }
}

/* 1: place and type of one element. 0: take the slow path. */
static inline int fast_place_one(MPI_Win win, int rank, MPI_Aint disp, MPI_Datatype type,
                                 struct rma_near **n, const struct dt_type **t, uint64_t *off)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *w;
    if (UNLIKELY(!room) || UNLIKELY(!rma_near_plain(room, type)) ||
        UNLIKELY(!(w = rma_near_win(room, win))) || UNLIKELY(!rma_near_target(w, rank, n)) ||
        UNLIKELY(!rma_near_at(*n, disp, rma_near_bytes(type), off)))
        return 0;
    *t = proc->obj->table[OBJ_TYPE].builtin[type & 0xff];
    return 1;
}

/* For an operation with a request. 1: the place of `bytes` bytes, in a passive epoch, where it is
 * done at once. 0: take the slow path. */
static inline int fast_place_passive(MPI_Win win, int rank, MPI_Aint disp, uint64_t bytes,
                                     MPI_Datatype type, struct rma_near **n, uint64_t *off)
{
    struct rma_near_table *room = rma_near_self();
    struct rma_win_near *w;
    return room && rma_near_plain(room, type) && (w = rma_near_win(room, win)) != NULL &&
           atomic_load_explicit(&w->passive, memory_order_acquire) && /* near.h (b) */
           rma_near_target(w, rank, n) && rma_near_at(*n, disp, bytes, off);
}

/* Is operation number o predefined (below `end`) and legal for t? */
static inline int fast_op(unsigned o, unsigned end, const struct dt_type *t)
{
    return o < end && (t->ops >> o & 1);
}

/* --- less fast ---------------------------------------------------------------------------------
 *
 * The slow functions begin with these. 1: done and counted; 0: nothing was done. */

/* One element of near memory that the inline path does not reach: it is not mapped, or near ranks
 * are not consecutive. op: an index below `end`, or RMA_SWAP. */
int onesided_private(MPI_Win win, int rank, MPI_Aint disp, MPI_Datatype type, unsigned op,
                     unsigned end, const void *origin, const void *compare, void *result,
                     enum pvar_id counter);

/* The window, if it and the type are known to the near path; else NULL. */
static inline struct rma_win_near *onesided_known_win(MPI_Win win, MPI_Datatype type)
{
    struct rma_near_table *room = rma_near_self();
    return room && rma_near_plain(room, type) ? rma_near_win(room, win) : NULL;
}

/* A put (from) or get (to) near memory that the inline path does not reach: near ranks are not
 * consecutive, the window is coherent and no device has the place, or a bundle takes it. */
static inline __attribute__((always_inline)) int onesided_near(struct rma_win_near *w, int rank,
                                                               MPI_Aint disp, uint64_t bytes,
                                                               const void *from, void *to)
{
    struct rma_near *n;
    uint64_t off;
    if (rma_near_target_spread(w, rank, &n)) {
        if (!rma_near_at(n, disp, bytes, &off))
            return n->kind == RMA_NEAR_CMA && rma_near_append(w, n, disp, bytes, from, to);
        rma_near_count(n, from ? PVAR_RMA_PUT : PVAR_RMA_GET, bytes);
        return from ? !rma_near_put(from, n->base + off, bytes)
                    : !rma_near_get(to, n->base + off, bytes);
    }
    if (w->alone && !proc->threaded && rma_near_target(w, rank, &n) &&
        (n->alone ? rma_near_alone(w, n, disp, bytes, from, to)
                  : rma_near_handle(w, n, disp, bytes, from, to)))
        return 1;
    return w->by_cma && rma_near_target(w, rank, &n) && n->kind == RMA_NEAR_CMA &&
           rma_near_append(w, n, disp, bytes, from, to);
}

/* A put, get or accumulate of no elements to a near rank: 1: it is admitted, done and counted. The
 * type is predefined and the origin no null pointer. A negative displacement is an error. */
static inline int onesided_nothing(struct rma_win_near *w, int rank, MPI_Aint disp,
                                   enum pvar_id counter)
{
    struct rma_near *n;
    if (disp < 0 || !rma_near_target(w, rank, &n))
        return 0;
    counter_add(&n->counted[counter - PVAR_RMA_PUT], 1);
    return 1;
}

static inline int is_near(const struct rma_win_near *w, int rank)
{
    return w->count ? (unsigned)rank - w->first < w->count : rma_near_spread(w, rank) != NULL;
}

/* One operation to a far target whose open packet takes one more. What the operations of a packet
 * share was checked at its beginning. */
static inline int onesided_far(struct rma_win_near *w, int rank, MPI_Aint disp, int n,
                               MPI_Datatype type, struct dt_op *op, const void *origin)
{
    struct dt_type *t = proc->obj->table[OBJ_TYPE].builtin[type & 0xff];
    uint64_t bytes = (uint64_t)(int64_t)n * rma_near_bytes(type);
    if (!op && atomic_load_explicit(&w->lanes, memory_order_relaxed) &&
        rma_near_lane_put(w, rank, disp, bytes, origin))
        return 1;
    if (!proc->threaded)
        return rma_near_coalesce(w, rank, disp, n, t, op, origin);
    if (!proc->helped && is_near(w, rank))
        return 0; /* no packet is open: do not ask under the lock */
    /* Another thread may send the packet: of the program, or the one that stands in. Where several
     * of the program call, this one need not be the preferred one (MPI_Session_init). */
    int taken = 0;
    if (proc->helped && lock_enter_briefly(&proc->lock)) {
        taken = rma_near_pack(w, rank, disp, n, t, op, origin);
        lock_leave_preferred(&proc->lock);
    }
    if (!taken) {
        lock_acquire(&proc->lock);
        taken = rma_near_coalesce(w, rank, disp, n, t, op, origin);
        lock_release(&proc->lock);
    }
    return taken;
}

/* --- checks ----------------------------------------------------------------------------------- */

/* Names of the arguments that a side of an operation has. */
struct names {
    const char *addr, *count, *type;
};
extern const struct names origin_args, result_args;

/* One side of an operation, as the caller passed it. */
struct side {
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    const struct names *args;
    const void *site; /* of the program's call, if a jump led here */
};

#define SITE __builtin_return_address(0)
#define SIDE(buf, count, type) SIDE_AT(buf, count, type, SITE)
#define SIDE_AT(buf, count, type, site) ((struct side){buf, count, type, &origin_args, site})
#define RESULT(buf, count, type) ((struct side){buf, count, type, &result_args, SITE})

/* These return MPI error codes. */
int onesided_side(const struct side *s, struct dt_type **t);
int onesided_target(MPI_Count count, MPI_Datatype type, struct dt_type **t);
/* Accumulates: one predefined element type, the same on all sides. */
int onesided_acc(struct rma_args *a, MPI_Op op);
/* MPI_Type_create_f90_* make predefined types (MPI-3.1 17.1.9) whose handles other processes do not
 * have. They are sent as their basic type. */
int onesided_known(int err, struct dt_type **t);

/* The ends of a call. An operation with a request needs a place for it. */
int onesided_no_request(const char *call, MPI_Win win);
int onesided_run(MPI_Win win, struct rma_args *a, MPI_Request *req, int err, const void *site);

#endif
