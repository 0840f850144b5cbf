/* lanes.c - short puts and flushes by transmit contexts: exact counts, each thing that ends a lane,
 * deaths, a process of one thread, and threads with windows and duplicates. The oracle is the
 * target's memory behind each call that completes puts. */
#include "scripted.h"

enum { CELLS = 48, CONTEXTS = 2, ROOM = 12 /* puts of a context under way */ };
static const long one[8] = {1, 1, 1, 1, 1, 1, 1, 1}, two = 2;
static long *cell[SIM_RANKS]; /* the window's memory at each rank */

static struct job lanes_open(void)
{
    struct job j = job_of_mortals(CELLS);
    cell[j.rank] = j.mem;
    MPI_Barrier(MPI_COMM_WORLD);
    return j;
}

/* Until a put to a rank goes by a context. */
static const struct rma_target *laned(MPI_Win win, int rank)
{
    for (long puts = sim_tx_puts(sim_rank()); sim_tx_puts(sim_rank()) == puts;) {
        OK(MPI_Put(one, 1, MPI_LONG, rank, 0, 1, MPI_LONG, win));
        OK(MPI_Win_flush(rank, win));
    }
    return rma_target_find(inside(win), rank);
}

/* A put by the lane: no element, and no thread has to hold proc->lock for it. */
static void lane_put(MPI_Win win, const long *v, int rank, int at)
{
    const struct rma_target *t = rma_target_find(inside(win), rank);
    long puts = sim_tx_puts(sim_rank());
    unsigned out = t->native_out;
    OK(MPI_Put(v, 1, MPI_LONG, rank, at, 1, MPI_LONG, win));
    SIM_CHECK(sim_tx_puts(sim_rank()) == puts + 1 && t->nops == 0 && t->native_out == out);
}

static void idle(int thread, void *arg)
{
    (void)thread;
    (void)arg;
}

/* --- one thread ------------------------------------------------------------------------------- */

/* Puts and flushes of a lane send nothing, and the counters have them. */
static void counts_of(void *arg)
{
    (void)arg;
    struct job j = lanes_open();
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        const struct rma_target *t = laned(j.win, 1);
        lane_put(j.win, one, 1, 1);
        OK(MPI_Win_flush(1, j.win));
        struct counts c = mark(0);
        long puts = pvar(j.win, PVAR_RMA_PUT), native = pvar(j.win, PVAR_RMA_NATIVE);
        long bytes = pvar(j.win, PVAR_RMA_BYTES), flushes = sim_tx_flushes(0);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 4; i++)
                lane_put(j.win, &two, 1, 2 + 4 * round + i);
            SIM_CHECK(t->native_out == 0);
            OK(MPI_Win_flush(1, j.win));
            for (int i = 0; i < 4; i++)
                SIM_CHECK(cell[1][2 + 4 * round + i] == 2);
        }
        SIM_CHECK(since_all(&c) == 0 && sim_tx_flushes(0) == flushes + 3);
        SIM_CHECK(pvar(j.win, PVAR_RMA_PUT) == puts + 12);
        SIM_CHECK(pvar(j.win, PVAR_RMA_NATIVE) == native + 12);
        SIM_CHECK(pvar(j.win, PVAR_RMA_BYTES) == bytes + 12 * (long)sizeof(long));
        lane_put(j.win, &two, 1, 20);
        SIM_CHECK(rma_win_pvar_at(inside(j.win), PVAR_RMA_OUTSTANDING, 1) == 1);
        ERR(MPI_ERR_DISP, MPI_Put(one, 1, MPI_LONG, 1, -1, 1, MPI_LONG, j.win));
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(cell[1][20] == 2 && t->native_out == 0);
        OK(MPI_Put(one, 2, MPI_LONG, 1, CELLS - 1, 2, MPI_LONG, j.win)); /* out of range */
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, j.win));
        OK(MPI_Win_unlock_all(j.win));
        SIM_CHECK(pvar(j.win, PVAR_RMA_PUT) == puts + 14);
        ERR(MPI_ERR_RMA_SYNC, MPI_Put(one, 1, MPI_LONG, 1, 3, 1, MPI_LONG, j.win));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_flush(1, j.win));
    }
    job_close(&j);
}

