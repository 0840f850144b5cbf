/* doctor_exec.h - mpiexec -doctor: the program that looks at this host and its networks. */
#ifndef LAUNCH_DOCTOR_EXEC_H
#define LAUNCH_DOCTOR_EXEC_H

#include "launch/args.h"

/* Become it.  Returns the exit status of a failure, which was printed. */
int doctor_exec(const struct args *a);

#endif
