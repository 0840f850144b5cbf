/* refuse.h - what revocations need of the other files of p2p/, and they of refuse.c. Start with
 * p2p_revoke() of p2p.h. */
#ifndef P2P_REFUSE_H
#define P2P_REFUSE_H

#include "p2p/p2p_types.h"

/* refuse.c */
void refuse_handlers(void);
void refuse_finalize(struct p2p *s);
/* Is the communicator revoked that receives with this id? */
int refuse_is(uint32_t ctx, uint32_t src);

/* on_packet.c: the handler of all packets that are matched. */
int p2p_on_match(int type, int src, const void *msg, size_t len);
/* A send of this process that a packet of src concerns; NULL: there is none. */
struct p2p_req *send_of(uint64_t wire_id, int src);
/* send.c: of a struct p2p_req that sends. */
int send_is(const struct p2p_op *op);
/* part.c: what cannot go on ends. */
void part_revoke(struct request *r);
/* probe.c: the message that r, an MPI_Mprobe's, holds, taken out of it. NULL: it has none, or is no
 * such. */
struct p2p_unex *probe_empty(struct request *r);

#endif
