/* test_group.c - obj/group.c: regular maps have no table, irregular maps, comparing maps, groups
 * share their map. */
#include "unit_obj.h"

#include <mpi.h>
#include <stdlib.h>

#include "obj/comm.h"

START_TEST(regular_maps_have_no_table)
{
    static const int lists[][5] = {
        {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {1, 4, 7, 10, 13}, {9, 7, 5, 3, 1}};
    for (int k = 0; k < 4; k++) {
        struct rankmap *m = rankmap_make(lists[k], 5);
        ck_assert_int_eq(m->kind, RANKMAP_STRIDE);
        ck_assert_ptr_null(m->table);
        for (int i = 0; i < 5; i++) {
            ck_assert_int_eq(rankmap_world(m, i), lists[k][i]);
            ck_assert_int_eq(rankmap_find(m, lists[k][i]), i);
        }
        ck_assert_int_eq(rankmap_find(m, 100), -1);
        ck_assert_int_eq(rankmap_find(m, -1), -1);
        rankmap_drop(m);
    }
    struct rankmap *empty = rankmap_make(NULL, 0);
    ck_assert_int_eq(empty->size, 0);
    ck_assert_int_eq(rankmap_find(empty, 0), -1);
    rankmap_drop(empty);
}
END_TEST

START_TEST(irregular_maps)
{
    int list[100];
    for (int i = 0; i < 100; i++)
        list[i] = i * 37 % 101; /* a permutation without stride */
    struct rankmap *m = rankmap_make(list, 100);
    struct rankindex x;
    ck_assert_int_eq(m->kind, RANKMAP_TABLE);
    rankindex_init(&x, m);
    ck_assert_uint_eq(x.hash.count, 100);
    for (int w = -1; w < 110; w++)
        ck_assert_int_eq(rankindex_find(&x, w), rankmap_find(m, w));
    rankindex_destroy(&x);
    ck_assert_int_eq(rankmap_find(m, list[63]), 63);
    rankmap_ref(m);
    rankmap_drop(m);
    ck_assert_int_eq(rankmap_world(m, 5), list[5]);
    rankmap_drop(m);
}
END_TEST

START_TEST(comparing_maps)
{
    static const int a[] = {0, 2, 3}, b[] = {0, 2, 4};
    struct rankmap *ma = rankmap_make(a, 3), *mb = rankmap_make(b, 3), *ma2 = rankmap_make(a, 3),
                   *one = rankmap_make(a, 1), *one2 = rankmap_stride(0, 7, 1);
    ck_assert(rankmap_equal(ma, ma));
    ck_assert(rankmap_equal(ma, ma2));
    ck_assert(!rankmap_equal(ma, mb));
    ck_assert(!rankmap_equal(ma, one));
    ck_assert(rankmap_equal(one, one2)); /* the stride of one rank means nothing */
    rankmap_drop(ma);
    rankmap_drop(mb);
    rankmap_drop(ma2);
    rankmap_drop(one);
    rankmap_drop(one2);
}
END_TEST

START_TEST(groups_share_their_map)
{
    struct rankmap *m = rankmap_stride(0, 1, 4);
    struct group *g = group_make(m, 2);
    ck_assert_int_eq(m->refs, 2);
    ck_assert_ptr_eq(obj_find(OBJ_GROUP, g->obj.handle), g);
    group_drop(g);
    ck_assert_int_eq(m->refs, 1);
    rankmap_drop(m);
    struct group *empty = obj_find(OBJ_GROUP, MPI_GROUP_EMPTY);
    ck_assert_int_eq(empty->map->size, 0);
    group_drop(empty); /* stays */
    ck_assert_ptr_eq(obj_find(OBJ_GROUP, MPI_GROUP_EMPTY), empty);
}
END_TEST

OBJ_SUITE(group, regular_maps_have_no_table, irregular_maps, comparing_maps, groups_share_their_map)
