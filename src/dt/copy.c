/* copy.c - pack, unpack, copy between layouts, block lists: the sinks of walk.c. Start with
 * dt_pack() and dt_copy_part(). */
#include "dt/dt_types.h"

#include <string.h>

/* Bytes of (t, count) from `from` on, at most len. */
static size_t clip(const struct dt_type *t, size_t count, size_t from, size_t len)
{
    size_t total = (size_t)t->size * count;
    if (from >= total)
        return 0;
    return len < total - from ? len : total - from;
}

/* The side of copy_rows() that is packed: the blocks of an instance follow each other there. */
enum packed_side { PACKED_NONE, PACKED_FROM, PACKED_TO };

/* Copies n > 0 instances of `row`, `tile` of them at a time, block by block. They begin from_step
 * bytes apart at `from`, and to_step apart at `to`. Returns where the packed side ends. */
static inline __attribute__((always_inline)) char *
copy_rows(uintptr_t to, int64_t to_step, uintptr_t from, int64_t from_step, size_t n,
          const struct dt_node *row, size_t tile, enum packed_side packed)
{
    size_t m;
    do {
        uintptr_t pos = 0;
        m = n < tile ? n : tile;
        for (int64_t j = 0; j < row->n; j++) {
            uintptr_t off = (uintptr_t)row_off(row, j), len = (uintptr_t)row_len(row, j);
            kernel_strided((char *)(to + (packed == PACKED_TO ? pos : off)), to_step,
                           (const char *)(from + (packed == PACKED_FROM ? pos : off)), from_step, m,
                           len);
            pos += len;
        }
        to += m * (uintptr_t)to_step;
        from += m * (uintptr_t)from_step;
    } while (n -= m);
    return (char *)(packed == PACKED_TO ? to : from);
}

/* --- memory to stream -------------------------------------------------------- */
struct stream {
    struct sink sink;
    char *at; /* next packed byte */
};

static int pack_block(struct sink *s, uintptr_t at, size_t len)
{
    struct stream *o = (struct stream *)s;
    memcpy(o->at, (const void *)at, len);
    o->at += len;
    return 0;
}

static int pack_strided(struct sink *s, uintptr_t at, size_t n, size_t blk, int64_t stride)
{
    struct stream *o = (struct stream *)s;
    kernel_strided(o->at, (int64_t)blk, (const char *)at, stride, n, blk);
    o->at += n * blk;
    return 0;
}

static int pack_indexed(struct sink *s, uintptr_t at, size_t n, size_t blk, const int64_t *off)
{
    struct stream *o = (struct stream *)s;
    kernel_gather(o->at, (const char *)at, off, n, blk);
    o->at += n * blk;
    return 0;
}

static int pack_blocks(struct sink *s, uintptr_t at, size_t n, const int64_t *off,
                       const int64_t *len)
{
    struct stream *o = (struct stream *)s;
    char *to = o->at;
    for (size_t i = 0; i < n; i++) {
        copy_block(to, (const char *)(at + (uintptr_t)off[i]), (size_t)len[i]);
        to += len[i];
    }
    o->at = to;
    return 0;
}

static int pack_rows(struct sink *s, uintptr_t at, size_t n, int64_t stride,
                     const struct dt_node *row, size_t tile)
{
    struct stream *o = (struct stream *)s;
    o->at = copy_rows((uintptr_t)o->at, row->size, at, stride, n, row, tile, PACKED_TO);
    return 0;
}

static const struct sink_ops pack_ops = {pack_block, pack_strided, pack_indexed, pack_blocks,
                                         pack_rows};

size_t dt_pack(const struct dt_type *t, size_t count, const void *buf, size_t from, void *out,
               size_t len)
{
    len = clip(t, count, from, len);
    if (dt_is_block(t, count)) {
        if (len)
            memcpy(out, (const char *)dt_start(t, buf) + from, len);
        return len;
    }
    struct stream s = {{&pack_ops}, out};
    walk_type(t, count, buf, from, from + len, &s.sink);
    return len;
}

/* --- stream to memory -------------------------------------------------------- */
static int unpack_block(struct sink *s, uintptr_t at, size_t len)
{
    struct stream *o = (struct stream *)s;
    memcpy((void *)at, o->at, len);
    o->at += len;
    return 0;
}

static int unpack_strided(struct sink *s, uintptr_t at, size_t n, size_t blk, int64_t stride)
{
    struct stream *o = (struct stream *)s;
    kernel_strided((char *)at, stride, o->at, (int64_t)blk, n, blk);
    o->at += n * blk;
    return 0;
}

