/* test_chain.c - launch/chain.c: circles are found once, ends are counted, any number is borne. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "launch/chain.h"

Suite *suite_chain(void);

struct told {
    int lines;
    char text[2 * CHAIN_LINES][400];
};

static void note(void *to, const char *text)
{
    struct told *t = to;
    ck_assert_int_lt(t->lines, 2 * CHAIN_LINES);
    snprintf(t->text[t->lines++], sizeof t->text[0], "%s", text);
}

static struct told tell_known(const int *peer, const char *never, int n)
{
    struct told t = {0, {""}};
    ck_assert_int_eq(chain_tell(peer, never, n, note, &t), 0);
    return t;
}

static struct told tell(const int *peer, int n)
{
    return tell_known(peer, NULL, n);
}

START_TEST(circles)
{
    struct told t = tell((int[]){1, 2, 0, 0, -1}, 5);
    ck_assert_int_eq(t.lines, 1);
    ck_assert_str_eq(t.text[0],
                     "deadlock, if they still wait: 3 ranks wait for each other: 0 -> 1 -> 2 -> 0");
    t = tell((int[]){1, 0, 3, 2}, 4);
    ck_assert_int_eq(t.lines, 2);
    t = tell((int[]){0}, 1);
    ck_assert_str_eq(t.text[0], "deadlock, if it still waits: rank 0 waits for itself");
    t = tell_known((int[]){0, 2, 1, 4, 3}, (const char[]){1, 1, 1, 0, 1}, 5);
    ck_assert_int_eq(t.lines, 3);
    ck_assert_str_eq(t.text[0], "deadlock: rank 0 waits for itself");
    ck_assert_str_eq(t.text[1], "deadlock: 2 ranks wait for each other: 1 -> 2 -> 1");
    ck_assert_str_eq(t.text[2],
                     "deadlock, if they still wait: 2 ranks wait for each other: 3 -> 4 -> 3");
}
END_TEST

START_TEST(ends)
{
    struct told t = tell((int[]){2, 2, 3, -1, 3}, 5);
    ck_assert_int_eq(t.lines, 1);
    ck_assert_str_eq(t.text[0], "rank 3 keeps 4 ranks waiting: 0 -> 2 -> 3");
    /* one rank that waits for one other is seen in its own line */
    ck_assert_int_eq(tell((int[]){1, -1}, 2).lines, 0);
    ck_assert_int_eq(tell((int[]){-1, -1, -1}, 3).lines, 0);
    ck_assert_int_eq(tell(NULL, 0).lines, 0);
}
END_TEST

START_TEST(large_and_wrong)
{
    enum { N = 5000 };
    static int peer[N];
    for (int i = 0; i < N; i++)
        peer[i] = (i + 1) % N;
    struct told t = tell(peer, N);
    ck_assert_int_eq(t.lines, 1);
    ck_assert_ptr_nonnull(strstr(t.text[0], "5000 ranks wait for each other: 0 -> 1"));
    ck_assert_ptr_nonnull(strstr(t.text[0], "-> .."));
    peer[N - 1] = -1;
    t = tell(peer, N);
    ck_assert_ptr_nonnull(strstr(t.text[0], "rank 4999 keeps 4999 ranks waiting: 0 -> 1"));
    for (int i = 0; i < N; i++) /* 2500 circles of two */
        peer[i] = i ^ 1;
    ck_assert_int_eq(tell(peer, N).lines, CHAIN_LINES);
    for (int i = 0; i < N; i++)
        peer[i] = i % 3 ? 1 << 30 : -7;
    ck_assert_int_eq(tell(peer, N).lines, 0);
}
END_TEST

Suite *suite_chain(void)
{
    Suite *s = suite_create("launch/chain");
    TCase *t = tcase_create("chain");
    tcase_add_test(t, circles);
    tcase_add_test(t, ends);
    tcase_add_test(t, large_and_wrong);
    suite_add_tcase(s, t);
    return s;
}
