/* The contract test over the networks of this build. */
#include "unit.h"

Suite *suite_contract(void);
Suite *suite_onesided(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_contract, suite_onesided};
    return unit_run(suites, 2);
}
