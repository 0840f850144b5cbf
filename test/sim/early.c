/* early.c - random programs of passive epochs that flush often, behind long operations that have left (R12).
 *
 * Each thread has a slice of its own in every window.  When a flush returns, the target's memory must hold what the thread has done there,
 * and an operation out of range must have been told by then: by that flush, or by none. */
#include <stdlib.h>
#include <string.h>

#include "scripted.h"

enum { SLICE = 700, STEPS = 40, THREADS = 2, MOST = 4 };

static struct meet { /* of one rank; touched by its own fibers only */
    struct job j;
    long *all[MOST]; /* each rank's memory, to see without MPI what has come */
    int open, done;
} meet[SIM_RANKS];

struct side { /* what a thread has done */
    struct meet *m;
    int thread, bad[MOST]; /* targets that have refused something since their last flush */
    int used[MOST]; /* longs of the slice since the last flush: what is done to the same ones has no order */
    long model[MOST][SLICE], buf[STEPS][SLICE], old[STEPS][SLICE], back[SLICE];
};

static int below(int n)
{
    return (int)(sim_random() % (uint64_t)n);
}

static long slice(const struct side *s)
{
    return (long)(s->m->j.rank * THREADS + s->thread) * SLICE;
}

static void look(const struct side *s, int t)
{
    const long *have = s->m->all[t] + slice(s);
    for (int i = 0; i < SLICE; i++)
        if (have[i] != s->model[t][i])
            sim_fail("rank %d, thread %d: after a flush of rank %d long %d is %ld, not %ld", s->m->j.rank, s->thread, t, i, have[i],
                     s->model[t][i]);
}

static void must_tell(struct side *s, int t, int err)
{
    int bad = 0;
    for (int r = 0; r < s->m->j.size; r++)
        if (t < 0 || t == r) {
            bad += s->bad[r];
            s->bad[r] = s->used[r] = 0;
            look(s, r);
        }
    must_be(bad ? MPI_ERR_RMA_RANGE : MPI_SUCCESS, err, __FILE__, __LINE__);
}

static void one(struct side *s, int step, int may_fail)
{
    const struct job *j = &s->m->j;
    int t = below(j->size), n = below(3) ? 1 + below(SLICE) : 1 + below(8), bad = may_fail && below(12) == 0;
    if (s->used[t] + n > SLICE)
        must_tell(s, t, MPI_Win_flush(t, j->win));
    int at = s->used[t] + below(SLICE - s->used[t] - n + 1);
    s->used[t] = at + n;
    long *b = s->buf[step], *model = s->model[t] + at;
    MPI_Aint disp = bad ? (MPI_Aint)j->size * THREADS * SLICE - n + 1 : slice(s) + at;
    for (int i = 0; i < n; i++)
        b[i] = below(100000);
    switch (below(8)) {
    case 0:
        OK(MPI_Accumulate(b, n, MPI_LONG, t, slice(s) + at, n, MPI_LONG, MPI_SUM, j->win));
        for (int i = 0; i < n; i++)
            model[i] += b[i];
        return;
    case 1:
        OK(MPI_Get_accumulate(b, n, MPI_LONG, s->old[step], n, MPI_LONG, t, slice(s) + at, n, MPI_LONG, MPI_REPLACE, j->win));
        break;
    case 2:
        OK(MPI_Get(s->back, n, MPI_LONG, t, slice(s) + at, n, MPI_LONG, j->win));
        OK(MPI_Win_flush_local(t, j->win));
        SIM_CHECK(!memcmp(s->back, model, (size_t)n * sizeof(long)));
        return;
    default:
        if (MPI_Put(b, n, MPI_LONG, t, disp, n, MPI_LONG, j->win) != MPI_SUCCESS) {
            SIM_CHECK(bad); /* to itself: told at once */
            return;
        }
        s->bad[t] |= bad;
        if (bad)
            return;
    }
    memcpy(model, b, (size_t)n * sizeof(long));
}

static void steps(struct side *s, int may_fail)
{
    MPI_Win win = s->m->j.win;
    for (int i = 0; i < STEPS; i++) {
        int t = below(s->m->j.size);
        for (int k = below(3); k > 0 && i < STEPS; k--)
            one(s, i++, may_fail);
        for (int k = below(4) ? 0 : below(30); k > 0; k--)
            turn(); /* it may be answered before anybody asks */
        switch (below(6)) {
        case 0: must_tell(s, -1, MPI_Win_flush_all(win)); break;
        case 1: OK(MPI_Win_flush_local_all(win)); break;
        default: must_tell(s, t, MPI_Win_flush(t, win));
        }
    }
    must_tell(s, -1, MPI_Win_flush_all(win));
}

