/* test_f90.c - parameterised Fortran types: the smallest kind, one per request, predefined in all
 * but the envelope. */
#include "model.h"

#include "obj/err.h"

Suite *suite_f90(void);

static struct dt_type *make(int combiner, int p, int r)
{
    struct dt_type *t = NULL;
    ck_assert_int_eq(dt_make_f90(combiner, p, r, &t), MPI_SUCCESS);
    return t;
}

START_TEST(smallest_kind)
{
    ck_assert_int_eq(make(MPI_COMBINER_F90_REAL, 6, 30)->size, 4);
    ck_assert_int_eq(make(MPI_COMBINER_F90_REAL, 7, MPI_UNDEFINED)->size, 8);
    ck_assert_int_eq(make(MPI_COMBINER_F90_REAL, MPI_UNDEFINED, 308)->size, 16);
    ck_assert_int_eq(make(MPI_COMBINER_F90_COMPLEX, 15, 307)->size, 16);
    ck_assert_int_eq(make(MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, 2)->size, 1);
    ck_assert_int_eq(make(MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, 10)->size, 8);
    struct dt_type *t = NULL;
    ck_assert_int_eq(err_class(dt_make_f90(MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, 19, &t)),
                     MPI_ERR_ARG);
    ck_assert_int_eq(err_class(dt_make_f90(MPI_COMBINER_F90_REAL, 34, MPI_UNDEFINED, &t)),
                     MPI_ERR_ARG);
}
END_TEST

START_TEST(one_per_request)
{
    struct dt_type *a = make(MPI_COMBINER_F90_REAL, 10, 100);
    ck_assert_ptr_eq(make(MPI_COMBINER_F90_REAL, 10, 100), a);
    ck_assert_ptr_ne(make(MPI_COMBINER_F90_REAL, 11, 100), a);
    ck_assert_ptr_ne(make(MPI_COMBINER_F90_COMPLEX, 10, 100), a);
    ck_assert(a->flags & DT_PREDEFINED && a->flags & DT_COMMITTED);
    ck_assert_int_eq(dt_op_check(dt_op_find(MPI_SUM), a, DT_FOR_REDUCE), MPI_SUCCESS);
    double x = 1.5, y = 2;
    dt_op_apply(dt_op_find(MPI_SUM), &x, &y, 1, a);
    ck_assert(y == 3.5);
    ck_assert_int_eq(a->contents->combiner, MPI_COMBINER_F90_REAL);
    ck_assert(a->contents->ints[0] == 10 && a->contents->ints[1] == 100);
}
END_TEST

Suite *suite_f90(void)
{
    Suite *s = suite_create("dt/f90");
    TCase *t = tcase_create("f90");
    tcase_add_checked_fixture(t, room_setup, NULL);
    tcase_add_test(t, smallest_kind);
    tcase_add_test(t, one_per_request);
    suite_add_tcase(s, t);
    return s;
}
