/* test_calls.c - say/calls.c: each call is counted once, whatever the number of places and threads;
 * locks are timed from one call to the other. */
#include "unit.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>

#include "base/proc.h"
#include "say/say_types.h"
#include "say/trace.h"

Suite *suite_calls(void);

enum { THREADS = 3, PLACES = 700, ROUNDS = 20 };

static struct say *begun(void)
{
    struct say *y = calloc(1, sizeof *y);
    proc->say = y;
    ck_assert_int_eq(say_calls_open(y), 0);
    ck_assert_int_eq(report_asked(), 1);
    ck_assert_int_eq(trace_asked(), 0);
    return y;
}

static void end(struct say *y)
{
    say_calls_close(y);
    ck_assert_int_eq(report_asked(), 0);
    free(y);
    proc->say = NULL;
}

/* The calls that take most time stay, then those that are made most often; nothing gets lost. */
START_TEST(calls_that_do_not_fit_are_added_up)
{
    struct say_page *p = calloc(1, sizeof *p);
    struct say_call c = {.call = "MPI_Send"};
    uint64_t calls = 0, ns = 0;
    for (int i = 1; i <= 100; i++) {
        c.site = (uint64_t)i;
        c.calls = (uint64_t)(i * 37 % 101);
        c.ns = i == 50 ? 7 : 0;
        say_call_add(p->call, &p->calls, &c);
        ck_assert_uint_le(p->calls, SAY_CALLS);
    }
    c.site = 0; /* its place is not known */
    c.calls = 1000;
    c.ns = 1;
    say_call_add(p->call, &p->calls, &c);
    say_call_places(p);
    say_page_sort(p);
    for (uint32_t i = 0; i < p->calls; i++) {
        calls += p->call[i].calls;
        ns += p->call[i].ns;
    }
    ck_assert_uint_eq(calls, 5050 + 1000);
    ck_assert_uint_eq(ns, 8);
    ck_assert_uint_eq(p->call[0].site, 50);
    ck_assert_uint_eq(p->call[0].calls, 50 * 37 % 101 + 1000);
    ck_assert_uint_eq(p->call[1].calls > p->call[2].calls || !p->call[1].site, 1);
    free(p);
}
END_TEST

/* More places than it has room for: those that come late are counted for the call. */
static void *count(void *arg)
{
    static const char *const call[] = {"MPI_Send", "MPI_Recv"};
    for (int i = 0; i < ROUNDS; i++)
        for (uintptr_t k = 1; k <= PLACES; k++)
            say_called(call[k % 2], (const void *)(k * 16));
    return arg;
}

START_TEST(each_call_is_counted_once)
{
    struct say *y = begun();
    struct say_page *p = calloc(1, sizeof *p);
    pthread_t thread[THREADS];
    uint64_t calls = 0;
    int threads = _i ? THREADS : 1;
    proc->threaded = _i;
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    proc->threaded = 0;
    say_calls_of(p);
    for (uint32_t i = 0; i < p->calls; i++)
        calls += p->call[i].calls;
    ck_assert_uint_eq(calls, (unsigned)threads * PLACES * ROUNDS);
    ck_assert_uint_eq(p->counted, 1);
    free(p);
    end(y);
}
END_TEST

Suite *suite_calls(void)
{
    Suite *s = suite_create("say/calls");
    TCase *t = tcase_create("calls");
    tcase_add_test(t, calls_that_do_not_fit_are_added_up);
    tcase_add_loop_test(t, each_call_is_counted_once, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
