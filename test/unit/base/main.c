/* main.c - the unit tests of base/, one suite for each file. */
#include "unit.h"

Suite *suite_json(void);
Suite *suite_lock(void);
Suite *suite_map(void);
Suite *suite_list(void);
Suite *suite_log(void);
Suite *suite_thread(void);
Suite *suite_time(void);
Suite *suite_pmiline(void);
Suite *suite_topo(void);
Suite *suite_vec(void);
Suite *suite_ways(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_list, suite_map,     suite_lock, suite_log,
                                      suite_time, suite_pmiline, suite_topo,
                                      suite_vec,  suite_ways,    suite_thread, suite_json};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
