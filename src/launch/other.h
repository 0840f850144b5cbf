/* other.h - reports in one line that a program loads another MPI library than this one.
 *
 *   at start     by what its file needs, where that is certain
 *   at MPI_Init  a rank joins, and not as this library does: by what it has mapped
 *   at the end   no rank joined: by what the file needs, or the file that a command like env was to
 *   start */
#ifndef LAUNCH_OTHER_H
#define LAUNCH_OTHER_H

#include <limits.h>
#include <stddef.h>

#include "launch/args.h"

struct job;

/* 1, and the line without "mpiexec: ", when a program of the job certainly loads another MPI
 * library. */
int other_text(char *line, size_t len, const struct args *a, char *const *env);
void other_at_start(struct job *j, char *const *env); /* the ranks have been started */
void other_joined(struct job *j);
void other_at_end(struct job *j);
/* Where this installation, or build tree, has its commands and libraries. */
void other_own_folders(char bin[PATH_MAX], char lib[PATH_MAX]);

#endif
