/* test_libraries.c - launch/libraries.c and the names of MPI libraries (launch/foreign.c). */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/foreign.h"
#include "launch/libraries.h"

Suite *suite_libraries(void);

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
        ck_assert_msg(foreign_is_mpi(mpi[i]), "%s", mpi[i]);
    for (size_t i = 0; i < sizeof not / sizeof *not; i++)
        ck_assert_msg(!foreign_is_mpi(not[i]), "%s", not[i]);
}
END_TEST

static int lists(const struct libraries *l, const char *word)
{
    int n = 0;
    for (int i = 0; i < l->n; i++)
        n += strstr(l->lib[i].path, word) != NULL && l->lib[i].path[0] == '/';
    return n;
}

START_TEST(of_this_program)
{
    struct library_search s = {.dir = AT_FDCWD};
    struct libraries l;
    ck_assert_int_eq(libraries_list(&l, &s, "/proc/self/exe"), 0);
    ck_assert_int_ge(lists(&l, "/libc.so"), 1);
    ck_assert_int_eq(lists(&l, "libmpi"), 0);
    libraries_free(&l);
    ck_assert_int_eq(libraries_mapped(&l, getpid()), 0);
    ck_assert_int_ge(lists(&l, "/libc.so"), 1);
    libraries_free(&l);
}
END_TEST

/* Nothing but a program for the loader of this one is listed, and none is executed. */
START_TEST(of_none)
{
    static const char *const file[] = {"/etc/passwd", "/", "/no such file", "/bin/no such"};
    struct library_search s = {.dir = AT_FDCWD};
    struct libraries l;
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        ck_assert_int_lt(libraries_list(&l, &s, file[i]), 0);
        ck_assert_int_eq(l.n, 0);
        libraries_free(&l);
    }
}
END_TEST

START_TEST(bytes)
{
    char path[] = "/tmp/unit_launch_XXXXXX", *text = malloc(200000);
    int fd = mkstemp(path);
    memset(text, 'x', 200000);
    memcpy(text + 65530, "a long word", 11); /* across two reads */
    memcpy(text + 199998, "e\n", 2);
    ck_assert_int_eq(write(fd, text, 200000), 200000);
    close(fd);
    ck_assert(file_has(AT_FDCWD, path, "a long word", 11));
    ck_assert(file_has(AT_FDCWD, path, "xe\n", 3));
    ck_assert(file_has(AT_FDCWD, path, "e", 1));
    ck_assert(!file_has(AT_FDCWD, path, "e\nx", 3));
    ck_assert(!file_has(AT_FDCWD, path, "\0a long word", 12));
    ck_assert(!file_has(AT_FDCWD, "/no such file", "x", 1));
    unlink(path);
    free(text);
}
END_TEST

Suite *suite_libraries(void)
{
    Suite *s = suite_create("libraries");
    TCase *t = tcase_create("libraries");
    tcase_add_test(t, names);
    tcase_add_test(t, of_this_program);
    tcase_add_test(t, of_none);
    tcase_add_test(t, bytes);
    suite_add_tcase(s, t);
    return s;
}
