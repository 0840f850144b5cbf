/* coherent_chunk.c - memory of devices: commits, the budget, eviction.  Start with coh_room(). */
#include "mem/coherent_types.h"

#include <errno.h>
#include <stdlib.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Tiles of a chunk. */
static void tiles_of(const struct coh *c, const struct coh_where *w, size_t k, size_t *first,
                     size_t *end)
{
    *first = k * (w->chunk / c->tile);
    *end = least(*first + w->chunk / c->tile, c->ntiles);
}

/* Lanes of a tile that only s has. */
static uint64_t last_of(const struct coh *c, size_t t, unsigned s)
{
    uint64_t others = 0;
    for (unsigned o = 0; o < c->n; o++)
        others |= o == s ? 0 : coh_at(c, t, o)->V;
    return coh_at(c, t, s)->V & ~others;
}

static void used_by(struct coh *c, struct coh_where *w, size_t more, size_t less)
{
    w->used = w->used + more - less;
    size_t sum = 0;
    for (unsigned s = 1; s < c->n; s++)
        sum += c->at[s].used;
    atomic_store_explicit(&c->pvars->v[PVAR_COH_DEVICE_BYTES], sum, memory_order_relaxed);
    pvar_set_max(c->pvars, PVAR_COH_DEVICE_BYTES_HIGH, sum);
}

void coh_chunk_leave(struct coh *c, unsigned space, size_t k)
{
    struct coh_where *w = &c->at[space];
    if (!w->chunks[k].there)
        return;
    w->space->ops->decommit(w->space, w->base + k * w->chunk, w->chunk);
    w->chunks[k].there = 0;
    used_by(c, w, 0, w->chunk);
}

static int is_dirty(const struct coh *c, unsigned s, size_t k)
{
    size_t first, end;
    tiles_of(c, &c->at[s], k, &first, &end);
    for (size_t t = first; t < end; t++)
        if (last_of(c, t, s))
            return 1;
    return 0;
}

/* The chunk to give up: clean before dirty, then the one released longest ago.  from..end stay.
 * *later: some may be free soon. */
static size_t victim(const struct coh *c, unsigned s, size_t from, size_t end, int *later)
{
    const struct coh_where *w = &c->at[s];
    size_t best = SIZE_MAX;
    int best_dirty = 0;
    *later = 0;
    for (size_t k = 0; k < w->nchunks; k++) {
        const struct coh_chunk *x = &w->chunks[k];
        if (!x->there || (k >= from && k < end))
            continue;
        if (x->holds || x->pins) {
            *later |= !x->holds;
            continue;
        }
        int dirty = is_dirty(c, s, k);
        if (best == SIZE_MAX || dirty < best_dirty ||
            (dirty == best_dirty && x->stamp < w->chunks[best].stamp)) {
            best = k;
            best_dirty = dirty;
        }
    }
    return best;
}

/* Holds that end when a stream gets there make room then. */
static int some_leave(const struct coh *c, unsigned s)
{
    for (const struct list *l = c->holds.next; l != &c->holds; l = l->next)
        if (LIST_OBJ(l, struct coh_hold, link)->space == s &&
            LIST_OBJ(l, struct coh_hold, link)->leaving)
            return 1;
    return 0;
}

/* 0: it is gone; SPACE_AGAIN: its last lanes go home. */
static int chunk_evict(struct coh *c, struct coh_ask *a, size_t k)
{
    unsigned s = a->space;
    size_t first, end;
    int left, dirty = 0;
    tiles_of(c, &c->at[s], k, &first, &end);
    uint64_t *need = calloc(end - first, sizeof *need);
    if (!need)
        return -ENOMEM;
    struct coh_need f = {.dst = 0, .first = first, .count = end - first, .need = need, .ask = a,
                          .evicts = 1};
    for (size_t t = first; t < end; t++)
        dirty |= (need[t - first] = last_of(c, t, s)) != 0;
    int err = dirty ? coh_fetch(c, &f, &left) : 0;
    free(need);
    struct coh_chunk *x = &c->at[s].chunks[k];
    x->homed |= dirty;
    if (dirty)
        return err;
    for (size_t t = first; t < end; t++)
        coh_at(c, t, s)->V = coh_at(c, t, s)->M = 0;
    coh_count(c, x->homed ? PVAR_COH_EVICTED_HOME : PVAR_COH_EVICTED_CLEAN, 1);
    coh_chunk_leave(c, s, k);
    coh_gate_open(c, first * c->tile, least(end * c->tile, c->bytes) - first * c->tile);
    return 0;
}

/* Make room for one chunk more: 0, SPACE_AGAIN, -ENOMEM. */
static int one_out(struct coh *c, struct coh_ask *a, size_t from, size_t end, int evict)
{
    unsigned s = a->space;
    int later;
    if (!evict)
        return -ENOMEM;
    if (c->at[s].evicting)
        return SPACE_AGAIN;
    size_t k = victim(c, s, from, end, &later);
    if (k == SIZE_MAX)
        return later || some_leave(c, s) ? SPACE_AGAIN : -ENOMEM;
    return chunk_evict(c, a, k);
}

static int chunk_commit(struct coh *c, unsigned s, size_t k)
{
    struct coh_where *w = &c->at[s];
    int err = w->space->ops->commit(w->space, w->base + k * w->chunk, w->chunk);
    if (err)
        return err;
    w->chunks[k].there = 1;
    w->chunks[k].homed = 0;
    w->chunks[k].stamp = ++c->clock;
    used_by(c, w, w->chunk, 0);
    return 0;
}

int coh_room(struct coh *c, struct coh_ask *a, int evict)
{
    struct coh_where *w = &c->at[a->space];
    if (!a->space)
        return 0;
    size_t from = coh_chunk_first(w, a->off), end = coh_chunk_end(w, a->off, a->len), need = 0;
    int err = 0;
    for (size_t k = from; k < end; k++)
        need += !w->chunks[k].there;
    if ((end - from) * w->chunk > w->budget)
        return -ENOMEM;
    while (!err && w->used + need * w->chunk > w->budget)
        err = one_out(c, a, from, end, evict);
    for (size_t k = from; !err && k < end;) {
        if (w->chunks[k].there)
            k++;
        else if ((err = chunk_commit(c, a->space, k)) == -ENOMEM) /* others use the device, too */
            err = one_out(c, a, from, end, evict);
    }
    if (!err)
        coh_pin(c, a->space, a->off, a->len, 1);
    return err;
}
