/* survive.h - what members of a communicator do when others of it have failed (ULFM's MPIX_Comm_
 * functions): the living agree, and make a communicator of their own.
 *
 *   coll_agree ---\                        up, accept, ack, decide along a tree, or
 *   coll_shrink ---> agree_start (agree.c) -> a coordinator, once a member is known to have failed
 *   coll_revoke (revoke.c) -> a notice that each member passes on
 *
 * The proofs are in doc/design/survive.md. coll_agree() and coll_shrink() return MPI error codes,
 * and are collective over the living members of c, of both groups of an intercommunicator. */
#ifndef COLL_SURVIVE_H
#define COLL_SURVIVE_H

#include <mpi.h>

#include "obj/comm.h"

struct request;

/* All calls on c end with MPIX_ERR_REVOKED, here at once, at the other members when they get to
 * know of it: if one that lives does, all that live will. Local. Calls that may be made on it are
 * those that do not communicate, coll_agree() and coll_shrink(). */
void coll_revoke(struct comm *c);

/* *flag: the bits that all contributing members have set, those of the other group in an
 * intercommunicator. MPIX_ERR_PROC_FAILED, at all members alike: some member that failed was not
 * acknowledged by all; *flag is set then, too. */
int coll_agree(struct comm *c, int *flag);
/* The communicator of the living members, in the order of c. It may have members that failed
 * meanwhile. */
int coll_shrink(struct comm *c, struct comm **out);
/* The same with requests. Calls on one communicator take effect in their order. *out is written
 * before the request is done; the caller has set it to MPI_COMM_NULL. */
struct request *coll_iagree(struct comm *c, int *flag);
struct request *coll_ishrink(struct comm *c, MPI_Comm *out);

#endif
