/* types.h - records of rma/ and the truths about them (part of core.h).
 *
 *   rma ---- windows by id --- slot[rank % n] --- target elements --- operation elements
 *       \--- lists: active windows (work for the hook), LOCK_CALLED elements in call order
 *
 * R1  An operation element is on the list of exactly one target element; next points to the first
 *     one of the list that has not left completely, or to the list's head.  Those before it wait
 *     for answers.
 * R2  nops of a window is the sum over its targets; used elements of a pool never exceed its size.
 * R3  A slot is on w->slots_used exactly while its list of targets is not empty.
 * R4  A target element on w->ready has something that may be sent now, and each that has is on it.
 * R5  A pinned target element (a thread waits on it) is not freed.
 * R6  Exactly the elements of MPI_Win_lock epochs whose lock is called and not granted are on
 *     rma->called, in the order of the calls.
 * R7  w->acks counts DONEs sent for evicted elements and not answered; it is 0 in WIN_UNSET.
 * R8  t->natives is the sum over its operations; while it, t->native_out or t->flushing is not 0 no DONE, UNLOCK or
 *     COMPLETE leaves for t, and t is not freed.
 * R9  t->atomics is set while a native accumulate may not be done.  Where the window keeps accumulates in order, no
 *     other one leaves for t then, by no route.
 * R10 t->train, where it is not NULL, is the last element of t's list, a train of which nothing is packed for sending: it takes
 *     more.  None is while t->sync is to leave.
 * R11 In a PSCW access epoch t->unsure is set before anything leaves that has no answer of its own and that the target may
 *     refuse, for all that is known here, or that may need later calls of ours to get there.  Where it is not, COMPLETE asks for no
 *     answer: there is no error that it could tell.  (Before the element is evicted DONE asks about what has left.)
 * R12 t->early, where it is not 0, is the token of a DONE that left with an operation before anybody flushed, and was not answered.
 *     A flush that finds nothing that left after it takes its answer: t->early_for is that flush's token.
 * R13 op->kept counts the packets that have left with its data and whose data the transport may read yet from the program's buffer; t->kept is
 *     the sum over its operations.  While it is not 0 the operation is not done.
 * R14 t->lone counts short puts that were alone when they were flushed, so that the network did them.  At RMA_LONE_SOON such a put leaves when it is called,
 *     without an element, and is one of t->native_out like any.  Where one was not alone the count begins anew.
 * R15 t->held is 1 + progress_polls() of the moment since which operations of t, in a passive epoch, are held back; 0: none are.
 *     w->held is 0 only where all of the window's are, and not larger than any other.  While one is not 0 the window is on r->active.
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
    OP_RIDES = 1,    /* left with a LOCK that is not granted yet: may have to be sent again */
    OP_DONE = 2,     /* complete: cleanup may free it                                        */
    OP_ANSWERS = 4,  /* get, gacc, fop, cas: its data come back                              */
    OP_NO_DATA = 8,  /* MPI_NO_OP: no origin data travel                                     */
    OP_DIRECT = 16,  /* near target, queued until the epoch is granted                       */
    OP_BY_AM = 32,   /* the network refused it: the rest goes by message                     */
    OP_BEGUN = 64,   /* an accumulate of which elements have left natively                   */
    OP_FETCHING = 128 /* the target fetches its data (fetch_target.c): it stays first of the
                       * queue */
};

struct rma_op {
    struct list link;     /* R1 */
    struct rma_target *t;
    uint8_t kind, flags;  /* enum rma_kind, enum op_flag */
    uint8_t aop;          /* enum dt_op_index */
    uint32_t id;          /* names it in replies; never 0 */
    uint64_t seq;         /* order of MPI calls on the window */
    struct rma_args a;    /* types and op are referenced */
    /* From here on cleared by rma_op_alloc(), what stands before is its caller's. */
    struct dt_type *elem; /* predefined type of all target elements (accumulates), or NULL */
    size_t bytes;         /* packed, that move: of the target layout the first so many */
    size_t sent;          /* packed bytes that left (or were asked for) */
    size_t answered;      /* packed bytes that came back (OP_ANSWERS) */
    unsigned acks;        /* own answers outstanding (unordered transport) */
    unsigned kept;        /* R13 */
    unsigned natives;     /* its native pieces under way ... */
    size_t native_bytes;  /* ... and their bytes, which no message answers for (OP_ANSWERS) */
    struct rma_request *req;
    int err;
    char *train;          /* coalesce.c: the operations that this element stands for, as they
                           * travel; NULL: it is one */
    uint32_t train_ops;
    uint32_t train_each, train_step, train_room; /* bytes of data of one, of one in all, of all */
};

