/* test_apart.c - progress/apart.c: of two processes that yield one core to each other one moves.
 * It may then run where it might before.  sched_yield and sched_setaffinity are stand-ins here: a
 * yield takes the time that a test wants, and a user's change of the mask comes in between. */
#include "job.h"
#include "unit.h"
#include "up.h"

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "base/topo.h"
#include "mem/mem_types.h"
#include "progress/progress.h"
#include "progress/progress_types.h"
#include "var/var.h"

Suite *suite_apart(void);

static uint64_t yield_ns;           /* others run for so long in a yield; 0: the kernel decides */
static const cpu_set_t *users_mask; /* what the user makes of a mask as soon as it has changed */

int sched_yield(void)
{
    if (!yield_ns)
        return (int)syscall(SYS_sched_yield);
    for (uint64_t end = time_now() + yield_ns; time_now() < end;)
        ;
    return 0;
}

int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set)
{
    int err = (int)syscall(SYS_sched_setaffinity, pid, bytes, set);
    const cpu_set_t *again = users_mask;
    users_mask = NULL;
    return again && !err ? sched_setaffinity(pid, sizeof *again, again) : err;
}

enum { FROM = 64, TRIES = 50 };

/* The first two cores of this process, and a mask of both. */
static struct {
    int a, b;
    cpu_set_t both;
} cores;

static int cores_found(void)
{
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) != 0 || CPU_COUNT(&mask) < 2)
        return 0;
    for (cores.a = 0; !CPU_ISSET(cores.a, &mask);)
        cores.a++;
    for (cores.b = cores.a + 1; !CPU_ISSET(cores.b, &mask);)
        cores.b++;
    CPU_ZERO(&cores.both);
    CPU_SET(cores.a, &cores.both);
    CPU_SET(cores.b, &cores.both);
    return 1;
}

static cpu_set_t only(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return set;
}

static int mask_is(cpu_set_t want)
{
    cpu_set_t now;
    return sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &want);
}

/* Begin on core a, where this process may run on both. */
static void on_a(void)
{
    cpu_set_t one = only(cores.a);
    proc->progress->next_spread = 0;
    job_check(sched_setaffinity(0, sizeof one, &one) == 0);
    job_check(sched_setaffinity(0, sizeof cores.both, &cores.both) == 0);
}

static void yields(int n)
{
    for (int i = 0; i < n; i++)
        progress_yielded(proc->progress, PROGRESS_YIELD_EMPTY);
}

/* 1: after so many yields on core a it has moved.  The kernel may have moved it before the last of
 * them, so there are several tries. */
static int moves(int n)
{
    struct progress *p = proc->progress;
    unsigned before = p->moves;
    for (int i = 0; i < TRIES && p->moves == before; i++) {
        on_a();
        p->shared = 0;
        yields(n);
    }
    return p->moves != before;
}

static void begin(void)
{
    job_check(cores_found());
    job_check(mem_init() == 0);
    job_check(progress_init() == 0);
    job_check(boot_barrier() == 0);
}

static void end(void)
{
    job_check(boot_barrier() == 0);
    progress_finalize();
    mem_finalize();
}

/* Where rank 1 sees the others: 0 and 2. */
static void seen(int lower, int upper)
{
    atomic_store(&proc->mem->record[0].core, lower + 1);
    atomic_store(&proc->mem->record[2].core, upper + 1);
}

static void one_moves(void)
{
    begin();
    if (boot_rank() != 1) {
        end();
        return;
    }
    struct progress *p = proc->progress;
    cpu_set_t one = only(cores.a);
    /* Rank 0 is on core a, too: but for the last of the yields nothing happens. */
    seen(cores.a, -1);
    job_check(!moves(FROM - 1));
    int there = 0;
    p->moved = time_now(); /* the clock may have begun just now */
    for (int i = 0; i < TRIES && !there; i++) { /* the kernel may move it back at once */
        job_check(moves(FROM));
        there = sched_getcpu() == cores.b;
        job_check(mask_is(cores.both));
        job_check(mem_core_of(1) == cores.b);
        job_check(p->next_spread >= p->moved + 1000000);
    }
    job_check(there);
    /* The other core is taken; no process is here; that one sleeps, or is not known. */
    seen(cores.a, cores.b);
    job_check(!moves(FROM));
    seen(cores.b, -1);
    job_check(!moves(FROM));
    seen(-1, -1);
    job_check(!moves(FROM));
    seen(cores.a, -1);
    atomic_fetch_add(&proc->mem->record[0].sleeping, 1);
    job_check(!moves(FROM));
    atomic_fetch_add(&proc->mem->record[0].sleeping, 1);
    /* One above it is to move.  It may be bound, so this one goes at last. */
    seen(-1, cores.a);
    unsigned before = p->moves;
    for (p->left = 0; p->left < 3;) {
        on_a();
        yields(FROM);
        job_check(p->moves == before);
    }
    job_check(moves(FROM));
    /* The user's binding holds: before, and when it comes between the two changes. */
    seen(cores.a, -1);
    before = p->moves;
    p->next_spread = 0;
    job_check(sched_setaffinity(0, sizeof one, &one) == 0);
    yields(FROM);
    job_check(p->moves == before && mask_is(one));
    cpu_set_t wish = only(cores.a);
    for (int i = 0; i < TRIES && p->moves == before; i++) {
        on_a();
        users_mask = &wish;
        yields(FROM);
    }
    job_check(p->moves == before + 1 && mask_is(wish));
    /* Not again before the pause is over; not where it is turned off. */
    on_a();
    before = p->moves;
    p->next_spread = UINT64_MAX;
    yields(FROM);
    job_check(p->moves == before);
    atomic_store(&p->server, thread_self()); /* the progress thread stays */
    job_check(!moves(FROM));
    atomic_store(&p->server, NULL);
    job_check(moves(FROM));
    cvar.progress_spread = 0;
    job_check(!moves(FROM));
    end();
}

