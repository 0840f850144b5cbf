/* main.c - the unit tests of progress/, one suite for each file. */
#include "unit.h"

Suite *suite_engine(void);
Suite *suite_async(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_engine, suite_async};
    return unit_run(suites, 2);
}
