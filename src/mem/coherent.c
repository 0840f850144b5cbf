/* coherent.c - states of a coherent window's lanes, and holds.  Start with coh_acquire(). */
#include "mem/coherent_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sched.h"

/* --- making ----------------------------------------------------------------------------------- */

static int where_open(struct coh *c, struct coh_where *w, struct space *s, size_t budget)
{
    w->space = s;
    w->chunk = s->caps.grain > c->tile ? s->caps.grain : c->tile;
    w->nchunks = (c->bytes + w->chunk - 1) / w->chunk;
    w->budget = budget ? budget : s->caps.bytes / 4 * 3;
    w->chunks = calloc(w->nchunks ? w->nchunks : 1, sizeof *w->chunks);
    if (!w->chunks)
        return -ENOMEM;
    size_t len = w->nchunks ? w->nchunks * w->chunk : w->chunk;
    return s->ops->reserve(s, len, &w->base);
}

int coh_make(const struct coh_plan *p, struct coh **out)
{
    struct coh *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    c->bytes = p->bytes;
    c->tile = p->tile;
    c->lane = p->tile / COH_LANES;
    c->ntiles = (p->bytes + p->tile - 1) / p->tile;
    c->n = 1;
    c->pvars = p->pvars;
    c->at[0].base = (uint64_t)(uintptr_t)p->home;
    list_init(&c->holds);
    list_init(&c->flights);
    size_t tiles = c->ntiles ? c->ntiles : 1;
    c->tiles = calloc(tiles, sizeof *c->tiles);
    c->inst = calloc(tiles * p->n, sizeof *c->inst);
    int err = c->tiles && c->inst ? 0 : -ENOMEM;
    while (!err && c->n < p->n) {
        err = where_open(c, &c->at[c->n], p->space[c->n], p->budget);
        c->n++;
    }
    for (size_t t = 0; !err && t < c->ntiles; t++)
        coh_at(c, t, 0)->V = coh_named(c, t, 0, c->bytes);
    if (err) {
        coh_drop(c);
        return err;
    }
    if (p->gate)
        c->gate = *p->gate;
    coh_gate_open(c, 0, c->bytes);
    *out = c;
    return 0;
}

static void hold_free(struct coh_hold *h)
{
    list_del(&h->link);
    free(h);
}

void coh_drop(struct coh *c)
{
    for (unsigned turn = 0; !list_empty(&c->flights); turn++) {
        coh_flights_poll(c);
        thread_pause(turn);
    }
    while (!list_empty(&c->holds))
        hold_free(LIST_OBJ(c->holds.next, struct coh_hold, link));
    for (unsigned s = 1; s < c->n; s++) {
        struct coh_where *w = &c->at[s];
        for (size_t k = 0; w->chunks && k < w->nchunks; k++)
            coh_chunk_leave(c, s, k);
        if (w->base)
            w->space->ops->unreserve(w->space, w->base,
                                     w->nchunks ? w->nchunks * w->chunk : w->chunk);
        free(w->chunks);
    }
    free(c->tiles);
    free(c->inst);
    free(c);
}

/* --- what an ask meets ------------------------------------------------------------------------ */

static size_t first_tile(const struct coh *c, size_t off)
{
    return off / c->tile;
}
static size_t end_tile(const struct coh *c, size_t off, size_t len)
{
    return len ? (off + len - 1) / c->tile + 1 : first_tile(c, off);
}

static int out_of_range(const struct coh *c, size_t off, size_t len)
{
    return off > c->bytes || len > c->bytes - off;
}

static size_t lane_at(const struct coh *c, const struct coh_ask *a, size_t t, uint64_t lanes)
{
    size_t at = t * c->tile + (size_t)__builtin_ctzll(lanes) * c->lane;
    return at > a->off ? at : a->off;
}