/* A flush of all asks each context's target with puts out, and sends nothing. A local one asks
 * none, and the lanes stay open. */
static void counts_of_all(void *arg)
{
    (void)arg;
    struct job j = lanes_open();
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        laned(j.win, 1);
        laned(j.win, 2);
        struct counts c = mark(0);
        long flushes = sim_tx_flushes(0);
        for (int i = 1; i < 10; i++) {
            for (int to = 1; to <= 2; to++)
                lane_put(j.win, &two, to, i);
            OK(MPI_Win_flush_local(1, j.win));
            OK(MPI_Win_flush_local_all(j.win));
            SIM_CHECK(sim_tx_flushes(0) == flushes);
            lane_put(j.win, &two, 1, 10 + i);
            OK(MPI_Win_flush_all(j.win));
            SIM_CHECK(sim_tx_flushes(0) == flushes + 2 && cell[1][10 + i] == 2);
            SIM_CHECK(cell[1][i] == 2 && cell[2][i] == 2);
            OK(MPI_Win_flush_all(j.win));
            SIM_CHECK(sim_tx_flushes(0) == flushes + 2);
            flushes += 2;
        }
        SIM_CHECK(since_all(&c) == 0);
        /* with one more element the usual way */
        lane_put(j.win, &two, 1, 30);
        OK(MPI_Accumulate(&two, 1, MPI_LONG, 2, 30, 1, MPI_LONG, MPI_REPLACE, j.win));
        OK(MPI_Win_flush_all(j.win));
        SIM_CHECK(cell[1][30] == 2 && cell[2][30] == 2 && since_all(&c) > 0);
        laned(j.win, 1);
        lane_put(j.win, &two, 1, 31);
        OK(MPI_Put(one, 2, MPI_LONG, 2, CELLS - 1, 2, MPI_LONG, j.win)); /* out of range */
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush_all(j.win));
        SIM_CHECK(cell[1][31] == 2);
        laned(j.win, 1);
        lane_put(j.win, &two, 1, 32);
        OK(MPI_Win_unlock_all(j.win));
        SIM_CHECK(cell[1][32] == 2);
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(j.win));
        ERR(MPI_ERR_RMA_SYNC, MPI_Win_flush_local_all(j.win));
    }
    job_close(&j);
}

/* What is too short for a put by the network does not go by an open lane, either. */
static void least(void *arg)
{
    (void)arg;
    struct job j = lanes_open();
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        for (long puts = sim_tx_puts(0); sim_tx_puts(0) == puts;) {
            OK(MPI_Put(one, 2, MPI_LONG, 1, 0, 2, MPI_LONG, j.win));
            OK(MPI_Win_flush(1, j.win));
        }
        long puts = sim_tx_puts(0);
        OK(MPI_Put(one, 2, MPI_LONG, 1, 2, 2, MPI_LONG, j.win));
        SIM_CHECK(sim_tx_puts(0) == puts + 1);
        OK(MPI_Put(one, 1, MPI_LONG, 1, 4, 1, MPI_LONG, j.win));
        SIM_CHECK(sim_tx_puts(0) == puts + 1);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(cell[1][3] == 1 && cell[1][4] == 1);
        OK(MPI_Win_unlock_all(j.win));
    }
    job_close(&j);
}

/* A context has no room, so a put goes another way, and a later one by the context again. The flush
 * waits for both. */
static int held;

