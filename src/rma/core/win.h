/* win.h - the records of a window and of its node segment. */
#ifndef RMA_CORE_WIN_H
#define RMA_CORE_WIN_H

/* --- node segment ------------------------------------------------------------------ */
/* the box of a process: slots of delegate_copy.c, then those of bundle.c */
enum { RMA_BOX_BYTES = 64 << 10, RMA_BOX_SLOTS = 8, RMA_BUNDLES = 8, RMA_BUNDLE_BYTES = 8 << 10,
       RMA_BOX_ALL = RMA_BOX_BYTES + RMA_BUNDLES * RMA_BUNDLE_BYTES };
enum { RMA_REGIONS = 64 }; /* attached regions of a dynamic window that near peers can see */
struct rma_region {
    uint64_t base, size;
};
struct rma_attached { /* an attached region, as its own process records it */
    uint64_t base, size;
    struct mem_segment *moved; /* of moved memory, held; NULL: none */
    unsigned handles, ending;  /* memory handles that live, and that end, of its memory */
    uint8_t by_handle; /* it was attached for a memory handle, and goes with the last one */
};
struct rma_handle_place { /* the table that handle.h describes */
    struct mem_key key;
    atomic_uint num;     /* its entries; 0: there is none */
};
struct rma_peer { /* one member's record, in shared memory, 64-byte aligned */
    struct acc_delegation asked; /* what it delegates to others (delegate.c) */
    uint64_t base, size, disp_unit;
    struct mem_key key;  /* size 0: no segment */
    uint64_t key_off;
    uint64_t seg_id;     /* a value that peers read by CMA, as a test of CMA */
    uint64_t seg_id_at;  /* its address in the owner's space */
    uint64_t acc_off;    /* of its acc_ctl in the node segment */
    struct mem_key box;  /* the segment of its box (delegate_copy.c), size 0: none ... */
    uint64_t box_off;    /* ... and where in it */
    int32_t rank, host_index; /* rank: in the window */
    uint32_t stripes;
    int32_t error;       /* MPI error class: creation failed at this member */
    struct rma_alone_place alone;
    struct rma_note_place notes;
    struct rma_handle_place handles;
    uint32_t coherent;   /* 1: data go by message, since it may lie on a device */
    atomic_uint unmapped; /* peers that do not map its memory */
    atomic_uint version; /* attach version; odd while the list changes (dynamic) */
    atomic_uint nregions;
    uint32_t overflow;   /* 1: there are more regions than the list shows */
    struct rma_region region[RMA_REGIONS]; /* sorted by base */
};

/* A node segment of a freed window, kept for the next window of the same processes (segment.c). */
struct rma_cached_seg {
    struct mem_segment *seg;
    uint64_t seg_id;         /* the same in all members; 0: none kept */
    unsigned bars;           /* barriers that it has counted */
    unsigned n;
    int32_t *ranks;          /* [n] world ranks of the members, ascending by rank in the window */
};
enum { RMA_CACHED_SEGS = 8 };
struct rma_box {             /* of a near process (delegate_copy.c) */
    struct mem_segment *seg; /* NULL: its own, or none */
    char *at;
};
struct rma_node { /* this window's node, private view */
    struct mem_segment *seg; /* NULL: alone on the node, `page` is heap memory */
    uint64_t seg_id;         /* names the segment in all members */
    char *area;              /* short windows lie here, `part` bytes each; NULL: none */
    uint64_t part;
    uint8_t reusable;        /* every member has finished with it */
    struct rma_cached_seg offer; /* while members agree: another thread must not offer it, too */
    char *page;
    struct shmbar *bar;
    struct shmpair *pairs;
    struct coll_piece *pieces; /* leader: room to send the key to the others, until it has */
    struct rma_box *boxes;   /* [nears], or NULL: no peer reaches this memory by CMA */
    struct shmnode n;
    unsigned bars;           /* barriers that this process arrived at */
};

struct rma_evicted_set {     /* evicted.c */
    unsigned count;   /* of ranks in both */
    struct map locked, cut;
};

/* --- window --------------------------------------------------------------------------- */
enum { RMA_PAGE = 4096 }; /* bytes; alignment of window memory, whatever the page size */
/* Parts of a window; each is written by the sub-room that is named. */
struct rma_win_table {          /* core/, engine/: slots, target elements, operations */
    struct rma_slot *slots;
    unsigned nslots;
    struct list used;           /* slots that have an element */
    struct list ready;          /* elements that have something to send */
    struct rma_quota op_quota, target_quota;
    unsigned nops, ntargets;
    unsigned near_targets;      /* elements of near targets */
    struct rma_target *recent;  /* of the last small operation, NULL: unknown */
};

