/* flat.c - a layout as bytes and back, and what these tell: are two layouts the same? Start with
 * dt_flat() and dt_unflat().
 *
 *   words of 8 bytes: magic | nodes, lb, extent, origin, basic handle, then the nodes, children
 *   before parents:
 *     BLOCK    kind, bytes            INDEXED  kind | kid << 8, n, off[n]
 *     VECTOR   kind | kid << 8, n, stride
 *     BLOCKS   kind, n, off[n], len[n]
 *     LIST     kind, n, off[n], kid[n]
 *   The last node is the root. Kids are numbers of earlier nodes, so shared parts are sent once.
 *
 * The reader trusts nothing: numbers are bounded by the bytes that are there, and kids come before
 * parents (no cycles). node_finish recomputes every size, bound and depth with overflow checks. */
#include "dt/dt_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "obj/err.h"

enum { FLAT_HEAD = 5 };
static const uint64_t FLAT_MAGIC = 0x57d7; /* in bits 0-15; the number of nodes above */

/* --- writing ------------------------------------------------------------------ */
struct writer {
    struct map index; /* node -> its number + 1 */
    int64_t *word;
    size_t n, room;
    uint64_t nodes;
    int err;
};

static void put(struct writer *w, int64_t v)
{
    if (!w->err && !VEC_FITS(w->word, w->room, w->n + 1, 64))
        w->err = -ENOMEM;
    if (!w->err)
        w->word[w->n++] = v;
}

static void put_all(struct writer *w, const int64_t *v, int64_t n)
{
    for (int64_t i = 0; i < n && !w->err; i++)
        put(w, v[i]);
}

/* The number of a node, written with everything below it if it was not yet. */
static int64_t put_node(struct writer *w, const struct dt_node *nd)
{
    int64_t kid = 0, seen = (int64_t)(intptr_t)map_get(&w->index, (uintptr_t)nd);
    if (seen)
        return seen - 1;
    if (nd->kid)
        kid = put_node(w, nd->kid);
    if (nd->kids)
        for (int64_t i = 0; i < nd->n && !w->err; i++)
            put_node(w, nd->kids[i]);
    put(w, nd->kind | kid << 8);
    put(w, nd->kind == NODE_BLOCK ? nd->size : nd->n);
    if (nd->kind == NODE_VECTOR)
        put(w, nd->stride);
    if (nd->off)
        put_all(w, nd->off, nd->n);
    if (nd->len)
        put_all(w, nd->len, nd->n);
    if (nd->kids)
        for (int64_t i = 0; i < nd->n && !w->err; i++)
            put(w, put_node(w, nd->kids[i]));
    if (!w->err)
        w->err = map_put(&w->index, (uintptr_t)nd, (void *)(intptr_t)(w->nodes + 1));
    return (int64_t)w->nodes++;
}

const void *dt_flat(struct dt_type *t, size_t *len)
{
    if (!t->flat) {
        struct writer w = {.n = 0};
        map_init(&w.index);
        put(&w, 0);
        put(&w, t->lb);
        put(&w, t->extent);
        put(&w, t->origin);
        put(&w, t->basic ? t->basic->obj.handle : 0);
        if (t->node)
            put_node(&w, t->node);
        map_destroy(&w.index);
        if (w.err) {
            free(w.word);
            return NULL;
        }
        w.word[0] = (int64_t)(FLAT_MAGIC | w.nodes << 16);
        t->flat = w.word;
        t->flat_len = w.n * sizeof *w.word;
    }
    *len = t->flat_len;
    return t->flat;
}

uint64_t dt_hash(struct dt_type *t)
{
    size_t len;
    if (t->hash)
        return t->hash;
    const uint64_t *w = dt_flat(t, &len);
    if (!w)
        return t->id | 1ull << 63; /* no memory: any value is correct, but equal types miss the
                                    * cache */
    uint64_t h = 0x243f6a8885a308d3ull ^ len;
    for (size_t i = 0; i < len / sizeof *w; i++) {
        h = (h ^ w[i]) * 0x9fb21c651e98df25ull;
        h ^= h >> 28;
    }
    h ^= h >> 35;
    h *= 0x9fb21c651e98df25ull;
    h ^= h >> 28;
    return t->hash = h ? h : 1;
}

int dt_overlap(struct dt_type *s, size_t n, struct dt_type *t, size_t m)
{
    int64_t slo, shi, tlo, thi;
    if (dt_bounds(s, n, &slo, &shi) || dt_bounds(t, m, &tlo, &thi))
        return 0; /* the call that moves them reports it */
    if (slo >= shi || tlo >= thi || slo >= thi || tlo >= shi)
        return 0;
    if (dt_is_block(s, n) && dt_is_block(t, m))
        return 1;
    return s == t || dt_hash(s) == dt_hash(t);
}

/* --- reading ------------------------------------------------------------------ */
struct reader {
    const char *at;
    size_t words; /* left */
};

