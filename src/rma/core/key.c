/* key.c - what is known of the window at a rank, and of the network's way there. It is a bounded
 * cache by rank, so there is no table of all ranks. Records that an element uses are not
 * replaced. Start with rma_key_of(). */
#include "rma/core/core.h"

#include <stdlib.h>

static size_t least(long wanted, size_t says)
{
    return wanted < 0 ? says : (size_t)wanted;
}

static size_t put_min(const struct tp_caps *c)
{
    return c->flags & TP_PUT ? least(cvar.rma_native_put, c->put_min) : SIZE_MAX;
}

static size_t get_min(const struct tp_caps *c)
{
    return c->flags & TP_GET ? least(cvar.rma_native_get, c->get_min) : SIZE_MAX;
}

/* For a put that is flushed at once. A length that the user has set holds here, too. */
static int lone_put(const struct tp_caps *c)
{
    return c->flags & TP_PUT && c->lone_pays && cvar.rma_native_put < 0;
}

static int lone_get(const struct tp_caps *c)
{
    return c->flags & TP_GET && c->lone_pays && cvar.rma_native_get < 0;
}

size_t rma_pays_from(const struct tp_caps *c)
{
    size_t put = lone_put(c) ? 1 : put_min(c), get = lone_get(c) ? 1 : get_min(c);
    return put < get ? put : get;
}

/* The operations that are the same on the bits of an element, whatever its type: the network gets
 * them for unsigned integers. */
static const struct {
    MPI_Op op;
    enum dt_op_index index;
} asked[] = {{MPI_SUM, DT_SUM},   {MPI_BAND, DT_BAND},       {MPI_BOR, DT_BOR},
             {MPI_BXOR, DT_BXOR}, {MPI_REPLACE, DT_REPLACE}, {MPI_NO_OP, DT_NO_OP}};

static void atomics_ask(struct rma_atomics *a, const struct tp_ops *ops)
{
    for (int wide = 0; wide < 2; wide++) {
        for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++)
            for (int fetch = RMA_ATOMIC_PLAIN; fetch <= RMA_ATOMIC_FETCH; fetch++)
                if (ops->atomic_ok(a->tp, asked[i].op, 2 + wide, 1, fetch))
                    a->ok[wide][fetch] |= (uint16_t)(1u << asked[i].index);
        a->ok[wide][RMA_ATOMIC_CAS] = ops->atomic_ok(a->tp, MPI_OP_NULL, 2 + wide, 1,
                                                     RMA_ATOMIC_CAS) != 0;
    }
}

const struct rma_atomics *rma_atomics_of(struct tp *tp, const struct tp_ops *ops,
                                         const struct tp_caps *c)
{
    const unsigned need = TP_ATOMIC | TP_CPU_COHERENT;
    if ((c->flags & need) != need ||
        !(cvar.rma_native_atomic < 0 ? c->atomic_pays : cvar.rma_native_atomic))
        return NULL;
    for (struct rma_atomics *a = rma_self()->atomics; a < rma_self()->atomics + RMA_REGS; a++) {
        if (!a->tp) {
            a->tp = tp;
            atomics_ask(a, ops);
        }
        if (a->tp == tp)
            return a;
    }
    return NULL;
}

static void key_free(struct rma_win *w, struct rma_key *k)
{
    list_del(&k->link);
    w->native.nkeys--;
    if (k->far)
        k->ops->drop(k->tp, k->far);
    free(k);
}

void rma_regs_drop(struct rma_reg *reg, unsigned *n)
{
    while (*n > 0) {
        --*n;
        reg[*n].ops->dereg(reg[*n].tp, reg[*n].mem);
    }
}

void rma_native_close(struct rma_win *w)
{
    rma_handle_keys_free(w);
    while (!list_empty(&w->native.keys))
        key_free(w, LIST_OBJ(w->native.keys.next, struct rma_key, link));
    rma_regs_drop(w->native.reg, &w->native.nregs);
}

/* Most epochs use the record used last or, with targets in rotation, the least recently used
 * one. */
