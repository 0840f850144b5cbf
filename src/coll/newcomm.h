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
/* The same by a text, of processes of this job: see coll_ctx_agree_text. */
int newcomm_from_group(struct rankmap *map, const char *text, int is_local, struct comm **out);
/* MPI_Comm_create for inter- and intracommunicators. */
int newcomm_create(struct comm *c, struct rankmap *map, struct comm **out);
int newcomm_split(struct comm *c, int color, int key, struct comm **out);
int newcomm_inter(struct comm *local, int local_leader, struct comm *peer, int remote_leader,
                  int tag, struct comm **out);
/* The same by a text, of processes of this job: remote_leader is a rank in MPI_COMM_WORLD. */
int newcomm_inter_text(struct comm *local, int local_leader, int remote_leader, const char *text,
                       struct comm **out);
/* The same as newcomm_inter(), where both groups have called newcomm_open(). */
int newcomm_inter_ready(struct comm *local, int local_leader, struct comm *peer,
                        int remote_leader, struct comm **out);
/* Are processes of several jobs in these groups? */
int newcomm_mixed(const struct rankmap *a, const struct rankmap *b);
int newcomm_is_mixed(const struct comm *c);
/* newcomm_open() of both groups; neither goes on before the other has.  Arguments as for
 * newcomm_inter(). */
int newcomm_open_both(struct comm *local, int local_leader, struct comm *peer, int remote_leader,
                      int tag);
/* Collective over c, before newcomm_meet(): processes of other jobs may send here now. */
int newcomm_open(struct comm *c);
/* MPI_Comm_connect, MPI_Comm_accept: the root meets another root at the port (significant there, as
 * is err: the error that stops the root before).  cls: class of the error if there is none. */
int newcomm_meet(struct comm *c, int root, int accepts, const char *port, int cls, int err,
                 struct comm **out);
struct boot_program;
/* The root alone: start programs.  port (256 bytes): where to accept them then. */
int newcomm_spawn(const struct boot_program *list, int n, char port[]);
/* An error of boot_port_open() and its kin, with its text. */
int newcomm_port_error(int err, int cls, const char *what);
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
