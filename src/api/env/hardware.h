/* hardware.h - what the machine is, for programs: resources by hwloc's names, kinds of memory. */
#ifndef API_ENV_HARDWARE_H
#define API_ENV_HARDWARE_H

#include "api/api.h"

/* The colour of this node. No two jobs have one in common, since their processes share no
 * memory. */
int node_color(void);

/* The colour of this process for MPI_Comm_split_type with HW_GUIDED or RESOURCE_GUIDED;
 * MPI_UNDEFINED: info names no resource, or this process is in no one instance of it. */
int hardware_color(int type, const struct info *i, int *color);

/* The value of mpi_memory_alloc_kinds for a session that was made with `wanted` (may be NULL), to
 * be freed; NULL: the default, INFO_MEMORY_KINDS. */
char *memory_kinds(const struct info *wanted);
/* Put it into info, of a session's object or (NULL) of the world model's. 0 or -ENOMEM. */
int memory_kinds_put(struct info *i, const struct session_share *session);

#endif
