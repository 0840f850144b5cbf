/* dtgen.h - random datatypes with an oracle. Start with dtg_random().
 *
 * It builds an MPI datatype of a given number of elements by nesting constructors. It computes the
 * type map (offset and basic type of every element, in order) by its own arithmetic and never asks
 * the library. Elements never overlap. Packing by the map is the oracle.
 *
 * Types whose extent the standard leaves to rounding (structures, misaligned elements) are
 * always resized, so that their extent is known. No state but the arguments: callable from
 * anywhere. */
#ifndef DTGEN_H
#define DTGEN_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define DTG_UNUSED __attribute__((unused))
#else
#define DTG_UNUSED
#endif

/* xorshift64*: the same everywhere, unlike rand() */
struct dtg_rng {
    uint64_t s;
};

static DTG_UNUSED uint64_t rng_next(struct dtg_rng *r)
{
    r->s ^= r->s >> 12;
    r->s ^= r->s << 25;
    r->s ^= r->s >> 27;
    return r->s * 0x2545f4914f6cdd1du >> 11;
}

/* uniform in [0, n) */
static DTG_UNUSED int rng_below(struct dtg_rng *r, int n)
{
    return n <= 1 ? 0 : (int)(rng_next(r) % (uint64_t)n);
}

static DTG_UNUSED void rng_seed(struct dtg_rng *r, uint64_t seed)
{
    int i;

    r->s = (seed + 1) * 0x9e3779b97f4a7c15u ^ 0xda3e39cb94b95bdbu;
    if (!r->s)
        r->s = 1;
    for (i = 0; i < 8; i++)
        rng_next(r);
}

enum { DTG_BASES = 14, DTG_INTEGERS = 10 };
enum dtg_base {
    B_I8, B_U8, B_I16, B_U16, B_I32, B_U32, B_I64, B_U64, B_CHAR_BYTE, B_INT, B_FLOAT, B_DOUBLE,
    B_CFLOAT, B_CDOUBLE
};

static DTG_UNUSED MPI_Datatype dtg_base_type(int b)
{
    switch (b) {
    case B_I8: return MPI_INT8_T;
    case B_U8: return MPI_UINT8_T;
    case B_I16: return MPI_INT16_T;
    case B_U16: return MPI_UINT16_T;
    case B_I32: return MPI_INT32_T;
    case B_U32: return MPI_UINT32_T;
    case B_I64: return MPI_INT64_T;
    case B_U64: return MPI_UINT64_T;
    case B_CHAR_BYTE: return MPI_BYTE;
    case B_INT: return MPI_INT;
    case B_FLOAT: return MPI_FLOAT;
    case B_DOUBLE: return MPI_DOUBLE;
    case B_CFLOAT: return MPI_C_FLOAT_COMPLEX;
    default: return MPI_C_DOUBLE_COMPLEX;
    }
}

static DTG_UNUSED int dtg_base_size(int b)
{
    static const unsigned char size[DTG_BASES] = { 1, 1, 2, 2, 4, 4, 8, 8, 1, 4, 4, 8, 8, 16 };

    return size[b];
}

static DTG_UNUSED int dtg_base_align(int b)
{
    return b == B_CDOUBLE ? 8 : b == B_CFLOAT ? 4 : dtg_base_size(b);
}

struct dtg {
    MPI_Datatype type;
    MPI_Aint lb, ub;             /* with the markers of resized types */
    size_t n, room;              /* elements */
    MPI_Aint *off;
    unsigned char *base;
    int predefined;              /* not to be freed */
    int aligned;                 /* every element of every copy lies at a multiple of its
                                  * alignment */
    char text[240];              /* how it was made, outermost constructor first */
};

static DTG_UNUSED void dtg_free(struct dtg *d)
{
    if (!d->predefined && d->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&d->type);
    free(d->off);
    free(d->base);
    memset(d, 0, sizeof *d);
    d->type = MPI_DATATYPE_NULL;
}

