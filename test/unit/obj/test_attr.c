/* test_attr.c - obj/attr.c: set get replace delete, copies in order, a failing delete keeps the
 * value, keyvals live while used, wrong keys, callbacks may change the list, forms, proxies. */
#include "unit_obj.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "obj/attr.h"
#include "obj/err.h"

enum { HOLDER = 77, OTHER = 78 };
static char trace[200];
static struct attr_list list, copy;
static int keys[4], fail_at;

static void note(char what, int key)
{
    size_t n = strlen(trace);
    int k = 0;
    while (k < 4 && keys[k] != key)
        k++;
    trace[n] = what;
    trace[n + 1] = (char)('0' + k);
    trace[n + 2] = 0;
}

static int on_copy(int old, int key, void *extra, void *in, void *out, int *flag)
{
    note('c', key);
    ck_assert_int_eq(old, HOLDER);
    if (fail_at && keys[fail_at] == key)
        return MPI_ERR_OTHER;
    *(void **)out = (char *)in + (intptr_t)extra;
    *flag = extra != NULL;
    return MPI_SUCCESS;
}

static int on_delete(int holder, int key, void *value, void *extra)
{
    note('d', key);
    return fail_at && keys[fail_at] == key ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void make_keys(void)
{
    attr_list_init(&list);
    attr_list_init(&copy);
    trace[0] = 0;
    fail_at = 0;
    for (int i = 0; i < 4; i++) /* key 3 is not copied */
        ck_assert_int_eq(keyval_create(OBJ_COMM, (void *)on_copy, (void *)on_delete, &keys[i],
                                       i == 3 ? NULL : (void *)1, 0),
                         0);
}

static char bytes[8];

static void set_all(void)
{
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(attr_set(OBJ_COMM, HOLDER, &list, keys[i], &bytes[i], "x"), 0);
}

static void *get(struct attr_list *l, int key)
{
    void *v = NULL;
    int flag = 2;
    ck_assert_int_eq(attr_get(OBJ_COMM, l, key, &v, &flag, "x"), 0);
    ck_assert_int_eq(flag, v != NULL);
    return v;
}

START_TEST(set_get_replace_delete)
{
    make_keys();
    ck_assert_ptr_null(get(&list, keys[0]));
    set_all();
    ck_assert_str_eq(trace, "");
    ck_assert_ptr_eq(get(&list, keys[2]), &bytes[2]);
    ck_assert_int_eq(attr_set(OBJ_COMM, HOLDER, &list, keys[2], &bytes[7], "x"), 0);
    ck_assert_str_eq(trace, "d2"); /* the old value was deleted */
    ck_assert_ptr_eq(get(&list, keys[2]), &bytes[7]);
    ck_assert_int_eq(attr_delete(OBJ_COMM, HOLDER, &list, keys[2], "x"), 0);
    ck_assert_str_eq(trace, "d2d2");
    ck_assert_ptr_null(get(&list, keys[2]));
    ck_assert_int_eq(err_class(attr_delete(OBJ_COMM, HOLDER, &list, keys[2], "x")), MPI_ERR_KEYVAL);
    ck_assert_int_eq(attr_delete_all(OBJ_COMM, HOLDER, &list), 0);
    ck_assert_str_eq(trace, "d2d2d3d1d0"); /* last set first */
}
END_TEST

START_TEST(copies_in_order)
{
    make_keys();
    set_all();
    ck_assert_int_eq(attr_copy(OBJ_COMM, HOLDER, &list, OTHER, &copy), 0);
    ck_assert_str_eq(trace, "c0c1c2c3");
    ck_assert_ptr_eq(get(&copy, keys[1]), &bytes[2]); /* what the callback made of it */
    ck_assert_ptr_null(get(&copy, keys[3]));          /* flag was 0 */
    attr_delete_all(OBJ_COMM, OTHER, &copy);
    trace[0] = 0;
    fail_at = 1;
    ck_assert_int_eq(attr_copy(OBJ_COMM, HOLDER, &list, OTHER, &copy), MPI_ERR_OTHER);
    ck_assert_str_eq(trace, "c0c1");
    fail_at = 0;
    attr_delete_all(OBJ_COMM, OTHER, &copy);
    attr_delete_all(OBJ_COMM, HOLDER, &list);
}
END_TEST

START_TEST(a_failing_delete_keeps_the_value)
{
    make_keys();
    set_all();
    fail_at = 2;
    ck_assert_int_eq(attr_set(OBJ_COMM, HOLDER, &list, keys[2], &bytes[7], "x"), MPI_ERR_OTHER);
    ck_assert_int_eq(attr_delete(OBJ_COMM, HOLDER, &list, keys[2], "x"), MPI_ERR_OTHER);
    ck_assert_ptr_eq(get(&list, keys[2]), &bytes[2]);
    ck_assert_int_eq(attr_delete_all(OBJ_COMM, HOLDER, &list), MPI_ERR_OTHER);
    ck_assert_ptr_eq(get(&list, keys[1]), &bytes[1]); /* it stopped there */
    ck_assert_ptr_null(get(&list, keys[3]));
    fail_at = 0;
    attr_delete_all(OBJ_COMM, HOLDER, &list);
}
END_TEST

START_TEST(keyvals_live_while_used)
{
    make_keys();
    int key = keys[0], again = keys[0];
    attr_set(OBJ_COMM, HOLDER, &list, key, &bytes[0], "x");
    ck_assert_int_eq(keyval_free(OBJ_COMM, &key, "x"), 0);
    ck_assert_int_eq(key, MPI_KEYVAL_INVALID);
    /* a second copy of the handle does no harm */
    ck_assert_int_eq(keyval_free(OBJ_COMM, &again, "x"), 0);
    ck_assert_ptr_eq(get(&list, keys[0]), &bytes[0]);
    ck_assert_int_eq(attr_delete(OBJ_COMM, HOLDER, &list, keys[0], "x"), 0);
    ck_assert_str_eq(trace, "d0");
    int flag;
    void *v;
    ck_assert_int_eq(err_class(attr_get(OBJ_COMM, &list, keys[0], &v, &flag, "x")), MPI_ERR_KEYVAL);
}
END_TEST

START_TEST(wrong_keys)
{
    int flag, key, bad[] = {MPI_KEYVAL_INVALID, 0, MPI_TAG_UB, -1};
    void *v;
    make_keys();
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(err_class(attr_get(OBJ_COMM, &list, bad[i], &v, &flag, "x")),
                         MPI_ERR_KEYVAL);
    ck_assert_int_eq(keyval_create(OBJ_WIN, NULL, NULL, &key, NULL, 0), 0);
    ck_assert_int_eq(err_class(attr_set(OBJ_COMM, HOLDER, &list, key, NULL, "x")), MPI_ERR_KEYVAL);
    ck_assert_int_eq(err_class(keyval_free(OBJ_TYPE, &key, "x")), MPI_ERR_KEYVAL);
    ck_assert_int_eq(keyval_free(OBJ_WIN, &key, "x"), 0);
}
END_TEST

/* Callbacks that work on the list they are called for. */
static int delete_nested(int holder, int key, void *value, void *extra)
{
    note('d', key);
    if (key == keys[1]) {
        ck_assert_ptr_eq(get(&list, key), value); /* still there for a look */
        /* and not deleted twice */
        ck_assert_int_eq(attr_delete(OBJ_COMM, HOLDER, &list, key, "x"), 0);
        ck_assert_int_eq(attr_delete(OBJ_COMM, HOLDER, &list, keys[0], "x"), 0);
        ck_assert_int_eq(keyval_free(OBJ_COMM, &keys[3], "x"), 0);
    }
    return MPI_SUCCESS;
}

static int copy_nested(int old, int key, void *extra, void *in, void *out, int *flag)
{
    note('c', key);
    if (key == keys[0])
        ck_assert_int_eq(attr_delete(OBJ_COMM, HOLDER, &list, keys[1], "x"), 0);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

START_TEST(callbacks_may_change_the_list)
{
    make_keys();
    for (int i = 0; i < 3; i++)
        keyval_create(OBJ_COMM, (void *)copy_nested, (void *)delete_nested, &keys[i], NULL, 0);
    for (int i = 0; i < 3; i++)
        attr_set(OBJ_COMM, HOLDER, &list, keys[i], &bytes[i], "x");
    proc->call = "MPI_Comm_free";
    ck_assert_int_eq(attr_delete_all(OBJ_COMM, HOLDER, &list), 0);
    ck_assert_str_eq(trace, "d2d1d0");
    ck_assert_str_eq(proc->call, "MPI_Comm_free");
    make_keys();
    for (int i = 0; i < 3; i++) {
        keyval_create(OBJ_COMM, (void *)copy_nested, (void *)on_delete, &keys[i], NULL, 0);
        attr_set(OBJ_COMM, HOLDER, &list, keys[i], &bytes[i], "x");
    }
    ck_assert_int_eq(attr_copy(OBJ_COMM, HOLDER, &list, OTHER, &copy), 0);
    ck_assert_str_eq(trace, "c0d1c2");
    attr_delete_all(OBJ_COMM, HOLDER, &list);
    attr_delete_all(OBJ_COMM, OTHER, &copy);
}
END_TEST

/* Set by Fortran, seen by C, and the other way round (MPI-3.1 17.2.7). */
static const void *seen;

static int copy_seen(int old, int key, void *extra, void *in, void *out, int *flag)
{
    seen = in;
    ck_assert_int_eq(*(MPI_Aint *)in, -5);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void *get_as(struct attr_list *l, int key, enum attr_form form)
{
    void *v = NULL;
    int flag;
    ck_assert_int_eq(attr_get_as(OBJ_COMM, l, key, &v, &flag, form, "x"), 0);
    ck_assert_int_eq(flag, 1);
    return v;
}

START_TEST(forms)
{
    int key;
    make_keys();
    ck_assert_int_eq(keyval_create(OBJ_COMM, (void *)copy_seen, NULL, &key, NULL, 0), 0);
    attr_set_as(OBJ_COMM, HOLDER, &list, key, (void *)(intptr_t)-5, ATTR_INT, "x");
    ck_assert_int_eq(*(int *)get_as(&list, key, ATTR_POINTER), -5);
    ck_assert_int_eq((intptr_t)get_as(&list, key, ATTR_AINT), -5);
    attr_set_as(OBJ_COMM, HOLDER, &list, key, (void *)(intptr_t)-5, ATTR_AINT, "x");
    ck_assert_int_eq(*(MPI_Aint *)get_as(&list, key, ATTR_POINTER), -5);
    ck_assert_int_eq(attr_copy(OBJ_COMM, HOLDER, &list, OTHER, &copy), 0);
    ck_assert_int_eq((intptr_t)get_as(&copy, key, ATTR_INT), -5); /* the integer, not its address */
    ck_assert_ptr_ne(get_as(&copy, key, ATTR_POINTER), seen);
    attr_delete_all(OBJ_COMM, OTHER, &copy);
    attr_set(OBJ_COMM, HOLDER, &list, key, &bytes[3], "x");
    ck_assert_ptr_eq(get_as(&list, key, ATTR_AINT), &bytes[3]);
    attr_delete_all(OBJ_COMM, HOLDER, &list);
}
END_TEST

static int proxy_copy(MPI_Comm_copy_attr_function *fn, int handle, int key, void *extra, int form,
                      void *value, void **copied, int *flag)
{
    ck_assert_ptr_eq((void *)fn, (void *)on_copy);
    ck_assert_int_eq(form, ATTR_INT);
    note('C', key);
    *copied = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int proxy_delete(MPI_Comm_delete_attr_function *fn, int handle, int key, int form,
                        void *value, void *extra)
{
    ck_assert_ptr_eq((void *)fn, (void *)on_delete);
    note('D', key);
    return MPI_SUCCESS;
}

START_TEST(proxies)
{
    make_keys();
    keyval_set_proxy(keys[1], proxy_copy, proxy_delete);
    keyval_set_proxy(-1, proxy_copy, proxy_delete);
    attr_set_as(OBJ_COMM, HOLDER, &list, keys[1], (void *)7, ATTR_INT, "x");
    ck_assert_int_eq(attr_copy(OBJ_COMM, HOLDER, &list, OTHER, &copy), 0);
    ck_assert_int_eq((intptr_t)get_as(&copy, keys[1], ATTR_INT), 8);
    attr_delete_all(OBJ_COMM, OTHER, &copy);
    attr_delete_all(OBJ_COMM, HOLDER, &list);
    ck_assert_str_eq(trace, "C1D1D1");
}
END_TEST

OBJ_SUITE(attr, set_get_replace_delete, copies_in_order, a_failing_delete_keeps_the_value,
          keyvals_live_while_used, wrong_keys, callbacks_may_change_the_list, forms, proxies)
