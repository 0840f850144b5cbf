/* test_ways.c - base/ways.h: the faster way wins, the slower one is tried again. */
#include "unit.h"

#include "base/ways.h"

Suite *suite_ways(void);

/* So many picks of way 1 in `turns` turns of `bytes`, which take ns[0] and ns[1]. */
static unsigned picks(struct ways *w, size_t bytes, unsigned turns, const uint64_t ns[2])
{
    unsigned second = 0;
    for (unsigned i = 0; i < turns; i++) {
        unsigned way = ways_pick(w, bytes);
        ways_took(w, bytes, way, ns[way]);
        second += way;
    }
    return second;
}

START_TEST(expected_one_first)
{
    struct ways w = {0};
    const uint64_t ns[2] = {900, 300};
    ck_assert_uint_eq(picks(&w, 4096, WAYS_FIRST, ns), 0);
    ck_assert_uint_eq(picks(&w, 4096, WAYS_TRIAL, ns), WAYS_TRIAL);
    /* Of what follows, one turn in each round goes to the slower way. */
    ck_assert_uint_eq(picks(&w, 4096, 10 * (WAYS_AGAIN + 1), ns), 10 * WAYS_AGAIN);
    /* Other sizes know nothing of it. */
    ck_assert_uint_eq(picks(&w, 8192, WAYS_FIRST, ns), 0);
}
END_TEST

START_TEST(expected_one_wins)
{
    struct ways w = {0};
    const uint64_t ns[2] = {300, 900};
    picks(&w, 1, WAYS_FIRST + WAYS_TRIAL, ns);
    ck_assert_uint_eq(picks(&w, 1, 10 * (WAYS_AGAIN + 1), ns), 10);
}
END_TEST

/* A time of no length, and one that no word holds. */
START_TEST(odd_times)
{
    struct ways w = {0};
    const uint64_t ns[2] = {UINT64_MAX, 0};
    ck_assert_uint_eq(picks(&w, SIZE_MAX, 1000, ns), 1000 - WAYS_FIRST - 1000 / WAYS_AGAIN);
    ck_assert_uint_eq(w.ns[WAYS_SIZES - 1][0], UINT32_MAX);
    ck_assert_uint_eq(picks(&w, 0, WAYS_FIRST, ns), 0);
}
END_TEST

/* One operation of a thread that lost its core does not turn the choice. */
START_TEST(one_long_time)
{
    struct ways w = {0};
    const uint64_t ns[2] = {900, 300};
    picks(&w, 65536, 100, ns);
    ways_took(&w, 65536, 1, 10000000);
    ck_assert_uint_eq(ways_pick(&w, 65536), 1);
}
END_TEST

/* The machine changes: what became faster is found, and so is what became slower. */
START_TEST(follows)
{
    struct ways w = {0};
    const uint64_t before[2] = {900, 300}, after[2] = {900, 2000}, again[2] = {900, 100};
    picks(&w, 65536, 100, before);
    picks(&w, 65536, 100, after);
    ck_assert_uint_eq(ways_pick(&w, 65536), 0);
    picks(&w, 65536, 30 * WAYS_AGAIN, again);
    ck_assert_uint_eq(ways_best(&w, ways_size(65536)), 1);
}
END_TEST

Suite *suite_ways(void)
{
    Suite *s = suite_create("base/ways");
    TCase *t = tcase_create("ways");
    tcase_add_test(t, expected_one_first);
    tcase_add_test(t, expected_one_wins);
    tcase_add_test(t, odd_times);
    tcase_add_test(t, one_long_time);
    tcase_add_test(t, follows);
    suite_add_tcase(s, t);
    return s;
}
