/* profiled.h - what mpiexec does for -trace and -report. */
#ifndef LAUNCH_PROFILED_H
#define LAUNCH_PROFILED_H

#include "launch/env.h"
#include "launch/job.h"

/* Can their files be written? It is told before the ranks start. 0 or -errno after a message. */
int profiled_files(struct job *j);
/* The library that notes calls is found before the other. 0 or -ENOMEM. */
int profiled_env(const struct args *a, struct env *e);
/* The memory in which a rank keeps what it knows. */
void profiled_record(struct job *j, int rank);
/* All ranks have ended. If the job ended early, its files are written now. */
void profiled_end(struct job *j);

#endif