static DTG_UNUSED void dtg_start(struct dtg *d)
{
    memset(d, 0, sizeof *d);
    d->type = MPI_DATATYPE_NULL;
    d->aligned = 1;
}

static DTG_UNUSED void dtg_add(struct dtg *d, MPI_Aint off, int base)
{
    if (d->n == d->room) {
        d->room = d->room ? 2 * d->room : 16;
        d->off = realloc(d->off, d->room * sizeof *d->off);
        d->base = realloc(d->base, d->room * sizeof *d->base);
        if (!d->off || !d->base)
            abort();
    }
    d->off[d->n] = off;
    d->base[d->n++] = (unsigned char)base;
    if (off % dtg_base_align(base))
        d->aligned = 0;
}

/* A copy of child at byte displacement disp. */
static DTG_UNUSED void dtg_place(struct dtg *d, const struct dtg *child, MPI_Aint disp)
{
    size_t i;

    if (d->n == 0 || disp + child->lb < d->lb)
        d->lb = disp + child->lb;
    if (d->n == 0 || disp + child->ub > d->ub)
        d->ub = disp + child->ub;
    for (i = 0; i < child->n; i++)
        dtg_add(d, disp + child->off[i], child->base[i]);
    if (!child->aligned)
        d->aligned = 0;
}

static DTG_UNUSED void dtg_predefined(struct dtg *d, int base)
{
    dtg_start(d);
    d->type = dtg_base_type(base);
    d->predefined = 1;
    d->ub = dtg_base_size(base);
    dtg_add(d, 0, base);
    snprintf(d->text, sizeof d->text, "b%d", base);
}

/* First and last byte of the data of one copy. */
static DTG_UNUSED void dtg_span(const struct dtg *d, MPI_Aint *low, MPI_Aint *high)
{
    size_t i;

    *low = *high = 0;
    for (i = 0; i < d->n; i++) {
        MPI_Aint end = d->off[i] + dtg_base_size(d->base[i]);

        if (i == 0 || d->off[i] < *low)
            *low = d->off[i];
        if (i == 0 || end > *high)
            *high = end;
    }
}

/* Wraps d so that its extent is [lb, lb + extent). */
static DTG_UNUSED void dtg_resize(struct dtg *d, MPI_Aint lb, MPI_Aint extent)
{
    MPI_Datatype t = d->type;
    char text[240];

    MPI_Type_create_resized(t, lb, extent, &d->type);
    if (!d->predefined)
        MPI_Type_free(&t);
    d->predefined = 0;
    d->lb = lb;
    d->ub = lb + extent;
    memcpy(text, d->text, sizeof text);
    snprintf(d->text, sizeof d->text, "resized(%ld,%ld,%.200s)", (long)lb, (long)extent, text);
}

static DTG_UNUSED int dtg_factor(struct dtg_rng *r, size_t n)
{
    int f[16], k = 0, i;

    for (i = 2; i <= 64 && k < 16; i++)
        if (n % (size_t)i == 0)
            f[k++] = i;
    return k ? f[rng_below(r, k)] : 1;
}

struct dtg_how {
    int base;            /* a base, or -1: mixed structures */
    int misaligned;      /* elements may lie at odd offsets */
    int depth;           /* of nesting */
    int negative;        /* displacements may be negative */
};

static void dtg_random(struct dtg_rng *r, const struct dtg_how *how, size_t n, struct dtg *d);

/* A gap in bytes that keeps the alignment unless that is not asked for. */
static DTG_UNUSED MPI_Aint dtg_gap(struct dtg_rng *r, const struct dtg_how *how)
{
    if (rng_below(r, 3) == 0)
        return 0;
    return how->misaligned ? rng_below(r, 40) : 16 * rng_below(r, 4);
}