struct rma_request {
    struct request r;
    struct rma_op *op; /* NULL when done */
    uint64_t win;      /* id of its window, whose handler answers for an error (MPI-3.1 8.3) */
    const char *call;  /* that made it */
    int rank;          /* with an error: of the target */
    /* Set by an error: the window may end before the user asks for the request. */
    struct errhandler *errhandler;
    int win_handle;
    char *win_name;    /* NULL: it has none */
};

enum target_flag {
    TARGET_NOCHECK = 1,   /* locked with MPI_MODE_NOCHECK: the target knows of no lock          */
    TARGET_JOIN = 2,      /* lock of a LOCK_ALL                                                 */
    TARGET_REFUSED = 4,   /* the lock queue was full: ask again at retry_at with the stamp     */
    TARGET_HURRY = 8,     /* send everything, hold nothing back, until the queue is empty      */
    TARGET_SPILL = 16,    /* too much is queued: send all but the tail                          */
    TARGET_NEAR = 32,     /* lock words are near: UNLOCK and COMPLETE go there                 */
    TARGET_DIRTY = 64,    /* something left since the last DONE that has no answer of its own   */
    TARGET_DEAD = 128
};

enum { RMA_LONE_SOON = 4 }; /* R14 */
struct rma_target {
    struct list link;  /* slot */
    struct list ready; /* R4 */
    struct list called; /* R6 */
    struct list ops;   /* R1 */
    struct list *next; /* R1 */
    struct rma_op *train; /* R10 */
    struct rma_win *w;
    void *caller;      /* thread that called MPI_Win_lock */
    uint32_t packet;   /* longest packet to it (bytes); 0: no way there */
    uint32_t gather;   /* bytes of small operations to wait for before a packet leaves */
    uint32_t small;    /* operations up to so many bytes are among these, whatever cvar.rma_small
                        * says */
    uint32_t most_replies; /* that one packet may ask for */
    uint8_t ordered;   /* am_ordered() */
    int rank, world;
    uint8_t state;     /* enum target_state */
    uint8_t lock;      /* MPI_LOCK_: SHMLOCK_SHARED or SHMLOCK_EXCLUSIVE */
    uint8_t flags;     /* enum target_flag */
    uint8_t atomics;   /* R9 */
    uint8_t unsure;    /* R11 */
    uint8_t lone;      /* R14 */
    uint16_t pins;     /* R5 */
    uint16_t sync;     /* RMA_F_DONE, UNLOCK, COMPLETE: to be carried by the tail */
    uint16_t rode;     /* of them left with the LOCK that is under way */
    uint16_t replies;  /* reserved by the LOCK packet under way */
    unsigned nops, queued; /* elements; of them not completely sent */
    uint64_t held;     /* R15 */
    uint32_t token;    /* for `sync` */
    uint32_t out_token; /* youngest token that left */
    uint32_t answered; /* last token that was answered */
    uint8_t loose;     /* those that are out left in another order than they were given out */
    uint8_t doubt;     /* an answer for which nobody waited was counted: perhaps in the place of
                        * another */
    unsigned tokens_out;
    uint32_t early, early_for; /* R12 */
    uint8_t unasked;   /* an early answer came, and nobody has flushed since it was asked for */
    int cut;            /* -errno: why a packet to it, which lives, could not leave; 0: none */
    uint8_t leaving;    /* its epoch is over: it goes as soon as nobody has it in hand */
    uint32_t born;      /* last token of the window when this element was made */
    unsigned acks;     /* unordered: own answers outstanding */
    struct rma_key *key; /* for native access; NULL: not looked up yet, or there is no place for
                          * it */
    struct rma_offer *offer; /* of the operation that it fetches; NULL: none */
    unsigned natives;  /* R8 */
    unsigned kept;     /* R13 */
    uint32_t keep;     /* bytes of a contiguous part that are not copied; UINT32_MAX: all are */
    unsigned native_out; /* native puts and accumulates that no flush has confirmed */
    unsigned flushing; /* of them waiting for the flush under way */
    uint64_t flush;    /* number of that flush */
    uint64_t stamp, retry_at, retry_ns;
    int err;           /* first error since the last synchronization */
};

/* What is known of the window at one rank, and what native access needs; outlives the target
 * element, so that the next epoch finds it.  KEY_NONE: no native access. */
