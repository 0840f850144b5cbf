/* handles.c - memory handles of dynamic windows: exact numbers of messages, keys that are late or
 * replaced, deaths, then random programs.  Their oracle: what is put by a handle that lives stands
 * where its memory is; by one that has ended, or beyond one, nothing is changed, and the flush
 * returns the error. */
#include <stdlib.h>

#include "scripted.h"

enum { LONGS = 64, HALF = LONGS / 2 };

static void quiet(struct sim_knobs *k)
{
    far_away(k);
    k->replies = k->refuse_percent = k->again_percent = k->inbox = 0;
    k->ordered = 1;
}

static void natively(struct sim_knobs *k)
{
    quiet(k);
    k->native = SIM_NATIVE_PUT;
    k->native_ordered = 0;
    k->native_min = 64;
}

static void natively_unordered(struct sim_knobs *k)
{
    natively(k);
    k->ordered = 0;
}

static void near_by(struct sim_knobs *k)
{
    k->nodes = 1;
}

static MPI_Win dynamic_win(void)
{
    MPI_Win win;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of scenarios with a death */
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    return win;
}

/* What rank 1 made, known to all. */
static MPI_Aint handle_of_1(MPI_Win win, int rank, void *mem, size_t bytes)
{
    MPI_Aint h = 0;
    if (rank == 1)
        OK(MPIX_Memhandle_create(win, mem, (MPI_Aint)bytes, &h));
    OK(MPI_Bcast(&h, 1, MPI_AINT, 1, MPI_COMM_WORLD));
    return h;
}

static void put_n(MPI_Win win, const long *v, int n, MPI_Aint at)
{
    OK(MPI_Put(v, n, MPI_LONG, 1, at, n, MPI_LONG, win));
}

static enum key_state state_of(MPI_Win win, MPI_Aint h)
{
    const struct rma_key *k = rma_handle_key(inside(win), 1, (uint64_t)h);
    return k ? k->state : KEY_NEW;
}

static void put_until_known(MPI_Win win, const long *v, MPI_Aint h)
{
    do {
        put_n(win, v, HALF, h);
        OK(MPI_Win_flush(1, win));
    } while (state_of(win, h) != KEY_READY);
}

/* The key is asked for once. From then on no message is ours, as in an allocated window. The end
 * costs a question and an answer for each rank with the key; what comes after it goes by message,
 * and is refused. */
