/* race.h - races between one-sided operations: its begin and its end (doc/design/race.md).
 *
 *   watch/ --- an operation --------> batches of the origin -- messages --> records of the target
 *          --- synchronization -----> clocks of all processes                 '--> report
 *          --- messages, calls of all processes --> clocks
 *
 * proc->race is NULL while MPIR_CVAR_RACE is off; then it watches nothing (watch/watch.h). All runs
 * under proc->lock; what "waits" releases it. */
#ifndef RACE_RACE_H
#define RACE_RACE_H

int race_is_full(void); /* MPIR_CVAR_RACE=full: threads of the program call the checker */
int race_init(void); /* 0 or -ENOMEM; makes proc->race if the CVAR asks for it */
void race_ending(void); /* MPI_Finalize begins: waits */
void race_finalize(void);

#endif
