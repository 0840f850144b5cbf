/* p2p.h - point-to-point messages: send, receive, probe, cancel.
 *
 *      send ---- eager:       one or several AMs with the data (up to a CVAR) ----> match -> copy
 *           \--- rendezvous:  RTS (match data, address) --> match
 *                               --> node: single copy by mem/cma, FIN
 *                               --> else: receiver asks for windows of segments
 *
 * Matching (match.c) is by (context id, source rank, tag), in the order sent per source and the
 * order posted per receiver, wildcards included. Start with send.c and recv.c; p2p_types.h has the
 * invariants.
 *
 * Bounds: unexpected eager data from one sender are at most MPIR_CVAR_P2P_EAGER_WINDOW bytes.
 * Beyond it the sender uses rendezvous, whose request is a small header.
 *
 * Requests have no handle until request_publish(); blocking calls have theirs on the stack. */
#ifndef P2P_P2P_H
#define P2P_P2P_H

#include <limits.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "obj/comm.h"
#include "obj/request.h"

struct dt_type;

/* What the message of a send goes with, from watch_label() to watch_leaves(). */
struct p2p_label {
    uint64_t hash, bytes; /* of what is sent, whatever it was copied to */
    uint64_t site;        /* site_portable() */
    uint32_t type;        /* the watcher's */
    uint32_t told;        /* p2p/: the number + 1 that it was told with last */
};
struct p2p_leaves { /* the message that it is about */
    int world, tag;
    uint32_t seq; /* as in struct p2p_took */
    const struct p2p_label *label;
};

int p2p_init(void);
/* After the last barrier of MPI_Finalize: waits for nothing, frees all. */
void p2p_finalize(void);
/* Before that barrier: sends without a waiter (freed requests, buffered sends) are sent. */
void p2p_drain_wait(void);

/* Mode of a send, or'ed with a stream of the communicator's context. */
enum p2p_flags {
    P2P_STANDARD = 0, P2P_SYNC = 1, P2P_READY = 2, P2P_BUFFERED = 3, P2P_MODE = 3,
    P2P_COLL = CTX_COLL << 4, P2P_TOOL = CTX_TOOL << 4, P2P_STREAM = 3 << 4,
    P2P_WHOLE = 1 << 6, /* a receive inside another request: any error ends it */
    P2P_LABELLED = 1 << 7, /* a send that watch_leaves() hears of; for p2p/ alone */
    P2P_AWAITED = 1 << 8 /* its process computes nothing before it is complete: a receive of a
                          * blocking call, p2p_irecv(), p2p_isend_later() */
};

/* Ranks are of the peer group; MPI_PROC_NULL and (receives) the wildcards are legal. */
int p2p_send(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag, struct comm *c,
             int flags);
int p2p_recv(void *buf, MPI_Aint count, struct dt_type *t, int source, int tag, struct comm *c,
             int flags, MPI_Status *status);
int p2p_isend(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag, struct comm *c,
              int flags, struct request **out);
int p2p_irecv(void *buf, MPI_Aint count, struct dt_type *t, int source, int tag, struct comm *c,
              int flags, struct request **out);
/* p2p_send() of a short message to a peer with room. 0: nothing was done, and p2p_send() or
 * p2p_isend_later() finds the reason. */
int p2p_send_at_once(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                     struct comm *c, int flags);
/* p2p_isend() of a message that p2p_send_at_once() has not sent. */
int p2p_isend_later(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                    struct comm *c, int flags, struct request **out);
/* The same as p2p_send() and p2p_isend() of a send that watch_leaves() hears of. */
int p2p_send_labelled(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                      struct comm *c, int flags, const struct p2p_label *label);
int p2p_isend_labelled(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                       struct comm *c, int flags, const struct p2p_label *label,
                       struct request **out);
int p2p_sendrecv(const void *sbuf, MPI_Aint scount, struct dt_type *st, int dest, int stag,
                 void *rbuf, MPI_Aint rcount, struct dt_type *rt, int source, int rtag,
                 struct comm *c, int flags, MPI_Status *status);
/* What watchers hear of both halves of an exchange; NULL in its place: nothing. */
struct p2p_ends_told {
    const struct p2p_label *label; /* of the send, or NULL */
    const void *site;              /* of the receive */
};
/* The same; watch_told() hears of what it has received. */
int p2p_sendrecv_told(const void *sbuf, MPI_Aint scount, struct dt_type *st, int dest, int stag,
                      void *rbuf, MPI_Aint rcount, struct dt_type *rt, int source, int rtag,
                      struct comm *c, struct p2p_ends_told told, MPI_Status *status);
/* One request for both. aside: the outgoing data are first packed aside (MPI_Isendrecv_replace). */
int p2p_isendrecv(const void *sbuf, MPI_Aint scount, struct dt_type *st, int dest, int stag,
                  void *rbuf, MPI_Aint rcount, struct dt_type *rt, int source, int rtag,
                  struct comm *c, int aside, const struct p2p_ends_told *told,
                  struct request **out);
/* What a receive from a named process took. */
struct p2p_took {
    int world, source, tag; /* the sender, in MPI_COMM_WORLD and in the communicator */
    uint32_t seq;           /* of the message, among the packets that p2p_sent_to() counts */
};
/* p2p_recv(), and that. 1 in *known: there is something in *took. watch_told() hears of it. */
int p2p_recv_took(void *buf, MPI_Aint count, struct dt_type *t, int source, int tag, struct comm *c,
                  const void *site, MPI_Status *status, struct p2p_took *took, int *known);