static int unpack_indexed(struct sink *s, uintptr_t at, size_t n, size_t blk, const int64_t *off)
{
    struct stream *o = (struct stream *)s;
    kernel_scatter((char *)at, off, o->at, n, blk);
    o->at += n * blk;
    return 0;
}

static int unpack_blocks(struct sink *s, uintptr_t at, size_t n, const int64_t *off,
                         const int64_t *len)
{
    struct stream *o = (struct stream *)s;
    const char *in = o->at;
    for (size_t i = 0; i < n; i++) {
        copy_block((char *)(at + (uintptr_t)off[i]), in, (size_t)len[i]);
        in += len[i];
    }
    o->at += in - o->at;
    return 0;
}

static int unpack_rows(struct sink *s, uintptr_t at, size_t n, int64_t stride,
                       const struct dt_node *row, size_t tile)
{
    struct stream *o = (struct stream *)s;
    o->at = copy_rows(at, stride, (uintptr_t)o->at, row->size, n, row, tile, PACKED_FROM);
    return 0;
}

static const struct sink_ops unpack_ops = {unpack_block, unpack_strided, unpack_indexed,
                                           unpack_blocks, unpack_rows};

size_t dt_unpack(const struct dt_type *t, size_t count, void *buf, size_t from, const void *in,
                 size_t len)
{
    len = clip(t, count, from, len);
    if (dt_is_block(t, count)) {
        if (len)
            memcpy((char *)dt_start(t, buf) + from, in, len);
        return len;
    }
    struct stream s = {{&unpack_ops}, (char *)(uintptr_t)in};
    walk_type(t, count, buf, from, from + len, &s.sink);
    return len;
}

/* --- lists of blocks --------------------------------------------------------- */
struct lister {
    struct sink sink;
    struct iovec *iov;
    size_t n, max;
    size_t bytes;
};

static int list_block(struct sink *s, uintptr_t at, size_t len)
{
    struct lister *l = (struct lister *)s;
    struct iovec *last = l->n ? &l->iov[l->n - 1] : NULL;
    if (last && (uintptr_t)last->iov_base + last->iov_len == at) {
        last->iov_len += len;
    } else {
        if (l->n == l->max)
            return 1;
        l->iov[l->n++] = (struct iovec){(void *)at, len};
    }
    l->bytes += len;
    return 0;
}

static int list_strided(struct sink *s, uintptr_t at, size_t n, size_t blk, int64_t stride)
{
    struct lister *l = (struct lister *)s;
    if (stride == (int64_t)blk)
        return list_block(s, at, n * blk);
    if (list_block(s, at, blk))
        return 1;
    /* the others join nothing */
    size_t fit = n - 1 < l->max - l->n ? n - 1 : l->max - l->n;
    struct iovec *iov = l->iov + l->n;
    for (size_t i = 0; i < fit; i++)
        iov[i] = (struct iovec){(void *)(at + (uintptr_t)(i + 1) * (uintptr_t)stride), blk};
    l->n += fit;
    l->bytes += fit * blk;
    return fit < n - 1;
}

static int list_indexed(struct sink *s, uintptr_t at, size_t n, size_t blk, const int64_t *off)
{
    struct lister *l = (struct lister *)s;
    if (list_block(s, at + (uintptr_t)off[0], blk))
        return 1;
    /* indexed nodes have no adjacent entries: the others join nothing */
    size_t fit = n - 1 < l->max - l->n ? n - 1 : l->max - l->n;
    struct iovec *iov = l->iov + l->n;
    for (size_t i = 0; i < fit; i++)
        iov[i] = (struct iovec){(void *)(at + (uintptr_t)off[i + 1]), blk};
    l->n += fit;
    l->bytes += fit * blk;
    return fit < n - 1;
}

static int list_blocks(struct sink *s, uintptr_t at, size_t n, const int64_t *off,
                       const int64_t *len)
{
    int stop = 0;
    for (size_t i = 0; i < n && !stop; i++)
        stop = list_block(s, at + (uintptr_t)off[i], (size_t)len[i]);
    return stop;
}

static const struct sink_ops list_ops = {list_block, list_strided, list_indexed, list_blocks, NULL};

size_t dt_iov(const struct dt_type *t, size_t count, const void *buf, size_t from, size_t len,
              struct iovec *iov, size_t max, size_t *bytes_out)
{
    struct lister l = {{&list_ops}, iov, 0, max, 0};
    len = clip(t, count, from, len);
    if (len && dt_is_block(t, count))
        list_block(&l.sink, (uintptr_t)dt_start(t, buf) + from, len);
    else
        walk_type(t, count, buf, from, from + len, &l.sink);
    *bytes_out = l.bytes;
    return l.n;
}

