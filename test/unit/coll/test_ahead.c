/* test_ahead.c - coll/ahead.c: messages of the first round leave before the schedule, and once. */
#include "live.h"
#include "obj/err.h"
#include "p2p/p2p_types.h"
#include "unit.h"
#include "var/var.h"

Suite *suite_ahead(void);

enum { MOST = 8, N = 1400, MANY = MOST * (N + 3) }; /* ints of a block: beyond the slots */
static int in[MANY], out[MANY], counts[MOST], displs[MOST];

static size_t counted(enum pvar_id id)
{
    return atomic_load(&pvar_proc()->v[id]);
}

static size_t messages(void)
{
    return counted(PVAR_P2P_EAGER) + counted(PVAR_P2P_RENDEZVOUS);
}

static void warm_up(struct comm *c)
{
    for (int i = 0; i < 12; i++) /* the segment of the communicator is made */
        ok(coll_barrier(c));
}

static void lay_out(int p, int turn, int vector)
{
    int at = 0;
    for (int i = 0; i < p; i++) {
        counts[i] = vector && (i + turn) % 3 == 0 ? 0 : vector ? N - i * 7 - turn : N;
        displs[i] = at;
        at += counts[i] + (vector ? 3 : 0);
    }
}

static int value(int from, int to, int k)
{
    return from * 1000000 + to * 10000 + k;
}

static struct coll_args call_of(struct comm *c, enum coll_call call, int root)
{
    return (struct coll_args){.call = call, .comm = c, .sbuf = in, .rbuf = out, .root = root,
                              .stype = dt_find(MPI_INT), .rtype = dt_find(MPI_INT),
                              .scounts = coll_ints(counts), .sdispls = coll_ints(displs),
                              .rcounts = coll_ints(counts), .rdispls = coll_ints(displs)};
}

static size_t others(int p, int me)
{
    size_t n = 0;
    for (int i = 0; i < p; i++)
        n += i != me && counts[i] > 0;
    return n;
}

/* Fills `in`; the number of messages that this process sends. */
static size_t prepare(struct coll_args *a, int all_blocks)
{
    int p = a->comm->size, me = a->comm->rank;
    memset(out, 0xff, sizeof out);
    for (int i = 0; i < p && all_blocks; i++)
        for (int k = 0; k < counts[i]; k++)
            in[displs[i] + k] = value(me, i, k);
    for (int k = 0; k < N && !all_blocks; k++)
        in[k] = value(me, 0, k);
    a->scount = a->rcount = counts[me];
    return others(p, me);
}

static void check_block(int at, int from, int to, int n)
{
    for (int k = 0; k < n; k++)
        job_check(out[at + k] == value(from, to, k));
}

static void gathers(struct comm *c, int vector, int root)
{
    struct coll_args a = call_of(c, vector ? COLL_GATHERV : COLL_GATHER, root);
    (void)prepare(&a, 0);
    size_t before = messages();
    ok(coll_run(&a));
    job_check(messages() - before == (c->rank != root && counts[c->rank] > 0));
    for (int i = 0; i < c->size && c->rank == root; i++)
        check_block(displs[i], i, 0, counts[i]);
}

static void scatters(struct comm *c, int vector, int root)
{
    struct coll_args a = call_of(c, vector ? COLL_SCATTERV : COLL_SCATTER, root);
    size_t sends = prepare(&a, 1), before = messages();
    ok(coll_run(&a));
    job_check(messages() - before == (c->rank == root ? sends : 0));
    check_block(0, root, c->rank, counts[c->rank]);
}

static void allgathers(struct comm *c, int vector, int in_place)
{
    struct coll_args a = call_of(c, vector ? COLL_ALLGATHERV : COLL_ALLGATHER, 0);
    int p = c->size, me = c->rank;
    (void)prepare(&a, 0);
    if (in_place) {
        memcpy(out + displs[me], in, (size_t)counts[me] * sizeof *in);
        a.sbuf = MPI_IN_PLACE;
    }
    size_t sends = 0, before = messages();
    for (int i = 0; i < p - 1; i++)
        sends += counts[(me - i + p) % p] > 0;
    ok(coll_run(&a));
    job_check(messages() - before == sends);
    for (int i = 0; i < p; i++)
        check_block(displs[i], i, 0, counts[i]);
}

static void alltoalls(struct comm *c, int vector)
{
    int p = c->size, me = c->rank, from[MOST], at[MOST];
    struct coll_args a = call_of(c, vector ? COLL_ALLTOALLV : COLL_ALLTOALL, 0);
    size_t sends = prepare(&a, 1), before = messages();
    for (int i = 0; i < p; i++) {
        from[i] = counts[me];
        at[i] = i * N;
    }
    a.rcounts = coll_ints(from);
    a.rdispls = coll_ints(at);
    ok(coll_run(&a));
    job_check(messages() - before == sends);
    for (int i = 0; i < p; i++)
        check_block(at[i], i, me, counts[me]);
}