/* Copies of one child at ascending or shuffled displacements, by one of the index constructors. */
static DTG_UNUSED void dtg_indexed(struct dtg_rng *r, const struct dtg_how *how, int copies,
                                   const struct dtg *c, struct dtg *d)
{
    int kind = rng_below(r, 4), blocks = 0, len[64], disp[64], i, k, fixed = 1, left = copies;
    MPI_Aint ext = c->ub - c->lb, at = 0, hdisp[64];
    const char *names[] = { "indexed", "hindexed", "indexed_block", "hindexed_block" };

    if (kind >= 2) {
        fixed = dtg_factor(r, (size_t)copies);
        if (copies / fixed > 64)
            fixed = copies;
    }
    while (left > 0) {
        len[blocks] = kind >= 2      ? fixed
                      : blocks == 63 ? left
                                     : 1 + rng_below(r, left < 8 ? left : 8);
        disp[blocks] = (int)(at / (ext ? ext : 1));
        hdisp[blocks] = at;
        at += len[blocks] * ext;
        if (kind % 2)
            at += dtg_gap(r, how);
        else
            at += rng_below(r, 4) * ext;
        left -= len[blocks++];
    }
    if (rng_below(r, 2))                     /* another order */
        for (i = blocks - 1; i > 0; i--) {
            int j = rng_below(r, i + 1), t = disp[i], l = len[i];
            MPI_Aint h = hdisp[i];

            disp[i] = disp[j], disp[j] = t;
            hdisp[i] = hdisp[j], hdisp[j] = h;
            len[i] = len[j], len[j] = l;
        }
    for (i = 0; i < blocks; i++)
        for (k = 0; k < len[i]; k++)
            dtg_place(d, c, (kind % 2 ? hdisp[i] : disp[i] * ext) + k * ext);
    switch (kind) {
    case 0: MPI_Type_indexed(blocks, len, disp, c->type, &d->type); break;
    case 1: MPI_Type_create_hindexed(blocks, len, hdisp, c->type, &d->type); break;
    case 2: MPI_Type_create_indexed_block(blocks, fixed, disp, c->type, &d->type); break;
    default: MPI_Type_create_hindexed_block(blocks, fixed, hdisp, c->type, &d->type); break;
    }
    snprintf(d->text, sizeof d->text, "%s(%d blocks,%.200s)", names[kind], blocks, c->text);
}

static DTG_UNUSED void dtg_vector(struct dtg_rng *r, const struct dtg_how *how, int copies,
                                  const struct dtg *c, struct dtg *d)
{
    int block = rng_below(r, 2) ? 1 : dtg_factor(r, (size_t)copies), count, i, k, stride, back;
    MPI_Aint ext = c->ub - c->lb, bytes;

    count = copies / block;
    back = how->negative && rng_below(r, 4) == 0 ? -1 : 1;
    if (rng_below(r, 2)) {
        stride = back * (block + rng_below(r, 5));
        MPI_Type_vector(count, block, stride, c->type, &d->type);
        for (i = 0; i < count; i++)
            for (k = 0; k < block; k++)
                dtg_place(d, c, ((MPI_Aint)i * stride + k) * ext);
        snprintf(d->text, sizeof d->text, "vector(%d,%d,%d,%.200s)", count, block, stride, c->text);
    } else {
        bytes = back * (block * ext + dtg_gap(r, how));
        MPI_Type_create_hvector(count, block, bytes, c->type, &d->type);
        for (i = 0; i < count; i++)
            for (k = 0; k < block; k++)
                dtg_place(d, c, i * bytes + k * ext);
        snprintf(d->text, sizeof d->text, "hvector(%d,%d,%ld,%.200s)", count, block, (long)bytes,
                 c->text);
    }
}

static DTG_UNUSED void dtg_subarray(struct dtg_rng *r, int copies, const struct dtg *c,
                                    struct dtg *d)
{
    int sub[3], full[3], start[3], i, x[3], order = rng_below(r, 2), n = copies;
    MPI_Aint ext = c->ub - c->lb, lb = 0, pos;

