/* test_lock.c - base/lock.c: excludes and recurses, yield lets waiters in, condition wakes and
 * times out. */
#include "unit.h"

#include <pthread.h>

#include "base/lock.h"
#include "base/sched.h"

Suite *suite_lock(void);

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
    tcase_add_test(t, condition_wakes_and_times_out);
    suite_add_tcase(s, t);
    return s;
}
