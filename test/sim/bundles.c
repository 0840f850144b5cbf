/* Small puts and gets of a near process's private memory, many in one message (near/bundle.c):
 * exact counts, each call that must wait for them, owners that do not look, deaths, threads. */
#include "bundles.h"

enum { BUNDLED = 128 /* operations of a bundle */, SEND_FROM = 6144 /* bytes */ };

/* Messages pass those that are held. */
static void passing(struct sim_knobs *k)
{
    at_once(k);
    k->ordered = 0;
}

static void two_nodes(struct sim_knobs *k)
{
    at_once(k);
    k->nodes = 2;
}

static void get(const struct job *j, int target, int at)
{
    value[j->rank][at] = -1;
    OK(MPI_Get(&value[j->rank][at], 1, MPI_LONG, target, at, 1, MPI_LONG, j->win));
}

/* Until calm[1] the caller is outside MPI, of which calm[0] informs rank 0. Rank 0 tells it when it
 * may begin, and when all is done. */
static void stays_outside(void)
{
    hear(0);
    calm[0] = 1;
    while (!calm[1])
        sim_compute(1);
    hear(0);
}

/* The owner is idle: the first leaves at once. It has one: the others fill a bundle. */
static void bundle_counts(void *arg)
{
    (void)arg;
    enum { OPS = 201, HEAD = 16, LONG = 64, HAS = (OPS - 1) % BUNDLED * (HEAD + 8),
           FILL = (SEND_FROM - HAS + HEAD + LONG * 8 - 1) / (HEAD + LONG * 8) };
    struct job j = private_open();
    if (j.rank == 0) {
        many_before(&j, 1);
        tell(1);
        while (!calm[0])
            sim_compute(1);
        struct counts c = mark(0);
        for (int i = 0; i < OPS; i++)
            put(&j, 1, i, i + 1);
        SENT(&c, 1 + (OPS - 1) / BUNDLED, DELEGATE);
        for (int i = 0; i < FILL; i++) {
            SENT(&c, 1 + (OPS - 1) / BUNDLED, DELEGATE);
            OK(MPI_Put(&value[0][0], LONG, MPI_LONG, 1, LONGS - LONG, LONG, MPI_LONG, j.win));
        }
        SENT(&c, 2 + (OPS - 1) / BUNDLED, DELEGATE);
        SIM_CHECK(cell[1][0] == 0 && cell[1][OPS - 1] == 0);
        SIM_CHECK(rma_win_pvar_at(inside(j.win), PVAR_RMA_OUTSTANDING, 1) == OPS + FILL);
        calm[1] = 1;
        long done = pvar(j.win, PVAR_RMA_AM) + pvar(j.win, PVAR_RMA_CMA);
        OK(MPI_Win_flush(1, j.win));
        SENT(&c, 2 + (OPS - 1) / BUNDLED, DELEGATE);
        SIM_CHECK(pvar(j.win, PVAR_RMA_AM) + pvar(j.win, PVAR_RMA_CMA) == done + OPS + FILL);
        SIM_CHECK(rma_win_pvar_at(inside(j.win), PVAR_RMA_OUTSTANDING, 1) == 0);
        for (int i = 0; i < OPS; i++)
            SIM_CHECK(cell[1][i] == i + 1);
        c = mark(0); /* one alone: as before, and its flush is only a fence */
        OK(MPI_Win_flush(1, j.win));
        for (int i = 0; i < 2; i++) {
            put(&j, 1, i, 7);
            SIM_CHECK(i == 0 || inside(j.win)->delegate.bundles == 0);
            OK(MPI_Win_flush(1, j.win));
            SIM_CHECK(cell[1][i] == 7);
        }
        SIM_CHECK(since(&c, RMA_PKT_DELEGATE) <= 2);
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
    } else {
        stays_outside();
    }
    OK(MPI_Win_free(&j.win));
}

