/* p2p_types.h - private types of point-to-point. All under proc->lock.
 *
 * Invariants
 *  P1. A posted receive stands in exactly one bin of p2p->posted: that of its key, wildcards
 *      included.
 *  P2. An unexpected message stands in four bins of p2p->unex, one per key that a receive could
 *      have.
 *  P3. No posted receive matches an unexpected message.
 *  P4. While peer->pending is not empty, the peer is on p2p->busy and the hook is active; new sends
 *      queue behind.
 *  P5. peer->eager_out <= cvar.p2p_eager_window: eager bytes sent and not yet acknowledged.
 *  P6. An open rendezvous send stands on p2p->open until FIN or CANCELLED, or until all that was
 *      pulled has left.
 *  P11. What a packet names or measures is checked before use: requests by wire_id_find(), bytes
 *      against what was asked for. A malformed packet is dropped with a warning.
 *  P12. Unordered: seq_out - seq_told <= P2P_EARLY, so peer->early is bounded.
 *  P13. While the network may write into the buffer of a receive, the receive is not complete: it
 *      waits for the network's answer or for WRITTEN, for a failed process's data at most one
 *      second.
 *  P14. While the network reads the buffer of a send, the send is not complete: it waits until the
 *      network has answered for each piece (P2P_CLOSING), or its peer is dead.
 *  P16. While the claim word of an offered receive is claimed, the receive is not complete.
 *  P17. Each number of a message to a peer with `wants` is in its log: peer_next_seq() gives all
 *      of them. */
#ifndef P2P_TYPES_H
#define P2P_TYPES_H

#include <errno.h>

#include "base/list.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/ways.h"
#include "boot/boot.h"
#include "dt/dt.h"
#include "obj/comm.h"
#include "obj/request.h"
#include "p2p/message.h"
#include "p2p/p2p.h"
#include "p2p/p2p_packets.h"
#include "p2p/offer.h"
#include "p2p/wire_id.h"
#include "progress/progress.h"

enum {
    P2P_BINS = 512,       /* powers of two */
    P2P_UNEX_BINS = 256,
    P2P_CHARGE = 64,     /* bytes of window an empty message takes: its record at the receiver */
    P2P_BOUNCE = 131072, /* bytes of the buffer between a single copy and a scattered layout */
    P2P_PULL_SEGMENTS = 8, /* DATA messages of one window, at most */
    P2P_PULL_WINDOWS = 2,  /* asked for at once */
    P2P_SPARES = 16,       /* spare requests of the library's own, enough for any schedule */
    P2P_SPARES_SEND = 4,   /* ... of these for sends only */
    P2P_EARLY = 4096       /* unordered: matched packets under way to one process, so many may come
                            * before their turn */
};

struct p2p_path;

enum p2p_cma { P2P_CMA_UNKNOWN, P2P_CMA_WORKS, P2P_CMA_REFUSED };

struct p2p_peer {
    int world;
    const struct p2p_path *path;
    int near;          /* on this node */
    int host;          /* host index, when near */
    enum p2p_cma cma;  /* may this process read the peer's memory */
    int ordered;
    int dead;
    size_t eager_max;  /* bytes of the longest eager message of one piece */
    size_t piece;      /* bytes in a piece of a longer one */
    size_t short_end;  /* send_short() sends what is shorter; 0: nothing, each send is noted */
    int direct;        /* ordered, and nothing was ever offered to it: what comes is not noted */
    struct p2p_offered offered; /* this side's receives, as it knows them (offer.c) */
    struct p2p_wants *wants;    /* its receives, as this side knows them (want.c); NULL: none */
    struct p2p_req *in_req;   /* receive for the longer eager message that is coming in ... */
    struct p2p_unex *in_unex; /* ... or where it is stored */
    size_t eager_out;  /* P5 */
    size_t eager_in;   /* received here and not yet acknowledged */
    uint32_t seq_out, seq_in;
    uint32_t seq_told; /* unordered: of this side's packets, how many the other side has
                        * acknowledged; and of its packets, how many were acknowledged: */
    uint32_t seq_said;
    unsigned nearly;   /* on early */
    struct list pending; /* struct p2p_op */
    struct list busy;    /* link in p2p->busy */
    struct list early;   /* struct p2p_early: came before their turn, on unordered transports
                          * only */
};

/* How messages reach a peer; matching is common to all. by_am.c is one; want.c is the other, for
 * peers that offer their receives. */
struct p2p_path {
    const char *name;
    void (*init)(void);
    /* Try to send; AM_AGAIN leaves q to be tried again.  Whatever is matched leaves in the order of
     * these calls. */
    int (*send)(struct p2p_req *q, struct p2p_peer *p);
    /* q is matched with a message whose data are still at the sender: get them. tail: what followed
     * the RTS. */
    void (*pull)(struct p2p_req *q, struct p2p_peer *p, const struct p2p_rts *h, const void *tail);
    void (*more)(struct p2p_req *q); /* some of it has come */
    void (*cancel)(struct p2p_req *q, struct p2p_peer *p); /* ask the receiver to drop a send */
};
extern const struct p2p_path p2p_by_am, p2p_by_want;

