/* make.c - the constructors: bounds with overflow checks, layout, signature. Start with
 * dt_make_vector() and build_finish().
 *
 * A constructor fills a struct build: where the instances of old types lie. Bounds follow MPI-3.1
 * 4.1.7: markers (MPI_LB, MPI_UB, resized types) take precedence over data. A struct without them
 * is padded to its most aligned member. */
#include "dt/dt_types.h"

#include <errno.h>
#include <stdlib.h>

#include "watch/watch.h"

/* --- building ---------------------------------------------------------------- */
struct build {
    struct place place;
    struct dt_sig *sig;
    int64_t lb, ub;
    unsigned flags; /* DT_LB_SET, DT_UB_SET */
};

static void build_drop(struct build *b)
{
    node_drop(b->place.node);
    sig_drop(b->sig);
}

/* One instance of old. */
static struct build build_old(const struct dt_type *old)
{
    return (struct build){{old->origin, node_ref(old->node)},
                          sig_ref(old->sig),
                          old->lb,
                          old->lb + old->extent,
                          old->flags & (DT_LB_SET | DT_UB_SET)};
}

/* Repeat what is built n times; n == 0 leaves nothing. */
static int build_repeat(struct build *b, int64_t n, int64_t stride)
{
    struct place p = b->place;
    struct dt_sig *s = b->sig;
    b->place = (struct place){0, NULL};
    b->sig = NULL;
    int err = node_vector(n, stride, p, &b->place);
    if (err)
        b->place.node = NULL;
    int err2 = sig_rep(n, s, &b->sig);
    if (n == 0)
        b->flags = 0;
    if (n == 0 || (!b->sig && !b->flags))
        b->lb = b->ub = 0; /* an empty typemap has no bounds to move */
    else if (!err)
        err = type_span(n, stride, &b->lb, &b->ub);
    return err ? err : err2;
}

static int build_finish(struct build *b, struct dt_type *model, int err, struct dt_type **out)
{
    int64_t extent = 0;
    if (!err && __builtin_sub_overflow(b->ub, b->lb, &extent))
        err = -EOVERFLOW;
    int64_t x;
    if (!err && b->place.node &&
        (add64(b->place.off, b->place.node->lo, &x) || add64(b->place.off, b->place.node->hi, &x)))
        err = -EOVERFLOW;
    struct dt_type *t = err ? NULL : type_alloc();
    if (!t) {
        build_drop(b);
        return type_errno(err ? err : -ENOMEM);
    }
    t->flags = b->flags;
    t->lb = b->lb;
    t->extent = extent;
    t->origin = b->place.node ? b->place.off : 0;
    t->node = b->place.node;
    t->sig = b->sig;
    t->align = model->align;
    t->basic = model->basic;
    t->elem = model->elem;
    t->holders = 1;
    type_derive(t);
    err = obj_add(OBJ_TYPE, &t->obj);
    if (err) {
        t->obj.handle = 0;
        t->obj.refs = 1;
        dt_drop(t);
        return type_errno(-ENOMEM);
    }
    watch_made(OBJ_TYPE, &t->obj);
    *out = t;
    return MPI_SUCCESS;
}

int dt_make_dup(struct dt_type *old, struct dt_type **out)
{
    struct build b = build_old(old);
    int err = build_finish(&b, old, 0, out);
    if (!err)
        (*out)->flags |= old->flags & DT_COMMITTED;
    return err;
}

int dt_make_contiguous(int64_t count, struct dt_type *old, struct dt_type **out)
{
    struct build b = build_old(old);
    return build_finish(&b, old, build_repeat(&b, count, old->extent), out);
}

int dt_make_vector_b(int64_t count, int64_t blocklen, int64_t stride_b, struct dt_type *old,
                     struct dt_type **out)
{
    struct build b = build_old(old);
    int err = build_repeat(&b, blocklen, old->extent);
    if (!err)
        err = build_repeat(&b, blocklen ? count : 0, stride_b);
    return build_finish(&b, old, err, out);
}

int dt_make_vector(int64_t count, int64_t blocklen, int64_t stride, struct dt_type *old,
                   struct dt_type **out)
{
    int64_t stride_b = 0;
    if (count > 1 && mul64(stride, old->extent, &stride_b))
        return type_errno(-EOVERFLOW);
    return dt_make_vector_b(count, blocklen, stride_b, old, out);
}

int dt_make_resized(struct dt_type *old, int64_t lb, int64_t extent, struct dt_type **out)
{
    struct build b = build_old(old);
    b.lb = lb;
    b.flags = DT_LB_SET | DT_UB_SET;
    return build_finish(&b, old, add64(lb, extent, &b.ub) ? -EOVERFLOW : 0, out);
}