struct rma_win_native {         /* engine/native.c: the network's own put, get and atomics */
    struct rma_reg reg[RMA_REGS];
    unsigned nregs;
    size_t min;                 /* bytes from which put or get may pay; 0: never */
    size_t pull_min;            /* from which the target may pull an accumulate; SIZE_MAX: never */
    struct list keys;           /* of ranks used recently, at most cvar.rma_keys */
    unsigned nkeys;
    uint8_t acc;                /* accumulates may go natively, as far as this process knows */
    struct rma_held *held;      /* dynamic: memory handles of others (handle.h); NULL: none yet */
    unsigned sure;              /* elements whose lane is open, and nothing else of them is out */
    atomic_uchar by_lanes;      /* all are so: rma_lanes_admit() */
};

struct rma_win_mem {            /* window/: the memory that the window exposes */
    void *heap, *block;         /* memory of this window that holds base, or NULL; of an arena */
    size_t align;               /* info key: alignment of memory made here (bytes), the largest of
                                 * all members, at least RMA_PAGE */
    uint8_t large_pages;        /* info key: requested; after memory is made: granted */
    uint8_t stays;              /* created: the program may store to it meanwhile (begin.c) */
    struct mem_segment *made;   /* allocated here */
    struct mem_segment *moved;  /* created: of moved memory, held; NULL: none */
    struct rma_attached *regions; /* dynamic: attached memory, sorted by address */
    unsigned nregions, regions_room;
    uint32_t detached;          /* R11, dynamic: number of detaches, modulo 2^32 */
    uint64_t *empties;          /* dynamic: bases attached with size 0, in no order */
    unsigned nempties;
    struct rma_handles *handles; /* dynamic: memory handles (handle.h); NULL: none yet */
};

struct rma_win_fence {          /* sync/fence.c */
    struct request *barrier[2]; /* outstanding, oldest first (windows over several nodes) */
    unsigned barriers;          /* outstanding; all_near: the last ones up to node.bars */
    uint8_t missed;             /* a barrier failed here, and the others may wait in it */
    uint64_t ops;               /* operations counted when the fence epoch began */
};

struct rma_win_passive {        /* sync/: locks that this process holds */
    unsigned locks, nulls;      /* open MPI_Win_lock locks; those of MPI_PROC_NULL, no epochs */
    unsigned lazies;            /* near members whose lock an open LOCK_ALL has not requested yet */
    uint64_t age, seen;         /* rma.md 5.3: age of the locks held now; the clock, as last seen */
    uint8_t nocheck_all;        /* MPI_Win_lock_all(MPI_MODE_NOCHECK) */
    uint8_t giving_back;        /* a LOCK_ALL is releasing near locks one by one */
    void *caller;               /* thread that called MPI_Win_lock_all (rma.md 5.2) */
    struct rma_evicted_set evicted; /* without element: locked, or not to be reached */
    struct lockall_switch *sw;
};

struct rma_starter {
    int rank, over;             /* its complete has come, or it has failed */
};

struct rma_win_access {         /* sync/access.c: PSCW access; the group, sorted by rank */
    int *start, last;           /* NULL: no such epoch; whose post was seen last, -1: none */
    uint8_t *waiting;           /* [i]: the post has not been seen */
    unsigned nstart, nwaiting, looks; /* members; posts to come; looks of operations for them */
    struct rma_scratch mem;
    struct map posts;           /* rank + 1 -> posts not used up (far) */
};

struct rma_win_exposure {       /* sync/exposure.c: PSCW exposure */
    int *near, last; /* near peers whose complete is awaited, or -1; rank whose came last, or -1 */
    unsigned nnear;
    struct rma_starter *far;    /* far starters, ascending */
    unsigned nfar, completes_due; /* all of them; those that are not over */
    struct rma_scratch mem;
};

struct rma_win_delegate {       /* near/delegate.c: operations that their owner executes */
    uint32_t asked;             /* number of the last delegated operation; never 0 */
    uint32_t read_to;           /* none up to this number is unread */
    uint8_t asking;             /* a thread waits for the answer to the last */
    uint8_t syncs;              /* synchronizations other than inline flushes; wraps around */
    uint8_t bundles;            /* bundle.c: not known to be done */
    uint8_t misses;             /* missed is not NULL; beside bundles: both are asked together */
    uint8_t bundle_gets;        /* those of the bundles with a get */
    uint16_t errs;              /* near targets with an error (n->err); then w->err is set, too */
    uint8_t small, was_small;   /* operations that could be bundled, saturating: since the count of
                                 * synchronizations was small_syncs, and between the two before */
    uint8_t small_syncs, local; /* local: the last synchronization was a flush_local */
    struct rma_missed *missed;  /* missed.c: dropped operations, for those that called them */
};

