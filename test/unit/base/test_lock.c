/* test_lock.c - base/lock.c: excludes and recurses, yield lets waiters in, condition wakes and
 * times out. */
#include "unit.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/sched.h"

Suite *suite_lock(void);

/* Has this system the fence of lock_prefer(): MEMBARRIER_CMD_PRIVATE_EXPEDITED? Without it, and
 * under ThreadSanitizer, no thread is preferred. */
static int has_fence(void)
{
#if defined(__SANITIZE_THREAD__)
    return 0;
#else
    long can = syscall(SYS_membarrier, 0, 0, 0);
    return can > 0 && (can & 1 << 3);
#endif
}

enum { THREADS = 4, TURNS = 20000 };

struct shared {
    struct lock lock;
    long counter;
    int spinner_done;
    int guest_turns;
    struct lock_cond cond;
    int flag;
};

static void *add(void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < TURNS; i++) {
        lock_acquire(&s->lock);
        lock_acquire(&s->lock); /* recursive */
        s->counter++;
        lock_release(&s->lock);
        if (i % 100 == 0)
            lock_yield(&s->lock);
        lock_release(&s->lock);
    }
    return NULL;
}

static void *try_once(void *arg)
{
    struct shared *s = arg;
    s->flag = !lock_try(&s->lock);
    return NULL;
}

START_TEST(excludes_and_recurses)
{
    struct shared s = {.counter = 0};
    pthread_t t[THREADS];
    lock_init(&s.lock);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, add, &s), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    ck_assert_int_eq(s.counter, (long)THREADS * TURNS);
    ck_assert_int_eq(lock_try(&s.lock), 1);
    ck_assert_int_eq(pthread_create(&t[0], NULL, try_once, &s), 0);
    pthread_join(t[0], NULL);
    ck_assert_int_eq(s.flag, 1);
    ck_assert_int_eq(lock_try(&s.lock), 1); /* recursive, too */
    lock_release(&s.lock);
    lock_release(&s.lock);
    ck_assert(!lock_mine(&s.lock));
}
END_TEST

static void *guest(void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < 50; i++) {
        lock_acquire(&s->lock);
        s->guest_turns++;
        lock_release(&s->lock);
    }
    return NULL;
}

/* A thread that polls under the lock and only yields it lets a guest through every time. */
START_TEST(yield_lets_waiters_in)
{
    struct shared s = {.counter = 0};
    pthread_t t;
    lock_init(&s.lock);
    lock_acquire(&s.lock);
    ck_assert_int_eq(pthread_create(&t, NULL, guest, &s), 0);
    while (s.guest_turns < 50)
        /* never ends if it does not hand over: the runner's time limit ends it */
        lock_yield(&s.lock);
    lock_release(&s.lock);
    pthread_join(t, NULL);
}
END_TEST

static void *try_often(void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < TURNS; i++) {
        if (!lock_try(&s->lock))
            continue;
        s->counter++;
        s->guest_turns++;
        lock_release(&s->lock);
    }
    return NULL;
}

/* One preferred thread beside those that wait for the lock and one that only tries. */
START_TEST(prefers_one_thread)
{
    struct shared s = {.counter = 0};
    pthread_t t[2], tries;
    int brief = 0;
    lock_init(&s.lock);
    ck_assert_int_eq(lock_enter_briefly(&s.lock), 0); /* it prefers no thread */
    lock_acquire(&s.lock);
    if (lock_prefer(&s.lock) != 0) {
        ck_assert(!has_fence());
        return;
    }
    lock_release(&s.lock);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, add, &s), 0);
    ck_assert_int_eq(pthread_create(&tries, NULL, try_often, &s), 0);
    add(&s);
    for (int i = 0; i < TURNS; i++) {
        if (!lock_enter_briefly(&s.lock))
            continue;
        s.counter++;
        lock_leave_preferred(&s.lock);
        brief++;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    pthread_join(tries, NULL);
    ck_assert_int_eq(s.counter, 3l * TURNS + s.guest_turns + brief);
    ck_assert_int_eq(lock_try(&s.lock), 1);
    ck_assert_int_eq(lock_enter_briefly(&s.lock), 0); /* it would end the hold */
    s.flag = 0;
    ck_assert_int_eq(pthread_create(&tries, NULL, try_once, &s), 0);
    pthread_join(tries, NULL);
    ck_assert_int_eq(s.flag, 1); /* it is held */
    unsigned depth = lock_drop(&s.lock);
    lock_retake(&s.lock, depth);
    ck_assert(lock_mine(&s.lock));
    lock_release(&s.lock);
    ck_assert(!lock_mine(&s.lock));
}
END_TEST

START_TEST(tries_leave_it_to_those_that_wait)
{
    struct shared s = {.counter = 0};
    lock_init(&s.lock);
    atomic_store(&s.lock.waiters, 1);
    ck_assert_int_eq(lock_try(&s.lock), 0);
    atomic_store(&s.lock.waiters, 0);
    ck_assert_int_eq(lock_try(&s.lock), 1);
    lock_release(&s.lock);
}
END_TEST

START_TEST(preferred_thread_yields_to_waiters)
{
    struct shared s = {.counter = 0};
    pthread_t t;
    lock_init(&s.lock);
    lock_acquire(&s.lock);
    if (lock_prefer(&s.lock) != 0) {
        ck_assert(!has_fence());
        return;
    }
    ck_assert_int_eq(pthread_create(&t, NULL, guest, &s), 0);
    while (s.guest_turns < 50) /* as above */
        lock_yield(&s.lock);
    lock_release(&s.lock);
    pthread_join(t, NULL);
}
END_TEST

static void *raise_flag(void *arg)
{
    struct shared *s = arg;
    lock_acquire(&s->lock);
    s->flag = 1;
    lock_cond_signal(&s->cond);
    lock_release(&s->lock);
    return NULL;
}

START_TEST(condition_wakes_and_times_out)
{
    struct shared s = {.counter = 0};
    pthread_t t;
    lock_init(&s.lock);
    lock_acquire(&s.lock);
    uint64_t start = time_now();
    lock_cond_wait(&s.cond, atomic_load(&s.cond.seq), &s.lock, 20000000);
    ck_assert(time_now() - start >= 15000000);
    ck_assert(lock_mine(&s.lock));
    ck_assert_int_eq(pthread_create(&t, NULL, raise_flag, &s), 0);
    while (!s.flag)
        lock_cond_wait(&s.cond, atomic_load(&s.cond.seq), &s.lock, 0);
    lock_release(&s.lock);
    pthread_join(t, NULL);
}
END_TEST

Suite *suite_lock(void)
{
    Suite *s = suite_create("base/lock");
    TCase *t = tcase_create("lock");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, excludes_and_recurses);
    tcase_add_test(t, yield_lets_waiters_in);
    tcase_add_test(t, prefers_one_thread);
    tcase_add_test(t, tries_leave_it_to_those_that_wait);
    tcase_add_test(t, preferred_thread_yields_to_waiters);
    tcase_add_test(t, condition_wakes_and_times_out);
    suite_add_tcase(s, t);
    return s;
}
