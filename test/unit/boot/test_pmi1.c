/* test_pmi1.c - the client against a server that is a table of lines: what it asks, and what it
 * does with odd answers. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pmiline.h"
#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "var/var.h"

Suite *suite_pmi1(void);

struct step {
    const char *want; /* start of the line that must come, NULL: end */
    const char *say;  /* answer, "" none, NULL: hang up */
};

/* A process that plays the launcher; its exit status is 0 when every line came as wanted. */
static pid_t serve(const struct step *s, const char *rank, const char *size)
{
    int fd[2];
    char number[16], msg[200];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (!pid) {
        close(fd[1]);
        signal(SIGPIPE, SIG_IGN); /* a client that gives up is no failure of ours */
        FILE *f = fdopen(fd[0], "r+");
        char line[PMI_LINE_MAX];
        for (; s->want; s++) {
            if (!fgets(line, sizeof line, f) || strncmp(line, s->want, strlen(s->want)))
                _exit(1);
            if (!s->say)
                _exit(0);
            fseek(f, 0, SEEK_CUR);
            fputs(s->say, f);
            fflush(f);
        }
        while (fgets(line, sizeof line, f))
            ;
        _exit(0);
    }
    close(fd[0]);
    snprintf(number, sizeof number, "%d", fd[1]);
    setenv("PMI_FD", number, 1);
    setenv("PMI_RANK", rank, 1);
    setenv("PMI_SIZE", size, 1);
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    return pid;
}

static void served(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

#define HELLO                                                                                      \
    {"cmd=init pmi_version=1 pmi_subversion=1",                                                    \
     "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"},                                \
    {"cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_7\n"},                                      \
    {"cmd=get_appnum", "cmd=appnum appnum=2\n"}
#define MAPPING {"cmd=get kvsname=kvs_7 key=PMI_process_mapping", \
    "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n"}

START_TEST(whole_life)
{
    static const struct step steps[] = {
        HELLO,
        MAPPING,
        {"cmd=put kvsname=kvs_7 key=a value=00ff41\n", "cmd=put_result rc=0 msg=success\n"},
        {"cmd=barrier_in\n", "cmd=barrier_out\n"},
        {"cmd=get kvsname=kvs_7 key=b\n", "cmd=get_result rc=0 msg=all is well value=0102\n"},
        {"cmd=get kvsname=kvs_7 key=c\n",
         "cmd=get_result rc=-1 msg=key_c_not_found value=unknown\n"},
        {"cmd=finalize\n", "cmd=finalize_ack\n"},
        {0},
    };
    pid_t pid = serve(steps, "1", "4");
    unsigned char v[4];
    size_t n = sizeof v;
    ck_assert_int_eq(boot_init(NULL), 0);
    ck_assert_int_eq(boot_rank(), 1);
    ck_assert_int_eq(boot_size(), 4);
    ck_assert_int_eq(boot_appnum(), 2);
    ck_assert_str_eq(boot_job_id(), "kvs_7");
    ck_assert_int_eq(boot_nodes(), 2);
    ck_assert_int_eq(boot_same_node(0), 1);
    ck_assert_int_eq(boot_same_node(2), 0);
    ck_assert_int_eq(boot_failed_count(), 0);
    ck_assert_int_eq(boot_put("a", "\0\377A", 3), 0);
    ck_assert_int_eq(boot_barrier(), 0);
    ck_assert_int_eq(boot_get("b", v, &n), 0);
    ck_assert_uint_eq(n, 2);
    ck_assert_int_eq(v[0] * 256 + v[1], 258);
    n = sizeof v;
    ck_assert_int_eq(boot_get("c", v, &n), -ENOENT);
    ck_assert_int_eq(boot_finalize(), 0);
    var_finalize();
    served(pid);
}
END_TEST

START_TEST(odd_answers)
{
    static const char *const answers[] = {
        NULL,
        "cmd=response_to_init rc=1\n",
        "cmd=response_to_init\n",
        "\n",
        "malformed\n",
        "cmd=barrier_out\n",
        "cmd=response_to_init rc=zero\n",
        "= = = =\n",
        "a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1 a=1\n",
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct step steps[] = {{"cmd=init", answers[i]}, {0}};
        pid_t pid = serve(steps, "0", "2");
        int fd = atoi(getenv("PMI_FD"));
        ck_assert_int_lt(boot_init(NULL), 0);
        close(fd);
        var_finalize();
        served(pid);
    }
}
END_TEST

