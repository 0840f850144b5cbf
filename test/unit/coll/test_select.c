/* test_select.c - coll/select.c: sizes choose, the variable overrides, wrong texts are refused. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "coll/select.h"
#include "var/var.h"

Suite *suite_select(void);

static void set(const char *text)
{
    char msg[200];
    ck_assert_int_eq(cvar_set("MPIR_CVAR_COLL_ALGORITHMS", text, msg, sizeof msg), 0);
}

START_TEST(sizes_choose)
{
    set("");
    ck_assert_int_eq(coll_select(FAM_BCAST, 8, 16), ALG_BINOMIAL);
    ck_assert_int_eq(coll_select(FAM_BCAST, 1 << 22, 16), ALG_SCATTER_RING);
    ck_assert_int_eq(coll_select(FAM_BCAST, 1 << 22, 2), ALG_BINOMIAL);
    ck_assert_int_eq(coll_select(FAM_ALLREDUCE, 8, 1000), ALG_DOUBLING);
    ck_assert_int_eq(coll_select(FAM_ALLREDUCE, 1 << 20, 1000), ALG_RING);
    for (int f = 0; f < FAM_COUNT; f++) /* whatever is asked, a row fits */
        for (size_t bytes = 0; bytes < SIZE_MAX / 4; bytes = bytes * 3 + 1)
            for (int p = 1; p < 1 << 29; p *= 3)
                ck_assert_int_lt(coll_select(f, bytes, p), ALG_COUNT);
}
END_TEST

START_TEST(the_variable_overrides)
{
    char msg[200];
    set("bcast=scatter_ring, allreduce=ring");
    ck_assert_int_eq(coll_select_check(msg, sizeof msg), 0);
    ck_assert_int_eq(coll_select(FAM_BCAST, 8, 16), ALG_SCATTER_RING);
    ck_assert_int_eq(coll_select(FAM_ALLREDUCE, 8, 16), ALG_RING);
    ck_assert_int_eq(coll_select(FAM_REDUCE, 8, 16), ALG_BINOMIAL);
    set("");
}
END_TEST

START_TEST(wrong_texts_are_refused)
{
    static const char *const wrong[] = {"bcast",      "bcast=", "bcast=quick",       "cast=ring",
                                        "bcast=ring", "=",      "bcast=binomial,x=y"};
    char msg[200];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        set(wrong[i]);
        ck_assert_int_eq(coll_select_check(msg, sizeof msg), -EINVAL);
        ck_assert_ptr_nonnull(strstr(msg, wrong[i]));
    }
    set("");
}
END_TEST

Suite *suite_select(void)
{
    Suite *s = suite_create("coll/select");
    TCase *t = tcase_create("select");
    tcase_add_test(t, sizes_choose);
    tcase_add_test(t, the_variable_overrides);
    tcase_add_test(t, wrong_texts_are_refused);
    suite_add_tcase(s, t);
    return s;
}