/* Is a lane held for writing in another space (all: in any)? -EBUSY and where. */
static int conflict(struct coh *c, struct coh_ask *a, int all)
{
    for (size_t t = first_tile(c, a->off); t < end_tile(c, a->off, a->len); t++) {
        uint64_t named = coh_named(c, t, a->off, a->len);
        for (unsigned s = 0; s < c->n; s++)
            if ((all || s != a->space) && coh_at(c, t, s)->W & named) {
                a->bad = lane_at(c, a, t, coh_at(c, t, s)->W & named);
                a->bad_space = s;
                return -EBUSY;
            }
    }
    return 0;
}

/* Would the conflict end by itself, since the writer's release is in its stream? */
static int conflict_leaves(const struct coh *c, const struct coh_ask *a)
{
    int leaves = 0;
    for (const struct list *l = c->holds.next; l != &c->holds; l = l->next) {
        const struct coh_hold *h = LIST_OBJ(l, struct coh_hold, link);
        if (h->space == a->space || h->mode == COH_READ)
            continue;
        for (size_t t = first_tile(c, a->off); t < end_tile(c, a->off, a->len); t++)
            if (coh_named(c, t, h->off, h->len) & coh_named(c, t, a->off, a->len)) {
                if (!h->leaving)
                    return 0;
                leaves = 1;
            }
    }
    return leaves;
}

static int is_busy(const struct coh *c, size_t off, size_t len)
{
    for (size_t t = first_tile(c, off); t < end_tile(c, off, len); t++)
        if (c->tiles[t].fly & coh_named(c, t, off, len))
            return 1;
    return 0;
}

/* Lanes that must be copied to dst first; `whole` are written without. Counts once. */
static int stale_lanes(struct coh *c, struct coh_ask *a, unsigned dst, int fresh, uint64_t *need)
{
    size_t first = first_tile(c, a->off);
    uint64_t hits = 0, saved = 0;
    int any = 0;
    for (size_t t = first; t < end_tile(c, a->off, a->len); t++) {
        uint64_t named = coh_named(c, t, a->off, a->len);
        uint64_t stale = named & ~coh_at(c, t, dst)->V;
        uint64_t whole = fresh ? coh_whole(c, t, a->off, a->len) : 0;
        hits += (uint64_t)__builtin_popcountll(named & ~stale);
        saved += (uint64_t)__builtin_popcountll(stale & whole);
        stale &= ~whole;
        if (stale & c->tiles[t].lost) {
            a->bad = lane_at(c, a, t, stale & c->tiles[t].lost);
            a->bad_space = dst;
            return -ENODATA;
        }
        need[t - first] = stale;
        any |= stale != 0;
    }
    if (!a->counted) {
        a->counted = 1;
        coh_count(c, PVAR_COH_HITS, hits);
        coh_count(c, PVAR_COH_DISCARDS, saved * c->lane);
    }
    return any;
}

static void own_all(struct coh *c, const struct coh_ask *a, unsigned s)
{
    for (size_t t = first_tile(c, a->off); t < end_tile(c, a->off, a->len); t++) {
        uint64_t lanes = coh_named(c, t, a->off, a->len) & ~c->tiles[t].fly;
        if (lanes)
            coh_own(c, t, s, lanes);
    }
}

/* --- holds ------------------------------------------------------------------------------------ */

static struct coh_hold *hold_make(const struct coh_ask *a)
{
    struct coh_hold *h = calloc(1, sizeof *h);
    if (h) {
        list_init(&h->link);
        h->off = a->off;
        h->len = a->len;
        h->space = a->space;
        h->mode = a->mode;
    }
    return h;
}

static void hold_counts(struct coh *c, const struct coh_hold *h, int by)
{
    struct coh_where *w = &c->at[h->space];
    for (size_t t = first_tile(c, h->off); t < end_tile(c, h->off, h->len); t++) {
        struct coh_inst *x = coh_at(c, t, h->space);
        if (h->mode == COH_READ) {
            x->rd += (uint32_t)by;
            continue;
        }
        x->wr += (uint32_t)by;
        x->W = by > 0 ? x->W | coh_named(c, t, h->off, h->len) : 0;
    }
    for (size_t k = h->space ? coh_chunk_first(w, h->off) : 0;
         h->space && k < coh_chunk_end(w, h->off, h->len); k++) {
        w->chunks[k].holds += (uint32_t)by;
        w->chunks[k].homed = 0;
        w->chunks[k].stamp = by < 0 ? ++c->clock : w->chunks[k].stamp;
    }
}

