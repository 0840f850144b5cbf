/* job.h - several processes for a unit test: those of the doctor (doctor/forked.h). */
#ifndef JOB_H
#define JOB_H

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "doctor/forked.h"

/* An assertion about a call: it returns 0, which is MPI_SUCCESS. */
#define ok(call) job_check((call) == 0)

#endif
