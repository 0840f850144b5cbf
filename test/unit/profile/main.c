/* main.c - the unit tests of profile/, one suite for each file. */
#include "unit.h"

Suite *suite_calls(void);
Suite *suite_sums(void);
Suite *suite_advice(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_calls, suite_sums, suite_advice};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
