/* threads.c - several threads of a rank inside MPI at once (rma.md 5.8): the main thread opens the
 * window, the others join in. */
#include "scripted.h"

enum { ROUNDS = 4, CELLS = 64 };

/* What the threads of one rank share; one rank's fields are touched by its own fibers only. */
static struct rank_record {
    struct job j, k;
    int open, left; /* the windows are there; threads that have not finished */
    int turn;       /* how far a script is in which threads take turns */
    long v[SIM_THREADS][ROUNDS][8], r[SIM_THREADS];
    char heap[SIM_THREADS][256];
} of[SIM_RANKS];

static struct rank_record *mine(void)
{
    return &of[sim_rank()];
}

static void begin(int threads)
{
    struct rank_record *m = mine();
    m->open = m->turn = 0;
    m->left = threads;
    m->j = job_open(CELLS);
    m->k = job_open(CELLS);
    m->open = 1;
}

static void end(void)
{
    struct rank_record *m = mine();
    while (m->left)
        sim_compute(1);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void stop(void)
{
    struct rank_record *m = mine();
    job_close(&m->k);
    job_close(&m->j);
}

static struct rank_record *join(void)
{
    struct rank_record *m = mine();
    while (!m->open)
        sim_compute(1);
    return m;
}

/* --- lock, operate, unlock on different targets by different threads -------------------------- */

static void lock_each(struct rank_record *m, int thread)
{
    int t = (m->j.rank + 1 + thread) % m->j.size;
    for (int i = 0; i < ROUNDS; i++) {
        long *v = m->v[thread][i];
        v[0] = 1;
        v[1] = 1000 * m->j.rank + 10 * thread + i;
        OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, m->j.win));
        OK(MPI_Accumulate(&v[0], 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, m->j.win));
        put1(&m->j, &v[1], t, 1 + m->j.rank * 4 + thread);
        if (i % 2) {
            OK(MPI_Win_flush(t, m->j.win));
            OK(MPI_Get(&m->r[thread], 1, MPI_LONG, t, 1 + m->j.rank * 4 + thread, 1, MPI_LONG,
                       m->j.win));
            OK(MPI_Win_flush(t, m->j.win));
            SIM_CHECK(m->r[thread] == v[1]);
        }
        OK(MPI_Win_unlock(t, m->j.win));
    }
    m->left--;
}

static void locks_main(void *arg)
{
    (void)arg;
    begin(3);
    lock_each(mine(), 0);
    end();
    SIM_CHECK(mine()->j.mem[0] == 3 * ROUNDS);
    stop();
}

static void locks_thread(int thread, void *arg)
{
    (void)arg;
    lock_each(join(), thread);
}

/* --- and all flush all: also what another thread has just unlocked, or locked again ----------- */

static void lock_flush_all(struct rank_record *m, int thread)
{
    int t = (m->j.rank + 1 + thread) % m->j.size;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        long *v = m->v[thread][i % ROUNDS];
        v[0] = 1000 * m->j.rank + 10 * thread + i;
        OK(MPI_Win_lock(MPI_LOCK_SHARED, t, 0, m->j.win));
        put1(&m->j, v, t, 1 + m->j.rank * 4 + thread);
        if (sim_random() % 4) {
            OK(MPI_Win_flush_all(m->j.win));
            SIM_CHECK(of[t].j.mem[1 + m->j.rank * 4 + thread] == v[0]);
        }
        OK(MPI_Win_unlock(t, m->j.win));
        SIM_CHECK(of[t].j.mem[1 + m->j.rank * 4 + thread] == v[0]);
    }
    m->left--;
}

static void flush_all_main(void *arg)
{
    (void)arg;
    begin(3);
    lock_flush_all(mine(), 0);
    end();
    stop();
}

