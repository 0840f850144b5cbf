/* align.h - are the collective calls of all processes the same?  (doc/design/align.md)
 *
 *   watch/ --- a call begins ---> digest, history and ring of the communicator
 *          --- it has ended ----> an error that a difference explains
 *   a wait lasts, a communicator is freed, MPI_Finalize ---> the ring goes to the judge,
 *                      rank 0 of the communicator, which compares, prints, and informs the others
 *
 * proc->check is NULL while MPIR_CVAR_COLL_CHECK is 0; then it watches nothing (watch/watch.h). All
 * runs under proc->lock. Nothing here blocks a call, except in MPI_Finalize and behind an error. */
#ifndef ALIGN_ALIGN_H
#define ALIGN_ALIGN_H

#include "coll/coll.h"

int check_init(void); /* 0 or -ENOMEM; makes proc->check if the CVAR asks for it */
void check_finalize(void);

/* MPI_Finalize: before any wait in it, the program makes no more calls; then all calls are
 * compared; and behind the barrier of all. */
void check_calls_end(void);
void check_ending(void);
void check_ended(void);

#endif
