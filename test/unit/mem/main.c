/* main.c - the unit tests of mem/, one suite for each file. */
#include "unit.h"

Suite *suite_arena(void);
Suite *suite_segment(void);
Suite *suite_limit(void);
Suite *suite_wake(void);
Suite *suite_cma(void);
Suite *suite_move(void);
Suite *suite_page(void);
Suite *suite_door(void);
Suite *suite_space(void);
Suite *suite_coherent(void);
Suite *suite_capacity(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_segment, suite_limit, suite_wake,
                                      suite_cma,     suite_move,  suite_page, suite_arena,
                                      suite_space,   suite_coherent, suite_capacity,
                                      suite_door};
    return unit_run(suites, 11);
}
