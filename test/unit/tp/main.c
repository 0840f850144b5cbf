/* main.c - the unit tests of tp/, one suite for each file. */
#include "unit.h"

Suite *suite_util(void);
Suite *suite_open(void);
Suite *suite_ring(void);
Suite *suite_shm(void);
Suite *suite_guest(void);
Suite *suite_trust(void);
Suite *suite_contract(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_util, suite_open,  suite_ring,
                                      suite_shm,  suite_guest, suite_trust, suite_contract};
    return unit_run(suites, sizeof suites / sizeof *suites);
}