/* What went by message has an element. It stays while flushes find it busy. Without it they are
 * only fences. */
static void idle_element(void *arg)
{
    (void)arg;
    struct job j = private_open();
    const long three[3] = {1, 2, 3};
    if (j.rank == 0) {
        struct rma_win *w = inside(j.win);
        OK(MPI_Win_lock_all(0, j.win));
        for (int i = 0; i < 2; i++) {
            struct counts c = mark(0);
            for (int k = 0; !w->table.ntargets || k < 3; k++)
                OK(MPI_Accumulate(three, 3, MPI_LONG, 1, 0, 3, MPI_LONG, MPI_SUM, j.win));
            SIM_CHECK(rma_target_find(w, 1) && !w->near.passive);
            OK(MPI_Win_flush(1, j.win));
            SIM_CHECK(rma_target_find(w, 1) && !w->near.passive && since_all(&c) > 0);
        }
        struct counts c = mark(0);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(!w->table.ntargets && w->near.passive && w->near.quiet);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(since_all(&c) == 0);
        long sum = cell[1][0];
        SIM_CHECK(sum >= 6 && cell[1][1] == 2 * sum && cell[1][2] == 3 * sum);
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
    } else {
        hear(0);
    }
    OK(MPI_Win_free(&j.win));
}

/* Duplicates share bundles, and have elements each. Behind MPIX_Win_order a put passes none of its
 * own duplicate's, though another one has begun a bundle: the owner does not look, so bundles are
 * done by CMA. */
