/* The contract test over the networks of this build. */
#include "unit.h"

Suite *suite_contract(void);
Suite *suite_onesided(void);
Suite *suite_ucx(void);

int main(void)
{
    Suite *(*const suites[])(void) = {
        suite_contract,
        suite_onesided,
#ifdef CONTRACT_UCX
        suite_ucx,
#endif
    };
    return unit_run(suites, sizeof suites / sizeof *suites);
}
