/* test_topo.c - base/topo.c: counts, sets, kind names, here. */
#include "unit.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/topo.h"

Suite *suite_topo(void);

/* Two sockets, each with a NUMA node and three cores of two threads; processors 0..11. */
#define MACHINE "socket:2 numa:1 core:3 pu:2"

START_TEST(counts)
{
    struct topo *t;
    ck_assert_int_eq(topo_load(MACHINE, &t), 0);
    ck_assert_int_eq(topo_count(t, TOPO_HWTHREAD), 12);
    ck_assert_int_eq(topo_count(t, TOPO_CORE), 6);
    ck_assert_int_eq(topo_count(t, TOPO_NUMA), 2);
    ck_assert_int_eq(topo_count(t, TOPO_SOCKET), 2);
    ck_assert_int_eq(topo_count(t, TOPO_MACHINE), 1);
    ck_assert_int_eq(topo_count(t, TOPO_L3), 0);
    int index[4] = {0};
    ck_assert_int_eq(topo_within(t, TOPO_CORE, TOPO_SOCKET, 1, index, 4), 3);
    ck_assert_int_eq(index[0], 3);
    ck_assert_int_eq(index[2], 5);
    ck_assert_int_eq(topo_within(t, TOPO_HWTHREAD, TOPO_MACHINE, 0, index, 4), 12);
    ck_assert_int_eq(topo_within(t, TOPO_SOCKET, TOPO_CORE, 4, index, 4), 1);
    ck_assert_int_eq(index[0], 1);
    topo_free(t);
    ck_assert_int_eq(topo_load("unknown:2", &t), -EINVAL);
}
END_TEST

START_TEST(sets)
{
    struct topo *t;
    struct topo_set s = {0};
    char text[64];
    ck_assert_int_eq(topo_load("core:100 pu:1", &t), 0);
    topo_set_text(&s, text, sizeof text);
    ck_assert_str_eq(text, "");
    static const int cores[] = {3, 4, 5, 63, 64, 99};
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(topo_add(t, TOPO_CORE, cores[i], &s), 0);
    topo_set_text(&s, text, sizeof text);
    ck_assert_str_eq(text, "3-5,63-64,99");
    ck_assert(topo_set_has(&s, 64) && !topo_set_has(&s, 65) && !topo_set_has(&s, 100000));
    topo_set_text(&s, text, 5);
    ck_assert_uint_lt(strlen(text), 5);
    topo_set_free(&s);
    topo_free(t);
}
END_TEST

START_TEST(kind_names)
{
    ck_assert_int_eq(topo_kind_of("core"), TOPO_CORE);
    ck_assert_int_eq(topo_kind_of("socket"), TOPO_SOCKET);
    ck_assert_int_eq(topo_kind_of("package"), TOPO_SOCKET);
    ck_assert_int_eq(topo_kind_of("none"), -1);
}
END_TEST

/* This machine: hwloc's answer fits the kernel's, also under a narrower affinity. */
START_TEST(here)
{
    cpu_set_t all, one;
    struct topo *t;
    CPU_ZERO(&all);
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    ck_assert_int_eq(topo_cpus(), CPU_COUNT(&all));
    int first = 0;
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(topo_cpus(), 1);
    ck_assert_int_eq(topo_load(NULL, &t), 0);
    ck_assert_int_eq(topo_count(t, TOPO_HWTHREAD), 1);
    struct topo_set s = {0};
    ck_assert_int_eq(topo_add(t, TOPO_HWTHREAD, 0, &s), 0);
    ck_assert(topo_set_has(&s, (size_t)first));
    topo_set_free(&s);
    topo_free(t);
}
END_TEST

Suite *suite_topo(void)
{
    Suite *s = suite_create("base/topo");
    TCase *t = tcase_create("topo");
    tcase_add_test(t, counts);
    tcase_add_test(t, sets);
    tcase_add_test(t, kind_names);
    suite_add_tcase(s, t);
    t = tcase_create("machine");
    tcase_set_tags(t, "kernel"); /* not under an emulator, which hides affinities from hwloc */
    tcase_add_test(t, here);
    suite_add_tcase(s, t);
    return s;
}
