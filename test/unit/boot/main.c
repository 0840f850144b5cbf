#include "unit.h"

Suite *suite_nodemap(void);
Suite *suite_pmi1(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_nodemap, suite_pmi1};
    return unit_run(suites, 2);
}
