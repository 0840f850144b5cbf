/* test_needs.c - launch/needs.c: names, programs, no mpi. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/needs.h"

Suite *suite_needs(void);

START_TEST(names)
{
    static const char *const mpi[] = {
        "libmpi.so",       "libmpi.so.12",        "libmpi.so.40.30.4", "libmpich.so.12",
        "libmpi_abi.so.0", "libmpi_gnu_91.so.12", "libmpi_cray.so"};
    static const char *const not[] = {
        "libmpi",           "libmpi.a",  "libmpi.so_",         "libmpifort.so.12",
        "libmpi_cxx.so.40", "libm.so.6", "libmpi_mpifh.so.40", "libmpichfort.so.12",
        "libmpi_cray_x.so", ""};
    for (size_t i = 0; i < sizeof mpi / sizeof *mpi; i++)
        ck_assert_msg(needs_is_mpi(mpi[i]), "%s", mpi[i]);
    for (size_t i = 0; i < sizeof not / sizeof *not; i++)
        ck_assert_msg(!needs_is_mpi(not[i]), "%s", not[i]);
}
END_TEST

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
    ck_assert_str_eq(file = needs_program(at, "prog"), "sub/prog");
    free(file);
    ck_assert_str_eq(file = needs_program(at, "here"), "./here");
    free(file);
    ck_assert_str_eq(file = needs_program(at, "./x"), "./x"); /* exec's to report */
    free(file);
    ck_assert_ptr_null(needs_program(at, "plain"));
    ck_assert_ptr_null(needs_program(at, "sub"));
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

START_TEST(no_mpi)
{
    struct needs_where w = {.dir = AT_FDCWD};
    struct needs_mpi n;
    ck_assert_int_eq(needs_look(&n, &w, "/proc/self/exe"), 0);
    ck_assert(!n.own && !n.other && !n.unsure);
    needs_free(&n);
    ck_assert_int_eq(needs_look(&n, &w, "/etc/passwd"), -ENOEXEC);
    ck_assert_int_eq(needs_look(&n, &w, "/"), -ENOEXEC);
    ck_assert_int_eq(needs_look(&n, &w, "/no such file"), -ENOEXEC);
}
END_TEST

Suite *suite_needs(void)
{
    Suite *s = suite_create("needs");
    TCase *t = tcase_create("needs");
    tcase_add_test(t, names);
    tcase_add_test(t, programs);
    tcase_add_test(t, no_mpi);
    suite_add_tcase(s, t);
    return s;
}
