/* spawned_job.h - further jobs, which ranks of this mpiexec start (MPI_Comm_spawn;
 * doc/design/dynamic.md).
 *
 *     spawned_job_asked: places, processes --all are past exec--> the rank that asks gets a port
 *                                           '--one cannot be run-> all are killed, an errno
 *
 * A spawned job that loses a rank before it has met the processes that spawned it is killed. The
 * call that spawned it gets -ECHILD, and the other jobs go on.
 *
 * The ranks of all jobs have one numbering and one table. */
#ifndef LAUNCH_SPAWNED_JOB_H
#define LAUNCH_SPAWNED_JOB_H

#include <poll.h>

#include "launch/job.h"
#include "launch/spawn_request.h"

struct spawned_job {
    struct spawned_job *next;
    struct spawn_request *request;
    int by, first, size;
    int report_fd; /* failures before exec; -1: all are past it */
    int err;       /* -errno: a program could not be run, or the job cannot go on */
};

/* 0: it is being started, and the rank gets its answer later; -errno.  Takes q. */
int spawned_job_asked(void *job, int rank, struct spawn_request *q);
/* Read what those report that are not past exec. */
void spawned_job_look(struct job *j);
int spawned_job_failed(const struct spawned_job *g);
/* The rank has ended (wait_status is set).  1: its end concerns only its own job, which has failed;
 * 0: it is as the end of any rank. */
int spawned_job_lost(struct job *j, int rank);
/* The same for an abort.  own: it asks to end its own job only. */
int spawned_job_aborted(struct job *j, int rank, int code, int own, const char *why);
/* All that follows from the end of the rank has been done: its job may be over. */
void spawned_job_ended(struct job *j, int rank);
void spawned_job_free(struct job *j);

#endif
