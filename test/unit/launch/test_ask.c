/* test_ask.c - launch/ask.c: texts, hostile. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/where.h"
#include "launch/ask.h"
#include "launch/source_line.h"

Suite *suite_ask(void);

static struct where words;

/* What is read from a child that has these words. */
static void ask(const char *call, const char *what, int peer, const char *expected)
{
    char text[512];
    int fd[2], awaited;
    struct source_line_last last = {0};
    words = (struct where){.call = call, .wait_what = what, .wait_peer = peer};
    ck_assert_int_eq(pipe(fd), 0);
    pid_t pid = fork();
    if (!pid) {
        char c;
        close(fd[1]);
        _exit(read(fd[0], &c, 1) != 0); /* until the parent closes its end */
    }
    close(fd[0]);
    ck_assert_int_eq(ask_text(pid, (uintptr_t)&words, 3, text, sizeof text, &awaited, &last), 0);
    ck_assert_str_eq(text, expected);
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
    char text[512],
        expected[512] = "rank 3: in ",
        *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(page, MAP_FAILED);
    memset(page, 'x', 8192);
    memset(expected + strlen(expected), 'x', 199);
    ask(page, NULL, -1, expected); /* without end */
    munmap(page + 4096, 4096);
    ask(page + 4090, NULL, -1, "rank 3: in xxxxxx"); /* its end is not there */
    munmap(page, 4096);
    struct source_line_last last = {0};
    words = (struct where){.call = page};
    ck_assert_int_eq(ask_text(getpid(), (uintptr_t)&words, 3, text, sizeof text, &awaited, &last),
                     -EFAULT);
    ck_assert_int_eq(ask_text(getpid(), 1, 3, text, sizeof text, &awaited, &last), -EFAULT);
    ck_assert_int_eq(ask_text(getpid(), UINT64_MAX - 3, 3, text, sizeof text, &awaited, &last),
                     -EFAULT);
}
END_TEST

Suite *suite_ask(void)
{
    Suite *s = suite_create("launch/ask");
    TCase *t = tcase_create("ask");
    tcase_set_tags(t, "kernel"); /* an emulator of processors refuses process_vm_readv */
    tcase_add_test(t, texts);
    tcase_add_test(t, hostile);
    suite_add_tcase(s, t);
    return s;
}
