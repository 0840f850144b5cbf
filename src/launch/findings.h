/* findings.h - what the checkers of a job have found (mpiexec -check): one list at its end. */
#ifndef LAUNCH_FINDINGS_H
#define LAUNCH_FINDINGS_H

#include "launch/env.h"
#include "launch/job.h"

/* Exit status of a job that would have had 0. */
enum { FINDINGS_STATUS = 9 };

int findings_open(struct job *j); /* 0, or the exit status after a message */
int findings_env(const struct job *j, struct env *e); /* 0 or -ENOMEM */
/* Prints the list and writes it; the exit status of the job, whose ranks ended with `status`. */
int findings_end(struct job *j, int status);

#endif
