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
    struct upcall_witness w = {0};
    upcall_mark(&w);
    int inside = upcall_inside();
    if (jumps)
        longjmp(out, 1 + inside);
    upcall_unmark(&w);
    return inside + 0 * deep[0];
}

static __attribute__((noinline)) int deeper(int jumps)
{
    volatile char deep[4096];
    deep[0] = 1;
    return marked(jumps) + 0 * deep[0];
}

/* In calls that need more of the stack than those that were left. */
static __attribute__((noinline)) int inside_below(void)
{
    volatile char deep[4 * 4096];
    for (size_t i = 0; i < sizeof deep; i++)
        deep[i] = 1;
    return upcall_inside() + 0 * deep[0];
}

START_TEST(handlers)
{
    ck_assert(deeper(0));
    ck_assert_ptr_null(proc->obj->upcalls);
    int was = setjmp(out);
    if (!was)
        deeper(1);
    ck_assert_int_eq(was, 2);
    ck_assert(!upcall_inside()); /* it was left */
    ck_assert(!inside_below());
    ck_assert_ptr_null(proc->obj->upcalls);
    if (!setjmp(out))
        deeper(1);
    ck_assert(!inside_below()); /* no look came before */
    ck_assert_ptr_null(proc->obj->upcalls);
    if (!setjmp(out))
        marked(1);
    ck_assert(!upcall_inside()); /* the end of the room frees it, or an earlier look */
}
END_TEST

/* A thread that changes stacks: what seems to be left is not, and what was ended is not ended
 * twice. */
START_TEST(other_stacks)
{
    struct upcall_witness w = {0}, none = {0};
    upcall_mark(&w);
    struct upcall *c = w.mark;
    c->frame = NULL; /* as from a stack below */
    ck_assert(!upcall_inside());
    ck_assert_ptr_eq(proc->obj->upcalls, c);
    upcall_unmark(&none);
    ck_assert_ptr_eq(proc->obj->upcalls, c);
    upcall_unmark(&w);
    ck_assert_ptr_null(proc->obj->upcalls);
    upcall_unmark(&w);
    upcall_mark(&w);
    w.magic++;
    ck_assert(!upcall_inside());
    ck_assert_ptr_null(proc->obj->upcalls);
    upcall_unmark(&w);
}
END_TEST

OBJ_SUITE(upcall, any_order, handlers, other_stacks)