/* One thread unlocks; two flush all, without a pause, until it has. */
static void unlock_main(void *arg)
{
    (void)arg;
    begin(3);
    struct rank_record *m = mine();
    int t = (m->j.rank + 1) % m->j.size, other = (m->j.rank + 2) % m->j.size;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, m->j.win));
    for (int i = 0; i < ROUNDS; i++) {
        m->v[0][i][0] = 100 * m->j.rank + i;
        OK(MPI_Win_lock(MPI_LOCK_SHARED, t, sim_random() % 2 ? MPI_MODE_NOCHECK : 0, m->j.win));
        m->turn = 1;
        put1(&m->j, &m->v[0][i][0], t, m->j.rank);
        if (sim_random() % 2)
            sim_compute(sim_random() % 20);
        OK(MPI_Win_unlock(t, m->j.win));
        SIM_CHECK(of[t].j.mem[m->j.rank] == m->v[0][i][0]);
    }
    m->turn = 2;
    m->left--;
    end();
    OK(MPI_Win_unlock(other, m->j.win));
    stop();
}

static void unlock_thread(int thread, void *arg)
{
    struct rank_record *m = join();
    (void)thread;
    (void)arg;
    while (m->turn == 0)
        sim_compute(1);
    while (m->turn == 1)
        OK(MPI_Win_flush_all(m->j.win));
    m->left--;
}

static void flush_all_thread(int thread, void *arg)
{
    (void)arg;
    lock_flush_all(join(), thread);
}

/* --- one lock_all, each thread flushes for itself --------------------------------------------- */

static void flush_each(struct rank_record *m, int thread)
{
    for (int i = 0; i < 2 * ROUNDS; i++) {
        int t = (m->j.rank + thread + i) % m->j.size;
        long *v = m->v[thread][i % ROUNDS];
        v[0] = 1 + thread + 10 * i;
        put1(&m->j, v, t, m->j.rank * 4 + thread);
        switch ((i + thread) % 4) {
        case 0:
            OK(MPI_Win_flush(t, m->j.win));
            break;
        case 1:
            OK(MPI_Win_flush_all(m->j.win));
            break;
        case 2:
            OK(MPI_Win_flush_local(t, m->j.win));
            OK(MPI_Win_flush(t, m->j.win));
            break;
        default: {
            MPI_Request q;
            v[0]++;
            OK(MPI_Win_flush_all(m->j.win));
            OK(MPI_Rput(v, 1, MPI_LONG, t, m->j.rank * 4 + thread, 1, MPI_LONG, m->j.win, &q));
            OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
            OK(MPI_Win_flush(t, m->j.win));
        }
        }
        /* There, and not only before what comes next: a process notified by another way may look
         * now. */
        SIM_CHECK(of[t].j.mem[m->j.rank * 4 + thread] == v[0]);
        OK(MPI_Get(&m->r[thread], 1, MPI_LONG, t, m->j.rank * 4 + thread, 1, MPI_LONG, m->j.win));
        OK(MPI_Win_flush(t, m->j.win));
        SIM_CHECK(m->r[thread] == v[0]);
    }
    m->left--;
}

static void flush_main(void *arg)
{
    (void)arg;
    struct rank_record *m = mine();
    m->open = 0;
    m->left = 3;
    m->j = job_open(CELLS);
    m->k = job_open(CELLS);
    OK(MPI_Win_lock_all(0, m->j.win));
    m->open = 1;
    flush_each(m, 0);
    while (m->left)
        sim_compute(1);
    OK(MPI_Win_unlock_all(m->j.win));
    MPI_Barrier(MPI_COMM_WORLD);
    stop();
}

static void flush_thread(int thread, void *arg)
{
    (void)arg;
    flush_each(join(), thread);
}

/* --- post and wait in one thread, start and complete in another ------------------------------- */

static MPI_Group all_but_me(const struct job *j)
{
    MPI_Group world, g;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_excl(world, 1, &j->rank, &g));
    OK(MPI_Group_free(&world));
    return g;
}

static void pscw_main(void *arg)
{
    (void)arg;
    begin(1);
    struct job *j = &mine()->j;
    MPI_Group g = all_but_me(j);
    for (int i = 0; i < ROUNDS; i++) {
        OK(MPI_Win_post(g, 0, j->win));
        OK(MPI_Win_wait(j->win));
        for (int o = 0; o < j->size; o++)
            SIM_CHECK(o == j->rank || j->mem[o] >= 100 * i + o);
    }
    OK(MPI_Group_free(&g));
    end();
    stop();
}

