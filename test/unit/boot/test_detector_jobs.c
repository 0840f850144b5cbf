/* test_detector_jobs.c - the watch and processes of other jobs: 100 to 159 are of this one. */
#include "peers.h"
#include "unit.h"

Suite *suite_watch_jobs(void);

enum { FIRST = 100 };

/* Numbers are not ranks. The job is on one host; 40 is on it, too, and 41 and 42 are not. */
START_TEST(numbers)
{
    struct detector_card c, gone;
    struct detector_answer a;
    struct detector_obituary o[2] = {{.rank = 170, .why = "it told a lie"}};
    my_first = FIRST;
    my_hosts = 1;
    begin();
    int fd = peer_open(2, 8, &c);
    peer_open(4, -1, &gone);
    boot_near_take(40);
    boot_detector_ask(40, &gone, sizeof gone);
    until_dead(40, 0, 5);
    told(41, &a);
    ck_assert_uint_eq(a.deaths, 1);
    ck_assert_uint_eq(a.death[0].rank, 40);
    /* it reports one of a third job */
    boot_detector_ask(41, &c, sizeof c);
    ck_assert_uint_eq(peer_answer(fd, &c, o, 1), FIRST);
    until_dead(170, 0, 5);
    ck_assert_str_eq(boot_failed_why(170), "it told a lie");
    /* it has given this process up */
    o[0].rank = 171;
    o[1] = (struct detector_obituary){.rank = FIRST, .why = "slow"};
    boot_detector_ask(42, &c, sizeof c);
    ck_assert_uint_eq(peer_answer(fd, &c, o, 2), FIRST);
    until_dead(42, 0, 5);
    ck_assert_str_eq(boot_failed_why(42), "it has given process 100 up");
    ck_assert_int_eq(boot_failed(41) + boot_failed(171) + boot_failed(FIRST), 0);
    close(fd);
    end();
}
END_TEST

Suite *suite_watch_jobs(void)
{
    Suite *s = suite_create("watch, other jobs");
    TCase *t = tcase_create("watch, other jobs");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, numbers);
    suite_add_tcase(s, t);
    return s;
}
