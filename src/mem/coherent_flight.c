/* coherent_flight.c - copies of lanes between instances.  Start with coh_fetch(). */
#include "base/vec.h"
#include "mem/coherent_types.h"

#include <errno.h>
#include <stdlib.h>

/* Can lanes go from src to dst in one copy? */
static int direct(const struct coh *c, unsigned src, unsigned dst)
{
    const struct space *a = c->at[src].space, *b = c->at[dst].space;
    return !src || !dst || (a->ops == b->ops && a->caps.flags & b->caps.flags & SPACE_PEER);
}

/* The bytes of a flight as runs that are as long as possible. */
struct runs {
    struct space_run *r;
    size_t n, room, bytes;
};

static int run_add(const struct coh *c, const struct coh_flight *f, size_t off, size_t len,
                   struct runs *x)
{
    struct space_run *last = x->n ? &x->r[x->n - 1] : NULL;
    uint64_t dst = c->at[f->dst].base + off;
    x->bytes += len;
    if (last && last->dst + last->len == dst) {
        last->len += len;
        return 0;
    }
    if (!VEC_FITS(x->r, x->room, x->n + 1, 16))
        return -ENOMEM;
    x->r[x->n++] = (struct space_run){dst, c->at[f->src].base + off, len};
    return 0;
}

static int runs_of(const struct coh *c, const struct coh_flight *f, struct runs *x)
{
    int err = 0;
    for (size_t i = 0; !err && i < f->count; i++)
        for (uint64_t left = f->lanes[i]; !err && left;) {
            unsigned from = (unsigned)__builtin_ctzll(left);
            uint64_t rest = ~(left >> from);
            unsigned n = rest ? (unsigned)__builtin_ctzll(rest) : COH_LANES;
            n = n > COH_LANES - from ? COH_LANES - from : n;
            size_t off = (f->first + i) * c->tile + from * c->lane, len = n * c->lane;
            err = run_add(c, f, off, off + len > c->bytes ? c->bytes - off : len, x);
            left &= from + n == COH_LANES ? 0 : ~UINT64_C(0) << (from + n);
        }
    return err;
}

static void flight_pins(struct coh *c, const struct coh_flight *f, int by)
{
    size_t off = f->first * c->tile, end = (f->first + f->count) * c->tile;
    end = end > c->bytes ? c->bytes : end;
    coh_pin(c, f->src, off, end - off, by);
    coh_pin(c, f->dst, off, end - off, by);
}

static void flight_lanes(struct coh *c, const struct coh_flight *f, int fly)
{
    for (size_t i = 0; i < f->count; i++) {
        struct coh_tile *t = &c->tiles[f->first + i];
        t->fly = fly ? t->fly | f->lanes[i] : t->fly & ~f->lanes[i];
    }
}

/* Begin one: 0 or -errno, and then nothing has happened. */
static int flight_begin(struct coh *c, struct coh_flight *f)
{
    struct runs x = {0};
    enum space_way way = !f->src ? SPACE_IN : !f->dst ? SPACE_OUT : SPACE_ACROSS;
    static const enum pvar_id bytes[SPACE_WAYS] = {PVAR_COH_BYTES_IN, PVAR_COH_BYTES_OUT,
                                                   PVAR_COH_BYTES_ACROSS};
    f->at = c->at[way == SPACE_OUT ? f->src : f->dst].space;
    int err = runs_of(c, f, &x);
    if (!err)
        err = f->at->ops->copy(f->at, way == SPACE_ACROSS ? c->at[f->src].space : NULL, way, x.r,
                               (unsigned)x.n, &f->mark);
    free(x.r);
    if (err)
        return err;
    coh_count(c, bytes[way], x.bytes);
    coh_count(c, PVAR_COH_COPIES, x.n);
    flight_pins(c, f, 1);
    flight_lanes(c, f, 1);
    if (f->hold)
        f->hold->flights++;
    c->at[f->src].evicting += (unsigned)f->evicts;
    list_push(&c->flights, &f->link);
    return 0;
}

