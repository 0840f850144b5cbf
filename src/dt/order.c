/* order.c - in which order a layout goes through memory: what MPI asks of file views (MPI-3.1
 * 13.3). Found from the nodes, without a list of blocks. */
#include "dt/dt_types.h"

/* What is known of a part: its blocks in packed order. */
struct span {
    enum dt_ascent order;
    int64_t first, last; /* where the first and the last block begin */
    int64_t end;         /* highest byte touched, plus one */
    uint64_t bits;       /* all displacements and lengths, or-ed */
};

static struct span span_of(const struct dt_node *nd);

/* The part b, moved by `by`, comes behind a. */
static void behind(struct span *a, const struct span *b, int64_t by)
{
    enum dt_ascent step = b->first + by < a->last  ? DT_UNSORTED
                         : b->first + by < a->end ? DT_OVERLAPPING
                                                  : DT_ASCENDING;
    if (b->order < a->order)
        a->order = b->order;
    if (step < a->order)
        a->order = step;
    a->last = b->last + by;
    if (b->end + by > a->end)
        a->end = b->end + by;
    a->bits |= b->bits | (uint64_t)by;
}

static struct span moved(const struct span *a, int64_t by)
{
    return (struct span){a->order, a->first + by, a->last + by, a->end + by,
                         a->bits | (uint64_t)by};
}

static struct span block(int64_t len)
{
    return (struct span){DT_ASCENDING, 0, 0, len, (uint64_t)len};
}

/* n children of the kind k at multiples of the stride. Two of them show the order of all. */
static struct span repeated(const struct span *k, int64_t n, int64_t stride)
{
    struct span a = *k;
    behind(&a, k, stride);
    a.last = k->last + (n - 1) * stride;
    if (stride > 0)
        a.end = k->end + (n - 1) * stride;
    return a;
}

static struct span span_of(const struct dt_node *nd)
{
    struct span a, k;
    switch (nd->kind) {
    case NODE_BLOCK: return block(nd->size);
    case NODE_VECTOR: k = span_of(nd->kid); return repeated(&k, nd->n, nd->stride);
    case NODE_INDEXED:
        k = span_of(nd->kid);
        a = moved(&k, nd->off[0]);
        for (int64_t i = 1; i < nd->n; i++)
            behind(&a, &k, nd->off[i]);
        return a;
    case NODE_BLOCKS:
        k = block(nd->len[0]);
        a = moved(&k, nd->off[0]);
        for (int64_t i = 1; i < nd->n; i++) {
            k = block(nd->len[i]);
            behind(&a, &k, nd->off[i]);
        }
        return a;
    default:
        k = span_of(nd->kids[0]);
        a = moved(&k, nd->off[0]);
        for (int64_t i = 1; i < nd->n; i++) {
            k = span_of(nd->kids[i]);
            behind(&a, &k, nd->off[i]);
        }
        return a;
    }
}

enum dt_ascent dt_order(const struct dt_type *t, int64_t *first, uint64_t *bits)
{
    *first = 0;
    *bits = 0;
    if (!t->node)
        return DT_ASCENDING;
    struct span a = span_of(t->node);
    a = moved(&a, t->origin);
    *first = a.first;
    *bits = a.bits;
    return a.order;
}