static void unsure(void *arg)
{
    (void)arg;
    held = 0;
    struct job j = lanes_open();
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        const struct rma_target *t = laned(j.win, 1);
        for (int i = 1; i <= ROOM; i++)
            OK(MPI_Put(&two, 1, MPI_LONG, 1, i, 1, MPI_LONG, j.win));
        sim_hold(SIM_NATIVE_OPS, 0, 1);
        OK(MPI_Put(&two, 1, MPI_LONG, 1, ROOM + 1, 1, MPI_LONG, j.win));
        sim_hold(-1, 0, 0);
        for (long puts = sim_tx_puts(0); sim_tx_puts(0) == puts; turn())
            OK(MPI_Put(&two, 1, MPI_LONG, 1, ROOM + 2, 1, MPI_LONG, j.win));
        held = 1;
        OK(MPI_Win_flush(1, j.win));
        for (int i = 1; i <= ROOM + 2; i++)
            SIM_CHECK(cell[1][i] == 2);
        SIM_CHECK(t->native_out == 0);
        OK(MPI_Win_unlock_all(j.win));
    }
    job_close(&j);
}

/* Another thread lets go of what is held, later than the flush has begun. */
static void let_go(int thread, void *arg)
{
    (void)thread;
    (void)arg;
    if (sim_rank() != 0)
        return;
    while (!held)
        sim_compute(1);
    sim_compute(50);
    sim_let_go(SIM_NATIVE_OPS, 1);
}

/* Each other operation, and each call that completes puts, ends the lane or flushes it. */
static void enders(void *arg)
{
    (void)arg;
    struct job j = lanes_open();
    if (j.rank == 0) {
        long got = 0;
        MPI_Request q;
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        for (int what = 0; what < 8; what++) {
            laned(j.win, 1);
            lane_put(j.win, one, 1, 4 * what);
            switch (what) {
            case 0: OK(MPI_Get(&got, 1, MPI_LONG, 1, 1, 1, MPI_LONG, j.win)); break;
            case 1: OK(MPI_Accumulate(one, 1, MPI_LONG, 1, 5, 1, MPI_LONG, MPI_SUM, j.win)); break;
            case 2: OK(MPI_Put(one, 6, MPI_LONG, 1, 40, 6, MPI_LONG, j.win)); break;
            case 3:
                OK(MPI_Rput(one, 1, MPI_LONG, 1, 13, 1, MPI_LONG, j.win, &q));
                OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
                break;
            case 4: OK(MPIX_Win_order(1, j.win)); break;
            case 5: OK(MPIX_Win_order(MPIX_ALL, j.win)); break;
            case 6: OK(MPI_Win_flush_local(1, j.win)); break;
            default: OK(MPI_Win_flush_local_all(j.win)); break;
            }
            if (what == 4 || what == 5) /* it does not pass the first one (R16) */
                OK(MPI_Put(&two, 1, MPI_LONG, 1, 4 * what, 1, MPI_LONG, j.win));
            if (what % 2 && what != 3)
                OK(MPI_Win_flush_all(j.win));
            else
                OK(MPI_Win_flush(1, j.win));
            SIM_CHECK(cell[1][4 * what] == (what == 4 || what == 5 ? 2 : 1));
            SIM_CHECK(rma_target_find(inside(j.win), 1)->native_out == 0);
            SIM_CHECK(what != 3 || cell[1][13] == 1);
        }
        SIM_CHECK(cell[1][5] == 1 && cell[1][45] == 1);
        laned(j.win, 1);
        lane_put(j.win, &two, 1, 46);
        OK(MPI_Win_unlock_all(j.win));
        SIM_CHECK(cell[1][46] == 2);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j.win));
        laned(j.win, 1);
        lane_put(j.win, &two, 1, 47);
        OK(MPI_Win_unlock(1, j.win));
        SIM_CHECK(cell[1][47] == 2);
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        MPI_Win dup = MPI_WIN_NULL;
        OK(MPIX_Win_idup(j.win, MPI_INFO_NULL, &dup, &q));
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
        laned(dup, 1);
        lane_put(dup, &two, 1, 45);
        OK(MPI_Win_free(&dup));
        SIM_CHECK(cell[1][45] == 2);
        OK(MPI_Win_unlock_all(j.win));
    }
    job_close(&j);
}

