/* handle_end.c - a memory handle ends: the ranks that were told a key of it answer that they begin
 * nothing more by it. Without keys, which are for other nodes, nothing waits. */
#include "rma/sync/sync_types.h"

#include <errno.h>

struct farewell {
    const struct rma_win *w;
    struct rma_handle *g;
};

/* A rank that has failed has left. */
static int all_left(void *arg)
{
    const struct farewell *x = arg;
    for (unsigned i = 0; i < x->g->nholders; i++)
        if (x->g->holders[i] >= 0 && !boot_failed(rma_world(x->w, x->g->holders[i])))
            return 0;
    return 1;
}

int rma_handle_farewell(struct rma_win *w, struct rma_handle *g)
{
    const struct rma_hdr h = {.type = RMA_PKT_HANDLE_ENDS, .disp = g->base};
    int told = 1;
    list_push(&w->mem.handles->ending, &g->link);
    for (unsigned i = 0; i < g->nholders; i++) {
        int rank = g->holders[i];
        int err = boot_failed(rma_world(w, rank)) ? -ENOTCONN : rma_plain_send(w, rank, &h, 1);
        if (err)
            g->holders[i] = err == -ENOTCONN ? RMA_LEFT : RMA_UNTOLD;
        told &= !err || err == -ENOTCONN;
    }
    struct farewell x = {w, g};
    if (!all_left(&x))
        rma_await(w, WHY_WINDOW, all_left, &x, "the users of a memory handle", -1);
    list_del(&g->link);
    return told;
}
