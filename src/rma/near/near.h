/* near.h - windows reached by load and store: the first cache lines of struct rma_win, and the
 * inline path.
 *
 * Besides rma.h it is the only header of rma/ that api/ includes. Start with rma_near_win(),
 * rma_near_target() and rma_near_at(): together they are the look-up of a put. Invariants:
 *   (a) The inline path only succeeds. In any doubt it returns 0 and has changed nothing; the slow
 *       function starts from the top.
 *   (b) One word of the window and one byte of the target show whether operations are admitted.
 *       Only state.c writes them, perhaps in another thread than the one that called. It stores
 *       with release and near.h loads with acquire, so what is read of the window afterwards is
 *       not older.
 *   (c) The path takes no lock and calls no function. Counters go by relaxed load and store.
 *   (d) Aligned elements of 1, 2, 4 and 8 bytes are single loads and stores; others are copies.
 *   (e) Flush, unlock, fence and sync order the accesses. Each always runs a full fence.
 * Memory is O(ranks on the node), never O(P). */
#ifndef RMA_NEAR_H
#define RMA_NEAR_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/atomic.h"
#include "base/proc.h"
#include "obj/obj.h"
#include "rma/near/note.h"
#include "rma/near/recent.h"
#include "var/var.h"

enum rma_near_kind {
    RMA_NEAR_MAPPED, /* base is valid                                                       */
    RMA_NEAR_CMA,    /* by process_vm_readv/writev                                          */
    RMA_NEAR_AM      /* neither, or on devices: lock words and flags near, data by message  */
};

struct rma_alone;
/* One member of the window on this node, as this process sees it. */
struct rma_near {
    _Alignas(128)          /* indexed by a shift                                                  */
    atomic_uchar open;     /* operations on this target are admitted now (or see `all` below)     */
    uint8_t kind;          /* enum rma_near_kind                                                  */
    uint8_t lock;          /* enum rma_near_lock: what this process has locked here               */
    uint8_t started : 1;   /* in the group of the open PSCW access epoch                          */
    uint8_t asked : 1;     /* a thread waits in the queue of its lock                             */
    uint8_t lazy : 1;      /* LOCK_ALL has not requested its lock yet; units is 0 until it has    */
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
    uint64_t units;          /* whole displacement units in size: displacements below it are inside;
                              * 0 if not mapped, or lazy */
    uint64_t me;             /* this process as the node's lock words name it: host index + 1     */
    int host_index;
    uint32_t unread;         /* delegate.c: last question taken back, while it is unread; or 0    */
    uint8_t misses, backoff; /* late answers in a row; operations to do by CMA before the owner is
                              * asked again */
    uint8_t asleep_ops, wakes; /* operations in a row while the owner slept; wakes since its last
                                * answer in time */
    uint8_t burst, syncs;    /* accumulates since the count of synchronizations was `syncs`       */
    uint8_t bundles, drained; /* bundle.c: not known to be done; a thread waits for all of them, so
                               * others begin and end none here, but append to what is offered */
    atomic_uchar filling, sent; /* index + 1 of the one that takes more, of the last that left */
    int err;                 /* bundle.c: of one that was waited for, for the next flush */
    uint64_t asleep_at;      /* time of the last operation while the owner slept (ns)             */
    /* What the inline path writes: per target, so that threads with different targets write no
     * common cache line. Of the window's counters: from PVAR_RMA_PUT on. */
    _Alignas(128) _Atomic uint64_t counted[PVAR_RMA_BYTES - PVAR_RMA_PUT + 1];
    atomic_uchar flushes;    /* inline flushes of this target while quiet_each is set */
    struct rma_alone *alone; /* coherent/alone.c: where its memory may be acted on, or NULL */
    _Atomic(struct rma_note *) note; /* note.c: its counters, once this process has mapped them */
    const struct rma_recent *recent; /* recent.h: never NULL in a window */
};
_Static_assert(sizeof(struct rma_near) == 256, "indexed by a shift");

enum rma_near_lock { RMA_UNLOCKED, RMA_LOCKED_SHARED, RMA_LOCKED_EXCLUSIVE, RMA_LOCKED_NOCHECK };

/* The beginning of struct rma_win. Two numbers hold what an epoch permits. state.c (rma_near_admit)
 * writes them at each change, so the comparison that finds the target is also the test. */
