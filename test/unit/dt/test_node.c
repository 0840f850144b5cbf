/* test_node.c - normalisation: equal layouts become equal nodes, however they were described. */
#include "model.h"

Suite *suite_node(void);

static void is_block(const struct dt_type *t, int64_t len)
{
    ck_assert_int_eq(t->node->kind, NODE_BLOCK);
    ck_assert_int_eq(t->node->size, len);
}

START_TEST(blocks_join)
{
    struct dt_type *t, *u, *dbl = dt_find(MPI_DOUBLE), *in = dt_find(MPI_INT);
    ck_assert_int_eq(dt_make_vector(4, 2, 2, dbl, &t), MPI_SUCCESS);
    is_block(t, 64);
    ck_assert(t->flags & DT_CONTIG);
    ck_assert_int_eq(dt_make_contiguous(3, t, &u), MPI_SUCCESS);
    is_block(u, 192);
    dt_drop(t);
    dt_drop(u);
    const int64_t lens[3] = {1, 2, 1}, off[3] = {0, 4, 12};
    struct dt_type *types[3] = {in, in, in};
    ck_assert_int_eq(dt_make_struct(3, lens, off, types, &t), MPI_SUCCESS);
    is_block(t, 16);
    ck_assert_ptr_eq(t->basic, in);
    dt_drop(t);
    ck_assert_int_eq(dt_make_indexed_b(3, lens, 0, off, in, &t), MPI_SUCCESS);
    is_block(t, 16);
    dt_drop(t);
}
END_TEST

START_TEST(equal_spacing_is_a_vector)
{
    struct dt_type *t, *u, *dbl = dt_find(MPI_DOUBLE);
    const int64_t off[4] = {8, 40, 72, 104};
    ck_assert_int_eq(dt_make_indexed_b(4, NULL, 2, off, dbl, &t), MPI_SUCCESS);
    ck_assert_int_eq(t->node->kind, NODE_VECTOR);
    ck_assert_int_eq(t->node->n, 4);
    ck_assert_int_eq(t->node->stride, 32);
    is_block(&(struct dt_type){.node = t->node->kid}, 16);
    ck_assert_int_eq(t->origin, 8);
    ck_assert_int_eq(dt_make_resized(t, 0, 128, &u), MPI_SUCCESS);
    dt_drop(t);
    ck_assert_int_eq(dt_make_contiguous(5, u, &t), MPI_SUCCESS); /* goes on with the same spacing */
    ck_assert_int_eq(t->node->kind, NODE_VECTOR);
    ck_assert_int_eq(t->node->n, 20);
    ck_assert_int_eq(t->node->depth, 2);
    dt_drop(t);
    dt_drop(u);
}
END_TEST

START_TEST(nothing_is_nothing)
{
    struct dt_type *t, *u, *dbl = dt_find(MPI_DOUBLE);
    ck_assert_int_eq(dt_make_contiguous(0, dbl, &t), MPI_SUCCESS);
    ck_assert_ptr_null(t->node);
    ck_assert_ptr_null(t->sig);
    ck_assert_int_eq(dt_make_vector(5, 3, 7, t, &u), MPI_SUCCESS);
    ck_assert_ptr_null(u->node);
    ck_assert_int_eq(u->extent, 0);
    ck_assert_uint_eq(dt_pack(u, 100, NULL, 0, NULL, 10), 0);
    ck_assert_uint_eq(dt_blocks(u, 4), 0);
    dt_drop(t);
    dt_drop(u);
}
END_TEST

START_TEST(single_entries_vanish)
{
    struct dt_type *t, *u, *v;
    const int64_t one[1] = {1}, off[1] = {24};
    ck_assert_int_eq(dt_make_vector(3, 1, 2, dt_find(MPI_INT), &t), MPI_SUCCESS);
    ck_assert_int_eq(dt_make_struct(1, one, off, &t, &u), MPI_SUCCESS);
    ck_assert_ptr_eq(u->node, t->node); /* shared, not copied */
    ck_assert_int_eq(u->origin, 24);
    ck_assert_int_eq(dt_make_dup(u, &v), MPI_SUCCESS);
    ck_assert_ptr_eq(v->node, t->node);
    dt_drop(t);
    dt_drop(u);
    dt_drop(v);
}
END_TEST

Suite *suite_node(void)
{
    Suite *s = suite_create("dt/node");
    TCase *t = room_case("node", 10);
    tcase_add_test(t, blocks_join);
    tcase_add_test(t, equal_spacing_is_a_vector);
    tcase_add_test(t, nothing_is_nothing);
    tcase_add_test(t, single_entries_vanish);
    suite_add_tcase(s, t);
    return s;
}
