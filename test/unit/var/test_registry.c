#include "unit.h"

#include <errno.h>
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

/* What must be the same on all processes, as rank 0 tells it to the others. */
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
    ck_assert_int_eq(cvar_common_check("MPIR_CVAR_NUM_CLIQUES=3\n", "rank 0", msg, sizeof msg), -EINVAL);
    ck_assert_str_eq(msg, "MPIR_CVAR_TRANSPORT is \"ofi\" here and \"auto\" on rank 0; it must be the same on all processes");
    ck_assert_int_eq(cvar_common_check("MPIR_CVAR_TRANSPORT=ofi\nMPIR_CVAR_NUM_CLIQUES=30\n", "rank 0", msg, sizeof msg), -EINVAL);
    ck_assert(strstr(msg, "\"3\" here and \"30\""));
    ck_assert_int_eq(cvar_common_check("nonsense without an end", "rank 0", msg, sizeof msg), -EINVAL);
    cvar_common(text, 5); /* no half lines */
    ck_assert_str_eq(text, "");
    var_finalize();
}
END_TEST

START_TEST(unknown_names)
{
    int i = 0;
    const char *name;
    setenv("MPIR_CVAR_NO_SUCH", "1", 1);
    setenv("MPIR_CVAR_NOLOCAL", "1", 1);
    while ((name = cvar_unknown(&i)) != NULL && strncmp(name, "MPIR_CVAR_NO_SUCH=", 18) != 0)
        ck_assert(strncmp(name, "MPIR_CVAR_NOLOCAL=", 18));
    ck_assert_ptr_nonnull(name);
    unsetenv("MPIR_CVAR_NO_SUCH");
    unsetenv("MPIR_CVAR_NOLOCAL");
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
    static const struct var_env list[] = {{"WR_TEST_A", "1"}, {"WR_TEST_B", "2"}, {"WR_TEST_C", "3"}};
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
    tcase_add_test(t, unknown_names);
    tcase_add_test(t, pvars_count);
    tcase_add_test(t, environment_of_others);
    suite_add_tcase(s, t);
    return s;
}
