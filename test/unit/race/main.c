/* main.c - the unit tests of race/, one suite for each file. */
#include "unit.h"

Suite *suite_model_interval(void);
Suite *suite_model_clock(void);
Suite *suite_model_rule(void);
Suite *suite_model_shadow(void);
Suite *suite_model_series(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_model_interval, suite_model_clock, suite_model_rule,
                                       suite_model_shadow, suite_model_series};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
