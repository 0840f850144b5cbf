#include "unit.h"
#include "unit_p2p.h"

int main(void)
{
    Suite *(*const suites[])(void) = {suite_match, suite_send, suite_recv, suite_by_am, suite_peer,
                                      suite_probe, suite_buffer, suite_pair, suite_p2p};
    return unit_run(suites, sizeof suites / sizeof *suites);
}
