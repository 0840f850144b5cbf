/* main.c - the unit tests of launch/, one suite for each file. */
#include "unit.h"

Suite *suite_args(void);
Suite *suite_ask(void);
Suite *suite_chain(void);
Suite *suite_dialect(void);
Suite *suite_engine(void);
Suite *suite_env(void);
Suite *suite_merged(void);
Suite *suite_libraries(void);
Suite *suite_streams(void);
Suite *suite_kvs(void);
Suite *suite_oom(void);
Suite *suite_program(void);
Suite *suite_binding(void);
Suite *suite_pmi_server(void);
Suite *suite_ports(void);
Suite *suite_spawn_request(void);
Suite *suite_stack_place(void);

int main(void)
{
    Suite *(*const suites[])(void) = {
        suite_args, suite_ask, suite_chain,
        suite_dialect, suite_libraries, suite_engine, suite_env, suite_merged, suite_streams,
        suite_kvs, suite_oom, suite_program, suite_binding, suite_pmi_server,
        suite_ports, suite_spawn_request, suite_stack_place};
    return unit_run(suites, sizeof suites / sizeof *suites);
}
