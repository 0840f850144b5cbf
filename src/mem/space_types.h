/* space_types.h - what the files of the spaces share (private to mem/). */
#ifndef MEM_SPACE_TYPES_H
#define MEM_SPACE_TYPES_H

#include "mem/space.h"

struct cuda;
struct space_pinned { /* one range of host memory */
    struct space *by; /* of the kind; it stays open */
    char *host;
    size_t len;
    unsigned users;
    struct space_pinned *next;
};
struct spaces {
    const struct space_ops *const *list; /* of a test, or NULL */
    struct space *open;
    struct space_pinned *pinned;
    struct cuda *cuda; /* the driver's functions, once they were looked for (space_cuda.c) */
};
struct spaces *space_self(void); /* NULL: no memory */

#endif