/* A message that a receive has taken, without an error. */
struct p2p_told {
    int world, tag; /* its sender */
    uint32_t seq;   /* as in struct p2p_took */
    int is_setup;   /* of a partitioned message: the data come later; bytes: their most */
    size_t bytes;
    const struct dt_type *type; /* of the receive */
    const void *site;           /* ... and its return address */
};
/* watch_told() is to hear of the message of this receive, which began in this call; it may be done
 * already. Of a persistent one: of all its messages. */
void p2p_tell(struct request *r, const void *site);
/* watch_leaves() is to hear of all messages of r, a persistent send. */
void p2p_label_starts(struct request *r, const struct p2p_label *label);
/* The same of a request that is done; 0: nothing. */
int p2p_request_took(const struct request *r, struct p2p_took *took);
/* Persistent: inactive requests; ops->start begins them. */
int p2p_send_init(const void *buf, MPI_Aint count, struct dt_type *t, int dest, int tag,
                  struct comm *c, int flags, struct request **out);
int p2p_recv_init(void *buf, MPI_Aint count, struct dt_type *t, int source, int tag, struct comm *c,
                  int flags, struct request **out);

/* In P2P_TOOL, messages with lower tags go on when their communicator is revoked. */
enum { P2P_SPARED = INT_MIN / 2 };
/* c was revoked: what waits on it ends with MPIX_ERR_REVOKED, but messages that data have reached;
 * what comes for it from now on is refused. */
void p2p_revoke(struct comm *c);
/* One was that this process does not have, and that receives, or received, with this id. */
void p2p_refuse(uint64_t ctx);

/* r, of p2p_isend() or p2p_irecv(), whose buffer the caller gives back: it ends if its other side
 * is of another job and has called MPI_Finalize, since that one answers nothing. */
void p2p_give_up(struct request *r);

/* What is known to have failed is dealt with: comm_failed() finds it (obj/failed.h). */
void p2p_see_failed(void);
/* MPIX_Comm_ack_failed: the first n failed members no longer stop receives from any process on c,
 * and what only they had suspended goes on. */
void p2p_ack_failed(struct comm *c, int n);

/* Probe: *flag is set if a message is there; blocking when flag is NULL.  With message != NULL the
 * message is taken out of matching (MPI_Mprobe): *message is a request of kind REQUEST_MESSAGE,
 * NULL for MPI_PROC_NULL. */
int p2p_probe(int source, int tag, struct comm *c, int *flag, struct request **message,
              MPI_Status *status);
/* Receive a message taken by p2p_probe; NULL: the no-process message.  The message object is
 * consumed. site: watch_told() hears of it; NULL: it does not. */
int p2p_mrecv(void *buf, MPI_Aint count, struct dt_type *t, struct request *message,
              const void *site, MPI_Status *status);
int p2p_imrecv(void *buf, MPI_Aint count, struct dt_type *t, struct request *message,
               struct request **out);

/* fn for each message of the program that has come and that no receive has taken: the ctx_recv of
 * its communicator, the sender's rank there, its tag. */
void p2p_never_received(void (*fn)(uint32_t ctx, int source, int tag, void *arg), void *arg);

/* What a message that has not come, or has not been taken, needs: a call of another process. */
struct p2p_awaited {
    int world;   /* that process; -1: any member of the communicator */
    int is_send, is_probe;
    int rank, tag; /* as the program gave them */
    struct comm *comm;
};
/* Of a request; 0: none of p2p/, or under way by itself. */
int p2p_request_awaits(const struct request *r, struct p2p_awaited *out);
/* Of a wait (progress_waiting); -1: not one of p2p/, 0: as above. */
int p2p_awaits(int (*cond)(void *), void *arg, struct p2p_awaited *out);
/* Nothing that p2p_drain_wait() waits for is left. */
int p2p_is_drained(void);
/* fn for each send of a freed request that it waits for. */
void p2p_left_behind(void (*fn)(struct request *r, void *arg), void *arg);
/* Data of a matched receive are on their way, with or without a wait for it. */
int p2p_is_receiving(void);
/* Messages wait for room at their receivers. */
int p2p_has_queued(void);
/* How many matched packets went to a process so far (modulo 2^32); whether all of so many from a
 * process have come. Where the transport keeps the order, what was sent before has. */
uint32_t p2p_sent_to(int world);
int p2p_all_came(int world, uint32_t sent);

/* Buffers of buffered sends. `at`: where it hangs, a communicator's or a session's place; NULL: the
 * process's. A send takes its communicator's, else its session's, else the process's.
 * MPI_BUFFER_AUTOMATIC: each message gets memory of its own. */
int p2p_buffer_attach(struct p2p_buffer **at, void *buf, size_t size);
/* Waits until all buffered messages have left. */
int p2p_buffer_detach(struct p2p_buffer **at, void *buf_out, size_t *size);
/* The same at the end of what it hangs on: the user gets nothing back. */
void p2p_buffer_discard(struct p2p_buffer **at);
/* Done when the messages that are in the buffer now have left; *out has a handle. */
int p2p_buffer_iflush(struct p2p_buffer **at, struct request **out);
int p2p_buffer_flush(struct p2p_buffer **at);

/* Bytes addressed by world rank, under any context id: set-up of communicators (coll/ctxid.c).
 * `src` is the sender's word that the receiver matches: a rank, the sender's in a numbering that
 * both know, and above it the round of the id. */
int p2p_send_world(const void *buf, size_t len, int world, uint32_t ctx, uint32_t src, int tag);
int p2p_recv_world(void *buf, size_t len, int world, uint32_t ctx, uint32_t src, int tag);

#endif
