/* shm.h - short blocking collectives through memory shared on the node; private to coll/.
 *
 *   slot[rank][n % SLOTS] = { n, data }    written by rank for its n-th operation, read by others
 *   left[rank] = n                         rank reads no slot of operations up to n any more
 *
 * A slot is written again when everybody has left the operation that used it last.  Barrier and
 * allreduce tell that for free: who has seen all enter operation n knows that all have left n - 1.
 * The segment is made when a communicator has done SHM_USES such calls, so those made for one
 * purpose cost none. */
#ifndef COLL_SHM_H
#define COLL_SHM_H

#include "coll/coll.h"

/* 1: done, *err is the result; 0: not for shared memory, use messages. */
int shm_run(const struct coll_args *a, int *err);

#endif
