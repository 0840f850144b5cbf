/* test_addr2line.c - place/addr2line.c: what it writes, and a run of it on this program. */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "place/addr2line.h"

Suite *suite_addr2line(void);

static const char *answer(const char *written)
{
    static char text[256];
    strcpy(text, written);
    addr2line_answer(text);
    return text;
}

START_TEST(what_it_writes)
{
    ck_assert_str_eq(answer("/home/me/heat.c:212\n"), "/home/me/heat.c:212");
    ck_assert_str_eq(answer("/home/me/heat.c:212 (discriminator 3)\n"), "/home/me/heat.c:212");
    ck_assert_str_eq(answer("heat.c:1\nheat.c:2\n"), "heat.c:1");
    ck_assert_str_eq(answer("??:0\n"), "");
    ck_assert_str_eq(answer("/home/me/heat.c:?\n"), "");
    ck_assert_str_eq(answer(""), "");
    ck_assert_str_eq(addr2line_last_part("/home/me/heat.c:212"), "heat.c:212");
    ck_assert_str_eq(addr2line_last_part("heat.c"), "heat.c");
}
END_TEST

/* Without binutils it does not start; with them it says something, and ends. */
START_TEST(a_run)
{
    char text[256] = "", self[4096];
    int fd[2], status;
    pid_t pid;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert_int_gt(n, 0);
    self[n] = 0;
    ck_assert_int_eq(pipe(fd), 0);
    int err = addr2line_start(&pid, self, 1, fd[1]);
    close(fd[1]);
    if (err) {
        ck_assert_int_eq(err, ENOENT);
    } else {
        n = read(fd[0], text, sizeof text - 1);
        ck_assert_int_gt(n, 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        text[n] = 0;
        ck_assert(!strncmp(text, "??:", 3) && strchr(text, '\n')); /* no line has address 0 */
        addr2line_answer(text);
        ck_assert_str_eq(text, "");
    }
    close(fd[0]);
}
END_TEST

Suite *suite_addr2line(void)
{
    Suite *s = suite_create("addr2line");
    TCase *t = tcase_create("addr2line");
    tcase_add_test(t, what_it_writes);
    tcase_add_test(t, a_run);
    suite_add_tcase(s, t);
    return s;
}
