/* where.h - the words of struct proc that show what a process does, as mpiexec reads them from
 * outside.
 *
 * A rank sends their address with its first line to mpiexec (doc/pmi-wire.md).  It stores them as
 * always, and mpiexec reads its memory.  So an answer costs the rank nothing, and no signal
 * interrupts its system calls. */
#ifndef BASE_WHERE_H
#define BASE_WHERE_H

struct where {
    const char *call;      /* MPI function the process is in, or NULL */
    const char *wait_what; /* what it waits for, or NULL */
    int wait_peer;         /* the process it waits for: world rank or -1 */
};

#endif
