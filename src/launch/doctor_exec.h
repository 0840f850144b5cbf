/* doctor_exec.h - mpiexec -doctor: the program that looks at this host and its networks. */
#ifndef LAUNCH_DOCTOR_EXEC_H
#define LAUNCH_DOCTOR_EXEC_H

#include "launch/args.h"

/* Become it, or have it started on each of several hosts.  Returns the exit status; a failure was
 * printed. */
int doctor_exec(struct args *a);

#endif
