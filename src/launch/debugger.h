/* debugger.h - what a debugger that looks at mpiexec finds: the processes of the job.
 *
 * The names are those of the MPIR process acquisition interface, 1.1. A debugger breaks at
 * MPIR_Breakpoint() and reads the table then; one that comes later finds it, too.
 *
 *   ranks are forked ---> all are past exec ---> MPIR_proctable is filled, MPIR_debug_state = 1
 *                                                ---> MPIR_Breakpoint()
 *
 * If MPIR_being_debugged is set when mpiexec starts them, each rank stops after exec, before its
 * first instruction, so that a debugger can attach; all go on when MPIR_Breakpoint() has returned.
 * Ranks need nothing for it, and a debugger may leave some alone (MPIR_partial_attach_ok). */
#ifndef LAUNCH_DEBUGGER_H
#define LAUNCH_DEBUGGER_H

#include "launch/job.h"

/* One process; the interface has this struct and its names. */
typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

enum { MPIR_NULL = 0, MPIR_DEBUG_SPAWNED = 1, MPIR_DEBUG_ABORTING = 2 };

extern MPIR_PROCDESC *MPIR_proctable;
extern int MPIR_proctable_size;
extern volatile int MPIR_debug_state;
extern volatile int MPIR_being_debugged; /* the debugger sets it */
extern char *MPIR_debug_abort_string;
/* Their existence says: mpiexec starts the ranks, and a debugger may attach to some only. */
extern int MPIR_i_am_starter, MPIR_partial_attach_ok;
void MPIR_Breakpoint(void);

/* Of a rank that is to stop after exec. */
enum debugger_hold { DEBUGGER_FREE = 0, DEBUGGER_TO_STOP, DEBUGGER_STOPPED };

/* A rank has passed exec or ended. When all have, the table is filled and the debugger notified. */
void debugger_look(struct job *j);
/* waitpid() has reported a stop of a process: 1 if a rank that is to stop after exec has it. At its
 * exec the rank is left stopped. */
int debugger_stopped(struct job *j, pid_t pid, int stop);
/* The rank has told which process it is: one that a script has started. */
void debugger_renew(const struct job *j, int rank);
/* The job begins to end. */
void debugger_end(const struct job *j);
void debugger_free(void);

#endif
