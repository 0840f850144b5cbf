#include "unit.h"

Suite *suite_lock(void);
Suite *suite_map(void);
Suite *suite_list(void);
Suite *suite_log(void);
Suite *suite_time(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_list, suite_map, suite_lock, suite_log, suite_time};
    return unit_run(suites, 5);
}
