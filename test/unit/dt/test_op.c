/* test_op.c - reduction operations: every operation on every predefined type against plain C; which
 * pairs are legal; the same from packed bytes onto layouts; user operations. */
#include "model.h"

#include <complex.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "obj/err.h"

Suite *suite_op(void);

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad;
#endif

enum { N = 37 }; /* not a multiple of any vector length */

/* y = x op y for one element of type T; 0: not defined. */
#define REFERENCE_ORDERED(T)                                            \
    case DT_MAX: *y = *x > *y ? *x : *y; return 1;                      \
    case DT_MIN: *y = *x < *y ? *x : *y; return 1;
#define REFERENCE_TRUTH                                                 \
    case DT_LAND: *y = *x && *y; return 1;                              \
    case DT_LOR: *y = *x || *y; return 1;                               \
    case DT_LXOR: *y = !*x != !*y; return 1;
#define REFERENCE_BITS                                                  \
    case DT_BAND: *y = *x & *y; return 1;                               \
    case DT_BOR: *y = *x | *y; return 1;                                \
    case DT_BXOR: *y = *x ^ *y; return 1;
#define REFERENCE_SUM                                                   \
    case DT_SUM: *y = *x + *y; return 1;                                \
    case DT_PROD: *y = *x * *y; return 1;
#define REFERENCE_WRAP(T)                                               \
    case DT_SUM: *y = (T)((uint64_t)*x + (uint64_t)*y); return 1;       \
    case DT_PROD: *y = (T)((uint64_t)*x * (uint64_t)*y); return 1;
#define REFERENCE(NAME, T, CASES)                                       \
    static int ref_##NAME(int op, const void *in, void *io)             \
    {                                                                   \
        const T *x = in;                                                \
        T *y = io;                                                      \
        switch (op) {                                                   \
            CASES                                                       \
        default: return 0;                                              \
        }                                                               \
    }
#define REF_INT(NAME, T)                                                                           \
    REFERENCE(NAME, T, REFERENCE_ORDERED(T) REFERENCE_TRUTH REFERENCE_BITS REFERENCE_WRAP(T))
#define REF_REAL(NAME, T) REFERENCE(NAME, T, REFERENCE_ORDERED(T) REFERENCE_TRUTH REFERENCE_SUM)
#define REF_COMPLEX(NAME, T) REFERENCE(NAME, T, REFERENCE_SUM)
#define REF_PAIR(NAME, V, I)                                                                       \
    struct pair_##NAME {                                                                           \
        V v;                                                                                       \
        I i;                                                                                       \
    };                                                                                             \
    static int ref_##NAME(int op, const void *in, void *io)                                        \
    {                                                                                              \
        const struct pair_##NAME *x = in;                                                          \
        struct pair_##NAME *y = io;                                                                \
        if (op != DT_MINLOC && op != DT_MAXLOC)                                                    \
            return 0;                                                                              \
        if (x->v == y->v)                                                                          \
            y->i = x->i < y->i ? x->i : y->i;                                                      \
        else if (op == DT_MINLOC ? x->v < y->v : x->v > y->v)                                      \
            y->v = x->v, y->i = x->i;                                                              \
        return 1;                                                                                  \
    }
#define FILL(NAME, T, EXPR)                            \
    static void fill_##NAME(void *p, struct rng *r)    \
    {                                                  \
        T v = (T)(EXPR);                               \
        memcpy(p, &v, sizeof v);                       \
    }
#define FILL_PAIR(NAME, V, I)                                                             \
    static void fill_##NAME(void *p, struct rng *r)                                       \
    {                                                                                     \
        struct pair_##NAME *q = p;                                                        \
        memset(q, 0, sizeof *q);                                                          \
        q->v = (V)rng_range(r, -3, 3);                                                    \
        q->i = (I)rng_range(r, 0, 9);                                                     \
    }