/* There is one element: that of the first target is given up with its lane. */
static void evicted(void *arg)
{
    (void)arg;
    struct job j = lanes_open();
    if (j.rank == 0) {
        for (int i = 1; i < 8; i++) { /* in each epoch once: then what is called leaves at once */
            int to = 1 + i % 2;
            OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
            laned(j.win, to);
            lane_put(j.win, &two, to, i);
            OK(MPI_Put(one, 1, MPI_LONG, 3 - to, i, 1, MPI_LONG, j.win));
            OK(MPI_Win_flush(to, j.win));
            SIM_CHECK(cell[to][i] == 2);
            OK(MPI_Win_flush(3 - to, j.win));
            SIM_CHECK(cell[3 - to][i] == 1);
            OK(MPI_Win_unlock_all(j.win));
        }
    }
    job_close(&j);
}

/* The flush that waits for what a dead target has not confirmed returns that. */
static void death(void *arg)
{
    (void)arg;
    struct job j = lanes_open();
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        laned(j.win, 1);
        laned(j.win, 2);
        lane_put(j.win, &two, 2, 7);
    }
    if (stand_by(&j, 1))
        return;
    tell(2);
    tell(1);
    int err = MPI_SUCCESS;
    for (int i = 0; !err && i < 1000; i++) {
        err = MPI_Put(&two, 1, MPI_LONG, 1, 7, 1, MPI_LONG, j.win);
        err = err ? err : MPI_Win_flush(1, j.win);
        turn();
    }
    ERR(MPIX_ERR_PROC_FAILED, err);
    hear_of_death(1);
    ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush(1, j.win));
    OK(MPI_Win_flush(2, j.win));
    SIM_CHECK(cell[2][7] == 2);
    ERR(MPIX_ERR_PROC_FAILED, MPI_Win_unlock_all(j.win));
}

/* The connection of a context breaks alone. A flush returns what is lost, once. Then puts go the
 * usual way. */
static void breaks(void *arg)
{
    int all = arg != NULL;
    struct job j = lanes_open();
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        laned(j.win, 1);
        laned(j.win, 2);
        lane_put(j.win, &two, 1, 7);
        lane_put(j.win, &two, 2, 7);
        sim_tx_break(0, 1);
        ERR(MPIX_ERR_PROC_FAILED, all ? MPI_Win_flush_all(j.win) : MPI_Win_flush(1, j.win));
        OK(MPI_Win_flush_all(j.win));
        SIM_CHECK(cell[2][7] == 2);
        long puts = sim_tx_puts(0);
        for (int i = 0; i < 20; i++) {
            OK(MPI_Put(one, 1, MPI_LONG, 1, 8 + i, 1, MPI_LONG, j.win));
            OK(all ? MPI_Win_flush_all(j.win) : MPI_Win_flush(1, j.win));
            SIM_CHECK(cell[1][8 + i] == 1);
        }
        SIM_CHECK(sim_tx_puts(0) == puts);
        OK(MPI_Win_unlock_all(j.win));
    }
    job_close(&j);
}

static void flush_breaks(void *arg)
{
    (void)arg;
    breaks(NULL);
}

static void flush_all_breaks(void *arg)
{
    (void)arg;
    breaks(cell);
}

/* A put behind the revocation is an error, whatever lane there was. */
static void revoked(void *arg)
{
    (void)arg;
    struct job j = lanes_open();
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        laned(j.win, 1);
        lane_put(j.win, &two, 1, 7);
        OK(MPIX_Win_revoke(j.win));
        ERR(MPIX_ERR_REVOKED, MPI_Put(one, 1, MPI_LONG, 1, 3, 1, MPI_LONG, j.win));
        ERR(MPIX_ERR_REVOKED, MPI_Win_flush(1, j.win));
    }
    while (!rma_win_is_revoked(inside(j.win)))
        turn();
    OK(MPI_Win_free(&j.win));
}

