/* test_binding.c - launch/binding.c: layouts, none, mistakes. */
#include "unit.h"

#include <string.h>

#include "launch/binding.h"

Suite *suite_binding(void);

/* Two sockets of one NUMA node and three two-thread cores: processors 0-5 | 6-11. */
#define MACHINE "socket:2 numa:1 core:3 pu:2"

static void check(const char *bind, const char *map, const char *const *expected, int n)
{
    struct place p;
    struct topo *t;
    char msg[256] = "", text[64];
    ck_assert_int_eq(topo_load(MACHINE, &t), 0);
    ck_assert_msg(place_parse(&p, bind, map, msg, sizeof msg) == 0, "%s", msg);
    for (int r = 0; r < n; r++) {
        struct topo_set s = {0};
        ck_assert_msg(place_rank(&p, t, r, &s, msg, sizeof msg) == 0, "%s", msg);
        topo_set_text(&s, text, sizeof text);
        ck_assert_msg(!strcmp(text, expected[r]), "-bind-to %s -map-by %s: rank %d has %s, not %s",
                      bind, map ? map : "(default)", r, text, expected[r]);
        topo_set_free(&s);
    }
    topo_free(t);
}

#define CHECK(bind, map, ...) \
    check(bind, map, (const char *const[]){__VA_ARGS__}, \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

START_TEST(layouts)
{
    CHECK("core", NULL, "0-1", "2-3", "4-5", "6-7", "8-9", "10-11", "0-1", "2-3");
    CHECK("hwthread", NULL, "0", "1", "2");
    CHECK("socket", NULL, "0-5", "6-11", "0-5");
    CHECK("numa", NULL, "0-5", "6-11", "0-5");
    CHECK("machine", NULL, "0-11", "0-11");
    CHECK("core", "socket", "0-1", "6-7", "2-3", "8-9", "4-5", "10-11", "0-1");
    CHECK("hwthread", "core", "0", "2", "4", "6", "8", "10", "1", "3");
    CHECK("socket", "core", "0-5", "0-5", "0-5", "6-11");
    CHECK("core:2", NULL, "0-3", "4-7", "8-11", "0-3");
    CHECK("core:2", "socket", "0-3", "6-9", "0-3"); /* one lot of two in three cores */
    CHECK("core:4", "socket", "0-5", "6-11");       /* no more than are there */
    CHECK("core:100", NULL, "0-11", "0-11");
    CHECK(NULL, "numa", "0-5", "6-11");
}
END_TEST

START_TEST(none)
{
    struct place p;
    char msg[256];
    ck_assert_int_eq(place_parse(&p, NULL, NULL, msg, sizeof msg), 0);
    ck_assert(!p.bound);
    ck_assert_int_eq(place_parse(&p, "none", "core", msg, sizeof msg), 0);
    ck_assert(!p.bound);
}
END_TEST

START_TEST(mistakes)
{
    static const char *const bad[][2] = {
        {"moon", NULL},     {"", NULL},
        {"core:", NULL},    {"core:0", NULL},
        {"core:x", NULL},   {"core:-1", NULL},
        {"core", "moon"},   {"core", "none"},
        {"core", "core:2"}, {"averyveryverylongnameofnothingatall", NULL}};
    struct place p;
    struct topo *t;
    char msg[256];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        *msg = 0;
        ck_assert_int_eq(place_parse(&p, bad[i][0], bad[i][1], msg, sizeof msg), -22);
        ck_assert(*msg);
    }
    struct topo_set s = {0};
    ck_assert_int_eq(topo_load(MACHINE, &t), 0);
    ck_assert_int_eq(place_parse(&p, "l3cache", NULL, msg, sizeof msg), 0);
    ck_assert_int_eq(place_rank(&p, t, 0, &s, msg, sizeof msg), -2);
    ck_assert_int_eq(place_parse(&p, "core", "l3cache", msg, sizeof msg), 0);
    ck_assert_int_eq(place_rank(&p, t, 0, &s, msg, sizeof msg), -2);
    topo_free(t);
}
END_TEST

Suite *suite_binding(void)
{
    Suite *s = suite_create("launch/binding");
    TCase *t = tcase_create("place");
    tcase_add_test(t, layouts);
    tcase_add_test(t, none);
    tcase_add_test(t, mistakes);
    suite_add_tcase(s, t);
    return s;
}
