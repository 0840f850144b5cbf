/* contract.c - one suite that every transport must pass (tp.h).  A row of `rows` per transport;
 * what a transport does not offer (flags clear, am_max 0) is skipped for it.  What the processes do
 * is the doctor's (src/doctor/messages.c).  Compiled twice: for what is always there (unit_tp), and
 * with CONTRACT_NETWORKS for the networks (unit_ofi, unit_ofi_more: providers that show whether we
 * ask or assume, unit_ucx), which are slower: a quarter of the messages. */
#include "config.h"

#include "contract.h"
#include "job.h"
#include "unit.h"

Suite *suite_contract(void);

/* What each transport is designed to offer (the reasons: doc/design/tp.md, "What each offers"); all
 * keep the order of messages but `none`. */
enum {
    MESSAGES = TP_AM_ORDERED | TP_WAIT_FD | TP_AM_LEAVES, ACCESS = TP_PUT | TP_GET, ATOMICS =
    TP_ATOMIC | TP_CPU_COHERENT
};
enum { WIDTHS_4_8 = 1 << 2 | 1 << 3, WIDTHS_1_8 = WIDTHS_4_8 | 1 << 0 | 1 << 1 };

const struct row rows[] = {
#ifndef CONTRACT_NETWORKS
    {&tp_none_ops, 1, 1, NULL, NULL, 0, 0, 0, 0},
    {&tp_self_ops, 1, 1, NULL, NULL, 0, MESSAGES, 0, 0},
    {&tp_shm_ops, 2, 7, NULL, NULL, 0, MESSAGES, 0, 0},
#endif
#ifdef CONTRACT_OFI
    {&tp_ofi_ops, 2, 4, "MPIR_CVAR_OFI_PROVIDER=tcp;ofi_rxm", NULL, 1,
     MESSAGES | ACCESS | ATOMICS | TP_PUT_NOTE, WIDTHS_1_8, 1},
#endif
#ifdef CONTRACT_OFI_MORE
    {&tp_ofi_ops, 2, 4, "MPIR_CVAR_OFI_PROVIDER=udp;ofi_rxd", NULL, 0, TP_AM_ORDERED, 0, 1},
    {&tp_ofi_ops, 2, 4, "MPIR_CVAR_OFI_PROVIDER=shm", NULL, 0,
     TP_AM_ORDERED | TP_AM_LEAVES | ACCESS | TP_PUT_NOTE, 0, 1},
#endif
#ifdef CONTRACT_UCX
    {&tp_ucx_ops, 2, 4, "MPIR_CVAR_RMA_NATIVE_PUT_MIN=1", "UCX_TLS=tcp,self", 0,
     MESSAGES | ACCESS | ATOMICS, WIDTHS_4_8, 0},
    {&tp_ucx_ops, 2, 4, "MPIR_CVAR_RMA_NATIVE_PUT_MIN=1", "UCX_TLS=shm", 0,
     MESSAGES | ACCESS | ATOMICS, WIDTHS_4_8, 0},
#endif
};
const int rows_count = sizeof rows / sizeof *rows;
enum { ROWS = sizeof rows / sizeof *rows };

/* --- the suite -------------------------------------------------------------------------------- */

EACH(offered, few)
EACH(entries, few)
EACH(crowd, many)
EACH(alone, few)
EACH(exhaust, few)
EACH(refused_sleeper, many)
EACH(hold_back, many)
EACH(done_once, few)
EACH(kept, few)
EACH(arm_race, few)
EACH(asleep_behind, few)
EACH(late_answer, few)
EACH(flood, many)

Suite *suite_contract(void)
{
    Suite *s = suite_create("tp/contract");
    TCase *t = tcase_create("contract");
    tcase_set_timeout(t, 90);
    tcase_add_loop_test(t, offered_, 0, ROWS);
    tcase_add_loop_test(t, entries_, 0, ROWS);
    tcase_add_loop_test(t, crowd_, 0, ROWS);
    tcase_add_loop_test(t, alone_, 0, ROWS);
    tcase_add_loop_test(t, exhaust_, 0, ROWS);
    tcase_add_loop_test(t, refused_sleeper_, 0, ROWS);
    tcase_add_loop_test(t, hold_back_, 0, ROWS);
    tcase_add_loop_test(t, done_once_, 0, ROWS);
    tcase_add_loop_test(t, kept_, 0, ROWS);
    tcase_add_loop_test(t, arm_race_, 0, ROWS);
    tcase_add_loop_test(t, asleep_behind_, 0, ROWS);
    tcase_add_loop_test(t, late_answer_, 0, ROWS);
    tcase_add_loop_test(t, flood_, 0, ROWS);
    suite_add_tcase(s, t);
    return s;
}
