/* test_pmiline.c - base/pmiline.c: words, numbers, hexadecimal. */
#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/pmiline.h"

Suite *suite_pmiline(void);

START_TEST(words)
{
    char text[] = "cmd=put  kvsname=k \tkey=a=b blank value= =x msg=not found\r";
    struct pmi_line l;
    ck_assert_int_eq(pmi_line_parse(text, &l), 0);
    ck_assert_int_eq(l.n, 5);
    ck_assert_str_eq(pmi_line_get(&l, "cmd"), "put");
    ck_assert_str_eq(pmi_line_get(&l, "key"), "a=b");
    ck_assert_str_eq(pmi_line_get(&l, "value"), "");
    ck_assert_str_eq(pmi_line_get(&l, "msg"), "not");
    ck_assert_ptr_null(pmi_line_get(&l, "blank"));
    char empty[] = "";
    ck_assert_int_eq(pmi_line_parse(empty, &l), 0);
    ck_assert_int_eq(l.n, 0);
    char many[] = "a= b= c= d= e= f= g= h= i= j= k= l= m= n= o= p= q=";
    ck_assert_int_eq(pmi_line_parse(many, &l), -E2BIG);
}
END_TEST

START_TEST(numbers)
{
    char text[] = "a=12 b=-3 c=1x d= e=99999999999";
    struct pmi_line l;
    int v = 7;
    ck_assert_int_eq(pmi_line_parse(text, &l), 0);
    ck_assert_int_eq(pmi_line_int(&l, "a", 0, 12, &v), 0);
    ck_assert_int_eq(v, 12);
    ck_assert_int_eq(pmi_line_int(&l, "b", -3, 12, &v), 0);
    ck_assert_int_eq(v, -3);
    ck_assert_int_eq(pmi_line_int(&l, "a", 0, 11, &v), -EINVAL);
    ck_assert_int_eq(pmi_line_int(&l, "b", 0, 11, &v), -EINVAL);
    ck_assert_int_eq(pmi_line_int(&l, "c", 0, 11, &v), -EINVAL);
    ck_assert_int_eq(pmi_line_int(&l, "d", 0, 11, &v), -EINVAL);
    ck_assert_int_eq(pmi_line_int(&l, "e", INT_MIN, INT_MAX, &v), -EINVAL);
    ck_assert_int_eq(pmi_line_int(&l, "f", 0, 11, &v), -EINVAL);
    ck_assert_int_eq(v, -3);
}
END_TEST

START_TEST(hexadecimal)
{
    unsigned char bytes[256], back[256];
    char text[513];
    for (int i = 0; i < 256; i++)
        bytes[i] = (unsigned char)i;
    for (size_t n = 0; n <= 256; n += 64) {
        size_t len = sizeof back;
        pmi_hex(bytes, n, text);
        ck_assert_uint_eq(strlen(text), 2 * n);
        ck_assert_int_eq(pmi_unhex(text, back, &len), 0);
        ck_assert_uint_eq(len, n);
        ck_assert_int_eq(memcmp(bytes, back, n), 0);
    }
    size_t len = 2;
    ck_assert_int_eq(pmi_unhex("0g", back, &len), -EINVAL);
    ck_assert_int_eq(pmi_unhex("012", back, &len), -EINVAL);
    ck_assert_int_eq(pmi_unhex("010203", back, &len), -EMSGSIZE);
    ck_assert_int_eq(pmi_unhex("aAfF", back, &len), 0);
    ck_assert_int_eq(back[0], 0xaa);
    ck_assert_int_eq(back[1], 0xff);
}
END_TEST

Suite *suite_pmiline(void)
{
    Suite *s = suite_create("base/pmiline");
    TCase *t = tcase_create("pmiline");
    tcase_add_test(t, words);
    tcase_add_test(t, numbers);
    tcase_add_test(t, hexadecimal);
    suite_add_tcase(s, t);
    return s;
}
