/* memory.h - the memory that simulated ranks hold: how much, and its end when they die.
 *
 * The program is linked with --wrap for malloc and its kin, so every allocation of the library
 * and of the scenario passes here. Its size counts for the running rank; the simulator's own
 * allocations (sim_alloc) count for no rank. Those of strdup() and strndup() count only where
 * these are wrapped too. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stddef.h>

void memory_begin(void);     /* count from now on */
long memory_bytes(int rank); /* live now */
long memory_most(int rank);  /* most since the last call */
/* malloc and calloc have nothing for the library in this rank, -1: have for all again. */
void memory_refuse(int rank);
void memory_refuse_long(int rank, size_t least); /* ... of so many bytes or more */
void memory_refuse_nth(int rank, int n); /* ... once, at the n-th call from now on */
/* From now on what ranks free is kept and overwritten: messages must not read it, and the library
 * ends by a signal if it follows a pointer there. 0: no longer. */
void memory_keep(int keep);
/* Fails if [p, p + n) begins in memory that is so kept. */
void memory_read(const void *p, size_t n);
/* After a run that memory_begin() preceded: give back all that is left of it, as the system does
 * where processes end: heap, segments of src/mem and their descriptors. */
void memory_drop(void);

#endif
