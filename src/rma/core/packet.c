/* packet.c - a packet of header only goes out, a packet comes in, a reply goes back. */
#include "rma/core/core.h"

#include <string.h>

const char *const rma_packet_name[RMA_PKTS] = {
#define P(name, direction, handler) #name,
    RMA_PACKETS(P)
#undef P
};

struct rma_win *rma_win_find(uint32_t id)
{
    return map_get(&rma_room()->wins, (uint64_t)id + 1);
}

/* The window a packet names, if it may come from src. */
struct rma_win *rma_packet_window(int src, const void *msg, size_t len, struct rma_hdr *h)
{
    if (len < sizeof *h)
        return NULL;
    memcpy(h, msg, sizeof *h);
    struct rma_win *w = rma_win_find(h->win);
    if (!w || h->src >= (uint32_t)w->size || rma_world(w, (int)h->src) != src || h->len != len - sizeof *h)
        return NULL;
    return w;
}

void rma_reply(struct rma_win *w, int src, struct rma_hdr *h, const void *data, size_t len)
{
    h->win = w->id;
    h->src = (uint32_t)w->rank;
    h->len = (uint32_t)len;
    struct iovec v[2] = {{h, sizeof *h}, {(void *)(uintptr_t)data, len}};
    am_reply(src, AM_RMA + h->type, v, len ? 2 : 1);
    rma_count(w, PVAR_RMA_MSGS, 1);
}

int rma_send_plain(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies)
{
    struct rma_hdr full = *h;
    full.win = w->id;
    full.src = (uint32_t)w->rank;
    struct iovec v = {&full, sizeof full};
    int err = am_request(rma_world(w, rank), AM_RMA + full.type, &v, 1, replies);
    if (!err)
        rma_count(w, PVAR_RMA_MSGS, 1);
    return err;
}