static void counts_far(void *arg)
{
    (void)arg;
    long mem[LONGS] = {0}, v[LONGS], *there = mem;
    int rank;
    MPI_Win win = dynamic_win();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Aint h = handle_of_1(win, rank, mem + HALF, HALF * sizeof(long));
    OK(MPI_Bcast(&there, sizeof there, MPI_BYTE, 1, MPI_COMM_WORLD));
    for (int i = 0; i < LONGS; i++)
        v[i] = i + 1;
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win));
        struct counts c = mark(0), b = mark(1);
        put_n(win, v, HALF, h);
        OK(MPI_Win_flush(1, win));
        SENT2(&c, 1, KEY_ASK, 1, PUT);
        put_until_known(win, v, h);
        SIM_CHECK(since(&c, RMA_PKT_KEY_ASK) == 1 && since(&b, RMA_PKT_KEY) == 1);
        c = mark(0);
        long natives = pvar(win, PVAR_RMA_NATIVE);
        for (int i = 0; i < 3; i++) {
            v[0] = 100 + i;
            put_n(win, v, HALF - 8 * i, h + (MPI_Aint)(8 * i * (int)sizeof(long)));
            OK(MPI_Win_flush(1, win));
            SIM_CHECK(there[HALF + 8 * i] == v[0] && there[HALF - 1] == 0);
        }
        SIM_CHECK(since_all(&c) == 0 && pvar(win, PVAR_RMA_NATIVE) - natives == 3);
        put_n(win, v, HALF, h + (MPI_Aint)sizeof(long)); /* beyond it */
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, win));
        SENT(&c, 1, PUT);
        b = mark(1);
        tell(1);
        hear(1);
        SENT(&b, 1, HANDLE_ENDS);
        c = mark(0);
        v[0] = 7;
        put_n(win, v, HALF, h);
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, win));
        SENT(&c, 1, PUT);
        SIM_CHECK(there[HALF] == 100 && there[LONGS - 1] != 7);
        OK(MPI_Win_unlock(1, win));
        tell(1);
    } else {
        hear(0);
        struct counts c = mark(0);
        OK(MPIX_Memhandle_free(win, h));
        SENT(&c, 1, HANDLE_LEFT);
        SIM_CHECK(!inside(win)->mem.nregions);
        tell(0);
        hear(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* A handle in the entry of the table that `old`, which was freed, had. */
static MPI_Aint handle_in_place_of(MPI_Win win, MPI_Aint old, void *mem, size_t bytes)
{
    MPI_Aint h;
    for (;;) {
        OK(MPIX_Memhandle_create(win, mem, (MPI_Aint)bytes, &h));
        if (rma_shown_place((uint64_t)h, 0) == rma_shown_place((uint64_t)old, 0))
            return h;
        OK(MPIX_Memhandle_free(win, h));
    }
}

/* One element at a time, by a handle that is mapped. */
static void elements_near(MPI_Win win, MPI_Aint at, MPI_Aint end)
{
    enum { TIMES = 4 };
    const long one = 1, ten = 10, times = TIMES;
    long was = -1, mapped = pvar(win, PVAR_RMA_MAPPED), fops = pvar(win, PVAR_RMA_FOP);
    for (long i = 0; i < TIMES; i++) {
        OK(MPI_Fetch_and_op(&one, &was, MPI_LONG, 1, at, MPI_SUM, win));
        SIM_CHECK(was == i);
    }
    OK(MPI_Compare_and_swap(&ten, &times, &was, MPI_LONG, 1, at, win));
    SIM_CHECK(was == TIMES);
    OK(MPI_Accumulate(&one, 1, MPI_LONG, 1, at, 1, MPI_LONG, MPI_SUM, win));
    OK(MPI_Fetch_and_op(&one, &was, MPI_LONG, 1, at, MPI_NO_OP, win));
    SIM_CHECK(was == 11);
    SIM_CHECK(pvar(win, PVAR_RMA_MAPPED) - mapped == TIMES + 3);
    SIM_CHECK(pvar(win, PVAR_RMA_FOP) - fops == TIMES + 1);
    ERR(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(&one, &was, MPI_LONG, 1, end, MPI_SUM, win));
    ERR(MPI_ERR_RMA_RANGE, MPI_Fetch_and_op(&one, &was, MPI_LONG, 1, end - 1, MPI_SUM, win));
    SIM_CHECK(was == 11);
}

/* Near: no message. Memory of a segment is mapped; a handle of the same entry of the table is
 * another one. */
static void counts_near(void *arg)
{
    (void)arg;
    long *mem = NULL, v[LONGS] = {3}, got[LONGS];
    int rank;
    MPI_Win win = dynamic_win();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Alloc_mem(LONGS * sizeof(long), MPI_INFO_NULL, &mem));
    memset(mem, 0, LONGS * sizeof(long));
    MPI_Aint h = handle_of_1(win, rank, mem, HALF * sizeof(long));
    OK(MPI_Win_lock_all(0, win));
    if (rank == 0) {
        struct counts c = mark(0);
        long mapped = pvar(win, PVAR_RMA_MAPPED);
        for (int i = 0; i < 4; i++) {
            put_n(win, v, 1, h + (MPI_Aint)(i * (int)sizeof(long)));
            OK(MPI_Win_flush(1, win));
        }
        OK(MPI_Get(got, 4, MPI_LONG, 1, h, 4, MPI_LONG, win));
        OK(MPI_Win_flush(1, win));
        SIM_CHECK(got[0] == 3 && got[3] == 3);
        SIM_CHECK(since_all(&c) == 0 && pvar(win, PVAR_RMA_MAPPED) - mapped == 5);
        elements_near(win, h + 8 * (MPI_Aint)sizeof(long), h + HALF * (MPI_Aint)sizeof(long));
        SIM_CHECK(since_all(&c) == 0);
        ERR(MPI_ERR_RMA_RANGE, MPI_Put(v, HALF, MPI_LONG, 1, h + 8, HALF, MPI_LONG, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Aint old = h;
    if (rank == 1) {
        OK(MPIX_Memhandle_free(win, h));
        h = handle_in_place_of(win, old, mem + HALF, HALF * sizeof(long));
    }
    OK(MPI_Bcast(&h, 1, MPI_AINT, 1, MPI_COMM_WORLD));
    SIM_CHECK(h != old);
    if (rank == 0) {
        v[0] = 4;
        put_n(win, v, 1, old);
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, win));
        OK(MPI_Fetch_and_op(v, got, MPI_LONG, 1, old, MPI_SUM, win));
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, win));
        put_n(win, v, 1, h);
        OK(MPI_Win_flush(1, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        SIM_CHECK(mem[0] == 3 && mem[3] == 3 && mem[4] == 0 && mem[8] == 11 && mem[HALF] == 4);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    OK(MPI_Free_mem(mem));
}

/* Handles with one first place in the table: as many as there are places are found, also behind one
 * that was free meanwhile. What is put by the one that has no place goes by message. */
static void one_place(void *arg)
{
    enum { ALL = RMA_SHOWN_PLACES + 1 };
    (void)arg;
    long *mem = NULL, v[ALL];
    int rank;
    MPI_Aint h[ALL];
    MPI_Win win = dynamic_win();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Alloc_mem(ALL * sizeof(long), MPI_INFO_NULL, &mem));
    memset(mem, 0, ALL * sizeof(long));
    if (rank == 1) {
        OK(MPIX_Memhandle_create(win, mem, sizeof *mem, &h[0]));
        for (int i = 1; i < ALL; i++)
            h[i] = handle_in_place_of(win, h[0], mem + i, sizeof *mem);
        OK(MPIX_Memhandle_free(win, h[0]));
        h[0] = handle_in_place_of(win, h[1], mem, sizeof *mem);
    }
    OK(MPI_Bcast(h, ALL, MPI_AINT, 1, MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; rank == 0 && i < ALL; i++) {
        struct counts c = mark(0);
        v[i] = i + 1;
        put_n(win, &v[i], 1, h[i]);
        OK(MPI_Win_flush(1, win));
        if (i < RMA_SHOWN_PLACES)
            SIM_CHECK(since_all(&c) == 0);
        else
            SENT(&c, 1, PUT);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < ALL; i++)
        SIM_CHECK(mem[i] == i + 1);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    OK(MPI_Free_mem(mem));
}

/* A process maps little more than the handles that live, though none tells it that others ended. */
static void mapped_few(void *arg)
{
    enum { ROUNDS_NEAR = 40, BYTES = 4 << 20, SHORT = 5000 };
    (void)arg;
    long *mem = NULL, v = 3, most = 0;
    int rank;
    MPI_Win win = dynamic_win();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < ROUNDS_NEAR; i++) {
        if (rank == 1)
            OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &mem));
        MPI_Aint h = handle_of_1(win, rank, mem, BYTES);
        if (rank == 0) {
            put_n(win, &v, 1, h);
            OK(MPI_Win_flush(1, win));
            const struct rma_held *held = inside(win)->native.held;
            SIM_CHECK(held->recent && held->recent->at && held->mapped >= BYTES);
            most = (long)held->mapped > most ? (long)held->mapped : most;
            SIM_CHECK(most <= (16 << 20) + BYTES);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            OK(MPIX_Memhandle_free(win, h));
            OK(MPI_Free_mem(mem));
        }
    }
    long here = v;
    for (int i = 0; i < SHORT; i++) {
        MPI_Aint h = handle_of_1(win, rank, &here, sizeof here);
        if (rank == 0) {
            put_n(win, &v, 1, h);
            OK(MPI_Win_flush(1, win));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            OK(MPIX_Memhandle_free(win, h));
    }
    if (rank == 0) {
        const struct rma_held *held = inside(win)->native.held;
        SIM_CHECK(held->near.count <= 4096 && held->mapped <= (16 << 20) + BYTES);
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

/* A KEY that comes after HANDLE_ENDS is of no use. */
static void late_key(void *arg)
{
    enum { KEY = AM_RMA + RMA_PKT_KEY, ENDS = AM_RMA + RMA_PKT_HANDLE_ENDS };
    (void)arg;
    long mem[LONGS] = {0}, v[LONGS] = {5};
    int rank;
    MPI_Win win = dynamic_win();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Aint h = handle_of_1(win, rank, mem, sizeof mem);
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win));
        sim_hold(KEY, 1, 0);
        put_n(win, v, LONGS, h);
        OK(MPI_Win_flush(1, win));
        while (!sim_held(KEY, 0))
            turn();
        SIM_CHECK(state_of(win, h) == KEY_ASKED);
        tell(1);
        hear(1);
        SIM_CHECK(sim_received(0, ENDS) == 1 && state_of(win, h) == KEY_NONE);
        sim_let_go(KEY, 0);
        while (!sim_received(0, KEY))
            turn();
        SIM_CHECK(state_of(win, h) == KEY_NONE);
        put_n(win, v, LONGS, h);
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, win));
        OK(MPI_Win_unlock(1, win));
    } else {
        hear(0);
        OK(MPIX_Memhandle_free(win, h));
        tell(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* The end, also by a detach, waits for the answer of the rank with the key: the registration
 * is there until then. */
static void end_waits(void *arg)
{
    enum { LEFT = AM_RMA + RMA_PKT_HANDLE_LEFT };
    (void)arg;
    long mem[LONGS] = {0}, v[LONGS] = {5};
    int rank, over;
    MPI_Win win = dynamic_win();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Aint h = handle_of_1(win, rank, mem, sizeof mem);
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win));
        put_until_known(win, v, h);
        sim_hold(LEFT, 0, 1);
        tell(1);
        while (!sim_held(LEFT, 1))
            turn();
        for (int i = 0; i < 30; i++)
            turn();
        OK(MPI_Iprobe(1, 7, MPI_COMM_WORLD, &over, MPI_STATUS_IGNORE));
        SIM_CHECK(!over);
        sim_let_go(LEFT, 1);
        hear(1);
        OK(MPI_Win_unlock(1, win));
    } else {
        hear(0);
        OK(sim_seed() % 2 ? MPIX_Memhandle_free(win, h) : MPI_Win_detach(win, mem));
        tell(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

/* Two threads of an owner: one frees a handle, and waits for the rank with the key. The other one
 * meanwhile detaches the memory, which waits, too, or frees the last other handle of it, which
 * leaves it attached. */
enum { DETACH, DETACH_MADE, FREE, WAYS };
static struct { /* of rank 1 */
    MPI_Win win;
    MPI_Aint h[2];
    long mem[LONGS];
    int way, begun, called, over;
} two;

static void two_ends(void *arg)
{
    enum { LEFT = AM_RMA + RMA_PKT_HANDLE_LEFT };
    (void)arg;
    long v[LONGS] = {5};
    MPI_Aint h[2];
    int rank, way = (int)(sim_seed() % WAYS);
    MPI_Win win = dynamic_win();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && way == DETACH)
        OK(MPI_Win_attach(win, two.mem, sizeof two.mem));
    for (int i = 0; i < 2; i++)
        h[i] = handle_of_1(win, rank, two.mem, sizeof two.mem);
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win));
        put_until_known(win, v, h[0]);
        sim_hold(LEFT, 0, 1);
        tell(1);
        while (!sim_held(LEFT, 1) || (way == FREE ? !two.over : !two.called))
            turn();
        for (int i = 0; i < 60; i++)
            turn();
        SIM_CHECK(two.over == (way == FREE));
        sim_let_go(LEFT, 1);
        hear(1);
        OK(MPI_Win_unlock(1, win));
    } else {
        hear(0);
        two.win = win;
        two.h[1] = h[1];
        two.way = way;
        two.begun = 1;
        OK(MPIX_Memhandle_free(win, h[0]));
        while (!two.over)
            turn();
        SIM_CHECK(!inside(win)->mem.nregions);
        two.begun = two.called = two.over = 0;
        tell(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

static void two_ends_thread(int thread, void *arg)
{
    (void)arg;
    (void)thread;
    if (sim_rank() != 1)
        return;
    while (!two.begun || list_empty(&inside(two.win)->mem.handles->ending))
        sim_compute(1);
    two.called = 1;
    if (two.way == FREE) {
        OK(MPIX_Memhandle_free(two.win, two.h[1]));
        SIM_CHECK(inside(two.win)->mem.nregions == 1);
    } else {
        OK(MPI_Win_detach(two.win, two.mem));
    }
    two.over = 1;
}

/* More handles than keys are kept: each is asked for again, and the end of one whose key was
 * replaced is answered, too. */
static void few_keys(struct sim_knobs *k)
{
    natively(k);
    scenario_cvar("MPIR_CVAR_RMA_KEYS_SIZE", "2");
}

static void replaced(void *arg)
{
    enum { HANDLES = 5 };
    (void)arg;
    long mem[HANDLES][LONGS] = {{0}}, v[LONGS];
    MPI_Aint h[HANDLES];
    int rank;
    MPI_Win win = dynamic_win();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < HANDLES; i++)
        h[i] = handle_of_1(win, rank, mem[i], sizeof mem[i]);
    OK(MPI_Win_lock_all(0, win));
    for (int round = 0; rank == 0 && round < 3; round++)
        for (int i = 0; i < HANDLES; i++) {
            for (int k = 0; k < LONGS; k++)
                v[k] = round * 100 + i;
            put_until_known(win, v, h[i]);
            SIM_CHECK(inside(win)->native.held->nkeys <= 2);
            put_n(win, v, LONGS, h[i]);
            OK(MPI_Win_flush(1, win));
        }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < HANDLES; i++) {
        SIM_CHECK(mem[i][0] == 200 + i && mem[i][LONGS - 1] == 200 + i);
        OK(MPIX_Memhandle_free(win, h[i]));
    }
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
}