static struct side *side_open(int thread)
{
    struct side *s = calloc(1, sizeof *s);
    SIM_CHECK(s != NULL);
    s->m = &meet[sim_rank()];
    s->thread = thread;
    return s;
}

static void program(void *arg)
{
    (void)arg;
    struct meet *m = &meet[sim_rank()];
    struct side *s = side_open(0);
    int size, threads = proc->threaded ? THREADS : 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(m, 0, sizeof *m);
    m->j = job_open(size * THREADS * SLICE);
    MPI_Allgather(&m->j.mem, sizeof m->j.mem, MPI_BYTE, m->all, sizeof m->j.mem, MPI_BYTE, MPI_COMM_WORLD);
    int each = threads == 1 && below(3) == 0;
    for (int t = 0; t < size && each; t++)
        OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, m->j.win));
    if (!each)
        OK(MPI_Win_lock_all(below(2) ? MPI_MODE_NOCHECK : 0, m->j.win));
    m->open = 1;
    steps(s, threads == 1 && inside(m->j.win)->target_quota.size >= (unsigned)size); /* of elements that were given up the end tells */
    m->done++;
    while (m->done < threads)
        turn();
    for (int t = 0; t < size && each; t++)
        OK(MPI_Win_unlock(t, m->j.win));
    if (!each)
        OK(MPI_Win_unlock_all(m->j.win));
    free(s);
    job_close(&m->j);
}

static void other_thread(int thread, void *arg)
{
    (void)arg;
    struct meet *m = &meet[sim_rank()];
    while (!m->open)
        sim_compute(1);
    struct side *s = side_open(thread);
    steps(s, 0);
    free(s);
    m->done++;
}

/* Rank 1 dies with early questions to it and from it on their way; every call ends. */
static void dying(void *arg)
{
    (void)arg;
    long v[SLICE] = {7};
    struct job j = job_of_mortals(SLICE);
    OK(MPI_Win_lock_all(0, j.win));
    for (int i = 0; i < 3 && j.rank != 1; i++) {
        OK(MPI_Put(v, SLICE, MPI_LONG, 1, 0, SLICE, MPI_LONG, j.win));
        OK(MPI_Win_flush(1, j.win));
    }
    if (j.rank != 1)
        tell(1);
    if (j.rank == 1) {
        hear(0);
        hear(2);
        for (int i = below(40); i > 0; i--)
            turn();
        sim_die();
    }
    int err = MPI_SUCCESS, cls = MPI_SUCCESS;
    for (int i = 0; i < 1000 && !err; i++) {
        err = MPI_Put(v, SLICE, MPI_LONG, 1, 0, SLICE, MPI_LONG, j.win);
        for (int k = below(3) ? 0 : below(60); k > 0; k--)
            turn();
        if (!err)
            err = below(2) ? MPI_Win_flush(1, j.win) : MPI_Win_flush_all(j.win);
    }
    MPI_Error_class(err, &cls);
    SIM_CHECK(cls == MPIX_ERR_PROC_FAILED);
    hear_of_death(1);
    MPI_Win_unlock_all(j.win);
}

static void far_random(struct sim_knobs *k)
{
    k->nodes = k->seed % 5 ? k->ranks : 2;
    k->gather = k->seed % 3 ? 0 : k->seed % 2 ? 600 : 4096;
    k->ordered = k->seed % 7 != 0;
    k->am_max = k->seed % 2 ? 8192 : 1024;
}

static void far_native(struct sim_knobs *k)
{
    far_random(k);
    k->native = SIM_NATIVE_ALL;
    k->native_ordered = k->seed / 2 % 2;
    k->native_min = 2000;
}

static void poor(struct sim_knobs *k)
{
    far_random(k);
    far_and_poor(k);
    if (k->seed % 2)
        scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", "2");
    if (k->seed % 3 == 0)
        scenario_cvar("MPIR_CVAR_CH3_RMA_OP_WIN_POOL_SIZE", "5");
}

static void mortal(struct sim_knobs *k)
{
    far_random(k);
    k->nodes = k->ranks;
    k->mortal = 1;
}

const struct scenario scenarios_early[] = {
    {"early-random", 3, 1, program, NULL, far_random},
    {"early-random-native", 3, 1, program, NULL, far_native},
    {"early-random-poor", 3, 1, program, NULL, poor},
    {"early-threads", 3, THREADS, program, other_thread, far_random},
    {"early-threads-poor", 3, THREADS, program, other_thread, poor},
    {"early-dying", 3, 1, dying, NULL, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};
