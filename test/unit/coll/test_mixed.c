/* test_mixed.c - coll/shm/mixed.c: gatherv, scatterv and alltoallv, each block in a slot or by
 * message. */
#include "coll/shm/slots.h"
#include "dt/make.h"
#include "live.h"
#include "obj/err.h"
#include "unit.h"
#include "var/var.h"

Suite *suite_mixed(void);

/* ints; a message of BIG waits for its receiver */
enum { MOST = 5, LONGEST = 1700, BIG = 20000, PLACE = BIG + 8, MANY = MOST * PLACE };

static int in[MANY], out[MANY], counts[MOST][MOST], bounds[MOST][MOST];
static unsigned dice;

static unsigned roll(unsigned n)
{
    dice = dice * 1103515245u + 12345u;
    return (dice >> 16) % n;
}

static size_t sent(void)
{
    return atomic_load(&pvar_proc()->v[PVAR_P2P_EAGER]) +
           atomic_load(&pvar_proc()->v[PVAR_P2P_RENDEZVOUS]);
}

static void warm_up(struct comm *c)
{
    for (int i = 0; i < 12; i++) /* the segment of the communicator is made */
        ok(coll_barrier(c));
    job_check(c->coll != NULL);
}

/* The same on all: how many ints go from each to each, and what receivers expect at most. */
static void lay_out(int p, int alike)
{
    int kind = (int)roll(4);
    for (int i = 0; i < p; i++)
        for (int k = 0; k < p; k++) {
            int is_long = kind == 0 ? 0 : kind == 1 ? 1 : (int)roll(3) == 0;
            counts[i][k] = roll(5) == 0 ? 0 : is_long ? 1100 + (int)roll(600) : 1 + (int)roll(20);
            bounds[i][k] = counts[i][k];
            if (!alike && counts[i][k] && roll(4) == 0)
                bounds[i][k] += (int)roll(2) ? 1 : LONGEST - counts[i][k];
        }
    for (int i = 0; i < p && alike; i++)
        for (int k = 0; k < i; k++)
            counts[i][k] = bounds[i][k] = counts[k][i];
}

static int value(int turn, int from, int to, int k)
{
    return turn * 1000000 + (from * MOST + to) * BIG + k;
}

static void check(const int *at, int turn, int from, int to)
{
    for (int k = 0; k < counts[from][to]; k++)
        job_check(at[k] == value(turn, from, to, k));
    job_check(at[counts[from][to]] == -1);
}

/* What this process sends by message: what is longer than its share of a slot. */
static size_t by_message(int me, int to, size_t most)
{
    return to != me && (size_t)counts[me][to] * sizeof(int) > most;
}

static struct coll_args call_of(struct comm *c, enum coll_call call)
{
    struct dt_type *t = dt_find(MPI_INT);
    return (struct coll_args){.call = call, .comm = c, .sbuf = in, .rbuf = out, .stype = t,
                              .rtype = t};
}

static void put(int *at, int turn, int from, int to)
{
    for (int k = 0; k < counts[from][to]; k++)
        at[k] = value(turn, from, to, k);
}

static void gathers(struct comm *c, int turn, int root, int in_place)
{
    int p = c->size, me = c->rank, rcounts[MOST], displs[MOST];
    struct coll_args a = call_of(c, COLL_GATHERV);
    memset(out, 0xff, sizeof out);
    for (int i = 0; i < p; i++) {
        rcounts[i] = bounds[i][root];
        displs[i] = (p - 1 - i) * PLACE;
    }
    in_place &= me == root;
    put(in_place ? out + displs[me] : in, turn, me, root);
    a.sbuf = in_place ? MPI_IN_PLACE : in;
    a.scount = counts[me][root];
    a.rcounts = coll_ints(rcounts);
    a.rdispls = coll_ints(displs);
    a.root = root;
    size_t before = sent();
    ok(coll_run(&a));
    job_check(sent() - before == (me == root ? 0 : by_message(me, root, 4096)));
    for (int i = 0; i < p && me == root; i++)
        check(out + displs[i], turn, i, root);
}

static void scatters(struct comm *c, int turn, int root, int in_place)
{
    int p = c->size, me = c->rank, displs[MOST];
    struct coll_args a = call_of(c, COLL_SCATTERV);
    size_t messages = 0;
    memset(out, 0xff, sizeof out);
    for (int i = 0; i < p; i++) {
        displs[i] = (p - 1 - i) * PLACE;
        put(in + displs[i], turn, me, i);
        messages += by_message(root, i, 4096 / (size_t)(p - 1));
    }
    in_place &= me == root;
    a.rbuf = in_place ? MPI_IN_PLACE : out;
    a.rcount = bounds[root][me];
    a.scounts = coll_ints(counts[root]);
    a.sdispls = coll_ints(displs);
    a.root = root;
    size_t before = sent();
    ok(coll_run(&a));
    job_check(sent() - before == (me == root ? messages : 0));
    if (!in_place)
        check(out, turn, root, me);
}

