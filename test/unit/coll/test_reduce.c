/* test_reduce.c - coll/reduce.c: reduce keeps rank order, allreduce keeps rank order, scans are
 * prefixes. */
#include "fake.h"
#include "unit.h"

#include <string.h>

#include "var/var.h"

Suite *suite_reduce(void);

enum { MANY = 64 };
static int in[FAKE_MAX][MANY], out[FAKE_MAX][MANY];
static uint64_t min[FAKE_MAX][MANY], mout[FAKE_MAX][MANY];

/* Sums of ints, and compositions of maps, which show the order of the operands. */
static void reduction(enum coll_call call, int p, int root, int n, int ordered, int in_place)
{
    fake_open(p, 0);
    fake_call(call, ordered ? fake_map_type() : fake_int(),
              ordered ? fake_compose() : dt_op_find(MPI_SUM), root);
    for (int i = 0; i < p; i++) {
        for (int k = 0; k < MANY; k++) {
            in[i][k] = i * 100 + k;
            min[i][k] = fake_map(i, k);
            out[i][k] = -1;
            mout[i][k] = 77;
        }
        int place = in_place && (call != COLL_REDUCE || i == root);
        void *from = ordered ? (void *)min[i] : (void *)in[i],
             *to = ordered ? (void *)mout[i] : (void *)out[i];
        if (place)
            memcpy(to, from, ordered ? sizeof min[i] : sizeof in[i]);
        f.args[i].sbuf = place ? MPI_IN_PLACE : from;
        f.args[i].rbuf = to;
        f.args[i].rcount = n;
    }
    fake_run();
    for (int i = 0; i < p; i++) {
        int lo = 0, hi = call == COLL_SCAN ? i + 1 : call == COLL_EXSCAN ? i : p;
        if ((call == COLL_REDUCE && i != root) || hi == 0)
            continue;
        for (int k = 0; k < n; k++) {
            int sum = 0;
            for (int m = lo; m < hi; m++)
                sum += m * 100 + k;
            job_check(ordered ? mout[i][k] == fake_map_range(lo, hi, k) : out[i][k] == sum);
        }
        /* operands of others are left alone, and nothing is written beyond n */
        job_check(in_place || (ordered ? min[i][0] == fake_map(i, 0) : in[i][0] == i * 100));
        job_check(in_place || (ordered ? mout[i][n] == 77 : out[i][n] == -1));
    }
    fake_close();
}

static void all_of(enum coll_call call, int roots)
{
    static const int counts[] = {0, 1, 4, 37};
    for (int p = 1; p <= 9; p++)
        for (int root = 0; root < (roots ? p : 1); root++)
            for (int c = 0; c < 4; c++)
                for (int x = 0; x < 4; x++)
                    reduction(call, p, root, counts[c], x & 1, x >> 1);
}

static void body_reduce(void)
{
    fake_init();
    fake_algorithms("reduce=binomial");
    all_of(COLL_REDUCE, 1);
    fake_algorithms("reduce=scatter_ring");
    all_of(COLL_REDUCE, 1);
    fake_algorithms("");
}

static void body_allreduce(void)
{
    fake_init();
    fake_algorithms("allreduce=doubling");
    all_of(COLL_ALLREDUCE, 0);
    fake_algorithms("allreduce=ring");
    all_of(COLL_ALLREDUCE, 0);
    fake_algorithms("");
}

static void body_scan(void)
{
    fake_init();
    all_of(COLL_SCAN, 0);
    all_of(COLL_EXSCAN, 0);
}

START_TEST(reduce_keeps_rank_order)
{
    ck_assert_int_eq(job_run(1, NULL, body_reduce, 60), 0);
}
END_TEST

START_TEST(allreduce_keeps_rank_order)
{
    ck_assert_int_eq(job_run(1, NULL, body_allreduce, 60), 0);
}
END_TEST

START_TEST(scans_are_prefixes)
{
    ck_assert_int_eq(job_run(1, NULL, body_scan, 60), 0);
}
END_TEST

Suite *suite_reduce(void)
{
    Suite *s = suite_create("coll/reduce");
    TCase *t = tcase_create("reduce");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, reduce_keeps_rank_order);
    tcase_add_test(t, allreduce_keeps_rank_order);
    tcase_add_test(t, scans_are_prefixes);
    suite_add_tcase(s, t);
    return s;
}
