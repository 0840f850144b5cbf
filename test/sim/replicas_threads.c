/* replicas_threads.c - several threads accumulate to windows with copies: what a thread has flushed
 * or unlocked is in the copy, whichever thread's call has forwarded it. The copy is read where it
 * lies: ranks are fibers of one process.
 *
 *   flush    threads accumulate, some put behind it, and flush in one epoch
 *   puts     threads put to words that no other one accumulates to
 *   locks    each thread locks targets of its own, while one flushes all
 *   unlock   one thread unlocks what the other's call forwards
 *   error    two threads wait for what one call has asked for, and it fails */
#include "scripted.h"

enum { COPY = AM_RMA + RMA_PKT_COPY };
enum { THREADS = 3, TURNS = 6, CELLS = SIM_RANKS * THREADS, WHILE = 600 };

static struct shared { /* of one rank; touched by its own fibers only */
    struct job j;
    int open, done, flushes, ended;
    long value[THREADS];
} ranks[SIM_RANKS];
static const struct rma_replicas *kept[SIM_RANKS];

static struct shared *here(void)
{
    return &ranks[sim_rank()];
}

static void begin(struct shared *s)
{
    MPI_Info info;
    memset(s, 0, sizeof *s);
    s->j.comm = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &s->j.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->j.size);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpix_win_replicas", "1"));
    OK(MPI_Win_allocate(CELLS * sizeof(long), sizeof(long), info, MPI_COMM_WORLD, &s->j.mem,
                        &s->j.win));
    OK(MPI_Info_free(&info));
    MPI_Win_set_errhandler(s->j.win, MPI_ERRORS_RETURN);
    memset(s->j.mem, 0, CELLS * sizeof(long));
    kept[s->j.rank] = inside(s->j.win)->replicas;
    MPI_Barrier(MPI_COMM_WORLD);
}

static struct shared *wait_open(void)
{
    struct shared *s = here();
    while (!s->open)
        sim_compute(1);
    return s;
}

static void wait_done(const struct shared *s)
{
    while (s->done < THREADS - 1)
        sim_compute(1);
}

static int cell_of(const struct shared *s, int thread)
{
    return s->j.rank * THREADS + thread;
}

static const long *copy(int owner)
{
    const struct rma_place *p = &kept[owner]->place[owner];
    return (const long *)(const void *)(kept[p->rank]->base + p->at);
}

/* What this thread has made of its word at t. */
static void has(const struct shared *s, int thread, int t)
{
    long got = copy(t)[cell_of(s, thread)];
    if (got != s->value[thread])
        sim_fail("thread %d: the copy of %d has %ld, not %ld (the owner: %ld)", thread, t, got,
                 s->value[thread], ranks[t].j.mem[cell_of(s, thread)]);
}

static void replace(struct shared *s, int thread, int t)
{
    s->value[thread]++;
    OK(MPI_Accumulate(&s->value[thread], 1, MPI_LONG, t, cell_of(s, thread), 1, MPI_LONG,
                      MPI_REPLACE, s->j.win));
}

/* All words, when all have ended their epochs. */
static void end(struct shared *s)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < CELLS; i++)
        if (copy(s->j.rank)[i] != s->j.mem[i])
            sim_fail("word %d: owner %ld, copy %ld", i, s->j.mem[i], copy(s->j.rank)[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&s->j.win));
}

/* --- flush ------------------------------------------------------------------------------------ */

static void flush_work(struct shared *s, int thread)
{
    for (int i = 0; i < TURNS; i++) {
        int t = (int)(sim_random() % (unsigned)s->j.size);
        replace(s, thread, t);
        if (sim_random() % 4 == 0) {
            OK(MPIX_Win_order(t, s->j.win));
            s->value[thread]++;
            put1(&s->j, &s->value[thread], t, cell_of(s, thread));
        }
        OK(sim_random() & 1 ? MPI_Win_flush(t, s->j.win) : MPI_Win_flush_all(s->j.win));
        has(s, thread, t);
    }
}

static void flushes(void *arg)
{
    struct shared *s = here();
    (void)arg;
    begin(s);
    OK(MPI_Win_lock_all(0, s->j.win));
    s->open = 1;
    flush_work(s, 0);
    wait_done(s);
    OK(MPI_Win_unlock_all(s->j.win));
    end(s);
}

static void flushes_thread(int thread, void *arg)
{
    struct shared *s = wait_open();
    (void)arg;
    flush_work(s, thread);
    s->done++;
}

/* --- locks ------------------------------------------------------------------------------------ */

/* Thread 0 accumulates nothing: its flush takes what others have noted. */
static void lock_work(struct shared *s, int thread)
{
    for (int i = 0; i < TURNS; i++)
        for (int t = thread; t < s->j.size; t += THREADS) {
            OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, s->j.win));
            if (thread)
                replace(s, thread, t);
            else
                OK(MPI_Win_flush_all(s->j.win));
            OK(MPI_Win_unlock(t, s->j.win));
            if (thread)
                has(s, thread, t);
        }
}

static void locks(void *arg)
{
    struct shared *s = here();
    (void)arg;
    begin(s);
    s->open = 1;
    lock_work(s, 0);
    wait_done(s);
    end(s);
}

static void locks_thread(int thread, void *arg)
{
    struct shared *s = wait_open();
    (void)arg;
    lock_work(s, thread);
    s->done++;
}

/* --- puts ------------------------------------------------------------------------------------- */

enum { PUTS = 20 };

/* Each thread accumulates once, and then puts to its own word: as long as others flush, too. Only
 * the accumulates are forwarded. */
