/* test_access.c - instrument/access.c: which loads and stores are noted, and that each byte is
 * noted once between two operations of the thread. */
#include "unit.h"

#include <stdint.h>

#include "host.h"

Suite *suite_access(void);

void __tsan_read1(void *p);
void __tsan_read4(void *p);
void __tsan_read8(void *p);
void __tsan_read16(void *p);
void __tsan_write4(void *p);
void __tsan_write8(void *p);
void __tsan_read_write8(void *p);
void __tsan_unaligned_write8(void *p);
void __tsan_volatile_read4(void *p);
void __tsan_read_range(void *p, size_t len);
void __tsan_write_range(void *p, size_t len);
void __tsan_vptr_update(void **p, void *value);

enum { MOST = 8192 };
static struct race_log_entry list[MOST];
static _Alignas(4096) char mem[4 * 4096];

static void noted(unsigned i, const char *at, unsigned len, unsigned stores)
{
    ck_assert_uint_eq(list[i].at, (uintptr_t)at);
    ck_assert_uint_eq(list[i].len, len);
    ck_assert_uint_eq(list[i].stores, stores);
    ck_assert_ptr_nonnull(list[i].pc);
}

START_TEST(each_width)
{
    unsigned n;
    host_run(1);
    host_clear();
    __tsan_read1(mem);
    __tsan_read4(mem + 64);
    __tsan_read8(mem + 128);
    __tsan_read16(mem + 192);
    __tsan_write4(mem + 256);
    __tsan_read_write8(mem + 320);
    __tsan_unaligned_write8(mem + 385);
    __tsan_volatile_read4(mem + 448);
    __tsan_vptr_update((void **)(mem + 512), mem);
    n = host_noted(list, MOST);
    ck_assert_uint_eq(n, 9);
    noted(0, mem, 1, 0);
    noted(1, mem + 64, 4, 0);
    noted(2, mem + 128, 8, 0);
    noted(3, mem + 192, 16, 0);
    noted(4, mem + 256, 4, 1);
    noted(5, mem + 320, 8, 1);
    noted(6, mem + 385, 8, 1);
    noted(7, mem + 448, 4, 0);
    noted(8, mem + 512, 8, 1);
}
END_TEST

START_TEST(each_byte_once_between_two_operations)
{
    unsigned n;
    host_run(1);
    host_clear();
    for (int i = 0; i < 5; i++) {
        __tsan_read4(mem);
        __tsan_read1(mem + 2);
    }
    n = host_noted(list, MOST);
    ck_assert_uint_eq(n, 1);
    host_clear();
    __tsan_read4(mem);
    n = host_noted(list, MOST);
    ck_assert_uint_eq(n, 1);
    host_clear();
    /* a store covers loads, a load no store */
    __tsan_write4(mem);
    __tsan_read4(mem);
    n = host_noted(list, MOST);
    ck_assert_uint_eq(n, 1);
    host_clear();
    __tsan_read4(mem);
    __tsan_write4(mem);
    n = host_noted(list, MOST);
    ck_assert_uint_eq(n, 2);
    noted(1, mem, 4, 1);
    host_clear();
    /* one of four bytes is new */
    __tsan_read1(mem + 1);
    __tsan_read4(mem);
    n = host_noted(list, MOST);
    ck_assert_uint_eq(n, 2);
    host_clear();
}
END_TEST

START_TEST(what_one_place_touches_in_a_row_is_one)
{
    unsigned n;
    host_run(1);
    host_clear();
    for (int i = 0; i < 2000; i++)
        __tsan_write8(mem + 8 * i);
    n = host_noted(list, MOST);
    ck_assert_uint_eq(n, 1);
    noted(0, mem, 16000, 1);
}
END_TEST

START_TEST(ranges_cross_pages)
{
    host_run(1);
    host_clear();
    __tsan_read_range(mem + 4000, 8200);
    __tsan_write_range(mem, 0);
    __tsan_write8(mem + 4092);
    unsigned n = host_noted(list, MOST);
    ck_assert_uint_ge(n, 2);
    noted(0, mem + 4000, 8200, 0);
    uint64_t bytes = 0;
    for (unsigned i = 1; i < n; i++)
        bytes += list[i].len;
    ck_assert_uint_eq(bytes, 8);
    ck_assert_uint_eq(list[1].at, (uintptr_t)mem + 4092);
}
END_TEST

START_TEST(only_pages_that_are_watched)
{
    unsigned n;
    host_run(0);
    windrose_race_runtime.watch((uintptr_t)mem + 4096, 4096);
    __tsan_read4(mem);
    __tsan_read4(mem + 4096);
    __tsan_read8(mem + 4092); /* a part of it is watched */
    __tsan_write4(mem + 8192);
    ck_assert_uint_eq(host_noted(list, MOST), 1); /* the part was seen */
    noted(0, mem + 4096, 4, 0);
    host_clear();
    windrose_race_runtime.run(NULL);
    __tsan_write4(mem + 4096);
    host_run(0);
    n = host_noted(list, MOST);
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(more_than_the_log_holds)
{
    host_run(1);
    host_clear();
    for (int i = 0; i < 3000; i++) /* at no constant distance */
        __tsan_write4(mem + 5 * i + ((unsigned)i * 2654435761u >> 31));
    unsigned n = host_noted(list, MOST);
    uint64_t bytes = 0;
    for (unsigned i = 0; i < n; i++)
        bytes += (uint64_t)list[i].len * list[i].blocks;
    ck_assert_uint_gt(n, 1024);
    ck_assert_uint_eq(bytes, 12000);
}
END_TEST

/* One place: rows of eight bytes at a distance, five columns, one after the other; two rows of a
 * sixth, and what belongs to none. */
START_TEST(columns_are_one)
{
    char *at[103];
    for (int i = 0; i < 102; i++)
        at[i] = mem + 512 * (i % 20) + 8 * (i / 20);
    at[102] = mem + 512 * 25;
    host_run(1);
    host_clear();
    for (int i = 0; i < 103; i++)
        __tsan_write8(at[i]);
    unsigned n = host_noted(list, MOST);
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(list[0].at, (uintptr_t)mem);
    ck_assert_uint_eq(list[0].len, 40);
    ck_assert_uint_eq(list[0].stride, 512);
    ck_assert_uint_eq(list[0].blocks, 20);
    ck_assert_uint_eq(list[1].at, (uintptr_t)mem + 40);
    ck_assert_uint_eq(list[1].len, 8);
    ck_assert_uint_eq(list[1].blocks, 2);
    ck_assert_uint_eq(list[2].at, (uintptr_t)mem + 512 * 25);
    ck_assert_uint_eq(list[2].blocks, 1);
}
END_TEST

Suite *suite_access(void)
{
    Suite *s = suite_create("access");
    TCase *t = tcase_create("access");
    tcase_add_test(t, each_width);
    tcase_add_test(t, each_byte_once_between_two_operations);
    tcase_add_test(t, what_one_place_touches_in_a_row_is_one);
    tcase_add_test(t, ranges_cross_pages);
    tcase_add_test(t, only_pages_that_are_watched);
    tcase_add_test(t, more_than_the_log_holds);
    tcase_add_test(t, columns_are_one);
    suite_add_tcase(s, t);
    return s;
}
