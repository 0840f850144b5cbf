/* test_own_thread.c - base/own_thread.c: the thread runs and gets no signal, and the mask of its
 * starter is as it was. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>

#include "base/own_thread.h"

Suite *suite_thread(void);

static void *see_mask(void *arg)
{
    pthread_sigmask(SIG_SETMASK, NULL, arg);
    return NULL;
}

START_TEST(has_no_signals)
{
    sigset_t its, before, after;
    pthread_t t;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    ck_assert_int_eq(sigismember(&before, SIGTERM), 0);
    ck_assert_int_eq(thread_start(&t, see_mask, &its), 0);
    pthread_join(t, NULL);
    ck_assert_int_eq(sigismember(&its, SIGTERM), 1);
    ck_assert_int_eq(sigismember(&its, SIGALRM), 1);
    ck_assert_int_eq(sigismember(&its, SIGSEGV), 0); /* a fault of its own */
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    ck_assert_int_eq(sigismember(&after, SIGTERM), 0);
}
END_TEST

static __thread char large[1 << 22]; /* more than the small stack holds */

static void *use_large(void *arg)
{
    large[sizeof large - 1] = 1;
    *(int *)arg = large[sizeof large - 1];
    return NULL;
}

START_TEST(runs_beside_large_thread_locals)
{
    pthread_t t;
    int ran = 0;
    ck_assert_int_eq(thread_start(&t, use_large, &ran), 0);
    pthread_join(t, NULL);
    ck_assert_int_eq(ran, 1);
}
END_TEST

Suite *suite_thread(void)
{
    Suite *s = suite_create("base/own_thread");
    TCase *t = tcase_create("thread");
    tcase_add_test(t, has_no_signals);
    tcase_add_test(t, runs_beside_large_thread_locals);
    suite_add_tcase(s, t);
    return s;
}
