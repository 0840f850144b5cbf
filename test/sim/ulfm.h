/* ulfm.h - what scenarios of life after a failure share: classes of errors, and which ranks die. */
#ifndef SIM_ULFM_H
#define SIM_ULFM_H

#include "am/am.h"
#include "coll/agree.h"
#include "scripted.h"

static inline int class_of(int err)
{
    int c = MPI_SUCCESS;
    if (err)
        MPI_Error_class(err, &c);
    return c;
}

/* 1: all have said yes. MPI_SUCCESS in *err: none that is not acknowledged has failed. */
static inline int all_say(MPI_Comm c, int yes, int *err)
{
    *err = class_of(MPIX_Comm_agree(c, &yes));
    SIM_CHECK(*err == MPI_SUCCESS || *err == MPIX_ERR_PROC_FAILED);
    return yes;
}

/* Rank r of n dies in this run. At least one lives. */
static inline int is_doomed(int r, int n)
{
    uint64_t bits = (sim_seed() + 1) * 0x9e3779b97f4a7c15ull;
    return r != (int)(bits >> 40) % n && (bits >> r % 32 & 3) == 0;
}

/* It dies at some step of the next calls, or before, or while it waits. */
static inline void maybe_doom(int rank, int size)
{
    if (!is_doomed(rank, size))
        return;
    sim_die_at(1 + (int)(sim_random() % (3u * (unsigned)size)));
}

/* The doomed that outlive their calls, too. */
static inline void end_doomed(int rank, int size)
{
    if (is_doomed(rank, size))
        sim_die();
}

static inline void mortal(struct sim_knobs *k)
{
    k->mortal = 1;
    k->quiet_rank = -1;
    k->late_news = (int)(k->seed % 5) * 60;
}

#endif
