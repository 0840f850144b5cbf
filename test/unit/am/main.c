/* main.c - the unit tests of am/, one suite for each file. */
#include "unit.h"

Suite *suite_alive(void);
Suite *suite_am(void);
Suite *suite_choice(void);
Suite *suite_peer(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_peer, suite_am, suite_choice, suite_alive};
    return unit_run(suites, 4);
}
