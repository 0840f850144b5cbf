/* test_ports.c - launch/ports.c: which processes meet, and what those get that wait in vain. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launch/ports.h"

Suite *suite_ports(void);

enum { ANSWERS = 16 };

static struct {
    int rank, rc;
    unsigned number;
    char brought[32];
} answer[ANSWERS];
static int answers;

static void on_met(void *arg, int rank, unsigned number, int rc, const char *brought)
{
    ck_assert_ptr_eq(arg, answer);
    ck_assert_int_lt(answers, ANSWERS);
    answer[answers].rank = rank;
    answer[answers].number = number;
    answer[answers].rc = rc;
    snprintf(answer[answers++].brought, sizeof answer[0].brought, "%s", brought ? brought : "");
}

static void is(int i, int rank, unsigned number, int rc, const char *brought)
{
    ck_assert_int_lt(i, answers);
    ck_assert_int_eq(answer[i].rank, rank);
    ck_assert_uint_eq(answer[i].number, number);
    ck_assert_int_eq(answer[i].rc, rc);
    ck_assert_str_eq(answer[i].brought, brought);
}

static void begin(struct meets *m)
{
    answers = 0;
    meets_init(m, "job_x", on_met, answer);
}

/* With a port of rank 3. */
static void open_one(struct meets *m, char port[MEET_PORT_MAX])
{
    begin(m);
    ck_assert_int_eq(meets_open(m, 3, 0, port), 0);
}

START_TEST(they_meet_in_order)
{
    struct meets m;
    char port[MEET_PORT_MAX];
    open_one(&m, port);
    ck_assert_int_eq(meets_ask(&m, 7, 1, 0, port, "seven"), 0);
    ck_assert_int_eq(meets_ask(&m, 8, 2, 0, port, "eight"), 0);
    ck_assert_int_eq(answers, 0);
    ck_assert_int_eq(meets_ask(&m, 3, 5, 1, port, "a"), 0);
    ck_assert_int_eq(meets_ask(&m, 3, 6, 1, port, "b"), 0);
    ck_assert_int_eq(answers, 4);
    is(0, 7, 1, 0, "a");
    is(1, 3, 5, 0, "seven");
    is(2, 8, 2, 0, "b");
    is(3, 3, 6, 0, "eight");
    ck_assert_int_eq(meets_ask(&m, 3, 7, 1, port, "c"), 0); /* waits when all ends */
    meets_free(&m);
    ck_assert_int_eq(answers, 4);
}
END_TEST

START_TEST(what_is_refused)
{
    struct meets m;
    char port[MEET_PORT_MAX];
    open_one(&m, port);
    ck_assert_int_eq(meets_ask(&m, 7, 1, 0, "job_x:99", "x"), -ENOENT);
    ck_assert_int_eq(meets_ask(&m, 7, 1, 0, "anything", "x"), -ENOENT);
    ck_assert_int_eq(meets_ask(&m, 7, 1, 0, "job_xy:1", "x"), -EXDEV);
    ck_assert_int_eq(meets_ask(&m, 7, 1, 1, port, "x"), -EACCES);
    ck_assert_int_eq(meets_close(&m, 7, port), -ENOENT);
    ck_assert_int_eq(meets_ask(&m, 7, 1, 0, port, "x"), 0);
    ck_assert_int_eq(meets_close(&m, 3, port), 0);
    is(0, 7, 1, -ENOENT, "");
    ck_assert_int_eq(meets_ask(&m, 7, 2, 0, port, "x"), -ENOENT);
    meets_free(&m);
}
END_TEST

START_TEST(those_that_end)
{
    struct meets m;
    char port[MEET_PORT_MAX], once[MEET_PORT_MAX];
    open_one(&m, port);
    ck_assert_int_eq(meets_open(&m, 3, 1, once), 0);
    ck_assert_str_ne(port, once);
    ck_assert_int_eq(meets_ask(&m, 7, 1, 0, port, "x"), 0);
    meets_gone(&m, 7);
    ck_assert_int_eq(meets_ask(&m, 3, 1, 1, port, "y"), 0);
    ck_assert_int_eq(answers, 0); /* the one that connected has ended */
    ck_assert_int_eq(meets_ask(&m, 3, 2, 1, once, "y"), 0);
    ck_assert_int_eq(meets_ask(&m, 8, 3, 0, once, "z"), 0);
    ck_assert_int_eq(answers, 2);
    ck_assert_int_eq(meets_ask(&m, 8, 4, 0, once, "z"), -ENOENT); /* two have met there */
    ck_assert_int_eq(meets_open(&m, 4, 1, once), 0);
    ck_assert_int_eq(meets_ask(&m, 4, 5, 1, once, "z"), 0);
    meets_fail(&m, once, -ECHILD);
    is(2, 4, 5, -ECHILD, "");
    meets_fail(&m, once, -ECHILD);
    ck_assert_int_eq(answers, 3);
    /* its owner comes later */
    ck_assert_int_eq(meets_open(&m, 4, 1, once), 0);
    ck_assert_int_eq(meets_ask(&m, 9, 6, 0, once, "z"), 0);
    meets_fail(&m, once, -ECHILD);
    is(3, 9, 6, -ECHILD, "");
    ck_assert_int_eq(meets_ask(&m, 9, 7, 0, once, "z"), -ECHILD);
    ck_assert_int_eq(meets_ask(&m, 4, 8, 1, once, "z"), -ECHILD);
    ck_assert_int_eq(meets_ask(&m, 4, 9, 1, once, "z"), -ENOENT);
    ck_assert_int_eq(answers, 4);
    meets_gone(&m, 3);
    ck_assert_int_eq(meets_ask(&m, 8, 6, 0, port, "z"), -ENOENT);
    meets_free(&m);
}
END_TEST

START_TEST(one_leaves)
{
    struct meets m;
    char port[MEET_PORT_MAX];
    open_one(&m, port);
    ck_assert_int_eq(meets_ask(&m, 3, 1, 1, port, "a"), 0);
    ck_assert_int_eq(meets_ask(&m, 3, 2, 1, port, "b"), 0);
    ck_assert_int_eq(meets_leave(&m, 7, 1), 0); /* another rank's number */
    ck_assert_int_eq(meets_leave(&m, 3, 1), 1);
    ck_assert_int_eq(meets_leave(&m, 3, 1), 0);
    ck_assert_int_eq(answers, 0);
    ck_assert_int_eq(meets_ask(&m, 7, 1, 0, port, "seven"), 0);
    is(0, 3, 2, 0, "seven");
    is(1, 7, 1, 0, "b");
    ck_assert_int_eq(meets_leave(&m, 3, 2), 0); /* it was answered */
    ck_assert_int_eq(meets_ask(&m, 7, 2, 0, port, "seven"), 0);
    ck_assert_int_eq(meets_leave(&m, 7, 2), 1);
    ck_assert_int_eq(meets_close(&m, 3, port), 0);
    ck_assert_int_eq(answers, 2);
    meets_free(&m);
}
END_TEST

Suite *suite_ports(void)
{
    Suite *s = suite_create("ports");
    TCase *t = tcase_create("ports");
    tcase_add_test(t, they_meet_in_order);
    tcase_add_test(t, what_is_refused);
    tcase_add_test(t, those_that_end);
    tcase_add_test(t, one_leaves);
    suite_add_tcase(s, t);
    return s;
}
