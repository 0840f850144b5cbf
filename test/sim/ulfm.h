/* ulfm.h - what scenarios of life after a failure share: how they begin, classes of errors, which
 * ranks die, and what the others do then. */
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

/* Each rank begins with this. *seen is of all of them, and is zero now. */
static inline void scene_of(int *rank, int *size, void *seen, size_t len)
{
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (!*rank)
        memset(seen, 0, len);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Of a call that a death may end, with an error that says so. */
static inline void may_fail(int err)
{
    SIM_CHECK(!err || class_of(err) == MPIX_ERR_PROC_FAILED);
}

static inline MPI_Comm copy_of(MPI_Comm c)
{
    MPI_Comm made;
    OK(MPI_Comm_dup(c, &made));
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
}

/* 1: all have said yes. MPI_SUCCESS in *err: none that is not acknowledged has failed. */
static inline int all_say(MPI_Comm c, int yes, int *err)
{
    *err = class_of(MPIX_Comm_agree(c, &yes));
    SIM_CHECK(*err == MPI_SUCCESS || *err == MPIX_ERR_PROC_FAILED);
    return yes;
}

/* A window that all of win have that live, which are all of c. */
static inline MPI_Win shrunk(MPI_Comm c, MPI_Win win)
{
    for (int tries = 0; tries < 100; tries++) {
        MPI_Win made = MPI_WIN_NULL;
        int unacked, err = MPIX_Win_shrink(win, &made);
        may_fail(err);
        if (all_say(c, !err, &unacked))
            return made;
        if (!err)
            may_fail(MPI_Win_free(&made));
    }
    sim_fail("no window of the living in 100 tries");
}

/* What a program does after work on *c that ended with err. 1: it was done by all; 0: from now on
 * *c is of those that live. */
static inline int mend(MPI_Comm *c, int err)
{
    MPI_Comm made;
    int unacked;
    if (err)
        OK(MPIX_Comm_revoke(*c));
    if (all_say(*c, !err, &unacked))
        return 1;
    OK(MPIX_Comm_shrink(*c, &made));
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    OK(MPI_Comm_free(c));
    *c = made;
    return 0;
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

/* Of a window: its members, the own rank, their ranks in MPI_COMM_WORLD. */
static inline void members_of(MPI_Win win, int *n, int *me, int *name)
{
    MPI_Group g, world;
    OK(MPI_Win_get_group(win, &g));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    MPI_Group_size(g, n);
    MPI_Group_rank(g, me);
    for (int i = 0; i < *n; i++)
        MPI_Group_translate_ranks(g, 1, &i, world, &name[i]);
    MPI_Group_free(&world);
    MPI_Group_free(&g);
}

/* When a process gives up: after so many turns, if it does at all. */
struct limit {
    int gives_up, turns;
};

/* Is it time? Then others are in the same calls, or on their way. */
static inline int over(struct limit *l)
{
    if (!l->gives_up || l->turns-- > 0)
        return 0;
    if (sim_random() % 2)
        sim_compute((int)(sim_random() % 200));
    return 1;
}

static inline void mortal(struct sim_knobs *k)
{
    k->mortal = 1;
    k->quiet_rank = -1;
    k->late_news = (int)(k->seed % 5) * 60;
}

static inline void mortal_near(struct sim_knobs *k)
{
    mortal(k);
    k->nodes = 1;
}

static inline void mortal_far(struct sim_knobs *k)
{
    mortal(k);
    far_away(k);
}

static inline void mortal_poor(struct sim_knobs *k)
{
    mortal(k);
    far_and_poor(k);
}

/* Far, and no message is refused or held up. */
static inline void calm(struct sim_knobs *k)
{
    far_away(k);
    k->replies = k->refuse_percent = k->again_percent = k->inbox = 0;
    k->ordered = 1;
}

#endif
