/* test_copy.c - copies from one layout to another without a buffer between. */
#include "model.h"

#include <string.h>

Suite *suite_copy(void);

static void check_copy(const struct model *s, size_t sn, const struct model *d, size_t dn,
                       struct rng *r)
{
    struct image from = image_make(s, sn, r), a = image_make(d, dn, r), b = image_make(d, dn, r);
    size_t stotal = (size_t)model_size(s) * sn, dtotal = (size_t)model_size(d) * dn;
    size_t len = stotal < dtotal ? stotal : dtotal;
    char *packed = model_pack(s, sn, from.base);
    memcpy(b.memory, a.memory, a.len);
    model_unpack(d, dn, a.base, packed, len);
    if (rng_next(r) & 1) {
        ck_assert_uint_eq(dt_copy(from.base, sn, s->type, b.base, dn, d->type), len);
    } else {
        for (size_t at = 0; at < len;) {
            size_t part = (size_t)rng_range(r, 1, (int64_t)len), left = len - at;
            ck_assert_uint_eq(dt_copy_part(from.base, sn, s->type, b.base, dn, d->type, at, part),
                              part < left ? part : left);
            at += part < left ? part : left;
        }
    }
    ck_assert_mem_eq(a.memory, b.memory, a.len);
    free(packed);
    image_free(&from);
    image_free(&a);
    image_free(&b);
}

START_TEST(between_any_layouts)
{
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct rng r = {seed * 5 + 2};
        struct model s = model_random(&r, 1 + (int)(seed % 4), 300, NULL);
        struct model d = model_random(&r, 1 + (int)(seed / 4 % 4), 300, NULL);
        check_copy(&s, (size_t)rng_range(&r, 0, 4), &d, (size_t)rng_range(&r, 0, 4), &r);
        size_t n = (size_t)rng_range(&r, 1, 4);
        check_copy(&s, n, &s, n, &r); /* the same layout */
        check_copy(&s, n, &s, n + 1, &r);
        model_free(&s);
        model_free(&d);
    }
}
END_TEST

/* Many blocks: more than one batch of either side. */
START_TEST(many_blocks)
{
    enum { N = 3000 };
    struct dt_type *a, *b;
    int64_t off[N];
    struct rng r = {9};
    for (int i = 0; i < N; i++)
        off[i] = i * 12 + rng_range(&r, 0, 4);
    ck_assert_int_eq(dt_make_indexed_b(N, NULL, 1, off, dt_find(MPI_INT), &a), MPI_SUCCESS);
    ck_assert_int_eq(dt_make_vector_b(N / 2, 1, 24, dt_find(MPI_DOUBLE), &b), MPI_SUCCESS);
    char *x = calloc(1, N * 12 + 64), *y = calloc(1, N * 12 + 64), *p = malloc(N * 4),
         *q = malloc(N * 4);
    for (int i = 0; i < N * 12 + 64; i++)
        x[i] = (char)rng_next(&r);
    ck_assert_uint_eq(dt_copy(x, 1, a, y, 1, b), N * 4);
    dt_pack(a, 1, x, 0, p, N * 4);
    dt_pack(b, 1, y, 0, q, N * 4);
    ck_assert_mem_eq(p, q, N * 4);
    free(x);
    free(y);
    free(p);
    free(q);
    dt_drop(a);
    dt_drop(b);
}
END_TEST

Suite *suite_copy(void)
{
    Suite *s = suite_create("dt/copy");
    TCase *t = room_case("copy", 60);
    tcase_add_test(t, between_any_layouts);
    tcase_add_test(t, many_blocks);
    suite_add_tcase(s, t);
    return s;
}
