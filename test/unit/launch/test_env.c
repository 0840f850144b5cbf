/* test_env.c - launch/env.c: rules, order. */
#include "unit.h"

#include <string.h>

#include "launch/env.h"

Suite *suite_env(void);

static char *const from[] = {(char *)"A=1",        (char *)"AB=2", (char *)"C=", (char *)"PMI_FD=9",
                             (char *)"PMI_RANK=3", (char *)"ODD",  NULL};

START_TEST(rules)
{
    static const struct {
        enum env_mode global, own;
        const char *list;
        int a, ab; /* inherited? */
    } t[] = {
        {ENV_UNSET, ENV_UNSET, NULL, 1, 1}, {ENV_NONE, ENV_UNSET, NULL, 0, 0},
        {ENV_NONE, ENV_ALL, NULL, 1, 1},    {ENV_ALL, ENV_NONE, NULL, 0, 0},
        {ENV_ALL, ENV_LIST, "AB", 0, 1},    {ENV_ALL, ENV_LIST, ",A,,x", 1, 0},
        {ENV_NONE, ENV_LIST, "", 0, 0},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct args a = {.genv = {.mode = t[i].global}};
        struct env_spec own = {.mode = t[i].own, .list = t[i].list};
        struct block b = {.env = &own};
        struct env e;
        ck_assert_int_eq(env_of_block(&e, &a, &b, from), 0);
        ck_assert_int_eq(env_find(&e, "A") != NULL, t[i].a);
        ck_assert_int_eq(env_find(&e, "AB") != NULL, t[i].ab);
        ck_assert_ptr_null(env_find(&e, "PMI_FD")); /* of a launcher around us */
        ck_assert_ptr_null(env_find(&e, "PMI_RANK"));
        env_free(&e);
    }
}
END_TEST

START_TEST(order)
{
    struct args a = {.genv = {.n = 2, .name = {"A", "G"}, .value = {"g", "g"}}};
    struct env_spec own = {.n = 1, .name = {"G"}, .value = {"own"}};
    struct block b = {.env = &own}, plain = {.env = NULL};
    struct env e;
    ck_assert_int_eq(env_of_block(&e, &a, &b, from), 0);
    ck_assert_str_eq(env_find(&e, "A"), "g");
    ck_assert_str_eq(env_find(&e, "G"), "own");
    ck_assert_str_eq(env_find(&e, "C"), "");
    ck_assert_int_eq(env_put_int(&e, "PMI_RANK", 12), 0);
    ck_assert_int_eq(env_put_int(&e, "PMI_RANK", 13), 0);
    ck_assert_str_eq(env_find(&e, "PMI_RANK"), "13");
    int n = 0, ranks = 0;
    for (; e.var[n]; n++)
        ranks += !strncmp(e.var[n], "PMI_RANK=", 9);
    ck_assert_int_eq(n, e.n);
    ck_assert_int_eq(ranks, 1);
    env_free(&e);
    ck_assert_int_eq(env_of_block(&e, &a, &plain, from), 0);
    ck_assert_str_eq(env_find(&e, "G"), "g");
    env_free(&e);
}
END_TEST

Suite *suite_env(void)
{
    Suite *s = suite_create("launch/env");
    TCase *t = tcase_create("env");
    tcase_add_test(t, rules);
    tcase_add_test(t, order);
    suite_add_tcase(s, t);
    return s;
}