static void pscw_thread(int thread, void *arg)
{
    (void)arg;
    struct rank_record *m = join();
    MPI_Group g = all_but_me(&m->j);
    for (int i = 0; i < ROUNDS; i++) {
        long *v = m->v[thread][i];
        v[0] = 100 * i + m->j.rank;
        OK(MPI_Win_start(g, 0, m->j.win));
        for (int t = 0; t < m->j.size; t++)
            if (t != m->j.rank)
                put1(&m->j, v, t, m->j.rank);
        OK(MPI_Win_complete(m->j.win));
    }
    OK(MPI_Group_free(&g));
    m->left--;
}

/* --- two windows at once ---------------------------------------------------------------------- */

static void windows_main(void *arg)
{
    (void)arg;
    begin(1);
    struct job *j = &mine()->j;
    long v[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        v[i] = 10 * i + j->rank;
        OK(MPI_Win_fence(0, j->win));
        for (int t = 0; t < j->size; t++)
            put1(j, &v[i], t, j->rank);
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j->win));
        for (int o = 0; o < j->size; o++)
            SIM_CHECK(j->mem[o] >= 10 * i + o);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end();
    SIM_CHECK(mine()->k.mem[0] == ROUNDS * j->size);
    stop();
}

static void windows_thread(int thread, void *arg)
{
    (void)arg;
    struct rank_record *m = join();
    long *one = m->v[thread][0];
    *one = 1;
    for (int i = 0; i < ROUNDS; i++)
        for (int t = 0; t < m->k.size; t++) {
            OK(MPI_Win_lock(i % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t, 0, m->k.win));
            OK(MPI_Accumulate(one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, m->k.win));
            OK(MPI_Win_unlock(t, m->k.win));
        }
    m->left--;
}

/* --- one element of private memory, asked of its owner by several threads --------------------- */

static void one_each(struct rank_record *m, int thread)
{
    long one = 1, was, before = -1;
    for (int i = 0; i < 4 * ROUNDS; i++) {
        OK(MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, 0, MPI_SUM, m->j.win));
        OK(MPI_Win_flush(0, m->j.win));
        SIM_CHECK(was > before);
        before = was;
        OK(MPI_Compare_and_swap(&(long){i + 1}, &(long){i}, &was, MPI_LONG, 0,
                                1 + 3 * m->j.rank + thread, m->j.win));
        OK(MPI_Win_flush(0, m->j.win));
        SIM_CHECK(was == i);
    }
    m->left--;
}

static void one_main(void *arg)
{
    (void)arg;
    static long cell[SIM_RANKS][1 + 3 * SIM_RANKS];
    struct rank_record *m = mine();
    struct job *j = &m->j;
    m->open = 0;
    m->left = 3;
    MPI_Comm_rank(MPI_COMM_WORLD, &j->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &j->size);
    memset(cell[j->rank], 0, sizeof cell[0]);
    OK(MPI_Win_create(cell[j->rank], sizeof cell[0], sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                      &j->win));
    OK(MPI_Win_lock_all(0, j->win));
    m->open = 1;
    one_each(m, 0);
    while (m->left)
        turn();
    OK(MPI_Win_unlock_all(j->win));
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j->rank == 0 ||
              pvar(j->win, PVAR_RMA_AM) + pvar(j->win, PVAR_RMA_CMA) == 3 * 2 * 4 * ROUNDS);
    SIM_CHECK(cell[j->rank][0] == (j->rank ? 0 : 3 * 4 * ROUNDS * j->size));
    for (int i = 1; i < 1 + 3 * j->size; i++)
        SIM_CHECK(cell[j->rank][i] == (j->rank ? 0 : 4 * ROUNDS));
    OK(MPI_Win_free(&j->win));
}

static void one_thread(int thread, void *arg)
{
    (void)arg;
    one_each(join(), thread);
}

