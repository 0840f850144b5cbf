/* gdb.h - mpiexec -gdb: each rank runs under gdb, all get the same commands, and what they print is
 * merged.
 *
 *     our standard input --- a line ---> gdb of rank 0, .., gdb of rank n-1
 *                            ("z 0,2": from here on these ranks only)
 *     their output ---> merged.h ---> our standard output
 *
 * Nothing here blocks: a line goes to one rank after the other, as their pipes have room. */
#ifndef LAUNCH_GDB_H
#define LAUNCH_GDB_H

#include "launch/merged.h"
#include "launch/job.h"

enum { GDB_LINE = 4096 /* PIPE_BUF: what a pipe that polls writable takes at once */ };

struct gdb {
    int from;      /* our input; -1: at its end */
    int is_tty;
    int ranks;
    int *to;       /* -1: closed */
    char *chosen;  /* of each rank: lines go to it */
    size_t have;   /* bytes in buf */
    size_t line;   /* of them the line that goes out now; 0: none */
    int next;      /* the rank that gets it next */
    char buf[GDB_LINE];
    struct merged *out, *err; /* the same where both have one sink */
    uint64_t interrupted_at;  /* ns: the last SIGINT that was passed on */
};

/* Can it be? A message, and -EINVAL or -ENOENT, if not. */
int gdb_possible(struct job *j);
/* NULL: no memory. */
struct gdb *gdb_new(const struct job *j);
void gdb_free(struct gdb *g);
/* The command line of a rank; only the vector and its word `file` are to be freed. NULL: no
 * memory. */
char **gdb_argv(const struct args *a, const struct block *b, char **file);
/* The input of a rank, to be closed once it has started; -errno. */
int gdb_input(struct gdb *g, int rank);
/* Which descriptor to wait for (events 0: none now); it is ready. */
void gdb_wants(struct gdb *g, int *fd, short *events);
void gdb_move(struct gdb *g, struct job *j);
/* SIGINT stops the programs; 0: it is the second within a second, which ends the job. */
int gdb_interrupt(struct gdb *g, struct job *j, uint64_t now);

#endif
