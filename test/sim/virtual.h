/* virtual.h - one real rank in a job of any size: the other ranks are virtual.
 *
 *      real rank --- tp_virtual ---> a responder that answers as the protocol would
 *
 * There is no state per peer: an answer is made from the header of the request alone, a message of
 * a collective when the real rank's algorithm has posted its receive.  Only messages under way take
 * memory.  Each takes knobs.latency steps; when nothing else can happen, time leaps to the next
 * arrival. */
#ifndef SIM_VIRTUAL_H
#define SIM_VIRTUAL_H

#include "sim_types.h"

extern const struct tp_ops virtual_tp_ops;

/* What a virtual rank would have published under a boot key; 0 or -ENOENT. */
int virtual_get(const char *key, void *value, size_t *len);
/* Virtual rank `from` of the window calls MPI_Win_post for the real rank. */
void virtual_post(uint32_t win, int from);
/* It calls MPI_Win_lock_all, gets something from the real rank and flushes; it calls
 * MPI_Win_unlock_all. */
void virtual_lock(uint32_t win, int from);
void virtual_unlock(uint32_t win, int from);
/* It puts what is of no type. */
void virtual_put_refused(uint32_t win, int from);

#endif