static int put_err(MPI_Win win, int rank, const long *v, int n, MPI_Aint at)
{
    int err = MPI_Put(v, n, MPI_LONG, rank, at, n, MPI_LONG, win);
    return err ? err : MPI_Win_flush(rank, win);
}

/* The handle that the inline path finds; RMA_NO_BASE: none. */
static MPI_Aint found_inline(MPI_Win win, int rank)
{
    return (MPI_Aint)inside(win)->near.near[rank].recent->base;
}

/* The handle is found without a lock from the second put on, and nothing beside it. */
static void put_and_beside(MPI_Win win, int rank, MPI_Aint h, const long *v)
{
    const MPI_Aint word = sizeof(long), end = LONGS * word;
    for (int i = 0; i < 2; i++)
        OK(put_err(win, rank, v, 2, h + end - 2 * word));
    SIM_CHECK(found_inline(win, rank) == h);
    ERR(MPI_ERR_RMA_RANGE, put_err(win, rank, v, 2, h + end - word));
    ERR(MPI_ERR_RMA_RANGE, put_err(win, rank, v, 1, h - word));
    ERR(MPI_ERR_RMA_RANGE, put_err(win, rank, v, 2, h - word));
    SIM_CHECK(found_inline(win, rank) == h);
}

/* A handle of this process ends: nothing is found. */
static void own_ends(MPI_Win win, int rank, long *mem, const long *v)
{
    MPI_Aint h[2];
    for (int i = 0; i < 2; i++) {
        OK(MPIX_Memhandle_create(win, mem, LONGS * sizeof(long), &h[i]));
        put_and_beside(win, rank, h[i], v);
        OK(MPIX_Memhandle_free(win, h[i]));
        SIM_CHECK(found_inline(win, rank) == RMA_NO_BASE);
        ERR(MPI_ERR_RMA_RANGE, put_err(win, rank, v, 1, h[i]));
    }
    SIM_CHECK(h[0] != h[1]);
}