REF_INT(i8, int8_t)
REF_INT(i16, int16_t) REF_INT(i32, int32_t) REF_INT(i64, int64_t) REF_INT(u8, uint8_t)
    REF_INT(u16, uint16_t) REF_INT(u32, uint32_t) REF_INT(u64, uint64_t) REF_REAL(f32, float)
        REF_REAL(f64, double) REF_REAL(ld, long double) REF_REAL(f128, quad)
            REF_COMPLEX(c32, float _Complex) REF_COMPLEX(c64, double _Complex)
                REF_COMPLEX(cld, long double _Complex) REFERENCE(b8, uint8_t, REFERENCE_TRUTH)
                    REFERENCE(b32, int32_t, REFERENCE_TRUTH)
                        REFERENCE(byte, uint8_t, REFERENCE_BITS) static int ref_none(int op,
                                                                                     const void *in,
                                                                                     void *io)
{
    return 0;
}
REF_PAIR(pfi, float, int)
REF_PAIR(pdi, double, int) REF_PAIR(pli, long, int) REF_PAIR(psi, short, int)
    REF_PAIR(p2i, int, int) REF_PAIR(pldi, long double, int) REF_PAIR(p2f, float, float)
        REF_PAIR(p2d, double, double)

            struct quads {
    quad re, im;
};
static int ref_c128(int op, const void *in, void *io)
{
    const struct quads *x = in, y = *(struct quads *)io;
    struct quads *z = io;
    if (op == DT_SUM)
        *z = (struct quads){x->re + y.re, x->im + y.im};
    else if (op == DT_PROD)
        *z = (struct quads){x->re * y.re - x->im * y.im, x->re * y.im + x->im * y.re};
    return op == DT_SUM || op == DT_PROD;
}

static const struct { uint16_t bits; float value;
} halves[] = {{0x0000, 0},    {0x3c00, 1},        {0xc000, -2},    {0x4200, 3},
              {0x3800, 0.5f}, {0x0001, 0x1p-24f}, {0x7bff, 65504}, {0xb400, -0.25f}};
/* Sums and products of the values above whose results are among the halves or simple. */
static int ref_f16(int op, const void *in, void *io)
{
    uint16_t a, b;
    float x = 0, y = 0, z;
    memcpy(&a, in, 2);
    memcpy(&b, io, 2);
    for (size_t i = 0; i < 8; i++) {
        x = halves[i].bits == a ? halves[i].value : x;
        y = halves[i].bits == b ? halves[i].value : y;
    }
    switch (op) {
    case DT_MAX: z = x > y ? x : y; break;
    case DT_MIN: z = x < y ? x : y; break;
    case DT_SUM: z = x + y; break;
    case DT_PROD: z = x * y; break;
    default: return 0;
    }
    int exp; /* to half by definition: 11 significant bits, ties to even */
    float m = frexpf(fabsf(z), &exp);
    int shift = exp > -13 ? 11 - exp : 24;
    float scaled = nearbyintf(ldexpf(fabsf(z), shift));
    uint16_t bits;
    (void)m;
    if (ldexpf(scaled, -shift) > 65504)
        bits = 0x7c00;
    else if (z == 0)
        bits = 0;
    else if (scaled < 1024)
        bits = (uint16_t)scaled;
    else if (scaled == 2048)
        bits = (uint16_t)((exp + 1 + 14) << 10);
    else
        bits = (uint16_t)((exp + 14) << 10 | ((int)scaled & 1023));
    if (signbit(z))
        bits |= 0x8000;
    memcpy(io, &bits, 2);
    return 1;
}
static void fill_f16(void *p, struct rng *r)
{
    memcpy(p, &halves[rng_next(r) % 8].bits, 2);
}

