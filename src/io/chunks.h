/* chunks.h - what blocking and nonblocking collective accesses share: one reduction decides, and
 * says where the chunks of the aggregators lie.
 *
 *   file   | chunk 0 | chunk 1 | chunk 2 | chunk 3 | chunk 4 ...   from `base` on
 *          | aggr. 0 | aggr. 1 | aggr. 0 | aggr. 1 | aggr. 0       (two of them)
 *          '---- round 0 ------'----- round 1 -----'
 */
#ifndef IO_CHUNKS_H
#define IO_CHUNKS_H

#include "io/io_types.h"

enum { CHUNK_PAGE = 4096 };

/* Largest values of all processes; a minimum is the negative of the largest negative. */
enum {
    ALL_ERROR, ALL_LO, ALL_HI, ALL_UNIT, ALL_REFUSED, ALL_WANTED, ALL_BYTES, ALL_BLOCKS, ALL_MEAN,
    ALL_SIZE, ALL_NODES, ALL_NODES_NEG, ALL_ROOM, ALL_ROOM_NEG, ALL_STRIPE, ALL_STRIPE_NEG,
    ALL_COUNT
};

/* Bytes of the file, all processes together: [lo, hi). */
struct chunks {
    int64_t lo, hi, base, chunk, unit, rounds;
    int64_t size; /* of the file: reads end there */
    int nodes;    /* aggregators */
    int write;
};

/* This process's part of the reduction. */
void chunks_own(const struct access *c, int err, int64_t *all);
/* Is the way by aggregators better? The same answer on all processes. */
int chunks_pay(const struct io_file *f, const int64_t *all);
/* room: bytes of an aggregator's buffer. */
void chunks_plan(struct chunks *k, const int64_t *all, int64_t room, int write);
static inline int chunks_rank(const struct comm *c, int nodes, int node) /* of an aggregator */
{
    return (int)((int64_t)node * c->size / nodes);
}
/* Offset behind the last byte that is exchanged in a round. */
int64_t chunks_end(const struct chunks *k, int64_t round);
/* Where the chunk of an aggregator begins, and how long it is: 0 if there is none in this round. A
 * read may leave out *skip bytes at its begin. */
size_t chunks_at(const struct chunks *k, int64_t round, int node, int64_t *off, size_t *skip);
/* Writes what the map shows: one byte for each unit. Clears the map. Uses nothing of the process
 * but x. */
void chunks_write(struct transfer *x, int64_t off, size_t len, size_t unit, char *buffer,
                  char *map);

/* The errors of all processes: what each gives to a reduction for the largest, and what each
 * returns then. err: its own error. */
enum { OUTCOME_ERRNO, OUTCOME_CLASS, OUTCOME_COUNT };
void outcome_own(const struct access *c, int err, int64_t *v);
int outcome_of_all(struct access *c, int err, const int64_t *v);

#endif
