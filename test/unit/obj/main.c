/* main.c - the unit tests of obj/, one suite for each file. */
#include "unit.h"

Suite *suite_async_poll(void);
Suite *suite_attr(void);
Suite *suite_comm(void);
Suite *suite_continue_(void);
Suite *suite_dims(void);
Suite *suite_err(void);
Suite *suite_errhandler(void);
Suite *suite_failed(void);
Suite *suite_group(void);
Suite *suite_info(void);
Suite *suite_obj(void);
Suite *suite_request(void);
Suite *suite_neighbors(void);
Suite *suite_upcall(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_obj,  suite_err,    suite_errhandler, suite_group,
                                      suite_comm, suite_attr,   suite_info,       suite_neighbors,
                                      suite_dims, suite_request, suite_failed,    suite_continue_,
                                      suite_async_poll, suite_upcall};
    return unit_run(suites, (int)(sizeof suites / sizeof *suites));
}
