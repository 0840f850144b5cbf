/* model.h - the naive datatype: a list of (displacement, basic element), after MPI-3.1 4.1, beside
 * the real one.
 *
 * model_random() builds both by the same random constructors; the tests compare their answers and
 * the bytes that they move. */
#ifndef MODEL_H
#define MODEL_H

#include "unit.h"

#include <stddef.h>
#include <stdint.h>

#include "dt/dt_types.h"

struct entry {
    int64_t off;
    int bytes;             /* of this number */
    struct dt_type *basic; /* the predefined type it belongs to */
    int part;              /* 0: value, 1: index of a pair */
};

struct model {
    struct dt_type *type;
    struct entry *e;
    size_t n;
    int64_t lb, ub;
    int lb_set, ub_set;
    int64_t align;
};

/* Deterministic random numbers. */
struct rng {
    uint64_t s;
};
uint64_t rng_next(struct rng *r);
int64_t rng_range(struct rng *r, int64_t lo, int64_t hi); /* lo..hi, both included */

/* A type of at most `max` elements and `depth` constructors; uniform: one basic type in all of it,
 * or NULL. */
struct model model_random(struct rng *r, int depth, size_t max, struct dt_type *uniform);
void model_free(struct model *m);
int64_t model_size(const struct model *m);
/* Bytes touched by count instances. */
void model_bounds(const struct model *m, size_t count, int64_t *lo, int64_t *hi);

/* Memory for count instances: `base` is the address to give to MPI, filled with random bytes. */
struct image {
    char *memory, *base;
    size_t len;
};
struct image image_make(const struct model *m, size_t count, struct rng *r);
void image_free(struct image *i);
/* All packed bytes of count instances, by the list; and back. */
char *model_pack(const struct model *m, size_t count, const char *base);
void model_unpack(const struct model *m, size_t count, char *base, const char *packed, size_t len);

/* A fixture: obj and dt of a process alone. */
void room_setup(void);
void room_teardown(void);
TCase *room_case(const char *name, double timeout);

#endif