/* Handles by the inline path: of this process, of another one, by a duplicate. A new epoch takes
 * the lock first. Behind MPIX_Win_order the other path looks at what is under way. */
static void inline_way(void *arg)
{
    (void)arg;
    long *mem = NULL, v[LONGS] = {3, 4};
    int rank;
    MPI_Win win = dynamic_win(), dup;
    MPI_Request made;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Alloc_mem(2 * LONGS * sizeof(long), MPI_INFO_NULL, &mem));
    memset(mem, 0, 2 * LONGS * sizeof(long));
    MPI_Aint h = handle_of_1(win, rank, mem, LONGS * sizeof(long));
    MPI_Aint ended = handle_of_1(win, rank, mem, LONGS * sizeof(long));
    if (rank == 1)
        OK(MPIX_Memhandle_free(win, ended));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_lock_all(0, win));
    own_ends(win, rank, mem + LONGS, v);
    if (rank == 0) {
        struct counts c = mark(0);
        put_n(win, v, 1, h);
        OK(MPIX_Win_idup(win, MPI_INFO_NULL, &dup, &made));
        OK(MPI_Wait(&made, MPI_STATUS_IGNORE));
        SIM_CHECK(found_inline(win, 1) == h && found_inline(dup, 1) == RMA_NO_BASE);
        put_n(dup, v, 1, h);
        put_n(dup, v, 1, h + (MPI_Aint)sizeof(long));
        SIM_CHECK(found_inline(dup, 1) == h && since_all(&c) == 0);
        OK(MPI_Win_flush(1, dup));
        OK(MPI_Win_unlock_all(win));
        OK(MPI_Win_lock_all(0, win));
        SIM_CHECK(inside(win)->records[1].lazy);
        SIM_CHECK(found_inline(win, 1) == RMA_NO_BASE && found_inline(dup, 1) == RMA_NO_BASE);
        put_n(dup, v, 1, h);
        SIM_CHECK(!inside(win)->records[1].lazy && found_inline(dup, 1) == h);
        put_n(dup, v, 1, ended); /* by message: MPIX_Win_order has something to do */
        OK(MPIX_Win_order(1, dup));
        put_n(dup, v, 1, h);
        SIM_CHECK(found_inline(dup, 1) == RMA_NO_BASE);
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, dup));
        OK(put_err(dup, 1, v, 1, h));
        SIM_CHECK(found_inline(dup, 1) == RMA_NO_BASE);
        put_n(win, v, 1, h);
        SIM_CHECK(found_inline(win, 1) == h);
        OK(MPI_Win_free(&dup));
        put_and_beside(win, 1, h, v);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SIM_CHECK(rank != 1 || (mem[0] == 3 && mem[1] == 3 && mem[LONGS - 2] == 3));
    OK(MPI_Win_unlock_all(win));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&win));
    OK(MPI_Free_mem(mem));
}

