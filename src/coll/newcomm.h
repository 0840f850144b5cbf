/* newcomm.h - how communicators come from others: duplicate, subset, split, intercommunicators.
 *
 *   map of the members --coll_ctx_agree*--> context id --comm_make--> communicator
 *     --> errhandler, hints ...
 *
 * These are collective and block.  They return MPI error codes whose text names proc->call as it is
 * at entry.  *out is NULL for a process that is no member.  Arguments are resolved; groups are
 * checked here. */
#ifndef COLL_NEWCOMM_H
#define COLL_NEWCOMM_H

#include "obj/comm.h"
#include "obj/request.h"

struct info;
struct comm_topo;

/* MPI_Comm_dup: attributes by their callbacks, topology, error handler; info NULL: the hints of
 * c. */
int newcomm_dup(struct comm *c, const struct info *info, struct comm **out);
int newcomm_idup(struct comm *c, const struct info *info, struct comm **out, struct request **req);
/* Members of `map` (world ranks, a subset of c's local group), each in its own subset.  tag: see
 * coll_ctx_agree_map. */
int newcomm_subset(struct comm *c, struct rankmap *map, int tag, struct comm **out);
/* MPI_Comm_create for inter- and intracommunicators. */
int newcomm_create(struct comm *c, struct rankmap *map, struct comm **out);
int newcomm_split(struct comm *c, int color, int key, struct comm **out);
int newcomm_inter(struct comm *local, int local_leader, struct comm *peer, int remote_leader,
                  int tag, struct comm **out);
int newcomm_merge(struct comm *c, int high, struct comm **out);
/* The living of c, from ids that all have agreed on (agree.h); side: the group of this process.
 * Does not wait. */
int newcomm_living(struct comm *c, struct rankmap *map, int rank, struct rankmap *remote,
                   const uint64_t ctx[4], int side, struct comm **out);
/* MPI_ERR_GROUP unless every member of map is in the local group of c. */
int newcomm_check_subset(const struct comm *c, const struct rankmap *map);
/* Copies the hints that this library supports from info (may be NULL) into c. */
int newcomm_hints(struct comm *c, const struct info *info);

#endif
