/* test_shm.c - random blocks, random calls, random calls on pretended nodes, barrier holds,
 * segments come and go. */
#include "dt/make.h"
#include "live.h"
#include "obj/err.h"
#include "unit.h"
#include "var/var.h"

Suite *suite_shm(void);

static unsigned roll(unsigned *dice)
{
    *dice = *dice * 1103515245u + 12345u;
    return *dice >> 16;
}

/* The same random calls on all, sizes on both sides of the bound, all roots: slots are used again
 * and again while members are up to SHM_SLOTS operations apart. */
static void body_random(void)
{
    enum { MANY = 700 };
    static int64_t in[MANY], out[MANY];
    unsigned dice = 4711;
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT64_T);
    struct dt_op *sum = dt_op_find(MPI_SUM);
    int64_t p = c->size, ranks = p * (p - 1) / 2;
    for (int i = 0; i < 3000; i++) {
        unsigned call = roll(&dice) % 5, root = roll(&dice) % (unsigned)p,
                 n = roll(&dice) % 8 ? roll(&dice) % 20 : roll(&dice) % MANY;
        for (unsigned k = 0; k < n; k++) {
            in[k] = i + (int64_t)k + c->rank;
            out[k] = -1;
        }
        if (call == 0) {
            ok(coll_barrier(c));
        } else if (call == 1) {
            ok(coll_bcast(in, (MPI_Aint)n, t, (int)root, c));
            for (unsigned k = 0; k < n; k++)
                job_check(in[k] == i + (int64_t)k + root);
        } else if (call == 2) {
            ok(coll_reduce(in, out, (MPI_Aint)n, t, sum, (int)root, c));
            for (unsigned k = 0; k < n; k++)
                job_check(out[k] == ((int)root == c->rank ? p * (i + (int64_t)k) + ranks : -1));
        } else {
            ok(coll_allreduce(call == 3 ? MPI_IN_PLACE : in, call == 3 ? in : out, (MPI_Aint)n, t,
                              sum, c));
            for (unsigned k = 0; k < n; k++)
                job_check((call == 3 ? in : out)[k] == p * (i + (int64_t)k) + ranks);
        }
    }
    live_stop();
}

/* The other calls, all roots, in place and not, block sizes on both sides of the bound. */
static void body_blocks(void)
{
    enum { MANY = 3000 };
    static int in[MANY], out[MANY];
    unsigned dice = 99;
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    int p = c->size, me = c->rank;
    for (int i = 0; i < 3000; i++) {
        unsigned call = roll(&dice) % 7;
        int root = (int)(roll(&dice) % (unsigned)p), place = (int)(roll(&dice) % 2),
            n = (int)(roll(&dice) % 8 ? roll(&dice) % 9 : roll(&dice) % 500);
        int *mine = place && call == 1 ? out + me * n : in;
        for (int k = 0; k < p * n; k++) {
            in[k] = i + me * 1000 + k;
            out[k] = -1;
        }
        struct coll_args a = {.comm = c, .sbuf = in, .rbuf = out, .scount = n, .rcount = n,
                              .stype = t, .rtype = t, .root = root};
        if (call == 0) {
            a.call = COLL_GATHER;
            place &= me == root;
            if (place)
                memcpy(out + me * n, in, (size_t)n * sizeof *in);
            a.sbuf = place ? MPI_IN_PLACE : in;
            ok(coll_run(&a));
            for (int k = 0; k < n * p && me == root; k++)
                job_check(out[k] == i + k / n * 1000 + k % n);
        } else if (call == 1) {
            for (int k = 0; k < n; k++)
                mine[k] = i + me * 1000 + k;
            a.call = COLL_ALLGATHER;
            a.sbuf = place ? MPI_IN_PLACE : in;
            ok(coll_run(&a));
            for (int k = 0; k < n * p; k++)
                job_check(out[k] == i + k / n * 1000 + k % n);
        } else if (call == 2) {
            a.call = COLL_SCATTER;
            place &= me == root;
            a.rbuf = place ? MPI_IN_PLACE : out;
            ok(coll_run(&a));
            for (int k = 0; k < n && !place; k++)
                job_check(out[k] == i + root * 1000 + me * n + k);
        } else if (call == 3) {
            a.call = COLL_ALLTOALL;
            memcpy(out, in, sizeof out);
            a.sbuf = place ? MPI_IN_PLACE : in;
            ok(coll_run(&a));
            for (int k = 0; k < n * p; k++)
                job_check(out[k] == i + k / n * 1000 + me * n + k % n);
        } else {
            a.call = call == 4 ? COLL_REDUCE_SCATTER_BLOCK : call == 5 ? COLL_SCAN : COLL_EXSCAN;
            a.op = dt_op_find(MPI_SUM);
            memcpy(out, in, sizeof out);
            a.sbuf = place ? MPI_IN_PLACE : in;
            ok(coll_run(&a));
            int first = call == 4 ? me * n : 0, members = call == 4 ? p : call == 5 ? me + 1 : me;
            for (int k = 0; k < n && members; k++)
                job_check(out[k] ==
                          members * (i + first + k) + 1000 * (members * (members - 1) / 2));
        }
    }
    live_stop();
}

