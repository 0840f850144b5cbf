/* notify.c - notified operations: exact numbers of messages, then random programs. Their oracle
 * counts the data that are complete: a counter never says more, and says all in the end. */
#include <stdlib.h>

#include "notify.h"

/* Each leaves when it is called, in one message that nothing answers. */
static void put_counts(void *arg)
{
    (void)arg;
    struct job j = notify_open(16);
    long v[8];
    struct counts c = mark(0), b = mark(1);
    for (int i = 0; i < 8; i++)
        v[i] = 10 + i;
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        put_n(&j, &v[0], 1, 0, 0);
        SENT(&c, 1, PUT);
        while (!rma_holds_lock(inside(j.win), 1))
            turn();
        SENT(&b, 1, GRANTED);
        for (int i = 1; i < 4; i++) {
            put_n(&j, &v[i], 1, i, 0);
            SENT(&c, 1 + i, PUT);
        }
        tell(1);
        hear(1);
        SENT(&c, 4, PUT);
        SENT(&b, 1, GRANTED);
        OK(MPI_Win_flush(1, j.win));
        SENT2(&c, 4, PUT, 1, DONE);
        SENT2(&b, 1, GRANTED, 1, ACK);
        OK(MPI_Win_unlock_all(j.win));
    } else {
        for (int i = 0; i < 4; i++) {
            OK(MPIX_Win_notify_take(j.win, 0, 1));
            SIM_CHECK(j.mem[i] == 10 + i);
        }
        hear(0);
        tell(0);
    }
    job_close(&j);
}

static void lock_counts(void *arg)
{
    (void)arg;
    struct job j = notify_open(16);
    long v = 4;
    for (int nocheck = 0; nocheck < 2; nocheck++) {
        struct counts c = mark(0), b = mark(1);
        if (j.rank == 0) {
            OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, nocheck ? MPI_MODE_NOCHECK : 0, j.win));
            put_n(&j, &v, 1, nocheck, 0);
            SENT(&c, 1, PUT);
            OK(MPI_Win_unlock(1, j.win));
            SENT2(&c, 1, PUT, 1, DONE);
            SENT2(&b, !nocheck, GRANTED, 1, ACK);
        } else {
            OK(MPIX_Win_notify_wait(j.win, 0, nocheck + 1));
            SIM_CHECK(j.mem[nocheck] == 4);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    job_close(&j);
}

/* Those that were held back leave with it; one of no bytes; a get; an accumulate; after a flush
 * that had to ask by itself. */
static void kinds_counts(void *arg)
{
    (void)arg;
    struct job j = notify_open(16);
    long v[8] = {1, 2, 3, 4, 5, 6, 7, 8}, r = -1;
    if (j.rank == 0) {
        lock_all_held(&j);
        struct counts c = mark(0), b = mark(1);
        for (int i = 0; i < 7; i++)
            put1(&j, &v[i], 1, i);
        SIM_CHECK(since_all(&c) == 0);
        put_n(&j, &v[7], 1, 7, 0);
        SENT(&c, 1, BATCH);
        c = mark(0);
        put_n(&j, NULL, 0, 0, 1);
        SENT(&c, 1, DONE);
        OK(MPIX_Accumulate_notify(&v[4], 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_SUM, 1, j.win));
        SENT2(&c, 1, DONE, 1, ACC);
        tell(1);
        hear(1);
        SENT2(&c, 1, DONE, 1, ACC);
        SIM_CHECK(since_all(&b) == 0);
        c = mark(0);
        OK(MPIX_Get_notify(&r, 1, MPI_LONG, 1, 0, 1, MPI_LONG, 2, j.win));
        SENT(&c, 1, GET);
        OK(MPI_Win_flush_local(1, j.win));
        SIM_CHECK(r == 6);
        SENT(&c, 1, GET);
        SENT(&b, 1, DATA);
        OK(MPI_Win_unlock_all(j.win));
    } else {
        OK(MPIX_Win_notify_wait(j.win, 0, 1));
        for (int i = 1; i < 8; i++)
            SIM_CHECK(j.mem[i] == i + 1);
        OK(MPIX_Win_notify_wait(j.win, 1, 2));
        SIM_CHECK(j.mem[0] == 6);
        hear(0);
        tell(0);
        OK(MPIX_Win_notify_wait(j.win, 2, 1));
        j.mem[0] = -1; /* it was read */
    }
    job_close(&j);
}

