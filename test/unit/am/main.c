#include "unit.h"

Suite *suite_am(void);
Suite *suite_peer(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_peer, suite_am};
    return unit_run(suites, 2);
}
