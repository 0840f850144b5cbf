/* test_map.c - base/map.c: against array. */
#include "unit.h"

#include "base/map.h"

Suite *suite_map(void);

/* Against a plain array: 20,000 random puts, gets and deletes over few keys, so that chains
 * collide. */
START_TEST(against_array)
{
    enum { KEYS = 300 };
    struct map m;
    void *want[KEYS] = {0};
    size_t count = 0;
    unsigned r = 12345;
    map_init(&m);
    for (int i = 0; i < 20000; i++) {
        r = r * 1103515245u + 12345u;
        unsigned k = (r >> 8) % KEYS;
        uint64_t key = (uint64_t)k << (k % 3 * 20);
        if ((r >> 20) % 3) {
            void *v = (void *)(uintptr_t)(i + 1);
            if (want[k] && (r & 1))
                map_set(&m, key, v);
            else
                ck_assert_int_eq(map_put(&m, key, v), 0);
            count += !want[k];
            want[k] = v;
        } else {
            ck_assert_ptr_eq(map_del(&m, key), want[k]);
            count -= want[k] != NULL;
            want[k] = NULL;
        }
        unsigned probe = (r >> 3) % KEYS;
        ck_assert_ptr_eq(map_get(&m, (uint64_t)probe << (probe % 3 * 20)), want[probe]);
        ck_assert_uint_eq(m.count, count);
    }
    size_t cursor = 0, seen = 0;
    while (map_next(&m, &cursor))
        seen++;
    ck_assert_uint_eq(seen, count);
    map_destroy(&m);
    ck_assert_ptr_null(map_get(&m, 1));
}
END_TEST

Suite *suite_map(void)
{
    Suite *s = suite_create("base/map");
    TCase *t = tcase_create("map");
    tcase_add_test(t, against_array);
    suite_add_tcase(s, t);
    return s;
}
