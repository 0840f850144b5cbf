/* main.c - the unit tests of coll/, one suite for each file. */
#include "unit.h"

Suite *suite_select(void);
Suite *suite_bcast(void);
Suite *suite_reduce(void);
Suite *suite_reduce_scatter(void);
Suite *suite_gather(void);
Suite *suite_alltoall(void);
Suite *suite_inter(void);
Suite *suite_sched(void);
Suite *suite_shm(void);
Suite *suite_ctxid(void);
Suite *suite_by_text(void);
Suite *suite_coll(void);
Suite *suite_exchange(void);
Suite *suite_agree(void);
Suite *suite_reserve(void);
Suite *suite_shrink(void);
Suite *suite_ahead(void);
Suite *suite_mixed(void);

int main(void)
{
    Suite *(*const suites[])(void) = {
        suite_select, suite_bcast, suite_reduce, suite_reduce_scatter, suite_gather, suite_alltoall,
        suite_inter,  suite_sched, suite_shm,    suite_ctxid,          suite_coll,
        suite_exchange, suite_agree, suite_reserve, suite_shrink, suite_by_text,
        suite_ahead, suite_mixed};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
