/* test_limit.c - mem/limit.c: plausible. */
#include "unit.h"

#include "mem/mem_types.h"

Suite *suite_limit(void);

/* The machine runs this test, so it has some megabytes; and it has not got a petabyte. */
START_TEST(plausible)
{
    size_t left = mem_available();
    ck_assert_uint_gt(left, (size_t)16 << 20);
    ck_assert_uint_lt(left, (size_t)1 << 50);
}
END_TEST

Suite *suite_limit(void)
{
    Suite *s = suite_create("mem/limit");
    TCase *t = tcase_create("limit");
    tcase_add_test(t, plausible);
    suite_add_tcase(s, t);
    return s;
}