static void one_node(struct sim_knobs *k)
{
    k->nodes = 1;
}

/* --- memory comes and goes beside operations -------------------------------------------------- */

static void attach_main(void *arg)
{
    (void)arg;
    static MPI_Win win[SIM_RANKS];
    static MPI_Aint at[SIM_RANKS][SIM_RANKS];
    static long cell[SIM_RANKS];
    int me = sim_rank(), size;
    struct rank_record *m = mine();
    m->open = 0;
    m->left = 2;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win[me]));
    cell[me] = 0;
    OK(MPI_Win_attach(win[me], &cell[me], sizeof cell[me]));
    OK(MPI_Get_address(&cell[me], &at[me][me]));
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_AINT, at[me], 1, MPI_AINT, MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, win[me]));
    m->j.win = win[me];
    m->open = 1;
    long one = 1;
    for (int i = 0; i < ROUNDS; i++)
        for (int t = 0; t < size; t++) {
            OK(MPI_Accumulate(&one, 1, MPI_LONG, t, at[me][t], 1, MPI_LONG, MPI_SUM, win[me]));
            OK(MPI_Win_flush(t, win[me]));
        }
    while (m->left)
        sim_compute(1);
    OK(MPI_Win_unlock_all(win[me]));
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(cell[me] == ROUNDS * size);
    OK(MPI_Win_free(&win[me]));
}

static void attach_thread(int thread, void *arg)
{
    (void)arg;
    struct rank_record *m = join();
    for (int i = 0; i < 3 * ROUNDS; i++) {
        OK(MPI_Win_attach(m->j.win, m->heap[thread], sizeof m->heap[thread]));
        sim_compute(2);
        OK(MPI_Win_detach(m->j.win, m->heap[thread]));
    }
    m->left--;
}

static void poor_threads(struct sim_knobs *k)
{
    far_and_poor(k);
    scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE", "1");
}

/* --- unlock while another thread waits for that very lock ------------------------------------- */

/* Rank 0 locks 1, which rank 3 holds, and then 2: this MPI_Win_lock waits for the grant of the
 * first and pins its element.  Its other thread unlocks 1 meanwhile: the element must stay until
 * the first thread has looked. */
static void pinned_main(void *arg)
{
    (void)arg;
    struct rank_record *m = mine();
    begin(sim_rank() == 0);
    struct job *j = &m->j;
    long v = 1;
    if (j->rank == 3) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j->win));
        put1(j, &v, 1, 3);
        OK(MPI_Win_flush(1, j->win));
        tell(0);
        hear(0);
        OK(MPI_Win_unlock(1, j->win));
    } else if (j->rank == 0) {
        hear(3);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j->win));
        put1(j, &v, 1, 0);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, j->win));
        put1(j, &v, 2, 0);
        OK(MPI_Win_unlock(2, j->win));
        while (m->left)
            sim_compute(1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(j->mem[0] == (j->rank == 1 || j->rank == 2));
    stop();
}

static void pinned_thread(int thread, void *arg)
{
    (void)thread, (void)arg;
    if (sim_rank() != 0)
        return;
    struct rank_record *m = join();
    const struct rma_target *t;
    while (!(t = rma_target_find(inside(m->j.win), 1)) || !t->pins ||
           t->state != TARGET_LOCK_ISSUED)
        sim_compute(1);
    tell(3);
    OK(MPI_Win_unlock(1, m->j.win));
    m->left--;
}

/* --- LOCK_ALL of one window, unlocked by one thread while the one that locked it locks another */

static void until_turn(const struct rank_record *m, int turn)
{
    while (m->turn < turn)
        sim_compute(1);
}

static void beside_main(void *arg)
{
    (void)arg;
    struct rank_record *m = mine();
    begin(sim_rank() == 0);
    const struct job *j = &m->j;
    long v = 1;
    if (j->rank == 0) {
        until_turn(m, 1);
        put1(j, &v, 1, 0);
        m->turn = 2;
        OK(MPI_Win_unlock_all(j->win));
        while (m->left)
            sim_compute(1);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, j->win)); /* it is free */
        put1(j, &v, 2, 0);
        OK(MPI_Win_unlock(2, j->win));
    }
    end();
    SIM_CHECK(j->mem[0] == (j->rank == 1 || j->rank == 2));
    stop();
}

