/* unit_obj.h - a process of one rank with the rooms that obj/ needs. */
#ifndef UNIT_OBJ_H
#define UNIT_OBJ_H

#include "unit.h"

#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "obj/obj.h"
#include "progress/progress.h"
#include "var/var.h"

static inline void obj_up(void)
{
    char msg[200];
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    ck_assert_int_eq(boot_init(NULL), 0);
    lock_init(&proc->lock);
    ck_assert_int_eq(mem_init(), 0);
    ck_assert_int_eq(progress_init(), 0);
    ck_assert_int_eq(obj_init(), 0);
}

static inline void obj_down(void)
{
    obj_finalize();
    progress_finalize();
    mem_finalize();
    boot_finalize();
    var_finalize();
}

/* A suite of tests that each run in such a process. */
static inline Suite *obj_suite(const char *name, const TTest *const *tests, int n)
{
    Suite *s = suite_create(name);
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, obj_up, obj_down);
    for (int i = 0; i < n; i++)
        tcase_add_test(c, tests[i]);
    suite_add_tcase(s, c);
    return s;
}
#define OBJ_SUITE(name, ...)                                                               \
    Suite *suite_##name(void);                                                             \
    Suite *suite_##name(void)                                                              \
    {                                                                                      \
        const TTest *const tests[] = {__VA_ARGS__};                                        \
        return obj_suite(#name, tests, (int)(sizeof tests / sizeof *tests));               \
    }

#endif
