/* p2p_packets.h - what point-to-point puts on the wire; private to p2p/.
 *
 *   eager           S --EAGER(data)----------------------> R            (S is done when it is sent)
 *   longer eager    S --EAGER_FIRST(size, data) MORE(data) MORE ...--> R (nothing that is matched
 *                   comes between)
 *   synchronous     S --EAGER_SYNC(data)--> R matches --FIN--> S
 *   rendezvous, one node (single copy)
 *                   S --RTS(runs of memory)--> R matches, reads S's memory --FIN--> S
 *   rendezvous, elsewhere, where the network gets by itself (by_network.c)
 *                   S --RTS(key of S's memory)--> R matches, gets the data --FIN--> S.
 *                   Where the get fails: PULL, as below
 *   rendezvous, elsewhere, or where reading is refused
 *                   S --RTS--> R matches --PULL(window)--> S --DATA(segment)*--> R --PULL ...
 *                   (S is done when it has sent `want` bytes)
 *   offered         R --PREPOST--> S writes into R's buffer --RTS(WRITTEN)--> R  (want.c)
 *                   or: PREPOST and RTS crossed, S writes later --WRITTEN--> R
 *                   from another node: RTS(WRITING), S puts, --WRITTEN--> R  (by_network.c)
 *                   R --FORGET--> S drops what was offered --VOID--> R
 *   credit          R --ACK(bytes)--> S once a quarter of the window was taken by receives
 *   cancel          S --CANCEL--> R; R --CANCELLED--> S if it was still unmatched.  If not: of a
 *                   rendezvous or synchronous message nothing (FIN or PULL comes), of an eager one
 *                   CANCELLED with done = 0
 *   revoked         S --RTS or EAGER_SYNC--> R (which knows of it, or gets to) --REFUSED--> S.
 *                   EAGER is dropped
 *
 * All are AM requests (EAGER.., RTS, FIN, ACK) but DATA, which answers a PULL that reserved its
 * room: an RTS may stay unmatched for long and must hold no reply room meanwhile.
 * Fixed width, host order (homogeneous jobs). sreq and rreq are ids (wire_id.c) of the process
 * that made them. */
#ifndef P2P_P2P_PACKETS_H
#define P2P_P2P_PACKETS_H

#include <stdint.h>

#include "am/am.h"
#include "mem/mem.h"

enum p2p_packet {
    P2P_EAGER = AM_P2P, P2P_EAGER_SYNC, P2P_RTS, P2P_FIN, P2P_PULL, P2P_DATA, P2P_ACK, P2P_CANCEL,
    P2P_CANCELLED, P2P_EAGER_FIRST, P2P_EAGER_MORE, P2P_PREPOST, P2P_FORGET, P2P_VOID, P2P_WRITTEN,
    P2P_REFUSED, P2P_PACKETS_END
};

struct p2p_match { /* what receives are matched by */
    uint32_t ctx; /* number of the context id (obj/comm.h), and a stream of it */
    uint32_t src; /* sender's rank in the communicator, and above it the round of the id */
    int32_t tag;
    uint32_t seq; /* per pair of processes: puts messages of an unordered transport in order */
};
struct p2p_eager_sync {
    struct p2p_match m;
    uint64_t sreq;
};
struct p2p_eager_first { /* EAGER_MORE is struct p2p_match alone, for its seq */
    struct p2p_match m;
    uint32_t size; /* bytes of the whole message */
    uint32_t busy; /* as P2P_RTS_BUSY */
};
struct p2p_run { /* a piece of the sender's memory */
    uint64_t addr, len;
};
/* No longer eager message is larger (bytes): the most that MPIR_CVAR_P2P_EAGER_MAX may be in any
 * process. */
