/* test_stack_place.c - launch/stack_place.c: a process that runs is found, and goes on; its stop is
 * no end (job.c). */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sched.h"
#include "launch/job.h"
#include "launch/stack_place.h"

Suite *suite_stack_place(void);

enum { BY_SIGNAL = 7 };

static pid_t child;

static void on_signal(int sig)
{
    (void)sig;
    _exit(BY_SIGNAL);
}

/* A process that computes; SIGUSR1 ends it. */
static void begin(void)
{
    int fd[2];
    char c;
    ck_assert_int_eq(pipe(fd), 0);
    child = fork();
    if (!child) {
        signal(SIGUSR1, on_signal);
        alarm(60);
        if (write(fd[1], "", 1) != 1)
            _exit(1);
        for (volatile int i = 0;; i++)
            ;
    }
    ck_assert_int_eq(read(fd[0], &c, 1), 1);
    close(fd[0]);
    close(fd[1]);
}

static void finish(void)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Its tracer: 0 for none. */
static long tracer(void)
{
    char path[64], line[128];
    long pid = -1;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)child);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "TracerPid: %ld", &pid) == 1)
            break;
    if (f)
        fclose(f);
    return pid;
}

static int stop_of(void)
{
    int ws = 0;
    ck_assert_int_eq(waitpid(child, &ws, __WALL), child);
    ck_assert(WIFSTOPPED(ws));
    return ws;
}

START_TEST(found)
{
    begin();
    ck_assert_uint_ne(stack_place(child, time_now() + 20000000000u), 0);
    ck_assert_int_eq(tracer(), 0);
    finish();
}
END_TEST

START_TEST(no_time_left)
{
    begin();
    ck_assert_uint_eq(stack_place(child, time_now()), 0);
    ck_assert_int_eq(tracer(), 0);
    finish();
}
END_TEST

START_TEST(goes_on)
{
    begin();
    ck_assert_int_eq(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
    ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, child, NULL, NULL), 0);
    stack_place_let_go(child, stop_of());
    ck_assert_int_eq(tracer(), 0);
    ck_assert_int_eq(waitpid(child, NULL, WNOHANG), 0);
    finish();
}
END_TEST

START_TEST(signal_arrives)
{
    int ws;
    begin();
    ck_assert_int_eq(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
    kill(child, SIGUSR1);
    stack_place_let_go(child, stop_of());
    ck_assert_int_eq(waitpid(child, &ws, 0), child);
    ck_assert_int_eq(WEXITSTATUS(ws), BY_SIGNAL);
}
END_TEST

/* A stop that comes after its time. */
START_TEST(late_stop)
{
    siginfo_t s;
    begin();
    struct rank rank = {.pid = child, .shown = child, .pmi_fd = -1};
    struct job j = {.size = 1, .live = 1, .rank = &rank, .report_fd = -1};
    ck_assert_int_eq(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
    ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, child, NULL, NULL), 0);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &s, WSTOPPED | WNOWAIT | __WALL), 0);
    job_reap(&j);
    ck_assert(!rank.exited);
    ck_assert_int_eq(j.live, 1);
    ck_assert_int_eq(tracer(), 0);
    finish();
}
END_TEST

Suite *suite_stack_place(void)
{
    Suite *s = suite_create("launch/stack_place");
    TCase *t = tcase_create("stack_place");
    tcase_set_tags(t, "kernel"); /* an emulator of processors has no ptrace */
    tcase_add_test(t, found);
    tcase_add_test(t, no_time_left);
    tcase_add_test(t, goes_on);
    tcase_add_test(t, signal_arrives);
    tcase_add_test(t, late_stop);
    suite_add_tcase(s, t);
    return s;
}
