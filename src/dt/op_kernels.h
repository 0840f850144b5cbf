/* op_kernels.h - the element loops of the reduction operations; a template, included once per
 * instruction set.
 *
 * The including file defines KERNEL_TARGET (function attribute) and KERNEL_TABLE (name of the
 * table). Elements may be misaligned (packed structs, packets): they are read through types of
 * alignment 1, which cost nothing on x86-64 and aarch64 and vectorize. Signed sums and products are
 * computed unsigned: overflow wraps. */
#include "dt/dt_types.h"

#include <complex.h>
#include <stdbool.h>
#include <string.h>

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad;
#endif
typedef float _Complex cfloat;
typedef double _Complex cdouble;
typedef long double _Complex clongdouble;
struct cquad { /* of alignment 1, as all types in memory here */
    quad __attribute__((aligned(1))) re, im;
} __attribute__((packed, may_alias));

/* The address after the last element may not be a valid C pointer (kernel.c). */
#define STEPPED(p, step) ((void *)((uintptr_t)(p) + (uintptr_t)(step)))

/* x: from `in`, y: from `io`; EXPR is the new y. */
#define KERNEL_AS(NAME, T, MEMORY, EXPR)                                                       \
    KERNEL_TARGET static void NAME(const char *in, int64_t is, char *io, int64_t ios, size_t n) \
    {                                                                                          \
        typedef MEMORY any;                                                                    \
        if (is == sizeof(T) && ios == sizeof(T)) {                                             \
            const any *restrict a = (const any *)in;                                           \
            any *restrict b = (any *)io;                                                       \
            _Pragma("GCC unroll 4")                                                            \
            for (size_t i = 0; i < n; i++) {                                                   \
                const T x = a[i], y = b[i];                                                    \
                b[i] = EXPR;                                                                 \
            }                                                                                  \
        } else {                                                                               \
            for (; n; n--, in = STEPPED(in, is), io = STEPPED(io, ios)) {                      \
                const T x = *(const any *)in, y = *(any *)io;                                  \
                *(any *)io = EXPR;                                                            \
            }                                                                                  \
        }                                                                                      \
    }

#define KERNEL(NAME, T, EXPR) KERNEL_AS(NAME, T, T __attribute__((aligned(1), may_alias)), EXPR)

/* U: an unsigned type at least as wide as T and as unsigned int, so that nothing is promoted to
 * signed. */
