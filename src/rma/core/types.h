/* types.h - records of rma/ and their invariants (part of core.h), which invariants.c asserts.
 *
 *   rma ---- windows by id --- slot[rank % n] --- target elements --- operation elements
 *       \--- lists: active windows (work for the hook), LOCK_CALLED elements in call order
 *
 * R1 An operation element is on the list of exactly one target element. next points to the first
 *   one of the list that has not left completely, or to the list's head. Those before it wait for
 *   answers.
 * R2 nops of a window is the sum over its targets; used elements of a pool never exceed its size.
 * R3 A slot is on w->table.used exactly while its list of targets is not empty.
 * R4 A target element is on w->table.ready exactly while it has something that may be sent now.
 * R5 A pinned target element (a thread waits on it) is not freed.
 * R6 Exactly the elements of MPI_Win_lock epochs whose lock is called and not granted are on
 *   rma->called, in the order of the calls.
 * R7 w->acks counts DONEs sent for evicted elements and not answered; it is 0 in WIN_UNSET.
 * R8 t->natives is the sum over its operations. While it, t->native_out or t->flushing is not 0, no
 *   DONE, UNLOCK or COMPLETE leaves for t, and t is not freed.
 * R9 t->atomics is set while a native accumulate may not be done. If the window keeps accumulates
 *   in order, no other accumulate leaves for t then, by any route.
 * R10 t->coalesced, if not NULL, is the last element of t's list: a coalesced packet of which
 *    nothing is packed for sending. It takes more operations. It is NULL while t->sync is to leave.
 * R11 In a PSCW access epoch t->unsure is set before a packet without answer of its own leaves, if
 *    the target may refuse it, or if it needs later calls of this process to get there. While it is
 *    0, COMPLETE asks for no answer: no error could come. (Before the element is evicted, DONE asks
 *    about what has left.)
 * R12 t->early, if not 0, is the token of a DONE that left with an operation before any flush and
 *    was not answered. If nothing left after it, a flush with token t->early_for takes its answer.
 * R13 op->zcopies counts the packets that left with its data and whose data the transport may
 *    still read from the program's buffer. t->zcopies is the sum over its operations. While it is
 *    not 0, the operation is not done.
 * R14 t->lone counts short puts that were alone when they were flushed, so that the network did
 *    them. From RMA_LONE_SOON on, such a put leaves at its call, without an element, and counts in
 *    t->native_out. A put that was not alone restarts the count. RMA_SHORT_SOON: its length pays.
 * R15 t->held, if not 0, is the pass of the progress engine at which the oldest operation of t was
 *    held back. Then t has queued operations, and w->held is the least of all targets or older.
 * R16 An operation with op->after (t->mark: the next one) passes no earlier one (win_order.c).
 *
 * proc->lock protects everything here; shared-memory words are atomics. */
#ifndef RMA_CORE_TYPES_H
#define RMA_CORE_TYPES_H

#include "am/am.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/sched.h"
#include "base/ways.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "mem/mem.h"
#include "obj/attr.h"
#include "obj/err.h"
#include "obj/errhandler.h"
#include "obj/request.h"
#include "progress/progress.h"
#include "rma/shared/acc.h"
#include "rma/near/near.h"
#include "rma/core/packets.h"
#include "rma/rma.h"
#include "rma/shared/shmlock.h"
#include "var/var.h"

/* --- states: written by state.c only ------------------------------------------- */
enum win_state {
    WIN_UNSET, WIN_FENCE_ISSUED, WIN_FENCE_GRANTED, WIN_PSCW_ISSUED, WIN_PSCW_GRANTED,
    WIN_LOCK_ALL_CALLED, WIN_LOCK_ALL_ISSUED, WIN_LOCK_ALL_GRANTED, WIN_PER_TARGET, WIN_STATES
};
enum target_state { TARGET_LOCK_CALLED, TARGET_LOCK_ISSUED, TARGET_LOCK_GRANTED, TARGET_STATES };
enum expo_state { EXPO_NONE, EXPO_POSTED, EXPO_STATES };