static int get(struct reader *r, int64_t *v)
{
    if (!r->words)
        return -EINVAL;
    memcpy(v, r->at, sizeof *v);
    r->at += sizeof *v;
    r->words--;
    return 0;
}

static int get_all(struct reader *r, int64_t *v, int64_t n)
{
    if ((uint64_t)n > r->words)
        return -EINVAL;
    memcpy(v, r->at, (size_t)n * sizeof *v);
    r->at += (size_t)n * sizeof *v;
    r->words -= (size_t)n;
    return 0;
}

static int get_kids(struct reader *r, struct dt_node *nd, struct dt_node **node, uint64_t have)
{
    for (int64_t i = 0; i < nd->n; i++) {
        int64_t k;
        int err = get(r, &k);
        if (err || k < 0 || (uint64_t)k >= have)
            return -EINVAL;
        nd->kids[i] = node_ref(node[k]);
    }
    return 0;
}

/* One node; `have` nodes came before it. */
static int get_node(struct reader *r, struct dt_node **node, uint64_t have, struct dt_node **out)
{
    int64_t head, n;
    if (get(r, &head) || get(r, &n))
        return -EINVAL;
    unsigned kind = (unsigned)(head & 0xff);
    uint64_t kid = (uint64_t)head >> 8, arrays = kind == NODE_INDEXED  ? 1
                                                 : kind >= NODE_BLOCKS ? 2
                                                                       : 0;
    int has_kid = kind == NODE_VECTOR || kind == NODE_INDEXED;
    if (kind > NODE_LIST || n < 1 || (has_kid ? kid >= have : kid != 0) ||
        (arrays && (uint64_t)n > r->words / arrays))
        return -EINVAL;
    struct dt_node *nd = node_alloc(kind, kind == NODE_BLOCK ? 1 : n);
    if (!nd)
        return -ENOMEM;
    int err = 0;
    if (kind == NODE_BLOCK)
        nd->size = n;
    if (has_kid)
        nd->kid = node_ref(node[kid]);
    if (kind == NODE_VECTOR)
        err = get(r, &nd->stride);
    if (nd->off)
        err = get_all(r, nd->off, n);
    if (nd->len && !err)
        err = get_all(r, nd->len, n);
    if (nd->kids && !err)
        err = get_kids(r, nd, node, have);
    if (!err)
        err = node_finish(nd);
    if (err)
        node_drop(nd);
    else
        *out = nd;
    return err;
}

/* The root, owned by the caller. */
static int get_tree(struct reader *r, uint64_t nodes, struct dt_node **root)
{
    *root = NULL;
    if (!nodes)
        return r->words ? -EINVAL : 0;
    if (nodes > r->words / 2)
        return -EINVAL;
    struct dt_node **node = calloc(nodes, sizeof *node);
    if (!node)
        return -ENOMEM;
    uint64_t have = 0;
    int err = 0;
    while (have < nodes && !err) {
        err = get_node(r, node, have, &node[have]);
        have += !err;
    }
    if (!err && r->words)
        err = -EINVAL;
    if (!err)
        *root = node_ref(node[nodes - 1]);
    while (have)
        node_drop(node[--have]);
    free(node);
    return err;
}

static int flat_check(struct dt_type *t)
{
    int64_t x;
    if (add64(t->lb, t->extent, &x))
        return -EOVERFLOW;
    if (!t->node)
        return 0;
    if (add64(t->origin, t->node->lo, &x) || add64(t->origin, t->node->hi, &x))
        return -EOVERFLOW;
    if (!t->basic)
        return 0;
    /* Each block must have whole elements, else accumulates would work beyond its end. An element
     * of a pair type may lie in two blocks. */
    return (t->basic->elem.kind == DT_PAIR ? t->node->size : t->node->grain) % t->basic->size
               ? -EINVAL
               : 0;
}

int dt_unflat(const void *bytes, size_t len, struct dt_type **out)
{
    struct reader r = {bytes, len / 8};
    int64_t head = 0, basic = 0;
    struct dt_type *t = type_alloc();
    if (!t)
        return type_errno(-ENOMEM);
    int err = len % 8 ? -EINVAL : get(&r, &head);
    if (!err && ((uint64_t)head & 0xffff) != FLAT_MAGIC)
        err = -EINVAL;
    if (!err && (get(&r, &t->lb) || get(&r, &t->extent) || get(&r, &t->origin) || get(&r, &basic)))
        err = -EINVAL;
    if (!err && basic) {
        t->basic = basic == (int)basic ? dt_find((MPI_Datatype)basic) : NULL;
        if (!t->basic || !(t->basic->flags & DT_PREDEFINED) || !t->basic->size)
            err = -EINVAL;
        else
            t->elem = t->basic->elem;
    }
    if (!err)
        err = get_tree(&r, (uint64_t)head >> 16, &t->node);
    if (!err)
        err = flat_check(t);
    if (err) {
        dt_drop(t);
        return type_errno(err == -EOVERFLOW ? -EINVAL : err);
    }
    t->flags = DT_COMMITTED;
    type_derive(t);
    *out = t;
    return MPI_SUCCESS;
}
