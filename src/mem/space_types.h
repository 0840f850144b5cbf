/* space_types.h - what the files of the spaces share (private to mem/). */
#ifndef MEM_SPACE_TYPES_H
#define MEM_SPACE_TYPES_H

#include "mem/space.h"

struct cuda;
struct spaces {
    const struct space_ops *const *list; /* of a test, or NULL */
    struct space *open;
    struct cuda *cuda; /* the driver's functions, once they were looked for (space_cuda.c) */
};
struct spaces *space_self(void); /* NULL: no memory */

#endif