enum { PACKET_LONGS = 4096 / (int)sizeof(long) };

/* A long one: the flag is on the last part. Without an order all parts are answered, and the last
 * one leaves when the others were. */
static void long_counts(void *arg)
{
    enum { LONGS = 2 * PACKET_LONGS };
    (void)arg;
    struct job j = notify_open(LONGS);
    long v[LONGS];
    for (int i = 0; i < LONGS; i++)
        v[i] = i + 1;
    if (j.rank == 0) {
        lock_all_held(&j);
        struct counts c = mark(0), b = mark(1);
        put_n(&j, v, LONGS, 0, 0);
        while (since(&c, RMA_PKT_PUT) < 3)
            turn();
        tell(1);
        hear(1);
        SENT(&c, 3, PUT);
        if (rma_target_find(inside(j.win), 1)->ordered)
            SIM_CHECK(since_all(&b) == 0);
        else
            SIM_CHECK(since(&b, RMA_PKT_ACK) >= 2 && since(&b, RMA_PKT_ACK) <= 3);
        OK(MPI_Win_unlock_all(j.win));
    } else {
        OK(MPIX_Win_notify_wait(j.win, 0, 1));
        for (int i = 0; i < LONGS; i++)
            SIM_CHECK(j.mem[i] == i + 1);
        hear(0);
        tell(0);
    }
    job_close(&j);
}

static void unordered(struct sim_knobs *k)
{
    notify_quiet(k);
    k->ordered = 0;
}

static void fence_counts(void *arg)
{
    (void)arg;
    struct job j = notify_open(16);
    long v = 4;
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, j.win));
    if (j.rank == 0) {
        struct counts c = mark(0), b = mark(1);
        put_n(&j, &v, 1, 0, 0);
        hear(1); /* it left with the barrier */
        SENT(&c, 1, PUT);
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
        SENT2(&c, 1, PUT, 1, DONE);
        SENT(&b, 1, ACK);
    } else {
        OK(MPIX_Win_notify_wait(j.win, 0, 1));
        SIM_CHECK(j.mem[0] == 4);
        tell(0);
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, j.win));
    }
    job_close(&j);
}

/* Counters that are made after what they count; near ranks send for it once, and add then. */
static void early_counts(void *arg)
{
    (void)arg;
    struct job j = job_open(16);
    long v = 4;
    MPI_Count n = -1;
    if (j.rank == 0) {
        int near = rma_near_of(inside(j.win), 1) != NULL;
        OK(MPI_Win_lock_all(0, j.win));
        OK(MPIX_Put_notify(&v, 1, MPI_LONG, 1, 0, 1, MPI_LONG, 300, j.win));
        OK(MPI_Win_flush(1, j.win));
        tell(1);
        hear(1);
        struct counts c = mark(0);
        OK(MPIX_Put_notify(&v, 1, MPI_LONG, 1, 1, 1, MPI_LONG, 300, j.win));
        SENT(&c, !near, PUT);
        OK(MPI_Win_unlock_all(j.win));
    } else {
        hear(0);
        SIM_CHECK(j.mem[0] == 4);
        OK(MPIX_Win_notify_set_num(j.win, MPI_INFO_NULL, 2));
        OK(MPIX_Win_notify_set_num(j.win, MPI_INFO_NULL, 301));
        OK(MPIX_Win_notify_get_value(j.win, 300, &n));
        SIM_CHECK(n == 1);
        tell(0);
        OK(MPIX_Win_notify_wait(j.win, 300, 2));
        SIM_CHECK(j.mem[1] == 4);
    }
    job_close(&j);
}

