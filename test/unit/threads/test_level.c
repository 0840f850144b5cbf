/* test_level.c - threads/level.c, MPI_THREAD_SERIALIZED: calls that run at one time, in each order
 * of their looks and their marks. A thread that waits for proc->lock has looked, so the test has
 * the order in its hand. */
#include "unit.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "threads/threads.h"
#include "threads/threads_types.h"
#include "var/var.h"
#include "watch/watch.h"

Suite *suite_level(void);

static void setup(void)
{
    char msg[200];
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    ck_assert_int_eq(boot_init(NULL), 0);
    cvar.thread_check = 1;
    lock_init(&proc->lock);
    proc->threaded = 1;
    proc->thread_level = MPI_THREAD_SERIALIZED;
    ck_assert_int_eq(threads_init(), 0);
}

static void teardown(void)
{
    threads_finalize();
    proc->threaded = 0;
    boot_finalize();
    var_finalize();
}

/* As api_enter() and api_unlock(). */
static void enter(const char *call)
{
    watch_called(call);
    lock_acquire(&proc->lock);
    proc->call = call;
}

static void leave(void)
{
    proc->call = NULL;
    lock_release(&proc->lock);
}

static void *calls(void *call)
{
    enter(call);
    leave();
    return NULL;
}

static pthread_t begin(char *call)
{
    pthread_t t;
    ck_assert_int_eq(pthread_create(&t, NULL, calls, call), 0);
    return t;
}

/* The caller holds the lock: the other thread has looked without it, and has made no mark. */
static pthread_t begin_and_look(char *call)
{
    pthread_t t = begin(call);
    while (atomic_load(&proc->lock.waiters) == 0)
        sched_yield();
    return t;
}

/* The n-th one that is kept, of n so far. */
static void is_named(int n, const char *call, const char *other)
{
    const struct threads *t = proc->threads;
    ck_assert_int_eq(t->n, n);
    ck_assert_str_eq(t->bad[n - 1].call, call);
    ck_assert_str_eq(t->bad[n - 1].other, other);
}

/* The first call ends before the second one has the lock: it was under way at the first look. */
START_TEST(over_when_the_lock_is_free)
{
    enter("MPI_Send");
    pthread_t t = begin_and_look("MPI_Recv");
    leave();
    pthread_join(t, NULL);
    is_named(1, "MPI_Recv", "MPI_Send");
}
END_TEST

/* A call that has looked is noted though it has not the lock yet. A second one begins and ends
 * meanwhile. */
START_TEST(noted_before_it_has_the_lock)
{
    watch_called("MPI_Send");
    pthread_join(begin("MPI_Recv"), NULL);
    is_named(1, "MPI_Recv", "MPI_Send");
    lock_acquire(&proc->lock);
    leave();
}
END_TEST

/* Both have looked, and seen nothing, before either makes its mark. The one that is let in first is
 * over when the other one gets the lock: only its mark is left. */
START_TEST(both_look_before_either_has_the_lock)
{
    lock_acquire(&proc->lock); /* of a third party: a thread of the library that serves */
    pthread_t t = begin_and_look("MPI_Recv");
    enter("MPI_Send"); /* it has the lock: this thread is the first one that is let in */
    leave();
    lock_release(&proc->lock);
    pthread_join(t, NULL);
    is_named(1, "MPI_Recv", "MPI_Send");
}
END_TEST

/* A call that waits gives the lock up. The end of another one, which was named, leaves none noted
 * until the first one notes its own again (progress/doze.c). */
START_TEST(noted_again_behind_the_first_look)
{
    enter("MPI_Wait");
    proc->call = NULL;
    pthread_t t = begin_and_look("MPI_Recv");
    proc->call = "MPI_Wait";
    lock_release(&proc->lock);
    pthread_join(t, NULL);
    is_named(1, "MPI_Recv", "MPI_Wait");
}
END_TEST

/* One after the other; and a call of a function that the program has a call run. */
START_TEST(in_order)
{
    for (int i = 0; i < 3; i++) {
        calls("MPI_Send");
        pthread_join(begin("MPI_Recv"), NULL);
    }
    enter("MPI_Allreduce");
    calls("MPI_Type_size");
    lock_release(&proc->lock);
    ck_assert_int_eq(proc->threads->n, 0);
}
END_TEST

/* A third party's pass is no call. */
START_TEST(beside_a_third_party)
{
    lock_acquire(&proc->lock);
    pthread_t t = begin_and_look("MPI_Recv");
    lock_release(&proc->lock);
    pthread_join(t, NULL);
    ck_assert_int_eq(proc->threads->n, 0);
}
END_TEST

Suite *suite_level(void)
{
    Suite *s = suite_create("threads/level");
    TCase *t = tcase_create("serialized");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, over_when_the_lock_is_free);
    tcase_add_test(t, noted_before_it_has_the_lock);
    tcase_add_test(t, both_look_before_either_has_the_lock);
    tcase_add_test(t, noted_again_behind_the_first_look);
    tcase_add_test(t, in_order);
    tcase_add_test(t, beside_a_third_party);
    suite_add_tcase(s, t);
    return s;
}
