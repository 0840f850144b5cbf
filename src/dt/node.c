/* node.c - layout nodes: made normalised, shared by reference, never changed. Start with
 * node_finish() and node_vector(). */
#include "dt/dt_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct dt_node *node_alloc(enum node_kind kind, int64_t n)
{
    size_t words = 0; /* 8-byte entries behind the record */
    if (kind == NODE_INDEXED)
        words = (size_t)n;
    else if (kind == NODE_BLOCKS || kind == NODE_LIST)
        words = 3 * (size_t)n + 1;
    struct dt_node *nd = calloc(1, sizeof *nd + words * 8);
    if (!nd)
        return NULL;
    nd->refs = 1;
    nd->kind = (uint8_t)kind;
    nd->n = n;
    int64_t *word = (int64_t *)(nd + 1);
    if (words) {
        nd->off = word;
        word += n;
    }
    if (kind == NODE_BLOCKS)
        nd->len = word;
    if (kind == NODE_LIST)
        nd->kids = (struct dt_node **)word;
    if (kind == NODE_BLOCKS || kind == NODE_LIST)
        nd->cum = word + n;
    return nd;
}

struct dt_node *node_ref(struct dt_node *n)
{
    if (n)
        n->refs++;
    return n;
}

/* NODE_DEPTH_MAX bounds the depth, and so the recursion. */
void node_drop(struct dt_node *n)
{
    if (!n || --n->refs)
        return;
    if (n->kid)
        node_drop(n->kid);
    if (n->kids)
        for (int64_t i = 0; i < n->n; i++)
            node_drop(n->kids[i]);
    free(n);
}