static size_t sent(void)
{
    return atomic_load(&pvar_proc()->v[PVAR_P2P_EAGER]) +
           atomic_load(&pvar_proc()->v[PVAR_P2P_RENDEZVOUS]);
}

/* The vector forms whose counts all members have: blocks of nothing, from the last to the first
 * with gaps, on both sides of the bound. Short ones take no message. */
static void body_vectors(void)
{
    enum { MANY = 9000 };
    static int in[MANY], out[MANY];
    int counts[8], displs[8], bounds[8];
    unsigned dice = 7;
    live_start();
    struct comm *c = proc->obj->world;
    int p = c->size, me = c->rank;
    struct dt_type *t = dt_find(MPI_INT);
    for (int i = 0; i < 12; i++)
        ok(coll_barrier(c));
    for (int i = 0; i < 2000; i++) {
        int reduce = (int)(roll(&dice) % 2), place = (int)(roll(&dice) % 2), first = 0, at = 3,
            sum = 0, longest = 0, most = roll(&dice) % 8 ? 20 : 1500;
        for (int k = p - 1; k >= 0; k--) {
            counts[k] = (int)(roll(&dice) % 4 ? roll(&dice) % (unsigned)most : 0);
            displs[k] = at;
            bounds[k] = counts[k] + (k != me && counts[k] ? 2 : 0);
            at += counts[k] + 3;
            sum += counts[k];
            longest = counts[k] > longest ? counts[k] : longest;
            first += k < me ? counts[k] : 0;
        }
        for (int k = 0; k < MANY; k++) {
            in[k] = i + me * 1000 + k;
            out[k] = -1;
        }
        struct coll_args a = {.comm = c, .call = reduce ? COLL_REDUCE_SCATTER : COLL_ALLGATHERV,
                              .sbuf = in, .rbuf = out, .scount = counts[me], .stype = t,
                              .rtype = t, .rcounts = coll_ints(counts),
                              .rdispls = coll_ints(displs)};
        if (reduce)
            a.op = dt_op_find(MPI_SUM);
        else if (p == 2 && longest < 1000) /* upper bounds */
            a.rcounts = coll_ints(bounds);
        if (place) {
            memcpy(out + (reduce ? 0 : displs[me]), in,
                   (size_t)(reduce ? sum : counts[me]) * sizeof *in);
            a.sbuf = MPI_IN_PLACE;
        }
        size_t before = sent();
        ok(coll_run(&a));
        job_check((reduce ? sum : longest) > 1024 || sent() == before);
        for (int k = 0; k < counts[me] && reduce; k++)
            job_check(out[k] == p * (i + first + k) + 1000 * (p * (p - 1) / 2));
        for (int r = 0; r < p && !reduce; r++) {
            for (int k = 0; k < counts[r]; k++)
                job_check(out[displs[r] + k] == i + r * 1000 + k);
            job_check(out[displs[r] + counts[r]] == -1);
        }
    }
    live_stop();
}

START_TEST(random_vectors)
{
    for (int n = 2; n <= 5; n++)
        ck_assert_int_eq(job_run(n, NULL, body_vectors, 60), 0);
}
END_TEST

/* More comes than the count says, or the own block has two lengths: an error, and memory behind the
 * block stays. */
static void body_vector_unlike(void)
{
    live_start();
    struct comm *c = proc->obj->world;
    struct dt_type *t = dt_find(MPI_INT);
    int in[8] = {1, 2, 3, 4}, out[16], counts[2] = {4, 4}, displs[2] = {0, 8};
    for (int i = 0; i < 12; i++)
        ok(coll_barrier(c));
    struct coll_args a = {.comm = c, .call = COLL_ALLGATHERV, .sbuf = in, .rbuf = out, .scount = 4,
                          .stype = t, .rtype = t, .rcounts = coll_ints(counts),
                          .rdispls = coll_ints(displs)};
    memset(out, 0xff, sizeof out);
    counts[1] = c->rank ? 4 : 3;
    int err = coll_run(&a);
    job_check(c->rank ? err == MPI_SUCCESS : err_class(err) == MPI_ERR_TRUNCATE);
    job_check(out[11] == (c->rank ? 4 : -1));
    counts[1] = 4;
    a.scount = c->rank ? 5 : 4;
    job_check(err_class(coll_run(&a)) == MPI_ERR_TRUNCATE);
    a.scount = 4;
    ok(coll_run(&a)); /* the slots are in step */
    job_check(out[11] == 4 && out[3] == 4);
    live_stop();
}