/* The hold ends: W of its tiles is the union of those that remain. */
static void hold_end(struct coh *c, struct coh_hold *h)
{
    list_del(&h->link);
    hold_counts(c, h, -1);
    if (h->mode != COH_READ)
        for (struct list *l = c->holds.next; l != &c->holds; l = l->next) {
            struct coh_hold *o = LIST_OBJ(l, struct coh_hold, link);
            if (o->space != h->space || o->mode == COH_READ)
                continue;
            for (size_t t = first_tile(c, h->off); t < end_tile(c, h->off, h->len); t++)
                coh_at(c, t, o->space)->W |= coh_named(c, t, o->off, o->len);
        }
    coh_gate_open(c, h->off, h->len);
    free(h);
}

static int give_up(struct coh *c, struct coh_ask *a, int err)
{
    coh_forget(c, a, NULL);
    if (a->pinned)
        coh_pin(c, a->space, a->off, a->len, -1);
    a->pinned = 0;
    coh_gate_keep(c, a, -1);
    if (err == -EBUSY)
        coh_count(c, PVAR_COH_CONFLICTS, 1);
    if (err) /* what it shut is as it was */
        coh_gate_open(c, a->off, a->len);
    return err;
}

/* The user's stream waits for the copies of a hold. */
static int stream_waits(struct coh *c, const struct coh_ask *a, const struct coh_hold *h)
{
    int err = 0;
    for (struct list *l = c->flights.next; !err && l != &c->flights; l = l->next) {
        struct coh_flight *f = LIST_OBJ(l, struct coh_flight, link);
        if (f->hold == h && f->at != c->at[a->space].space)
            err = SPACE_AGAIN; /* its mark is another device's: wait here */
        else if (f->hold == h)
            err = f->at->ops->before(f->at, a->stream, &f->mark);
    }
    return err;
}

/* Copies that an acquire needs: 0: none, or they are under way and the stream waits for them. */
static int fetch(struct coh *c, struct coh_ask *a, struct coh_hold *h, uint64_t *need)
{
    int left, stream = a->on_stream && a->space;
    size_t first = first_tile(c, a->off), count = end_tile(c, a->off, a->len) - first;
    struct coh_need f = {.dst = a->space, .first = first, .count = count, .need = need, .ask = a,
                          .hold = stream ? h : NULL, .own = stream && a->mode != COH_READ};
    int err = coh_fetch(c, &f, &left);
    if (err == SPACE_AGAIN && stream && !left)
        err = stream_waits(c, a, h);
    if (err)
        coh_forget(c, NULL, h);
    return err;
}

/* Everything is there but lanes: make the hold. */
static int take(struct coh *c, struct coh_ask *a)
{
    size_t count = end_tile(c, a->off, a->len) - first_tile(c, a->off);
    uint64_t *need = calloc(count + 1, sizeof *need);
    struct coh_hold *h = hold_make(a);
    int err = need && h ? stale_lanes(c, a, a->space, a->mode == COH_DISCARD, need) : -ENOMEM;
    if (err > 0)
        err = fetch(c, a, h, need);
    free(need);
    if (err) {
        free(h);
        return err;
    }
    if (a->mode != COH_READ)
        own_all(c, a, a->space);
    list_push(&c->holds, &h->link);
    hold_counts(c, h, 1);
    a->ptr = c->at[a->space].base + a->off;
    give_up(c, a, 0); /* the hold keeps the memory */
    return 0;
}