static void put_work(struct shared *s, int thread, int t)
{
    replace(s, thread, t);
    OK(MPI_Win_flush(t, s->j.win));
    for (int i = 0; i < PUTS; i++) {
        s->value[thread]++;
        put1(&s->j, &s->value[thread], t, cell_of(s, thread));
        OK(i % 2 ? MPI_Win_flush(t, s->j.win) : MPI_Win_flush_all(s->j.win));
        has(s, thread, t);
    }
}

static void puts_alone(void *arg)
{
    struct shared *s = here();
    (void)arg;
    begin(s);
    OK(MPI_Win_lock_all(0, s->j.win));
    struct counts c = mark(s->j.rank);
    s->open = 1;
    put_work(s, 0, 0);
    wait_done(s);
    SIM_CHECK(since(&c, RMA_PKT_FORWARD) <= THREADS);
    OK(MPI_Win_unlock_all(s->j.win));
    end(s);
}

static void puts_thread(int thread, void *arg)
{
    struct shared *s = wait_open();
    (void)arg;
    put_work(s, thread, 0);
    s->done++;
}

/* --- unlock ----------------------------------------------------------------------------------- */

/* Thread 0 forwards what thread 1 has accumulated, and the copy is late. Thread 1's unlock, which
 * has nothing to forward itself, waits for it. */
static void unlock(void *arg)
{
    struct shared *s = here();
    (void)arg;
    begin(s);
    SIM_CHECK(kept[1]->place[1].rank == 2);
    if (s->j.rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, s->j.win));
        sim_hold(COPY, 1, 2);
        s->open = 1;
        while (!s->flushes)
            turn();
        OK(MPI_Win_flush_all(s->j.win));
        while (!s->done)
            turn();
        OK(MPI_Win_unlock(2, s->j.win));
    } else if (s->j.rank == 3) {
        while (!sim_held(COPY, 2))
            turn();
        for (int i = 0; i < WHILE; i++)
            turn();
        sim_let_go(COPY, 2);
    }
    end(s);
}

static void unlock_thread(int thread, void *arg)
{
    (void)arg;
    if (sim_rank() || thread != 1)
        return;
    struct shared *s = wait_open();
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, s->j.win));
    replace(s, 1, 1);
    s->flushes = 1;
    while (!sim_held(COPY, 2))
        sim_compute(1);
    OK(MPI_Win_unlock(1, s->j.win));
    has(s, 1, 1);
    s->done = 1;
}

/* --- error ------------------------------------------------------------------------------------ */

/* Thread 1 has accumulated to rank 1; thread 0's flush forwards it, and the owner dies. Both
 * flushes return it. */
static void error(void *arg)
{
    struct shared *s = here();
    (void)arg;
    begin(s);
    SIM_CHECK(kept[1]->place[1].rank == 2);
    if (s->j.rank == 0) {
        OK(MPI_Win_lock_all(0, s->j.win));
        replace(s, 0, 1);
        OK(MPI_Win_flush(1, s->j.win));
        sim_hold(COPY, 1, 2);
        replace(s, 1, 1);
        s->open = 1;
        ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush(1, s->j.win));
        while (!s->done)
            turn();
        (void)MPI_Win_unlock_all(s->j.win);
        tell(2);
        tell(3);
    } else if (s->j.rank == 1) {
        while (!sim_held(COPY, 2))
            turn();
        ranks[0].flushes = 1; /* thread 1 calls it */
        while (!ranks[0].ended)
            turn();
        for (int i = 0; i < WHILE; i++)
            turn();
        sim_die();
    } else {
        hear(0);
    }
}

static void error_thread(int thread, void *arg)
{
    (void)arg;
    if (sim_rank() || thread != 1)
        return;
    struct shared *s = wait_open();
    while (!s->flushes)
        sim_compute(1);
    s->ended = 1; /* its own accumulates are done, so it waits for the copy only */
    ERR(MPIX_ERR_PROC_FAILED, MPI_Win_flush(1, s->j.win));
    s->done = 1;
}

/* --- scenarios -------------------------------------------------------------------------------- */

static void apart(struct sim_knobs *k)
{
    far_away(k);
    k->native = 0;
    k->ordered = 1;
}

static void unordered(struct sim_knobs *k)
{
    far_away(k);
    k->ordered = 0;
}

static void starve(struct sim_knobs *k)
{
    apart(k);
    far_and_poor(k);
}

static void mortal(struct sim_knobs *k)
{
    apart(k);
    k->ordered = 0;
    k->am_zcopy_min = 0;
    k->quiet_rank = -1;
    k->mortal = 1;
}

const struct scenario scenarios_replicas_threads[] = {
    {"replicas-acc-threads", 3, THREADS, flushes, flushes_thread, apart},
    {"replicas-acc-threads-any", 3, THREADS, flushes, flushes_thread, NULL},
    {"replicas-acc-threads-starved", 3, THREADS, flushes, flushes_thread, starve},
    {"replicas-acc-threads-unordered", 3, THREADS, flushes, flushes_thread, unordered},
    {"replicas-acc-threads-locks", 3, THREADS, locks, locks_thread, apart},
    {"replicas-acc-threads-locks-any", 3, THREADS, locks, locks_thread, NULL},
    {"replicas-put-threads", 3, THREADS, puts_alone, puts_thread, apart},
    {"replicas-put-threads-starved", 3, THREADS, puts_alone, puts_thread, starve},
    {"replicas-acc-threads-unlock", 4, 2, unlock, unlock_thread, unordered},
    {"replicas-acc-threads-error", 4, 2, error, error_thread, mortal},
    {NULL, 0, 0, NULL, NULL, NULL},
};
