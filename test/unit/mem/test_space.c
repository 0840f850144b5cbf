/* test_space.c - one contract for all spaces (host, simulated devices, CUDA where there is one),
 * and what a simulated device must show: no host access, early reads, failures, names. */
#include "job.h"
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/proc.h"
#include "base/sched.h"
#include "mem/space.h"
#include "var/var.h"

Suite *suite_space(void);

enum { LEN = 1 << 20, PIECE = 5000 };

static void await(struct space *s, const struct space_mark *m, int want)
{
    int e;
    unsigned turn = 0;
    while ((e = s->ops->done(s, m)) == SPACE_AGAIN)
        thread_pause(turn++);
    job_check(e == want);
    job_check(s->ops->done(s, m) == want); /* a mark may be asked again */
}

static void fill(unsigned char *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)(seed + i * 7 + i / 251);
}

static int copied(struct space *s, struct space *from, enum space_way way, uint64_t dst,
                  uint64_t src, size_t len)
{
    struct space_run r = {dst, src, len};
    struct space_mark m;
    int err = s->ops->copy(s, from, way, &r, 1, &m);
    if (!err)
        await(s, &m, 0);
    return err;
}

/* Bytes go in and out, several runs in one copy, at odd places. */
static void runs(struct space *s, uint64_t at)
{
    static unsigned char a[4 * PIECE], b[4 * PIECE];
    struct space_run in[2], out[2];
    struct space_mark m;
    fill(a, sizeof a, 3);
    memset(b, 0, sizeof b);
    for (int i = 0; i < 2; i++) {
        in[i] = (struct space_run){at + 13 + (uint64_t)i * 3 * PIECE, (uintptr_t)(a + i * PIECE),
                                   PIECE};
        out[i] = (struct space_run){(uintptr_t)(b + i * PIECE), in[i].dst, PIECE};
    }
    job_check(s->ops->copy(s, NULL, SPACE_IN, in, 2, &m) == 0);
    await(s, &m, 0);
    job_check(s->ops->copy(s, NULL, SPACE_OUT, out, 2, &m) == 0);
    await(s, &m, 0);
    job_check(!memcmp(a, b, 2 * PIECE) && !b[2 * PIECE]);
}

/* Copies keep the order of their calls; a stream's mark covers what is in it. */
static void order(struct space *s, uint64_t at)
{
    static unsigned char a[LEN], b[LEN], c[LEN];
    struct space_run x = {at, (uintptr_t)a, LEN}, y = {(uintptr_t)b, at, LEN},
                     z = {(uintptr_t)c, at, LEN};
    struct space_mark m[4];
    fill(a, LEN, 1);
    job_check(s->ops->copy(s, NULL, SPACE_IN, &x, 1, &m[0]) == 0);
    job_check(s->ops->copy(s, NULL, SPACE_OUT, &y, 1, &m[1]) == 0);
    job_check(s->ops->copy(s, NULL, SPACE_OUT, &z, 1, &m[2]) == 0);
    job_check(s->ops->before(s, NULL, &m[2]) == 0);
    job_check(s->ops->after(s, NULL, &m[3]) == 0);
    await(s, &m[3], 0);
    for (int i = 0; i < 3; i++)
        await(s, &m[i], 0);
    job_check(!memcmp(a, b, LEN) && !memcmp(a, c, LEN));
}

static void contract(int number, size_t len)
{
    struct space *s, *again;
    uint64_t at, other;
    char text[200];
    job_check(space_open(number, &s) == 0 && space_open(number, &again) == 0 && s == again);
    job_check(space_opened(number) == s && space_number(s) == number);
    size_t g = s->caps.grain;
    job_check(g >= 4096 && !(g & (g - 1)) && s->caps.bytes >= len);
    len = (len + g - 1) / g * g;
    job_check(s->ops->reserve(s, 2 * len, &at) == 0 && s->ops->reserve(s, len, &other) == 0);
    job_check(at % 4096 == 0 && (at + 2 * len <= other || other + len <= at));
    job_check(s->ops->commit(s, at, len) == 0 && s->ops->commit(s, at + len, len) == 0);
    runs(s, at);
    runs(s, at + len - PIECE); /* over the border of two commits */
    order(s, at);
    static unsigned char host[LEN], back[LEN];
    int pinned = s->ops->pin(s, host, LEN) == 0;
    fill(host, LEN, 9);
    job_check(copied(s, NULL, SPACE_IN, at, (uintptr_t)host, LEN) == 0);
    s->ops->decommit(s, at + len, len); /* the first half stays */
    job_check(copied(s, NULL, SPACE_OUT, (uintptr_t)back, at, LEN) == 0);
    job_check(!memcmp(host, back, LEN));
    if (pinned)
        s->ops->unpin(s, host, LEN);
    s->ops->decommit(s, at, len);
    job_check(s->ops->commit(s, at, len) == 0); /* again, with other contents */
    runs(s, at);
    s->ops->describe(s, text, sizeof text);
    job_check(strlen(text) > 3);
    s->ops->decommit(s, at, len);
    s->ops->unreserve(s, at, 2 * len);
    s->ops->unreserve(s, other, len);
    space_release(s);
    space_release(again);
}