/* --- indexed ------------------------------------------------------------------ */
/* Layout when instances of old lie end to end: blocks of bytes. */
static int indexed_blocks(int64_t n, const int64_t *lens, int64_t one, const int64_t *off,
                          const struct dt_type *old, struct place *out)
{
    int64_t *bytes = malloc(2 * (size_t)n * sizeof *bytes);
    if (!bytes)
        return -ENOMEM;
    int64_t *at = bytes + n;
    int err = 0;
    for (int64_t i = 0; i < n && !err; i++)
        if (mul64(lens ? lens[i] : one, old->size, &bytes[i]) || add64(off[i], old->origin, &at[i]))
            err = -EOVERFLOW;
    if (!err)
        err = node_blocks(n, at, bytes, out);
    free(bytes);
    return err;
}

/* Any other old type: a list of vectors, consecutive equal ones shared. */
static int indexed_list(int64_t n, const int64_t *lens, int64_t one, const int64_t *off,
                        const struct dt_type *old, struct place *out)
{
    struct place *p = calloc((size_t)n, sizeof *p);
    if (!p)
        return -ENOMEM;
    struct place last = {0, NULL};
    int64_t last_len = -1, i;
    int err = 0;
    for (i = 0; i < n; i++) {
        int64_t len = lens ? lens[i] : one;
        if (len != last_len) {
            node_drop(last.node);
            last = (struct place){0, NULL};
            err = node_vector(len, old->extent, (struct place){old->origin, node_ref(old->node)},
                              &last);
            if (err) {
                last.node = NULL;
                break;
            }
            last_len = len;
        }
        p[i].node = node_ref(last.node);
        if (add64(off[i], last.off, &p[i].off)) {
            err = -EOVERFLOW;
            break;
        }
    }
    node_drop(last.node);
    if (!err)
        err = node_list(n, p, out);
    else
        for (int64_t j = 0; j < n; j++)
            node_drop(p[j].node);
    free(p);
    return err;
}

/* Bounds over the blocks that have elements; how many elements in all. */
static int indexed_bounds(int64_t n, const int64_t *lens, int64_t one, const int64_t *off,
                          const struct dt_type *old, struct build *b, int64_t *elements)
{
    int first = 1;
    *elements = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t len = lens ? lens[i] : one, lo = old->lb, hi = old->lb + old->extent;
        if (len == 0)
            continue;
        if (add64(*elements, len, elements) || type_span(len, old->extent, &lo, &hi) ||
            add64(lo, off[i], &lo) || add64(hi, off[i], &hi))
            return -EOVERFLOW;
        if (first || lo < b->lb)
            b->lb = lo;
        if (first || hi > b->ub)
            b->ub = hi;
        first = 0;
    }
    return 0;
}

int dt_make_indexed_b(int64_t count, const int64_t *blocklens, int64_t blocklen,
                      const int64_t *displs_b, struct dt_type *old, struct dt_type **out)
{
    struct build b = {.flags = old->flags & (DT_LB_SET | DT_UB_SET)};
    int64_t elements;
    int err = indexed_bounds(count, blocklens, blocklen, displs_b, old, &b, &elements);
    if (!err && elements == 0) { /* no blocks: empty, at 0 */
        b.lb = b.ub = 0;
        b.flags = 0;
    } else if (!err) {
        if (!old->size && !b.flags)
            b.lb = b.ub = 0; /* an empty typemap has no bounds to move */
        if (old->flags & DT_CONTIG)
            err = indexed_blocks(count, blocklens, blocklen, displs_b, old, &b.place);
        else
            err = indexed_list(count, blocklens, blocklen, displs_b, old, &b.place);
        if (err)
            b.place.node = NULL;
        else
            err = sig_rep(elements, sig_ref(old->sig), &b.sig);
    }
    return build_finish(&b, old, err, out);
}

int dt_make_indexed(int64_t count, const int64_t *blocklens, int64_t blocklen,
                    const int64_t *displs, struct dt_type *old, struct dt_type **out)
{
    int64_t *off = malloc((size_t)(count ? count : 1) * sizeof *off);
    if (!off)
        return type_errno(-ENOMEM);
    int err = MPI_SUCCESS;
    for (int64_t i = 0; i < count; i++)
        if (mul64(displs[i], old->extent, &off[i]))
            err = -EOVERFLOW;
    err = err ? type_errno(err) : dt_make_indexed_b(count, blocklens, blocklen, off, old, out);
    free(off);
    return err;
}

