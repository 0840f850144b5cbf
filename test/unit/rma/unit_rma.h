/* unit_rma.h - the suites of the rma unit test program, one per source. */
#ifndef UNIT_RMA_H
#define UNIT_RMA_H

#include <check.h>

Suite *suite_acc(void);
Suite *suite_epoch(void);
Suite *suite_lockq(void);
Suite *suite_on_target(void);
Suite *suite_op(void);
Suite *suite_on_origin(void);
Suite *suite_pool(void);
Suite *suite_route(void);
Suite *suite_shmlock(void);
Suite *suite_slot(void);

#endif
