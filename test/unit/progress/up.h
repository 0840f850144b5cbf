/* up.h - the room of progress and those below it, in one process. */
#ifndef WR_TEST_UNIT_PROGRESS_UP_H
#define WR_TEST_UNIT_PROGRESS_UP_H

#include "unit.h"

#include "base/lock.h"
#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "progress/progress.h"
#include "var/var.h"

static inline void progress_up(void)
{
    char msg[200];
    ck_assert_int_eq(var_init(msg, sizeof msg), 0);
    ck_assert_int_eq(boot_init(NULL), 0);
    lock_init(&proc->lock);
    ck_assert_int_eq(mem_init(), 0);
    ck_assert_int_eq(progress_init(), 0);
}

static inline void progress_down(void)
{
    progress_finalize();
    mem_finalize();
    boot_finalize();
    var_finalize();
}

#endif
