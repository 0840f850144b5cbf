/* test_program.c - launch/program.c: the file of a command, and what starts it. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/program.h"

Suite *suite_program(void);

START_TEST(programs)
{
    char dir[] = "/tmp/unit_launch_XXXXXX", *path = getenv("PATH");
    char *had = path ? strdup(path) : NULL, *file;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    int at = open(dir, O_PATH | O_DIRECTORY);
    ck_assert_int_eq(mkdirat(at, "sub", 0700), 0);
    close(openat(at, "sub/prog", O_CREAT | O_WRONLY, 0700));
    close(openat(at, "here", O_CREAT | O_WRONLY, 0700));
    close(openat(at, "plain", O_CREAT | O_WRONLY, 0600));
    setenv("PATH", "nowhere:sub", 1);
    ck_assert_str_eq(file = program_file(at, "prog"), "sub/prog");
    free(file);
    ck_assert_str_eq(file = program_file(at, "here"), "./here");
    free(file);
    ck_assert_str_eq(file = program_file(at, "./x"), "./x"); /* exec's to report */
    free(file);
    ck_assert_ptr_null(program_file(at, "plain"));
    ck_assert_ptr_null(program_file(at, "sub"));
    if (had)
        setenv("PATH", had, 1);
    free(had);
    unlinkat(at, "sub/prog", 0);
    unlinkat(at, "sub", AT_REMOVEDIR);
    unlinkat(at, "here", 0);
    unlinkat(at, "plain", 0);
    close(at);
    rmdir(dir);
}
END_TEST

/* A file of that text, which may be executed. */
static const char *file_of(const char *text, size_t n)
{
    static char path[] = "/tmp/unit_launch_file";
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0700);
    ck_assert_int_eq(write(fd, text, n), (ssize_t)n);
    close(fd);
    return path;
}

START_TEST(interpreters)
{
    char name[PATH_MAX], head[4096];
    static const struct {
        const char *text, *name;
    } scripts[] = {{"#!/bin/sh\n", "/bin/sh"},
                   {"#! /usr/bin/env python\n", "/usr/bin/env"},
                   {"#!/bin/sh", "/bin/sh"},
                   {"#!/bin/sh\r\n", "/bin/sh\r"},
                   {"#!\n", NULL},
                   {"#!", NULL},
                   {"echo\n", NULL},
                   {"", NULL}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const char *path = file_of(scripts[i].text, strlen(scripts[i].text));
        int err = program_interpreter(AT_FDCWD, path, name);
        ck_assert_int_eq(err, scripts[i].name ? 0 : -ENOEXEC);
        if (scripts[i].name)
            ck_assert_str_eq(name, scripts[i].name);
    }
    ck_assert_int_eq(program_interpreter(AT_FDCWD, "/proc/self/exe", name), 0);
    ck_assert_msg(strstr(name, "ld"), "%s", name);
    /* The head of this program, cut everywhere. */
    int fd = open("/proc/self/exe", O_RDONLY);
    ck_assert_int_eq(read(fd, head, sizeof head), (ssize_t)sizeof head);
    close(fd);
    for (size_t n = 0; n < 900; n += 7) {
        const char *path = file_of(head, n);
        int err = program_interpreter(AT_FDCWD, path, name);
        ck_assert(err == 0 || err == -ENOEXEC);
    }
    ck_assert_int_eq(program_interpreter(AT_FDCWD, "/", name), -ENOEXEC);
    ck_assert_int_eq(program_interpreter(AT_FDCWD, "/no such file", name), -ENOENT);
    unlink("/tmp/unit_launch_file");
}
END_TEST

Suite *suite_program(void)
{
    Suite *s = suite_create("program");
    TCase *t = tcase_create("program");
    tcase_add_test(t, programs);
    tcase_add_test(t, interpreters);
    suite_add_tcase(s, t);
    return s;
}
