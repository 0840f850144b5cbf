/* refuse.h - what revocations need of the other files of p2p/, and they of refuse.c. Start with
 * p2p_revoke() of p2p.h. */
#ifndef P2P_REFUSE_H
#define P2P_REFUSE_H

#include "p2p/p2p_types.h"

/* The ids with which revoked communicators receive. They never come again. */
struct p2p_revoked {
    struct map ids; /* comm_ctx() + 1 -> the record itself */
    uint64_t send;  /* the id with which the one that is being revoked sends */
};

static inline uint64_t refuse_id(uint32_t ctx, uint32_t src)
{
    return (uint64_t)(src & ~proc->p2p->ranks) << 32 | (ctx & ~(uint32_t)(CTX_STEP - 1));
}

/* Is the communicator revoked that receives with this id? */
static inline int refuse_is(uint32_t ctx, uint32_t src)
{
    const struct p2p_revoked *v = proc->p2p->revoked;
    return v && map_get(&v->ids, refuse_id(ctx, src) + 1);
}

/* refuse.c */
void refuse_handlers(void);
void refuse_finalize(struct p2p *s);

/* on_packet.c: the handler of all packets that are matched. */
int p2p_on_match(int type, int src, const void *msg, size_t len);
/* send.c: of a struct p2p_req that sends. */
int send_is(const struct p2p_op *op);
/* part.c: what cannot go on ends. */
void part_revoke(struct request *r);
/* probe.c: the message that r, an MPI_Mprobe's, holds, taken out of it. NULL: it has none, or is no
 * such. */
struct p2p_unex *probe_empty(struct request *r);

#endif
