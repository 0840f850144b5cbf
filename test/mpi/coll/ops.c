/* ops.c - reductions: every predefined operation on the types it is defined for, the pair types,
 * user operations (commutative or not), derived types, and MPI_Reduce_local. MPI-3.1 5.9. */
#include "../mt.h"
#include <complex.h>

enum { N = 37 };

/* The operations on one C type, checked against the plain C expression. */
#define INT_OPS(name, T, MT) \
    static T name##_fold(MPI_Op op, T a, T b) \
    { \
        if (op == MPI_SUM) return (T)(a + b); \
        if (op == MPI_PROD) return (T)(a * b); \
        if (op == MPI_MAX) return a > b ? a : b; \
        if (op == MPI_MIN) return a < b ? a : b; \
        if (op == MPI_LAND) return (T)(a && b); \
        if (op == MPI_LOR) return (T)(a || b); \
        if (op == MPI_LXOR) return (T)(!a != !b); \
        if (op == MPI_BAND) return (T)(a & b); \
        if (op == MPI_BOR) return (T)(a | b); \
        return (T)(a ^ b); \
    } \
    static T name##_val(int r, int i) { return (T)((r * 3 + i * 5 + 1) % 11 - (i % 13 == 0)); } \
    static void name(void) \
    { \
        static const MPI_Op ops[] = { MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, \
                                      MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR }; \
        T in[N], out[N], local[N], want; \
        int k, i, r, bad; \
        for (k = 0; k < 10; k++) { \
            for (i = 0; i < N; i++) { \
                in[i] = name##_val(mt_rank, i); \
                local[i] = name##_val(mt_rank + 1, i); \
            } \
            MPI_Allreduce(in, out, N, MT, ops[k], MPI_COMM_WORLD); \
            MPI_Reduce_local(in, local, N, MT, ops[k]); \
            for (i = bad = 0; i < N; i++) { \
                want = name##_val(0, i); \
                for (r = 1; r < mt_size; r++) \
                    want = name##_fold(ops[k], want, name##_val(r, i)); \
                if (mt_size > 1) /* LAND of one value is that value or 1, as the library likes */ \
                    bad += out[i] != want; \
                want = name##_fold(ops[k], name##_val(mt_rank, i), name##_val(mt_rank + 1, i));  \
                bad += local[i] != want;\
            } \
            MUST(bad == 0, #MT " with operation %d: %d wrong", k, bad); \
        } \
    }

INT_OPS(op_schar, signed char, MPI_SIGNED_CHAR)
INT_OPS(op_uchar, unsigned char, MPI_UNSIGNED_CHAR)
INT_OPS(op_short, short, MPI_SHORT)
INT_OPS(op_ushort, unsigned short, MPI_UNSIGNED_SHORT)
INT_OPS(op_int, int, MPI_INT)
INT_OPS(op_unsigned, unsigned, MPI_UNSIGNED)
INT_OPS(op_long, long, MPI_LONG)
INT_OPS(op_ulong, unsigned long, MPI_UNSIGNED_LONG)
INT_OPS(op_llong, long long, MPI_LONG_LONG)
INT_OPS(op_ullong, unsigned long long, MPI_UNSIGNED_LONG_LONG)
INT_OPS(op_i8, int8_t, MPI_INT8_T)
INT_OPS(op_i16, int16_t, MPI_INT16_T)
INT_OPS(op_i32, int32_t, MPI_INT32_T)
INT_OPS(op_i64, int64_t, MPI_INT64_T)
INT_OPS(op_u8, uint8_t, MPI_UINT8_T)
INT_OPS(op_u16, uint16_t, MPI_UINT16_T)
INT_OPS(op_u32, uint32_t, MPI_UINT32_T)
INT_OPS(op_u64, uint64_t, MPI_UINT64_T)
INT_OPS(op_aint, MPI_Aint, MPI_AINT)
INT_OPS(op_count, MPI_Count, MPI_COUNT)

#define FLOAT_OPS(name, T, MT) \
    static void name(void) \
    { \
        T in[N], out[4][N]; \
        int i, r, bad = 0; \
        for (i = 0; i < N; i++) \
            in[i] = (T)(mt_rank % 5 * 2 - i % 7 + 1); \
        MPI_Allreduce(in, out[0], N, MT, MPI_SUM, MPI_COMM_WORLD); \
        MPI_Allreduce(in, out[1], N, MT, MPI_PROD, MPI_COMM_WORLD); \
        MPI_Allreduce(in, out[2], N, MT, MPI_MAX, MPI_COMM_WORLD); \
        MPI_Allreduce(in, out[3], N, MT, MPI_MIN, MPI_COMM_WORLD); \
        for (i = 0; i < N; i++) { \
            T s = 0, p = 1, hi = -1000, lo = 1000, v; \
            for (r = 0; r < mt_size; r++) { \
                v = (T)(r % 5 * 2 - i % 7 + 1); \
                s += v, p *= v, hi = v > hi ? v : hi, lo = v < lo ? v : lo; \
            } \
            bad += out[0][i] != s || out[1][i] != p || out[2][i] != hi || out[3][i] != lo; \
        } \
        MUST(bad == 0, #MT ": %d wrong", bad); \
    }

FLOAT_OPS(op_float, float, MPI_FLOAT)
FLOAT_OPS(op_double, double, MPI_DOUBLE)
FLOAT_OPS(op_ldouble, long double, MPI_LONG_DOUBLE)

#define COMPLEX_OPS(name, T, MT) \
    static void name(void) \
    { \
        T in[N], s[N], p[N]; \
        int i, r, bad = 0; \
        for (i = 0; i < N; i++) \
            in[i] = (mt_rank % 3 + 1) + (i % 3 - 1) * I; \
        MPI_Allreduce(in, s, N, MT, MPI_SUM, MPI_COMM_WORLD); \
        MPI_Allreduce(in, p, N, MT, MPI_PROD, MPI_COMM_WORLD); \
        for (i = 0; i < N; i++) { \
            T ws = 0, wp = 1; \
            for (r = 0; r < mt_size; r++) \
                ws += (r % 3 + 1) + (i % 3 - 1) * I, wp *= (r % 3 + 1) + (i % 3 - 1) * I; \
            bad += s[i] != ws || p[i] != wp; \
        } \
        MUST(bad == 0, #MT ": %d wrong", bad); \
    }

COMPLEX_OPS(op_cfloat, float complex, MPI_C_FLOAT_COMPLEX)
COMPLEX_OPS(op_cdouble, double complex, MPI_C_DOUBLE_COMPLEX)
COMPLEX_OPS(op_cldouble, long double complex, MPI_C_LONG_DOUBLE_COMPLEX)

/* The pair types; on ties the lower index wins. */
#define PAIRS(name, T, MT) \
    static void name(void) \
    { \
        struct { T v; int i; } in[N], hi[N], lo[N]; \
        int i, r, bad = 0; \
        memset(in, 0, sizeof in); \
        for (i = 0; i < N; i++) { \
            in[i].v = (T)((mt_rank * 2 + i) % 5); \
            in[i].i = mt_rank + 100; \
        } \
        MPI_Allreduce(in, hi, N, MT, MPI_MAXLOC, MPI_COMM_WORLD); \
        MPI_Allreduce(in, lo, N, MT, MPI_MINLOC, MPI_COMM_WORLD); \
        for (i = 0; i < N; i++) { \
            int h = 0, l = 0; \
            for (r = 1; r < mt_size; r++) { \
                if ((r * 2 + i) % 5 > (h * 2 + i) % 5) h = r; \
                if ((r * 2 + i) % 5 < (l * 2 + i) % 5) l = r; \
            } \
            bad += hi[i].i != h + 100 || lo[i].i != l + 100 || hi[i].v != (T)((h * 2 + i) % 5) || \
                   lo[i].v != (T)((l * 2 + i) % 5); \
        } \
        MUST(bad == 0, #MT ": %d wrong", bad); \
    }

PAIRS(op_2int, int, MPI_2INT)
PAIRS(op_floatint, float, MPI_FLOAT_INT)
PAIRS(op_doubleint, double, MPI_DOUBLE_INT)
PAIRS(op_longint, long, MPI_LONG_INT)
PAIRS(op_shortint, short, MPI_SHORT_INT)
PAIRS(op_ldoubleint, long double, MPI_LONG_DOUBLE_INT)

static void bytes_and_bools(void)
{
    unsigned char in[N], out[N], want;
    _Bool b = mt_rank % 2 == 0, o;
    int i, r, bad = 0;

    for (i = 0; i < N; i++)
        in[i] = (unsigned char)(mt_rank * 37 + i);
    MPI_Allreduce(in, out, N, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
    for (i = 0; i < N; i++) {
        for (r = 0, want = 0; r < mt_size; r++)
            want ^= (unsigned char)(r * 37 + i);
        bad += out[i] != want;
    }
    MUST(bad == 0, "MPI_BYTE with MPI_BXOR: %d wrong", bad);
    MPI_Allreduce(&b, &o, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
    CHECK_EQ(o, mt_size == 1);
    MPI_Allreduce(&b, &o, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
    CHECK_EQ(o, 1);
}

/* Affine maps x -> a x + b modulo 2^32, composed in order of rank: associative, not commutative. */
struct affine { unsigned a, b; };
static MPI_Datatype affine_type;
static int calls, wrong_types;

static void compose(void *in, void *inout, int *n, MPI_Datatype *t)
{
    struct affine *f = in, *g = inout, h;
    int i;

    calls++;
    wrong_types += *t != affine_type;
    for (i = 0; i < *n; i++) {                /* first in, then inout */
        h.a = g[i].a * f[i].a;
        h.b = g[i].a * f[i].b + g[i].b;
        g[i] = h;
    }
}

static struct affine step(int r, int i)
{
    struct affine s = { (unsigned)(2 * r + 3 + 2 * i), (unsigned)(r * 5 + i) };

    return s;
}

static struct affine chain(int last, int i)
{
    struct affine h = step(0, i), f;
    int r;

    for (r = 1; r <= last; r++) {
        f = h;
        h = step(r, i);
        h.b = h.a * f.b + h.b;
        h.a = h.a * f.a;
    }
    return h;
}

static int differ(struct affine x, struct affine y) { return x.a != y.a || x.b != y.b; }

static void noncommutative(int n, int nonblocking)
{
    struct affine *in = mt_alloc(sizeof *in * (size_t)n), *out = mt_alloc(sizeof *out * (size_t)n),
                  *blk;
    MPI_Op op;
    MPI_Request req;
    int i, root, bad = 0, commute = 1, all;

    for (i = 0; i < n; i++)
        in[i] = step(mt_rank, i);
    MPI_Op_create(compose, 0, &op);
    MPI_Op_commutative(op, &commute);
    CHECK_EQ(commute, 0);
    for (root = 0; root < mt_size; root++) {
        if (nonblocking) {
            MPI_Ireduce(in, out, n, affine_type, op, root, MPI_COMM_WORLD, &req);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
        } else
            MPI_Reduce(in, out, n, affine_type, op, root, MPI_COMM_WORLD);
        for (i = 0; i < n && mt_rank == root; i++)
            bad += differ(out[i], chain(mt_size - 1, i));
    }
    MUST(bad == 0, "reduce of %d, noncommutative: %d wrong", n, bad);
    MPI_Allreduce(in, out, n, affine_type, op, MPI_COMM_WORLD);
    for (i = bad = 0; i < n; i++)
        bad += differ(out[i], chain(mt_size - 1, i));
    MUST(bad == 0, "allreduce of %d, noncommutative: %d wrong", n, bad);
    if (nonblocking) {
        MPI_Iscan(in, out, n, affine_type, op, MPI_COMM_WORLD, &req);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
    } else
        MPI_Scan(in, out, n, affine_type, op, MPI_COMM_WORLD);
    for (i = bad = 0; i < n; i++)
        bad += differ(out[i], chain(mt_rank, i));
    MUST(bad == 0, "scan of %d, noncommutative: %d wrong", n, bad);
    MPI_Exscan(in, out, n, affine_type, op, MPI_COMM_WORLD);
    for (i = bad = 0; i < n && mt_rank; i++)
        bad += differ(out[i], chain(mt_rank - 1, i));
    MUST(bad == 0, "exscan of %d, noncommutative: %d wrong", n, bad);
    blk = mt_alloc(sizeof *blk * (size_t)(n * mt_size));
    for (i = 0; i < n * mt_size; i++)
        blk[i] = step(mt_rank, i);
    MPI_Reduce_scatter_block(blk, out, n, affine_type, op, MPI_COMM_WORLD);
    for (i = bad = 0; i < n; i++)
        bad += differ(out[i], chain(mt_size - 1, mt_rank * n + i));
    MUST(bad == 0, "reduce_scatter_block of %d, noncommutative: %d wrong", n, bad);
    CHECK_EQ(wrong_types, 0);
    MPI_Allreduce(&calls, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(mt_size == 1 || all > 0);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    free(in);
    free(out);
    free(blk);
}

/* A user operation on a type with gaps: the gaps stay untouched. */
static void add_gapped(void *in, void *inout, int *n, MPI_Datatype *t)
{
    int *a = in, *b = inout, i;
    MPI_Aint lb, ext;

    MPI_Type_get_extent(*t, &lb, &ext);
    for (i = 0; i < *n; i++) {
        b[i * (int)(ext / 4)] += a[i * (int)(ext / 4)];
        b[i * (int)(ext / 4) + 2] += a[i * (int)(ext / 4) + 2];
    }
}

static void gapped(void)
{
    MPI_Datatype v, t;
    MPI_Op op;
    int in[40], out[40], i, bad = 0;

    MPI_Type_vector(2, 1, 2, MPI_INT, &v);
    MPI_Type_create_resized(v, 0, 16, &t);
    MPI_Type_commit(&t);
    MPI_Op_create(add_gapped, 1, &op);
    for (i = 0; i < 40; i++) {
        in[i] = mt_rank + i;
        out[i] = -7;
    }
    MPI_Allreduce(in, out, 10, t, op, MPI_COMM_WORLD);
    for (i = 0; i < 40; i++)
        bad += out[i] != (i % 2 ? -7 : mt_size * (mt_size - 1) / 2 + i * mt_size);
    MUST(bad == 0, "operation on a type with gaps: %d wrong", bad);
    MPI_Op_free(&op);
    MPI_Type_free(&v);
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    mt_init(&argc, &argv);
    op_schar(), op_uchar(), op_short(), op_ushort(), op_int(), op_unsigned(), op_long(), op_ulong(),
        op_llong();
    op_ullong(), op_i8(), op_i16(), op_i32(), op_i64(), op_u8(), op_u16(), op_u32(), op_u64(),
        op_aint(), op_count();
    op_float(), op_double(), op_ldouble(), op_cfloat(), op_cdouble(), op_cldouble();
    op_2int(), op_floatint(), op_doubleint(), op_longint(), op_shortint(), op_ldoubleint();
    bytes_and_bools();
    MPI_Type_contiguous(2, MPI_UNSIGNED, &affine_type);
    MPI_Type_commit(&affine_type);
    noncommutative(1, 0);
    noncommutative(40, 0);
    noncommutative(5000, 0);
    noncommutative(40, 1);
    gapped();
    MPI_Type_free(&affine_type);
    return mt_finish();
}
