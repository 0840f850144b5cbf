/* test_dialect.c - launch/dialect.c: accepted, meant, refused. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/binding.h"
#include "launch/dialect.h"
#include "words.h"

Suite *suite_dialect(void);

static int parse(struct args *a, const char *line)
{
    return parse_line(a, line, "prog");
}

/* What users of other launchers type by habit: accepted, and this many ranks come of it. */
static const struct {
    const char *line;
    int ranks;
} habits[] = {
    {"-n 2", 2}, {"-np 2", 2}, {"--np 2", 2}, {"-c 2", 2}, {"--n 2", 2},
    {"-n 2 -host localhost", 2}, {"-n 2 -arch x -wdir .", 2}, {"-n 2 -maxtime 10", 2},
    {"-np 2 --allow-run-as-root", 2}, {"-np 4 --oversubscribe", 4}, {"-np 2 --bind-to core", 2},
    {"-np 2 --bind-to none", 2}, {"-np 2 --bind-to-core", 2}, {"-np 2 --map-by slot", 2},
    {"-np 2 --map-by node", 2}, {"-np 2 --map-by core", 2}, {"-np 2 --map-by ppr:2:node", 2},
    {"-np 2 --map-by socket:PE=1", 2}, {"-np 2 --rank-by core", 2}, {"-np 2 --report-bindings", 2},
    {"-np 2 -x FOO=1", 2}, {"-np 2 -x PATH", 2}, {"-np 2 --tag-output", 2},
    {"-np 2 --timeout 10", 2}, {"-np 2 --mca btl self,sm", 2}, {"-np 2 -mca pml ob1", 2},
    {"-np 2 --mca btl_base_verbose 0", 2}, {"-np 2 --host localhost:2", 2},
    {"-np 2 -H localhost", 2}, {"-np 2 -H localhost:2", 2}, {"-np 2 --npernode 2", 2},
    {"-np 2 -npernode 2", 2}, {"-np 2 --use-hwthread-cpus", 2},
    {"-np 2 --use-hwthread-cpus --oversubscribe", 2}, {"-np 2 -wd .", 2}, {"-np 2 --wdir .", 2},
    {"-np 2 -cwd .", 2}, {"-np 2 --display-map", 2}, {"-np 2 --display-allocation", 2},
    {"-np 2 --display bind", 2}, {"-np 2 --quiet", 2}, {"-np 2 -q", 2}, {"-np 2 --verbose", 2},
    {"-np 2 -v", 2}, {"-np 2 --prefix /x", 2}, {"-np 2 --byslot", 2}, {"-np 2 --bynode", 2},
    {"-np 2 --enable-recovery", 2}, {"-np 2 --continuous", 2}, {"-np 2 --prtemca x y", 2},
    {"-np 2 --pmixmca x y", 2}, {"-np 2 --tune f", 2}, {"-np 2 --show-progress", 2},
    {"-np 2 --get-stack-traces --timeout 10", 2},
    {"-np 2 --report-state-on-timeout --timeout 10", 2}, {"-np 2 --with-ft ulfm", 2},
    {"-np 2 --personality ompi", 2}, {"-np 2 --debug", 2}, {"-n 2 -ppn 2", 2},
    {"-n 2 -perhost 2", 2}, {"-n 2 -hosts localhost", 2}, {"-n 2 -genv A 1", 2},
    {"-n 2 -genv A=1", 2}, {"-n 2 -env A 1", 2}, {"-n 2 -genvlist PATH", 2}, {"-n 2 -l", 2},
    {"-n 2 -prepend-rank", 2}, {"-n 2 -print-rank-map", 2}, {"-n 2 -iface lo", 2},
    {"-n 2 -launcher fork", 2}, {"-n 2 -bootstrap ssh", 2}, {"-n 2 -launcher-exec ssh", 2},
    {"-n 2 -rmk user", 2}, {"-n 2 -bind-to core", 2}, {"-n 2 -bind-to rr", 2},
    {"-n 2 -map-by core", 2}, {"-n 2 -order-nodes none", 2}, {"-n 2 -outfile-pattern o.%r", 2},
    {"-n 2 -localhost localhost", 2}, {"-n 2 -usize 4", 2}, {"-n 2 -skip-launch-node", 2},
    {"-n 2 -gpus-per-proc 0", 2}, {"-n 2 -topolib hwloc", 2}, {"-n 2 -nameserver x", 2},
    {"-n 2 -disable-auto-cleanup", 2}, {"-n 2 -disable-hostname-propagation", 2},
    {"-n 2 -verbose", 2}, {"-n 2 -errfile-pattern e", 2}, {"-n 2 -ranks-per-proc 1", 2},
    {"-n 2 -pmi-port", 2}, {"-n 2 -tmpdir .", 2}, {"-n 2 -timeout 10", 2},
    {"-n 2 -stdoutbuf=0", 2}, {"-n 2 -rr", 2}, {"-n 2 -grr 2", 2}, {"-n 2 -I_MPI_DEBUG 5", 2},
    {"-n 2 -silent-abort", 2}, {"-n 2 -hostos linux", 2}, {"-N 1 -n 2", 2}, {"--ntasks 2", 2},
    {"--ntasks=2", 2}, {"--label -n 2", 2}, {"-n 2 --cpu-bind=cores", 2}, {"-n 2 --mpi=pmi2", 2},
};

