/* test_registry.c - var/registry.c: defaults are in range, environment and prefixes, bad values
 * name everything, common values, names remarked, earlier names, each common one is compared,
 * pvars count, environment of others. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "var/var.h"

Suite *suite_registry(void);

static char msg[400];

static int init_with(const char *name, const char *value)
{
    setenv(name, value, 1);
    msg[0] = 0;
    int err = var_init(msg, sizeof msg);
    unsetenv(name);
    return err;
}

START_TEST(defaults_are_in_range)
{
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    for (int i = 0; i < cvar_count; i++) {
        const struct cvar_info *c = &cvar_table[i];
        ck_assert_int_eq(cvar_find(c->name), i);
        ck_assert_msg(!strncmp(c->name, "MPIR_CVAR_", 10), "%s", c->name);
        ck_assert_uint_gt(strlen(c->text), 10);
        if (c->kind == CVAR_INT)
            ck_assert_msg(c->min <= c->def && c->def <= c->max, "%s", c->name);
    }
    ck_assert_int_eq(cvar.shm_cells, 64);
    ck_assert_str_eq(cvar.transport, "auto");
    var_finalize();
}
END_TEST

START_TEST(environment_and_prefixes)
{
    ck_assert_int_eq(init_with("MPIR_CVAR_SHM_CELL_BYTES", "16K"), 0);
    ck_assert_int_eq(cvar.shm_cell_bytes, 16384);
    ck_assert_int_eq(init_with("MPICH_NOLOCAL", "yes"), 0);
    ck_assert_int_eq(cvar.nolocal, 1);
    ck_assert_int_eq(init_with("MPIR_PARAM_NOLOCAL", "on"), 0);
    ck_assert_int_eq(cvar.nolocal, 1);
    setenv("MPICH_NOLOCAL", "1", 1);
    ck_assert_int_eq(init_with("MPIR_CVAR_NOLOCAL", "0"), 0);
    unsetenv("MPICH_NOLOCAL");
    ck_assert_int_eq(cvar.nolocal, 0);
    ck_assert_int_eq(init_with("MPIR_CVAR_TRANSPORT", "ofi"), 0);
    ck_assert_str_eq(cvar.transport, "ofi");
    var_finalize();
    ck_assert_str_eq(cvar.transport, "auto");
}
END_TEST

START_TEST(bad_values_name_everything)
{
    ck_assert_int_eq(init_with("MPIR_CVAR_SHM_CELLS", "1"), -EINVAL);
    ck_assert(strstr(msg, "MPIR_CVAR_SHM_CELLS") && strstr(msg, "4 to 65536"));
    ck_assert_int_eq(init_with("MPIR_CVAR_SHM_CELLS", "12 apples"), -EINVAL);
    ck_assert(strstr(msg, "12 apples"));
    ck_assert_int_eq(init_with("MPICH_SHM_CELLS", "99999999999999999999"), -EINVAL);
    ck_assert(strstr(msg, "MPICH_SHM_CELLS"));
    ck_assert_int_eq(init_with("MPIR_CVAR_SHM_CELLS", "9223372036854775807K"), -EINVAL);
    ck_assert_int_eq(init_with("MPIR_CVAR_SHM_CELLS", ""), -EINVAL);
    ck_assert_int_eq(init_with("MPIR_CVAR_NOLOCAL", "perhaps"), -EINVAL);
    ck_assert_int_eq(cvar_set("MPIR_CVAR_NO_SUCH", "1", msg, sizeof msg), -ENOENT);
    var_finalize();
}
END_TEST

/* What must be the same on all processes, as rank 0 sends it to the others. */
START_TEST(common_values)
{
    char text[4096];
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    cvar_common(text, sizeof text);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(cvar_set("MPIR_CVAR_TRANSPORT", "ofi", msg, sizeof msg), 0);
    ck_assert_int_eq(cvar_set("MPIR_CVAR_NUM_CLIQUES", "3", msg, sizeof msg), 0);
    ck_assert_int_eq(cvar_set("MPIR_CVAR_PROGRESS_SPIN", "3", msg, sizeof msg), 0); /* may differ */
    cvar_common(text, sizeof text);
    ck_assert_str_eq(text, "MPIR_CVAR_NUM_CLIQUES=3\nMPIR_CVAR_TRANSPORT=ofi\n");
    ck_assert_int_eq(cvar_common_check(text, "rank 0", msg, sizeof msg), 0);
    ck_assert_int_eq(cvar_common_check("MPIR_CVAR_NUM_CLIQUES=3\n", "rank 0", msg, sizeof msg),
                     -EINVAL);
    ck_assert_str_eq(msg, "MPIR_CVAR_TRANSPORT is \"ofi\" here and \"auto\" on rank 0; it must be "
                          "the same on all processes");
    ck_assert_int_eq(cvar_common_check("MPIR_CVAR_TRANSPORT=ofi\nMPIR_CVAR_NUM_CLIQUES=30\n",
                                       "rank 0", msg, sizeof msg),
                     -EINVAL);
    ck_assert(strstr(msg, "\"3\" here and \"30\""));
    ck_assert_int_eq(cvar_common_check("malformed without an end", "rank 0", msg, sizeof msg),
                     -EINVAL);
    cvar_common(text, 5); /* no half lines */
    ck_assert_str_eq(text, "");
    var_finalize();
}
END_TEST

