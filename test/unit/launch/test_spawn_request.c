/* test_spawn_request.c - launch/spawn_request.c: the lines of a request to start programs. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "launch/spawn_request.h"

Suite *suite_spawn_request(void);

static struct spawn_request *of(const char *const *line)
{
    struct spawn_request *q = spawn_request_new();
    ck_assert_ptr_nonnull(q);
    for (; *line; line++)
        spawn_request_line(q, *line);
    return q;
}

START_TEST(two_programs)
{
    /* "a", "b c", "", "de" in two lines; "f" */
    static const char *const lines[] = {"number=7", "command=61", "arg=622063", "arg=", "arg=64",
                                        "more=65",  "n=2",        "wdir=2f",    "errhandler=78",
                                        "more=79",  "command=66", "n=3",        NULL};
    struct spawn_request *q = of(lines);
    ck_assert_int_eq(spawn_request_check(q), 0);
    ck_assert_uint_eq(q->number, 7);
    ck_assert_int_eq(q->size, 5);
    ck_assert_int_eq(q->nblocks, 2);
    char **v = q->block[0].argv;
    ck_assert_str_eq(v[0], "a");
    ck_assert_str_eq(v[1], "b c");
    ck_assert_str_eq(v[2], "");
    ck_assert_str_eq(v[3], "de");
    ck_assert_ptr_null(v[4]);
    ck_assert_str_eq(q->block[0].wdir, "/");
    ck_assert_int_eq(q->block[0].env->n, 1);
    ck_assert_str_eq(q->block[0].env->name[0], ARGS_ERRHANDLER);
    ck_assert_str_eq(q->block[0].env->value[0], "xy");
    ck_assert_ptr_null(q->block[1].env);
    ck_assert_int_eq(q->block[0].n, 2);
    ck_assert_str_eq(q->block[1].argv[0], "f");
    ck_assert_ptr_null(q->block[1].argv[1]);
    ck_assert_int_eq(q->block[1].first, 2);
    spawn_request_free(q);
}
END_TEST

START_TEST(a_path)
{
    static const char *const lines[] = {"number=1", "command=7368", "n=1",
                                        "path=2f6e6f2f666f6c6465723a2f62696e", NULL};
    struct spawn_request *q = of(lines); /* sh in /no/folder:/bin */
    ck_assert_int_eq(spawn_request_check(q), 0);
    ck_assert_str_eq(q->block[0].argv[0], "/bin/sh");
    spawn_request_free(q);
}
END_TEST

/* A folder of the list is relative to the folder in which the program runs. */
START_TEST(a_relative_path)
{
    static const char *const lines[] = {"number=1", "command=7368", "n=1", "wdir=2f",
                                        "path=62696e", NULL};
    struct spawn_request *q = of(lines); /* sh in bin, from / */
    ck_assert_int_eq(spawn_request_check(q), 0);
    ck_assert_str_eq(q->block[0].argv[0], "bin/sh");
    spawn_request_free(q);
}
END_TEST

/* Words without bytes cost memory, too. */
START_TEST(many_words)
{
    struct spawn_request *q = spawn_request_new();
    ck_assert_ptr_nonnull(q);
    spawn_request_line(q, "number=1");
    spawn_request_line(q, "command=61");
    spawn_request_line(q, "n=1");
    for (int i = 0; i < SPAWN_REQUEST_BYTES_MAX / (int)sizeof(char *); i++)
        spawn_request_line(q, "arg=");
    ck_assert_int_ne(spawn_request_check(q), 0);
    spawn_request_free(q);
}
END_TEST

START_TEST(what_cannot_be)
{
    static const char *const bad[][6] = {
        {"number=1", NULL},                                /* no program */
        {"command=61", "n=1", NULL},                       /* another library's */
        {"number=1", "command=61", NULL},                  /* no number of ranks */
        {"number=1", "command=61", "n=0", NULL},
        {"number=1", "command=61", "n=x", NULL},
        {"number=1", "command=61", "n=99999", NULL},
        {"number=1", "command=6", "n=1", NULL},            /* half a byte */
        {"number=1", "command=6100", "n=1", NULL},         /* a zero byte */
        {"number=1", "command=", "n=1", NULL},
        {"number=1", "command=61", "n=1", "n=1", NULL},    /* twice */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct spawn_request *q = of(bad[i]);
        ck_assert_int_ne(spawn_request_check(q), 0);
        spawn_request_free(q);
    }
    spawn_request_free(NULL);
}
END_TEST

Suite *suite_spawn_request(void)
{
    Suite *s = suite_create("spawn_request");
    TCase *t = tcase_create("wanted");
    tcase_add_test(t, two_programs);
    tcase_add_test(t, a_path);
    tcase_add_test(t, a_relative_path);
    tcase_add_test(t, many_words);
    tcase_add_test(t, what_cannot_be);
    suite_add_tcase(s, t);
    return s;
}
