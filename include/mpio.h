/* mpio.h - for programs that include this part of MPICH's header by its name: all of it is in
 * mpi.h. */
#include "mpi.h"