struct runner {
    struct sink sink;
    dt_run_fn *fn;
    void *arg;
};

static int run_block(struct sink *s, uintptr_t at, size_t len)
{
    struct runner *r = (struct runner *)s;
    return r->fn(r->arg, at, 1, len, 0);
}

static int run_strided(struct sink *s, uintptr_t at, size_t n, size_t blk, int64_t stride)
{
    struct runner *r = (struct runner *)s;
    return r->fn(r->arg, at, n, blk, stride);
}

static int run_indexed(struct sink *s, uintptr_t at, size_t n, size_t blk, const int64_t *off)
{
    int stop = 0;
    for (size_t i = 0; i < n && !stop; i++)
        stop = run_block(s, at + (uintptr_t)off[i], blk);
    return stop;
}

static int run_blocks(struct sink *s, uintptr_t at, size_t n, const int64_t *off,
                      const int64_t *len)
{
    int stop = 0;
    for (size_t i = 0; i < n && !stop; i++)
        stop = run_block(s, at + (uintptr_t)off[i], (size_t)len[i]);
    return stop;
}

static const struct sink_ops run_ops = {run_block, run_strided, run_indexed, run_blocks, NULL};

void dt_runs(const struct dt_type *t, size_t count, const void *buf, dt_run_fn *fn, void *arg)
{
    struct runner r = {{&run_ops}, fn, arg};
    size_t len = clip(t, count, 0, SIZE_MAX);
    if (len && dt_is_block(t, count))
        fn(arg, (uintptr_t)dt_start(t, buf), 1, len, 0);
    else if (len)
        walk_type(t, count, buf, 0, len, &r.sink);
}

size_t dt_blocks(const struct dt_type *t, size_t count)
{
    if (t->size == 0 || count == 0)
        return 0;
    if (dt_is_block(t, count))
        return 1;
    int64_t n;
    return mul64(t->node->blocks, (int64_t)count, &n) ? INT64_MAX : (size_t)n;
}

/* --- layout to layout -------------------------------------------------------- */
/* The same layout on both sides: every block moves by one distance. */
struct mover {
    struct sink sink;
    uintptr_t distance; /* destination minus source */
};

static int move_block(struct sink *s, uintptr_t at, size_t len)
{
    memmove((void *)(at + ((struct mover *)s)->distance), (const void *)at, len);
    return 0;
}

static int move_strided(struct sink *s, uintptr_t at, size_t n, size_t blk, int64_t stride)
{
    kernel_strided((char *)(at + ((struct mover *)s)->distance), stride, (const char *)at, stride,
                   n, blk);
    return 0;
}

static int move_indexed(struct sink *s, uintptr_t at, size_t n, size_t blk, const int64_t *off)
{
    uintptr_t to = at + ((struct mover *)s)->distance;
    for (size_t i = 0; i < n; i++)
        copy_block((char *)(to + (uintptr_t)off[i]), (const char *)(at + (uintptr_t)off[i]), blk);
    return 0;
}

static int move_blocks(struct sink *s, uintptr_t at, size_t n, const int64_t *off,
                       const int64_t *len)
{
    uintptr_t to = at + ((struct mover *)s)->distance;
    for (size_t i = 0; i < n; i++)
        copy_block((char *)(to + (uintptr_t)off[i]), (const char *)(at + (uintptr_t)off[i]),
                   (size_t)len[i]);
    return 0;
}

static int move_rows(struct sink *s, uintptr_t at, size_t n, int64_t stride,
                     const struct dt_node *row, size_t tile)
{
    copy_rows(at + ((struct mover *)s)->distance, stride, at, stride, n, row, tile, PACKED_NONE);
    return 0;
}

static const struct sink_ops move_ops = {move_block, move_strided, move_indexed, move_blocks,
                                         move_rows};

/* Two layouts without common shape: both as lists of blocks, merged. */
enum { COPY_BATCH = 128 };

struct side {
    struct iovec iov[COPY_BATCH];
    size_t n, i;
};

static void copy_merge(struct side *s, struct side *d)
{
    while (s->i < s->n && d->i < d->n) {
        struct iovec *a = &s->iov[s->i], *b = &d->iov[d->i];
        size_t len = a->iov_len < b->iov_len ? a->iov_len : b->iov_len;
        copy_block(b->iov_base, a->iov_base, len);
        if (a->iov_len == b->iov_len) {
            s->i++;
            d->i++;
            continue;
        }
        a->iov_base = (char *)a->iov_base + len;
        b->iov_base = (char *)b->iov_base + len;
        s->i += (a->iov_len -= len) == 0;
        d->i += (b->iov_len -= len) == 0;
    }
}

