/* wanted.h - a request of a rank to start a further job: the lines of "mcmd=spawn", parsed
 * (doc/pmi-wire.md). */
#ifndef LAUNCH_WANTED_H
#define LAUNCH_WANTED_H

#include "launch/args.h"

enum { WANTED_BYTES_MAX = 16 << 20 }; /* of all its words: a bound on what mpiexec stores */

struct wanted {
    unsigned number; /* the client's; 0: it is not this library */
    int size;        /* ranks of all blocks */
    int nblocks, room;
    struct block *block;
    char **path; /* for each block, where its program is looked for, or NULL */
    int err;     /* -errno: it cannot be used */
    size_t bytes;
    char **last; /* the word that a line "more=" goes on with */
    int nargs;   /* of the last block */
};

struct wanted *wanted_new(void);
void wanted_line(struct wanted *q, const char *text);
/* After the last line: looks programs up in their paths. 0 or -errno. */
int wanted_check(struct wanted *q);
void wanted_free(struct wanted *q);

#endif