static void alltoalls(struct comm *c, int turn, int in_place)
{
    int p = c->size, me = c->rank, rcounts[MOST], displs[MOST];
    struct coll_args a = call_of(c, COLL_ALLTOALLV);
    size_t messages = 0;
    memset(out, 0xff, sizeof out);
    for (int i = 0; i < p; i++) {
        displs[i] = (p - 1 - i) * PLACE;
        rcounts[i] = bounds[i][me];
        put((in_place ? out : in) + displs[i], turn, me, i);
        messages += by_message(me, i, 4096 / (size_t)(p - 1));
    }
    a.sbuf = in_place ? MPI_IN_PLACE : in;
    a.scounts = coll_ints(counts[me]);
    a.rcounts = coll_ints(rcounts);
    a.sdispls = a.rdispls = coll_ints(displs);
    size_t before = sent();
    ok(coll_run(&a));
    job_check(sent() - before == messages);
    for (int i = 0; i < p; i++)
        check(out + displs[i], turn, i, me);
}

/* A call of no bytes: members with odd ranks do not come to coll_run(). */
static void nothing(struct comm *c, enum coll_call call)
{
    int none[MOST] = {0};
    struct coll_args a = call_of(c, call);
    a.scounts = a.sdispls = a.rcounts = a.rdispls = coll_ints(none);
    if (c->rank % 2 && call != COLL_ALLTOALLV)
        job_check(coll_nothing_here(c));
    else
        ok(coll_run(&a));
}

/* Other calls between, so members are several operations apart, and numbers and tags stay in
 * step. */
static void others(struct comm *c, int turn)
{
    static const enum coll_call calls[] = {COLL_GATHERV, COLL_SCATTERV, COLL_ALLTOALLV};
    struct request *r;
    int64_t one = 1;
    if (roll(3) == 0)
        ok(coll_bcast(&one, 1, dt_find(MPI_INT64_T), turn % c->size, c));
    if (roll(5) == 0)
        ok(coll_allreduce_i64(&one, 1, COLL_SUM, c));
    if (roll(5) == 0)
        nothing(c, calls[roll(3)]);
    if (roll(4) == 0) {
        ok(coll_ibarrier(c, &r));
        request_wait(r);
        ok(request_finish(r, NULL));
    }
}

static void body_random(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    dice = 5;
    warm_up(c);
    for (int turn = 0; turn < 1500; turn++) {
        int call = (int)roll(3), root = (int)roll((unsigned)c->size), in_place = roll(3) == 0;
        lay_out(c->size, call == 2 && in_place);
        if (call == 0)
            gathers(c, turn, root, in_place);
        else if (call == 1)
            scatters(c, turn, root, in_place);
        else
            alltoalls(c, turn, in_place);
        others(c, turn);
    }
    live_stop();
}

START_TEST(each_block_takes_its_way)
{
    for (int p = 2; p <= MOST; p++)
        ck_assert_int_eq(job_run(p, NULL, body_random, 30), 0);
}
END_TEST

/* A count of the receiver that is too small is an error there, whichever way the block goes. Memory
 * behind the block stays, and the next calls are right. */
static void unlike(struct comm *c, enum coll_call call, int n, int room)
{
    struct coll_args a = call_of(c, call);
    int p = c->size, me = c->rank, wrong[MOST], right[MOST], displs[MOST], taker = p - 1,
        takes = call != COLL_GATHERV || me == taker;
    for (int i = 0; i < p; i++) {
        right[i] = n;
        wrong[i] = i == 0 && me == taker ? room : n;
        displs[i] = i * PLACE;
        put(in + displs[i], 1, me, i);
    }
    memset(out, 0xff, sizeof out);
    a.scounts = coll_ints(right);
    a.rcounts = coll_ints(wrong);
    a.sdispls = a.rdispls = coll_ints(displs);
    a.root = call == COLL_GATHERV ? taker : 0;
    a.scount = n;
    a.rcount = me == taker ? room : n;
    int err = coll_run(&a);
    job_check(me == taker ? err_class(err) == MPI_ERR_TRUNCATE : err == MPI_SUCCESS);
    job_check(me != taker || out[room] == -1);
    a.rcounts = coll_ints(right);
    a.rcount = n;
    for (int i = 0; i < 6; i++)
        ok(coll_run(&a));
    if (takes)
        job_check(out[n - 1] == value(1, 0, call == COLL_GATHERV ? 0 : me, n - 1));
}

/* All blocks of an alltoallv are too long for all receivers. */
static void unlike_all(struct comm *c, int n, int room)
{
    struct coll_args a = call_of(c, COLL_ALLTOALLV);
    int sends[MOST], takes[MOST], displs[MOST], p = c->size, me = c->rank;
    for (int i = 0; i < p; i++) {
        sends[i] = i == me ? room : n;
        takes[i] = room;
        displs[i] = i * PLACE;
    }
    memset(out, 0xff, sizeof out);
    a.scounts = coll_ints(sends);
    a.rcounts = coll_ints(takes);
    a.sdispls = a.rdispls = coll_ints(displs);
    job_check(err_class(coll_run(&a)) == MPI_ERR_TRUNCATE);
    for (int i = 0; i < p; i++)
        job_check(out[displs[i] + room] == -1);
}