/* --- elements --------------------------------------------------------------------- */
enum op_flag {
    OP_PIGGYBACKED = 1,    /* left with a LOCK that is not granted yet: may have to be sent again */
    OP_DONE = 2,     /* complete: cleanup may free it                                        */
    OP_ANSWERS = 4,  /* get, gacc, fop, cas: its data come back                              */
    OP_NO_DATA = 8,  /* MPI_NO_OP: no origin data are sent                                   */
    OP_DIRECT = 16,  /* near target, queued until the epoch is granted                       */
    OP_BY_AM = 32,   /* the network refused it: the rest goes by message                     */
    OP_BEGUN = 64,   /* some of it has left natively                                         */
    OP_PULLED = 128 /* the target pulls its data (pull_target.c): it stays first of the queue */
};

struct rma_op {
    struct list link;     /* R1 */
    struct rma_target *t;
    uint8_t kind, flags;  /* enum rma_kind, enum op_flag */
    uint8_t aop;          /* enum dt_op_index */
    uint32_t id;          /* names it in replies; never 0 */
    uint64_t seq;         /* order of MPI calls on the window */
    struct rma_args a;    /* holds references to types and op */
    /* rma_op_alloc() clears what follows; its caller sets what precedes. */
    struct dt_type *elem; /* predefined type of all target elements (accumulates), or NULL */
    size_t bytes;         /* packed length; the target layout's first bytes if it is longer */
    size_t sent;          /* packed bytes that left (or were asked for) */
    size_t answered;      /* packed bytes that came back (OP_ANSWERS) */
    unsigned acks, zcopies; /* own answers outstanding (unordered transport); R13 */
    unsigned natives;     /* its native pieces under way ... */
    size_t native_bytes;  /* ... and their bytes, which no message answers (OP_ANSWERS) */
    struct rma_request *req;
    int err;
    uint8_t after;        /* R16 */
    uint8_t last_waits;   /* its last part, which notifies, waits for the answers to the others */
    char *coalesced;      /* coalesce.c: the operations it stands for, as packets; NULL: one */
    uint32_t coalesced_ops;
    /* bytes of one operation's data, of one in all, of the buffer */
    uint32_t each_bytes, step_bytes, coalesce_room;
};

struct rma_request {
    struct request r;
    struct rma_op *op; /* NULL when done */
    /* staged.c: called before op, with its buffers on devices, is done; may set op->err. NULL:
     * they are on the host. */
    void (*end)(struct rma_op *op);
    struct rma_staged *staged;
    uint64_t win, channel; /* its window, whose handler is called for an error (MPI-3.1 8.3) */
    const char *call;  /* that made it */
    int rank;          /* with an error: rank of the target */
    /* Set with an error: the window may be freed before the user tests the request. */
    struct errhandler *errhandler;
    int win_handle;
    char *win_name;    /* NULL: it has none */
};

enum target_flag {
    TARGET_NOCHECK = 1,     /* locked with MPI_MODE_NOCHECK: the target has no record of the lock */
    TARGET_JOIN = 2,        /* lock of a LOCK_ALL                                                 */
    TARGET_REFUSED = 4,     /* the lock queue was full: send again at retry_at with the stamp    */
    TARGET_DRAIN = 8,       /* drain: send everything at once until the queue is empty           */
    TARGET_OVER_LIMIT = 16, /* over the limit of queued operations: send all but the tail         */
    TARGET_NEAR = 32,       /* lock words are near: UNLOCK and COMPLETE go there                 */
    TARGET_DIRTY = 64,      /* something without answer of its own left since the last DONE       */
    TARGET_FAILED = 128
};

