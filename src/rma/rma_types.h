/* rma_types.h - what the files on top of rma/ share (private). It includes the contracts of all
 * sub-rooms. */
#ifndef RMA_TYPES_H
#define RMA_TYPES_H

#include "rma/window/window.h"

/* --- progress.c ---- */
int rma_advance_global(void *arg); /* the hook */
/* The launcher reported a failed rank: fail what waits for it. */
void rma_fail_peers(void);
/* For am_on_stall(): calls `ask` with the ranks that a window waits for and am/ has no record
 * of. */
void rma_name_awaited(void (*ask)(int rank));

/* --- op_begin.c ---- */
/* An operation with a request that the caller has made, asked: the program's. *later: the request
 * is completed when it is done. Else, or with an error, the request is the caller's still. */
int rma_op_with(struct rma_win *w, const struct rma_args *a, struct rma_request *q, int asked,
                int *later);

/* --- request.c ---- */
/* req NULL: without a handle, for internal use. */
int rma_request_make(const struct rma_win *w, struct rma_request **out, MPI_Request *req);

/* --- replicas.c ---- */
struct rma_place { /* of a copy: rank in the window, byte in its memory for copies */
    int rank;
    uint64_t at;
};
struct rma_owned { /* of a member */
    int64_t bytes, unit;
    int64_t node; /* among those of all jobs */
};
struct rma_replicas {
    unsigned users;          /* the window, and the one that was shrunk from it */
    int n, me, k;            /* members; own rank; copies of each part */
    int err;                 /* of a put that has not begun at a copy; 0: none */
    int exclusive;           /* the last lock of this process on itself was of this type */
    struct rma_win *copies;  /* all copies, under MPI_Win_lock_all(MPI_MODE_NOCHECK); or NULL */
    char *base;              /* those that this process keeps */
    struct rankmap *map;     /* of the window, with a reference */
    struct rma_owned *part;   /* [n] */
    struct rma_place *place; /* [rank * k + copy] */
    struct rma_replicas *before; /* of the window that it was shrunk from; NULL: it was not */
};
/* Frees what there is without the other members: the window is dropped. */
void rma_replicas_drop(struct rma_win *w);
/* --- replica_calls.c ---- */
int rma_replicas_op(struct rma_win *w, const struct rma_args *a, MPI_Request *req);
/* All copies that living processes keep have what this process has put: MPI error code. Waits. */
int rma_replicas_flush(struct rma_replicas *x);

/* --- stats.c ---- */
void rma_stats_print(void);
void rma_time_stop(void); /* rma_time_waits() */
void rma_stats_write(const char *name);

/* --- invariants.c ---- */
void rma_check_invariants(const struct rma_win *w);

#endif
