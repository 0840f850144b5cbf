/* test_calls.c - profile/calls.c: each call is counted once, whatever the number of places and
 * threads; locks are timed from one call to the other. */
#include "unit.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>

#include "base/proc.h"
#include "base/sched.h"
#include "obj/unit_obj.h"
#include "place/place.h"
#include "profile/profile_types.h"
#include "profile/trace.h"
#include "rma/rma_types.h"

Suite *suite_calls(void);

enum { THREADS = 3, PLACES = 700, ROUNDS = 20 };
enum { OPEN = 16, HELD_NS = 1000000 }; /* locks that are timed at once; least time of one */

static const char *own_text(void *arg, const char *there)
{
    (void)arg;
    return there;
}

static uint64_t own_site(void *arg, uint64_t address)
{
    (void)arg;
    return site_portable(address);
}

static struct profile *begun(void)
{
    struct profile *y = calloc(1, sizeof *y);
    proc->profile = y;
    y->calls = calloc(1, profile_calls_bytes());
    ck_assert_int_eq(report_asked(), 1);
    ck_assert_int_eq(trace_asked(), 0);
    return y;
}

static void end(struct profile *y)
{
    free(y->calls);
    y->calls = NULL;
    ck_assert_int_eq(report_asked(), 0);
    free(y);
    proc->profile = NULL;
}

/* The calls that take most time stay, then those that are made most often; nothing gets lost. */
START_TEST(calls_that_do_not_fit_are_added_up)
{
    struct profile_page *p = calloc(1, sizeof *p);
    struct profile_call c = {.call = "MPI_Send"};
    uint64_t calls = 0, ns = 0;
    for (int i = 1; i <= 100; i++) {
        c.site = (uint64_t)i;
        c.calls = (uint64_t)(i * 37 % 101);
        c.ns = i == 50 ? 7 : 0;
        profile_call_add(p->call, &p->calls, &c);
        ck_assert_uint_le(p->calls, PROFILE_CALLS);
    }
    c.site = 0; /* its place is not known */
    c.calls = 1000;
    c.ns = 1;
    profile_call_add(p->call, &p->calls, &c);
    profile_call_places(p);
    profile_page_sort(p);
    for (uint32_t i = 0; i < p->calls; i++) {
        calls += p->call[i].calls;
        ns += p->call[i].ns;
    }
    ck_assert_uint_eq(calls, 5050 + 1000);
    ck_assert_uint_eq(ns, 8);
    ck_assert_uint_eq(p->call[0].site, 50);
    ck_assert_uint_eq(p->call[0].calls, 50 * 37 % 101 + 1000);
    ck_assert_str_eq(p->call[1].call, "(others)");
    ck_assert_uint_eq(p->calls, PROFILE_CALLS - 1); /* the one without a place had a place, too */
    ck_assert_uint_eq(p->call[2].calls, 100);
    for (uint32_t i = 3; i < p->calls; i++)
        ck_assert_uint_lt(p->call[i].calls, p->call[i - 1].calls);
    free(p);
}
END_TEST

/* More places than it has room for: those that come late are counted for the call. */
static void *count(void *arg)
{
    static const char *const call[] = {"MPI_Send", "MPI_Recv"};
    for (int i = 0; i < ROUNDS; i++)
        for (uintptr_t k = 1; k <= PLACES; k++)
            profile_called(call[k % 2], (const void *)(k * 16));
    return arg;
}

START_TEST(each_call_is_counted_once)
{
    struct profile *y = begun();
    struct profile_page *p = calloc(1, sizeof *p);
    pthread_t thread[THREADS];
    uint64_t calls = 0;
    int threads = _i ? THREADS : 1;
    proc->threaded = _i;
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    proc->threaded = 0;
    const struct profile_look look = {own_text, own_site, NULL};
    profile_calls_of(p, y->calls, &look);
    for (uint32_t i = 0; i < p->calls; i++)
        calls += p->call[i].calls;
    ck_assert_uint_eq(calls, (unsigned)threads * PLACES * ROUNDS);
    ck_assert_uint_eq(p->counted, 1);
    free(p);
    end(y);
}
END_TEST

