/* binding.h - which processors each rank may use (-bind-to, -map-by).
 *
 * -map-by deals the ranks out over its objects in turn; -bind-to sets how much each gets there:
 *
 *     2 sockets of 2 cores     -bind-to core                    ranks 0 1 | 2 3
 *                              -bind-to core -map-by socket     ranks 0 2 | 1 3
 *                              -bind-to socket                  ranks 0 2 .. | 1 3 ..
 *                                                               (both cores)
 *
 * When the objects run out the next rank begins again at the first, sharing it. */
#ifndef LAUNCH_BINDING_H
#define LAUNCH_BINDING_H

#include <stddef.h>

#include "base/topo.h"

struct place {
    int bound;
    enum topo_kind bind, map;
    int count; /* objects of `bind` per rank */
    const char *cpus; /* -bind-to user:LIST, or NULL */
};

/* Understand the two options (NULL: not given).  0 or -EINVAL with one line in msg. */
int place_parse(struct place *p, const char *bind, const char *map, char *msg, size_t len);
/* The processors of a rank into *set ({0} at first).  0; -ENOENT with a line in msg when the
 * machine has no such object; -ENOMEM. */
int place_rank(const struct place *p, const struct topo *t, int rank, struct topo_set *set,
               char *msg, size_t len);
/* The kernel's processors from a list, one word for each rank (0+2,1-3), again from its beginning;
 * or from Open MPI's rankfile.  0; a negative errno with a line in msg. */
int place_by_list(const char *cpus, int rank, struct topo_set *set, char *msg, size_t len);
int place_by_file(const char *file, int rank, struct topo_set *set, char *msg, size_t len);

#endif