START_TEST(accepted)
{
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        struct args a;
        struct place p;
        ck_assert_msg(parse(&a, habits[i].line) == 0, "%s: %s", habits[i].line, msg);
        ck_assert_msg(a.size == habits[i].ranks && !a.far, "%s", habits[i].line);
        ck_assert_str_eq(a.block[0].argv[0], "prog");
        ck_assert_msg(place_parse(&p, a.bind, a.map, msg, sizeof msg) == 0, "%s: %s",
                      habits[i].line, msg);
        args_free(&a);
    }
}
END_TEST

/* They do what their users expect, or are named. */
START_TEST(meant)
{
    struct args a;
    ck_assert_int_eq(parse(&a, "-c 3 --tag-output -wd /d --npernode 4 --maxtime 7 --bind-to-core"),
                     0);
    ck_assert(a.size == 3 && a.label && a.ppn == 4 && a.timeout == 7);
    ck_assert_str_eq(a.block[0].wdir, "/d");
    ck_assert_str_eq(a.bind, "core");
    args_free(&a);
    ck_assert_int_eq(parse(&a, "-genv A=1=2 -env B=3 -x C=4 --continuous --display-map"), 0);
    ck_assert(a.genv.n == 1 && a.block[0].env->n == 2 && a.no_cleanup && a.verbose);
    ck_assert_str_eq(a.genv.name[0], "A");
    ck_assert_str_eq(a.genv.value[0], "1=2");
    ck_assert_str_eq(a.block[0].env->name[0], "B");
    ck_assert_str_eq(a.block[0].env->value[0], "3");
    ck_assert_str_eq(a.block[0].env->name[1], "C");
    ck_assert_str_eq(a.block[0].env->value[1], "4");
    args_free(&a);
    setenv("WINDROSE_TEST_X", "there", 1);
    ck_assert_int_eq(parse(&a, "-envnone -x WINDROSE_TEST_X -x WINDROSE_TEST_NOT"), 0);
    ck_assert(a.block[0].env->n == 1);
    ck_assert_str_eq(a.block[0].env->value[0], "there");
    args_free(&a);
    ck_assert_int_eq(parse(&a, "--map-by socket:PE=2 --bind-to l3 --mca a b -rmk user -q"), 0);
    ck_assert_str_eq(a.map, "socket");
    ck_assert_str_eq(a.bind, "l3cache");
    ck_assert_str_eq(a.idle, "--mca, -rmk, -q");
    args_free(&a);
    ck_assert_int_eq(parse(&a, "--map-by ppr:2:node"), 0);
    ck_assert_ptr_null(a.map);
    args_free(&a);
}
END_TEST

/* What would change the job and is not there is an error, with the nearest name. */
START_TEST(refused)
{
    static const char *const bad[] = {"--xterm 0", "-dbg", "-nolocal", "-path ."};
    struct args a;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(parse(&a, bad[i]), -22);
        ck_assert_msg(strstr(msg, "unknown option"), "%s: %s", bad[i], msg);
        args_free(&a);
    }
    ck_assert_int_eq(parse(&a, "--oversubscibe"), -22);
    ck_assert_msg(strstr(msg, "did you mean -oversubscribe?"), "%s", msg);
    args_free(&a);
    ck_assert_int_eq(parse(&a, "-host-file x"), -22);
    ck_assert_msg(strstr(msg, "did you mean -hostfile?"), "%s", msg);
    args_free(&a);
    ck_assert_int_eq(parse(&a, "-zzzzzzz"), -22);
    ck_assert_ptr_null(strstr(msg, "did you mean"));
    args_free(&a);
    ck_assert_int_eq(parse(&a, "--mca=1"), -22);
    args_free(&a);
    char *one[] = {(char[]){"mpiexec"}, (char[]){"--mca"}, (char[]){"x"}, NULL};
    ck_assert_int_eq(args_parse(&a, 3, one, msg, sizeof msg), -22);
    args_free(&a);
}
END_TEST

Suite *suite_dialect(void)
{
    Suite *s = suite_create("dialect");
    TCase *t = tcase_create("dialect");
    tcase_add_test(t, accepted);
    tcase_add_test(t, meant);
    tcase_add_test(t, refused);
    suite_add_tcase(s, t);
    return s;
}
