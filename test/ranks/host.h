/* host.h - several ranks as threads of one process, so that ThreadSanitizer sees what they do to
 * shared words.
 *
 * Built by maint/sanitize with -DBASE_RANKS_AS_THREADS, which makes `proc` a variable of each
 * thread.  A rank may have further threads: each calls host_join() first.  Segments that a rank
 * attaches are found mapped already and are shared (see __wrap_mmap), so one word has one address.
 * All else is as in processes: rings, lock words, wake-up sockets, process_vm_readv. */
#ifndef RANKS_HOST_H
#define RANKS_HOST_H

#include "base/proc.h"

#ifndef BASE_RANKS_AS_THREADS
#error "ranks as threads need a library built with -DBASE_RANKS_AS_THREADS: see maint/sanitize"
#endif

/* Run `body` as each of `size` ranks, between the start and the end of MPI at
 * MPI_THREAD_MULTIPLE. */
void host_run(int size, void (*body)(int rank));

/* The calling thread belongs to rank p from now on. */
static inline void host_join(struct proc *p)
{
    proc = p;
}

#endif
