/* net_ucx.c - the contract test over UCX, and the tests of its own. */
#include "unit.h"

Suite *suite_contract(void);
Suite *suite_onesided(void);
Suite *suite_contexts(void);
Suite *suite_ucx(void);
Suite *suite_ucx_contexts(void);
Suite *suite_stranger(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_contract, suite_onesided, suite_contexts, suite_ucx,
                                      suite_ucx_contexts, suite_stranger};
    return unit_run(suites, sizeof suites / sizeof *suites);
}
