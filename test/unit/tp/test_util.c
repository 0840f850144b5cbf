/* test_util.c - tp/tp_types.h: pieces. */
#include "unit.h"

#include <string.h>

#include "tp/tp_types.h"

Suite *suite_util(void);

START_TEST(pieces)
{
    char a[] = "abc", b[] = "de", to[8] = "xxxxxxx";
    struct iovec v[] = {{a, 3}, {NULL, 0}, {b, 2}};
    ck_assert_uint_eq(tp_iov_bytes(v, 3), 5);
    ck_assert_uint_eq(tp_iov_bytes(v, 0), 0);
    tp_iov_gather(to, v, 3);
    ck_assert_mem_eq(to, "abcdexx", 7);
    struct iovec huge[] = {{a, SIZE_MAX}, {b, 1}};
    ck_assert_uint_eq(tp_iov_bytes(huge, 2), SIZE_MAX);
}
END_TEST

Suite *suite_util(void)
{
    Suite *s = suite_create("tp/util");
    TCase *t = tcase_create("util");
    tcase_add_test(t, pieces);
    suite_add_tcase(s, t);
    return s;
}