/* --- struct -------------------------------------------------------------------- */
struct bounds {
    int64_t lo, hi;
    int has_lo, has_hi, lo_set, hi_set; /* *_set: by a marker, which takes precedence */
};

static void bounds_add(struct bounds *b, const struct dt_type *t, int64_t lo, int64_t hi)
{
    int lo_set = (t->flags & DT_LB_SET) != 0, hi_set = (t->flags & DT_UB_SET) != 0;
    int marker_lb = t->obj.handle == MPI_LB, marker_ub = t->obj.handle == MPI_UB;
    if (!t->size && !lo_set && !hi_set)
        return;
    if (!marker_ub && lo_set >= b->lo_set && (!b->has_lo || lo_set > b->lo_set || lo < b->lo)) {
        b->lo = lo;
        b->has_lo = 1;
        b->lo_set = lo_set;
    }
    if (!marker_lb && hi_set >= b->hi_set && (!b->has_hi || hi_set > b->hi_set || hi > b->hi)) {
        b->hi = hi;
        b->has_hi = 1;
        b->hi_set = hi_set;
    }
}

/* Bounds of the struct, its alignment, and the basic type all members share. */
static int struct_bounds(int64_t n, const int64_t *lens, const int64_t *off, struct dt_type **types,
                         struct build *b, struct dt_type *model)
{
    struct bounds bd = {0};
    int mixed = 0;
    model->align = 1;
    for (int64_t i = 0; i < n; i++) {
        const struct dt_type *t = types[i];
        int64_t lo = t->lb, hi = t->lb + t->extent;
        if (lens[i] == 0)
            continue;
        if (type_span(lens[i], t->extent, &lo, &hi) || add64(lo, off[i], &lo) ||
            add64(hi, off[i], &hi))
            return -EOVERFLOW;
        bounds_add(&bd, t, lo, hi);
        if (!t->size)
            continue;
        if (t->align > model->align)
            model->align = t->align;
        mixed |= !t->basic || (model->basic && model->basic != t->basic);
        model->basic = t->basic;
    }
    if (mixed)
        model->basic = NULL;
    if (model->basic)
        model->elem = model->basic->elem;
    b->lb = bd.lo; /* 0 if nothing bounds that side */
    b->ub = bd.hi;
    b->flags = (bd.lo_set ? DT_LB_SET : 0) | (bd.hi_set ? DT_UB_SET : 0);
    int64_t extent;
    if (__builtin_sub_overflow(b->ub, b->lb, &extent))
        return -EOVERFLOW;
    int64_t over = extent % model->align;
    if (!b->flags && over && add64(b->ub, model->align - over, &b->ub))
        return -EOVERFLOW;
    return 0;
}

static int struct_parts(int64_t n, const int64_t *lens, const int64_t *off, struct dt_type **types,
                        struct build *b)
{
    struct place *p = calloc((size_t)(n ? n : 1), sizeof *p);
    struct dt_sig **sig = calloc((size_t)(n ? n : 1), sizeof *sig);
    int err = p && sig ? 0 : -ENOMEM;
    for (int64_t i = 0; i < n && !err; i++) {
        const struct dt_type *t = types[i];
        err = node_vector(lens[i], t->extent, (struct place){t->origin, node_ref(t->node)}, &p[i]);
        if (err)
            p[i].node = NULL;
        else if (p[i].node && add64(p[i].off, off[i], &p[i].off))
            err = -EOVERFLOW;
        if (!err)
            err = sig_rep(lens[i], sig_ref(t->sig), &sig[i]);
    }
    if (!err) {
        err = node_list(n, p, &b->place);
        if (err)
            b->place.node = NULL;
        int err2 = sig_seq(n, sig, &b->sig);
        err = err ? err : err2;
    } else {
        for (int64_t i = 0; i < n; i++) {
            if (p)
                node_drop(p[i].node);
            if (sig)
                sig_drop(sig[i]);
        }
    }
    free(p);
    free(sig);
    return err;
}

int dt_make_struct(int64_t count, const int64_t *blocklens, const int64_t *displs_b,
                   struct dt_type **types, struct dt_type **out)
{
    struct build b = {.flags = 0};
    struct dt_type model = {.align = 1};
    int err = struct_bounds(count, blocklens, displs_b, types, &b, &model);
    if (!err)
        err = struct_parts(count, blocklens, displs_b, types, &b);
    return build_finish(&b, &model, err, out);
}

/* --- subarray and darray: one dimension after the other, the fastest first ------- */
/* The part built so far becomes `n` slices from slice `start` on, of `whole` slices `pitch` bytes
 * apart. */
