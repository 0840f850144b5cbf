/* test_predef.c - predefined types: handles, sizes, names. */
#include "model.h"

#include <string.h>

Suite *suite_predef(void);

START_TEST(handles_tell_sizes)
{
    struct dt_type *t;
    int n = 0;
    for (; (t = dt_predefined(n)); n++) {
        MPI_Datatype h = t->obj.handle;
        ck_assert_ptr_eq(dt_find(h), t);
        ck_assert(t->flags & DT_PREDEFINED && t->flags & DT_COMMITTED);
        if (t->elem.kind != DT_NONE && ((unsigned)h >> 30) == 1)
            ck_assert_uint_eq(dt_handle_bytes(h), (unsigned)t->size);
        else if (t->elem.kind == DT_PAIR)
            ck_assert_uint_eq(dt_handle_bytes(h), 0);
        ck_assert(strncmp(dt_default_name(t), "MPI", 3) == 0);
    }
    ck_assert_int_eq(n, 65);
    ck_assert_ptr_null(dt_find(MPI_DATATYPE_NULL));
    ck_assert_ptr_null(dt_find(0x4c000401)); /* MPI_CHAR's index with another size */
    ck_assert_ptr_null(dt_find(MPI_COMM_WORLD));
    ck_assert_ptr_null(dt_find(MPI_DATATYPE_NULL + 77));
}
END_TEST

START_TEST(pairs)
{
    static const struct { MPI_Datatype h; int size, extent;
    } want[] = {
        {MPI_FLOAT_INT, 8, 8},
        {MPI_DOUBLE_INT, 12, 16},
        {MPI_LONG_INT, 12, 16},
        {MPI_SHORT_INT, 6, 8},
        {MPI_2INT, 8, 8},
        {MPI_LONG_DOUBLE_INT, sizeof(long double) + 4, 2 * sizeof(long double)},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct dt_type *t = dt_find(want[i].h);
        ck_assert_int_eq(t->size, want[i].size);
        ck_assert_int_eq(t->extent, want[i].extent);
        ck_assert_int_eq(dt_elements(t, (size_t)t->size), 2);
    }
}
END_TEST

START_TEST(match_size)
{
    ck_assert_int_eq(dt_match_size(MPI_TYPECLASS_INTEGER, 4)->obj.handle, MPI_INTEGER4);
    ck_assert_int_eq(dt_match_size(MPI_TYPECLASS_REAL, 8)->obj.handle, MPI_REAL8);
    ck_assert_int_eq(dt_match_size(MPI_TYPECLASS_COMPLEX, 16)->obj.handle, MPI_COMPLEX16);
    ck_assert_ptr_null(dt_match_size(MPI_TYPECLASS_INTEGER, 3));
}
END_TEST

Suite *suite_predef(void)
{
    Suite *s = suite_create("dt/predef");
    TCase *t = room_case("predef", 10);
    tcase_add_test(t, handles_tell_sizes);
    tcase_add_test(t, pairs);
    tcase_add_test(t, match_size);
    suite_add_tcase(s, t);
    return s;
}
