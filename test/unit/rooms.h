/* rooms.h - all rooms up to coll/ inside a process of a unit test's job (job.h). */
#ifndef UNIT_ROOMS_H
#define UNIT_ROOMS_H

#include <string.h>

#include "am/am.h"
#include "base/proc.h"
#include "coll/coll.h"
#include "dt/dt.h"
#include "job.h"
#include "mem/mem.h"
#include "obj/comm.h"
#include "obj/obj.h"
#include "p2p/p2p.h"
#include "progress/progress.h"

static inline void rooms_up(void)
{
    job_check(mem_init() == 0);
    job_check(progress_init() == 0);
    job_check(am_init() == 0);
    job_check(obj_init() == 0);
    job_check(dt_init() == 0);
    job_check(p2p_init() == 0);
    job_check(coll_init() == 0);
}

static inline void rooms_down(void)
{
    job_check(coll_barrier(proc->obj->world) == MPI_SUCCESS);
    p2p_drain_wait();
    coll_finalize();
    p2p_finalize();
    dt_finalize();
    obj_finalize();
    boot_barrier();
    am_finalize();
    progress_finalize();
    mem_finalize();
}

static inline struct comm *world(void)
{
    return proc->obj->world;
}
static inline struct dt_type *type(MPI_Datatype h)
{
    return dt_find(h);
}

/* Receive one int with its status. */
static inline int take_int(int source, int tag, MPI_Status *st)
{
    int v = -1;
    job_check(p2p_recv(&v, 1, type(MPI_INT), source, tag, world(), 0, st) == MPI_SUCCESS);
    return v;
}

/* A test program's START_TEST body: run fn in n processes, near and as nodes of their own. */
#define ROOMS_JOB(n, fn)                                                   \
    do {                                                                   \
        static const char *const far[] = {"MPIR_CVAR_NOLOCAL=1", NULL};    \
        ck_assert_int_eq(job_run(n, NULL, fn, 60), 0);                     \
        ck_assert_int_eq(job_run(n, far, fn, 60), 0);                      \
    } while (0)

#define ROOMS_SUITE(name, label)                 \
    Suite *suite_##name(void)                    \
    {                                            \
        Suite *s = suite_create(label);          \
        TCase *t = tcase_create(#name);          \
        tcase_set_timeout(t, 150);               \
        add_tests(t);                            \
        suite_add_tcase(s, t);                   \
        return s;                                \
    }

#endif
