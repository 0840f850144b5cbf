#include "job.h"
#include "unit.h"

#include <poll.h>
#include <stdatomic.h>

#include "mem/mem.h"

Suite *suite_wake(void);

enum { ROUNDS = 20000 };

/* Sleep until word w reaches v: arm, look again, poll. */
static void await(_Atomic uint64_t *w, uint64_t v)
{
    while (atomic_load_explicit(w, memory_order_acquire) < v) {
        mem_wake_arm();
        if (atomic_load_explicit(w, memory_order_acquire) < v) {
            struct pollfd p = {.fd = mem_wake_fd(), .events = POLLIN};
            job_check(poll(&p, 1, 20000) == 1); /* a lost wake-up shows as a time-out */
        }
        mem_wake_disarm();
    }
}

/* Each waits for its predecessor's count, without spinning: a single lost wake-up stops all. */
static void chain(void)
{
    job_check(mem_init() == 0);
    job_check(boot_barrier() == 0);
    int rank = boot_rank(), size = boot_size(), next = (rank + 1) % size;
    _Atomic uint64_t *words = (_Atomic uint64_t *)job_words();
    for (uint64_t i = 1; i <= ROUNDS / (uint64_t)size; i++) {
        if (rank != 0)
            await(&words[8 * rank], i);
        atomic_store_explicit(&words[8 * next], i, memory_order_release);
        mem_wake(boot_host_index(next));
        if (rank == 0)
            await(&words[0], i);
    }
    job_check(boot_barrier() == 0);
    mem_finalize();
}

START_TEST(nothing_lost)
{
    ck_assert_int_eq(job_run(2, NULL, chain, 40), 0);
    ck_assert_int_eq(job_run(5, NULL, chain, 40), 0);
}
END_TEST

/* Several wakers at once on a sleeper that sleeps again and again. */
static void many_to_one(void)
{
    job_check(mem_init() == 0);
    job_check(boot_barrier() == 0);
    int rank = boot_rank(), size = boot_size();
    _Atomic uint64_t *sum = (_Atomic uint64_t *)job_words();
    _Atomic uint64_t *taken = sum + 8;
    if (rank == 0) {
        for (uint64_t i = 1; i <= (uint64_t)(size - 1) * 3000; i++) {
            await(sum, i);
            atomic_store_explicit(taken, i, memory_order_release);
        }
    } else {
        for (int i = 0; i < 3000; i++) {
            atomic_fetch_add_explicit(sum, 1, memory_order_release);
            mem_wake(0);
        }
    }
    job_check(boot_barrier() == 0);
    mem_finalize();
}

START_TEST(many_wakers)
{
    ck_assert_int_eq(job_run(4, NULL, many_to_one, 40), 0);
}
END_TEST

static void quiet(void)
{
    job_check(mem_init() == 0);
    job_check(boot_barrier() == 0);
    struct pollfd p = {.fd = mem_wake_fd(), .events = POLLIN};
    mem_wake(0); /* not armed: nothing is written */
    job_check(poll(&p, 1, 0) == 0);
    mem_wake_arm();
    mem_wake_arm();
    mem_wake(0);
    mem_wake(0); /* the first took the mark */
    job_check(poll(&p, 1, 0) == 1);
    mem_wake_disarm();
    job_check(poll(&p, 1, 0) == 0);
    mem_wake_disarm();
    mem_wake_self();
    job_check(poll(&p, 1, 0) == 1);
    for (int i = 0; i < 100000; i++) /* a full queue does not block */
        mem_wake_self();
    mem_wake_arm();
    mem_wake_disarm();
    job_check(poll(&p, 1, 0) == 0);
    job_check(mem_pid(0) == getpid());
    mem_finalize();
}

START_TEST(alone)
{
    ck_assert_int_eq(job_run(1, NULL, quiet, 20), 0);
}
END_TEST

Suite *suite_wake(void)
{
    Suite *s = suite_create("mem/wake");
    TCase *t = tcase_create("wake");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, alone);
    tcase_add_test(t, nothing_lost);
    tcase_add_test(t, many_wakers);
    suite_add_tcase(s, t);
    return s;
}
