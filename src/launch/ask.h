/* ask.h - what a rank does, read from its memory. */
#ifndef LAUNCH_ASK_H
#define LAUNCH_ASK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct source_lines;

/* One line without newline, "rank 3: in MPI_Recv, waiting for a message (rank 1)", from the struct
 * where at address `at` of process `pid`, and for a wait that lasts: where in the program, which
 * epoch, how long. 0, or -errno when its memory cannot be read. *awaited: that rank, or -1; *never:
 * the wait is known not to end. lines: of the report that this line belongs to. */
int ask_text(pid_t pid, uint64_t at, int rank, char *text, size_t len, int *awaited,
             char *never, struct source_lines *lines);

struct args;
struct job;
/* A line for every live rank, then the ranks that wait for each other (chain.h). */
void ask_all(struct job *j);
/* Some of these lines, if a rank has waited for a second: the job is being ended from outside. */
void ask_shortly(struct job *j);
/* Has a rank waited for j->warn_ns? Then the same, once for each wait. */
void ask_tick(struct job *j, uint64_t now);
/* MPIR_CVAR_WAIT_WARN, as the ranks get it (ns); 0: never. */
uint64_t ask_warn_ns(const struct args *a);
void ask_pass_on(struct job *j, int sig); /* to the ranks whose program catches it */

#endif
