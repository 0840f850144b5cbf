/* main.c - the unit tests of progress/, one suite for each file. */
#include "unit.h"

Suite *suite_engine(void);
Suite *suite_async(void);
Suite *suite_standin(void);
Suite *suite_apart(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_engine, suite_async, suite_standin, suite_apart};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
