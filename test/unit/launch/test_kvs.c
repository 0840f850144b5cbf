/* test_kvs.c - launch/kvs.c: put and get, bounded. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launch/kvs.h"

Suite *suite_kvs(void);

START_TEST(put_and_get)
{
    struct kvs k;
    char key[32], value[32];
    kvs_init(&k);
    ck_assert_ptr_null(kvs_get(&k, "none"));
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        snprintf(value, sizeof value, "%d", i * i);
        ck_assert_int_eq(kvs_put(&k, key, value), 0);
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        snprintf(value, sizeof value, "%d", i * i);
        ck_assert_str_eq(kvs_get(&k, key), value);
    }
    size_t bytes = k.bytes;
    ck_assert_int_eq(kvs_put(&k, "key-7", "longer than before"), 0);
    ck_assert_str_eq(kvs_get(&k, "key-7"), "longer than before");
    ck_assert_uint_eq(k.bytes, bytes + strlen("longer than before") - strlen("49"));
    kvs_free(&k);
}
END_TEST

START_TEST(bounded)
{
    struct kvs k;
    kvs_init(&k);
    k.bytes = (size_t)256 << 20;
    ck_assert_int_eq(kvs_put(&k, "a", "b"), -ENOSPC);
    ck_assert_ptr_null(kvs_get(&k, "a"));
    kvs_free(&k);
}
END_TEST

Suite *suite_kvs(void)
{
    Suite *s = suite_create("launch/kvs");
    TCase *t = tcase_create("kvs");
    tcase_add_test(t, put_and_get);
    tcase_add_test(t, bounded);
    suite_add_tcase(s, t);
    return s;
}
