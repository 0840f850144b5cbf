/* test_info.c - obj/info.c: pairs keep their order, copies are their own, truth, alignment,
 * environment. */
#include "unit_obj.h"

#include <errno.h>
#include <mpi.h>

#include "obj/attr.h"

START_TEST(pairs_keep_their_order)
{
    struct info *i = info_make();
    ck_assert_int_eq(info_put(i, "b", "1"), 0);
    ck_assert_int_eq(info_put(i, "a", "2"), 0);
    ck_assert_int_eq(info_put(i, "c", "3"), 0);
    ck_assert_int_eq(info_put(i, "a", "a longer one"), 0); /* replaces in place */
    ck_assert_int_eq(info_count(i), 3);
    ck_assert_str_eq(LIST_OBJ(i->pairs.next->next, struct info_pair, link)->key, "a");
    ck_assert_str_eq(info_value(i, "a"), "a longer one");
    ck_assert_ptr_null(info_value(i, "d"));
    ck_assert_int_eq(info_remove(i, "b"), 0);
    ck_assert_int_eq(info_remove(i, "b"), -ENOENT);
    ck_assert_int_eq(info_count(i), 2);
    info_drop(i);
}
END_TEST

START_TEST(copies_are_their_own)
{
    struct info *i = info_make();
    info_put(i, "key", "one");
    struct info *c = info_copy(i), *empty = info_copy(NULL);
    info_put(i, "key", "two");
    ck_assert_str_eq(info_value(c, "key"), "one");
    ck_assert_int_eq(info_count(empty), 0);
    ck_assert_int_eq(info_merge(c, i), 0);
    ck_assert_str_eq(info_value(c, "key"), "two");
    ck_assert_int_eq(info_merge(c, NULL), 0);
    ck_assert_ptr_null(info_value(NULL, "key"));
    info_drop(i);
    info_drop(c);
    info_drop(empty);
}
END_TEST

START_TEST(truth)
{
    struct info *i = info_make();
    info_put(i, "t", "TRUE");
    info_put(i, "f", "false");
    info_put(i, "x", "1");
    ck_assert_int_eq(info_truth(i, "t", 0), 1);
    ck_assert_int_eq(info_truth(i, "f", 1), 0);
    ck_assert_int_eq(info_truth(i, "x", 5), 5);
    ck_assert_int_eq(info_truth(i, "none", 0), 0);
    info_drop(i);
}
END_TEST

START_TEST(alignment)
{
    static const struct {
        const char *text;
        size_t bytes;
    } v[] = {{"1", 1},
             {"64", 64},
             {"0064", 64},
             {"4611686018427387904", (size_t)1 << 62},
             {"9223372036854775808", 0},
             {"0", 0},
             {"3", 0},
             {"-8", 0},
             {"8 ", 0},
             {"0x40", 0},
             {"99999999999999999999", 0}};
    struct info *i = info_make();
    ck_assert_uint_eq(info_alignment(i), 0);
    ck_assert_uint_eq(info_alignment(NULL), 0);
    for (size_t k = 0; k < sizeof v / sizeof *v; k++) {
        info_put(i, "mpi_minimum_memory_alignment", v[k].text);
        ck_assert_uint_eq(info_alignment(i), v[k].bytes);
    }
    info_drop(i);
}
END_TEST

START_TEST(environment)
{
    struct info *i = obj_find(OBJ_INFO, MPI_INFO_ENV);
    ck_assert_ptr_eq(i, proc->obj->info_env);
    ck_assert_str_eq(info_value(i, "maxprocs"), "1");
    ck_assert_ptr_nonnull(info_value(i, "command"));
    ck_assert_ptr_nonnull(info_value(i, "wdir"));
    ck_assert_ptr_nonnull(info_value(i, "arch"));
    ck_assert_ptr_nonnull(info_value(i, "host"));
}
END_TEST

OBJ_SUITE(info, pairs_keep_their_order, copies_are_their_own, truth, alignment, environment)
