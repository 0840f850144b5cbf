/* world.c - world.h: windows in forked processes, and what their handlers answer. */
#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll/coll.h"
#include "p2p/p2p.h"

const char *const world_far[] = {"MPIR_CVAR_NOLOCAL=1", NULL};

static void (*world_body)(void);

static void up_and_down(void)
{
    job_check(mem_init() == 0);
    job_check(progress_init() == 0);
    job_check(am_init() == 0);
    job_check(obj_init() == 0);
    job_check(dt_init() == 0);
    job_check(p2p_init() == 0);
    job_check(coll_init() == 0);
    job_check(rma_init() == 0);
    world_body();
    p2p_drain_wait();
    job_check(coll_barrier(proc->obj->world) == 0);
    rma_finalize();
    coll_finalize();
    p2p_finalize();
    dt_finalize();
    obj_finalize();
    boot_barrier();
    am_finalize();
    progress_finalize();
    mem_finalize();
}

int world_run(int size, const char *const *sets, void (*body)(void))
{
    world_body = body;
    return job_run(size, sets, up_and_down, 60);
}

void world_barrier(void)
{
    job_check(coll_barrier(proc->obj->world) == 0);
}

void world_quit(void)
{
    world_barrier();
    fflush(NULL);
    _exit(0);
}

struct rma *bare_room(unsigned ops, unsigned targets)
{
    struct rma *r = aligned_alloc(64, (sizeof *r + 63) / 64 * 64);
    job_check(r != NULL);
    memset(r, 0, sizeof *r);
    /* a new element asks what the way to its target allows */
    job_check(proc->am || (mem_init() == 0 && progress_init() == 0 && am_init() == 0));
    list_init(&r->windows);
    list_init(&r->active);
    list_init(&r->called);
    r->ranks = comm_rank_mask();
    rma_pull_init(r);
    cvar.rma_op_global = ops;
    cvar.rma_target_global = targets;
    job_check(rma_pools_init(r) == 0);
    rma_coalesce_init(r);
    proc->rma = r;
    return r;
}

struct rma_win *bare_window(int size, unsigned ops, unsigned targets)
{
    struct rma_win *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    job_check(w != NULL);
    memset(w, 0, sizeof *w);
    w->near.near = w->records = calloc(1, sizeof *w->near.near);
    w->size = size;
    w->native.pull_min = SIZE_MAX;
    w->map = rankmap_stride(0, 1, size);
    w->table.op_quota.size = w->table.op_quota.free = ops;
    w->table.target_quota.size = w->table.target_quota.free = targets;
    list_init(&w->table.ready);
    list_init(&w->resps);
    list_init(&w->active);
    list_init(&w->table.used);
    job_check(w->near.near && w->map && rma_slots_init(w) == 0);
    return w;
}

int world_dies(void (*fn)(void *arg), void *arg)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        if (!freopen("/dev/null", "w", stderr))
            _exit(0);
        fn(arg);
        _exit(0);
    }
    return waitpid(pid, &status, 0) == pid && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

struct rma_win *world_window(long longs)
{
    struct rma_win *w;
    void *base;
    job_check(rma_win_allocate(longs * 8, 8, NULL, proc->obj->world, &base, &w) == MPI_SUCCESS);
    return w;
}

long *world_memory(const struct rma_win *w)
{
    return w->base;
}

struct rma_args world_args(enum rma_kind kind, int rank, const long *origin, long *result, long n,
                           MPI_Aint disp)
{
    struct dt_type *l = dt_find(MPI_LONG);
    struct rma_args a = {.kind = kind, .rank = rank, .disp = disp, .tcount = n, .ttype = l};
    if (kind != RMA_GET) {
        a.origin = origin;
        a.ocount = n;
        a.otype = l;
    }
    if (kind != RMA_PUT && kind != RMA_ACC) {
        a.result = result;
        a.rcount = n;
        a.rtype = l;
    }
    if (kind == RMA_ACC || kind == RMA_GACC || kind == RMA_FOP)
        a.op = dt_op_find(MPI_SUM);
    return a;
}

int world_op(struct rma_win *w, enum rma_kind kind, int rank, const long *origin, long *result,
             long n, MPI_Aint disp)
{
    struct rma_args a = world_args(kind, rank, origin, result, n, disp);
    return rma_op_begin(w, &a, NULL);
}

uint64_t world_pvar(const struct rma_win *w, enum pvar_id id)
{
    return rma_pvar(w, id);
}

void world_poll(int times)
{
    while (times-- > 0)
        progress_poll();
}

struct caught caught;

static int catch_one(int src, const void *msg, size_t len)
{
    (void)src;
    job_check(len >= sizeof(struct rma_hdr));
    if (caught.n < CAUGHT) {
        size_t data = len - sizeof(struct rma_hdr);
        memcpy(&caught.got[caught.n].h, msg, sizeof(struct rma_hdr));
        memcpy(caught.got[caught.n].data, (const char *)msg + sizeof(struct rma_hdr),
               data < CAUGHT_BYTES ? data : CAUGHT_BYTES);
    }
    caught.n++;
    return 0;
}

void world_catch(void)
{
    caught.n = 0;
    for (int t = RMA_PKT_DATA; t <= RMA_PKT_REFUSED; t++)
        am_handler(AM_RMA + t, catch_one);
    am_handler(AM_RMA + RMA_PKT_PULLED, catch_one);
    am_handler(AM_RMA + RMA_PKT_FREEING, catch_one);
}