static void beside_thread(int thread, void *arg)
{
    (void)thread, (void)arg;
    if (sim_rank() != 0)
        return;
    struct rank_record *m = join();
    OK(MPI_Win_lock_all(0, m->j.win));
    m->turn = 1;
    until_turn(m, 2);
    sim_compute((int)(sim_random() % 40));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, m->k.win));
    OK(MPI_Win_unlock(1, m->k.win));
    m->left--;
}

/* By messages alone, and no rank is slow. */
static void far_by_messages(struct sim_knobs *k)
{
    far_away(k);
    k->quiet_rank = -1;
    k->native = 0;
}

/* --- the fence is granted by another thread --------------------------------------------------- */

/* Accumulates of one thread on one element come in the order of the calls. This holds even if the
 * first ones are queued until the opening fence is over, and the other thread finds that it is. */
enum { IN_ROW = 5 };

static void granted_main(void *arg)
{
    (void)arg;
    struct rank_record *m = mine();
    begin(1);
    struct job *j = &m->j;
    int to = (j->rank + 1) % j->size;
    for (int i = 0; i < ROUNDS; i++) {
        long v[IN_ROW];
        OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, j->win));
        for (int k = 0; k < IN_ROW; k++) {
            v[k] = 100 * i + k;
            OK(MPI_Accumulate(&v[k], 1, MPI_LONG, to, 0, 1, MPI_LONG, MPI_REPLACE, j->win));
            if (sim_random() & 1)
                sim_compute(1);
        }
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j->win));
        SIM_CHECK(j->mem[0] == v[IN_ROW - 1]);
    }
    while (m->left)
        sim_compute(1);
    stop();
}

static void granted_thread(int thread, void *arg)
{
    (void)thread, (void)arg;
    struct rank_record *m = join();
    for (int i = 0; i < 20 * ROUNDS; i++) {
        int flag;
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
        sim_compute(1);
    }
    m->left--;
}

/* --- a lazy lock that one thread waits for and another flushes -------------------------------- */

/* Rank 0's MPI_Win_lock of one window first gets the lock of the other granted, whose LOCK finds no
 * room for a while; its other thread flushes or unlocks that one, which sends nothing by itself:
 * the LOCK must leave all the same. */
static void asked_main(void *arg)
{
    (void)arg;
    struct rank_record *m = mine();
    begin(1 + (sim_rank() == 0));
    static long v[64];
    for (int i = 0; i < ROUNDS && sim_rank() == 0; i++) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, m->k.win));
        m->turn = 2 * i + 1;
        for (int n = 0; n < 40; n++) { /* what the credit of rank 1 is used up by */
            MPI_Request q;
            OK(MPI_Isend(v, 0, MPI_LONG, 1, i, MPI_COMM_WORLD, &q));
            OK(MPI_Request_free(&q));
        }
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, m->j.win));
        put1(&m->j, v, 2, 0);
        OK(MPI_Win_unlock(2, m->j.win));
        until_turn(m, 2 * i + 2);
        if (i % 2 == 0)
            OK(MPI_Win_unlock(1, m->k.win));
    }
    for (int n = 0; n < 40 * ROUNDS && sim_rank() == 1; n++)
        OK(MPI_Recv(NULL, 0, MPI_LONG, 0, n / 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    m->left--;
    end();
    if (sim_rank() == 2) { /* nothing is held any more */
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, m->k.win));
        put1(&m->k, v, 1, 0);
        OK(MPI_Win_unlock(1, m->k.win));
    }
    stop();
}

static void asked_thread(int thread, void *arg)
{
    (void)thread, (void)arg;
    if (sim_rank() != 0)
        return;
    struct rank_record *m = join();
    for (int i = 0; i < ROUNDS; i++) {
        until_turn(m, 2 * i + 1);
        for (unsigned n = (unsigned)sim_random() % 100; n; n--)
            sim_compute(1);
        if (i % 2 == 0)
            OK(MPI_Win_flush(1, m->k.win));
        else
            OK(MPI_Win_unlock(1, m->k.win));
        m->turn = 2 * i + 2;
    }
    m->left--;
}

