/* target.h - the contract of rma/target/: packets that act at the target, and lock requests that
 * wait there. Start with handlers.c.
 *
 *   ownership  a waiting lock request owns its stored packet; a record of pull_target.c stays while
 *              the network uses its memory (F1)
 *   blocking   nothing here waits for a process: handlers and hooks. A stripe of an accumulate may
 *              take some microseconds
 *   lock       all under proc->lock
 *   errors     reported to the origin, with the packet's own answer or the next one; malformed
 *              packets are dropped and counted */
#ifndef RMA_TARGET_H
#define RMA_TARGET_H

#include "rma/sync/sync.h"

/* --- lockq.c ---- */
void rma_lockq_init(struct rma_lockq *q);
void rma_lockq_free(struct rma_lockq *q);
int rma_lockq_poll(struct rma_win *w);             /* grants; events */
void rma_lockq_fail(struct rma_win *w, int src);
void rma_lockq_deny(struct rma_win *w); /* all that wait: the window is revoked */
/* --- place.c ---- */
struct dt_type *rma_predefined(uint32_t handle); /* NULL: none */
struct acc_target rma_own_memory(const struct rma_win *w);
/* --- fault.c, pull_target.c ---- */
void rma_errors_free(struct rma_win *w);
void rma_pull_init(struct rma *r);
void rma_pull_finalize(struct rma *r);

/* --- handlers ---- */
int rma_on_op(int src, const void *msg, size_t len);
int rma_on_post(int src, const void *msg, size_t len);
int rma_on_delegate(int src, const void *msg, size_t len);
int rma_on_pull(int src, const void *msg, size_t len);

#endif