struct rma_win_near {
    struct obj obj;
    unsigned first, count;   /* ranks first..first+count-1 are near[0..count-1]; 0: not in a row */
    atomic_uint all;         /* count when the epoch admits operations on every target, else 0 */
    atomic_uint quiet;       /* count when a flush of every target is a fence (passive, `all`, and
                              * nothing that it would wait for or tell of); else 0 */
    struct rma_near *near;
    atomic_uchar passive;    /* a flush of an open target is a fence: passive epoch, and nothing
                              * that it would wait for or tell of */
    atomic_uchar flushes;    /* inline flushes since the last look at the network; approximate */
    struct pvar_set pvars;   /* of this window                                           */
    _Alignas(64) atomic_uchar flush_alls; /* inline calls of flush_all; a line of its own */
    /* Near ranks that are not consecutive (count 0): place (rank) of `spread` holds the index in
     * near[], window/spread.c. NULL: they are, or such a table was not found. */
    _Alignas(64) uint16_t *spread;
    uint32_t spread_mul;
    uint8_t spread_shift;
    uint8_t by_target;       /* ranks are not consecutive, or there are threads, which must not all
                              * write `flushes`: `quiet` stays 0, and these hold instead */
    uint8_t by_cma;          /* some target's memory is reached by CMA, for good */
    uint8_t alone;           /* some target's memory is acted on tile by tile, or is a handle's */
    atomic_uchar spread_all; /* as `all`: 0 or 1 */
    atomic_uchar quiet_each; /* as `quiet`: 0 or 1 */
    atomic_uchar all_here;   /* 1: a flush_all is a fence where quiet or quiet_each is set */
    atomic_uchar unsettled;  /* with duplicates: 1: near elements, or answers to come */
    _Atomic(struct rma_lanes *) lanes; /* core/lane.c; NULL: none yet */
    struct rma_win_notes *notes; /* own counters; NULL: the inline path does not read them */
};

enum { RMA_FAST_WINS = 256, RMA_FAST_TYPES = 256 };
/* The beginning of struct rma. */
struct rma_near_table {
    _Atomic(struct rma_win_near *) win[RMA_FAST_WINS]; /* by the low bits of the handle: look-up
                                                        * without a lock; never NULL, `none` stands
                                                        * for no window */
    int plain[RMA_FAST_TYPES]; /* by the low byte: handles of predefined types of one block; else a
                                * value that never matches */
    struct rma_win_near none;  /* has no targets */
};

/* NULL before MPI_Init and after MPI_Finalize. */
static inline struct rma_near_table *rma_near_self(void)
{
    return (struct rma_near_table *)proc->rma;
}

/* The window of a handle, or NULL. The entry may be another window with equal low bits, which
 * another thread is freeing. So only its handle is read, and that word stays readable: create.c
 * keeps the memory of windows for windows. */
static inline struct rma_win_near *rma_near_win(struct rma_near_table *room, int handle)
{
    /* Acquire pairs with the release in create.c make(): another thread's new window may be
     * here. */
    struct rma_win_near *w = atomic_load_explicit(&room->win[handle & (RMA_FAST_WINS - 1)],
                                                  memory_order_acquire);
#ifdef BASE_TSAN
    int there = __atomic_load_n(&w->obj.handle, __ATOMIC_RELAXED);
#else
    /* an aligned word, read once: the compiler folds it into the comparison; an atomic load costs
     * three instructions more */
    int there = w->obj.handle;
#endif
    return __builtin_expect(there == handle, 1) ? w : NULL;
}

/* A predefined type of one block? Then bits 8-15 of the handle are its size (dt_handle_bytes). */
static inline int rma_near_plain(const struct rma_near_table *room, int type)
{
    return room->plain[type & (RMA_FAST_TYPES - 1)] == type;
}
static inline uint8_t rma_near_bytes(int type)
{
    return (uint8_t)((unsigned)type >> 8);
}

/* Near ranks that are not consecutive: the record of one, or NULL. */
static inline struct rma_near *rma_near_spread(const struct rma_win_near *w, int rank)
{
    if (!w->spread)
        return NULL;
    struct rma_near *n = &w->near[w->spread[(uint32_t)rank * w->spread_mul >> w->spread_shift]];
    return n->rank == rank ? n : NULL;
}

/* 1: the target admits operations now; *n is its record. Else 0. */
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

/* The same where near ranks are not consecutive; apart: the path above has no register to spare. */
static inline int rma_near_target_spread(struct rma_win_near *w, int rank, struct rma_near **n)
{
    return (*n = rma_near_spread(w, rank)) != NULL &&
           (atomic_load_explicit(&w->spread_all, memory_order_acquire) || /* (b) */
            atomic_load_explicit(&(*n)->open, memory_order_acquire));
}

/* Another thread may have locked it just now (n->lazy): see rule (b). */
static inline uint64_t rma_near_units(const struct rma_near *n)
{
    return RMA_NEAR_WORD(&n->units);
}

/* 1: the target is mapped and has `bytes` > 0 bytes at disp; *off is their offset. Else 0. */
static inline int rma_near_at(const struct rma_near *n, int64_t disp, uint64_t bytes, uint64_t *off)
{
    if (__builtin_expect((uint64_t)disp >= rma_near_units(n), 0))
        return 0;
    *off = (uint64_t)disp * n->disp_unit; /* no overflow: the product is below size */
    return __builtin_expect(n->size - *off >= bytes, 1);
}

