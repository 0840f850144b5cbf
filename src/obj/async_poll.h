/* async_poll.h - functions of the program that are polled until they are done (MPIX_Async_start).
 *
 *      async_add --> a list --> async_turn(): each once, with the lock given up --> done: freed
 *
 * They run at the safe points of continuations (continue.h), under the same rules: one function of
 * the program at a time in a thread. A turn is due when the engine has looked around since the last
 * one. In a wait, turns in which nothing happens come ever more rarely, until the wait sleeps: then
 * there is one after each sleep, which lasts a millisecond. */
#ifndef OBJ_ASYNC_H
#define OBJ_ASYNC_H

#include <mpi.h>

/* A function more, from the next turn on. MPI error code. */
int async_add(MPIX_Async_poll_function *fn, void *state);
void *async_state(MPIX_Async_thing thing);
/* So many are there. */
unsigned async_count(void);
/* Whether async_turn() would run them in a wait. */
int async_due(void);
/* A safe point. entry: of a call; else of a wait. */
void async_turn(int entry);
/* Until all are done. Continuations run meanwhile. */
void async_drain(void);

#endif
