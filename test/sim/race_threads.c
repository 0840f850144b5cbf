/* race_threads.c - two threads of each process under the race checker in mode rma, each with a
 * window of its own. Fences and locks order all accesses: nothing is reported. */
#include <mpi.h>
#include <string.h>

#include "race/race_types.h"
#include "scripted.h"

enum { RANKS = 4, THREADS = 2, TURNS = 8 };
static struct {
    MPI_Win win[THREADS];
    int open, done;
} at[RANKS];

static void access_by(MPI_Win win, int *word, int turn)
{
    if (turn % 2)
        OK(MPI_Put(word, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    else
        OK(MPI_Get(word, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
}

static void turns(int thread)
{
    MPI_Win win = at[sim_rank()].win[thread];
    int rank = sim_rank(), size, word = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int i = 0; i < TURNS; i++) {
        if ((rank + i * (thread + 1) + (int)sim_seed()) % size == 0)
            access_by(win, &word, i);
        if ((rank + i + (int)sim_seed()) % 3 == 0)
            sim_compute(5);
        MPI_Win_fence(i + 1 < TURNS ? 0 : MPI_MODE_NOSUCCEED, win);
    }
    for (int i = 0; i < TURNS; i++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        access_by(win, &word, i);
        OK(MPI_Win_unlock(0, win));
    }
}

static void first_thread(void *arg)
{
    int *mem;
    (void)arg;
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mem,
                            &at[sim_rank()].win[i]));
    at[sim_rank()].open = 1;
    turns(0);
    while (!at[sim_rank()].done)
        sim_compute(1);
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(proc->race->races == 0 && proc->race->values == 0 && proc->race->possible == 0);
    SIM_CHECK(proc->race->ending == 0 && proc->race->asking == 0 && !proc->race->off);
    for (int i = 0; i < THREADS; i++)
        MPI_Win_free(&at[sim_rank()].win[i]);
}

static void second_thread(int thread, void *arg)
{
    (void)arg;
    while (!at[sim_rank()].open)
        sim_compute(1);
    turns(thread);
    at[sim_rank()].done = 1;
}

static void watched(struct sim_knobs *k)
{
    memset(at, 0, sizeof at);
    scenario_cvar("MPIR_CVAR_RACE", "rma");
    scenario_cvar("MPIR_CVAR_RACE_FILE", "/dev/null");
    k->preempt_percent = k->seed % 3 ? 0 : 20;
}

const struct scenario scenarios_race_threads[] = {
    {"race-threads-2", 2, THREADS, first_thread, second_thread, watched},
    {"race-threads-4", 4, THREADS, first_thread, second_thread, watched},
    {NULL, 0, 0, NULL, NULL, NULL},
};
