/* test_thread.c - instrument/thread.c, access.c: the end of a thread is known to the thread that
 * waits for it and to no other; what its creator did is known to it. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>

#include "host.h"

Suite *suite_thread(void);

/* past the run time: no order is seen */
int __real_pthread_join(pthread_t id, void **result);

struct worker {
    struct stamp s;
    int go, marked, knew;
    struct stamp other;
};

static void *mark(void *arg)
{
    struct worker *w = arg;
    w->s = host_mark();
    flag_set(&w->marked);
    return NULL;
}

static int mark11(void *arg)
{
    mark(arg);
    return 0;
}

static void *mark_late(void *arg)
{
    struct worker *w = arg;
    flag_wait(&w->go);
    return mark(arg);
}

static void *look(void *arg)
{
    struct worker *w = arg;
    w->s = host_mark();
    flag_set(&w->marked);
    flag_wait(&w->go);
    w->knew = host_knows(w->other);
    return NULL;
}

static struct timespec soon(clockid_t clock, int seconds)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += seconds;
    return t;
}

static int joined(pthread_t id, int how)
{
    struct timespec until = soon(how == 3 ? CLOCK_MONOTONIC : CLOCK_REALTIME, 60);
    int err;
    switch (how) {
    case 0:
        return pthread_join(id, NULL);
    case 1:
        while ((err = pthread_tryjoin_np(id, NULL)) == EBUSY)
            thrd_yield();
        return err;
    case 2:
        return pthread_timedjoin_np(id, NULL, &until);
    default:
        return pthread_clockjoin_np(id, NULL, CLOCK_MONOTONIC, &until);
    }
}

START_TEST(a_join_tells_what_the_thread_did)
{
    pthread_t id;
    host_run(0);
    for (int how = 0; how < 4; how++) {
        struct worker w = {0};
        ck_assert_int_eq(pthread_create(&id, NULL, mark, &w), 0);
        flag_wait(&w.marked);
        ck_assert(!host_knows(w.s));
        ck_assert_int_eq(joined(id, how), 0);
        ck_assert_msg(host_knows(w.s), "join %d", how);
    }
    struct worker w = {0};
    thrd_t c11;
    ck_assert_int_eq(thrd_create(&c11, mark11, &w), thrd_success);
    flag_wait(&w.marked);
    ck_assert(!host_knows(w.s));
    ck_assert_int_eq(thrd_join(c11, NULL), thrd_success);
    ck_assert(host_knows(w.s));
}
END_TEST

START_TEST(without_a_join_nothing_is_known)
{
    pthread_t id, other;
    struct worker w = {0}, b = {0};
    struct timespec past = soon(CLOCK_REALTIME, -1);
    host_run(0);
    ck_assert_int_eq(pthread_create(&other, NULL, look, &b), 0);
    flag_wait(&b.marked);
    ck_assert_int_eq(pthread_create(&id, NULL, mark_late, &w), 0);
    ck_assert_int_eq(pthread_tryjoin_np(id, NULL), EBUSY);
    ck_assert_int_eq(pthread_timedjoin_np(id, NULL, &past), ETIMEDOUT);
    flag_set(&w.go);
    ck_assert_int_eq(__real_pthread_join(id, NULL), 0); /* it has ended */
    ck_assert(!host_knows(w.s));
    b.other = w.s;
    flag_set(&b.go);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
    ck_assert(!b.knew);
    ck_assert(!host_knows(w.s));
}
END_TEST

START_TEST(a_join_after_one_in_vain)
{
    pthread_t id;
    struct worker w = {0};
    host_run(0);
    ck_assert_int_eq(pthread_create(&id, NULL, mark_late, &w), 0);
    ck_assert_int_eq(pthread_tryjoin_np(id, NULL), EBUSY);
    flag_set(&w.go);
    ck_assert_int_eq(pthread_join(id, NULL), 0);
    ck_assert(host_knows(w.s));
}
END_TEST

