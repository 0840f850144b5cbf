/* early.c - random programs of passive epochs that flush often. They flush behind long operations
 * that have left (R12), or behind short puts that the network does at the call (R14).
 *
 * Each thread has a slice of its own in every window. When a flush returns, the target's memory
 * must hold what the thread has done there. By then an operation out of range must have been
 * reported: by that flush, or by none. */
#include <stdlib.h>
#include <string.h>

#include "scripted.h"

enum { SLICE = 700, STEPS = 40, THREADS = 2, MOST = 4 };

static struct meet { /* of one rank; touched by its own fibers only */
    struct job j;
    long *all[MOST]; /* each rank's memory, to see without MPI what has come */
    int open, done;
    int lone; /* most operations are short puts that are flushed at once */
} meet[SIM_RANKS];

struct side { /* what a thread has done */
    struct meet *m;
    int thread, bad[MOST]; /* targets that have refused something since their last flush */
    int used[MOST]; /* longs of the slice since the last flush: what is done to the same ones has no
                     * order */
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
            sim_fail("rank %d, thread %d: after a flush of rank %d long %d is %ld, not %ld",
                     s->m->j.rank, s->thread, t, i, have[i], s->model[t][i]);
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

/* 0: it will not be done. */
static int put_some(struct side *s, int t, const long *b, int n, MPI_Aint disp, int bad)
{
    if (MPI_Put(b, n, MPI_LONG, t, disp, n, MPI_LONG, s->m->j.win) != MPI_SUCCESS)
        SIM_CHECK(bad); /* to itself: reported at once */
    else
        s->bad[t] |= bad;
    return !bad;
}

static void one(struct side *s, int step, int may_fail)
{
    const struct job *j = &s->m->j;
    int t = below(j->size), n = below(3) ? 1 + below(SLICE) : 1 + below(8),
        bad = may_fail && below(12) == 0;
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
        OK(MPI_Get_accumulate(b, n, MPI_LONG, s->old[step], n, MPI_LONG, t, slice(s) + at, n,
                              MPI_LONG, MPI_REPLACE, j->win));
        break;
    case 2:
        OK(MPI_Get(s->back, n, MPI_LONG, t, slice(s) + at, n, MPI_LONG, j->win));
        OK(MPI_Win_flush_local(t, j->win));
        SIM_CHECK(!memcmp(s->back, model, (size_t)n * sizeof(long)));
        return;
    default:
        if (!put_some(s, t, b, n, disp, bad))
            return;
    }
    memcpy(model, b, (size_t)n * sizeof(long));
}

static void one_short(struct side *s, int step, int t, int may_fail)
{
    int n = 1 + below(2), bad = may_fail && below(25) == 0, at = s->used[t];
    if (at + n > SLICE)
        at = s->used[t] = (must_tell(s, t, MPI_Win_flush(t, s->m->j.win)), 0);
    long *b = s->buf[step];
    for (int i = 0; i < n; i++)
        b[i] = below(100000);
    s->used[t] = at + n;
    if (put_some(s, t, b, n, bad ? (MPI_Aint)s->m->j.size * THREADS * SLICE - n + 1 : slice(s) + at,
                 bad))
        memcpy(s->model[t] + at, b, (size_t)n * sizeof(long));
}

static void steps_lone(struct side *s, int may_fail)
{
    MPI_Win win = s->m->j.win;
    for (int i = 0, t = below(s->m->j.size); i < STEPS; i++) {
        if (below(12) == 0)
            t = below(s->m->j.size);
        if (below(6) == 0)
            one(s, i, may_fail);
        else
            one_short(s, i, t, may_fail);
        for (int k = below(6) ? 0 : below(30); k > 0; k--)
            turn();
        switch (below(10)) {
        case 0: break;
        case 1: OK(MPI_Win_flush_local(t, win)); break;
        case 2: must_tell(s, -1, MPI_Win_flush_all(win)); break;
        default: must_tell(s, t, MPI_Win_flush(t, win));
        }
    }
    must_tell(s, -1, MPI_Win_flush_all(win));
}

