/* profiled.h - what mpiexec does for -trace and -report. */
#ifndef LAUNCH_PROFILED_H
#define LAUNCH_PROFILED_H

#include "launch/env.h"
#include "launch/job.h"

/* Can their files be written? It is told before the ranks start. 0 or -errno after a message. */
int profiled_files(struct job *j);
/* The library that notes calls is found before the other. 0 or -ENOMEM. */
int profiled_env(const struct args *a, struct env *e);
/* The folder in which the ranks keep what they know. */
void profiled_begin(struct job *j);
/* All ranks have ended: is something there that is not in the files? Then it is written now. */
void profiled_end(struct job *j);

#endif
