/* room.h - the record of the room: what is one for all windows of a process (part of core.h). */
#ifndef RMA_CORE_ROOM_H
#define RMA_CORE_ROOM_H

#include "rma/core/win.h"

/* Polls of higher sub-rooms: rma_init() registers them, rma_poll() calls them. Each returns
 * events. */
enum rma_poll_index {
    RMA_POLL_LOCKQ, /* far lock requests at this target */
    RMA_POLL_FENCE, /* barriers of fences               */
    RMA_POLL_START, /* posts that a START waits for     */
    RMA_POLLS
};

enum { RMA_MIRRORS = 16 };

struct rma {
    struct rma_near_table fast;  /* first: near.h */
    struct map wins;            /* id -> window */
    uint32_t ranks;             /* the bits of a rank in the sender's word */
    struct list windows, active, called;
    uint8_t ending;             /* in MPI_Finalize */
    uint8_t no_locks_told;      /* rma_no_locks() has warned */
    uint8_t swap_told;          /* rma_notify_swapped() has */
    uint8_t *failed;            /* by process: 1 if its failure was handled; NULL: none was */
    struct rma_win *spare;      /* freed windows, as a heap: as many as ever existed at once */
    unsigned lazy_alls;         /* under LOCK_ALL: a far member without LOCK, a lazy near one */
    char *box;                  /* RMA_BOX_ALL bytes of shared memory, or NULL */
    struct rma_bundles *bundles; /* bundle.c; NULL: none yet */
    struct rma_guard *guards; /* coherent/guard.c */
    unsigned replicated;        /* windows with copies: replicas.c */
    /* Those of which this process stores to all copies, by the low bits of the handle but the last:
     * the next handle is that of the window of copies. A later one takes the place. */
    struct rma_win *mirror[RMA_MIRRORS];
    struct ways put_ways, get_ways; /* of one block: through the box (0), by CMA (1) */
    uint8_t box_busy;           /* a thread uses it for delegate_copy.c */
    struct progress_hook hook;
    struct rma_note_waiting notes;
    struct list makings;        /* creations under way: window/begin.c */
    int (*polls[RMA_POLLS])(struct rma_win *w);
    struct rma_quota op_quota, target_quota; /* global */
    struct rma_op **op_slab;
    unsigned op_slabs;
    struct rma_op *op_free;     /* linked by link.next */
    struct coalesce_buffer *coalesce_idle; /* coalesce.c */
    unsigned coalesce_buffers, coalesce_buffers_max; /* buffers allocated; their limit */
    struct rma_target *target_free;
    void **target_slab;
    unsigned target_slabs;
    unsigned ops_used, targets_used; /* global quota */
    struct rma_native *native_free, *native_doubted; /* records of native.c */
    struct list pulls;        /* records of pull_target.c, at most cvar.rma_pulls */
    struct progress_hook pull_hook; /* while the network has no room for a pull */
    struct rma_atomics atomics[RMA_REGS]; /* of the transports open, as they were asked */
    uint64_t flushes;           /* native ones begun */
    struct rma_txs *txs;        /* transmit contexts: lane.c; NULL: none yet */
    unsigned malformed;          /* malformed packets, dropped */
    char *scratch;              /* one packet */
    struct rma_packed packed;   /* a refused BATCH that is packed in scratch */
    size_t scratch_bytes;
    char *reply;                /* one reply */
    char *answers;              /* of a batch, reply_bytes long */
    size_t reply_bytes;
    struct { /* derived types decoded recently */
        void *flat;
        size_t len;
        struct dt_type *t;
    } types[8];
    unsigned type_next;
    struct pvar_set closed;     /* sums over freed windows */
    struct rma_cached_seg cached[RMA_CACHED_SEGS]; /* newest first */
    uint8_t *cma_known;         /* by host index: CMA worked, and will work */
    uint64_t seg_id;            /* a value that peers read to test CMA */
    char win_text[MPI_MAX_OBJECT_NAME + 16]; /* rma_win_text() */
};

#endif
