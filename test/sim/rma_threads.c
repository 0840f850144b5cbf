/* rma_threads.c - one-sided operations by several threads of a process: the interleavings that MPI
 * allows (rma.md 5.8).
 *
 *   share    threads put, get, fetch and flush in one lock_all epoch
 *   locks    each thread locks targets of its own
 *   pscw     one thread exposes, the other accesses
 *   windows  each thread on a window of its own, with request-based operations
 *   dups     each thread on duplicates of one window, which it makes and frees */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios.h"

enum { THREADS = 3, TURNS = 6, CELLS = 8 };

static struct meet { /* of one rank; touched by its own fibers only */
    MPI_Win win[THREADS];
    long *mem[THREADS];
    int open, done, rank, size;
    long sum;
    long value[THREADS][4];
} meet[SIM_RANKS];

static struct meet *here(void)
{
    return &meet[sim_rank()];
}

static void others_open(struct meet *m)
{
    m->open = 1;
}

static void wait_open(const struct meet *m)
{
    while (!m->open)
        sim_compute(1);
}

static void wait_done(const struct meet *m, int n)
{
    while (m->done < n)
        sim_compute(1);
}

static void begin(struct meet *m, int windows, size_t cells)
{
    memset(m, 0, sizeof *m);
    MPI_Comm_rank(MPI_COMM_WORLD, &m->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m->size);
    for (int i = 0; i < windows; i++) {
        OK(MPI_Win_allocate((MPI_Aint)(cells * sizeof(long)), sizeof(long), MPI_INFO_NULL,
                            MPI_COMM_WORLD, &m->mem[i], &m->win[i]));
        memset(m->mem[i], 0, cells * sizeof(long));
        MPI_Win_set_errhandler(m->win[i], MPI_ERRORS_RETURN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- share ------------------------------------------------------------------------------------ */

static void share_work(struct meet *m, int thread)
{
    long *v = m->value[thread];
    MPI_Win w = m->win[0];
    int cell = 1 + m->rank * THREADS + thread;
    for (int i = 0; i < TURNS; i++) {
        int t = (int)(sim_random() % (unsigned)m->size);
        v[0] = 1000 * (i + 1) + cell;
        v[1] = -1;
        OK(MPI_Put(&v[0], 1, MPI_LONG, t, cell, 1, MPI_LONG, w));
        OK(sim_random() & 1 ? MPI_Win_flush(t, w) : MPI_Win_flush_all(w));
        OK(MPI_Get(&v[1], 1, MPI_LONG, t, cell, 1, MPI_LONG, w));
        OK(sim_random() & 1 ? MPI_Win_flush_local(t, w) : MPI_Win_flush(t, w));
        SIM_CHECK(v[1] == v[0]);
        v[2] = 1;
        OK(MPI_Fetch_and_op(&v[2], &v[3], MPI_LONG, t, 0, MPI_SUM, w));
        OK(MPI_Win_flush_local_all(w));
        m->sum++;
    }
}

/* All threads of a process work within its epoch; what they have added is there. */
static void share_epoch(void (*work)(struct meet *m, int thread))
{
    struct meet *m = here();
    long total, all;
    begin(m, 1, 1 + SIM_RANKS * THREADS);
    OK(MPI_Win_lock_all(0, m->win[0]));
    others_open(m);
    work(m, 0);
    wait_done(m, THREADS - 1);
    OK(MPI_Win_unlock_all(m->win[0]));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&m->mem[0][0], &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&m->sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    SIM_CHECK(total == all);
    OK(MPI_Win_free(&m->win[0]));
}

static void share_epoch_thread(void (*work)(struct meet *m, int thread), int thread)
{
    struct meet *m = here();
    wait_open(m);
    work(m, thread);
    m->done++;
}

static void share(void *arg)
{
    (void)arg;
    share_epoch(share_work);
}

static void share_thread(int thread, void *arg)
{
    (void)arg;
    share_epoch_thread(share_work, thread);
}

/* --- locks ------------------------------------------------------------------------------------ */

static void locks_work(struct meet *m, int thread)
{
    long *v = m->value[thread];
    MPI_Win w = m->win[0];
    for (int i = 0; i < TURNS; i++)
        for (int t = thread; t < m->size; t += THREADS) {
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, w));
            OK(MPI_Get(&v[0], 1, MPI_LONG, t, 0, 1, MPI_LONG, w));
            OK(MPI_Win_flush(t, w));
            v[1] = v[0] + 1;
            OK(MPI_Put(&v[1], 1, MPI_LONG, t, 0, 1, MPI_LONG, w));
            OK(MPI_Win_unlock(t, w));
        }
}

static void locks(void *arg)
{
    struct meet *m = here();
    (void)arg;
    begin(m, 1, 1);
    others_open(m);
    locks_work(m, 0);
    wait_done(m, THREADS - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, m->rank, 0, m->win[0]));
    SIM_CHECK(m->mem[0][0] == TURNS * m->size);
    OK(MPI_Win_unlock(m->rank, m->win[0]));
    OK(MPI_Win_free(&m->win[0]));
}

static void locks_thread(int thread, void *arg)
{
    (void)arg;
    struct meet *m = here();
    wait_open(m);
    locks_work(m, thread);
    m->done++;
}

/* --- pscw ------------------------------------------------------------------------------------- */

static MPI_Group all_ranks(void)
{
    MPI_Group g;
    MPI_Comm_group(MPI_COMM_WORLD, &g);
    return g;
}

