/* test_oom.c - launch/oom.c: the kernel's counters, of both versions of control groups and of the
 * machine, in files that are made up; a kill is told once. */
#include "unit.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* A made-up machine below `root`. */
static char root[] = "/tmp/oom-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *c = strchr(path + sizeof root, '/'); c; c = strchr(c + 1, '/')) {
        *c = 0;
        mkdir(path, 0700); /* or it is there */
        *c = '/';
    }
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
}

static int drop(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void begin(void)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
    put("/proc/vmstat", "nr_free_pages 7\noom_kill 40\n");
}

static void finish(void)
{
    nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static const char by_group[] = ": out of memory (the control group's counter oom_kill has grown)",
                  by_machine[] =
                      ": probably out of memory (the machine's counter oom_kill has grown)";

/* One kill in the group; the machine counts it, too. */
static void group_kill(const char *counters, const char *none, const char *one)
{
    struct oom o;
    put(counters, none);
    oom_mark(&o, root);
    ck_assert_str_eq(oom_cause(&o, SIGKILL), ""); /* such a signal by kill(2) */
    put(counters, one);
    put("/proc/vmstat", "nr_free_pages 7\noom_kill 41\n");
    ck_assert_str_eq(oom_cause(&o, SIGSEGV), "");
    ck_assert_str_eq(oom_cause(&o, SIGKILL), by_group);
    ck_assert_str_eq(oom_cause(&o, SIGKILL), ""); /* it is told once */
}

START_TEST(second_version)
{
    begin();
    put("/proc/self/cgroup", "0::/user/job\n");
    group_kill("/sys/fs/cgroup/user/job/memory.events", "max 9\noom 3\noom_kill 2\n",
               "max 12\noom 4\noom_kill 3\n");
    finish();
}
END_TEST

START_TEST(in_a_container)
{
    begin();
    put("/proc/self/cgroup", "0::/outer/job\n");
    group_kill("/sys/fs/cgroup/memory.events", "oom 0\noom_kill 0\n", "oom 1\noom_kill 1\n");
    finish();
}
END_TEST

START_TEST(first_version)
{
    begin();
    put("/proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/job\n0::/\n");
    group_kill("/sys/fs/cgroup/memory/job/memory.oom_control",
               "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n",
               "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");
    finish();
}
END_TEST

/* Only the machine has counted: it may have been another process. */
START_TEST(machine)
{
    struct oom o;
    begin();
    oom_mark(&o, root);
    ck_assert_str_eq(oom_cause(&o, SIGKILL), "");
    put("/proc/vmstat", "nr_free_pages 7\noom_kill 42\n");
    ck_assert_str_eq(oom_cause(&o, SIGKILL), by_machine);
    ck_assert_str_eq(oom_cause(&o, SIGKILL), by_machine);
    ck_assert_str_eq(oom_cause(&o, SIGKILL), "");
    finish();
}
END_TEST

Suite *suite_oom(void)
{
    Suite *s = suite_create("launch/oom");
    TCase *t = tcase_create("oom");
    tcase_add_test(t, counters);
    tcase_add_test(t, second_version);
    tcase_add_test(t, in_a_container);
    tcase_add_test(t, first_version);
    tcase_add_test(t, machine);
    suite_add_tcase(s, t);
    return s;
}
