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

/* --- stats.c ---- */
void rma_stats_print(void);
void rma_time_stop(void); /* rma_time_waits() */
void rma_stats_write(const char *name);

/* --- invariants.c ---- */
void rma_check_invariants(const struct rma_win *w);

#endif
