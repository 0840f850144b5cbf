/* grow.h - further jobs, which ranks of this mpiexec start (MPI_Comm_spawn; doc/design/dynamic.md).
 *
 *     rank asks --grow_asked--> places, processes --all are past exec--> the rank gets a port
 *                                                 '--one cannot be run-> all are killed, an errno
 *
 * The ranks of all jobs have one numbering and one table. */
#ifndef LAUNCH_GROW_H
#define LAUNCH_GROW_H

#include <poll.h>

#include "launch/job.h"
#include "launch/wanted.h"

struct grown {
    struct grown *next;
    struct wanted *wanted;
    int by, first, size;
    int report_fd; /* failures before exec; -1: all are past it */
    int err;       /* -errno: a program could not be run */
};

/* 0: it is being started, and the rank gets its answer later; -errno.  Takes q. */
int grow_asked(void *job, int rank, struct wanted *q);
/* Read what those report that are not past exec. */
void grow_look(struct job *j);
int grow_failed(const struct grown *g);
void grow_free(struct job *j);

#endif