FILL(i8, int8_t, rng_next(r))
FILL(i16, int16_t, rng_next(r)) FILL(i32, int32_t, rng_next(r)) FILL(i64, int64_t, rng_next(r))
    FILL(small, uint8_t, rng_range(r, 0, 3)) FILL(b32, int32_t, rng_range(r, -1, 2))
        FILL(f32, float, rng_range(r, -99, 99) / 4.0) FILL(f64, double,
                                                           rng_range(r, -9999, 9999) / 8.0)
            FILL(ld, long double, rng_range(r, -9999, 9999) / 8.0L)
                FILL(f128, quad, (quad)rng_range(r, -9999, 9999) / 8)
                    FILL(c32, float _Complex, rng_range(r, -9, 9) + rng_range(r, -9, 9) * I)
                        FILL(c64, double _Complex, rng_range(r, -9, 9) + rng_range(r, -9, 9) * I)
                            FILL(cld, long double _Complex,
                                 rng_range(r, -9, 9) +
                                     rng_range(r, -9, 9) * I) static void fill_c128(void *p,
                                                                                    struct rng *r)
{
    fill_f128(p, r);
    fill_f128((char *)p + 16, r);
}
FILL_PAIR(pfi, float, int)
FILL_PAIR(pdi, double, int) FILL_PAIR(pli, long, int) FILL_PAIR(psi, short, int)
    FILL_PAIR(p2i, int, int) FILL_PAIR(pldi, long double, int) FILL_PAIR(p2f, float, float)
        FILL_PAIR(p2d, double, double)

            static const struct {
    MPI_Datatype type;
    int (*ref)(int op, const void *in, void *io);
    void (*fill)(void *p, struct rng *r);
} table[] = {
    {MPI_CHAR, ref_i8, fill_i8},
    {MPI_SIGNED_CHAR, ref_i8, fill_i8},
    {MPI_UNSIGNED_CHAR, ref_u8, fill_i8},
    {MPI_BYTE, ref_byte, fill_i8},
    {MPI_WCHAR, ref_none, fill_i32},
    {MPI_SHORT, ref_i16, fill_i16},
    {MPI_UNSIGNED_SHORT, ref_u16, fill_i16},
    {MPI_INT, ref_i32, fill_i32},
    {MPI_UNSIGNED, ref_u32, fill_i32},
    {MPI_LONG, ref_i64, fill_i64},
    {MPI_UNSIGNED_LONG, ref_u64, fill_i64},
    {MPI_FLOAT, ref_f32, fill_f32},
    {MPI_DOUBLE, ref_f64, fill_f64},
    {MPI_LONG_DOUBLE, ref_ld, fill_ld},
    {MPI_LONG_LONG_INT, ref_i64, fill_i64},
    {MPI_UNSIGNED_LONG_LONG, ref_u64, fill_i64},
    {MPI_PACKED, ref_none, fill_i8},
    {MPI_COMPLEX, ref_c32, fill_c32},
    {MPI_DOUBLE_COMPLEX, ref_c64, fill_c64},
    {MPI_LOGICAL, ref_b32, fill_b32},
    {MPI_REAL, ref_f32, fill_f32},
    {MPI_DOUBLE_PRECISION, ref_f64, fill_f64},
    {MPI_INTEGER, ref_i32, fill_i32},
    {MPI_CHARACTER, ref_none, fill_i8},
    {MPI_REAL4, ref_f32, fill_f32},
    {MPI_REAL8, ref_f64, fill_f64},
    {MPI_REAL16, ref_f128, fill_f128},
    {MPI_COMPLEX8, ref_c32, fill_c32},
    {MPI_COMPLEX16, ref_c64, fill_c64},
    {MPI_COMPLEX32, ref_c128, fill_c128},
    {MPI_INTEGER1, ref_i8, fill_i8},
    {MPI_INTEGER2, ref_i16, fill_i16},
    {MPI_INTEGER4, ref_i32, fill_i32},
    {MPI_INTEGER8, ref_i64, fill_i64},
    {MPI_INT8_T, ref_i8, fill_i8},
    {MPI_INT16_T, ref_i16, fill_i16},
    {MPI_INT32_T, ref_i32, fill_i32},
    {MPI_INT64_T, ref_i64, fill_i64},
    {MPI_UINT8_T, ref_u8, fill_i8},
    {MPI_UINT16_T, ref_u16, fill_i16},
    {MPI_UINT32_T, ref_u32, fill_i32},
    {MPI_UINT64_T, ref_u64, fill_i64},
    {MPI_C_BOOL, ref_b8, fill_small},
    {MPI_C_FLOAT_COMPLEX, ref_c32, fill_c32},
    {MPI_C_DOUBLE_COMPLEX, ref_c64, fill_c64},
    {MPI_C_LONG_DOUBLE_COMPLEX, ref_cld, fill_cld},
    {MPIX_C_FLOAT16, ref_f16, fill_f16},
    {MPI_AINT, ref_i64, fill_i64},
    {MPI_OFFSET, ref_i64, fill_i64},
    {MPI_COUNT, ref_i64, fill_i64},
    {MPI_CXX_BOOL, ref_b8, fill_small},
    {MPI_CXX_FLOAT_COMPLEX, ref_c32, fill_c32},
    {MPI_CXX_DOUBLE_COMPLEX, ref_c64, fill_c64},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, ref_cld, fill_cld},
    {MPI_2INT, ref_p2i, fill_p2i},
    {MPI_2INTEGER, ref_p2i, fill_p2i},
    {MPI_2REAL, ref_p2f, fill_p2f},
    {MPI_2DOUBLE_PRECISION, ref_p2d, fill_p2d},
    {MPI_FLOAT_INT, ref_pfi, fill_pfi},
    {MPI_DOUBLE_INT, ref_pdi, fill_pdi},
    {MPI_LONG_INT, ref_pli, fill_pli},
    {MPI_SHORT_INT, ref_psi, fill_psi},
    {MPI_LONG_DOUBLE_INT, ref_pldi, fill_pldi},
};
enum { TYPES = sizeof table / sizeof *table };

