/* live.h - the rooms up to p2p/ in a process of a test job (see job.h). */
#ifndef LIVE_H
#define LIVE_H

#include <mpi.h>
#include <string.h>

#include "am/am.h"
#include "base/proc.h"
#include "job.h"
#include "mem/mem.h"
#include "obj/err.h"
#include "p2p/p2p_types.h"
#include "progress/progress.h"
#include "var/var.h"

static inline void live_start(void)
{
    job_check(mem_init() == 0 && progress_init() == 0 && am_init() == 0);
    job_check(obj_init() == 0 && dt_init() == 0 && p2p_init() == 0);
}

/* All processes meet, messages being served meanwhile. */
static inline void live_meet(void)
{
    struct comm *c = proc->obj->world;
    struct dt_type *byte = dt_find(MPI_BYTE);
    for (int i = 1; i < c->size && c->rank == 0; i++)
        ok(p2p_recv(NULL, 0, byte, i, 1, c, P2P_TOOL, NULL));
    for (int i = 1; i < c->size && c->rank == 0; i++)
        ok(p2p_send(NULL, 0, byte, i, 1, c, P2P_TOOL));
    if (c->rank) {
        ok(p2p_send(NULL, 0, byte, 0, 1, c, P2P_TOOL));
        ok(p2p_recv(NULL, 0, byte, 0, 1, c, P2P_TOOL, NULL));
    }
}

static inline void live_stop(void)
{
    p2p_drain_wait();
    live_meet();
    p2p_finalize();
    dt_finalize();
    obj_finalize();
    job_check(boot_barrier() == 0);
    am_finalize();
    progress_finalize();
    mem_finalize();
}

static inline void live_fill(char *b, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        b[i] = (char)(i * 7 + seed + (i >> 8));
}

static inline int live_same(const char *b, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        if (b[i] != (char)(i * 7 + seed + (i >> 8)))
            return 0;
    return 1;
}

#endif