static void by_duplicates(void *arg)
{
    (void)arg;
    enum { BLOCKS = 100, LAST = 2 * (BLOCKS - 1), BESIDE = 300, FLAG = 400 };
    struct job j = private_open();
    long data[LAST + 1] = {[LAST] = 1}, flag = 1;
    MPI_Datatype blocks;
    OK(MPI_Type_vector(BLOCKS, 1, 2, MPI_LONG, &blocks));
    OK(MPI_Type_commit(&blocks));
    if (j.rank == 0) {
        MPI_Win dup[2];
        many_before(&j, 1);
        for (int i = 0; i < 2; i++) {
            MPI_Request r;
            OK(MPIX_Win_idup(j.win, MPI_INFO_NULL, &dup[i], &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
        const struct rma_near *n = rma_near_of(inside(j.win), 1);
        sim_hold(AM_RMA + RMA_PKT_PUT, 0, 1);
        while (!sim_held(AM_RMA + RMA_PKT_PUT, 1)) { /* until it spins */
            OK(MPI_Put(data, 1, blocks, 1, 0, 1, blocks, dup[0]));
            turn();
        }
        tell(1);
        while (!calm[0])
            sim_compute(1);
        cell[1][LAST] = 0; /* some went by CMA */
        OK(MPIX_Win_order(1, dup[0]));
        for (int i = 0; i < 8; i++)
            OK(MPI_Put(&flag, 1, MPI_LONG, 1, BESIDE + i, 1, MPI_LONG, dup[1]));
        SIM_CHECK(atomic_load(&n->filling));
        OK(MPI_Put(&flag, 1, MPI_LONG, 1, FLAG, 1, MPI_LONG, dup[0]));
        OK(MPI_Win_flush(1, dup[1]));
        SIM_CHECK(cell[1][BESIDE + 7] == 1 && cell[1][LAST] == 0 && cell[1][FLAG] == 0);
        calm[1] = 1;
        sim_hold(-1, 0, 1);
        sim_let_go(AM_RMA + RMA_PKT_PUT, 1);
        OK(MPI_Win_flush(1, dup[0]));
        SIM_CHECK(cell[1][FLAG] == 1 && cell[1][LAST] == 1);
        for (int i = 0; i < 2; i++)
            OK(MPI_Win_free(&dup[i]));
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
    } else {
        stays_outside();
    }
    OK(MPI_Type_free(&blocks));
    OK(MPI_Win_free(&j.win));
}

/* A duplicate's element of a far target orders nothing near: its puts are appended all the same.
 * One of a near target does. */
static void far_elements(void *arg)
{
    (void)arg;
    enum { FAR = 2, MANY = 3 };
    struct job j = private_open();
    if (j.rank == 0) {
        MPI_Win dup;
        MPI_Request r;
        const long many[MANY] = {1, 2, 3};
        many_before(&j, 1);
        OK(MPIX_Win_idup(j.win, MPI_INFO_NULL, &dup, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        struct rma_win *w = inside(dup);
        OK(MPI_Accumulate(many, MANY, MPI_LONG, FAR, 0, MANY, MPI_LONG, MPI_SUM, dup));
        SIM_CHECK(w->table.ntargets == 1 && !w->table.near_targets &&
                  !atomic_load(&w->near.unsettled));
        tell(1);
        while (!calm[0])
            sim_compute(1);
        for (int i = 0; i < 3; i++)
            OK(MPI_Put(&many[i], 1, MPI_LONG, 1, i, 1, MPI_LONG, dup));
        struct rma_near *n = &w->near.near[rma_near_of(w, 1) - w->records];
        SIM_CHECK(rma_near_append(&w->near, n, 3, sizeof many[0], &many[1], NULL));
        calm[1] = 1;
        do
            OK(MPI_Accumulate(many, MANY, MPI_LONG, 1, LONGS - MANY, MANY, MPI_LONG, MPI_SUM, dup));
        while (!w->table.near_targets); /* until it spins */
        SIM_CHECK(atomic_load(&w->near.unsettled));
        OK(MPI_Win_flush_all(dup));
        SIM_CHECK(cell[1][2] == 3 && cell[1][3] == 2 && cell[FAR][2] == 3);
        OK(MPI_Win_free(&dup));
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
        tell(FAR);
        tell(FAR + 1);
    } else {
        hear(0);
        if (j.rank == 1) {
            calm[0] = 1;
            while (!calm[1])
                sim_compute(1);
            hear(0);
        }
    }
    OK(MPI_Win_free(&j.win));
}

/* The near ranks of the window are not consecutive: what follows the first is appended, too. */
static void spread_ranks(void *arg)
{
    enum { OPS = 40, PEER = 2 /* rank 1 of the job */ };
    (void)arg;
    struct job j;
    MPI_Comm dealt;
    MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    memset(cell[j.rank], 0, sizeof cell[0]);
    calm[j.rank] = 0;
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, j.rank / 2 + 2 * (j.rank % 2), &dealt));
    OK(MPI_Win_create(cell[j.rank], sizeof cell[0], sizeof(long), MPI_INFO_NULL, dealt, &j.win));
    SIM_CHECK(inside(j.win)->near.count == 0 && inside(j.win)->near.spread);
    if (j.rank == 0) {
        const struct rma_near *n = rma_near_of(inside(j.win), PEER);
        many_before(&j, PEER);
        tell(1);
        while (!calm[0])
            sim_compute(1);
        for (int i = 0; i < OPS; i++)
            put(&j, PEER, i, i + 1);
        SIM_CHECK(n->counted[0] > OPS / 2); /* appended without the long path */
        calm[1] = 1;
        OK(MPI_Win_flush(PEER, j.win));
        for (int i = 0; i < OPS; i++)
            SIM_CHECK(cell[1][i] == i + 1);
        OK(MPI_Win_unlock_all(j.win));
        tell(1);
    } else if (j.rank == 1) {
        stays_outside();
    }
    OK(MPI_Win_free(&j.win));
    OK(MPI_Comm_free(&dealt));
}

/* Every call that completes operations waits for those in bundles. */
static void closing_puts(const struct job *j, int round)
{
    for (int i = 0; i < 5; i++)
        put(j, 1, i, 10 * round + i);
}

static void closed(int round)
{
    for (int i = 0; i < 5; i++)
        SIM_CHECK(cell[1][i] == 10 * round + i);
}

static void passive_calls(const struct job *j, int round)
{
    long was, one = 1;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j->win));
    closing_puts(j, round);
    OK(MPI_Win_unlock(1, j->win));
    closed(round);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, j->win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, j->win));
    closing_puts(j, round + 1);
    OK(MPI_Win_unlock(1, j->win));
    closed(round + 1);
    OK(MPI_Win_unlock(0, j->win));
    OK(MPI_Win_lock_all(0, j->win));
    closing_puts(j, round + 1);
    get(j, 1, 20); /* behind puts, perhaps in their bundle */
    OK(MPI_Win_flush_local(1, j->win));
    SIM_CHECK(value[0][20] == 0);
    closing_puts(j, round + 2);
    ERR(MPI_ERR_RMA_RANGE, MPI_Put(&one, 1, MPI_LONG, 1, LONGS, 1, MPI_LONG, j->win));
    OK(round & 1 ? MPI_Win_flush(1, j->win) : MPI_Win_flush_all(j->win));
    closed(round + 2);
    for (int i = 0; i < 5; i++)
        get(j, 1, i);
    OK(round & 1 ? MPI_Win_flush_local(1, j->win) : MPI_Win_flush_local_all(j->win));
    for (int i = 0; i < 5; i++)
        SIM_CHECK(value[0][i] == 10 * (round + 2) + i);
    closing_puts(j, round + 3);
    /* what is not bundled passes none */
    OK(MPI_Fetch_and_op(&one, &was, MPI_LONG, 1, 4, MPI_SUM, j->win));
    SIM_CHECK(was == 10 * (round + 3) + 4);
    put(j, 1, 4, was);
    put(j, 1, 3, was - 1);
    MPI_Request r;
    OK(MPI_Rget(&was, 1, MPI_LONG, 1, 4, 1, MPI_LONG, j->win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    SIM_CHECK(was == 10 * (round + 3) + 4);
    closing_puts(j, round + 3);
    OK(MPI_Win_unlock_all(j->win));
    closed(round + 3);
}

static void closes(void *arg)
{
    (void)arg;
    struct job j = private_open();
    MPI_Group world, other;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &(int){!j.rank}, &other));
    for (int round = 0; round < 40; round += 10) {
        if (j.rank == 0)
            passive_calls(&j, round);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_Win_fence(0, j.win));
        if (j.rank == 0)
            closing_puts(&j, round + 4);
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
        SIM_CHECK(j.rank != 1 || cell[1][2] == 10 * (round + 4) + 2);
        if (j.rank == 0) {
            OK(MPI_Win_start(other, 0, j.win));
            closing_puts(&j, round + 5);
            OK(MPI_Win_complete(j.win));
            closed(round + 5);
        } else {
            OK(MPI_Win_post(other, 0, j.win));
            OK(MPI_Win_wait(j.win));
        }
    }
    OK(MPI_Group_free(&other));
    OK(MPI_Group_free(&world));
    OK(MPI_Win_free(&j.win));
}

