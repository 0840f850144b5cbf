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

long long coh_offset_of(const struct coh *c, uint64_t addr, unsigned *at)
{
    for (*at = 1; *at < c->n; ++*at)
        if (addr - c->at[*at].base < c->bytes)
            return (long long)(addr - c->at[*at].base);
    return -1;
}

int coh_in_hold(const struct coh *c, const struct space *s, uint64_t addr, size_t len, int writes)
{
    unsigned at;
    long long off = coh_offset_of(c, addr, &at);
    if (off < 0 || c->at[at].space != s)
        return -1;
    for (const struct list *l = c->holds.next; l != &c->holds; l = l->next) {
        const struct coh_hold *h = LIST_OBJ(l, struct coh_hold, link);
        size_t from = (size_t)off;
        if (h->space != at || h->leaving || (writes && h->mode == COH_READ))
            continue;
        if (from >= h->off && from - h->off < h->len && len <= h->len - (from - h->off))
            return 1;
    }
    return 0;
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