static void steps(struct side *s, int may_fail)
{
    MPI_Win win = s->m->j.win;
    if (s->m->lone) {
        steps_lone(s, may_fail);
        return;
    }
    for (int i = 0; i < STEPS; i++) {
        int t = below(s->m->j.size);
        for (int k = below(3); k > 0 && i < STEPS; k--)
            one(s, i++, may_fail);
        for (int k = below(4) ? 0 : below(30); k > 0; k--)
            turn(); /* it may be answered before any rank asks */
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

static void run(int lone)
{
    struct meet *m = &meet[sim_rank()];
    struct side *s = side_open(0);
    int size, threads = proc->threaded ? THREADS : 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(m, 0, sizeof *m);
    m->lone = lone;
    m->j = job_open(size * THREADS * SLICE);
    MPI_Allgather(&m->j.mem, sizeof m->j.mem, MPI_BYTE, m->all, sizeof m->j.mem, MPI_BYTE,
                  MPI_COMM_WORLD);
    int each = threads == 1 && below(3) == 0;
    for (int t = 0; t < size && each; t++)
        OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, m->j.win));
    if (!each)
        OK(MPI_Win_lock_all(below(2) ? MPI_MODE_NOCHECK : 0, m->j.win));
    m->open = 1;
    /* for evicted elements the end returns it */
    steps(s, threads == 1 && inside(m->j.win)->table.target_quota.size >= (unsigned)size);
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

static void program(void *arg)
{
    (void)arg;
    run(0);
}

static void lone_program(void *arg)
{
    (void)arg;
    run(1);
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

/* Rank 1 dies while puts of n longs to it and what asks for their end are on their way; every call
 * ends. */
static void dies(int n)
{
    long v[SLICE] = {7};
    struct job j = job_of_mortals(SLICE);
    OK(MPI_Win_lock_all(0, j.win));
    for (int i = 0; i < 6 && j.rank != 1; i++) {
        OK(MPI_Put(v, n, MPI_LONG, 1, 0, n, MPI_LONG, j.win));
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
        err = MPI_Put(v, n, MPI_LONG, 1, 0, n, MPI_LONG, j.win);
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

static void dying(void *arg)
{
    (void)arg;
    dies(SLICE);
}

static void dying_lone(void *arg)
{
    (void)arg;
    dies(1);
}

/* --- scripts ---------------------------------------------------------------------------------- */

static long longs[SLICE] = {3};

static void long_put(const struct job *j, int rank)
{
    OK(MPI_Put(longs, SLICE, MPI_LONG, rank, 0, SLICE, MPI_LONG, j->win));
}

static struct rma_target *element(const struct job *j, int rank)
{
    return rma_target_find(inside(j->win), rank);
}

/* Until long ones to rank ask early. */
static void taught(const struct job *j, int rank)
{
    while (!inside(j->win)->asks_early) {
        struct counts c = mark(j->rank);
        long_put(j, rank);
        while (since(&c, RMA_PKT_PUT) == 0)
            turn();
        OK(MPI_Win_flush(rank, j->win));
    }
}

/* More than 2^31 flushes found nothing to do since the last that was answered: what came first
 * after that still differs from what is forged. */
static void old_tokens(void *arg)
{
    (void)arg;
    struct job j = job_open(SLICE);
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        taught(&j, 1);
        inside(j.win)->token += 0x80000010u;
        if (sim_seed() % 2) {
            put1(&j, longs, 1, 0);
            OK(MPI_Win_flush(1, j.win));
            inside(j.win)->asks_early = 1;
        }
        long_put(&j, 1);
        for (int i = sim_seed() % 3 ? 300 : 0; i > 0; i--)
            turn();
        if (sim_seed() % 5)
            put1(&j, longs, 1, 0);
        for (int i = 0; i < 3; i++) {
            OK(MPI_Win_flush(1, j.win));
            put1(&j, longs, 1, 0);
        }
        OK(MPI_Win_unlock_all(j.win));
    }
    job_close(&j);
}

/* One that follows when the one before has been answered, without a flush: a stream, too. */
static void slow_stream(void *arg)
{
    (void)arg;
    struct job j = job_open(SLICE);
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        taught(&j, 1);
        struct counts b = mark(1);
        for (int i = 0; i < 20; i++) {
            long_put(&j, 1);
            for (int k = 0; k < 300; k++)
                turn();
        }
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(since_all(&b) <= 2);
        OK(MPI_Win_unlock_all(j.win));
    }
    job_close(&j);
}

/* A thread waits for rank 2 alone, and rank 1 dies with an early question that no call waits
 * for. The thread is not affected. */
static void not_awaited(void *arg)
{
    (void)arg;
    struct meet *m = &meet[sim_rank()];
    memset(m, 0, sizeof *m);
    m->j = job_of_mortals(SLICE);
    const struct job *j = &m->j;
    if (j->rank == 1) {
        hear(0);
        while (!meet[0].done)
            sim_compute(10);
        sim_die();
    }
    if (j->rank == 2) {
        m->open = 1;
        while (!sim_gone(1))
            sim_compute(10);
        sim_compute(1000); /* it answers when the others have heard of that */
        hear(0);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return; /* without MPI_Win_free, in which it would wait for the others */
    }
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j->win));
    taught(j, 1);
    tell(1);
    tell(2);
    while (!meet[2].open)
        turn();
    put1(j, longs, 2, 0);
    m->open = 1;
    OK(MPI_Win_flush_all(j->win)); /* called before the other thread's put */
    SIM_CHECK(boot_failed(1) && m->done);
    MPI_Send(NULL, 0, MPI_BYTE, 2, 8, MPI_COMM_WORLD);
    MPI_Win_unlock_all(j->win);
}