/* A flight of those of need that src has; they leave need.  NULL: none, or *err. */
static struct coh_flight *flight_make(struct coh *c, struct coh_need *f, unsigned src,
                                      unsigned dst, int *err)
{
    uint64_t any = 0;
    for (size_t i = 0; i < f->count; i++)
        any |= f->need[i] & coh_at(c, f->first + i, src)->V;
    if (!any)
        return NULL;
    struct coh_flight *x = calloc(1, sizeof *x + f->count * sizeof *x->lanes);
    if (!x) {
        *err = -ENOMEM;
        return NULL;
    }
    x->src = src;
    x->dst = dst;
    x->first = f->first;
    x->count = f->count;
    x->ask = f->ask;
    x->evicts = f->evicts;
    for (size_t i = 0; i < f->count; i++) {
        x->lanes[i] = f->need[i] & coh_at(c, f->first + i, src)->V;
        f->need[i] &= ~x->lanes[i];
    }
    return x;
}

int coh_fetch(struct coh *c, struct coh_need *f, int *left)
{
    int err = 0, begun = 0;
    *left = 0;
    for (unsigned i = 0; !err && i < c->n; i++) {
        unsigned src = i + 1 < c->n ? i + 1 : 0; /* devices first */
        if (src == f->dst)
            continue;
        struct coh_flight *x = direct(c, src, f->dst)
                                   ? flight_make(c, f, src, f->dst, &err) : NULL;
        if (!x)
            continue;
        x->own = f->own;
        x->hold = f->hold;
        err = flight_begin(c, x);
        if (err)
            free(x);
        begun += !err;
    }
    for (unsigned src = 1; !err && src < c->n; src++) { /* what no direct way brings: home first */
        struct coh_flight *x = src == f->dst ? NULL : flight_make(c, f, src, 0, &err);
        if (!x)
            continue;
        *left = 1;
        err = flight_begin(c, x);
        if (err)
            free(x);
        begun += !err;
    }
    return err ? err : begun ? SPACE_AGAIN : 0;
}

/* A copy is over: its lanes become valid, or stay as they were. */
static void flight_end(struct coh *c, struct coh_flight *f, int err)
{
    list_del(&f->link);
    flight_lanes(c, f, 0);
    if (!err && f->src && c->at[f->src].gone)
        err = -EIO; /* its lanes are lost */
    for (size_t i = 0; !err && i < f->count; i++) {
        size_t t = f->first + i;
        coh_at(c, t, f->dst)->V |= f->lanes[i];
        coh_at(c, t, f->src)->M &= ~f->lanes[i];
        if (f->own && f->lanes[i])
            coh_own(c, t, f->dst, f->lanes[i]);
    }
    if (err && f->ask)
        f->ask->err = err;
    if (f->hold) {
        f->hold->flights--;
        f->hold->err = err ? err : f->hold->err;
    }
    c->at[f->src].evicting -= (unsigned)f->evicts;
    flight_pins(c, f, -1);
    size_t off = f->first * c->tile, end = (f->first + f->count) * c->tile;
    coh_gate_open(c, off, (end < c->bytes ? end : c->bytes) - off);
    free(f);
}

/* Lanes that only a lost device has are lost. */
static void space_gone(struct coh *c, unsigned s)
{
    c->at[s].gone = 1;
    for (size_t t = 0; t < c->ntiles; t++) {
        uint64_t others = 0;
        for (unsigned o = 0; o < c->n; o++)
            others |= o == s ? 0 : coh_at(c, t, o)->V;
        c->tiles[t].lost |= coh_at(c, t, s)->V & ~others;
        coh_at(c, t, s)->V = coh_at(c, t, s)->M = 0;
    }
}

void coh_flights_poll(struct coh *c)
{
    struct list *next;
    for (struct list *l = c->flights.next; l != &c->flights; l = next) {
        struct coh_flight *f = LIST_OBJ(l, struct coh_flight, link);
        next = l->next;
        int err = f->at->ops->done(f->at, &f->mark);
        if (err != SPACE_AGAIN)
            flight_end(c, f, err);
    }
    for (unsigned s = 1; s < c->n; s++)
        if (c->at[s].space->lost && !c->at[s].gone)
            space_gone(c, s);
}

void coh_forget(struct coh *c, const struct coh_ask *a, const struct coh_hold *h)
{
    for (struct list *l = c->flights.next; l != &c->flights; l = l->next) {
        struct coh_flight *f = LIST_OBJ(l, struct coh_flight, link);
        if (a && f->ask == a)
            f->ask = NULL;
        if (h && f->hold == h)
            f->hold = NULL;
    }
}