struct p2p_buffer; /* buffer.c */
struct p2p_wire_id; /* wire_id.c */

struct p2p {
    struct list posted[P2P_BINS];
    struct list unex[P2P_KEYS][P2P_UNEX_BINS]; /* a table for each kind of key */
    unsigned posted_kind[P2P_KEYS]; /* receives posted of each kind of key: unused kinds cost
                                     * nothing */
    unsigned unexpected;   /* messages in unex */
    unsigned malformed;     /* packets dropped */
    uint64_t serial;       /* last given to a receive */
    uint64_t arrivals;     /* unexpected messages so far: probes look again when it moves */
    const struct p2p_path *path; /* of each peer at first: by_am.c */
    struct map peers;      /* world rank -> struct p2p_peer */
    struct p2p_peer *last; /* looked up last */
    struct list busy, open, pulls;
    struct ways near_ways;     /* of long messages on the node: pulled (0), read by CMA (1) */
    int parts;             /* partitioned sends made so far: each has a number */
    struct list reads;     /* struct p2p_native of receives and of sends that put */
    struct progress_hook fail_hook; /* active while a failed process's data are on reads */
    struct p2p_offers *offers; /* offer.c; NULL: nothing was offered yet */
    unsigned offer_most, log_most; /* P2P_OFFERS, P2P_LOG, or less in tests */
    size_t offer_min;          /* bytes of the shortest receive that is offered; SIZE_MAX: none */
    struct list lates;         /* struct p2p_late */
    struct progress_hook late_hook; /* active while there are some */
    struct p2p_wire_id *wire_id; /* wire_id.c */
    uint32_t wire_ids, wire_id_free;
    int spares;
    struct p2p_lack lack_id, lack_unex; /* a wire id; what a message that came takes */
    struct progress_hook hook;
    struct p2p_req *free;  /* pool */
    struct p2p_req *spare; /* for when there is no memory: `spares` of the library's own */
    char *scratch;         /* packed data of one message during its send */
    size_t scratch_size;
    char *bounce;
    struct p2p_buffer *buffer;
    struct p2p_revoked *revoked; /* refuse.c; NULL: no communicator was revoked */
    int me;                /* world rank */
    uint32_t ranks;        /* comm_rank_mask() */
    int crowded;           /* more processes on this host than cores */
};

/* P17: the number of the message (or piece) that has just been sent to p. q: what it begins; NULL:
 * a further piece. */
static inline uint32_t peer_next_seq(struct p2p_peer *p, struct p2p_req *q)
{
    if (__builtin_expect(p->wants != NULL, 0))
        want_note(p, q);
    return p->seq_out++;
}

/* P12: no more may be sent to p now. */
static inline int peer_far_ahead(const struct p2p_peer *p)
{
    return !p->ordered && p->seq_out - p->seq_told >= P2P_EARLY;
}

/* The rank in the sender's word of a packet; that word for a rank of c, MPI_ANY_SOURCE included, in
 * what is received; for any rank of the same communicator. */
static inline int p2p_rank(uint32_t src)
{
    return (int)(src & proc->p2p->ranks);
}
static inline uint32_t p2p_from(const struct comm *c, int rank)
{
    return c->round_recv | ((uint32_t)rank & proc->p2p->ranks);
}
static inline uint32_t p2p_any(uint32_t src)
{
    return (src & ~proc->p2p->ranks) | ((uint32_t)MPI_ANY_SOURCE & proc->p2p->ranks);
}

/* match.c */
void match_init(struct p2p *s);
void match_post(struct p2p_req *q);
void match_unpost(struct p2p_req *q);
/* The posted receive that takes a message, out of its bin; NULL if none. */
struct p2p_req *match_arrival(const struct p2p_match *m);
void match_keep(struct p2p_unex *u);
/* The first posted receive of exactly this key that is not offered; NULL: none. */
struct p2p_req *match_hidden(uint32_t ctx, uint32_t src, int tag);
/* Receives that are posted (count). */
unsigned match_posted(void);
/* First message that (ctx, src, tag), wildcards allowed, would take; it stays. */
struct p2p_unex *match_find(uint32_t ctx, uint32_t src, int tag);
void match_take(struct p2p_unex *u);

