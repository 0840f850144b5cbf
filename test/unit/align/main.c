/* main.c - the unit tests of align/, one suite for each file. */
#include "unit.h"

Suite *suite_digest(void);
Suite *suite_rows(void);
Suite *suite_waitgraph(void);
Suite *suite_text(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_digest, suite_rows, suite_waitgraph, suite_text};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