    for (i = 0; i < 3; i++) {
        sub[i] = i == 2 ? n : dtg_factor(r, (size_t)n);
        n /= sub[i];
        full[i] = sub[i] + rng_below(r, 3);
        start[i] = rng_below(r, full[i] - sub[i] + 1);
    }
    MPI_Type_create_subarray(3, full, sub, start, order ? MPI_ORDER_FORTRAN : MPI_ORDER_C, c->type,
                             &d->type);
    /* type map: the last index varies fastest in C order, the first in Fortran order */
    for (i = 0; i < copies; i++) {
        if (order) {
            x[0] = i % sub[0], x[1] = i / sub[0] % sub[1], x[2] = i / sub[0] / sub[1];
            pos = (x[0] + start[0]) +
                  (MPI_Aint)full[0] * ((x[1] + start[1]) + (MPI_Aint)full[1] * (x[2] + start[2]));
        } else {
            x[2] = i % sub[2], x[1] = i / sub[2] % sub[1], x[0] = i / sub[2] / sub[1];
            pos = (x[2] + start[2]) +
                  (MPI_Aint)full[2] * ((x[1] + start[1]) + (MPI_Aint)full[1] * (x[0] + start[0]));
        }
        dtg_place(d, c, pos * ext);
    }
    d->lb = lb;
    d->ub = (MPI_Aint)full[0] * full[1] * full[2] * ext;
    snprintf(d->text, sizeof d->text, "subarray(%d/%d,%d/%d,%d/%d,%s,%.160s)", sub[0], full[0],
             sub[1], full[1], sub[2], full[2], order ? "F" : "C", c->text);
}

/* Two or three different types side by side; always resized. */
static DTG_UNUSED void dtg_struct(struct dtg_rng *r, const struct dtg_how *how, size_t n,
                                  struct dtg *d)
{
    struct dtg c[3];
    struct dtg_how inner = *how;
    int k, parts = n >= 3 ? 2 + rng_below(r, 2) : 2, len[3] = { 0, 0, 0 };
    size_t share, left = n;
    MPI_Aint disp[3] = { 0, 0, 0 }, at = 0, low, high, align = how->misaligned ? 1 : 16;
    MPI_Datatype types[3] = { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL };

    inner.depth--;
    for (k = 0; k < parts; k++) {
        share = k == parts - 1 ? left
                               : 1 + (size_t)rng_below(r, (int)(left - (size_t)(parts - 1 - k)));
        left -= share;
        len[k] = 1;
        if (share > 1 && rng_below(r, 3) == 0) {
            len[k] = dtg_factor(r, share);
            share /= (size_t)len[k];
        }
        dtg_random(r, &inner, share, &c[k]);
        at = (at + align - 1) / align * align;
        dtg_span(&c[k], &low, &high);
        if (c[k].lb < low)
            low = c[k].lb;
        disp[k] = at - (low < 0 ? (low - align + 1) / align * align : 0);
        if (high < c[k].ub)
            high = c[k].ub;
        at = disp[k] + (len[k] - 1) * (c[k].ub - c[k].lb) + high + dtg_gap(r, how);
        types[k] = c[k].type;
    }
    MPI_Type_create_struct(parts, len, disp, types, &d->type);
    for (k = 0; k < parts; k++)
        for (share = 0; share < (size_t)len[k]; share++)
            dtg_place(d, &c[k], disp[k] + (MPI_Aint)share * (c[k].ub - c[k].lb));
    snprintf(d->text, sizeof d->text, "struct(%d x %.70s, %d x %.70s%s)", len[0], c[0].text, len[1],
             c[1].text, parts > 2 ? ", ..." : "");
    dtg_span(d, &low, &high);
    if (low > 0)
        low = 0;
    low = low < 0 ? (low - 15) / 16 * 16 : 0;
    dtg_resize(d, low, (high - low + 15) / 16 * 16 + 16 * rng_below(r, 2));
    for (k = 0; k < parts; k++)
        dtg_free(&c[k]);
}

/* Makes *d of n >= 1 elements.  The type is not committed. */
static DTG_UNUSED void dtg_random(struct dtg_rng *r, const struct dtg_how *how, size_t n,
                                  struct dtg *d)
{
    struct dtg c;
    struct dtg_how inner = *how;
    int copies, kind = rng_below(r, 8);
    MPI_Aint low, high, ext;