/* One side has blocks much longer than the other's: each of them is packed from, or unpacked to,
 * the other. */
static void copy_by_long_blocks(const void *src, size_t scount, const struct dt_type *st, void *dst,
                                size_t dcount, const struct dt_type *dt, size_t from, size_t len,
                                int long_dst)
{
    struct iovec iov[COPY_BATCH];
    for (size_t at = from, end = from + len, got; at < end;) {
        size_t n = long_dst ? dt_iov(dt, dcount, dst, at, end - at, iov, COPY_BATCH, &got)
                            : dt_iov(st, scount, src, at, end - at, iov, COPY_BATCH, &got);
        for (size_t i = 0; i < n; i++) {
            if (long_dst)
                dt_pack(st, scount, src, at, iov[i].iov_base, iov[i].iov_len);
            else
                dt_unpack(dt, dcount, dst, at, iov[i].iov_base, iov[i].iov_len);
            at += iov[i].iov_len;
        }
    }
}

static void copy_general(const void *src, size_t scount, const struct dt_type *st, void *dst,
                         size_t dcount, const struct dt_type *dt, size_t from, size_t len)
{
    /* on average */
    int64_t sblk = st->node->size / st->node->blocks, dblk = dt->node->size / dt->node->blocks;
    if (sblk / 4 >= dblk || dblk / 4 >= sblk) {
        copy_by_long_blocks(src, scount, st, dst, dcount, dt, from, len, dblk > sblk);
        return;
    }
    struct side s, d;
    s.n = s.i = d.n = d.i = 0;
    size_t sfrom = from, dfrom = from, end = from + len, got;
    for (;;) {
        if (s.i == s.n) {
            if (sfrom == end)
                return;
            s.n = dt_iov(st, scount, src, sfrom, end - sfrom, s.iov, COPY_BATCH, &got);
            s.i = 0;
            sfrom += got;
        }
        if (d.i == d.n) {
            if (dfrom == end)
                return;
            d.n = dt_iov(dt, dcount, dst, dfrom, end - dfrom, d.iov, COPY_BATCH, &got);
            d.i = 0;
            dfrom += got;
        }
        copy_merge(&s, &d);
    }
}

/* Is (t, count) one vector of blocks?  Block 0 is at t->origin. */
static int as_vector(const struct dt_type *t, size_t count, int64_t *blk, int64_t *stride)
{
    const struct dt_node *nd = t->node;
    if (nd->kind == NODE_BLOCK) {
        *blk = nd->size;
        *stride = t->extent;
        return 1;
    }
    int64_t span;
    *blk = nd->kid ? nd->kid->size : 0;
    *stride = nd->stride;
    return nd->kind == NODE_VECTOR && nd->kid->kind == NODE_BLOCK &&
           (count == 1 || (!mul64(nd->n, nd->stride, &span) && span == t->extent));
}

size_t dt_copy_part(const void *src, size_t scount, const struct dt_type *st, void *dst,
                    size_t dcount, const struct dt_type *dt, size_t from, size_t len)
{
    len = clip(st, scount, from, clip(dt, dcount, from, len));
    if (!len)
        return 0;
    if (dt_is_block(st, scount))
        return dt_unpack(dt, dcount, dst, from, (const char *)dt_start(st, src) + from, len);
    if (dt_is_block(dt, dcount))
        return dt_pack(st, scount, src, from, (char *)dt_start(dt, dst) + from, len);
    if (st->node == dt->node && (st->extent == dt->extent || (scount == 1 && dcount == 1))) {
        size_t n = scount < dcount ? scount : dcount;
        struct mover m = {{&move_ops},
                          (uintptr_t)dst + (uintptr_t)dt->origin -
                              ((uintptr_t)src + (uintptr_t)st->origin)};
        walk_type(st, n, src, from, from + len, &m.sink);
        return len;
    }
    int64_t sblk, sstride, dblk, dstride;
    if (as_vector(st, scount, &sblk, &sstride) && as_vector(dt, dcount, &dblk, &dstride) &&
        sblk == dblk && from % (size_t)sblk == 0 && len % (size_t)sblk == 0) {
        uintptr_t i = from / (size_t)sblk;
        kernel_strided(
            (char *)((uintptr_t)dst + (uintptr_t)dt->origin + i * (uintptr_t)dstride), dstride,
            (const char *)((uintptr_t)src + (uintptr_t)st->origin + i * (uintptr_t)sstride),
            sstride, len / (size_t)sblk, (size_t)sblk);
        return len;
    }
    copy_general(src, scount, st, dst, dcount, dt, from, len);
    return len;
}