/* Two askers, an owner that looks now and then: after a flush everything is there, and nothing of
 * it comes again. */
static void ask_at_random(const struct job *j)
{
    enum { PART = 100 };
    long want[PART] = {0}, *mine = &cell[0][PART * j->rank];
    for (int round = 0; round < 30; round++) {
        int n = 1 + (int)(sim_random() % 200);
        for (int i = 0; i < n; i++) {
            int at = (int)(sim_random() % PART);
            if (sim_random() % 4) {
                put(j, 0, PART * j->rank + at, want[at] = 1000 * round + i);
            } else {
                get(j, 0, PART * j->rank + at);
                OK(MPI_Win_flush_local(0, j->win));
                SIM_CHECK(value[j->rank][PART * j->rank + at] == want[at]);
            }
        }
        OK(sim_random() & 1 ? MPI_Win_flush(0, j->win) : MPI_Win_flush_all(j->win));
        for (int i = 0; i < PART; i++)
            SIM_CHECK(mine[i] == want[i]);
        memset(mine, 0, sizeof want);
        memset(want, 0, sizeof want);
        sim_compute((int)(sim_random() % 60));
        for (int i = 0; i < PART; i++)
            SIM_CHECK(mine[i] == 0);
    }
}

static void late(void *arg)
{
    (void)arg;
    struct job j = private_open();
    if (j.rank) {
        OK(MPI_Win_lock_all(0, j.win));
        ask_at_random(&j);
        OK(MPI_Win_unlock_all(j.win));
        tell(0);
    } else {
        for (int i = 0; i < 100; i++) {
            sim_compute((int)(sim_random() % 100));
            turn();
        }
        for (int i = 1; i < j.size; i++)
            hear(i);
    }
    SIM_CHECK(rma_self()->malformed == 0);
    OK(MPI_Win_free(&j.win));
}