/* More than are kept for counters that there are not: the origin's next answer says so. */
static void early_bound(void *arg)
{
    (void)arg;
    struct job j = job_open(16);
    long v = 4;
    MPI_Count n = -1;
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        for (int i = 0; i < 1024; i++)
            put_n(&j, &v, 1, 0, i);
        put_n(&j, &v, 1, 0, 7); /* one more of the same takes no place */
        OK(MPI_Win_flush(1, j.win));
        put_n(&j, &v, 1, 0, 1024);
        ERR(MPIX_ERR_INVALID_NOTIFICATION, MPI_Win_flush(1, j.win));
        OK(MPI_Win_unlock_all(j.win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 1) {
        OK(MPIX_Win_notify_set_num(j.win, MPI_INFO_NULL, 1025));
        for (int i = 0; i < 1025; i++) {
            OK(MPIX_Win_notify_get_value(j.win, i, &n));
            SIM_CHECK(n == (i == 1024 ? 0 : i == 7 ? 2 : 1));
        }
    }
    job_close(&j);
}

static void near_counts(void *arg)
{
    (void)arg;
    struct job j = notify_open(16);
    long v = 9;
    if (j.rank == 0) {
        OK(MPI_Win_lock_all(0, j.win));
        struct counts c = mark(0);
        for (int i = 0; i < 4; i++)
            put_n(&j, &v, 1, i, i);
        SIM_CHECK(since_all(&c) == 0);
        OK(MPI_Win_unlock_all(j.win));
    } else {
        for (int i = 0; i < 4; i++) {
            OK(MPIX_Win_notify_wait(j.win, i, 1));
            SIM_CHECK(j.mem[i] == 9);
        }
    }
    job_close(&j);
}

/* It is not appended to the operations that are coalesced before it, and leaves with them. */
static void coalesced_counts(void *arg)
{
    enum { N = 40 };
    (void)arg;
    struct job j = notify_open(N + 1);
    long v[N + 1];
    for (int i = 0; i <= N; i++)
        v[i] = 10 + i;
    if (j.rank == 0) {
        lock_all_held(&j);
        for (int i = 0; i < N; i++)
            put1(&j, &v[i], 1, i);
        SIM_CHECK(rma_target_find(inside(j.win), 1)->coalesced);
        put_n(&j, &v[N], 1, N, 0);
        SIM_CHECK(!rma_target_find(inside(j.win), 1)->queued);
        hear(1);
        OK(MPI_Win_unlock_all(j.win));
    } else {
        OK(MPIX_Win_notify_wait(j.win, 0, 1));
        for (int i = 0; i <= N; i++)
            SIM_CHECK(j.mem[i] == 10 + i);
        tell(0);
    }
    job_close(&j);
}

static void gathering(struct sim_knobs *k)
{
    notify_quiet(k);
    k->gather = 1000; /* more than the puts above take */
}

/* What the target refuses is not counted, and the origin's next answer says so. */
static void refused(void *arg)
{
    (void)arg;
    struct job j = notify_open(16);
    const long v = 4;
    MPI_Count n = -1;
    if (j.rank == 0) {
        lock_all_held(&j);
        put_n(&j, &v, 1, 16, 0);
        put_n(&j, &v, 1, 15, 1);
        ERR(MPI_ERR_RMA_RANGE, MPI_Win_flush(1, j.win));
        tell(1);
        OK(MPI_Win_unlock_all(j.win));
    } else {
        hear(0);
        OK(MPIX_Win_notify_get_value(j.win, 0, &n));
        SIM_CHECK(n == 0);
        OK(MPIX_Win_notify_get_value(j.win, 1, &n));
        SIM_CHECK(n == 1 && j.mem[15] == 4);
    }
    job_close(&j);
}

static int covers; /* mpix_notify_order=target */

static void set_order(MPI_Win win)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpix_notify_order", covers ? "target" : "operation"));
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Info_free(&info));
}

/* A put by the network itself, which stays under way, then a notification: with order=target that
 * leaves when the put is confirmed, else at its call. */
static void order_counts(void *arg)
{
    struct job j = notify_open(16);
    const long v[2] = {9, 9};
    (void)arg;
    set_order(j.win);
    if (j.rank == 0) {
        lock_all_held(&j);
        const struct rma_target *t = rma_target_find(inside(j.win), 1);
        while (!t->key || t->key->state != KEY_READY) {
            OK(MPI_Put(v, 1, MPI_LONG, 1, 4, 1, MPI_LONG, j.win));
            OK(MPI_Win_flush(1, j.win));
        }
        sim_hold(SIM_NATIVE_OPS, 0, 1);
        OK(MPI_Put(v, 2, MPI_LONG, 1, 0, 2, MPI_LONG, j.win));
        struct counts c = mark(0);
        put_n(&j, NULL, 0, 0, 0);
        for (int i = 0; i < 200; i++)
            turn();
        SENT(&c, !covers, DONE);
        sim_let_go(SIM_NATIVE_OPS, 1);
        sim_hold(-1, 0, 0);
        while (since(&c, RMA_PKT_DONE) < 1)
            turn();
        hear(1);
        SENT(&c, 1, DONE);
        OK(MPI_Win_unlock_all(j.win));
    } else {
        OK(MPIX_Win_notify_wait(j.win, 0, 1));
        if (covers)
            SIM_CHECK(j.mem[0] == 9 && j.mem[1] == 9);
        tell(0);
    }
    job_close(&j);
}