START_TEST(a_thread_knows_what_its_creator_did_before)
{
    pthread_t id;
    struct worker w = {0};
    host_run(0);
    host_mark();
    w.other = host_mark();
    ck_assert_int_eq(pthread_create(&id, NULL, look, &w), 0);
    flag_wait(&w.marked);
    struct stamp later = host_mark();
    flag_set(&w.go);
    ck_assert_int_eq(pthread_join(id, NULL), 0);
    ck_assert(w.knew);
    struct worker v = {.other = later};
    v.other.clock++; /* what it will do behind the creation */
    ck_assert_int_eq(pthread_create(&id, NULL, look, &v), 0);
    flag_wait(&v.marked);
    host_mark();
    flag_set(&v.go);
    ck_assert_int_eq(pthread_join(id, NULL), 0);
    ck_assert(!v.knew);
}
END_TEST

static pthread_key_t key;

static void late(void *arg)
{
    struct worker *w = arg;
    w->s = host_mark();
    w->knew = host_knows(w->other);
}

static void *has_key(void *arg)
{
    host_mark();
    pthread_setspecific(key, arg);
    return NULL;
}

START_TEST(destructors_of_keys_belong_to_the_thread)
{
    pthread_t id;
    struct worker w = {0}, b = {0};
    pthread_t other;
    host_run(0);
    pthread_create(&other, NULL, look, &b);
    flag_wait(&b.marked);
    w.other = b.s;
    ck_assert_int_eq(pthread_key_create(&key, late), 0);
    ck_assert_int_eq(pthread_create(&id, NULL, has_key, &w), 0);
    ck_assert_int_eq(pthread_join(id, NULL), 0);
    ck_assert_uint_gt(w.s.clock, 0);
    ck_assert(host_knows(w.s));
    ck_assert(!w.knew); /* it is no thread that comes from elsewhere */
    b.other = w.s;
    flag_set(&b.go);
    ck_assert_int_eq(pthread_join(other, NULL), 0);
    ck_assert(!b.knew);
}
END_TEST

/* Their ids are soon used again. */
START_TEST(detached_threads_leave_nothing)
{
    pthread_attr_t attr;
    pthread_t id;
    host_run(0);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 60; i++) {
        static struct worker d[60];
        struct worker w = {0};
        ck_assert_int_eq(pthread_create(&id, i % 2 ? &attr : NULL, mark, &d[i]), 0);
        if (i % 2 == 0)
            ck_assert_int_eq(pthread_detach(id), 0);
        flag_wait(&d[i].marked);
        ck_assert(!host_knows(d[i].s));
        ck_assert_int_eq(pthread_create(&id, NULL, mark, &w), 0);
        ck_assert_int_eq(pthread_join(id, NULL), 0);
        ck_assert(host_knows(w.s));
    }
    thrd_t c11;
    struct worker w = {0};
    ck_assert_int_eq(thrd_create(&c11, mark11, &w), thrd_success);
    ck_assert_int_eq(thrd_detach(c11), thrd_success);
    flag_wait(&w.marked);
    ck_assert(!host_knows(w.s));
}
END_TEST

START_TEST(threads_that_began_before)
{
    pthread_t id;
    struct worker w = {0};
    ck_assert_int_eq(pthread_create(&id, NULL, mark_late, &w), 0);
    host_run(0);
    flag_set(&w.go);
    ck_assert_int_eq(pthread_join(id, NULL), 0);
    ck_assert(host_knows(w.s));
}
END_TEST

Suite *suite_thread(void)
{
    Suite *s = suite_create("thread");
    TCase *t = tcase_create("thread");
    tcase_add_test(t, a_join_tells_what_the_thread_did);
    tcase_add_test(t, without_a_join_nothing_is_known);
    tcase_add_test(t, a_join_after_one_in_vain);
    tcase_add_test(t, a_thread_knows_what_its_creator_did_before);
    tcase_add_test(t, destructors_of_keys_belong_to_the_thread);
    tcase_add_test(t, detached_threads_leave_nothing);
    tcase_add_test(t, threads_that_began_before);
    suite_add_tcase(s, t);
    return s;
}
