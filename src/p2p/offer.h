/* offer.h - receives that are offered to their sender; private to p2p/. S: sender, R: receiver.
 *
 *   R posts r --PREPOST(r)--> S: a want --+-- S sends m: claims r's word, writes, RTS(WRITTEN) -> R
 *                                         +-- or announces m as ever -> R takes the word, moves it
 *   S had announced m before PREPOST came, R computes: S claims, writes, WRITTEN ---------------> R
 *   from another node, by puts of the network: S claims by RTS(WRITING), puts, WRITTEN ---------> R
 *
 * Which message r takes is computed at both ends; doc/design/p2p.md has the proof.
 *  O1 offer   R offers r only if no posted receive that S does not know of, posted before r, could
 *             take a message that r could take.  PREPOST has the number of the first message that
 *             had not come.
 *  O2 pair    when PREPOST comes, S pairs r with the first logged message from that number on that
 *             r takes and that has no pair; else r becomes a want, behind the others
 *  O3 send    a message takes the first want that takes it, whether it is written or announced
 *  O4 void    S drops all wants (its log is too short, or R asks) and sends VOID; R hides all its
 *             open offers then, and S ignores offers made before.  Pairs stay.
 *  O5 claim   the word of r is open, R's, or S's for one message.  The side that changes `open`
 *             moves the data.  The version rises with each use of the word, so an old want claims
 *             nothing.  From another node RTS(WRITING) is the claim.  So R can take nothing back
 *             before VOID, which comes behind all claims.  What S has announced it never puts. */
#ifndef P2P_OFFER_H
#define P2P_OFFER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "mem/mem.h"
#include "p2p/p2p_packets.h"

struct p2p;
struct p2p_peer;
struct p2p_req;
struct p2p_rts;

enum {
    P2P_OFFERS = 64,     /* open offers of a process; bits of struct p2p_offers.used */
    P2P_LOG = 256,       /* messages of the log, a power of two */
    P2P_OFFER_REST = 256 /* receives between two tries, at most */
};

/* A claim word, alone on its cache line, in the receiver's segment.  Version in the upper 24 bits,
 * state in 8, number of the message that has claimed it in 32. */
struct p2p_word {
    _Atomic uint64_t w;
    char pad[56];
};
enum p2p_word_state { WORD_OPEN = 1, WORD_TAKEN, WORD_CLAIMED };
static inline uint64_t word_make(uint32_t version, enum p2p_word_state state, uint32_t seq)
{
    return (uint64_t)version << 40 | (uint64_t)state << 32 | seq;
}
enum { WORD_VERSIONS = 0xffffff };

/* --- R (offer.c) ------------------------------------------------------------------- */

enum p2p_offer_state {
    OFFER_NEW,   /* nothing was ever offered to the peer */
    OFFER_ASKED, /* FORGET is out: no offers until VOID comes */
    OFFER_OPEN,
    OFFER_NEVER  /* the peer takes none */
};
struct p2p_offered { /* of a peer: what this process offers to it */
    enum p2p_offer_state state;
    uint32_t taken;   /* number of the next message that is to come */
    int known;        /* `taken` holds */
    uint32_t gen;
    unsigned misses;  /* in a row */
    unsigned rest, span; /* receives still to be left out, and how many that were at first */
    int wishes;       /* are there receives whose cancellation is not decided? */
};
struct p2p_offers { /* of a process */
    struct mem_segment *seg;
    struct p2p_word *word;
    uint64_t used; /* a bit for each word */
    struct p2p_req *q[P2P_OFFERS];
    uint32_t version[P2P_OFFERS];
};
void offer_init(struct p2p *s);
void offer_finalize(struct p2p *s);
void offer_handlers(void);
/* q has been posted: offer it to its sender, or hidden ones before it. */
void offer_posted(struct p2p_req *q);
/* q, which was offered, is matched by message seq of its sender, or its sender has failed: it is
 * offered no more. */
enum offer_fate {
    OFFER_TAKEN,   /* this process moves the data */
    OFFER_CLAIMED, /* the sender has written this message, or is writing it */
    OFFER_BROKEN   /* claimed for another message */
};
enum offer_fate offer_end(struct p2p_req *q, uint32_t seq);
/* The same by a message that names the receive: RTS(WRITTEN), far: RTS(WRITING). The claim word is
 * not looked at: its line lies with the sender. OFFER_BROKEN: it was not offered in this way. */
enum offer_fate offer_named(struct p2p_req *q, int far);
/* A process of the node found this one computing: offers to it would pay. */
void offer_again(int world);
/* MPI_Cancel of q, which is posted. 1: it may be unposted; 0: a message comes for it, or
 * offer_passed() cancels it. */
int offer_cancel(struct p2p_req *q);
/* Message seq of p has been matched or stored. */
void offer_passed(struct p2p_peer *p, uint32_t seq);

/* --- S (want.c) --------------------------------------------------------------------- */

struct p2p_want { /* a receive of a peer, which waits for a message of this process */
    uint64_t rreq, addr, size;
    uint32_t ctx, src;
    int32_t tag;
    uint32_t slot, version;
    uint32_t nkey;
    void *key; /* of another node's; NULL: nothing is put there */
};
struct p2p_sent { /* a message in the log */
    uint32_t seq;
    uint32_t ctx, src;
    int32_t tag;
    int paired;    /* or a further piece, which no receive takes */
    uint64_t sreq; /* announced by RTS: its wire id; 0: it was eager, or is written */
};
struct p2p_late { /* a send that was announced, and whose receive is offered */
    struct list link; /* p2p->lates */
    struct p2p_req *q;
    struct p2p_want w;
    int failed; /* of a send in parts: one could not be written */
};
struct p2p_wants { /* of a peer: what it offers to this process */
    struct mem_segment *seg; /* its words; NULL: nothing was offered yet */
    struct p2p_word *word;
    uint32_t gen;
    uint32_t base; /* number of the first message in the log */
    unsigned n;
    struct p2p_want want[P2P_OFFERS]; /* in the order they came */
    struct p2p_sent log[P2P_LOG];     /* by number */
};
void want_init(struct p2p *s);
void want_finalize(struct p2p *s);
void want_handlers(void);
void want_drop(struct p2p_peer *p); /* at the end */
/* O3: the message that q begins has left; NULL: a further piece.  Its number is p->seq_out. */
void want_note(struct p2p_peer *p, struct p2p_req *q);
/* A send in parts, of one block, to a process of this node. want_parts(): does it offer anything?
 * want_begin(): claim the receive that takes q, which is filled in and has not begun; 0: not now.
 * Then want_fill() each part, and want_filled(): q ends by itself, earlier if its peer fails. */
int want_parts(int world);
int want_begin(struct p2p_req *q);
void want_fill(struct p2p_req *q, size_t off, size_t len);
void want_filled(struct p2p_req *q);
/* Not all parts will come: the send and its receive end with MPIX_ERR_REVOKED. */
void want_revoke(struct p2p_req *q);

#endif
