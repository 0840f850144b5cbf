/* test_async.c - progress/async.c: serves while we compute. */
#include "unit.h"
#include "up.h"

#include <unistd.h>

#include "base/proc.h"
#include "base/sched.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "progress/progress.h"
#include "var/var.h"

Suite *suite_async(void);

static int tick(void *arg)
{
    ++*(int *)arg;
    return 0;
}

/* While this thread computes, hooks go on being run; the end is prompt. */
START_TEST(serves_while_we_compute)
{
    int ticks = 0;
    struct progress_hook h = {.fn = tick, .arg = &ticks};
    progress_up();
    proc->threaded = 1;
    progress_hook_add(&h);
    ck_assert_int_eq(progress_async_start(), 0);
    for (int now = 0; now < 5;) { /* ends only if the thread runs */
        usleep(1000);
        lock_acquire(&proc->lock);
        now = ticks;
        lock_release(&proc->lock);
    }
    lock_acquire(&proc->lock);
    progress_hook_del(&h);
    progress_async_stop();
    lock_release(&proc->lock);
    progress_down();
    proc->threaded = 0;
}
END_TEST

Suite *suite_async(void)
{
    Suite *s = suite_create("progress/async");
    TCase *t = tcase_create("async");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, serves_while_we_compute);
    suite_add_tcase(s, t);
    return s;
}
