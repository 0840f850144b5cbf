/* The contract test over the networks of this build. */
#include "unit.h"

Suite *suite_contract(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_contract};
    return unit_run(suites, 1);
}