/* What did not leave in time, or was read late, is not done: the slot holds something else by
 * then. */
static void held(void *arg)
{
    (void)arg;
    struct job j = private_open();
    if (j.rank == 0) {
        many_before(&j, 1);
        tell(1);
        sim_hold(AM_RMA + RMA_PKT_DELEGATE, 0, 1);
        for (int i = 0; i < 200; i++)
            put(&j, 1, i, i + 1);
        OK(MPI_Win_flush(1, j.win));
        SIM_CHECK(sim_held(AM_RMA + RMA_PKT_DELEGATE, 1) > 1);
        for (int i = 0; i < 200; i++) {
            SIM_CHECK(cell[1][i] == i + 1);
            cell[1][i] = 0;
        }
        for (int i = 0; i < 200; i++) /* other operations in the same slots */
            put(&j, 2, i, 5);
        sim_let_go(AM_RMA + RMA_PKT_DELEGATE, 1);
        OK(MPI_Win_flush(2, j.win));
        tell(1);
        hear(1);
        for (int i = 0; i < 200; i++)
            SIM_CHECK(cell[1][i] == 0 && cell[2][i] == 5);
        OK(MPI_Win_unlock_all(j.win));
        tell(2);
    } else if (j.rank == 1) {
        hear(0);
        hear(0);
        tell(0);
    } else {
        hear(0);
    }
    SIM_CHECK(rma_self()->malformed == 0);
    OK(MPI_Win_free(&j.win));
}

/* The owner dies with bundles that were not done: the flush ends, and the others go on. */
static void owner_dies(void *arg)
{
    (void)arg;
    struct job j = private_open();
    if (j.rank == 1) {
        hear(0);
        while (!calm[1])
            sim_compute(1);
        sim_die();
    }
    if (j.rank == 0) {
        many_before(&j, 1);
        tell(1);
        for (int i = 0; i < 200; i++)
            put(&j, 1, i, i + 1);
        SIM_CHECK(inside(j.win)->delegate.bundles > 1);
        calm[1] = 1;
        hear_of_death(1);
        MPI_Win_flush(1, j.win); /* CMA finds the memory here; test/unit/rma sees the error */
        SIM_CHECK(inside(j.win)->delegate.bundles == 0);
        for (int i = 0; i < 10; i++)
            put(&j, 2, i, i + 1);
        OK(MPI_Win_flush(2, j.win));
        SIM_CHECK(cell[2][9] == 10);
        MPI_Win_unlock_all(j.win);
        tell(2);
    } else {
        hear(0);
    }
}

