#include "unit.h"

Suite *suite_digest(void);
Suite *suite_text(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_digest, suite_text};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
