/* test_open.c - tp/open.c: lists, choices. */
#include "job.h"
#include "unit.h"

#include <string.h>

#include "tp/tp_types.h"
#include "var/var.h"

Suite *suite_open(void);

/* self and shm are always there, in this order; a list given by tp_use takes their place. */
START_TEST(lists)
{
    static const struct tp_ops *const mine[] = {&tp_none_ops, NULL};
    ck_assert_ptr_eq(tp_active(), tp_list);
    ck_assert_ptr_eq(tp_list[0], &tp_self_ops);
    ck_assert_ptr_eq(tp_list[1], &tp_shm_ops);
    ck_assert_ptr_eq(tp_find("shm"), &tp_shm_ops);
    ck_assert_ptr_null(tp_find("none"));
    ck_assert_int_eq(tp_use(mine), 0);
    ck_assert_ptr_eq(tp_active(), mine);
    ck_assert_ptr_eq(tp_find("none"), &tp_none_ops);
    ck_assert_ptr_null(tp_find("shm"));
    ck_assert_int_eq(tp_use(NULL), 0);
    ck_assert_ptr_eq(tp_active(), tp_list);
}
END_TEST

/* Which transports a job opens: by name; by need, where nothing is named, and then until one has
 * native put. */
static void choice(void)
{
    static const struct tp_ops net = {.name = "net"};
    static const struct tp_ops *const mine[] = {&tp_self_ops, &net, NULL};
    static const struct tp_caps plain = {.flags = TP_GET}, put = {.flags = TP_PUT};
    int is_auto = cvar.transport[0] == 'a', is_net = cvar.transport[0] == 'n';
    const char *why = NULL;
    char names[64];
    job_check(tp_wanted(&tp_self_ops, NULL, &why) == 1 && why);
    job_check(tp_wanted(&tp_self_ops, &put, &why) == 1);
    job_check(tp_wanted(&net, NULL, &why) == is_net); /* all processes are on one host */
    job_check(tp_use(mine) == 0);
    job_check(tp_wanted(&net, NULL, &why) == (is_auto || is_net));
    job_check(!is_auto || strstr(why, "first network that opens"));
    job_check(tp_wanted(&net, &plain, &why) == (is_auto || is_net));
    job_check(!is_auto || strstr(why, "first network with native put"));
    /* auto does not open a second one for nothing */
    job_check(tp_wanted(&net, &put, &why) == is_net);
    job_check(!is_auto || strstr(why, "comes first, and has native put"));
    job_check(tp_better(&plain, &put) && !tp_better(&put, &plain) && !tp_better(&plain, &plain) &&
              !tp_better(&put, &put));
    tp_names(names, sizeof names);
    job_check(!strcmp(names, "auto, shm, net"));
    tp_names(names, 8); /* cut, not overrun */
    job_check(strlen(names) < 8);
    job_check(tp_use(NULL) == 0);
}

START_TEST(choices)
{
    static const char *const sets[][2] = {{"MPIR_CVAR_TRANSPORT=auto", NULL},
                                          {"MPIR_CVAR_TRANSPORT=net", NULL},
                                          {"MPIR_CVAR_TRANSPORT=shm", NULL}};
    ck_assert_int_eq(job_run(2, sets[_i], choice, 20), 0);
}
END_TEST

Suite *suite_open(void)
{
    Suite *s = suite_create("tp/open");
    TCase *t = tcase_create("open");
    tcase_add_test(t, lists);
    tcase_add_loop_test(t, choices, 0, 3);
    suite_add_tcase(s, t);
    return s;
}
