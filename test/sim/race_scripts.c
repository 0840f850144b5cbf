/* race_scripts.c - scripts of the race checker.
 *
 *   race-flag       a flag made of accumulates orders two others: no race
 *   race-merge      the second operation of a record comes after what is complete meanwhile
 *   race-post       records and their end come before the post that lets them in
 *   race-loop       a pair in a loop takes no place from another one */
#include <mpi.h>

#include "race/race_types.h"
#include "scripted.h"

/* Rank 0 puts, and raises a flag at rank 2; rank 1 looks at the flag, then reads what was put. The
 * owner of the data may hear of the flag long after the reader has seen it. */
static void flag(void *arg)
{
    int rank, *mem, one = 1, got = 0, turns = 0;
    MPI_Win win;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    *mem = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        OK(MPI_Put(&one, 1, MPI_INT, 3, 0, 1, MPI_INT, win));
        OK(MPI_Win_flush(3, win));
        OK(MPI_Accumulate(&one, 1, MPI_INT, 2, 0, 1, MPI_INT, MPI_SUM, win));
        OK(MPI_Win_flush(2, win));
    } else if (rank == 1) {
        for (; !got; turns++) {
            OK(MPI_Fetch_and_op(&one, &got, MPI_INT, 2, 0, MPI_NO_OP, win));
            OK(MPI_Win_flush(2, win));
            sim_compute(1);
        }
        OK(MPI_Get(&got, 1, MPI_INT, 3, 0, 1, MPI_INT, win));
        OK(MPI_Win_flush(3, win));
        SIM_CHECK(got == 1);
    }
    if (sim_seed() % 2)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    SIM_CHECK(proc->race->races == 0 && proc->race->values == 0);
    SIM_CHECK(proc->race->possible == (rank == 3));
}

/* A get by one window, complete before a put by another window touches its bytes. The put follows
 * one to the bytes before, of the same call, which was issued before the get was complete. */
static void merge(void *arg)
{
    int rank, got;
    char *mem;
    MPI_Win win[2];
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win[0]);
    MPI_Win_create(mem, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win[1]);
    MPI_Win_lock_all(0, win[0]);
    MPI_Win_lock_all(0, win[1]);
    if (rank == 0)
        OK(MPI_Get(&got, 1, MPI_INT, 1, 4, 1, MPI_INT, win[1]));
    for (int i = 0; i < 2 && rank == 0; i++) {
        OK(MPI_Put(&rank, 1, MPI_INT, 1, 4 * i, 1, MPI_INT, win[0]));
        OK(MPI_Win_flush(1, win[1]));
    }
    MPI_Win_unlock_all(win[1]);
    MPI_Win_unlock_all(win[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(proc->race->races == 0);
    MPI_Win_free(&win[1]);
    MPI_Win_free(&win[0]);
}

static void two_windows(MPI_Aint bytes, char **mem, MPI_Win win[2])
{
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, mem, &win[0]);
    MPI_Win_create(*mem, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win[1]);
}

/* Records leave in parts, rank 1 posts late, and a put of rank 2 comes behind the epoch of rank 0:
 * after a message, or, with odd seeds, at any time. */
static void late_post(void *arg)
{
    int rank, v[8] = {0}, races = (int)(sim_seed() % 2), to, many = 3;
    char *mem;
    MPI_Win win[2];
    MPI_Group all, one;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    proc->race->pending_max = 2;
    two_windows(64, &mem, win);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    to = rank == 0;
    MPI_Group_incl(all, 1, &to, &one);
    if (rank == 0) {
        OK(MPI_Win_start(one, 0, win[0]));
        for (int i = 0; i < many; i++)
            OK(MPI_Put(v, 1, MPI_INT, 1, 8 * i, 1, MPI_INT, win[0]));
        OK(MPI_Win_complete(win[0]));
        if (!races)
            OK(MPI_Send(v, 1, MPI_INT, 2, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        sim_compute((int)(sim_seed() / 2 % 3) * 300);
        OK(MPI_Win_post(one, 0, win[0]));
        OK(MPI_Win_wait(win[0]));
    } else {
        if (!races)
            OK(MPI_Recv(v, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win[1]));
        OK(MPI_Put(v, 1, MPI_INT, 1, 0, 1, MPI_INT, win[1]));
        OK(MPI_Win_unlock(1, win[1]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(proc->race->races == (uint64_t)(races && rank == 1));
    SIM_CHECK(proc->race->open.count == 0 && proc->race->nheld == 0);
    MPI_Group_free(&all);
    MPI_Group_free(&one);
    MPI_Win_free(&win[1]);
    MPI_Win_free(&win[0]);
}

/* Rank 1 puts twice. Rank 0 fetches, so that verdicts wait; it puts many times beside the first
 * put, then gets beside the second. */
static void loop(void *arg)
{
    static int is_there;
    int rank, v = 0, flag;
    char *mem;
    MPI_Win win;
    (void)arg;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    is_there = 0;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        OK(MPI_Put(&rank, 1, MPI_INT, 2, 0, 1, MPI_INT, win));
        OK(MPI_Put(&rank, 1, MPI_INT, 2, 8, 1, MPI_INT, win));
        OK(MPI_Win_flush(2, win));
    }
    while (!is_there) {
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        is_there |= rank == 2 && proc->race->shadow.n.records == 2;
        sim_compute(1);
    }
    if (rank == 0) {
        OK(MPI_Fetch_and_op(&v, &v, MPI_INT, 2, 32, MPI_NO_OP, win));
        OK(MPI_Win_flush(2, win));
        for (int i = 0; i < 1100; i++) {
            OK(MPI_Put(&rank, 1, MPI_INT, 2, 0, 1, MPI_INT, win));
            OK(MPI_Win_flush(2, win));
        }
        OK(MPI_Get(&v, 1, MPI_INT, 2, 8, 1, MPI_INT, win));
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(proc->race->unresolved == 0 && proc->race->nundecided == 0);
    SIM_CHECK(proc->race->races == (rank == 2 ? 2u : 0u));
    MPI_Win_free(&win);
}

static void watched(struct sim_knobs *k)
{
    scenario_cvar("MPIR_CVAR_RACE", "rma");
    scenario_cvar("MPIR_CVAR_RACE_REPORTS", k->seed % 16 ? "0" : "1");
    scenario_cvar("MPIR_CVAR_RACE_FILE", "/dev/null");
    k->preempt_percent = k->seed % 3 ? 0 : 20;
}

const struct scenario scenarios_race_scripts[] = {
    {"race-flag", 4, 1, flag, NULL, watched},
    {"race-merge", 2, 1, merge, NULL, watched},
    {"race-post", 3, 1, late_post, NULL, watched},
    {"race-loop", 3, 1, loop, NULL, watched},
    {NULL, 0, 0, NULL, NULL, NULL},
};
