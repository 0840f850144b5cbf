/* onesided.c - the part of the contract (tp.h) about memory, put, get, atomics and flush, for every
 * row of contract.c whose transport offers them (src/doctor/onesided.c, atomics.c). */
#include "contract.h"
#include "job.h"
#include "unit.h"

Suite *suite_onesided(void);

/* --- the suite -------------------------------------------------------------------------- */

EACH(put_get, few)
EACH(many, many)
EACH(noted, many)
EACH(atomics, few)
EACH(counters, many)
EACH(mixed, many)
EACH(stopped, few)
EACH(stopped_atomics, few)
EACH(woken, few)
EACH(stale, few)

Suite *suite_onesided(void)
{
    Suite *s = suite_create("tp/onesided");
    TCase *t = tcase_create("onesided");
    tcase_set_timeout(t, 90);
    tcase_add_loop_test(t, put_get_, 0, rows_count);
    tcase_add_loop_test(t, many_, 0, rows_count);
    tcase_add_loop_test(t, noted_, 0, rows_count);
    tcase_add_loop_test(t, atomics_, 0, rows_count);
    tcase_add_loop_test(t, counters_, 0, rows_count);
    tcase_add_loop_test(t, mixed_, 0, rows_count);
    tcase_add_loop_test(t, stopped_, 0, rows_count);
    tcase_add_loop_test(t, stopped_atomics_, 0, rows_count);
    tcase_add_loop_test(t, woken_, 0, rows_count);
    tcase_add_loop_test(t, stale_, 0, rows_count);
    suite_add_tcase(s, t);
    return s;
}
