/* test_page.c - the holder of a word, by the process ids in the host's page. */
#include "job.h"
#include "unit.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem_types.h"

Suite *suite_page(void);

/* The second process is marked as one that has ended. */
static void holders(void)
{
    job_check(mem_init() == 0);
    job_check(boot_barrier() == 0);
    job_check(!mem_holder_died(1) && !mem_holder_died(2) && boot_failed_count() == 0);
    job_check(boot_barrier() == 0);
    if (boot_rank() == 1) {
        pid_t child = fork();
        if (!child)
            _exit(0);
        job_check(child > 0 && waitpid(child, NULL, 0) == child);
        atomic_store(&proc->mem->record[1].pid, child);
    }
    job_check(boot_barrier() == 0);
    if (boot_rank() == 0) {
        job_check(!mem_holder_died(1) && mem_holder_died(2));
        job_check(boot_failed(1) && !boot_failed(0) && boot_failed_count() == 1);
        job_check(strstr(boot_failed_why(1), "its process has ended") != NULL);
    }
    job_check(boot_barrier() == 0);
    mem_finalize();
}

START_TEST(dead_holders)
{
    ck_assert_int_eq(job_run(2, NULL, holders, 20), 0);
}
END_TEST

Suite *suite_page(void)
{
    Suite *s = suite_create("mem/page");
    TCase *t = tcase_create("page");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, dead_holders);
    suite_add_tcase(s, t);
    return s;
}