/* --- locks ------------------------------------------------------------------------------------ */

static struct rma_win *win_new(uint64_t id)
{
    struct rma_win *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    memset(w, 0, sizeof *w);
    w->id = id;
    ck_assert_int_eq(obj_add(OBJ_WIN, &w->near.obj), 0);
    return w;
}

static void win_del(struct rma_win *w)
{
    obj_del(OBJ_WIN, &w->near.obj);
    free(w);
}

static MPI_Win handle(const struct rma_win *w)
{
    return w->near.obj.handle;
}

static void pass(void)
{
    for (uint64_t until = time_now() + HELD_NS; time_now() < until;)
        thread_pause(0);
}

static void locks_are(struct profile *y, uint64_t win, uint64_t n, uint64_t seen)
{
    struct profile_locks l = {0};
    profile_locks_of(y, win, &l);
    ck_assert_uint_eq(l.n, n);
    ck_assert_uint_ge(l.ns, n * HELD_NS);
    ck_assert_uint_eq(l.seen, seen);
}

/* One lock more than has a place is not timed, and takes nothing from the others. */
START_TEST(locks_are_timed)
{
    struct profile *y = begun();
    struct rma_win *w = win_new(5), *other = win_new(6);
    for (int i = 0; i < OPEN; i++)
        profile_locked(handle(w), i);
    profile_locked(handle(other), 0);
    struct profile_held *held = y->holding;
    ck_assert_ptr_nonnull(held);
    held->seen++;
    profile_lock_waited(y, 5);
    pass();
    profile_unlocking(handle(other), 0);
    ck_assert_ptr_eq(y->holding, held);
    for (int i = 0; i < OPEN; i++)
        profile_unlocking(handle(w), i);
    ck_assert_ptr_null(y->holding);
    profile_locked(handle(other), 0); /* there is room again */
    ck_assert(y->holding && y->holding != held);
    pass();
    profile_unlocking(handle(other), 0);
    locks_are(y, 5, OPEN, 1);
    locks_are(y, 5, 0, 0); /* forgotten */
    locks_are(y, 6, 1, 0);
    win_del(w);
    win_del(other);
    end(y);
}
END_TEST

/* The sampler looks at no window that is gone, and goes on with one that is still locked. */
START_TEST(a_window_is_freed_while_locked)
{
    struct profile *y = begun();
    struct rma_win *w = win_new(5), *other = win_new(6);
    profile_locked(handle(other), 1);
    struct profile_held *held = y->holding;
    for (int i = 0; i < OPEN; i++) /* the last one has no place */
        profile_locked(handle(w), i);
    ck_assert(y->holding && y->holding != held);
    locks_are(y, 5, 0, 0);
    ck_assert_ptr_eq(y->holding, held);
    MPI_Win gone = handle(w);
    win_del(w);
    profile_unlocking(gone, 0);
    ck_assert_ptr_eq(y->holding, held);
    profile_locked(handle(other), 2);
    pass();
    profile_unlocking(handle(other), 1);
    profile_unlocking(handle(other), 2);
    ck_assert_ptr_null(y->holding);
    locks_are(y, 6, 2, 0);
    profile_locked(handle(other), 1);
    locks_are(y, 6, 0, 0); /* the only one that is held */
    ck_assert_ptr_null(y->holding);
    win_del(other);
    end(y);
}
END_TEST

Suite *suite_calls(void)
{
    Suite *s = suite_create("profile/calls");
    TCase *t = tcase_create("calls"), *locks = tcase_create("locks");
    tcase_add_checked_fixture(locks, obj_up, obj_down);
    tcase_add_test(locks, locks_are_timed);
    tcase_add_test(locks, a_window_is_freed_while_locked);
    suite_add_tcase(s, locks);
    tcase_add_test(t, calls_that_do_not_fit_are_added_up);
    tcase_add_loop_test(t, each_call_is_counted_once, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
