/* test_upcall.c - obj/upcall.c: marks of calls of the program's code, which end in any order; those
 * of error handlers, which may never end. */
#include "unit_obj.h"

#include <setjmp.h>

#include "obj/upcall.h"

START_TEST(any_order)
{
    struct upcall a, b;
    ck_assert(!upcall_inside());
    upcall_begin(&a);
    upcall_begin(&b);
    upcall_end(&a);
    ck_assert(upcall_inside());
    upcall_end(&b);
    ck_assert(!upcall_inside());
    upcall_begin(&a);
    a.thread = &b; /* another thread's */
    ck_assert(!upcall_inside());
    upcall_end(&a);
}
END_TEST

static jmp_buf out;

static __attribute__((noinline)) int marked(int jumps)
{
    volatile char deep[4096];
    deep[0] = 1;
    struct upcall *c = upcall_mark();
    int inside = upcall_inside();
    if (jumps)
        longjmp(out, 1 + inside);
    upcall_unmark(c);
    return inside + 0 * deep[0];
}

static __attribute__((noinline)) int deeper(int jumps)
{
    volatile char deep[4096];
    deep[0] = 1;
    return marked(jumps) + 0 * deep[0];
}

START_TEST(handlers)
{
    ck_assert(deeper(0));
    ck_assert(!upcall_inside());
    int was = setjmp(out);
    if (!was)
        deeper(1);
    ck_assert_int_eq(was, 2);
    ck_assert(!upcall_inside()); /* it was left */
    ck_assert_ptr_nonnull(proc->obj->upcalls);
    ck_assert(marked(0));
    ck_assert_ptr_null(proc->obj->upcalls);
    if (!setjmp(out))
        marked(1);
    ck_assert(!upcall_inside()); /* the end of the room frees it */
}
END_TEST

OBJ_SUITE(upcall, any_order, handlers)
