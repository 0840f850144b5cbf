/* where.h - the words of struct proc that show what a process does, as mpiexec reads them from
 * outside.
 *
 * A rank sends their address with its first line to mpiexec (doc/pmi-wire.md).  It stores them as
 * always, and mpiexec reads its memory.  So an answer costs the rank nothing, and no signal
 * interrupts its system calls. */
#ifndef BASE_WHERE_H
#define BASE_WHERE_H

#include <stdint.h>

/* A wait that has lasted a second, and what stays of waits: the first words of struct progress. */
struct where_wait {
    uint32_t magic;
    uint32_t never; /* it cannot end: a deadlock (MPIR_CVAR_WAIT_PROOF) */
    uint64_t since; /* ns of the host's clock; 0: there is none */
    uint64_t site;  /* return address in the program, 0: not known */
    char about[256]; /* the window, its epoch and its counter, or empty */
    const char *call; /* of a front, in which the program made this wait, or NULL */
    const char *slept_in; /* the MPI function in which it slept last in a wait, or NULL */
    const char *const volatile *front; /* NULL, or the call of a front in which it waits by itself
                                        * (place/front_library.h) */
};
#define WHERE_MAGIC 0x57524d05u

struct where {
    const char *call;      /* MPI function the process is in, or NULL */
    const char *wait_what; /* what it waits for, or NULL */
    int wait_peer;         /* the process it waits for: world rank or -1 */
    void *others[3];       /* what struct proc has in between */
    const struct where_wait *wait;
};

#endif
