/* end.c - a transport opened in a process, and how all part. */
#include "doctor/doctor.h"
#include "doctor/forked.h"

#include <sched.h>
#include <stdlib.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem.h"

/* A look ends for want of events, and else only here: a loaded machine is no fault. */
enum { RUN_SECONDS = 60, LOOK_SECONDS = 3600 };

static const struct row *now; /* the processes of a job are forked with it */
void (*end_noted)(void *up, uint32_t note);

const struct row *row_now(void)
{
    return now;
}

void end_open(struct end *e, end_recv_fn *recv, void *up)
{
    char name[16], addr[BOOT_VALUE_MAX];
    size_t len = sizeof addr;
    const struct tp_env env = {.recv = recv, .noted = end_noted, .up = up, .proc = proc};
    *e = (struct end){.row = now, .ops = now->ops, .rank = boot_rank(), .size = boot_size()};
    job_check(mem_init() == 0);
    job_check(e->ops->open(&env, &e->tp, &e->caps) == 0);
    job_event();
    job_check(e->ops->address(e->tp, addr, &len) == 0 && len <= BOOT_VALUE_MAX / 4);
    snprintf(name, sizeof name, "tp.%d", e->rank);
    job_check(boot_put(name, addr, len) == 0);
}

void end_connect(struct end *e, int peer)
{
    char name[16], addr[BOOT_VALUE_MAX];
    size_t len = sizeof addr;
    snprintf(name, sizeof name, "tp.%d", peer);
    job_check(boot_get(name, addr, &len) == 0);
    job_check(e->ops->connect(e->tp, (unsigned)peer, addr, len) == 0);
}

void end_poll(struct end *e)
{
    int n = e->ops->progress(e->tp);
    job_check(n >= 0);
    if (n == 0)
        sched_yield();
}

void end_barrier(struct end *e)
{
    int fd, over;
    job_check(boot_barrier_begin(&fd) == 0);
    while ((over = boot_barrier_test()) == 0)
        end_poll(e);
    job_check(over == 1);
}

void end_leave(struct end *e)
{
    end_barrier(e);
    job_check(boot_barrier() == 0);
}

void end_close(struct end *e)
{
    e->ops->close(e->tp);
    mem_finalize();
}

/* The variables of a row, for its processes. */
static void row_prepare(const struct row *r)
{
    now = r;
    if (!r->env)
        return;
    putenv((char *)(uintptr_t)r->env);
    /* over shared memory alone it complains of each peer (doc/design/ucx.md) */
    setenv("UCX_LOG_LEVEL", "fatal", 0);
}

int row_run(const struct row *r, int processes, void (*body)(void))
{
    const char *const sets[] = {r->set, NULL};
    row_prepare(r);
    return job_run(processes, sets, body, RUN_SECONDS);
}

int row_look(const struct row *r, int processes, void (*body)(void), unsigned quiet,
             struct job_end *end)
{
    const char *const sets[] = {r->set, NULL};
    row_prepare(r);
    return job_run_quiet(processes, sets, body, quiet ? LOOK_SECONDS : RUN_SECONDS, quiet, end);
}