static void pscw(void *arg)
{
    struct meet *m = here();
    (void)arg;
    begin(m, 1, SIM_RANKS);
    MPI_Group g = all_ranks();
    others_open(m);
    for (int i = 0; i < TURNS; i++) {
        OK(MPI_Win_post(g, 0, m->win[0]));
        OK(MPI_Win_wait(m->win[0]));
        for (int r = 0; r < m->size; r++)
            SIM_CHECK(m->mem[0][r] == 100 * (i + 1) + r);
    }
    wait_done(m, 1);
    MPI_Group_free(&g);
    OK(MPI_Win_free(&m->win[0]));
}

static void pscw_thread(int thread, void *arg)
{
    (void)arg, (void)thread;
    struct meet *m = here();
    wait_open(m);
    MPI_Group g = all_ranks();
    for (int i = 0; i < TURNS; i++) {
        OK(MPI_Win_start(g, 0, m->win[0]));
        m->value[1][0] = 100 * (i + 1) + m->rank;
        for (int t = 0; t < m->size; t++)
            OK(MPI_Put(&m->value[1][0], 1, MPI_LONG, t, m->rank, 1, MPI_LONG, m->win[0]));
        OK(MPI_Win_complete(m->win[0]));
    }
    MPI_Group_free(&g);
    m->done++;
}

/* --- windows ---------------------------------------------------------------------------------- */

static void windows_work(struct meet *m, int thread)
{
    long *v = m->value[thread];
    MPI_Win w = m->win[thread];
    MPI_Request req;
    OK(MPI_Win_lock_all(0, w));
    for (int i = 0; i < TURNS; i++) {
        int t = (int)(sim_random() % (unsigned)m->size);
        v[0] = 10 * i + thread;
        OK(MPI_Rput(v, 1, MPI_LONG, t, m->rank, 1, MPI_LONG, w, &req));
        OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        OK(MPI_Win_flush(t, w));
        OK(MPI_Rget(v + 1, 1, MPI_LONG, t, m->rank, 1, MPI_LONG, w, &req));
        OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        SIM_CHECK(v[0] == v[1]);
    }
    OK(MPI_Win_unlock_all(w));
}

static void windows(void *arg)
{
    struct meet *m = here();
    (void)arg;
    begin(m, THREADS, SIM_RANKS);
    others_open(m);
    windows_work(m, 0);
    wait_done(m, THREADS - 1);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Win_free(&m->win[i]));
}

static void windows_thread(int thread, void *arg)
{
    (void)arg;
    struct meet *m = here();
    wait_open(m);
    windows_work(m, thread);
    m->done++;
}

/* --- dups ------------------------------------------------------------------------------------- */

static void dups_work(struct meet *m, int thread)
{
    long *v = m->value[thread];
    MPI_Win w;
    MPI_Request req;
    for (int i = 0; i < TURNS; i++) {
        int t = (int)(sim_random() % (unsigned)m->size), cell = 1 + m->rank * THREADS + thread;
        OK(MPIX_Win_idup(m->win[0], MPI_INFO_NULL, &w, &req));
        OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        v[0] = 10 * i + thread;
        v[2] = 1;
        OK(MPI_Put(v, 1, MPI_LONG, t, cell, 1, MPI_LONG, w));
        OK(sim_random() & 1 ? MPI_Win_flush(t, w) : MPI_Win_flush_all(w));
        OK(MPI_Get(v + 1, 1, MPI_LONG, t, cell, 1, MPI_LONG, w));
        OK(MPI_Win_flush_local_all(w));
        SIM_CHECK(v[0] == v[1]);
        OK(MPI_Accumulate(v + 2, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, w));
        m->sum++;
        OK(MPI_Win_free(&w));
    }
}

static void dups(void *arg)
{
    (void)arg;
    share_epoch(dups_work);
}

static void dups_thread(int thread, void *arg)
{
    (void)arg;
    share_epoch_thread(dups_work, thread);
}

static void apart(struct sim_knobs *k)
{
    k->nodes = k->ranks;
}

/* One element of each kind for all threads of a process. */
static void starve(struct sim_knobs *k)
{
    apart(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_SLOTS_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", k->seed & 1 ? "1" : "2");
    scenario_cvar("MPIR_CVAR_CH3_RMA_OP_GLOBAL_POOL_SIZE", "0");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", k->seed & 2 ? "1" : "2");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_GLOBAL_POOL_SIZE", "0");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE", "1");
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_DATA_BYTES", k->seed & 4 ? "0" : "655360");
}

const struct scenario scenarios_rma_threads[] = {
    {"rma-threads-share", 3, THREADS, share, share_thread, apart},
    {"rma-threads-share-starved", 4, THREADS, share, share_thread, starve},
    {"rma-threads-locks", 3, THREADS, locks, locks_thread, apart},
    {"rma-threads-locks-starved", 4, THREADS, locks, locks_thread, starve},
    {"rma-threads-pscw", 3, 2, pscw, pscw_thread, apart},
    {"rma-threads-pscw-starved", 3, 2, pscw, pscw_thread, starve},
    {"rma-threads-windows", 3, THREADS, windows, windows_thread, apart},
    {"rma-threads-windows-starved", 3, THREADS, windows, windows_thread, starve},
    {"rma-threads-dups", 3, THREADS, dups, dups_thread, NULL},
    {"rma-threads-dups-far", 3, THREADS, dups, dups_thread, apart},
    {"rma-threads-dups-starved", 3, THREADS, dups, dups_thread, starve},
    {NULL, 0, 0, NULL, NULL, NULL},
};
