/* env.h - the environment of a rank: what it inherits from ours, what -env sets, what PMI needs. */
#ifndef LAUNCH_ENV_H
#define LAUNCH_ENV_H

#include "launch/args.h"

struct env {
    int n, room;
    char **var; /* "NAME=value", NULL-terminated, each allocated */
};

/* Inherited part and -genv/-env of one block.  0 or -ENOMEM. */
int env_of_block(struct env *e, const struct args *a, const struct block *b, char *const *from);
/* Set or replace.  0 or -ENOMEM. */
int env_put(struct env *e, const char *name, const char *value);
int env_put_int(struct env *e, const char *name, long value);
const char *env_find(const struct env *e, const char *name);
void env_free(struct env *e);

#endif
