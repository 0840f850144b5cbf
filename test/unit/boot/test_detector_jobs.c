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

/* W5: what is on its host is known by the address. */
START_TEST(stopped_alone)
{
    struct hosts h;
    my_first = FIRST;
    int other = silent_beside(&h, 3);
    ck_assert_int_eq(boot_failed_count(), 1);
    close(other);
    hosts_close(&h);
}
END_TEST

/* W4: two of its host, which have answered last, are no witnesses, and are one host. What the third
 * host vouches for is reported of the process alone. */
START_TEST(vouched)
{
    struct hosts h;
    struct detector_card c[2];
    struct detector_answer a;
    my_first = FIRST;
    hosts_open(&h);
    for (int i = 0; i < 2; i++) {
        int fd = peer_open(3, 8, &c[i]);
        boot_detector_ask(5 + i, &c[i], sizeof c[i]);
        ck_assert_uint_eq(peer_answer(fd, &c[i], NULL, 0), FIRST);
        usleep(50000); /* until it is read */
        close(fd);
    }
    boot_detector_ask(2, &h.silent, sizeof h.silent);
    uint64_t from = time_now();
    ck_assert_uint_eq(peer_answer(h.first_fd, &first_card, NULL, 0), FIRST);
    ck_assert_uint_ge(time_now() - from, 400000000u);
    until_dead(2, 0, 3);
    ck_assert_int_eq(boot_failed_count(), 1);
    told(1, &a);
    ck_assert_uint_eq(a.deaths, 1);
    ck_assert_uint_eq(a.death[0].rank, 2);
    ck_assert_uint_eq(a.death[0].scope, BOOT_ONE);
    hosts_close(&h);
}
END_TEST

/* W4: what looks so from this host alone is reported once a process of this host has proof. */
START_TEST(proof_comes_later)
{
    struct hosts h;
    struct detector_card near, far;
    struct detector_answer a;
    struct detector_obituary o = {.rank = 2, .scope = BOOT_ONE, .why = "it was refused"};
    my_first = FIRST;
    hosts_open(&h); /* 1, which is silent from now on, and 2 */
    boot_detector_ask(2, &h.silent, sizeof h.silent);
    until_dead(2, 0.9, 3);
    told(1, &a);
    ck_assert_uint_eq(a.deaths, 0);
    /* that one has given this process up proves nothing for others */
    int fd = peer_open(4, 8, &far);
    boot_detector_ask(5, &far, sizeof far);
    int s = accept(fd, NULL, NULL);
    boot_fail_take(proc->boot, 5, BOOT_APART, "its host is silent");
    struct detector_obituary given_up = {.rank = FIRST, .why = "slow"};
    ck_assert_uint_eq(answer_on(s, &far, &given_up, 1), FIRST);
    usleep(50000); /* until it is read */
    told(1, &a);
    ck_assert_uint_eq(a.deaths, 0);
    close(fd);
    boot_near_take(40);
    fd = peer_open(5, 8, &near);
    boot_detector_ask(40, &near, sizeof near);
    ck_assert_uint_eq(peer_answer(fd, &near, &o, 1), FIRST);
    usleep(50000);
    ck_assert_int_eq(boot_failed_count(), 2);
    told(1, &a);
    ck_assert_uint_eq(a.deaths, 1);
    ck_assert_uint_eq(a.death[0].rank, 2);
    ck_assert_uint_eq(a.death[0].scope, BOOT_ONE);
    close(fd);
    hosts_close(&h);
}
END_TEST

/* W7: a question from an address of this host is none from another host, though the card of the
 * process that asks is not known yet. */
START_TEST(near_before_its_card)
{
    struct detector_answer a;
    my_first = FIRST;
    my_hosts = 1;
    begin();
    ck_assert_int_eq(boot_detector_deaf(), 1);
    told(40, &a); /* from 127.0.0.1 */
    ck_assert_int_eq(boot_detector_deaf(), 1);
    far_address = 9;
    told(40, &a);
    ck_assert_int_eq(boot_detector_deaf(), 0);
    end();
}
END_TEST

Suite *suite_watch_jobs(void)
{
    Suite *s = suite_create("watch, other jobs");
    TCase *t = tcase_create("watch, other jobs");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, numbers);
    tcase_add_test(t, stopped_alone);
    tcase_add_test(t, vouched);
    tcase_add_test(t, proof_comes_later);
    tcase_add_test(t, near_before_its_card);
    suite_add_tcase(s, t);
    return s;
}