struct rma_key *rma_key_find(const struct rma_win *w, int rank)
{
    const struct list *old = w->native.keys.next, *young = w->native.keys.prev;
    for (unsigned i = 0; i < w->native.nkeys; i += 2, old = old->next, young = young->prev) {
        struct rma_key *k = LIST_OBJ(young, struct rma_key, link);
        if (k->rank == rank || (k = LIST_OBJ(old, struct rma_key, link))->rank == rank)
            return k;
    }
    return NULL;
}

/* A record for t; NULL: all are in use, or there is no way to t now. */
static struct rma_key *key_make(struct rma_win *w, const struct rma_target *t)
{
    const struct tp_ops *ops;
    struct tp_caps caps;
    struct tp *tp = am_tp_to(t->world, &ops, &caps);
    if (!tp) /* no way to it now */
        return NULL;
    const struct rma_atomics *atomics = w->native.acc ? rma_atomics_of(tp, ops, &caps) : NULL;
    int leads = ops->import && (rma_pays_from(&caps) != SIZE_MAX || atomics);
    if (w->native.nkeys >= (unsigned)cvar.rma_keys) {
        struct rma_key *old = NULL;
        for (struct list *l = w->native.keys.next; l != &w->native.keys && !old; l = l->next) {
            struct rma_key *k = LIST_OBJ(l, struct rma_key, link);
            if (!k->refs &&
                (k->state != KEY_ASKED || (w->dead && boot_failed(rma_world(w, k->rank)))))
                old = k;
        }
        if (!old)
            return NULL;
        key_free(w, old);
    }
    struct rma_key *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    *k = (struct rma_key){.rank = t->rank,
                          .state = leads ? KEY_NEW : KEY_NONE,
                          .leaves = (caps.flags & TP_AM_LEAVES) != 0};
    list_init(&k->link);
    list_push(&w->native.keys, &k->link);
    w->native.nkeys++;
    if (!leads)
        return k;
    k->tp = tp;
    k->ops = ops;
    k->most = caps.rma_max;
    k->put_min = put_min(&caps);
    k->get_min = get_min(&caps);
    k->lone_put = (uint8_t)lone_put(&caps);
    k->lone_get = (uint8_t)lone_get(&caps);
    k->then_am = (caps.flags & TP_PUT_THEN_AM) != 0;
    k->reg_local = (caps.flags & TP_REG_LOCAL) != 0;
    k->note = rma_note_puts(&caps) && w->flavor != MPI_WIN_FLAVOR_DYNAMIC ? RMA_NOTE_ASK : 0;
    k->put_inline = caps.put_inline;
    k->atomics = atomics;
    return k;
}

/* t->key; a missing one is made if `make`. */
struct rma_key *rma_key_of(struct rma_target *t, int make)
{
    struct rma_win *w = rma_root(t->w); /* a duplicate has none of its own */
    if (t->key || (!(t->key = rma_key_find(w, t->rank)) && !(make && (t->key = key_make(w, t)))))
        return t->key;
    t->key->refs++;
    list_del(&t->key->link);
    list_push(&w->native.keys, &t->key->link);
    return t->key;
}

const struct rma_key *rma_native_known(struct rma_target *t)
{
    return rma_key_of(t, 0);
}

void rma_native_extent(struct rma_target *t, uint64_t bytes, uint64_t unit)
{
    struct rma_key *k = unit && bytes <= INT64_MAX ? rma_key_of(t, 1) : NULL;
    if (!k || k->unit)
        return; /* data that came with a key are valid */
    k->size = bytes;
    k->unit = unit;
}

void rma_native_extent_region(struct rma_target *t, const struct rma_extent *told)
{
    struct rma_key *k = told->size <= INT64_MAX && t->w->flavor == MPI_WIN_FLAVOR_DYNAMIC
                            ? rma_key_of(t, 1)
                            : NULL;
    if (!k)
        return;
    k->base = told->base; /* of several regions, the one used last */
    k->size = told->size;
    k->unit = 1;
    k->detached = told->detached;
}

void rma_native_posted(struct rma_win *w, int rank, uint64_t detached)
{
    struct rma_key *k = w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? rma_key_find(w, rank) : NULL;
    if (k && k->detached != detached)
        k->unit = 0;
}