static void natives(struct sim_knobs *k)
{
    notify_quiet(k);
    k->native = SIM_NATIVE_PUT;
    k->native_ordered = 0;
    k->native_min = 8;
    covers = 0;
}

static void natives_first(struct sim_knobs *k)
{
    natives(k);
    covers = 1;
}

static void together(struct sim_knobs *k)
{
    notify_quiet(k);
    k->nodes = 1;
}

/* --- deaths ----------------------------------------------------------------------------------- */

static int unsure; /* of mortal() */

/* A member dies, and a wait that is not satisfied ends; what had come is counted first. unsure: it
 * dies before it knows that its notification has come. */
static void death(void *arg)
{
    (void)arg;
    struct job j = job_of_mortals(16);
    OK(MPIX_Win_notify_set_num(j.win, MPI_INFO_NULL, 4));
    long v = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (j.rank == 2) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, j.win));
        OK(MPIX_Put_notify(&v, 1, MPI_LONG, 0, 0, 1, MPI_LONG, 0, j.win));
        if (!unsure)
            OK(MPI_Win_unlock(0, j.win));
        sim_die();
    }
    if (j.rank == 0) {
        MPI_Request q;
        if (!unsure && sim_seed() / 4 % 2) {
            hear_of_death(2);
            OK(MPIX_Win_notify_wait(j.win, 0, 1)); /* it is there */
        }
        OK(MPIX_Win_notify_request(j.win, 1, 1, &q));
        ERR(MPIX_ERR_PROC_FAILED_PENDING, MPIX_Win_notify_wait(j.win, 0, 2));
        MPI_Count came = 1;
        if (unsure) /* what was under way came, or it never does */
            OK(MPIX_Win_notify_get_value(j.win, 0, &came));
        SIM_CHECK(!came || j.mem[0] == 1);
        OK(MPIX_Win_notify_take(j.win, 0, came));
        MPI_Request r = q;
        ERR(MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&r, MPI_STATUS_IGNORE));
        SIM_CHECK(r == q);
        tell(1);
        OK(MPIX_Win_notify_wait(j.win, 1, 1)); /* said once; this one waits on */
        SIM_CHECK(j.mem[1] == 1);
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else {
        hear(0);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, j.win));
        OK(MPIX_Put_notify(&v, 1, MPI_LONG, 0, 1, 1, MPI_LONG, 1, j.win));
        OK(MPI_Win_unlock(0, j.win));
    }
    (void)MPI_Win_free(&j.win);
}

static void mortal(struct sim_knobs *k)
{
    k->mortal = 1;
    k->nodes = k->seed % 2 ? k->ranks : 1;
    unsure = k->seed / 2 % 2 != 0;
}

/* --- random ----------------------------------------------------------------------------------- */

enum { OPS = 14, MOST = 700 /* longs: some take two packets */, KINDS = 4 };

struct program {
    struct job j;
    long *v;      /* [OPS * MOST] what this rank puts */
};

/* Each pair has its strip, and in it each operation its place: MOST longs that are all `number`. */
static MPI_Aint place(const struct program *p, int origin, int op)
{
    (void)p;
    return ((MPI_Aint)origin * OPS + op) * MOST;
}

/* The oracle's numbers: the same at origin and target. */
static uint64_t oracle(int origin, int target, int op, int what)
{
    uint64_t x = sim_seed() * 2654435761u + (uint64_t)(origin * 131 + target * 17 + op * 7 + what);
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    return x ^ x >> 33;
}
static int target_of(const struct program *p, int origin, int op)
{
    return (int)(oracle(origin, 0, op, 1) % (unsigned)p->j.size);
}
static int kind_of(int origin, int op)
{
    return (int)(oracle(origin, 0, op, 2) % KINDS);
}
static int length_of(int origin, int op)
{
    static const int n[] = {1, 1, 3, 40, MOST, 600};
    return n[oracle(origin, 0, op, 3) % 6];
}
static int is_noted(int origin, int op)
{
    return oracle(origin, 0, op, 4) % 4 != 0;
}