enum key_state { KEY_NEW, KEY_ASKED, KEY_NONE, KEY_READY };
struct rma_key {
    struct list link;  /* w->keys, last used at the end */
    int rank;
    uint8_t state;     /* enum key_state */
    uint8_t then_am;   /* TP_PUT_THEN_AM: a later DONE confirms puts */
    uint8_t leaves;    /* TP_AM_LEAVES */
    uint8_t reg_local; /* TP_REG_LOCAL */
    unsigned refs;     /* target elements that point to it */
    uint32_t align;    /* address of the window there, modulo RMA_KEY_ALIGN */
    struct tp *tp;
    const struct tp_ops *ops;
    struct tp_far *far;
    uint64_t base;     /* dynamic: first displacement of the attached region that is known; else
                        * 0 */
    uint64_t size;     /* of the window there, or of that region (bytes) */
    uint64_t unit;     /* displacement unit there (bytes); 0: neither is known */
    size_t most;       /* bytes of one put or get */
    size_t put_inline; /* bytes of a put that the transport copies */
    size_t put_min, get_min; /* bytes from which it pays; SIZE_MAX: never */
    uint8_t lone_put, lone_get; /* for one that is flushed at once it pays always */
    uint32_t detached; /* dynamic: regions detached there when the region was told; another number
                        * in a POST: it may be gone */
    const struct rma_atomics *atomics; /* that may be used there; NULL: none */
};
_Static_assert(sizeof(struct rma_key) <= 128, "what rma.md states of a window's memory");
/* What one transport's atomics can do, asked once: [elements of 4, of 8 bytes][enum rma_atomic],
 * bit enum dt_op_index. */
enum rma_atomic { RMA_ATOMIC_PLAIN, RMA_ATOMIC_FETCH, RMA_ATOMIC_CAS, RMA_ATOMICS };
struct rma_atomics {
    struct tp *tp;
    uint16_t ok[2][RMA_ATOMICS];
};
struct rma_reg { /* own memory, as one transport knows it */
    struct tp *tp;
    const struct tp_ops *ops;
    struct tp_mem *mem;
};
enum { RMA_REGS = 2 };

struct rma_slot {
    struct list targets;
    struct list used; /* R3 */
};

/* Two-level pool: the paper's accounting by counts; memory comes from slabs of the process. */
struct rma_quota {
    unsigned free, size;
    unsigned over;  /* in use beyond the shares: threads only, see evict.c */
    unsigned grace; /* the next allocation may go beyond                     */
};
enum { RMA_SLAB = 64 };

/* --- waits for answers ------------------------------------------------------------ */
/* A BATCH that the transport refused lies packed where it was made, and grows there until it goes:
 * while a peer takes nothing each further operation is packed once. */
struct rma_packed {
    const struct rma_target *t; /* NULL: nothing */
    uint32_t first;             /* its first operation (id) */
    struct list *last;          /* its last operation */
    unsigned ops, replies;
    int dirty, unsure;          /* R11 */
    size_t bytes;
};

/* A thread that flushes: DONE packets carry its token, answers count it down.  Lives on the
 * thread's stack. */
struct rma_resp {
    struct list link; /* w->resps */
    uint32_t token;
    unsigned pending;
    int rank;         /* the one target, or -1 */
    int alone;        /* asked past any element: rma_ask_alone(), unlock_others() */
    int err;
};

/* Memory of a list that an epoch needs and the next one again. */
struct rma_scratch {
    void *mem;
    size_t room; /* bytes */
};

/* --- target side ------------------------------------------------------------------ */
struct lock_entry { /* a lock request that waits */
    struct list link;
    int src;          /* world rank */
    uint32_t key;     /* its place: ascending (shmlock.h) */
    uint32_t grants;  /* shmlock_grants() when it came */
    int broken;       /* a holder died while it waited: it is told with the grant */
    struct rma_hdr hdr;
    char *packet;
};

struct rma_lockq {
    struct list entries; /* oldest first */
    unsigned count;      /* of them at most cvar.rma_lock_entries */
    size_t bytes;        /* of kept packets, at most cvar.rma_lock_bytes */
    uint64_t stamps, admitted; /* refused requests; of them admitted since */
    struct map holders;  /* world rank + 1 -> enum shmlock_type: far origins that hold the lock */
    unsigned anonymous;  /* shared holders beyond the bound of the map */
    int doubt;           /* one of the anonymous may have died */
    unsigned broken;     /* shmlock_broken() when last looked at */
};

#include "rma/core/win.h"

#endif