static void mortal(struct sim_knobs *k)
{
    natively(k);
    k->mortal = 1;
}

/* The rank with the key dies, before its handle ends or while that is waited for. */
static void holder_dies(void *arg)
{
    (void)arg;
    long mem[LONGS] = {0}, v[LONGS] = {5};
    int rank;
    MPI_Win win = dynamic_win();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Aint h = handle_of_1(win, rank, mem, sizeof mem);
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win));
        put_until_known(win, v, h);
        tell(1);
        sim_hold(AM_RMA + RMA_PKT_HANDLE_LEFT, 0, 1);
        for (uint64_t i = sim_seed() % 40; i; i--)
            turn();
        sim_die();
    }
    if (rank == 1) {
        hear(0);
        OK(MPIX_Memhandle_free(win, h));
    }
    hear_of_death(0);
    OK(MPI_Win_free(&win));
}

/* --- random programs -------------------------------------------------------------------------- */

enum { RANKS = 4, SLOTS = 3, ROUNDS = 8, CELLS = 24 };

struct place { /* one handle of a rank */
    MPI_Aint h;
    int alive;
};

struct world {
    int rank, size;
    uint64_t common;
    MPI_Win win;
    long *mem[SLOTS];      /* of this rank: SLOTS pieces, each [size][CELLS] */
    struct place all[RANKS][SLOTS], old[RANKS][SLOTS];
    long model[RANKS][SLOTS][CELLS]; /* what this rank has put there */
};

