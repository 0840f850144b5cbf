/* test_log.c - base/log.c: one line with rank. */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"

Suite *suite_log(void);

static int seven(void)
{
    return 7;
}

/* What a function prints on stderr. */
static void capture(void (*fn)(void), char *buf, size_t len)
{
    int p[2], saved = dup(STDERR_FILENO);
    ck_assert_int_eq(pipe(p), 0);
    dup2(p[1], STDERR_FILENO);
    fn();
    dup2(saved, STDERR_FILENO);
    close(p[1]);
    ssize_t n = read(p[0], buf, len - 1);
    buf[n > 0 ? n : 0] = 0;
    close(p[0]);
    close(saved);
}

static void warn_short(void)
{
    log_warn("slot %d", 3);
}

static void warn_long(void)
{
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    log_warn("%s", text);
}

START_TEST(one_line_with_rank)
{
    char buf[4096];
    capture(warn_short, buf, sizeof buf);
    ck_assert_str_eq(buf, "windrose: slot 3\n");
    log_set_rank(seven);
    capture(warn_short, buf, sizeof buf);
    ck_assert_str_eq(buf, "windrose[7]: slot 3\n");
    capture(warn_long, buf, sizeof buf);
    ck_assert_uint_lt(strlen(buf), 1025);
    ck_assert_int_eq(buf[strlen(buf) - 1], '\n');
}
END_TEST

Suite *suite_log(void)
{
    Suite *s = suite_create("base/log");
    TCase *t = tcase_create("log");
    tcase_add_test(t, one_line_with_rank);
    suite_add_tcase(s, t);
    return s;
}
