/* handle_end.c - a memory handle ends: the ranks that were told a key of it answer that they begin
 * nothing more by it. Without keys, which are for other nodes, nothing waits. */
#include "rma/sync/sync_types.h"

struct farewell {
    const struct rma_win *w;
    struct rma_handle *g;
};

/* A rank that has failed has left. */
static int all_left(void *arg)
{
    const struct farewell *x = arg;
    for (unsigned i = 0; i < x->g->nholders; i++)
        if (x->g->holders[i] != RMA_LEFT && !boot_failed(rma_world(x->w, x->g->holders[i])))
            return 0;
    return 1;
}

void rma_handle_farewell(struct rma_win *w, struct rma_handle *g)
{
    const struct rma_hdr h = {.type = RMA_PKT_HANDLE_ENDS, .disp = g->base};
    list_push(&w->mem.handles->ending, &g->link);
    for (unsigned i = 0; i < g->nholders; i++) {
        int rank = g->holders[i];
        if (boot_failed(rma_world(w, rank)) || rma_plain_wait(w, rank, &h, 1))
            g->holders[i] = RMA_LEFT;
    }
    struct farewell x = {w, g};
    if (!all_left(&x))
        rma_await(w, WHY_WINDOW, all_left, &x, "the users of a memory handle", -1);
    list_del(&g->link);
}
