/* notify.h - what the scenarios of notified operations share. */
#ifndef SIM_NOTIFY_H
#define SIM_NOTIFY_H

#include "scripted.h"

static inline void notify_quiet(struct sim_knobs *k)
{
    far_away(k);
    /* what a call sends has left */
    k->replies = k->refuse_percent = k->again_percent = k->inbox = 0;
    k->ordered = 1;
}

static inline struct job notify_open(int longs)
{
    struct job j = job_open(longs);
    OK(MPIX_Win_notify_set_num(j.win, MPI_INFO_NULL, 4));
    MPI_Barrier(MPI_COMM_WORLD);
    return j;
}

static inline void put_n(const struct job *j, const long *v, int n, int at, int index)
{
    OK(MPIX_Put_notify(v, n, MPI_LONG, 1, at, n, MPI_LONG, index, j->win));
}

/* The lock of rank 1, with the first notified operation. */
static inline void lock_all_held(const struct job *j)
{
    OK(MPI_Win_lock_all(0, j->win));
    OK(MPIX_Put_notify(NULL, 0, MPI_LONG, 1, 0, 0, MPI_LONG, 3, j->win));
    OK(MPI_Win_flush(1, j->win));
}

#endif
