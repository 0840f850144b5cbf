#include "unit.h"
#include "unit_rma.h"

int main(void)
{
    Suite *(*const suites[])(void) = {suite_acc, suite_shmlock};
    return unit_run(suites, sizeof suites / sizeof *suites);
}
