/* main.c - the unit tests of rma/, one suite for each file. */
#include "unit.h"
#include "unit_rma.h"

int main(void)
{
    Suite *(*const suites[])(void) = {
        suite_acc,      suite_advance, suite_cleanup,   suite_epoch,     suite_fence, suite_fetch,
        suite_flush,    suite_evicted, suite_issue,     suite_free_sync, suite_lock,  suite_lockall,
        suite_lockq,    suite_node,    suite_on_origin, suite_on_target, suite_one,   suite_op,
        suite_packet,   suite_pool,    suite_pscw,      suite_evict,     suite_rma,   suite_route,
        suite_coalesce, suite_shmlock, suite_slot,      suite_win,
        suite_bundle,
        suite_spread,
        suite_promise,
        suite_delegate_copy,
        suite_briefly,
        suite_recent,
    };
    return unit_run(suites, sizeof suites / sizeof *suites);
}
