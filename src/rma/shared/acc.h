/* acc.h - a contract of rma/shared/: accumulates in memory. Private to rma/. There is one mechanism
 * for each window and kind of element, and all processes use it.
 *
 *   ownership  the control block lies in the node segment of the target, which window/ makes
 *   blocking   a stripe is waited for, some microseconds; else nothing
 *   lock       none: stripes and atomics exclude threads and processes
 *   errors     0 or -errno (of a copy by the kernel); bounds are the caller's
 *
 *      near origin --------\
 *      owner on itself ------>  acc_apply() / acc_cas()  -->  the target's window memory
 *      packet handler -----/        |
 *                                   +-- stripes in the node segment of the TARGET (struct acc_ctl)
 *
 * The mechanism is fixed when the control block is made (acc_ctl_init):
 *   ACC_STRIPE  a stripe lock covers ACC_STRIPE_BYTES of the window (by byte offset from the
 *               window's start; by absolute address in dynamic windows). Its holder uses plain
 *               (vector) code. Every process takes it, the owner included. It is the only
 *               mechanism for memory that some peer reaches by CMA.
 *   ACC_ATOMIC  the processor's atomics on naturally aligned elements of 1, 2, 4, 8 bytes. A
 *               misaligned element of such a kind takes the stripe and uses no atomics. That is
 *               right only because no process may legally reach the same bytes aligned (one
 *               element, one address).
 * An element that crosses a stripe boundary takes both stripes, in ascending order of their index
 * in the table. Stripes beyond the table wrap around: (offset / ACC_STRIPE_BYTES) & mask.
 *
 * Waiting. A stripe's critical section is bounded (at most one stripe of bytes, no blocking call).
 * So a handler may wait for one: it spins, then calls thread_pause(). The word holds the holder's
 * host index. If the launcher reports that the holder failed, the waiter takes the stripe over (the
 * data may be torn: MPI promises nothing for it). proc->lock is not needed: the stripe also
 * excludes threads of one process. In the simulator, no fiber switches inside a critical section,
 * so a stripe is never found held.
 *
 * Ordering: acquire when taken, release when left. The caller adds the full fence of flush or
 * unlock. The caller has checked the bounds of the window; acc_ functions never look at sizes. */
#ifndef RMA_ACC_H
#define RMA_ACC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct dt_type;
struct dt_op;

enum { ACC_STRIPE_BYTES = 4096, ACC_STRIPES_MAX = 64 };

/* In shared memory, one per target and window, cache-line aligned; the layout is in acc_types.h. */
struct acc_ctl;

/* Stripes a window of `size` bytes should have (a power of two, 1..ACC_STRIPES_MAX); dynamic
 * windows: the maximum. */
unsigned acc_stripes(uint64_t size, int dynamic);
/* Bytes of a control block with that many stripes (a multiple of 64). */
size_t acc_ctl_bytes(unsigned stripes);

enum acc_hint {
    ACC_ALL_MAPPED = 1,      /* every near peer maps the memory: ACC_ATOMIC is allowed */
    ACC_SINGLE_ELEMENTS = 2  /* info mpi_accumulate_granularity promises single elements: prefer
                              * ACC_ATOMIC */
};
/* Set up in zeroed memory, by the target, before any peer looks. */
void acc_ctl_init(struct acc_ctl *c, unsigned stripes, unsigned hints);

/* Elements for which every process uses the processor's atomics, if the control block has them:
 * naturally aligned ones of such a type, with any operation, and no others. It is the only
 * predicate for this, also for those without a control block (a far origin, route.c). */
int acc_type_atomic(const struct dt_type *elem);
int acc_ctl_atomic(const struct acc_ctl *c);

/* One target's memory as this process reaches it. */
struct acc_target {
    struct acc_ctl *ctl;
    char *base;      /* mapped: byte `off` of the window is at base + off (NULL for the own dynamic
                      * window) */
    uint64_t remote; /* CMA: address of window byte 0 in the target's address space (0 for dynamic
                      * windows) */
    int host_index;  /* CMA: of the target; < 0: mapped */
};

static inline struct acc_target acc_mapped(struct acc_ctl *ctl, char *base)
{
    return (struct acc_target){.ctl = ctl, .base = base, .host_index = -1};
}
static inline struct acc_target acc_by_cma(struct acc_ctl *ctl, uint64_t remote, int host_index)
{
    return (struct acc_target){.ctl = ctl, .remote = remote, .host_index = host_index};
}

/* One accumulate, or a segment of one.
 * The target side is a layout: tcount of ttype at window offset `off`. [pos, pos+len) is the range
 * of its packed bytes to work on, a multiple of the element size (whole operation: 0, tcount *
 * size).
 * origin/result: otype (rtype) not NULL: ocount (rcount) of it at that address, the same packed
 * range. NULL: exactly `len` contiguous bytes for this range (a packet's payload).
 * op MPI_NO_OP: origin is not read. */