#define INTEGER(S, T, U)                             \
    KERNEL(max_##S, T, x > y ? x : y)                \
    KERNEL(min_##S, T, x < y ? x : y)                \
    KERNEL(sum_##S, T, (U)x + (U)y)                  \
    KERNEL(prod_##S, T, (U)x *(U)y)                  \
    KERNEL(land_##S, T, (x != 0) & (y != 0))         \
    KERNEL(lor_##S, T, (x != 0) | (y != 0))          \
    KERNEL(lxor_##S, T, (x != 0) ^ (y != 0))         \
    KERNEL(band_##S, T, x &y)                        \
    KERNEL(bor_##S, T, x | y)                        \
    KERNEL(bxor_##S, T, x ^ y)

#define REAL(S, T)                           \
    KERNEL(max_##S, T, x > y ? x : y)        \
    KERNEL(min_##S, T, x < y ? x : y)        \
    KERNEL(sum_##S, T, x + y)                \
    KERNEL(prod_##S, T, x *y)                \
    KERNEL(land_##S, T, (x != 0) & (y != 0)) \
    KERNEL(lor_##S, T, (x != 0) | (y != 0))  \
    KERNEL(lxor_##S, T, (x != 0) ^ (y != 0))

#define COMPLEX(S, T)         \
    KERNEL(sum_##S, T, x + y) \
    KERNEL(prod_##S, T, x *y)

/* Truth values: any nonzero bit is true (a bool read from memory must not be trusted to be 0 or
 * 1). */
#define LOGICAL(S, T)                        \
    KERNEL(land_##S, T, (x != 0) & (y != 0)) \
    KERNEL(lor_##S, T, (x != 0) | (y != 0))  \
    KERNEL(lxor_##S, T, (x != 0) ^ (y != 0))

/* Value V, then index I: adjacent in a packed element, at the natural place in an array. Equal
 * values keep the smaller index. */
#define PAIR_ONE(NAME, V, I, CMP)                                                               \
    KERNEL_TARGET static void NAME(const char *in, int64_t is, char *io, int64_t ios, size_t n) \
    {                                                                                           \
        struct natural {                                                                        \
            V v;                                                                                \
            I i;                                                                                \
        };                                                                                      \
        enum { PACKED = sizeof(V) + sizeof(I), INDEX = offsetof(struct natural, i) };           \
        const size_t ai = is == PACKED ? sizeof(V) : INDEX;                                     \
        const size_t bi = ios == PACKED ? sizeof(V) : INDEX;                                    \
        for (; n; n--, in = STEPPED(in, is), io = STEPPED(io, ios)) {                           \
            V x, y;                                                                             \
            I xi, yi;                                                                           \
            memcpy(&x, in, sizeof x);                                                           \
            memcpy(&xi, in + ai, sizeof xi);                                                    \
            memcpy(&y, io, sizeof y);                                                           \
            memcpy(&yi, io + bi, sizeof yi);                                                    \
            if (x CMP y || (x == y && xi < yi)) {                                               \
                memcpy(io, &x, sizeof x);                                                       \
                memcpy(io + bi, &xi, sizeof xi);                                                \
            }                                                                                   \
        }                                                                                       \
    }
#define PAIRS(S, V, I)             \
    PAIR_ONE(minloc_##S, V, I, <)  \
    PAIR_ONE(maxloc_##S, V, I, >)

INTEGER(i8, int8_t, unsigned)
INTEGER(i16, int16_t, unsigned)
INTEGER(i32, int32_t, uint32_t)
INTEGER(i64, int64_t, uint64_t)
INTEGER(u8, uint8_t, unsigned)
INTEGER(u16, uint16_t, unsigned)
INTEGER(u32, uint32_t, uint32_t)
INTEGER(u64, uint64_t, uint64_t)
REAL(f32, float)
REAL(f64, double)
REAL(ld, long double)
REAL(f128, quad)
COMPLEX(c32, cfloat)
COMPLEX(c64, cdouble)
COMPLEX(cld, clongdouble)
KERNEL_AS(sum_c128, struct cquad, struct cquad, ((struct cquad){x.re + y.re, x.im + y.im}))
KERNEL_AS(prod_c128, struct cquad, struct cquad,
          ((struct cquad){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}))
LOGICAL(b8, uint8_t)
LOGICAL(b32, uint32_t)
PAIRS(pfi, float, int)
PAIRS(pdi, double, int)
PAIRS(pli, long, int)
PAIRS(psi, short, int)
PAIRS(p2i, int, int)
PAIRS(pldi, long double, int)
PAIRS(p2f, float, float)
PAIRS(p2d, double, double)

/* Half precision is computed in float and rounded once per operation. */
static inline float half_value(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 31, man = h & 0x3ff, bits;
    float f;
    if (exp == 31) {
        bits = sign | 0x7f800000 | man << 13;
    } else if (exp) {
        bits = sign | (exp + 112) << 23 | man << 13;
    } else {
        f = (float)man * 0x1p-24f;
        return sign ? -f : f;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint16_t half_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t mag = bits & 0x7fffffff;
    if (mag > 0x7f800000)
        return sign | 0x7e00; /* not a number */
    if (mag >= 0x477ff000)
        return sign | 0x7c00; /* rounds to infinity */
    if (mag < 0x38800000) {   /* subnormal: adding 0.5 puts the value, rounded, into the low bits */
        float magnitude;
        memcpy(&magnitude, &mag, sizeof magnitude);
        magnitude += 0.5f;
        memcpy(&mag, &magnitude, sizeof mag);
        return (uint16_t)(sign | (mag - 0x3f000000));
    }
    mag += 0xfff + (mag >> 13 & 1); /* to nearest, ties to even */
    return (uint16_t)(sign | (mag - 0x38000000) >> 13);
}
KERNEL(max_f16, uint16_t, half_value(x) > half_value(y) ? x : y)
KERNEL(min_f16, uint16_t, half_value(x) < half_value(y) ? x : y)
KERNEL(sum_f16, uint16_t, half_bits(half_value(x) + half_value(y)))
KERNEL(prod_f16, uint16_t, half_bits(half_value(x) * half_value(y)))

#define ROW_REAL(S)                                                                                \
    {                                                                                              \
        [DT_MAX] = max_##S, [DT_MIN] = min_##S, [DT_SUM] = sum_##S, [DT_PROD] = prod_##S,          \
        [DT_LAND] = land_##S, [DT_LOR] = lor_##S, [DT_LXOR] = lxor_##S                             \
    }
#define ROW_INTEGER(S)                                                                             \
    {                                                                                              \
        [DT_MAX] = max_##S, [DT_MIN] = min_##S, [DT_SUM] = sum_##S, [DT_PROD] = prod_##S,          \
        [DT_LAND] = land_##S, [DT_LOR] = lor_##S, [DT_LXOR] = lxor_##S, [DT_BAND] = band_##S,      \
        [DT_BOR] = bor_##S, [DT_BXOR] = bxor_##S                                                   \
    }
#define ROW_COMPLEX(S) {[DT_SUM] = sum_##S, [DT_PROD] = prod_##S}
#define ROW_LOGICAL(S) {[DT_LAND] = land_##S, [DT_LOR] = lor_##S, [DT_LXOR] = lxor_##S}
#define ROW_PAIR(S) {[DT_MINLOC] = minloc_##S, [DT_MAXLOC] = maxloc_##S}

const struct kernel_table KERNEL_TABLE = {{
    [NUM_I8] = ROW_INTEGER(i8),
    [NUM_I16] = ROW_INTEGER(i16),
    [NUM_I32] = ROW_INTEGER(i32),
    [NUM_I64] = ROW_INTEGER(i64),
    [NUM_U8] = ROW_INTEGER(u8),
    [NUM_U16] = ROW_INTEGER(u16),
    [NUM_U32] = ROW_INTEGER(u32),
    [NUM_U64] = ROW_INTEGER(u64),
    [NUM_F16] = {[DT_MAX] = max_f16, [DT_MIN] = min_f16, [DT_SUM] = sum_f16, [DT_PROD] = prod_f16},
    [NUM_F32] = ROW_REAL(f32),
    [NUM_F64] = ROW_REAL(f64),
    [NUM_LD] = ROW_REAL(ld),
    [NUM_F128] = ROW_REAL(f128),
    [NUM_C32] = ROW_COMPLEX(c32),
    [NUM_C64] = ROW_COMPLEX(c64),
    [NUM_CLD] = ROW_COMPLEX(cld),
    [NUM_C128] = ROW_COMPLEX(c128),
    [NUM_BOOL8] = ROW_LOGICAL(b8),
    [NUM_BOOL32] = ROW_LOGICAL(b32),
    [NUM_PFI] = ROW_PAIR(pfi),
    [NUM_PDI] = ROW_PAIR(pdi),
    [NUM_PLI] = ROW_PAIR(pli),
    [NUM_PSI] = ROW_PAIR(psi),
    [NUM_P2I] = ROW_PAIR(p2i),
    [NUM_PLDI] = ROW_PAIR(pldi),
    [NUM_P2F] = ROW_PAIR(p2f),
    [NUM_P2D] = ROW_PAIR(p2d),
}};
