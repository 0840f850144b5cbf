/* live.h - the rooms up to coll/ in a process of a test job (see job.h). */
#ifndef LIVE_H
#define LIVE_H

#include <mpi.h>
#include <string.h>

#include "am/am.h"
#include "base/proc.h"
#include "coll/coll_types.h"
#include "dt/dt.h"
#include "job.h"
#include "mem/mem.h"
#include "p2p/p2p.h"
#include "progress/progress.h"

static inline void live_start(void)
{
    job_check(mem_init() == 0 && progress_init() == 0 && am_init() == 0);
    job_check(obj_init() == 0 && dt_init() == 0 && p2p_init() == 0 && coll_init() == 0);
}

static inline void live_stop(void)
{
    p2p_drain_wait();
    job_check(coll_barrier(proc->obj->world) == 0);
    coll_finalize();
    p2p_finalize();
    dt_finalize();
    obj_finalize();
    job_check(boot_barrier() == 0);
    am_finalize();
    progress_finalize();
    mem_finalize();
}

/* Instead of live_stop(), where a process has failed for others: all do not meet again. */
static inline void live_leave(void)
{
    job_check(boot_barrier() == 0);
    _exit(0);
}

/* The process of rank `gone` has failed for the others; it is silent. */
static inline void live_lose(struct comm *c, int gone)
{
    ok(coll_barrier(c));
    job_check(boot_barrier() == 0);
    if (c->rank == gone)
        live_leave();
    boot_fail_now(comm_world(c, gone), "for this test");
    progress_poll();
}

#endif
