/* test_oom.c - launch/oom.c: the kernel's counters are read; a kill is told once. */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "launch/oom.h"

Suite *suite_oom(void);

START_TEST(counters)
{
    char path[] = "/tmp/oom-XXXXXX";
    int fd = mkstemp(path);
    const char text[] = "low 0\noom_kill_disable 1\noom 4\noom_kill 3\noom_group_kill 7\n";
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq((int)write(fd, text, sizeof text - 1), (int)sizeof text - 1);
    close(fd);
    ck_assert_uint_eq(oom_read(path, "oom_kill"), 3);
    ck_assert_uint_eq(oom_read(path, "oom"), 4);
    ck_assert_uint_eq(oom_read(path, "no"), 0);
    unlink(path);
    ck_assert_uint_eq(oom_read(path, "oom_kill"), 0);
}
END_TEST

START_TEST(told_once)
{
    struct oom o;
    oom_mark(&o);
    ck_assert_str_eq(oom_cause(&o, SIGSEGV), "");
    struct oom before = o;
    if (before.machine) { /* as if one kill had come since */
        before.machine--;
        ck_assert_str_ne(oom_cause(&before, SIGKILL), "");
        ck_assert_str_eq(oom_cause(&before, SIGKILL), "");
    }
}
END_TEST

Suite *suite_oom(void)
{
    Suite *s = suite_create("launch/oom");
    TCase *t = tcase_create("oom");
    tcase_add_test(t, counters);
    tcase_add_test(t, told_once);
    suite_add_tcase(s, t);
    return s;
}
