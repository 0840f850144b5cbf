/* main.c - the unit tests of threads/, one suite for each file. */
#include "unit.h"

Suite *suite_level(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_level};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
