/* test_identity.c - boot/identity.c: differs, text. */
#include "unit.h"

#include <stdlib.h>

#include "boot/boot_types.h"

Suite *suite_identity(void);

/* A process has the same identity each time it looks, and differs from what differs in one
 * respect. */
START_TEST(differs)
{
    struct boot_host a, b;
    boot_host_here(&a);
    boot_host_here(&b);
    ck_assert(a.kernel && a.net && a.pid && a.user);
    ck_assert_ptr_null(boot_host_differs(&a, &b));
    b = a, b.net++;
    ck_assert_str_eq(boot_host_differs(&a, &b), "network namespaces");
    b = a, b.pid++, b.user++; /* containers share memory all the same */
    ck_assert_ptr_null(boot_host_differs(&a, &b));
    b.kernel++;
    ck_assert_str_eq(boot_host_differs(&a, &b), "kernels");
}
END_TEST

/* Hosts are numbered by their first rank; each run of ranks is a block. */
START_TEST(text)
{
    char *t = boot_map_text((int[]){7, 7, 3, 7, 0, 0}, 6);
    ck_assert_str_eq(t, "(vector,(0,1,2),(1,1,1),(0,1,1),(2,1,2))");
    free(t);
}
END_TEST

Suite *suite_identity(void)
{
    Suite *s = suite_create("identity");
    TCase *t = tcase_create("identity");
    tcase_add_test(t, differs);
    tcase_add_test(t, text);
    suite_add_tcase(s, t);
    return s;
}
