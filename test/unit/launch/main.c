/* main.c - the unit tests of launch/, one suite for each file. */
#include "unit.h"

Suite *suite_args(void);
Suite *suite_ask(void);
Suite *suite_chain(void);
Suite *suite_dialect(void);
Suite *suite_elf(void);
Suite *suite_engine(void);
Suite *suite_env(void);
Suite *suite_streams(void);
Suite *suite_kvs(void);
Suite *suite_ldcache(void);
Suite *suite_needs(void);
Suite *suite_oom(void);
Suite *suite_binding(void);
Suite *suite_pmi_server(void);
Suite *suite_ports(void);
Suite *suite_wanted(void);

int main(void)
{
    Suite *(*const suites[])(void) = {
        suite_args, suite_ask, suite_chain,
        suite_dialect, suite_elf, suite_engine, suite_env, suite_streams,
        suite_kvs, suite_ldcache, suite_needs, suite_oom, suite_binding, suite_pmi_server,
        suite_ports, suite_wanted};
    return unit_run(suites, sizeof suites / sizeof *suites);
}