enum { RMA_LONE_SOON = 4, RMA_SHORT_SOON = 5 }; /* R14 */
struct rma_target {
    struct list link;  /* slot */
    struct list ready; /* R4 */
    struct list called; /* R6 */
    struct list ops;   /* R1 */
    struct list *next; /* R1 */
    struct rma_op *coalesced; /* R10 */
    struct rma_win *w;
    void *caller;      /* thread that called MPI_Win_lock */
    uint32_t packet;   /* longest packet to it (bytes); 0: no way there */
    uint32_t gather;   /* bytes of small operations that a packet waits for */
    uint32_t small;    /* operations up to so many bytes are small, whatever cvar.rma_small is */
    uint32_t most_replies; /* most replies that one packet may ask for */
    uint8_t ordered;   /* am_ordered() */
    int rank, world;
    uint8_t state;     /* enum target_state */
    uint8_t lock;      /* MPI_LOCK_: SHMLOCK_SHARED or SHMLOCK_EXCLUSIVE */
    uint8_t flags;     /* enum target_flag */
    uint8_t atomics;   /* R9 */
    uint8_t unsure;    /* R11 */
    uint8_t lone, after, mark, laneless; /* R14, R16; it gets no lane */
    uint16_t pins;     /* R5 */
    uint16_t sync;     /* RMA_F_DONE, UNLOCK, COMPLETE: flags for the tail of the queue */
    uint16_t piggybacked;     /* the flags that left with the LOCK that is under way */
    uint16_t replies;  /* reserved by the LOCK packet under way */
    unsigned nops, queued; /* elements; those not completely sent */
    uint64_t held;     /* R15 */
    uint32_t token;    /* for `sync` */
    uint32_t out_token; /* youngest token that left */
    uint32_t answered; /* last token that was answered */
    uint8_t loose;     /* tokens that are out left in another order than they were given out */
    uint8_t doubt;     /* an answer without waiter was counted: perhaps in place of another */
    unsigned tokens_out;
    uint32_t early, early_for; /* R12 */
    uint8_t unasked;   /* an early answer came, and no flush was called since it was asked for */
    int cut;            /* -errno: why a packet to a living target could not leave; 0: none */
    uint8_t closing;    /* its epoch is over: it is deleted when nothing uses it */
    uint32_t born;      /* last token of the window when this element was made */
    unsigned acks;     /* unordered: own answers outstanding */
    struct rma_key *key; /* for native access; NULL: not looked up yet, or no free place */
    struct rma_offer *offer; /* of the operation whose data the target pulls; NULL: none */
    unsigned natives, zcopies; /* R8, R13 */
    uint32_t zcopy_min; /* bytes from which a contiguous part goes zero-copy; UINT32_MAX: never */
    unsigned native_out; /* native puts and accumulates that no flush has confirmed */
    struct lane *lane; /* lane.c; NULL: it has had none */
    unsigned flushing, tx_out; /* of them waiting for the flush under way; by a lane */
    uint64_t flush, stamp, retry_at, retry_ns; /* number of that flush */
    int err;           /* first error since the last synchronization ... */
    uint8_t lost;      /* ... and a result did not come, which is an error of a local flush, too */
};

/* What is known of the window at one rank, and what native access needs. It outlives the target
 * element, so that the next epoch finds it. KEY_NONE: no native access. */
