/* target_types.h - what the files of rma/target/ share (private). */
#ifndef RMA_TARGET_TYPES_H
#define RMA_TARGET_TYPES_H

#include "rma/target/target.h"

/* Run a packet whose lock (if any) is held. `granted`: the first reply reports it. */
void rma_run_packet(struct rma_win *w, int src, const struct rma_hdr *h, const char *payload,
                    int granted);
/* A request with the LOCK flag came in. */
void rma_lockq_ask(struct rma_win *w, int src, const struct rma_hdr *h, const char *payload,
                   uint64_t age);
/* UNLOCK: MPI error class, or 0. clock: set if a process waits. */
int rma_lockq_release(struct rma_win *w, int src, uint32_t *clock);
/* Bytes [from, from + len) of an operation on `count` elements at h->disp: an accumulate, or with
 * h->aop 0 a put (result NULL) or a get.  MPI error class or 0. */
int rma_part(struct rma_win *w, const struct rma_hdr *h, uint64_t count, size_t from, size_t len,
             const void *data, char *result);
/* Decode a derived type and keep it for the next packets; NULL: malformed. */
struct dt_type *rma_type_learn(struct rma *r, const void *flat, size_t len);

#endif
