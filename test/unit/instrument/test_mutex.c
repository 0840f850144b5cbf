/* test_mutex.c - instrument/mutex.c: a thread that takes a lock, is woken, passes a barrier or
 * finds something done once comes after the one that gave it; one that tries in vain does not. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "host.h"

Suite *suite_mutex(void);

static struct timespec at(clockid_t clock, int seconds)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += seconds;
    return t;
}
#define LONG at(CLOCK_REALTIME, 60)
#define LONG_MONOTONIC at(CLOCK_MONOTONIC, 60)

/* --- locks ------------------------------------------------------------------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;
static mtx_t mtx;
static cnd_t cnd;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static struct timespec until;

static int mutex_lock(void) { return pthread_mutex_lock(&mutex); }
static int mutex_trylock(void) { return pthread_mutex_trylock(&mutex); }
static int mutex_timedlock(void) { until = LONG; return pthread_mutex_timedlock(&mutex, &until); }
static int mutex_clocklock(void)
{
    until = LONG_MONOTONIC;
    return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until);
}
static int mutex_unlock(void) { return pthread_mutex_unlock(&mutex); }
static int c11_lock(void) { return mtx_lock(&mtx); }
static int c11_trylock(void) { return mtx_trylock(&mtx); }
static int c11_timedlock(void) { until = LONG; return mtx_timedlock(&mtx, &until); }
static int c11_unlock(void) { return mtx_unlock(&mtx); }
static int rdlock(void) { return pthread_rwlock_rdlock(&rwlock); }
static int wrlock(void) { return pthread_rwlock_wrlock(&rwlock); }
static int tryrdlock(void) { return pthread_rwlock_tryrdlock(&rwlock); }
static int trywrlock(void) { return pthread_rwlock_trywrlock(&rwlock); }
static int timedrdlock(void) { until = LONG; return pthread_rwlock_timedrdlock(&rwlock, &until); }
static int timedwrlock(void) { until = LONG; return pthread_rwlock_timedwrlock(&rwlock, &until); }
static int clockrdlock(void)
{
    until = LONG_MONOTONIC;
    return pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &until);
}
static int clockwrlock(void)
{
    until = LONG_MONOTONIC;
    return pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &until);
}
static int rwunlock(void) { return pthread_rwlock_unlock(&rwlock); }
static int spin_lock(void) { return pthread_spin_lock(&spin); }
static int spin_trylock(void) { return pthread_spin_trylock(&spin); }
static int spin_unlock(void) { return pthread_spin_unlock(&spin); }
static int wait_sem(void) { return sem_wait(&sem); }
static int trywait(void) { return sem_trywait(&sem); }
static int timedwait(void) { until = LONG; return sem_timedwait(&sem, &until); }
static int clockwait(void)
{
    until = LONG_MONOTONIC;
    return sem_clockwait(&sem, CLOCK_MONOTONIC, &until);
}
static int post(void) { return sem_post(&sem); }

static const struct lock {
    const char *name;
    int (*take)(void), (*give)(void), (*first)(void); /* first: of the thread that gives */
    int tries;
} locks[] = {
    {"pthread_mutex_lock", mutex_lock, mutex_unlock, mutex_lock, 0},
    {"pthread_mutex_trylock", mutex_trylock, mutex_unlock, mutex_lock, 1},
    {"pthread_mutex_timedlock", mutex_timedlock, mutex_unlock, mutex_lock, 0},
    {"pthread_mutex_clocklock", mutex_clocklock, mutex_unlock, mutex_lock, 0},
    {"mtx_lock", c11_lock, c11_unlock, c11_lock, 0},
    {"mtx_trylock", c11_trylock, c11_unlock, c11_lock, 1},
    {"mtx_timedlock", c11_timedlock, c11_unlock, c11_lock, 0},
    {"rdlock", rdlock, rwunlock, wrlock, 0},
    {"wrlock", wrlock, rwunlock, rdlock, 0},
    {"tryrdlock", tryrdlock, rwunlock, wrlock, 1},
    {"trywrlock", trywrlock, rwunlock, wrlock, 1},
    {"timedrdlock", timedrdlock, rwunlock, wrlock, 0},
    {"timedwrlock", timedwrlock, rwunlock, wrlock, 0},
    {"clockrdlock", clockrdlock, rwunlock, wrlock, 0},
    {"clockwrlock", clockwrlock, rwunlock, wrlock, 0},
    {"spin_lock", spin_lock, spin_unlock, spin_lock, 0},
    {"spin_trylock", spin_trylock, spin_unlock, spin_lock, 1},
    {"sem_wait", wait_sem, post, wait_sem, 0},
    {"sem_trywait", trywait, post, wait_sem, 1},
    {"sem_timedwait", timedwait, post, wait_sem, 0},
    {"sem_clockwait", clockwait, post, wait_sem, 0},
};
enum { LOCKS = sizeof locks / sizeof *locks };

