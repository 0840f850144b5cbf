/* test_trust.c - MPIR_CVAR_TRUST: what a file of the doctor leaves of a network's promises. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tp/tp_types.h"
#include "var/var.h"

Suite *suite_trust(void);

static void named(struct tp *tp, char *text, size_t len)
{
    (void)tp;
    snprintf(text, len, "made up 7");
}

static const struct tp_ops net = {.name = "net", .variant = named};
enum { ALL = TP_PUT | TP_GET | TP_ATOMIC | TP_CPU_COHERENT | TP_AM_ORDERED };

/* The result for a file with these parts of "net"; flags of what is left. */
static int trusted(const char *network, const char *messages, const char *puts,
                   const char *atomics, unsigned *flags)
{
    char path[] = "/tmp/trust.XXXXXX", why[128];
    struct tp_caps caps = {.flags = ALL, .rma_max = 100, .put_min = 1, .atomic_sizes = 8};
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f,
            "{\n    {\"network\": \"shm\", \"variant\": \"\", \"messages\": \"fails\", \"puts\": "
            "\"fails\"},\n    {\"network\": \"%s\", \"variant\": \"made up 7\", \"open\": true, "
            "\"messages\": \"%s\", \"puts\": \"%s\", \"atomics\": \"%s\"}\n}\n",
            network, messages, puts, atomics);
    fclose(f);
    ck_assert_int_eq(var_init(why, sizeof why), 0);
    ck_assert_int_eq(cvar_set("MPIR_CVAR_TRUST", path, why, sizeof why), 0);
    int err = tp_trust(&net, NULL, &caps);
    *flags = caps.flags;
    if (!(caps.flags & TP_PUT))
        ck_assert(caps.rma_max == 0 && caps.put_min == SIZE_MAX);
    ck_assert(!(caps.flags & TP_ATOMIC) == !caps.atomic_sizes);
    unlink(path);
    if (caps.flags == ALL) { /* the file has gone */
        ck_assert_int_eq(tp_trust(&net, NULL, &caps), -ENOENT);
    }
    var_finalize();
    return err;
}

START_TEST(parts)
{
    unsigned flags;
    ck_assert_int_eq(trusted("net", "holds", "holds", "holds", &flags), 0);
    ck_assert_uint_eq(flags, ALL);
    ck_assert_int_eq(trusted("net", "holds", "holds", "fails", &flags), 0);
    ck_assert_uint_eq(flags, TP_PUT | TP_GET | TP_AM_ORDERED);
    ck_assert_int_eq(trusted("net", "holds", "fails", "holds", &flags), 0);
    ck_assert_uint_eq(flags, TP_AM_ORDERED);
    ck_assert_int_eq(trusted("net", "fails", "holds", "holds", &flags), -ENOTSUP);
    ck_assert_int_eq(trusted("net", "not looked at", "holds", "holds", &flags), -ENOTSUP);
    ck_assert_int_eq(trusted("net", "holds", "not looked at", "holds", &flags), 0);
    ck_assert_uint_eq(flags, TP_AM_ORDERED);
    ck_assert_int_eq(trusted("net", "holds", "holds", "not looked at", &flags), 0);
    ck_assert_uint_eq(flags, TP_PUT | TP_GET | TP_AM_ORDERED);
    ck_assert_int_eq(trusted("other", "holds", "holds", "holds", &flags), 0);
    ck_assert_uint_eq(flags, TP_AM_ORDERED);
}
END_TEST

START_TEST(unset)
{
    char why[128];
    struct tp_caps caps = {.flags = ALL};
    ck_assert_int_eq(var_init(why, sizeof why), 0);
    ck_assert_int_eq(tp_trust(&net, NULL, &caps), 0);
    ck_assert_uint_eq(caps.flags, ALL);
    var_finalize();
}
END_TEST

Suite *suite_trust(void)
{
    Suite *s = suite_create("tp/trust");
    TCase *t = tcase_create("trust");
    tcase_add_test(t, parts);
    tcase_add_test(t, unset);
    suite_add_tcase(s, t);
    return s;
}
