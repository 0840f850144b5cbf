/* test_inter.c - coll/inter.c: two groups. */
#include "fake.h"
#include "unit.h"

#include <string.h>

Suite *suite_inter(void);

enum { MANY = 512, N = 4 };
static int in[FAKE_MAX][MANY], out[FAKE_MAX][MANY];
static int counts[FAKE_MAX], displs[FAKE_MAX];

static int group_of(int i) /* 0: the first */
{
    return i >= f.a;
}

static int other_first(int i)
{
    return group_of(i) ? 0 : f.a;
}

static int other_size(int i)
{
    return group_of(i) ? f.a : f.b;
}

static void prepare(enum coll_call call, struct dt_op *op)
{
    fake_call(call, fake_int(), op, 0);
    for (int i = 0; i < FAKE_MAX; i++) {
        counts[i] = N;
        displs[i] = i * N;
    }
    for (int i = 0; i < f.p; i++) {
        for (int k = 0; k < MANY; k++) {
            in[i][k] = i * 1000 + k;
            out[i][k] = -1;
        }
        struct coll_args *a = &f.args[i];
        a->sbuf = in[i];
        a->rbuf = out[i];
        a->scount = a->rcount = N;
        a->scounts = a->rcounts = coll_ints(counts);
        a->sdispls = a->rdispls = coll_ints(displs);
    }
}

/* The root is member `root` of the first group. */
static void set_roots(int root)
{
    for (int i = 0; i < f.p; i++)
        f.args[i].root = group_of(i) ? root : i == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(int root)
{
    int sum[N] = {0};
    for (int i = f.a; i < f.p; i++)
        for (int k = 0; k < N; k++)
            sum[k] += i * 1000 + k;
    prepare(COLL_BCAST, NULL);
    set_roots(root);
    for (int k = 0; k < N; k++)
        out[root][k] = 7 + k;
    fake_run();
    for (int i = f.a; i < f.p; i++)
        for (int k = 0; k < N; k++)
            job_check(out[i][k] == 7 + k);
    prepare(COLL_REDUCE, dt_op_find(MPI_SUM));
    set_roots(root);
    fake_run();
    for (int k = 0; k < N; k++)
        job_check(out[root][k] == sum[k]);
    for (int vector = 0; vector < 2; vector++) {
        prepare(vector ? COLL_GATHERV : COLL_GATHER, NULL);
        set_roots(root);
        fake_run();
        for (int m = 0; m < f.b; m++)
            for (int k = 0; k < N; k++)
                job_check(out[root][m * N + k] == (f.a + m) * 1000 + k);
        prepare(vector ? COLL_SCATTERV : COLL_SCATTER, NULL);
        set_roots(root);
        fake_run();
        for (int m = 0; m < f.b; m++)
            for (int k = 0; k < N; k++)
                job_check(out[f.a + m][k] == root * 1000 + m * N + k);
    }
}

static void all_ranks(void)
{
    prepare(COLL_BARRIER, NULL);
    fake_run();
    prepare(COLL_ALLREDUCE, dt_op_find(MPI_SUM));
    fake_run();
    for (int i = 0; i < f.p; i++)
        for (int k = 0, sum; k < N; k++) {
            sum = 0;
            for (int m = 0; m < other_size(i); m++)
                sum += (other_first(i) + m) * 1000 + k;
            job_check(out[i][k] == sum);
        }
    for (int vector = 0; vector < 2; vector++) {
        prepare(vector ? COLL_ALLGATHERV : COLL_ALLGATHER, NULL);
        fake_run();
        for (int i = 0; i < f.p; i++)
            for (int m = 0; m < other_size(i); m++)
                for (int k = 0; k < N; k++)
                    job_check(out[i][m * N + k] == (other_first(i) + m) * 1000 + k);
        prepare(vector ? COLL_ALLTOALLV : COLL_ALLTOALL, NULL);
        fake_run();
        for (int i = 0; i < f.p; i++)
            for (int m = 0; m < other_size(i); m++)
                for (int k = 0; k < N; k++)
                    job_check(out[i][m * N + k] ==
                              (other_first(i) + m) * 1000 + f.comm[i].rank * N + k);
    }
}

/* Both groups' vectors have the same length: 12 elements over 1, 2, 3 or 4 members. */
static void scattered(void)
{
    prepare(COLL_REDUCE_SCATTER_BLOCK, dt_op_find(MPI_SUM));
    for (int i = 0; i < f.p; i++)
        f.args[i].rcount = 12 / f.comm[i].size;
    fake_run();
    for (int i = 0; i < f.p; i++) {
        int each = 12 / f.comm[i].size;
        for (int k = 0, sum; k < each; k++) {
            sum = 0;
            for (int m = 0; m < other_size(i); m++)
                sum += (other_first(i) + m) * 1000 + f.comm[i].rank * each + k;
            job_check(out[i][k] == sum);
        }
    }
}

static void body(void)
{
    fake_init();
    for (int a = 1; a <= 4; a++)
        for (int b = 1; b <= 4; b++) {
            fake_open(a, b);
            for (int root = 0; root < a; root++)
                rooted(root);
            all_ranks();
            scattered();
            fake_close();
        }
}

START_TEST(two_groups)
{
    ck_assert_int_eq(job_run(1, NULL, body, 60), 0);
}
END_TEST

Suite *suite_inter(void)
{
    Suite *s = suite_create("coll/inter");
    TCase *t = tcase_create("inter");
    tcase_set_timeout(t, 90);
    tcase_add_test(t, two_groups);
    suite_add_tcase(s, t);
    return s;
}
