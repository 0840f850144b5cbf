/* handle.c - memory handles: where their memory is, and the keys of those of others. The keys are
 * a bounded cache, as those of windows (key.c). Start with rma_handle_key_of(). */
#include "rma/core/core.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

struct rma_handle *rma_handle_at(const struct rma_win *w, uint64_t disp)
{
    const struct rma_handles *h = rma_root(w)->mem.handles;
    return h ? map_get(&h->by_base, rma_handle_base(disp)) : NULL;
}

int rma_handle_bytes(const struct rma_win *w, uint64_t disp, int64_t lo, int64_t hi, uint64_t *off)
{
    const struct rma_handle *g = rma_handle_at(w, disp);
    uint64_t at;
    if (!g || rma_offset(disp - g->base, 1, lo, hi, g->size, &at))
        return 0;
    *off = g->addr + at;
    return 1;
}

uint64_t rma_win_address(const struct rma_win *w, uint64_t disp)
{
    const struct rma_handle *g = rma_is_handle(disp) ? rma_handle_at(w, disp) : NULL;
    return g ? g->addr + (disp - g->base) : disp;
}

int rma_handle_hold(struct rma_handle *g, int rank)
{
    for (unsigned i = 0; i < g->nholders; i++)
        if (g->holders[i] == rank) /* it asks again: its record was replaced */
            return 0;
    if (!VEC_FITS(g->holders, g->holders_room, g->nholders + 1, 4))
        return -ENOMEM;
    g->holders[g->nholders++] = rank;
    return 0;
}

/* --- handles of others ------------------------------------------------------------------------ */

struct rma_held *rma_held_of(struct rma_win *w)
{
    struct rma_held *h = w->native.held;
    if (h || !(h = calloc(1, sizeof *h)))
        return h;
    map_init(&h->far);
    map_init(&h->near);
    list_init(&h->keys);
    return w->native.held = h;
}

struct rma_key *rma_handle_key(const struct rma_win *w, int rank, uint64_t disp)
{
    const struct rma_held *h = rma_root(w)->native.held;
    uint64_t base = rma_handle_base(disp);
    struct rma_key *k = h ? map_get(&h->far, rma_held_name(rank, base)) : NULL;
    return k && k->rank == rank && k->base == base ? k : NULL;
}

static void key_free(struct rma_held *h, struct rma_key *k)
{
    map_del(&h->far, rma_held_name(k->rank, k->base));
    list_del(&k->link);
    h->nkeys--;
    if (k->far)
        k->ops->drop(k->tp, k->far);
    free(k);
}

/* What the network has for this rank may use the key. */
static int is_used(const struct rma_win *w, int rank)
{
    const struct rma_target *t = rma_target_find(w, rank);
    return t && (t->natives || t->native_out);
}

static int may_go(const struct rma_win *w, const struct rma_key *k)
{
    if (k->state == KEY_ASKED && !(w->dead && boot_failed(rma_world(w, k->rank))))
        return 0;
    int used = is_used(w, k->rank);
    const struct rma_win *dup;
    for (unsigned i = 0; !used && (dup = rma_dup_next(w, &i)) != NULL;)
        used = is_used(dup, k->rank);
    return !used;
}

/* 0: all are in use. */
static int make_room(struct rma_win *w, struct rma_held *h)
{
    for (struct list *l = h->keys.next; h->nkeys >= (unsigned)cvar.rma_keys; l = l->next) {
        if (l == &h->keys)
            return 0;
        struct rma_key *k = LIST_OBJ(l, struct rma_key, link);
        if (!may_go(w, k))
            continue;
        l = l->prev;
        key_free(h, k);
    }
    return 1;
}

/* What its transport does is known from the window's own record. */
static struct rma_key *key_make(struct rma_win *w, struct rma_held *h, const struct rma_key *of,
                                uint64_t base)
{
    uint64_t name = rma_held_name(of->rank, base);
    if (of->state == KEY_NONE || map_get(&h->far, name) || !make_room(w, h))
        return NULL;
    struct rma_key *k = malloc(sizeof *k);
    if (!k || map_put(&h->far, name, k)) {
        free(k);
        return NULL;
    }
    *k = *of;
    k->state = KEY_NEW;
    k->refs = 0;
    k->far = NULL;
    k->atomics = NULL; /* other processes take stripes for its elements */
    k->note = k->notes = 0;
    k->base = base;
    k->size = 0;
    k->unit = 1;
    list_init(&k->link);
    h->nkeys++;
    return k;
}

struct rma_key *rma_handle_key_of(struct rma_target *t, uint64_t disp)
{
    struct rma_win *w = rma_root(t->w);
    const struct rma_key *of = rma_is_handle(disp) ? rma_key_of(t, 1) : NULL;
    struct rma_held *h = of ? rma_held_of(w) : NULL;
    struct rma_key *k = h ? rma_handle_key(w, t->rank, disp) : NULL;
    if (h && !k)
        k = key_make(w, h, of, rma_handle_base(disp));
    if (k) {
        list_del(&k->link);
        list_push(&h->keys, &k->link);
    }
    return k;
}

void rma_handle_keys_free(struct rma_win *w)
{
    struct rma_held *h = w->native.held;
    while (h && !list_empty(&h->keys))
        key_free(h, LIST_OBJ(h->keys.next, struct rma_key, link));
    if (h)
        map_destroy(&h->far);
}
