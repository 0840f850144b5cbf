/* net_ofi.c - the contract test over providers of libfabric, and the tests of tp/ofi's own. */
#include "unit.h"

Suite *suite_contract(void);
Suite *suite_contexts(void);
Suite *suite_onesided(void);
Suite *suite_forged(void);
Suite *suite_ofi(void);
Suite *suite_ofi_cache(void);
Suite *suite_ofi_contexts(void);
Suite *suite_ofi_load(void);
Suite *suite_ofi_near(void);
Suite *suite_ofi_rails(void);
Suite *suite_stranger(void);

int main(void)
{
    Suite *(*const suites[])(void) = {
#ifdef CONTRACT_OFI
        suite_ofi, suite_ofi_cache, suite_ofi_contexts, suite_ofi_load, suite_ofi_near,
        suite_ofi_rails, suite_stranger,
#endif
        suite_contract, suite_contexts, suite_onesided, suite_forged,
    };
    return unit_run(suites, sizeof suites / sizeof *suites);
}
