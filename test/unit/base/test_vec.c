/* test_vec.c - base/vec.h and base/hash.h. */
#include "unit.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

Suite *suite_vec(void);

START_TEST(rooms)
{
    ck_assert_uint_eq(vec_room(0, 0, 16), 0);
    ck_assert_uint_eq(vec_room(0, 1, 16), 16);
    ck_assert_uint_eq(vec_room(0, 17, 16), 17);
    ck_assert_uint_eq(vec_room(16, 16, 16), 16);
    ck_assert_uint_eq(vec_room(16, 17, 16), 32);
    ck_assert_uint_eq(vec_room(16, 33, 16), 33);
}
END_TEST

START_TEST(elements_stay)
{
    int *v = NULL;
    uint32_t room = 0, n = 0;
    ck_assert(VEC_FITS(v, room, n, 4)); /* nothing is needed, nothing is there */
    ck_assert_ptr_null(v);
    for (; n < 1000; n++) {
        ck_assert(VEC_FITS(v, room, n + 1, 4));
        ck_assert_uint_gt(room, n);
        v[n] = (int)n;
    }
    ck_assert_uint_eq(room, 1024);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_int_eq(v[i], (int)i);
    free(v);
}
END_TEST

/* Where there is no memory the array is as before. */
START_TEST(no_memory)
{
    char *v = malloc(4), *was = v;
    size_t room = 4;
    ck_assert_ptr_nonnull(v);
    ck_assert(!VEC_FITS(v, room, SIZE_MAX / 2, 4));
    ck_assert_uint_eq(room, 4);
    ck_assert_ptr_eq(v, was);
    free(v);
}
END_TEST

START_TEST(hashes)
{
    ck_assert_uint_eq(hash_bytes(HASH_BYTES, "", 0), HASH_BYTES);
    ck_assert_uint_eq(hash_bytes(HASH_BYTES, "ab", 2),
                      hash_bytes(hash_bytes(HASH_BYTES, "a", 1), "b", 1));
    ck_assert_uint_ne(hash_bytes(HASH_BYTES, "ab", 2), hash_bytes(HASH_BYTES, "ba", 2));
    ck_assert_uint_ne(hash_mix(hash_mix(0, 1), 2), hash_mix(hash_mix(0, 2), 1));
    for (uint64_t i = 0; i < 64; i++) /* one bit reaches others */
        ck_assert_uint_ne(hash_mix(0, 1ull << i) & ~(1ull << i), 0);
}
END_TEST

Suite *suite_vec(void)
{
    Suite *s = suite_create("vec");
    TCase *t = tcase_create("vec");
    tcase_add_test(t, rooms);
    tcase_add_test(t, elements_stay);
    tcase_add_test(t, no_memory);
    tcase_add_test(t, hashes);
    suite_add_tcase(s, t);
    return s;
}
