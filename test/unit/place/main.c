/* main.c - the unit tests of place/, one suite for each file. */
#include "unit.h"

Suite *suite_addr2line(void);
Suite *suite_front_library(void);
Suite *suite_lines(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_addr2line, suite_front_library, suite_lines};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
