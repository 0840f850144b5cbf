/* The contract test over UCX, and the tests of its own. */
#include "unit.h"

Suite *suite_contract(void);
Suite *suite_onesided(void);
Suite *suite_ucx(void);
Suite *suite_foreign(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_contract, suite_onesided, suite_ucx, suite_foreign};
    return unit_run(suites, sizeof suites / sizeof *suites);
}
