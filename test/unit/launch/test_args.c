/* test_args.c - launch/args.c: one block, blocks, spellings, actions, environments, mistakes,
 * config file, bad config files, host file, hostile host files, endless files. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "words.h"

Suite *suite_args(void);

static int parse(struct args *a, const char *line)
{
    return parse_line(a, line, "");
}

START_TEST(one_block)
{
    struct args a;
    /* nothing after the colon */
    ck_assert_int_eq(parse(&a, "-n 4 -l -wdir /d ./prog -n 7 -l : "), -22);
    args_free(&a);
    ck_assert_int_eq(parse(&a, "-n 4 ' -n 7"), -22); /* a program without a name */
    args_free(&a);
    ck_assert_int_eq(parse(&a, "-n 4 -l -wdir /d ./prog -n 7 -l"), 0);
    ck_assert_int_eq(a.nblocks, 1);
    ck_assert_int_eq(a.size, 4);
    ck_assert_int_eq(a.label, 1);
    ck_assert_str_eq(a.block[0].wdir, "/d");
    ck_assert_str_eq(a.block[0].argv[0], "./prog");
    ck_assert_str_eq(a.block[0].argv[1], "-n"); /* the program's own */
    ck_assert_str_eq(a.block[0].argv[3], "-l");
    ck_assert_ptr_null(a.block[0].argv[4]);
    args_free(&a);
    ck_assert_int_eq(parse(&a, "prog"), 0);
    ck_assert_int_eq(a.size, 1);
    args_free(&a);
}
END_TEST

/* -report and -trace have one form, =FILE; the other is taken with a word. */
START_TEST(files_of_profiles)
{
    struct args a;
    static const struct {
        const char *line, *trace, *report, *program, *hint;
    } rows[] = {
        {"-trace=t -n 2 p", "t", NULL, "p", ""},
        {"-trace t.json -n 2 p", "t.json", NULL, "p", "-trace t.json is read as -trace=t.json"},
        {"-trace out p x", "out", NULL, "p", "-trace out is read as -trace=out"},
        {"-trace -n 2 p", "trace.json", NULL, "p", "-trace without =FILE: the trace goes to "
                                                   "trace.json"},
        {"-trace /bin/sh x", "trace.json", NULL, "/bin/sh", NULL},
        {"-trace sh x.sh", "trace.json", NULL, "sh", NULL}, /* found in PATH */
        {"-report=r -n 2 p", NULL, "r", "p", ""},
        {"-report r.json -n 2 p", NULL, "r.json", "p", "-report r.json is read as -report=r.json"},
        {"-report p", NULL, NULL, "p", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(parse(&a, rows[i].line), 0);
        ck_assert_pstr_eq(a.trace, rows[i].trace);
        ck_assert_pstr_eq(a.report_file, rows[i].report);
        ck_assert_int_eq(a.reports, !rows[i].trace);
        ck_assert_str_eq(a.block[0].argv[0], rows[i].program);
        if (rows[i].hint)
            ck_assert_str_eq(a.hint, rows[i].hint);
        args_free(&a);
    }
}
END_TEST

START_TEST(blocks)
{
    struct args a;
    ck_assert_int_eq(parse(&a, "-genv A 1 -np 2 -env B 2 x 1 : -timeout 2.5 -n 3 -wdir w y : z"),
                     0);
    ck_assert_int_eq(a.nblocks, 3);
    ck_assert_int_eq(a.size, 6);
    ck_assert_int_eq(a.block[1].first, 2);
    ck_assert_int_eq(a.block[2].first, 5);
    ck_assert_str_eq(a.block[0].env->value[0], "2");
    ck_assert_ptr_null(a.block[1].env);
    ck_assert_str_eq(a.genv.name[0], "A");
    ck_assert_double_eq(a.timeout, 2.5);
    ck_assert_ptr_null(a.block[0].wdir);
    ck_assert_str_eq(a.block[1].wdir, "w");
    ck_assert_str_eq(a.block[2].argv[0], "z");
    args_free(&a);
}
END_TEST

START_TEST(spellings)
{
    static const char *const same[] = {
        "-n 3 -ppn 2 -bind-to core x", "--n 3 --ppn 2 --bind-to core x",
        "-np 3 -ppn=2 -bind-to=core x", "--np=3 --ppn=2 --bind-to=core x"};
    struct args a;
    for (int i = 0; i < 4; i++) {
        ck_assert_msg(parse(&a, same[i]) == 0, "%s", msg);
        ck_assert_int_eq(a.size, 3);
        ck_assert_int_eq(a.ppn, 2);
        ck_assert_str_eq(a.bind, "core");
        args_free(&a);
    }
    ck_assert_int_eq(
        parse(&a, "-disable-auto-cleanup --disable-auto-cleanup -prepend-rank -gwdir g -usize 9 x"),
        0);
    ck_assert(a.no_cleanup && a.label && a.universe == 9 && !strcmp(a.gwdir, "g"));
    args_free(&a);
}
END_TEST

START_TEST(actions)
{
    static const struct {
        const char *line;
        enum args_action action;
    } t[] = {{"-help", ARGS_HELP},        {"--help", ARGS_HELP},      {"-h", ARGS_HELP},
             {"--version", ARGS_VERSION}, {"-version", ARGS_VERSION}, {"--cvars", ARGS_CVARS},
             {"-n 2 -cvars", ARGS_CVARS}};
    struct args a;
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        ck_assert_int_eq(parse(&a, t[i].line), 0);
        ck_assert_int_eq(a.action, t[i].action);
        args_free(&a);
    }
}
END_TEST