/* Copies of any length (direct.c); eight bytes are quicker by rma_near_copy8(). Both return 0. The
 * user's buffer is the first argument, as it is in the caller. */
int rma_near_put(const void *origin, void *at, size_t n);
int rma_near_get(void *origin, const void *at, size_t n);

#if (defined(__x86_64__) || (defined(__aarch64__) && defined(__ARM_FEATURE_UNALIGNED))) &&         \
    !defined(BASE_TSAN)
#define RMA_NEAR_ANY8 1
#else
#define RMA_NEAR_ANY8 0
#endif

/* 1: eight bytes were copied by one load and one store, so no process sees half of an aligned word.
 * 0: nothing was done. Where the processor also moves misaligned words, no alignment is tested;
 * volatile keeps the accesses whole. */
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
 * compare_and_swap. Rules (a) to (e) hold, except that this is a call; it takes no process lock.
 * op: enum dt_op_index for one element. Both return 0. Defined in acc_atomic.c. */
int acc_near(const struct rma_near *n, uint64_t off, const struct dt_type *elem, const void *origin,
             void *result, unsigned op);
int acc_near_cas(const struct rma_near *n, uint64_t off, const struct dt_type *elem,
                 const void *origin, const void *compare, void *result);

/* One element of memory reached by CMA, in a process without threads. 1: done; 0: take the slow
 * path. op: enum dt_op_index or RMA_SWAP. Defined in delegate.c. */
enum { RMA_SWAP = 255, RMA_COPY_IN = 254, RMA_COPY_OUT = 253, RMA_COPY_MANY = 252 };
int rma_near_delegate(struct rma_win_near *w, struct rma_near *n, int64_t disp,
                 const struct dt_type *elem, unsigned op, const void *origin, const void *compare,
                 void *result);
__typeof__(rma_near_delegate) rma_near_handle_acc; /* by a memory handle (handle_near.c) */

/* A put (from) or a get (to) of a coherent window's memory that home alone has, in a process
 * without threads. n->alone is not NULL. 1: done and counted; 0: nothing was done (direct.c). */
int rma_near_alone(struct rma_win_near *w, struct rma_near *n, int64_t disp, uint64_t bytes,
                   const void *from, void *to);

/* The same by a memory handle (handle_near.c). */
int rma_near_handle(struct rma_win_near *w, struct rma_near *n, int64_t disp, uint64_t bytes,
                    const void *from, void *to);
/* The same of memory reached by CMA: added to a bundle that fills (bundle.c). With threads, too. */
int rma_near_append(struct rma_win_near *w, struct rma_near *n, int64_t disp, uint64_t bytes,
                    const void *from, void *to);

/* Appends a small operation to the open coalesced packet of a far target (coalesce.c). op NULL: a
 * put. 1: done and counted; 0: nothing was done. Needs proc->lock, or a process without threads. */
int rma_near_coalesce(struct rma_win_near *w, int rank, MPI_Aint disp, int n, struct dt_type *type,
                   struct dt_op *op, const void *origin);
/* The same, but 0 also where that would begin one by the network. It touches memory alone:
 * lock_enter_briefly() is enough. */
int rma_near_pack(struct rma_win_near *w, int rank, MPI_Aint disp, int n, struct dt_type *type,
                  struct dt_op *op, const void *origin);

/* 1: a flush of rank is only a fence. Now and then 0: a program that spins on it makes progress. */
static inline int rma_near_flush(struct rma_win_near *w, int rank)
{
    unsigned i = (unsigned)rank - w->first;
    if (__builtin_expect(i >= atomic_load_explicit(&w->quiet, memory_order_acquire), 0)) { /* (b) */
        struct rma_near *n = i < w->count ? &w->near[i] : rma_near_spread(w, rank);
        if (!n || !(atomic_load_explicit(&w->quiet_each, memory_order_acquire) ||
                    (atomic_load_explicit(&w->passive, memory_order_acquire) &&
                     atomic_load_explicit(&n->open, memory_order_acquire))))
            return 0;
        if (proc->threaded)
            return !counter_wraps(&n->flushes);
    }
    return !counter_wraps(&w->flushes);
}

static inline void rma_near_count(struct rma_near *n, enum pvar_id id, uint64_t bytes)
{
    counter_add(&n->counted[id - PVAR_RMA_PUT], 1);
    counter_add(&n->counted[PVAR_RMA_MAPPED - PVAR_RMA_PUT], 1);
    counter_add(&n->counted[PVAR_RMA_BYTES - PVAR_RMA_PUT], bytes);
}

#endif
