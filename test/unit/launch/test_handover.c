/* test_handover.c - launch/handover.c: hydra, srun, prterun. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/handover.h"

Suite *suite_engine(void);

/* The command line `line`, as engine e gets it; or the message, after "!". */
static const char *handed(enum engine e, const char *line)
{
    static char out[2048];
    char text[512], msg[256], *word[64] = {"mpiexec"}, *save = NULL;
    int n = 1;
    struct args a;
    strcpy(text, line);
    for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
        word[n++] = w;
    ck_assert_msg(args_parse(&a, n, word, msg, sizeof msg) == 0, "%s", msg);
    ck_assert(a.far);
    char **words = engine_words(e, &a, a.hosts, msg, sizeof msg);
    snprintf(out, sizeof out, "!%s", msg);
    for (int i = 0; words && words[i]; i++)
        snprintf(i ? out + strlen(out) : out, sizeof out - (i ? strlen(out) : 0), "%s%s",
                 i ? " " : "", words[i]);
    engine_words_free(words);
    args_free(&a);
    return out;
}

/* Everything that has a word there is passed on. */
START_TEST(hydra)
{
    ck_assert_str_eq(handed(ENGINE_HYDRA, "-hosts a.x,b.x -ppn 2 -l -genv A 1 -gwdir /g -n 3 -env "
                                          "B 2 prog -n 9 : -n 1 -wdir /w q"),
                     "mpiexec.hydra -hosts a.x,b.x -ppn 2 -l -genv A 1 -n 3 -wdir /g -env B 2 prog "
                     "-n 9 : -n 1 -wdir /w q");
    ck_assert_str_eq(
        handed(ENGINE_HYDRA,
               "-host a.x -disable-auto-cleanup -genvnone -bind-to core -usize 8 -envlist A,B p"),
        "mpiexec.hydra -hosts a.x -usize 8 -disable-auto-cleanup -bind-to core -genvnone -n 1 "
        "-envlist A,B p");
}
END_TEST

START_TEST(srun)
{
    ck_assert_str_eq(
        handed(ENGINE_SRUN, "-hosts a.x,b.x -ppn 2 -n 4 -l -genv A 1 -wdir /w prog -x"),
        "srun --mpi=pmi2 --nodelist=a.x,b.x --nodes=2 --ntasks=4 --ntasks-per-node=2 "
        "--distribution=block --label --kill-on-bad-exit=1 --chdir=/w --export=ALL,A=1 -- prog -x");
    ck_assert_int_eq(*handed(ENGINE_SRUN, "-hosts a.x p : q"), '!');
    ck_assert_int_eq(*handed(ENGINE_SRUN, "-hosts a.x -bind-to core p"), '!');
    ck_assert_int_eq(*handed(ENGINE_SRUN, "-hosts a.x -env A 1,2 p"), '!');
}
END_TEST

START_TEST(prterun)
{
    ck_assert_str_eq(handed(ENGINE_PRTERUN, "-hosts a.x,b.x -ppn 2 -n 4 -genv A 1 prog"),
                     "prterun --host a.x,b.x --map-by ppr:2:node:OVERSUBSCRIBE -n 4 -x A=1 prog");
    ck_assert_int_eq(*handed(ENGINE_PRTERUN, "-hosts a.x -disable-auto-cleanup p"), '!');
}
END_TEST

Suite *suite_engine(void)
{
    Suite *s = suite_create("launch/engine");
    TCase *t = tcase_create("engine");
    tcase_add_test(t, hydra);
    tcase_add_test(t, srun);
    tcase_add_test(t, prterun);
    suite_add_tcase(s, t);
    return s;
}
