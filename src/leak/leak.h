/* leak.h - what the program leaves behind: objects that it made and has not freed, requests that it
 * has not completed, messages that it has not received (MPIR_CVAR_LEAK_CHECK).
 *
 *   watch/ --- an object is made ---> its place
 *   MPI_Finalize ---> what is still there; rank 0 prints the places of all
 *
 * Error handlers, keys and info objects are left out: the program may have freed those that others
 * still use, and info objects may outlive MPI_Finalize. All runs under proc->lock. */
#ifndef LEAK_LEAK_H
#define LEAK_LEAK_H

int leak_init(void); /* 0 or -ENOMEM; makes proc->leak if the CVAR asks for it */
void leak_finalize(void);

/* MPI_Finalize: all processes still communicate; no process sends any more. */
void leak_ending(void);
void leak_ended(void);

#endif
