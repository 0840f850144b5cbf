/* memory.h - bytes of heap that each simulated rank holds.
 *
 * The program is linked with --wrap for malloc and its kin, so every allocation of the library and of the scenario
 * passes here and is counted, as asked for, to the rank that runs; the simulator's own (sim_alloc) are not. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

void memory_begin(void);     /* count from now on */
long memory_bytes(int rank); /* live now */
long memory_most(int rank);  /* most since the last call */

#endif