static void do_op(struct program *p, int op)
{
    int me = p->j.rank, to = target_of(p, me, op), n = length_of(me, op);
    long *v = p->v + op * MOST;
    MPI_Aint at = place(p, me, op);
    MPI_Win win = p->j.win;
    for (int i = 0; i < n; i++)
        v[i] = op + 1;
    if (!is_noted(me, op)) {
        OK(MPI_Put(v, n, MPI_LONG, to, at, n, MPI_LONG, win));
        return;
    }
    switch (kind_of(me, op)) {
    case 0: OK(MPIX_Put_notify(v, n, MPI_LONG, to, at, n, MPI_LONG, me, win)); break;
    case 1: OK(MPIX_Get_notify(v, n, MPI_LONG, to, at, n, MPI_LONG, me, win)); break;
    case 2:
        OK(MPIX_Accumulate_notify(v, n, MPI_LONG, to, at, n, MPI_LONG, MPI_SUM, me, win));
        break;
    default: OK(MPIX_Put_notify(v, 0, MPI_LONG, to, at, 0, MPI_LONG, me, win));
    }
}

/* Of the notified operations of origin on this rank: all (what 0), those that brought data that are
 * complete here (1), those that bring none (2). */
static int notified(const struct program *p, int origin, int what)
{
    int all = 0;
    for (int op = 0; op < OPS; op++) {
        if (target_of(p, origin, op) != p->j.rank || !is_noted(origin, op))
            continue;
        int brings = kind_of(origin, op) % 2 == 0, there = 0;
        for (int i = 0; i < length_of(origin, op) && brings; i++)
            there += p->j.mem[place(p, origin, op) + i] == op + 1;
        all += what == 0 || (what == 1 && brings && there == length_of(origin, op)) ||
               (what == 2 && !brings);
    }
    return all;
}

/* The first v notified operations of origin cover those before them. */
static void check_order(const struct program *p, int origin, MPI_Count v)
{
    for (int op = 0; op < OPS && v > 0; op++) {
        int noted = is_noted(origin, op);
        if (target_of(p, origin, op) != p->j.rank)
            continue;
        for (int i = 0; i < length_of(origin, op) && (!noted || kind_of(origin, op) % 2 == 0); i++)
            SIM_CHECK(p->j.mem[place(p, origin, op) + i] == op + 1);
        v -= noted;
    }
}

static void check(const struct program *p)
{
    for (int o = 0; o < p->j.size; o++) {
        MPI_Count v = -1;
        OK(MPIX_Win_notify_get_value(p->j.win, o, &v));
        if (covers)
            check_order(p, o, v);
        SIM_CHECK(v <= notified(p, o, 1) + notified(p, o, 2));
    }
}

static void run(struct program *p, int per_target)
{
    if (!per_target)
        OK(MPI_Win_lock_all(0, p->j.win));
    for (int op = 0; op < OPS; op++) {
        int to = target_of(p, p->j.rank, op);
        if (per_target)
            OK(MPI_Win_lock(sim_random() % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0,
                            p->j.win));
        do_op(p, op);
        if (!per_target && sim_random() % 8 == 0)
            OK(MPI_Win_flush(to, p->j.win));
        if (per_target)
            OK(MPI_Win_unlock(to, p->j.win));
        if (sim_random() % 3 == 0)
            check(p);
    }
}

