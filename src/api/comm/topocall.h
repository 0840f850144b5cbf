/* topocall.h - what the topology functions share; private to api/.  MPI error codes, arguments
 * named. */
#ifndef API_COMM_TOPOCALL_H
#define API_COMM_TOPOCALL_H

#include "obj/comm.h"
#include "obj/neighbors.h"

int topocall_no_memory(void);
/* A copy of n ints; n = 0 gives NULL and is fine. */
int topocall_copy_ints(int **to, const int *from, int n);
int topocall_array(const void *p, int n, const char *name);
/* The first n processes of c with topology t (which it takes over); NULL for the others.  tag:
 * COLL_CREATE or COLL_WITHIN. */
int topocall_first_n(struct comm *c, int n, struct comm_topo *t, int tag, struct comm **out);
/* A communicator with a topology of this kind. */
int topocall_arg(MPI_Comm comm, enum topo_kind kind, struct comm **c);

#endif