/* --- a NOCHECK lock that an eviction takes really, and its unlock ----------------------------- */

/* Rank 0 unlocks 1, at once or when its own thread has handled the grant for which the other
 * thread's eviction waits: in any case what was taken there is given back, and rank 2 gets it. */
static void nocheck_main(void *arg)
{
    (void)arg;
    struct rank_record *m = mine();
    begin(1 + (sim_rank() == 0));
    const struct job *j = &m->j;
    long v = 1;
    for (int i = 0; i < 4 * ROUNDS; i++) {
        if (j->rank == 0) {
            OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, j->win));
            m->turn = 2 * i + 1;
            if (sim_random() & 1)
                put1(j, &v, 1, 0);
            for (unsigned n = (unsigned)sim_random() % 12; n; n--) {
                int flag;
                OK(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
                sim_compute(1);
            }
            OK(MPI_Win_unlock(1, j->win));
            until_turn(m, 2 * i + 2);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (j->rank == 2) {
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, j->win));
            put1(j, &v, 1, 1);
            OK(MPI_Win_unlock(1, j->win));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    m->left--;
    end();
    stop();
}

static void nocheck_thread(int thread, void *arg)
{
    (void)thread, (void)arg;
    if (sim_rank() != 0)
        return;
    struct rank_record *m = join();
    long v = 1;
    for (int i = 0; i < 4 * ROUNDS; i++) {
        until_turn(m, 2 * i + 1);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, m->j.win));
        put1(&m->j, &v, 2, 0);
        OK(MPI_Win_unlock(2, m->j.win));
        m->turn = 2 * i + 2;
    }
    m->left--;
}

const struct scenario scenarios_threads[] = {
    {"t-granted", 3, 2, granted_main, granted_thread, NULL},
    {"t-locks", 4, 3, locks_main, locks_thread, NULL},
    {"t-locks-far", 4, 3, locks_main, locks_thread, far_away},
    {"t-locks-dry", 4, 3, locks_main, locks_thread, poor_threads},
    {"t-locks-flush-all", 4, 3, flush_all_main, flush_all_thread, NULL},
    {"t-unlock-beside-flushes", 4, 3, unlock_main, unlock_thread, NULL},
    {"t-unlock-beside-flushes-far", 4, 3, unlock_main, unlock_thread, far_away},
    {"t-locks-flush-all-far", 4, 3, flush_all_main, flush_all_thread, far_away},
    {"t-locks-flush-all-dry", 4, 3, flush_all_main, flush_all_thread, far_and_poor},
    {"t-flush", 3, 3, flush_main, flush_thread, NULL},
    {"t-flush-far", 3, 3, flush_main, flush_thread, far_away},
    {"t-flush-dry", 3, 3, flush_main, flush_thread, far_and_poor},
    {"t-pscw", 3, 2, pscw_main, pscw_thread, NULL},
    {"t-pscw-far", 3, 2, pscw_main, pscw_thread, far_away},
    {"t-windows", 3, 2, windows_main, windows_thread, NULL},
    {"t-windows-dry", 3, 2, windows_main, windows_thread, poor_threads},
    {"t-one", 3, 3, one_main, one_thread, one_node},
    {"t-attach", 2, 3, attach_main, attach_thread, NULL},
    {"t-attach-far", 2, 3, attach_main, attach_thread, far_away},
    {"t-unlock-pinned", 4, 2, pinned_main, pinned_thread, far_away},
    {"t-lock-asked-for", 3, 2, asked_main, asked_thread, far_by_messages},
    {"t-nocheck-evicted", 3, 2, nocheck_main, nocheck_thread, far_and_poor},
    {"t-unlock-beside-lock", 3, 2, beside_main, beside_thread, far_by_messages},
    {NULL, 0, 0, NULL, NULL, NULL},
};
