/* spares.c - requests on the heap, some of them spare. */
#include <stdlib.h>

#include "p2p/spares.h"

/* Other processes wait for those of collectives: some are spare. */
struct p2p_req *req_more(struct p2p *s, int flags, int leave)
{
    struct p2p_req *q = malloc(sizeof *q), *x;
    if (!q && flags & P2P_STREAM && s->spares > leave) {
        q = s->spare;
        s->spare = q->next_free;
        s->spares--;
    }
    while (q && s->spares < P2P_SPARES && (x = malloc(sizeof *x)) != NULL) {
        x->next_free = s->spare;
        s->spare = x;
        s->spares++;
    }
    return q;
}
