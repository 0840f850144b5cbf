/* bundles.h - what the scenarios of bundles share: windows over private memory of one node, and
 * threads that work on them. */
#ifndef SIM_BUNDLES_H
#define SIM_BUNDLES_H

#include "scripted.h"

enum { LONGS = 512 };

static long cell[SIM_RANKS][LONGS], value[SIM_RANKS][LONGS];
static int calm[SIM_RANKS]; /* the rank may come back into MPI */

static inline void one_node(struct sim_knobs *k)
{
    k->nodes = 1;
}

/* A message is there when its receiver looks. */
static inline void at_once(struct sim_knobs *k)
{
    one_node(k);
    k->max_delay = k->again_percent = k->refuse_percent = k->inbox = k->replies = 0;
    k->quiet_rank = -1;
}

static inline void mortal(struct sim_knobs *k)
{
    at_once(k);
    k->mortal = 1;
}

static inline struct job private_open(void)
{
    struct job j;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j.size);
    j.mem = cell[j.rank];
    memset(j.mem, 0, sizeof cell[0]);
    calm[j.rank] = 0;
    OK(MPI_Win_create(j.mem, sizeof cell[0], sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &j.win));
    OK(MPI_Win_set_errhandler(j.win, MPI_ERRORS_RETURN));
    MPI_Barrier(MPI_COMM_WORLD);
    return j;
}

static inline void put(const struct job *j, int target, int at, long v)
{
    long *from = &value[j->rank][at];
    *from = v;
    OK(MPI_Put(from, 1, MPI_LONG, target, at, 1, MPI_LONG, j->win));
    if (inside(j->win)->delegate.bundles)
        *from = -1; /* it was copied */
}

/* Epochs with more than one operation make the next one begin with a bundle. */
static inline void many_before(const struct job *j, int target)
{
    OK(MPI_Win_lock_all(0, j->win));
    for (int i = 0; i < 3; i++)
        put(j, target, LONGS - 1 - i, 1);
    OK(MPI_Win_flush(target, j->win));
    SIM_CHECK(inside(j->win)->delegate.bundles == 0);
}

static struct {
    struct job j;
    int open, left;
} of[SIM_RANKS];

static inline void join_threads(void work(struct job *, int), int thread)
{
    int me = sim_rank();
    while (!of[me].open)
        sim_compute(1);
    work(&of[me].j, thread);
}

#endif
