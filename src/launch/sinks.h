/* sinks.h - makes the sinks of a job: our standard output and error, and the files of
 * -outfile-pattern, -errfile-pattern and -output-filename. */
#ifndef LAUNCH_SINKS_H
#define LAUNCH_SINKS_H

#include "launch/job.h"

/* j->out and j->err, which are one where both lead to one place. 0 or -ENOMEM. */
int sinks_own(struct job *j);
/* Where one of the outputs of a rank goes: the file of a pattern; a file of its own below the
 * folder of -output-filename, which are made; or `ours`. NULL after a message. */
struct sink *sinks_rank(struct job *j, const char *pattern, const char *name, int rank,
                        struct sink *ours);
/* What stands before each line of the rank. */
void sinks_label(const struct args *a, int rank, char *label, size_t len);

#endif
