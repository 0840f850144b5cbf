/* wire_id.h - wire ids of requests, and what there is no memory for; private to p2p/. */
#ifndef P2P_WIRE_ID_H
#define P2P_WIRE_ID_H

#include <stdint.h>

#include "p2p/message.h"

/* Something for which there is no memory. */
struct p2p_lack {
    uint64_t since, last; /* first and last try without success (ns); 0: it does not lack */
    uint64_t of;          /* what these tries were for */
};
/* There is no memory for it: try again (AM_AGAIN), or, after 10 s of tries for the same `of`,
 * -ENOMEM. */
int p2p_lacks(struct p2p_lack *x, uint64_t of) __attribute__((cold));

/* Valid until the request is done: the one it has, or a new one; 0: no memory. */
uint64_t wire_id_make(struct p2p_req *q);
/* After it returned 0: try again (AM_AGAIN), for some seconds; then -ENOMEM. */
int wire_id_lacks(void);
void wire_id_drop(struct p2p_req *q);
/* NULL: no request with this id concerns that process */
struct p2p_req *wire_id_find(uint64_t wire_id, int world);
/* A send of this process that a packet of src concerns; NULL: there is none. */
static inline struct p2p_req *send_of(uint64_t wire_id, int src)
{
    struct p2p_req *s = wire_id_find(wire_id, src);
    return s && s->is_send ? s : NULL;
}

/* A malformed packet, or one that was not asked for, is dropped.  Returns 0, as its handler. */
int p2p_malformed(int src, const char *what) __attribute__((cold));

#endif
