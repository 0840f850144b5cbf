/* rma_types.h - records of rma/ and the truths about them (private).
 *
 *   rma ---- windows by id --- slot[rank % n] --- target elements --- operation elements
 *       \--- lists: active windows (work for the hook), LOCK_CALLED elements in call order
 *
 * R1  An operation element is on the list of exactly one target element; next points to the first one of the list
 *     that has not left completely, or to the list's head.  Those before it wait for answers.
 * R2  nops of a window is the sum over its targets; used elements of a pool never exceed its size.
 * R3  A slot is on w->slots_used exactly while its list of targets is not empty.
 * R4  A target element on w->ready has something that may be sent now.
 * R5  A pinned target element (a thread waits on it) is not freed.
 * R6  Exactly the elements of MPI_Win_lock epochs whose lock is called and not granted are on rma->called, in the
 *     order of the calls.
 * R7  w->acks counts DONEs sent for evicted elements and not answered; it is 0 in WIN_UNSET.
 *
 * proc->lock protects everything here; shared-memory words are atomics. */
#ifndef RMA_TYPES_H
#define RMA_TYPES_H

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
#include "rma/acc.h"
#include "rma/near.h"
#include "rma/packets.h"
#include "rma/rma.h"
#include "rma/shmlock.h"
#include "var/var.h"

/* --- states: written by epoch.c only ------------------------------------------- */
enum win_state {
    WIN_UNSET, WIN_FENCE_ISSUED, WIN_FENCE_GRANTED, WIN_PSCW_ISSUED, WIN_PSCW_GRANTED, WIN_LOCK_ALL_CALLED,
    WIN_LOCK_ALL_ISSUED, WIN_LOCK_ALL_GRANTED, WIN_PER_TARGET, WIN_STATES
};
enum target_state { TARGET_LOCK_CALLED, TARGET_LOCK_ISSUED, TARGET_LOCK_GRANTED, TARGET_STATES };
enum expo_state { EXPO_NONE, EXPO_POSTED, EXPO_STATES };

/* What a call may do now with operations on one target. */
enum verdict {
    ADMIT_NO,         /* no epoch admits it: MPI_ERR_RMA_SYNC                         */
    ADMIT_ISSUE,      /* may be sent (or done, when near) now                         */
    ADMIT_LOCK_FIRST, /* may be sent with the LOCK flag                               */
    ADMIT_QUEUE,      /* queue: a barrier, a post or a lock is still under way        */
    ADMIT_WAIT        /* another thread switches the protocol: wait, then ask again  */
};

/* --- elements --------------------------------------------------------------------- */
enum op_flag {
    OP_RIDES = 1,    /* left with a LOCK that is not granted yet: may have to be sent again */
    OP_DONE = 2,     /* complete: cleanup may free it                                        */
    OP_ANSWERS = 4,  /* get, gacc, fop, cas: its data come back                              */
    OP_NO_DATA = 8,  /* MPI_NO_OP: no origin data travel                                     */
    OP_DIRECT = 16   /* near target, queued until the epoch is granted                       */
};

struct rma_op {
    struct list link;     /* R1 */
    struct rma_target *t;
    uint8_t kind, flags;  /* enum rma_kind, enum op_flag */
    uint8_t aop;          /* enum dt_op_index */
    uint32_t id;          /* names it in replies; never 0 */
    uint64_t seq;         /* order of MPI calls on the window */
    struct rma_args a;    /* types and op are referenced */
    struct dt_type *elem; /* predefined type of all target elements (accumulates), or NULL */
    size_t bytes;         /* packed, of the target layout */
    size_t sent;          /* packed bytes that left (or were asked for) */
    size_t answered;      /* packed bytes that came back (OP_ANSWERS) */
    unsigned acks;        /* own answers outstanding (unordered transport) */
    struct rma_request *req;
    int err;
};

