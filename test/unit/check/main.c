/* main.c - the unit tests of check/, one suite for each file. */
#include "unit.h"

Suite *suite_digest(void);
Suite *suite_rows(void);
Suite *suite_lines(void);
Suite *suite_waitgraph(void);
Suite *suite_text(void);
Suite *suite_race_lane(void);
Suite *suite_race_region(void);
Suite *suite_race_rule(void);
Suite *suite_race_view(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_digest,    suite_rows,      suite_lines,
                                       suite_waitgraph, suite_text,      suite_race_lane,
                                       suite_race_view, suite_race_rule, suite_race_region};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
