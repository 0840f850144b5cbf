/* ucx_up.h - the UCX transport alone, as its two suites of the process around it need it. */
#ifndef TEST_UCX_UP_H
#define TEST_UCX_UP_H
#include "job.h"

#include <dirent.h>

#include "base/proc.h"
#include "boot/boot.h"
#include "mem/mem.h"
#include "tp/ucx/ucx_types.h"

static struct ucx *u;
static struct tp_caps caps;

static inline void ucx_up(int (*recv)(void *up, unsigned peer, enum tp_class cls, const void *msg,
                                      size_t len))
{
    const struct tp_env env = {.recv = recv, .up = NULL, .proc = proc};
    struct tp *tp;
    /* a process that ends removes its memory: not before all have found it */
    job_check(mem_init() == 0 && boot_barrier() == 0);
    job_check(tp_ucx_ops.open(&env, &tp, &caps) == 0);
    u = (struct ucx *)tp;
}

static inline void stop(void)
{
    tp_ucx_ops.close((struct tp *)u);
    mem_finalize();
}

static inline void connect_to(int peer)
{
    char name[16], addr[BOOT_VALUE_MAX];
    size_t len = sizeof addr;
    tp_ucx_ops.address((struct tp *)u, addr, &len);
    snprintf(name, sizeof name, "x.%d", boot_rank());
    job_check(boot_put(name, addr, len) == 0 && boot_barrier() == 0);
    snprintf(name, sizeof name, "x.%d", peer);
    len = sizeof addr;
    job_check(boot_get(name, addr, &len) == 0);
    job_check(tp_ucx_ops.connect((struct tp *)u, (unsigned)peer, addr, len) == 0);
}

/* A barrier in which this process makes progress. */
static inline void meet(void)
{
    int fd;
    job_check(boot_barrier_begin(&fd) == 0);
    while (!boot_barrier_test())
        tp_ucx_ops.progress((struct tp *)u);
}

/* Those of `.` and `..` are counted, too. */
static inline int entries_of(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

#endif
