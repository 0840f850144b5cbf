/* part.h - partitioned messages (MPI-4 chapter 4).
 *
 *   MPI_Psend_init --setup (user's tag): my number of it--> MPI_Precv_init    matches in the order
 *                                                                             of the inits
 *   last MPI_Pready --data (tag made of that number)------> MPI_Start
 *
 * All partitions are one message, sent when the last one is ready. So the two sides may divide the
 * data differently, and MPI_Parrived becomes true for all partitions at once.
 * None of these functions blocks. Errors are MPI error codes whose text names proc->call. */
#ifndef P2P_PART_H
#define P2P_PART_H

#include "obj/comm.h"
#include "obj/request.h"

struct dt_type;
struct p2p_awaited;
struct part;

/* An inactive request over `partitions` times `count` elements, with its handle.  It takes a
 * reference on t and c. site: watchers hear of its set-up message; NULL: they do not. */
int part_make(void *buf, int partitions, MPI_Aint count, struct dt_type *t, int peer, int tag,
              struct comm *c, int is_send, const void *site, MPI_Request *request);
/* The partitioned message of r; NULL if r is another kind of request, or goes the other way. */
struct part *part_of(struct request *r, int is_send);
int part_check(const struct part *p, int i); /* MPI_ERR_ARG unless p has a partition i */
int part_ready(struct part *p, int i);       /* sends the message when it was the last one */
int part_arrived(struct part *p);            /* 1 for an inactive receive, too */
/* What a started one needs; of a send whose partitions are not all ready, that is this process. 0:
 * another kind of request, or it goes on by itself. */
int part_awaits(const struct request *r, struct p2p_awaited *out);

#endif
