/* coherent_look.c - a coherent window from outside: states of tiles, sums, and whether the design's
 * rules hold.  Start at coh_check(). */
#include "mem/coherent_types.h"

unsigned coh_held(const struct coh *c, unsigned space, size_t off, size_t len)
{
    unsigned modes = 0;
    for (const struct list *l = c->holds.next; l != &c->holds; l = l->next) {
        const struct coh_hold *h = LIST_OBJ(l, struct coh_hold, link);
        if (h->space == space && h->off < off + len && off < h->off + h->len)
            modes |= h->mode;
    }
    return modes;
}

size_t coh_tile_bytes(const struct coh *c)
{
    return c->tile;
}

void coh_look(const struct coh *c, size_t off, unsigned space, struct coh_view *v)
{
    size_t t = off / c->tile;
    const struct coh_inst *x = coh_at(c, t, space);
    uint64_t all = coh_named(c, t, 0, c->bytes);
    v->state = x->M ? 'M' : x->V == all ? 'S' : 'I';
    v->holds = x->rd + x->wr;
    v->valid = (size_t)__builtin_popcountll(x->V) * c->lane;
    size_t end = c->bytes - t * c->tile;
    if (end < c->tile && end % c->lane && x->V >> (end / c->lane) & 1)
        v->valid -= c->lane - end % c->lane;
}

void coh_sum(const struct coh *c, unsigned space, struct coh_sums *v)
{
    const struct coh_where *w = &c->at[space];
    *v = (struct coh_sums){.used = w->used, .budget = w->budget};
    for (size_t k = 0; w->chunks && k < w->nchunks; k++)
        v->held += w->chunks[k].holds ? w->chunk : 0;
}

static const char *tile_check(const struct coh *c, size_t t)
{
    uint64_t valid = 0, writers = 0, all = coh_named(c, t, 0, c->bytes);
    for (unsigned s = 0; s < c->n; s++) {
        const struct coh_inst *x = coh_at(c, t, s);
        if (x->M & ~x->V)
            return "C2: modified and invalid";
        for (unsigned o = 0; o < c->n; o++)
            if (o != s && x->M & coh_at(c, t, o)->V)
                return "C3: modified here and valid there";
        if (x->W & writers)
            return "C5: held for writing in two spaces";
        const struct coh_where *w = &c->at[s];
        if (s && (x->V | x->rd | x->wr) && !w->chunks[t * c->tile / w->chunk].there)
            return "C6: valid or held without memory";
        writers |= x->W;
        valid |= x->V;
    }
    if (c->gate.alone && atomic_load_explicit(&c->gate.alone[t], memory_order_relaxed) &&
        !coh_at_home(c, t))
        return "C10: peers may act on a tile that is not at home alone";
    if (all & ~(valid | c->tiles[t].lost))
        return "C1: a lane is valid nowhere";
    return valid & c->tiles[t].lost ? "C1: a lost lane is valid" : NULL;
}

const char *coh_check(const struct coh *c)
{
    for (size_t t = 0; t < c->ntiles; t++) {
        const char *why = tile_check(c, t);
        if (why)
            return why;
    }
    return NULL;
}
