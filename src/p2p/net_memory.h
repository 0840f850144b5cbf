/* net_memory.h - the network's view of a buffer; private to p2p/. */
#ifndef P2P_NET_MEMORY_H
#define P2P_NET_MEMORY_H

#include "p2p/p2p_types.h"

struct p2p_native { /* what the network knows of one request */
    struct tp_done d; /* shared by all pieces: each answer counts down */
    struct list link; /* receive: on p2p->reads */
    struct p2p_req *q; /* NULL: it was given up */
    struct tp *tp;
    const struct tp_ops *ops;
    struct tp_mem *mem; /* the user's buffer; NULL: needs no registration */
    struct tp_far *far; /* the other side's */
    size_t most;        /* bytes of one get or put */
    unsigned out;       /* of them, under way */
    unsigned flags;     /* enum tp_flag of the transport */
    int flushed;        /* put: a flush was asked for, or is not needed */
    uint64_t rreq;      /* put: wire id of the receive */
    int err;            /* -errno of the first that failed: no more is asked for */
    uint64_t over;      /* ns: when a failed process's data are given up; 0: it lives */
};

/* Let the network of p get the data of the send q: writes a key of at most `room` bytes, returns
 * its length; 0: impossible, or not faster. What was registered stays until native_withdraw(). */
size_t native_offer(struct p2p_req *q, const struct p2p_peer *p, void *key, size_t room);
void native_withdraw(struct p2p_req *q);
/* Let it put data into the receive q; as above. */
size_t native_expose(struct p2p_req *q, const struct p2p_peer *p, void *key, size_t room);
/* Would a message of that length be put, from here to p or the other way? */
int native_puts(const struct p2p_peer *p, size_t len);
/* A record of q by which the key of the other side's memory can be used; NULL: it cannot. */
struct p2p_native *native_import(struct p2p_req *q, const struct p2p_peer *p, unsigned how,
                                 size_t len, const void *key, size_t nkey);
void native_record_free(struct p2p_native *x);

#endif
