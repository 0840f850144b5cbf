#include "unit.h"

Suite *suite_am(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_am};
    return unit_run(suites, 1);
}
