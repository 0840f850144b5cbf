/* open_mpi.h - what mpiexec does for programs that were built for Open MPI: the library with Open
 * MPI's interface is found first, and variables that its ranks have. */
#ifndef LAUNCH_OPEN_MPI_H
#define LAUNCH_OPEN_MPI_H

#include <limits.h>

#include "launch/env.h"

/* The folder of that library. 0: it is not there. */
int open_mpi_folder(char path[PATH_MAX]);
/* It comes first in LD_LIBRARY_PATH, unless -no-ompi says otherwise. 0 or -ENOMEM. */
int open_mpi_path(const struct args *a, struct env *e);
/* OMPI_ variables of all ranks of block `own`; there are n blocks. 0 or -ENOMEM. */
int open_mpi_variables(struct env *e, const struct block *block, int n, const struct block *own,
                       int universe);

#endif
