/* test_ofi_load.c - which settings of libfabric tp/ofi makes, by its version, the cards of the host
 * and what the user has set. */
#include "config.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tp/ofi/ofi.h"

Suite *suite_ofi_load(void);

static const char *const names[] = {"FI_UNIVERSE_SIZE", "FI_OFI_RXM_MSG_RX_SIZE",
                                    "FI_OFI_RXM_EAGER_LIMIT", "FI_OFI_RXM_BUFFER_SIZE"};
enum { NAMES = sizeof names / sizeof *names };

static void unset_all(void)
{
    for (int i = 0; i < NAMES; i++)
        unsetenv(names[i]);
}

/* card: the class of devices that the host has besides "net", or NULL; name, value: of the user, or
 * NULL. */
static void make(unsigned major, unsigned minor, const char *card, const char *name,
                 const char *value)
{
    char folder[] = "/tmp/unit_ofi.XXXXXX", net[40], other[40];
    unset_all();
    if (name)
        setenv(name, value, 1);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(net, sizeof net, "%s/net", folder);
    snprintf(other, sizeof other, "%s/%s", folder, card ? card : "");
    ck_assert_int_eq(mkdir(net, 0700), 0);
    ck_assert_int_eq(card ? mkdir(other, 0700) : 0, 0);
    ofi_settings_make(FI_VERSION(major, minor), folder);
    ck_assert_int_eq(card ? rmdir(other) : 0, 0);
    ck_assert_int_eq(rmdir(net), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static int is(const char *name, const char *want)
{
    const char *got = getenv(name);
    return want ? got && !strcmp(got, want) : !got;
}

START_TEST(universe)
{
    static const struct {
        unsigned major, minor;
        const char *card, *name, *value, *want; /* FI_UNIVERSE_SIZE */
    } tried[] = {
        {1, 11, NULL, NULL, NULL, "16"},
        {1, 17, NULL, NULL, NULL, "16"},
        {1, 19, NULL, NULL, NULL, "16"},
        {1, 20, NULL, NULL, NULL, NULL},
        {2, 1, NULL, NULL, NULL, NULL},
        {1, 17, "infiniband", NULL, NULL, NULL},
        {1, 17, "cxi", NULL, NULL, NULL},
        {1, 17, NULL, "FI_UNIVERSE_SIZE", "5", "5"},
        {1, 17, "cxi", "FI_UNIVERSE_SIZE", "5", "5"},
        {2, 1, NULL, "FI_UNIVERSE_SIZE", "5", "5"},
        {1, 17, NULL, "FI_OFI_RXM_BUFFER_SIZE", "1000000", NULL},
        {1, 17, NULL, "FI_OFI_RXM_BUFFER_SIZE", "1000", "16"},
        {1, 17, NULL, "FI_OFI_RXM_MSG_RX_SIZE", "7", "16"},
    };
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        const char *name = tried[i].name;
        make(tried[i].major, tried[i].minor, tried[i].card, name, tried[i].value);
        ck_assert_msg(is("FI_UNIVERSE_SIZE", tried[i].want), "row %d: %s", (int)i,
                      getenv("FI_UNIVERSE_SIZE"));
        ck_assert(!name || is(name, tried[i].value));
        /* this one is made everywhere */
        ck_assert(is("FI_OFI_RXM_MSG_RX_SIZE",
                     name && !strcmp(name, "FI_OFI_RXM_MSG_RX_SIZE") ? "7" : "128"));
    }
    unset_all(); /* the next test's libfabric must not find the last row's */
}
END_TEST

Suite *suite_ofi_load(void)
{
    Suite *s = suite_create("tp/ofi/load");
    TCase *t = tcase_create("ofi_load");
    tcase_add_test(t, universe);
    suite_add_tcase(s, t);
    return s;
}