static void body_unlike(void)
{
    static const int sizes[] = {1, 300, 1024, 1030, LONGEST, BIG};
    live_start();
    struct comm *c = proc->obj->world;
    warm_up(c);
    for (int i = 0; i < MOST; i++)
        for (int k = 0; k < MOST; k++)
            counts[i][k] = BIG;
    for (int s = 1; s < 6; s++)
        for (int r = 0; r < s; r++) {
            unlike_all(c, sizes[s], sizes[r]);
            unlike(c, COLL_GATHERV, sizes[s], sizes[r]);
            unlike(c, COLL_SCATTERV, sizes[s], sizes[r]);
            unlike(c, COLL_ALLTOALLV, sizes[s], sizes[r]);
        }
    live_stop();
}

START_TEST(too_little_room_is_an_error)
{
    ck_assert_int_eq(job_run(2, NULL, body_unlike, 30), 0);
    ck_assert_int_eq(job_run(4, NULL, body_unlike, 30), 0);
}
END_TEST

/* Blocks in place that go out when others come in. */
static void body_long(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    warm_up(c);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < c->size; i++)
            for (int k = 0; k < c->size; k++)
                counts[i][k] = bounds[i][k] = turn % 2 && i + k == 1 ? 5 : BIG;
        alltoalls(c, turn, 1);
    }
    live_stop();
}

START_TEST(long_blocks_in_place)
{
    ck_assert_int_eq(job_run(2, NULL, body_long, 30), 0);
    ck_assert_int_eq(job_run(3, NULL, body_long, 30), 0);
}
END_TEST

/* Members with odd ranks have a type of two ints with a hole, so half the counts. */
static void body_types(void)
{
    static const int lengths[] = {0, 2, 14, 1024, 1026, 3000};
    live_start();
    struct comm *c = proc->obj->world;
    int p = c->size, odd = c->rank % 2, sizes[MOST], displs[MOST];
    struct dt_type *t = dt_find(MPI_INT), *pair;
    ok(dt_make_vector(2, 1, 2, t, &pair));
    warm_up(c);
    for (int turn = 0; turn < 60; turn++) {
        enum coll_call call = turn % 3 == 0   ? COLL_GATHERV
                              : turn % 3 == 1 ? COLL_SCATTERV
                                              : COLL_ALLTOALLV;
        int n = lengths[turn % 6], root = turn / 6 % p;
        struct coll_args a = call_of(c, call);
        for (int i = 0; i < p; i++) {
            sizes[i] = odd ? n / 2 : n;
            displs[i] = i * PLACE / (odd ? 3 : 1); /* an extent of 3 ints */
            for (int k = 0; k < n; k++)
                in[(odd ? displs[i] * 3 + k / 2 * 3 + k % 2 * 2 : displs[i] + k)] =
                    c->rank * 100 + i + k;
        }
        memset(out, 0xff, sizeof out);
        a.stype = a.rtype = odd ? pair : t;
        a.scounts = a.rcounts = coll_ints(sizes);
        a.sdispls = a.rdispls = coll_ints(displs);
        a.scount = a.rcount = sizes[0];
        a.root = root;
        ok(coll_run(&a));
        int from = call == COLL_SCATTERV ? root : p - 1, at = call == COLL_SCATTERV ? 0 : from,
            to = call == COLL_GATHERV ? 0 : c->rank;
        for (int k = 0; k < n && (call != COLL_GATHERV || c->rank == root); k++)
            job_check(out[odd ? displs[at] * 3 + k / 2 * 3 + k % 2 * 2 : displs[at] + k] ==
                      from * 100 + to + k);
    }
    dt_drop(pair);
    live_stop();
}

START_TEST(members_have_types_of_their_own)
{
    for (int p = 2; p <= 3; p++)
        ck_assert_int_eq(job_run(p, NULL, body_types, 30), 0);
}
END_TEST

/* Without slots, calls of no bytes are over at once from the first one on. */
static void body_none(void)
{
    live_start();
    job_check(coll_nothing(proc->obj->world));
    job_check(coll_nothing_here(proc->obj->world));
    live_stop();
}

START_TEST(no_slots_no_count)
{
    static const char *const sets[] = {"MPIR_CVAR_COLL_SHM_BYTES=0", NULL};
    ck_assert_int_eq(job_run(2, sets, body_none, 30), 0);
}
END_TEST

Suite *suite_mixed(void)
{
    Suite *s = suite_create("coll/mixed");
    TCase *t = tcase_create("mixed");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, each_block_takes_its_way);
    tcase_add_test(t, too_little_room_is_an_error);
    tcase_add_test(t, long_blocks_in_place);
    tcase_add_test(t, members_have_types_of_their_own);
    tcase_add_test(t, no_slots_no_count);
    suite_add_tcase(s, t);
    return s;
}