START_TEST(one_of_two_moves)
{
    if (cores_found())
        ck_assert_int_eq(job_run(3, NULL, one_moves, 60), 0);
}
END_TEST

static void other_fails(void)
{
    begin();
    if (boot_rank() == 1) {
        seen(cores.a, cores.b);
        job_check(!moves(FROM));
        boot_fail_now(2, "a test");
        job_check(moves(FROM));
        job_word_set(0, 1);
    }
    while (!job_word(0)) /* a barrier of all is no more */
        usleep(1000);
    progress_finalize();
    mem_finalize();
}

/* The core of a process that has failed is free. */
START_TEST(what_has_failed_is_nowhere)
{
    if (cores_found())
        ck_assert_int_eq(job_run(3, NULL, other_fails, 60), 0);
}
END_TEST

/* The core of a process is that of the program's threads. */
static void seen_by_program(void)
{
    int own = mem_host_index();
    mem_core_set(-1);
    atomic_store(&proc->progress->server, thread_self());
    progress_is_here();
    job_check(mem_core_of(own) == -1);
    atomic_store(&proc->progress->server, NULL);
    progress_is_here();
    job_check(mem_core_of(own) >= 0);
}

/* A process that has ended is seen on no core. */
static void leaves(void)
{
    job_check(mem_init() == 0);
    job_check(progress_init() == 0);
    seen_by_program();
    job_check(boot_barrier() == 0);
    job_check(mem_core_of(1 - boot_rank()) >= 0);
    job_check(boot_barrier() == 0);
    if (boot_rank() == 0) {
        progress_finalize();
        mem_finalize();
        job_check(boot_barrier() == 0);
        return;
    }
    job_check(boot_barrier() == 0);
    job_check(mem_core_of(0) == -1);
    progress_finalize();
    mem_finalize();
}

START_TEST(what_has_left_is_nowhere)
{
    ck_assert_int_eq(job_run(2, NULL, leaves, 30), 0);
}
END_TEST

static int yielded; /* yields to come */

static int yielded_enough(void *arg)
{
    return --yielded < 0;
}

/* The count after waits with so many yields of that length. */
static int shared_after(uint64_t ns, int n)
{
    struct progress *p = proc->progress;
    p->spin = p->spin_max = p->skips_left = p->skip = 0;
    yield_ns = ns;
    yielded = n;
    progress_wait(yielded_enough, NULL, "yields", -1);
    yield_ns = 0;
    return p->shared;
}

/* Yields that others use for a short time count, and no others. */
START_TEST(short_shared_yields_count)
{
    progress_up();
    struct progress *p = proc->progress;
    p->slice = UINT64_MAX;
    ck_assert_int_ge(shared_after(5000, 10), 8);
    int before = p->shared;
    ck_assert_int_gt(shared_after(5000, 10), before); /* over several waits */
    p->shared = 5;
    progress_yielded(p, PROGRESS_YIELD_EMPTY - 1); /* empty */
    ck_assert_int_eq(p->shared, 0);
    p->slice = 2000; /* whole slices */
    ck_assert_int_eq(shared_after(5000, 10), 0);
    p->slice = UINT64_MAX;
    p->shared = 0;
    p->crowded = 1;
    yield_ns = 5000;
    for (int i = 0; i < 100; i++)
        progress_test();
    yield_ns = 0;
    ck_assert_int_ge(p->shared, 8);
    progress_down();
}
END_TEST

Suite *suite_apart(void)
{
    Suite *s = suite_create("progress/apart");
    TCase *t = tcase_create("apart");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, short_shared_yields_count);
    tcase_add_test(t, what_has_left_is_nowhere);
    suite_add_tcase(s, t);
    /* an emulator of processors moves its threads by itself */
    TCase *k = tcase_create("kernel");
    tcase_set_timeout(k, 120);
    tcase_set_tags(k, "kernel");
    tcase_add_test(k, one_of_two_moves);
    tcase_add_test(k, what_has_failed_is_nowhere);
    suite_add_tcase(s, k);
    return s;
}
