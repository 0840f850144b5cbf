/* coherent_types.h - what the files of coherent windows share (private to mem/). */
#ifndef MEM_COHERENT_TYPES_H
#define MEM_COHERENT_TYPES_H

#include "base/list.h"
#include "mem/coherent.h"
#include "var/var.h"

struct coh_inst { /* a tile's instance in one space; a bit for each lane */
    uint64_t V, M; /* valid; modified here, so valid nowhere else */
    uint64_t W;    /* union of the write holds */
    uint32_t rd, wr; /* holds */
};
struct coh_tile {
    uint64_t fly;  /* lanes of copies under way */
    uint64_t lost; /* valid nowhere: their device failed */
    uint32_t asks; /* acquires that have shut it and wait: it stays shut for them */
};
struct coh_chunk {
    uint32_t holds; /* of its tiles, a hold once */
    uint32_t pins;  /* copies and acquires under way */
    uint8_t there;  /* has memory */
    uint8_t homed;  /* its last lanes were copied home to evict it */
    uint64_t stamp; /* of its last release */
};
struct coh_hold {
    struct list link;
    size_t off, len;
    unsigned space, mode;
    unsigned flights;  /* its copies under way */
    int leaving, err;
    struct space_mark mark; /* leaving: it ends then */
};
struct coh_flight {
    struct list link;
    unsigned dst, src;
    size_t first, count;     /* tiles */
    int own;                 /* dst becomes the owner when it is done */
    int evicts;
    struct space_mark mark;
    struct space *at;        /* knows the mark */
    struct coh_ask *ask;     /* that waits for it, or NULL */
    struct coh_hold *hold;   /* or NULL */
    uint64_t lanes[];
};
struct coh_where { /* an instance */
    struct space *space;
    uint64_t base;
    size_t chunk, nchunks; /* bytes; how many */
    struct coh_chunk *chunks;
    size_t budget, used;
    unsigned evicting; /* flights */
    int gone;          /* its device was lost, and all lanes know it */
};
struct coh {
    size_t bytes, tile, lane, ntiles;
    unsigned n;
    struct coh_tile *tiles;
    struct coh_inst *inst; /* [tile * n + space] */
    struct coh_where at[COH_SPACES];
    struct list holds, flights;
    struct coh_ask late; /* err: the first hold whose copies failed after its release */
    uint64_t clock;
    struct pvar_set *pvars;
    struct coh_gate gate; /* alone NULL: none */
};

static inline struct coh_inst *coh_at(const struct coh *c, size_t tile, unsigned space)
{
    return &c->inst[tile * c->n + space];
}
static inline void coh_count(const struct coh *c, enum pvar_id id, uint64_t n)
{
    pvar_set_add(c->pvars, id, n);
}

/* --- coherent_lanes.c ---- */
/* Lanes of a tile that [off, off + len) names, and those that it covers wholly. */
uint64_t coh_named(const struct coh *c, size_t tile, size_t off, size_t len);
uint64_t coh_whole(const struct coh *c, size_t tile, size_t off, size_t len);
/* s becomes the owner of lanes */
void coh_own(struct coh *c, size_t tile, unsigned s, uint64_t lanes);
/* by 1: the chunks behind a range stay; -1: no more for this reason. */
void coh_pin(struct coh *c, unsigned space, size_t off, size_t len, int by);

/* --- coherent_flight.c ---- */
/* Begin copies to dst of need[i], lanes of tiles first + i that are stale there.  For h, if given,
 * whose stream shall wait for them.  Returns SPACE_AGAIN: all that can begin has begun (also for h:
 * *left is 0 if no further step follows). */
struct coh_need {
    unsigned dst;
    size_t first, count;
    uint64_t *need;
    struct coh_ask *ask;
    struct coh_hold *hold;
    int own, evicts;
};
int coh_fetch(struct coh *c, struct coh_need *f, int *left);
void coh_flights_poll(struct coh *c);
/* No flight refers to them any more. */
void coh_forget(struct coh *c, const struct coh_ask *a, const struct coh_hold *h);

/* --- coherent_gate.c ---- */
/* Is a tile valid at home alone, and is nothing of it held for writing or under way? */
int coh_at_home(const struct coh *c, size_t tile);
/* Give the words of a range that are true now. */
void coh_gate_open(struct coh *c, size_t off, size_t len);
/* Take them back before a lane leaves home or is held for writing.  SPACE_AGAIN: a peer still acts;
 * call again, from the top. */
int coh_gate_shut(struct coh *c, size_t off, size_t len);
/* by 1: from now on coh_gate_open() leaves the words of a's range as they are; -1: no more. */
void coh_gate_keep(struct coh *c, struct coh_ask *a, int by);

/* --- coherent_chunk.c ---- */
static inline size_t coh_chunk_first(const struct coh_where *w, size_t off)
{
    return off / w->chunk;
}
static inline size_t coh_chunk_end(const struct coh_where *w, size_t off, size_t len)
{
    return len ? (off + len - 1) / w->chunk + 1 : off / w->chunk;
}
/* Memory behind the range of an ask, and a pin on it. May evict if `evict`; then a copy that fails
 * ends the ask. */
int coh_room(struct coh *c, struct coh_ask *a, int evict);
void coh_chunk_leave(struct coh *c, unsigned space, size_t k); /* no valid lane in it */

#endif