static uint64_t drawn(struct world *x, uint64_t below)
{
    x->common = x->common * 6364136223846793005u + 1442695040888963407u;
    return (x->common >> 33) % below;
}

/* A rank ends or makes some of its handles; the old ones are remembered. All draw alike. */
static void change(struct world *x)
{
    size_t bytes = (size_t)x->size * CELLS * sizeof(long);
    for (int r = 0; r < x->size; r++)
        for (int s = 0; s < SLOTS; s++) {
            struct place *p = &x->all[r][s];
            uint64_t what = drawn(x, 4);
            if (p->alive && what < 2) {
                x->old[r][s] = *p;
                p->alive = 0;
                if (r == x->rank && what)
                    OK(MPIX_Memhandle_free(x->win, p->h));
                else if (r == x->rank)
                    OK(MPI_Win_detach(x->win, x->mem[s]));
            } else if (!p->alive && what) {
                p->alive = 1;
                if (r == x->rank) {
                    OK(MPIX_Memhandle_create(x->win, x->mem[s], (MPI_Aint)bytes, &p->h));
                    SIM_CHECK(p->h != x->old[r][s].h);
                }
            }
        }
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, x->all, sizeof x->all[0], MPI_BYTE,
                     MPI_COMM_WORLD));
}

static MPI_Aint cell_at(const struct world *x, MPI_Aint h, int cell)
{
    return h + (MPI_Aint)((x->rank * CELLS + cell) * (int)sizeof(long));
}