    inner.depth--;
    if (n == 1 && (how->depth <= 0 || rng_below(r, 3))) {
        dtg_predefined(d, how->base >= 0 ? how->base : rng_below(r, DTG_BASES));
        return;
    }
    if (kind == 0 && how->depth > 0 && n >= 2) {
        dtg_start(d);
        dtg_struct(r, how, n, d);
        return;
    }
    copies = how->depth <= 0 && n <= 1000000 ? (int)n : dtg_factor(r, n);
    if (copies > 4000)
        copies = (int)n;
    if (copies == 1 && n > 1)
        copies = (int)n;
    dtg_random(r, &inner, n / (size_t)copies, &c);
    dtg_start(d);
    ext = c.ub - c.lb;
    if (kind == 1 || kind == 2 || (copies > 1000 && kind > 4)) {
        for (low = 0; low < copies; low++)
            dtg_place(d, &c, low * ext);
        MPI_Type_contiguous(copies, c.type, &d->type);
        snprintf(d->text, sizeof d->text, "contiguous(%d,%.200s)", copies, c.text);
    } else if (kind <= 4) {
        dtg_vector(r, how, copies, &c, d);
    } else if (kind <= 6 || (kind == 7 && c.lb != 0)) {
        dtg_indexed(r, how, copies, &c, d);
    } else {
        dtg_subarray(r, copies, &c, d);
    }
    dtg_free(&c);
    dtg_span(d, &low, &high);
    if (d->lb < low)
        low = d->lb;
    if (d->ub > high)
        high = d->ub;
    if (!d->aligned || rng_below(r, 6) == 0)
        dtg_resize(d, (low < 0 ? (low - 15) / 16 * 16 : low / 16 * 16),
                   (high - low + 15) / 16 * 16 + 16 * rng_below(r, 2) + 16);
    /* now and then a duplicate */
    if (rng_below(r, 12) == 0) {
        MPI_Datatype t = d->type;

        MPI_Type_dup(t, &d->type);
        MPI_Type_free(&t);
    }
}

/* Bytes of data in `count` copies. */
static DTG_UNUSED size_t dtg_bytes(const struct dtg *d, size_t count)
{
    size_t i, s = 0;

    for (i = 0; i < d->n; i++)
        s += (size_t)dtg_base_size(d->base[i]);
    return s * count;
}

/* Offset of element i (of all copies), and its base. */
static DTG_UNUSED MPI_Aint dtg_where(const struct dtg *d, size_t i, int *base)
{
    *base = d->base[i % d->n];
    return (MPI_Aint)(i / d->n) * (d->ub - d->lb) + d->off[i % d->n];
}

/* Lowest and highest byte touched by count copies. */
static DTG_UNUSED void dtg_reach(const struct dtg *d, size_t count, MPI_Aint *low, MPI_Aint *high)
{
    MPI_Aint last = count ? (MPI_Aint)(count - 1) * (d->ub - d->lb) : 0;

    dtg_span(d, low, high);
    if (last > 0)
        *high += last;
    else
        *low += last;
}

static DTG_UNUSED void dtg_pack(const struct dtg *d, size_t count, const char *buf, char *out)
{
    size_t i, k;

    for (k = 0; k < count; k++)
        for (i = 0; i < d->n; i++) {
            memcpy(out, buf + (MPI_Aint)k * (d->ub - d->lb) + d->off[i],
                   (size_t)dtg_base_size(d->base[i]));
            out += dtg_base_size(d->base[i]);
        }
}

static DTG_UNUSED void dtg_unpack(const struct dtg *d, size_t count, char *buf, const char *in)
{
    size_t i, k;

    for (k = 0; k < count; k++)
        for (i = 0; i < d->n; i++) {
            memcpy(buf + (MPI_Aint)k * (d->ub - d->lb) + d->off[i], in,
                   (size_t)dtg_base_size(d->base[i]));
            in += dtg_base_size(d->base[i]);
        }
}

#endif
