/* test_flat.c - layouts as bytes: round trips, and damaged bytes. */
#include "model.h"

#include <string.h>

#include "obj/err.h"

Suite *suite_flat(void);

START_TEST(round_trip)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct rng r = {seed * 13 + 7};
        struct model m = model_random(&r, 1 + (int)(seed % 5), 300, NULL);
        size_t len, count = (size_t)rng_range(&r, 0, 3);
        const void *flat = dt_flat(m.type, &len);
        struct dt_type *t;
        ck_assert_int_eq(dt_unflat(flat, len, &t), MPI_SUCCESS);
        ck_assert_int_eq(t->size, m.type->size);
        ck_assert_int_eq(t->extent, m.type->extent);
        ck_assert_int_eq(t->lb, m.type->lb);
        ck_assert_int_eq(t->true_lb, m.type->true_lb);
        ck_assert_int_eq(t->true_ub, m.type->true_ub);
        ck_assert_ptr_eq(t->basic, m.type->basic);
        ck_assert_uint_eq(t->flags & (DT_CONTIG | DT_ONE), m.type->flags & (DT_CONTIG | DT_ONE));
        ck_assert_uint_eq(dt_hash(t), dt_hash(m.type));
        struct image i = image_make(&m, count, &r);
        size_t total = (size_t)t->size * count;
        char *want = model_pack(&m, count, i.base), *got = malloc(total + 1);
        ck_assert_uint_eq(dt_pack(t, count, i.base, 0, got, total), total);
        ck_assert_mem_eq(want, got, total);
        free(want);
        free(got);
        image_free(&i);
        dt_drop(t);
        model_free(&m);
    }
}
END_TEST

/* Whatever comes out of damaged bytes is refused or a sound type: its bounds hold for what it
 * touches. */
static void use_hostile(struct dt_type *t)
{
    int64_t lo, hi;
    char out[64];
    if (dt_bounds(t, 2, &lo, &hi) != MPI_SUCCESS || hi - lo > 1 << 16)
        return;
    char *memory = calloc(1, (size_t)(hi - lo) + 1);
    void *base = (void *)((uintptr_t)memory - (uintptr_t)lo);
    for (int64_t from = 0; from < 2 * t->size && from < 4096; from += 40)
        dt_pack(t, 2, base, (size_t)from, out, sizeof out);
    if (t->size > 64)
        dt_pack(t, 1, base, (size_t)t->size - 64, out, sizeof out);
    memset(out, 0, sizeof out);
    if (t->basic && dt_op_check(dt_op_find(MPI_SUM), t, DT_FOR_ACC) == MPI_SUCCESS)
        dt_op_unpack(dt_op_find(MPI_SUM), t, 1, base, 0, out,
                     sizeof out / t->elem.bytes * t->elem.bytes);
    free(memory);
}

START_TEST(damaged_bytes)
{
    for (uint64_t seed = 0; seed < 6000; seed++) {
        struct rng r = {seed * 17 + 9};
        struct model m = model_random(&r, 1 + (int)(seed % 5), 60, NULL);
        size_t len, n;
        const char *flat = dt_flat(m.type, &len);
        n = rng_next(&r) % 4 ? len : (size_t)rng_range(&r, 0, (int64_t)len + 16);
        char *bad = calloc(1, n + 1);
        memcpy(bad + 1, flat, n < len ? n : len); /* misaligned on purpose */
        for (int64_t k = rng_range(&r, 1, 4); k && n; k--) {
            size_t at = (size_t)rng_range(&r, 0, (int64_t)n - 1);
            if (rng_next(&r) & 1) {
                bad[1 + at] ^= (char)(1 << rng_range(&r, 0, 7));
            } else if (n >= 8) {
                static const int64_t odd[] = {0, -1, INT64_MAX, INT64_MIN, 1, 1ll << 40, 255};
                memcpy(bad + 1 + (at & ~(size_t)7 & (n - 8)), &odd[rng_next(&r) % 7], 8);
            }
        }
        struct dt_type *t = NULL;
        int err = dt_unflat(bad + 1, n, &t);
        if (err == MPI_SUCCESS) {
            use_hostile(t);
            dt_drop(t);
        } else {
            ck_assert(err_class(err) == MPI_ERR_TYPE || err_class(err) == MPI_ERR_NO_MEM);
        }
        free(bad);
        model_free(&m);
    }
}
END_TEST

/* Accumulates rely on it: a block of a type with one basic type holds whole elements. */
START_TEST(broken_elements)
{
    struct dt_type *t, *back = NULL;
    int64_t word[32];
    size_t len;
    ck_assert_int_eq(dt_make_vector(2, 1, 2, dt_find(MPI_INT), &t), MPI_SUCCESS);
    const void *flat = dt_flat(t, &len);
    memcpy(word, flat, len);
    ck_assert_int_eq(word[6], 4); /* the block: two of them, one int each */
    word[6] = 2;
    ck_assert_int_eq(err_class(dt_unflat(word, len, &back)), MPI_ERR_TYPE);
    word[6] = 8;
    ck_assert_int_eq(dt_unflat(word, len, &back), MPI_SUCCESS);
    dt_drop(back);
    word[4] = 0; /* of no basic type it may be anything */
    word[6] = 2;
    ck_assert_int_eq(dt_unflat(word, len, &back), MPI_SUCCESS);
    dt_drop(back);
    dt_drop(t);
}
END_TEST

START_TEST(equal_layouts_have_equal_hashes)
{
    struct dt_type *a, *b, *c;
    const int64_t off[4] = {0, 4, 8, 12};
    ck_assert_int_eq(dt_make_vector(4, 1, 2, dt_find(MPI_DOUBLE), &a), MPI_SUCCESS);
    ck_assert_int_eq(dt_make_vector_b(4, 1, 16, dt_find(MPI_DOUBLE), &b), MPI_SUCCESS);
    ck_assert_uint_eq(dt_hash(a), dt_hash(b));
    dt_drop(b);
    ck_assert_int_eq(dt_make_vector_b(4, 1, 24, dt_find(MPI_DOUBLE), &b), MPI_SUCCESS);
    ck_assert_uint_ne(dt_hash(a), dt_hash(b));
    ck_assert_int_eq(dt_make_indexed(4, NULL, 2, off, dt_find(MPI_FLOAT), &c), MPI_SUCCESS);
    ck_assert_uint_ne(dt_hash(a), dt_hash(c));
    dt_drop(a);
    dt_drop(b);
    dt_drop(c);
}
END_TEST

Suite *suite_flat(void)
{
    Suite *s = suite_create("dt/flat");
    TCase *t = room_case("flat", 60);
    tcase_add_test(t, round_trip);
    tcase_add_test(t, damaged_bytes);
    tcase_add_test(t, broken_elements);
    tcase_add_test(t, equal_layouts_have_equal_hashes);
    suite_add_tcase(s, t);
    return s;
}