static void random_program(void *arg)
{
    (void)arg;
    static struct program all[SIM_RANKS];
    struct program *p = &all[sim_rank()];
    uint64_t seed = sim_seed();
    int size, rank, created = seed / 8 % 2, per_target = seed / 16 % 2, late = seed / 32 % 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    size_t bytes = (size_t)size * OPS * MOST * sizeof(long);
    p->j = (struct job){.rank = rank, .size = size};
    if (created) {
        p->j.mem = calloc(1, bytes);
        OK(MPI_Win_create(p->j.mem, (MPI_Aint)bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                          &p->j.win));
    } else {
        OK(MPI_Win_allocate((MPI_Aint)bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                            &p->j.mem, &p->j.win));
        memset(p->j.mem, 0, bytes);
    }
    p->v = calloc(OPS * MOST, sizeof(long));
    set_order(p->j.win);
    if (!late)
        OK(MPIX_Win_notify_set_num(p->j.win, MPI_INFO_NULL, size));
    MPI_Barrier(MPI_COMM_WORLD);
    if (late) { /* others may be first */
        sim_compute((int)(sim_random() % 200));
        OK(MPIX_Win_notify_set_num(p->j.win, MPI_INFO_NULL, size));
    }
    run(p, per_target);
    for (int o = 0; o < size; o++) { /* no flush: they come by themselves */
        OK(MPIX_Win_notify_wait(p->j.win, o, notified(p, o, 0)));
        SIM_CHECK(notified(p, o, 1) + notified(p, o, 2) == notified(p, o, 0));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(p);
    if (!per_target)
        OK(MPI_Win_unlock_all(p->j.win));
    for (int o = 0; o < size; o++) {
        MPI_Count v = -1;
        OK(MPIX_Win_notify_get_value(p->j.win, o, &v));
        SIM_CHECK(v == notified(p, o, 0));
    }
    job_close(&p->j);
    free(p->v);
    if (created)
        free(p->j.mem);
}

static void any_network(struct sim_knobs *k)
{
    k->nodes = k->seed % 3 == 0 ? 1 : k->seed % 3 == 1 ? k->ranks : 2;
    k->ordered = k->seed / 3 % 4 != 0;
    k->am_max = 4096;
    covers = k->seed / 13 % 2 != 0;
    if (k->seed / 7 % 2)
        scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_ENTRY_WIN_POOL_SIZE", "1");
    if (k->seed / 11 % 2)
        scenario_cvar("MPIR_CVAR_CH3_RMA_TARGET_LOCK_DATA_BYTES", "64");
}

static void poor_network(struct sim_knobs *k)
{
    any_network(k);
    int nodes = k->nodes;
    far_and_poor(k);
    k->nodes = nodes;
}

/* Some go by the network, some are pulled, some in part. */
static void native_network(struct sim_knobs *k)
{
    static const char *const from[] = {"0", "64", "4000"}, *const pulls[] = {"0", "1", "4"};
    uint64_t draw = k->seed * 0x9e3779b97f4a7c15ull;
    any_network(k);
    k->native = SIM_NATIVE_ALL;
    k->native_min = draw >> 40 & 1 ? 1 : 300;
    k->native_ordered = draw >> 41 & 1;
    k->native_reg = draw >> 42 & 1;
    k->native_notes = draw >> 43 & 1;
    scenario_cvar("MPIR_CVAR_NOTIFY_IMMEDIATE", draw >> 51 & 1 ? "1" : "0");
    scenario_cvar("MPIR_CVAR_NOTIFY_NATIVE_MIN", from[(draw >> 44) % 3]);
    scenario_cvar("MPIR_CVAR_RMA_PULLS", pulls[(draw >> 48) % 3]);
    if (draw >> 50 & 1) { /* a get that was asked for by the target comes by message then */
        k->native_fails = 20;
        scenario_cvar("MPIR_CVAR_RMA_NATIVE_GET_MIN", "1073741824");
    }
}

static void poor_native_network(struct sim_knobs *k)
{
    native_network(k);
    int nodes = k->nodes;
    far_and_poor(k);
    k->nodes = nodes;
}

const struct scenario scenarios_notify[] = {
    {"count-notify-put", 2, 1, put_counts, NULL, notify_quiet},
    {"count-notify-lock", 2, 1, lock_counts, NULL, notify_quiet},
    {"count-notify-kinds", 2, 1, kinds_counts, NULL, notify_quiet},
    {"count-notify-long", 2, 1, long_counts, NULL, notify_quiet},
    {"count-notify-unordered", 2, 1, long_counts, NULL, unordered},
    {"count-notify-fence", 2, 1, fence_counts, NULL, notify_quiet},
    {"count-notify-early", 2, 1, early_counts, NULL, notify_quiet},
    {"count-notify-early-near", 2, 1, early_counts, NULL, together},
    {"count-notify-bound", 2, 1, early_bound, NULL, notify_quiet},
    {"count-notify-near", 2, 1, near_counts, NULL, together},
    {"count-notify-coalesced", 2, 1, coalesced_counts, NULL, gathering},
    {"count-notify-refused", 2, 1, refused, NULL, notify_quiet},
    {"count-notify-order", 2, 1, order_counts, NULL, natives_first},
    {"count-notify-no-order", 2, 1, order_counts, NULL, natives},
    {"notify-death", 3, 1, death, NULL, mortal},
    {"notify-random", 3, 1, random_program, NULL, any_network},
    {"notify-random-poor", 3, 1, random_program, NULL, poor_network},
    {"notify-random-native", 3, 1, random_program, NULL, native_network},
    {"notify-random-native-poor", 3, 1, random_program, NULL, poor_native_network},
    {NULL, 0, 0, NULL, NULL, NULL},
};
