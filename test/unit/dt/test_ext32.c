/* test_ext32.c - external32: known bytes, sizes, round trips of random types. */
#include "model.h"

#include <string.h>

#include "obj/err.h"

Suite *suite_ext32(void);

static void check_bytes(MPI_Datatype h, const void *value, const char *want, size_t n)
{
    char out[64], back[64];
    size_t bytes;
    struct dt_type *t = dt_find(h);
    ck_assert_int_eq(dt_ext_size(t, 1, &bytes), MPI_SUCCESS);
    ck_assert_uint_eq(bytes, n);
    ck_assert_int_eq(dt_ext_pack(t, 1, value, out), MPI_SUCCESS);
    ck_assert_mem_eq(out, want, n);
    memcpy(back, value, (size_t)t->extent);
    ck_assert_int_eq(dt_ext_unpack(t, 1, back, out), MPI_SUCCESS);
    ck_assert_mem_eq(back, value, (size_t)t->extent);
}

START_TEST(known_bytes)
{
    int i = 0x01020304;
    short s = -2;
    long l = -5;
    double d = 1.0;
    float f = -2.0f;
    long double ld = 1.5L;
    double dc[2] = {1.0, -1.0};
    struct { double v; int i; } di;
    memset(&di, 0, sizeof di);
    di.v = 1.0;
    di.i = 7;
    wchar_t w = 0x20ac;
    check_bytes(MPI_INT, &i, "\1\2\3\4", 4);
    check_bytes(MPI_SHORT, &s, "\xff\xfe", 2);
    check_bytes(MPI_LONG, &l, "\xff\xff\xff\xfb", 4);
    check_bytes(MPI_DOUBLE, &d, "\x3f\xf0\0\0\0\0\0\0", 8);
    check_bytes(MPI_FLOAT, &f, "\xc0\0\0\0", 4);
    check_bytes(MPI_C_DOUBLE_COMPLEX, dc, "\x3f\xf0\0\0\0\0\0\0\xbf\xf0\0\0\0\0\0\0", 16);
    check_bytes(MPI_DOUBLE_INT, &di, "\x3f\xf0\0\0\0\0\0\0\0\0\0\7", 12);
    check_bytes(MPI_WCHAR, &w, "\x20\xac", 2);
    char out[16];
    ck_assert_int_eq(dt_ext_pack(dt_find(MPI_LONG_DOUBLE), 1, &ld, out), MPI_SUCCESS);
    ck_assert_mem_eq(out, "\x3f\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    long double back = 0;
    ck_assert_int_eq(dt_ext_unpack(dt_find(MPI_LONG_DOUBLE), 1, &back, out), MPI_SUCCESS);
    ck_assert(back == ld);
}
END_TEST

START_TEST(too_large_is_an_error)
{
    long big[2] = {3, 1l << 40};
    char out[8];
    ck_assert_int_eq(err_class(dt_ext_pack(dt_find(MPI_LONG), 2, big, out)), MPI_ERR_CONVERSION);
    unsigned long ok = 0xffffffff;
    ck_assert_int_eq(dt_ext_pack(dt_find(MPI_UNSIGNED_LONG), 1, &ok, out), MPI_SUCCESS);
    unsigned long back = 0;
    ck_assert_int_eq(dt_ext_unpack(dt_find(MPI_UNSIGNED_LONG), 1, &back, out), MPI_SUCCESS);
    ck_assert_uint_eq(back, ok);
}
END_TEST

/* Out and back gives the same data (long doubles excepted: they have padding; types that overlap
 * too). */
START_TEST(round_trip)
{
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct rng r = {seed * 19 + 11};
        struct dt_type *u = dt_find(seed % 3 == 0   ? MPI_INT
                                    : seed % 3 == 1 ? MPI_SHORT_INT
                                                    : MPI_DOUBLE);
        struct model m = model_random(&r, 1 + (int)(seed % 4), 200, u);
        size_t count = (size_t)rng_range(&r, 0, 3), bytes, total = (size_t)model_size(&m) * count;
        ck_assert_int_eq(dt_ext_size(m.type, count, &bytes), MPI_SUCCESS);
        ck_assert_uint_eq(bytes, total); /* these have equal sizes inside and outside */
        struct image a = image_make(&m, count, &r);
        char *packed = model_pack(&m, count, a.base), *ext = malloc(bytes + 1), *again;
        ck_assert_int_eq(dt_ext_pack(m.type, count, a.base, ext), MPI_SUCCESS);
        memset(a.memory, 0, a.len);
        ck_assert_int_eq(dt_ext_unpack(m.type, count, a.base, ext), MPI_SUCCESS);
        again = model_pack(&m, count, a.base);
        ck_assert_mem_eq(packed, again, total);
        free(packed);
        free(again);
        free(ext);
        image_free(&a);
        model_free(&m);
    }
}
END_TEST

Suite *suite_ext32(void)
{
    Suite *s = suite_create("dt/ext32");
    TCase *t = room_case("ext32", 60);
    tcase_add_test(t, known_bytes);
    tcase_add_test(t, too_large_is_an_error);
    tcase_add_test(t, round_trip);
    suite_add_tcase(s, t);
    return s;
}