/* Each in a flush of its own, since many are refused. */
static void act(struct world *x)
{
    long v[CELLS], got[CELLS];
    int r = (int)(sim_random() % (uint64_t)x->size), s = (int)(sim_random() % SLOTS);
    int from = (int)(sim_random() % CELLS), n = 1 + (int)(sim_random() % (uint64_t)(CELLS - from));
    const struct place *p = &x->all[r][s];
    MPI_Aint h = p->h;
    int good = p->alive, beyond = sim_random() % 8 == 0, how = (int)(sim_random() % 3);
    if (x->old[r][s].h && sim_random() % 3 == 0) {
        h = x->old[r][s].h;
        good = 0;
    }
    if (!h)
        return;
    MPI_Aint at = cell_at(x, h, from);
    if (beyond) {
        at = cell_at(x, h, from + (x->size - x->rank) * CELLS);
        good = 0;
    }
    for (int i = 0; i < n; i++)
        v[i] = (long)(sim_random() >> 8);
    int err = how == 0 ? MPI_Put(v, n, MPI_LONG, r, at, n, MPI_LONG, x->win)
              : how == 1
                  ? MPI_Accumulate(v, n, MPI_LONG, r, at, n, MPI_LONG, MPI_REPLACE, x->win)
                  : MPI_Get(got, n, MPI_LONG, r, at, n, MPI_LONG, x->win);
    if (!err)
        err = MPI_Win_flush(r, x->win);
    if (!good) {
        ERR(MPI_ERR_RMA_RANGE, err);
        return;
    }
    OK(err);
    if (how == 2)
        SIM_CHECK(!memcmp(got, x->model[r][s] + from, (size_t)n * sizeof *got));
    else
        memcpy(x->model[r][s] + from, v, (size_t)n * sizeof *v);
}