enum key_state { KEY_NEW, KEY_ASKED, KEY_NONE, KEY_READY };
struct rma_key {
    struct list link;  /* w->native.keys, last used at the end */
    int rank;
    uint8_t state;     /* enum key_state */
    uint8_t then_am;   /* TP_PUT_THEN_AM: a later DONE confirms puts */
    uint8_t leaves, reg_local; /* TP_AM_LEAVES, TP_REG_LOCAL */
    unsigned refs;     /* target elements that point to it */
    uint16_t align;    /* address of the window there, modulo RMA_KEY_ALIGN */
    uint16_t note;     /* its number there (note_number.c); RMA_NOTE_ASK: not known; 0: none */
    struct tp *tp;
    const struct tp_ops *ops;
    struct tp_far *far;
    uint64_t base;     /* dynamic: first displacement of the known attached region; else 0 */
    uint64_t size;     /* of the window there, or of that region (bytes) */
    uint64_t unit;     /* displacement unit there (bytes); 0: neither is known */
    size_t most;       /* bytes of one put or get */
    size_t put_inline; /* bytes of a put that the transport copies */
    size_t put_min, get_min; /* bytes from which it is faster; SIZE_MAX: never */
    uint8_t lone_put, lone_get; /* it is always faster for one that is flushed at once */
    uint16_t notes;    /* counters there, at most RMA_NOTE_REACH */
    uint32_t detached; /* dynamic: regions detached there when this one was told; a POST has more */
    const struct rma_atomics *atomics; /* that may be used there; NULL: none */
};
_Static_assert(sizeof(struct rma_key) <= 128, "what rma.md states of a window's memory");
/* What one transport's atomics can do, asked once: a bit for each enum dt_op_index. */
enum rma_atomic { RMA_ATOMIC_PLAIN, RMA_ATOMIC_FETCH, RMA_ATOMIC_CAS, RMA_ATOMICS };
struct rma_atomics {
    struct tp *tp;
    uint16_t ok[2][RMA_ATOMICS]; /* elements of 4, of 8 bytes */
};
struct rma_reg { /* own memory, as registered with one transport */
    struct tp *tp;
    const struct tp_ops *ops;
    struct tp_mem *mem;
};
enum { RMA_REGS = 2 };

struct rma_slot {
    struct list targets;
    struct list used; /* R3 */
};

/* Two-level pool: shares are the paper's counts; the memory comes from slabs of the process. */
struct rma_quota {
    unsigned free, size;
    unsigned over;  /* in use beyond the shares: with threads only, see evict.c */
    unsigned overdraft; /* overdraft: the next allocation may exceed the shares  */
};
enum { RMA_SLAB = 64 };

/* --- waits for answers ------------------------------------------------------------ */
/* A BATCH that the transport refused stays packed where it was made, and grows there until it
 * leaves. So each operation is packed once, even while a peer takes nothing. */
struct rma_packed {
    const struct rma_target *t; /* NULL: nothing */
    uint32_t first;             /* its first operation (id) */
    struct list *last;          /* its last operation */
    unsigned ops, replies;
    int dirty, unsure;          /* R11 */
    size_t bytes;
};

/* A thread that flushes: its DONE packets carry its token, and their answers count it down. Lives
 * on the thread's stack. */
struct rma_resp {
    struct list link; /* w->resps */
    uint32_t token;
    unsigned pending;
    int rank;         /* the one target, or -1 */
    int alone;        /* asked without an element: rma_request_alone(), unlock_others() */
    int err;
};

/* Memory of a list, which one epoch leaves to the next. */
struct rma_scratch {
    void *mem;
    size_t room; /* bytes */
};

/* --- target side ------------------------------------------------------------------ */
struct lock_entry { /* a lock request that waits */
    struct list link;
    int src;          /* world rank of the requester */
    uint32_t key;     /* its place: ascending (shmlock.h) */
    uint32_t grants;  /* shmlock_grants() when it came */
    int broken;       /* a holder failed while it waited: the grant reports that */
    struct rma_hdr hdr;
    char *packet;
};

struct rma_lockq {
    struct list entries; /* oldest first */
    unsigned count;      /* of them at most cvar.rma_lock_entries */
    size_t bytes;        /* of kept packets, at most cvar.rma_lock_bytes */
    uint64_t stamps, admitted; /* refused requests; of them admitted since */
    struct map holders;  /* world rank + 1 -> enum shmlock_type: far origins that hold the lock */
    unsigned anonymous;  /* shared holders beyond the bound of the map, counted only */
    int doubt;           /* one of the anonymous holders may have failed */
    unsigned broken;     /* shmlock_broken() when last looked at */
};

struct rma_alone_place { /* coherent/alone.c: signs and a byte per tile */
    struct mem_key key;   /* their segment, size 0: none ... */
    uint64_t off, tile;   /* ... and where in it; bytes of a tile */
    uint32_t barrier;     /* the owner executes the fences of its peers */
};
#include "rma/core/room.h"

#endif
