/* option_table.h - options of mpiexec that do no more than set one member of struct args. */
#ifndef LAUNCH_OPTION_TABLE_H
#define LAUNCH_OPTION_TABLE_H

#include "launch/args.h"

enum { OPTION_ROWS_MAX = 48 };

struct option_row {
    const char *name;
    int is_text; /* a const char *, the option's value; else an int, which becomes 1 */
    size_t member;
};

/* The row of an option, n characters long; NULL: it is none of these. */
const struct option_row *option_find(const char *name, size_t n);
void option_set(const struct option_row *row, struct args *a, const char *value);
/* All names, at most OPTION_ROWS_MAX; returns how many. */
size_t option_names(const char **names);

/* -report, -trace: file: behind their =, or NULL: *word may be meant as it, and then is taken, with
 * a hint. 0 or -EINVAL: no room in the environment of all ranks. */
int option_profile(struct args *a, int trace, const char *file, char ***word);
/* -check=[LEVEL,][json=FILE] (NULL: level 1). 0 or -EINVAL. */
int option_check(struct args *a, const char *list);
/* The name of an error handler, in upper or lower case: 0 or -EINVAL. */
int option_errhandler(const char *name);
/* Open MPI's --output, a list of such options: 0 or -EINVAL. */
int option_output(struct args *a, const char *list);

#endif
