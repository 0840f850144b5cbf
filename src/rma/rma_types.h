/* rma_types.h - what the files on top of rma/ ask of each other (private).  With it come the
 * contracts of all sub-rooms. */
#ifndef RMA_TYPES_H
#define RMA_TYPES_H

#include "rma/window/window.h"

/* --- progress.c ---- */
int rma_advance_global(void *arg); /* the hook */
/* The launcher says that some rank died: fail what waits for it. */
void rma_bury(void);
/* am_on_stall(): whose message is awaited, where am/ may not know. */
void rma_name_awaited(void (*ask)(int rank));

/* --- request.c ---- */
int rma_request_make(const struct rma_win *w, struct rma_request **out, MPI_Request *req);

/* --- stats.c ---- */
void rma_stats_print(void);
void rma_stats_write(const char *name);

/* --- check.c ---- */
void rma_check_invariants(const struct rma_win *w);

#endif
