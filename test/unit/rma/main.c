#include "unit.h"
#include "unit_rma.h"

int main(void)
{
    Suite *(*const suites[])(void) = {suite_epoch, suite_pool, suite_slot, suite_route, suite_lockq,
                                      suite_on_target, suite_on_origin, suite_op,
                                      suite_acc, suite_shmlock};
    return unit_run(suites, sizeof suites / sizeof *suites);
}