struct worker {
    const struct lock *l;
    int marked, give, given, end;
    int err; /* Check's own functions have a mutex: they are not called by two threads */
    struct stamp early, s;
};

static void *holds(void *arg)
{
    struct worker *w = arg;
    w->err = w->l->first();
    w->early = host_mark();
    w->err |= w->l->give();
    w->err |= w->l->first();
    w->s = host_mark();
    flag_set(&w->marked);
    flag_wait(&w->give);
    w->err |= w->l->give();
    flag_set(&w->given);
    flag_wait(&w->end);
    return NULL;
}

static void locks_make(void)
{
    ck_assert_int_eq(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), 0);
    ck_assert_int_eq(sem_init(&sem, 0, 1), 0);
    ck_assert_int_eq(mtx_init(&mtx, mtx_timed), thrd_success);
    ck_assert_int_eq(cnd_init(&cnd), thrd_success);
    host_run(0);
}

START_TEST(a_lock_is_taken_after_it_was_given)
{
    const struct lock *l = &locks[_i];
    struct worker w = {.l = l};
    pthread_t id;
    locks_make();
    ck_assert_int_eq(pthread_create(&id, NULL, holds, &w), 0);
    flag_wait(&w.marked);
    if (l->tries) {
        ck_assert_int_ne(l->take(), 0);
        ck_assert_msg(!host_knows(w.early), "%s in vain", l->name);
    }
    flag_set(&w.give);
    flag_wait(&w.given);
    ck_assert(!host_knows(w.s));
    ck_assert_int_eq(l->take(), 0);
    ck_assert_msg(host_knows(w.s), "%s", l->name);
    ck_assert_int_eq(l->give(), 0);
    flag_set(&w.end);
    pthread_join(id, NULL);
    ck_assert_int_eq(w.err, 0);
}
END_TEST

/* At the same address another one begins. */
START_TEST(a_lock_that_ended_orders_nothing)
{
    struct worker w = {.l = &locks[0]};
    pthread_t id;
    locks_make();
    ck_assert_int_eq(pthread_create(&id, NULL, holds, &w), 0);
    flag_wait(&w.marked);
    flag_set(&w.give);
    flag_wait(&w.given);
    ck_assert_int_eq(pthread_mutex_destroy(&mutex), 0);
    ck_assert_int_eq(pthread_mutex_init(&mutex, NULL), 0);
    pthread_mutex_lock(&mutex);
    ck_assert(!host_knows(w.s));
    pthread_mutex_unlock(&mutex);
    flag_set(&w.end);
    pthread_join(id, NULL);
    mtx_destroy(&mtx);
    cnd_destroy(&cnd);
    ck_assert_int_eq(sem_destroy(&sem), 0);
    ck_assert_int_eq(pthread_spin_destroy(&spin), 0);
    ck_assert_int_eq(pthread_rwlock_destroy(&rwlock), 0);
    ck_assert_int_eq(pthread_cond_destroy(&cond), 0);
}
END_TEST

/* --- conditions ------------------------------------------------------------------------------- */

struct waiter {
    int how, waits, go, knew, err;
    struct stamp before, signal;
};

static int wait_by(int how)
{
    until = how == 2 ? LONG_MONOTONIC : LONG;
    switch (how) {
    case 0:
        return pthread_cond_wait(&cond, &mutex);
    case 1:
        return pthread_cond_timedwait(&cond, &mutex, &until);
    case 2:
        return pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &until);
    case 3:
        return cnd_wait(&cnd, &mtx);
    default:
        return cnd_timedwait(&cnd, &mtx, &until);
    }
}

static void *waits(void *arg)
{
    struct waiter *w = arg;
    if (w->how < 3)
        pthread_mutex_lock(&mutex);
    else
        mtx_lock(&mtx);
    w->before = host_mark();
    w->waits = 1; /* under the mutex */
    while (!w->go)
        w->err |= wait_by(w->how);
    w->knew = host_knows(w->signal);
    if (w->how < 3)
        pthread_mutex_unlock(&mutex);
    else
        mtx_unlock(&mtx);
    return NULL;
}

