/* unit_rma.h - the suites of the rma unit test program, one per source. */
#ifndef UNIT_RMA_H
#define UNIT_RMA_H

#include <check.h>

Suite *suite_acc(void);
Suite *suite_advance(void);
Suite *suite_cleanup(void);
Suite *suite_epoch(void);
Suite *suite_fence(void);
Suite *suite_fetch(void);
Suite *suite_flush(void);
Suite *suite_evicted(void);
Suite *suite_issue(void);
Suite *suite_free_sync(void);
Suite *suite_lock(void);
Suite *suite_lockall(void);
Suite *suite_lockq(void);
Suite *suite_node(void);
Suite *suite_on_origin(void);
Suite *suite_on_target(void);
Suite *suite_op(void);
Suite *suite_one(void);
Suite *suite_briefly(void);
Suite *suite_recent(void);
Suite *suite_bundle(void);
Suite *suite_spread(void);
Suite *suite_promise(void);
Suite *suite_delegate_copy(void);
Suite *suite_packet(void);
Suite *suite_pool(void);
Suite *suite_pscw(void);
Suite *suite_evict(void);
Suite *suite_rma(void);
Suite *suite_route(void);
Suite *suite_coalesce(void);
Suite *suite_shmlock(void);
Suite *suite_slot(void);
Suite *suite_win(void);

#endif
