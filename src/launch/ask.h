/* ask.h - what a rank does, read from its memory. */
#ifndef LAUNCH_ASK_H
#define LAUNCH_ASK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One line without newline, "rank 3: in MPI_Recv, waiting for a message (rank 1)", from the struct
 * where at address `at` of process `pid`. 0, or -errno when its memory cannot be read.
 * *awaited: that rank, or -1. */
int ask_text(pid_t pid, uint64_t at, int rank, char *text, size_t len,
             int *awaited);

struct job;
/* A line for every live rank, then the ranks that wait for each other (chain.h). */
void ask_all(struct job *j);
void ask_pass_on(struct job *j, int sig); /* to the ranks whose program catches it */

#endif