START_TEST(conditions)
{
    struct waiter w = {.how = _i / 2};
    int c11 = w.how >= 3, all = _i % 2, waiting = 0;
    pthread_t id;
    locks_make();
    ck_assert_int_eq(pthread_create(&id, NULL, waits, &w), 0);
    while (!waiting) { /* it gives the mutex up by its wait only */
        ck_assert_int_eq(c11 ? mtx_lock(&mtx) : pthread_mutex_lock(&mutex), 0);
        waiting = w.waits;
        if (!waiting)
            ck_assert_int_eq(c11 ? mtx_unlock(&mtx) : pthread_mutex_unlock(&mutex), 0);
    }
    ck_assert(host_knows(w.before));
    w.signal = host_mark();
    w.go = 1;
    if (c11)
        ck_assert_int_eq(all ? cnd_broadcast(&cnd) : cnd_signal(&cnd), 0);
    else
        ck_assert_int_eq(all ? pthread_cond_broadcast(&cond) : pthread_cond_signal(&cond), 0);
    ck_assert_int_eq(c11 ? mtx_unlock(&mtx) : pthread_mutex_unlock(&mutex), 0);
    pthread_join(id, NULL);
    ck_assert_int_eq(w.err, 0);
    ck_assert(w.knew);
}
END_TEST

START_TEST(a_wait_that_times_out_takes_the_mutex)
{
    struct worker w = {.l = &locks[0]};
    pthread_t id;
    locks_make();
    pthread_mutex_lock(&mutex);
    ck_assert_int_eq(pthread_create(&id, NULL, holds, &w), 0);
    struct timespec past = at(CLOCK_REALTIME, -1);
    flag_set(&w.give);
    while (!__atomic_load_n(&w.given, __ATOMIC_ACQUIRE))
        ck_assert_int_eq(pthread_cond_timedwait(&cond, &mutex, &past), ETIMEDOUT);
    ck_assert_int_eq(pthread_cond_timedwait(&cond, &mutex, &past), ETIMEDOUT);
    ck_assert(host_knows(w.s));
    pthread_mutex_unlock(&mutex);
    flag_set(&w.end);
    pthread_join(id, NULL);
}
END_TEST

/* --- barriers, once --------------------------------------------------------------------------- */

static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static once_flag once11 = ONCE_FLAG_INIT;
static struct stamp done, inner_done, done11;

static void do_inner(void) { inner_done = host_mark(); }
static void do_once(void)
{
    pthread_once(&inner, do_inner);
    done = host_mark();
}
static void do_once11(void) { done11 = host_mark(); }

static void *first(void *arg)
{
    struct worker *w = arg;
    pthread_once(&once, do_once);
    call_once(&once11, do_once11);
    flag_set(&w->marked);
    flag_wait(&w->give);
    w->s = host_mark();
    pthread_barrier_wait(&barrier);
    flag_wait(&w->end);
    return NULL;
}

START_TEST(what_is_done_once_comes_before_it_is_found_done)
{
    struct worker w = {0};
    pthread_t id;
    host_run(0);
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, 2), 0);
    ck_assert_int_eq(pthread_create(&id, NULL, first, &w), 0);
    flag_wait(&w.marked);
    ck_assert(!host_knows(inner_done));
    pthread_once(&inner, do_inner);
    ck_assert(host_knows(inner_done));
    ck_assert(!host_knows(done));
    pthread_once(&once, do_once);
    ck_assert(host_knows(done));
    ck_assert(!host_knows(done11));
    call_once(&once11, do_once11);
    ck_assert(host_knows(done11));
    flag_set(&w.give);
    pthread_barrier_wait(&barrier);
    ck_assert(host_knows(w.s));
    flag_set(&w.end);
    pthread_join(id, NULL);
    ck_assert_int_eq(pthread_barrier_destroy(&barrier), 0);
}
END_TEST

Suite *suite_mutex(void)
{
    Suite *s = suite_create("mutex");
    TCase *t = tcase_create("mutex");
    tcase_add_loop_test(t, a_lock_is_taken_after_it_was_given, 0, LOCKS);
    tcase_add_test(t, a_lock_that_ended_orders_nothing);
    tcase_add_loop_test(t, conditions, 0, 10);
    tcase_add_test(t, a_wait_that_times_out_takes_the_mutex);
    tcase_add_test(t, what_is_done_once_comes_before_it_is_found_done);
    suite_add_tcase(s, t);
    return s;
}
