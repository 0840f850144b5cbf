/* main.c - the unit tests of watch/, one suite for each file. */
#include "unit.h"

Suite *suite_watch(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_watch};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