/* Threads put, get and flush at once. */
static void thread_work(struct job *j, int thread)
{
    long v[8], got[8];
    int base = 8 * (3 * j->rank + thread);
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 8; i++) {
            v[i] = 100 * round + base + i;
            OK(MPI_Put(&v[i], 1, MPI_LONG, 0, base + i, 1, MPI_LONG, j->win));
        }
        OK(sim_random() & 1 ? MPI_Win_flush(0, j->win) : MPI_Win_flush_all(j->win));
        for (int i = 0; i < 8; i++)
            OK(MPI_Get(&got[i], 1, MPI_LONG, 0, base + i, 1, MPI_LONG, j->win));
        OK(sim_random() & 1 ? MPI_Win_flush_local(0, j->win) : MPI_Win_flush(0, j->win));
        for (int i = 0; i < 8; i++)
            SIM_CHECK(cell[0][base + i] == v[i] && got[i] == v[i]);
    }
    of[j->rank].left--;
}

static void run_threads(void work(struct job *, int))
{
    int me = sim_rank();
    of[me].open = 0;
    of[me].left = 3;
    of[me].j = private_open();
    OK(MPI_Win_lock_all(0, of[me].j.win));
    of[me].open = 1;
    work(&of[me].j, 0);
    while (of[me].left)
        turn();
    OK(MPI_Win_unlock_all(of[me].j.win));
    OK(MPI_Win_free(&of[me].j.win));
}

/* Two threads of a rank have a target together, the third has another one. Later all have the same,
 * and places of their own. What was done stays done once: it does not come again into places that
 * were emptied. */
static void apart_work(struct job *j, int thread)
{
    enum { EACH = 40 };
    long v[EACH], got[EACH];
    int base = EACH * (3 * j->rank + thread);
    for (int round = 0; round < 6; round++) {
        int to = (j->rank + 1 + (round < 4 ? thread % 2 : 0)) % 3;
        for (int i = 0; i < EACH; i++) {
            long sent = v[i] = 1000 * round + base + i;
            OK(MPI_Put(&sent, 1, MPI_LONG, to, base + i, 1, MPI_LONG, j->win));
        }
        OK(sim_random() & 1 ? MPI_Win_flush(to, j->win) : MPI_Win_flush_all(j->win));
        for (int i = 0; i < EACH; i++)
            SIM_CHECK(cell[to][base + i] == v[i]);
        for (int i = 0; i < EACH; i++)
            OK(MPI_Get(&got[i], 1, MPI_LONG, to, base + i, 1, MPI_LONG, j->win));
        OK(sim_random() & 1 ? MPI_Win_flush_local(to, j->win) : MPI_Win_flush_local_all(j->win));
        for (int i = 0; i < EACH; i++)
            SIM_CHECK(got[i] == v[i]);
        memset(&cell[to][base], 0, sizeof v);
        sim_compute((int)(sim_random() % 60));
        for (int i = 0; i < EACH; i++)
            SIM_CHECK(cell[to][base + i] == 0);
        long sum = 0, one = 1;
        OK(MPI_Fetch_and_op(&one, &sum, MPI_LONG, to, LONGS - 1 - thread, MPI_SUM, j->win));
        OK(MPI_Win_flush(to, j->win));
    }
    of[j->rank].left--;
}

static void apart_main(void *arg)
{
    (void)arg;
    run_threads(apart_work);
    MPI_Barrier(MPI_COMM_WORLD);
    long fetched = 0;
    for (int thread = 0; thread < 3; thread++)
        for (int r = 0; r < 3; r++)
            fetched += cell[r][LONGS - 1 - thread];
    SIM_CHECK(fetched == 3 * 3 * 6); /* none is lost, and none done twice */
}

static void apart_thread(int thread, void *arg)
{
    (void)arg;
    join_threads(apart_work, thread);
}

static void interrupted(struct sim_knobs *k)
{
    one_node(k);
    k->preempt_percent = (int)(k->seed % 3) * 20;
}

static void threads_main(void *arg)
{
    (void)arg;
    run_threads(thread_work);
}

static void threads_thread(int thread, void *arg)
{
    (void)arg;
    join_threads(thread_work, thread);
}