int coh_acquire(struct coh *c, struct coh_ask *a)
{
    if (out_of_range(c, a->off, a->len))
        return -ERANGE;
    coh_poll(c);
    if (a->err || c->at[a->space].gone)
        return give_up(c, a, a->err ? a->err : -EIO);
    if (conflict(c, a, 0))
        return conflict_leaves(c, a) ? SPACE_AGAIN : give_up(c, a, -EBUSY);
    if (is_busy(c, a->off, a->len))
        return SPACE_AGAIN;
    /* Accesses at home do not open it again between two attempts: it would go round for ever. */
    if (a->space || a->mode != COH_READ)
        coh_gate_keep(c, a, 1);
    int err = a->space || a->mode != COH_READ ? coh_gate_shut(c, a->off, a->len) : 0;
    if (!err && !a->pinned)
        err = coh_room(c, a, 1);
    if (!err) {
        a->pinned = 1;
        err = take(c, a);
    }
    return err && err != SPACE_AGAIN ? give_up(c, a, err) : err;
}

int coh_release(struct coh *c, size_t off, size_t len, unsigned space, int on_stream, void *stream)
{
    struct coh_hold *h = NULL;
    coh_poll(c);
    for (struct list *l = c->holds.prev; !h && l != &c->holds; l = l->prev) {
        struct coh_hold *x = LIST_OBJ(l, struct coh_hold, link);
        if (x->off == off && x->len == len && x->space == space && !x->leaving)
            h = x;
    }
    if (!h)
        return -EINVAL;
    if (on_stream && space && !h->err) { /* where a copy failed, the caller is told, below */
        struct space *s = c->at[space].space;
        int err = s->ops->after(s, stream, &h->mark);
        h->leaving = !err;
        return err;
    }
    if (h->flights)
        return SPACE_AGAIN;
    int err = h->err;
    hold_end(c, h);
    return err;
}

int coh_prefetch(struct coh *c, size_t off, size_t len, unsigned space)
{
    struct coh_ask a = {.off = off, .len = len, .space = space, .mode = COH_READ};
    if (out_of_range(c, off, len))
        return -ERANGE;
    coh_poll(c);
    if (c->at[space].gone || conflict(c, &a, 0) || is_busy(c, off, len))
        return 0;
    if ((space && coh_gate_shut(c, off, len)) || coh_room(c, &a, 0)) {
        coh_gate_open(c, off, len);
        return 0;
    }
    size_t first = first_tile(c, off), count = end_tile(c, off, len) - first;
    uint64_t *need = calloc(count + 1, sizeof *need);
    struct coh_need f = {.dst = space, .first = first, .count = count, .need = need};
    int left;
    if (need && stale_lanes(c, &a, space, 0, need) > 0)
        coh_fetch(c, &f, &left);
    free(need);
    coh_pin(c, space, off, len, -1);
    coh_gate_open(c, off, len); /* where nothing began */
    return 0;
}

/* --- eviction by the user, RMA ---------------------------------------------------------------- */

/* Chunks without a valid lane and without use give their memory back. */
static void chunks_leave(struct coh *c, size_t off, size_t len, unsigned space)
{
    struct coh_where *w = &c->at[space];
    for (size_t k = coh_chunk_first(w, off); k < coh_chunk_end(w, off, len); k++) {
        size_t end = (k + 1) * (w->chunk / c->tile);
        uint64_t valid = 0;
        for (size_t t = k * (w->chunk / c->tile); t < end && t < c->ntiles; t++)
            valid |= coh_at(c, t, space)->V;
        if (!valid && !w->chunks[k].holds && !w->chunks[k].pins)
            coh_chunk_leave(c, space, k);
    }
}

