/* window.h - the contract of rma/window/: creation, memory, the near table, attached regions,
 * hints, the end of windows.
 *
 * rma.h declares the MPI calls that are defined here. Start with create.c.
 *
 *   ownership  a window owns its communicator, node segment, near table and memory; freed windows
 *              stay in r->spare until MPI_Finalize
 *   blocking   creation and MPI_Win_free wait for the other members, the query of a peer's
 *              memory for its locks; nothing else here waits
 *   lock       all under proc->lock
 *   errors     MPI error codes; creation fails with the same class on all members */
#ifndef RMA_WINDOW_H
#define RMA_WINDOW_H

#include "rma/target/target.h"

void rma_win_drop(struct rma_win *w); /* free everything, without the other members */
/* From a window that is to be freed, w->users more: its memory is used no more. */
void rma_win_unuse(struct rma_win *w);
void rma_win_slow(struct rma_win *w); /* the fast path does not find it any more */
void rma_node_finalize(void);
void rma_comm_revoked(struct comm *c); /* upcall of obj/ */
void rma_makings_end(void); /* creations that are under way do not go on */
/* An accumulate that the program promised not to call: OP, TYPE. w->promise.given is set. */
int rma_promise_check(const struct rma_win *w, const struct rma_args *a);

#endif