START_TEST(endless_line)
{
    char line[3 * PMI_LINE_MAX];
    memset(line, 'x', sizeof line);
    line[sizeof line - 2] = '\n';
    line[sizeof line - 1] = 0;
    struct step steps[] = {{"cmd=init", line}, {0}};
    pid_t pid = serve(steps, "0", "2");
    int fd = atoi(getenv("PMI_FD"));
    ck_assert_int_eq(boot_init(NULL), -EMSGSIZE);
    close(fd);
    var_finalize();
    served(pid);
}
END_TEST

START_TEST(bad_environment)
{
    static const char *const bad[][3] = {{"99", "0", "2"}, {"x", "0", "2"}, {"0", "2", "2"},
                                         {"0", "-1", "2"}, {"0", "0", "0"}, {"0", "", "1"}};
    char msg[200];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv("PMI_FD", bad[i][0], 1);
        setenv("PMI_RANK", bad[i][1], 1);
        setenv("PMI_SIZE", bad[i][2], 1);
        ck_assert_int_eq(var_init(msg, sizeof msg), 0);
        ck_assert_int_lt(boot_init(NULL), 0);
        ck_assert_ptr_null(proc->boot);
        var_finalize();
    }
}
END_TEST

/* A peer that never comes: an error after the time of the control variable, not a hang. */
START_TEST(timeout)
{
    static const struct step steps[] = {HELLO, MAPPING, {"cmd=barrier_in", ""}, {0}};
    setenv("MPIR_CVAR_BOOT_TIMEOUT", "1", 1);
    pid_t pid = serve(steps, "0", "2");
    int fd = atoi(getenv("PMI_FD"));
    ck_assert_int_eq(boot_init(NULL), 0);
    uint64_t start = time_now();
    ck_assert_int_eq(boot_barrier(), -ETIMEDOUT);
    uint64_t took = time_now() - start;
    ck_assert_uint_ge(took, 1000000000u);
    ck_assert_uint_lt(took, 5000000000u);
    close(fd);
    served(pid);
}
END_TEST

/* Once MPI runs, over several hosts: a launcher that has stopped answering is given up for as long
 * as it does not. */
START_TEST(deaf)
{
    static const struct step steps[] = {HELLO, MAPPING, {"cmd=get kvsname=kvs_7 key=a\n", ""}, {0}};
    unsigned char v[4];
    size_t n = sizeof v;
    setenv("MPIR_CVAR_PEER_TIMEOUT", "1", 1);
    pid_t pid = serve(steps, "1", "4");
    int fd = atoi(getenv("PMI_FD"));
    ck_assert_int_eq(boot_init(NULL), 0);
    atomic_store(&proc->phase, PROC_INIT);
    uint64_t start = time_now();
    ck_assert_int_eq(boot_get("a", v, &n), -ETIMEDOUT);
    uint64_t took = time_now() - start;
    ck_assert_uint_ge(took, 1000000000u);
    ck_assert_uint_lt(took, 5000000000u);
    uint64_t before = time_now();
    /* not asked: the answer might be a's, and b's process lives for all that is known */
    int err = boot_get("b", v, &n);
    ck_assert(err == -EINPROGRESS || time_now() - start > 1900000000u);
    ck_assert_uint_lt(time_now() - before, 900000000u);
    while ((err = boot_get("b", v, &n)) == -EINPROGRESS && time_now() - start < 10000000000u)
        poll(NULL, 0, 20);
    ck_assert_int_eq(err, -ETIMEDOUT); /* as long again, and no one needs to wait for it */
    ck_assert_uint_ge(time_now() - start, took + 900000000u);
    before = time_now();
    ck_assert_int_eq(boot_finalize(), -ETIMEDOUT);
    ck_assert_uint_lt(time_now() - before, 900000000u);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
    var_finalize();
    served(pid);
}
END_TEST

static atomic_int signals;

static void note(int sig)
{
    (void)sig;
    atomic_fetch_add(&signals, 1);
}

