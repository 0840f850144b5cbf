/* test_standin.c - progress/standin.c: serves while no thread of the program looks, and leaves out
 * what may call functions of the program. */
#include "unit.h"
#include "up.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot_types.h"
#include "mem/mem.h"
#include "progress/progress.h"
#include "var/var.h"

Suite *suite_standin(void);

static int tick(void *arg)
{
    ++*(int *)arg;
    return 0;
}

/* No descriptor: a network that must be looked at. */
static int the_fd = -1;

static int no_fd(void *arg, int arm)
{
    (void)arg;
    return arm ? -1 : the_fd;
}

static struct progress_source network = {.fd = no_fd, .network = 1};

static void begin(void)
{
    progress_up();
    proc->threaded = proc->helped = 1;
    lock_acquire(&proc->lock);
    lock_prefer(&proc->lock); /* where the system has no such fence, the ordinary lock */
    lock_release(&proc->lock);
    progress_source_add(&network);
    ck_assert_int_eq(progress_standin_start(), 0);
}

static void end(void)
{
    progress_standin_stop();
    progress_source_del(&network);
    progress_down();
    proc->threaded = proc->helped = 0;
    lock_init(&proc->lock);
}

static int read_locked(const int *n)
{
    lock_acquire(&proc->lock);
    int now = *n;
    lock_release(&proc->lock);
    return now;
}

START_TEST(serves_while_the_program_computes)
{
    int ticks = 0, calls = 0;
    struct progress_hook h = {.fn = tick, .arg = &ticks},
                         own = {.fn = tick, .arg = &calls, .program = 1};
    begin();
    lock_acquire(&proc->lock);
    progress_hook_add(&h);
    progress_hook_add(&own);
    lock_release(&proc->lock);
    while (read_locked(&ticks) < 5) /* ends only if the thread runs */
        usleep(1000);
    ck_assert_int_eq(read_locked(&calls), 0);
    lock_acquire(&proc->lock);
    progress_hook_del(&h);
    progress_hook_del(&own);
    lock_release(&proc->lock);
    end();
}
END_TEST

/* A thread of the program that holds the lock is in MPI, and looks itself. */
START_TEST(leaves_the_lock_to_the_program)
{
    int ticks = 0;
    struct progress_hook h = {.fn = tick, .arg = &ticks};
    begin();
    lock_acquire(&proc->lock);
    progress_hook_add(&h);
    int before = ticks;
    usleep(20000);
    ck_assert_int_eq(ticks, before);
    progress_hook_del(&h);
    lock_release(&proc->lock);
    end();
}
END_TEST

static int helps(void *arg)
{
    *(int *)arg |= progress_is_helper() ? 1 : 2;
    return 0;
}

/* By it functions of the program learn that they are not in its own thread. */
START_TEST(says_that_it_helps)
{
    int is = 0;
    struct progress_hook h = {.fn = helps, .arg = &is};
    begin();
    lock_acquire(&proc->lock);
    progress_hook_add(&h);
    lock_release(&proc->lock);
    while (read_locked(&is) != 1)
        usleep(1000);
    lock_acquire(&proc->lock);
    progress_poll();
    progress_hook_del(&h);
    lock_release(&proc->lock);
    ck_assert_int_eq(is, 3);
    end();
}
END_TEST

static atomic_int unloaded;

static void unload(void)
{
    atomic_store(&unloaded, 1);
    usleep(50000);
}

static int needs_it(void *arg)
{
    (void)arg;
    if (atomic_load(&unloaded))
        _exit(9);
    return 0;
}

/* exit() without MPI_Finalize: no pass runs when libraries clean up, which they do last. */
START_TEST(ends_before_libraries)
{
    static struct progress_hook h = {.fn = needs_it};
    int status;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        atexit(unload);
        begin();
        lock_acquire(&proc->lock);
        progress_hook_add(&h);
        lock_release(&proc->lock);
        usleep(5000);
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

static pthread_mutex_t library = PTHREAD_MUTEX_INITIALIZER;

/* As a network's library does. */
static int locks(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&library);
    usleep(300);
    pthread_mutex_unlock(&library);
    return 0;
}

/* What a pass locks is free in a child made by fork(), though the program forks at any time. */
START_TEST(no_pass_during_fork)
{
    struct progress_hook h = {.fn = locks};
    begin();
    lock_acquire(&proc->lock);
    progress_hook_add(&h);
    lock_release(&proc->lock);
    for (int i = 0; i < 60; i++) {
        int status;
        usleep((useconds_t)(900 + 40 * (i % 30)));
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (!child)
            _exit(pthread_mutex_trylock(&library) ? 9 : 0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    lock_acquire(&proc->lock);
    progress_hook_del(&h);
    lock_release(&proc->lock);
    end();
}
END_TEST

/* This job has one process, and so no peers of other nodes. If it was spawned, a network may lead
 * to other jobs. */
START_TEST(is_not_wanted_on_one_node)
{
    begin();
    lock_acquire(&proc->lock);
    struct boot *b = proc->boot;
    the_fd = 0;
    ck_assert_int_eq(progress_standin_wanted(), 0);
    b->far = 1;
    ck_assert_int_eq(progress_standin_wanted(), 0);
    b->first = 4;
    ck_assert_int_eq(progress_standin_wanted(), 1);
    the_fd = -1; /* it would have to look every millisecond */
    ck_assert_int_eq(progress_standin_wanted(), 0);
    the_fd = 0;
    b->far = 0;
    ck_assert_int_eq(progress_standin_wanted(), 0);
    b->first = 0;
    the_fd = -1;
    lock_release(&proc->lock);
    end();
}
END_TEST

Suite *suite_standin(void)
{
    Suite *s = suite_create("progress/standin");
    TCase *t = tcase_create("standin");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, serves_while_the_program_computes);
    tcase_add_test(t, leaves_the_lock_to_the_program);
    tcase_add_test(t, says_that_it_helps);
    tcase_add_test(t, ends_before_libraries);
    tcase_add_test(t, no_pass_during_fork);
    tcase_add_test(t, is_not_wanted_on_one_node);
    suite_add_tcase(s, t);
    return s;
}
