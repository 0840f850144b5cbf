/* main.c - the unit tests of var/, one suite for each file. */
#include "unit.h"

Suite *suite_registry(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_registry};
    return unit_run(suites, 1);
}
