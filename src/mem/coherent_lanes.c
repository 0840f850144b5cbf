/* coherent_lanes.c - which lanes of a tile a range names, which instance owns them, and pins of the
 * chunks behind it. Start with coh_named(). */
#include "mem/coherent_types.h"

static uint64_t lanes_between(size_t from, size_t end) /* numbers of lanes of one tile */
{
    if (from >= end)
        return 0;
    uint64_t up = end >= COH_LANES ? ~UINT64_C(0) : (UINT64_C(1) << end) - 1;
    return up & ~UINT64_C(0) << from;
}

/* The part of [off, off + len) in a tile, from its begin: 0 if there is none. */
static int part_of(const struct coh *c, size_t tile, size_t off, size_t len, size_t *from,
                   size_t *end)
{
    size_t base = tile * c->tile, stop = off + len;
    if (stop <= base || off >= base + c->tile || !len)
        return 0;
    *from = off > base ? off - base : 0;
    *end = stop - base < c->tile ? stop - base : c->tile;
    return 1;
}

uint64_t coh_named(const struct coh *c, size_t tile, size_t off, size_t len)
{
    size_t from, end;
    if (!part_of(c, tile, off, len, &from, &end))
        return 0;
    return lanes_between(from / c->lane, (end + c->lane - 1) / c->lane);
}

uint64_t coh_whole(const struct coh *c, size_t tile, size_t off, size_t len)
{
    size_t from, end;
    if (!part_of(c, tile, off, len, &from, &end))
        return 0;
    if (off + len == c->bytes) /* what lies behind the window does not count */
        end = c->tile;
    return lanes_between((from + c->lane - 1) / c->lane, end / c->lane);
}

void coh_own(struct coh *c, size_t tile, unsigned s, uint64_t lanes)
{
    uint64_t gone = 0;
    for (unsigned o = 0; o < c->n; o++) {
        struct coh_inst *x = coh_at(c, tile, o);
        if (o == s)
            continue;
        gone += (uint64_t)__builtin_popcountll(x->V & lanes);
        x->V &= ~lanes;
        x->M &= ~lanes;
    }
    coh_at(c, tile, s)->V |= lanes;
    coh_at(c, tile, s)->M |= lanes;
    c->tiles[tile].lost &= ~lanes;
    if (gone)
        coh_count(c, PVAR_COH_INVALIDATED, gone);
}

void coh_pin(struct coh *c, unsigned space, size_t off, size_t len, int by)
{
    struct coh_where *w = &c->at[space];
    if (!space)
        return;
    for (size_t k = coh_chunk_first(w, off); k < coh_chunk_end(w, off, len); k++)
        w->chunks[k].pins += (uint32_t)by;
}