/* A process of one thread has one context for all its windows, and no lock is needed. */
static void alone(void *arg)
{
    (void)arg;
    struct job j = lanes_open();
    MPI_Win dup;
    SIM_CHECK(!proc->threaded);
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        OK(MPIX_Win_idup(j.win, MPI_INFO_NULL, &dup, &(MPI_Request){0}));
        const struct rma_target *t = laned(j.win, 1);
        SIM_CHECK(laned(dup, 1) != t && sim_tx_contexts(0) == 1);
        lane_put(j.win, &two, 1, 1);
        lane_put(dup, &two, 1, 2);
        struct counts c = mark(0);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(cell[1][1] == 2);
        OK(MPI_Win_flush(1, dup));
        SIM_CHECK(cell[1][2] == 2 && since_all(&c) == 0);
        OK(MPI_Accumulate(one, 1, MPI_LONG, 1, 1, 1, MPI_LONG, MPI_SUM, j.win));
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(cell[1][1] == 3);
        laned(j.win, 1);
        OK(MPI_Win_free(&dup));
        OK(MPI_Win_unlock_all(j.win));
    }
    job_close(&j);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { THREADS = 3, ROUNDS = 30, PART = CELLS / THREADS };
static struct team {
    struct job j;
    MPI_Win win[THREADS];
    int open, left;
} team[SIM_RANKS];

/* One thread puts and flushes; another closes the lane meanwhile, between its look and its put. */
enum { NOT_YET, CLOSING, ENOUGH, OVER };
static int closing;
static MPI_Win closed;

static void open_and_closed(void *arg)
{
    (void)arg;
    closing = NOT_YET;
    struct job j = lanes_open();
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, j.win));
        laned(j.win, 1);
        closed = j.win;
        closing = CLOSING;
        for (long i = 1; i <= 30; i++) {
            OK(MPI_Put(&i, 1, MPI_LONG, 1, 1, 1, MPI_LONG, j.win));
            OK(MPI_Win_flush(1, j.win));
            SIM_CHECK(cell[1][1] == i);
        }
        closing = ENOUGH;
        while (closing != OVER)
            sim_compute(1);
        OK(MPI_Win_unlock_all(j.win));
    }
    job_close(&j);
}

static void closer(int thread, void *arg)
{
    (void)thread;
    (void)arg;
    if (sim_rank() != 0)
        return;
    while (closing == NOT_YET)
        sim_compute(1);
    for (; closing == CLOSING; sim_compute(3))
        OK(MPIX_Win_order(1, closed));
    closing = OVER;
}

/* The cells of a thread at one target, and what they hold behind a flush. */
static void random_work(struct team *m, int thread)
{
    int me = m->j.rank, size = m->j.size;
    MPI_Win win = m->win[thread];
    long model[SIM_RANKS][PART] = {{0}}, v = 0, got[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        int to = (int)(sim_random() % (unsigned)size), at = (int)(sim_random() % PART);
        int place = thread * PART + at;
        unsigned draw = (unsigned)(sim_random() % 16);
        if (to == me || me != 0) /* only rank 0 writes: cells have one writer */
            continue;
        v = i * 100 + thread + 1;
        if (draw < 9) {
            OK(MPI_Put(&v, 1, MPI_LONG, to, place, 1, MPI_LONG, win));
            OK(MPIX_Win_order(to, win));
        } else if (draw < 11) {
            OK(MPI_Accumulate(&v, 1, MPI_LONG, to, place, 1, MPI_LONG, MPI_REPLACE, win));
            OK(MPIX_Win_order(to, win));
        } else if (draw < 13) {
            OK(MPI_Get(&got[i], 1, MPI_LONG, to, place, 1, MPI_LONG, win));
            OK(MPI_Win_flush(to, win));
            SIM_CHECK(got[i] == model[to][at]);
            continue;
        } else {
            for (int k = 0; k < PART; k++) { /* places that differ have no order */
                model[to][k] = v + 1000 * k;
                OK(MPI_Put(&model[to][k], 1, MPI_LONG, to, thread * PART + k, 1, MPI_LONG, win));
                if (draw == 15)
                    OK(MPI_Win_flush(to, win));
            }
        }
        if (draw < 11)
            model[to][at] = v;
        if (draw % 3 == 0)
            OK(MPI_Win_flush_all(win));
        else
            OK(MPI_Win_flush(to, win));
        for (int k = 0; k < PART; k++)
            SIM_CHECK(cell[to][thread * PART + k] == model[to][k]);
    }
    m->left--;
}