static void broadcasts(struct comm *c, int root)
{
    int p = c->size, v = (c->rank - root + p) % p;
    size_t before = messages(), children = 0;
    for (int k = 0; k < N; k++)
        in[k] = c->rank == root ? value(root, 0, k) : -1;
    for (int mask = 1; v + mask < p && !(v & mask); mask <<= 1)
        children++;
    ok(coll_bcast(in, N, dt_find(MPI_INT), root, c));
    job_check(messages() - before == children);
    for (int k = 0; k < N; k++)
        job_check(in[k] == value(root, 0, k));
}

static void body_calls(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    warm_up(c);
    for (int turn = 0; turn < 60; turn++) {
        int root = turn % c->size, vector = turn / 2 % 2;
        lay_out(c->size, turn % 6, vector);
        gathers(c, vector, root);
        scatters(c, vector, root);
        allgathers(c, vector, turn % 2);
        alltoalls(c, vector);
        broadcasts(c, root);
    }
    live_stop();
}

START_TEST(each_message_leaves_once)
{
    for (int p = 2; p <= 6; p++)
        ck_assert_int_eq(job_run(p, NULL, body_calls, 60), 0);
}
END_TEST

static int sends_listed(const struct sched *s)
{
    int n = 0;
    for (unsigned i = 0; i < s->n; i++)
        n += s->steps[i].kind == STEP_SEND;
    return n;
}

/* What has left is under way before there is a schedule, and the schedule lists it no more. */
static void body_before(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    lay_out(c->size, 1, 1);
    struct coll_args a = call_of(c, COLL_SCATTERV, 0);
    size_t sends = prepare(&a, 1), before = messages();
    int tag = coll_tag(c);
    uint64_t ahead = coll_ahead(&a, tag);
    job_check(messages() - before == (c->rank ? 0 : sends));
    job_check((ahead != 0) == (c->rank == 0));
    struct sched *s = sched_make_behind(&a, tag, ahead);
    coll_build(s);
    job_check(sends_listed(s) == 0);
    ok(sched_run(s));
    check_block(0, 0, c->rank, counts[c->rank]);
    live_stop();
}

START_TEST(it_leaves_before_the_schedule)
{
    ck_assert_int_eq(job_run(4, NULL, body_before, 30), 0);
}
END_TEST

/* The child of a root that has the most below it comes first: where there is no room for the leaf,
 * the other one has its message. */
static void body_deepest(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct coll_args a = call_of(c, COLL_BCAST, 0);
    a.rbuf = in;
    a.rcount = N;
    for (int k = 0; k < N; k++)
        in[k] = c->rank ? -1 : value(0, 0, k);
    struct p2p_peer *leaf = c->rank ? NULL : peer_get(comm_world(c, 1));
    size_t out_before = leaf ? leaf->eager_out : 0;
    if (leaf)
        leaf->eager_out = (size_t)cvar.p2p_eager_window;
    int tag = coll_tag(c);
    uint64_t ahead = coll_ahead(&a, tag);
    if (leaf)
        leaf->eager_out = out_before;
    job_check(ahead == (c->rank ? 0 : coll_ahead_bit(c, 2)));
    struct sched *s = sched_make_behind(&a, tag, ahead);
    coll_build(s);
    ok(sched_run(s));
    for (int k = 0; k < N; k++)
        job_check(in[k] == value(0, 0, k));
    live_stop();
}

START_TEST(the_deepest_child_comes_first)
{
    ck_assert_int_eq(job_run(4, NULL, body_deepest, 30), 0);
}
END_TEST

/* The own block has two lengths: as without messages ahead, all get the error of that call. */
static void body_unlike(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    warm_up(c);
    lay_out(c->size, 0, 0);
    struct coll_args a = call_of(c, COLL_SCATTER, 1);
    (void)prepare(&a, 1);
    a.rcount = c->rank == 1 ? N - 1 : N;
    job_check(err_class(coll_run(&a)) == MPI_ERR_TRUNCATE);
    a = call_of(c, COLL_ALLGATHER, 0);
    (void)prepare(&a, 0);
    a.scount = c->rank == 1 ? N - 1 : N;
    job_check(err_class(coll_run(&a)) == MPI_ERR_TRUNCATE);
    live_stop();
}

START_TEST(nothing_leaves_ahead_of_an_error)
{
    ck_assert_int_eq(job_run(3, NULL, body_unlike, 30), 0);
}
END_TEST

Suite *suite_ahead(void)
{
    Suite *s = suite_create("coll/ahead");
    TCase *t = tcase_create("ahead");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, each_message_leaves_once);
    tcase_add_test(t, it_leaves_before_the_schedule);
    tcase_add_test(t, the_deepest_child_comes_first);
    tcase_add_test(t, nothing_leaves_ahead_of_an_error);
    suite_add_tcase(s, t);
    return s;
}