struct rma_win_freeing {        /* sync/free_after_failure.c */
    uint8_t under_way, lost;    /* in MPI_Win_free; its barrier reported a death, perhaps first */
    struct map asked;           /* rank + 1 -> not NULL: it has sent FREEING_ASK, so it is in
                                 * MPI_Win_free */
    uint8_t answered;           /* process `peer` has answered ... */
    uint8_t peer_freeing;       /* ... that it is in MPI_Win_free, too */
    int peer;                   /* the rank that is asked */
    uint64_t ask_again;         /* time to ask it again (ns) */
};

struct rma_win_target {         /* target/: this process as a target */
    struct rma_lockq lockq;
    struct map errors;          /* by origin and channel: struct rma_fault, for the next answer */
};

struct rma_win {
    struct rma_win_near near;   /* near.obj is the object */
    struct rma_near *records;   /* near.near, of a duplicate its window's: locks, bundles */
    struct rma_win *parent, *from; /* its window (window/dup.c); whose memory it has (living.c) */
    struct rma_channels *channels; /* its duplicates; NULL: it never had one */
    unsigned users, closed;     /* so many have its memory; it is freed, but stays for them */
    struct comm *comm;          /* own duplicate */
    struct rankmap *map;
    uint64_t id;                /* of its communicator, as it receives (obj/comm.h) */
    uint32_t src;               /* sender's word in packets: rank, above it the round of the id */
    int rank, size;
    uint8_t state, expo;        /* state.c */
    uint8_t flavor, channel;    /* channel: of a duplicate; else 0 */
    uint8_t made, hidden, helped; /* creation is over; window/revoked.c; a thread serves at all */
    uint8_t all_near;           /* every member is on this node */
    uint8_t all_mapped;         /* this process maps the memory of every near member */
    uint8_t loads;              /* rma_loads_begin(): the program may load peers' memory: LOCK_ALL
                                 * takes near locks at the call, fence and START wait */
    uint8_t starved;            /* a pool was exhausted in this epoch: send at once */
    uint8_t asks_early;         /* R12: flushes found that everything had left */
    uint8_t ordered_acc;        /* accumulate_ordering is not none */
    uint8_t orders;             /* win_order.c: some operations wait for earlier ones */
    uint8_t dead;               /* a member failed */
    uint8_t no_locks;           /* info key: locks are refused (rma_no_locks) */
    uint8_t kicking, own, copying; /* rma_win_granted(); rma_win_own(); staged.c, end() */
    uint8_t evicting;           /* calls that wait for an element of a pool, 255 at most */
    int cut, cut_rank;          /* -errno: why no packet to a living member leaves; its rank */
    struct list link, active;   /* rma->windows, rma->active */
    /* what the user sees */
    void *base;
    MPI_Aint bytes, disp_unit;
    int attr_unit;              /* disp_unit if an int holds it: the attribute points here */
    int create_flavor, model, serves; /* attributes point here */
    struct attr_list attrs;
    struct errhandler *errhandler;
    struct info *info;
    char name[MPI_MAX_OBJECT_NAME];
    unsigned nears;
    struct rma_node node;
    struct rma_win_mem mem;
    struct rma_win_delegate delegate;
    struct rma_win_native native;
    struct rma_win_table table;
    uint64_t held;              /* R15 */
    /* answers */
    uint64_t seq;
    struct list resps;
    uint32_t token;             /* last one given out, without its channel */
    unsigned acks, looks;       /* R7; rma_look_around() */
    int err, failure;           /* rma_win_add_err() */
    struct map errs;            /* rma_target_err_stays() */
    uint8_t lost;               /* some element has t->lost, or had it; or one in errs */
    struct rma_win_fence fence;
    struct rma_win_access access;
    struct rma_win_exposure exposure;
    struct rma_win_passive passive;
    struct rma_win_target target;
    struct { uint64_t types; unsigned ops, given; } promise; /* window/promise.c */
    struct rma_win_notes notes;
    struct rma_win_freeing free;
    struct rma_coherent *coherent; /* coherent/: instances on devices; NULL: none */
    struct rma_buffers *buffers;   /* coherent/: where buffers may lie; NULL: on the host alone */
    struct rma_replicas *replicas; /* replicas.c: copies at other members; NULL: none */
    unsigned copies;               /* info key: so many of each member's part */
};

#endif
