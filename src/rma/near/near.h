/* near.h - windows reached by load and store: the first cache lines of struct rma_win and the
 * inline path.
 *
 * The one header of rma/ besides rma.h that api/ includes.  Rules:
 *   (a) successes only: any doubt returns 0 and the slow function starts again from the top;
 *   (b) whether a target admits operations is one word of the window and one byte of the target,
 *       written by state.c only.  The thread that writes them may be another than the one that
 *       called (it polled for the others' arrival, or took an answer): stored with release, loaded
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

#include "base/atomic.h"
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
    _Alignas(128)          /* found by a shift                                                    */
    atomic_uchar open;     /* operations on this target are admitted now (or see `all` below)     */
    uint8_t kind;          /* enum rma_near_kind                                                  */
    uint8_t lock;          /* enum rma_near_lock: what this process has locked here               */
    uint8_t started : 1;   /* in the group of the open PSCW access epoch                          */
    uint8_t asked : 1;     /* a thread waits in the queue of its lock                             */
    uint8_t lazy : 1;      /* LOCK_ALL has not asked for its lock yet; then units is 0            */
    int rank;
    uint64_t disp_unit;
    char *base;            /* window memory in this process; NULL unless mapped                   */
    uint64_t size;         /* bytes                                                               */
    uint64_t remote;       /* address in the owner's address space                                */
    struct acc_ctl *acc;
    struct shmlock *lockword;
    struct rma_peer *peer; /* its record in the node segment                                      */
    struct mem_segment *seg; /* attached memory, or NULL                                          */
    void *mapping;           /* start of what seg maps for this window (shared_query)             */
    uint64_t units;          /* whole displacement units in size; 0 unless mapped, or lazy:
                              * displacements below it are inside */
    uint64_t me;             /* this process in words of the node: host index + 1                 */
    int host_index;
    uint32_t unread;         /* delegate.c: a question that was taken back and not read yet, or 0 */
    uint8_t misses, rest;    /* late answers in a row; operations by CMA until it is asked again  */
    uint8_t naps, knocks;    /* operations in a row while it slept; times it was woken since it
                              * answered in time */
    uint8_t burst, syncs;    /* accumulates since the window's synchronizations were so many      */
    uint64_t napped;         /* the last of them (ns)                                             */
};

enum rma_near_lock { RMA_UNLOCKED, RMA_LOCKED_SHARED, RMA_LOCKED_EXCLUSIVE, RMA_LOCKED_NOCHECK };

/* The beginning of struct rma_win.  What an epoch permits is two numbers, written by state.c
 * (rma_near_admit) whenever it changes, so that the inline paths ask by the comparison that finds
 * the target. */
struct rma_win_near {
    struct obj obj;
    unsigned first, count;   /* ranks first..first+count-1 are near[0..count-1]; count 0 when not
                              * consecutive */
    atomic_uint all;         /* count when the epoch admits operations on every target, else 0 */
    atomic_uint quiet;       /* count when flush is a fence for every target: passive, `all`, no
                              * target element; else 0 */
    struct rma_near *near;
    atomic_uchar passive;    /* flush of a target that is open is a fence: passive epoch, no target
                              * element */
    atomic_uchar flushes;    /* done inline since the last look at the network; approximate   */
    struct pvar_set pvars;   /* of this window                                           */
};

enum { RMA_FAST_WINS = 256, RMA_FAST_TYPES = 256 };
/* The beginning of struct rma. */
struct rma_near_room {
    _Atomic(struct rma_win_near *) win[RMA_FAST_WINS]; /* by the low bits of the handle, for look-up
                                                        * without a lock; never NULL: `none` where
                                                        * there is no window */
    int plain[RMA_FAST_TYPES]; /* by the low byte: handles of predefined types that are one block;
                                * else never equal */
    struct rma_win_near none;  /* no targets */
};

/* NULL when MPI does not run. */
static inline struct rma_near_room *rma_near_room(void)
{
    return (struct rma_near_room *)proc->rma;
}

/* The window of that handle, or NULL.  What is found may be another window that another thread is
 * freeing (the low bits are equal): its handle is compared and nothing else, and that word stays
 * one (create.c keeps the memory of windows for windows). */
static inline struct rma_win_near *rma_near_win(struct rma_near_room *room, int handle)
{
    /* Acquire pairs with the release in create.c make(): another thread's new window may have the
     * same place. */
    struct rma_win_near *w = atomic_load_explicit(&room->win[handle & (RMA_FAST_WINS - 1)],
                                                  memory_order_acquire);
#ifdef BASE_TSAN
    int there = __atomic_load_n(&w->obj.handle, __ATOMIC_RELAXED);
#else
    /* an aligned word, compared once: part of the comparison, where an atomic load is three
     * instructions more */
    int there = w->obj.handle;
#endif
    return __builtin_expect(there == handle, 1) ? w : NULL;
}

/* Does it name a predefined type of one block? Then bits 8-15 are its size in bytes
 * (dt_handle_bytes). */
