/* failed.h - the failed processes that this process has dealt with, in that order, and which of
 * them the program has acknowledged on a communicator (MPIX_Comm_ack_failed). The order lets a
 * communicator store one number for a set. */
#ifndef OBJ_FAILED_H
#define OBJ_FAILED_H

#include "obj/comm.h"

/* p2p/: what waited for it has ended. */
void failed_note(int world);
/* A failed process that may send on c and is not acknowledged there; -1: none. One step, unless
 * processes have failed since the last call. */
int comm_unacked(struct comm *c);
/* All that failed so far are acknowledged on c. */
void comm_ack(struct comm *c);
/* The first n of those that comm_failed() gives, too. */
void comm_ack_first(struct comm *c, int n);
/* The failed members of c, as comm_acked() gives those that are acknowledged, which come first. */
int comm_failed(const struct comm *c, int *i);
/* The acknowledged members of c, of both groups: the job rank of the next one from *i, 0 at first,
 * on; -1: no more. */
int comm_acked(const struct comm *c, int *i);
/* Of comm_failed() or comm_acked(): how many; their map (NULL: no memory). */
typedef int failed_next(const struct comm *c, int *i);
int failed_count(const struct comm *c, failed_next *next);
struct rankmap *failed_map(const struct comm *c, failed_next *next);

#endif