struct acc_args {
    const struct dt_type *elem; /* the predefined element type (pair types included) of all sides */
    const struct dt_op *op;     /* predefined; MPI_REPLACE and MPI_NO_OP included                 */
    uint64_t off;
    size_t tcount;
    const struct dt_type *ttype;
    size_t pos, len;
    const void *origin;
    size_t ocount;
    const struct dt_type *otype;
    int fetches;  /* old values go to result, whose address may be NULL: MPI_BOTTOM */
    void *result;
    size_t rcount;
    const struct dt_type *rtype;
};

/* Element-wise atomic against every other acc_ call on this target and element kind. 0; -EPERM,
 * -EFAULT, -ESRCH from CMA (then an unknown part is done). */
int acc_apply(const struct acc_target *t, const struct acc_args *a);
/* The same for one contiguous element: fetch_and_op and the one-element accumulate (result may be
 * NULL). */
int acc_element(const struct acc_target *t, uint64_t off, const struct dt_type *elem,
            const struct dt_op *op, const void *origin, void *result);
/* Compare and swap of one element; result gets the old value. */
int acc_cas(const struct acc_target *t, uint64_t off, const struct dt_type *elem,
            const void *origin, const void *compare, void *result);

/* acc_mirror.c: `count` elements of mapped memory from byte `off` on, as they are now, to the same
 * elements at each of to[0, n), mapped memory, too. Under the stripes of t, so no older value comes
 * behind a newer one, whichever process does it. n > 0. */
void acc_mirror(const struct acc_target *t, uint64_t off, const struct dt_type *elem, size_t count,
                char *const *to, int n);

/* --- delegated to the owner (delegate.c) ---
 * A delegated operation has a number. The asker may take it back until it is answered. The stripe
 * of the element decides which is first: under it the owner answers and the asker takes back. In
 * shared memory, one per asker. */
struct acc_delegation {
    _Alignas(64) atomic_uint answered; /* by owners: number of the operation answered last; */
    uint64_t old;                      /* the old value, in the element's first bytes      */
    _Alignas(64) atomic_uint back;     /* by the asker: all up to this number are taken back */
};
void acc_delegation_init(struct acc_delegation *a);
/* May this element be delegated: does one stripe cover it, which every process takes for it? */
int acc_delegable(const struct acc_ctl *c, uint64_t off, const struct dt_type *elem);
struct acc_question {
    uint64_t off;
    const struct dt_type *elem;
    const struct dt_op *op; /* NULL: compare and swap */
    const void *origin, *compare;
    struct acc_delegation *asked; /* the asker's */
    uint32_t number;
    int asker;               /* its process */
};
/* Owner: one element of its mapped memory. 1: done and answered; 0: it was taken back, or the asker
 * failed (its stripe may be another process's now). */
int acc_answer(const struct acc_target *t, const struct acc_question *q);
/* Owner: the same for a piece of a put or get. */
struct acc_copy {
    uint64_t off;     /* of the operation's first byte: its stripe decides */
    char *to;
    const char *from;
    size_t len;
    struct acc_delegation *asked;
    uint32_t number;
    int asker;
};
int acc_answer_copy(struct acc_ctl *c, const struct acc_copy *x);
/* Several puts and gets in one slot of the asker's shared memory (near/bundle.c): its head. The
 * owner does them under stripe 0, under which the asker takes them back. */
struct acc_bundle {
    _Atomic uint64_t done; /* by the owner: number of the last one done */
    _Atomic uint64_t back; /* by the asker: of the last one taken back */
    _Atomic uint64_t number; /* by the asker: what lies here now; never 0 */
    uint32_t ops, unused;
};
/* Owner: 1: it is to be done now, until acc_bundle_end(). 0: it was taken back, or the asker (a
 * process) failed. */
int acc_bundle_begin(struct acc_ctl *c, struct acc_bundle *b, uint64_t number, int asker);
/* Owner: number 0: it could not be done. */
void acc_bundle_end(struct acc_ctl *c, struct acc_bundle *b, uint64_t number);
/* Asker: 1: the owner will not do it; 0: it has done it. */
int acc_bundle_take_back(struct acc_ctl *c, struct acc_bundle *b, uint64_t number);
static inline int acc_bundle_done(const struct acc_bundle *b, uint64_t number)
{
    /* Acquire pairs with the release in acc_bundle_end(): the bytes are there. */
    return atomic_load_explicit(&b->done, memory_order_acquire) == number;
}
/* Asker: is it, or one after it up to `last`, answered? Then a->old is valid. Numbers wrap
 * around. */
static inline int acc_answered(const struct acc_delegation *a, uint32_t number, uint32_t last)
{
    /* Acquire pairs with the release in acc_answer() and acc_answer_copy(). */
    return atomic_load_explicit(&a->answered, memory_order_acquire) - number <= last - number;
}
/* Owner: a check without the stripe. 1 is final, 0 may change. */
static inline int acc_taken_back(const struct acc_delegation *a, uint32_t number)
{
    /* By its distance, since numbers wrap around. */
    return (int32_t)(atomic_load_explicit(&a->back, memory_order_relaxed) - number) >= 0;
}
/* Asker: 1: the owner will not do it, nor what was asked before and is not answered; 0: it has done
 * it. */
int acc_take_back(struct acc_ctl *c, uint64_t off, struct acc_delegation *a, uint32_t number);

#endif