/* Equal as packed data (padding does not count; the padding inside a long double neither). */
static void same_data(const struct dt_type *t, size_t n, const void *a, const void *b)
{
    char x[64], y[64];
    size_t size = (size_t)t->size;
    for (size_t i = 0; i < n; i++) {
        dt_pack(t, n, a, i * size, x, size);
        dt_pack(t, n, b, i * size, y, size);
        if (__LDBL_MANT_DIG__ == 64 &&
            (t->elem.num == NUM_LD || t->elem.num == NUM_CLD || t->elem.num == NUM_PLDI)) {
            memset(x + 10, 0, 6);
            memset(y + 10, 0, 6);
            if (t->elem.num == NUM_CLD) {
                memset(x + 26, 0, 6);
                memset(y + 26, 0, 6);
            }
        }
        ck_assert_mem_eq(x, y, size);
    }
}

static void fill_array(int row, const struct dt_type *t, char *p, struct rng *r)
{
    for (int i = 0; i < N; i++)
        table[row].fill(p + i * t->extent, r);
}

static void check_pair(int row, int index)
{
    struct rng r = {(uint64_t)row * 100 + (uint64_t)index};
    const struct dt_type *t = dt_find(table[row].type);
    const struct dt_op *op = dt_op_find(MPI_MAX - 1 + index);
    _Alignas(32) char in[N * 32], io[N * 32], want[N * 32], off[N * 32 + 1];
    char *packed = malloc(N * 32);
    fill_array(row, t, in, &r);
    fill_array(row, t, io, &r);
    memcpy(want, io, sizeof want);
    int legal = 1;
    if (index == DT_REPLACE)
        memcpy(want, in, sizeof want);
    else if (index != DT_NO_OP)
        for (int i = 0; i < N; i++)
            legal &= table[row].ref(index, in + i * t->extent, want + i * t->extent);
    int err = dt_op_check(op, t, DT_FOR_ACC);
    if (!legal) {
        ck_assert_int_eq(err_class(err), MPI_ERR_OP);
        ck_assert_int_eq(err_class(dt_op_check(op, t, DT_FOR_REDUCE)), MPI_ERR_OP);
        free(packed);
        return;
    }
    ck_assert_int_eq(err, MPI_SUCCESS);
    if (index < DT_REPLACE)
        ck_assert_int_eq(dt_op_check(op, t, DT_FOR_REDUCE), MPI_SUCCESS);
    else
        ck_assert_int_eq(err_class(dt_op_check(op, t, DT_FOR_REDUCE)), MPI_ERR_OP);
    char save[N * 32];
    memcpy(save, io, sizeof save);
    dt_op_apply(op, in, io, N, t);
    same_data(t, N, io, want);
    /* from packed bytes, in two parts */
    size_t total = dt_pack(t, N, in, 0, packed, N * 32), cut = 5 * t->elem.bytes;
    memcpy(io, save, sizeof io);
    dt_op_unpack(op, t, N, io, 0, packed, cut);
    dt_op_unpack(op, t, N, io, cut, packed + cut, total - cut);
    same_data(t, N, io, want);
    /* packed on packed, misaligned; and with the loops for any processor */
    for (int base = 0; base < 2; base++) {
        if (base)
            proc->dt->kernels = &kernel_table_base;
        dt_pack(t, N, save, 0, off + 1, total);
        dt_op_elems(op, t, packed, off + 1, N);
        memcpy(io, save, sizeof io);
        dt_unpack(t, N, io, 0, off + 1, total);
        same_data(t, N, io, want);
        const struct iovec piece[2] = {{NULL, cut}, {(void *)cut, total - cut}};
        dt_pack(t, N, save, 0, off + 1, total);
        dt_op_pieces(op, t, packed, (uintptr_t)(off + 1), piece, 2);
        memcpy(io, save, sizeof io);
        dt_unpack(t, N, io, 0, off + 1, total);
        same_data(t, N, io, want);
    }
    proc->dt->kernels = kernel_table_pick();
    free(packed);
}

