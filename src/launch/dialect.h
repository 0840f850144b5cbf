/* dialect.h - options that users of another launcher type: Hydra, Open MPI, Intel MPI, srun.
 *
 * args.c looks here for an option that it does not have itself. */
#ifndef LAUNCH_DIALECT_H
#define LAUNCH_DIALECT_H

#include <stddef.h>

struct dialect_row {
    const char *name; /* without hyphens */
    int values;       /* words that follow it, or one behind = */
    const char *own;  /* the option of this launcher that it stands for; NULL: none, no effect */
    const char *value; /* the value that it gives to that option; NULL: its own first one */
};

/* The row of an option, n characters long.  NULL: no launcher has it. */
const struct dialect_row *dialect_find(const char *name, size_t n);

/* What a value of -map-by or -bind-to means here: `value`, a part of it copied to buf, or NULL: it
 * has no effect for a job on one host. */
const char *dialect_map(const char *value, char *buf, size_t len);
const char *dialect_bind(const char *value);

/* The name most like `name` (n characters) of this table and of names[0..count).  NULL: none is
 * like it. */
const char *dialect_nearest(const char *name, size_t n, const char *const *names, size_t count);

#endif