enum { P2P_EAGER_LIMIT = 1048576 };
/* a layout of more runs than this is pulled; bytes behind the header */
enum { P2P_RTS_RUNS = 64, P2P_RTS_TAIL = P2P_RTS_RUNS * 16 };
struct p2p_rts {
    struct p2p_match m;
    uint64_t sreq;
    uint64_t size;  /* bytes */
    uint32_t nruns; /* that follow; 0: the data must be pulled, or got by the network: */
    uint16_t key;   /* bytes of a key that follow (by_network.c); 0: none.  Never both */
    uint16_t flags; /* enum p2p_rts_flags */
};
enum p2p_rts_flags {
    P2P_RTS_WAITS = 1,  /* the sender does nothing but wait for this: see rndv_read() */
    P2P_RTS_BUSY = 4,   /* the receiver was not waiting in MPI when this left: an offer would pay */
    P2P_RTS_WRITTEN = 2, /* the data is in the offered buffer; nothing follows, sreq is the wire id
                          * of the receive */
    P2P_RTS_WRITING = 8  /* it is being put there, WRITTEN comes; what follows as a key is the wire
                          * id of the receive */
};
struct p2p_prepost { /* a posted receive (offer.c) */
    uint64_t rreq;
    uint64_t addr, size; /* of its buffer, one block */
    uint32_t ctx, src;   /* as in the messages that it takes */
    int32_t tag;         /* MPI_ANY_TAG: of any */
    uint32_t seen;       /* number of the first message that had not come */
    uint32_t gen;        /* S ignores offers of another generation */
    uint32_t slot, version; /* its claim word */
    uint32_t key;        /* from another node: bytes of a key of its buffer that follow */
    struct mem_key words; /* on the node: the segment of the receiver's claim words */
};
enum { P2P_PREPOST_KEY = P2P_RTS_TAIL }; /* bytes, at most */
struct p2p_forget { /* S drops all offers of R, and answers with VOID */
    uint32_t unused[2];
};
struct p2p_void {
    uint32_t gen;   /* of the offers that S takes from now on */
    uint32_t seq;   /* of the next message, when this was made */
    uint32_t never; /* S takes no offers */
    uint32_t pad;
};
enum { P2P_WRITTEN_NEVER = 2 }; /* ... nor can be: the communicator was revoked */
struct p2p_written {
    uint64_t rreq, sreq;
    uint64_t failed; /* nothing of use was written: the data must be pulled; or P2P_WRITTEN_NEVER */
};
struct p2p_fin { /* FIN, REFUSED */
    uint64_t sreq;
};
struct p2p_cancel { /* CANCEL, CANCELLED */
    uint64_t sreq;
    uint32_t seq;  /* of the message */
    uint8_t eager; /* S has dropped it and waits for an answer in any case */
    uint8_t done;  /* CANCELLED: it was cancelled */
    uint8_t early; /* CANCELLED, unordered: the message has not had its turn; S asks again */
    uint8_t pad;
};
struct p2p_pull {
    uint64_t sreq, rreq;
    uint64_t off;     /* of the window in the packed message, bytes */
    uint64_t want;    /* bytes the receiver will take in all */
    uint32_t len;     /* of the window */
    uint32_t segment; /* bytes of one DATA */
};
struct p2p_data {
    uint64_t rreq;
    uint64_t off;
};
struct p2p_ack {
    uint64_t bytes;  /* eager ones, taken since the last */
    uint32_t seq;    /* unordered: of the next matched packet; all before have come */
    uint32_t unused;
};

_Static_assert(sizeof(struct p2p_match) == 16, "the common prefix of EAGER and RTS");
_Static_assert(sizeof(struct p2p_eager_sync) == 24, "payload stays 8-aligned");
_Static_assert(sizeof(struct p2p_run) == 16, "P2P_RTS_TAIL");
_Static_assert(sizeof(struct p2p_rts) == 40, "runs stay 8-aligned");
_Static_assert(sizeof(struct p2p_prepost) == 56 + sizeof(struct mem_key), "no holes");
_Static_assert(sizeof(struct p2p_data) == 16, "payload stays 8-aligned");

#endif