/* The line about a name that is set, or "". */
static const char *remark_on(const char *name, int all)
{
    static char line[640];
    int i = 0, found = 0;
    setenv(name, "1", 1);
    while (!found && cvar_remark(&i, all, line, sizeof line))
        found = !strncmp(line, name, strlen(name)) && line[strlen(name)] == ' ';
    unsetenv(name);
    return found ? line : "";
}

START_TEST(names_remarked)
{
    static const struct {
        const char *name, *why, *under_summary; /* beginning with the name itself */
    } rows[] = {
        {"MPIR_CVAR_NOLOCAL", "", ""},
        {"MPIR_CVAR_NOLOCALL",
         "is set, but there is no such control variable; the nearest name is MPIR_CVAR_NOLOCAL",
         NULL},
        {"MPIR_CVAR_NOLOACL",
         "is set, but there is no such control variable; the nearest name is MPIR_CVAR_NOLOCAL",
         NULL},
        {"MPIR_CVAR_CH3_RMA_SLOT_SIZE",
         "is set, but there is no such control variable; the nearest name is "
         "MPIR_CVAR_CH3_RMA_SLOTS_SIZE",
         NULL},
        {"MPIR_CVAR_CH4_NUM_VCI",
         "is set, but there is no such control variable; the nearest name is "
         "MPIR_CVAR_CH4_NUM_VCIS (MPICH's, no effect here)",
         NULL},
        {"MPIR_CVAR_qqqqqqqqqq",
         "is set, but there is no such control variable (mpiexec --cvars lists them)", NULL},
        {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "", "is MPICH's, no effect here"},
        {"MPIR_CVAR_CH3_RMA_POKE_PROGRESS_REQ_THRESHOLD", "", "is MPICH's, no effect here"},
        {"MPIR_CVAR_CH3_RMA_KEYS_SIZE",
         "is the earlier name of MPIR_CVAR_RMA_KEYS_SIZE, which is to be used instead", NULL},
    };
    char want[640];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int all = 0; all < 2; all++) {
            const char *why = all && rows[i].under_summary ? rows[i].under_summary : rows[i].why;
            snprintf(want, sizeof want, "%s%s%s", *why ? rows[i].name : "", *why ? " " : "", why);
            ck_assert_str_eq(remark_on(rows[i].name, all), want);
        }
}
END_TEST