/* Looks at a barrier that does not end, for `ns`. No look may wait, whatever signals come. */
static void looks(uint64_t ns)
{
    uint64_t start = time_now(), before = start, worst = 0;
    while (before < start + ns) {
        ck_assert_int_eq(boot_barrier_test(), 0);
        uint64_t now = time_now();
        worst = now - before > worst ? now - before : worst;
        before = now;
    }
    ck_assert_uint_lt(worst, 2000000000u);
}

/* Hydra sends a signal to the living when a process has died: one that comes during a look must not
 * make a wait of it, nor a line of which a part is there. */
START_TEST(looks_only)
{
    static const struct step steps[][6] = {{HELLO, MAPPING, {"cmd=barrier_in\n", ""}, {0}},
                                           {HELLO, MAPPING, {"cmd=barrier_in\n", "cmd=barr"}, {0}}};
    struct sigaction sa = {.sa_handler = note, .sa_flags = SA_RESTART};
    pid_t pid = serve(steps[_i], "1", "4"), parent = getpid();
    int fd = atoi(getenv("PMI_FD")), at;
    ck_assert_int_eq(boot_init(NULL), 0);
    ck_assert_int_eq(sigaction(SIGUSR2, &sa, NULL), 0);
    pid_t other = fork();
    ck_assert_int_ge(other, 0);
    while (!other) /* until it is ended */
        if (kill(parent, SIGUSR2))
            _exit(0);
    ck_assert_int_eq(boot_barrier_begin(&at), 0);
    ck_assert_int_eq(at, fd);
    /* fewer where the two share a core */
    for (int i = 0; i < 200 && atomic_load(&signals) < 20000; i++)
        looks(10000000);
    ck_assert_int_gt(atomic_load(&signals), 0);
    kill(other, SIGKILL);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
    looks(100000000);
    close(fd);
    served(pid);
    var_finalize();
}
END_TEST

/* An answer that was given up comes after all, in the last barrier: it is neither its end nor the
 * answer to a later question. */
START_TEST(late_answer)
{
    static const struct step steps[][9] = {
        {HELLO,
         MAPPING,
         {"cmd=get kvsname=kvs_7 key=a\n", ""},
         {"cmd=barrier_in\n", "cmd=get_result rc=0 msg=success value=01\n"},
         {"cmd=get kvsname=kvs_7 key=b\n",
          "cmd=barrier_out\ncmd=get_result rc=0 msg=success value=02\n"},
         {"cmd=finalize\n", "cmd=finalize_ack\n"},
         {0}},
        {HELLO,
         MAPPING,
         {"cmd=get kvsname=kvs_7 key=a\n", ""},
         {"cmd=barrier_in\n", "cmd=get_result rc=0 msg=success value=01\ncmd=barrier_out\n"},
         {"cmd=get kvsname=kvs_7 key=b\n", "cmd=get_result rc=0 msg=success value=02\n"},
         {"cmd=finalize\n", "cmd=finalize_ack\n"},
         {0}},
    };
    unsigned char v[4];
    size_t n = sizeof v;
    int at;
    setenv("MPIR_CVAR_PEER_TIMEOUT", "1", 1);
    pid_t pid = serve(steps[_i], "1", "4");
    ck_assert_int_eq(boot_init(NULL), 0);
    atomic_store(&proc->phase, PROC_INIT);
    ck_assert_int_eq(boot_get("a", v, &n), -ETIMEDOUT);
    ck_assert_int_eq(boot_barrier_begin(&at), 0);
    struct pollfd p = {.fd = at, .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, 10000), 1);
    if (_i == 0) /* the looking road */
        looks(100000000);
    ck_assert_int_eq(boot_get("b", v, &n), 0); /* the blocking one */
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(v[0], 2);
    ck_assert_int_eq(boot_barrier_test(), 1);
    ck_assert_int_eq(boot_finalize(), 0);
    var_finalize();
    served(pid);
}
END_TEST

Suite *suite_pmi1(void)
{
    Suite *s = suite_create("boot/pmi1");
    TCase *t = tcase_create("pmi1");
    tcase_set_timeout(t, 20);
    tcase_add_test(t, whole_life);
    tcase_add_test(t, odd_answers);
    tcase_add_test(t, endless_line);
    tcase_add_test(t, bad_environment);
    tcase_add_test(t, timeout);
    tcase_add_test(t, deaf);
    tcase_add_loop_test(t, looks_only, 0, 2);
    tcase_add_loop_test(t, late_answer, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