START_TEST(environments)
{
    struct args a;
    ck_assert_int_eq(parse(&a, "-genvnone -envlist A,B x : -envall y : -genvlist C z"), 0);
    ck_assert_int_eq(a.genv.mode, ENV_LIST);
    ck_assert_str_eq(a.genv.list, "C");
    ck_assert_int_eq(a.block[0].env->mode, ENV_LIST);
    ck_assert_str_eq(a.block[0].env->list, "A,B");
    ck_assert_int_eq(a.block[1].env->mode, ENV_ALL);
    args_free(&a);
    ck_assert_int_eq(parse(&a, "-env A ' x"), 0); /* an empty value is a value */
    ck_assert_str_eq(a.block[0].env->value[0], "");
    args_free(&a);
}
END_TEST

START_TEST(mistakes)
{
    static const char *const bad[] = {
        "",
        "-n",
        "-n 2",
        "-n 0 x",
        "-n -1 x",
        "-n 1x x",
        "-n 99999999999 x",
        "-n 65537 x",
        "-n 60000 x : -n 60000 x",
        "-np= x",
        "-zzz x",
        "--zzz=1 x",
        "-l=1 x",
        "-env=A x",
        "-env A",
        "-env ' 1 x",
        "-env =B 1 x",
        "-timeout 0 x",
        "-timeout -1 x",
        "-timeout x x",
        "-timeout nan x",
        ": x",
        "x : : y",
        "-ppn 0 x",
        "-hosts ' x",
        "-f /nonexistent/file x",
        "-configfile /nonexistent/file",
        "-usize 0 x",
    };
    struct args a;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(parse(&a, bad[i]) == -22, "taken: \"%s\"", bad[i]);
        ck_assert_msg(*msg && !strchr(msg, '\n'), "\"%s\" says \"%s\"", bad[i], msg);
        args_free(&a);
    }
    ck_assert_int_eq(parse(&a, "-hosts localhost,127.0.0.1:4 x"), 0);
    ck_assert(!a.far && !strcmp(a.hosts, "localhost,127.0.0.1:4"));
    args_free(&a);
    ck_assert_int_eq(parse(&a, "-hosts localhost,h.example:2 -host other -engine srun x"), 0);
    ck_assert(a.far && !strcmp(a.hosts, "localhost,h.example:2,other") &&
              !strcmp(a.engine, "srun"));
    args_free(&a);
}
END_TEST

