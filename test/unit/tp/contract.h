/* contract.h - the transports that the contract is tested on (contract.c: life and messages;
 * onesided.c: the rest). */
#ifndef TP_CONTRACT_H
#define TP_CONTRACT_H

#include "doctor/doctor.h"
#include "tp/tp_types.h"

extern const struct row rows[];
extern const int rows_count;

/* The row `_i` of a loop test: its body in so many processes. */
#define EACH(test, processes)                                                        \
    START_TEST(test##_)                                                              \
    {                                                                                \
        ck_assert_int_eq(row_run(&rows[_i], rows[_i].processes, body_##test), 0);    \
    }                                                                                \
    END_TEST

#endif
