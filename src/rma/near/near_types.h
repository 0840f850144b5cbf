/* near_types.h - what the files of rma/near/ share (private). */
#ifndef RMA_NEAR_TYPES_H
#define RMA_NEAR_TYPES_H

#include "rma/coherent/home.h"
#include "rma/near/direct.h"

/* --- cma.c: 0 or -errno ---- */
/* Copy between two layouts across processes. */
int rma_cma_copy(int host, const void *local, size_t lcount, const struct dt_type *lt,
                 const void *remote, size_t rcount, const struct dt_type *rt, size_t bytes,
                 int write);
/* Contiguous on both sides: the common case, one call. */
/* From byte `done` on. */
int rma_cma_block(int host, const struct rma_args *a, const void *there, size_t bytes, size_t done);
/* Is a message to the target, which polls, faster than CMA? */
int rma_by_message(const struct rma_near *n, const struct rma_args *a, size_t bytes);

/* --- delegate.c: operations delegated to the owner of the memory ---- */
struct rma_delegate_op {
    const struct dt_type *elem;
    unsigned aop;     /* enum dt_op_index or RMA_SWAP */
    uint64_t disp;    /* in the target's units */
    uint64_t off;     /* the same in bytes, checked; dynamic windows: the address */
    const void *origin, *compare; /* NULL: none */
    void *result;     /* or NULL */
};
/* Delegate to the owner. 1: done; 0: not done, and the owner will not do it later. */
int rma_delegate(struct rma_win *w, struct rma_near *n, const struct rma_delegate_op *q);
/* May an operation, or a bundle of some, be delegated to the owner now? If not, it was polled once.
 * An owner that sleeps in MPI gets bundles, too, once it has been woken. */
int rma_delegate_may(struct rma_win *w, struct rma_near *n, int bundle);
uint32_t rma_delegate_number(struct rma_win *w); /* of the next operation, or piece of one */
/* Wait until `what` is answered, some microseconds. Lets other threads of this process run. Lets
 * other processes run, too, if `aside`: what they take counts, but ends no turn. */
enum rma_answer { RMA_IN_TIME, RMA_LATE, RMA_TIMEOUT };
enum rma_answer rma_delegate_await(int world, int aside, int (*answered)(const void *),
                                   const void *what);
struct rma_awaited { /* `number`, or one after it up to `last` */
    const struct acc_delegation *mine;
    uint32_t number, last;
};
int rma_delegate_answered(const void *what); /* struct rma_awaited */
void rma_delegate_unread(struct rma_near *n, uint32_t number); /* it was taken back */
void rma_delegate_learn(struct rma_near *n, int late);
/* --- handle_near.c: a displacement of another near process that is a handle ---- */
/* MPI error code, or NOT_HERE. *real: the same by address; *base: from which it is mapped, or
 * NULL. */
int rma_handle_direct(struct rma_win *w, const struct rma_near *n, const struct rma_args *a,
                      struct rma_args *real, char **base);
/* a acts on an own handle, in memory that no device has: near.h finds it from now on. */
void rma_recent_own(struct rma_win *w, const struct rma_near *n, const struct rma_args *a);

/* --- delegate_copy.c ---- */
/* Is it a put or get of one block at both ends? */
static inline int rma_block_moves(const struct rma_args *a)
{
    if (!dt_is_block(a->ttype, (size_t)a->tcount))
        return 0;
    if (a->kind == RMA_PUT)
        return dt_is_block(a->otype, (size_t)a->ocount);
    return a->kind == RMA_GET && dt_is_block(a->rtype, (size_t)a->rcount);
}
/* Is it one that may be delegated? */
int rma_may_copy(const struct rma_win *w, const struct rma_near *n, const struct rma_args *a,
                 size_t bytes);
/* Delegate it; off: of the target buffer in the window, checked (dynamic windows: the address).
 * How many bytes, from the front, are done; the owner will do no others later. */
size_t rma_delegate_copy(struct rma_win *w, struct rma_near *n, const struct rma_args *a,
                         uint64_t off, size_t bytes);

/* --- bundle.c ---- */
/* 1: it is in a bundle. 0: it is not, and none of n's is pending, unless another thread waits for
 * some just now. */
int rma_bundle_add(struct rma_win *w, struct rma_near *n, const struct rma_args *a, uint64_t off,
                   size_t bytes);
/* --- direct.c: -errno of CMA as an MPI error code ---- */
int rma_memory_error(struct rma_win *w, int rank, int err);

/* Number of synchronizations that n has seen, modulo 256; approximate. */
uint8_t rma_syncs(const struct rma_win *w, const struct rma_near *n);
/* One more accumulate without result. Returns whether it belongs to a burst: many of them, with no
 * synchronization between them. */
int rma_burst(const struct rma_win *w, struct rma_near *n);

#endif
