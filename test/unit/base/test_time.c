/* test_time.c - base/time.c: identities and clock, hook takes over. */
#include "unit.h"

#include <pthread.h>

#include "base/sched.h"

Suite *suite_time(void);

static void *self(void *arg)
{
    return thread_self();
}

START_TEST(identities_and_clock)
{
    pthread_t t;
    void *other;
    pthread_create(&t, NULL, self, NULL);
    pthread_join(t, &other);
    ck_assert_ptr_nonnull(thread_self());
    ck_assert_ptr_eq(thread_self(), thread_self());
    ck_assert_ptr_ne(other, NULL);
    uint64_t a = time_now(), b = time_now();
    ck_assert(b >= a);
    ck_assert(random_bits() != random_bits());
}
END_TEST

static uint64_t fixed(void)
{
    return 42;
}

START_TEST(hook_takes_over)
{
    static const struct sched_ops ops = {.now = fixed, .random = fixed};
    sched = &ops;
    ck_assert_uint_eq(time_now(), 42);
    ck_assert_uint_eq(random_bits(), 42);
    sched = NULL;
}
END_TEST

Suite *suite_time(void)
{
    Suite *s = suite_create("base/time");
    TCase *t = tcase_create("time");
    tcase_add_test(t, identities_and_clock);
    tcase_add_test(t, hook_takes_over);
    suite_add_tcase(s, t);
    return s;
}
