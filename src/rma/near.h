/* near.h - windows reached by load and store: the first cache lines of struct rma_win and the inline path.
 *
 * The one header of rma/ besides rma.h that api/ includes.  Rules:
 *   (a) successes only: any doubt returns 0 and the slow function starts again from the top;
 *   (b) whether a target admits operations is one byte, written by epoch.c only.  The thread that writes it may be another
 *       than the one that called (it polled for the others' arrival, or took an answer): stored with release, loaded
 *       with acquire, so that what is read of a window after it is not older;
 *   (c) no lock, no call, counters by relaxed load and store;
 *   (d) elements of 1, 2, 4, 8 bytes are single stores and loads when aligned, else copies;
 *   (e) ordering is the business of flush, unlock, fence and sync, which always run a full fence.
 * O(ranks on the node), never O(P). */
#ifndef RMA_NEAR_H
#define RMA_NEAR_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/proc.h"
#include "obj/obj.h"
#include "var/var.h"

enum rma_near_kind {
    RMA_NEAR_MAPPED, /* base is valid                                                       */
    RMA_NEAR_CMA,    /* by process_vm_readv/writev                                          */
    RMA_NEAR_AM,     /* the system refuses both: lock words and flags are near, data is not */
};

/* One member of the window on this node, as this process sees it. */
struct rma_near {
    atomic_uchar open;     /* operations on this target are admitted now (or see RMA_FAST_ALL)    */
    uint8_t kind;          /* enum rma_near_kind                                                  */
    uint8_t lock;          /* enum rma_near_lock: what this process has locked here               */
    uint8_t started : 1;   /* in the group of the open PSCW access epoch                          */
    uint8_t asked : 1;     /* a thread waits in the queue of its lock                             */
    uint32_t disp_unit;
    char *base;            /* window memory in this process; NULL unless mapped                   */
    uint64_t size;         /* bytes                                                               */
    uint64_t remote;       /* address in the owner's address space                                */
    struct acc_ctl *acc;
    struct shmlock *lockword;
    struct rma_peer *peer; /* its record in the node segment                                      */
    int rank, host_index;
    struct mem_segment *seg; /* attached memory, or NULL                                          */
    void *mapping;           /* start of what seg maps for this window (shared_query)             */
};

enum rma_near_lock { RMA_UNLOCKED, RMA_LOCKED_SHARED, RMA_LOCKED_EXCLUSIVE, RMA_LOCKED_NOCHECK };

enum rma_fast {
    RMA_FAST_ON = 1,  /* no checker, nothing queued that near operations must not pass */
    RMA_FAST_ALL = 2, /* the epoch admits operations on every target                   */
    RMA_FAST_PASSIVE = 4, /* the epoch admits flushes                                   */
};

/* The beginning of struct rma_win. */
struct rma_win_near {
    struct obj obj;
    atomic_uchar fast;       /* enum rma_fast                                            */
    unsigned first, count;   /* ranks first..first+count-1 are near[0..count-1]; count 0 when not consecutive */
    struct rma_near *near;
    atomic_uint elements;    /* target elements: there may be something to flush         */
    atomic_uint flushes;     /* done inline; approximate                                 */
    struct pvar_set pvars;   /* of this window                                           */
};

enum { RMA_FAST_WINS = 256 };
/* The beginning of struct rma: windows by the low bits of their handle, for look-up without a lock. */
struct rma_near_room {
    _Atomic(struct rma_win_near *) win[RMA_FAST_WINS];
};

static inline struct rma_win_near *rma_near_win(int handle)
{
    /* Acquire pairs with the release in win.c make(): another thread's new window may have the same place. */
    struct rma_win_near *w =
        atomic_load_explicit(&((struct rma_near_room *)proc->rma)->win[handle & (RMA_FAST_WINS - 1)],
                             memory_order_acquire);
    return w && w->obj.handle == handle ? w : NULL;
}

/* The target, if it admits operations now; else NULL. */
static inline struct rma_near *rma_near_target(struct rma_win_near *w, int rank)
{
    unsigned i = (unsigned)rank - w->first;
    if (i >= w->count)
        return NULL;
    struct rma_near *n = &w->near[i];
    unsigned fast = atomic_load_explicit(&w->fast, memory_order_acquire); /* (b) */
    if (!(fast & RMA_FAST_ON) || !((fast & RMA_FAST_ALL) || atomic_load_explicit(&n->open, memory_order_acquire)))
        return NULL;
    return n;
}

/* Address of `bytes` bytes at disp, if the target is mapped and has them; else NULL. */
static inline char *rma_near_at(const struct rma_near *n, int64_t disp, uint64_t bytes)
{
    uint64_t off;
    if (!n->base || __builtin_mul_overflow((uint64_t)disp, n->disp_unit, &off) || off > n->size ||
        bytes > n->size - off)
        return NULL;
    return n->base + off;
}

/* The rest of rma_near_copy(), so that the inline part needs no frame.  op.c */
int rma_near_move(void *to, const void *from, size_t n);

/* Copy between user memory and window memory.  Aligned elements move by one store, so that a
 * reader never sees half of one.  Returns 0, for the caller to return. */
static inline int rma_near_copy(void *to, const void *from, size_t n)
{
    uintptr_t both = (uintptr_t)to | (uintptr_t)from;
    if (n == 8 && !(both & 7))
        __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    else if (n == 4 && !(both & 3))
        __atomic_store_n((uint32_t *)to, __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    else
        return rma_near_move(to, from, n);
    return 0;
}

struct dt_type;
struct dt_op;
struct acc_ctl;
/* One element at `mem`, byte `off` of a mapped window: accumulate (result NULL), fetch_and_op, compare_and_swap; under
 * the rules above (a call, but no lock of the process).  elem and op fit each other.  acc.c */
void acc_near(struct acc_ctl *c, uint64_t off, char *mem, struct dt_type *elem, struct dt_op *op, const void *origin,
              void *result);
void acc_near_cas(struct acc_ctl *c, uint64_t off, char *mem, struct dt_type *elem, const void *origin,
                  const void *compare, void *result);

/* Is a flush of rank nothing but a fence? */
static inline int rma_near_flush(struct rma_win_near *w, int rank)
{
    enum { LOOK_AROUND = 256 }; /* flushes between two looks at the network */
    unsigned i = (unsigned)rank - w->first, n = atomic_load_explicit(&w->flushes, memory_order_relaxed);
    unsigned fast = atomic_load_explicit(&w->fast, memory_order_acquire); /* (b) */
    /* Acquire pairs with the release in slot.c: no element left, so what its answers brought is here. */
    if (i >= w->count || !(fast & RMA_FAST_PASSIVE) || atomic_load_explicit(&w->elements, memory_order_acquire))
        return 0;
    if (!(fast & RMA_FAST_ALL) && !atomic_load_explicit(&w->near[i].open, memory_order_acquire))
        return 0;
    atomic_store_explicit(&w->flushes, n + 1, memory_order_relaxed);
    return n % LOOK_AROUND != 0;
}

static inline void rma_near_count(struct rma_win_near *w, enum pvar_id id, uint64_t bytes)
{
    pvar_set_add(&w->pvars, id, 1);
    pvar_set_add(&w->pvars, PVAR_RMA_MAPPED, 1);
    pvar_set_add(&w->pvars, PVAR_RMA_BYTES, bytes);
}

#endif
