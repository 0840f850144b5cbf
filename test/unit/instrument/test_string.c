/* test_string.c - instrument/string.c: functions of the C library do what they are to do, and the
 * bytes that they read and write are noted, no more. */
#undef _FORTIFY_SOURCE /* it expands copies of a known size */
#include "unit.h"

#include <stdint.h>
#include <string.h>

#include "host.h"

Suite *suite_string(void);

void *__tsan_memcpy(void *to, const void *from, size_t n);
void *__tsan_memmove(void *to, const void *from, size_t n);
void *__tsan_memset(void *to, int c, size_t n);

static _Alignas(4096) char a[4096], b[4096]; /* alone in their pages */
static struct race_log_entry list[16];

/* The last call noted a load of `loads` bytes at x and `others` at y, a store of `stores` at z. */
static void noted(const char *x, size_t loads, const char *y, size_t others, const char *z,
                  size_t stores)
{
    unsigned n = host_singly(list, host_noted(list, 16), 16), i = 0;
    ck_assert_uint_eq(n, (loads > 0) + (others > 0) + (stores > 0));
    if (loads) {
        ck_assert_uint_eq(list[i].at, (uintptr_t)x);
        ck_assert_uint_eq(list[i].len, loads);
        ck_assert_uint_eq(list[i++].stores, 0);
    }
    if (others) {
        ck_assert_uint_eq(list[i].at, (uintptr_t)y);
        ck_assert_uint_eq(list[i].len, others);
        ck_assert_uint_eq(list[i++].stores, 0);
    }
    if (stores) {
        ck_assert_uint_eq(list[i].at, (uintptr_t)z);
        ck_assert_uint_eq(list[i].len, stores);
        ck_assert_uint_eq(list[i++].stores, 1);
    }
}

static void begin(void)
{
    host_run(0);
    strcpy(a, "a word, another");
    strcpy(b, "b");
    windrose_race_runtime.watch((uintptr_t)a, 64);
    windrose_race_runtime.watch((uintptr_t)b, 64);
    host_noted(list, 16);
}

START_TEST(copies)
{
    begin();
    ck_assert_ptr_eq(memcpy(b, a, 10), b);
    noted(a, 10, NULL, 0, b, 10);
    ck_assert_int_eq(b[3], 'o');
    memmove(b + 1, b, 5);
    noted(b, 5, NULL, 0, b + 1, 5);
    ck_assert_int_eq(b[1], 'a');
    memset(b, 'z', 7);
    noted(NULL, 0, NULL, 0, b, 7);
    memset(b, 'z', 0);
    noted(NULL, 0, NULL, 0, NULL, 0);
    ck_assert_ptr_eq(__tsan_memcpy(b, a, 4), b);
    noted(a, 4, NULL, 0, b, 4);
    __tsan_memmove(b, a, 3);
    noted(a, 3, NULL, 0, b, 3);
    __tsan_memset(b, 0, 2);
    noted(NULL, 0, NULL, 0, b, 2);
}
END_TEST

START_TEST(strings)
{
    begin();
    ck_assert_uint_eq(strlen(a), 15);
    noted(a, 16, NULL, 0, NULL, 0);
    ck_assert_uint_eq(strnlen(a, 4), 4);
    noted(a, 4, NULL, 0, NULL, 0);
    ck_assert_ptr_eq(strcpy(b, a + 8), b);
    noted(a + 8, 8, NULL, 0, b, 8);
    ck_assert_str_eq(b, "another");
    host_noted(list, 16);
    strncpy(b, a + 12, 8);
    noted(a + 12, 4, NULL, 0, b, 8);
    strcat(b, a + 12);
    noted(b, 4, a + 12, 4, b + 3, 4);
    host_noted(list, 16);
    ck_assert_int_lt(strcmp(b, "herhes"), 0);
    noted(b, 6, NULL, 0, NULL, 0);
    ck_assert_int_gt(strncmp(b, a, 4), 0);
    noted(b, 1, a, 1, NULL, 0);
    ck_assert_ptr_eq(strchr(a, 'w'), a + 2);
    noted(a, 3, NULL, 0, NULL, 0);
    ck_assert_ptr_null(strchr(a, '!'));
    noted(a, 16, NULL, 0, NULL, 0);
    ck_assert_ptr_eq(memchr(a, 'w', 10), a + 2);
    noted(a, 3, NULL, 0, NULL, 0);
    ck_assert_int_ne(memcmp(a, b, 5), 0);
    noted(a, 5, b, 5, NULL, 0);
}
END_TEST

Suite *suite_string(void)
{
    Suite *s = suite_create("string");
    TCase *t = tcase_create("string");
    tcase_add_test(t, copies);
    tcase_add_test(t, strings);
    suite_add_tcase(s, t);
    return s;
}