START_TEST(every_op_on_every_type)
{
    int covered = 0;
    for (int row = 0; row < TYPES; row++) {
        for (int index = DT_MAX; index < DT_OPS; index++)
            check_pair(row, index);
        covered += dt_find(table[row].type) != NULL;
    }
    ck_assert_int_eq(covered, 65 - 2); /* all but MPI_LB and MPI_UB */
}
END_TEST

/* Long loops begin at a vector of `io`, wherever both sides lie. */
START_TEST(long_ones_at_any_address)
{
    enum { LONG = 600, OFF = 40, BYTES = 2 * OFF + LONG * 16 };
    static char in[BYTES], io[BYTES], want[BYTES];
    const MPI_Datatype types[] = {MPI_INT8_T, MPI_INT32_T, MPI_INT64_T, MPI_DOUBLE_INT};
    const struct dt_op *sum = dt_op_find(MPI_SUM), *most = dt_op_find(MPI_MAXLOC);
    for (int k = 0; k < 4; k++) {
        const struct dt_type *t = dt_find(types[k]);
        const struct dt_op *op = types[k] == MPI_DOUBLE_INT ? most : sum;
        size_t n = k ? LONG : 5 * LONG, step = (size_t)t->extent;
        for (size_t off = 0; off < OFF; off++)
            for (size_t shift = 0; shift < 2; shift++) {
                char *x = in + (off * (shift ? 3 : 1)) % OFF, *y = io + off;
                for (size_t i = 0; i < BYTES; i++) {
                    in[i] = (char)(i * 7 % 64);
                    io[i] = want[i] = (char)(i * 5 % 64);
                }
                for (size_t i = 0; i < n; i++)
                    dt_op_apply(op, x + i * step, want + off + i * step, 1, t);
                dt_op_apply(op, x, y, n, t);
                ck_assert_mem_eq(io, want, BYTES);
                memset(io + off, 0, n * step);
                memset(want + off, 0, n * step);
                if (k == 3) /* with gaps */
                    continue;
                struct iovec piece = {(void *)OFF, n * step - OFF};
                for (size_t i = 0; i < n - OFF / step; i++)
                    dt_op_apply(op, x + i * step, want + off + OFF + i * step, 1, t);
                dt_op_pieces(op, t, x, (uintptr_t)y, &piece, 1);
                ck_assert_mem_eq(io, want, BYTES);
            }
    }
}
END_TEST