int coh_evict(struct coh *c, struct coh_ask *a)
{
    size_t off = a->off, len = a->len, first = first_tile(c, off), end = end_tile(c, off, len);
    unsigned space = a->space;
    if (out_of_range(c, off, len))
        return -ERANGE;
    coh_poll(c);
    if (a->err)
        return give_up(c, a, a->err);
    for (size_t t = first; t < end; t++)
        if (coh_at(c, t, space)->rd || coh_at(c, t, space)->wr) {
            coh_forget(c, a, NULL); /* held since an earlier call: its copies go on alone */
            return -EBUSY;
        }
    if (!space)
        return 0;
    /* Whole tiles are copied: no lane of them may be under way. */
    if (is_busy(c, first * c->tile, (end - first) * c->tile))
        return SPACE_AGAIN;
    uint64_t *need = calloc(end - first + 1, sizeof *need);
    struct coh_need f = {.dst = 0, .first = first, .count = end - first, .need = need, .ask = a};
    int left, any = 0;
    if (!need)
        return give_up(c, a, -ENOMEM);
    for (size_t t = first; t < end; t++) {
        uint64_t others = 0;
        for (unsigned o = 0; o < c->n; o++)
            others |= o == space ? 0 : coh_at(c, t, o)->V;
        any |= (need[t - first] = coh_at(c, t, space)->V & ~others) != 0;
    }
    int err = any ? coh_fetch(c, &f, &left) : 0;
    free(need);
    if (err)
        return err == SPACE_AGAIN ? err : give_up(c, a, err);
    for (size_t t = first; t < end; t++)
        coh_at(c, t, space)->V = coh_at(c, t, space)->M = 0;
    chunks_leave(c, off, len, space);
    coh_gate_open(c, off, len);
    return 0;
}

int coh_home(struct coh *c, struct coh_ask *a, enum coh_access how)
{
    enum { FEW = 16 };
    uint64_t few[FEW], *need = few;
    size_t first = first_tile(c, a->off), count = end_tile(c, a->off, a->len) - first;
    int left;
    if (out_of_range(c, a->off, a->len))
        return -ERANGE;
    coh_poll(c);
    if (a->err || conflict(c, a, 1))
        return give_up(c, a, a->err ? a->err : -EBUSY);
    if (how == COH_AT_CHECK)
        return 0;
    if (is_busy(c, a->off, a->len))
        return SPACE_AGAIN;
    a->counted |= how == COH_AT_EDGES;
    if (count > FEW && !(need = malloc(count * sizeof *need)))
        return give_up(c, a, -ENOMEM);
    struct coh_need f = {.first = first, .count = count, .need = need, .ask = a};
    int err = stale_lanes(c, a, 0, how == COH_AT_PUT || how == COH_AT_EDGES, need);
    if (err > 0)
        err = coh_fetch(c, &f, &left);
    if (need != few)
        free(need);
    if (err)
        return err == SPACE_AGAIN ? err : give_up(c, a, err);
    if (how == COH_AT_PUT || how == COH_AT_UPDATE) {
        own_all(c, a, 0);
        coh_gate_open(c, a->off, a->len);
    }
    return 0;
}

/* --- what is under way ------------------------------------------------------------------------ */

/* Has a hold that was released on a stream ended? The caller of its acquire and release has gone,
 * so a failure waits for coh_late(). */
static int hold_left(struct coh *c, struct coh_hold *h)
{
    struct space *s = c->at[h->space].space;
    int err = h->flights ? SPACE_AGAIN : s->ops->done(s, &h->mark);
    if (err == SPACE_AGAIN)
        return 0;
    err = h->err ? h->err : err;
    if (err && !c->late.err)
        c->late = (struct coh_ask){.off = h->off, .len = h->len, .space = h->space, .err = err};
    hold_end(c, h);
    return 1;
}

int coh_late(struct coh *c, struct coh_ask *a)
{
    int err = c->late.err;
    *a = c->late;
    c->late.err = 0;
    return err;
}

int coh_poll(struct coh *c)
{
    struct list *next;
    int leaving = 0;
    coh_flights_poll(c);
    for (struct list *l = c->holds.next; l != &c->holds; l = next) {
        struct coh_hold *h = LIST_OBJ(l, struct coh_hold, link);
        next = l->next;
        if (!h->leaving)
            continue;
        leaving += !hold_left(c, h);
    }
    return leaving || !list_empty(&c->flights);
}

int coh_settled(struct coh *c)
{
    coh_poll(c);
    for (struct list *l = c->holds.next; l != &c->holds; l = l->next)
        if (LIST_OBJ(l, struct coh_hold, link)->leaving)
            return 0;
    return 1;
}

unsigned coh_holds(const struct coh *c)
{
    unsigned n = 0;
    for (const struct list *l = c->holds.next; l != &c->holds; l = l->next)
        n += !LIST_OBJ(l, struct coh_hold, link)->leaving;
    return n;
}
