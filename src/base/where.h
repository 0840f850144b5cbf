/* where.h - the words of struct proc that say what a process does, as mpiexec reads them from
 * outside.
 *
 * A rank sends their address with its first line to mpiexec (doc/pmi-wire.md).  It stores them as
 * it always does; who asks reads its memory.  So an answer costs the rank nothing, and no signal
 * cuts its system calls short. */
#ifndef BASE_WHERE_H
#define BASE_WHERE_H

struct where {
    const char *call;      /* MPI function the process is in, or NULL */
    const char *wait_what; /* for what it waits, or NULL */
    int wait_peer;         /* for whom: world rank or -1 */
};

#endif
