/* walk.c - from a position in packed bytes to the memory that holds it.
 *
 *                          /- block(at, len)
 *   walk_type([from, to)) ---- strided(at, n, blk, stride)   one call per innermost loop, so that
 *                          \- indexed / blocks               a sink's kernels see whole loops
 *
 * The position is found by one division or binary search per level. Addresses are uintptr_t: a NULL
 * base with absolute displacements is legal MPI and must not be undefined C. */
#include "dt/dt_types.h"

static int walk(const struct dt_node *nd, uintptr_t at, int64_t from, int64_t to, struct sink *s);

/* Instances of few blocks side by side (arrays of structs), and columns of a matrix side by side (a
 * transpose), are handled block by block: the j-th block of many instances is one strided loop.
 * Returns how many at a time, so that they fit the first-level cache; 0: neither kind. */
enum { ROW_BLOCKS = 16, ROW_BYTES = 16384, COLUMN_BYTES = 128 };

static size_t row_tile(const struct dt_node *k, int64_t n, int64_t stride)
{
    int64_t step = stride < 0 ? -stride : stride, width;
    if (n < 4 || k->kind == NODE_LIST || (k->kind != NODE_BLOCKS && k->kid->kind != NODE_BLOCK))
        return 0;
    if (k->n <= ROW_BLOCKS && k->hi - k->lo <= step)
        return k->size < ROW_BYTES ? ROW_BYTES / (size_t)k->size : 1;
    /* columns: all n instances fit between two blocks of one */
    if (k->kind == NODE_VECTOR && k->kid->size <= step && step <= COLUMN_BYTES / 4 &&
        !mul64(n, step, &width) && width <= (k->stride < 0 ? -k->stride : k->stride))
        return COLUMN_BYTES / (size_t)step;
    return 0;
}

/* All of the n children of equal layout from child i on (VECTOR, INDEXED). */
static int walk_whole(const struct dt_node *nd, uintptr_t at, int64_t i, int64_t n, struct sink *s)
{
    const struct dt_node *k = nd->kid;
    if (k->kind == NODE_BLOCK) {
        if (nd->off)
            return s->ops->indexed(s, at, (size_t)n, (size_t)k->size, nd->off + i);
        return s->ops->strided(s, at + (uintptr_t)i * (uintptr_t)nd->stride, (size_t)n,
                               (size_t)k->size, nd->stride);
    }
    size_t tile = s->ops->rows && !nd->off ? row_tile(k, n, nd->stride) : 0;
    if (tile)
        return s->ops->rows(s, at + (uintptr_t)i * (uintptr_t)nd->stride, (size_t)n, nd->stride, k,
                            tile);
    for (int64_t end = i + n; i < end; i++) {
        uintptr_t kid_at = at +
                           (nd->off ? (uintptr_t)nd->off[i] : (uintptr_t)i * (uintptr_t)nd->stride);
        int stop = k->kind == NODE_BLOCKS ? s->ops->blocks(s, kid_at, (size_t)k->n, k->off, k->len)
                                          : walk(k, kid_at, 0, k->size, s);
        if (stop)
            return stop;
    }
    return 0;
}

/* VECTOR and INDEXED: a cut child, whole children, a cut child. */
static int walk_repeat(const struct dt_node *nd, uintptr_t at, int64_t from, int64_t to,
                       struct sink *s)
{
    const int64_t ks = nd->kid->size;
    int64_t i = from / ks, skip = from % ks;
    int stop = 0;
    while (!stop && from < to) {
        int64_t whole = skip ? 0 : (to - from) / ks;
        if (whole) {
            stop = walk_whole(nd, at, i, whole, s);
            from += whole * ks;
            i += whole;
        } else {
            int64_t end = to - i * ks < ks ? to - i * ks : ks;
            stop = walk(
                nd->kid,
                at + (nd->off ? (uintptr_t)nd->off[i] : (uintptr_t)i * (uintptr_t)nd->stride), skip,
                end, s);
            from += end - skip;
            skip = 0;
            i++;
        }
    }
    return stop;
}

static int walk_blocks(const struct dt_node *nd, uintptr_t at, int64_t from, int64_t to,
                       struct sink *s)
{
    int64_t i = from ? cum_find(nd->cum, nd->n, from) : 0;
    int stop = 0;
    if (from > nd->cum[i]) {
        int64_t end = to < nd->cum[i + 1] ? to : nd->cum[i + 1];
        stop = s->ops->block(s, at + (uintptr_t)(nd->off[i] + from - nd->cum[i]),
                             (size_t)(end - from));
        from = end;
        i++;
    }
    if (stop || from == to)
        return stop;
    int64_t j = to == nd->size ? nd->n : cum_find(nd->cum, nd->n, to); /* blocks [i, j) are whole */
    if (j > i)
        stop = s->ops->blocks(s, at, (size_t)(j - i), nd->off + i, nd->len + i);
    if (!stop && j < nd->n && to > nd->cum[j])
        stop = s->ops->block(s, at + (uintptr_t)nd->off[j], (size_t)(to - nd->cum[j]));
    return stop;
}

static int walk_list(const struct dt_node *nd, uintptr_t at, int64_t from, int64_t to,
                     struct sink *s)
{
    int stop = 0;
    for (int64_t i = from ? cum_find(nd->cum, nd->n, from) : 0; !stop && from < to; i++) {
        int64_t end = to < nd->cum[i + 1] ? to : nd->cum[i + 1];
        stop = walk(nd->kids[i], at + (uintptr_t)nd->off[i], from - nd->cum[i], end - nd->cum[i],
                    s);
        from = end;
    }
    return stop;
}

static int walk(const struct dt_node *nd, uintptr_t at, int64_t from, int64_t to, struct sink *s)
{
    switch (nd->kind) {
    case NODE_BLOCK: return s->ops->block(s, at + (uintptr_t)from, (size_t)(to - from));
    case NODE_BLOCKS: return walk_blocks(nd, at, from, to, s);
    case NODE_LIST: return walk_list(nd, at, from, to, s);
    default: return walk_repeat(nd, at, from, to, s);
    }
}

int walk_type(const struct dt_type *t, size_t count, const void *buf, size_t from, size_t to,
              struct sink *s)
{
    if (from >= to)
        return 0;
    uintptr_t at = (uintptr_t)buf + (uintptr_t)t->origin;
    struct dt_node *nd = t->node;
    if (count == 1)
        return walk(nd, at, (int64_t)from, (int64_t)to, s);
    /* count instances are a vector of them; if they continue the vector inside, one longer
     * vector */
    struct dt_node all = {.kind = NODE_VECTOR, .n = (int64_t)count, .stride = t->extent, .kid = nd};
    int64_t span, n;
    if (nd->kind == NODE_VECTOR && !mul64(nd->n, nd->stride, &span) && span == t->extent &&
        !mul64(nd->n, (int64_t)count, &n)) {
        all.n = n;
        all.stride = nd->stride;
        all.kid = nd->kid;
    }
    return walk_repeat(&all, at, (int64_t)from, (int64_t)to, s);
}