/* peer.c */
struct p2p_peer *peer_find(int world);
/* NULL: out of memory */
static inline struct p2p_peer *peer_get(int world)
{
    struct p2p_peer *p = proc->p2p->last;
    return __builtin_expect(p && p->world == world, 1) ? p : peer_find(world);
}
int peer_reach(struct p2p_peer *p); /* connect to it if there was no way before: 0 or -errno */
void peer_drop(struct p2p_peer *p);
int peer_retry(void *p2p); /* progress hook */
void peer_queue(struct p2p_peer *p, struct p2p_op *op);
/* Send a small control message, now or later. */
void peer_control(struct p2p_peer *p, int type, const void *msg, size_t len);
void peer_credit(struct p2p_peer *p, size_t bytes); /* eager bytes have left the unexpected state */
/* Behind the text of a failure: what the program can do where any process could have sent. */
const char *p2p_until_ack(int from_any);
/* The error of q, whose other side has failed. */
int peer_death(const struct p2p_req *q, int world);
/* `world`, which might have sent it, has failed: a posted receive from any process is suspended, if
 * it can go on later. 0: it has to end. */
int peer_hold(struct p2p_req *q, int world);

/* peer_failed.c */
/* Handle processes that failed since the last call; called from progress (am_on_death). */
void peer_reap(void);
/* Call ask() for each process from which a receive is posted (am_on_stall). */
void peer_name_awaited(void (*ask)(int rank));

/* send.c */
int send_begin(struct p2p_req *q);
/* send_end.c */
void send_done(struct p2p_req *q, int err);
void send_late_drop(struct p2p_req *q); /* it is written into no offered receive any more */
/* The record that reports pieces which the network reads in place; NULL: no memory, copy them. */
struct p2p_closing *send_closing(struct p2p_req *q);
/* All of q's data were asked for and sent, or are on their way; or some will not leave. */
void send_asked(struct p2p_req *q);
/* Nothing of it is under way, and what did not leave had other reasons than its peer. */
static inline int send_failed(const struct p2p_closing *x)
{
    return !x->out && x->err && x->err != -ENOTCONN;
}

/* recv.c */
int recv_begin(struct p2p_req *q);
void recv_consume(struct p2p_req *q, struct p2p_unex *u); /* u is freed */
void recv_eager(struct p2p_req *q, const struct p2p_match *m, int world, const void *data,
                size_t len);
/* The first piece of a longer one, and the next. */
void recv_first(struct p2p_req *q, struct p2p_peer *p, const struct p2p_match *m, size_t size,
                const void *data, size_t len);
void recv_more(struct p2p_peer *p, const void *data, size_t len);
void recv_drop(struct p2p_unex *u); /* free a message that will not be received */
void recv_give_back(struct p2p_unex *u); /* the same, with the credit of its sender */
void recv_rendezvous(struct p2p_req *q, const struct p2p_rts *h, int world, const void *tail);
/* The sender has written the data of this message into q. */
void recv_written(struct p2p_req *q, const struct p2p_rts *h, int world);
/* ... is writing it: WRITTEN comes. */
void recv_await(struct p2p_req *q, const struct p2p_rts *h, int world);
void recv_done(struct p2p_req *q, int err);
void recv_tell(struct p2p_req *q); /* it is done: watch_told() */

/* by_network.c */
void native_init(struct p2p *s);
/* The send q can be put into the receive w: native_put() or native_withdraw() follows.  0: no. */
int native_put_ready(struct p2p_req *q, const struct p2p_peer *p, const struct p2p_want *w);
/* Its RTS has left: q ends by itself. */
void native_put(struct p2p_req *q, uint64_t rreq);
/* Get what a matched RTS offers. 1: q ends by itself; 0: nothing has happened, the data must be
 * pulled. */
int native_read(struct p2p_req *q, struct p2p_peer *p, const struct p2p_rts *h, const void *key);
/* A process failed: its reads end when the network has answered, or after a timeout. */
void native_died(int world);
/* The receive q, in no list, was offered to it: it ends when nothing more can come. */
void native_linger(struct p2p_req *q);
int native_left_behind(void); /* are there puts of sends without a waiter? */
void native_finalize(struct p2p *s);

/* on_packet.c */
void p2p_handlers(void);
/* Cancel a send of this process to itself that has left: the result is known before the call
 * returns. */
void send_cancel_own(struct p2p_req *q);

/* send_recv.c */
/* A receive on the heap, filled in, from no process. */
int recv_make(void *buf, MPI_Aint count, struct dt_type *t, struct comm *c, struct p2p_req **out);
/* A send on the heap, filled in, that has not begun. */
int send_make(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
              struct comm *c, int flags, struct p2p_req **out);

/* What a wait waits for, as p2p_awaits(); -1: it is no wait of that file. probe.c has the other. */
int call_awaits(int (*cond)(void *), void *arg, struct p2p_awaited *out);
int probe_awaits(int (*cond)(void *), void *arg, struct p2p_awaited *out);

/* buffer.c */
struct p2p_piece;
/* A piece of the buffer for so many bytes, and where they go. */
int buffer_take(const struct comm *c, size_t bytes, struct p2p_piece **out);
void *buffer_data(struct p2p_piece *piece);
void buffer_drop(struct p2p_piece *piece);
void buffer_sent(struct p2p_req *q);

#endif
