/* main.c - the unit tests of dt/, one suite for each file. */
#include "unit.h"

Suite *suite_node(void);
Suite *suite_type(void);
Suite *suite_walk(void);
Suite *suite_order(void);
Suite *suite_marks(void);
Suite *suite_copy(void);
Suite *suite_kernel(void);
Suite *suite_sig(void);
Suite *suite_flat(void);
Suite *suite_ext32(void);
Suite *suite_op(void);
Suite *suite_predef(void);
Suite *suite_f90(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_node,   suite_type,   suite_walk, suite_copy,
                                      suite_order,  suite_marks,
                                      suite_kernel, suite_sig,    suite_flat, suite_ext32,
                                      suite_op,     suite_predef, suite_f90};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
