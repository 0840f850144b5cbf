/* test_ask.c - launch/ask.c: texts, hostile; launch/source_line.c: places are kept, slow
 * lookups. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sched.h"
#include "base/where.h"
#include "launch/ask.h"
#include "launch/source_line.h"

Suite *suite_ask(void);

static struct where words;

/* What is read from a child that has these words. */
static void ask(const char *call, const char *what, int peer, const char *expected)
{
    char text[512], never;
    int fd[2], awaited;
    struct source_lines lines = {.until = time_now() + 20000000000u};
    words = (struct where){.call = call, .wait_what = what, .wait_peer = peer};
    ck_assert_int_eq(setenv("PATH", "/nowhere", 1), 0); /* no addr2line: places have no lines */
    ck_assert_int_eq(pipe(fd), 0);
    pid_t pid = fork();
    if (!pid) {
        char c;
        close(fd[1]);
        _exit(read(fd[0], &c, 1) != 0); /* until the parent closes its end */
    }
    close(fd[0]);
    ck_assert_int_eq(ask_text(pid, (uintptr_t)&words, 3, text, sizeof text, &awaited, &never,
                              &lines),
                     0);
    size_t n = strlen(expected);
    char end = 0;
    unsigned at;
    ck_assert_msg(!strncmp(text, expected, n), "%s", text);
    ck_assert_msg(sscanf(text + n, "; at unit_launch+0x%x%c", &at, &end) == 1, "%s", text);
    ck_assert_int_eq(awaited, what ? peer : -1);
    close(fd[1]);
    waitpid(pid, NULL, 0);
}

START_TEST(texts)
{
    ask(NULL, NULL, -1, "rank 3: outside MPI");
    ask("MPI_Wait", NULL, -1, "rank 3: in MPI_Wait");
    ask("MPI_Win_fence", "a barrier", -1, "rank 3: in MPI_Win_fence, waiting for a barrier");
    ask("MPI_Recv", "a message", 1204, "rank 3: in MPI_Recv, waiting for a message (rank 1204)");
    ask("a\nb\033[31m", NULL, -1, "rank 3: in a?b?[31m");
}
END_TEST

/* A rank may be any program: what it calls an address may be none. */
START_TEST(hostile)
{
    int awaited;
    char never, text[512],
        expected[512] = "rank 3: in ",
        *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(page, MAP_FAILED);
    memset(page, 'x', 8192);
    memset(expected + strlen(expected), 'x', 199);
    ask(page, NULL, -1, expected); /* without end */
    munmap(page + 4096, 4096);
    ask(page + 4090, NULL, -1, "rank 3: in xxxxxx"); /* its end is not there */
    munmap(page, 4096);
    struct source_lines lines = {0};
    words = (struct where){.call = page};
    ck_assert_int_eq(ask_text(getpid(), (uintptr_t)&words, 3, text, sizeof text, &awaited, &never,
                              &lines),
                     -EFAULT);
    ck_assert_int_eq(ask_text(getpid(), 1, 3, text, sizeof text, &awaited, &never, &lines),
                     -EFAULT);
    ck_assert_int_eq(ask_text(getpid(), UINT64_MAX - 3, 3, text, sizeof text, &awaited, &never,
                              &lines),
                     -EFAULT);
}
END_TEST

/* How often the script that stands for addr2line was started, for the places of `n` bytes of this
 * program, each asked `times` times. */
static int lookups(const char *script, uint64_t budget_ns, int n, int times, char text[120])
{
    char dir[] = "/tmp/ask.XXXXXX", path[64], count[64];
    struct source_lines lines = {.until = time_now() + budget_ns};
    struct stat st = {0};
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/addr2line", dir);
    snprintf(count, sizeof count, "%s/count", dir);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "#!/bin/sh\nprintf x >>%s\n%s\n", count, script);
    fclose(f);
    ck_assert_int_eq(chmod(path, 0700), 0);
    ck_assert_int_eq(setenv("PATH", dir, 1), 0); /* a test is a process of its own */
    for (int i = 0; i < n * times; i++)
        source_line_text(getpid(), (uintptr_t)suite_ask + (unsigned)(i % n), &lines, text, 120);
    stat(count, &st);
    remove(count);
    remove(path);
    remove(dir);
    return (int)st.st_size;
}

START_TEST(places_are_kept)
{
    char text[120];
    ck_assert_int_eq(lookups("echo /a/heat.c:12", 600000000000u, SOURCE_LINE_PLACES, 3, text),
                     SOURCE_LINE_PLACES);
    ck_assert_str_eq(text, "heat.c:12");
}
END_TEST

/* Where addr2line takes long, the first places use the time up; the others have none. */
START_TEST(slow_lookups)
{
    char text[120];
    ck_assert_int_le(lookups("while :; do :; done", 200000000, 40, 1, text), 1);
    ck_assert_ptr_nonnull(strstr(text, "unit_launch+0x"));
    ck_assert_int_eq(lookups("echo /a/heat.c:12", 0, 3, 1, text), 0);
}
END_TEST

Suite *suite_ask(void)
{
    Suite *s = suite_create("launch/ask");
    TCase *t = tcase_create("ask");
    tcase_set_tags(t, "kernel"); /* an emulator of processors refuses process_vm_readv */
    tcase_add_test(t, texts);
    tcase_add_test(t, hostile);
    tcase_add_test(t, places_are_kept);
    tcase_add_test(t, slow_lookups);
    suite_add_tcase(s, t);
    return s;
}
