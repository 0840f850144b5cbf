/* test_death.c - boot/death.c: dead ranks, other pages, where are you, signal of the program. */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/jobpage.h"
#include "base/proc.h"
#include "base/where.h"
#include "boot/boot_types.h"
#include "var/var.h"

Suite *suite_death(void);

/* A page as mpiexec makes it, in the environment. */
static struct job_page *page_for(int size, unsigned magic)
{
    char text[16];
    int fd = memfd_create("test", 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)job_page_bytes(size)), 0);
    struct job_page *p = mmap(NULL, job_page_bytes(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                              0);
    ck_assert_ptr_ne(p, MAP_FAILED);
    p->magic = magic;
    p->version = JOB_PAGE_VERSION;
    p->size = (uint32_t)size;
    snprintf(text, sizeof text, "%d", fd);
    setenv(JOB_PAGE_ENV, text, 1);
    return p;
}

static void start(void)
{
    char msg[200];
    unsetenv("PMI_FD");
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    ck_assert_int_eq(boot_init(NULL), 0);
}

START_TEST(dead_ranks)
{
    struct job_page *p = page_for(1, JOB_PAGE_MAGIC);
    start();
    ck_assert_int_eq(boot_failed_count(), 0);
    ck_assert_int_eq(boot_failed(0), 0);
    atomic_store(&p->dead[0], 1);
    atomic_store(&p->dead_count, 1);
    ck_assert_int_eq(boot_failed_count(), 1);
    ck_assert_int_eq(boot_failed(0), 1);
    ck_assert_str_eq(boot_failed_why(0), "the launcher reported it");
    atomic_store(&p->dead[0], JOB_NEVER_CAME);
    ck_assert_int_ne(boot_failed(0), 0);
    ck_assert_str_eq(boot_failed_why(0), "it ended before MPI_Init");
    ck_assert_int_eq(boot_failed(1), 0); /* not of this job */
    ck_assert_int_eq(boot_failed(-1), 0);
    boot_finalize();
    var_finalize();
}
END_TEST

/* A page that is not ours is left alone: of another job, of no job, not a page, not open. */
START_TEST(other_pages)
{
    static const char *const not_pages[] = {"", "x", "-1", "9999", "0x1", "2"};
    struct job_page *p = page_for(3, JOB_PAGE_MAGIC);
    strcpy(p->name, "job_of_others");
    atomic_store(&p->dead_count, 1);
    start();
    ck_assert_int_eq(boot_failed_count(), 0);
    boot_finalize();
    p = page_for(1, 12345);
    atomic_store(&p->dead_count, 1);
    start();
    ck_assert_int_eq(boot_failed_count(), 0);
    boot_finalize();
    p = page_for(1, JOB_PAGE_MAGIC);
    p->size = 1000000; /* more than the file holds */
    start();
    ck_assert_int_eq(boot_failed_count(), 0);
    boot_finalize();
    for (size_t i = 0; i < sizeof not_pages / sizeof *not_pages; i++) {
        setenv(JOB_PAGE_ENV, not_pages[i], 1);
        start();
        ck_assert_int_eq(boot_failed_count(), 0);
        boot_finalize();
    }
    var_finalize();
}
END_TEST

/* mpiexec reads what the process does from outside: no signal is taken for it. */
START_TEST(where_are_you)
{
    struct sigaction now;
    page_for(1, JOB_PAGE_MAGIC);
    start();
    sigaction(SIGUSR1, NULL, &now);
    ck_assert(now.sa_handler == SIG_DFL);
    proc->call = "MPI_Recv";
    proc->wait_what = "a message";
    proc->wait_peer = 1204;
    const struct where *w = (const struct where *)(uintptr_t)boot_where_at();
    ck_assert_str_eq(w->call, "MPI_Recv");
    ck_assert_str_eq(w->wait_what, "a message");
    ck_assert_int_eq(w->wait_peer, 1204);
    boot_finalize();
    var_finalize();
}
END_TEST

static void users(int sig)
{
}

START_TEST(signal_of_the_program)
{
    struct sigaction now;
    page_for(1, JOB_PAGE_MAGIC);
    signal(SIGUSR1, users); /* before us: never touched */
    start();
    sigaction(SIGUSR1, NULL, &now);
    ck_assert(now.sa_handler == users);
    boot_finalize();
    signal(SIGUSR1, SIG_DFL);
    start();
    signal(SIGUSR1, users); /* after us: kept at the end */
    boot_finalize();
    sigaction(SIGUSR1, NULL, &now);
    ck_assert(now.sa_handler == users);
    signal(SIGUSR1, SIG_DFL);
    unsetenv(JOB_PAGE_ENV); /* not under our mpiexec: not touched */
    start();
    sigaction(SIGUSR1, NULL, &now);
    ck_assert(now.sa_handler == SIG_DFL);
    boot_finalize();
    var_finalize();
}
END_TEST

Suite *suite_death(void)
{
    Suite *s = suite_create("boot/death");
    TCase *t = tcase_create("death");
    tcase_add_test(t, dead_ranks);
    tcase_add_test(t, other_pages);
    tcase_add_test(t, where_are_you);
    tcase_add_test(t, signal_of_the_program);
    suite_add_tcase(s, t);
    return s;
}