static inline int rma_near_plain(const struct rma_near_room *room, int type)
{
    return room->plain[type & (RMA_FAST_TYPES - 1)] == type;
}
static inline uint8_t rma_near_bytes(int type)
{
    return (uint8_t)((unsigned)type >> 8);
}

/* The target, if it admits operations now: 1; else 0. */
static inline int rma_near_target(struct rma_win_near *w, int rank, struct rma_near **n)
{
    unsigned i = (unsigned)rank - w->first;
    if (__builtin_expect(i < atomic_load_explicit(&w->all, memory_order_acquire), 1)) { /* (b) */
        *n = &w->near[i];
        return 1;
    }
    if (i >= w->count)
        return 0;
    *n = &w->near[i];
    return atomic_load_explicit(&(*n)->open, memory_order_acquire) != 0;
}

/* Another thread may have locked it just now (n->lazy): as rule (b).  x86-64 loads in order, and
 * compares where the word stands. */
static inline uint64_t rma_near_units(const struct rma_near *n)
{
#if defined(__x86_64__) && !defined(BASE_TSAN)
    return n->units;
#else
    return __atomic_load_n(&n->units, __ATOMIC_ACQUIRE);
#endif
}

/* Offset of `bytes` bytes at disp, if the target is mapped and has them: 1; else 0.  bytes > 0. */
static inline int rma_near_at(const struct rma_near *n, int64_t disp, uint64_t bytes, uint64_t *off)
{
    if (__builtin_expect((uint64_t)disp >= rma_near_units(n), 0))
        return 0;
    *off = (uint64_t)disp * n->disp_unit; /* below size */
    return __builtin_expect(n->size - *off >= bytes, 1);
}

/* What is not eight bytes; the user's buffer comes first in both, where the caller has it.  Return
 * 0.  direct.c */
int rma_near_put(const void *origin, void *at, size_t n);
int rma_near_get(void *origin, const void *at, size_t n);

#if (defined(__x86_64__) || (defined(__aarch64__) && defined(__ARM_FEATURE_UNALIGNED))) &&         \
    !defined(BASE_TSAN)
#define RMA_NEAR_ANY8 1
#else
#define RMA_NEAR_ANY8 0
#endif

/* Eight bytes by one load and one store, which nobody sees half of when they are aligned: 1 done, 0
 * not.  Where the processor moves misaligned words as well nothing is asked; volatile keeps the
 * accesses whole. */
static inline int rma_near_copy8(void *to, const void *from)
{
    struct any {
        uint64_t v;
    } __attribute__((packed, may_alias));
    if (RMA_NEAR_ANY8)
        ((volatile struct any *)to)->v = ((const volatile struct any *)from)->v;
    else if (!(((uintptr_t)to | (uintptr_t)from) & 7))
        __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
    else
        return 0;
    return 1;
}

struct dt_type;
/* One element at byte `off` of a mapped window: accumulate (result NULL), fetch_and_op,
 * compare_and_swap; under the rules above (a call, but no lock of the process).  op: enum
 * dt_op_index, one for elem.  Return 0.  acc_atomic.c */
int acc_near(const struct rma_near *n, uint64_t off, const struct dt_type *elem, const void *origin,
             void *result, unsigned op);
int acc_near_cas(const struct rma_near *n, uint64_t off, const struct dt_type *elem,
                 const void *origin, const void *compare, void *result);

/* One element of memory that is reached by CMA, in a process without threads: 1 done; 0: for the
 * long way.  op: enum dt_op_index or RMA_SWAP.  delegate.c */
enum { RMA_SWAP = 255 };
int rma_near_one(struct rma_win_near *w, struct rma_near *n, int64_t disp,
                 const struct dt_type *elem, unsigned op, const void *origin, const void *compare,
                 void *result);

/* One more small operation into the open train of a far target (coalesce.c), op NULL: a put.  As
 * above: it is all done, and counted, or nothing.  Under proc->lock, or without threads. */
int rma_near_train(struct rma_win_near *w, int rank, MPI_Aint disp, int n, struct dt_type *type,
                   struct dt_op *op, const void *origin);

/* Is a flush of rank nothing but a fence? Now and then not, so that others get in: programs spin on
 * flush. */
static inline int rma_near_flush(struct rma_win_near *w, int rank)
{
    unsigned i = (unsigned)rank - w->first;
    if (__builtin_expect(i >= atomic_load_explicit(&w->quiet, memory_order_acquire), 0) && /* (b) */
        !(i < w->count && atomic_load_explicit(&w->passive, memory_order_acquire) &&
          atomic_load_explicit(&w->near[i].open, memory_order_acquire)))
        return 0;
    return !counter_wraps(&w->flushes);
}

static inline void rma_near_count(struct rma_win_near *w, enum pvar_id id, uint64_t bytes)
{
    pvar_set_add(&w->pvars, id, 1);
    pvar_set_add(&w->pvars, PVAR_RMA_MAPPED, 1);
    pvar_set_add(&w->pvars, PVAR_RMA_BYTES, bytes);
}

#endif