/* Earlier names, under each prefix, set the variable; its present name overrides them. */
START_TEST(earlier_names)
{
    int i = 0;
    ck_assert_int_eq(init_with("MPIR_CVAR_CH3_RMA_KEYS_SIZE", "7"), 0);
    ck_assert_int_eq(cvar.rma_keys, 7);
    ck_assert_int_eq(init_with("MPICH_CH3_RMA_KEYS_SIZE", "8"), 0);
    ck_assert_int_eq(cvar.rma_keys, 8);
    ck_assert_int_eq(init_with("MPIR_CVAR_CH3_RMA_KEYS_SIZE", "0"), -EINVAL);
    ck_assert(strstr(msg, "MPIR_CVAR_CH3_RMA_KEYS_SIZE"));
    setenv("MPIR_CVAR_RMA_KEYS_SIZE", "9", 1);
    ck_assert_int_eq(init_with("MPIR_CVAR_CH3_RMA_KEYS_SIZE", "7"), 0);
    unsetenv("MPIR_CVAR_RMA_KEYS_SIZE");
    ck_assert_int_eq(cvar.rma_keys, 9);
    ck_assert_int_eq(cvar_find("MPIR_CVAR_CH3_RMA_KEYS_SIZE"),
                     cvar_find("MPIR_CVAR_RMA_KEYS_SIZE"));
    const struct cvar_info *c = &cvar_table[cvar_find("MPIR_CVAR_RMA_KEYS_SIZE")];
    ck_assert_str_eq(cvar_alias(c, &i), "MPIR_CVAR_CH3_RMA_KEYS_SIZE");
    ck_assert_ptr_null(cvar_alias(c, &i));
    var_finalize();
}
END_TEST

/* A value of every variable that is neither its default nor what it is now; the text that rank 0
 * publishes holds all. */
START_TEST(each_common_one_is_compared)
{
    char text[4096], value[32], want[200];
    for (int i = 0; i < cvar_count; i++) {
        const struct cvar_info *c = &cvar_table[i];
        ck_assert_int_eq(var_init(msg, sizeof msg), 0);
        snprintf(value, sizeof value, "%lld",
                 (long long)(c->kind == CVAR_STR ? 1
                             : c->def == c->min  ? c->max
                                                 : c->min));
        ck_assert_int_eq(cvar_set(c->name, value, msg, sizeof msg), 0);
        cvar_common(text, sizeof text);
        snprintf(want, sizeof want, "%s is ", c->name);
        ck_assert_int_eq(cvar_common_check("", "rank 0", msg, sizeof msg),
                         c->scope == CVAR_GLOBAL_EQ ? -EINVAL : 0);
        if (c->scope == CVAR_GLOBAL_EQ)
            ck_assert_msg(!strncmp(msg, want, strlen(want)) && strstr(msg, value), "%s", msg);
        var_finalize();
    }
}
END_TEST

START_TEST(pvars_count)
{
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    for (int i = 0; i < PVAR_COUNT; i++)
        ck_assert_int_eq(pvar_find(pvar_table[i].name), i);
    pvar_set_add(pvar_proc(), PVAR_AM_SENT, 3);
    pvar_set_add(pvar_proc(), PVAR_AM_SENT, 4);
    ck_assert_uint_eq(pvar_proc()->v[PVAR_AM_SENT], 7);
    var_finalize();
}
END_TEST

/* Another library's variables: what the user set stands, the rest is there for a while only. */
START_TEST(environment_of_others)
{
    static const struct var_env list[] = {
        {"WR_TEST_A", "1"}, {"WR_TEST_B", "2"}, {"WR_TEST_C", "3"}};
    setenv("WR_TEST_B", "mine", 1);
    unsigned set = var_env_on(list, 3);
    ck_assert_uint_eq(set, 5);
    ck_assert_str_eq(getenv("WR_TEST_A"), "1");
    ck_assert_str_eq(getenv("WR_TEST_B"), "mine");
    ck_assert_str_eq(getenv("WR_TEST_C"), "3");
    ck_assert_str_eq(var_env_get("WR_TEST_C"), "3");
    var_env_off(list, 3, set);
    ck_assert_ptr_null(getenv("WR_TEST_A"));
    ck_assert_str_eq(getenv("WR_TEST_B"), "mine");
    ck_assert_ptr_null(getenv("WR_TEST_C"));
    ck_assert_ptr_null(var_env_get("WR_TEST_C"));
    unsetenv("WR_TEST_B");
}
END_TEST

Suite *suite_registry(void)
{
    Suite *s = suite_create("var/registry");
    TCase *t = tcase_create("registry");
    tcase_add_test(t, defaults_are_in_range);
    tcase_add_test(t, environment_and_prefixes);
    tcase_add_test(t, bad_values_name_everything);
    tcase_add_test(t, common_values);
    tcase_add_test(t, names_remarked);
    tcase_add_test(t, earlier_names);
    tcase_add_test(t, each_common_one_is_compared);
    tcase_add_test(t, pvars_count);
    tcase_add_test(t, environment_of_others);
    suite_add_tcase(s, t);
    return s;
}