static void puts_meanwhile(int thread, void *arg)
{
    (void)thread, (void)arg;
    struct meet *m = &meet[sim_rank()];
    if (sim_rank() != 0)
        return;
    while (!m->open || !element(&m->j, 2)->tokens_out || element(&m->j, 1)->sync)
        sim_compute(1);
    long_put(&m->j, 1);
    SIM_CHECK(element(&m->j, 1)->early);
    m->done = 1;
}

/* The one answer that fits is due from a lock of another process, which waits for this put: it
 * asks nothing. */
static struct job other[SIM_RANKS];

static void no_room(void *arg)
{
    (void)arg;
    struct meet *m = &meet[sim_rank()];
    memset(m, 0, sizeof *m);
    m->j = job_open(SLICE);
    struct job *x = &other[m->j.rank];
    *x = job_open(SLICE);
    if (m->j.rank == 2) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, x->win));
        put1(x, longs, 1, 0);
        OK(MPI_Win_flush(1, x->win));
        tell(0);
        hear(0);
        OK(MPI_Win_unlock(1, x->win));
    } else if (m->j.rank == 0) {
        hear(2);
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, m->j.win));
        taught(&m->j, 1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, x->win));
        put1(x, longs, 1, 0);
        m->open = 1;
        OK(MPI_Win_unlock(1, x->win));
        while (!m->done)
            turn();
        OK(MPI_Win_unlock_all(m->j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    job_close(x);
    job_close(&m->j);
}

static void puts_without_room(int thread, void *arg)
{
    (void)thread, (void)arg;
    struct meet *m = &meet[sim_rank()];
    if (sim_rank() != 0)
        return;
    while (!m->open || element(&other[0], 1)->state != TARGET_LOCK_ISSUED)
        sim_compute(1);
    long_put(&m->j, 1);
    OK(MPI_Win_flush_local(1, m->j.win));
    tell(2);
    m->done = 1;
}

static void plain(struct sim_knobs *k)
{
    far_away(k);
    k->ordered = 1;
    k->am_max = 8192;
    k->native = 0;
    k->replies = 0;
}

static void plain_mortal(struct sim_knobs *k)
{
    plain(k);
    k->mortal = 1;
    k->quiet_rank = -1;
    k->inbox = k->refuse_percent = k->again_percent = 0;
    /* else the put is not over, and fails: any thread's next flush_all may return that */
    k->am_zcopy_min = 0;
}

static void one_answer(struct sim_knobs *k)
{
    plain(k);
    k->replies = 1;
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

static void lone(struct sim_knobs *k)
{
    far_random(k);
    k->native = SIM_NATIVE_ALL;
    k->native_ordered = k->seed / 2 % 4 == 0;
    k->native_reg = k->seed / 3 % 2;
    k->native_min = k->seed % 3 ? 0 : 2000;
    k->native_lone = 1;
}

static void poor_lone(struct sim_knobs *k)
{
    far_and_poor(k);
    lone(k);
    if (k->seed % 2)
        scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_WIN_POOL_SIZE", "2");
}

static void mortal_lone(struct sim_knobs *k)
{
    lone(k);
    k->nodes = k->ranks;
    k->mortal = 1;
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
    {"early-lone", 3, 1, lone_program, NULL, lone},
    {"early-lone-poor", 3, 1, lone_program, NULL, poor_lone},
    {"early-lone-threads", 3, THREADS, lone_program, other_thread, lone},
    {"early-lone-dying", 3, 1, dying_lone, NULL, mortal_lone},
    {"early-old-tokens", 2, 1, old_tokens, NULL, plain},
    {"early-slow-stream", 2, 1, slow_stream, NULL, plain},
    {"early-not-awaited", 3, 2, not_awaited, puts_meanwhile, plain_mortal},
    {"early-no-room", 3, 2, no_room, puts_without_room, one_answer},
    {NULL, 0, 0, NULL, NULL, NULL},
};