START_TEST(vectors_that_differ_are_an_error)
{
    ck_assert_int_eq(job_run(2, NULL, body_vector_unlike, 30), 0);
}
END_TEST

/* Members with odd ranks have another type of the same signature, so other counts, and gaps: the
 * bytes decide, up to the bound and beyond. */
static void body_vector_types(void)
{
    enum { MOST = 3, MANY = 4 * MOST * 520 };
    static int in[MANY], out[MANY];
    const int lengths[] = {1, 2, 7, 512, 513}; /* in pairs */
    int counts[MOST], displs[MOST];
    live_start();
    struct comm *c = proc->obj->world;
    int p = c->size, me = c->rank, odd = me % 2, each = odd ? 1 : 2, step = odd ? 2 : 1;
    struct dt_type *t = dt_find(MPI_INT), *pair, *holed;
    ok(dt_make_vector(2, 1, 2, t, &pair));
    ok(dt_make_resized(pair, 0, 4 * sizeof(int), &holed));
    for (int i = 0; i < 12; i++)
        ok(coll_barrier(c));
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int r = 0, at = 1; r < p; r++) {
            counts[r] = each * (lengths[i] - r % 2);
            displs[r] = each * at;
            at += lengths[i] + 1;
        }
        for (int k = 0; k < 2 * lengths[i]; k++)
            in[k * step] = me * 10000 + k;
        memset(out, 0xff, sizeof out);
        struct coll_args a = {.comm = c, .call = COLL_ALLGATHERV, .sbuf = in, .rbuf = out,
                              .scount = counts[me], .stype = odd ? holed : t,
                              .rtype = odd ? holed : t, .rcounts = coll_ints(counts),
                              .rdispls = coll_ints(displs)};
        size_t before = sent();
        ok(coll_run(&a));
        job_check(lengths[i] > 512 || sent() == before);
        for (int r = 0; r < p; r++) {
            const int *block = out + 2 * displs[r] / each * step;
            int n = 2 * counts[r] / each;
            for (int k = 0; k < n; k++)
                job_check(block[k * step] == r * 10000 + k);
            job_check(block[n * step] == -1 && (!odd || !n || block[1] == -1));
        }
    }
    dt_drop(holed);
    dt_drop(pair);
    live_stop();
}

START_TEST(vectors_of_other_types)
{
    for (int n = 2; n <= 3; n++)
        ck_assert_int_eq(job_run(n, NULL, body_vector_types, 30), 0);
}
END_TEST

START_TEST(random_blocks)
{
    for (int n = 2; n <= 5; n++)
        ck_assert_int_eq(job_run(n, NULL, body_blocks, 60), 0);
}
END_TEST

START_TEST(random_calls)
{
    for (int n = 2; n <= 5; n++)
        ck_assert_int_eq(job_run(n, NULL, body_random, 60), 0);
}
END_TEST

START_TEST(random_calls_on_pretended_nodes)
{
    static const char *const sets[] = {"MPIR_CVAR_NUM_CLIQUES=2", NULL};
    ck_assert_int_eq(job_run(4, sets, body_random, 60), 0);
}
END_TEST

/* No process passes a barrier before all have come. */
static void body_barrier(void)
{
    live_start();
    volatile uint64_t *words = job_words();
    struct comm *c = proc->obj->world;
    for (uint64_t i = 1; i <= 500; i++) {
        words[c->rank] = i;
        ok(coll_barrier(c));
        for (int k = 0; k < c->size; k++)
            job_check(words[k] >= i);
        ok(coll_barrier(c));
    }
    live_stop();
}

START_TEST(barrier_holds)
{
    ck_assert_int_eq(job_run(4, NULL, body_barrier, 60), 0);
}
END_TEST

/* Communicators of one purpose make no segment; those used a lot do, and give it back. */
static void body_life(void)
{
    struct comm *d;
    live_start();
    for (int i = 0; i < 50; i++) {
        ok(coll_comm_dup(proc->obj->world, &d));
        for (int k = 0; k < 12; k++)
            ok(coll_barrier(d));
        comm_drop(d);
    }
    live_stop();
}

START_TEST(segments_come_and_go)
{
    ck_assert_int_eq(job_run(3, NULL, body_life, 60), 0);
}
END_TEST

Suite *suite_shm(void)
{
    Suite *s = suite_create("coll/shm");
    TCase *t = tcase_create("shm");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, random_blocks);
    tcase_add_test(t, random_vectors);
    tcase_add_test(t, vectors_that_differ_are_an_error);
    tcase_add_test(t, vectors_of_other_types);
    tcase_add_test(t, random_calls);
    tcase_add_test(t, random_calls_on_pretended_nodes);
    tcase_add_test(t, barrier_holds);
    tcase_add_test(t, segments_come_and_go);
    suite_add_tcase(s, t);
    return s;
}
