/* spawn_request.h - a request of a rank to start a further job: the lines of "mcmd=spawn", parsed
 * (doc/pmi-wire.md). */
#ifndef LAUNCH_SPAWN_REQUEST_H
#define LAUNCH_SPAWN_REQUEST_H

#include "launch/args.h"

enum { SPAWN_REQUEST_BYTES_MAX = 16 << 20 }; /* of all its words: a bound on what mpiexec stores */

struct spawn_request {
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

struct spawn_request *spawn_request_new(void);
void spawn_request_line(struct spawn_request *q, const char *text);
/* After the last line: looks programs up in their paths. 0 or -errno. */
int spawn_request_check(struct spawn_request *q);
void spawn_request_free(struct spawn_request *q);

#endif