static void all_spaces(void)
{
    int number;
    contract(0, LEN);
    job_check(space_find("sim:1", &number) == 0);
    contract(number, LEN);
    if (space_find("cuda:0", &number) == 0) {
        contract(number, LEN);
        printf("contract: cuda:0\n"); /* maint/gpu-check wants to see it */
        fflush(stdout);
    }
    space_finalize();
}

START_TEST(one_contract)
{
    ck_assert_int_eq(job_run(1, NULL, all_spaces, 50), 0);
}
END_TEST

static void by_name(void)
{
    int n = -1, m = -1;
    char text[200];
    job_check(space_find("host", &n) == 0 && n == 0);
    job_check(space_find("sim:0", &n) == 0 && space_find("sim:1", &m) == 0 && n != m && n > 0);
    space_name(m, text);
    job_check(!strcmp(text, "sim:1"));
    job_check(space_find("sim:2", &n) == -ENODEV && space_find("hip:0", &n) == -ENODEV);
    static const char *const bad[] = {"", "sim", ":1", "sim:", "sim:x", "sim:-1", "sim: 1", "Sim:0",
                                      "sim:99999999999", "host:0x", "sim:1:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        job_check(space_find(bad[i], &n) == -EINVAL);
    space_names(text, sizeof text);
    job_check(!strncmp(text, "host, sim:0, sim:1", 18));
    space_names(text, 8); /* cut, not beyond the end */
    job_check(strlen(text) < 8);
    job_check(!space_opened(m) && !space_opened(-5) && !space_opened(1 << 30));
}

START_TEST(names)
{
    ck_assert_int_eq(job_run(1, NULL, by_name, 20), 0);
}
END_TEST

/* --- the simulated device ---- */

static struct space *sim(int i, uint64_t *at, size_t len)
{
    char name[] = "sim:0";
    struct space *s;
    int number;
    name[4] = (char)('0' + i);
    job_check(space_find(name, &number) == 0 && space_open(number, &s) == 0);
    job_check(s->ops->reserve(s, len, at) == 0 && s->ops->commit(s, *at, len) == 0);
    return s;
}

/* The host sees nothing of the device: not by a load, not by system calls. */
static void hidden(void)
{
    uint64_t at;
    unsigned char b[64];
    struct space *s = sim(0, &at, LEN);
    struct iovec local = {b, sizeof b}, remote = {(void *)(uintptr_t)at, sizeof b};
    job_check(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 && errno == EFAULT);
    int fd[2];
    job_check(pipe(fd) == 0 && write(fd[1], (void *)(uintptr_t)at, 1) < 0 && errno == EFAULT);
    pid_t child = fork();
    if (!child) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would exit */
        _exit(*(volatile unsigned char *)(uintptr_t)at);
    }
    int status = 0;
    job_check(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    /* fresh memory is no zeros, and what was decommitted is gone */
    job_check(copied(s, NULL, SPACE_OUT, (uintptr_t)b, at, sizeof b) == 0);
    for (size_t i = 0; i < sizeof b; i++)
        job_check(b[i] == 0xDB);
    s->ops->decommit(s, at, LEN);
    job_check(copied(s, NULL, SPACE_OUT, (uintptr_t)b, at, sizeof b) == 0 && b[0] == 0);
    job_check(s->ops->copy(s, NULL, SPACE_OUT, &(struct space_run){(uintptr_t)b, at + LEN, 1}, 1,
                           &(struct space_mark){{0}}) == -EFAULT);
    space_finalize();
}

/* A read before the mark shows: a copy has two halves. */
static void early(void)
{
    uint64_t at;
    static unsigned char a[LEN], b[LEN];
    struct space *s = sim(0, &at, LEN);
    struct space_run in = {at, (uintptr_t)a, LEN}, out = {(uintptr_t)b, at, LEN};
    struct space_mark m;
    memset(a, 1, LEN);
    job_check(copied(s, NULL, SPACE_IN, at, (uintptr_t)a, LEN) == 0);
    memset(b, 7, LEN);
    job_check(s->ops->copy(s, NULL, SPACE_OUT, &out, 1, &m) == 0);
    job_check(s->ops->done(s, &m) == SPACE_AGAIN && b[LEN - 1] == 7);
    await(s, &m, 0);
    job_check(b[LEN - 1] == 1);
    /* the source is reused too early: the device gets some of both */
    job_check(s->ops->copy(s, NULL, SPACE_IN, &in, 1, &m) == 0);
    memset(a + LEN / 2, 2, LEN / 2);
    await(s, &m, 0);
    job_check(copied(s, NULL, SPACE_OUT, (uintptr_t)b, at, LEN) == 0 && b[LEN - 1] == 2);
    space_finalize();
}

static void twice(void *const *ptr, const void *arg)
{
    unsigned char *p = ptr[0];
    for (int i = 0; i < *(const int *)arg; i++)
        p[i] = (unsigned char)(2 * p[i]);
}

/* Kernels run in the order of their stream, on the listed pointers, with a copy of their argument;
 * devices copy to each other. */
static void kernels(void)
{
    uint64_t at, to;
    unsigned char b[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct space *s = sim(0, &at, LEN), *t = sim(1, &to, LEN);
    int n = 4, stream;
    void *ptr = (void *)(uintptr_t)at, *no = b;
    struct space_job job = {twice, 1, &ptr, &n, sizeof n}, bad = {twice, 1, &no, &n, sizeof n};
    struct space_mark m;
    job_check(copied(s, NULL, SPACE_IN, at, (uintptr_t)b, sizeof b) == 0);
    job_check(s->ops->launch(s, &stream, &job) == 0 && s->ops->launch(s, &stream, &job) == 0);
    n = 1000000000;
    job_check(s->ops->launch(s, &stream, &bad) == -EFAULT);
    job_check(s->ops->after(s, &stream, &m) == 0);
    await(s, &m, 0);
    job_check(copied(t, s, SPACE_ACROSS, to, at, sizeof b) == 0);
    job_check(copied(t, NULL, SPACE_OUT, (uintptr_t)b, to, sizeof b) == 0);
    job_check(b[0] == 4 && b[3] == 16 && b[4] == 5);
    job_check(space_opened(0) == NULL);
    space_finalize();
}

static _Atomic int go_on;
static void until_told(void *const *ptr, const void *arg)
{
    (void)ptr;
    (void)arg;
    for (unsigned turn = 0; !go_on; turn++)
        thread_pause(turn);
}

/* A copy does not wait for a kernel of a user's stream. */
static void beside(void)
{
    uint64_t at;
    unsigned char b[64] = {5};
    struct space *s = sim(0, &at, LEN);
    void *ptr = (void *)(uintptr_t)at;
    struct space_job job = {until_told, 1, &ptr, NULL, 0};
    struct space_mark m;
    job_check(s->ops->launch(s, NULL, &job) == 0 && s->ops->after(s, NULL, &m) == 0);
    job_check(copied(s, NULL, SPACE_IN, at, (uintptr_t)b, sizeof b) == 0);
    job_check(s->ops->done(s, &m) == SPACE_AGAIN);
    go_on = 1;
    await(s, &m, 0);
    space_finalize();
}

/* Memory ends; copies fail on demand; a lost device stays lost. */
static void failing(void)
{
    uint64_t at, more;
    unsigned char b[64] = {0};
    struct space_mark m;
    struct space *s = sim(0, &at, 128 << 10);
    struct space_run r = {at, (uintptr_t)b, sizeof b};
    job_check(s->ops->reserve(s, LEN, &more) == 0 && s->ops->commit(s, more, LEN) == -ENOMEM);
    job_check(s->ops->commit(s, more, 64 << 10) == 0);
    job_check(cvar_set("MPIR_CVAR_SPACE_SIM_FAIL", "2", (char[100]){0}, 100) == 0);
    for (int i = 1; i <= 6; i++) {
        job_check(s->ops->copy(s, NULL, SPACE_IN, &r, 1, &m) == 0);
        await(s, &m, i % 2 ? 0 : -EIO);
    }
    job_check(!s->lost);
    job_check(cvar_set("MPIR_CVAR_SPACE_SIM_FAIL", "-8", (char[100]){0}, 100) == 0);
    job_check(s->ops->copy(s, NULL, SPACE_IN, &r, 1, &m) == 0);
    await(s, &m, 0);
    job_check(s->ops->copy(s, NULL, SPACE_IN, &r, 1, &m) == -EIO && s->lost);
    job_check(s->ops->done(s, &m) == -EIO && s->ops->commit(s, more, 64 << 10) == -EIO);
    char text[200];
    s->ops->describe(s, text, sizeof text);
    job_check(strstr(text, "lost") != NULL);
    space_finalize();
}

static const char *const small[] = {"MPIR_CVAR_SPACE_SIM_BYTES=262144", NULL};
static const char *const slow[] = {"MPIR_CVAR_SPACE_SIM_US=50000", NULL};

START_TEST(simulated)
{
    ck_assert_int_eq(job_run(1, NULL, hidden, 20), 0);
    ck_assert_int_eq(job_run(1, slow, early, 20), 0);
    ck_assert_int_eq(job_run(1, NULL, kernels, 20), 0);
    ck_assert_int_eq(job_run(1, NULL, beside, 20), 0);
    ck_assert_int_eq(job_run(1, small, failing, 20), 0);
}
END_TEST

Suite *suite_space(void)
{
    Suite *s = suite_create("mem/space");
    TCase *t = tcase_create("space");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, one_contract);
    tcase_add_test(t, names);
    tcase_add_test(t, simulated);
    suite_add_tcase(s, t);
    return s;
}
