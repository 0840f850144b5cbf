/* scripted.h - what scripted scenarios share: a look inside a window, counting of messages, a
 * death. */
#ifndef SIM_SCRIPTED_H
#define SIM_SCRIPTED_H

#include <mpi.h>
#include <string.h>

#include "boot/boot.h"
#include "rma/rma_types.h"
#include "rma/sync/sync_types.h"
#include "scenarios.h"

/* The record behind a handle. */
static inline struct rma_win *inside(MPI_Win win)
{
    for (struct list *l = rma_self()->windows.next; l != &rma_self()->windows; l = l->next) {
        struct rma_win *w = LIST_OBJ(l, struct rma_win, link);
        if (w->near.obj.handle == (int)win)
            return w;
    }
    sim_fail("no such window");
}

static inline long pvar(MPI_Win win, enum pvar_id id)
{
    return (long)rma_win_pvar(inside(win), (int)id);
}

/* One-sided packets that a rank has sent since mark(). */
struct counts {
    int rank;
    long v[RMA_PKTS];
};

static inline struct counts mark(int rank)
{
    struct counts c = {.rank = rank};
    for (int i = 0; i < RMA_PKTS; i++)
        c.v[i] = sim_sent(rank, AM_RMA + i);
    return c;
}

static inline long since(const struct counts *c, enum rma_packet p)
{
    return sim_sent(c->rank, AM_RMA + (int)p) - c->v[p];
}

static inline long since_all(const struct counts *c)
{
    long n = 0;
    for (int i = 0; i < RMA_PKTS; i++)
        n += since(c, (enum rma_packet)i);
    return n;
}

/* Exactly these, and none of any other kind. */
#define SENT(c, n1, p1) must_have_sent(c, __LINE__, 1, (const int[]){n1, RMA_PKT_##p1})
#define SENT2(c, n1, p1, n2, p2)                                                                   \
    must_have_sent(c, __LINE__, 2, (const int[]){n1, RMA_PKT_##p1, n2, RMA_PKT_##p2})
#define SENT3(c, n1, p1, n2, p2, n3, p3)                                                           \
    must_have_sent(c, __LINE__, 3,                                                                 \
                   (const int[]){n1, RMA_PKT_##p1, n2, RMA_PKT_##p2, n3, RMA_PKT_##p3})
static inline void must_have_sent(const struct counts *c, int line, int n, const int *pairs)
{
    long sum = 0;
    for (int i = 0; i < n; i++) {
        long got = since(c, (enum rma_packet)pairs[2 * i + 1]);
        if (got != pairs[2 * i])
            sim_fail("line %d: rank %d sent %ld %s, not %d", line, c->rank, got,
                     rma_packet_name[pairs[2 * i + 1]], pairs[2 * i]);
        sum += got;
    }
    if (since_all(c) != sum) {
        for (int i = 0; i < RMA_PKTS; i++)
            sim_event("rank %d sent %ld %s", c->rank, since(c, (enum rma_packet)i),
                      rma_packet_name[i]);
        sim_fail("line %d: rank %d sent %ld packets in all, not %ld", line, c->rank, since_all(c),
                 sum);
    }
}

/* A message by which one rank lets another go on. */
static inline void tell(int rank)
{
    MPI_Send(NULL, 0, MPI_BYTE, rank, 7, MPI_COMM_WORLD);
}
static inline void hear(int rank)
{
    MPI_Recv(NULL, 0, MPI_BYTE, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
/* Make progress and let others run. */
static inline void turn(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    sim_compute(1);
}

/* Every process on a node of its own. */
static inline void far_away(struct sim_knobs *k)
{
    k->nodes = k->ranks;
}
/* ... and one element of each kind. */
static inline void far_and_poor(struct sim_knobs *k)
{
    far_away(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_SLOTS_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_GLOBAL_POOL_SIZE", "0");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE", "0");
}

struct job { /* what every script begins with */
    int rank, size;
    MPI_Win win;
    long *mem;
    MPI_Comm comm;
};

static inline struct job job_open(int longs)
{
    struct job j;
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.size);
    OK(MPI_Win_allocate((MPI_Aint)longs * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
                        MPI_COMM_WORLD, &j.mem, &j.win));
    OK(MPI_Win_set_errhandler(j.win, MPI_ERRORS_RETURN));
    memset(j.mem, 0, (size_t)longs * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    return j;
}

static inline struct job job_of_mortals(int longs)
{
    /* others may be in a barrier yet when one dies */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return job_open(longs);
}

/* Until this process has heard of it. */
static inline void hear_of_death(int rank)
{
    while (!boot_failed(rank))
        turn();
    for (int i = 0; i < 3; i++)
        turn();
}

/* Ranks above 0 are in MPI until rank 0 lets them go on, where `dying` ends. */
static inline int stand_by(const struct job *j, int dying)
{
    if (!j->rank)
        return 0;
    hear(0);
    if (j->rank == dying)
        sim_die();
    return 1;
}

static inline void job_close(struct job *j)
{
    MPI_Barrier(MPI_COMM_WORLD);
    struct rma_win *w = inside(j->win);
    SIM_CHECK(w->table.ntargets == 0 && w->table.nops == 0);
    SIM_CHECK(w->table.op_quota.free == w->table.op_quota.size &&
              w->table.target_quota.free == w->table.target_quota.size);
    SIM_CHECK(w->target.lockq.count == 0 && w->target.lockq.holders.count == 0 &&
              w->target.lockq.anonymous == 0);
    SIM_CHECK(w->target.lockq.stamps == w->target.lockq.admitted);
    OK(MPI_Win_free(&j->win));
}

static inline void put1(const struct job *j, const long *v, int rank, int at)
{
    OK(MPI_Put(v, 1, MPI_LONG, rank, at, 1, MPI_LONG, j->win));
}

#endif