struct rma_request {
    struct request r;
    struct rma_op *op; /* NULL when done */
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

struct rma_target {
    struct list link;  /* slot */
    struct list ready; /* R4 */
    struct list called; /* R6 */
    struct list ops;   /* R1 */
    struct list *next; /* R1 */
    struct rma_win *w;
    void *caller;      /* thread that called MPI_Win_lock */
    int rank, world;
    uint8_t state;     /* enum target_state */
    uint8_t lock;      /* MPI_LOCK_: SHMLOCK_SHARED or SHMLOCK_EXCLUSIVE */
    uint8_t flags;     /* enum target_flag */
    uint16_t pins;     /* R5 */
    uint16_t sync;     /* RMA_F_DONE, UNLOCK, COMPLETE: to be carried by the tail */
    uint16_t rode;     /* of them left with the LOCK that is under way */
    uint16_t replies;  /* reserved by the LOCK packet under way */
    unsigned nops, queued; /* elements; of them not completely sent */
    uint32_t token;    /* for `sync` */
    uint32_t out_token; /* last token that left and is not answered */
    unsigned tokens_out;
    unsigned acks;     /* unordered: own answers outstanding */
    unsigned native_out; /* native operations not flushed (none yet: no transport offers them) */
    void *far;         /* key for native access */
    uint64_t stamp, retry_at, retry_ns;
    int err;           /* first error since the last synchronization */
};

struct rma_slot {
    struct list targets;
    struct list used; /* R3 */
};

/* Two-level pool: the paper's accounting by counts; memory comes from slabs of the process. */
struct rma_quota {
    unsigned free, size;
    unsigned over;  /* in use beyond the shares: threads only, see restore.c */
    unsigned grace; /* the next allocation may go beyond                     */
};
enum { RMA_SLAB = 64 };

/* --- waits for answers ------------------------------------------------------------ */
/* A thread that flushes: DONE packets carry its token, answers count it down.  Lives on the thread's stack. */
struct rma_resp {
    struct list link; /* w->resps */
    uint32_t token;
    unsigned pending;
    int rank;         /* the one target, or -1 */
    int err;
};

/* --- target side ------------------------------------------------------------------ */
struct lock_entry { /* a lock request that waits */
    struct list link;
    int src;          /* world rank */
    size_t len;       /* kept packet; 0: only its header */
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
};

/* --- node segment ------------------------------------------------------------------ */
enum { RMA_REGIONS = 64 }; /* attached regions of a dynamic window that near peers can see */
struct rma_region {
    uint64_t base, size;
};
struct rma_peer { /* one member's record, in shared memory, 64-byte aligned */
    uint64_t base, size;
    uint32_t disp_unit;
    int32_t rank;        /* in the window */
    struct mem_key key;  /* size 0: no segment */
    uint64_t key_off;
    uint64_t cookie;     /* read by CMA to see whether it works */
    uint64_t cookie_at;  /* its address in the owner's space */
    uint64_t acc_off;    /* of its acc_ctl in the node segment */
    int32_t host_index;
    uint32_t stripes;
    int32_t error;       /* MPI class: creation failed here */
    atomic_uint unmapped; /* peers that do not map its memory */
    atomic_uint version; /* attach version; odd while the list changes (dynamic) */
    atomic_uint nregions;
    uint32_t overflow;   /* more regions than the list shows */
    struct rma_region region[RMA_REGIONS]; /* sorted by base */
};

struct rma_node { /* this window's node, private view */
    struct mem_segment *seg; /* NULL: alone on the node, `page` is heap memory */
    char *page;
    struct shmbar *bar;
    struct shmpair *pairs;
    struct shmnode n;
    unsigned bars;           /* barriers arrived for */
};

/* --- window --------------------------------------------------------------------------- */
struct rma_win {
    struct rma_win_near near; /* near.obj is the object */
    struct comm *comm;        /* own duplicate */
    struct rankmap *map;
    uint32_t id;
    int rank, size;
    uint8_t state, expo;      /* epoch.c */
    uint8_t flavor;
    uint8_t freed;
    uint8_t all_near;         /* every member is on this node */
    uint8_t lock_all_nocheck;
    uint8_t starved;          /* a pool ran dry in this epoch: hold nothing back */
    uint8_t evicted;          /* an element of this passive epoch was evicted */
    uint8_t ordered_acc;      /* accumulate_ordering is not none */
    uint8_t heap;             /* base is malloc memory of ours */
    uint8_t dead;             /* a member died */
    struct list link;         /* rma->windows */
    struct list active;       /* rma->active */
    /* what the user sees */
    void *base;
    MPI_Aint bytes;
    int disp_unit, create_flavor, model;
    struct attr_list attrs;
    struct errhandler *errhandler;
    struct info *info;
    char name[MPI_MAX_OBJECT_NAME];
    /* near */
    unsigned nears;
    struct rma_node node;
    struct mem_segment *memory; /* allocated here */
    uint64_t cookie;            /* read by peers to see whether CMA works */
    struct rma_region *regions; /* dynamic: attached memory, sorted by address */
    unsigned nregions, regions_room;
    /* slots, elements */
    struct rma_slot *slots;
    unsigned nslots;
    struct list slots_used;
    struct list ready;
    struct rma_quota op_quota, target_quota;
    unsigned nops, ntargets;
    uint64_t seq;
    struct list resps;
    uint32_t token;             /* last one given out */
    unsigned acks;              /* R7 */
    int err;                    /* errors of evicted elements */
    unsigned looks;             /* rma_look_around() */
    unsigned locks;             /* open MPI_Win_lock locks, near and far */
    /* fence */
    struct request *barrier[2]; /* outstanding, oldest first (windows over several nodes) */
    unsigned barriers;          /* outstanding; all_near: numbers node.bars - barriers + 1 .. node.bars */
    uint64_t ops_at_fence;      /* operations counted when the fence epoch began */
    /* PSCW access: group sorted by rank; waiting[i] says that the post has not been seen */
    int *start;
    uint8_t *waiting;
    unsigned nstart, nwaiting;
    int start_nocheck;
    struct map posts;           /* rank + 1 -> posts not used up (far) */
    /* PSCW exposure */
    int *expo_near;             /* near peers whose complete has not been seen, -1: seen */
    unsigned nexpo_near;
    unsigned expo_far;          /* completes of far starters expected */
    unsigned completes;         /* of far starters, not used up */
    /* lock_all switch */
    struct lockall_switch *sw;
    /* target side */
    struct rma_lockq lockq;
    struct map far_errors;      /* rank + 1 -> MPI error class, told with the next answer */
};

struct rma_slab;
struct rma {
    struct rma_near_room fast;  /* first: near.h */
    struct map wins;            /* id + 1 -> window */
    struct list windows, active, called;
    struct progress_hook hook;
    struct rma_quota op_quota, target_quota; /* global */
    struct rma_op **op_slab;
    unsigned op_slabs;
    struct rma_op *op_free;     /* linked by link.next */
    struct rma_target *target_free;
    void **target_slab;
    unsigned target_slabs;
    unsigned ops_used, targets_used; /* global quota */
    int deaths;
    char *scratch;              /* one packet */
    size_t scratch_bytes;
    char *reply;                /* one reply */
    size_t reply_bytes;
    struct { /* derived types decoded lately */
        void *flat;
        size_t len;
        struct dt_type *t;
    } types[8];
    unsigned type_next;
    struct pvar_set closed;     /* sums of windows already freed */
};

static inline struct rma *rma_room(void)
{
    return proc->rma;
}
static inline int rma_world(const struct rma_win *w, int rank)
{
    return rankmap_world(w->map, rank);
}
static inline void rma_count(struct rma_win *w, enum pvar_id id, uint64_t n)
{
    pvar_set_add(&w->near.pvars, id, n);
}

/* --- win.c ------------------------------------------------------------------------- */
struct rma_win *rma_win_find(uint32_t id);
void rma_win_drop(struct rma_win *w); /* free everything, with nobody asked */
/* Near record of a rank, NULL when it is far. */
struct rma_near *rma_near_of(const struct rma_win *w, int rank);
/* Does [off, off+len) lie in the memory this process exposes?  Its address, or NULL. (dynamic: off is an address) */
char *rma_win_local(struct rma_win *w, uint64_t off, uint64_t len);
/* Byte offset of (disp units + lo) .. hi in a target's window; 0, or -ERANGE. */
int rma_offset(uint64_t disp, uint32_t unit, int64_t lo, int64_t hi, uint64_t size, uint64_t *off);
const char *rma_call(void); /* name of the MPI call under way, for texts */
uint64_t rma_ops_total(const struct rma_win *w);

/* --- node.c: the node segment and the near table; all collective over the members on this node ------ */
int rma_node_find(struct rma_win *w);            /* who is near: w->nears, near[], all_near */
int rma_node_open(struct rma_win *w, uint64_t most_bytes); /* segment, words, this process's record; MPI code */
void rma_node_barrier(struct rma_win *w);
int rma_node_shared(struct rma_win *w, int noncontig); /* MPI_Win_allocate_shared: the one segment */
int rma_node_attach(struct rma_win *w, unsigned acc_hints); /* reach everybody's memory; MPI code */
void rma_node_close(struct rma_win *w);
struct rma_peer *rma_peer_of(const struct rma_win *w, unsigned i);

/* --- pool.c --------------------------------------------------------------------------- */
int rma_pools_init(struct rma *r);
void rma_pools_free(struct rma *r);
struct rma_op *rma_op_alloc(struct rma_win *w);         /* NULL: exhausted */
void rma_op_free(struct rma_win *w, struct rma_op *op);
struct rma_op *rma_op_by_id(uint32_t id);               /* NULL: stale or nonsense */
struct rma_target *rma_target_alloc(struct rma_win *w); /* NULL: exhausted */
void rma_target_free(struct rma_win *w, struct rma_target *t);

/* --- slot.c ---------------------------------------------------------------------------- */
int rma_slots_init(struct rma_win *w);
void rma_slots_free(struct rma_win *w);
struct rma_target *rma_target_find(const struct rma_win *w, int rank);
struct rma_target *rma_target_add(struct rma_win *w, int rank); /* NULL: pools are exhausted */
void rma_target_del(struct rma_win *w, struct rma_target *t);   /* its list is empty */
/* All targets: next one after t (NULL: first); safe when the returned one is deleted after the following call only. */
struct rma_target *rma_target_next(const struct rma_win *w, const struct rma_target *t);
void rma_targets_drop(struct rma_win *w); /* end of epoch: delete all */
/* No thread, operation or answer is concerned with it. */
int rma_target_idle(const struct rma_target *t);
void rma_targets_drop_idle(struct rma_win *w); /* fence: other threads may be operating */

/* --- restore.c --------------------------------------------------------------------------- */
/* Waits; on return the caller starts again from the top (the state may have changed). MPI error code. */
int rma_restore_target(struct rma_win *w);
int rma_restore_op(struct rma_win *w);

/* --- epoch.c -------------------------------------------------------------------------------- */
void rma_win_goto(struct rma_win *w, enum win_state s);
void rma_target_goto(struct rma_target *t, enum target_state s);
void rma_target_born(struct rma_target *t, enum target_state s);
void rma_expo_goto(struct rma_win *w, enum expo_state s);
void rma_near_opened(struct rma_win *w, struct rma_near *n); /* recompute n->open */
/* t may be NULL (no element). */
enum verdict rma_admit(const struct rma_win *w, int rank, const struct rma_near *n, const struct rma_target *t);
/* May packets of t leave: ADMIT_ISSUE, ADMIT_LOCK_FIRST or ADMIT_QUEUE. */
enum verdict rma_may_issue(const struct rma_target *t);
enum win_question {
    ASK_FENCE_MAY,     /* MPI_Win_fence is legal       */ ASK_START_MAY,   /* MPI_Win_start             */
    ASK_LOCK_MAY,      /* MPI_Win_lock                 */ ASK_LOCK_ALL_MAY, /* MPI_Win_lock_all          */
    ASK_IN_PSCW,       /* an access epoch of PSCW      */ ASK_IN_LOCK_ALL, /* LOCK_ALL, either protocol */
    ASK_IN_PASSIVE,    /* lock or lock_all             */ ASK_FREE_MAY,    /* MPI_Win_free              */
    ASK_BARRIER_OUT,   /* FENCE_ISSUED                 */ ASK_POSTS_OUT,   /* PSCW_ISSUED               */
    ASK_SWITCHING,     /* LOCK_ALL_ISSUED              */ ASK_LAZY_ALL,    /* LOCK_ALL_CALLED           */
    ASK_ALL_LOCKED,    /* LOCK_ALL_GRANTED             */ ASK_PER_TARGET, ASK_ACTIVE, /* fence or PSCW, granted */
    ASK_UNSET, ASK_IN_FENCE
};
int rma_ask(const struct rma_win *w, enum win_question q);
const char *rma_state_name(const struct rma_win *w);
const char *rma_target_state_name(const struct rma_target *t);
void rma_check_invariants(const struct rma_win *w);

/* --- op.c ---------------------------------------------------------------------------------- */
/* Do an operation on a near target at once: MPI error code; -1: not possible, take the message path. */
int rma_direct(struct rma_win *w, struct rma_near *n, const struct rma_args *a);
/* Complete: request, references, element. */
void rma_op_finish(struct rma_op *op);

/* --- issue.c, cleanup.c, advance.c ------------------------------------------------------------ */
int rma_issue_target(struct rma_target *t); /* packets sent */
int rma_issue_win(struct rma_win *w);
int rma_issue_global(void);
int rma_cleanup_target(struct rma_target *t); /* operations freed */
int rma_cleanup_win(struct rma_win *w);
int rma_cleanup_global(void);
void rma_advance_target(struct rma_target *t);
void rma_advance_win(struct rma_win *w);
int rma_advance_global(void *arg); /* the hook */
/* Something may be sent for t / the window has work: make the hook look. */
void rma_ready(struct rma_target *t);
void rma_win_active(struct rma_win *w);
void rma_win_kick(struct rma_win *w); /* the state changed: all targets look again */
/* Would anything of t be sent, given the state? */
int rma_target_due(const struct rma_target *t);
/* Ask that t's tail carries `sync` and the token (0: none). Nothing is sent yet. */
void rma_target_sync(struct rma_target *t, unsigned sync, uint32_t token);
/* A LOCK by itself: 1 sent, 0 no room now. */
int rma_lock_send(struct rma_target *t);
/* A packet of header only to a rank, element or not: 0, AM_AGAIN, -errno. */
int rma_send_plain(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies);
/* The launcher says that some rank died: fail what waits for it. */
void rma_bury(struct rma *r);
void rma_target_bury(struct rma_target *t);

enum rma_route { RMA_ROUTE_AM, RMA_ROUTE_NATIVE };
enum rma_route rma_route(const struct rma_win *w, const struct rma_target *t, const struct rma_op *op);

/* --- sync helpers (flush.c) -------------------------------------------------------------------- */
void rma_resp_open(struct rma_win *w, struct rma_resp *r, int rank);
void rma_resp_close(struct rma_win *w, struct rma_resp *r);
/* The answer to a token came from `rank` (cls: MPI error class or 0), or none is needed. */
void rma_token_done(struct rma_win *w, int rank, uint32_t token, int err);
/* Send a packet of header only, waiting for room. MPI error code. */
int rma_plain_wait(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies);
/* Complete everything issued so far on t (or all targets when NULL) at the target: DONE where needed. */
int rma_complete_target(struct rma_win *w, struct rma_target *t, unsigned sync);
int rma_complete_all(struct rma_win *w, unsigned sync);
/* Wait until all operations of t up to now have left and are answered. */
void rma_local_wait(struct rma_win *w, struct rma_target *t);
int rma_take_err(int *slot);
/* End of a near epoch, which needed nobody: now and then let others in, since programs spin on such epochs. */
void rma_look_around(struct rma_win *w);
int rma_dead_error(struct rma_win *w, int rank);

/* --- fence.c, pscw.c, lock.c, lockall.c ---------------------------------------------------------- */
int rma_fence_poll(struct rma_win *w); /* events */
void rma_barriers_wait(struct rma_win *w, unsigned left);
int rma_start_poll(struct rma_win *w);
int rma_in_start(const struct rma_win *w, int rank);
int rma_called_grant(void);           /* decision 2: waits */
void rma_lock_left(struct rma_target *t); /* its LOCK packet has left */
int rma_lockall_switch(struct rma_win *w); /* waits */
int rma_near_lock(struct rma_win *w, struct rma_near *n, enum shmlock_type type);
void rma_near_unlock(struct rma_win *w, struct rma_near *n);
/* Send the lock of t if it has not left, wait until it is granted. */
int rma_grant_wait(struct rma_target *t);
/* How long a refused lock request stays away (ns), given how long it did before. */
uint64_t rma_retry_after(uint64_t before);
/* Replies to the switch's lock messages; 1: it was one. */
int rma_switch_granted(struct rma_win *w, int rank);
int rma_switch_refused(struct rma_win *w, int rank, uint64_t stamp);

/* --- target side ----------------------------------------------------------------------------------- */
int rma_on_op(int src, const void *msg, size_t len);
int rma_on_post(int src, const void *msg, size_t len);
int rma_on_data(int src, const void *msg, size_t len);
int rma_on_ack(int src, const void *msg, size_t len);
int rma_on_granted(int src, const void *msg, size_t len);
int rma_on_refused(int src, const void *msg, size_t len);
/* Run a packet whose lock (if any) is held. `granted`: tell so with the first reply. */
void rma_run_packet(struct rma_win *w, int src, const struct rma_hdr *h, const char *payload, int granted);
/* Header with win and src filled in, and data. */
void rma_reply(struct rma_win *w, int src, struct rma_hdr *h, const void *data, size_t len);
void rma_lockq_init(struct rma_lockq *q);
void rma_lockq_free(struct rma_lockq *q);
/* The window a packet names, if it is well formed and may come from src; NULL. */
struct rma_win *rma_packet_window(int src, const void *msg, size_t len, struct rma_hdr *h);
/* Decode a derived type and keep it for the next packets; NULL: nonsense. */
struct dt_type *rma_type_learn(struct rma *r, const void *flat, size_t len);
/* A request with the LOCK flag came in. */
void rma_lockq_ask(struct rma_win *w, int src, const struct rma_hdr *h, const char *payload);
int rma_lockq_release(struct rma_win *w, int src); /* UNLOCK: MPI class of an error, or 0 */
int rma_lockq_poll(struct rma_win *w);             /* grants; events */
void rma_lockq_bury(struct rma_win *w, int src);

extern const char *const rma_packet_name[RMA_PKTS];

#endif
