/* coherent_gate.c - tiles on which peers act without a message, since home alone has them.
 *
 *     owner                         peer
 *     alone = 0                     shows that it acts
 *     full fence                    full fence
 *     notes peers that act          alone? acts: leaves
 *     waits until these have left   shows that it has left
 *
 * So either the owner sees the peer, or the peer sees the word.  Start at coh_gate_shut(). */
#include "mem/coherent_types.h"

#include "base/atomic.h"

int coh_at_home(const struct coh *c, size_t tile)
{
    const struct coh_inst *home = coh_at(c, tile, 0);
    uint64_t others = home->W | c->tiles[tile].fly | c->tiles[tile].lost;
    for (unsigned s = 1; s < c->n; s++)
        others |= coh_at(c, tile, s)->V | coh_at(c, tile, s)->W;
    return !others && home->V == coh_named(c, tile, 0, c->bytes);
}

static size_t end_of(const struct coh *c, size_t off, size_t len)
{
    return len ? (off + len - 1) / c->tile + 1 : off / c->tile;
}

void coh_gate_open(struct coh *c, size_t off, size_t len)
{
    for (size_t t = off / c->tile; c->gate.alone && t < end_of(c, off, len); t++)
        /* release: the data are there; pairs with the peer's acquire */
        if (!c->tiles[t].asks && coh_at_home(c, t))
            atomic_store_explicit(&c->gate.alone[t], 1, memory_order_release);
}

void coh_gate_keep(struct coh *c, struct coh_ask *a, int by)
{
    if (a->shut == (by > 0))
        return;
    a->shut = by > 0;
    for (size_t t = a->off / c->tile; t < end_of(c, a->off, a->len); t++)
        c->tiles[t].asks += (uint32_t)by;
}

int coh_gate_shut(struct coh *c, size_t off, size_t len)
{
    int shut = 0;
    if (!c->gate.alone)
        return 0;
    for (size_t t = off / c->tile; t < end_of(c, off, len); t++)
        if (atomic_load_explicit(&c->gate.alone[t], memory_order_relaxed)) {
            atomic_store_explicit(&c->gate.alone[t], 0, memory_order_relaxed);
            shut = 1;
        }
    if (shut) {
        fence_full(); /* pairs with the peer's, between its sign and its look at the word */
        c->gate.look(c->gate.arg);
    }
    return c->gate.inside(c->gate.arg) ? SPACE_AGAIN : 0;
}
