/* test_obj.c - obj/obj.c: handles name their objects, numbers that are no handles, an index is
 * used again, predefined handles, info outlives the rest. */
#include "unit_obj.h"

#include <mpi.h>
#include <stdlib.h>

#include "obj/attr.h"

START_TEST(handles_name_their_objects)
{
    enum { N = 3 * OBJ_BLOCK * 20 }; /* more blocks than the first array of them holds */
    struct obj *o = calloc(N, sizeof *o);
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(obj_add(OBJ_WIN, &o[i]), 0);
        /* kind 2, type 8, index in order */
        ck_assert_int_eq(o[i].handle, (int)(0xa0000000u + (unsigned)i));
        ck_assert_int_eq(o[i].refs, 1);
    }
    for (int i = 0; i < N; i++) {
        ck_assert_ptr_eq(obj_find(OBJ_WIN, o[i].handle), &o[i]);
        ck_assert_ptr_null(obj_find(OBJ_COMM, o[i].handle));
    }
    ck_assert_uint_eq(proc->obj->table[OBJ_WIN].live, N);
    for (int i = 0; i < N; i++) {
        int h = o[i].handle;
        obj_del(OBJ_WIN, &o[i]);
        ck_assert_ptr_null(obj_find(OBJ_WIN, h));
        ck_assert_int_eq(o[i].handle, 0);
    }
    ck_assert_uint_eq(proc->obj->table[OBJ_WIN].live, 0);
    free(o);
}
END_TEST

START_TEST(numbers_that_are_no_handles)
{
    static const unsigned bad[] = {0,          1,          0x04000000, 0x84000000,
                                   0x84ffffff, 0x87ffffff, 0xc4000000, 0x44000002,
                                   0x440000ff, 0x44000100, 0xffffffff, 0x7fffffff};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int k = 1; k < OBJ_KINDS; k++)
            ck_assert_ptr_null(obj_find(k, (int)bad[i]));
}
END_TEST

START_TEST(an_index_is_used_again)
{
    struct obj a, b, c;
    obj_add(OBJ_WIN, &a);
    obj_add(OBJ_WIN, &b);
    int h = a.handle;
    obj_del(OBJ_WIN, &a);
    obj_add(OBJ_WIN, &c);
    ck_assert_int_eq(c.handle, h);
    ck_assert_ptr_eq(obj_find(OBJ_WIN, h), &c);
    obj_del(OBJ_WIN, &c);
    obj_del(OBJ_WIN, &b);
}
END_TEST

START_TEST(predefined_handles)
{
    struct obj o;
    obj_set_builtin(OBJ_TYPE, MPI_INT, &o);
    ck_assert_ptr_eq(obj_find(OBJ_TYPE, MPI_INT), &o);
    ck_assert_ptr_null(obj_find(OBJ_TYPE, MPI_INT & ~0xff00)); /* another size, the same low byte */
    ck_assert(obj_is_builtin(&o));
    obj_del(OBJ_TYPE, &o);
    ck_assert_ptr_null(obj_find(OBJ_TYPE, MPI_INT));
}
END_TEST

START_TEST(info_outlives_the_rest)
{
    struct info *i = info_make();
    ck_assert_int_eq(obj_add(OBJ_INFO, &i->obj), 0);
    int h = i->obj.handle;
    ck_assert_int_eq(info_put(i, "key", "value"), 0);
    obj_finalize();
    ck_assert_ptr_nonnull(proc->obj);
    ck_assert_ptr_eq(obj_find(OBJ_INFO, h), i);
    ck_assert_int_eq(obj_init(), 0);
    ck_assert_ptr_eq(obj_find(OBJ_INFO, h), i);
    obj_finalize();
    info_drop(i);
    obj_late();
    ck_assert_ptr_null(proc->obj);
    ck_assert_int_eq(obj_early(), 0);
    obj_late();
    ck_assert_ptr_null(proc->obj);
}
END_TEST

OBJ_SUITE(obj, handles_name_their_objects, numbers_that_are_no_handles, an_index_is_used_again,
          predefined_handles, info_outlives_the_rest)
