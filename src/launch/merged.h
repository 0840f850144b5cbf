/* merged.h - output of many ranks, in which equal lines become one: mpiexec -gdb.
 *
 *     rank 0: "(gdb) "  "x = 1\n"           [0-2] (gdb)
 *     rank 1: "(gdb) "  "x = 7\n"    --->   [0,2] x = 1
 *     rank 2: "(gdb) "  "x = 1\n"           [1] x = 7
 *
 * Lines wait until all ranks of which something is awaited have come to a prompt, or until no rank
 * has printed for some time. Then the first lines of all ranks are compared, the next ones, and so
 * on. A line without end, such as a prompt, is a line, too, when it rests. */
#ifndef LAUNCH_MERGED_H
#define LAUNCH_MERGED_H

#include <stddef.h>
#include <stdint.h>

#include "launch/streams.h"

/* Silence at prompts of all, silence else, and how long whole lines wait at most. */
enum { MERGED_PROMPT_MS = 50, MERGED_QUIET_MS = 500, MERGED_LATE_MS = 2000 };
enum { MERGED_BYTES = 64 << 10 };

struct merged_rank {
    char *text; /* not printed yet */
    size_t have, room;
};

struct merged {
    struct sink *sink;
    const char *prompt;   /* what a rank has printed last when it awaits input */
    const char *awaited;  /* of each rank: something is awaited; NULL: of none */
    int ranks;
    struct merged_rank *rank;
    char *done;           /* of each rank: its line of this round is printed */
    uint64_t first, last; /* ns: since when something waits (0: nothing); when something came */
    int typed;            /* a line was typed since the last output: so ours has ended, too */
};

/* NULL: no memory. */
struct merged *merged_new(int ranks, struct sink *sink, const char *prompt, const char *awaited);
void merged_free(struct merged *g);
/* May it take more of this rank? */
int merged_room(const struct merged *g, int rank);
void merged_add(struct merged *g, int rank, const char *bytes, size_t n, uint64_t now);
/* Print what has waited for long enough; with `all` everything, as far as the sink has room. */
void merged_push(struct merged *g, uint64_t now, int all);
/* When merged_push() must be called next (ns); UINT64_MAX: never. */
uint64_t merged_due(const struct merged *g);

/* "0-2,5" of the ranks whose place in `set` is not 0; cut with "..". */
void merged_list(const char *set, int ranks, char *text, size_t len);

#endif
