/* foreign.h - reports in one line that a program loads another MPI library than this one.
 *
 *   at start      by what the loader lists for its file
 *   at MPI_Init   a rank joins, and not as this library does: by what it has mapped
 *   meanwhile     no rank has joined: by what the processes have mapped, now and then
 *   at the end    no rank joined: by what the loader lists for its file, or for the file that a
 *                 command like env was to start
 *   at status 127 by which the loader ends a process: by the names that it does not find
 *
 * Nothing is executed but the loader of mpiexec itself, which lists libraries (--list). */
#ifndef LAUNCH_FOREIGN_H
#define LAUNCH_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

#include "launch/args.h"

struct job;

/* 1, and the line without "mpiexec: ", when a program of the job certainly loads another MPI
 * library. */
int foreign_text(char *line, size_t len, const struct args *a, char *const *env);
void foreign_at_start(struct job *j, char *const *env); /* the ranks have been started */
void foreign_joined(struct job *j);
/* Looks at the processes when it is time to.  When the next time is; 0: never. */
uint64_t foreign_tick(struct job *j, uint64_t now);
void foreign_output(struct job *j); /* a rank has printed something: a good moment to look */
void foreign_at_end(struct job *j);
/* A rank of this block ended with the status by which the loader ends one that lacks a name. */
void foreign_unbound(struct job *j, const struct block *b);
int foreign_is_mpi(const char *name); /* the file name of an MPI library ("libmpi.so.12")? */

#endif
