#include "unit.h"

#include "tp/tp_types.h"

Suite *suite_open(void);

/* self and shm are always there, in this order; a list given by tp_use takes their place. */
START_TEST(lists)
{
    static const struct tp_ops *const mine[] = {&tp_none_ops, NULL};
    ck_assert_ptr_eq(tp_active(), tp_list);
    ck_assert_ptr_eq(tp_list[0], &tp_self_ops);
    ck_assert_ptr_eq(tp_list[1], &tp_shm_ops);
    ck_assert_ptr_eq(tp_find("shm"), &tp_shm_ops);
    ck_assert_ptr_null(tp_find("none"));
    ck_assert_int_eq(tp_use(mine), 0);
    ck_assert_ptr_eq(tp_active(), mine);
    ck_assert_ptr_eq(tp_find("none"), &tp_none_ops);
    ck_assert_ptr_null(tp_find("shm"));
    ck_assert_int_eq(tp_use(NULL), 0);
    ck_assert_ptr_eq(tp_active(), tp_list);
}
END_TEST

Suite *suite_open(void)
{
    Suite *s = suite_create("tp/open");
    TCase *t = tcase_create("open");
    tcase_add_test(t, lists);
    suite_add_tcase(s, t);
    return s;
}