/* A thread makes the first duplicate and begins a bundle, while another one puts behind a message
 * of the window and an order. No put may be appended to that bundle. */
static struct {
    int behind, done; /* the message is under way; the duplicate's bundle was done */
} first;
enum { FIRST_BLOCKS = 100, FIRST_LAST = 2 * (FIRST_BLOCKS - 1), FIRST_PUTS = 4 };
enum { FIRST_BESIDE = 300, FIRST_FLAG = 400 };

static void first_dup(MPI_Win win)
{
    long flag = 1;
    MPI_Win dup;
    MPI_Request r;
    while (!first.behind)
        sim_compute(1);
    OK(MPIX_Win_idup(win, MPI_INFO_NULL, &dup, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    for (int i = 0; i < 8; i++)
        OK(MPI_Put(&flag, 1, MPI_LONG, 1, FIRST_BESIDE + i, 1, MPI_LONG, dup));
    OK(MPI_Win_flush(1, dup));
    SIM_CHECK(cell[1][FIRST_BESIDE + 7] == 1);
    OK(MPI_Win_free(&dup));
    first.done = 1;
}

static void first_puts(const struct job *j)
{
    long data[FIRST_LAST + 1] = {[FIRST_LAST] = 1}, flag = 1;
    MPI_Datatype blocks;
    OK(MPI_Type_vector(FIRST_BLOCKS, 1, 2, MPI_LONG, &blocks));
    OK(MPI_Type_commit(&blocks));
    sim_hold(AM_RMA + RMA_PKT_PUT, 0, 1);
    while (!sim_held(AM_RMA + RMA_PKT_PUT, 1)) { /* until it spins */
        OK(MPI_Put(data, 1, blocks, 1, 0, 1, blocks, j->win));
        turn();
    }
    tell(1);
    while (!calm[0])
        sim_compute(1);
    cell[1][FIRST_LAST] = 0; /* some went by CMA */
    OK(MPIX_Win_order(1, j->win));
    first.behind = 1;
    for (int i = 0; i < FIRST_PUTS; i++)
        OK(MPI_Put(&flag, 1, MPI_LONG, 1, FIRST_FLAG + i, 1, MPI_LONG, j->win));
    while (!first.done)
        turn();
    for (int i = 0; i < FIRST_PUTS; i++)
        SIM_CHECK(cell[1][FIRST_FLAG + i] == 0 && cell[1][FIRST_LAST] == 0);
    calm[1] = 1;
    sim_hold(-1, 0, 1);
    sim_let_go(AM_RMA + RMA_PKT_PUT, 1);
    OK(MPI_Win_flush(1, j->win));
    for (int i = 0; i < FIRST_PUTS; i++)
        SIM_CHECK(cell[1][FIRST_FLAG + i] == 1 && cell[1][FIRST_LAST] == 1);
    OK(MPI_Type_free(&blocks));
}

static void first_main(void *arg)
{
    (void)arg;
    int me = sim_rank();
    of[me].open = 0;
    of[me].j = private_open();
    if (me == 0) {
        first.behind = first.done = 0;
        many_before(&of[0].j, 1);
        of[0].open = 1;
        first_puts(&of[0].j);
        OK(MPI_Win_unlock_all(of[0].j.win));
        tell(1);
    } else {
        stays_outside();
    }
    OK(MPI_Win_free(&of[me].j.win));
}

static void first_thread(int thread, void *arg)
{
    (void)arg;
    (void)thread;
    while (sim_rank() == 0 && !of[0].open)
        sim_compute(1);
    if (sim_rank() == 0)
        first_dup(of[0].j.win);
}

static void passing_often(struct sim_knobs *k)
{
    passing(k);
    k->preempt_percent = 20 + (int)(k->seed % 3) * 20;
}

/* One thread puts with a notification that goes by message, to a rank that keeps no such counter.
 * The data are delegated, so others run meanwhile, and their flushes delete the idle element. */
static void noted_work(struct job *j, int thread)
{
    enum { MANY = 300, TIMES = 40 };
    long v[MANY];
    for (int i = 0; i < MANY; i++)
        v[i] = 7;
    for (int round = 0; j->rank == 1 && round < TIMES; round++) {
        if (thread == 0)
            OK(MPIX_Put_notify(v, MANY, MPI_LONG, 0, 0, MANY, MPI_LONG, 5, j->win));
        OK(MPI_Win_flush(0, j->win));
        if (thread)
            sim_compute(1 + (int)(sim_random() % 20));
    }
    if (j->rank == 1 && thread == 0)
        SIM_CHECK(cell[0][0] == 7 && cell[0][MANY - 1] == 7);
    of[j->rank].left--;
}

static void noted_main(void *arg)
{
    (void)arg;
    run_threads(noted_work);
}

static void noted_thread(int thread, void *arg)
{
    (void)arg;
    join_threads(noted_work, thread);
}

/* What the functions of a duplicate's attributes begin is done when it is freed. */
static long by_attribute[4];

static int attribute_ends(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)keyval;
    (void)value;
    (void)extra;
    for (int i = 0; i < 4; i++)
        OK(MPI_Get(&by_attribute[i], 1, MPI_LONG, 1, i, 1, MPI_LONG, win));
    SIM_CHECK(inside(win)->parent->delegate.bundles);
    return MPI_SUCCESS;
}

static void attributes(void *arg)
{
    (void)arg;
    struct job j = private_open();
    if (j.rank == 0) {
        MPI_Win dup;
        MPI_Request r;
        int key;
        many_before(&j, 1);
        OK(MPIX_Win_idup(j.win, MPI_INFO_NULL, &dup, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, attribute_ends, &key, NULL));
        OK(MPI_Win_set_attr(dup, key, NULL));
        tell(1);
        while (!calm[0])
            sim_compute(1);
        for (int i = 0; i < 4; i++) {
            by_attribute[i] = -1;
            cell[1][i] = i;
        }
        OK(MPI_Win_free(&dup));
        SIM_CHECK(dup == MPI_WIN_NULL && !inside(j.win)->delegate.bundles);
        for (int i = 0; i < 4; i++)
            SIM_CHECK(by_attribute[i] == i);
        OK(MPI_Win_free_keyval(&key));
        OK(MPI_Win_unlock_all(j.win));
        calm[1] = 1;
        tell(1);
    } else {
        stays_outside();
    }
    OK(MPI_Win_free(&j.win));
}

const struct scenario scenarios_bundles[] = {
    {"count-bundles", 2, 1, bundle_counts, NULL, at_once},
    {"s-bundles", 2, 1, closes, NULL, one_node},
    {"s-bundles-dups", 2, 1, by_duplicates, NULL, passing},
    {"s-bundles-dups-far", 4, 1, far_elements, NULL, two_nodes},
    {"s-bundles-spread", 4, 1, spread_ranks, NULL, two_nodes},
    {"s-flush-idle", 2, 1, idle_element, NULL, at_once},
    {"s-bundles-late", 3, 1, late, NULL, one_node},
    {"s-bundles-held", 3, 1, held, NULL, at_once},
    {"s-bundles-attributes", 2, 1, attributes, NULL, at_once},
    {"s-bundles-owner-dies", 3, 1, owner_dies, NULL, mortal},
    {"t-bundles", 3, 3, threads_main, threads_thread, one_node},
    {"t-bundles-apart", 3, 3, apart_main, apart_thread, interrupted},
    {"t-bundles-first-dup", 2, 2, first_main, first_thread, passing_often},
    {"t-flush-noted", 2, 3, noted_main, noted_thread, one_node},
    {NULL, 0, 0, NULL, NULL, NULL},
};