static void threads_main(void *arg)
{
    (void)arg;
    struct team *m = &team[sim_rank()];
    m->open = 0;
    m->left = THREADS;
    m->j = lanes_open();
    OK(MPI_Win_lock_all(0, m->j.win));
    m->win[0] = m->win[1] = m->j.win; /* perhaps two threads with one window */
    int shared = (int)(sim_random() & 1);
    for (int i = 1 + shared; i < THREADS; i++) {
        MPI_Request q;
        OK(MPIX_Win_idup(m->j.win, MPI_INFO_NULL, &m->win[i], &q));
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    }
    m->open = 1;
    random_work(m, 0);
    while (m->left)
        turn();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1 + shared; i < THREADS; i++)
        OK(MPI_Win_free(&m->win[i]));
    OK(MPI_Win_unlock_all(m->j.win));
    OK(MPI_Win_free(&m->j.win));
}

static void threads_thread(int thread, void *arg)
{
    (void)arg;
    struct team *m = &team[sim_rank()];
    while (!m->open)
        sim_compute(1);
    random_work(m, thread);
}

/* --- knobs ------------------------------------------------------------------------------------ */

static void with_contexts(struct sim_knobs *k)
{
    far_away(k);
    k->replies = 0;
    k->native = SIM_NATIVE_PUT | SIM_NATIVE_GET;
    k->native_ordered = 0;
    k->native_reg = k->seed % 2;
    k->native_lone = 0;
    k->native_min = 8;
    k->native_tx = CONTEXTS;
    k->ordered = 1;
    k->again_percent = k->refuse_percent = k->inbox = 0;
}

static void with_closer(struct sim_knobs *k)
{
    with_contexts(k);
    k->preempt_percent = 50;
}

static void with_contexts_16(struct sim_knobs *k)
{
    with_contexts(k);
    k->native_min = 16;
}

static void with_contexts_mortal(struct sim_knobs *k)
{
    with_contexts(k);
    k->mortal = 1;
}

static void with_few(struct sim_knobs *k)
{
    with_contexts(k);
    far_and_poor(k);
}

static void with_threads(struct sim_knobs *k)
{
    with_contexts(k);
    k->native = SIM_NATIVE_ALL;
    k->native_tx = 1 + (int)(k->seed % 2);
    k->preempt_percent = 50;
}

const struct scenario scenarios_lanes[] = {
    {"count-lane", 2, 2, counts_of, idle, with_contexts},
    {"count-lane-all", 3, 2, counts_of_all, idle, with_contexts},
    {"lane-least", 2, 2, least, idle, with_contexts_16},
    {"lane-unsure", 2, 2, unsure, let_go, with_contexts},
    {"lane-enders", 2, 2, enders, idle, with_contexts},
    {"lane-evicted", 3, 2, evicted, idle, with_few},
    {"lane-death", 3, 2, death, idle, with_contexts_mortal},
    {"lane-breaks", 3, 2, flush_breaks, idle, with_contexts},
    {"lane-breaks-all", 3, 2, flush_all_breaks, idle, with_contexts},
    {"lane-revoked", 2, 2, revoked, idle, with_contexts},
    {"lane-alone", 2, 1, alone, NULL, with_contexts},
    {"t-lane-closed", 2, 2, open_and_closed, closer, with_closer},
    {"t-lanes", 3, THREADS, threads_main, threads_thread, with_threads},
    {NULL, 0, 0, NULL, NULL, NULL},
};