static int slice(struct build *b, int64_t whole, int64_t n, int64_t start, int64_t *pitch)
{
    int64_t skip;
    int err = build_repeat(b, n, *pitch);
    if (!err && b->place.node &&
        (mul64(start, *pitch, &skip) || add64(b->place.off, skip, &b->place.off)))
        err = -EOVERFLOW;
    if (!err && mul64(*pitch, whole, pitch))
        err = -EOVERFLOW;
    b->lb = b->ub = 0; /* set once at the end */
    return err;
}

int dt_make_subarray(int ndims, const int64_t *sizes, const int64_t *subsizes,
                     const int64_t *starts, int order, struct dt_type *old, struct dt_type **out)
{
    struct build b = build_old(old);
    int64_t pitch = old->extent;
    int err = 0;
    for (int i = 0; i < ndims && !err; i++) {
        int d = order == MPI_ORDER_C ? ndims - 1 - i : i;
        err = slice(&b, sizes[d], subsizes[d], starts[d], &pitch);
    }
    b.lb = 0;
    b.ub = pitch;
    b.flags = DT_LB_SET | DT_UB_SET;
    return build_finish(&b, old, err, out);
}

/* Cyclic distribution of `whole` slices in blocks of k over nproc processes, the part of process
 * `me`. */
static int deal(struct build *b, int64_t whole, int64_t k, int nproc, int me, int64_t *pitch)
{
    int64_t round = k * nproc, first = me * k;
    /* rounds in which all k slices exist ... */
    int64_t full = whole > first ? (whole - first) / round : 0;
    int64_t rest = whole > first ? (whole - first) % round : 0; /* ... and what begins one more */
    if (rest >= k) {
        full++;
        rest = 0;
    }
    struct build tail = {b->place, sig_ref(b->sig), 0, 0, 0};
    node_ref(tail.place.node);
    int64_t p = *pitch, q = *pitch, step, skip;
    if (mul64(round, *pitch, &step))
        step = 0;
    int err = build_repeat(b, k, p);
    if (!err)
        err = build_repeat(b, full, step);
    int err2 = slice(&tail, whole, rest, 0, &q);
    if (!err)
        err = err2;
    struct place parts[2] = {b->place, tail.place};
    struct dt_sig *sigs[2] = {b->sig, tail.sig};
    b->place.node = NULL;
    b->sig = NULL;
    if (!err && (mul64(first, p, &skip) || add64(parts[0].off, skip, &parts[0].off) ||
                 add64(parts[1].off, skip, &parts[1].off) || mul64(full, step, &skip) ||
                 add64(parts[1].off, skip, &parts[1].off)))
        err = -EOVERFLOW;
    if (err) {
        for (int i = 0; i < 2; i++) {
            node_drop(parts[i].node);
            sig_drop(sigs[i]);
        }
        return err;
    }
    *pitch = q;
    err = node_list(2, parts, &b->place);
    if (err)
        b->place.node = NULL;
    err2 = sig_seq(2, sigs, &b->sig);
    b->lb = b->ub = 0;
    return err ? err : err2;
}

int dt_make_darray(int size, int rank, int ndims, const int64_t *gsizes, const int *distribs,
                   const int *dargs, const int *psizes, int order, struct dt_type *old,
                   struct dt_type **out)
{
    struct build b = build_old(old);
    int64_t pitch = old->extent;
    int err = 0;
    /* place in the process grid, which is always in C order */
    int *me = malloc((size_t)ndims * sizeof *me);
    if (!me)
        err = -ENOMEM;
    for (int d = 0, left = size, r = rank; d < ndims && !err; d++) {
        left /= psizes[d];
        me[d] = r / left;
        r %= left;
    }
    for (int i = 0; i < ndims && !err; i++) {
        int d = order == MPI_ORDER_C ? ndims - 1 - i : i;
        int64_t k = dargs[d];
        if (distribs[d] == MPI_DISTRIBUTE_NONE)
            k = gsizes[d];
        else if (dargs[d] == MPI_DISTRIBUTE_DFLT_DARG)
            k = distribs[d] == MPI_DISTRIBUTE_CYCLIC ? 1 : (gsizes[d] + psizes[d] - 1) / psizes[d];
        err = deal(&b, gsizes[d], k ? k : 1, psizes[d], me[d], &pitch);
    }
    free(me);
    b.lb = 0;
    b.ub = pitch;
    b.flags = DT_LB_SET | DT_UB_SET;
    return build_finish(&b, old, err, out);
}
