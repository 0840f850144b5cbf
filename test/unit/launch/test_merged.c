/* test_merged.c - launch/merged.c: equal lines of ranks become one, in the order of their lines. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/merged.h"

Suite *suite_merged(void);

enum { RANKS = 4 };
#define MS 1000000u

static struct sink sink;
static struct merged *g;
static char awaited[RANKS];
static int pipe_fd[2];

static void begin(void)
{
    ck_assert_int_eq(pipe(pipe_fd), 0);
    ck_assert_int_eq(sink_open(&sink, pipe_fd[1]), 0);
    memset(awaited, 1, sizeof awaited);
    g = merged_new(RANKS, &sink, "> ", awaited);
    ck_assert_ptr_nonnull(g);
}

static void add(int rank, const char *text, uint64_t ms)
{
    merged_add(g, rank, text, strlen(text), ms * MS);
}

/* What comes out at that time. */
static void expect(uint64_t ms, int all, const char *expected)
{
    char text[1024] = "";
    merged_push(g, ms * MS, all);
    sink.mid_line = 0;
    sink_line(&sink, "."); /* so that there is something to read */
    ssize_t n = read(pipe_fd[0], text, sizeof text - 1);
    ck_assert_int_gt(n, 0);
    text[n - 1] = 0;
    sink.mid_line = 0;
    ck_assert_str_eq(text, expected);
}

static void finish(void)
{
    merged_free(g);
    sink_close(&sink);
}

START_TEST(equal_lines)
{
    begin();
    for (int r = 0; r < RANKS; r++) {
        add(r, "first\n", 1000);
        add(r, r == 2 ? "two\n" : "other\n", 1000);
        add(r, "last\n", 1000);
    }
    expect(1100, 0, ""); /* they may say more */
    expect(1000 + MERGED_QUIET_MS, 0, "[0-3] first\n[0-1,3] other\n[2] two\n[0-3] last\n");
    ck_assert_uint_eq(merged_due(g), UINT64_MAX);
    finish();
}
END_TEST

/* A prompt of all needs no long silence; a rank that has more to say is waited for. */
START_TEST(prompts)
{
    begin();
    for (int r = 0; r < RANKS - 1; r++)
        add(r, "x = 1\n> ", 1000);
    expect(1000 + MERGED_PROMPT_MS, 0, "");
    add(3, "x = 7\n> ", 1400);
    ck_assert_uint_eq(merged_due(g), (1400 + (uint64_t)MERGED_PROMPT_MS) * MS);
    expect(1400 + MERGED_PROMPT_MS, 0, "[0-2] x = 1\n[3] x = 7\n[0-3] > ");
    awaited[1] = awaited[2] = awaited[3] = 0; /* the next command goes to one */
    add(0, "y\n> ", 2000);
    expect(2000 + MERGED_PROMPT_MS, 0, "[0] y\n[0] > ");
    finish();
}
END_TEST

/* A rank that prints without end does not keep the lines of others; its own is not cut. */
START_TEST(without_end)
{
    begin();
    add(1, "done\n", 1000);
    for (uint64_t ms = 1000; ms < 1000 + MERGED_LATE_MS; ms += 100) {
        add(0, "z", ms);
        expect(ms, 0, "");
    }
    add(0, "z", 1000 + MERGED_LATE_MS);
    expect(1000 + MERGED_LATE_MS, 0, "[1] done\n");
    expect(1000 + MERGED_LATE_MS, 1, "[0] zzzzzzzzzzzzzzzzzzzzz");
    finish();
}
END_TEST

/* What is longer than a piece goes out in pieces, the ends of equal ones, too. */
START_TEST(long_lines)
{
    char line[9001];
    static char text[20001];
    begin();
    memset(line, 'a', sizeof line - 2);
    strcpy(line + sizeof line - 2, "\n");
    add(0, line, 1000);
    add(1, line, 1000);
    add(2, "b\n", 1000);
    merged_push(g, 0, 1);
    ssize_t n = read(pipe_fd[0], text, sizeof text - 1);
    ck_assert_int_gt(n, 9000);
    ck_assert_int_lt(n, 9100); /* once, and labels */
    ck_assert(!strncmp(text, "[0-1] a", 7) && strstr(text, "[2] b\n") && !strstr(text, "[0] "));
    ck_assert(!g->first);
    for (int r = 0; r < RANKS; r++)
        ck_assert_uint_eq(g->rank[r].have, 0);
    finish();
}
END_TEST

START_TEST(lists)
{
    char text[64];
    merged_list("\0\0\0", 3, text, sizeof text);
    ck_assert_str_eq(text, "");
    merged_list("\1\1\0\1\0\1\1\1", 8, text, sizeof text);
    ck_assert_str_eq(text, "0-1,3,5-7");
    char set[100];
    for (int i = 0; i < 100; i++)
        set[i] = (char)(i % 2);
    merged_list(set, 100, text, sizeof text);
    ck_assert_str_eq(text, "1,3,5,7,9,11,13,15,17,19,21,23,25..");
}
END_TEST

Suite *suite_merged(void)
{
    Suite *s = suite_create("launch/merged");
    TCase *t = tcase_create("merged");
    tcase_add_test(t, equal_lines);
    tcase_add_test(t, prompts);
    tcase_add_test(t, without_end);
    tcase_add_test(t, long_lines);
    tcase_add_test(t, lists);
    suite_add_tcase(s, t);
    return s;
}
