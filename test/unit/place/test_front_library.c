/* test_front_library.c - place/front_library.c: sites and places with the call of a front. */
#include "unit.h"

#include "place/front_library.h"
#include "place/place.h"

Suite *suite_front_library(void);

static const char *const calls[] = {"upper_get", "upper_put"};
static const char *waits;
const struct place_front windrose_front = {PLACE_FRONT_VERSION, 2, calls, &waits};

static uint64_t tagged(unsigned call)
{
    return (uint64_t)call << SITE_OFFSET | (uint64_t)(uintptr_t)suite_front_library;
}

START_TEST(the_call_of_a_site)
{
    ck_assert_ptr_null(site_front_call(tagged(0)));
    ck_assert_str_eq(site_front_call(tagged(1)), "upper_get");
    ck_assert_str_eq(site_front_call(tagged(2)), "upper_put");
    ck_assert_ptr_null(site_front_call(tagged(3)));
    ck_assert(site_address(tagged(2)) == (uint64_t)(uintptr_t)suite_front_library);
}
END_TEST

/* With what is kept, and without. */
START_TEST(the_call_of_a_place)
{
    uint64_t plain = site_portable(tagged(0)), put = site_portable(tagged(2));
    ck_assert(plain != 0 && put != 0 && plain != put);
    ck_assert_ptr_null(portable_front_call(plain));
    ck_assert_str_eq(portable_front_call(put), "upper_put");
    ck_assert_int_eq(place_open(), 0);
    ck_assert(site_portable(tagged(2)) == put && site_portable(tagged(0)) == plain);
    place_close();
}
END_TEST

/* Here the front and the program are one file, so no frame lies above it: an address elsewhere
 * stays what it is. */
START_TEST(an_address_elsewhere)
{
    const char *call = "MPI_Put";
    uint64_t at = (uint64_t)(uintptr_t)&call; /* on the stack */
    ck_assert(site_of_program(at) == at);
    ck_assert_ptr_eq(site_program_call((const void *)(uintptr_t)at, &call), (void *)(uintptr_t)at);
    ck_assert_str_eq(call, "MPI_Put");
    const char *const volatile *found = site_front_waits();
    ck_assert(found == &waits);
    ck_assert(site_front_has("upper_put") && !site_front_has("upper") && !site_front_has(""));
}
END_TEST

Suite *suite_front_library(void)
{
    Suite *s = suite_create("front_library");
    TCase *t = tcase_create("front_library");
    tcase_add_test(t, the_call_of_a_site);
    tcase_add_test(t, the_call_of_a_place);
    tcase_add_test(t, an_address_elsewhere);
    suite_add_tcase(s, t);
    return s;
}