START_TEST(onto_layouts)
{
    static const MPI_Datatype some[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT_INT, MPI_DOUBLE_INT,
                                        MPI_UNSIGNED_CHAR};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct rng r = {seed * 23 + 13};
        struct dt_type *b = dt_find(some[seed % 5]);
        int pair = b->elem.kind == DT_PAIR;
        const struct dt_op *op = dt_op_find(pair ? MPI_MINLOC : MPI_MAX);
        struct model m = model_random(&r, 1 + (int)(seed / 5 % 4), 200, b);
        size_t count = (size_t)rng_range(&r, 1, 3), step = b->elem.bytes,
               total = (size_t)model_size(&m) * count;
        struct image a = image_make(&m, count, &r);
        memset(a.memory, 0, a.len); /* doubles of random bytes compare unequal to themselves */
        char *packed = malloc(total + 1), *want, *got;
        for (size_t i = 0; i + step <= total; i += step)
            for (size_t k = 0; k < step; k++)
                packed[i + k] = (char)(b->elem.kind == DT_FLOAT && k >= 6 ? 0x40
                                                                          : rng_range(&r, 0, 63));
        ck_assert_int_eq(dt_op_check(op, m.type, DT_FOR_ACC), MPI_SUCCESS);
        /* overlapping elements see each other's results: apply one by one on the model */
        struct image c = image_make(&m, count, &r);
        memset(c.memory, 0, c.len);
        for (size_t i = 0; i < total; i += step) {
            char one[64];
            dt_pack(m.type, count, c.base, i, one, step);
            dt_op_elems(op, b, packed + i, one, 1);
            dt_unpack(m.type, count, c.base, i, one, step);
        }
        for (size_t at = 0; at < total;) {
            size_t n = (size_t)rng_range(&r, 1, (int64_t)(total / step)) * step;
            at += dt_op_unpack(op, m.type, count, a.base, at, packed + at,
                               n < total - at ? n : total - at);
        }
        want = model_pack(&m, count, c.base);
        got = model_pack(&m, count, a.base);
        ck_assert_mem_eq(want, got, total);
        free(want);
        free(got);
        free(packed);
        image_free(&a);
        image_free(&c);
        model_free(&m);
    }
}
END_TEST

static int calls;
static void concat(void *in, void *inout, int *len, MPI_Datatype *type)
{
    ck_assert_int_eq(*type, MPI_INT);
    calls++;
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] = ((int *)in)[i] * 10 + ((int *)inout)[i];
}

START_TEST(user_ops)
{
    struct dt_op *op;
    int in[3] = {1, 2, 3}, io[3] = {4, 5, 6};
    ck_assert_int_eq(dt_op_make(concat, 0, &op), MPI_SUCCESS);
    ck_assert_ptr_eq(dt_op_find(op->obj.handle), op);
    ck_assert_int_eq(op->commute, 0);
    ck_assert_int_eq(dt_op_check(op, dt_find(MPI_INT), DT_FOR_REDUCE), MPI_SUCCESS);
    ck_assert_int_eq(err_class(dt_op_check(op, dt_find(MPI_INT), DT_FOR_ACC)), MPI_ERR_OP);
    dt_op_apply(op, in, io, 3, dt_find(MPI_INT));
    ck_assert_int_eq(calls, 1);
    ck_assert(io[0] == 14 && io[1] == 25 && io[2] == 36);
    dt_op_drop(op);
    ck_assert_ptr_null(dt_op_find(MPI_OP_NULL));
}
END_TEST

START_TEST(mixed_types_are_refused)
{
    struct dt_type *t;
    const int64_t lens[2] = {1, 1}, off[2] = {0, 8};
    struct dt_type *types[2] = {dt_find(MPI_INT), dt_find(MPI_DOUBLE)};
    ck_assert_int_eq(dt_make_struct(2, lens, off, types, &t), MPI_SUCCESS);
    ck_assert_int_eq(err_class(dt_op_check(dt_op_find(MPI_SUM), t, DT_FOR_ACC)), MPI_ERR_TYPE);
    ck_assert_int_eq(err_class(dt_op_check(dt_op_find(MPI_SUM), t, DT_FOR_REDUCE)), MPI_ERR_OP);
    dt_drop(t);
}
END_TEST

Suite *suite_op(void)
{
    Suite *s = suite_create("dt/op");
    TCase *t = room_case("op", 60);
    tcase_add_test(t, every_op_on_every_type);
    tcase_add_test(t, long_ones_at_any_address);
    tcase_add_test(t, onto_layouts);
    tcase_add_test(t, user_ops);
    tcase_add_test(t, mixed_types_are_refused);
    suite_add_tcase(s, t);
    return s;
}
