/* nothing.h - blocking collective calls whose counts are 0; private to api/.
 *
 *   MPI_Xxx (made by src/api/gen): its own counts are 0, no watcher looks on, and no buffer is
 *   MPI_IN_PLACE? Then one of these. 1: the call is over. 0: nothing was done; the call takes the
 *   whole path. */
#ifndef API_COLL_NOTHING_H
#define API_COLL_NOTHING_H

#include <mpi.h>

int nothing_even(const char *call, MPI_Comm comm, MPI_Datatype stype, MPI_Datatype rtype);
int nothing_rooted(const char *call, MPI_Comm comm, MPI_Datatype stype, MPI_Datatype rtype,
                   int root);
int nothing_op(const char *call, MPI_Comm comm, MPI_Datatype type, MPI_Op op);
int nothing_op_rooted(const char *call, MPI_Comm comm, MPI_Datatype type, MPI_Op op, int root);
/* counts, one for each process, are looked at here: by the root alone, or by all. */
int nothing_rooted_v(const char *call, MPI_Comm comm, MPI_Datatype stype, MPI_Datatype rtype,
                     int root, const int *counts);
int nothing_v(const char *call, MPI_Comm comm, MPI_Datatype stype, MPI_Datatype rtype,
              const int *counts);
int nothing_op_v(const char *call, MPI_Comm comm, MPI_Datatype type, MPI_Op op, const int *counts);

/* Functions for these calls alone. */
#define NOTHING __attribute__((noinline))

/* Neither address is MPI_IN_PLACE. */
static inline int nothing_apart(const void *a, const void *b)
{
    return a != MPI_IN_PLACE && b != MPI_IN_PLACE;
}

#endif
