/* test_boot.c - the room over operations of one's own, as the simulator installs them; and the
 * singleton. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "boot/boot_types.h"
#include "var/var.h"

Suite *suite_boot(void);

static int fail_init;

static int my_init(int *rank, int *size, int *appnum)
{
    *rank = 2;
    *size = 5;
    *appnum = 1;
    return fail_init ? -EIO : 0;
}

static int my_put(const char *key, const void *value, size_t len)
{
    return len == 3 && !strcmp(key, "k") ? 0 : -EINVAL;
}

static int my_get(const char *key, void *value, size_t *len)
{
    memcpy(value, "xyz", 3);
    *len = 3;
    return 0;
}

static int my_nothing(void)
{
    return 0;
}

static int my_map(char *text, size_t len)
{
    snprintf(text, len, "(vector,(0,3,1))");
    return 0;
}

static int my_job(char *text, size_t len)
{
    snprintf(text, len, "sim-1");
    return 0;
}

static const struct boot_ops mine = {
    .name = "mine",
    .init = my_init,
    .put = my_put,
    .get = my_get,
    .barrier = my_nothing,
    .node_map = my_map,
    .job_id = my_job,
    .finalize = my_nothing,
};

static void variables(void)
{
    char msg[200];
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
}

START_TEST(own_operations)
{
    char v[8];
    size_t n = sizeof v;
    variables();
    ck_assert_int_eq(boot_init(&mine), 0);
    ck_assert_int_eq(boot_rank(), 2);
    ck_assert_int_eq(boot_size(), 5);
    ck_assert_int_eq(boot_appnum(), 1);
    ck_assert_str_eq(boot_job_id(), "sim-1");
    ck_assert_int_eq(boot_nodes(), 3);
    ck_assert_int_eq(boot_node_of(4), 1);
    ck_assert_int_eq(boot_same_node(2), 1);
    ck_assert_int_eq(boot_same_node(3), 0);
    ck_assert_int_eq(boot_local_size(), 1);
    ck_assert_int_eq(boot_local_rank(0), 2);
    ck_assert_int_eq(boot_host_processes(), 1);
    ck_assert_int_eq(boot_put("k", "abc", 3), 0);
    ck_assert_int_eq(boot_get("k", v, &n), 0);
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(boot_barrier(), 0);
    ck_assert_int_eq(boot_failed_count(), 0);
    ck_assert_int_eq(boot_failed(1), 0);
    ck_assert_int_eq(boot_finalize(), 0);
    ck_assert_ptr_null(proc->boot);
    ck_assert_int_eq(boot_finalize(), 0); /* harmless */
    fail_init = 1;
    ck_assert_int_eq(boot_init(&mine), -EIO);
    ck_assert_ptr_null(proc->boot);
    var_finalize();
}
END_TEST

START_TEST(nolocal_and_cliques)
{
    setenv("MPIR_CVAR_NOLOCAL", "1", 1);
    variables();
    ck_assert_int_eq(boot_init(&mine), 0);
    ck_assert_int_eq(boot_nodes(), 5);
    boot_finalize();
    var_finalize();
    unsetenv("MPIR_CVAR_NOLOCAL");
}
END_TEST

START_TEST(singleton)
{
    char v[8];
    size_t n = sizeof v;
    unsetenv("PMI_FD");
    variables();
    ck_assert_int_eq(boot_init(NULL), 0);
    ck_assert_int_eq(boot_rank(), 0);
    ck_assert_int_eq(boot_size(), 1);
    ck_assert_int_eq(boot_appnum(), -1);
    ck_assert_int_eq(boot_nodes(), 1);
    ck_assert_int_eq(boot_local_size(), 1);
    ck_assert_int_eq(boot_host_processes(), 1);
    ck_assert_int_eq(boot_put("k", "one", 4), 0);
    ck_assert_int_eq(boot_put("k", "two", 4), 0);
    ck_assert_int_eq(boot_barrier(), 0);
    ck_assert_int_eq(boot_get("k", v, &n), 0);
    ck_assert_str_eq(v, "two");
    n = 2;
    ck_assert_int_eq(boot_get("k", v, &n), -EMSGSIZE);
    ck_assert_int_eq(boot_get("other", v, &n), -ENOENT);
    ck_assert_int_eq(boot_finalize(), 0);
    var_finalize();
}
END_TEST

/* Values of every length around the borders of their pieces come back whole. */
START_TEST(long_values)
{
    static const size_t lengths[] = {0,
                                     1,
                                     BOOT_PIECE_MAX - 2,
                                     BOOT_PIECE_MAX - 1,
                                     BOOT_PIECE_MAX,
                                     BOOT_PIECE_MAX + 1,
                                     2 * BOOT_PIECE_MAX - 3,
                                     2 * BOOT_PIECE_MAX - 2,
                                     2 * BOOT_PIECE_MAX - 1,
                                     2 * BOOT_PIECE_MAX,
                                     BOOT_VALUE_MAX - 1,
                                     BOOT_VALUE_MAX};
    char in[BOOT_VALUE_MAX], out[BOOT_VALUE_MAX];
    unsetenv("PMI_FD");
    variables();
    ck_assert_int_eq(boot_init(NULL), 0);
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (char)(i * 7 + i / 256);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n = sizeof out;
        ck_assert_int_eq(boot_put("long", in, lengths[i]), 0);
        ck_assert_int_eq(boot_get("long", out, &n), 0);
        ck_assert_uint_eq(n, lengths[i]);
        ck_assert_int_eq(memcmp(in, out, n), 0);
        n = lengths[i] ? lengths[i] - 1 : 0;
        ck_assert_int_eq(boot_get("long", out, &n), lengths[i] ? -EMSGSIZE : 0);
    }
    ck_assert_int_eq(boot_put("cut", in, BOOT_PIECE_MAX), 0);
    /* its second piece is missing */
    ck_assert_int_eq(proc->boot->ops->put("cut2", in, BOOT_PIECE_MAX), 0);
    size_t n = sizeof out;
    ck_assert_int_eq(boot_get("cut2", out, &n), -EPROTO);
    ck_assert_int_eq(boot_finalize(), 0);
    var_finalize();
}
END_TEST

/* What was printed before an abort is seen; the reason is one line; the code is the exit status. */
START_TEST(abort_alone)
{
    int fd[2], status;
    char text[200] = "";
    unsetenv("PMI_FD");
    ck_assert_int_eq(pipe(fd), 0);
    pid_t pid = fork();
    if (!pid) {
        dup2(fd[1], 1);
        dup2(fd[1], 2);
        variables();
        if (boot_init(NULL))
            _exit(99);
        printf("before\n");
        boot_abort(5, "the reason");
    }
    close(fd[1]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(WEXITSTATUS(status), 5);
    ck_assert_int_gt(read(fd[0], text, sizeof text - 1), 0);
    ck_assert_str_eq(text, "before\nwindrose[0]: the reason\n");
    close(fd[0]);
}
END_TEST

Suite *suite_boot(void)
{
    Suite *s = suite_create("boot/boot");
    TCase *t = tcase_create("boot");
    tcase_add_test(t, own_operations);
    tcase_add_test(t, nolocal_and_cliques);
    tcase_add_test(t, singleton);
    tcase_add_test(t, long_values);
    tcase_add_test(t, abort_alone);
    suite_add_tcase(s, t);
    return s;
}
