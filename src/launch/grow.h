/* grow.h - further jobs, which ranks of this mpiexec start (MPI_Comm_spawn; doc/design/dynamic.md).
 *
 *     rank asks --grow_asked--> places, processes --all are past exec--> the rank gets a port
 *                                                 '--one cannot be run-> all are killed, an errno
 *
 * A spawned job that loses a rank before it has met the processes that spawned it is killed. The
 * call that spawned it gets -ECHILD, and the other jobs go on.
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
    int err;       /* -errno: a program could not be run, or the job cannot go on */
};

/* 0: it is being started, and the rank gets its answer later; -errno.  Takes q. */
int grow_asked(void *job, int rank, struct wanted *q);
/* Read what those report that are not past exec. */
void grow_look(struct job *j);
int grow_failed(const struct grown *g);
/* The rank has ended (wait_status is set).  1: its end concerns only its own job, which has failed;
 * 0: it is as the end of any rank. */
int grow_lost(struct job *j, int rank);
/* The same for an abort.  own: it asks to end its own job only. */
int grow_aborted(struct job *j, int rank, int code, int own, const char *why);
void grow_free(struct job *j);

#endif