static const char *file_of(const char *text)
{
    static char path[64];
    strcpy(path, "/tmp/unit_args_XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

START_TEST(config_file)
{
    struct args a;
    char line[128];
    const char *path = file_of(
        "# all\n-n 2 -env V 'a b' prog \"one arg\" '' x#y\n\n  \t\n-n 3 other -z # end\nlast");
    snprintf(line, sizeof line, "-l -configfile %s", path);
    ck_assert_msg(parse(&a, line) == 0, "%s", msg);
    unlink(path);
    ck_assert_int_eq(a.nblocks, 3);
    ck_assert_int_eq(a.size, 6);
    ck_assert_int_eq(a.label, 1);
    ck_assert_str_eq(a.block[0].env->value[0], "a b");
    ck_assert_str_eq(a.block[0].argv[1], "one arg");
    ck_assert_str_eq(a.block[0].argv[2], "");
    ck_assert_str_eq(a.block[0].argv[3], "x#y");
    ck_assert_ptr_null(a.block[0].argv[4]);
    ck_assert_str_eq(a.block[1].argv[1], "-z");
    ck_assert_ptr_null(a.block[1].argv[2]);
    ck_assert_int_eq(a.block[2].first, 5);
    args_free(&a);
}
END_TEST

START_TEST(bad_config_files)
{
    static const char *const bad[] = {
        "", "# nothing\n", "-n 2\n", "prog 'open\n", "-configfile other\n", "-foo x\n"};
    struct args a;
    char line[128];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = file_of(bad[i]);
        snprintf(line, sizeof line, "-configfile %s", path);
        ck_assert_msg(parse(&a, line) == -22, "taken: \"%s\"", bad[i]);
        unlink(path);
        args_free(&a);
    }
    const char *path = file_of("-n 1 x\n");
    snprintf(line, sizeof line, "-configfile %s y", path);
    ck_assert_int_eq(parse(&a, line), -22);
    unlink(path);
    args_free(&a);
}
END_TEST

START_TEST(host_file)
{
    struct args a;
    char line[128];
    const char *path = file_of("# hosts\nlocalhost:2\n\n127.0.0.1 slots=4\n");
    snprintf(line, sizeof line, "-f %s x", path);
    ck_assert_msg(parse(&a, line) == 0, "%s", msg);
    unlink(path);
    args_free(&a);
    path = file_of("localhost\nh.example\n");
    snprintf(line, sizeof line, "-hostfile %s x", path);
    ck_assert_int_eq(parse(&a, line), 0);
    ck_assert(a.far && !strcmp(a.hosts, "localhost,h.example"));
    unlink(path);
    args_free(&a);
}
END_TEST

START_TEST(hostile_host_files)
{
    static const char *const bad[] = {
        "-oProxyCommand=touch_x\n",
        "--help\n",
        "a;b\n",
        "a,b\n",
        "$(x)\n",
        "\033[31mh\n",
        "h\\\n",
        "=a\n",
        "\xc3\xa4\n",
    };
    struct args a;
    char line[128], *text = calloc(1, 20000), *at = text;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = file_of(bad[i]);
        snprintf(line, sizeof line, "-f %s x", path);
        ck_assert_msg(parse(&a, line) == -22, "taken: \"%s\"", bad[i]);
        ck_assert_msg(strstr(msg, "is not a valid host name"), "%s", msg);
        unlink(path);
        args_free(&a);
    }
    ck_assert_int_eq(parse(&a, "-hosts a,-oX x"), -22);
    args_free(&a);
    /* What stands behind the name on a long line is no other host. */
    at += sprintf(at, "localhost ");
    for (int i = 0; i < 3000; i++)
        at += sprintf(at, "word ");
    sprintf(at, "\n127.0.0.1\r\nh.example");
    const char *path = file_of(text);
    snprintf(line, sizeof line, "-f %s x", path);
    ck_assert_msg(parse(&a, line) == 0, "%s", msg);
    ck_assert_str_eq(a.hosts, "localhost,127.0.0.1,h.example");
    args_free(&a);
    unlink(path);
    memset(text, 'h', 5000); /* a name longer than any */
    text[5000] = 0;
    path = file_of(text);
    snprintf(line, sizeof line, "-f %s x", path);
    ck_assert_int_eq(parse(&a, line), -22);
    args_free(&a);
    unlink(path);
    free(text);
}
END_TEST

/* A device without end is refused at once: of zeroes, and of text. */
START_TEST(endless_files)
{
    static const char *const options[] = {"-f", "-configfile"};
    struct args a;
    char line[128], path[] = "/tmp/unit_args_XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    char *text = malloc(ARGS_FILE_MAX + 2);
    memset(text, '\n', ARGS_FILE_MAX + 2);
    ck_assert_int_eq(write(fd, text, ARGS_FILE_MAX + 2), ARGS_FILE_MAX + 2);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "%s /dev/zero x", options[i]);
        ck_assert_int_eq(parse(&a, line), -22);
        ck_assert_msg(strstr(msg, "zero byte"), "%s", msg);
        args_free(&a);
        snprintf(line, sizeof line, "%s %s x", options[i], path);
        ck_assert_int_eq(parse(&a, line), -22);
        ck_assert_msg(strstr(msg, "too long"), "%s", msg);
        args_free(&a);
    }
    close(fd);
    unlink(path);
    free(text);
}
END_TEST

Suite *suite_args(void)
{
    Suite *s = suite_create("launch/args");
    TCase *t = tcase_create("args");
    tcase_add_test(t, one_block);
    tcase_add_test(t, files_of_profiles);
    tcase_add_test(t, blocks);
    tcase_add_test(t, spellings);
    tcase_add_test(t, actions);
    tcase_add_test(t, environments);
    tcase_add_test(t, mistakes);
    tcase_add_test(t, config_file);
    tcase_add_test(t, bad_config_files);
    tcase_add_test(t, host_file);
    tcase_add_test(t, hostile_host_files);
    tcase_add_test(t, endless_files);
    suite_add_tcase(s, t);
    return s;
}
