/* main.c - the unit tests of boot/, one suite for each file. */
#include "unit.h"

Suite *suite_boot(void);
Suite *suite_death(void);
Suite *suite_family(void);
Suite *suite_identity(void);
Suite *suite_nodemap(void);
Suite *suite_pmi1(void);
Suite *suite_pmix_spawn(void);
Suite *suite_watch(void);
Suite *suite_watch_jobs(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_boot,    suite_death, suite_family, suite_identity,
                                      suite_nodemap, suite_pmi1,  suite_pmix_spawn,  suite_watch,
                                      suite_watch_jobs};
    return unit_run(suites, 9);
}
