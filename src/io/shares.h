/* shares.h - what one process has in a chunk (chunks.h), as it is sent: how many bytes, which runs
 * of the chunk, the data. */
#ifndef IO_SHARES_H
#define IO_SHARES_H

#include "io/chunks.h"

enum { HEAD_RUNS = 3 };

/* `count` blocks of a chunk, each `len` bytes, which begin `stride` bytes from each other. */
struct run {
    int64_t at, len, stride, count;
};
struct head {
    int64_t bytes, runs;
    struct run run[HEAD_RUNS]; /* the first ones; the others are a message of their own */
};

/* What one process has in a chunk: ours to send, or a member's that we have heard of. */
struct share {
    struct head head;
    struct run *more; /* runs from HEAD_RUNS on */
    size_t room;      /* places in more */
    size_t pos;       /* ours: the first byte among the data of the access */
    char *data;       /* packed; the program's memory or the buffer where they are one piece */
    int own;          /* data is to be freed */
    int bad;          /* a member's, whose head says what cannot be */
};

void share_reset(struct share *s); /* nothing in it; the room for runs stays */
void shares_free(struct share *s, int n);
/* Room for so many runs. 0: no memory. */
int share_fits(struct share *s, int64_t runs);
/* One more block, behind the others. 0: no memory. */
int share_add(struct share *s, int64_t at, int64_t len);
/* What came must lie in a chunk of len bytes and in units of the map, and be as long as it says. */
int share_is_whole(const struct chunks *k, struct share *s, size_t len);
static inline int share_is_one_piece(const struct share *s)
{
    return s->head.runs == 1 && s->head.run[0].count == 1;
}
/* Between the packed data of a share and the buffer of an aggregator; a write marks the map. */
void share_place(const struct chunks *k, struct share *s, char *buffer, char *map);

#endif