static void random_program(void *arg)
{
    (void)arg;
    struct world *x = calloc(1, sizeof *x);
    MPI_Comm_rank(MPI_COMM_WORLD, &x->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &x->size);
    x->common = sim_random();
    OK(MPI_Bcast(&x->common, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    x->win = dynamic_win();
    size_t bytes = (size_t)x->size * CELLS * sizeof(long);
    for (int s = 0; s < SLOTS; s++) {
        if (s)
            x->mem[s] = aligned_alloc(4096, 4096);
        else
            OK(MPI_Alloc_mem(4096, MPI_INFO_NULL, &x->mem[s]));
        memset(x->mem[s], 0, bytes);
    }
    OK(MPI_Win_lock_all(0, x->win));
    for (int round = 0; round < ROUNDS; round++) {
        change(x);
        for (int i = 0; i < 6; i++)
            act(x);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    long(*want)[SLOTS][CELLS] = malloc((size_t)x->size * sizeof *want);
    OK(MPI_Alltoall(x->model, SLOTS * CELLS, MPI_LONG, want, SLOTS * CELLS, MPI_LONG,
                    MPI_COMM_WORLD));
    for (int r = 0; r < x->size; r++)
        for (int s = 0; s < SLOTS; s++)
            SIM_CHECK(!memcmp(x->mem[s] + r * CELLS, want[r][s], sizeof want[r][s]));
    free(want);
    OK(MPI_Win_unlock_all(x->win));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_Win_free(&x->win));
    OK(MPI_Free_mem(x->mem[0]));
    for (int s = 1; s < SLOTS; s++)
        free(x->mem[s]);
    free(x);
}

static void any_network(struct sim_knobs *k)
{
    uint64_t draw = k->seed * 0x9e3779b97f4a7c15u;
    k->native = SIM_NATIVE_ALL;
    k->native_min = draw >> 40 & 1 ? 1 : 64;
    k->native_ordered = draw >> 41 & 1;
    k->native_reg = draw >> 42 & 1;
    k->native_lone = draw >> 43 & 1;
    if (draw >> 44 & 1)
        scenario_cvar("MPIR_CVAR_RMA_KEYS_SIZE", "2");
}

static void poor_network(struct sim_knobs *k)
{
    any_network(k);
    far_and_poor(k);
}

const struct scenario scenarios_handles[] = {
    {"count-handle", 2, 1, counts_far, NULL, natively},
    {"count-handle-near", 2, 1, counts_near, NULL, near_by},
    {"handle-inline", 2, 1, inline_way, NULL, near_by},
    {"handle-one-place", 2, 1, one_place, NULL, near_by},
    {"handle-mapped", 2, 1, mapped_few, NULL, near_by},
    {"handle-late-key", 2, 1, late_key, NULL, natively_unordered},
    {"handle-waits", 2, 1, end_waits, NULL, natively},
    {"handle-threads", 2, 2, two_ends, two_ends_thread, natively},
    {"handle-replaced", 2, 1, replaced, NULL, few_keys},
    {"handle-death", 3, 1, holder_dies, NULL, mortal},
    {"handle-random", 4, 1, random_program, NULL, any_network},
    {"handle-random-near", 4, 1, random_program, NULL, near_by},
    {"handle-random-poor", 3, 1, random_program, NULL, poor_network},
    {NULL, 0, 0, NULL, NULL, NULL},
};
