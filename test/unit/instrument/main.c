/* main.c - the unit tests of src/instrument: a program that is linked as `mpicc -race` links. */
#include "unit.h"

Suite *suite_access(void);
Suite *suite_alloc(void);
Suite *suite_atomic(void);
Suite *suite_atomic16(void);
Suite *suite_mutex(void);
Suite *suite_stream(void);
Suite *suite_string(void);
Suite *suite_thread(void);

int main(void)
{
    Suite *(*const suites[])(void) = {suite_access, suite_alloc,  suite_atomic, suite_atomic16,
                                       suite_mutex,  suite_stream, suite_string, suite_thread};
    return unit_run(suites, sizeof suites / sizeof suites[0]);
}
