/* unit.h - the frame of a unit test program: one suite per source file of the room. */
#ifndef UNIT_H
#define UNIT_H

/* The signatures are given from outside; not every function needs all of its own. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <check.h>
#include <stdlib.h>

/* Run suites made by functions suite_<file>(); exit status for main(). */
static inline int unit_run(Suite *(*const *suites)(void), int n)
{
    /* Against hanging only: Check's 4 s are not enough on a machine with other work, or under an
     * emulator. */
    setenv("CK_DEFAULT_TIMEOUT", "60", 0);
    SRunner *r = srunner_create(suites[0]());
    for (int i = 1; i < n; i++)
        srunner_add_suite(r, suites[i]());
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
