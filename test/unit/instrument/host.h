/* host.h - the library's side of the run time of `mpicc -race`, as the unit tests need it: what
 * each thread knows of the others, and the accesses that were noted. */
#ifndef UNIT_INSTRUMENT_HOST_H
#define UNIT_INSTRUMENT_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "race/race_runtime.h"

/* All memory is watched from now on, or none. */
void host_run(int watch);
/* Something that the calling thread does now. */
struct stamp {
    int thread;
    unsigned clock;
};
struct stamp host_mark(void);
int host_knows(struct stamp s); /* the calling thread: does what it does now come after it? */
/* How many accesses were noted since the last call; list: the first `most` of them */
unsigned host_noted(struct race_log_entry *list, unsigned most);
/* The n accesses of the list, each block as one of its own. Their number. */
unsigned host_singly(struct race_log_entry *list, unsigned n, unsigned most);

/* Nothing was noted so far. Check's own accesses are noted, too, where all memory is watched. */
static inline void host_clear(void)
{
    host_noted(NULL, 0);
}

/* Between threads of a test, without an order that the run time sees. */
void flag_set(int *flag);
void flag_wait(int *flag);

#endif