static int64_t gcd64(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

static int64_t sum_cap(int64_t a, int64_t b)
{
    int64_t r;
    return add64(a, b, &r) ? INT64_MAX : r;
}

static int64_t mul_cap(int64_t a, int64_t b)
{
    int64_t r;
    return mul64(a, b, &r) ? INT64_MAX : r;
}

/* [lo, hi) moved by `off` joins the bytes touched by n; first: n has none yet. */
static int node_touch(struct dt_node *n, int64_t off, int64_t lo, int64_t hi, int first)
{
    if (add64(lo, off, &lo) || add64(hi, off, &hi))
        return -EOVERFLOW;
    if (first || lo < n->lo)
        n->lo = lo;
    if (first || hi > n->hi)
        n->hi = hi;
    return 0;
}

static int finish_repeat(struct dt_node *n) /* VECTOR, INDEXED */
{
    const struct dt_node *k = n->kid;
    if (!k || n->n < 1)
        return -EINVAL;
    if (mul64(n->n, k->size, &n->size))
        return -EOVERFLOW;
    n->depth = (uint8_t)(k->depth + 1);
    n->blocks = mul_cap(n->n, k->blocks);
    n->grain = k->grain;
    if (n->kind == NODE_VECTOR) {
        int64_t last;
        if (mul64(n->n - 1, n->stride, &last) || node_touch(n, 0, k->lo, k->hi, 1))
            return -EOVERFLOW;
        return node_touch(n, last, k->lo, k->hi, 0);
    }
    for (int64_t i = 0; i < n->n; i++)
        if (node_touch(n, n->off[i], k->lo, k->hi, i == 0))
            return -EOVERFLOW;
    return 0;
}

static int finish_several(struct dt_node *n) /* BLOCKS, LIST */
{
    if (n->n < 1)
        return -EINVAL;
    n->depth = 2;
    for (int64_t i = 0; i < n->n; i++) {
        const struct dt_node *k = n->kids ? n->kids[i] : NULL;
        int64_t lo = k ? k->lo : 0, hi = k ? k->hi : n->len[i];
        int64_t size = k ? k->size : n->len[i];
        if (size < 1)
            return -EINVAL;
        if (add64(n->cum[i], size, &n->cum[i + 1]) || node_touch(n, n->off[i], lo, hi, i == 0))
            return -EOVERFLOW;
        n->grain = gcd64(k ? k->grain : size, n->grain);
        n->blocks = sum_cap(n->blocks, k ? k->blocks : 1);
        if (k && k->depth >= n->depth)
            n->depth = (uint8_t)(k->depth + 1);
    }
    n->size = n->cum[n->n];
    return 0;
}

int node_finish(struct dt_node *n)
{
    int err = 0;
    int64_t width;
    switch (n->kind) {
    case NODE_BLOCK:
        if (n->size < 1)
            return -EINVAL;
        n->depth = 1;
        n->lo = 0;
        n->hi = n->grain = n->size;
        n->blocks = 1;
        return 0;
    case NODE_VECTOR:
    case NODE_INDEXED: err = finish_repeat(n); break;
    default: err = finish_several(n); break;
    }
    if (!err && n->depth > NODE_DEPTH_MAX)
        err = -EINVAL;
    if (!err && __builtin_sub_overflow(n->hi, n->lo, &width))
        err = -EOVERFLOW;
    return err;
}

static int node_give(struct dt_node *n, int64_t off, struct place *out)
{
    int err = node_finish(n);
    if (err) {
        node_drop(n);
        return err;
    }
    out->off = off;
    out->node = n;
    return 0;
}

static int give_nothing(struct place *out)
{
    out->off = 0;
    out->node = NULL;
    return 0;
}

int node_block(int64_t len, struct place *out)
{
    if (len == 0)
        return give_nothing(out);
    struct dt_node *n = node_alloc(NODE_BLOCK, 1);
    if (!n)
        return -ENOMEM;
    n->size = len;
    return node_give(n, 0, out);
}

int node_vector(int64_t n, int64_t stride, struct place kid, struct place *out)
{
    struct dt_node *k = kid.node;
    if (n == 0 || !k) {
        node_drop(k);
        return give_nothing(out);
    }
    if (n == 1) {
        *out = kid;
        return 0;
    }
    int64_t span, len;
    if (k->kind == NODE_BLOCK && stride == k->size) {
        int over = mul64(n, k->size, &len);
        node_drop(k);
        out->off = kid.off;
        struct place b;
        int err = over ? -EOVERFLOW : node_block(len, &b);
        if (!err)
            out->node = b.node;
        return err;
    }
    if (k->kind == NODE_VECTOR && !mul64(k->n, k->stride, &span) && span == stride &&
        !mul64(n, k->n, &len)) {
        /* the children of consecutive vectors are equally spaced: one longer vector */
        struct place inner = {kid.off, node_ref(k->kid)};
        stride = k->stride;
        node_drop(k);
        return node_vector(len, stride, inner, out);
    }
    struct dt_node *v = node_alloc(NODE_VECTOR, n);
    if (!v) {
        node_drop(k);
        return -ENOMEM;
    }
    v->stride = stride;
    v->kid = k;
    return node_give(v, kid.off, out);
}

/* Are off[0..n) equally spaced?  Their distance in *stride. */
static int equally_spaced(int64_t n, const int64_t *off, int64_t *stride)
{
    if (__builtin_sub_overflow(off[1], off[0], stride))
        return 0;
    for (int64_t i = 2; i < n; i++)
        if ((uint64_t)off[i] - (uint64_t)off[i - 1] != (uint64_t)*stride ||
            (off[i] < off[i - 1]) != (*stride < 0))
            return 0;
    return 1;
}

static int has_adjacent(int64_t n, const int64_t *off, int64_t len)
{
    for (int64_t i = 1; i < n; i++)
        if ((uint64_t)off[i] - (uint64_t)off[i - 1] == (uint64_t)len)
            return 1;
    return 0;
}

/* All of one length: node_blocks after joining the adjacent ones. */
static int indexed_joined(int64_t n, const int64_t *off, int64_t len, struct place *out)
{
    int64_t *lens = malloc((size_t)n * sizeof *lens);
    if (!lens)
        return -ENOMEM;
    for (int64_t i = 0; i < n; i++)
        lens[i] = len;
    int err = node_blocks(n, off, lens, out);
    free(lens);
    return err;
}

int node_indexed(int64_t n, const int64_t *off, struct place kid, struct place *out)
{
    struct dt_node *k = kid.node;
    int64_t stride, base;
    if (n == 0 || !k) {
        node_drop(k);
        return give_nothing(out);
    }
    if (add64(kid.off, off[0], &base)) {
        node_drop(k);
        return -EOVERFLOW;
    }
    if (n == 1 || equally_spaced(n, off, &stride)) {
        kid.off = base;
        return node_vector(n, n == 1 ? 0 : stride, kid, out);
    }
    if (k->kind == NODE_BLOCK && has_adjacent(n, off, k->size)) {
        int err = indexed_joined(n, off, k->size, out);
        node_drop(k);
        if (!err && add64(out->off, kid.off, &out->off)) {
            node_drop(out->node);
            err = -EOVERFLOW;
        }
        return err;
    }
    struct dt_node *v = node_alloc(NODE_INDEXED, n);
    if (!v) {
        node_drop(k);
        return -ENOMEM;
    }
    v->kid = k;
    for (int64_t i = 0; i < n; i++)
        if (__builtin_sub_overflow(off[i], off[0], &v->off[i])) {
            node_drop(v);
            return -EOVERFLOW;
        }
    return node_give(v, base, out);
}

/* Drop empty blocks and join adjacent ones, in place; the number left. */
static int64_t blocks_join(int64_t n, int64_t *off, int64_t *len)
{
    int64_t m = 0;
    for (int64_t i = 0; i < n; i++) {
        if (len[i] == 0)
            continue;
        if (m && (uint64_t)off[m - 1] + (uint64_t)len[m - 1] == (uint64_t)off[i] &&
            off[i] > off[m - 1]) {
            len[m - 1] += len[i];
        } else {
            off[m] = off[i];
            len[m] = len[i];
            m++;
        }
    }
    return m;
}

static int one_length(int64_t n, const int64_t *len)
{
    for (int64_t i = 1; i < n; i++)
        if (len[i] != len[0])
            return 0;
    return 1;
}

int node_blocks(int64_t n, const int64_t *off, const int64_t *len, struct place *out)
{
    if (n == 0)
        return give_nothing(out);
    struct dt_node *b = node_alloc(NODE_BLOCKS, n);
    if (!b)
        return -ENOMEM;
    memcpy(b->off, off, (size_t)n * sizeof *off);
    memcpy(b->len, len, (size_t)n * sizeof *len);
    int64_t m = blocks_join(n, b->off, b->len);
    int err = 0;
    if (m == 0) {
        err = give_nothing(out);
    } else if (one_length(m, b->len)) {
        struct place kid;
        err = node_block(b->len[0], &kid);
        if (!err)
            err = node_indexed(m, b->off, kid, out);
    } else {
        int64_t base = b->off[0];
        b->n = m;
        for (int64_t i = 0; i < m && !err; i++)
            if (__builtin_sub_overflow(b->off[i], base, &b->off[i]))
                err = -EOVERFLOW;
        if (!err)
            return node_give(b, base, out);
    }
    node_drop(b);
    return err;
}

/* Should an entry of a list be replaced by its own parts? */
static int list_takes_in(const struct dt_node *k)
{
    switch (k->kind) {
    case NODE_LIST: return k->n <= NODE_SPLICE || k->depth >= NODE_DEEP;
    case NODE_BLOCKS: return k->n <= NODE_SPLICE;
    case NODE_INDEXED: return k->n <= NODE_SPLICE && k->kid->kind == NODE_BLOCK;
    default: return 0;
    }
}

static void places_drop(int64_t n, struct place *p)
{
    for (int64_t i = 0; i < n; i++)
        node_drop(p[i].node);
}

/* Append the parts of entry `e` at to[*m]; drops its reference. */
static int list_expand(struct place e, struct place *to, int64_t *m)
{
    int err = 0;
    struct dt_node *k = e.node;
    for (int64_t i = 0; i < k->n && !err; i++) {
        struct place *p = &to[*m];
        p->node = NULL;
        if (k->kind == NODE_LIST)
            p->node = node_ref(k->kids[i]);
        else if (k->kind == NODE_INDEXED)
            p->node = node_ref(k->kid);
        else
            err = node_block(k->len[i], p);
        if (!err) {
            ++*m;
            if (add64(e.off, k->off[i], &p->off))
                err = -EOVERFLOW;
        }
    }
    node_drop(k);
    return err;
}

/* Join blocks that touch; the number of places left. */
static int places_join(int64_t *n, struct place *p)
{
    int64_t m = 0;
    for (int64_t i = 0; i < *n; i++) {
        struct place *last = m ? &p[m - 1] : NULL;
        int64_t len;
        if (last && last->node->kind == NODE_BLOCK && p[i].node->kind == NODE_BLOCK &&
            (uint64_t)last->off + (uint64_t)last->node->size == (uint64_t)p[i].off &&
            p[i].off > last->off && !add64(last->node->size, p[i].node->size, &len)) {
            struct place joined;
            if (node_block(len, &joined)) {
                /* keep the array whole for the caller's clean-up */
                memmove(p + m, p + i, (size_t)(*n - i) * sizeof *p);
                *n = m + *n - i;
                return -ENOMEM;
            }
            node_drop(last->node);
            node_drop(p[i].node);
            last->node = joined.node;
        } else {
            p[m++] = p[i];
        }
    }
    *n = m;
    return 0;
}

/* A list of blocks only. */
static int list_of_blocks(int64_t n, struct place *p, struct place *out)
{
    int64_t *off = malloc(2 * (size_t)n * sizeof *off);
    if (!off) {
        places_drop(n, p);
        return -ENOMEM;
    }
    int64_t *len = off + n;
    for (int64_t i = 0; i < n; i++) {
        off[i] = p[i].off;
        len[i] = p[i].node->size;
    }
    places_drop(n, p);
    int err = node_blocks(n, off, len, out);
    free(off);
    return err;
}

/* All entries share one node. */
static int list_of_same(int64_t n, struct place *p, struct place *out)
{
    int64_t *off = malloc((size_t)n * sizeof *off);
    if (!off) {
        places_drop(n, p);
        return -ENOMEM;
    }
    for (int64_t i = 0; i < n; i++)
        off[i] = p[i].off;
    struct place kid = {0, node_ref(p[0].node)};
    places_drop(n, p);
    int err = node_indexed(n, off, kid, out);
    free(off);
    return err;
}

/* The list of n > 0 normalised places. */
static int list_make(int64_t n, struct place *p, struct place *out)
{
    int blocks = 1, same = 1;
    for (int64_t i = 0; i < n; i++) {
        blocks &= p[i].node->kind == NODE_BLOCK;
        same &= p[i].node == p[0].node;
    }
    if (n == 1) {
        *out = p[0];
        return 0;
    }
    if (same)
        return list_of_same(n, p, out);
    if (blocks)
        return list_of_blocks(n, p, out);
    struct dt_node *l = node_alloc(NODE_LIST, n);
    if (!l) {
        places_drop(n, p);
        return -ENOMEM;
    }
    int err = 0;
    for (int64_t i = 0; i < n; i++) {
        l->kids[i] = p[i].node;
        if (__builtin_sub_overflow(p[i].off, p[0].off, &l->off[i]))
            err = -EOVERFLOW;
    }
    if (err) {
        node_drop(l);
        return err;
    }
    return node_give(l, p[0].off, out);
}

int node_list(int64_t n, struct place *entry, struct place *out)
{
    int64_t room = 0, m = 0, left = 0;
    for (int64_t i = 0; i < n; i++)
        if (entry[i].node) {
            room += list_takes_in(entry[i].node) ? entry[i].node->n : 1;
            entry[left++] = entry[i];
        }
    if (left == 0)
        return give_nothing(out);
    struct place *p = malloc((size_t)room * sizeof *p);
    if (!p) {
        places_drop(left, entry);
        return -ENOMEM;
    }
    int err = 0;
    int64_t i = 0;
    for (; i < left && !err; i++) {
        if (list_takes_in(entry[i].node))
            err = list_expand(entry[i], p, &m);
        else
            p[m++] = entry[i];
    }
    places_drop(left - i, entry + i);
    if (!err)
        err = places_join(&m, p);
    if (err)
        places_drop(m, p);
    else
        err = list_make(m, p, out);
    free(p);
    return err;
}
