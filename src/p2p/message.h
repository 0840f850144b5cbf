/* message.h - what a message is on either side: a request, an unexpected message, one that came
 * before its turn, something that waits to be sent (part of p2p_types.h, which has the invariants
 * that are named here). */
#ifndef P2P_MESSAGE_H
#define P2P_MESSAGE_H

#include "base/list.h"
#include "obj/request.h"
#include "p2p/p2p.h"
#include "p2p/p2p_packets.h"
#include "tp/tp.h"

struct p2p_peer;
struct p2p_native; /* by_network.c */

enum { P2P_KEYS = 4 }; /* exact, any tag, any source, any of both */

/* Pieces of a send that the network reads in place (am_reply_zcopy). If the peer fails, the send
 * ends before them. */
struct p2p_closing {
    struct tp_done d; /* shared by all of them: each answer counts down */
    struct p2p_req *q; /* NULL: it has ended */
    unsigned out;     /* pieces under way */
    int err;          /* -errno of the first that did not leave */
};

/* Something to send to a peer that had no room: tried again in order. 0, AM_AGAIN, or -errno. */
struct p2p_op {
    struct list link;
    int (*try)(struct p2p_op *op, struct p2p_peer *p);
    /* the peer is dead or the transport failed */
    void (*fail)(struct p2p_op *op, int neg_errno);
};

enum p2p_state {
    P2P_IDLE,     /* not started, or complete */
    P2P_QUEUED,   /* send: in peer->pending */
    P2P_OPEN,     /* send: RTS or EAGER_SYNC is out, on p2p->open */
    P2P_CLOSING,  /* send: all of it was asked for and given to the network, which still reads some
                   * of it; on p2p->open */
    P2P_CANCELLING, /* send: eager, complete before, waits for CANCELLED on p2p->open */
    P2P_POSTED,   /* receive: in a bin */
    P2P_PULLING,  /* receive: matched, data are coming (rendezvous or longer eager), on
                   * p2p->pulls */
    P2P_READING,  /* receive: matched, the network gets the data (by_network.c), its record is on
                   * p2p->reads */
    P2P_AWAITING, /* receive: matched, its sender writes the data; on p2p->pulls until WRITTEN */
    P2P_FILLING,  /* send: its receive is claimed, parts are written as they get ready; on
                   * p2p->open */
    P2P_PUTTING,  /* send: the network puts the data into the receive, its record is on
                   * p2p->reads */
    P2P_WRITTEN_OUT /* send: its data is in the receive, the RTS waits for room in peer->pending */
};

struct p2p_req {
    struct request r;
    struct p2p_op op;    /* op.link: bin, pending, open or pulls, by state */
    enum p2p_state state;
    int flags;           /* enum p2p_flags */
    int is_send;
    int block;           /* the buffer is one block, at `start` */
    int holds;           /* a reference on the type */
    int waits;           /* send: its caller is blocked in it */
    uint32_t ctx;
    uint32_t src;        /* send: as it is sent; receive: as it is wanted, p2p_any() of it: any */
    int32_t tag;
    int world;           /* the peer, -1: any or none */
    int target;          /* persistent: destination or source as the user gave it */
    uint64_t serial;     /* receive: order of posting */
    uint32_t seq;        /* send: of its (first) message */
    int cancelled;       /* send: the receiver was asked to drop it; receive: its cancellation
                          * is decided when claimed offers have ended */
    unsigned offer;      /* receive: its place in p2p->offers + 1; 0: its sender does not know it */
    struct p2p_late *late; /* send: it may be written into an offered receive; NULL: no */
    int eager;           /* send: left as an eager message, may be cancelled until it is waited
                          * for; receive: watch_told() is to hear of its message */
    void *buf;
    size_t count;
    struct dt_type *type;
    char *start;
    size_t size;         /* bytes of the buffer */
    /* rendezvous */
    size_t want, next, got; /* bytes: to move; asked for; moved */
    int waiting;         /* a PULL stands in peer->pending */
    uint64_t began;      /* receive: when the first PULL left, where CMA would do too; else 0 */
    size_t full;         /* receive: bytes of the message; more than size: truncated */
    uint64_t remote;     /* wire id of the send request; send: of the receive that it was written
                          * into */
    uint64_t wire_id;     /* its own wire id; 0: none */
    struct p2p_native *native; /* what the network knows of the buffer; NULL: nothing */
    struct p2p_closing *leaving; /* NULL: no piece is read in place */
    struct p2p_req *next_free;
    struct p2p_req *twin; /* buffered send and the copy that is sent for it, while both live */
    void *copy;          /* buffered send: its piece of the attached buffer */
    const void *site;    /* receive, where `eager` is set or it is persistent: return address */
    struct p2p_label label; /* send, where its flags have P2P_LABELLED */
};

struct p2p_unex {
    struct list link[P2P_KEYS];
    struct p2p_match m;
    int world;
    int type;            /* P2P_EAGER, P2P_EAGER_SYNC, P2P_RTS */
    uint32_t nruns;      /* RTS */
    uint16_t key, flags; /* RTS */
    uint64_t serial;     /* order of arrival */
    uint64_t sreq;
    size_t size;         /* bytes of the message */
    size_t arrived;      /* bytes that have arrived */
    struct p2p_req *taker; /* receive that waits for the rest */
    int dropped;         /* it will not be received: free it when it is complete */
    char data[] __attribute__((aligned(8))); /* message, or what followed the RTS */
};

struct p2p_early {
    struct list link;
    int type;
    size_t len;
    char msg[] __attribute__((aligned(8)));
};

#endif
