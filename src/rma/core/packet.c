/* packet.c - packets of header only are sent, incoming ones are checked, replies are sent. Start
 * with rma_packet_window(). */
#include "rma/core/core.h"

#include <string.h>

const char *const rma_packet_name[RMA_PKTS] = {
#define P(name, direction, handler) #name,
    RMA_PACKETS(P)
#undef P
};

struct rma_win *rma_win_find(uint64_t id)
{
    return map_get(&rma_self()->wins, id);
}

struct rma_win *rma_win_named(uint32_t win, uint32_t src)
{
    struct rma_win *w = rma_win_find((uint64_t)(src & ~rma_self()->ranks) << 32 | win);
    if (!w)
        pvar_set_add(pvar_proc(), PVAR_RMA_LATE, 1);
    return w;
}

struct rma_win *rma_packet_window(int src, const void *msg, size_t len, struct rma_hdr *h)
{
    if (len < sizeof *h)
        return NULL;
    memcpy(h, msg, sizeof *h);
    struct rma_win *w = rma_win_named(h->win, h->src);
    uint32_t rank = h->src & rma_self()->ranks;
    if (!w || rank >= (uint32_t)w->size || rma_world(w, (int)rank) != src ||
        h->len != len - sizeof *h)
        return NULL;
    h->src = rank;
    return w;
}

void rma_reply(struct rma_win *w, int src, struct rma_hdr *h, const void *data, size_t len)
{
    rma_name(w, h);
    h->len = (uint32_t)len;
    struct iovec v[2] = {{h, sizeof *h}, {(void *)(uintptr_t)data, len}};
    am_reply(src, AM_RMA + h->type, v, len ? 2 : 1);
    rma_count(w, PVAR_RMA_MSGS, 1);
}

int rma_send_plain(struct rma_win *w, int rank, const struct rma_hdr *h, unsigned replies)
{
    struct rma_hdr full = *h;
    rma_name(w, &full);
    struct iovec v = {&full, sizeof full};
    int err = am_request(rma_world(w, rank), AM_RMA + full.type, &v, 1, replies);
    if (!err)
        rma_count(w, PVAR_RMA_MSGS, 1);
    return err;
}
